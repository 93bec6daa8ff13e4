"""`inspector login` and `inspector logout`: keep a login, and delete it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from inspector.cli.options import Option
from inspector.cli.output import Output
from inspector.cli.verb import Verb
from inspector.errors import UsageError

if TYPE_CHECKING:
    from inspector.auth.credential import Authorizer
    from inspector.cli.verb import Invocation
    from inspector.client.session import Session
    from inspector.config.targets import HttpTarget

NAME = 200


def log_in(invocation: Invocation) -> int:
    """Connect to the server, log in unless connecting did so, and print the expiry."""
    from inspector.cli import headless

    target = _target(invocation)
    if invocation.option("bearer-env"):
        raise UsageError("--bearer-env replaces a login.", hint="Remove --bearer-env to log in.")
    if target.withholds_login:
        raise UsageError(
            f"The login to {target.describe()} cannot be kept because {target.withholds_login}.",
            hint="Give the server's CA certificate with SSL_CERT_FILE=/path/to/ca.pem, and connect without a proxy.",
        )

    async def work(session: Session, out: Output) -> int:
        from inspector.auth.credential import Authorizer

        authorizer = session.options.authorize
        assert isinstance(authorizer, Authorizer)
        login = authorizer.login(target)
        grant = login.authorization.grant
        if grant is None or invocation.option("again"):
            if grant is None:
                out.note("The server does not require a login. Logging in at its authorization server anyway.")
            grant = await login.run(login.authorization.log_in, session.recorder())
        from inspector.cli.login_options import as_json, described

        if out.json:
            out.document(as_json(grant, bool(grant.refresh_token)))
        else:
            description = described(grant, bool(grant.refresh_token), out)
            out.line(f"Logged in to {out.safe(target.describe(), NAME)}: {description}")
        return 0

    return headless.run(invocation, work, target)


def log_out(invocation: Invocation) -> int:
    """Delete every login to a server, and revoke its tokens if possible."""
    from inspector.cli import login_options
    from inspector.cli.session_setup import settings_of

    target = _target(invocation)
    out = invocation.output
    settings = settings_of(invocation)
    authorizer = login_options.authorize(invocation, settings, in_interface=False)
    done, revoked = asyncio.run(_forget(authorizer, target, settings.timeout))
    if out.json:
        out.document({"server": target.describe(), "logged_out": done, "revoked": revoked})
    elif not done:
        out.line(f"Not logged in to {out.safe(target.describe(), NAME)}.")
    else:
        outcome = (
            "the tokens were revoked"
            if revoked
            else "the authorization server did not revoke every token; those are valid until they expire"
        )
        out.line(f"Logged out of {out.safe(target.describe(), NAME)}; {outcome}.")
    return 0


async def _forget(authorizer: Authorizer, target: HttpTarget, seconds: float) -> tuple[int, bool]:
    """The number of logins, and whether all tokens were revoked."""
    from inspector.cli.login_options import NullJournal

    store = authorizer.store
    assert store is not None
    kept = store.logins(target.url)
    revoked = bool(kept)
    for _ in kept:
        authorizer.opening(seconds)
        login = authorizer.login(target)
        revoked = await login.run(login.authorization.log_out, NullJournal()) and revoked
    for left in store.logins(target.url):
        # Its tokens are no longer available, for example in another keyring, so they cannot be revoked.
        store.keep(left.grant.issuer, left.grant.resource, None)
        revoked = False
    return len(kept), revoked


def _target(invocation: Invocation) -> HttpTarget:
    from inspector.cli.session_setup import live_target
    from inspector.config.targets import HttpTarget

    target = live_target(invocation)
    if not isinstance(target, HttpTarget):
        raise UsageError(
            f"`inspector {invocation.verb.name}` needs a URL, and {target.describe()} is a command.",
            hint="Pass secrets to a command with --env.",
        )
    return target


LOGIN = Verb("login", log_in, options=(Option("--again", "Log in again even if the kept login is valid"),))

LOGOUT = Verb("logout", log_out)
