"""One option has one name and one meaning in every verb, and names of the version before still work."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from inspector.cli import verbs
from inspector.cli.options import Option
from inspector.cli.parser import notes_on, scan
from inspector.cli.verb import load
from tests.cli.conftest import Run, Script
from tests.typed import typed

VERBS = ["open", *verbs.summaries()]
TWO_MEANINGS = {
    "as": "diff opens a host on each side",
    "at": "a time on the clock, or a place in a recording",
    "era": "info also compares both eras",
    "fail-on": "a verdict of a check, or a figure of a load",
    "follow": "events of a type, or what is appended to a recording",
    "keep": "recordings that stay, or the folder for those of a run",
    "output": "import writes no recording to stdout, skills writes a folder",
    "revision": "check takes several",
    "seed": "a number for arguments that are made, a text for faults",
    "sort": "each verb has its own columns",
    "verify": "files of skills, or a delivery in a file",
}
"""Options of one name that take other values in another verb, with the reason."""
OLD = {
    "--protocol": "--revision",
    "--for": "--host",
    "--save": "--output",
    "--fail": "--fail-on",
}


def options() -> list[tuple[str, Option]]:
    return [(name, option) for name in VERBS for option in load(name).options]


def test_an_option_takes_the_same_values_in_every_verb() -> None:
    readers: dict[str, set[object]] = defaultdict(set)
    for _, option in options():
        readers[option.flags[-1].removeprefix("--")].add(
            (option.read, option.many, option.choices, bool(option.metavar), bool(option.fits))
        )
    assert {name for name, meanings in readers.items() if len(meanings) > 1} == set(TWO_MEANINGS)


def test_a_length_of_time_is_written_as_one_everywhere() -> None:
    for verb, option in options():
        assert option.metavar != "SECONDS" or verb == "demo", (verb, option.name)
        if option.metavar == "TIME":
            assert [option.value(word) for word in ("30", "30s", "500ms", "2min", "0.5h")] == [30, 30, 0.5, 120, 1800]


def test_flags_of_a_verb_are_distinct() -> None:
    for name in VERBS:
        flags = [flag for option in load(name).options for flag in option.accepted]
        assert len(flags) == len(set(flags)), name


@pytest.mark.parametrize("name", VERBS)
def test_an_old_name_works_with_a_note_and_is_shown_nowhere(run: Run, name: str) -> None:
    for option in load(name).options:
        if not option.old:
            continue
        assert OLD[option.old] == option.flags[-1]
        word = "2025-11-25" if option.name == "revision" else "p99>1s" if option.name == "fail-on" else "x"
        slots = [slot.choices[0] if slot.choices else "x" for slot in load(name).slots if slot.kind == "one"]
        words = [*([name] if name != "open" else []), option.old, word, *slots, *(["@x"] * (name != "open"))]
        known = {"demo": words[:3], "diff": words[:5]}.get(name, words)
        invocation = scan(known)
        assert option.name in invocation.values
        assert notes_on(invocation) == [
            f"note: {option.old} is now {option.flags[-1]}. A later version does not take {option.old}."
        ]
        page = run(*([name] if name != "open" else []), "--help-all").out.split()
        assert option.old not in page or option.old in {flag for other in load(name).options for flag in other.flags}


def test_an_unknown_revision_is_offered_with_a_note() -> None:
    (note,) = notes_on(scan(["tools", "--revision", "2020-01-01", "@x"]))
    assert note.startswith("note: 2020-01-01 is not a known revision, and is offered as it is. Known are 2024-11-05, ")
    assert notes_on(scan(["tools", "--revision", "2025-11-25", "@x"])) == []


@pytest.mark.slow
def test_the_old_format_option_of_call_is_still_read(
    run: Run, script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    server = script(tools__call={"result": {"content": [{"type": "text", "text": "one"}]}})
    ran = run("call", "t", "--output", "text", *server)
    assert (ran.code, ran.out) == (0, "one\n")
    assert "note: --output text is now --format text." in ran.err
    assert not list(tmp_path.glob("text"))
    for words in (["--output", "./text"], ["-o", "json"]):
        ran = run("call", "t", *words, *server)
        assert (ran.code, Path(words[1]).read_text()) == (0, "one")
        assert ran.err == f"written: {Path(words[1])}\n"


def test_a_hint_repeats_no_option_that_another_verb_reads_in_another_way() -> None:
    plain = typed("inspector doctor @x")
    assert str(scan(["check", "--revision", "2025-11-25,2026-07-28", "@x"]).line_for("doctor")) == plain
    assert str(scan(["info", "--era", "both", "@x"]).line_for("doctor")) == plain
    modern = typed("inspector doctor --era modern @x")
    assert str(scan(["tools", "--era", "modern", "@x"]).line_for("doctor")) == modern
