"""Tools that can be tasks (2025-11-25, and the extension of 2026-07-28): one for each course of a task."""

from __future__ import annotations

from inspector.demo.content import accepted, failure, form, result
from inspector.demo.definitions import READ_ONLY, ToolTable
from inspector.demo.rpc import INTERNAL_ERROR, Cancelled, Refused, RpcError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from inspector.demo.call import ClientRequest

box = ToolTable()
OPTIONAL = {"taskSupport": "optional"}
PACE = {
    "seconds": {"type": "number", "minimum": 0, "maximum": 600, "default": 3, "description": "How long it takes"},
    "steps": {
        "type": "integer",
        "minimum": 1,
        "maximum": 1000,
        "default": 6,
        "description": "Number of progress reports",
    },
}


def _work(call: ClientRequest) -> None:
    seconds, steps = call.arguments.get("seconds", 3), int(call.arguments.get("steps", 6))
    for step in range(1, steps + 1):
        call.sleep(seconds / steps)
        call.progress(step, steps, f"step {step} of {steps}")


@box.add("task-slow", PACE, title="A slow task", hints=READ_ONLY, patient=True, execution=OPTIONAL)
def task_slow(call: ClientRequest) -> dict[str, Any]:
    """Works for a while and reports its progress; as a task, or while the client waits."""
    _work(call)
    return result("The slow task is done.")


@box.add(
    "task-only",
    PACE,
    title="Only a task",
    hints=READ_ONLY,
    patient=True,
    needs="tasks",
    execution={"taskSupport": "required"},
)
def task_only(call: ClientRequest) -> dict[str, Any]:
    """Works for a while, and can only be called as a task."""
    _work(call)
    return result("The task is done.")


@box.add("task-ask", title="A task that asks", hints=READ_ONLY, patient=True, execution=OPTIONAL)
def task_ask(call: ClientRequest) -> dict[str, Any]:
    """Asks the user for a name in the middle of its work, and then for a colour."""
    missing = call.missing("elicitation")
    if missing:
        return failure(missing)
    said = []
    try:
        for field, words in (("name", "What is your name?"), ("colour", "Which colour do you like?")):
            content = accepted(call.ask(form(call.features, words, **{field: {"type": "string"}}))[0])
            said.append(f"no {field}" if content is None else str(content.get(field)))
    except Refused as refusal:
        return failure(f"The client refused a question: {refusal}")
    return result(f"You are {said[0]}, and you like {said[1]}.")


@box.add("task-fail", PACE, title="A task with a tool error", hints=READ_ONLY, patient=True, execution=OPTIONAL)
def task_fail(call: ClientRequest) -> dict[str, Any]:
    """Works for a while and returns a result that says that the tool failed."""
    _work(call)
    return failure("All that work for nothing.")


@box.add("task-error", PACE, title="A task with an error", hints=READ_ONLY, patient=True, execution=OPTIONAL)
def task_error(call: ClientRequest) -> dict[str, Any]:
    """Works for a while and ends with a JSON-RPC error instead of a result."""
    _work(call)
    raise RpcError(INTERNAL_ERROR, "The machine broke down", {"part": "main spring"})


@box.add("task-give-up", PACE, title="A task that is cancelled", hints=READ_ONLY, patient=True, execution=OPTIONAL)
def task_give_up(call: ClientRequest) -> dict[str, Any]:
    """Works for a while, and then the server itself cancels the task."""
    _work(call)
    if call.in_task:
        raise Cancelled
    return failure("Only a task can be cancelled by its server.")


@box.add("task-endless", title="A task without an end", hints=READ_ONLY, patient=True, execution=OPTIONAL)
def task_endless(call: ClientRequest) -> dict[str, Any]:
    """Runs until it is cancelled."""
    call.status("This will take for ever.")
    call.wait_for_ever()
