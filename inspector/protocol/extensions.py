"""The extensions of MCP that Inspector knows, as data.

An extension is offered by a client and declared by a server in the `extensions` map of its capabilities: an id, such as
`io.modelcontextprotocol/skills`, and an object of settings. Source: SEP-2133, "Extensions"; specification 2026-07-28,
"Versioning".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from inspector.lazy_pattern import lazy_pattern

PREFIX = "io.modelcontextprotocol/"
TASKS = PREFIX + "tasks"
SKILLS = PREFIX + "skills"
UI = PREFIX + "ui"
EVENTS = PREFIX + "events"
APP_MIME_TYPE = "text/html;profile=mcp-app"

_LABEL = r"[a-zA-Z](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_NAME = r"[a-zA-Z0-9](?:[a-zA-Z0-9_.-]*[a-zA-Z0-9])?"
VALID_ID = lazy_pattern(rf"{_LABEL}(?:\.{_LABEL})*/{_NAME}")
"""An extension id: a prefix of labels with dots, a slash, and a name (the rules of `_meta` keys)."""


@dataclass(frozen=True, slots=True)
class KnownExtension:
    """An official extension. `methods` are the methods that only a server which declares it may be sent."""

    id: str
    title: str
    standing: Literal["stable", "draft"]
    methods: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    """The settings with which a client offers it, unless the user gives others."""
    server_decides: bool = False
    """Whether the server's declaration is enough: a client need not offer it."""


KNOWN: Mapping[str, KnownExtension] = {
    extension.id: extension
    for extension in (
        KnownExtension(TASKS, "Tasks", "stable", ("tasks/get", "tasks/update", "tasks/cancel")),
        KnownExtension(
            SKILLS, "Skills", "stable", ("skills/list", "skills/get", "resources/directory/read"), server_decides=True
        ),
        KnownExtension(UI, "Apps", "stable", settings={"mimeTypes": [APP_MIME_TYPE]}),
        KnownExtension(
            EVENTS,
            "Events",
            "draft",
            ("events/list", "events/poll", "events/stream", "events/subscribe", "events/unsubscribe"),
        ),
        KnownExtension(PREFIX + "oauth-client-credentials", "OAuth client credentials", "stable"),
        KnownExtension(PREFIX + "enterprise-managed-authorization", "Enterprise-managed authorization", "stable"),
    )
}
"""The official extensions by id."""

SHORT_NAMES: Mapping[str, str] = {"tasks": TASKS, "skills": SKILLS, "ui": UI, "apps": UI, "events": EVENTS}
"""The names that the user may write instead of an id."""

EXTENSION_OF: Mapping[str, str] = {method: extension.id for extension in KNOWN.values() for method in extension.methods}
"""The id of the extension by the method that it defines."""


def full_id(word: str) -> str:
    """Return the id that the user means: `skills` is `io.modelcontextprotocol/skills`. Other words are unchanged."""
    return SHORT_NAMES.get(word, word)


def default_settings(id: str) -> dict[str, Any]:
    """Return the settings with which a client offers an extension if the user gives none."""
    known = KNOWN.get(id)
    return dict(known.settings) if known is not None else {}


def title(id: str) -> str:
    """Return the name of a known extension; empty for another id. Ids are compared exactly (C-EXT-12)."""
    known = KNOWN.get(id)
    return "" if known is None else known.title
