"""`--dry-run`: a step against the lists of the server, without a call."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from inspector.calls import models
from inspector.calls.regex import BadPattern, Pattern
from inspector.calls.results import ExpectationResult
from inspector.config.foreign_files import nearest
from inspector.errors import SchemaError
from inspector.protocol.exact_json.tokens import escape_step
from inspector.protocol.views import View
from inspector.text import safe

if TYPE_CHECKING:
    from inspector.calls.models import StepModel
    from inspector.calls.variables import Variables
    from inspector.client.session import Session
    from inspector.client.state.catalog import ListName
    from inspector.protocol.schema_violations import Violation

Locate = Callable[..., tuple[int, int]]
"""The line and column of a part of the step, by its keys: `("args", "id")`."""
_MAX_VIOLATIONS = 20
_AT_THE_PART = ("required", "additionalProperties", "unevaluatedProperties", "propertyNames", "minProperties")
"""Keywords whose violation at an object does not depend on the values of its members."""


async def problem_of(
    session: Session, step: StepModel, variables: Variables, locate: Locate
) -> ExpectationResult | None:
    """Return the first fault of a step that the server's lists show; None where there is none.

    Values that only a call can give are not checked.
    """
    expect = getattr(step, "expect", None)
    if expect is not None and (models.given(expect, "error") or models.given(expect, "tool_error")):
        return None  # The fault is on purpose.
    match step:
        case models.CallStep():
            return await _tool(session, step, variables, locate)
        case models.PromptStep():
            return await _prompt(session, step, locate)
        case models.ReadStep():
            return await _resource(session, step, variables, locate)
        case models.CompleteStep():
            name, at = step.complete, locate("complete")
            if name.startswith("prompt/"):
                return await _listed(session, "prompts", "name", name.removeprefix("prompt/"), "prompt", at)
            return await _listed(session, "templates", "uriTemplate", name, "resource template", at)
        case _:
            return None


def _fault(text: str, expected: str, actual: str, at: tuple[int, int], note: str = "") -> ExpectationResult:
    return ExpectationResult(text, False, expected=expected, found=actual, note=note, at=at)


async def _items(session: Session, name: ListName) -> list[dict[str, Any]]:
    items = session.catalog[name]
    if not items.pages and session.server.can("resources" if name == "templates" else name):
        await session.load(name)
    return [item for item in items.items if isinstance(item, dict)]


async def _listed(
    session: Session, name: ListName, key: str, expected: str, noun: str, at: tuple[int, int]
) -> ExpectationResult | None:
    if "{{" in expected:
        return None
    names = [str(item.get(key)) for item in await _items(session, name)]
    if expected in names:
        return None
    near = nearest(expected, names)
    note = f"Did you mean “{safe(near, 200)}”?" if near else f"The server lists {len(names)} of them."
    return _fault(f"the server has the {noun}", f"a {noun} “{safe(expected, 200)}”", "not in the list", at, note)


async def _tool(
    session: Session, step: models.CallStep, variables: Variables, locate: Locate
) -> ExpectationResult | None:
    problem = await _listed(session, "tools", "name", step.call, "tool", locate("call"))
    tool = session.catalog["tools"].get(step.call)
    if problem is not None or tool is None:
        return problem
    from inspector.protocol.validation import Validator

    unknown: list[str] = []
    arguments = _known(step.args, variables, "", unknown)
    try:
        violations = Validator(tool.get("inputSchema", True)).errors(arguments, limit=_MAX_VIOLATIONS)
    except SchemaError:
        return None  # The schema is the server's fault; a call would show it.
    faults = [
        (_argument(arguments, violation, locate), _named(violation))
        for violation in violations
        if not any(_depends(violation.path, violation.keyword, pointer) for pointer in unknown)
    ]
    if not faults:
        return None
    (at, first), *others = faults
    note = "; ".join(f"{line}:{column} {safe(text, 300)}" for (line, column), text in others)
    return _fault(
        "the arguments match the tool's inputSchema", "arguments that match the inputSchema", safe(first, 300), at, note
    )


def _named(violation: Violation) -> str:
    """A violation with its place; a missing argument is named as forms name it."""
    if violation.keyword == "required":
        return f"{violation.path}/{escape_step(violation.member)} is required".removeprefix("/")
    return f"{violation.path or '/'}: {violation.message}"


def _argument(arguments: Any, violation: Violation, locate: Locate) -> tuple[int, int]:
    """Where the argument at fault stands; of one that is missing, the object that lacks it."""
    keys: list[str | int] = []
    value = arguments
    for part in filter(None, [*violation.path.split("/")[1:], violation.member]):
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list) and key.isdigit() and int(key) < len(value):
            keys.append(int(key))
        elif isinstance(value, dict) and key in value:
            keys.append(key)
        else:
            break
        value = value[keys[-1]]
    return locate("args", *keys)


def _depends(path: str, keyword: str, unknown: str) -> bool:
    """Whether a violation may come from a value that is not known yet."""
    if path == unknown or path.startswith(f"{unknown}/"):
        return True
    return unknown.startswith(f"{path}/") and keyword not in _AT_THE_PART


def _known(value: Any, variables: Variables, pointer: str, unknown: list[str]) -> Any:
    """A value with the variables inserted that have values; `unknown` gets the places of the others."""
    if isinstance(value, dict):
        return {
            name: _known(item, variables, f"{pointer}/{escape_step(name)}", unknown) for name, item in value.items()
        }
    if isinstance(value, list):
        return [_known(item, variables, f"{pointer}/{at}", unknown) for at, item in enumerate(value)]
    try:
        return variables.insert(value)
    except KeyError:
        unknown.append(pointer)
        return None


async def _prompt(session: Session, step: models.PromptStep, locate: Locate) -> ExpectationResult | None:
    problem = await _listed(session, "prompts", "name", step.prompt, "prompt", locate("prompt"))
    prompt = session.catalog["prompts"].get(step.prompt)
    if problem is not None or prompt is None:
        return problem
    declared = {str(item.get("name")): item for item in View(prompt).array("arguments") if isinstance(item, dict)}
    for name, argument in declared.items():
        if argument.get("required") is True and name not in step.args:
            return _fault(
                "the required arguments are given", f"the argument “{safe(name, 80)}”", "none", locate("args")
            )
    for name in step.args:
        if name not in declared:
            near = nearest(name, list(declared))
            note = f"Did you mean “{safe(near, 80)}”?" if near else ""
            return _fault(
                "the prompt has the arguments",
                f"an argument “{safe(name, 80)}”",
                "not in the list",
                locate("args", name),
                note,
            )
    return None


async def _resource(
    session: Session, step: models.ReadStep, variables: Variables, locate: Locate
) -> ExpectationResult | None:
    try:
        uri = str(variables.insert(step.read))
    except KeyError:
        return None
    resources = [str(item.get("uri")) for item in await _items(session, "resources")]
    templates = [str(item.get("uriTemplate")) for item in await _items(session, "templates")]
    if uri in resources or any(_fits(template, uri) for template in templates) or not (resources or templates):
        return None
    near = nearest(uri, resources)
    note = f"Did you mean {safe(near, 200)}?" if near else ""
    return _fault(
        "the server has the resource",
        f"a resource {safe(uri, 200)}",
        "neither in the list, nor of a listed template",
        locate("read"),
        note,
    )


def _fits(template: str, uri: str) -> bool:
    """Whether a URI may be one of a template: anything stands for its expressions (RFC 6570)."""
    parts = re.split(r"\{[^{}]*\}", template)
    try:
        return Pattern("^" + ".*".join(re.escape(part) for part in parts) + "$").search(uri)
    except BadPattern:
        return True
