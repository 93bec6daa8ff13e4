"""A command or a URL that was changed where it was shown."""

from __future__ import annotations

import pytest

from inspector import command_words
from inspector.config.edited_target import edited, options_before
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.errors import TargetError
from tests.typed import typed

TOKEN = "sekret-0123456789"
COMMAND = StdioTarget(
    ("python", "servr.py", "--token", TOKEN, "a b"), env={"K": "v"}, cwd="/tmp", name="weather", secrets=(TOKEN,)
)
URL = HttpTarget("http://h/mcp?api_key=sekret-0123456789&x=1", headers=(("A", "b"),), name="far")


def test_what_was_hidden_stays_and_so_does_all_else() -> None:
    described = COMMAND.describe()
    assert TOKEN not in described
    other = edited(COMMAND, described.replace("servr", "server"))
    assert isinstance(other, StdioTarget)
    assert other.command == ("python", "server.py", "--token", TOKEN, "a b")
    assert (other.env, other.cwd, other.name) == (COMMAND.env, "/tmp", "weather")
    assert TOKEN not in other.describe()
    assert edited(COMMAND, f" {described} ") is COMMAND


def test_options_before_it_add_variables_or_headers() -> None:
    other = edited(COMMAND, f"--env TOKEN=a=b --env=K=w {COMMAND.describe()}")
    assert isinstance(other, StdioTarget)
    assert (other.command, other.env) == (COMMAND.command, {"K": "w", "TOKEN": "a=b"})
    assert "a=b" in other.secrets, "it is hidden like one on the command line"
    there = edited(URL, f"--header 'a: c' --header 'X-Key: 1' {URL.describe()}")
    assert isinstance(there, HttpTarget)
    assert (there.url, there.headers) == (URL.url, (("a", "c"), ("X-Key", "1")))


@pytest.mark.parametrize(
    ("text", "env", "headers", "rest"),
    [
        ("python -m x --env A=b", None, None, "python -m x --env A=b"),
        ("--env A=b -- 'my server' --x", {"A": "b"}, [], command_words.join(["my server", "--x"])),
        ("--env A @shop", {"A": None}, [], "@shop"),
        ("--header 'K: v' http://h/mcp?x=1&y=2", {}, [("K", "v")], "http://h/mcp?x=1&y=2"),
    ],
)
def test_options_before_a_typed_target_are_taken_from_it(text: str, env: object, headers: object, rest: str) -> None:
    options = {} if env is None else {"env": env, "headers": headers}
    assert options_before(text) == (options, rest)


UNENDED = ["--env A=b 'x"] if command_words.FAMILY == "posix" else []
"""A quote without an end, which Windows takes as it is."""


@pytest.mark.parametrize("text", ["--cwd /tmp x", "--env", "--env 'a b' x", "--header K x", *UNENDED])
def test_other_options_are_refused(text: str) -> None:
    with pytest.raises(TargetError):
        options_before(text)


def test_words_may_come_and_go() -> None:
    other = edited(COMMAND, "python -u server.py --token '***'")
    assert isinstance(other, StdioTarget)
    assert other.command == ("python", "-u", "server.py", "--token", TOKEN)
    other = edited(COMMAND, "python server.py --token new-one")
    assert isinstance(other, StdioTarget)
    assert other.command[-1] == "new-one"


@pytest.mark.parametrize("text", ["", "   ", 'python "x', "python servr.py --token '***x'"])
def test_what_is_not_a_command(text: str) -> None:
    with pytest.raises(TargetError):
        edited(COMMAND, text)


def test_each_of_several_hidden_values_keeps_its_place() -> None:
    two = StdioTarget(("x", "--a", "first-secret", "--b", "second-secret"), secrets=("first-secret", "second-secret"))
    assert two.describe() == typed("x --a '***' --b '***'")
    other = edited(two, "y --a '***' --b '***' --c")
    assert isinstance(other, StdioTarget)
    assert other.command == ("y", "--a", "first-secret", "--b", "second-secret", "--c")
    with pytest.raises(TargetError, match="Some hidden values were removed"):
        edited(two, "y --b '***'")
    with pytest.raises(TargetError, match="Some hidden values were removed"):
        edited(two, "y --a '***' --b '***' --c '***'")


def test_a_url() -> None:
    other = edited(URL, "http://h/other")
    assert isinstance(other, HttpTarget)
    assert (other.url, other.headers, other.name) == ("http://h/other", URL.headers, "far")
    assert edited(URL, URL.describe()) is URL
    letters = edited(HttpTarget("https://xn--bcher-kva.example/mcp"), "https://bücher.example/other")
    assert letters.describe() == "https://xn--bcher-kva.example/other"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ftp://h/mcp",
        "h/mcp",
        "http://h/mcp x",
        "http://h/mcp2?api_key=***&x=1",
        "http://h:81/mcp",
        "https://h/mcp",
        "http://other/mcp",
        "http://h@other/mcp",
        "http://h\\@other/mcp",
        "http://ｈ/mcp",
    ],
)
def test_what_is_not_an_url(text: str) -> None:
    with pytest.raises(TargetError):
        edited(URL, text)
