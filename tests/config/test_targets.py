"""From words to a target, and what a target shows of itself (C-STDIO-09, C-STDIO-10)."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.command_words import split
from inspector.config.command_labels import program_label
from inspector.config.target_arguments import parse_target
from inspector.config.targets import HttpTarget, RecordingTarget, StdioTarget, demo_target
from inspector.config.text_checks import format_command, parse_header, parse_variable
from inspector.errors import ConfigError, TargetError
from tests.config.conftest import World
from tests.test_addresses import LOOKALIKE, MIXES, REQUESTED

ARGUMENT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)


def stdio(*command: str, **options: Any) -> StdioTarget:
    return StdioTarget(command, **options)


# What words are


def test_words_are_a_command(world: World) -> None:
    target = world.open("npx", "-y", "some-server", "--flag")
    assert target == stdio("npx", "-y", "some-server", "--flag")
    assert (target.kind, target.label, target.describe()) == ("stdio", "some-server", "npx -y some-server --flag")


@pytest.mark.parametrize(
    "word",
    [
        " http://127.0.0.1:8000/mcp",
        "http://127.0.0.1:8000/mcp \n",
        '"http://127.0.0.1:8000/mcp"',
        "'http://127.0.0.1:8000/mcp'",
        "<http://127.0.0.1:8000/mcp>",
        "< http://127.0.0.1:8000/mcp >",
        "`http://127.0.0.1:8000/mcp`",
    ],
)
@pytest.mark.parametrize("command", [False, True])
def test_a_url_is_one_with_what_was_copied_around_it_and_after_two_hyphens(
    world: World, word: str, command: bool
) -> None:
    target = parse_target([word], command=command, environ={}, home=world.home, folder=world.folder)
    assert isinstance(target, HttpTarget)
    assert target.url == "http://127.0.0.1:8000/mcp"


def test_a_command_that_has_a_url_as_argument_stays_a_command(world: World) -> None:
    words = ["npx", "mcp-remote", "https://host.example/mcp"]
    assert parse_target(words, command=True, environ={}, home=world.home, folder=world.folder) == stdio(*words)


def test_the_demo_has_a_name_unless_a_config_file_gives_it_to_another_server(world: World) -> None:
    assert world.open("@demo") == demo_target()
    (world.folder / "inspector.json").write_text('{"mcpServers": {"demo": {"command": "shop"}}}')
    assert world.open("@demo").command == ("shop",)


def test_one_word_with_spaces_is_split_like_a_shell_would(world: World) -> None:
    assert world.open("python  'my server.py' --x=\"a b\"") == stdio("python", "my server.py", "--x=a b")


def test_one_word_with_spaces_that_is_a_file_is_not_split(world: World) -> None:
    world.write("my server", "#!/bin/sh\n")
    assert world.open("my server") == stdio("my server")


def test_words_after_the_dashes_are_a_command_unless_they_are_one_url(world: World) -> None:
    world.write("r.mcp.jsonl", "{}")
    for word in ("@name", "r.mcp.jsonl", "a b", "localhost:3000"):
        assert world.open(word, command=True) == stdio(word)


@pytest.mark.parametrize("url", ["https://host/mcp", "HTTP://127.0.0.1:3000/mcp?x=1", "https://[::1]:8080/"])
def test_a_url_is_a_url(world: World, url: str) -> None:
    assert world.open(url) == HttpTarget(url)


def test_the_host_of_a_url_is_as_it_is_requested(world: World) -> None:
    target = world.open("http://MÜNCHEN.example:81/ü")
    assert target == HttpTarget("http://xn--mnchen-3ya.example:81/ü")
    assert (target.label, target.describe()) == ("xn--mnchen-3ya.example:81", "http://xn--mnchen-3ya.example:81/ü")
    assert world.open(LOOKALIKE).describe_fully() == f"{REQUESTED} {MIXES}"
    described = world.open("npx", "mcp-remote", LOOKALIKE).describe_fully()
    assert described.endswith(f"(its host is xn--pi-6kc.github.com) {MIXES}")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "target is missing"),
        (["  "], "target is missing"),
        (["https://"], "has no host"),
        (["http:///path"], "has no host"),
        (["https://host:99999/"], "not a URL"),
        (["https://host:0/"], "port"),
        (["https://[::1/"], "not a URL"),
        (["https://host/a b"], "space or a control"),
        (["https://host/\x1b[31m"], "space or a control"),
        (["https://host/\ud800"], "space or a control"),
        (["https://host/mcp", "extra"], "Unexpected argument extra after a URL"),
        (["ftp://host/"], "ftp URLs are not supported"),
        (["ws://host/"], "ws URLs are not supported"),
        (['python "unclosed'], "cannot be parsed"),
        (["a\0b"], "NUL"),
        (["python", "\ud800"], "surrogate"),
        (["gone.mcp.jsonl"], "No recording at"),
        (["./"], "is a folder"),
    ],
)
def test_words_that_are_not_target_say_why(world: World, words: list[str], message: str) -> None:
    with pytest.raises(TargetError, match=message) as caught:
        world.open(*words)
    assert "\x1b" not in caught.value.message + caught.value.hint


@pytest.mark.parametrize("word", ["localhost:3000/mcp", "host.example:80", "[::1]:8080"])
def test_a_host_and_port_is_reported_to_be_a_url(world: World, word: str) -> None:
    with pytest.raises(TargetError) as caught:
        world.open(word)
    assert caught.value.hint == f"For the server there, write http://{word}"


def test_a_config_file_is_reported_to_be_one(world: World) -> None:
    world.write("my.json", {})
    with pytest.raises(TargetError) as caught:
        world.open("my.json")
    assert "--config my.json @NAME" in caught.value.hint.command_line


def test_arguments_that_are_not_utf8_pass_as_they_came(world: World) -> None:
    assert world.open("python", "\udcff") == stdio("python", "\udcff")


def test_a_recording_is_known_by_its_name_or_its_first_bytes(world: World) -> None:
    named = world.write("a.mcp.jsonl", "whatever")
    plain = world.write("~/b.jsonl", "")
    begun = world.write("c.log", '{"format": "mcp-recording","version":1}\n')
    assert world.open("a.mcp.jsonl") == RecordingTarget(named)
    assert world.open(str(begun)) == RecordingTarget(begun)
    assert world.open("./c.log").kind == "recording"
    assert world.open("~/b.jsonl") == RecordingTarget(plain)
    world.write("d.log", '{"format":"other"}')
    assert world.open("./d.log").kind == "stdio"


# Flags


def test_flags_are_added_to_a_command(world: World) -> None:
    (world.folder / "sub").mkdir()
    target = world.open("python", "s.py", env={"A": "1"}, cwd="sub", transport="stdio")
    assert target == stdio("python", "s.py", env={"A": "1"}, cwd=str(world.folder / "sub"))


def test_flags_are_added_to_a_url(world: World) -> None:
    target = world.open("https://host", headers=[("X-A", "1")], transport="sse")
    assert target == HttpTarget("https://host", headers=(("X-A", "1"),), transport="sse")


def test_flags_win_over_a_config_entry(world: World) -> None:
    servers = {
        "c": {"command": "srv", "env": {"A": "1", "B": "1"}, "cwd": "."},
        "h": {"url": "https://host/x", "type": "http", "headers": {"x-a": "old", "X-B": "kept"}},
    }
    world.write(".mcp.json", {"mcpServers": servers})
    (world.folder / "sub").mkdir()
    command = world.open("@c", env={"B": "2", "C": "2"}, cwd="sub")
    assert isinstance(command, StdioTarget)
    assert (command.env, command.cwd) == ({"A": "1", "B": "2", "C": "2"}, str(world.folder / "sub"))
    remote = world.open("@h", headers=[("X-A", "new")], transport="sse")
    assert isinstance(remote, HttpTarget)
    assert (remote.headers, remote.transport) == ((("X-B", "kept"), ("X-A", "new")), "sse")
    assert world.open("@h").transport == "http"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("word", "flags", "message"),
    [
        ("srv", {"headers": [("A", "1")]}, "--header has no effect"),
        ("srv", {"transport": "http"}, "needs a URL"),
        ("srv", {"cwd": "nowhere"}, "is not a folder"),
        ("srv", {"env": {"A": "x\0"}}, "NUL"),
        ("https://h", {"env": {"A": "1"}}, "--env has no effect"),
        ("https://h", {"cwd": "."}, "--cwd has no effect"),
        ("https://h", {"transport": "stdio"}, "needs a command"),
        ("https://h", {"headers": [("A", "x\r\nB: y")]}, "line break"),
        ("https://h", {"headers": [("A", "\udcff")]}, "another control character"),
        ("https://h", {"headers": [("A B", "x")]}, "is not a header name"),
        ("r.jsonl", {"headers": [("A", "1")]}, "--header has no effect on a recording"),
        ("r.jsonl", {"transport": "sse"}, "has no effect on a recording"),
    ],
)
def test_a_flag_that_does_not_fit_is_refused(world: World, word: str, flags: dict[str, Any], message: str) -> None:
    """C-STDIO-09: a command takes no header."""
    world.write("r.jsonl", "")
    with pytest.raises(TargetError, match=message):
        world.open(word, **flags)


def test_header_and_variable_flags() -> None:
    assert parse_header("Authorization:  Bearer x:y ") == ("Authorization", "Bearer x:y")
    assert parse_header("X-Empty:") == ("X-Empty", "")
    assert parse_variable("A=b=c") == ("A", "b=c")
    for text in ("no colon", ": x", "a b: x", "A: x\ry"):
        with pytest.raises(TargetError):
            parse_header(text)
    assert parse_variable(" A ") == ("A", None)
    for text in ("", "=x", " =x", "A=\0", "A B"):
        with pytest.raises(TargetError):
            parse_variable(text)


@pytest.mark.parametrize(
    ("parse", "text", "message"),
    [
        (parse_header, "Authorization Bearer 5ecret", "The header Authorization … has no value"),
        (parse_header, "X-Api-Key=5ecret", "The header X-Api-Key=… has no value"),
        (parse_header, "Authorization 5ecret:x", "'Authorization …' is not a header name"),
        (parse_variable, "API_KEY 5ecret", "--env API_KEY … is not a variable"),
        (parse_variable, "=5ecret", "--env =… is not a variable"),
    ],
)
def test_a_malformed_header_or_variable_shows_no_secret(
    parse: Callable[[str], object], text: str, message: str
) -> None:
    with pytest.raises(TargetError) as caught:
        parse(text)
    assert message in str(caught.value)
    assert "5ecret" not in str(caught.value)


FRAMING = (
    "Content-Length: 5", "content-length: 0", "Transfer-Encoding: chunked", "TRANSFER-ENCODING: identity",
    "Connection: close", "Keep-Alive: timeout=5", "Proxy-Connection: close", "TE: trailers", "Trailer: X",
    "Upgrade: websocket", "Expect: 100-continue",
)  # fmt: skip


@pytest.mark.parametrize("text", FRAMING)
def test_headers_that_frame_a_request_cannot_be_set(world: World, text: str) -> None:
    name, _, value = text.partition(": ")
    entry = {"url": "https://h.example/mcp", "headers": {name: value}}
    world.write("inspector.json", json.dumps({"servers": {"x": entry}}))
    for attempt in (
        lambda: parse_header(text),
        lambda: world.open("https://h.example/mcp", headers=((name, value),)),
        lambda: world.open("@x"),
    ):
        with pytest.raises((TargetError, ConfigError), match=f"The header {name} cannot be set") as caught:
            attempt()
        assert caught.value.exit_code == 2


def test_one_other_host_may_be_asked_for(world: World) -> None:
    url = "https://h.example/mcp"
    assert world.open(url, headers=(("Host", "other.example"),)).headers == (("Host", "other.example"),)
    with pytest.raises(TargetError, match="one Host header"):
        world.open(url, headers=(("Host", "a.example"), ("host", "b.example")))


def test_the_machine_is_asked_where_nothing_is_given(monkeypatch: pytest.MonkeyPatch, world: World) -> None:
    world.write(".mcp.json", {"mcpServers": {"a": {"command": "${PROGRAM}"}}})
    monkeypatch.chdir(world.folder)
    monkeypatch.setenv("HOME", str(world.home))
    monkeypatch.setenv("PROGRAM", "/bin/true")
    target = parse_target(["@a"], consent=lambda exposure: "once")
    assert isinstance(target, StdioTarget)
    assert target.command == ("/bin/true",)


def test_an_explicit_config_that_is_missing_is_a_config_error(world: World) -> None:
    with pytest.raises(ConfigError, match="the file does not exist"):
        world.open("@a", config=Path("gone.json"))


# What a target shows


def test_targets_are_values() -> None:
    target = stdio("a", "b")
    with pytest.raises(FrozenInstanceError):
        target.cwd = "x"  # type: ignore[misc]
    assert not hasattr(target, "__dict__")
    assert replace(target, name="n").label == "@n"


def test_a_command_hides_its_secrets_wherever_it_shows_itself() -> None:
    env = {"TOKEN": "t-12345", "MODE": "a"}
    target = stdio("srv", "--api-key", "k-12345", "x=held-1", env=env, secrets=("held-1",))
    assert target.secrets == ("held-1", "k-12345", "t-12345")
    header = target.as_header()
    assert header == {
        "kind": "stdio",
        "label": "srv",
        "argv": ["srv", "--api-key", "***", "x=***"],
        "cwd": None,
        "env": ["MODE", "TOKEN"],
    }
    texts = json.dumps(header) + target.describe() + repr(target)
    assert not [secret for secret in target.secrets if secret in texts]


def test_a_url_hides_its_secrets_wherever_it_shows_itself() -> None:
    target = HttpTarget(
        "https://me:pw-123@host/mcp?api_key=k-123&page=2",
        headers=(("Authorization", "Bearer b-123"), ("X-Plain", "plain")),
        proxy="http://u:px-123@proxy",
        name="shop",
        source="/f.json",
    )
    assert set(target.secrets) == {"pw-123", "k-123", "Bearer b-123", "b-123", "px-123"}
    assert target.as_header() == {
        "kind": "http",
        "label": "@shop",
        "url": "https://***@host/mcp?api_key=***&page=2",
        "transport": "auto",
        "headers": ["Authorization", "X-Plain"],
        "name": "shop",
        "source": "/f.json",
    }
    assert "plain" not in repr(target)


def test_labels_of_urls_and_recordings() -> None:
    assert HttpTarget("https://user@host.example:8443/mcp?x").label == "host.example:8443"
    assert HttpTarget("http://[::1]:80").label == "[::1]:80"
    assert RecordingTarget(Path("/r/shop.mcp.jsonl")).label == "shop"
    assert RecordingTarget(Path("/r/a\nb.jsonl")).describe() == "/r/a\\nb.jsonl"
    assert RecordingTarget(Path("/r/shop.mcp.jsonl")).as_header()["path"] == "/r/shop.mcp.jsonl"


@pytest.mark.parametrize(
    ("command", "label"),
    [
        ("python server.py", "server.py"),
        ("/usr/bin/python3.12 -X dev -m my.module --x", "my.module"),
        ("python -c print(1)", "python"),
        ("npx -y @modelcontextprotocol/server-everything@2.1", "server-everything"),
        ("npx --package @x/pkg bin", "bin"),
        ("npx -y @scope/pkg", "pkg"),
        ("uvx --from mcp-time==1.0 mcp-server-time[extra]==2", "mcp-server-time"),
        ("uv run --directory /x weather", "weather"),
        ("uv run python -m weather", "weather"),
        ("uv tool run weather", "weather"),
        ("node --require x ./dist/index.js", "index.js"),
        ("node node_modules/@scope/server-everything/dist/index.js stdio", "server-everything"),
        ("node C:\\servers\\weather\\build\\index.mjs", "weather"),
        ("python /home/me/shop/src/main.py", "shop"),
        ("python main.py", "main.py"),
        ("node /index.js", "index.js"),
        ("docker run -i --rm -e TOKEN --name n ghcr.io/org/image:1.2 --flag", "image"),
        ("pnpm dlx @x/pkg", "pkg"),
        ("env A=1 B=2 npx pkg", "pkg"),
        ("C:\\tools\\srv.exe --x", "srv"),
        ("npx", "npx"),
        ("./server --x", "server"),
        ("", ""),
    ],
)
def test_labels_name_what_a_runner_starts(command: str, label: str) -> None:
    assert program_label(command.split()) == label


def test_a_hostile_command_has_a_label_too() -> None:
    long = 100_000
    for words in (
        ["uv"] * long,
        ["npx", "=" * 10 * long + "/x"],
        ["docker", *["-e"] * long],
        ["env"],
        ["python", "-m"],
        ["\\"],
    ):
        assert program_label(words)


@given(st.lists(ARGUMENT, min_size=1, max_size=4))
def test_a_described_command_is_one_line_that_means_the_same(argv: list[str]) -> None:
    line = format_command(argv)
    assert line.isprintable()
    if all(word.isprintable() for word in argv):
        assert shlex.split(line) == argv


@pytest.mark.slow
def test_unprintable_arguments_are_quoted_as_bash_takes_them() -> None:
    argv = ["a\nb", "tab\t'quote'", "back\\slash\x1b[0m", "ünïcode\u2028", "\U0001f600 ok"]
    line = format_command(argv)
    script = f"printf '%s\\0' {line}"
    ran = subprocess.run(["bash", "-c", script], capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"})
    assert ran.stdout.decode().split("\0")[:-1] == argv


def test_a_command_is_shown_as_the_shell_of_the_system_reads_it() -> None:
    words = [r"C:\my tools\srv.exe", "a\nb", "it's"]
    assert format_command(words, "windows") == '"C:\\my tools\\srv.exe" a\\nb "it\'s"'
    assert split(format_command(words, "posix").replace("$'a\\nb'", "ab")) == [words[0], "ab", words[2]]
