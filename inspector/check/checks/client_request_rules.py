"""Rules for elicitation (forms and URLs) and sampling requests of the server.

Each function takes the params of one request and yields `(level, sentence)`; none ever raises.
Source: specification, "Elicitation" and "Sampling" of each revision.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal
from urllib.parse import parse_qsl, urlsplit

from inspector.check.judge.rules import short
from inspector.protocol.revisions import Features

FormProblem = tuple[Literal["bad", "doubtful"], str]

MAX_CHECKED = 200
"""Fields of a form, or messages, that are checked."""
_SECRET = re.compile(
    r"pass(?:word|wd|phrase|code)|\bpwd\b|\bsecrets?\b|api[ _-]?key|access[ _-]?key|private[ _-]?key|credit[ _-]?card"
    r"|card[ _-]?number|\bcv[vc]2?\b|security[ _-]?code|social[ _-]?security|\bssn\b|^(?:pin|token)$"
    r"|\bpin[ _-]?(?:code|number)|\b(?:access|auth|api|bearer|bot|refresh|session)[ _-]?token",
    re.IGNORECASE,
)
_IN_URL = re.compile(r"token|secret|password|passwd|api[_-]?key|\bsig(?:nature)?\b|credential|\bjwt\b", re.IGNORECASE)
_LINK = re.compile(r"https?://[^\s\"'<>]{4,}", re.IGNORECASE)
_FORMATS = ("email", "uri", "date", "date-time")
_PRIMITIVE: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int, float),
    "boolean": (bool,),
}
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_PRIORITIES = ("costPriority", "speedPriority", "intelligencePriority")


def secrets_asked(params: dict[str, Any]) -> Iterator[FormProblem]:
    """Fields of a form that seem to ask for a secret."""
    for name, field in _fields(params):
        texts = [name, *(field[key] for key in ("title", "description") if isinstance(field.get(key), str))]
        secret = next((text for text in texts if _SECRET.search(text[:1000])), None)
        if secret is not None:
            yield "doubtful", f"The field {short(name)} seems to ask for a secret: {short(secret)}."


def form_problems(params: dict[str, Any], features: Features) -> Iterator[FormProblem]:
    """A form that clients cannot show: it must be a flat object with primitive fields."""
    schema = params.get("requestedSchema")
    if not isinstance(params.get("message"), str):
        yield "bad", f"The message of a form is {short(params.get('message'))}."
    if type(schema) is not dict or schema.get("type") != "object" or type(schema.get("properties")) is not dict:
        yield "bad", f"requestedSchema is {short(schema)}, not an object with properties."
        return
    required = schema.get("required", [])
    if type(required) is not list or not all(isinstance(name, str) for name in required):
        yield "bad", f"required is {short(required)}."
    elif set(required) - set(schema["properties"]):
        yield "bad", f"{short(min(set(required) - set(schema['properties'])))} is required, but is not a field."
    for name, field in list(schema["properties"].items())[:MAX_CHECKED]:
        problem = _field_problem(field, features)
        if problem:
            yield "bad", f"The field {short(name)}: {problem}."


def _field_problem(field: Any, features: Features) -> str:
    kind = field.get("type") if type(field) is dict else None
    if type(field) is not dict or not isinstance(kind, str):
        return f"it is {short(field)}"
    if kind == "array" and features.elicitation_modes:  # Multiple choice came with the modes (2025-11-25).
        return _choices_problem(field)
    if kind not in _PRIMITIVE:
        return f"its type is {short(kind)}; fields must be strings, numbers, integers, booleans or lists of choices"
    if kind == "string" and "format" in field and field["format"] not in _FORMATS:
        return f"its format is {short(field['format'])}, not one of {', '.join(_FORMATS)}"
    if "enum" in field and not _are_texts(field["enum"]):
        return f"its enum is {short(field['enum'])}, not a list of strings"
    if "oneOf" in field and not (features.elicitation_modes and _are_titled(field["oneOf"])):
        return f"its oneOf is {short(field['oneOf'])}, not a list of objects with const and title"
    names = field.get("enumNames")
    if names is not None and not (
        _are_texts(names) and _are_texts(field.get("enum")) and len(names) == len(field["enum"])
    ):
        return f"its enumNames are {short(names)}, not a name for each value"
    return _default_problem(field, _PRIMITIVE[kind])


def _default_problem(field: dict[str, Any], kinds: tuple[type, ...]) -> str:
    if "default" not in field:
        return ""
    value = field["default"]
    choices = field.get("enum")
    if "oneOf" in field:
        choices = [choice["const"] for choice in field["oneOf"]]
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        return f"its default is {short(value)}"
    return (
        f"its default {short(value)} is not one of its values" if type(choices) is list and value not in choices else ""
    )


def _choices_problem(field: dict[str, Any]) -> str:
    items = field.get("items")
    items = items if type(items) is dict else {}
    values: list[Any] = []
    if _are_texts(items.get("enum")):
        values = items["enum"]
    elif _are_titled(items.get("anyOf")):
        values = [choice["const"] for choice in items["anyOf"]]
    else:
        return f"its items are {short(field.get('items'))}, with neither enum nor anyOf of const and title"
    default = field.get("default", [])
    if type(default) is not list or not all(value in values for value in default):
        return f"its default {short(default)} is not one of its values"
    return ""


def _are_texts(value: Any) -> bool:
    return type(value) is list and bool(value) and all(isinstance(item, str) for item in value)


def _are_titled(value: Any) -> bool:
    return (
        type(value) is list
        and bool(value)
        and all(
            type(option) is dict and isinstance(option.get("const"), str) and isinstance(option.get("title"), str)
            for option in value
        )
    )


def link_problems(params: dict[str, Any], features: Features) -> Iterator[FormProblem]:
    """URL elicitation."""
    url = params.get("url")
    if not isinstance(params.get("message"), str):
        yield "bad", f"The message of a URL elicitation is {short(params.get('message'))}."
    if features.era == "legacy" and not isinstance(params.get("elicitationId"), str):
        yield "bad", f"elicitationId is {short(params.get('elicitationId'))}."
    try:
        parts = urlsplit(url) if isinstance(url, str) else None
        host = parts.hostname if parts is not None else None
    except ValueError:
        parts = host = None
    if parts is None or not host or parts.scheme.lower() not in ("http", "https"):
        yield "bad", f"The URL is {short(url)}."
        return
    if parts.scheme.lower() == "http" and host not in _LOOPBACK:
        yield "doubtful", f"{short(url)} is not https."
    names = [name for name, _ in parse_qsl(parts.query[:10_000], keep_blank_values=True)]
    secret = next((name for name in names if _IN_URL.search(name)), "")
    if secret or parts.password:
        yield "doubtful", f"{short(url)} seems to contain a secret ({short(secret) if secret else 'a password'})."


def links_in_form(params: dict[str, Any]) -> Iterator[FormProblem]:
    """URLs in a form, which a user may click."""
    for name, field in _fields(params):
        for key in ("title", "description", "default"):
            if isinstance(field.get(key), str) and _LINK.search(field[key][:10_000]) and field.get("format") != "uri":
                yield "doubtful", f"The {key} of the field {short(name)} contains a URL."


def _fields(params: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    schema = params.get("requestedSchema")
    fields = schema.get("properties") if type(schema) is dict else None
    return (
        [pair for pair in list(fields.items())[:MAX_CHECKED] if type(pair[1]) is dict] if type(fields) is dict else []
    )


def sampling_problems(params: dict[str, Any], features: Features) -> Iterator[FormProblem]:
    """A sampling request with invalid members."""
    messages, limit = params.get("messages"), params.get("maxTokens")
    if type(messages) is not list or not messages:
        yield "bad", f"messages is {short(messages)}."
    for message in messages[:MAX_CHECKED] if type(messages) is list else ():
        content = message.get("content") if type(message) is dict else None
        blocks = content if type(content) is list and features.sampling_tools else [content]
        role = message.get("role") if type(message) is dict else None
        if role not in ("user", "assistant") or not all(_is_block(block) for block in blocks):
            yield "bad", f"One of the messages is {short(message)}."
    if type(limit) is not int or limit < 1:
        yield "bad", f"maxTokens is {short(limit)}."
    preferences = params.get("modelPreferences")
    for name in _PRIORITIES:
        value = preferences.get(name) if type(preferences) is dict else None
        if value is not None and not (type(value) in (int, float) and 0 <= value <= 1):
            yield "bad", f"{name} is {short(value)}; priorities must be from 0 to 1."
    context = params.get("includeContext")
    if context not in (None, "none", "thisServer", "allServers"):
        yield "bad", f"includeContext is {short(context)}."
    elif context not in (None, "none") and features.sampling_tools:
        yield "doubtful", f"includeContext is {short(context)}, which is deprecated."


def _is_block(block: Any) -> bool:
    return type(block) is dict and isinstance(block.get("type"), str)


def unbalanced(params: dict[str, Any]) -> str:
    """tool_use blocks without tool_result, or tool_result mixed with other content; empty if correct."""
    messages = params.get("messages")
    waiting: set[str] = set()
    for message in messages[:MAX_CHECKED] if type(messages) is list else ():
        blocks = _blocks(message)
        results = [block for block in blocks if block.get("type") == "tool_result"]
        if waiting and {str(block.get("toolUseId")) for block in results} != waiting:
            return f"The tool uses {short(sorted(waiting))} do not all have results in the next message."
        if results and len(results) != len(blocks):
            return "A message mixes tool_result with other content."
        waiting = {str(block.get("id")) for block in blocks if block.get("type") == "tool_use"}
    return f"The tool uses {short(sorted(waiting))} have no results." if waiting else ""


def _blocks(message: Any) -> list[dict[str, Any]]:
    content = message.get("content") if type(message) is dict else None
    blocks = content if type(content) is list else [content]
    return [block for block in blocks[:MAX_CHECKED] if type(block) is dict]
