"""Which verbs work on a row of the start list, and where a typed text stands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector.client.recording_info import RecordingInfo
from inspector.config.servers import find_servers
from inspector.config.settings import Settings
from inspector.tui.start.rows import Configured, Demo, RegistryRow
from inspector.tui.start.targets import RegistrySearch, Targets, groups, row_verbs

RECORDING = RecordingInfo(Path("a.mcp.jsonl"), 1, target="uvx thing --all")


def servers(folder: Path) -> list[Configured]:
    """Return a server that is a command, and one that is a URL."""
    path = folder / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {"local": {"command": "cat"}, "shop": {"url": "https://shop.test/mcp"}}}))
    return [Configured(entry) for entry in find_servers(config=path).entries]


def test_each_kind_of_row_has_its_verbs(tmp_path: Path) -> None:
    local, shop = servers(tmp_path)
    assert [row_verbs(thing, None) for thing in (None, Demo())] == [[], []]
    assert row_verbs(RECORDING, None) == ["beside", "check", "export", "keep", "delete"]
    assert row_verbs(local, None) == ["beside", "check", "doctor"]
    assert row_verbs(shop, None) == ["beside", "check", "doctor", "log-in"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", "configured recordings"),
        ("https://shop.example/mcp", "typed configured recordings"),
        ("uvx thing --all", "configured typed recordings"),
        ("thing", "configured recordings typed"),
    ],
)
def test_a_typed_text_stands_where_enter_should_find_it(
    text: str, names: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", "")
    targets = Targets(True, servers(tmp_path), [], [RECORDING])
    found = groups(targets, None, [], text, settings=Settings(), config=None)
    assert [group.name for group in found] == names.split()


def test_a_registry_is_shown_once_it_is_searched() -> None:
    rows: list[RegistryRow] = []
    found = groups(Targets(True), RegistrySearch(rows, "searching x"), [], "", settings=Settings(), config=None)
    assert [(group.name, group.note) for group in found if group.name == "registry"] == [("registry", "searching x")]
