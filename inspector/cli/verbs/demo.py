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
    from inspector.config.targets import StdioTarget

    command = (sys.executable, "-m", "inspector.demo")
    interface.need_terminal(
        f"The demo server works with every verb: inspector tools -- {' '.join(command[:1])} -m inspector.demo"
    )
    return interface.interface(said, StdioTarget(command, env=dict(said.option("env", ()))))


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
