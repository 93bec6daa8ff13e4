"""The requests of steps, with variables inserted."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from inspector import command_words
from inspector.calls import models
from inspector.calls.models import StepModel
from inspector.calls.templates import inserted_text
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
            method, params = "resources/read", {"uri": inserted_text(insert(step.read))}
        case models.PromptStep():
            arguments = {name: inserted_text(insert(value)) for name, value in step.args.items()}
            params = {"name": str(insert(step.prompt)), **({"arguments": arguments} if arguments else {})}
            method = "prompts/get"
        case models.CompleteStep():
            named = str(insert(step.complete))
            ref = (
                {"type": "ref/prompt", "name": named.removeprefix("prompt/")}
                if named.startswith("prompt/")
                else {"type": "ref/resource", "uri": named}
            )
            value = {"name": str(insert(step.argument)), "value": inserted_text(insert(step.value))}
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
    return checked_headers((name, inserted_text(variables.insert(value))) for name, value in step.headers.items())


_PLAIN_KEY = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)
_OPTIONS = ("--args", "--task")
MAX_LENGTH = 4000
"""Characters of a command line that is given."""


def repeat(
    method: str,
    params: Mapping[str, Any],
    target: str,
    *,
    headers: Mapping[str, str] | None = None,
    answer: Mapping[str, Any] | None = None,
) -> str:
    """`inspector …` for the shell; empty where no verb sends this. `target` has the options and the server.

    A text that the command line would take for an option or a file is not written as a word of its own.
    """
    words = _command_words(method, params)
    if any(word.startswith("-") and word not in _OPTIONS for word in words):
        words = [] if method.startswith("-") else ["request", method, _json(params)]
    if not words or str((answer or {}).get("sampling", "")).startswith("@"):
        return ""
    for name, value in (headers or {}).items():
        words += ["--header", f"{name}: {value}"]
    words += _answers(answer or {})
    command = f"{command_words.join(['inspector', *words])} {target}"
    return command if len(command) <= MAX_LENGTH else ""


def _command_words(method: str, params: Mapping[str, Any]) -> list[str]:
    arguments = params.get("arguments") or {}
    if "_meta" in params:
        return ["request", method, _json(params)]
    match method:
        case "tools/call":
            task = ["--task"] if "task" in params else []
            return ["call", *task, str(params["name"]), *_arguments(arguments)]
        case "resources/read":
            return ["read", str(params["uri"])]
        case "prompts/get":
            return ["prompt", str(params["name"]), *_arguments(arguments)]
        case "completion/complete":
            ref, argument = params["ref"], params["argument"]
            kind = "prompt" if ref["type"] == "ref/prompt" else "template"
            return ["complete", kind, str(ref.get("name") or ref.get("uri")), argument["name"], argument["value"]]
    return ["request", method, *([_json(params)] if params else [])]


def _arguments(arguments: Mapping[str, Any]) -> list[str]:
    if not all(_PLAIN_KEY.fullmatch(key) for key in arguments):
        return ["--args", _json(arguments)]
    return [f"{key}={value}" if _is_plain(value) else f"{key}:={_json(value)}" for key, value in arguments.items()]


def _is_plain(value: Any) -> bool:
    """Whether a value is a text that is not also JSON: `5` as a text must not become a number."""
    if not isinstance(value, str):
        return False
    try:
        json.loads(value)
    except (ValueError, RecursionError):
        return True
    return False


def _answers(answer: Mapping[str, Any]) -> list[str]:
    words: list[str] = []
    if "elicitation" in answer:
        content = answer["elicitation"]
        words += ["--elicit", content if isinstance(content, str) else _json(content)]
    if "sampling" in answer:
        words += ["--sampling", str(answer["sampling"])]
    for root in answer.get("roots", ()):
        words += ["--root", str(root)]
    return words


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
