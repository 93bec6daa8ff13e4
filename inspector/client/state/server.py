"""What is known of the server: a reduction of its answer to `initialize` or `server/discover`. Lenient."""

from __future__ import annotations

from typing import Any

from inspector.protocol.revisions import FEATURES, Era, Features, features

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
"""Where a request of the modern era names the revision it is made in."""
SERVER_KEY = "io.modelcontextprotocol/serverInfo"


def _dict(value: Any) -> dict[str, Any]:
    return value if type(value) is dict else {}


def _text(value: Any) -> str:
    return value if type(value) is str else ""


class Server:
    """Identity, capabilities and instructions of a server, and the revision spoken with it."""

    def __init__(self, result: Any = None, *, era: Era = "legacy", revision: str = "") -> None:
        self.raw = _dict(result)
        self.era: Era = era
        self.revision = revision or _text(self.raw.get("protocolVersion"))
        self.info = _dict(self.raw.get("serverInfo"))
        self.capabilities = _dict(self.raw.get("capabilities"))
        self.how = ""
        """How era and revision were found out, in a few words."""
        self.instructions = _text(self.raw.get("instructions"))

    @property
    def known(self) -> bool:
        """Whether the server has introduced itself."""
        return bool(self.raw)

    @property
    def name(self) -> str:
        """Its name as it gives it; may be empty."""
        return _text(self.info.get("name"))

    @property
    def title(self) -> str:
        """Its display name, else its name (C-BASE-17)."""
        return _text(self.info.get("title")) or self.name

    @property
    def version(self) -> str:
        """Its version as it gives it; may be empty."""
        return _text(self.info.get("version"))

    @property
    def features(self) -> Features:
        """What the agreed revision has."""
        return features(self.revision)

    @property
    def revision_known(self) -> bool:
        """Whether the agreed revision is one that we know."""
        return self.revision in FEATURES

    def can(self, capability: str, sub: str = "") -> bool:
        """Whether the server declares a capability (`tools`), or a part of one (`resources`, `subscribe`)."""
        value = self.capabilities.get(capability)
        if value is None or value is False:
            return False
        return not sub or bool(_dict(value).get(sub))


def discovered(result: Any, revision: str) -> Server:
    """What an answer to `server/discover` says of a server; its identity stands in the metadata of this era."""
    body = result if type(result) is dict else {}
    meta = body.get("_meta")
    info = meta.get(SERVER_KEY) if type(meta) is dict else None
    return Server({**body, "serverInfo": info or body.get("serverInfo")}, era="modern", revision=revision)
