"""The calls of a plan, from a flow of saved calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from inspector.calls.collection import read_flow
from inspector.calls.models import CallStep
from inspector.calls.variables import Variables, check
from inspector.errors import UsageError
from inspector.load.plan import PlannedCall
from inspector.text import safe


def calls_of(path: Path) -> tuple[PlannedCall, ...]:
    """Return the calls of tools in a flow, with their weights.

    A step with `each` is one call for each row. Variables have the flow's own values, and a generated value is the
    same in each call. Other steps are ignored.
    Raises `CallsError` for a file that is not a flow, `UsageError` without calls, and for a call that needs a result.
    """
    flow = read_flow(path)
    check(flow, ())
    variables = Variables.for_flow(flow)
    found: list[PlannedCall] = []
    for number, step in enumerate(flow.steps, 1):
        if not isinstance(step, CallStep) or step.skip:
            continue
        rows: list[dict[str, Any]] = list(step.each) or [{}]
        for row in rows:
            try:
                variables.row = variables.insert(row)
                tool, arguments = variables.insert(step.call), variables.insert(step.args)
            except KeyError as name:
                raise UsageError(
                    f"Step {number} of {safe(str(path), 200)} needs {name}, which is the result of another call.",
                    hint="Under load, each call is made for itself: write the value into the flow, or skip the step.",
                ) from None
            found.append(PlannedCall(str(tool), arguments, step.weight))
    if not found:
        raise UsageError(
            f"The flow {safe(str(path), 200)} has no calls of tools.", hint="A step that calls one begins with `call:`."
        )
    return tuple(found)
