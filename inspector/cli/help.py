"""`--help`, made from the same tables as everything else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from click import HelpFormatter

from inspector.cli import verbs
from inspector.cli.options import JSON, QUIET, VERSION
from inspector.cli.output import Output
from inspector.cli.program import program, renamed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspector.cli.options import Option
    from inspector.cli.verb import Verb

WIDEST = 100

_ABOUT = "The terminal tool for Model Context Protocol servers: browse, call, answer, record, replay, export."
_TARGET = (
    "TARGET is a URL, @NAME from a config file, a recording, or a command. Options go before a command; everything "
    "after its first word, or after --, is the command's own."
)
_EXIT_CODES = (
    ("0", "done"),
    ("1", "the server answered with an error, or the tool failed"),
    ("2", "wrong usage, or a file that cannot be used"),
    ("3", "authorization is needed, or failed"),
    ("4", "no connection, or it broke or timed out"),
    ("5", "a comparison or check found differences"),
    ("130", "interrupted"),
)


def print_help(verb: Verb) -> None:
    """Print the help of a verb, or the whole program's where none was spoken."""
    out = Output()
    page = HelpFormatter(width=min(out.width or 80, WIDEST), max_width=WIDEST)
    if verb.name:
        _verb(page, verb)
    else:
        _program(page, verb)
    out.lines(renamed(page.getvalue()).rstrip("\n").split("\n"))


def _program(page: HelpFormatter, verb: Verb) -> None:
    page.write_usage(program(), "[OPTIONS] [TARGET]")
    page.write_usage(program(), "VERB [OPTIONS] [ARGUMENTS] [TARGET]", prefix="       ")
    _paragraph(page, _ABOUT)
    _paragraph(page, "Without a verb: the interface, on TARGET or on its start screen. " + _TARGET)
    with page.section("Verbs"):
        page.write_dl(list(verbs.SUMMARIES.items()))
    _options(page, "Options", (*verb.options[:-1], JSON, QUIET, *verb.options[-1:], VERSION))
    _examples(page, verb.examples)
    with page.section("Exit codes"):
        page.write_dl(_EXIT_CODES)
    _paragraph(page, "`inspector VERB --help` tells more about each verb.")


def _verb(page: HelpFormatter, verb: Verb) -> None:
    page.write_usage(program(), verb.usage)
    summary = verbs.SUMMARIES[verb.name]
    _paragraph(page, f"{summary[:1].upper()}{summary[1:]}.")
    if verb.about:
        _paragraph(page, verb.about)
    if verb.target != "none":
        _paragraph(page, _TARGET)
    _options(page, "Options", verb.options)
    _examples(page, verb.examples)


def _paragraph(page: HelpFormatter, text: str) -> None:
    page.write_paragraph()
    with page.indentation():
        page.write_text(text)


def _options(page: HelpFormatter, title: str, options: Sequence[Option]) -> None:
    with page.section(title):
        page.write_dl([(f"{', '.join(option.flags)} {option.metavar}".rstrip(), option.help) for option in options])


def _examples(page: HelpFormatter, examples: Sequence[str]) -> None:
    if examples:
        with page.section("Examples"):
            for example in examples:
                page.write(f"  {example}\n")
