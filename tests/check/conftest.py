"""The tables of verdicts of servers in order lie where all workers of one run of the tests find them."""

import os

import pytest

from tests.check import planted


@pytest.fixture(scope="session", autouse=True)
def tables(tmp_path_factory):
    """One folder for all workers: each has a folder of its own in it."""
    mine = tmp_path_factory.getbasetemp()
    planted.TABLES = mine.parent if "PYTEST_XDIST_WORKER" in os.environ else mine
