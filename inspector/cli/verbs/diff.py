"""`inspector diff A B`: two servers, two recordings, or one of each, side by side."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from inspector.cli.colours import Colours
from inspector.cli.comparison_options import RULES, difference_line, rules_of
from inspector.cli.options import CONNECT, Option, Value, host
from inspector.cli.output import Output
from inspector.cli.verb import PositionalArgument, Verb
from inspector.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from inspector.cli.comparison_sides import ComparedTarget
    from inspector.cli.verb import Invocation
    from inspector.compare.conversation import Conversation, ConversationStep, StepKind
    from inspector.compare.surface import Change

DIFFERENT = 5
MAX_DIFFERENCES = 20
"""Differences listed for one exchange; --json has all."""
NAME = 120
_WORDS: dict[StepKind, str] = {"same": "the same", "changed": "changed", "only-a": "only in A", "only-b": "only in B"}


def run(invocation: Invocation) -> int:
    """Compare and print; returns 5 if anything differs."""
    from inspector.cli import comparison_sides

    if invocation.option("surface-only") and invocation.option("conversation-only"):
        raise UsageError("--surface-only cannot be used with --conversation-only.", hint="Remove one of them.")
    a, b = comparison_sides.sides_of(invocation)
    comparison_sides.check_flags(invocation, a, b)
    rules = rules_of(invocation)
    recorded = a.path is not None and b.path is not None
    if invocation.option("conversation-only") and not recorded:
        raise UsageError(
            "--conversation-only needs two recordings, because a live server has no messages yet.",
            hint="`inspector rerun` compares a recorded conversation with a live server.",
        )
    if invocation.option("tui"):
        return _interface(invocation, a, b)
    out = invocation.output
    with ExitStack() as stack:
        for side in (a, b):
            code = comparison_sides.read(invocation, out, side, stack)
            if code >= comparison_sides.INTERRUPTED:
                return code
        from inspector.compare.comparison import compare_both

        result = compare_both(
            a,
            b,
            rules,
            surface=not invocation.option("conversation-only"),
            conversation=not invocation.option("surface-only"),
        )
        if out.json:
            out.document(result.as_json())
        else:
            out.lines(_text(out, a, b, result.changes, result.conversation))
    return 0 if result.same else DIFFERENT


def _interface(invocation: Invocation, a: ComparedTarget, b: ComparedTarget) -> int:
    from inspector.cli.session_setup import settings_of
    from inspector.cli.verbs.open import need_terminal

    if a.path is None or b.path is None:
        raise UsageError("--tui needs two recordings.", hint="Remove --tui to compare live servers.")
    need_terminal("Print the differences with `inspector diff A B` without --tui.")
    from inspector.tui import app

    return app.run_diff(a.path, b.path, rules_of(invocation), settings=settings_of(invocation))


# Text output


def _text(
    out: Output, a: ComparedTarget, b: ComparedTarget, changes: list[Change] | None, conversation: Conversation | None
) -> Iterator[str]:
    from inspector.cli import surface_report
    from inspector.compare.surface import unread_lists

    paint = Colours()
    yield a.title(out)
    yield b.title(out)
    if changes is not None:
        yield ""
        yield from (paint(line, "red") for line in surface_report.warning(out, changes))
        words = surface_report.summary(changes) if changes else "the same"
        unread = unread_lists(a.surface, b.surface)
        yield f"{paint('Surface', 'bold')}: {words}"
        if unread:
            yield f"Not compared, because not both sides list them: {', '.join(unread)}"
        yield from surface_report.lines(out, paint, changes)
    if conversation is not None:
        yield ""
        yield from _conversation(out, paint, conversation)


def _conversation(out: Output, paint: Colours, conversation: Conversation) -> Iterator[str]:
    counts = ", ".join(f"{amount:,} {word}" for kind, word in _WORDS.items() if (amount := conversation.count(kind)))
    yield f"{paint('Conversation', 'bold')}: {counts or 'nothing to compare'}"
    for step in conversation.steps:
        if step.kind == "changed":
            yield from _changed(out, paint, step)
        elif step.kind == "only-a":
            yield paint(f"- {_what(out, step)}  (message {step.a} of A)", "red")
        elif step.kind == "only-b":
            yield paint(f"+ {_what(out, step)}  (message {step.b} of B)", "green")
    if conversation.ignored:
        ones = "difference does" if conversation.ignored == 1 else "differences do"
        yield f"{conversation.ignored:,} {ones} not count: times, ids, ignored paths. --exact counts times and ids."


def _changed(out: Output, paint: Colours, step: ConversationStep) -> Iterator[str]:
    moved = ", at another position" if step.moved else ""
    yield f"{paint('~', 'yellow')} {_what(out, step)}  (message {step.a} of A, {step.b} of B{moved})"
    for one in step.findings[:MAX_DIFFERENCES]:
        text = out.safe(one.what, 300) if one.difference is None else difference_line(out, one.difference)
        at = f"  (message {one.a or '-'} of A, {one.b or '-'} of B)" if one.part == "message" else ""
        yield f"    {one.part}  {text}{at}"
    if len(step.findings) > MAX_DIFFERENCES:
        yield f"    and {len(step.findings) - MAX_DIFFERENCES:,} more; --json lists all"


def _what(out: Output, step: ConversationStep) -> str:
    return f"{out.safe(step.method, NAME)} {out.safe(step.name, NAME)}".rstrip()


_NOT_HERE = ("record", "transport", "as")
DIFF = Verb(
    "diff",
    run,
    slots=(
        PositionalArgument("a", completes="recording", takes_command=True),
        PositionalArgument("b", completes="recording", takes_command=True, optional=True),
    ),
    target="none",
    options=(
        Option("--surface-only", "Compare only tools, resources, prompts and capabilities"),
        Option("--conversation-only", "Compare only the messages, lists included"),
        *RULES,
        Option(
            "--as", "Open the server as this host does; twice: one host for each side", Value("HOST", host), many=True
        ),
        Option("--tui", "Show two recordings side by side in the interface"),
        *(option for option in CONNECT if option.name not in _NOT_HERE),
    ),
)
