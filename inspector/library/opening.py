"""`inspector.open`: turns a program's arguments into a session to connect."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from inspector.client.extensions import by_id, client_identity
from inspector.client.inbox import StandingAnswers
from inspector.client.options import LoginProvider, Options
from inspector.config.settings import MAX_TIMEOUT, TIMEOUT, checked
from inspector.config.target_arguments import parse_target
from inspector.config.targets import NO_OPTIONS, HttpTarget, RecordingTarget, Target
from inspector.config.text_checks import root_uri
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


def open(
    target: str | Sequence[str] | InProcess,
    *,
    env: Mapping[str, str | None] | None = None,
    env_file: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    inherit_env: bool = False,
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
    revision: str | None = None,
    timeout: float | None = None,
    max_timeout: float = MAX_TIMEOUT,
    sampling: str | SamplingCallback | None = None,
    elicit: str | Mapping[str, Any] | ElicitationCallback | None = None,
    roots: Sequence[str | os.PathLike[str]] | None = None,
    client: str = "",
    extensions: Mapping[str, Mapping[str, Any]] | Sequence[str] = (),
    log_level: str = "",
    record: str | os.PathLike[str] | bool = False,
    protocol: str | None = None,
) -> Session:
    """Return a session with `target`, for use with `async with`.

    `target`: a URL, `@name` of a config file, a command as one text or as a list of arguments; a recording, which then
    answers the recorded requests (nothing is started); or a server in this process: a FastMCP, or any ASGI app, which
    serves MCP at `path` (`/mcp`). `transport`: the transport's name, or an httpx client or transport that sends the
    requests to a URL; it is not closed. Of a command: `env` (variables; None: the value of this process), `env_file`
    (`.env` files with more), `inherit_env` (True: all variables of this process, its secrets too), `cwd`. Of a URL:
    `headers`, `bearer` (a token), `auth` (all other login options), `verify` (False: accept any certificate, and send
    no stored login). `trust`: allow an entry of a config file that is not the user's own to use the user's secrets, a
    proxy, or no verification. `era`, `revision`: use these instead of negotiating. `timeout`: seconds without a
    response or progress; `max_timeout`: in total. `sampling`: the text of the answer, `"decline"`, or a callback;
    `elicit`: the content, `"defaults"`, `"decline"`, `"cancel"`, or a callback; `roots`: URIs or folders. A capability
    whose option is None is not declared to the server. `client`: the client's name, as `NAME` or `NAME/VERSION`.
    `extensions`: ids to offer, or a mapping of ids to settings; without it none is offered. `record`: the file to
    record to, which must be new; True: the folder in which `inspector` keeps recordings.
    `protocol` is the old name of `revision`.

    Raises `TargetError`, `ConfigError`, `UsageError`, or `TrustNeeded` (see `trust`) immediately; a failure of the
    server is raised when connecting.
    """
    revision = protocol if revision is None else revision
    if not isinstance(revision, str | None):
        raise UsageError(f"“revision” in inspector.open must be text, not {revision!r:.60}.")
    given = {"era": era, "timeout": timeout, "max_timeout": max_timeout, "client": client}
    given |= {"log_level": log_level or None, "sampling": None if callable(sampling) else sampling}
    for name, value in given.items():
        if value is not None:
            checked(name, value, "inspector.open")
    fields = tuple(headers.items()) if isinstance(headers, Mapping) else tuple(headers)
    spoken: Literal["auto", "stdio", "http", "sse"] = "auto"
    sender: httpx.AsyncClient | httpx.AsyncBaseTransport | None = None
    if isinstance(transport, str):
        spoken = transport
    else:
        sender = _checked_sender(transport)
    if isinstance(target, str | Sequence):
        if path is not None:
            raise UsageError("path= works only with an app in this process.", hint="Write the path in the URL.")
        resolved: Target = parse_target(
            [target] if isinstance(target, str) else [str(word) for word in target],
            command=not isinstance(target, str),
            config=None if config is None else Path(config),
            headers=fields,
            env=env,
            env_files=[Path(file) for file in _listed(env_file)],
            inherit_env=inherit_env,
            cwd=None if cwd is None else os.fspath(cwd),
            transport=spoken,
            verify=verify,
            consent=always if trust else None,
        )
        if sender is not None:
            resolved = _through(resolved, sender)
    else:
        from inspector.library.apps import app_target

        if env or env_file or inherit_env or cwd or sender is not None or spoken == "stdio":
            raise UsageError(
                "env=, env_file=, inherit_env=, cwd= and transport= do not apply to an app in this process.",
                hint="Remove these arguments.",
            )
        resolved = app_target(target, path, fields)
        if spoken == "sse":
            resolved = replace(resolved, transport="sse")
    http, authorize = HttpOptions(), None
    if isinstance(resolved, HttpTarget):
        http = HttpOptions(
            headers=resolved.headers, proxy=resolved.proxy, verify=resolved.verify, network=resolved.network
        )
        # A stored login for a real server at the app's address is not meant for the app.
        authorize = _authorize(bearer, auth) if bearer or auth is not None or not resolved.title else None
    elif bearer or auth is not None:
        raise UsageError(
            f"{resolved.label} is a command; a login works only with a URL.",
            hint="Pass secrets to a command with env=.",
        )
    entry = NO_OPTIONS if isinstance(resolved, RecordingTarget) else resolved.options
    seconds = timeout or entry.timeout or TIMEOUT
    options = Options(
        timeout=seconds,
        max_timeout=max(max_timeout, seconds),
        era=era or entry.era or "auto",
        protocol=revision or entry.protocol or "",
        standing=StandingAnswers(
            "ask" if callable(sampling) else _checked("sampling", sampling),
            "ask" if callable(elicit) else _checked_elicit(elicit),
            _roots(roots) if roots is not None else entry.roots or None,
        ),
        client=client_identity(client or entry.client),
        extensions=by_id(entry.extensions, _extensions(extensions)),
        default_extensions=(),
        log_level=log_level,
        http=http,
        authorize=authorize,
    )
    if isinstance(resolved, RecordingTarget):
        from inspector.library.serving import ReplayedSession

        return ReplayedSession(
            resolved.path,
            options,
            record=record if isinstance(record, bool) else Path(record),
            sampling=sampling if callable(sampling) else None,
            elicitation=elicit if callable(elicit) else None,
        )
    return Session(
        resolved,
        options,
        record=record if isinstance(record, bool) else Path(record),
        sampling=sampling if callable(sampling) else None,
        elicitation=elicit if callable(elicit) else None,
    )


def _checked_sender(transport: object) -> httpx.AsyncClient | httpx.AsyncBaseTransport:
    """Return an httpx client or transport. Raises `UsageError` for anything else."""
    import httpx

    if not isinstance(transport, httpx.AsyncClient | httpx.AsyncBaseTransport):
        raise UsageError(
            f"Invalid transport {safe(repr(transport), 100)}.",
            hint="Pass “auto”, “stdio”, “http”, “sse”, an httpx.AsyncClient or an httpx.AsyncBaseTransport.",
        )
    return transport


def _through(target: Target, sender: httpx.AsyncClient | httpx.AsyncBaseTransport) -> Target:
    """Return a target whose origin is reached through `sender`."""
    from inspector.transports.http_url import parse_url
    from inspector.transports.httpx_network import HttpxNetwork

    if not isinstance(target, HttpTarget):
        raise UsageError(f"{target.label} is not a URL, so an httpx transport cannot reach it.", hint="Pass a URL.")
    return replace(target, network=HttpxNetwork(sender, parse_url(target.url).origin))


def _authorize(bearer: str, auth: AuthOptions | None) -> LoginProvider:
    """Return the login for a server that requires one. Logins stored by `inspector login` are used."""
    from inspector.auth.credential import Authorizer
    from inspector.auth.options import AuthOptions
    from inspector.auth.person import NoPerson
    from inspector.client.fetching import EndpointSender

    if bearer and auth is not None:
        raise UsageError("bearer= and auth= exclude each other.", hint="Use the bearer of AuthOptions.")
    return Authorizer(auth or AuthOptions(bearer=bearer), web=EndpointSender, person=NoPerson())


def _checked(what: str, answer: str | None) -> str | None:
    if answer == "ask":
        raise UsageError(f"{what}=“ask” needs an interface, and a program has none.", hint="Pass a callback.")
    return answer


def _checked_elicit(answer: str | Mapping[str, Any] | None) -> str | dict[str, Any] | None:
    if isinstance(answer, Mapping):
        return dict(answer)
    if answer not in (None, "defaults", "decline", "cancel"):
        _checked("elicit", answer)
        raise UsageError(
            f"elicit={answer!r:.60} is not a valid answer.",
            hint="Pass “defaults”, “decline”, “cancel”, the content, or a callback.",
        )
    return answer


def _extensions(offered: Mapping[str, Mapping[str, Any]] | Sequence[str]) -> dict[str, Mapping[str, Any] | None]:
    """Return the extensions to offer, by id; a name alone has its usual settings. Raises `UsageError`."""
    from inspector.protocol.extensions import default_settings, full_id

    if isinstance(offered, str):
        offered = (offered,)
    extensions: dict[str, Mapping[str, Any] | None] = {}
    for name in offered:
        id = full_id(name)
        settings = offered[name] if isinstance(offered, Mapping) else default_settings(id)
        if not isinstance(settings, Mapping):
            raise UsageError(
                f"The settings of {id[:80]} are not a mapping.", hint="Pass {} for an extension without settings."
            )
        extensions[id] = settings
    return extensions


def _listed(files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> Sequence[str | os.PathLike[str]]:
    return [files] if isinstance(files, str | os.PathLike) else files


def _roots(roots: Sequence[str | os.PathLike[str]]) -> tuple[str, ...]:
    """Return URIs unmodified, and folders as `file:` URIs."""
    return tuple(root_uri(os.fspath(root)) for root in roots)
