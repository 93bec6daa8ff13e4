"""The arguments of a call: `--args` first, then KEY=VALUE pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from inspector.cli.options import text_or_file
from inspector.errors import UsageError
from inspector.protocol import jsonrpc

if TYPE_CHECKING:
    from collections.abc import Container

    from inspector.cli.output import Output
    from inspector.cli.verb import Invocation
    from inspector.client.session import Session
    from inspector.client.state.catalog import ListName

MOST_NAMES = 3
"""Required arguments that a sentence names."""
MOST_LISTED = 10
"""Listed items that a sentence names."""


async def tool_arguments(invocation: Invocation, session: Session, out: Output) -> dict[str, Any]:
    """Merge `--args` with the pairs; `key=text` is converted to the type in the tool's schema.

    The tools are listed for the schema, and only if a pair needs it. Raises `UsageError`.
    """
    given: dict[str, Any] = dict(invocation.option("args", {}))
    pairs = [_with_content(word) for word in invocation.arguments["arguments"]]
    if not pairs:
        return given
    schema: Any = {}
    if any(not word.partition("=")[0].endswith(":") for word in pairs):
        await session.load("tools")
        tool = session.catalog.tools.get(invocation.arguments["tool"])
        schema = {} if tool is None else tool.get("inputSchema", {})
    return given | assigned(pairs, schema, out)


def assigned(pairs: list[str], schema: Any, out: Output) -> dict[str, Any]:
    """The values of KEY=VALUE pairs, converted to the types in a schema. Raises `UsageError`."""
    from inspector.protocol.assignments import parse_assignments

    assignments = parse_assignments(pairs, schema)
    for warning in assignments.warnings:
        out.note(f"note: {out.safe(warning, 300)}")
    return assignments.value


def text_arguments(invocation: Invocation) -> dict[str, str]:
    """The arguments of a prompt, which are text: other values are written as JSON. Raises `UsageError`."""
    given: dict[str, Any] = dict(invocation.option("args", {}))
    for word in map(_with_content, invocation.arguments["arguments"]):
        key, _, text = word.partition("=")
        if key.endswith(":"):
            try:
                given[key[:-1]] = jsonrpc.parse(text.encode("utf-8", "surrogateescape"))
            except jsonrpc.NotJson as problem:
                raise UsageError(
                    f"{key}= needs JSON: {problem}.", hint=f"Write {key[:-1]}=TEXT for plain text."
                ) from None
        else:
            given[key] = text
    return {name: value if isinstance(value, str) else jsonrpc.encode(value).decode() for name, value in given.items()}


def _with_content(word: str) -> str:
    """Replace the file of `KEY@=FILE` (text) or `KEY:=@FILE` (JSON) by its content; the file `-` is stdin."""
    key, _, text = word.partition("=")
    if key.endswith(":") and text.startswith("@"):
        return f"{key}={text_or_file(text)}"
    return f"{key[:-1]}={text_or_file(f'@{text}')}" if key.endswith("@") and len(key) > 1 else word


async def accepted_despite(session: Session, tool: str, arguments: dict[str, Any]) -> str:
    """Return a sentence about an unlisted tool or a missing argument that the server accepted; else empty.

    It looks only at a list that was read for the types of the arguments: a note is not worth another request.
    """
    if not session.catalog["tools"].pages:
        return ""
    if text := await unlisted(session, "tools", tool):
        return f"{text} It accepted the call."
    text = not_given(session, "tools", tool, arguments)
    return f"{text} The server accepted the call." if text else ""


def not_given(session: Session, list_name: Literal["tools", "prompts"], name: str, given: Container[str]) -> str:
    """A sentence about required arguments that a call does not have; empty if the list was not read."""
    item = session.catalog[list_name].get(name) or {}
    if list_name == "tools":
        schema = item.get("inputSchema")
        required = schema.get("required") if type(schema) is dict else None
    else:
        declared = item.get("arguments")
        entries = declared if type(declared) is list else []
        required = [entry.get("name") for entry in entries if type(entry) is dict and entry.get("required") is True]
    names = [word for word in required if type(word) is str and word not in given] if type(required) is list else []
    if not names:
        return ""
    return f"{_some(names, MOST_NAMES)} {'is' if len(names) == 1 else 'are'} required."


_THINGS: dict[ListName, tuple[str, str]] = {
    "tools": ("a tool", "name"),
    "prompts": ("a prompt", "name"),
    "resources": ("a resource", "uri"),
    "templates": ("a resource template", "uriTemplate"),
}


async def unlisted(session: Session, list_name: ListName, name: str) -> str:
    """A hint with the nearest name, or with the listed ones, if the server does not list this item.

    It is empty if the server lists the item, or nothing at all. It requests the list if that has not been read.
    """
    from inspector.config.foreign_files import nearest

    listed = session.catalog[list_name]
    thing, key = _THINGS[list_name]
    if not listed.pages:
        await session.load(list_name)
    # The list has names as they are recorded: a secret in this one is hidden in both.
    name = session.journal.redactor.text(name)[0]
    names = [item[key] for item in listed.items if type(item.get(key)) is str]
    if name in names or not names:
        return ""
    near = nearest(name, names)
    text = f"The server does not list {thing} “{name[:80]}”."
    return f"{text} Did you mean “{near[:80]}”?" if near else f"{text} It lists {_some(names, MOST_LISTED)}."


def _some(names: list[str], most: int) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{', '.join(name[:80] for name in names[:most])}{more}"
