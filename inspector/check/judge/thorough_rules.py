"""Rules for published metadata, schemas and icons that are too slow for a live session.

They work like those of `rules`; a thorough judge runs them.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Any, TypeVar
from urllib.parse import urlsplit

from inspector.check.judge import extension_rules, list_entry_rules, text_rules
from inspector.check.judge.clean_texts import CleanTexts, digest_of
from inspector.check.judge.definition_rules import definition_rules
from inspector.check.judge.feature_rules import feature_rules
from inspector.check.judge.rules import RuleVerdict, short
from inspector.check.judge.state import JudgeState
from inspector.check.poison import rules as poison
from inspector.check.poison.judge import TextPlace
from inspector.errors import SchemaError, SchemaTooLarge
from inspector.protocol.jsonrpc import excerpt
from inspector.protocol.members import array_at, object_at, objects_at, value_at
from inspector.protocol.names import SERVER_KEY

T = TypeVar("T")
MAX_VALUES = 10_000
"""Values of one message that are checked."""
_LABEL = r"[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_PREFIX = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_NAME = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?")
_OURS = re.compile(rf"{_LABEL}\.(?:modelcontextprotocol|mcp)(?:\..*)?|(?:modelcontextprotocol|mcp)\..*")
_KNOWN = frozenset(
    (
        "protocolVersion",
        "clientInfo",
        "clientCapabilities",
        "logLevel",
        "subscriptionId",
        "serverInfo",
        "related-task",
        "model-immediate-response",
        "tasks",
        "ui",
    )
)
_TRACE_PARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?")
_TRACE_STATE = re.compile(r"[a-z0-9][a-z0-9_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{1,256}")
_BAGGAGE = re.compile(r"\s*[!#$%&'*+\-.^_`|~0-9A-Za-z]+\s*=\s*[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*\s*(?:;.*)?")
_SIZE = re.compile(r"any|[1-9][0-9]*x[1-9][0-9]*")
MAX_PAGES = 200
"""Pages of lists whose findings are remembered."""
_MAX_REMEMBERED = 1000
"""Findings of a remembered page."""
_judged: dict[bytes, tuple[RuleVerdict, ...]] = {}
"""The findings of pages. A check reads the same lists many times."""
_names: dict[bytes, frozenset[str]] = {}
"""The names in pages, as `poison.names_in` returns them."""
_valid = CleanTexts()
"""Schemas that were compiled without an error, and refer to nothing outside."""
_SOURCES = ("https", "data")
_REFERENCES = ("$ref", "$dynamicRef")
_ENTRIES = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}
DATA = ("tools/call", "resources/read", "prompts/get")
"""The methods whose results a model reads and others may have written."""
_ORDINARY = frozenset("\u00ad\u200e\u200f\f")

_MAGIC = {
    "image/png": (b"\x89PNG",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF8",),
    "image/webp": (b"RIFF",),
    "audio/wav": (b"RIFF",),
    "audio/mpeg": (b"ID3", b"\xff\xfb", b"\xff\xf3", b"\xff\xf2"),
    "audio/ogg": (b"OggS",),
}
"""The first bytes of well-known media types."""


def message_rules(message: dict[str, Any], state: JudgeState) -> Iterator[RuleVerdict]:
    """Rules for any message of the server: keys in its `_meta` at any depth; secrets in log messages."""
    if message.get("method") == "notifications/message":
        for _, text in text_rules.texts(value_at(message, "params", "data")):
            secret = text_rules.secret(text)
            if secret:
                yield "UTIL-14", "should", f"A log message contains {secret}."
    for rules in feature_rules():
        yield from rules.message(message)
    if not state.features.structured_content:  # The format of keys came with the same revision (2025-06-18).
        return
    for key, value in _metadata(message):
        yield from _key_rules(key)
        if state.era == "modern":
            yield from _trace_rules(key, value)


def result_rules(
    method: str, result: dict[str, Any], state: JudgeState, params: dict[str, Any] | None = None
) -> Iterator[RuleVerdict]:
    """Rules for a page of a list, or for serverInfo: schemas and icons. `params` are the params of the request."""
    entries = result.get(_ENTRIES.get(method, ""))
    if type(entries) is list:
        yield from _page_rules(method, entries, state)
    if method in _ENTRIES:
        yield from list_entry_rules.page_rules(method, result)
    if method == "tools/call":
        yield from _media_rules((params or {}).get("name"), result.get("content"))
        begins = text_rules.failure(result, (params or {}).get("arguments"))
        if begins:
            yield "TOOL-28", "should", f"The result of {short((params or {}).get('name'))} starts with {short(begins)}."
    if method in DATA:
        place: TextPlace = "error" if result.get("isError") is True else "result"
        yield from _hidden_rules(f"the result of {method}", result, text_rules.unusual(_given(params)))
        yield from poison.data_rules(f"the result of {method}", result, place, state.own_names, _given(params))
    info = result.get("serverInfo")
    for rules in feature_rules():
        yield from rules.result(method, result, state, params or {})
    if method in ("initialize", "server/discover"):
        yield from extension_rules.opening_rules(result, state)
        info = _server_info(result)
        state.own_names |= poison.words_of_server(info)
        yield from poison.opening_rules(result.get("instructions"), state.own_names, state.waiting)
        yield from poison.server_name_rules(info.get("name"))
    if method == "initialize" and type(info) is dict:
        yield from _icon_rules("the server", info.get("icons"), state, "LIFE-11")


def _page_rules(method: str, entries: list[Any], state: JudgeState) -> Iterator[RuleVerdict]:
    """Rules for the entries of a page."""
    try:
        page = repr(entries)
    except RecursionError:
        page = ""
    digest = digest_of(page)
    if len(state.own_names) < poison.MAX_NAMES:
        names = _names.get(digest) if page else None
        if names is None:
            names = _remember(_names, digest, poison.names_in(entries))
        if not names <= state.own_names:
            state.own_names |= names
    yield from poison.page_rules(
        method.partition("/")[0], entries, digest if page else b"", state.own_names, state.waiting
    )
    # The other rules depend on nothing else than this.
    key = digest_of(repr((method, state.revision, state.offered, state.server)) + page)
    verdicts = _judged.get(key) if page else None
    if verdicts is None:
        verdicts = tuple(_entry_rules(method, entries, state))
        if len(verdicts) <= _MAX_REMEMBERED:
            _remember(_judged, key, verdicts)
    yield from verdicts


def _remember(known: dict[bytes, T], key: bytes, value: T) -> T:
    """Keep a value in a bounded table, which is cleared when it is full."""
    if len(known) >= MAX_PAGES:
        known.clear()
    known[key] = value
    return value


def _entry_rules(method: str, entries: list[Any], state: JudgeState) -> Iterator[RuleVerdict]:
    for entry in entries:
        if type(entry) is dict:
            name = entry.get("name")
            yield from _icon_rules(f"{method.partition('/')[0]} {short(name)}", entry.get("icons"), state, "BASE-29")
            if method == "tools/list":
                yield from list_entry_rules.tool_rules(name, entry, state)
                for rules in feature_rules():
                    yield from rules.tool(entry)
                if state.features.icons:  # Schemas have a dialect since 2025-11-25.
                    yield from _schema_rules(name, entry, state)
            elif method == "resources/list":
                yield from list_entry_rules.resource_rules(entry, state)
            elif method == "resources/templates/list":
                yield from list_entry_rules.template_rules(entry)
            elif method == "prompts/list":
                yield from list_entry_rules.prompt_rules(entry)
    yield from list_entry_rules.alike(method, entries)
    if method == "tools/list":
        yield from definition_rules(entries)


def _server_info(result: dict[str, Any]) -> dict[str, Any]:
    return object_at(result.get("serverInfo") or value_at(result, "_meta", SERVER_KEY))


def _media_rules(tool: Any, content: Any) -> Iterator[RuleVerdict]:
    for block in objects_at(content):
        wrong = wrong_media(block) if block.get("type") in ("image", "audio") else ""
        if wrong:
            yield "TOOL-12", "must", f"{short(tool)}: {wrong}."


def wrong_media(block: dict[str, Any]) -> str:
    """The problem of the data of an image or audio block; empty if it is correct."""
    data, kind = block.get("data"), block.get("mimeType")
    if not isinstance(kind, str) or "/" not in kind:
        return f"its {block['type']} has the mimeType {excerpt(kind, 40)}"
    try:
        begins = base64.b64decode(data, validate=True)[:16] if isinstance(data, str) else None
    except (binascii.Error, ValueError):
        begins = None
    if begins is None:
        return f"the data of its {block['type']} is not base64"
    magic = _MAGIC.get(kind.lower())
    if magic is not None and not begins.startswith(magic):
        return f"the data of its {block['type']} does not start like {excerpt(kind, 40)}"
    return ""


def _hidden_rules(whose: str, value: Any, echoed: frozenset[str]) -> Iterator[RuleVerdict]:
    for key, text in text_rules.texts(value):
        # The mark at the start of a file, hyphenation and marks of direction are ordinary in texts of others.
        unseen = text_rules.hidden(text.removeprefix("\ufeff"), echoed | _ORDINARY)
        if unseen:
            yield "TOOL-24", "should", f"{whose}: {short(key)} contains {unseen}."


def error_rules(
    error: dict[str, Any], state: JudgeState, params: dict[str, Any] | None = None
) -> Iterator[RuleVerdict]:
    """Rules for a JSON-RPC error: what its message and data tell a model. `params` are the params of the request."""
    texts = {key: error.get(key) for key in ("message", "data")}
    yield from _hidden_rules("the error", texts, text_rules.unusual(_given(params)))
    yield from poison.data_rules("the error", texts, "error", state.own_names, _given(params))


def _given(params: dict[str, Any] | None) -> Any:
    """Return the values that the client gave in a request: a server may repeat them."""
    return [(params or {}).get(key) for key in ("name", "uri", "arguments")]


def _metadata(value: Any) -> Iterator[tuple[str, Any]]:
    """The members of every `_meta` in a message."""
    todo = [value]
    for _ in range(MAX_VALUES):
        if not todo:
            return
        item = todo.pop()
        if type(item) is dict:
            meta = item.get("_meta")
            if type(meta) is dict:
                yield from meta.items()
            todo += (below for key, below in item.items() if isinstance(below, (dict, list)) and key != "_meta")
        elif type(item) is list:
            todo += (below for below in item if isinstance(below, (dict, list)))


def _key_rules(key: str) -> Iterator[RuleVerdict]:
    prefix, slash, name = key.rpartition("/")
    if (slash and not _PREFIX.fullmatch(prefix)) or not _NAME.fullmatch(name):
        yield "BASE-25", "must", f"The key {short(key)} in _meta has an invalid format."
    elif slash and _OURS.fullmatch(prefix) and not (prefix == "io.modelcontextprotocol" and name in _KNOWN):
        yield "BASE-25", "must", f"The key {short(key)} in _meta has a prefix that is reserved for the protocol."


def _trace_rules(key: str, value: Any) -> Iterator[RuleVerdict]:
    patterns = {"traceparent": _TRACE_PARENT, "tracestate": _TRACE_STATE, "baggage": _BAGGAGE}
    pattern = patterns.get(key)
    if pattern is None:
        return
    members = [value] if key == "traceparent" or type(value) is not str else value.split(",")
    if not all(type(member) is str and pattern.fullmatch(member.strip(" \t")) for member in members):
        yield "BASE-26", "must", f"{key} in _meta is {short(value)}, which is not valid."


def _icon_rules(whose: str, icons: Any, state: JudgeState, rule: str) -> Iterator[RuleVerdict]:
    if not state.features.icons:
        return
    for icon in objects_at(icons):
        source, sizes, kind = icon.get("src"), icon.get("sizes"), icon.get("mimeType")
        scheme = urlsplit(source).scheme.lower() if type(source) is str and len(source) < 1 << 20 else ""
        if type(source) is str and not source.startswith("data:") and scheme not in _SOURCES:
            level = "should" if scheme == "http" else "must"
            yield rule, level, f"An icon of {whose} comes from {short(source)}."  # type: ignore[misc]
        if type(kind) is str and not kind.lower().startswith("image/"):
            yield rule, "must", f"An icon of {whose} has the MIME type {short(kind)}."
        for size in array_at(sizes):
            if type(size) is str and not _SIZE.fullmatch(size):
                yield rule, "must", f"An icon of {whose} has the size {short(size)}."


def _schema_rules(name: Any, tool: dict[str, Any], state: JudgeState) -> Iterator[RuleVerdict]:
    for key in ("inputSchema", "outputSchema"):
        schema = tool.get(key)
        if type(schema) is not dict:
            continue
        digest = _digest_of(schema)
        if digest in _valid:
            continue
        outside = list(_outside(schema))
        if outside and state.era == "modern":
            yield "BASE-28", "should", f"The {key} of {short(name)} refers to {short(outside[0])}."
        if outside:
            continue
        from inspector.protocol.validation import Validator

        try:
            Validator(schema)
            if digest:
                _valid.add(digest)
        except SchemaTooLarge as error:
            yield "BASE-28", "note", f"The {key} of {short(name)} was not checked: {error.message}."
        except SchemaError as error:
            yield "BASE-27", "must", f"The {key} of {short(name)} is invalid: {error.message}."


def _digest_of(schema: dict[str, Any]) -> bytes:
    try:
        return digest_of(repr(schema))
    except RecursionError:
        return b""  # No digest is empty.


def _outside(schema: Any) -> Iterator[str]:
    """External references of a schema."""
    todo = [schema]
    for _ in range(MAX_VALUES):
        if not todo:
            return
        item = todo.pop()
        if type(item) is dict:
            for key in _REFERENCES:
                reference = item.get(key)
                if type(reference) is str and urlsplit(reference).scheme in ("http", "https", "file", "ftp"):
                    yield reference
            todo += (below for below in item.values() if isinstance(below, (dict, list)))
        elif type(item) is list:
            todo += (below for below in item if isinstance(below, (dict, list)))
