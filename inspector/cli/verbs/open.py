"""The interface, on a target or on its start screen: used if no verb is given."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from inspector.cli.options import WATCH
from inspector.cli.verb import Verb
from inspector.errors import UsageError

if TYPE_CHECKING:
    from inspector.cli.verb import Invocation
    from inspector.config.targets import RecordingTarget, Target


def run(said: Invocation) -> int:
    """Open the interface on the given target, or on the start screen."""
    need_terminal(
        "Use `inspector tools TARGET` or another verb, which need no terminal; `inspector --help` lists them."
    )
    from inspector.cli.setup import target_of
    from inspector.config.targets import RecordingTarget, StdioTarget

    target = target_of(said) if said.target_words else None
    if said.option("watch") and target is not None and not isinstance(target, StdioTarget):
        raise UsageError(
            "--watch needs a server that Inspector starts with a command.",
            hint="In the interface, press `r` to reconnect to a server that was restarted elsewhere.",
        )
    if isinstance(target, RecordingTarget):
        return replay(said, target, follow=False)
    return interface(said, target)


def interface(said: Invocation, target: Target | None) -> int:
    """Run the interface on a server, or on its start screen."""
    from inspector.cli.files import new_recording
    from inspector.cli.setup import options_of, settings_of
    from inspector.tui import app

    settings = settings_of(said)
    if said.option("no-pin"):
        settings = replace(settings, check_pins=False)
    return app.run(
        target,
        options_of(said, target, settings, asking=True),
        record=new_recording(said),
        keep=settings.record and not said.option("no-record"),
        settings=settings,
        config=said.option("config"),
        watch=bool(said.option("watch")),
    )


def replay(said: Invocation, target: RecordingTarget, *, follow: bool, at: str = "", **playing: float) -> int:
    """Run the interface on a recording; `at` is a position in it, `playing` its `speed` and longest `gap`."""
    from inspector.cli.setup import settings_of
    from inspector.tui import app

    return app.run_recording(target.path, follow=follow, settings=settings_of(said), at=at, **playing)


def need_terminal(instead: str) -> None:
    """Raise `UsageError` unless there is a terminal; `instead` says what works without one."""
    for stream, name in ((sys.stdin, "stdin"), (sys.stdout, "stdout")):
        if stream is None or not stream.isatty():
            raise UsageError(f"The interface needs a terminal, but {name} is not a terminal.", hint=instead)
    if os.environ.get("TERM") == "dumb":
        raise UsageError("The interface does not work on a terminal of type “dumb”.", hint=instead)


VERBS = {
    "open": Verb(
        "",
        run,
        target="optional",
        prints=False,
        options=(WATCH,),
        examples=(
            "inspector demo",
            "inspector npx -y @modelcontextprotocol/server-everything",
            "inspector https://host.example/mcp",
            "inspector --watch -- uv run weather",
            "inspector call echo message=hello -- python server.py",
        ),
    )
}
