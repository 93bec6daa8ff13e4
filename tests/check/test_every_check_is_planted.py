"""Every check has been shown a server that breaks it and one in order."""

from importlib import import_module
from pathlib import Path

from inspector.check.registry import checks
from tests.check.faulty_servers import Case
from tests.check.test_auth import Case as Cases


def planted_ids():
    """The ids of all cases that stand in the modules beside this one, in their tables or alone."""
    found = set()
    for file in Path(__file__).parent.glob("test_*.py"):
        if file.stem != Path(__file__).stem:
            for value in vars(import_module(f"tests.check.{file.stem}")).values():
                cases = value if isinstance(value, list) else [value]
                found |= {case.id for case in cases if isinstance(case, (Case, Cases))}
    return found


def test_every_check_has_its_case():
    assert set(checks()) - planted_ids() == set()
