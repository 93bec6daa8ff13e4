"""`--help`, `--help-all` and `inspector help`, made from the tables that the parser reads."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from click import HelpFormatter

from inspector.cli import options as shared
from inspector.cli import verbs
from inspector.cli.manual import TOPICS, read_page
from inspector.cli.options import JSON, QUIET, VERSION
from inspector.cli.output import Output
from inspector.cli.program_name import program, renamed
from inspector.cli.verb import PositionalArgument, Verb, load
from inspector.config.paths import data_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from inspector.cli.manual import Page
    from inspector.cli.options import Option
    from inspector.cli.verb import Invocation

WIDEST = 100
OTHER = "Other"
"""The row for options of the verb itself that are counted."""
FEW = 10
"""A verb with at most this many options shows all of them."""
COLUMNS, LINES = 80, 40
"""The size that the help of a verb fits: what it has no room for is counted, and `--help-all` shows it."""
_WORDS = re.compile(r"(?:'[^']*'|\"[^\"]*\"|\S)+")
"""The words of a command line, with their quotes."""
MAX_SUMMARY = 62
"""Characters of the options that one line names."""

_VERB_COLUMN = max(map(len, verbs.summaries()))
_VERBS_USED_MOST = (
    "demo", "info", "tools", "call", "check", "run", "diff", "tap", "replay", "export", "doctor", "servers",
)  # fmt: skip
_USED_MOST = ("header", "env", "record")
"""Shared options in the help of the whole program, besides --watch and --json."""


def run(invocation: Invocation) -> int:
    """Print the page; without a topic, the list of topics."""
    name = invocation.arguments["topic"]
    if name is None:
        print_topics()
    elif name in TOPICS:
        print_topic(name)
    else:
        print_help(load(name))
    return 0


def print_help(verb: Verb, *, all: bool = False) -> None:
    """Print the help of a verb, or of the program without one. `all` shows every option in full."""
    page, out = _page()
    if verb.name:
        _verb(page, verb, all)
    else:
        _program(page, verb, all)
    _print(out, page)


def print_topic(name: str) -> None:
    """Print the page of a topic."""
    page, out = _page()
    if name == "agents":
        text = (data_folder("docs/how-to") / "coding-agents.md").read_text(encoding="utf-8")
        out.lines(renamed(text).rstrip("\n").split("\n"))
    else:
        _topic(page, name)
        _print(out, page)


def print_topics() -> None:
    """Print the list of topics."""
    page, out = _page()
    page.write_usage(program(), "help TOPIC")
    page.write_usage(program(), "help VERB", prefix="       ")
    _list_topics(page)
    _paragraph(page, "`inspector --help` lists the verbs.")
    _print(out, page)


def _page() -> tuple[HelpFormatter, Output]:
    out = Output()
    return HelpFormatter(width=min(out.width or 80, WIDEST), max_width=WIDEST), out


def _print(out: Output, page: HelpFormatter) -> None:
    out.lines(renamed(page.getvalue()).rstrip("\n").split("\n"))


def _program(page: HelpFormatter, verb: Verb, all: bool) -> None:
    page.write_usage(program(), "[OPTIONS] [TARGET]")
    page.write_usage(program(), "VERB [OPTIONS] [ARGUMENTS] [TARGET]", prefix="       ")
    text = verb.page
    _paragraph(page, text.about)
    if all:
        for title, group in verbs.groups().items():
            _summaries(page, title, group)
        _grouped_options(page, (*verb.options, JSON, QUIET, VERSION))
    else:
        _summaries(page, "Verbs used most", _VERBS_USED_MOST)
        with page.section("All verbs (inspector --help-all says what each does)"):
            page.write_dl([(title, ", ".join(group)) for title, group in verbs.groups().items()])
        used = [option for name in _USED_MOST for option in verb.options if option.name == name]
        _options(page, "Options", (verb.options[0], *used, JSON))
    _examples(page, text.examples)
    with page.section("More help"):
        page.write_dl(
            [
                ("inspector VERB --help", "Show the options and examples of a verb"),
                ("inspector help TOPIC", f"About {', '.join(TOPICS)}"),
                ("inspector --help-all", "Show all verbs and options"),
            ]
        )


def _summaries(page: HelpFormatter, title: str, names: Iterable[str]) -> None:
    with page.section(title):
        page.write_dl([(f"{name:<{_VERB_COLUMN}}", verbs.summaries()[name]) for name in names])


def _verb(page: HelpFormatter, verb: Verb, all: bool) -> None:
    """Write the page of a verb: all, or the first options as far as they fit."""
    own, groups = _groups_of(verb.options)
    text = verb.page
    if all or len(verb.options) <= FEW:
        _about_verb(page, verb, text)
        if all:
            _grouped_options(page, verb.options)
        else:
            _options(page, "Options", verb.options)
        _examples(page, text.examples)
        return
    for count in range(len(own), -1, -1):
        trial = HelpFormatter(width=COLUMNS, max_width=COLUMNS)
        _some_of_verb(trial, verb, text, own, groups, count)
        if trial.getvalue().count("\n") <= LINES:
            break
        text = text.shortened
    _some_of_verb(page, verb, text, own, groups, count)


def _some_of_verb(
    page: HelpFormatter,
    verb: Verb,
    text: Page,
    own: Sequence[Option],
    groups: Mapping[str, Sequence[Option]],
    count: int,
) -> None:
    """Write the page with the first options in full; the others are counted."""
    _about_verb(page, verb, text)
    _options(page, "Options", own[:count])
    more = {OTHER: own[count:], **groups} if own[count:] else groups
    with page.section(f"More options (inspector {verb.name} --help-all)"):
        page.write_dl([(title, _named(options)) for title, options in more.items()])
    _examples(page, text.examples)


def _about_verb(page: HelpFormatter, verb: Verb, text: Page) -> None:
    page.write_usage(program(), verb.usage)
    _paragraph(page, f"{verbs.summaries()[verb.name]}.")
    _paragraph(page, text.about)
    if verb.target != "none":
        _paragraph(
            page,
            f"TARGET is a command, {verb.target_kinds}. Options go before a command. See `inspector help targets`.",
        )


def _topic(page: HelpFormatter, name: str) -> None:
    about, tables, notes = read_page(name)
    page.write(f"{name}: {TOPICS[name]}\n")
    _paragraph(page, about)
    for table in tables:
        with page.section(table.title):
            page.write_dl(table.rows, col_max=34)
    for note in notes:
        _paragraph(page, note)


def _list_topics(page: HelpFormatter) -> None:
    with page.section("Topics"):
        page.write_dl(list(TOPICS.items()))


def _groups_of(options: Iterable[Option]) -> tuple[list[Option], dict[str, list[Option]]]:
    """The options of the verb itself with --help, and those that many verbs share, by group."""
    own: list[Option] = []
    groups: dict[str, list[Option]] = {title: [] for title in shared.GROUPS}
    for option in options:
        title = next((title for title, members in shared.GROUPS.items() if option in members), "")
        (groups[title] if title else own).append(option)
    return own, {title: members for title, members in groups.items() if members}


def _grouped_options(page: HelpFormatter, options: Iterable[Option]) -> None:
    own, groups = _groups_of(options)
    _options(page, "Options", own)
    for title, members in groups.items():
        _options(page, f"{title} options", members)


def _named(options: Sequence[Option]) -> str:
    """The first options by name, and how many there are besides."""
    text = ""
    for n, option in enumerate(options):
        more = f"{text}, {option.flags[-1]}" if text else option.flags[-1]
        left = len(options) - n - 1
        if len(more) + (len(f" and {left} more") if left else 0) > MAX_SUMMARY:
            return f"{text} and {left + 1} more"
        text = more
    return text


def _paragraph(page: HelpFormatter, text: str) -> None:
    page.write_paragraph()
    with page.indentation():
        page.write_text(text)


def _options(page: HelpFormatter, title: str, options: Sequence[Option]) -> None:
    if not options:
        return
    with page.section(title):
        page.write_dl([(f"{', '.join(option.flags)} {option.metavar}".rstrip(), option.help) for option in options])


def _examples(page: HelpFormatter, examples: Sequence[str]) -> None:
    if examples:
        with page.section("Examples"):
            for example in examples:
                page.write("".join(f"{line}\n" for line in _broken(example, page.width)))


def _broken(example: str, width: int) -> list[str]:
    """The lines of a command, which can be copied: each but the last ends in a backslash."""
    if len(example) + 2 <= width:
        return [f"  {example}"]
    lines, line = [], " "
    for word in _WORDS.findall(example):
        if line.strip() and len(line) + len(word) + 3 > width:
            lines.append(f"{line} \\")
            line = " " * 5
        line += f" {word}"
    return [*lines, line]


HELP = Verb(
    "help",
    run,
    slots=(PositionalArgument("topic", shown="TOPIC|VERB", choices=(*TOPICS, *verbs.summaries()), optional=True),),
    target="none",
    prints=False,
)
