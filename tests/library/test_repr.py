"""Objects of the library are readable at a prompt, and a traceback of its errors names the remedy."""

from __future__ import annotations

import dataclasses
import sys
import traceback
from pathlib import Path

import pytest

import inspector

DEMO = [sys.executable, "-m", "inspector.demo"]
CLASSES = [
    name
    for name in inspector.__all__
    if isinstance(getattr(inspector, name), type) and not issubclass(getattr(inspector, name), Exception)
]


@pytest.mark.parametrize("name", CLASSES)
def test_every_public_class_says_what_an_object_is(name: str) -> None:
    public = getattr(inspector, name)
    assert public.__repr__ is not object.__repr__
    if dataclasses.is_dataclass(public) and public.__repr__.__qualname__.endswith("__create_fn__.<locals>.__repr__"):
        # The generated one is for a few short values: not for reports with members that are objects in turn.
        assert name in {"AuthOptions", "ExpectationResult", "Finding", "PlannedCall"}


@pytest.mark.slow
async def test_what_calls_return_is_one_short_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSPECTOR_STATE_HOME", str(tmp_path))
    kept = tmp_path / "s.mcp.jsonl"
    steps: list[inspector.Progress] = []
    async with inspector.open(DEMO, record=kept) as session:
        values: list[object] = [session, session.server, session.recording, (await session.tools())[0]]
        values += [await session.call_tool("slow", {"seconds": 0.1, "steps": 2}, progress=steps.append)]
        values += [
            steps[0],
            session.notifications("notifications/message"),
            await session.read_resource("demo://readme"),
        ]
    values += [await inspector.check(DEMO, only=["lifecycle"], revisions="2025-11-25")]
    values += [
        await inspector.diff(str(kept), str(kept)),
        await inspector.rerun(str(kept), DEMO),
        await inspector.doctor(DEMO),
    ]
    values += [await inspector.load(DEMO, "add", {"a": 1, "b": 2}, seconds=0.2, warm_up=0, floor=False)]
    async with inspector.serve(kept) as server:
        values += [server, server.report]
    texts = [repr(value) for value in values]
    for text in texts:
        assert len(text) < 500, text
        assert "\n" not in text
        assert " object at 0x" not in text
    assert "<inspector.Server inspector-demo 1.0.0, 2026-07-28>" in texts
    assert "<inspector.Progress 1 of 2, step 1 of 2>" in texts


def test_a_server_cannot_print_control_characters_through_a_repr() -> None:
    from inspector.client.state.server import Server

    server = Server({"serverInfo": {"name": "a\x1b[2Jb", "version": "1" * 1000}, "protocolVersion": "x"})
    assert repr(server).startswith("<inspector.Server a␛[2Jb 111")
    assert len(repr(server)) < 200


def test_a_traceback_names_the_remedy() -> None:
    with pytest.raises(inspector.SessionLost) as caught:
        inspector.open_sync(DEMO).tools()
    lines = traceback.format_exception(caught.value)
    assert lines[-1] == "Hint: Use it with `with`, or call connect().\n"
    assert lines[-2].endswith("SessionLost: The session is not connected.\n")
    error = inspector.UsageError("No.", hint="Do this.")
    error.add_note("Another note.")
    error.hint = "Do that."
    assert error.__notes__ == ["Hint: Do that.", "Another note."]
    error.hint = ""
    assert error.__notes__ == ["Another note."]
