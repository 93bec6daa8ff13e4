"""The requests of steps, with variables inserted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inspector.calls import models
from inspector.calls.models import StepModel
from inspector.calls.templates import text_of
from inspector.config.text_checks import checked_headers

if TYPE_CHECKING:
    from inspector.calls.variables import Variables


def request_of(step: StepModel, variables: Variables) -> tuple[str, dict[str, Any]]:
    """Method and parameters of a step, with variables inserted."""
    insert = variables.insert
    match step:
        case models.CallStep():
            params: dict[str, Any] = {"name": str(insert(step.call)), "arguments": insert(step.args)}
            method = "tools/call"
        case models.ReadStep():
            method, params = "resources/read", {"uri": text_of(insert(step.read))}
        case models.PromptStep():
            arguments = {name: text_of(insert(value)) for name, value in step.args.items()}
            params = {"name": str(insert(step.prompt)), **({"arguments": arguments} if arguments else {})}
            method = "prompts/get"
        case models.CompleteStep():
            named = str(insert(step.complete))
            ref = (
                {"type": "ref/prompt", "name": named.removeprefix("prompt/")}
                if named.startswith("prompt/")
                else {"type": "ref/resource", "uri": named}
            )
            value = {"name": str(insert(step.argument)), "value": text_of(insert(step.value))}
            method, params = "completion/complete", {"ref": ref, "argument": value}
        case models.RequestStep():
            method, params = str(insert(step.request)), insert(step.params)
        case _:
            raise AssertionError(step)
    return method, with_meta(step, params, variables)


def with_meta(step: Any, params: dict[str, Any], variables: Variables) -> dict[str, Any]:
    """The parameters with the metadata of the step."""
    if not step.meta:
        return params
    theirs = params.get("_meta")
    return {**params, "_meta": {**(theirs if isinstance(theirs, dict) else {}), **variables.insert(step.meta)}}


def headers_of(step: Any, variables: Variables) -> tuple[tuple[str, str], ...]:
    """The HTTP headers of a step. Raises `TargetError`."""
    return checked_headers((name, text_of(variables.insert(value))) for name, value in step.headers.items())
