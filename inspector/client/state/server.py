"""The server's identity: a lenient reduction of its response to `initialize` or `server/discover`."""

from __future__ import annotations

from typing import Any

from inspector.protocol.members import object_at, text_at, value_at
from inspector.protocol.names import SERVER_KEY
from inspector.protocol.revisions import FEATURES, Era, Features, features
from inspector.text import repr_of


class Server:
    """Identity, capabilities and instructions of a server, and the negotiated revision."""

    def __init__(self, result: Any = None, *, era: Era = "legacy", revision: str = "") -> None:
        self.raw = object_at(result)
        self.era: Era = era
        self.revision = revision or text_at(self.raw, "protocolVersion")
        self.info = object_at(self.raw, "serverInfo")
        self.capabilities = object_at(self.raw, "capabilities")
        self.how = ""
        """The reason for era and revision, in a few words."""
        self.instructions = text_at(self.raw, "instructions")

    def __repr__(self) -> str:
        return repr_of(self, f"{self.name} {self.version}".strip() or "unknown", self.revision)

    @property
    def known(self) -> bool:
        """Whether the server has responded with its identity."""
        return bool(self.raw)

    @property
    def name(self) -> str:
        """Its name, unmodified; may be empty."""
        return text_at(self.info, "name")

    @property
    def title(self) -> str:
        """Its display name, else its name (C-BASE-17)."""
        return text_at(self.info, "title") or self.name

    @property
    def version(self) -> str:
        """Its version, unmodified; may be empty."""
        return text_at(self.info, "version")

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
        return not sub or bool(value_at(value, sub))


def discovered(result: Any, revision: str) -> Server:
    """Return the identity in a response to `server/discover`; this era has it in the metadata."""
    body = object_at(result)
    info = value_at(body, "_meta", SERVER_KEY)
    return Server({**body, "serverInfo": info or body.get("serverInfo")}, era="modern", revision=revision)
