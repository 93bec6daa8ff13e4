"""`--help` of everything, and that it tells the truth."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.cli import verbs
from inspector.cli.parser import scan
from inspector.cli.verb import load
from tests import golden
from tests.cli.conftest import Run

GOLDEN = Path(__file__).with_name("golden")


def test_the_help_stays_as_it_is(run: Run) -> None:
    ran = run("--help")
    assert (ran.code, ran.err) == (0, "")
    golden.check(GOLDEN / "help.txt", ran.out)


@pytest.mark.parametrize("name", verbs.SUMMARIES)
def test_every_verb_has_a_help_with_examples_that_are_understood(run: Run, name: str) -> None:
    ran = run(name, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"Usage: inspector {name} [OPTIONS]")
    assert max(map(len, ran.out.splitlines())) <= 100
    verb = load(name)
    assert verb.examples
    for option in verb.options:
        assert option.flags[-1] in ran.out
    for example in verb.examples:
        assert f"  {example}\n" in ran.out


@pytest.mark.parametrize("name", ["open", *verbs.SUMMARIES])
def test_examples_in_the_help_are_lines_that_we_understand(name: str, home: Path) -> None:
    import shlex

    (home / "query.json").write_text("{}")
    (home / "call.json").write_text("{}")
    for example in load(name).examples:
        words = shlex.split(example.replace('eval "$(', "").replace(')"', ""), comments=True)
        words = words[: words.index(">")] if ">" in words else words
        assert words[0] == "inspector"
        scan(words[1:])


def test_help_can_be_asked_at_any_place_before_a_command(run: Run) -> None:
    whole = run("tools", "--help").out
    assert run("-h", "tools").out == whole
    assert run("tools", "@name", "-h").out == whole
    assert run("call", "echo", "a=1", "--help").out == run("call", "-h").out


def test_the_help_keeps_to_a_narrow_screen(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    ran = run("read", "--help")
    text = ran.out[: ran.out.index("Examples:")]
    assert max(map(len, text.splitlines())) <= 60
