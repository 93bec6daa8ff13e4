"""The server's identity: a lenient reduction of its response to `initialize` or `server/discover`."""

from __future__ import annotations

from typing import Any

from inspector.protocol.revisions import FEATURES, Era, Features, features
from inspector.text import repr_of

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
"""The metadata key with which a modern request names its revision."""
SERVER_KEY = "io.modelcontextprotocol/serverInfo"


def _dict(value: Any) -> dict[str, Any]:
    return value if type(value) is dict else {}


def _text(value: Any) -> str:
    return value if type(value) is str else ""


class Server:
    """Identity, capabilities and instructions of a server, and the negotiated revision."""

    def __init__(self, result: Any = None, *, era: Era = "legacy", revision: str = "") -> None:
        self.raw = _dict(result)
        self.era: Era = era
        self.revision = revision or _text(self.raw.get("protocolVersion"))
        self.info = _dict(self.raw.get("serverInfo"))
        self.capabilities = _dict(self.raw.get("capabilities"))
        self.how = ""
        """The reason for era and revision, in a few words."""
        self.instructions = _text(self.raw.get("instructions"))

    def __repr__(self) -> str:
        return repr_of(self, f"{self.name} {self.version}".strip() or "unknown", self.revision)

    @property
    def known(self) -> bool:
        """Whether the server has responded with its identity."""
        return bool(self.raw)

    @property
    def name(self) -> str:
        """Its name, unmodified; may be empty."""
        return _text(self.info.get("name"))

    @property
    def title(self) -> str:
        """Its display name, else its name (C-BASE-17)."""
        return _text(self.info.get("title")) or self.name

    @property
    def version(self) -> str:
        """Its version, unmodified; may be empty."""
        return _text(self.info.get("version"))

    @property
    def features(self) -> Features:
        """The features of the negotiated revision."""
        return features(self.revision)

    @property
    def revision_known(self) -> bool:
        """Whether the negotiated revision is a known one."""
        return self.revision in FEATURES

    def can(self, capability: str, sub: str = "") -> bool:
        """Whether the server declares a capability (`tools`), or a part of one (`resources`, `subscribe`)."""
        value = self.capabilities.get(capability)
        if value is None or value is False:
            return False
        return not sub or bool(_dict(value).get(sub))


def discovered(result: Any, revision: str) -> Server:
    """Return the identity in a response to `server/discover`; this era has it in the metadata."""
    body = result if type(result) is dict else {}
    meta = body.get("_meta")
    info = meta.get(SERVER_KEY) if type(meta) is dict else None
    return Server({**body, "serverInfo": info or body.get("serverInfo")}, era="modern", revision=revision)
