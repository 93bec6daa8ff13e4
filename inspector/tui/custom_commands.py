"""The user's own commands on keys: programs that get a message, a result or the recording as a temporary file.

They come only from the user's settings file. They run without a shell, on a key or from the palette, never by
themselves. Servers and working directories cannot add one.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from textual.app import App, SuspendNotSupported

from inspector import command_words
from inspector.config import paths
from inspector.errors import ConfigError, UsageError
from inspector.system.terminal import key_pressed
from inspector.text import safe
from inspector.tui import feature_verbs
from inspector.tui.keymap import label, normal_key
from inspector.tui.verbs import CONTEXTS, VERBS

FILE = "{file}"
_SHOWN = 60
_PLACES: Mapping[str, frozenset[str]] = {
    "message": frozenset({"messages", "detail"}),
    "result": frozenset({"result"}),
    "recording": frozenset({"app"}),
}
"""The contexts in which a command of each place works."""
_INSIDE: Mapping[str, frozenset[str]] = {
    "message": frozenset({"app", "list", "messages", "detail", "text", "json"}),
    "result": frozenset({"app", "list", "result", "text", "json", "content", "table"}),
    "recording": frozenset(CONTEXTS)
    - {"start", "frame", "compose", "diff"}
    - {context.name for context in feature_verbs.contexts() if context.is_screen},
}
"""The contexts whose keys a command of each place hides."""


class CustomCommand(NamedTuple):
    """A command whose key and arguments are valid. `key` is Textual's name."""

    key: str
    where: str
    run: tuple[str, ...]
    title: str

    @property
    def description(self) -> str:
        """The sentence for help and the palette."""
        return f"Run {safe(' '.join(self.run), _SHOWN)} on the {self.where}."

    def arguments(self, file: Path) -> list[str]:
        """Return the program and its arguments; `{file}` stays within one argument."""
        return [word.replace(FILE, str(file)) for word in self.run]

    def works_in(self, contexts: Sequence[str]) -> bool:
        """Whether it works at a focus with these contexts."""
        return not _PLACES[self.where].isdisjoint(contexts)

    def meets(self, other: CustomCommand) -> bool:
        """Whether one of the two hides the other's key somewhere; a message and a result never do."""
        one, two = self.where, other.where
        return not (_PLACES[one].isdisjoint(_INSIDE[two]) and _PLACES[two].isdisjoint(_INSIDE[one]))


class CustomCommands:
    """The commands of the settings. `problems` are the ConfigErrors of wrong ones and of keys with another action.

    A command with a conflict is reported, but the user's key is used. A wrong command has no key.
    """

    def __init__(self, entries: Sequence[Mapping[str, str]], keys: Callable[[str], list[str]]) -> None:
        """`keys` returns the keys of a verb."""
        self.commands: list[CustomCommand] = []
        self.problems: list[ConfigError] = []
        for entry in entries:
            command = self._read(entry)
            if command is not None:
                self._report_conflict(command, keys)
                self.commands.append(command)

    def at(self, key: str, contexts: Sequence[str]) -> CustomCommand | None:
        """Return the command of a key at a focus with these contexts."""
        return next((one for one in self.here(contexts) if one.key == key), None)

    def here(self, contexts: Sequence[str]) -> list[CustomCommand]:
        """Return the commands that work at a focus with these contexts, the special ones first."""
        commands = [one for one in self.commands if one.works_in(contexts)]
        return sorted(commands, key=lambda one: one.where == "recording")

    def _read(self, entry: Mapping[str, str]) -> CustomCommand | None:
        key, run = normal_key(entry["key"].strip()), entry["run"]
        try:
            words = tuple(command_words.split(run))
        except ValueError:
            words = ()
        if key is None:
            problem = f"Unknown key `{safe(entry['key'], _SHOWN)}` of the command `{safe(run, _SHOWN)}`"
            self.problems.append(ConfigError(problem, hint="Write a key like ctrl+y, f7 or J."))
        elif not words:
            problem = f"The command `{safe(run, _SHOWN)}` of {label(key)} cannot be parsed"
            self.problems.append(ConfigError(problem, hint="Write a program and its arguments; close every quote."))
        else:
            return CustomCommand(key, entry["where"], words, safe(entry["title"] or words[0], _SHOWN))
        return None

    def _report_conflict(self, command: CustomCommand, keys: Callable[[str], list[str]]) -> None:
        hidden = [verb.id for verb in VERBS if verb.context in _INSIDE[command.where] and command.key in keys(verb.id)]
        hidden += [f"the command {one.title}" for one in self.commands if one.key == command.key and one.meets(command)]
        if hidden:
            more = f" (and {len(hidden) - 1} more)" if len(hidden) > 1 else ""
            problem = (
                f"The settings give {label(command.key)} to the command {command.title}, but {hidden[0]} uses it too"
            )
            self.problems.append(ConfigError(problem + more, hint="Choose a free key for the command."))


async def run_command(app: App[object], command: CustomCommand, name: str, write: Callable[[Path], object]) -> None:
    """Run a command with the whole terminal, then wait for a key. `write` fills the file `name` in a thread.

    The file has the mode 0600, in a folder of its own, and is removed afterwards. Raises `UsageError` if the program
    cannot be started.
    """
    with paths.private_temporary(name) as file:
        await asyncio.to_thread(write, file)
        await asyncio.to_thread(file.chmod, 0o600)
        await _lend(app, command.arguments(file))


async def _lend(app: App[object], arguments: list[str]) -> None:
    problem: OSError | None = None
    try:
        # An exception inside would not give the terminal back.
        with app.batch_update(), app.suspend(), _interrupts_only_the_program():
            try:
                process = await asyncio.create_subprocess_exec(*arguments)
                status = await process.wait()
                print(f"\n{safe(arguments[0], _SHOWN)} ended with exit code {status}. Press a key.", flush=True)
                await wait_for_key()
            except OSError as error:
                problem = error
    except SuspendNotSupported as error:
        raise UsageError("This terminal cannot run another program") from error
    if problem is not None:
        raise UsageError(
            f"The program {safe(arguments[0], _SHOWN)} cannot be started: {problem.strerror}",
            hint="Correct the setting commands.",
        ) from problem


@contextmanager
def _interrupts_only_the_program() -> Iterator[None]:
    # A handler, not SIG_IGN, which the program would inherit.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


async def wait_for_key() -> None:
    """Wait for a key of the terminal, without an echo. Returns at once where standard input is not a terminal."""
    try:
        descriptor = sys.__stdin__.fileno() if sys.__stdin__ is not None else -1
    except (OSError, ValueError):
        return
    await key_pressed(descriptor)
