"""Listing, finding and resolving servers: nothing hides anything else, listing opens nothing (C-STDIO-10)."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inspector.config.host_files import table
from inspector.config.servers import find_servers, resolve
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.errors import ConfigError, InspectorError, TargetError
from tests.config.conftest import World

GOOD = {"mcpServers": {"good": {"command": "good-server"}}}
EVERY_FILE = [
    "inspector.json",
    ".inspector.json",
    ".mcp.json",
    ".cursor/mcp.json",
    ".vscode/mcp.json",
    ".vscode/settings.json",
    ".gemini/settings.json",
    ".zed/settings.json",
    "server.json",
    "~/.config/inspector/inspector.json",
    "~/.claude.json",
    "~/.config/Claude/claude_desktop_config.json",
    "~/.config/Code/User/mcp.json",
    "~/.config/Code/User/settings.json",
    "~/.codeium/windsurf/mcp_config.json",
    "~/.gemini/settings.json",
    "~/.config/zed/settings.json",
]
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.just("\ud800\0"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


def names(world: World, **options: Any) -> list[str]:
    return [entry.name for entry in world.find(**options).entries]


# Listing


def test_this_folder_comes_first_then_its_parents_then_the_users_files(world: World) -> None:
    root, world.folder = world.folder, world.folder / "deep" / "er"
    world.folder.mkdir(parents=True)
    projects = {
        str(root): {"mcpServers": {"mine-root": {"command": "m"}}},
        str(world.folder): {"mcpServers": {"mine-here": {"command": "m"}}},
    }
    world.write("~/.cursor/mcp.json", {"mcpServers": {"user": {"command": "u"}}})
    world.write("~/src/shop/.mcp.json", {"mcpServers": {"root": {"command": "r"}}})
    world.write("inspector.json", {"servers": {"here": {"command": "h"}, "here-too": {"command": "h2"}}})
    world.write("~/.claude.json", {"projects": projects})
    world.write("~/.config/inspector/inspector.json", {"servers": {"own": {"command": "o"}}})
    assert [(entry.name, entry.source_label) for entry in world.find().entries] == [
        ("here", "this folder"),
        ("here-too", "this folder"),
        ("mine-here", "Claude Code"),
        ("root", "Claude Code"),
        ("mine-root", "Claude Code"),
        ("own", "Inspector"),
        ("user", "Cursor"),
    ]


def test_parents_count_up_to_the_root_of_the_repository(world: World) -> None:
    world.write("~/src/.mcp.json", GOOD)
    assert names(world) == []


def test_without_a_repository_parents_count_up_to_home(world: World) -> None:
    world.write("~/.mcp.json", GOOD)
    world.folder = world.home / "plain" / "folder"
    world.folder.mkdir(parents=True)
    assert names(world) == ["good"]


def test_outside_of_home_and_repository_no_parent_counts(world: World, tmp_path: Path) -> None:
    world.folder = tmp_path / "elsewhere" / "below"
    world.folder.mkdir(parents=True)
    (tmp_path / "elsewhere" / ".mcp.json").write_text(json.dumps(GOOD))
    assert names(world) == []


def test_a_file_that_is_both_of_the_folder_and_of_the_user_counts_once(world: World) -> None:
    world.write("~/.cursor/mcp.json", GOOD)
    world.folder = world.home
    assert names(world) == ["good"]


def test_listing_expands_and_asks_nothing(world: World) -> None:
    """C-STDIO-10."""
    world.write(".mcp.json", {"mcpServers": {"a": {"command": "${PROGRAM}", "args": ["--x=${TOKEN}", "two words"]}}})
    entry = world.entry("a")
    assert entry.summary == "'${PROGRAM}' '--x=${TOKEN}' 'two words'"
    assert (entry.kind, entry.disabled, entry.reference) == ("stdio", False, "@a")
    assert entry.raw == {"command": "${PROGRAM}", "args": ["--x=${TOKEN}", "two words"]}


def test_a_summary_is_whole_and_hides_literal_secrets(world: World) -> None:
    """C-STDIO-10."""
    long = "x" * 5000
    world.write(
        ".mcp.json",
        {
            "mcpServers": {
                "a": {"command": "s", "args": ["--token", "sesame-123", long]},
                "b": {"url": "https://u:p@h/?key=1"},
            }
        },
    )
    assert world.entry("a").summary == f"s --token '***' {long}"
    assert world.entry("b").summary == "https://***@h/?key=***"
    assert "sesame-123" not in repr(world.find())


# Broken files


@pytest.mark.parametrize("name", EVERY_FILE)
@pytest.mark.parametrize(
    "kind", ["binary", "utf16", "deep", "torn", "empty", "list", "folder", "dangling", "loop", "fifo"]
)
def test_a_broken_file_is_named_and_hides_no_other(world: World, name: str, kind: str) -> None:
    world.write("~/.cursor/mcp.json", GOOD)
    path = world.write(name, "")
    path.unlink()
    match kind:
        case "binary":
            path.write_bytes(bytes(range(256)))
        case "utf16":
            path.write_bytes(json.dumps(GOOD).encode("utf-16"))
        case "deep":
            path.write_text("[" * 100_000)
        case "torn":
            path.write_text('{"mcpServers": {"a": {"comm')
        case "empty":
            path.write_text(" \n")
        case "list":
            path.write_text("[1]")
        case "folder":
            path.mkdir()
        case "dangling":
            path.symlink_to(path.parent / "gone")
        case "loop":
            path.symlink_to(path)
        case "fifo":
            os.mkfifo(path)
    listed = world.find()
    assert [entry.name for entry in listed.entries] == ["good"]
    assert [problem.path for problem in listed.problems] == [path]
    assert str(path) in listed.problems[0].message


AS_JSON = json.dumps(GOOD)


@pytest.mark.parametrize(
    ("content", "message", "hint"),
    [
        (AS_JSON.encode("utf-16"), "cannot be read: it is UTF-16", "Save it as UTF-8"),
        (AS_JSON.encode("utf-16-le"), "cannot be read: it is UTF-16", "Save it as UTF-8"),
        (b'# Codex\n[mcp_servers.shop]\ncommand = "node"\n', "is TOML, not JSON", '{"mcpServers": '),
        (b'model = "x"\n[mcp_servers.shop]\n', "is TOML, not JSON", '{"mcpServers": '),
        (b"---\nmcpServers:\n  shop:\n    command: node\n", "is YAML, not JSON", '{"mcpServers": '),
        (b'```json\n{"mcpServers": {}}\n```\n', "begins with a Markdown code fence", "Remove the lines"),
        ("{“mcpServers”: {}}".encode(), "has typographic quotes", "Replace “ and ”"),
        (b'{"mcpServers": {"a": {"command": "C:\\Users"}}}', "line 1, column ", "each backslash of a path twice"),
        (b'{"mcpServers": {"a": {"command": "x"}}', "line 1, column 39: ", ""),
    ],
)
def test_a_file_in_another_format_is_named_in_a_finished_sentence(
    world: World, content: bytes, message: str, hint: str
) -> None:
    path = world.write("~/.cursor/mcp.json", "")
    path.write_bytes(content)
    (problem,) = world.find().problems
    assert problem.message.startswith(str(path))
    assert message in problem.message
    assert hint in problem.hint
    assert "{path}" not in problem.message + problem.hint


def test_a_huge_file_is_refused_unread(world: World) -> None:
    world.write("~/.cursor/mcp.json", GOOD)
    path = world.write(".mcp.json", "")
    with path.open("wb") as file:
        file.truncate(50 * 1024 * 1024)
    listed = world.find()
    assert [entry.name for entry in listed.entries] == ["good"]
    assert "52,428,800 bytes" in listed.problems[0].message


def test_a_file_where_a_folder_is_expected_is_nothing(world: World) -> None:
    world.write(".cursor", "not a folder")
    listed = world.find()
    assert (listed.entries, listed.problems) == ((), ())


@pytest.mark.parametrize(
    ("name", "key"),
    [
        (".mcp.json", "mcpServers"),
        (".cursor/mcp.json", "mcpServers"),
        (".vscode/mcp.json", "servers"),
        (".gemini/settings.json", "mcpServers"),
        (".zed/settings.json", "context_servers"),
        ("inspector.json", "servers"),
        ("~/.codeium/windsurf/mcp_config.json", "mcpServers"),
        ("~/.config/Claude/claude_desktop_config.json", "mcpServers"),
        ("~/.claude.json", "mcpServers"),
    ],
)
@pytest.mark.parametrize("wrong", ["text", 3, True, ["list"], {"a": {"b": "object"}}])
def test_a_wrong_type_is_named_with_its_key_and_hides_no_other_server(
    world: World, name: str, key: str, wrong: Any
) -> None:
    fields = ("command", "args", "env", "envFile", "cwd", "url", "headers", "type")
    servers: dict[str, Any] = {f"bad-{part}": {"command": "c", part: wrong} for part in fields}
    for part in ("url", "headers"):
        servers[f"bad-{part}"] = {"url": "https://h", part: wrong}
    servers |= {"bad-whole": wrong, "good": {"command": "good-server"}}
    world.write(name, {key: servers})
    listed = world.find()
    assert "good" in [entry.name for entry in listed.entries]
    for part in fields:
        fits = part in (("command", "envFile", "cwd") if isinstance(wrong, str) else ())
        # Our own file takes a command as a list, too.
        fits = fits or (isinstance(wrong, list) and part in ("args", "command" if name == "inspector.json" else ""))
        problems = [problem for problem in listed.problems if problem.server == f"bad-{part}"]
        assert fits or (problems and f"“{part}" in problems[0].message), part
    assert isinstance(wrong, dict) or any(problem.server == "bad-whole" for problem in listed.problems)


@pytest.mark.parametrize("wrong", ["text", 3, ["list"], None])
def test_servers_of_a_wrong_type_are_named(world: World, wrong: Any) -> None:
    world.write(".mcp.json", {"mcpServers": wrong})
    world.write("~/.claude.json", {"projects": {str(world.folder): {"mcpServers": wrong}}, **GOOD})
    listed = world.find()
    assert [entry.name for entry in listed.entries] == ["good"]
    assert len(listed.problems) == (0 if wrong is None else 2)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=2 * settings.default.max_examples)
@given(
    content=st.dictionaries(
        st.sampled_from(
            ["mcpServers", "servers", "inputs", "context_servers", "mcp", "projects", "packages", "remotes"]
        ),
        st.dictionaries(
            st.sampled_from(["a", "b"]),
            st.dictionaries(
                st.sampled_from(
                    ["command", "args", "env", "url", "headers", "type", "cwd", "timeout", "era", "roots", "disabled"]
                ),
                JSON,
                max_size=5,
            )
            | JSON,
            max_size=2,
        )
        | JSON,
        max_size=4,
    ),
    name=st.sampled_from(EVERY_FILE),
)
def test_whatever_a_file_holds_is_listed_or_named_and_can_be_resolved_or_says_why(
    world: World, content: Any, name: str
) -> None:
    path = world.write(name, content)
    listed = world.find()
    for entry in listed.entries:
        assert entry.summary
        try:
            text = json.dumps(resolve(entry, {}, home=world.home).as_header())
        except InspectorError as error:
            text = error.message
        assert text
    assert all(problem.message and problem.path == path for problem in listed.problems)
    path.unlink()


# Finding


def test_a_name_in_two_files_is_reported_apart_by_part_of_its_file(world: World) -> None:
    world.write(".mcp.json", {"mcpServers": {"a": {"command": "one"}}})
    world.write("~/.cursor/mcp.json", {"mcpServers": {"a": {"command": "two"}}})
    with pytest.raises(TargetError, match="@a is in 2 files") as caught:
        world.open("@a")
    assert "@a:claude-code" in caught.value.hint
    assert "@a:cursor" in caught.value.hint
    assert [entry.reference for entry in world.find().entries] == ["@a:claude-code", "@a:cursor"]
    for word, command in (("@a:cursor", "two"), ("@a:.cursor/mcp.json", "two"), ("@a:.mcp.json", "one")):
        target = world.open(word)
        assert isinstance(target, StdioTarget)
        assert target.command == (command,)
    with pytest.raises(TargetError, match="is in 2 files"):
        world.open("@a:json")
    with pytest.raises(TargetError, match="No config file that has @a matches") as caught:
        world.open("@a:zed")
    assert "@a:cursor" in caught.value.hint


def test_every_reference_opens_its_own_entry(world: World) -> None:
    for number, name in enumerate(EVERY_FILE):
        key = {"inspector.json": "servers", "mcp.json": "servers"}.get(Path(name).name, "mcpServers")
        if "zed" in name:
            key = "context_servers"
        if "cursor" in name or Path(name).name == ".inspector.json":
            key = "mcpServers"
        if ".vscode/settings" in name or "User/settings" in name:
            world.write(name, {"mcp": {"servers": {"a": {"command": f"c{number}"}}}})
        elif name != "server.json":
            world.write(name, {key: {"a": {"command": f"c{number}"}}})
    listed = world.find()
    assert len(listed.entries) == len(EVERY_FILE) - 1
    for entry in listed.entries:
        assert listed.find(entry.reference) is entry


def test_the_same_definition_in_two_files_is_not_ambiguous(world: World) -> None:
    world.write(".mcp.json", {"mcpServers": {"a": {"command": "npx", "args": ["-y", "pkg"]}}})
    world.write("~/.cursor/mcp.json", {"mcpServers": {"a": {"command": "npx", "args": ["-y", "pkg"], "type": "stdio"}}})
    assert world.find().find("@a").source_label == "Claude Code"
    assert [entry.reference for entry in world.find().entries] == ["@a", "@a"]


@pytest.mark.parametrize("word", ["${TOKEN}", "./server.py"])
def test_the_same_words_that_mean_different_things_are_ambiguous(world: World, word: str) -> None:
    world.write(".mcp.json", {"mcpServers": {"a": {"command": "python", "args": [word]}}})
    world.write("~/.cursor/mcp.json", {"mcpServers": {"a": {"command": "python", "args": [word]}}})
    with pytest.raises(TargetError, match="is in 2 files"):
        world.find().find("@a")


def test_a_disabled_entry_gives_way_and_can_be_opened_all_the_same(world: World) -> None:
    world.write("~/.codeium/windsurf/mcp_config.json", {"mcpServers": {"a": {"command": "off", "disabled": True}}})
    assert world.entry("a").disabled
    assert world.open("@a") == StdioTarget(("off",), name="a", source=str(world.entry("a").path))
    world.write(".mcp.json", {"mcpServers": {"a": {"command": "on"}}})
    assert world.find().find("@a").summary == "on"
    assert world.find().find("@a:windsurf").summary == "off"


def test_a_config_file_given_by_hand_wins_alone(world: World) -> None:
    world.write(".mcp.json", {"mcpServers": {"a": {"command": "one"}, "other": {"command": "x"}}})
    world.write("~/.cursor/mcp.json", {"mcpServers": {"a": {"command": "two"}}})
    mine = world.write("sub/mine.json", {"mcpServers": {"a": {"command": "three"}}})
    target = world.open("@a", config=Path("sub/mine.json"))
    assert isinstance(target, StdioTarget)
    assert (target.command, target.source) == (("three",), str(mine))
    with pytest.raises(TargetError, match="has no server @other"):
        world.open("@other", config=mine)


@pytest.mark.parametrize(
    ("name", "content", "label"),
    [
        ("x.json", GOOD, "this file"),
        ("x.json", {"servers": {"good": {"command": "c"}}}, "this file"),
        ("x.json", {"servers": {"good": {"command": "c"}}, "inputs": []}, "VS Code"),
        ("x.json", {"servers": {"good": {"command": "c", "gallery": True}}}, "VS Code"),
        ("x.json", {"servers": {"good": {"command": "c", "era": "modern"}}, "inputs": []}, "this file"),
        ("x.json", {"context_servers": {"good": {"command": "c"}}}, "Zed"),
        ("x.json", {"mcp": {"servers": {"good": {"command": "c"}}}}, "VS Code"),
        ("x.json", {"name": "io.x/good", "remotes": [{"type": "sse", "url": "https://h"}]}, "server.json"),
        ("claude_desktop_config.json", GOOD, "Claude Desktop"),
        (".cursor/mcp.json", GOOD, "Cursor"),
        ("other/mcp_config.json", GOOD, "Windsurf"),
        ("other/inspector.json", GOOD, "this file"),
        ("other/.mcp.json", GOOD, "Claude Code"),
        ("other/.claude.json", GOOD, "Claude Code"),
        (".vscode/mcp.json", {"servers": {"good": {"command": "c"}}}, "VS Code"),
        (".vscode/settings.json", {"mcp": {"servers": {"good": {"command": "c"}}}}, "VS Code"),
        ("Code/User/mcp.json", {"servers": {"good": {"command": "c"}}}, "VS Code"),
        (".gemini/settings.json", GOOD, "Gemini CLI"),
        (".config/zed/settings.json", {"context_servers": {"good": {"command": "c"}}}, "Zed"),
    ],
)
def test_a_config_file_given_by_hand_is_recognised(world: World, name: str, content: Any, label: str) -> None:
    path = world.write(name, content)
    assert [(entry.name, entry.source_label) for entry in world.find(config=path).entries] == [("good", label)]


@pytest.mark.parametrize("content", ["", "{", "[]", {"nothing": 1}, {"mcpServers": 3}])
def test_a_config_file_given_by_hand_that_is_broken_is_an_error(world: World, content: Any) -> None:
    path = world.write("x.json", content)
    with pytest.raises(ConfigError) as caught:
        world.open("@a", config=path)
    assert str(path) in caught.value.message
    assert len(world.find(config=path).problems) == 1


def test_a_file_given_by_hand_starts_servers_where_its_client_would(world: World) -> None:
    world.write(".cursor/mcp.json", GOOD)
    world.write("~/.cursor/mcp.json", GOOD)
    world.write("any.json", GOOD)
    folders = {}
    for name in (world.folder / ".cursor/mcp.json", world.home / ".cursor/mcp.json", Path("any.json")):
        target = world.open("@good", config=name)
        assert isinstance(target, StdioTarget)
        folders[name] = target.cwd
    assert list(folders.values()) == [str(world.folder), None, None]


def test_an_unknown_name_is_answered_with_the_nearest(world: World) -> None:
    world.write(".mcp.json", {"mcpServers": {"github": {"command": "g"}, "weather": {"command": "w"}}})
    world.write(".cursor/mcp.json", "{")
    with pytest.raises(TargetError, match="No config file has the server @gihub") as caught:
        world.open("@gihub")
    assert "Did you mean @github?" in caught.value.hint
    assert f"{world.folder / '.cursor/mcp.json'}, line 1, column 2:" in caught.value.hint
    with pytest.raises(TargetError) as caught:
        world.open("@")
    assert "@github, @weather" in caught.value.hint
    with pytest.raises(TargetError) as caught:
        world.open("@modelcontextprotocol/server-everything")
    assert "npx -y @modelcontextprotocol/server-everything" in caught.value.hint
    with pytest.raises(TargetError) as caught:
        world.open("@gi\x1b[31mhub" + "x" * 10_000)
    assert "\x1b" not in caught.value.message + caught.value.hint
    assert len(caught.value.message) < 300


def test_a_broken_entry_is_not_unknown_but_broken(world: World) -> None:
    world.write(".mcp.json", {"mcpServers": {"a": {"args": []}}})
    with pytest.raises(TargetError, match="neither “command” nor “url”") as caught:
        world.open("@a")
    assert caught.value.message.startswith("@a cannot be used")


def test_words_after_a_name_are_refused(world: World) -> None:
    with pytest.raises(TargetError, match="Unexpected argument --flag after a server's name"):
        world.open("@a", "--flag")


def test_names_may_have_colons(world: World) -> None:
    world.write(".mcp.json", {"mcpServers": {"plugin:x:y": {"command": "p"}}})
    assert world.find().find("@plugin:x:y").name == "plugin:x:y"
    assert world.find().find("@plugin:x:y:claude-code").name == "plugin:x:y"


# Resolving


def test_a_command_of_a_project_starts_in_the_project(world: World) -> None:
    world.write(".mcp.json", {"mcpServers": {"a": {"command": "c"}, "b": {"command": "c", "cwd": "sub"}}})
    world.write("~/.cursor/mcp.json", {"mcpServers": {"u": {"command": "c"}, "v": {"command": "c", "cwd": "~/x"}}})
    targets = {entry.name: resolve(entry, {}, home=world.home) for entry in world.find().entries}
    folders = {name: target.cwd for name, target in targets.items() if isinstance(target, StdioTarget)}
    expected = {"a": str(world.folder), "b": str(world.folder / "sub"), "u": None, "v": str(world.home / "x")}
    assert folders == expected


def test_resolving_expands_every_part_and_keeps_its_secrets(world: World) -> None:
    world.environ = {"PROGRAM": "/bin/srv", "KEY": "k-123", "HOST": "host.example"}
    world.write(
        ".mcp.json",
        {
            "mcpServers": {
                "c": {
                    "command": "${PROGRAM}",
                    "args": ["--x", "${KEY}"],
                    "env": {"MODE": "m-${KEY}", "PASSWORD": "pw"},
                },
                "h": {"type": "sse", "url": "https://${HOST}/sse", "headers": {"Authorization": "Bearer ${KEY}"}},
            }
        },
    )
    command = world.open("@c")
    assert isinstance(command, StdioTarget)
    assert command.command == ("/bin/srv", "--x", "k-123")
    assert command.env == {"MODE": "m-k-123", "PASSWORD": "pw"}
    assert set(command.secrets) == {"k-123", "pw"}
    assert command.as_header()["argv"] == ["/bin/srv", "--x", "***"]
    remote = world.open("@h")
    assert isinstance(remote, HttpTarget)
    assert (remote.url, remote.transport) == ("https://host.example/sse", "sse")
    assert remote.headers == (("Authorization", "Bearer k-123"),)
    assert {"k-123", "Bearer k-123"} <= set(remote.secrets)


@pytest.mark.parametrize(
    ("server", "message"),
    [
        ({"command": "${V}"}, "command is empty"),
        ({"command": "c\0"}, "NUL"),
        ({"command": "c", "env": {"A=B": "x"}}, "not a valid name of an environment variable"),
        ({"command": "c", "env": {"": "x"}}, "not a valid name of an environment variable"),
        ({"command": "c", "args": ["\ud800"]}, "surrogate"),
        ({"url": "${V}"}, "not an http or https URL"),
        ({"url": "${FTP}"}, "not an http or https URL"),
        ({"url": "https://h", "headers": {"A": "x\r\nB: y"}}, "line break"),
        ({"url": "https://h", "headers": {"A b": "x"}}, "is not a header name"),
        ({"command": "${GONE}"}, "needs the environment variable GONE"),
    ],
)
def test_what_cannot_be_opened_says_which_server_and_why(world: World, server: Any, message: str) -> None:
    world.environ = {"V": " ", "FTP": "ftp://h"}
    path = world.write(".mcp.json", {"mcpServers": {"a": server}})
    with pytest.raises(ConfigError, match=message) as caught:
        world.open("@a")
    assert "@a" in caught.value.message
    assert str(path) in caught.value.message


def test_an_env_file_is_read_and_what_stands_beside_it_wins(world: World) -> None:
    world.write(
        ".vscode/mcp.json",
        {"servers": {"a": {"command": "c", "envFile": "${workspaceFolder}/.env", "env": {"A": "x"}}}},
    )
    world.write(".env", "A=1\nB_TOKEN=t-12\nPORT=80\n")
    target = world.open("@a")
    assert isinstance(target, StdioTarget)
    assert target.env == {"A": "x", "B_TOKEN": "t-12", "PORT": "80"}
    assert "t-12" in target.secrets
    assert "80" not in target.secrets
    (world.folder / ".env").unlink()
    with pytest.raises(ConfigError, match=r"@a .* needs its envFile, but .*\.env cannot be read"):
        world.open("@a")


def test_the_machine_is_read_where_nothing_is_given(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(world.folder)
    monkeypatch.setenv("HOME", str(world.home))
    monkeypatch.setattr(sys, "platform", "linux")
    world.write(".mcp.json", GOOD)
    assert [entry.name for entry in find_servers().entries] == ["good"]


@pytest.mark.parametrize(
    ("platform", "environ", "name"),
    [
        ("linux", {}, ".config"),
        ("linux", {"XDG_CONFIG_HOME": "{home}/xdg"}, "xdg"),
        ("darwin", {}, "Library/Application Support"),
        ("win32", {}, "AppData/Roaming"),
        ("win32", {"APPDATA": "{home}/roam"}, "roam"),
    ],
)
def test_each_platform_has_its_own_folders(world: World, platform: str, environ: dict[str, str], name: str) -> None:
    world.platform = platform
    world.environ = {key: value.format(home=world.home) for key, value in environ.items()}
    world.write(f"~/{name}/Claude/claude_desktop_config.json", {"mcpServers": {"desktop": {"command": "d"}}})
    world.write(f"~/{name}/Code/User/mcp.json", {"servers": {"code": {"command": "c"}}})
    world.write(f"~/{name}/inspector/inspector.json", {"servers": {"own": {"command": "o"}}})
    assert sorted(names(world)) == ["code", "desktop", "own"]


def test_our_own_folder_is_where_platformdirs_has_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from inspector.config import paths

    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    assert paths.config_folder({}) == Path(table.Machine(tmp_path, {}, sys.platform).folder("config")) / "inspector"


def test_overrides_move_our_own_and_claude_codes_file(world: World) -> None:
    world.environ = {"INSPECTOR_CONFIG_HOME": str(world.home / "mine"), "CLAUDE_CONFIG_DIR": str(world.home / "cc")}
    world.write("~/mine/inspector.json", {"servers": {"own": {"command": "o"}}})
    world.write("~/cc/.claude.json", GOOD)
    world.write("~/.claude.json", {"mcpServers": {"not-this": {"command": "n"}}})
    assert names(world) == ["own", "good"]


@pytest.mark.slow
def test_a_file_with_very_many_servers_is_listed(world: World) -> None:
    world.write(".mcp.json", {"mcpServers": {f"s{number}": {"command": "c"} for number in range(20_000)}})
    assert len(world.find().entries) == 20_000
