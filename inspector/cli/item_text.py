"""Formats tools, resources, templates and prompts: cells of a line, or the lines of a tool; safe to print."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from inspector.cli.colours import Colours
from inspector.cli.output import PIPED, Output
from inspector.protocol import views
from inspector.protocol.app_definitions import tool_app

NAME = 300
"""Characters shown of a name, URI or MIME type."""
ARGUMENTS = 20
"""Arguments listed in a line."""


def _tool(out: Output, raw: Any) -> tuple[str, ...]:
    tool = views.Tool(raw)
    required = set(tool.required_arguments)
    words = [(name, name in required) for name in tool.arguments]
    return (
        out.safe(tool.name or views.UNNAMED, NAME),
        _arguments(out, words),
        _line(out, _marked(tool)),
    )


def _marked(tool: views.Tool) -> str:
    """The description of a tool, after the mark of MCP Apps: `[UI]`, `[app only]`."""
    mark = tool_app(tool.raw).mark
    text = tool.description or tool.title
    return f"[{mark}] {text}" if mark else text


def tool_lines(out: Output, raw: Any, *, schemas: bool = False) -> Iterator[str]:
    """The signature and description of a tool, for a terminal; with `schemas` the full text and both schemas."""
    from inspector.protocol.assignments import signature
    from inspector.text import ellipsis, signs

    tool = views.Tool(raw)
    head, paren, rest = signature(tool).partition("(")
    first, *more = out.wrapped(f"{head}{paren}{rest}") or [""]
    yield Colours()(head, "bold") + first[len(head) :] if first.startswith(head) else first
    yield from (f"    {line}" for line in more)
    text = _marked(tool)
    if schemas:
        yield from out.wrapped(text, "  ")
        yield from _schema(out, "input", tool.input_schema)
        yield from _schema(out, "output", tool.output_schema)
        yield ""
    elif text:
        line = f"  {_line(out, text)}"
        yield ellipsis(line, out.width, signs(out.ascii).cut) if out.width else line


def _schema(out: Output, name: str, schema: Any) -> Iterator[str]:
    from inspector.protocol import jsonrpc
    from inspector.protocol.exact_json.text import pretty

    if schema is None:
        return
    yield f"  {name} schema:"
    try:
        text = jsonrpc.encode(schema).decode()
    except RecursionError:
        yield "    (nested too deeply to print; the recording has it)"
    else:
        yield from (f"    {out.safe(line)}" for line in pretty(text))


def _prompt(out: Output, raw: Any) -> tuple[str, ...]:
    prompt = views.Prompt(raw)
    words = [(argument.name or views.UNNAMED, argument.is_required) for argument in prompt.arguments]
    return (
        out.safe(prompt.name or views.UNNAMED, NAME),
        _arguments(out, words),
        _line(out, prompt.description or prompt.title),
    )


def _resource(out: Output, raw: Any) -> tuple[str, ...]:
    resource = views.Resource(raw)
    named = resource.title or resource.name
    return (
        out.safe(resource.uri, NAME),
        out.safe(named, NAME),
        out.safe(resource.mime_type, NAME),
        _line(out, resource.description),
    )


def _template(out: Output, raw: Any) -> tuple[str, ...]:
    template = views.ResourceTemplate(raw)
    named = template.title or template.name
    return (
        out.safe(template.uri_template, NAME),
        out.safe(named, NAME),
        out.safe(template.mime_type, NAME),
        _line(out, template.description),
    )


def _arguments(out: Output, words: list[tuple[str, bool]]) -> str:
    """The names of arguments, optional ones in brackets."""
    names = [out.safe(name, 60) if required else f"[{out.safe(name, 60)}]" for name, required in words[:ARGUMENTS]]
    return " ".join(names) + (" [...]" if len(words) > ARGUMENTS else "")


def _line(out: Output, text: str) -> str:
    """A description in one line."""
    return out.safe(" ".join(text[:PIPED].split()), PIPED)


ROWS: dict[str, Callable[[Output, Any], tuple[str, ...]]] = {
    "tools": _tool,
    "resources": _resource,
    "templates": _template,
    "prompts": _prompt,
}
