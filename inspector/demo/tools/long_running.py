"""Tools that take time or misbehave: progress, logs, cancellation, noise, silence, a crash."""

from __future__ import annotations

import os
import sys

from inspector.demo.call import LEVELS
from inspector.demo.content import failure, result
from inspector.demo.definitions import READ_ONLY, ToolTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from inspector.demo.call import ClientRequest

box = ToolTable()


@box.add(
    "slow",
    {
        "seconds": {"type": "number", "minimum": 0, "maximum": 600, "default": 5, "description": "How long it takes"},
        "steps": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 20, "description": "Progress reports"},
        "fail": {"type": "boolean", "default": False, "description": "Fail at the end"},
    },
    title="Slow work",
    hints=READ_ONLY,
    patient=True,
    execution={"taskSupport": "forbidden"},
)
def slow(call: ClientRequest) -> dict[str, Any]:
    """Works for a while, reporting progress, and stops when it is cancelled."""
    seconds, steps = call.arguments.get("seconds", 5), int(call.arguments.get("steps", 20))
    call.log("info", f"working for {seconds} s in {steps} steps", "slow")
    for step in range(1, steps + 1):
        call.sleep(seconds / steps)
        call.progress(step, steps, f"step {step} of {steps}")
    if call.arguments.get("fail"):
        return failure("It failed at the very end.")
    return result(f"Done in {steps} steps.")


@box.add(
    "count",
    {
        "to": {"type": "integer", "minimum": 1, "maximum": 10_000, "default": 5},
        "level": {"type": "string", "enum": list(LEVELS), "default": "info", "description": "Level of the messages"},
        "interval": {
            "type": "number",
            "minimum": 0,
            "maximum": 10,
            "default": 0.05,
            "description": "Seconds between messages",
        },
    },
    title="Count in the log",
    hints=READ_ONLY,
    patient=True,
)
def count(call: ClientRequest) -> dict[str, Any]:
    """Counts in log messages. Those below the client's log level are not sent."""
    last, level = int(call.arguments.get("to", 5)), call.arguments.get("level", "info")
    for number in range(1, last + 1):
        call.log(level, {"count": number, "of": last}, "count")
        call.sleep(call.arguments.get("interval", 0.05))
    return result(f"Counted to {last}.")


@box.add(
    "burst",
    {
        "count": {"type": "integer", "minimum": 1, "maximum": 1_000_000, "default": 1000},
        "kind": {"type": "string", "enum": ["message", "progress", "list_changed"], "default": "message"},
    },
    title="A burst of notifications",
    hints=READ_ONLY,
    patient=True,
)
def burst(call: ClientRequest) -> dict[str, Any]:
    """Sends many notifications as fast as possible."""
    total, kind = int(call.arguments.get("count", 1000)), call.arguments.get("kind", "message")
    for number in range(1, total + 1):
        if kind == "message":
            call.log("info", f"message {number} of {total}", "burst")
        elif kind == "progress":
            call.progress(number, total, f"{number} of {total}")
        else:
            call.world.changed("tools")
    return result(f"Sent {total} notifications, except those that the client does not want.")


@box.add(
    "noisy",
    {
        "lines": {"type": "integer", "minimum": 1, "maximum": 100_000, "default": 10},
        "colour": {"type": "boolean", "default": False, "description": "With terminal colour codes"},
    },
    title="Noise on stderr",
    hints=READ_ONLY,
)
def noisy(call: ClientRequest) -> dict[str, Any]:
    """Writes lines to its standard error."""
    lines = int(call.arguments.get("lines", 10))
    form = "\x1b[33mwarning\x1b[0m: line {}\n" if call.arguments.get("colour") else "warning: line {}\n"
    sys.stderr.write("".join(map(form.format, range(1, lines + 1))))
    sys.stderr.flush()
    return result(f"Wrote {lines} lines to stderr.")


@box.add(
    "crash",
    {"exit_code": {"type": "integer", "minimum": 0, "maximum": 255, "default": 1}},
    title="Crash",
    hints={"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False},
)
def crash(call: ClientRequest) -> dict[str, Any]:
    """Ends the server process immediately, without a response."""
    sys.stderr.write("demo: crashing, as asked\n")
    sys.stderr.flush()
    os._exit(int(call.arguments.get("exit_code", 1)))


@box.add("forget", title="Forget to answer", hints=READ_ONLY, patient=True)
def forget(call: ClientRequest) -> dict[str, Any]:
    """Never answers. It can be cancelled."""
    call.wait_for_ever()


@box.add(
    "hang-up",
    {"retry": {"type": "integer", "minimum": 0, "maximum": 60_000, "default": 200, "description": "Milliseconds"}},
    title="Hang up",
    hints=READ_ONLY,
    patient=True,
)
def hang_up(call: ClientRequest) -> dict[str, Any]:
    """Over HTTP it closes its stream, asks the client to reconnect, and responds on the resumed stream."""
    call.log("notice", "hanging up", "hang-up")
    call.channel.hang_up(int(call.arguments.get("retry", 200)))
    call.sleep(0.05)
    return result("You resumed the stream for this answer, or there was no stream to close.")


@box.add(
    "delete-everything",
    {"sure": {"const": True, "description": "To be sure"}},
    required=("sure",),
    title="Delete everything",
    hints={"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True, "openWorldHint": True},
)
def delete_everything(call: ClientRequest) -> dict[str, Any]:
    """Has every warning that annotations can express. It deletes nothing."""
    return result("Nothing was deleted.")
