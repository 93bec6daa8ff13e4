"""Parses a command line word by word: verb, options, arguments, target.

Options are ours until the target starts. A URL, `@NAME` or `*.jsonl` is a complete target, and options may follow it.
Any other first word of a target starts a command, and every word after it belongs to that command, as does every word
after `--`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum, auto
from typing import Any

from inspector.cli import verbs
from inspector.cli.options import CONNECT, HELP, HELP_ALL, JSON, QUIET, VERSION, WATCH, YES, Option
from inspector.cli.verb import HELP_NAMES, Invocation, PositionalArgument, Verb, load
from inspector.errors import UsageError
from inspector.lazy_pattern import lazy_pattern

_BEFORE_THE_VERB = (*CONNECT, WATCH, YES, JSON, QUIET, HELP, HELP_ALL, VERSION)
_NEGATIVE_NUMBER = lazy_pattern(r"-[\d.]")
_PLAIN = lazy_pattern(r"[A-Za-z][\w-]*")
_WHOLE_TARGET = lazy_pattern(r"@|https?://", re.IGNORECASE)


class _Rest(Enum):
    """The meaning of the words that follow, whatever they look like."""

    ANY = auto()
    """Verb, options, arguments and target."""
    WORDS = auto()
    """Arguments only: `--` came, and the verb takes no target."""
    PROGRAM = auto()
    """Arguments of the program that the target's first word names."""
    COMMAND = auto()
    """The target, a command: it comes after `--`."""
    SLOT = auto()
    """A command after `--` that fills a slot of the verb."""


class CommandLineParser:
    """An incremental parser: `feed` takes one word, `finish` returns the invocation. Both raise `UsageError`.

    Between two words the attributes tell what may come next; completion reads them.
    """

    def __init__(self) -> None:
        self.verb: Verb | None = None
        self.values: dict[str, Any] = {}
        self.filled: dict[str, list[str]] = {}
        self.typed: list[tuple[Option | PositionalArgument, str]] = []
        """The options and arguments in order, each with its word; an option's word is its value."""
        self.flags: dict[str, str] = {}
        """The flag with which each option was given, by the name of the option."""
        self.target_words: list[str] = []
        self._slot_words: list[str] = []
        self._rest = _Rest.ANY
        self._latest: Option | None = None
        """The option of the latest word, if a value of it must or may come next."""

    @property
    def options(self) -> tuple[Option, ...]:
        """The options that may come next: none after a command has started."""
        return self._own_options if self._rest is _Rest.ANY else ()

    @property
    def _own_options(self) -> tuple[Option, ...]:
        return self.verb.options if self.verb is not None else _BEFORE_THE_VERB

    @property
    def waiting(self) -> Option | None:
        """The option whose value must come next."""
        return self._latest if self._latest is not None and self._latest.fits is None else None

    @property
    def slot(self) -> PositionalArgument | None:
        """The next slot to fill, or the one that takes more words."""
        if self.verb is None or self.target_words or self._rest is _Rest.COMMAND:
            return None
        slots = [slot for slot in self.verb.slots if not slot.after]
        return next((slot for slot in slots if slot.takes_many or slot.name not in self.filled), None)

    @property
    def in_command(self) -> bool:
        """Whether the next word belongs to the server's command."""
        return self._rest in (_Rest.PROGRAM, _Rest.COMMAND, _Rest.SLOT)

    def feed(self, word: str) -> None:
        """Parse the next word."""
        option, self._latest = self._latest, None
        if option is not None and option.fits is None:
            self._take_value(option, word)
        elif option is not None and option.fits is not None and option.fits(word):
            self.values[option.name] = option.value(word)
            self.typed[-1] = (option, word)
        elif self._rest is _Rest.SLOT:
            self._slot_words.append(word)
        elif self.in_command:
            self.target_words.append(word)
        elif word == "--" and self._rest is _Rest.ANY:
            self._dashes()
        elif self._rest is _Rest.ANY and word.startswith("-") and len(word) > 1 and not _NEGATIVE_NUMBER.match(word):
            self._take_option(word)
        elif self.verb is None and verbs.is_verb(word):
            self._speak(word)
        else:
            self._take_word(self._spoken_or_open(), word)

    def _spoken_or_open(self) -> Verb:
        """Return the verb; without one on the command line it is `open`, which has no name."""
        return self.verb or self._speak("open")

    def _speak(self, name: str) -> Verb:
        self.verb = load(name)
        for given in self.values:
            if given not in {option.name for option in self.verb.options} and given != "version":
                raise self._not_for_this_verb(f"--{given}")
        return self.verb

    def _dashes(self) -> None:
        verb, slot = self._spoken_or_open(), self.slot
        if slot is not None and slot.takes_command:
            self._rest = _Rest.SLOT
        elif verb.target == "none":
            self._rest = _Rest.WORDS
        elif self.target_words:
            raise UsageError(
                f"-- starts a command, but {self.target_words[0][:80]} is already the target.", hint="Give one target."
            )
        else:
            self._rest = _Rest.COMMAND

    def _take_option(self, word: str) -> None:
        flag, equals, value = word.partition("=")
        option = next((option for option in self._own_options if flag in option.accepted), None)
        if option is None:
            raise self._unknown(flag)
        self.flags[option.name] = flag
        if not option.metavar:
            if equals:
                raise UsageError(f"{flag} takes no value.", hint=f"Write {flag} alone.")
            self.values[option.name] = True
            self.typed.append((option, ""))
            return
        if option.fits is not None and not equals:
            self.values[option.name] = option.otherwise
            self.typed.append((option, ""))
            self._latest = option
        elif equals:
            self._take_value(option, value)
        else:
            self._latest = option

    def _take_value(self, option: Option, word: str) -> None:
        if word == "--":
            raise self._no_value(option)
        value = option.value(word)
        self.typed.append((option, word))
        if option.many:
            self.values.setdefault(option.name, []).append(value)
        else:
            self.values[option.name] = value

    def _take_word(self, verb: Verb, word: str) -> None:
        for slot in verb.slots:
            if slot.after and not self.target_words:
                continue
            if (slot.takes_many or slot.name not in self.filled) and slot.takes(word):
                self._fill(slot, word)
                return
        if verb.target == "none":
            raise UsageError(f"Unexpected argument “{word[:80]}”.", hint=f"Usage: inspector {verb.usage}")
        if self.target_words and verb.several and word.startswith("@") and self.target_words[0].startswith("@"):
            self.target_words.append(word)
            return
        if self.target_words:
            raise UsageError(
                f"Unexpected argument “{word[:80]}” after the target {self.target_words[0][:200]}.",
                hint=f"Usage: inspector {verb.usage}",
            )
        self.target_words.append(word)
        if not is_whole_target(word):
            self._rest = _Rest.PROGRAM

    def _fill(self, slot: PositionalArgument, word: str) -> None:
        if slot.choices and word not in slot.choices:
            from inspector.config.foreign_files import nearest

            near = nearest(word, list(slot.choices))
            raise UsageError(
                f"Unknown {slot.name} “{word[:80]}”.",
                hint=f"Did you mean “{near}”?" if near else f"Use one of: {', '.join(slot.choices)}.",
            )
        self.filled.setdefault(slot.name, []).append(word)
        self.typed.append((slot, word))

    def finish(self) -> Invocation:
        """Return the invocation; raise `UsageError` if something is missing."""
        if self.waiting is not None:
            raise self._no_value(self.waiting)
        verb = self._spoken_or_open()
        self._fill_slot()
        asks_for_help = not self.values.keys().isdisjoint(HELP_NAMES)
        arguments: dict[str, Any] = {}
        for slot in verb.slots:
            words = self.filled.get(slot.name, [])
            if slot.kind == "one" and not (words or slot.optional or asks_for_help):
                named = f"one of {', '.join(slot.choices)}" if slot.choices else f"the argument {slot.metavar}"
                raise UsageError(f"`inspector {verb.name}` needs {named}.", hint=f"Usage: inspector {verb.usage}")
            arguments[slot.name] = words if slot.takes_many else words[0] if words else None
        if verb.target == "required" and not (self.target_words or asks_for_help):
            raise verb.needs_target
        where = [name for name in ("record", "keep", "no-record") if name in self.values]
        if len(where) > 1:
            raise UsageError(f"--{where[0]} cannot be used with --{where[1]}.", hint="Remove one of them.")
        return Invocation(
            verb, self.values, arguments, self.target_words, self._rest is _Rest.COMMAND, self.typed, self.flags
        )

    def _fill_slot(self) -> None:
        """Fill a slot with the command after `--`, as one word."""
        if self._slot_words:
            from inspector import command_words

            slot = self.slot
            assert slot is not None
            self._fill(slot, command_words.join(self._slot_words))

    def _no_value(self, option: Option) -> UsageError:
        flag = self.flags[option.name]
        return UsageError(f"{flag} needs a value.", hint=f"Write {flag} {option.metavar}.")

    def _not_for_this_verb(self, flag: str) -> UsageError:
        if self.verb is None or not self.verb.name:
            return UsageError(f"{flag} works only with a verb.", hint=f"For example: inspector tools {flag} …")
        return UsageError(f"`inspector {self.verb.name}` does not take {flag}.", hint=f"Remove {flag}.")

    def _unknown(self, flag: str) -> UsageError:
        if self.verb is not None and any(flag in option.accepted for option in _BEFORE_THE_VERB):
            return self._not_for_this_verb(flag)
        from inspector.config.foreign_files import nearest

        near = nearest(flag, [known for option in self._own_options for known in option.flags])
        slot = self.slot
        hint = (
            f"Did you mean {near}?"
            if near
            else f"Write an argument as {flag.lstrip('-')[:80]}=VALUE."
            if slot is not None and slot.kind == "pairs"
            else f"`inspector {self.verb.name if self.verb else ''}".rstrip() + " --help` lists them."
        )
        return UsageError(
            f"Unknown option {flag[:80]}.",
            hint=f"{hint} Options of a server's command go after the command, or after --.",
        )


def scan(words: Sequence[str]) -> Invocation:
    """Parse a command line; raise `UsageError` if it is wrong."""
    scanner = CommandLineParser()
    for word in words:
        scanner.feed(word)
    return scanner.finish()


def check_command(invocation: Invocation) -> None:
    """Reject a misspelled verb, and an argument where a command should start; raises `UsageError`.

    A word that names a program is never rejected.
    """
    words = invocation.target_words
    if (
        invocation.command
        or not words
        or invocation.asks_for_help
        or invocation.values.keys() & {"cwd", "env", "env-file"}
        or is_whole_target(words[0])
    ):
        return
    from os import environ
    from os.path import exists

    from inspector import command_words

    word, verb = words[0], invocation.verb
    if exists(word) or command_words.find_program(word, environ) is not None:
        return
    if verb.takes_pairs:
        if word.startswith(("{", "[")):
            raise UsageError(
                f"Unexpected argument “{word[:80]}”. Arguments as JSON need --args.",
                hint=f"Write --args {command_words.quote(word[:200])}",
            )
        before = [invocation.arguments[slot.name] or slot.metavar for slot in verb.slots if slot.kind == "one"]
        raise UsageError(
            f"Unexpected argument “{word[:80]}”. It is neither KEY=VALUE nor a program on PATH.",
            hint=" ".join(["Usage: inspector", verb.name, *(value[:80] for value in before), "KEY=VALUE -- COMMAND"]),
        )
    if not verb.name:
        from inspector.config.foreign_files import nearest
        from inspector.config.target_arguments import is_recording, recording_path

        if is_recording(recording_path(word)):
            return
        near = nearest(word, list(verbs.summaries()))
        if near or _PLAIN.fullmatch(word):
            meant = f"Did you mean “inspector {near}”?" if near else "`inspector --help` lists the verbs."
            raise UsageError(
                f"“{word[:80]}” is neither a verb of inspector nor a program on PATH.",
                hint=f"{meant} To start a program with this name: inspector -- {word[:80]}",
            )


def notes_on(invocation: Invocation) -> list[str]:
    """Return what the user should know about the command line.

    Old names, a revision that may be misspelt, and options that the server gets.
    """
    notes = [
        f"note: {option.old} is now {option.flags[-1]}. A later version does not take {option.old}."
        for option in invocation.verb.options
        if option.old and invocation.flags.get(option.name) == option.old
    ]
    revision = invocation.option("revision")
    if isinstance(revision, str):
        from inspector.protocol.revisions import REVISIONS

        if revision not in REVISIONS:
            notes.append(
                f"note: {revision[:40]} is not a known revision, and is offered as it is. "
                f"Known are {', '.join(REVISIONS)}."
            )
    option = swallowed_option(invocation)
    if option:
        notes.append(
            f"note: {option[:80]} comes after the command, so the server gets it. Options of inspector go before the "
            "command. To give it to the server without this note, write -- before the command."
        )
    return notes


def swallowed_option(invocation: Invocation) -> str:
    """Return an option of ours that the command on the line got instead; empty without one, or after `--`."""
    words = invocation.target_words
    if invocation.command or len(words) < 2 or is_whole_target(words[0]):
        return ""
    from inspector.config.command_labels import own_arguments

    flags = {flag for option in invocation.verb.options for flag in option.accepted if flag.startswith("--")}
    own = own_arguments(words)
    own = own[: own.index("--")] if "--" in own else own
    return next((word for word in own if word.partition("=")[0] in flags), "")


def is_whole_target(word: str) -> bool:
    """Whether a word is a complete target: a URL, `@NAME` or a recording."""
    return bool(_WHOLE_TARGET.match(word)) or word.endswith(".jsonl")


def asks_for_json(words: Sequence[str]) -> bool:
    """Whether `--json` is among our options, even if the rest cannot be parsed."""
    ours = words[: words.index("--")] if "--" in words else words
    return "--json" in ours
