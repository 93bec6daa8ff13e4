"""Tools that take time, misbehave, or change the server: progress, logs, tasks, noise, silence, a crash."""

from __future__ import annotations

import os
import sys

from inspector.demo.content import accepted, failure, form, result
from inspector.demo.definitions import tool
from inspector.demo.rpc import INTERNAL_ERROR, Cancelled, Refused, RpcError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from inspector.demo.call import ClientRequest


@tool("slow", slow=True)
def _slow(call: ClientRequest) -> dict[str, Any]:
    seconds, steps = call.arguments.get("seconds", 5), int(call.arguments.get("steps", 20))
    call.log("info", f"working for {seconds} s in {steps} steps", "slow")
    for step in range(1, steps + 1):
        call.sleep(seconds / steps)
        call.progress(step, steps, f"step {step} of {steps}")
    if call.arguments.get("fail"):
        return failure("It failed at the very end.")
    return result(f"Done in {steps} steps.")


@tool("count", slow=True)
def _count(call: ClientRequest) -> dict[str, Any]:
    last, level = int(call.arguments.get("to", 5)), call.arguments.get("level", "info")
    for number in range(1, last + 1):
        call.log(level, {"count": number, "of": last}, "count")
        call.sleep(call.arguments.get("interval", 0.05))
    return result(f"Counted to {last}.")


@tool("burst", slow=True)
def _burst(call: ClientRequest) -> dict[str, Any]:
    total, kind = int(call.arguments.get("count", 1000)), call.arguments.get("kind", "message")
    for number in range(1, total + 1):
        if kind == "message":
            call.log("info", f"message {number} of {total}", "burst")
        elif kind == "progress":
            call.progress(number, total, f"{number} of {total}")
        else:
            call.state.changed("tools")
    return result(f"Sent {total} notifications, except those that the client does not want.")


@tool("noisy")
def _noisy(call: ClientRequest) -> dict[str, Any]:
    lines = int(call.arguments.get("lines", 10))
    form = "\x1b[33mwarning\x1b[0m: line {}\n" if call.arguments.get("colour") else "warning: line {}\n"
    sys.stderr.write("".join(map(form.format, range(1, lines + 1))))
    sys.stderr.flush()
    return result(f"Wrote {lines} lines to stderr.")


@tool("crash")
def _crash(call: ClientRequest) -> dict[str, Any]:
    sys.stderr.write("demo: crashing, as asked\n")
    sys.stderr.flush()
    os._exit(int(call.arguments.get("exit_code", 1)))


@tool("forget", slow=True)
def _forget(call: ClientRequest) -> dict[str, Any]:
    call.wait_for_ever()


@tool("hang-up", slow=True)
def _hang_up(call: ClientRequest) -> dict[str, Any]:
    call.log("notice", "hanging up", "hang-up")
    call.channel.hang_up(int(call.arguments.get("retry", 200)))
    call.sleep(0.05)
    return result("You resumed the stream for this answer, or there was no stream to close.")


@tool("delete-everything")
def _delete_everything(call: ClientRequest) -> dict[str, Any]:
    return result("Nothing was deleted.")


def _work(call: ClientRequest) -> None:
    seconds, steps = call.arguments.get("seconds", 3), int(call.arguments.get("steps", 6))
    for step in range(1, steps + 1):
        call.sleep(seconds / steps)
        call.progress(step, steps, f"step {step} of {steps}")


@tool("task-slow", slow=True)
def _task_slow(call: ClientRequest) -> dict[str, Any]:
    _work(call)
    return result("The slow task is done.")


@tool("task-only", slow=True, needs="tasks")
def _task_only(call: ClientRequest) -> dict[str, Any]:
    _work(call)
    return result("The task is done.")


@tool("task-ask", slow=True)
def _task_ask(call: ClientRequest) -> dict[str, Any]:
    missing = call.missing("elicitation")
    if missing:
        return failure(missing)
    answers = []
    try:
        for field, words in (("name", "What is your name?"), ("colour", "Which colour do you like?")):
            content = accepted(call.ask(form(call.features, words, **{field: {"type": "string"}}))[0])
            answers.append(f"no {field}" if content is None else str(content.get(field)))
    except Refused as refusal:
        return failure(f"The client refused a question: {refusal}")
    return result(f"You are {answers[0]}, and you like {answers[1]}.")


@tool("task-fail", slow=True)
def _task_fail(call: ClientRequest) -> dict[str, Any]:
    _work(call)
    return failure("All that work for nothing.")


@tool("task-error", slow=True)
def _task_error(call: ClientRequest) -> dict[str, Any]:
    _work(call)
    raise RpcError(INTERNAL_ERROR, "The machine broke down", {"part": "main spring"})


@tool("task-give-up", slow=True)
def _task_give_up(call: ClientRequest) -> dict[str, Any]:
    _work(call)
    if call.in_task:
        raise Cancelled
    return failure("Only a task can be cancelled by its server.")


@tool("task-endless", slow=True)
def _task_endless(call: ClientRequest) -> dict[str, Any]:
    call.status("This will take for ever.")
    call.wait_for_ever()


@tool("change-list")
def _change_list(call: ClientRequest) -> dict[str, Any]:
    topic, action = call.arguments.get("list", "tools"), call.arguments.get("action", "add")
    if action == "add":
        return result(f"Added {call.state.add_extra(topic)} to the {topic}.")
    removed = call.state.remove_extra(topic)
    if removed is None:
        return failure(f"There is nothing to remove from the {topic}: add something first.")
    return result(f"Removed {removed} from the {topic}.")


@tool("touch-resource")
def _touch_resource(call: ClientRequest) -> dict[str, Any]:
    uri = call.arguments.get("uri", "demo://readme")
    call.state.touch(uri)
    return result(f"{uri} was touched.")


@tool("end-listening", needs="listening")
def _end_listening(call: ClientRequest) -> dict[str, Any]:
    subscriptions = list(call.state.subscriptions)
    for subscription in subscriptions:
        subscription.end(call.arguments.get("how", "result"))
    return result(f"Ended {len(subscriptions)} subscriptions.")


@tool("about-client")
def _about_client(call: ClientRequest) -> dict[str, Any]:
    return result(structured=call.describe_client() | {"meta": call.meta})
