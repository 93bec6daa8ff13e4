"""Config files that are not `mcpServers` in JSON: opencode, Codex, Goose, Continue; empty members; unknown shapes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from inspector.config.servers import find_servers
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.errors import ConfigError, TrustNeeded
from tests.config.conftest import World

OPENCODE = """{
  // the servers of this project
  "$schema": "https://opencode.ai/config.json",
  "mcp": {
    "shop": {"type": "local", "command": ["uv", "run", "shop"], "environment": {"A": "{env:TOKEN}", "B": "${TOKEN}"}},
    "far": {"type": "remote", "url": "https://host/mcp", "headers": {"X": "Bearer {env:TOKEN}"}, "enabled": false},
  },
}"""
CODEX = """
model = "m"
started = 2026-01-02

[mcp_servers.shop]
command = "uv"
args = ["run", "shop"]
env = { A = "x-${HOME}" }
env_vars = ["TOKEN"]
cwd = "sub"
tool_timeout_sec = 7

[mcp_servers.far]
url = "https://host/mcp"
bearer_token_env_var = "TOKEN"
http_headers = { Region = "eu" }
env_http_headers = { X-Key = "KEY" }
enabled = false
"""
GOOSE = """
GOOSE_PROVIDER: x
extensions:
  developer: {type: builtin, enabled: true}
  shop:
    type: stdio
    cmd: uv
    args: [run, shop]
    envs: {A: "1"}
    env_keys: [TOKEN]
    timeout: 300
    enabled: true
  far: {type: streamable_http, uri: "https://host/mcp", headers: {X: "Bearer ${TOKEN}"}, enabled: false}
"""
CONTINUE = """
name: mine
mcpServers:
  - name: shop
    command: uv
    args: [run, shop]
    env: {A: "${{ secrets.TOKEN }}"}
  - {name: far, type: streamable-http, url: "https://host/mcp", requestOptions: {headers: {X: "${{secrets.TOKEN}}"}}}
"""
FILES = {
    "opencode": ("opencode.json", OPENCODE),
    "opencode of the user": ("~/.config/opencode/opencode.jsonc", OPENCODE),
    "Codex": ("~/.codex/config.toml", CODEX),
    "Goose": ("~/.config/goose/config.yaml", GOOSE),
    "Continue": ("~/.continue/config.yaml", CONTINUE),
}


def opened(world: World, *words: str, **options: Any) -> StdioTarget | HttpTarget:
    target = world.open(*words, **options)
    assert isinstance(target, StdioTarget | HttpTarget)
    return target


@pytest.mark.parametrize("place", FILES)
def test_the_file_of_each_program_is_found_and_read(world: World, place: str) -> None:
    world.environ = {"TOKEN": "t-1", "KEY": "k-1"}
    world.write(*FILES[place])
    listed = world.find()
    assert (listed.problems, [entry.name for entry in listed.entries]) == ((), ["shop", "far"])
    assert {entry.source_label for entry in listed.entries} == {place.removesuffix(" of the user")}
    assert listed.entries[1].disabled == (place != "Continue")
    shop, far = opened(world, "@shop"), opened(world, "@far")
    assert isinstance(shop, StdioTarget)
    assert isinstance(far, HttpTarget)
    assert shop.command == ("uv", "run", "shop")
    assert far.url == "https://host/mcp"
    assert "t-1" in shop.secrets
    assert "t-1" in far.secrets


@pytest.mark.parametrize("place", FILES)
def test_the_file_is_recognised_under_another_name(world: World, place: str) -> None:
    name, text = FILES[place]
    path = world.write("other" + Path(name).suffix, text)
    listed = world.find(config=path)
    assert [entry.name for entry in listed.entries] == ["shop", "far"]
    assert listed.entries[0].source_label == place.removesuffix(" of the user")


def test_the_references_of_each_format_are_expanded_and_no_others(world: World) -> None:
    world.environ = {"TOKEN": "t-1", "KEY": "k-1", "HOME": "h"}

    def both(place: str) -> tuple[StdioTarget, HttpTarget]:
        path = world.write("f" + Path(FILES[place][0]).suffix, FILES[place][1])
        targets = [world.open(word, config=path) for word in ("@shop", "@far")]
        assert isinstance(targets[0], StdioTarget)
        assert isinstance(targets[1], HttpTarget)
        return targets[0], targets[1]

    shop, far = both("opencode")
    assert (shop.env, far.headers) == ({"A": "t-1", "B": "${TOKEN}"}, (("X", "Bearer t-1"),))
    shop, far = both("Codex")
    assert (shop.env, shop.options.timeout) == ({"A": "x-${HOME}", "TOKEN": "t-1"}, 7)
    assert dict(far.headers) == {"Region": "eu", "X-Key": "k-1", "Authorization": "Bearer t-1"}
    shop, far = both("Goose")
    assert (shop.env, shop.options.timeout) == ({"A": "1", "TOKEN": "t-1"}, 300)
    assert (far.headers, far.transport) == ((("X", "Bearer t-1"),), "http")
    shop, far = both("Continue")
    assert (shop.env, far.headers) == ({"A": "t-1"}, (("X", "t-1"),))


def test_a_project_file_that_uses_a_variable_asks_first(world: World) -> None:
    world.environ = {"TOKEN": "t-1"}
    world.write("opencode.json", OPENCODE)
    with pytest.raises(TrustNeeded, match="TOKEN"):
        world.open("@shop", consent=None)


@pytest.mark.parametrize("empty", [None, "", [], {}])
def test_empty_members_are_members_that_are_not_set(world: World, empty: Any) -> None:
    members = {key: empty for key in ("env", "headers", "envFile", "cwd", "disabled", "timeout", "type", "transport")}
    shop = {"command": "srv", "args": empty, "url": empty, "serverUrl": empty, "httpUrl": empty, **members}
    far = {"url": "https://host/mcp", "command": empty, "args": empty, **members}
    servers = {"shop": shop, "far": far}
    files: dict[str, Any] = {
        ".mcp.json": {"mcpServers": servers},
        ".cursor/mcp.json": {"mcpServers": servers},
        ".vscode/mcp.json": {"servers": servers, "inputs": empty},
        ".gemini/settings.json": {"mcpServers": servers, "mcp": empty},
        ".zed/settings.json": {"context_servers": servers},
        "opencode.json": {"mcp": {name: {**server, "environment": empty} for name, server in servers.items()}},
        "~/.codeium/windsurf/mcp_config.json": {"mcpServers": servers},
        "~/.config/goose/config.yaml": "extensions:\n",
        "~/.claude.json": {"mcpServers": empty, "projects": empty},
    }
    for name, content in files.items():
        world.write(name, content)
    listed = world.find()
    assert listed.problems == ()
    assert [entry.summary for entry in listed.entries] == ["srv", "https://host/mcp"] * 7


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json", {"amp.mcpServers": {"a": {"command": "x"}}}, "“amp.mcpServers” has some"),
        ("a.json", {"tools": {"mcp": {"a": {"url": "https://h"}}}}, "“tools.mcp” has some"),
        ("a.json", {"shop": {"command": "x"}}, "its top level has some"),
        ("claude_desktop_config.json", {"servers": {"a": {"command": "x"}}}, "is read as a file of Claude Desktop"),
        ("opencode.json", {"mcpServers": {"a": {"command": "x"}}}, "is read as a file of opencode"),
        (".vscode/settings.json", {"mcp": {"a": {"command": "x"}}}, "“mcp” has some"),
        ("a.json", {"b": 1}, "a.json has no servers"),
        ("a.toml", "[mcp_servers.a\n", "a.toml is not valid TOML: "),
        ("a.toml", "x = " + "[" * 100_000, "a.toml is not valid TOML: "),
        ("a.yaml", "extensions: [\n", "a.yaml, line 2, column 1: the file is not valid YAML"),
        ("a.yml", "- a\n", "must be an object, not a list"),
        ("a.yaml", "mcpServers: &a [*a]\n", "the file uses anchors, which are not read"),
        ("a.json", "[mcp_servers.a]\ncommand = 'x'\n", "is TOML, not JSON"),
        ("a.json", "---\r\n\r\n# x\r\n[mcp_servers.a]\r\ncommand = 'x'\r\n", "is TOML, not JSON"),
    ],
)
def test_a_named_file_without_servers_says_how_it_was_read(world: World, name: str, content: Any, message: str) -> None:
    path = world.write(name, content)
    listed = find_servers(world.folder, world.home, {}, "linux", config=path)
    assert listed.entries == ()
    assert message in listed.problems[0].message
    with pytest.raises(ConfigError, match=r"."):
        listed.find("@a")


@pytest.mark.parametrize(
    ("server", "message"),
    [
        ({"enabled": False}, "switches a server of another opencode file"),
        ({"type": "local", "command": ["a", None]}, "“command” item 2 must be text, not null"),
        ({"type": "local", "command": "a", "environment": {"A": {}}}, "“env.A” must be text"),
        ({"type": "remote"}, "neither “command” nor “url”"),
    ],
)
def test_a_wrong_server_of_opencode_is_a_problem_of_its_own(world: World, server: Any, message: str) -> None:
    world.write("opencode.json", {"mcp": {"bad": server, "good": {"command": ["x"]}}})
    listed = world.find()
    assert [entry.name for entry in listed.entries] == ["good"]
    assert message in listed.problems[0].message
