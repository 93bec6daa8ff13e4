"""Tools with a page: `_meta.ui` of a tool, and who may call it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

from inspector.protocol.jsonrpc import excerpt
from inspector.protocol.views import View

OLD_MIME_TYPE = "text/html+mcp"
"""The type that drafts before 2026-01-26 used."""
SCHEME = "ui://"
_FLAT = "ui/resourceUri"
_AUDIENCE = ("model", "app")

AppSeverity = Literal["bad", "doubtful", "remark"]


class AppProblem(NamedTuple):
    """One deviation from the specification. Contains text of the server: show it only through `inspector.text.safe`."""

    rule: str
    """The id of its check: `APP-08`."""
    text: str
    """A sentence."""
    severity: AppSeverity = "bad"


class ToolApp(NamedTuple):
    """The page of a tool, as `_meta` describes it."""

    uri: str
    """The URI of the page; empty without a usable one."""
    visibility: tuple[str, ...]
    """A subset of `model` and `app`; both if the server says nothing usable."""
    problems: tuple[AppProblem, ...] = ()
    is_flat: bool = False
    """The URI comes from the deprecated key `ui/resourceUri`."""

    @property
    def is_for_model(self) -> bool:
        """Whether a host may give the tool to a model (C-APP-04)."""
        return "model" in self.visibility

    @property
    def mark(self) -> str:
        """`UI`, `app only`, `UI, app only`, `hidden` (for neither), or an empty text."""
        words = ["UI"] if self.uri else []
        if not self.visibility:
            words.append("hidden")
        elif not self.is_for_model:
            words.append("app only")
        return ", ".join(words)


PLAIN = ToolApp("", _AUDIENCE)
"""A tool without anything about apps."""


def tool_app(tool: Any) -> ToolApp:
    """Return what a tool of `tools/list` says about its page (C-APP-03). Never raises."""
    meta = tool.get("_meta") if type(tool) is dict else None
    if type(meta) is not dict or ("ui" not in meta and _FLAT not in meta):
        return PLAIN
    name = excerpt(tool.get("name"), 60)
    problems: list[AppProblem] = []
    ui = meta.get("ui", {})
    if type(ui) is not dict:
        problems.append(AppProblem("APP-01", f"_meta.ui of {name} is {excerpt(ui, 40)}, not an object."))
        ui = {}
    uri = _uri(ui.get("resourceUri"), name, problems) if "resourceUri" in ui else ""
    flat = _FLAT in meta
    if flat:
        uri = _flat(meta[_FLAT], uri, ui, name, problems)
    visibility = _visibility(ui["visibility"], name, problems) if "visibility" in ui else _AUDIENCE
    return ToolApp(uri, visibility, tuple(problems), flat and "resourceUri" not in ui)


def is_for_model(tool: Any) -> bool:
    """Whether a host may give this tool to a model (C-APP-04). Lists for a model omit the others."""
    return tool_app(tool).is_for_model


def unused_pages(tools: Iterable[Any], resources: Iterable[Any]) -> list[str]:
    """Return the listed `ui://` resources that no tool names, in order."""
    named = {tool_app(tool).uri for tool in tools}
    uris = [resource.get("uri") for resource in resources if type(resource) is dict]
    return [uri for uri in uris if isinstance(uri, str) and uri.startswith(SCHEME) and uri not in named]


def is_app_type(mime_type: Any) -> bool:
    """Whether a MIME type is that of a page, by type and `profile`; case, blanks and quotes are free (C-APP-10)."""
    if not isinstance(mime_type, str) or len(mime_type) > 1000:
        return False
    kind, *parameters = mime_type.lower().split(";")
    pairs = (parameter.partition("=") for parameter in parameters)
    profiles = [value.strip().strip('"') for name, _, value in pairs if name.strip() == "profile"]
    return "".join(kind.split()) == "text/html" and profiles == ["mcp-app"]


def ui_of(item: Any) -> Mapping[str, Any] | None:
    """Return `_meta.ui` of a resource or a content; None if it has none."""
    ui = View(item).meta.get("ui")
    return ui if type(ui) is dict else None


def _uri(value: Any, name: str, problems: list[AppProblem]) -> str:
    if isinstance(value, str) and value.startswith(SCHEME) and len(value) > len(SCHEME):
        return value
    problems.append(AppProblem("APP-01", f"The page of {name} is {excerpt(value, 80)}, not a ui:// URI."))
    return ""


def _flat(value: Any, nested: str, ui: Mapping[str, Any], name: str, problems: list[AppProblem]) -> str:
    """Return the URI of the deprecated form. The nested one wins."""
    if "resourceUri" not in ui:
        problems.append(AppProblem("APP-03", f"{name} names its page only in the deprecated key {_FLAT}.", "doubtful"))
        return _uri(value, name, problems)
    if value != ui["resourceUri"]:
        text = f"{name} names two pages: {excerpt(ui['resourceUri'], 80)}, and {excerpt(value, 80)} in {_FLAT}."
        problems.append(AppProblem("APP-03", text, "doubtful"))
    return nested


def _visibility(value: Any, name: str, problems: list[AppProblem]) -> tuple[str, ...]:
    if type(value) is not list:
        text = f'visibility of {name} is {excerpt(value, 40)}, not a list of "model" and "app".'
        problems.append(AppProblem("APP-02", text))
        return _AUDIENCE
    unknown = [audience for audience in value if audience not in _AUDIENCE]
    if unknown:
        problems.append(AppProblem("APP-02", f"visibility of {name} contains {excerpt(unknown[0], 40)}."))
    elif not value:
        text = f"visibility of {name} is empty: neither a model nor a page may call it."
        problems.append(AppProblem("APP-02", text, "doubtful"))
    return tuple(audience for audience in _AUDIENCE if audience in value)
