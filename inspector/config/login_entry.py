"""The `auth` object of a config entry: login options, with secrets as references."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from inspector.config import foreign_files
from inspector.config.entry_fields import flag, text
from inspector.errors import ConfigError
from inspector.lazy_pattern import lazy_pattern

GRANTS = ("auto", "code", "client-credentials", "enterprise", "workload", "device")
"""The grants for getting a token."""

KEYS = {
    "bearer": "bearer",
    "clientId": "client_id",
    "clientSecret": "client_secret",
    "clientKey": "client_key",
    "clientKeyId": "client_key_id",
    "clientMetadata": "client_metadata_url",
    "clientIssuer": "client_issuer",
    "redirectUri": "redirect_uri",
    "scope": "scope",
    "authServer": "auth_server",
    "grant": "grant",
    "idpIssuer": "idp_issuer",
    "idpTokenEndpoint": "idp_token_endpoint",
    "idpClientId": "idp_client_id",
    "idpClientSecret": "idp_client_secret",
    "idpIdToken": "idp_id_token",
    "assertion": "assertion",
    "openBrowser": "open_browser",
}
"""Each key of the file, and its option."""

SECRETS = frozenset(("bearer", "client_secret", "client_key", "idp_client_secret", "idp_id_token", "assertion"))
"""Options that a file may contain only as references."""

SERVERS = ("auth_server", "idp_issuer", "idp_token_endpoint")
"""Options that name a server of logins by its URL."""

_REFERENCE = lazy_pattern(r"(?:env|file|keyring):(.+)", re.DOTALL)
_BRACED = lazy_pattern(r"\$\{[^${}]+\}")


def read(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options in `auth`, with references for the expander. Raises ConfigError for invalid ones."""
    auth = raw.get("auth")
    if auth is None:
        return {}
    if not isinstance(auth, dict):
        raise ConfigError(f"“auth” must be an object, not {foreign_files.kind_of(auth)}")
    options: dict[str, Any] = {}
    for key in auth:
        if key not in KEYS:
            near = foreign_files.nearest(key, list(KEYS))
            raise ConfigError(
                f"“auth.{foreign_files.printable(key)}” is not a key that Inspector knows",
                hint=f"Did you mean “{near}”?" if near else f"Use one of: {', '.join(KEYS)}.",
            )
        option = KEYS[key]
        if auth[key] is None:
            continue
        try:
            options[option] = flag(auth, key, False) if option == "open_browser" else _text(auth, key, option)
        except ConfigError as error:
            raise ConfigError(error.message.replace("“", "“auth.", 1), hint=error.hint) from None
    return options


def _text(auth: Mapping[str, Any], key: str, option: str) -> str:
    value = text(auth, key)
    if option == "grant" and value not in GRANTS:
        raise ConfigError(
            f"Unknown value {foreign_files.printable(value)} for “{key}”", hint=f"Use one of: {', '.join(GRANTS)}."
        )
    if _REFERENCE.fullmatch(value) and (option in SECRETS or "://" not in value):
        return f"${{{value}}}"
    if option in SECRETS and not _BRACED.fullmatch(value):
        # The value is not repeated: it may be the secret.
        raise ConfigError(
            f"“{key}” must be a reference to the secret, not the secret",
            hint="Write env:NAME, file:PATH or keyring:NAME.",
        )
    return value


def expanded(auth: Mapping[str, Any], expand: Callable[[str], str]) -> dict[str, Any]:
    """The options with their references replaced."""
    return {name: expand(value) if isinstance(value, str) else value for name, value in auth.items()}


def secrets(auth: Mapping[str, Any]) -> list[str]:
    """The values among the options that a recording must not contain."""
    return [value for name, value in auth.items() if name in SECRETS and value]
