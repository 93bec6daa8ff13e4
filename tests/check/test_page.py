"""docs/reference/checks.md names every check, and no other."""

import re

from inspector.check.registry import checks
from tests.check.reference_page import PAGE, written

_ID = r"\b(BASE|LIFE|STDIO|HTTP|SSE|AUTH|AS|TOOL|RES|PROM|UTIL|CACHE|MRTR|SUB|CLI|TASK|ECO|CASE|DEF)-(\d\d)\b"


def test_the_table_of_the_checks_is_current():
    page = PAGE.read_text(encoding="utf-8")
    assert page == written(page)


def test_every_check_that_the_page_names_exists():
    """In ranges, the first and the last."""
    named = {f"{kind}-{number}" for kind, number in re.findall(_ID, PAGE.read_text(encoding="utf-8"))}
    assert named <= set(checks())
