"""The state of a session for the passive judge at one moment: a reduction of the frames judged so far."""

from __future__ import annotations

from typing import Any, NamedTuple

from inspector.journal import channels
from inspector.protocol.jsonrpc import UNSUPPORTED_VERSION, id_key
from inspector.protocol.members import object_at, objects_at, value_at
from inspector.protocol.revisions import FEATURES, MODERN, Era, Features, features

PREFIX = "io.modelcontextprotocol/"
"""The prefix of the keys in `_meta` of the modern era."""
TASKS_EXTENSION = PREFIX + "tasks"
_VERSION = PREFIX + "protocolVersion"
_CAPABILITIES = PREFIX + "clientCapabilities"


class Listen:
    """One `subscriptions/listen`: the request, and the acknowledgement once it has come."""

    __slots__ = ("agreed", "n", "requested")

    def __init__(self, n: int, requested: dict[str, Any]) -> None:
        self.n = n
        self.requested = requested
        self.agreed: dict[str, Any] | None = None


class CachedAnswer(NamedTuple):
    """An answer that a client may use again."""

    until: int
    """The end of its time to live, in microseconds of the recording; 0 without one."""
    digest: bytes


class WaitingDefinition(NamedTuple):
    """A definition whose verdict depends on the names of the server."""

    whose: str
    definition: Any


class JudgeState:
    """Revision, capabilities of both sides, tools seen so far, ids and progress. Bounded in size."""

    LIMIT = 50_000
    MAX_STREAMS = 4096
    MAX_LISTENS = 1000
    MAX_TASKS = 1000
    MAX_CACHED = 1000

    def __init__(self) -> None:
        self.offered = ""
        """The revision that the client offered."""
        self.revision = ""
        """The revision that the server chose; empty before."""
        self.client: dict[str, Any] = {}
        self.server: dict[str, Any] = {}
        self.initialized = False
        """Whether the client has sent `notifications/initialized`."""
        self.tools: dict[str, dict[str, Any]] = {}
        self.progress: dict[Any, float] = {}
        self.asked_ids: set[Any] = set()
        """Ids of the server's requests."""
        self.introduced = False
        """Whether the server has declared its capabilities: then `server` is empty because it has none."""
        self.streams: dict[str, int] = {}
        """The newest request on each channel that belongs to one request (HTTP)."""
        self.listens: dict[Any, Listen] = {}
        """The requested subscriptions, by the id of the request."""
        self.wants_logs = False
        """Whether a request has a logLevel."""
        self.scopes: dict[str, str] = {}
        """The `cacheScope` of the first page of each list."""
        self.cached: dict[tuple[str, str], CachedAnswer] = {}
        """The newest answers with a time to live, by method and what it depends on."""
        self.task_requests: dict[int, None] = {}
        """Requests that wanted a task, which may bring progress after their response."""
        self.task_keys: dict[str, dict[str, str]] = {}
        """By task, the input requests by key."""
        self.own_names: frozenset[str] = frozenset()
        """Names of this server's tools, parameters and values, as `poison.phrases.own_names` writes them."""
        self.waiting: list[WaitingDefinition] = []
        """Definitions that are judged when the names of the server are known."""
        self.of_features: dict[str, Any] = {}
        """What the rules of each feature keep, by its name."""
        self.nameless = False
        """Whether the finding about missing serverInfo was reported."""

    @property
    def features(self) -> Features:
        """The features of the negotiated revision; before that, of the offered one."""
        return features(self.revision or self.offered)

    @property
    def era(self) -> Era:
        """The era that both sides have shown; until then legacy, which requires least of a server."""
        return features(self.revision).era

    @property
    def undecided(self) -> bool:
        """The client sent a request of the modern era, and nothing shows yet whether the server supports it."""
        return self.offered in MODERN and not self.revision

    @property
    def schema_revision(self) -> str:
        """The revision whose schema applies to messages now."""
        name = self.revision or self.offered
        return name if name in FEATURES else features(name).revision

    def sent(self, message: dict[str, Any], n: int = 0, channel: str = "") -> None:
        """Learn from a message of the client, event `n`, on `channel`."""
        method = message.get("method")
        params = object_at(message.get("params"))
        meta = object_at(params.get("_meta"))
        if method == "initialize":
            self.__init__()  # type: ignore[misc]  # a new handshake is a new session
            self.offered = _text(params.get("protocolVersion"))
            self.client = object_at(params.get("capabilities"))
        elif method == "server/discover":
            if self.era != "modern":
                self.__init__()  # type: ignore[misc]  # here begins what this era has instead of a session
            self.offered = _text(meta.get(_VERSION))
            self.client = object_at(meta.get(_CAPABILITIES))
        elif method == "notifications/initialized":
            self.initialized = True
        elif id_key(message.get("id")) is not None and type(method) is str:
            self._requested(message["id"], method, params, meta, n)
        if n and channels.is_post(channel) and message.get("id") is not None:
            _keep(self.streams, channel, n, self.MAX_STREAMS)

    def _requested(self, id: Any, method: str, params: dict[str, Any], meta: dict[str, Any], n: int) -> None:
        """A request carries the revision that initialize agrees on in the legacy era; the first one shows the era."""
        if meta.get(_VERSION) in MODERN and (not self.revision or self.era == "modern"):
            self.revision = self.offered = meta[_VERSION]
            self.client = object_at(meta.get(_CAPABILITIES))
        self.wants_logs = self.wants_logs or log_level(params) is not None
        if "task" in params:
            _keep(self.task_requests, n, None, self.MAX_TASKS)
        if method == "subscriptions/listen":
            _keep(self.listens, id_key(id), Listen(n, object_at(params.get("notifications"))), self.MAX_LISTENS)

    def answered(self, method: str, result: Any) -> None:
        """Learn from a result of the server."""
        body = object_at(result)
        if method == "initialize":
            self.revision = _text(body.get("protocolVersion"))
            self.server = object_at(body.get("capabilities"))
            self.introduced = True
        elif method == "server/discover":
            self.server = object_at(body.get("capabilities"))
            self.introduced = True
        elif method == "tools/list":
            for tool in objects_at(body.get("tools")):
                if type(tool.get("name")) is str and len(self.tools) < self.LIMIT:
                    self.tools[tool["name"]] = tool

    def keep_cached(self, key: tuple[str, str], answer: CachedAnswer) -> None:
        """Remember an answer with a time to live."""
        _keep(self.cached, key, answer, self.MAX_CACHED)

    def requests_of(self, task: str) -> dict[str, str]:
        """The input requests of a task by key; the caller adds what it sees."""
        keys = self.task_keys.get(task, {})
        _keep(self.task_keys, task, keys, self.MAX_TASKS)
        return keys

    def settled_by(self, message: dict[str, Any]) -> bool:
        """Whether a response to `server/discover` shows a modern server; others may respond with anything."""
        error = object_at(message.get("error"))
        if error:
            refused = error.get("code") == UNSUPPORTED_VERSION
            usable = _modern_versions(value_at(error, "data", "supported")) if refused else []
        else:
            usable = _modern_versions(value_at(message, "result", "supportedVersions"))
        if usable:
            self.revision = self.offered if self.offered in usable else usable[-1]
        return bool(usable)

    def server_has(self, capability: str, part: str = "") -> bool:
        """Whether the server declares a capability, or a part of one."""
        return _has(self.server, capability, part)

    def client_offers(self, extension: str) -> bool:
        """Whether the client offers an extension."""
        return extension in object_at(self.client.get("extensions"))

    def client_has(self, capability: str) -> bool:
        """Whether the client declares a capability."""
        return _has(self.client, capability)


def _modern_versions(names: Any) -> list[str]:
    """The revisions of the modern era in a list, oldest first."""
    return [name for name in MODERN if type(names) is list and name in names]


def log_level(params: dict[str, Any]) -> Any:
    """The logLevel of a request; None without one."""
    return value_at(params, "_meta", PREFIX + "logLevel")


def _keep(known: dict[Any, Any], key: Any, value: Any, limit: int) -> None:
    """Remember something as the newest, and forget the oldest above a limit."""
    known.pop(key, None)
    known[key] = value
    if len(known) > limit:
        del known[next(iter(known))]


def _has(capabilities: dict[str, Any], name: str, part: str = "") -> bool:
    value = capabilities.get(name)
    return value is not None and (not part or bool(object_at(value).get(part)))


def _text(value: Any) -> str:
    return value if type(value) is str else ""
