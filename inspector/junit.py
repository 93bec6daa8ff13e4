"""JUnit XML for CI systems: suites, with a case for each checked item."""

from __future__ import annotations

import re
from collections.abc import Sequence
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
    error: str = ""
    """Why it could not be looked at, although it was tried."""
    output: str = ""
    """Text about a case that passes. (The schema of Jenkins allows no properties at a case.)"""
    file: str = ""
    line: int = 0
    """The place in a file of the user. GitLab and actions of GitHub link it; the xUnit plugin of Jenkins refuses it."""


class Suite(NamedTuple):
    """Cases that belong together."""

    name: str
    cases: Sequence[Case]
    properties: Sequence[tuple[str, str]] = ()
    seconds: float | None = None
    """None: the sum of the cases."""


def junit_xml(suites: Sequence[Suite]) -> str:
    """Return the whole document."""
    everything = Suite("", [case for suite in suites for case in suite.cases], seconds=sum(map(_seconds, suites)))
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites {_counts(everything)}>"]
    for suite in suites:
        lines += _suite(suite)
    return "\n".join((*lines, "</testsuites>", ""))


def _seconds(suite: Suite) -> float:
    return sum(case.seconds for case in suite.cases) if suite.seconds is None else suite.seconds


def _counts(suite: Suite) -> str:
    cases = suite.cases
    failures = sum(bool(case.failure) for case in cases)
    errors = sum(bool(case.error) for case in cases)
    return f'tests="{len(cases)}" failures="{failures}" errors="{errors}" time="{_seconds(suite):.3f}"'


def _suite(suite: Suite) -> list[str]:
    # The schemas of Jenkins allow “skipped” at a suite, and not at the document.
    skipped = sum(bool(case.skipped) for case in suite.cases)
    lines = [f'  <testsuite name={_attribute(suite.name)} {_counts(suite)} skipped="{skipped}">']
    lines += _properties(suite.properties)
    for case in suite.cases:
        head = f"    <testcase classname={_attribute(case.group)} name={_attribute(case.name)}"
        head += f' time="{case.seconds:.3f}"'
        head += f" file={_attribute(case.file)}" * bool(case.file) + f' line="{case.line}"' * bool(case.line)
        if case.failure:
            lines += (f"{head}>", f"      <failure message={_attribute(case.failure)}>{_text(case.details)}</failure>")
            lines.append("    </testcase>")
        elif case.error:
            lines += (f"{head}>", f"      <error message={_attribute(case.error)}>{_text(case.details)}</error>")
            lines.append("    </testcase>")
        elif case.skipped:
            lines.append(f"{head}><skipped message={_attribute(case.skipped)}/></testcase>")
        elif case.output:
            lines.append(f"{head}><system-out>{_text(case.output)}</system-out></testcase>")
        else:
            lines.append(f"{head}/>")
    return [*lines, "  </testsuite>"]


def _properties(properties: Sequence[tuple[str, str]]) -> list[str]:
    if not properties:
        return []
    rows = (f"      <property name={_attribute(name)} value={_attribute(value)}/>" for name, value in properties)
    return ["    <properties>", *rows, "    </properties>"]


def _text(text: str) -> str:
    return _referenced(escape(_NOT_XML.sub("\ufffd", text)))


def _attribute(text: str) -> str:
    return _referenced(quoteattr(_NOT_XML.sub("\ufffd", text)))


def _referenced(markup: str) -> str:
    """Return markup with unsafe characters as character references (XML 1.0 section 4.1): the value is the same."""
    return _UNSAFE.sub(lambda match: f"&#x{ord(match[0]):x};", markup)
