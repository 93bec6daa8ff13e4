"""JUnit XML for CI systems: one suite, with a case for each checked item."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from inspector.text import UNSAFE

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot represent (section 2.2)."""
_UNSAFE = re.compile(f"[{UNSAFE}\r]")  # a bare CR would be read as LF (XML 1.0 section 2.11)


class Case(NamedTuple):
    """One checked item. Its texts may come from a server."""

    name: str
    group: str
    failure: str = ""
    """The failure; empty if there is none."""
    skipped: str = ""
    """Why it was skipped."""
    seconds: float = 0.0
    details: str = ""


def document(suite: str, cases: Iterable[Case]) -> str:
    """The whole document."""
    known = list(cases)
    failures = sum(bool(case.failure) for case in known)
    skipped = sum(bool(case.skipped) for case in known)
    seconds = sum(case.seconds for case in known)
    counts = f'tests="{len(known)}" failures="{failures}" errors="0" skipped="{skipped}" time="{seconds:.3f}"'
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites {counts}>"]
    lines.append(f"  <testsuite name={_attribute(suite)} {counts}>")
    for case in known:
        head = f"    <testcase classname={_attribute(case.group)} name={_attribute(case.name)}"
        head += f' time="{case.seconds:.3f}"'
        if case.failure:
            lines += (f"{head}>", f"      <failure message={_attribute(case.failure)}>{_text(case.details)}</failure>")
            lines.append("    </testcase>")
        elif case.skipped:
            lines.append(f"{head}><skipped message={_attribute(case.skipped)}/></testcase>")
        else:
            lines.append(f"{head}/>")
    return "\n".join((*lines, "  </testsuite>", "</testsuites>", ""))


def _text(text: str) -> str:
    return _referenced(escape(_NOT_XML.sub("\ufffd", text)))


def _attribute(text: str) -> str:
    return _referenced(quoteattr(_NOT_XML.sub("\ufffd", text)))


def _referenced(markup: str) -> str:
    """Return markup with unsafe characters as character references (XML 1.0 section 4.1): the value is the same."""
    return _UNSAFE.sub(lambda found: f"&#x{ord(found[0]):x};", markup)
