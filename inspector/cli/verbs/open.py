"""The interface, on a target or on its start screen: used if no verb is given."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from inspector.cli.options import WATCH, YES
from inspector.cli.verb import Verb
from inspector.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspector.cli.verb import Invocation
    from inspector.config.targets import RecordingTarget, Target

WEB_DRIVER = ("TEXTUAL_DRIVER", "textual.drivers.web_driver:WebDriver")
"""The variable with which another process lets the interface draw in a browser, and its value."""


def run(invocation: Invocation) -> int:
    """Open the interface on the given target, or on the start screen."""
    if reason := missing_terminal():
        raise UsageError(reason, hint=_without_terminal(invocation))
    from inspector.cli.session_setup import target_of
    from inspector.config.targets import RecordingTarget, StdioTarget

    if len(invocation.target_words) > 1 and invocation.target_words[0].startswith("@"):
        return _several(invocation)
    target = target_of(invocation) if invocation.target_words else None
    if invocation.option("watch") and target is not None and not isinstance(target, StdioTarget):
        raise UsageError(
            "--watch needs a server that Inspector starts with a command.",
            hint="In the interface, press `r` to reconnect to a server that was restarted elsewhere.",
        )
    if isinstance(target, RecordingTarget):
        return replay(invocation, target, follow=False)
    return interface(invocation, target)


def _without_terminal(invocation: Invocation) -> str:
    if not invocation.target_words:
        return "Use a verb with a target, such as `inspector tools`; `inspector --help` lists them."
    return f"Use a verb, such as: {invocation.output.command('tools')} (`inspector --help` lists them)"


def _several(invocation: Invocation) -> int:
    """Run the interface on several configured servers: all are open, the first one is in front."""
    from inspector.cli import session_setup
    from inspector.config.servers import find_servers, resolve

    session_setup.refuse_credentials(invocation)
    for name in ("record", "cwd", "watch"):
        if invocation.option(name):
            raise UsageError(f"--{name} is for one server, but several are named.", hint="Open them one by one.")
    listed = find_servers(config=invocation.option("config"))
    entries = list({entry.reference: entry for entry in map(listed.find, invocation.target_words)}.values())
    session_setup.confirm_start(invocation, entries)
    consent = session_setup.consent_of(invocation)
    targets = [resolve(entry, prompt=session_setup.ask, consent=consent) for entry in entries]
    for target in targets:
        session_setup.warn_of_interception(invocation, target)
    return interface(invocation, targets[0], targets[1:])


def interface(invocation: Invocation, target: Target | None, others: Sequence[Target] = ()) -> int:
    """Run the interface on a server, or on its start screen. `others` are open behind it."""
    from inspector.cli.output_files import new_recording
    from inspector.cli.session_setup import options_of, settings_of
    from inspector.tui import app

    settings = settings_of(invocation)
    if invocation.option("no-pin"):
        settings = replace(settings, check_pins=False)
    return app.run(
        target,
        options_of(invocation, target, settings, in_interface=True),
        record=new_recording(invocation),
        keep=settings.record and not invocation.option("no-record"),
        settings=settings,
        config=invocation.option("config"),
        watch=bool(invocation.option("watch")),
        others=others,
    )


def replay(invocation: Invocation, target: RecordingTarget, *, follow: bool, at: str = "", **playing: float) -> int:
    """Run the interface on a recording; `at` is a position in it, `playing` its `speed` and longest `gap`."""
    from inspector.cli.session_setup import options_of, settings_of
    from inspector.tui import app

    settings = settings_of(invocation)
    # Servers may be opened from here, too.
    options = options_of(invocation, None, settings, in_interface=True)
    return app.run_recording(target.path, options, follow=follow, settings=settings, at=at, **playing)


def need_terminal(instead: str) -> None:
    """Raise `UsageError` unless there is a terminal or a browser; `instead` says what works without one."""
    if reason := missing_terminal():
        raise UsageError(reason, hint=instead)


def missing_terminal() -> str:
    """Why the interface cannot be drawn; empty if there is a terminal or a browser."""
    if os.environ.get(WEB_DRIVER[0]) == WEB_DRIVER[1]:
        return ""
    for stream, name in ((sys.stdin, "stdin"), (sys.stdout, "stdout")):
        if stream is None or not stream.isatty():
            return f"The interface needs a terminal, but {name} is not a terminal."
    return "The interface does not work on a terminal of type “dumb”." if os.environ.get("TERM") == "dumb" else ""


OPTIONS = (WATCH, YES)
OPEN = Verb("", run, target="optional", recordings=True, prints=False, options=OPTIONS, several=True)
