"""`inspector recordings`: finding calls, keeping, deleting and pruning."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from inspector.journal.journal import Journal
from tests.cli.conftest import Run

NOW = datetime.now(UTC)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INSPECTOR_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "state" / "recordings").mkdir(parents=True)
    return tmp_path / "state" / "recordings"


def recorded(
    folder: Path, days: int, tool: str = "echo", *, mark: bool = False, answer: object = "hello\nworld"
) -> Path:
    """A recording of one call, made some days ago."""
    started = NOW - timedelta(days=days)
    path = folder / f"{started:%Y-%m-%dT%H-%M-%SZ}-shop-{days:04x}.mcp.jsonl"
    target = {"kind": "stdio", "label": "shop", "argv": ["shop-server", "--fast"]}
    journal = Journal.create(path, target, about={"started": started.isoformat()})
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": {"days": days}}}
    journal.record_sent("stdio", json.dumps(call).encode(), call)
    result = {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": answer}]}}
    journal.record_received("stdio", [json.dumps(result).encode()])
    if mark:
        journal.mark(1)
    journal.close()
    journal.release()
    return path


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("*.mcp.jsonl")}


@pytest.mark.parametrize(("method", "text"), [("server/discover", ""), ("ping", "1 error event")])
def test_the_document_counts_the_errors_of_the_table(folder: Path, run: Run, method: str, text: str) -> None:
    journal = Journal.create(folder / "2026-01-01T00-00-00Z-shop-0000.mcp.jsonl", {"kind": "stdio", "label": "shop"})
    request = {"jsonrpc": "2.0", "id": 1, "method": method}
    journal.record_sent("stdio", json.dumps(request).encode(), request)
    journal.record_received("stdio", [b'{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Not found"}}'])
    journal.record_life("", "ready", revision="2025-11-25", era="legacy", transport="stdio")
    journal.close()
    journal.release()
    assert json.loads(run("recordings", "--json").out)["recordings"][0]["errors"] == bool(text)
    assert ("error" in run("recordings").out, text in run("recordings").out) == (bool(text), True)


def test_calls_of_a_tool_across_recordings_newest_first(folder: Path, run: Run) -> None:
    new, old = recorded(folder, 1), recorded(folder, 9)
    recorded(folder, 5, "other")
    rows = run("recordings", "--calls", "echo").out.splitlines()
    assert len(rows) == 2
    assert f"{new.name}#1" in rows[0]
    assert f"{old.name}#1" in rows[1]
    assert all(word in rows[0] for word in ("shop", '{"days":1}', "done", "hello"))
    assert "world" not in rows[0]
    document = json.loads(run("recordings", "--calls", "*", "--limit", "2", "--json").out)
    assert [call["tool"] for call in document["calls"]] == ["echo", "other"]
    assert document["more"] is True
    assert document["calls"][0]["arguments"] == {"days": 1}
    assert "No call of nothing in 3 recordings" in run("recordings", "--calls", "nothing").err


def test_a_tool_whose_name_needs_escapes_is_found(folder: Path, run: Run) -> None:
    recorded(folder, 1, 'grüß "dich"')
    assert json.loads(run("recordings", "--calls", 'grüß "dich"', "--json").out)["calls"][0]["tool"] == 'grüß "dich"'


def test_a_damaged_recording_does_not_hide_the_others(folder: Path, run: Run) -> None:
    recorded(folder, 1)
    (folder / "2026-01-01T00-00-00Z-x-0000.mcp.jsonl").write_bytes(b"\0\xff echo")
    assert len(run("recordings", "--calls", "echo").out.splitlines()) == 1


def test_a_list_of_calls_with_hostile_text_is_safe(folder: Path, run: Run) -> None:
    recorded(folder, 1, answer="\x1b[2J\u202eevil")
    assert "\x1b" not in run("recordings", "--calls", "echo").out
    recorded(folder, 2, answer={"not": "text"})
    assert run("recordings", "--calls", "echo").code == 0


def test_search_in_names_and_commands(folder: Path, run: Run) -> None:
    recorded(folder, 1)
    assert len(run("recordings", "--search", "SHOP-SERVER").out.splitlines()) == 1
    assert run("recordings", "--search", "nowhere").out == ""


def test_old_recordings_are_pruned_but_not_the_kept_and_marked_ones(folder: Path, run: Run) -> None:
    young, old, kept, marked = (
        recorded(folder, 2), recorded(folder, 40), recorded(folder, 50), recorded(folder, 60, mark=True),
    )  # fmt: skip
    assert "stays until you release it" in run("recordings", "--keep", str(kept)).out
    dry = run("recordings", "--prune", "--older", "30d", "--dry-run")
    assert dry.out.split() == [old.name]
    assert "1 recording would be deleted" in dry.err
    assert f"{kept.name} stays: it is kept." in dry.err
    assert f"{marked.name} stays: it is marked." in dry.err
    assert len(names(folder)) == 4
    assert run("recordings", "--prune", "--older", "30d").code == 0
    assert names(folder) == {young.name, kept.name, marked.name}
    run("recordings", "--release", str(kept))
    run("recordings", "--prune", "--older", "30d")
    assert names(folder) == {young.name, marked.name}


def test_a_recording_that_is_being_written_stays(folder: Path, run: Run) -> None:
    recorded(folder, 1)
    path = folder / "2020-01-01T00-00-00Z-x-0000.mcp.jsonl"
    journal = Journal.create(path, {}, about={"started": "2020-01-01T00:00:00Z"})
    ran = run("recordings", "--prune", "--older", "3d")
    assert "stays: it is being written." in ran.err
    assert "is being written" in run("recordings", "--delete", str(journal.path)).err
    journal.release()
    assert run("recordings", "--delete", str(journal.path)).code == 0
    assert len(names(folder)) == 1


def test_without_an_age_the_limits_of_the_settings_hold(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    newest = recorded(folder, 1)
    recorded(folder, 2), recorded(folder, 3)
    (folder / "settings.json").write_text('{"keep_recordings": 1}')
    monkeypatch.setenv("INSPECTOR_CONFIG_HOME", str(folder))
    assert "2 recordings deleted" in run("recordings", "--prune").err
    assert names(folder) == {newest.name}


def test_files_of_the_user_are_never_touched(folder: Path, tmp_path: Path, run: Run) -> None:
    mine = recorded(tmp_path, 400)
    for words in (["--delete", str(mine)], ["--keep", str(mine)]):
        assert "neither keeps nor deletes it" in run("recordings", *words).err
    assert mine.exists()


@pytest.mark.parametrize("words", [
    ["--older", "3d"], ["--dry-run"], ["--prune", "--older", "soon"], ["--prune", "--older", "d"],
    ["--prune", "--calls", "x"],
])  # fmt: skip
def test_options_that_do_not_fit(folder: Path, run: Run, words: list[str]) -> None:
    assert run("recordings", *words).code == 2
