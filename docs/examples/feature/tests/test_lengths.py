"""The rule is tested without Inspector, the verb and the check with its demo server."""

import json
import subprocess
import sys

from inspector_lengths.lengths import lengths

DEMO = ("--no-record", "--", sys.executable, "-m", "inspector.demo")


def inspector(*words):
    command = [sys.executable, "-m", "inspector", *words]
    return subprocess.run(command, capture_output=True, text=True)


def test_the_shortest_is_the_first():
    tools = [{"name": "a", "description": "long enough"}, {"name": "b"}]
    assert lengths(tools) == [("b", 0), ("a", 11)]


def test_the_verb():
    assert json.loads(inspector("lengths", "--json", *DEMO).stdout)["echo"] == 20


def test_the_check():
    checked = inspector("check", "--only", "LENGTHS-01", "--json", *DEMO)
    assert "LENGTHS-01" in checked.stdout, checked.stderr
