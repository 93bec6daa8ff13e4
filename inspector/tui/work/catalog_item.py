"""An item of a catalog: its form, the request that it makes, and its description."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from inspect import cleandoc
from typing import Any

from inspector.client.engine.pending_requests import Call
from inspector.client.session_state import Commands
from inspector.client.state.catalog import ListName
from inspector.errors import UsageError
from inspector.protocol.app_definitions import tool_app
from inspector.protocol.uri_templates import Template, Variable
from inspector.protocol.views import MAY_DELETE, Prompt, Resource, ResourceTemplate, Tool
from inspector.text import safe, size
from inspector.tui.widgets import paint
from inspector.tui.work.catalog_rows import address, view_of

TEXT = 20_000
"""Characters of a description that are shown at all."""

BY_HAND = "uri"
"""The field of a form for a template that cannot be parsed: the URI itself."""

NO_ARGUMENTS = {"type": "object", "additionalProperties": False}
"""The schema of a form without fields."""

_OPERATORS = {
    "+": "slashes and other reserved characters are not encoded",
    "#": "becomes the fragment",
    ".": "is appended after a dot",
    "/": "becomes a path segment",
    ";": "becomes a path parameter",
    "?": "becomes a query parameter",
    "&": "becomes a further query parameter",
}


class CatalogItem:
    """One item of a list, and how to call, read or get it."""

    def __init__(self, list_name: ListName, item: Any) -> None:
        self.list_name: ListName = list_name
        self.item = item
        self.view = view_of(list_name, item)

    @property
    def address(self) -> str:
        """Its name, URI or template; empty if the server gave none."""
        return address(self.view)

    @property
    def key(self) -> tuple[ListName, str]:
        """The key of its arguments and results."""
        return self.list_name, self.address or f"\0{id(self.item)}"

    @property
    def memory_key(self) -> str:
        """The key of its past calls between sessions."""
        return self.address if self.list_name == "tools" else f"{self.list_name} {self.address}"

    @property
    def title(self) -> list[paint.Piece]:
        """Its name, and its title if that differs (C-BASE-17); for a resource the title."""
        display_name = self.view.display_name
        name = "" if isinstance(self.view, (Resource, ResourceTemplate)) else self.view.name
        return [display_name] if name in ("", display_name) else [name, (f"  {display_name}", "muted")]

    @property
    def facts(self) -> list[paint.Pieces]:
        """The text at the right of its edge: a warning of a tool, type and size of a resource."""
        view = self.view
        if isinstance(view, Tool):
            mark = tool_app(view.raw).mark
            marks: list[paint.Pieces] = [[(mark, "bright")]] if mark else []
            return [*marks, *([[(MAY_DELETE, "error")]] if MAY_DELETE in view.hints else [])]
        facts: list[paint.Pieces] = []
        if isinstance(view, (Resource, ResourceTemplate)) and view.mime_type:
            facts.append(safe(view.mime_type, 60))
        if isinstance(view, Resource) and view.size is not None:
            facts.append(size(view.size))
        return facts

    @property
    def hints(self) -> str:
        """A tool's other annotations in words, which are the server's claims (C-TOOL-01)."""
        hints = self.view.hints if isinstance(self.view, Tool) else ()
        return "  ".join(hint for hint in hints if hint != MAY_DELETE)

    @property
    def about(self) -> list[tuple[str, str]]:
        """Its details as (text, role) paragraphs: description, address, annotations, errors."""
        view = self.view
        description = _without_indentation(view.description[:TEXT])
        paragraphs = [(description, "muted")] if description.strip() else []
        if isinstance(view, (Resource, ResourceTemplate)):
            paragraphs.append((self.address, "muted"))
            notes = [f"{key} {safe(value, 100)}" for key, value in list(view.annotations.items())[:10]]
            if notes:
                paragraphs.append(("  ".join(notes), "muted"))
        if isinstance(view, Tool) and view.task_support != "forbidden":
            paragraphs.append((f"tasks: {safe(view.task_support, 40)}", "muted"))
        if isinstance(view, Tool):
            app = tool_app(view.raw)
            if app.uri:
                paragraphs.append((f"page {safe(app.uri, 300)}", "muted"))
            if not app.is_for_model:
                paragraphs.append(("Only pages may call it: a host must not give it to a model.", "muted"))
            paragraphs += [(problem.text, "finding") for problem in app.problems]
        if view.icons:
            paragraphs.append((f"icons {len(view.icons)}, not fetched", "faint"))
        if view.problems:
            paragraphs.append(("; ".join(view.problems), "finding"))
        if self.template_problem:
            paragraphs.append((self.template_problem, "finding"))
        return paragraphs

    @property
    def output_schema(self) -> Any:
        """The schema of a tool's structured result, or None."""
        return self.view.output_schema if isinstance(self.view, Tool) else None

    @property
    def schema(self) -> Any:
        """The JSON Schema of its arguments, or None if it has none."""
        view = self.view
        if isinstance(view, Tool):
            return _of_tool(view.input_schema)
        if isinstance(view, Prompt):
            return view.argument_schema if view.argument_schema.get("properties") else NO_ARGUMENTS
        if isinstance(view, ResourceTemplate):
            return self._template_schema
        return None

    @cached_property
    def template(self) -> Template | None:
        """The parsed template; None for other items, and for a template that cannot be parsed."""
        try:
            return Template.parse(self.address) if isinstance(self.view, ResourceTemplate) else None
        except UsageError as error:
            self.template_problem = f"{error.message}. Type the URI."
            return None

    template_problem = ""

    @cached_property
    def _template_schema(self) -> dict[str, Any]:
        """The variables as a schema; those that a URI normally needs are required."""
        template = self.template
        if template is None:
            by_hand = {"type": "string", "default": self.address}
            return {"type": "object", "properties": {BY_HAND: by_hand}, "required": [BY_HAND]}
        return {
            "type": "object",
            "properties": {variable.name: _variable_schema(variable) for variable in template.variables},
            "required": [variable.name for variable in template.variables if variable.operator in ("", "+")],
        }

    def expand(self, arguments: Any) -> str:
        """Return the URI of a template with these values. Raises `UsageError` if it has none (RFC 6570)."""
        values = arguments if isinstance(arguments, Mapping) else {}
        if self.template is None:
            return str(values.get(BY_HAND, self.address))
        return self.template.expand(values)

    def saved_as(self, arguments: Any) -> tuple[ListName, str]:
        """Return how a saved call names it with these arguments: a template by the URI that it makes.

        Raises `UsageError` where it makes none.
        """
        if self.list_name == "templates":
            return "resources", self.expand(arguments)
        return self.list_name, self.address

    @property
    def completion_ref(self) -> dict[str, Any] | None:
        """Its reference for `completion/complete`, or None if it supports no completion (C-COMP-01)."""
        if isinstance(self.view, Prompt):
            return {"type": "ref/prompt", "name": self.address}
        if isinstance(self.view, ResourceTemplate):
            return {"type": "ref/resource", "uri": self.address}
        return None

    def send(self, session: Commands, arguments: Any, *, as_task: bool = False) -> Call:
        """Send the request. Arguments of a wrong shape are sent as they are: the user may want to test that."""
        plain = isinstance(arguments, dict)
        name = self.view.members.get("name")
        if isinstance(self.view, Tool):
            if plain and isinstance(name, str):
                return session.call_tool(name, arguments, as_task=as_task)
            return session.start("tools/call", {"name": name, "arguments": arguments})
        if isinstance(self.view, Prompt):
            if plain and isinstance(name, str):
                return session.get_prompt(name, arguments)
            return session.start("prompts/get", {"name": name, "arguments": arguments})
        if isinstance(self.view, ResourceTemplate):
            return session.read_resource(self.expand(arguments))
        return session.read_resource(self.address)


def _of_tool(schema: Any) -> Any:
    """Return the schema of a tool's form. A schema without any arguments means that there are none."""
    if not isinstance(schema, dict):
        return {"type": "object"}
    says_something = any(schema.get(key) for key in schema if key not in ("type", "$schema", "title", "description"))
    return schema if says_something or "additionalProperties" in schema else {**schema, **NO_ARGUMENTS}


def _variable_schema(variable: Variable) -> dict[str, Any]:
    about = _OPERATORS.get(variable.operator, "")
    if variable.prefix is not None:
        about = f"{about}; " * bool(about) + f"the first {variable.prefix} characters are used"
    text: dict[str, Any] = {"type": "string", "description": about}
    if not variable.explode:
        return text
    texts = {"type": "array", "items": {"type": "string"}, "title": "several"}
    named = {"type": "object", "additionalProperties": {"type": "string"}, "title": "named"}
    return {"description": about, "anyOf": [texts, named, {"type": "string", "title": "one"}]}


class _NoItem(CatalogItem):
    """Stands where no item is selected: it says nothing."""

    @property
    def title(self) -> list[paint.Piece]:
        return []

    @property
    def about(self) -> list[tuple[str, str]]:
        return []


NO_ITEM = _NoItem("tools", {})


class UnlistedItem(CatalogItem):
    """An item of which a recording has only the calls: nothing is known about it but its name or URI."""

    def __init__(self, list_name: ListName, address: str) -> None:
        super().__init__(list_name, {"uri" if list_name == "resources" else "name": address})

    @property
    def about(self) -> list[tuple[str, str]]:
        return [("The recording has no list with it so far: only its calls are known.", "muted")]

    @property
    def schema(self) -> Any:
        """Any arguments."""
        return {"type": "object"} if self.list_name in ("tools", "prompts") else None


def _without_indentation(text: str) -> str:
    """Return a text without the indentation that it has in its source: a docstring, or a string of several lines."""
    first, *rest = cleandoc(text).split("\n")
    indent = first[: len(first) - len(first.lstrip())]  # Lines that were inserted into it may have none.
    return "\n".join(line.removeprefix(indent) for line in (first, *rest))
