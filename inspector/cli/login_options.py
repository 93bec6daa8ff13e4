"""Logins on the command line: the options for authorization, and the user to ask."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from inspector.cli.options import LOGIN
from inspector.cli.output import Output
from inspector.errors import TargetError, UsageError

if TYPE_CHECKING:
    from datetime import datetime

    from inspector.auth.credential import Authorizer
    from inspector.auth.fetching import HttpSender
    from inspector.auth.models import Grant
    from inspector.auth.options import AuthOptions
    from inspector.cli.verb import Invocation
    from inspector.config.settings import Settings
    from inspector.config.targets import HttpTarget

NAME = 200

OF_FLAGS = {
    "bearer-env": "bearer",
    "client-id": "client_id",
    "client-secret-env": "client_secret",
    "client-key": "client_key",
    "client-key-id": "client_key_id",
    "client-issuer": "client_issuer",
    "client-metadata": "client_metadata_url",
    "redirect-uri": "redirect_uri",
    "scope": "scope",
    "auth-server": "auth_server",
    "grant": "grant",
    "idp": "idp_issuer",
    "idp-token-endpoint": "idp_token_endpoint",
    "idp-client-id": "idp_client_id",
    "idp-client-secret-env": "idp_client_secret",
    "id-token-env": "idp_id_token",
    "assertion-env": "assertion",
}
"""Each option with a value, and the field that it sets."""


def said_of(invocation: Invocation) -> AuthOptions:
    """The login options."""
    from inspector.auth.options import AuthOptions

    given: dict[str, Any] = {
        name: invocation.option(flag) for flag, name in OF_FLAGS.items() if invocation.option(flag)
    }
    opens, shows = invocation.option("open-browser"), invocation.option("no-browser")
    if opens and shows:
        raise UsageError("--open-browser cannot be used with --no-browser.", hint="Remove one of them.")
    if opens or shows:
        given["open_browser"] = bool(opens)
    return AuthOptions(**given)


def authorize(invocation: Invocation, settings: Settings, *, in_interface: bool, keeps: bool = True) -> Authorizer:
    """The object that logs in for the session of a command. `in_interface`: it asks the user.

    Without `keeps`, no kept login is used.
    """
    from inspector.auth.credential import Authorizer
    from inspector.cli.login_prompts import Terminal

    options = replace(said_of(invocation), login_timeout=settings.login_timeout)
    return Authorizer(options, web=_sender, person=Terminal(invocation.output, here=not in_interface), keeps=keeps)


def _sender(target: HttpTarget) -> HttpSender:
    from inspector.client.fetching import EndpointSender

    return EndpointSender(target)


def described(grant: Grant, renewable: bool, out: Output) -> str:
    """A login in one line: server, scopes, expiry; without the token."""
    scope = f", {out.safe(' '.join(grant.scope), NAME)}" if grant.scope else ""
    return f"{out.safe(grant.issuer, NAME)}{scope}, {_until(grant, renewable)}"


def _until(grant: Grant, renewable: bool) -> str:
    when = _time(grant.expires_at) if grant.expires_at else None
    if renewable or when is None:
        return "until logout"
    over = "it ended" if grant.expires_at <= time.time() else "until"
    return f"{over} {when.astimezone():%Y-%m-%d %H:%M}"


def as_json(grant: Grant, renewable: bool) -> dict[str, Any]:
    """The same for `--json`; `expires` is the end of the access token."""
    ends = _time(grant.expires_at) if grant.expires_at else None
    return {
        "server": grant.server,
        "issuer": grant.issuer,
        "resource": grant.resource,
        "scope": list(grant.scope),
        "expires": ends.isoformat(timespec="seconds").replace("+00:00", "Z") if ends is not None else None,
        "renewable": renewable,
        "grant": grant.kind,
    }


def _time(seconds: float) -> datetime | None:
    """A time in seconds since 1970; None if it is out of range."""
    from datetime import UTC, datetime

    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None


class NullJournal:
    """A journal for logins outside of sessions. It records nothing."""

    def auth(
        self, step: str, ok: bool, text: str, *, rule: str = "", fix: str = "", facts: dict[str, Any] | None = None
    ) -> int:
        """Do nothing."""
        return 0

    def asking(self, begun: bool) -> None:
        """Do nothing, because requests are not recorded."""

    def secret(self, value: str) -> None:
        """Do nothing, because these logins are not recorded."""


def refuse(invocation: Invocation) -> None:
    """Raise `TargetError` for a command, which reads its credentials from its environment (C-STDIO-09)."""
    for option in LOGIN:
        if option.name in invocation.values:
            raise TargetError(
                f"--{option.name} cannot be used with a command",
                hint="Pass secrets to a command with --env.",
            )
