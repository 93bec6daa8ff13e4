"""Every check has been shown a server that breaks it and one in order."""

from importlib import import_module
from pathlib import Path

from inspector.check.registry import checks
from tests.check.faulty_servers import Case
from tests.check.test_auth import Case as Cases


def planted_ids():
    """The ids of all cases in the modules beside this one and of features, in tables or alone."""
    ids = set()
    tests = Path(__file__).parents[1]
    for file in (*tests.glob("check/test_*.py"), *tests.glob("features/*/test_checks.py")):
        if file.stem != Path(__file__).stem:
            module = ".".join(file.relative_to(tests.parent).with_suffix("").parts)
            for value in vars(import_module(module)).values():
                cases = value if isinstance(value, list) else [value]
                ids |= {case.id for case in cases if isinstance(case, (Case, Cases))}
    return ids


def test_every_check_has_its_case():
    assert set(checks()) - planted_ids() == set()
