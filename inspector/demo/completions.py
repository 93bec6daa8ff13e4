"""Completion of prompt arguments and template variables (completion/complete)."""

from __future__ import annotations

from inspector.demo.definitions import document
from inspector.demo.resources import ITEM, UriTemplate
from inspector.demo.rpc import INVALID_PARAMS, RpcError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from inspector.demo.call import ClientRequest

MAX_VALUES = 100  # the maximum number of values in one response
_DETAIL = ["brief", "detailed", "exhaustive"]
_LANGUAGES = ["Deutsch", "English", "Español", "Français", "Italiano", "日本語"]


def complete(call: ClientRequest) -> dict[str, Any]:
    """Returns the result of completion/complete; raises RpcError for an unknown reference or argument."""
    argument = call.params.get("argument")
    name = argument.get("name") if isinstance(argument, dict) else None
    value = argument.get("value") if isinstance(argument, dict) else None
    if not isinstance(name, str) or not isinstance(value, str):
        raise RpcError(INVALID_PARAMS, "argument must have a name and a value, both strings")
    context = call.params.get("context")
    chosen = context.get("arguments") if isinstance(context, dict) else None
    chosen = chosen if isinstance(chosen, dict) else {}
    reference = call.params.get("ref")
    kind = reference.get("type") if isinstance(reference, dict) else None
    if isinstance(reference, dict) and kind == "ref/prompt":
        return _completion(*_for_prompt(call, reference.get("name"), name, value, chosen))
    if isinstance(reference, dict) and kind == "ref/resource":
        return _completion(*_for_template(call, reference.get("uri"), name, value, chosen))
    raise RpcError(INVALID_PARAMS, "ref must be of type ref/prompt or ref/resource")


def _completion(values: list[str], total: int) -> dict[str, Any]:
    return {"completion": {"values": values[:MAX_VALUES], "total": total, "hasMore": total > MAX_VALUES}}


def _starting(known: Iterable[str], value: str) -> tuple[list[str], int]:
    matching = [name for name in known if name.lower().startswith(value.lower())]
    return matching, len(matching)


def _for_prompt(
    call: ClientRequest, prompt: Any, name: str, value: str, chosen: dict[str, Any]
) -> tuple[list[str], int]:
    known = call.state.prompt(prompt)
    if name not in [argument["name"] for argument in known.definition.get("arguments", ())]:
        raise RpcError(INVALID_PARAMS, f"The prompt {prompt} has no argument {name}")
    if prompt == "explain-code" and name == "language":
        return _starting(document()["frameworks"], value)
    if prompt == "explain-code" and name == "framework":
        every = sorted(framework for names in document()["frameworks"].values() for framework in names)
        language = chosen.get("language")
        return _starting(document()["frameworks"].get(language, every) if isinstance(language, str) else every, value)
    if name == "detail":
        return _starting(_DETAIL, value)
    if name == "language":
        return _starting(_LANGUAGES, value)
    if name == "uri":
        listed = call.state.resources.page(0, MAX_VALUES)
        return _starting([resource["uri"] for resource in listed], value)
    return [], 0


def _for_template(
    call: ClientRequest, template: Any, name: str, value: str, chosen: dict[str, Any]
) -> tuple[list[str], int]:
    if template not in [entry["uriTemplate"] for entry in call.state.resources.templates]:
        raise RpcError(INVALID_PARAMS, f"Unknown template {template}")
    if name not in UriTemplate(template).names():
        raise RpcError(INVALID_PARAMS, f"The template {template} has no variable {name}")
    if template == ITEM + "{id}":
        return _numbers(value, call.state.resources.items)
    if name == "country":
        return _starting(document()["cities"], value)
    if name == "city":
        country = chosen.get("country")
        every = sorted(city for names in document()["cities"].values() for city in names)
        return _starting(document()["cities"].get(country, every) if isinstance(country, str) else every, value)
    if name == "path":
        return _starting(document()["files"], value)
    return [], 0


def _numbers(value: str, last: int) -> tuple[list[str], int]:
    """Returns a few of the numbers from 1 to `last` that start with these digits, and their count."""
    if value and not (value.isascii() and value.isdigit() and value[0] != "0" and len(value) < 12):
        return [], 0
    ranges = []
    low, high = (int(value), int(value)) if value else (1, last)
    while low <= last:
        ranges.append(range(low, min(high, last) + 1))
        if not value:
            break
        low, high = low * 10, high * 10 + 9
    numbers = [str(number) for part in ranges for number in part[:MAX_VALUES]]
    return numbers, sum(map(len, ranges))
