"""`inspector demo`: the interface on the server that comes with Inspector."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from inspector.cli.options import CONNECT
from inspector.cli.verb import Verb
from inspector.cli.verbs import open as interface

if TYPE_CHECKING:
    from inspector.cli.words import Invocation

_WITHOUT = ("--header", "--config", "--cwd", "--transport")


def run(said: Invocation) -> int:
    """Open the interface on the demo server."""
    import shlex

    interface.need_terminal(
        f"Every verb works on the demo server: inspector tools -- {shlex.quote(sys.executable)} -m inspector.demo"
    )
    from dataclasses import replace

    from inspector.tui.app import demo_target

    return interface.interface(said, replace(demo_target(), env=dict(said.option("env", ()))))


VERBS = {
    "demo": Verb(
        "demo",
        run,
        target="none",
        prints=False,
        options=tuple(option for option in CONNECT if option.flags[0] not in _WITHOUT),
        about="Every feature of the protocol, without a network.",
        examples=("inspector demo",),
    )
}
