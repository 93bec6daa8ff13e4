"""`inspector completion`: scripts and formats of click, with our own candidates."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem, ShellComplete, get_completion_class, split_arg_string

from inspector.cli import verbs
from inspector.cli.manual import read_page
from inspector.cli.output import Output
from inspector.cli.parser import CommandLineParser
from inspector.cli.program_name import COMPLETES, program
from inspector.cli.verb import PositionalArgument, Verb
from inspector.errors import InspectorError, UsageError

if TYPE_CHECKING:
    from inspector.cli.options import Option
    from inspector.cli.verb import Invocation

_PLAIN_NAME = re.compile(r"@[\w.:/+-]+")
"""Names that need no quoting in a shell. A config file of a directory is untrusted: other names are not offered."""
_RECORDING_NAME = re.compile(r"[\w.+-]+\.mcp\.jsonl")
_MAX_NAMES = 200


def run(invocation: Invocation) -> int:
    """Print the script of a shell."""
    invocation.output.line(script(invocation.arguments["shell"]))
    return 0


def script(shell: str) -> str:
    """The completion script of a shell, which calls us for candidates; raises `UsageError`."""
    return _shell(shell).source().rstrip("\n")


def answer(instruction: str) -> int:
    """Run an instruction of the script, such as `bash_complete`; returns the exit code."""
    shell, _, action = instruction.partition("_")
    try:
        text = script(shell) if action == "source" else _shell(shell).complete()
    except (KeyError, ValueError):
        raise UsageError(f"{COMPLETES} is for completion scripts.", hint="Unset it.") from None
    Output().line(text)
    return 0


def candidates(words: list[str], incomplete: str) -> list[CompletionItem[str]]:
    """Complete `incomplete`, the word after `words`."""
    scanner = CommandLineParser()
    try:
        for word in words:
            scanner.feed(word)
        return _next(scanner, incomplete)
    except InspectorError:
        return []


def _next(scanner: CommandLineParser, incomplete: str) -> list[CompletionItem[str]]:
    if scanner.in_command:
        return _files(incomplete)
    if scanner.waiting is not None:
        return _values(scanner.waiting, incomplete)
    if incomplete.startswith("-"):
        return _options(scanner.options, incomplete)
    if scanner.verb is None:
        spoken = [
            CompletionItem(name, help=text) for name, text in verbs.summaries().items() if name.startswith(incomplete)
        ]
        return spoken + _targets(scanner, incomplete)
    slot = scanner.slot
    if slot is not None and slot.kind == "one":
        if slot.choices:
            return [CompletionItem(choice) for choice in slot.choices if choice.startswith(incomplete)]
        kept = _recordings(incomplete) if slot.completes == "recording" else []
        return [*kept, *(_files(incomplete) if slot.completes else [])]
    if scanner.verb.target == "none" or scanner.target_words:
        return []
    return _targets(scanner, incomplete)


def _options(options: Iterable[Option], incomplete: str) -> list[CompletionItem[str]]:
    flag, equals, value = incomplete.partition("=")
    if equals:
        option = next((option for option in options if flag in option.flags and option.metavar), None)
        items = [] if option is None else _values(option, value)
        return [CompletionItem(f"{flag}={item.value}", help=item.help) for item in items if item.type == "plain"]
    return [
        CompletionItem(option.flags[-1], help=option.help)
        for option in options
        if option.flags[-1].startswith(incomplete)
    ]


def _values(option: Option, incomplete: str) -> list[CompletionItem[str]]:
    if option.completes == "host":
        given, comma, begun = incomplete.rpartition(",")
        (hosts,) = read_page("hosts").tables
        named = [(name, label) for name, label in hosts.rows if name.startswith(begun)]
        return [CompletionItem(f"{given}{comma}{name}", help=label) for name, label in named]
    if option.completes == "config-host":
        from inspector.config.host_files import table

        return [CompletionItem(host.id, help=host.name) for host in table.hosts() if host.id.startswith(incomplete)]
    if option.completes:
        return [CompletionItem(incomplete, type=option.completes)]
    return [CompletionItem(choice) for choice in option.choices if choice.startswith(incomplete)]


def _targets(scanner: CommandLineParser, incomplete: str) -> list[CompletionItem[str]]:
    """Names of configured servers, else files: recordings and programs."""
    if incomplete and not incomplete.startswith("@"):
        return _files(incomplete)
    from inspector.config.servers import find_servers

    listed = find_servers(config=scanner.values.get("config"))
    named = [
        CompletionItem(entry.reference, help=_one_line(entry.source_label))
        for entry in listed.entries
        if entry.reference.startswith(incomplete) and _PLAIN_NAME.fullmatch(entry.reference)
    ]
    return named[:_MAX_NAMES]


def _recordings(incomplete: str) -> list[CompletionItem[str]]:
    """The names of kept recordings, newest first."""
    from inspector.config.paths import recordings_path

    try:
        names = os.listdir(recordings_path())
    except OSError:
        return []
    matching = [name for name in names if name.startswith(incomplete) and _RECORDING_NAME.fullmatch(name)]
    return [CompletionItem(name) for name in sorted(matching, reverse=True)[:_MAX_NAMES]]


def _files(incomplete: str) -> list[CompletionItem[str]]:
    return [CompletionItem(incomplete, type="file")]


def _one_line(text: str) -> str:
    from inspector.text import safe

    return safe(text, 60)


def _shell(name: str) -> ShellComplete:
    base = get_completion_class(name)
    if base is None or name not in ("bash", "zsh", "fish"):
        raise UsageError(f"“{name[:40]}” is not a shell with completion.", hint="Use bash, zsh or fish.")
    make = type("Completer", (_Bash if name == "bash" else _Ours, base), {})
    completer: ShellComplete = make(click.Command(program()), {}, program(), COMPLETES)
    return completer


class _Ours(ShellComplete):
    """click's completion of one shell, with our candidates."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[str]]:
        return candidates(args, incomplete)


class _Bash(_Ours):
    """Bash splits words at `@`, `=` and `:`.

    This joins them again, and completes the part that bash replaces: the text after the last `=` or `:`, or from the
    last `@`.
    """

    def get_completion_args(self) -> tuple[list[str], str]:
        at = int(os.environ["COMP_CWORD"])
        words = split_arg_string(os.environ["COMP_WORDS"])[1 : at + 1]
        if len(words) < at:
            words.append("")
        whole = join_words(words)
        return whole[:-1], whole[-1] if whole else ""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[str]]:
        cut = max(incomplete.rfind("=") + 1, incomplete.rfind(":") + 1, incomplete.rfind("@"), 0)
        # click's script drops earlier items when it reads `file`, so files come first: bash then offers them only if
        # nothing else matches.
        items = sorted(super().get_completions(args, incomplete), key=lambda item: item.type == "plain")
        for item in items:
            item.value = item.value[cut:]
        return items


def join_words(words: list[str]) -> list[str]:
    """The words as they were typed, from the parts that bash made of them."""
    joined: list[str] = []
    glue = False
    for word in words:
        breaks = bool(word) and not word.strip("=:")
        if joined and (glue or breaks):
            joined[-1] += word
        else:
            joined.append(word)
        glue = breaks or word == "@"
    return joined


COMPLETION = Verb(
    "completion",
    run,
    slots=(PositionalArgument("shell", choices=("bash", "zsh", "fish")),),
    target="none",
    prints=False,
)
