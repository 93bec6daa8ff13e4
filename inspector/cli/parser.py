"""The words of a command line, read one by one: verb, options, arguments, target.

Options are ours until the target begins. A URL, `@NAME` or `*.jsonl` is a target by itself, and options may follow it.
Any other first word of a target begins a command, and everything after it belongs to that command, as does everything
after `--`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from inspector.cli import verbs
from inspector.cli.options import CONNECT, HELP, JSON, QUIET, VERSION, WATCH, Option
from inspector.cli.verb import Invocation, Slot, Verb, load
from inspector.errors import UsageError

_BEFORE_THE_VERB = (*CONNECT, WATCH, JSON, QUIET, HELP, VERSION)
_NEGATIVE_NUMBER = re.compile(r"-[\d.]")
_WHOLE_TARGET = re.compile(r"@|https?://", re.IGNORECASE)


class Scanner:
    """Takes the words one by one with `feed`, then says with `finish` what they mean. Both raise `UsageError`.

    Between two words its attributes tell what may come next, which is what completion asks.
    """

    def __init__(self) -> None:
        self.verb: Verb | None = None
        self.spoken = False
        """The verb was given, not assumed."""
        self.values: dict[str, Any] = {}
        self.filled: dict[str, list[str]] = {}
        self.target_words: list[str] = []
        self.command = False
        self.waiting: Option | None = None
        """The option whose value comes next."""
        self._may_follow: Option | None = None
        """The option whose value may come next, or something else."""
        self._flag = ""
        self._swallows = False
        self._only_words = False
        self._side: list[str] | None = None
        """The words after `--` where a slot takes a whole command."""
        self._known: dict[str, Option] = {flag: option for option in _BEFORE_THE_VERB for flag in option.flags}

    @property
    def options(self) -> tuple[Option, ...]:
        """The options that may come next: none once a command has begun."""
        if self._swallows or self._only_words:
            return ()
        return self.verb.options if self.verb is not None else _BEFORE_THE_VERB

    @property
    def slot(self) -> Slot | None:
        """The next slot that must be filled, or the one that may take more."""
        if self.verb is None or self.target_words or self.command:
            return None
        return next((slot for slot in self.verb.slots if slot.takes_many or slot.name not in self.filled), None)

    @property
    def in_command(self) -> bool:
        """Whether the next word belongs to the server's command."""
        return self._swallows or self._side is not None

    def feed(self, word: str) -> None:
        """Take the next word."""
        option, self._may_follow = self._may_follow, None
        if option is not None and option.fits is not None and option.fits(word):
            self.values[option.name] = option.value(word)
        elif self._side is not None:
            self._side.append(word)
        elif self._swallows:
            self.target_words.append(word)
        elif self.waiting is not None:
            self._take_value(word)
        elif word == "--" and not self._only_words:
            self._dashes()
        elif word.startswith("-") and len(word) > 1 and not self._only_words and not _NEGATIVE_NUMBER.match(word):
            self._take_option(word)
        elif self.verb is None and word in verbs.SUMMARIES:
            self._speak(word, spoken=True)
        else:
            if self.verb is None:
                self._speak("open", spoken=False)
            self._take_word(word)

    def _speak(self, name: str, *, spoken: bool) -> None:
        self.verb = load(name)
        self.spoken = spoken
        self._known = {flag: option for option in self.verb.options for flag in option.flags}
        for given in self.values:
            if given not in {option.name for option in self.verb.options} and given != "version":
                raise self._not_for_this_verb(f"--{given}")

    def _dashes(self) -> None:
        if self.verb is None:
            self._speak("open", spoken=False)
        assert self.verb is not None
        slot = self.slot
        if slot is not None and slot.takes_command:
            self._side = []
        elif self.verb.target == "none":
            self._only_words = True
        elif self.target_words:
            raise UsageError(
                f"-- begins a command, but {self.target_words[0][:80]} is the target already.", hint="Name one of them."
            )
        else:
            self.command = self._swallows = True

    def _take_option(self, word: str) -> None:
        flag, equals, value = word.partition("=")
        option = self._known.get(flag)
        if option is None:
            raise self._unknown(flag)
        if not option.metavar:
            if equals:
                raise UsageError(f"{flag} takes no value.", hint=f"Write {flag} alone.")
            self.values[option.name] = True
            return
        if option.fits is not None and not equals:
            self.values[option.name] = option.otherwise
            self._may_follow = option
            return
        self.waiting, self._flag = option, flag
        if equals:
            self._take_value(value)

    def _take_value(self, word: str) -> None:
        option = self.waiting
        assert option is not None
        if word == "--":
            raise self._no_value()
        self.waiting = None
        value = option.value(word)
        if option.many:
            self.values.setdefault(option.name, []).append(value)
        else:
            self.values[option.name] = value

    def _take_word(self, word: str) -> None:
        verb = self.verb
        assert verb is not None
        for slot in verb.slots:
            if (slot.takes_many or slot.name not in self.filled) and slot.takes(word):
                self._fill(slot, word)
                return
        if verb.target == "none":
            raise UsageError(f"Unexpected argument “{word[:80]}”.", hint=f"Usage: inspector {verb.usage}")
        if self.target_words:
            raise UsageError(
                f"“{word[:80]}” stands after {self.target_words[0][:200]}, which is a target by itself.",
                hint=f"Usage: inspector {self._usage()}",
            )
        self.target_words.append(word)
        self._swallows = not is_whole_target(word)

    def _fill(self, slot: Slot, word: str) -> None:
        if slot.choices and word not in slot.choices:
            raise UsageError(
                f"“{word[:80]}” is none of {', '.join(slot.choices)}.", hint=f"Usage: inspector {self._usage()}"
            )
        self.filled.setdefault(slot.name, []).append(word)

    def finish(self) -> Invocation:
        """What all the words together mean."""
        if self.waiting is not None:
            raise self._no_value()
        if self.verb is None:
            self._speak("open", spoken=False)
        verb = self.verb
        assert verb is not None
        self._take_side()
        arguments: dict[str, Any] = {}
        for slot in verb.slots:
            words = self.filled.get(slot.name, [])
            if slot.kind == "one" and not words and "help" not in self.values:
                raise UsageError(
                    f"`inspector {verb.name}` needs a {slot.metavar}.", hint=f"Usage: inspector {verb.usage}"
                )
            arguments[slot.name] = words if slot.takes_many else words[0] if words else None
        if verb.target == "required" and not self.target_words and "help" not in self.values:
            raise UsageError(
                f"`inspector {verb.name}` needs a target.",
                hint="Give a URL, @NAME from a config file, a recording, or a command after --.",
            )
        if "record" in self.values and "no-record" in self.values:
            raise UsageError("--record and --no-record exclude each other.", hint="Leave one of them out.")
        return Invocation(verb, self.values, arguments, self.target_words, self.command)

    def _take_side(self) -> None:
        """Fill a slot with the command after `--`, as one word."""
        if self._side:
            import shlex

            slot = self.slot
            assert slot is not None
            self._fill(slot, shlex.join(self._side))

    def _usage(self) -> str:
        return self.verb.usage if self.verb is not None else "[OPTIONS] [TARGET]"

    def _no_value(self) -> UsageError:
        assert self.waiting is not None
        return UsageError(f"{self._flag} needs a value.", hint=f"Write {self._flag} {self.waiting.metavar}.")

    def _not_for_this_verb(self, flag: str) -> UsageError:
        if not self.spoken:
            return UsageError(
                f"{flag} means nothing to the interface.", hint=f"Use it with a verb: inspector tools {flag} TARGET"
            )
        assert self.verb is not None
        return UsageError(f"{flag} means nothing to `inspector {self.verb.name}`.", hint="Leave it out.")

    def _unknown(self, flag: str) -> UsageError:
        if self.verb is not None and any(flag in option.flags for option in _BEFORE_THE_VERB):
            return self._not_for_this_verb(flag)
        from inspector.config.files import nearest

        near = nearest(flag, list(self._known))
        hint = (
            f"Did you mean {near}?"
            if near
            else f"`inspector {self.verb.name if self.spoken and self.verb else ''}".rstrip() + " --help` lists them."
        )
        return UsageError(
            f"There is no option {flag[:80]}.",
            hint=f"{hint} Options of a server's command go after the command, or after --.",
        )


def scan(words: Sequence[str]) -> Invocation:
    """What the words of a command line mean; raises `UsageError`."""
    scanner = Scanner()
    for word in words:
        scanner.feed(word)
    return scanner.finish()


def check_command(said: Invocation) -> None:
    """Refuse a mistyped verb, and an argument that stands where a command begins; raises `UsageError`.

    Only a word that is not a program: what can be started is started.
    """
    words = said.target_words
    if said.command or not words or said.values.keys() & {"help", "cwd", "env"} or is_whole_target(words[0]):
        return
    from os.path import exists
    from shutil import which

    word, verb = words[0], said.verb
    if exists(word) or which(word) is not None:
        return
    if verb.takes_pairs:
        raise UsageError(
            f"Unexpected argument “{word[:80]}”: it is not KEY=VALUE, and not a program on PATH.",
            hint=f"Usage: inspector {verb.name} {said.arguments[verb.slots[0].name][:80]} KEY=VALUE -- COMMAND",
        )
    if not verb.name:
        from inspector.config.files import nearest

        near = nearest(word, list(verbs.SUMMARIES))
        if near:
            raise UsageError(
                f"“{word[:80]}” is not a command of inspector, and not a program on PATH.",
                hint=f"Did you mean “inspector {near}”? To start a program with this name: inspector -- {word[:80]}",
            )


def is_whole_target(word: str) -> bool:
    """Whether a word is a target by itself: a URL, `@NAME` or a recording."""
    return bool(_WHOLE_TARGET.match(word)) or word.endswith(".jsonl")


def asks_for_json(words: Sequence[str]) -> bool:
    """Whether `--json` was said to us, also where the rest cannot be understood."""
    ours = words[: words.index("--")] if "--" in words else words
    return "--json" in ours
