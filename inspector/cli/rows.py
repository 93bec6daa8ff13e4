"""One line of a list per tool, resource, template or prompt: its cells, safe to print."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from inspector.cli.output import PIPED, Output
from inspector.protocol import views

NAME = 300
"""Characters shown of a name, a URI or a media type."""
ARGUMENTS = 20
"""Arguments named in a line."""


def _tool(out: Output, raw: Any) -> tuple[str, ...]:
    tool = views.Tool(raw)
    required = set(tool.required_arguments)
    words = [(name, name in required) for name in tool.arguments]
    return (
        out.safe(tool.name or views.UNNAMED, NAME),
        _arguments(out, words),
        _line(out, tool.description or tool.title),
    )


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
    shown = [out.safe(name, 60) if required else f"[{out.safe(name, 60)}]" for name, required in words[:ARGUMENTS]]
    return " ".join(shown) + (" [...]" if len(words) > ARGUMENTS else "")


def _line(out: Output, text: str) -> str:
    """A description in one line."""
    return out.safe(" ".join(text[:PIPED].split()), PIPED)


ROWS: dict[str, Callable[[Output, Any], tuple[str, ...]]] = {
    "tools": _tool, "resources": _resource, "templates": _template, "prompts": _prompt,
}  # fmt: skip
