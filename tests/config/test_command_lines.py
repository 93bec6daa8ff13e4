"""Command lines in hints: they repeat options and target, and never a secret."""

from __future__ import annotations

import shlex

import pytest

from inspector import command_words
from inspector.cli.parser import scan
from inspector.config.command_lines import line_of
from inspector.config.targets import HttpTarget, StdioTarget
from tests.typed import typed


@pytest.mark.parametrize(
    ("words", "doctor"),
    [
        ("tools -- python server.py", "inspector doctor -- python server.py"),
        ("tools --json --env A=b --cwd /srv -- python s.py --json", "inspector doctor --env A=b --cwd /srv -- python s.py --json"),
        ("tools --env 'A=b c' npx -y pkg", "inspector doctor --env 'A=b c' npx -y pkg"),
        ("call price article=apple --config mcp.json @shop", "inspector doctor --config mcp.json @shop"),
        ("tools @shop --timeout=5 --era legacy", "inspector doctor --timeout 5 --era legacy @shop"),
        ("tools --header 'X-Team: a b' --transport sse https://x.example/mcp", "inspector doctor --header 'X-Team: a b' --transport sse https://x.example/mcp"),
        ("tools --header 'Authorization: Bearer abcdef' https://x.example", "inspector doctor --header 'Authorization: ***' https://x.example"),
        ("tools --env API_KEY=abcdef -- s --token=hijklm", "inspector doctor --env API_KEY=*** -- s '--token=***'"),
        ("tools --env API_KEY=abcdef -- s abcdef -x=abcdef", "inspector doctor --env API_KEY=*** -- s '***' '-x=***'"),
        ("tools --env SHELL_KEY=of-the-shell -- s", "inspector doctor --env SHELL_KEY -- s"),
        ("tools https://u:pw@x.example/mcp?api_key=abc", "inspector doctor 'https://***@x.example/mcp?api_key=***'"),
        ("tools --root file:///a --sampling decline --bearer-env TOKEN @x", "inspector doctor --bearer-env TOKEN @x"),
        ("skills @shop pdf --env A=b", "inspector doctor --env A=b @shop"),
    ],
)  # fmt: skip
def test_another_verb_repeats_what_is_about_the_server(
    words: str, doctor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELL_KEY", "of-the-shell")
    monkeypatch.setenv("TOKEN", "a-token")
    # The mark of a secret variable stands for a value to type, and is not quoted.
    expected = typed(doctor).replace(command_words.quote("API_KEY=***"), "API_KEY=***")
    assert str(scan(shlex.split(words)).line_for("doctor")) == expected


@pytest.mark.parametrize(
    "words",
    [
        "tools --json --env A=b -- python server.py -v",
        "call price article=apple n:=2 --config mcp.json @shop",
        "skills --verify @shop pdf",
        "events --follow clock every=5 -- python s.py",
        "-- python server.py",
        "https://x.example/mcp",
    ],
)
def test_the_line_itself_parses_to_the_same(words: str) -> None:
    invocation = scan(shlex.split(words))
    again = scan(command_words.split(str(invocation.line))[1:])
    for name in ("values", "arguments", "target_words", "command"):
        assert getattr(again, name) == getattr(invocation, name)


def test_a_fix_changes_one_thing() -> None:
    line = scan(shlex.split("call price article=apple --cwd /srv -- python server.py")).line
    assert str(line.passing("A_KEY")) == (
        "inspector call --env A_KEY --cwd /srv price article=apple -- python server.py"
    )
    assert str(line.on_command(["python3", "a b.py"])).endswith(typed(" -- python3 'a b.py'"))
    url = scan(["tools", "--header", "X-A: b", "--transport", "http", "https://a.example/x"]).line
    assert str(url.on_url("https://a.example/mcp", "sse")) == typed(
        "inspector tools --transport sse --header 'X-A: b' https://a.example/mcp"
    )
    assert str(url.on_url("https://b.example/mcp", trusted=False)) == "inspector tools https://b.example/mcp"


@pytest.mark.parametrize(
    ("target", "line"),
    [
        (StdioTarget(("python", "s.py"), env={"A": "b"}, cwd="/srv"), "inspector --env A=b --cwd /srv -- python s.py"),
        (StdioTarget(("python", "s.py"), env={"A": "b"}, name="shop"), "inspector @shop"),
        (
            HttpTarget(
                "https://x.example/mcp", headers=(("Authorization", "Bearer abc"),), transport="sse", verify=False
            ),
            "inspector --header 'Authorization: ***' --transport sse --no-verify https://x.example/mcp",
        ),
    ],
)
def test_the_line_of_a_target(target: StdioTarget | HttpTarget, line: str) -> None:
    assert str(line_of(target, {})) == typed(line)
