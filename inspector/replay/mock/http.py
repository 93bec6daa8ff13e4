"""The HTTP behaviour of a recorded server, and its era's requirements for requests.

Source: MCP 2026-07-28 "Streamable HTTP", "Request Metadata" and "Server Validation"; 2025-11-25 "Session Management".
"""

from __future__ import annotations

from itertools import islice
from typing import Any

from inspector.client.engine.header_fields import HeaderFields
from inspector.journal import channels
from inspector.journal.exchange import SENT_REQUESTS
from inspector.journal.format import Dir, Kind
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol import headers, jsonrpc
from inspector.protocol.jsonrpc import Shape
from inspector.protocol.members import array_at, object_at, texts_at, value_at
from inspector.protocol.names import SESSION_FIELD, VERSION_FIELD, VERSION_KEY
from inspector.serving.base import RequestHead
from inspector.serving.http import Binding

_LOOKED_AT = 5000
"""Maximum events of one kind that are read to determine the behaviour."""
_BAD_REQUEST = (jsonrpc.HEADER_MISMATCH, jsonrpc.MISSING_CAPABILITY, jsonrpc.UNSUPPORTED_VERSION)

_DEFAULTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "logging/setLevel": ("logging", "", {}),
    "tools/list": ("tools", "", {"tools": []}),
    "resources/list": ("resources", "", {"resources": []}),
    "resources/templates/list": ("resources", "", {"resourceTemplates": []}),
    "resources/subscribe": ("resources", "subscribe", {}),
    "resources/unsubscribe": ("resources", "subscribe", {}),
    "prompts/list": ("prompts", "", {"prompts": []}),
    "completion/complete": ("completions", "", {"completion": {"values": []}}),
}
"""By method: its capability, the capability's part, and an empty result."""

MockError = tuple[int, str, Any]
"""Code, message and data of a JSON-RPC error."""


class ServerBehaviour:
    """The behaviour of the recorded server. The journal must be read to its end."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.initialize = self._opening("initialize")
        self.discover = self._opening("server/discover")
        opening = self.initialize or self.discover
        self.over_http = opening is not None and channels.is_post(journal.index.channel(opening))
        """Whether it was recorded over Streamable HTTP (not HTTP+SSE, which responds on its one stream)."""
        self.legacy = self.initialize is not None
        self.modern = self.discover is not None or (not self.legacy and self._has_modern_requests())
        self.supported = self._supported()
        """The revisions in the response to `server/discover`; empty without one."""
        self._fields: HeaderFields | None = None

    def _answers(self, method: str) -> list[int]:
        """Return the recorded results of a method, the latest first."""
        return list(Query(method=method, dir=Dir.RECV, shape=Shape.RESULT).backwards(self.journal.index))

    def _opening(self, method: str) -> int | None:
        return next(iter(self._answers(method)), None)

    def _has_modern_requests(self) -> bool:
        asked = SENT_REQUESTS.first(self.journal.index)
        return bool(asked) and version_of(self.journal.event(asked).message) is not None

    def _supported(self) -> list[str]:
        if self.discover is None:
            return []
        return texts_at(self.journal.event(self.discover).message, "result", "supportedVersions")

    def _declared(self) -> dict[str, Any]:
        """Return the capabilities that the recorded server declared; empty if they are not recorded."""
        opening = self.initialize or self.discover
        return object_at(self.journal.event(opening).message, "result", "capabilities") if opening else {}

    def default_answer(self, method: str) -> dict[str, Any] | None:
        """Return the result for an unrecorded request of a declared feature; None if it is not declared.

        A client must be able to use a declared feature: lists are empty, settings are accepted.
        """
        capability, part, result = _DEFAULTS.get(method, ("", "", {}))
        declared = self._declared().get(capability) if capability else None
        if method == "ping":
            return {}
        if type(declared) is not dict or (part and declared.get(part) is not True):
            return None
        modern = {"resultType": "complete"} if self.modern else {}
        fresh = {"ttlMs": 0, "cacheScope": "private"} if self.modern and method.endswith("/list") else {}
        return {**result, **modern, **fresh}

    # The endpoint

    def binding(self, **more: Any) -> Binding:
        """Return the endpoint's behaviour. A recording over stdio uses the protocol's defaults."""
        if not self.legacy:
            return Binding(sessions=False, listening=False, **more)
        if not self.over_http:
            return Binding(**more)
        sessions = self._named_a_session()
        return Binding(sessions=sessions, listening=self._listened(sessions), resumable=self._had_ids(), **more)

    def _named_a_session(self) -> bool:
        index = self.journal.index
        request = index.pair(self.initialize or 1)
        heads = [
            n for n in range(request, self.initialize or 0) if index.kind(n) == Kind.HTTP and index.dir(n) == Dir.RECV
        ]
        return any(field(self.journal.event(n).fields, SESSION_FIELD) is not None for n in heads[-8:])

    def _listened(self, otherwise: bool) -> bool:
        for n in self._of_kind(Kind.LIFE):
            event = self.journal.event(n).fields.get("event")
            if event in ("listening", "not-listening"):
                return str(event) == "listening"
        return otherwise

    def _had_ids(self) -> bool:
        """Whether its events had ids, on a message or before one."""
        for n in (*self._of_kind(Kind.SSE)[:200], *self._of_kind(Kind.RPC)[:200]):
            fields = self.journal.event(n).fields
            sse = fields.get("sse", fields)
            if type(sse) is dict and sse.get("id"):
                return True
        return False

    def _of_kind(self, kind: Kind) -> list[int]:
        return list(islice(Query(kind=kind).forwards(self.journal.index), _LOOKED_AT))

    # Requests of the modern era

    def problem(self, head: RequestHead | None, message: dict[str, Any]) -> MockError | None:
        """Return why a request violates the rules of its era, as far as they are recorded, or None."""
        version = version_of(message)
        if not self.modern or (version is None and self.legacy):
            return None
        if message["method"] == "initialize" and not self.legacy:
            of = ", ".join(self.supported) or "the modern era"
            text = f"The recording is of {of}, without initialize: older clients need one of an older revision."
            return jsonrpc.UNSUPPORTED_VERSION, text, self._versions(None)
        if head is not None:
            mismatch = self._mismatch(head, message, version)
            if mismatch:
                return jsonrpc.HEADER_MISMATCH, f"Header mismatch: {mismatch}", None
        if version is not None and self.supported and version not in self.supported:
            return jsonrpc.UNSUPPORTED_VERSION, "Unsupported protocol version", self._versions(version)
        return None

    def _versions(self, requested: str | None) -> dict[str, Any]:
        return {"supported": self.supported, "requested": requested or ""}

    def _mismatch(self, head: RequestHead, message: dict[str, Any], version: str | None) -> str:
        if head.field(VERSION_FIELD) is None:
            return f"{VERSION_FIELD} is missing"
        if head.field(VERSION_FIELD) != version:
            return f"{VERSION_FIELD} is not the version in the body"
        for name, expected in self._known().of(message["method"], object_at(message, "params"), ""):
            given = head.field(name)
            if given is None:
                return f"{name} is missing"
            if not _same(given, expected):
                return f"{name} does not match the body"
        return ""

    def _known(self) -> HeaderFields:
        """Return the headers that the recorded tools declare."""
        if self._fields is None:
            self._fields = HeaderFields()
            for n in reversed(self._answers("tools/list")[:100]):
                self._fields.learn(array_at(self.journal.event(n).message, "result", "tools"))
        return self._fields


def status_of(message: Any, *, modern: bool) -> int:
    """Return the HTTP status of a response that was not recorded over HTTP. Only the modern era has others than 200."""
    code = value_at(message, "error", "code")
    if not modern or code is None:
        return 200
    return 404 if code == jsonrpc.METHOD_NOT_FOUND else 400 if code in _BAD_REQUEST else 200


def version_of(message: Any) -> str | None:
    """Return the revision that a modern request names, or None."""
    version = value_at(message, "params", "_meta", VERSION_KEY)
    return version if type(version) is str else None


def field(fields: dict[str, Any], name: str) -> str | None:
    """Return a header of a recorded HTTP head, or None."""
    for pair in array_at(fields, "headers"):
        if type(pair) is list and len(pair) == 2 and type(pair[0]) is str and pair[0].lower() == name.lower():
            return str(pair[1])
    return None


def _same(given: str, expected: str) -> bool:
    """Whether two header values are equal: decoded, and numbers by value."""
    left, right = headers.decode(given), headers.decode(expected)
    if left == right:
        return left is not None
    try:
        return left is not None and right is not None and float(left) == float(right)
    except ValueError:
        return False
