"""`inspector complete`: completion of an argument of a prompt or resource template."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inspector.cli.options import Option, pair
from inspector.cli.output import PIPED, Output
from inspector.cli.verb import PositionalArgument, Verb

if TYPE_CHECKING:
    from inspector.cli.verb import Invocation


def run(invocation: Invocation) -> int:
    """Request the values and print one per line."""
    from inspector.cli import headless

    named = invocation.arguments["name"]
    if invocation.arguments["kind"] == "prompt":
        ref = {"type": "ref/prompt", "name": named}
    else:
        ref = {"type": "ref/resource", "uri": named}

    async def work(session: Any, out: Output) -> int:
        values = await session.complete(
            ref,
            invocation.arguments["argument"],
            invocation.arguments["value"],
            dict(invocation.option("with", ())) or None,
        )
        if out.json:
            from inspector.cli.exact_results import last_result, result_text

            n = last_result(session.journal, "completion/complete")
            out.document_text(result_text(session.journal, n, {"completion": {"values": values}}))
        else:
            out.lines(out.safe(value, PIPED) for value in values)
        return 0

    return headless.run(invocation, work)


VERBS = {
    "complete": Verb(
        "complete",
        run,
        slots=(
            PositionalArgument("kind", choices=("prompt", "template")),
            PositionalArgument("name", metavar="NAME|URI"),
            PositionalArgument("argument"),
            PositionalArgument("value"),
        ),
        options=(
            Option("--with", "Value of another argument, as context; repeatable", "NAME=VALUE", many=True, read=pair),
        ),
        about="Sends completion/complete for ARGUMENT with the partial VALUE. Prints one value per line.",
        examples=(
            "inspector complete prompt review language py -- python server.py",
            "inspector complete template 'repo://{owner}/{name}' name mc --with owner=acme @repos",
        ),
    )
}
