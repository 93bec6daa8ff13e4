"""`inspector prompt`: the messages of a prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inspector.cli.options import ARGS, ASK, CONTENT
from inspector.cli.output import Output
from inspector.cli.verb import PositionalArgument, Verb
from inspector.errors import ServerError

if TYPE_CHECKING:
    from inspector.cli.verb import Invocation


def run(invocation: Invocation) -> int:
    """Get the prompt and print its messages."""
    from inspector.cli import headless
    from inspector.cli.arguments import not_given, text_arguments, unlisted

    arguments = text_arguments(invocation)

    async def work(session: Any, out: Output) -> int:
        call = session.get_prompt(invocation.arguments["name"], arguments)
        try:
            result = await call.result()
        except ServerError as error:
            name = invocation.arguments["name"]
            error.hint = error.hint or await unlisted(session, "prompts", name)
            error.hint = error.hint or not_given(session, "prompts", name, arguments)
            raise
        messages = result.get("messages") if type(result) is dict else None
        if out.json:
            from inspector.cli.exact_results import result_text

            out.document_text(result_text(session.journal, call.answer_n, result))
        else:
            _print(out, result, messages)
        if not out.json or invocation.option("output") is not None:
            from inspector.cli.content import blocks_of, save_or_tell

            contents = [message.get("content") for message in blocks_of(messages) if type(message) is dict]
            save_or_tell(
                invocation.option("output"), [block for content in contents for block in blocks_of(content)], out
            )
        return 0

    return headless.run(invocation, work, while_waiting=None if invocation.json else "inspector.cli.content")


def _print(out: Output, result: Any, messages: Any) -> None:
    from inspector.cli.content import block_lines, blocks_of, json_lines

    if type(messages) is not list:
        out.lines(json_lines(out, result))
        return
    for message in messages:
        if type(message) is not dict:
            out.lines(json_lines(out, message))
            continue
        out.line(f"{out.safe(message.get('role', '(no role)'), 40)}:")
        for block in blocks_of(message.get("content")):
            out.lines(f"  {line}".rstrip() for line in block_lines(out, block))


PROMPT = Verb(
    "prompt",
    run,
    slots=(PositionalArgument("name"), PositionalArgument("arguments", "pairs", shown="KEY=VALUE ...")),
    options=(ARGS, CONTENT, ASK),
)
