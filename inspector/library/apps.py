"""Servers in the program's own process: an ASGI app, or a framework's object that can create one."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias, cast, runtime_checkable

from inspector.config.targets import HttpTarget
from inspector.errors import TargetError
from inspector.text import safe
from inspector.transports.asgi import App, AsgiApp
from inspector.transports.http_url import parse_url

ORIGIN = "http://localhost:8000"
"""The app's own address. Servers with protection against DNS rebinding accept this name with a port."""
PATH = "/mcp"
"""The default path of the frameworks."""


@runtime_checkable
class MakesHttpApp(Protocol):
    """A `FastMCP` of the package `fastmcp`."""

    http_app: Callable[..., Any]


@runtime_checkable
class MakesStreamableHttpApp(Protocol):
    """A `FastMCP` or `MCPServer` of the package `mcp`."""

    streamable_http_app: Callable[..., Any]


InProcess: TypeAlias = "AsgiApp | MakesHttpApp | MakesStreamableHttpApp"


def app_target(target: object, path: str | None, headers: Sequence[tuple[str, str]]) -> HttpTarget:
    """Return the target of an app. Raises `TargetError` for another object or an invalid path."""
    served = path
    if isinstance(target, MakesHttpApp):
        served = path or PATH
        app = target.http_app(path=served)
    elif isinstance(target, MakesStreamableHttpApp):
        # The SDK's session manager runs only once. A copy has its own and the same tools.
        fresh = copy.copy(target)
        if getattr(fresh, "_session_manager", None) is not None:
            fresh._session_manager = None  # type: ignore[attr-defined]
        app = fresh.streamable_http_app()
        served = path or getattr(getattr(target, "settings", None), "streamable_http_path", None)
    elif callable(target):
        app = target
    else:
        raise TargetError(
            f"Cannot open an object of type {safe(type(target).__name__, 80)}.",
            hint="Pass a command, a URL, @NAME, a recording, an ASGI app, or a FastMCP server.",
        )
    served = served or PATH
    if not served.startswith("/"):
        raise TargetError(f"Invalid path {safe(repr(served), 100)}.", hint=f"Start the path with a slash: {PATH}")
    label = _label(target)
    url = ORIGIN + served
    return HttpTarget(
        url, headers=tuple(headers), network=App(cast("AsgiApp", app), parse_url(url), label), title=label
    )


def _label(target: object) -> str:
    name = getattr(target, "name", None) or getattr(target, "title", None) or getattr(target, "__name__", None)
    return safe(name if isinstance(name, str) else type(target).__name__, 80)
