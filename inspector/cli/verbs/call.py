"""`inspector call`: one call of a tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inspector.cli.options import ARGS, SAVE, TASK
from inspector.cli.output import Output
from inspector.cli.verb import Slot, Verb

if TYPE_CHECKING:
    from inspector.cli.words import Invocation
    from inspector.journal.journal import Journal


def run(said: Invocation) -> int:
    """Call the tool and print its result; 1 where the tool says that it failed."""
    from inspector.cli import headless
    from inspector.cli.files import check_outputs, forced

    check_outputs(said, "save")

    async def work(session: Any, out: Output) -> int:
        from inspector.cli.arguments import tool_arguments

        arguments = await tool_arguments(said, session, out)
        if session.driver.lists_before_calls and not session.catalog["tools"].pages:
            await session.load("tools")
        call = session.call_tool(said.arguments["tool"], arguments, as_task=said.option("task", False))
        result = await call.result()
        body = result if type(result) is dict else {}
        failed = body.get("isError") is True
        if out.json:
            from inspector.cli.results import result_text

            out.document_text(result_text(session.journal, call.answer_n, result))
        else:
            _print(out, result, session.journal, call.answer_n)
            if failed:
                out.note("The tool says that it failed (isError).")
        if not out.json or said.option("save") is not None:
            from inspector.cli.content import blocks_of, save_or_tell

            save_or_tell(said.option("save"), blocks_of(body.get("content")), out, force=forced(said))
        return 1 if failed else 0

    return headless.run(said, work, while_waiting=None if said.json else "inspector.cli.content")


def _print(out: Output, result: Any, journal: Journal, answer: int) -> None:
    from inspector.cli.content import block_lines, blocks_of, json_lines

    if type(result) is not dict or not ("content" in result or "structuredContent" in result):
        out.lines(json_lines(out, result))
        return
    blocks = blocks_of(result.get("content"))
    for block in blocks:
        out.lines(block_lines(out, block))
    if "structuredContent" in result and not _is_said(blocks, result["structuredContent"]):
        from inspector.cli.results import result_text
        from inspector.export.exact import member

        text = member(result_text(journal, answer, result), "structuredContent")
        if text is None:
            out.lines(json_lines(out, result["structuredContent"]))
        else:
            out.pretty(text)


def _is_said(blocks: list[Any], structured: Any) -> bool:
    """Whether a text block says the structured result too, as servers should for older clients (C-TOOL-02)."""
    from inspector.protocol import jsonrpc

    for block in blocks:
        text = block.get("text") if type(block) is dict else None
        if type(text) is str and text[:1] in "{[":
            try:
                if jsonrpc.parse(text.encode("utf-8", "surrogatepass")) == structured:
                    return True
            except (jsonrpc.NotJson, RecursionError):
                continue
    return False


VERBS = {
    "call": Verb(
        "call",
        run,
        slots=(Slot("tool"), Slot("arguments", "pairs", metavar="KEY=VALUE | KEY:=JSON ...")),
        options=(ARGS, SAVE, TASK),
        about=(
            "KEY=VALUE takes the type that the tool's schema gives the key, KEY:=JSON is any JSON value, and A.B=VALUE "
            "goes into an object. Text of the result goes to stdout as it is, images and the like as one line each; "
            "--json prints the exact result. Ends with 1 if the tool fails."
        ),
        examples=(
            "inspector call echo message=hello -- python server.py",
            "inspector call add a=2 b=3 @calculator",
            "inspector call search --args @query.json --json https://host.example/mcp",
            "inspector call screenshot --save page.png @browser",
        ),
    )
}
