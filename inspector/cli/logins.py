"""Logging in from the command line: what the options say of it, and who is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inspector.cli.options import LOGIN
from inspector.cli.output import Output
from inspector.errors import TargetError, UsageError

if TYPE_CHECKING:
    from inspector.auth.credential import Authorizer
    from inspector.auth.options import AuthOptions
    from inspector.cli.words import Invocation

_SET = {
    "bearer-env": "bearer",
    "client-id": "client_id",
    "client-secret-env": "client_secret",
    "client-key": "client_key",
    "client-metadata": "client_metadata_url",
    "scope": "scope",
    "auth-server": "auth_server",
    "grant": "grant",
}
"""Each option with a value, and what it sets."""


def said_of(said: Invocation) -> AuthOptions:
    """What the options say."""
    from inspector.auth.options import AuthOptions

    given: dict[str, Any] = {name: said.option(flag) for flag, name in _SET.items() if said.option(flag)}
    opens, shows = said.option("open-browser"), said.option("no-browser")
    if opens and shows:
        raise UsageError("--open-browser and --no-browser exclude each other.", hint="Leave one of them out.")
    if opens or shows:
        given["open_browser"] = bool(opens)
    return AuthOptions(**given)


def authorize(said: Invocation, *, asking: bool) -> Authorizer:
    """What logs in for the session of a command. `asking`: the interface asks, and says who that is."""
    from inspector.auth.credential import Authorizer
    from inspector.cli.person import Terminal
    from inspector.client.fetching import Fetching

    return Authorizer(said_of(said), web=Fetching, person=Terminal(Output.of(said), here=not asking))


def refuse(said: Invocation) -> None:
    """Raise `TargetError` where a command is to be logged in to: its secrets are its environment's (C-STDIO-09)."""
    for option in LOGIN:
        if option.name in said.values:
            raise TargetError(
                f"--{option.name} means nothing to a server that is started as a command",
                hint="Give a command its secrets with --env.",
            )
