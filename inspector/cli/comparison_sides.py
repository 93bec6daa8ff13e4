"""One side of a comparison, given as one word: a recording, @NAME, a URL, or a command in quotes."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.cli.output import ErrorKept, Output
from inspector.compare.comparison import ComparedSource
from inspector.config.target_arguments import parse_target
from inspector.config.targets import HttpTarget, RecordingTarget, StdioTarget, Target
from inspector.errors import ConnectionProblem, UsageError

if TYPE_CHECKING:
    from inspector.cli.verb import Invocation
    from inspector.client.session import Session
    from inspector.config.trust import Consent

INTERRUPTED = 128
"""Exit codes from here on mean a signal."""


class ComparedTarget(ComparedSource):
    """A side and, after `read`, what it offers."""

    def __init__(self, letter: str, target: Target, host: str = "") -> None:
        super().__init__(target)
        self.letter = letter
        self.host = host
        """The host as which the server is opened; empty: as Inspector."""

    @property
    def path(self) -> Path | None:
        """The recording's file, if it is one."""
        return self.target.path if isinstance(self.target, RecordingTarget) else None

    def title(self, out: Output) -> str:
        """The name of the side, in one safe line."""
        info = self.surface.get("server") or {}
        parts = (info.get("name"), info.get("version"), self.surface.get("revision"))
        named = "  ".join(out.safe(part, 80) for part in parts if isinstance(part, str) and part)
        host = f"  as {self.host}" if self.host else ""
        return f"{self.letter}  {out.safe(self.target.describe(), 300)}{f'  ({named})' if named else ''}{host}"


def sides_of(invocation: Invocation) -> tuple[ComparedTarget, ComparedTarget]:
    """The two sides of the comparison. Raises `TargetError` or `ConfigError`."""
    from inspector.cli.session_setup import consent_of

    consent = consent_of(invocation)
    hosts: list[str] = list(invocation.option("as", ()))
    word, other = invocation.arguments["a"], invocation.arguments["b"]
    if len(hosts) > 2:
        raise UsageError(f"--as is given {len(hosts)} times, and there are two sides.", hint="Give it once or twice.")
    if other is None and not hosts:
        raise UsageError(
            "`inspector diff` needs the argument B.",
            hint="Give a second target, or --as HOST to compare one server with itself.",
        )
    a = _target(invocation, word, consent)
    b = a if other is None else _target(invocation, other, consent)
    if hosts and RecordingTarget in (type(a), type(b)):
        raise UsageError("--as connects to a server, and a recording is none.", hint="Compare live servers.")
    first, second = hosts if len(hosts) == 2 else ("", hosts[0] if hosts else "")
    return ComparedTarget("A", a, first), ComparedTarget("B", b, second)


def side_of(invocation: Invocation, letter: str, word: str) -> ComparedTarget:
    """One side, named by `letter` in errors. Raises `TargetError` or `ConfigError`."""
    from inspector.cli.session_setup import consent_of

    return ComparedTarget(letter, _target(invocation, word, consent_of(invocation)))


def _target(invocation: Invocation, word: str, consent: Consent) -> Target:
    """The target of one word; headers and `--no-verify` go to a URL, variables and directory to a command."""
    from inspector.cli.session_setup import STARTS, ask, start_of, warn_of_interception

    open_word = partial(parse_target, [word], config=invocation.option("config"), prompt=ask, consent=consent)
    target = open_word()
    if isinstance(target, HttpTarget):
        target = open_word(headers=invocation.option("header", ()), verify=not invocation.option("no-verify"))
    elif isinstance(target, StdioTarget) and any(map(invocation.option, STARTS)):
        target = open_word(**start_of(invocation))
    warn_of_interception(invocation, target)
    return target


def check_flags(invocation: Invocation, *sides: ComparedTarget) -> None:
    """Raise `UsageError` for an option that applies to neither side."""
    from inspector.cli.session_setup import STARTS

    kinds = {side.target.kind for side in sides}
    for flag, kind in (("header", "http"), ("no-verify", "http"), *((name, "stdio") for name in STARTS)):
        if invocation.option(flag) and kind not in kinds:
            raise UsageError(f"--{flag} applies to neither side of the comparison.", hint=f"Remove --{flag}.")


def read(invocation: Invocation, out: Output, side: ComparedTarget, stack: ExitStack) -> int:
    """Read what a side offers; its recording stays open until `stack` closes. Returns 0, or the exit code of a signal.

    Raises errors with the letter of the side before them.
    """
    if side.path is not None:
        from inspector.cli.open_recording import recorded_session
        from inspector.client.state.surfaces import surface_of

        session = stack.enter_context(recorded_session(side.path, out))
        side.journal, side.surface = session.journal, surface_of(session)
        return 0
    from inspector.cli import headless

    async def work(session: Session, _: Output) -> int:
        from inspector.client.state.surfaces import read_surface

        side.surface = await read_surface(session)
        return 0

    invocation.values["as"] = side.host or None
    kept = ErrorKept(json=out.json, quiet=out.quiet, verb=invocation.verb.name, line_for=invocation.line_for)
    kept.target = side.target
    kept.hold_with(out)
    code = headless.run(invocation, work, side.target, out=kept)
    if kept.failure is not None:
        failure = kept.failure
        failure.hint = kept.hint(failure)
        if isinstance(failure, ConnectionProblem):
            failure.connecting = False  # Its hint is complete: the other side is another target.
        failure.message = f"{side.letter} ({side.target.label}): {failure.message}"
        raise failure
    return code
