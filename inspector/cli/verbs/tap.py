"""`inspector tap`: between another client and its server, recording what passes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from inspector.cli import setup
from inspector.cli.options import Option
from inspector.cli.output import Output
from inspector.cli.verb import Verb
from inspector.config.targets import StdioTarget

if TYPE_CHECKING:
    from inspector.cli.words import Invocation


def run(said: Invocation) -> int:
    """Pass everything on until one side ends; ends with the server's exit code."""
    from inspector.client.recording import new_journal
    from inspector.tap.stdio import StdioTap

    out = Output.of(said)
    target = setup.live_target(said)
    settings = setup.settings_of(said)
    assert isinstance(target, StdioTarget)
    journal = new_journal(
        target,
        record=said.option("record"),
        keep=settings.record and not said.option("no-record"),
        settings=settings,
    )
    try:
        for notice in journal.notices:
            out.note(f"note: {out.safe(notice)}")
        import os

        return asyncio.run(StdioTap(target.command, journal, cwd=target.cwd).run({**os.environ, **target.env}))
    finally:
        journal.close("closed")
        journal.release()


VERBS = {
    "tap": Verb(
        "tap",
        run,
        prints=False,
        options=(Option("--listen", "Be an HTTP server at this address.", "HOST:PORT"),),
        about="x",
        examples=("inspector tap -- python server.py",),
    )
}
