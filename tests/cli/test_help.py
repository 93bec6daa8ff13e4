"""`--help`, `--help-all` and `inspector help`, and that they agree with the parser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from inspector.cli import verbs
from inspector.cli.manual import TOPICS, read_page
from inspector.cli.options import GROUPS
from inspector.cli.parser import scan
from inspector.cli.verb import load
from inspector.cli.verbs import help
from inspector.compare.rules import DEFAULT, compiled
from inspector.config.target_arguments import parse_target
from inspector.journal.filters.syntax import TERMS
from inspector.journal.filters.syntax import compiled as compiled_filter
from inspector.redact.rules import RulePath
from tests import golden
from tests.cli import options_page
from tests.cli.conftest import Run
from tests.processes import ROOT

GOLDEN = Path(__file__).with_name("golden")


def test_the_help_stays_unchanged(run: Run) -> None:
    ran = run("--help")
    assert (ran.code, ran.err) == (0, "")
    golden.check(GOLDEN / "help.txt", ran.out)


def test_the_help_of_the_program_fits_50_lines_and_names_every_verb(run: Run) -> None:
    lines = run("--help").out.splitlines()
    assert len(lines) <= 50
    assert max(map(len, lines)) <= 80
    words = set("\n".join(lines).replace(",", " ").split())
    assert words >= set(verbs.summaries())


@pytest.mark.parametrize("name", verbs.summaries())
def test_the_help_of_a_verb_fits_40_lines_of_80_columns(run: Run, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = run(name, "--help").out.splitlines()
    assert len(lines) <= help.LINES == 40
    assert max(map(len, lines)) <= help.COLUMNS == 80


@pytest.mark.parametrize("name", verbs.summaries())
def test_every_verb_has_a_help_with_examples_that_are_understood(run: Run, name: str) -> None:
    ran = run(name, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"Usage: inspector {name} [OPTIONS]")
    assert max(map(len, ran.out.splitlines())) <= 80
    examples = load(name).page.examples
    assert examples
    whole = run(name, "--help-all").out.replace(" \\\n      ", " ")
    for example in examples:
        assert f"  {example}\n" in whole
    assert f"  {examples[0].split(' ')[0]} " in ran.out


@pytest.mark.parametrize("name", verbs.summaries())
def test_the_help_shows_each_option_in_full_or_counts_it_in_its_group(run: Run, name: str) -> None:
    ran = run(name, "--help")
    shared = {option: title for title, options in GROUPS.items() for option in options}
    own = [option for option in load(name).options if option not in shared]
    groups = [title for title in GROUPS if any(shared.get(option) == title for option in load(name).options)]
    table = ran.out.partition("\nOptions:\n")[2].partition("\nMore options")[0] + "\n"
    listed = [any(line.startswith(f"  {', '.join(option.flags)} ") for line in table.split("\n")) for option in own]
    assert listed == sorted(listed, reverse=True)  # The first ones, in the order of the verb.
    if len(load(name).options) <= help.FEW:
        assert "--help-all)" not in ran.out
        assert all(listed)
        return
    groups = [*([] if all(listed) else [help.OTHER]), *groups]
    lines = ran.out.partition(f"More options (inspector {name} --help-all):\n")[2].partition("\n\n")[0].splitlines()
    assert [line.split()[0] for line in lines] == groups
    for line, title in zip(lines, groups, strict=True):
        count = sum(shared.get(option) == title for option in load(name).options)
        count = listed.count(False) if title == help.OTHER else count
        more = int(line.split()[-2]) if line.endswith(" more") else 0
        assert line.count("--") + more == count


@pytest.mark.parametrize("name", ["", *verbs.summaries()])
def test_help_all_shows_every_option_in_full(run: Run, name: str) -> None:
    ran = run(*([name] if name else []), "--help-all")
    assert (ran.code, ran.err) == (0, "")
    text = " ".join(ran.out.split())
    for option in load(name or "open").options:
        assert f" {', '.join(option.flags)} {option.metavar}".rstrip() in text
        assert option.help in text


def test_every_verb_is_in_one_group_and_its_line_fits_a_terminal(run: Run) -> None:
    assert list(verbs.groups()) == ["Explore", "Call", "Record and replay", "Verify", "Connect"]
    assert len(verbs.summaries()) == sum(map(len, verbs.groups().values()))
    lines = run("--help-all").out.splitlines()
    for name, summary in verbs.summaries().items():
        assert sum(line.split()[:1] == [name] and line.endswith(f"  {summary}") for line in lines) == 1


def test_a_line_of_help_is_an_imperative_without_a_period() -> None:
    for name in ["open", *verbs.summaries()]:
        for option in load(name).options:
            assert option.help[0].isupper() or option.help.startswith(("app ", "stdin")), option.help
            assert not option.help.endswith("."), option.help
    assert not any(summary.endswith(".") for summary in verbs.summaries().values())


def test_help_lists_the_topics(run: Run) -> None:
    ran = run("help")
    assert (ran.code, ran.err) == (0, "")
    for name, summary in TOPICS.items():
        assert f"  {name}" in ran.out
        assert summary in ran.out


def test_the_page_of_commands_has_the_shared_options() -> None:
    page = options_page.PAGE.read_text(encoding="utf-8")
    assert page == options_page.written(page), "run: python -m tests.cli.options_page"


MANUALS = {name: read_page(name) for name in TOPICS if name != "agents"}


@pytest.mark.parametrize("name", MANUALS)
def test_a_topic_is_a_page_that_fits_a_terminal(run: Run, name: str) -> None:
    ran = run("help", name)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"{name}: {TOPICS[name]}\n")
    assert max(map(len, ran.out.splitlines())) <= 80
    for table in MANUALS[name].tables:
        for written, _ in table.rows:
            assert f"  {written}" in ran.out


def test_the_page_for_agents_is_a_page_of_the_docs_and_a_short_skill_file(run: Run) -> None:
    ran = run("help", "agents")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (ROOT / "docs" / "how-to" / "coding-agents.md").read_text(encoding="utf-8")
    _, head, body = ran.out.split("---\n", 2)
    skill = yaml.safe_load(head)
    assert set(skill) == {"name", "description"}
    assert re.fullmatch("[a-z-]{1,64}", skill["name"])
    assert len(skill["description"]) < 1024
    assert len(ran.out) / 4 < 1500, "tokens, by the estimate of `inspector context`"
    assert "](" not in body, "a skill file lies elsewhere: links to other pages would lead nowhere"


def test_each_page_is_of_a_verb_or_a_topic_and_no_placeholder_is_left() -> None:
    files = {file.stem for file in ROOT.glob("inspector/**/pages/*.txt")}
    assert files == {"open", *verbs.summaries(), *MANUALS}
    assert f"Topics are {', '.join(TOPICS)}." in load("help").page.about
    for name in ["open", *verbs.summaries()]:
        assert not re.search(r"\{[a-z]+\}", load(name).page.about), name


def test_help_of_a_verb_is_the_help_of_that_verb(run: Run) -> None:
    assert run("help", "call").out == run("call", "--help").out


@pytest.mark.parametrize(
    ("word", "hint"), [("filtres", "Did you mean “filters”?"), ("exitcodes", "exit-codes"), ("chek", "“check”")]
)
def test_an_unknown_topic_names_the_nearest(run: Run, word: str, hint: str) -> None:
    ran = run("help", word)
    assert (ran.code, ran.out) == (2, "")
    assert f"Unknown topic “{word}”." in ran.err
    assert hint in ran.err


def rows(topic: str, *titles: str) -> list[str]:
    """The left column of the tables of a topic."""
    tables = {table.title: table for table in MANUALS[topic].tables}
    return [written for title in titles for written, _ in tables[title].rows]


def test_filters_of_the_topic_are_filters() -> None:
    written = rows("filters", "Terms", "Combine terms", "Examples")
    for source in written:
        compiled_filter(source)
    assert {term for term in TERMS if any(source.startswith(f"{term}:") for source in written)} == set(TERMS)


def test_paths_of_the_topic_are_paths() -> None:
    for written in rows("paths", "Steps", "Limit a path to certain messages (not for redact)", "Examples"):
        compiled(DEFAULT.plus(ignore=[written]), "tools/call", "now")
    for written in rows("paths", "Steps", "Examples"):
        if written != "$":
            RulePath(written)


def test_targets_of_the_topic_are_targets(home: Path) -> None:
    import shlex

    (home / "inspector.json").write_text('{"servers": {"everything": {"command": "x"}}}')
    (home / "session.mcp.jsonl").touch()
    kinds = []
    for written in rows("targets", "Forms"):
        invocation = scan(["tools", *shlex.split(written)])
        kinds.append(parse_target(invocation.target_words, command=invocation.command).kind)
    assert kinds == ["stdio", "stdio", "http", "stdio", "stdio", "recording"]
    for written in rows("targets", "Options for a command"):
        scan(["tools", *shlex.split(written), "--", "x"])
    for written in rows("targets", "Options for a URL"):
        scan(["tools", *shlex.split(written), "https://host.example/mcp"])


def test_exit_codes_of_the_topic_are_those_of_the_errors() -> None:
    from inspector import errors

    codes = {value.exit_code for value in vars(errors).values() if hasattr(value, "exit_code")}
    assert codes <= set(map(int, rows("exit-codes", "Exit codes")))
    for written in rows("exit-codes", "Examples"):
        scan(written.partition(" ||")[0].split()[1:])
    assert set(rows("exit-codes", "Verbs with other codes")) <= set(verbs.summaries())


@pytest.mark.parametrize("name", ["open", *verbs.summaries()])
def test_examples_in_the_help_are_lines_that_we_understand(name: str, home: Path) -> None:
    import shlex

    (home / "query.json").write_text("{}")
    (home / "call.json").write_text("{}")
    for example in load(name).page.examples:
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
