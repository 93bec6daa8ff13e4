"""The tables of verdicts of servers in order lie where all workers of one run of the tests find them."""

import os

import pytest

from tests.check import faulty_servers


@pytest.fixture(scope="session", autouse=True)
def tables(tmp_path_factory):
    """One folder for all workers: each has a folder of its own in it."""
    mine = tmp_path_factory.getbasetemp()
    faulty_servers.TABLES = mine.parent if "PYTEST_XDIST_WORKER" in os.environ else mine
