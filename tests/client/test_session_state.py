"""Readers need not know the kind of a session: live and recorded sessions have the same names."""

import ast
from pathlib import Path

import pytest

from inspector.client.recorded_session import RecordedSession
from inspector.client.session import Session
from inspector.client.session_state import SessionState
from inspector.config.targets import StdioTarget
from inspector.journal.journal import Journal

ROOT = Path(__file__).parents[2]
SESSIONS = {"Session", "RecordedSession", "SessionModel"}
"""Classes of `inspector.client`. The library has a class `Session` of its own for programs."""


def members(protocol):
    """The public names of a protocol, those it inherits included."""
    return {
        name
        for base in protocol.__mro__
        for name in (*vars(base), *vars(base).get("__annotations__", ()))
        if not name.startswith("_")
    }


def test_a_recording_has_what_a_session_has_and_no_commands(tmp_path):
    session = RecordedSession(Journal.unnamed({}), tmp_path / "a")
    assert {name for name in members(SessionState) if not hasattr(session, name)} == set()
    assert session.commands is None
    assert (session.at_end, session.upto, session.now, session.calls_in_flight()) == (True, 0, 0, [])


def test_a_live_session_has_the_same_and_its_commands():
    session = Session(StdioTarget(("server",)), Journal.unnamed({}))
    assert {name for name in members(SessionState) if not hasattr(session, name)} == set()
    assert session.commands is session
    assert (session.at_end, session.upto, session.transport_name) == (True, 0, "stdio")
    assert not session.advance()
    assert session.call_in_flight(1) is None


def lines_that_test(source):
    """The lines that test the kind of a session, or use a member of one kind only."""
    lines = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            names = {part.id for part in ast.walk(node.args[1]) if isinstance(part, ast.Name)}
            if names & SESSIONS:
                lines.append(node.lineno)
        elif isinstance(node, ast.Attribute) and node.attr == "can_send":
            lines.append(node.lineno)
    return lines


@pytest.mark.slow
def test_nothing_tests_which_session_it_has():
    paths = [
        path for path in (ROOT / "inspector").rglob("*.py") if "library" not in path.parts and path.stem != "library"
    ]
    assert len(paths) > 400
    assert {path.name: lines for path in paths if (lines := lines_that_test(path.read_text("utf-8")))} == {}


@pytest.mark.parametrize(
    "code", ["isinstance(self.session, Session)", "isinstance(x, (int, RecordedSession))", "s.can_send"]
)
def test_such_a_test_is_found(code):
    assert lines_that_test(code) == [1]
