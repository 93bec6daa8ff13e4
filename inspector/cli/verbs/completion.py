"""`inspector completion`: the completion script of a shell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.cli.output import Output
from inspector.cli.verb import PositionalArgument, Verb

if TYPE_CHECKING:
    from inspector.cli.verb import Invocation


def run(invocation: Invocation) -> int:
    """Print the script."""
    from inspector.cli.completion import script

    Output.of(invocation).line(script(invocation.arguments["shell"]))
    return 0


COMPLETION = Verb(
    "completion",
    run,
    slots=(PositionalArgument("shell", choices=("bash", "zsh", "fish")),),
    target="none",
    prints=False,
)
