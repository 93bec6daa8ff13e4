"""Every check of a group has been shown a server that breaks it and one in order."""

from importlib import import_module
from pathlib import Path

import pytest

from inspector.check.catalog import checks
from tests.check.planted import Case

GROUPS = (
    "base-protocol", "transport-stdio", "transport-http", "transport-http-legacy", "transport-http-modern",
    "transport-http-sse", "ecosystem",
)  # fmt: skip
"""Those whose cases are all in tables. A case is used by both tests of its module."""


def planted_ids():
    """The ids of all cases that stand in the modules beside this one, in their tables or alone."""
    found = set()
    for file in Path(__file__).parent.glob("test_*.py"):
        if file.stem != Path(__file__).stem:
            for value in vars(import_module(f"tests.check.{file.stem}")).values():
                cases = value if isinstance(value, list) else [value]
                found |= {case.id for case in cases if isinstance(case, Case)}
    return found


@pytest.mark.parametrize("group", GROUPS)
def test_every_check_of_a_group_has_its_case(group):
    wanted = {check.id for check in checks().values() if check.group == group}
    assert wanted
    assert wanted - planted_ids() == set()
