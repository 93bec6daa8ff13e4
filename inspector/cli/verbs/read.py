"""`inspector read`: the contents of a resource."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inspector.cli.options import ASK, CONTENT
from inspector.cli.output import Output
from inspector.cli.verb import PositionalArgument, Verb
from inspector.errors import ServerError

if TYPE_CHECKING:
    from inspector.cli.verb import Invocation
    from inspector.client.session import Session


def run(invocation: Invocation) -> int:
    """Read the resource and print its contents."""
    from inspector.cli import headless
    from inspector.cli.output_files import check_outputs, forced

    check_outputs(invocation, "output")

    async def work(session: Any, out: Output) -> int:
        call = session.read_resource(invocation.arguments["uri"])
        try:
            result = await call.result()
        except ServerError as error:
            error.hint = error.hint or await _near(session, invocation.arguments["uri"])
            raise
        contents = result.get("contents") if type(result) is dict else None
        if out.json:
            from inspector.cli.exact_results import result_text

            out.document_text(result_text(session.journal, call.answer_n, result))
        elif contents is None or invocation.option("output") is None:
            _print(out, result, contents)
        if not out.json or invocation.option("output") is not None:
            from inspector.cli.content import blocks_of, save_or_tell

            save_or_tell(invocation.option("output"), blocks_of(contents), out, force=forced(invocation))
        return 0

    return headless.run(invocation, work, while_waiting=None if invocation.json else "inspector.cli.content")


async def _near(session: Session, uri: str) -> str:
    """A hint with the nearest listed URI; empty without one, because a resource need not be listed."""
    from inspector.cli.arguments import unlisted

    hint = await unlisted(session, "resources", uri)
    return hint if hint.endswith("?") else ""


def _print(out: Output, result: Any, contents: Any) -> None:
    from inspector.cli.content import LABEL, blocks_of, json_lines, resource_lines
    from inspector.protocol.views import View

    if contents is None:
        out.lines(json_lines(out, result))
        return
    parts = blocks_of(contents)
    for part in parts:
        if len(parts) > 1:
            view = View(part)
            out.line(f"[{out.safe(view.text('uri'), LABEL)}  {out.safe(view.text('mimeType'), LABEL)}]")
        out.lines(resource_lines(out, part))


READ = Verb("read", run, slots=(PositionalArgument("uri"),), options=(CONTENT, ASK))
