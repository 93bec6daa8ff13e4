"""Extensions of a session: what we offer, what the server declares, and what is in effect.

The functions read messages only, so they answer for a live session and for a recording. Source: SEP-2133,
"Extensions"; specification 2026-07-28, "Versioning" (C-EXT-01 to C-EXT-12).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from inspector.client.state.server import Server
from inspector.errors import NotOffered
from inspector.journal.format import Dir
from inspector.journal.query import Query
from inspector.protocol.extensions import EXTENSION_OF, KNOWN, SHORT_NAMES, default_settings, full_id
from inspector.protocol.jsonrpc import MISSING_CAPABILITY, Shape, excerpt
from inspector.protocol.members import object_at, value_at
from inspector.protocol.names import CAPABILITIES_KEY, CLIENT_KEY
from inspector.version import __version__

if TYPE_CHECKING:
    from inspector.journal.journal import Journal


MAX_EXTENSIONS = 10_000
"""Extensions of a server that are looked at. A map with more is kept whole, but not judged further."""
MAX_CHOICES = 100
"""Extensions of a server that are offered for a choice."""

_ERRORS = Query(dir=Dir.RECV, shape=Shape.ERROR)
_OPENING = Query(dir=Dir.SEND, shape=Shape.REQUEST, method=("initialize", "server/discover"))


class ClientIdentity(NamedTuple):
    """The name that our client gives the server: `clientInfo`."""

    name: str = "inspector"
    version: str = __version__
    title: str = "Inspector"

    @classmethod
    def parse(cls, word: str) -> ClientIdentity:
        """Return the identity in `NAME` or `NAME/VERSION`. A name may have a slash: a version begins with a digit."""
        match = re.fullmatch(r"(.+)/(v?\d[^/]*)", word.strip(), re.DOTALL)
        if match is None:
            return cls(word.strip(), title="")
        return cls(match[1].strip(), match[2], title="")

    def as_json(self) -> dict[str, Any]:
        """Return the `Implementation` object."""
        title = {"title": self.title} if self.title else {}
        return {"name": self.name, **title, "version": self.version}


def client_identity(word: str) -> ClientIdentity:
    """Return the identity that the user names; empty: our own."""
    return ClientIdentity.parse(word) if word.strip() else ClientIdentity()


def identity_of(info: Mapping[str, Any]) -> ClientIdentity:
    """Return the identity in a `clientInfo` object."""
    return ClientIdentity(str(info.get("name", "")), str(info.get("version", "")), str(info.get("title", "")))


def by_id(*maps: Mapping[str, Mapping[str, Any] | None]) -> dict[str, Mapping[str, Any] | None]:
    """Return the extensions of several maps by full id; a later map wins."""
    return {full_id(name): settings for extensions in maps for name, settings in extensions.items()}


class ExtensionState(NamedTuple):
    """One extension, between our client and the server."""

    id: str
    offered: Any = None
    """Our settings: an object. None if our client does not offer it."""
    declared: bool = False
    """Whether the server declares it, in the right place, with settings that count."""
    settings: Any = None
    """The server's value as it came, valid or not."""
    problem: str = ""
    """Why the server's value does not count as a declaration; empty if it does, or if there is none."""

    @property
    def in_effect(self) -> bool:
        """Whether it is used: the server declares it, and we offer it where that is needed."""
        known = KNOWN.get(self.id)
        return self.declared and (self.offered is not None or (known is not None and known.server_decides))

    @property
    def standing(self) -> str:
        """Return which side has it, in a few words."""
        if self.problem:
            return "not declared"
        if self.in_effect:
            return "used"
        return "not offered by the client" if self.declared else "not declared by the server"

    def as_json(self) -> dict[str, Any]:
        """Return what `inspector info --json` prints; `settings` are the server's, unchanged."""
        row: dict[str, Any] = {"id": self.id, "offered": self.offered, "declared": self.declared}
        if self.declared or self.problem:
            row["settings"] = self.settings
        row["in_effect"] = self.in_effect
        return row | ({"problem": self.problem} if self.problem else {})


def extension_states(server: Server, offered: Mapping[str, Any]) -> list[ExtensionState]:
    """Return the state of each extension that either side names: the server's in its order, then the rest of ours."""
    states: dict[str, ExtensionState] = {}
    for id, value in _declared_map(server).items():
        if len(states) >= MAX_EXTENSIONS:
            break
        valid = type(value) is dict
        problem = "" if valid else f"its settings are {excerpt(value, 60)}, not an object"
        states[id] = ExtensionState(id, offered.get(id), valid, value, problem)
    for id, value, place in _misplaced(server):
        if id not in states and len(states) < MAX_EXTENSIONS:
            states[id] = ExtensionState(id, offered.get(id), False, value, f"declared in the wrong place: {place}")
    for id, settings in offered.items():
        if id not in states:
            states[id] = ExtensionState(id, settings)
    return list(states.values())


def map_problem(server: Server) -> str:
    """Return why the server's `extensions` is not a map of extensions; empty if it is one, or missing."""
    value = server.capabilities.get("extensions", {})
    return "" if type(value) is dict else f"extensions is {excerpt(value, 60)}, not an object"


def declared_settings(server: Server, id: str) -> dict[str, Any] | None:
    """Return the settings with which the server declares an extension; None if it does not (C-EXT-06, C-EXT-07)."""
    value = _declared_map(server).get(id)
    return value if type(value) is dict else None


def require_declared(server: Server, method: str) -> None:
    """Raise `NotOffered` for a method of an extension that the server does not declare (C-EXT-04)."""
    id = EXTENSION_OF.get(method)
    if id is None or declared_settings(server, id) is not None:
        return
    state = next(
        (extension_state for extension_state in extension_states(server, {}) if extension_state.id == id), None
    )
    reason = f": {state.problem}" if state is not None and state.problem else ""
    raise NotOffered(
        f"{method} was not sent: the server does not declare the extension {id}{reason}.",
        hint="To send it anyway, write the request by hand.",
    )


def offered_in(journal: Journal, upto: int | None = None) -> dict[str, Any]:
    """Return the extensions that our newest `initialize` or `server/discover` offered, as sent; empty without one."""
    params = _opening_params(journal, upto)
    modern = value_at(params, "_meta", CAPABILITIES_KEY)
    return object_at(modern if type(modern) is dict else params.get("capabilities"), "extensions")


def client_in(journal: Journal, upto: int | None = None) -> dict[str, Any]:
    """Return the `clientInfo` of our newest `initialize` or `server/discover`; empty without one."""
    params = _opening_params(journal, upto)
    info = value_at(params, "_meta", CLIENT_KEY)
    return object_at(params.get("clientInfo") if info is None else info)


def missing_extensions(code: Any, data: Any) -> list[str]:
    """Return the ids of the extensions that an error demands from the client (-32021, C-EXT-05)."""
    return [*object_at(data, "requiredCapabilities", "extensions")][:100] if code == MISSING_CAPABILITY else []


class ExtensionChoice(NamedTuple):
    """An extension that a client may offer: the settings to offer it with, and what is known of it."""

    id: str
    settings: dict[str, Any]
    about: str


def extension_choices(server: Server, journal: Journal, upto: int) -> tuple[dict[str, Any], list[ExtensionChoice]]:
    """Return what a session offers, and what it could offer: the server's extensions, those it demands, ours."""
    offered = offered_in(journal, upto)
    choices: dict[str, ExtensionChoice] = {}
    for id in _demanded(journal, upto):
        choices[id] = ExtensionChoice(id, default_settings(id), "demanded by an error of the server")
    for state in extension_states(server, offered)[:MAX_CHOICES]:
        about = state.problem or ("declared by the server" if state.declared else "not declared by the server")
        settings = state.offered if type(state.offered) is dict else default_settings(state.id)
        choices.setdefault(state.id, ExtensionChoice(state.id, settings, about))
    for id, known in KNOWN.items():
        draft = " (draft)" if known.standing == "draft" else ""
        if known.methods or known.settings:
            about = f"{known.title}{draft}"
            choices.setdefault(id, ExtensionChoice(id, default_settings(id), about))
    return offered, list(choices.values())


def _demanded(journal: Journal, upto: int | None) -> dict[str, None]:
    """Return the extensions that the newest errors demand from the client."""
    demanded: dict[str, None] = {}
    for n in islice(_ERRORS.backwards(journal.index, upto=upto), 50):
        error = object_at(journal.event(n).message, "error")
        demanded.update(dict.fromkeys(missing_extensions(error.get("code"), error.get("data"))))
    return demanded


def _opening_params(journal: Journal, upto: int | None) -> dict[str, Any]:
    n = next(_OPENING.backwards(journal.index, upto=upto), 0)
    return object_at(journal.event(n).message, "params") if n else {}


def _declared_map(server: Server) -> dict[str, Any]:
    return object_at(server.capabilities, "extensions")


def _misplaced(server: Server) -> Iterator[tuple[str, Any, str]]:
    """Yield extensions that stand beside `capabilities.extensions`: id, value, place (C-EXT-07)."""
    for key, value in server.capabilities.items():
        # `tasks` is a capability of 2025-11-25, and `events` the place of an older draft (C-EVENT-03).
        if "/" in key or (key in SHORT_NAMES and key not in ("tasks", "events")):
            yield SHORT_NAMES.get(key, key), value, f"capabilities.{key}"
    for key, value in object_at(server.capabilities, "experimental").items():
        if SHORT_NAMES.get(key, key) in KNOWN:
            yield SHORT_NAMES.get(key, key), value, f"capabilities.experimental.{key}"
    for key, value in object_at(server.raw, "_meta").items():
        if key in KNOWN:
            yield key, value, f"_meta.{key}"
