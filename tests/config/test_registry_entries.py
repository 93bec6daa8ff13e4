"""`server.json` of the MCP registry: packages become commands, remotes URLs, and inputs are asked for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector.config.targets import HttpTarget, StdioTarget
from inspector.errors import ConfigError
from tests.config.conftest import World


def server(**parts: Any) -> dict[str, Any]:
    return {"name": "io.example.user/weather", "description": "Weather", "version": "1.0.0", **parts}


def package(registry: str = "npm", **parts: Any) -> dict[str, Any]:
    return {
        "registryType": registry,
        "identifier": "@x/weather",
        "version": "1.2.3",
        "transport": {"type": "stdio"},
        **parts,
    }


def command(world: World, *packages: dict[str, Any], word: str = "@weather") -> tuple[str, ...]:
    world.write("server.json", server(packages=list(packages)))
    target = world.open(word)
    assert isinstance(target, StdioTarget)
    return target.command


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (package(), "npx -y @x/weather@1.2.3"),
        (
            package(runtimeHint="npx", runtimeArguments=[{"type": "named", "name": "--yes"}]),
            "npx --yes @x/weather@1.2.3",
        ),
        (package(runtimeHint="bunx"), "bunx @x/weather@1.2.3"),
        (package("pypi", identifier="weather"), "uvx weather@1.2.3"),
        (package("pypi", identifier="weather", runtimeHint="pipx"), "pipx run --spec weather==1.2.3 weather"),
        (package("pypi", identifier="mcp-weather", runtimeHint="python"), "python -m mcp_weather"),
        (package("oci", identifier="ghcr.io/x/weather:2"), "docker run -i --rm ghcr.io/x/weather:2"),
        (package("oci", identifier="x/weather"), "docker run -i --rm x/weather:1.2.3"),
        (package("oci", identifier="localhost:5000/w@sha256:ab"), "docker run -i --rm localhost:5000/w@sha256:ab"),
        (package("nuget", identifier="Weather"), "dnx Weather@1.2.3 --yes --"),
    ],
)
def test_a_package_becomes_the_command_of_its_runner(world: World, raw: dict[str, Any], expected: str) -> None:
    assert command(world, raw) == tuple(expected.split())


def test_the_keys_of_earlier_schemas_are_read_too(world: World) -> None:
    old = {
        "registry_name": "npm",
        "name": "weather",
        "version": "1",
        "runtime_arguments": [{"type": "positional", "value": "--quiet"}],
        "package_arguments": [{"type": "positional", "value": "x", "is_required": True}],
        "environment_variables": [{"name": "KEY", "is_secret": True, "is_required": True}],
    }
    world.environ = {"KEY": "k-123"}
    world.write("server.json", {"server": server(packages=[old]), "_meta": {}})
    target = world.open("@weather")
    assert isinstance(target, StdioTarget)
    assert target.command == ("npx", "-y", "--quiet", "weather@1", "x")
    assert (target.env, target.secrets) == ({"KEY": "k-123"}, ("k-123",))


ARGUMENTS = [
    {"type": "positional", "valueHint": "folder", "isRequired": True},
    {"type": "named", "name": "--port", "default": "8080"},
    {"type": "named", "name": "--verbose"},
    {"type": "named", "name": "--level", "choices": ["a", "b"]},
    {
        "type": "named",
        "name": "--dsn=",
        "value": "db://{user}:{password}@{host}",
        "variables": {"user": {"default": "me"}, "password": {"isSecret": True}},
    },
]


def test_arguments_are_filled_in_from_the_environment_the_prompt_and_the_defaults(world: World) -> None:
    world.environ = {"INPUT_FOLDER": "/data"}
    world.write("server.json", server(packages=[package(packageArguments=ARGUMENTS)]))
    target = world.open("@weather", prompt=lambda question: "pw-123" if question.secret else None)
    assert isinstance(target, StdioTarget)
    assert target.command[3:] == ("/data", "--port", "8080", "--verbose", "--dsn=db://me:pw-123@{host}")
    assert "pw-123" in target.secrets
    assert "pw-123" not in json.dumps(target.as_header())


def test_a_required_value_that_is_missing_names_its_variable(world: World) -> None:
    world.write("server.json", server(packages=[package(packageArguments=ARGUMENTS)]))
    assert world.entry("weather").summary.startswith("npx -y @x/weather@1.2.3 '<folder>' --port 8080 --verbose")
    with pytest.raises(ConfigError, match="needs the input folder") as caught:
        world.open("@weather")
    assert "INPUT_FOLDER" in caught.value.hint


def test_environment_variables_come_from_those_of_the_same_name(world: World) -> None:
    world.environ = {"KEY": "k-123", "OPTIONAL": "o"}
    variables = [
        {"name": "KEY", "isRequired": True, "isSecret": True},
        {"name": "OPTIONAL"},
        {"name": "UNSET"},
        {"name": "FIXED", "value": "f-{x}", "variables": {"x": {"default": "1"}}},
        {"name": "DEFAULT", "default": "d"},
    ]
    world.write("server.json", server(packages=[package("oci", identifier="i:1", environmentVariables=variables)]))
    target = world.open("@weather")
    assert isinstance(target, StdioTarget)
    assert target.env == {"KEY": "k-123", "OPTIONAL": "o", "FIXED": "f-1", "DEFAULT": "d"}
    assert target.command == tuple(
        ["docker", "run", "-i", "--rm", "-e", "KEY", "-e", "OPTIONAL", "-e", "FIXED", "-e", "DEFAULT", "i:1"]
    )
    assert target.secrets == ("k-123",)


def test_docker_is_not_told_twice(world: World) -> None:
    run = [{"type": "positional", "value": word} for word in ("run", "-i", "--rm")]
    run.append({"type": "named", "name": "-e", "value": "KEY={key}", "variables": {"key": {"default": "1"}}})
    raw = package("oci", identifier="i:1", runtimeArguments=run, environmentVariables=[{"name": "KEY", "default": "2"}])
    assert command(world, raw) == tuple(["docker", "run", "-i", "--rm", "-e", "KEY=1", "i:1"])


def test_remotes_become_urls(world: World) -> None:
    remotes = [
        {
            "type": "streamable-http",
            "url": "https://{tenant}.host/mcp",
            "variables": {"tenant": {"isRequired": True}},
            "headers": [{"name": "X-Key", "isSecret": True, "isRequired": True}, {"name": "X-None"}],
        },
        {"type": "sse", "url": "https://host/sse"},
    ]
    world.environ = {"INPUT_TENANT": "acme", "INPUT_X_KEY": "k-123"}
    world.write("server.json", server(packages=[package()], remotes=remotes))
    assert [entry.name for entry in world.find().entries] == ["weather", "weather-streamable-http", "weather-sse"]
    assert world.entry("weather-streamable-http").summary == "https://<tenant>.host/mcp"
    target = world.open("@weather-streamable-http")
    assert isinstance(target, HttpTarget)
    assert (target.url, target.transport) == ("https://acme.host/mcp", "http")
    assert (target.headers, target.secrets) == ((("X-Key", "k-123"),), ("k-123",))
    sse = world.open("@weather-sse")
    assert isinstance(sse, HttpTarget)
    assert sse.transport == "sse"


def test_packages_of_one_kind_are_numbered(world: World) -> None:
    world.write("server.json", server(packages=[package(), package("pypi"), package("pypi"), package("pypi")]))
    assert [entry.name for entry in world.find().entries] == [
        "weather",
        "weather-pypi",
        "weather-pypi-2",
        "weather-pypi-3",
    ]


def test_a_server_json_of_another_program_is_not_a_problem(world: World) -> None:
    world.write("server.json", {"port": 80, "name": "x"})
    listed = world.find()
    assert (listed.entries, listed.problems) == ((), ())


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"packages": [package("mcpb")]}, "cannot start packages of mcpb"),
        (
            {"packages": [package(transport={"type": "sse", "url": "http://localhost:1/sse"})]},
            "starts its own HTTP server",
        ),
        ({"packages": [package(identifier=None)]}, "no “identifier”"),
        ({"packages": [package(identifier={"a": 1})]}, "“identifier” must be text"),
        ({"packages": ["text"]}, "the package must be an object"),
        ({"packages": [package(packageArguments="x")]}, "“packageArguments” must be a list"),
        ({"packages": [package(packageArguments=["x"])]}, "an argument must be an object"),
        ({"packages": [package(packageArguments=[{"type": "named"}])]}, "no “name”"),
        (
            {"packages": [package(packageArguments=[{"type": "positional", "value": ["x"]}])]},
            "must be text, not a list",
        ),
        ({"packages": [package(environmentVariables=[{}])]}, "has no “name”"),
        ({"packages": [package(environmentVariables=[{"name": "A", "default": {}}])]}, "must be text, not an object"),
        ({"remotes": [{"type": "streamable-http"}]}, "“url” is empty"),
        ({"remotes": [{"type": "stdio", "url": "https://h"}]}, "type stdio"),
        ({"remotes": [{"type": "carrier-pigeon", "url": "https://h"}]}, "does not support"),
        ({"remotes": [{"type": "sse", "url": "ftp://h"}]}, "not an http or https URL"),
        ({"remotes": [7]}, "the remote must be an object"),
    ],
)
def test_what_cannot_be_opened_is_named_and_hides_no_other(world: World, parts: dict[str, Any], message: str) -> None:
    broken = server(**parts)
    broken["packages"] = [*broken.get("packages", []), package()]
    world.write("server.json", broken)
    listed = world.find()
    assert len(listed.entries) == 1
    assert len(listed.problems) == 1
    assert message in listed.problems[0].message
