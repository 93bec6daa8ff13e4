"""What a passive watcher knows of a session at one moment: a reduction of the frames judged so far."""

from __future__ import annotations

from typing import Any

from inspector.protocol.revisions import FEATURES, Features, features

_VERSION = "io.modelcontextprotocol/protocolVersion"
_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"


class Watched:
    """Revision, capabilities of both sides, the tools seen so far, ids and progress. Bounded in size."""

    LIMIT = 50_000

    def __init__(self) -> None:
        self.offered = ""
        """The revision that we asked for."""
        self.revision = ""
        """The revision that the server chose; empty before."""
        self.client: dict[str, Any] = {}
        self.server: dict[str, Any] = {}
        self.initialized = False
        """We have sent `notifications/initialized`."""
        self.tools: dict[str, dict[str, Any]] = {}
        self.progress: dict[Any, float] = {}
        self.asked_ids: set[Any] = set()
        """Ids of requests that the server has made."""

    @property
    def features(self) -> Features:
        """What the agreed revision has; before the handshake, what the offered one has."""
        return features(self.revision or self.offered)

    @property
    def schema_revision(self) -> str:
        """The revision whose schema judges the messages now."""
        name = self.revision or self.offered
        return name if name in FEATURES else features(name).revision

    def sent(self, message: dict[str, Any]) -> None:
        """Learn from a message of ours."""
        method = message.get("method")
        params = message.get("params")
        if method == "initialize" and type(params) is dict:
            self.__init__()  # type: ignore[misc]  # a new handshake is a new session
            self.offered = _text(params.get("protocolVersion"))
            self.client = _dict(params.get("capabilities"))
        elif method == "server/discover" and type(params) is dict:
            self.__init__()  # type: ignore[misc]  # here begins what this era has instead of a session
            meta = _dict(params.get("_meta"))
            self.offered = _text(meta.get(_VERSION))
            self.client = _dict(meta.get(_CAPABILITIES))
        elif method == "notifications/initialized":
            self.initialized = True

    def answered(self, method: str, result: Any) -> None:
        """Learn from a result of the server."""
        body = _dict(result)
        if method == "initialize":
            self.revision = _text(body.get("protocolVersion"))
            self.server = _dict(body.get("capabilities"))
        elif method == "server/discover":
            versions = body.get("supportedVersions")
            if type(versions) is list and self.offered in versions:
                self.revision = self.offered
            self.server = _dict(body.get("capabilities"))
        elif method == "tools/list":
            tools = body.get("tools")
            for tool in tools if type(tools) is list else ():
                if type(tool) is dict and type(tool.get("name")) is str and len(self.tools) < self.LIMIT:
                    self.tools[tool["name"]] = tool

    def server_has(self, capability: str, part: str = "") -> bool:
        """Whether the server declares a capability, or a part of one."""
        return _has(self.server, capability, part)

    def client_has(self, capability: str, part: str = "") -> bool:
        """Whether we declare a capability, or a part of one."""
        return _has(self.client, capability, part)


def _has(capabilities: dict[str, Any], name: str, part: str) -> bool:
    value = capabilities.get(name)
    return value is not None and (not part or bool(_dict(value).get(part)))


def _dict(value: Any) -> dict[str, Any]:
    return value if type(value) is dict else {}


def _text(value: Any) -> str:
    return value if type(value) is str else ""
