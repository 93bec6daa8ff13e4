"""The authorization options of the command line. Their modules are imported only when they are used."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from inspector.demo.auth.issuer import IssuerSettings


def add_options(parser: ArgumentParser) -> None:
    """Adds them to a parser. Each of them enables authorization."""
    group = parser.add_argument_group("authorization", "Each of these requires clients to log in; HTTP only.")
    group.add_argument("--auth", action="store_true", help="require tokens, and issue them")
    group.add_argument("--auth-auto", action="store_true", help="allow every request immediately, without a page")
    group.add_argument(
        "--auth-fault", metavar="NAME", action="append", default=[], help="enable one fault; can be repeated"
    )
    group.add_argument("--auth-layout", metavar="NAME", help="location of the authorization server: apart, path, …")
    group.add_argument("--auth-expiry", metavar="SECONDS", type=int, help="lifetime of access tokens; 3600")
    group.add_argument("--auth-port", metavar="PORT", type=int, help="port of the authorization server; any")
    group.add_argument("--auth-jwks", metavar="FILE", help="public keys of the client demo-key, as a JWK set")


def settings_of(options: Namespace, parser: ArgumentParser) -> IssuerSettings | None:
    """Returns the settings; None without options. Ends the process with a usage error for invalid options."""
    values = [options.auth_layout, options.auth_expiry, options.auth_port, options.auth_jwks]
    if not (options.auth or options.auth_auto or options.auth_fault or any(value is not None for value in values)):
        return None
    from inspector.demo.auth.faults import FAULTS
    from inspector.demo.auth.issuer import LAYOUTS, IssuerSettings

    layout = options.auth_layout or "apart"
    if layout not in LAYOUTS:
        parser.error(f"--auth-layout {layout}: use one of {', '.join(LAYOUTS)}")
    for name in options.auth_fault:
        if name not in FAULTS:
            parser.error(f"--auth-fault {name}: use one of {', '.join(sorted(FAULTS))}")
    expiry = 3600 if options.auth_expiry is None else options.auth_expiry
    port = options.auth_port or 0
    if not 1 <= expiry <= 10**9:
        parser.error("--auth-expiry must be a number of seconds, at least 1")
    if not 0 <= port < 65536:
        parser.error(f"--auth-port {port}: not a valid port")
    return IssuerSettings(
        auto=options.auth_auto,
        layout=layout,
        faults=tuple(dict.fromkeys(options.auth_fault)),
        expiry=expiry,
        port=port,
        jwks=None if options.auth_jwks is None else _read_jwks(options.auth_jwks, parser),
    )


def _read_jwks(path: str, parser: ArgumentParser) -> dict[str, Any]:
    import json

    try:
        with open(path, encoding="utf-8") as file:
            jwks = json.load(file)
    except (OSError, ValueError, RecursionError) as problem:
        parser.error(f"--auth-jwks {path}: {problem}")
    if not isinstance(jwks, dict) or not isinstance(jwks.get("keys"), list):
        parser.error(f"--auth-jwks {path}: a JWK set must be an object with a list “keys”")
    return jwks
