"""A scripted world for flows: an MCP server, an authorization server, a person with a browser, a store."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

from inspector.auth.actions import (
    AskClient,
    AuthFlow,
    ChooseServer,
    Fetch,
    Fetched,
    HoldRenewalLock,
    LoadGrant,
    LoadStoredClient,
    OpenListener,
    RecordStep,
    RegisterSecret,
    Show,
    StoreClient,
    StoreGrant,
    VisitPage,
    Wait,
)
from inspector.auth.authorize import Authorization
from inspector.auth.models import Grant, OAuthClient
from inspector.auth.options import AuthOptions
from inspector.errors import InspectorError

SERVER = "https://shop.example/mcp"
ISSUER = "https://login.example"
REDIRECT = "http://127.0.0.1:43210/callback"
NOW = 1_800_000_000.0

PRM_PLACE = "https://shop.example/.well-known/oauth-protected-resource/mcp"
ROOT_PRM_PLACE = "https://shop.example/.well-known/oauth-protected-resource"
AS_PLACE = f"{ISSUER}/.well-known/oauth-authorization-server"


@dataclass(frozen=True)
class Refused:
    """A refusal of the MCP server."""

    status: int = 401
    challenges: tuple[str, ...] = (f'Bearer resource_metadata="{PRM_PLACE}"',)
    fields: Sequence[tuple[str, str]] = ()
    method: str = "initialize"


def prm(**changes: Any) -> dict[str, Any]:
    return without({"resource": SERVER, "authorization_servers": [ISSUER]} | changes)


def metadata(issuer: str = ISSUER, **changes: Any) -> dict[str, Any]:
    return without(
        {
            "issuer": issuer,
            "authorization_endpoint": f"{issuer}/authorize",
            "token_endpoint": f"{issuer}/token",
            "registration_endpoint": f"{issuer}/register",
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
        }
        | changes
    )


def without(document: dict[str, Any]) -> dict[str, Any]:
    """A document without the keys whose value is `...`."""
    return {key: value for key, value in document.items() if value is not ...}


def token(**changes: Any) -> dict[str, Any]:
    return without({"access_token": "token-1", "token_type": "Bearer", "expires_in": 3600} | changes)


Answer = Callable[[Fetch], Any] | Mapping[str, Any] | tuple[Any, ...] | InspectorError | list[Any] | str | bytes


@dataclass
class World:
    """The responses by URL, and a log of events. A response is JSON (200), a pair of status and JSON, bytes, or an
    error.

    A list holds one response after another (the last one stays); a function gets the fetch.
    """

    pages: dict[str, Any] = field(default_factory=dict)
    back: Callable[[str], str] | None = None
    """Returns the redirect for the authorization URL; None: with a code, our state and no `iss`."""
    extra: dict[str, str] = field(default_factory=dict)
    """More parameters of the callback."""
    ask: OAuthClient | None = None
    choose: int = 0
    redirect: str = REDIRECT
    store: dict[tuple[str, str], Grant] = field(default_factory=dict)
    clients: dict[str, OAuthClient] = field(default_factory=dict)

    log: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        standard: dict[str, Any] = {
            PRM_PLACE: prm(),
            AS_PLACE: metadata(),
            f"{ISSUER}/register": (201, {"client_id": "registered-1"}),
            f"{ISSUER}/token": token(),
        }
        self.pages = standard | self.pages

    def run(self, flow: AuthFlow[Any]) -> Any:
        """Run a flow to its end; what it did is in `log`."""
        answer: Any = None
        problem: InspectorError | None = None
        for _ in range(1000):
            try:
                action = flow.send(answer) if problem is None else flow.throw(problem)
            except StopIteration as done:
                return done.value
            self.log.append(action)
            answer, problem = None, None
            try:
                answer = self._perform(action)
            except InspectorError as error:
                problem = error
        raise AssertionError("the flow does not end")

    def _perform(self, action: Any) -> Any:
        match action:
            case Fetch():
                return self._fetched(action)
            case OpenListener():
                return action.redirect_uri if action.fixed else self.redirect
            case VisitPage():
                return self.back(action.url) if self.back else callback(action.url, code="code-1", **self.extra)
            case AskClient():
                return self.ask
            case ChooseServer():
                return action.issuers[self.choose]
            case LoadGrant():
                if action.issuer:
                    return self.store.get((action.issuer, action.resource))
                return next((grant for grant in self.store.values() if grant.server == action.server), None)
            case LoadStoredClient():
                return self.clients.get(action.issuer)
            case StoreGrant():
                put(self.store, (action.issuer, action.resource), action.grant)
            case StoreClient():
                put(self.clients, action.issuer, action.client)
            case RegisterSecret() | Show() | Wait() | HoldRenewalLock() | RecordStep():
                pass
            case _:
                raise AssertionError(f"unknown action {action}")
        return None

    def _fetched(self, action: Fetch) -> Fetched:
        given = self.pages.get(action.url, (404, {}))
        if isinstance(given, list):
            given = given.pop(0) if len(given) > 1 else given[0]
        if callable(given):
            given = given(action)
        if isinstance(given, InspectorError):
            raise given
        status, body, fields = 200, given, ()
        if isinstance(given, tuple):
            status, body, fields = (*given, ())[:3]
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        return Fetched(status, tuple(fields), raw, action.url)

    # What happened

    @property
    def fetched(self) -> list[str]:
        return [action.url for action in self.log if isinstance(action, Fetch)]

    @property
    def visits(self) -> list[dict[str, str]]:
        """The parameters of each authorization request, once each."""
        return [dict(parse_qsl(urlsplit(action.url).query)) for action in self.log if isinstance(action, VisitPage)]

    @property
    def secrets(self) -> list[str]:
        return [action.value for action in self.log if isinstance(action, RegisterSecret)]

    def forms(self, url: str = f"{ISSUER}/token") -> list[dict[str, str]]:
        """The forms sent to `url`."""
        return [
            {name: values[0] for name, values in parse_qs(action.body.decode()).items()}
            for action in self.log
            if isinstance(action, Fetch) and action.url == url and action.method == "POST"
        ]

    def sent(self, url: str) -> list[Fetch]:
        return [action for action in self.log if isinstance(action, Fetch) and action.url == url]

    def recorded_steps(self, step: str = "") -> list[RecordStep]:
        return [action for action in self.log if isinstance(action, RecordStep) and step in ("", action.step)]

    @property
    def failed(self) -> RecordStep:
        """The last step that was not as it should be."""
        return [action for action in self.recorded_steps() if not action.ok][-1]


def put(into: dict[Any, Any], key: Any, value: Any) -> None:
    if value is None:
        into.pop(key, None)
    else:
        into[key] = value


def callback(url: str, **parameters: str) -> str:
    """Where the browser comes back to after `url`, with our state unless another is given."""
    asked = dict(parse_qsl(urlsplit(url).query))
    return f"{asked['redirect_uri']}?{urlencode({'state': asked['state']} | parameters)}"


def authorization(server: str = SERVER, *, now: Callable[[], float] = lambda: NOW, **options: Any) -> Authorization:
    return Authorization(server, AuthOptions(**options), now=now)


def grant(**changes: Any) -> Grant:
    values: dict[str, Any] = {
        "server": SERVER,
        "issuer": ISSUER,
        "resource": SERVER,
        "access_token": "old-token",
        "issued_at": NOW - 100,
        "expires_at": NOW + 3500,
        "client": OAuthClient("registered-0", origin="registered", method="none", redirect_uri=REDIRECT),
        "token_endpoint": f"{ISSUER}/token",
        "methods": ("none",),
    }
    return Grant(**values | changes)


BEARER = (("Authorization", "Bearer old-token"),)
