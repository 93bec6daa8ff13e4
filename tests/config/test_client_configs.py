"""Each client's config file, read as that client reads it."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.config.targets import HttpTarget, ServerOptions, StdioTarget
from inspector.errors import ConfigError, TargetError
from tests.config.conftest import World


def stdio(world: World, word: str, **options: Any) -> StdioTarget:
    target = world.open(word, **options)
    assert isinstance(target, StdioTarget)
    return target


def http(world: World, word: str, **options: Any) -> HttpTarget:
    target = world.open(word, **options)
    assert isinstance(target, HttpTarget)
    return target


def problem(world: World) -> str:
    (reported,) = world.find().problems
    return f"{reported.message} {reported.hint}"


# Our own


def test_our_own_file_says_everything_about_a_server(world: World) -> None:
    world.environ = {"TOKEN": "t-123"}
    world.write("secret.txt", "from-file\n")
    world.write(
        "inspector.json",
        """{
          // servers of this project
          "servers": {
            "shop": {
              "command": "uv run 'shop server'",
              "env": {"A": "env:TOKEN", "B": "file:secret.txt", "C": {"value": "file:./dev.db"}, "D": "x-${TOKEN}"},
              "cwd": "sub", "era": "modern", "protocol": "2026-07-28", "timeout": 5, "roots": ["data", "file:///x"],
            },
            "remote": {
              "transport": "sse", "url": "https://host/sse", "headers": {"Authorization": "Bearer ${env:TOKEN}"},
              "proxy": "http://127.0.0.1:8080", "verify": false, "disabled": true,
            },
          },
        }""",
    )
    shop = stdio(world, "@shop")
    assert shop.command == ("uv", "run", "shop server")
    assert shop.env == {"A": "t-123", "B": "from-file", "C": "file:./dev.db", "D": "x-t-123"}
    assert shop.cwd == str(world.folder / "sub")
    roots = ((world.folder / "data").as_uri(), "file:///x")
    assert shop.options == ServerOptions(era="modern", protocol="2026-07-28", timeout=5.0, roots=roots)
    assert set(shop.secrets) == {"t-123", "from-file"}
    remote = http(world, "@remote")
    assert (remote.transport, remote.proxy, remote.verify) == ("sse", "http://127.0.0.1:8080", False)
    assert world.entry("remote").disabled


def test_our_own_file_of_the_user_is_for_every_folder(world: World) -> None:
    world.write(
        "~/.config/inspector/inspector.json", {"servers": {"a": {"command": "c", "roots": ["~unknown-user/x", "y"]}}}
    )
    target = stdio(world, "@a")
    assert target.cwd is None
    assert target.options.roots[1] == (world.home / ".config/inspector/y").as_uri()


@pytest.mark.parametrize(
    ("server", "command"),
    [
        ({"command": "srv"}, ("srv",)),
        ({"command": ["srv", "a b"], "args": ["c"]}, ("srv", "a b", "c")),
        ({"command": "my srv", "args": []}, ("my srv",)),
        ({"command": "my srv", "args": None}, ("my", "srv")),
        ({"command": "srv", "args": [1, True, 2.5]}, ("srv", "1", "true", "2.5")),
    ],
)
def test_a_command_can_be_written_as_one_likes(world: World, server: Any, command: tuple[str, ...]) -> None:
    world.write(".inspector.json", {"mcpServers": {"a": server}})
    assert stdio(world, "@a").command == command


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"server": {}}, "Did you mean “servers”?"),
        ({"servers": {"a": {"comand": "x"}}}, "Did you mean “command”?"),
        ({"servers": {"a": {"zzzz": "x"}}}, "Use one of: type, transport"),
        ({}, "has no servers"),
        ({"servers": {"a": {"command": "x", "era": "stone"}}}, "Use auto, legacy or modern"),
        ({"servers": {"a": {"command": "x", "timeout": 0}}}, "must be more than 0"),
        ({"servers": {"a": {"command": "x", "timeout": "5"}}}, "must be a number, not text"),
        ({"servers": {"a": {"command": "x", "roots": "r"}}}, "“roots” must be a list"),
        ({"servers": {"a": {"command": "x", "roots": ["\ud800"]}}}, "“roots” is wrong"),
        ({"servers": {"a": {"command": "x", "roots": ["https://x"]}}}, "is not a file: URI"),
        ({"servers": {"a": {"command": "x", "disabled": "no"}}}, "must be true or false"),
        ({"servers": {"a": {"url": "https://h", "verify": 1}}}, "must be true or false"),
        ({"servers": {"a": {"url": "https://h", "transport": "ws"}}}, "which Inspector does not support"),
        ({"servers": {"a": {"url": "https://h", "transport": "stdio"}}}, "has no “command”"),
        ({"servers": {"a": {"command": "x", "transport": "http"}}}, "no “url”"),
        ({"servers": {"a": {"command": "'x y"}}}, "cannot be parsed"),
        ({"servers": {"a": {"command": []}}}, "“command” is empty"),
        ({"servers": {"a": {"command": "x", "env": {"A": {"secret": "s"}}}}}, "“env.A” must be text"),
        ({"servers": {"a": {"url": "ftp://u:pass-word@h"}}}, "not an http or https URL"),
        ({"$schema": 5, "servers": {}}, "“$schema” must be text, not a number"),
        ({"servers": {"a": {"command": "x", "headers": 5}}}, "“headers” must be an object of strings"),
        ({"servers": {"a": {"command": 5, "url": "https://h"}}}, "“command” must be text"),
        ({"servers": {"a": {"url": "https://h", "args": "x"}}}, "“args” must be a list"),
        ({"servers": {"a": {"url": "https://h", "type": "http", "transport": "ws"}}}, "“transport” is ws"),
        ({"servers": {"a": {"url": "https://h", "description": ["x"]}}}, "“description” must be text"),
    ],
)
def test_what_our_own_file_cannot_mean_is_named(world: World, content: Any, message: str) -> None:
    world.write("inspector.json", content)
    assert message in problem(world)
    assert "pass-word" not in problem(world)


# The others


def test_claude_code(world: World) -> None:
    world.environ = {"KEY": "k-123"}
    servers = {
        "a": {
            "type": "stdio",
            "command": "npx",
            "args": ["-y", "${PKG:-pkg}"],
            "env": {"K": "${KEY}"},
            "timeout": 1500,
        },
        "b": {"type": "http", "url": "${BASE:-https://host}/mcp", "headers": {"X-Key": "${KEY}"}},
        "c": {"type": "sse", "url": "https://host/sse"},
    }
    world.write(".mcp.json", {"mcpServers": servers | {"d": {"type": "ws", "url": "wss://host"}}})
    a = stdio(world, "@a")
    assert (a.command, a.env, a.options.timeout) == (("npx", "-y", "pkg"), {"K": "k-123"}, 1.5)
    assert (http(world, "@b").url, http(world, "@b").transport) == ("https://host/mcp", "http")
    assert http(world, "@c").transport == "sse"
    assert "type” is ws" in problem(world)


def test_claude_codes_user_file_has_servers_for_everywhere_and_for_folders(world: World) -> None:
    projects = {
        str(world.folder): {
            "mcpServers": {"mine": {"command": "m"}, "off": {"command": "o"}},
            "disabledMcpServers": ["off"],
        },
        str(world.home / "other"): {"mcpServers": {"not-here": {"command": "n"}}},
        "junk": 3,
    }
    world.write("~/.claude.json", {"numStartups": 3, "projects": projects, "mcpServers": {"all": {"command": "a"}}})
    entries = world.find().entries
    assert [(entry.name, entry.disabled) for entry in entries] == [("mine", False), ("off", True), ("all", False)]
    assert stdio(world, "@mine").cwd == str(world.folder)
    assert stdio(world, "@all").cwd is None


def test_claude_desktop_expands_nothing(world: World) -> None:
    servers = {"a": {"command": "srv", "args": ["${HOME}", "$X"], "env": {"A": "${GONE}"}}}
    world.write("~/.config/Claude/claude_desktop_config.json", {"mcpServers": servers})
    target = stdio(world, "@a")
    assert (target.command, target.env) == (("srv", "${HOME}", "$X"), {"A": "${GONE}"})


@pytest.mark.parametrize("name", [".cursor/mcp.json", "~/.cursor/mcp.json"])
def test_cursor(world: World, name: str) -> None:
    world.environ = {"KEY": "k-123"}
    world.write("~/.env", "FROM_FILE=1\n")
    servers = {
        "a": {"command": "${userHome}/srv", "args": ["${env:KEY}", "${KEY}"], "envFile": "${userHome}/.env"},
        "b": {"url": "https://host/mcp", "headers": {"Authorization": "Bearer ${env:KEY}"}},
    }
    world.write(name, {"mcpServers": servers})
    a = stdio(world, "@a")
    assert a.command == (f"{world.home}/srv", "k-123", "${KEY}")
    assert a.env == {"FROM_FILE": "1"}
    assert http(world, "@b").transport == "auto"


@pytest.mark.parametrize(
    "name", [".vscode/mcp.json", "~/.config/Code/User/mcp.json", "~/.config/VSCodium/User/mcp.json"]
)
def test_vscode(world: World, name: str) -> None:
    world.write(
        name,
        """{
          "inputs": [{"type": "promptString", "id": "key", "description": "Key", "password": true}],
          "servers": {
            "a": {"type": "stdio", "command": "srv", "args": ["x",], "env": {"K": "${input:key}"}},
            "b": {"type": "http", "url": "https://host/mcp", "headers": {"X": "${input:key}"}}, // either transport
            "c": {"type": "sse", "url": "https://host/sse"},
            "d": {"type": "http", "url": "unix:///tmp/s.sock"},
          }
        }""",
    )
    a = stdio(world, "@a", prompt=lambda question: "typed" if question.secret and question.server == "a" else None)
    assert a.env == {"K": "typed"}
    assert a.secrets == ("typed",)
    world.environ = {"INPUT_KEY": "preset"}
    assert http(world, "@b").headers == (("X", "preset"),)
    assert (http(world, "@b").transport, http(world, "@c").transport) == ("auto", "sse")
    assert "unix:///tmp/s.sock, which is not an http" in problem(world)
    world.environ = {}
    with pytest.raises(ConfigError, match="needs the input key"):
        world.open("@a")


@pytest.mark.parametrize(
    "content", [{"mcp": {"servers": {"a": {"command": "c"}}}}, {"mcp.servers": {"a": {"command": "c"}}}]
)
def test_vscodes_settings_had_servers_once(world: World, content: Any) -> None:
    world.write(".vscode/settings.json", {"editor.fontSize": 12, **content})
    assert stdio(world, "@a").command == ("c",)


def test_settings_of_editors_without_servers_are_no_problem(world: World) -> None:
    for name in (".vscode/settings.json", ".zed/settings.json", ".gemini/settings.json", "~/.claude.json"):
        world.write(name, '{"theme": "dark", /* mine */ }')
    listed = world.find()
    assert (listed.entries, listed.problems) == ((), ())


def test_windsurf(world: World) -> None:
    world.environ = {"KEY": "k-123"}
    world.write("~/.token", "t-123\n")
    servers = {
        "a": {"serverUrl": "https://host/mcp", "headers": {"A": "${env:KEY}", "B": "${file:~/.token}"}},
        "b": {"url": "https://host/sse"},
        "c": {"command": "srv", "args": ["${KEY}"], "disabled": True},
        "d": {"disabled": False},
    }
    world.write("~/.codeium/windsurf/mcp_config.json", {"mcpServers": servers})
    assert http(world, "@a").headers == (("A", "k-123"), ("B", "t-123"))
    assert (http(world, "@a").transport, http(world, "@b").url) == ("auto", "https://host/sse")
    assert stdio(world, "@c").command == ("srv", "${KEY}")
    assert "neither “command” nor “serverUrl” nor “url”" in problem(world)


@pytest.mark.parametrize("name", [".gemini/settings.json", "~/.gemini/settings.json"])
def test_gemini(world: World, name: str) -> None:
    world.environ = {"KEY": "k-123"}
    servers = {
        "a": {"command": "srv", "args": ["$KEY"], "env": {"K": "${KEY}"}, "cwd": "./sub", "timeout": 30000},
        "b": {"httpUrl": "https://host/mcp", "url": "https://host/sse"},
        "c": {"url": "https://host/sse"},
        "d": {"url": "https://host/mcp", "type": "http"},
    }
    world.write(name, {"mcp": {"excluded": ["c"]}, "mcpServers": servers})
    a = stdio(world, "@a")
    assert (a.command, a.env, a.options.timeout) == (("srv", "k-123"), {"K": "k-123"}, 30.0)
    assert (http(world, "@b").url, http(world, "@b").transport) == ("https://host/mcp", "http")
    assert (http(world, "@c").transport, http(world, "@d").transport) == ("sse", "http")
    assert world.entry("c").disabled


@pytest.mark.parametrize("name", [".zed/settings.json", "~/.config/zed/settings.json"])
def test_zed(world: World, name: str) -> None:
    servers = {
        "a": {"source": "custom", "command": "srv", "args": ["$X"], "env": {"A": "1"}, "enabled": False},
        "b": {"command": {"path": "/bin/srv", "args": ["run"], "env": {"B": "2"}}, "settings": {}},
        "c": {"url": "https://host/mcp", "headers": {"X": "${Y}"}},
        "d": {"source": "extension", "settings": {"token": "x"}},
    }
    world.write(name, {"context_servers": servers})
    assert (stdio(world, "@a").command, world.entry("a").disabled) == (("srv", "$X"), True)
    assert (stdio(world, "@b").command, stdio(world, "@b").env) == (("/bin/srv", "run"), {"B": "2"})
    assert http(world, "@c").headers == (("X", "${Y}"),)
    assert "Zed extension" in problem(world)
    with pytest.raises(TargetError, match="Zed extension"):
        world.open("@d")


def test_values_that_are_null_count_as_left_out(world: World) -> None:
    empty = {"args": None, "env": {"A": None, "B": "1"}, "cwd": None, "url": None, "type": None, "disabled": None}
    world.write(".cursor/mcp.json", {"mcpServers": {"a": {"command": "srv", **empty}}})
    target = stdio(world, "@a")
    assert (target.command, target.env) == (("srv",), {"B": "1"})
