"""`inspector request`: sends any request or notification with exact parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inspector.cli.options import ASK, JSON_OBJECT, Option, json_object
from inspector.cli.output import Output
from inspector.cli.verb import PositionalArgument, Verb

if TYPE_CHECKING:
    from inspector.cli.verb import Invocation


def run(invocation: Invocation) -> int:
    """Send it and print the result."""
    from inspector.cli import headless

    method: str = invocation.arguments["method"]
    given = invocation.arguments["params"]
    params = invocation.option("params") if given is None else json_object(given)

    async def work(session: Any, out: Output) -> int:
        if method.startswith("notifications/"):
            session.notify(method, params)
            if out.json:
                out.document(None)
            else:
                out.note("The notification was sent; notifications have no response.")
            return 0
        call = session.start(method, params, progress=False)
        result = await call.result()
        from inspector.cli.exact_results import result_text

        text = result_text(session.journal, call.answer_n, result)
        (out.document_text if out.json else out.pretty)(text)
        return 1 if type(result) is dict and result.get("isError") is True else 0

    return headless.run(invocation, work)


REQUEST = Verb(
    "request",
    run,
    slots=(
        PositionalArgument("method"),
        PositionalArgument("params", "json", shown="PARAMS-JSON | @FILE.json | -"),
    ),
    options=(
        Option("--params", "Parameters as JSON, or from a file; - is stdin", JSON_OBJECT),
        ASK,
    ),
)
