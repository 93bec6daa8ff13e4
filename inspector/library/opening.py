"""`inspector.open`: from what a program says to a session that can be connected."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from inspector.client.inbox import Standing
from inspector.client.options import Authorize, Options
from inspector.config.target_words import parse_target
from inspector.config.targets import NO_OPTIONS, HttpTarget, RecordingTarget, Target
from inspector.config.trust import always
from inspector.errors import UsageError
from inspector.library.answering import ElicitationCallback, SamplingCallback
from inspector.library.session import Session
from inspector.text import safe
from inspector.transports.base import HttpOptions

if TYPE_CHECKING:
    import httpx

    from inspector.auth.options import AuthOptions
    from inspector.library.apps import InProcess
    from inspector.transports.base import Network

TIMEOUT, MAX_TIMEOUT = 60.0, 600.0


def open(
    target: str | Sequence[str] | InProcess,
    *,
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    headers: Mapping[str, str] | Sequence[tuple[str, str]] = (),
    transport: Literal["auto", "stdio", "http", "sse"] | httpx.AsyncClient | httpx.AsyncBaseTransport = "auto",
    path: str | None = None,
    config: str | os.PathLike[str] | None = None,
    trust: bool = False,
    verify: bool = True,
    bearer: str = "",
    auth: AuthOptions | None = None,
    era: Literal["auto", "legacy", "modern"] | None = None,
    protocol: str | None = None,
    timeout: float | None = None,
    max_timeout: float = MAX_TIMEOUT,
    sampling: str | SamplingCallback | None = None,
    elicit: str | Mapping[str, Any] | ElicitationCallback | None = None,
    roots: Sequence[str | os.PathLike[str]] | None = None,
    log_level: str = "",
    record: str | os.PathLike[str] | bool = False,
) -> Session:
    """A session with `target`, to be used with `async with`.

    `target`: a URL, `@name` of a config file, a command in one text, or its words in a list; a recording, which then
    answers what was asked in it as it was answered (nothing is started); or a server in this process: a FastMCP, or any
    ASGI app, which serves MCP at `path` (`/mcp`). `transport`: what to speak, or an httpx client or transport that
    sends the requests to a URL; it is not closed. `env`, `cwd`: a command's;
    `headers`, `bearer` (a token), `auth` (anything else about logging in), `verify` (False: accept any certificate, and
    send no kept login): a URL's. `trust`: allow an entry of a config file that is not the user's own to use the user's
    secrets, a proxy, or no verification. `era`, `protocol`: what to speak, instead of finding it out. `timeout`:
    seconds without an answer or progress; `max_timeout`: altogether. `sampling`: the text to answer with,
    `"decline"`, or a callback; `elicit`: the content, `"defaults"`, `"decline"`, `"cancel"`, or a callback; `roots`:
    URIs or folders. What is None is not offered to the server. `record`: the file to record to, which must be new;
    True: the folder in which `inspector` keeps recordings.

    Raises `TargetError`, `ConfigError`, `UsageError`, or `TrustNeeded` (see `trust`) at once; what goes wrong with the
    server comes from connecting.
    """
    fields = tuple(headers.items()) if isinstance(headers, Mapping) else tuple(headers)
    spoken: Literal["auto", "stdio", "http", "sse"] = "auto"
    network: Network | None = None
    if isinstance(transport, str):
        spoken = transport
    else:
        network = _httpx_network(transport)
    if isinstance(target, str | Sequence):
        if path is not None:
            raise UsageError("path= works only with an app in this process.", hint="Write the path in the URL.")
        found: Target = parse_target(
            [target] if isinstance(target, str) else [str(word) for word in target],
            command=not isinstance(target, str),
            config=None if config is None else Path(config),
            headers=fields,
            env=env,
            cwd=None if cwd is None else os.fspath(cwd),
            transport=spoken,
            verify=verify,
            consent=always if trust else None,
        )
        if network is not None:
            found = _through(found, network)
    else:
        from inspector.library.apps import app_target

        if env or cwd or network is not None or spoken == "stdio":
            raise UsageError(
                "env=, cwd= and a transport of its own do not work with an app in this process.", hint="Leave them out."
            )
        found = app_target(target, path, fields)
        if spoken == "sse":
            found = replace(found, transport="sse")
    http, authorize = HttpOptions(), None
    if isinstance(found, HttpTarget):
        http = HttpOptions(headers=found.headers, proxy=found.proxy, verify=found.verify, network=found.network)
        # A login that was kept for a real server at the app's address is not the app's.
        authorize = _authorize(bearer, auth) if bearer or auth is not None or not found.title else None
    elif bearer or auth is not None:
        raise UsageError(
            f"{found.label} is a command, which cannot be logged in to.", hint="Give a command its secrets with env=."
        )
    entry = NO_OPTIONS if isinstance(found, RecordingTarget) else found.options
    seconds = timeout or entry.timeout or TIMEOUT
    options = Options(
        timeout=seconds,
        max_timeout=max(max_timeout, seconds),
        era=era or entry.era or "auto",
        protocol=protocol or entry.protocol or "",
        standing=Standing(
            "ask" if callable(sampling) else _checked("sampling", sampling),
            "ask" if callable(elicit) else _checked_elicit(elicit),
            _roots(roots) if roots is not None else entry.roots or None,
        ),
        log_level=log_level,
        http=http,
        authorize=authorize,
    )
    if isinstance(found, RecordingTarget):
        from inspector.library.serving import ReplayedSession

        return ReplayedSession(
            found.path,
            options,
            record=record if isinstance(record, bool) else Path(record),
            sampling=sampling if callable(sampling) else None,
            elicitation=elicit if callable(elicit) else None,
        )
    return Session(
        found,
        options,
        record=record if isinstance(record, bool) else Path(record),
        sampling=sampling if callable(sampling) else None,
        elicitation=elicit if callable(elicit) else None,
    )


def _httpx_network(transport: object) -> Network:
    """The network that an httpx client or transport is. Raises `UsageError` for anything else."""
    import httpx

    from inspector.transports.httpx_network import HttpxNetwork

    if not isinstance(transport, httpx.AsyncClient | httpx.AsyncBaseTransport):
        raise UsageError(
            f"Invalid transport {safe(repr(transport), 100)}.",
            hint="Pass “auto”, “stdio”, “http”, “sse”, an httpx.AsyncClient or an httpx.AsyncBaseTransport.",
        )
    return HttpxNetwork(transport)


def _through(found: Target, network: Network) -> Target:
    if not isinstance(found, HttpTarget):
        raise UsageError(f"{found.label} is not at a URL; an httpx transport cannot reach it.", hint="Pass a URL.")
    return replace(found, network=network)


def _authorize(bearer: str, auth: AuthOptions | None) -> Authorize:
    """What answers a server that wants authorization. Logins that `inspector login` has kept are used."""
    from inspector.auth.credential import Authorizer
    from inspector.auth.options import AuthOptions
    from inspector.auth.person import Nobody
    from inspector.client.fetching import Fetching

    if bearer and auth is not None:
        raise UsageError("bearer= and auth= exclude each other.", hint="AuthOptions has a bearer of its own.")
    return Authorizer(auth or AuthOptions(bearer=bearer), web=Fetching, person=Nobody())


def _checked(what: str, answer: str | None) -> str | None:
    if answer == "ask":
        raise UsageError(f"{what}=“ask” needs an interface: here is nobody to ask.", hint="Give a callback.")
    return answer


def _checked_elicit(answer: str | Mapping[str, Any] | None) -> str | dict[str, Any] | None:
    if isinstance(answer, Mapping):
        return dict(answer)
    if answer not in (None, "defaults", "decline", "cancel"):
        _checked("elicit", answer)
        raise UsageError(
            f"elicit={answer!r:.60} is no answer.",
            hint="Give “defaults”, “decline”, “cancel”, the content, or a callback.",
        )
    return answer


def _roots(roots: Sequence[str | os.PathLike[str]]) -> tuple[str, ...]:
    """URIs as they are, folders as `file:` URIs."""
    return tuple(
        root if isinstance(root, str) and "://" in root else Path(root).expanduser().absolute().as_uri()
        for root in roots
    )
