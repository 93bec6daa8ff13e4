"""`inspector complete`: completion of an argument of a prompt or resource template."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inspector.cli.options import Option, Value, pair
from inspector.cli.output import PIPED, Output
from inspector.cli.verb import PositionalArgument, Verb

if TYPE_CHECKING:
    from inspector.cli.verb import Invocation
    from inspector.client.session import Session
    from inspector.client.state.catalog import ListName


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
            if not values:
                await _say_why(session, invocation, out)
        return 0

    return headless.run(invocation, work)


async def _say_why(session: Session, invocation: Invocation, out: Output) -> None:
    """Say that there are no values, and what is misspelt if the server lists something similar."""
    from inspector.cli.arguments import unlisted
    from inspector.config.foreign_files import nearest

    out.note("note: The server has no values for this argument.")
    named, argument = invocation.arguments["name"], invocation.arguments["argument"]
    is_prompt = invocation.arguments["kind"] == "prompt"
    list_name: ListName = "prompts" if is_prompt else "templates"
    hint = await unlisted(session, list_name, named)
    item = session.catalog[list_name].get(named)
    if is_prompt and isinstance(item, dict) and isinstance(item.get("arguments"), list):
        names = [str(entry.get("name")) for entry in item["arguments"] if isinstance(entry, dict)]
        near = nearest(argument, names)
        if argument not in names and near:
            hint = f"The prompt has no argument “{argument[:80]}”. Did you mean “{near[:80]}”?"
    if hint:
        out.note(f"hint: {out.safe(hint, 300)}")


COMPLETE = Verb(
    "complete",
    run,
    slots=(
        PositionalArgument("kind", choices=("prompt", "template")),
        PositionalArgument("name", shown="NAME|URI"),
        PositionalArgument("argument"),
        PositionalArgument("value"),
    ),
    options=(
        Option("--with", "Value of another argument, as context; repeatable", Value("NAME=VALUE", pair), many=True),
    ),
)
