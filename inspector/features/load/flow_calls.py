"""The calls of a plan, from a flow of saved calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from inspector.calls.collection import Flow
from inspector.calls.environments import Environment
from inspector.calls.models import CallStep
from inspector.calls.variables import Secrets, Variables, check
from inspector.errors import UsageError
from inspector.features.load.plan import PlannedCall
from inspector.text import safe


def calls_of(
    flow: Flow,
    environments: Sequence[Environment] = (),
    given: Mapping[str, Any] | None = None,
    secrets: Secrets | None = None,
) -> tuple[PlannedCall, ...]:
    """Return the calls of tools in a flow, with their weights.

    A step with `each` is one call for each row. Variables have the flow's own values, then those of environments, then
    the `given` ones; a generated value is the same in each call. Other steps are ignored. `secrets` learns those of the
    environments.
    Raises `CallsError` for a variable without a value, `UsageError` without calls, and for a call that needs a result.
    """
    secrets = secrets or Secrets()
    check(flow, {name for environment in environments for name in environment.names} | set(given or {}))
    variables = Variables.for_flow(flow, environments, given, secrets=secrets)
    calls: list[PlannedCall] = []
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
                    f"Step {number} of {safe(str(flow.path), 200)} needs {name}, which is the result of another call.",
                    hint="Under load, each call is made for itself. Write the value into the step, or skip the step.",
                ) from None
            masked = secrets.mask_value(arguments)
            calls.append(PlannedCall(str(tool), arguments, step.weight, None if masked == arguments else masked))
    if not calls:
        raise UsageError(
            f"The saved call {safe(str(flow.path), 200)} has no calls of tools.",
            hint="A step that calls one begins with `call:`.",
        )
    return tuple(calls)
