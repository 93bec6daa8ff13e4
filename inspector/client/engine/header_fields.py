"""The HTTP headers of a modern request, including those that tools declare in `x-mcp-header`.

Source: specification 2026-07-28, "Streamable HTTP", "Request Metadata" (C-HTTP-30, C-HTTP-31, C-HTTP-33, C-HTTP-34).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from inspector.protocol.headers import HeaderParam, mirrored, request_headers
from inspector.protocol.members import value_at
from inspector.protocol.names import VERSION_FIELD, VERSION_KEY


class HeaderFields:
    """The header fields of requests over one connection."""

    def __init__(self, refused: dict[str, list[str]] | None = None) -> None:
        self.refused = {} if refused is None else refused
        """Tools that must not be called over HTTP, with the reasons (C-HTTP-34)."""
        self._header_params: dict[str, tuple[HeaderParam, ...]] = {}

    def forget(self) -> None:
        """Clear the headers of tools before the list is loaded again."""
        self._header_params.clear()
        self.refused.clear()

    def learn(self, tools: Iterable[Any]) -> None:
        """Add the headers that listed tools declare; invalid tools are skipped."""
        for tool in tools:
            name = value_at(tool, "name")
            if isinstance(name, str):
                self._header_params[name], reasons = mirrored(tool)
                if reasons:
                    self.refused[name] = reasons

    def of(self, method: str, params: dict[str, Any], revision: str) -> tuple[tuple[str, str], ...]:
        """Return the headers of a request; `revision` is used if its metadata names none."""
        named = value_at(params, "_meta", VERSION_KEY)
        name = params.get("name")
        header_params = self._header_params.get(name, ()) if method == "tools/call" and isinstance(name, str) else ()
        return ((VERSION_FIELD, str(named or revision)), *request_headers(method, params, header_params))
