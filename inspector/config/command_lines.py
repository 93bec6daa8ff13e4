"""Command lines of inspector in hints: they open the same target, can be pasted, and have no secrets."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from inspector import command_words
from inspector.config import secret_values
from inspector.config.targets import HttpTarget, RecordingTarget, StdioTarget, Target


class CommandLine(NamedTuple):
    """Program, verb, options, arguments and target. All parts except the verb are quoted for a shell."""

    verb: str = ""
    """Empty: the interface."""
    options: tuple[tuple[str, str], ...] = ()
    """The name of each option, and the option as it is typed, with its value."""
    arguments: str = ""
    """Before the target."""
    target: str = ""
    after: str = ""
    """Arguments after the target."""
    program: str = "inspector"
    shared: frozenset[str] = frozenset(("env", "env-file", "inherit-env", "cwd", "header", "transport", "no-verify"))
    """The names of the options that another verb on the same target takes, too."""
    secrets: tuple[str, ...] = ()
    """Values that no part may contain."""

    def __str__(self) -> str:
        options = [typed for _, typed in self.options]
        return " ".join(filter(None, (self.program, self.verb, *options, self.arguments, self.target, self.after)))

    @property
    def opened(self) -> str:
        """The options and the target, without program and verb."""
        return str(self._replace(program="", verb="", arguments="", after=""))

    def with_verb(self, verb: str, refused: Collection[str] = ()) -> CommandLine:
        """Return another verb on the same target, without the options that it does not share or refuses."""
        if verb == self.verb:
            return self
        options = tuple(option for option in self.options if option[0] in self.shared and option[0] not in refused)
        return self._replace(verb=verb, options=options, arguments="", after="")

    def adding(self, name: str, typed: str) -> CommandLine:
        """Return the line with one more option, before the others."""
        return self._replace(options=((name, typed), *self.options))

    def passing(self, variable: str) -> CommandLine:
        """Return the line that also passes a variable of this shell to the server."""
        return self.adding("env", pass_variable(variable))

    def setting(self, variable: str, value: str) -> CommandLine:
        """Return the line that also sets a variable of the server."""
        return self.adding("env", f"--env {command_words.quote(f'{variable}={value}')}")

    def on_command(self, words: Sequence[str]) -> CommandLine:
        """Return the line with another command as its target."""
        return self._replace(target=_command(words, self.secrets))

    def on_url(self, url: str, transport: str = "", *, trusted: bool = True) -> CommandLine:
        """Return the line with another URL, and another transport, as its target.

        A URL of another origin is not `trusted`: it gets none of the options, which may have secrets.
        """
        options = self.options if trusted else ()
        line = self._replace(options=options, target=command_words.quote(secret_values.mask_url(url)))
        if not transport:
            return line
        kept = tuple(option for option in line.options if option[0] != "transport")
        return line._replace(options=kept).adding("transport", f"--transport {transport}")

    def on(self, target: Target) -> CommandLine:
        """Return the line with this target, and only the options that apply to its kind."""
        other = _FOR_COMMANDS if isinstance(target, HttpTarget) else _FOR_URLS
        kept = tuple(option for option in self.options if option[0] not in other)
        return self._replace(target=_target(target), options=kept)


_FOR_COMMANDS = frozenset(("env", "env-file", "inherit-env", "cwd"))
_FOR_URLS = frozenset(("header", "no-verify"))


def pass_variable(name: str) -> str:
    """Return the option that gives the server a variable of this shell."""
    return f"--env {command_words.quote(name)}"


def set_variable(name: str, value: str | None, environ: Mapping[str, str]) -> str:
    """Return the option that gives the server this variable; a secret is named, not shown."""
    if value is None:
        return pass_variable(name)
    if not secret_values.in_environment([(name, value)]):
        return f"--env {command_words.quote(f'{name}={value}')}"
    return pass_variable(name) if environ.get(name) == value else f"--env {name}={secret_values.MASK}"


def set_header(name: str, value: str) -> str:
    """Return the option that sends this header; a secret is not shown."""
    safe_value = secret_values.mask(value, secret_values.in_headers([(name, value)]))
    return f"--header {command_words.quote(f'{name}: {safe_value}')}"


def masked(words: Sequence[str], known: Iterable[str] = ()) -> str:
    """Return words quoted for a shell, without `known` secrets and those that their names show."""
    secrets = [*known, *secret_values.in_arguments(words)]
    return command_words.join(secret_values.mask(secret_values.mask_url(word), secrets) for word in words)


def line_of(target: Target, environ: Mapping[str, str], verb: str = "") -> CommandLine:
    """Return the command line that opens this target."""
    options: Iterable[tuple[str, str]] = ()
    if isinstance(target, StdioTarget) and not target.name:
        options = [("env", set_variable(name, value, environ)) for name, value in target.env.items()]
        options += [("inherit-env", "--inherit-env")] if target.inherits else []
        options += [("cwd", f"--cwd {command_words.quote(target.cwd)}")] if target.cwd else []
    elif isinstance(target, HttpTarget) and not target.name:
        options = [("header", set_header(name, value)) for name, value in target.headers]
        options += [("transport", f"--transport {target.transport}")] if target.transport != "auto" else []
        options += [] if target.verify else [("no-verify", "--no-verify")]
    secrets = () if isinstance(target, RecordingTarget) else target.secrets
    return CommandLine(verb, tuple(options), target=_target(target), secrets=secrets)


def _target(target: Target) -> str:
    if target.name:
        return command_words.quote(f"@{target.name}")
    if isinstance(target, StdioTarget):
        return _command(target.command, target.secrets)
    return command_words.quote(target.describe() if isinstance(target, HttpTarget) else str(target.path))


def _command(words: Sequence[str], known: Iterable[str] = ()) -> str:
    return f"-- {masked(words, known)}"
