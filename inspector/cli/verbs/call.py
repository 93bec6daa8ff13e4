"""`inspector call`: one call of a tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inspector.cli.options import ARGS, ASK, CONTENT, TASK, Option
from inspector.cli.output import Output
from inspector.cli.verb import PositionalArgument, Verb
from inspector.errors import InvalidAnswer, ServerError, UsageError
from inspector.hints import FOR_SOME_CLIENTS
from inspector.protocol.jsonrpc import INVALID_PARAMS

if TYPE_CHECKING:
    from inspector.cli.verb import Invocation
    from inspector.client.engine.pending_requests import Call
    from inspector.client.session import Session
    from inspector.journal.findings import Finding
    from inspector.journal.journal import Journal

FORMATS = ("text", "structured", "json", "raw")
MAX_FINDINGS = 5
FINDING = 300
"""Characters shown of one finding."""
ANSWERS = {"sampling": "--sampling TEXT", "elicitation": "--elicit defaults", "roots": "--root DIR"}
"""By capability of a client, the option that declares it."""


def run(invocation: Invocation) -> int:
    """Call the tool and print its result; returns 1 if the tool failed."""
    from inspector.cli import headless
    from inspector.cli.output_files import check_outputs, forced

    form = _format(invocation)
    to_stdout = check_outputs(invocation, "output")
    strict = bool(invocation.option("strict"))
    tool: str = invocation.arguments["tool"]

    async def work(session: Any, out: Output) -> int:
        from inspector.cli.arguments import tool_arguments

        arguments = await tool_arguments(invocation, session, out)
        if (strict or session.driver.lists_before_calls) and not session.catalog["tools"].pages:
            await session.load("tools")
        call = session.call_tool(tool, arguments, as_task=invocation.option("task", False))
        try:
            result = await call.result()
        except ServerError as error:
            unknown = error.rpc_code == INVALID_PARAMS or tool in error.rpc_message[:1000]
            error.hint = error.hint or await _advice(session, tool, arguments, error, None, is_unknown=unknown)
            raise
        body = result if type(result) is dict else {}
        failed = body.get("isError") is True
        if not to_stdout:
            _print(out, form, result, session.journal, call.answer_n)
        if failed and not out.json:
            out.note("The tool failed (isError).")
            # SDKs answer a call of an unknown tool in this way too: “Unknown tool: NAME”.
            if hint := await _advice(session, tool, arguments, None, body, is_unknown=_names(body, tool)):
                out.note(f"hint: {out.safe(hint, 500)}")
        if not out.json or invocation.option("output") is not None:
            from inspector.cli.content import blocks_of, save_or_tell

            save_or_tell(invocation.option("output"), blocks_of(body.get("content")), out, force=forced(invocation))
        if not failed:
            from inspector.cli.arguments import accepted_despite

            if text := await accepted_despite(session, tool, arguments):
                out.note(f"note: {out.safe(text, 500)}")
        doubtful = _judged(session, call, body, strict, out)
        return 1 if failed or (strict and doubtful) else 0

    return headless.run(invocation, work, while_waiting=None if invocation.json else "inspector.cli.content")


def _format(invocation: Invocation) -> str:
    """The format of the result; empty for text and structured content. Raises `UsageError`."""
    given = next((word for option, word in invocation.typed if option.name == "output"), "")
    if given in FORMATS and invocation.flags["output"] == "--output":  # The old name of --format.
        invocation.values.setdefault("format", given)
        del invocation.values["output"]
        invocation.output.note(f"note: --output {given} is now --format {given}.")
    format: str = invocation.option("format", "json" if invocation.json else "")
    if invocation.json and format == "text":
        raise UsageError("--json cannot be used with --format text.", hint="Remove one of them.")
    return format


def _print(out: Output, form: str, result: Any, journal: Journal, answer: int) -> None:
    from inspector.cli.exact_results import result_text

    if form == "raw":
        out.document_text(journal.event(answer).text.replace("\r", " ").replace("\n", " "))
    elif form == "json":
        out.document_text(result_text(journal, answer, result))
    elif form == "structured":
        text = _structured(result, journal, answer)
        if text is None:
            raise InvalidAnswer("The result has no structured content.", hint="Use --format text or --format json.")
        out.document_text(text)
    else:
        _print_text(out, result, journal, answer, all=not form)


async def _advice(
    session: Session,
    tool: str,
    arguments: dict[str, Any],
    error: ServerError | None,
    body: dict[str, Any] | None,
    *,
    is_unknown: bool,
) -> str:
    """A hint about a failed call: another tool, another revision, or a missing argument; else empty."""
    from inspector.cli.arguments import not_given

    hint = await _unlisted(session, tool) if is_unknown else ""
    return hint or _other_revision(session, error, body) or not_given(session, "tools", tool, arguments)


def _names(result: dict[str, Any], tool: str) -> bool:
    """Whether the text of a result names the tool."""
    from inspector.cli.content import blocks_of

    texts = (block.get("text") for block in blocks_of(result.get("content")) if type(block) is dict)
    return any(type(text) is str and tool in text[:1000] for text in texts)


def _other_revision(session: Session, error: ServerError | None, body: Any) -> str:
    """A hint if the failure comes from the revision in use; else empty."""
    from inspector.client.revision_hints import revision_hint

    hint = revision_hint(session.server.revision, error, body)
    return f"{hint.text} Choose it with --revision {hint.revision}." if hint is not None else ""


async def _unlisted(session: Session, name: str) -> str:
    """A hint if the server does not list this tool; empty if it does. It may list it only to some clients."""
    from inspector.cli.arguments import unlisted

    text = await unlisted(session, "tools", name)
    standing = session.inbox.standing
    options = [option for topic, option in ANSWERS.items() if getattr(standing, topic) is None]
    if not text or text.endswith("?") or not options:
        return text
    return f"{text} {FOR_SOME_CLIENTS}: try {' or '.join(options)}."


def _print_text(out: Output, result: Any, journal: Journal, answer: int, *, all: bool) -> None:
    from inspector.cli.content import block_lines, blocks_of, json_lines
    from inspector.protocol.result_shape import has_structured, repeats_content

    if type(result) is not dict or not ("content" in result or "structuredContent" in result):
        out.lines(json_lines(out, result))
        return
    blocks = blocks_of(result.get("content"))
    for block in blocks:
        out.lines(block_lines(out, block))
    if all and has_structured(result) and not repeats_content(result):
        text = _structured(result, journal, answer)
        if text is None:
            out.lines(json_lines(out, result["structuredContent"]))
        else:
            out.pretty(text)


def _structured(result: Any, journal: Journal, answer: int) -> str | None:
    """The exact text of the structured result."""
    from inspector.cli.exact_results import result_text
    from inspector.formats.json_edits import member

    return member(result_text(journal, answer, result), "structuredContent")


def _judged(session: Any, call: Call, body: dict[str, Any], strict: bool, out: Output) -> bool:
    """Print the findings on the call and its response; return whether there are any.

    Loading the judge takes longer than a call. Without --strict it runs only if a finding is likely: a structured
    result with a schema, several progress notifications, or a response to an unknown request.
    """
    from inspector.journal.index import State

    journal = session.journal
    index = journal.index
    tool = session.catalog["tools"].get(call.params["name"]) if call.params else None
    has_schema = "structuredContent" in body and tool is not None and "outputSchema" in tool
    strays = any(index.state(n) in (State.DOUBLED, State.UNKNOWN) for n in range(call.n, len(journal) + 1))
    if not (strict or has_schema or strays or (call.progress is not None and call.progress.count > 1)):
        return False
    from inspector.check.judge.judge import Judge

    Judge(journal).run_all()
    findings = [
        finding
        for finding in journal.findings.all()
        if finding.level != "note" and (finding.n == call.n or _belongs(index, finding.n, call))
    ]
    if findings:
        _tell(out, findings)
    return bool(findings)


def _belongs(index: Any, n: int, call: Call) -> bool:
    """Whether event `n` belongs to the call: its responses, messages inside it, and later stray responses."""
    from inspector.journal.index import State

    if n <= call.n:
        return False
    return call.n in (index.pair(n), index.parent(n)) or index.state(n) in (State.DOUBLED, State.UNKNOWN)


def _tell(out: Output, findings: list[Finding]) -> None:
    lines = [f"{finding.rule} {out.safe(finding.message, FINDING)}" for finding in findings[:MAX_FINDINGS]]
    if len(findings) > MAX_FINDINGS:
        lines.append("…")
    out.warn(f"note: {len(findings)} finding{'s' if len(findings) != 1 else ''} ({'; '.join(lines)})")


CALL = Verb(
    "call",
    run,
    slots=(
        PositionalArgument("tool"),
        PositionalArgument("arguments", "pairs", shown="KEY=VALUE | KEY:=JSON ..."),
    ),
    options=(
        ARGS,
        Option(
            "--format",
            "Print only the text, the structured content, the result as JSON, or the raw response",
            choices=FORMATS,
        ),
        CONTENT,
        Option("--strict", "Exit with 1 if the result breaks a rule, such as its output schema"),
        TASK,
        ASK,
    ),
)
