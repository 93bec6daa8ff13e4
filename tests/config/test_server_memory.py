"""Memory of servers: what is kept, what is never written, and that damage does no harm."""

from __future__ import annotations

import json
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.config.server_memory import CALLS_PER_TOOL, ServerMemory, identity, without_secrets
from inspector.config.targets import HttpTarget, RecordingTarget, StdioTarget
from tests.config.conftest import World

TARGET = StdioTarget(("srv", "--x"), secrets=("held-secret",))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture
def memory(tmp_path: Path) -> ServerMemory:
    return ServerMemory(TARGET, tmp_path / "memory")


def last_arguments(memory: ServerMemory, tool: str) -> Any:
    return next((call.arguments for call in memory.past_calls(tool)), None)


def file_of(tmp_path: Path) -> Path:
    (path,) = (tmp_path / "memory").glob("*.json")
    return path


def test_a_server_never_seen_has_no_memory(memory: ServerMemory) -> None:
    assert memory.last_open() is None
    assert last_arguments(memory, "t") is None
    assert memory.past_calls("t") == []
    assert memory.forget()


def test_what_is_remembered_is_there_next_time(memory: ServerMemory, tmp_path: Path) -> None:
    assert memory.remember_open(False, "exit code 1", when=10.0)
    assert memory.remember_call("t", {"a": [1, {"b": None}]}, ok=True, when=11.0)
    assert memory.remember_call("t", {"a": 2}, ok=False, outcome="cancelled", when=12.0)
    again = ServerMemory(TARGET, tmp_path / "memory")
    opened = again.last_open()
    assert opened is not None
    assert (opened.when, opened.ok, opened.note) == (10.0, False, "exit code 1")
    assert [(call.when, call.arguments, call.ok, call.outcome) for call in again.past_calls("t")] == [
        (12.0, {"a": 2}, False, "cancelled"),
        (11.0, {"a": [1, {"b": None}]}, True, ""),
    ]
    assert last_arguments(again, "t") == {"a": 2}
    assert again.forget()
    assert ServerMemory(TARGET, tmp_path / "memory").past_calls("t") == []


def test_two_windows_do_not_undo_each_other(memory: ServerMemory, tmp_path: Path) -> None:
    other = ServerMemory(TARGET, tmp_path / "memory")
    memory.remember_call("a", {"x": 1}, ok=True)
    other.remember_call("b", {"x": 2}, ok=True)
    assert (last_arguments(memory, "b"), last_arguments(other, "a")) == ({"x": 2}, {"x": 1})


def test_windows_that_write_at_the_same_time_lose_nothing(memory: ServerMemory, tmp_path: Path) -> None:
    def write(window: int) -> None:
        mine = ServerMemory(TARGET, tmp_path / "memory")
        for number in range(25):
            assert mine.remember_view(f"tool-{window}-{number}", "raw")

    with ThreadPoolExecutor(4) as windows:
        list(windows.map(write, range(4)))
    assert all(memory.view(f"tool-{window}-{number}") == "raw" for window in range(4) for number in range(25))


def test_the_last_twenty_different_calls_stay(memory: ServerMemory) -> None:
    for number in range(30):
        memory.remember_call("t", {"n": number}, ok=True)
    memory.remember_call("t", {"n": 25}, ok=False)
    calls = memory.past_calls("t")
    assert len(calls) == CALLS_PER_TOOL
    assert [call.arguments["n"] for call in calls[:3]] == [25, 29, 28]
    memory.remember_call("t", {"n": True}, ok=True)
    memory.remember_call("t", {"n": 1}, ok=True)
    assert [call.arguments["n"] for call in memory.past_calls("t")[:2]] == [1, True]


@pytest.mark.slow
def test_the_tools_not_called_for_longest_make_room(memory: ServerMemory) -> None:
    for number in range(300):
        memory.remember_call(f"t{number}", {"n": number}, ok=True)
    memory.remember_call("t0", {"n": 0}, ok=True)
    memory.remember_call("t300", {"n": 300}, ok=True)
    assert last_arguments(memory, "t1") is None
    assert [last_arguments(memory, f"t{number}") for number in (0, 2, 300)] == [{"n": 0}, {"n": 2}, {"n": 300}]


def test_a_call_that_is_too_long_or_no_json_is_not_kept(memory: ServerMemory) -> None:
    deep: dict[str, Any] = {}
    for _ in range(5000):
        deep = {"a": deep}
    for arguments in ({"text": "x" * 33_000}, {"bytes": b"x"}, deep):
        assert not memory.remember_call("t", arguments, ok=True)
    assert memory.past_calls("t") == []


def test_the_file_is_private_whole_and_bounded(memory: ServerMemory, tmp_path: Path) -> None:
    for number in range(60):
        memory.remember_call(f"t{number}", {"text": f"{number}" + "x" * 30_000}, ok=True)
    path = file_of(tmp_path)
    assert path.stat().st_size <= 1024 * 1024
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert last_arguments(memory, "t59") is not None


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"\xff\xfe\0",
        b"[1]",
        b"null",
        b'{"opened": 3, "tools": [1]}',
        b'{"opened": {"when": "x", "ok": true}, "tools": {"t": 3, "u": [3, {"when": -1}]}}',
        b'{"tools": {"t": [{"when": 1, "arguments": 2, "ok": true}, {"when": 1, "arguments": {}, "ok": 1}]}}',
        b'{"tools": {"t": {"a": 1}}}',
        b"[" * 100_000,
        b" " * 9_000_000,
    ],
)
def test_damage_counts_as_nothing_remembered(memory: ServerMemory, tmp_path: Path, damage: bytes) -> None:
    memory.remember_open(True)
    file_of(tmp_path).write_bytes(damage)
    assert memory.last_open() is None
    assert [memory.past_calls(tool) for tool in ("t", "u")] == [[], []]
    assert memory.remember_call("t", {"a": 1}, ok=True)
    assert last_arguments(memory, "t") == {"a": 1}


@given(
    content=st.dictionaries(
        st.sampled_from(["opened", "tools"]), st.dictionaries(st.sampled_from(["t", "when", "ok"]), JSON) | JSON
    )
)
def test_whatever_the_file_holds_it_can_be_read_and_added_to(
    tmp_path_factory: pytest.TempPathFactory, content: Any
) -> None:
    folder = tmp_path_factory.mktemp("m")
    memory = ServerMemory(TARGET, folder)
    (folder / f"{identity(TARGET)}.json").write_text(json.dumps(content))
    memory.last_open()
    memory.past_calls("t")
    assert memory.remember_call("t", {"a": 1}, ok=True)
    assert last_arguments(memory, "t") == {"a": 1}


def test_a_folder_that_cannot_be_written_is_reported_and_no_failure(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    memory = ServerMemory(TARGET, tmp_path / "file")
    assert not memory.remember_open(True)
    assert memory.last_open() is None


# Secrets


def test_nothing_secret_is_written(memory: ServerMemory, tmp_path: Path) -> None:
    schema = {
        "properties": {
            "marked": {"type": "string", "format": "password"},
            "hidden": {"writeOnly": True},
            "either": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/pin"}]},
            "list": {"items": {"$ref": "#/$defs/login"}},
        },
        "$defs": {"pin": {"format": "password"}, "login": {"properties": {"user": {}, "code": {"format": "password"}}}},
    }
    arguments = {
        "marked": "MARKED",
        "hidden": {"x": "HIDDEN"},
        "either": "EITHER",
        "list": [{"user": "me", "code": "CODE"}],
        "apiKey": "BY-NAME",
        "nested": {"password": "BY-NAME-TOO", "text": "contains held-secret inside"},
        "lines": ["fine", "held-secret"],
        "held-secret": 1,
        "kept": ["a", 1, None, True],
        "max_tokens": 5,
    }
    assert memory.remember_call("t", arguments, ok=True, schema=schema)
    memory.remember_open(False, "it said held-secret\x1b[31m")
    assert last_arguments(memory, "t") == {
        "list": [{"user": "me"}],
        "nested": {},
        "kept": ["a", 1, None, True],
        "max_tokens": 5,
    }
    text = file_of(tmp_path).read_text()
    for secret in ("MARKED", "HIDDEN", "EITHER", "CODE", "BY-NAME", "held-secret", "\x1b"):
        assert secret not in text


@pytest.mark.parametrize(
    "schema",
    [
        {"additionalProperties": {"writeOnly": True}},
        {"patternProperties": {"(a+)+$": {"format": "password"}}},
        {"allOf": [{"then": {"properties": {"x": {"writeOnly": True}}}}]},
        {"$ref": "#/definitions/a~1b", "definitions": {"a/b": {"properties": {"x": {"writeOnly": True}}}}},
        {"dependentSchemas": {"y": {"properties": {"x": {"writeOnly": True}}}}},
        {"oneOf": [{}, {"$ref": "#/oneOf/2"}, {"properties": {"x": {"format": "password"}}}]},
        {"writeOnly": True},
    ],
)
def test_a_mark_is_found_wherever_a_schema_can_have_it(schema: Any) -> None:
    assert without_secrets({"x": "s"}, schema) == {}


@pytest.mark.parametrize("key", ["prefixItems", "items"])
def test_marks_on_places_of_a_list(key: str) -> None:
    schema = {"properties": {"x": {key: [{}, {"writeOnly": True}]}, "y": {key: [{}, {}]}}}
    assert without_secrets({"x": [1, 2], "y": [1, 2]}, schema) == {"y": [1, 2]}


def hostile_schemas() -> list[Any]:
    loop: dict[str, Any] = {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}
    wide = {"anyOf": [{"properties": {f"p{number}": {}}} for number in range(50_000)]}
    tower: dict[str, Any] = {}
    for _ in range(3000):
        tower = {"anyOf": [tower], "properties": {"x": tower}}
    knot = {"$defs": {"n": {"anyOf": [{"$ref": "#/$defs/n"}] * 500, "additionalProperties": {"$ref": "#/$defs/n"}}}}
    knot["$ref"] = "#/$defs/n"  # type: ignore[assignment]
    odd = {"properties": [1], "anyOf": {"a": 1}, "$ref": "#/x/٣/-1", "items": 3, "patternProperties": 1, "x": []}
    return [
        loop,
        wide,
        tower,
        knot,
        odd,
        True,
        None,
        "text",
        [],
        {"$ref": "https://host/x"},
        {"$ref": 5},
        {"$ref": "#"},
    ]


@pytest.mark.parametrize("schema", hostile_schemas(), ids=lambda schema: type(schema).__name__)
def test_hostile_schemas_cost_bounded_work(schema: Any) -> None:
    arguments = {f"k{number}": [{"x": [number]}] * 3 for number in range(2000)}
    kept = without_secrets(arguments, schema)
    assert all(kept[key] == arguments[key] for key in kept)


@given(JSON, JSON)
def test_without_secrets_what_is_kept_is_as_it_was(arguments: Any, schema: Any) -> None:
    kept = without_secrets({"a": arguments}, schema)
    assert kept in ({}, {"a": arguments}) or isinstance(arguments, (dict, list))


# Identity


def test_the_same_server_is_the_same_whatever_its_secrets() -> None:
    assert identity(StdioTarget(("s", "--token", "one1"))) == identity(StdioTarget(("s", "--token", "two2")))
    assert identity(HttpTarget("https://u:one@h/?key=1")) == identity(HttpTarget("https://u:two@h/?key=2"))
    named = StdioTarget(("a",), name="n", source="/f")
    assert identity(named) == identity(StdioTarget(("b",), name="n", source="/f"))


def test_different_servers_are_different(tmp_path: Path) -> None:
    different = [
        StdioTarget(("s",)),
        StdioTarget(("s", "--x")),
        StdioTarget(("s",), cwd=str(tmp_path)),
        StdioTarget(("s",), name="n", source="/f"),
        StdioTarget(("s",), name="n", source="/g"),
        HttpTarget("https://h/a"),
        HttpTarget("https://h/b"),
        RecordingTarget(tmp_path / "s"),
    ]
    assert len({identity(target) for target in different}) == len(different)


def test_a_command_that_names_something_here_is_another_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    identities = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "server.py").touch()
        monkeypatch.chdir(tmp_path / name)
        identities.append((identity(StdioTarget(("python", "server.py"))), identity(StdioTarget(("npx", "pkg")))))
    assert identities[0][0] != identities[1][0]
    assert identities[0][1] == identities[1][1]


def test_an_entry_of_a_config_file_has_the_memory_of_its_target(world: World, tmp_path: Path) -> None:
    world.write(".mcp.json", {"mcpServers": {"a": {"command": "srv"}}})
    ServerMemory(world.open("@a"), tmp_path / "m").remember_open(False, "it failed")
    opened = ServerMemory(world.entry("a"), tmp_path / "m").last_open()
    assert opened is not None
    assert opened.note == "it failed"


def test_memory_is_in_the_state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSPECTOR_STATE_HOME", str(tmp_path))
    assert ServerMemory(TARGET).remember_open(True)
    assert [path.parent.name for path in tmp_path.rglob("*.json")] == ["memory"]


def test_the_view_of_a_tool_is_kept_and_forgotten(memory: ServerMemory) -> None:
    assert memory.view("t") == ""
    assert memory.remember_view("t", "table")
    assert memory.remember_call("t", {"a": 1}, ok=True)
    assert memory.view("t") == "table"
    assert memory.view("u") == ""
    assert memory.remember_view("t", "")
    assert memory.view("t") == ""
    assert memory.past_calls("t")
