"""What is done where no verb is spoken: the interface, on a target or on its start screen."""

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
    """Open the interface on the target that was named, or on nothing."""
    need_terminal("`inspector tools TARGET` and the other verbs work without one; `inspector --help` lists them.")
    from inspector.cli.setup import target_of
    from inspector.config.targets import RecordingTarget, StdioTarget

    target = target_of(said) if said.target_words else None
    if said.option("watch") and target is not None and not isinstance(target, StdioTarget):
        raise UsageError(
            "--watch is for a server that is started here, by its command.",
            hint="In the interface, `r` connects anew to a server that somebody else has started again.",
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
    """Run the interface on a recording; `at` is a place in it, `playing` its `speed` and longest `gap`."""
    from inspector.cli.setup import settings_of
    from inspector.tui import app

    return app.run_recording(target.path, follow=follow, settings=settings_of(said), at=at, **playing)


def need_terminal(instead: str) -> None:
    """Raise `UsageError` where there is no terminal to draw on; `instead` says what works without one."""
    for stream, name in ((sys.stdin, "standard input"), (sys.stdout, "standard output")):
        if stream is None or not stream.isatty():
            raise UsageError(f"The interface needs a terminal, and {name} is none.", hint=instead)
    if os.environ.get("TERM") == "dumb":
        raise UsageError("The interface cannot draw on a terminal of type “dumb”.", hint=instead)


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
