"""JUnit XML as CI systems read it: only the elements and attributes that the schema of Jenkins has."""

from __future__ import annotations

from xml.etree import ElementTree

from inspector.junit import Case, Suite, junit_xml

ALLOWED = {
    "testsuites": ("testsuite", "name time tests failures errors"),
    "testsuite": (
        "testsuite properties testcase system-out system-err",
        "name tests failures errors group time skipped timestamp hostname id package file log url",
    ),
    "properties": ("property", ""),
    "property": ("", "name value"),
    "testcase": ("skipped error failure system-out system-err", "name time classname group"),
    **dict.fromkeys(("skipped", "error", "failure"), ("", "type message")),
    "system-out": ("", ""),
}
"""What each element may hold: elements and attributes. Jenkins refuses a file with others."""

CASES = [
    Case("passes", "a", seconds=0.1),
    Case("is told", "a", output="warn (rule): text"),
    Case("fails", "a", failure="no", details="expected <b>"),
    Case("breaks", "a", error="gone"),
    Case("waits", "a", skipped="later"),
]


def refused(document: str) -> list[str]:
    """Return the elements, with a child or an attribute, that Jenkins refuses."""
    problems = []
    for element in ElementTree.fromstring(document).iter():
        children, attributes = ALLOWED[element.tag]
        names = {child.tag for child in element} - set(children.split()) | set(element.attrib) - set(attributes.split())
        problems += [f"{element.tag}: {name}" for name in sorted(names)]
    return problems


def test_jenkins_reads_each_kind_of_case() -> None:
    document = junit_xml([Suite("one", CASES, (("recording", "r.mcp.jsonl"),)), Suite("two", [])])
    assert refused(document) == []
    assert [len(suite) for suite in ElementTree.fromstring(document)] == [len(CASES) + 1, 0]
    assert refused(document.replace("<testcase ", '<testcase line="1" ', 1)) == ["testcase: line"]


def test_a_case_of_a_file_names_its_place() -> None:
    case = ElementTree.fromstring(junit_xml([Suite("s", [Case("c", "g", file="calls/a b.yaml", line=7)])]))[0][0]
    assert (case.get("file"), case.get("line")) == ("calls/a b.yaml", "7")
