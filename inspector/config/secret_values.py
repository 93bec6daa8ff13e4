"""Detects secret values by their names, and masks them in a text.

A false positive is cheap: a masked log level is a nuisance, a recorded token is a leak. Still, a value alone is a
reason only in an environment variable, where programs expect their secrets, and in the few token formats with a known
prefix.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from urllib.parse import unquote

from inspector.config.secret_forms import SHORTEST
from inspector.lazy_pattern import lazy_pattern

MASK = "***"

_WORD = lazy_pattern(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_SECRET_WORD = lazy_pattern(
    r"(?:access|auth|refresh|id|bearer)?token|tok|(?:client)?secret|secrets|pass|passw(?:or)?d|passphrase|passcode|pwd|pw|pat"
    r"|(?:api|access|secret|private|auth)key|credentials?|jwt|bearer|cookie|authorization|dsn"
)
_BEFORE_KEY = lazy_pattern(
    r"api|access|secret|private|auth|signing|encryption|master|service|license|client|account|storage|subscription"
    r"|app|application|ssh|session"
)
_NO_SECRET_AT_END = lazy_pattern(
    r"file|path|dir|directory|folder|url|uri|endpoint|type|mode|name|ids?|ttl|timeout|expiry|expires|length|count|limit"
    r"|max|min|enabled|disabled|env|header|prefix|algorithm|store|provider|host|port|policy|source|usage|budget|status"
)
_HARMLESS_BEFORE_TOKEN = lazy_pattern(
    r"page|next|previous|continuation|continue|progress|sync|max|min|cancellation|per"
)
_QUERY_SECRET = lazy_pattern(r"key|code|auth|(?:.*[-_])?sig(?:nature)?", re.IGNORECASE)

_HARMLESS_VARIABLE = lazy_pattern(
    r"HOME|PWD|OLDPWD|USER|LOGNAME|USERNAME|USERPROFILE|HOSTNAME|COMPUTERNAME|PATH|TMPDIR|TMP|TEMP|LANG|SHELL|TERM"
    r"|APPDATA|LOCALAPPDATA|PROGRAMFILES|SYSTEMROOT|VIRTUAL_ENV|CONDA_PREFIX|CI|NODE_ENV|XDG_\w+",
    re.IGNORECASE,
)
_PATH = lazy_pattern(r"[/~.]|[A-Za-z]:\\")
_HARMLESS_VALUE = lazy_pattern(r"true|false|yes|no|on|off|null|none|auto|\d{0,5}", re.IGNORECASE)
_LIKE_A_SECRET = lazy_pattern(r"(?=\D*\d)(?=[^A-Za-z]*[A-Za-z])(?:[^\s/.:_-]{8,}|\S{16,})")
"""A value with digits and letters that is not a word with a number: `hunter2pass`, and not `us-east-1` or `v1.2.3`."""

# The look-behind keeps the search linear: it must not start again inside a run that it has just refused.
_TOKEN = lazy_pattern(
    r"(?<![\w-])(?:sk-[\w-]{16,}|gh[oprsu]_\w{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|xox[abeoprs]-[\w-]{10,}|AKIA[0-9A-Z]{12,}"
    r"|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)"
)
_ASSIGNMENT = lazy_pattern(r"-{0,2}([A-Za-z][\w.-]*)=(.*)", re.DOTALL)
_HEADER = lazy_pattern(r"([A-Za-z][\w-]*):\s*(\S.*)", re.DOTALL)
_SCHEME_AND_CREDENTIAL = lazy_pattern(r"[A-Za-z][\w-]*\s+(\S.*)", re.DOTALL)
_USERINFO = lazy_pattern(r"://([^/?#\s]*)@")
_PARAMETER = lazy_pattern(r"([?&;#])([^=?&;#]*)=([^&;#\s]*)")

MAX_COOKIE_SECRETS = 20
"""Values of cookies that are held as secrets, and so searched in each message."""
MIN_INSIDE = SHORTEST
"""A shorter secret is masked only if it is a whole text."""


def looks_secret(name: str) -> bool:
    """Whether a value called `name` (an argument, property or flag: `apiKey`, `db_password`, `--token`) is a secret."""
    words = _words(name)
    if "webhook" in words:
        return True
    if not words or _NO_SECRET_AT_END.fullmatch(words[-1]) or name in ("PWD", "OLDPWD"):
        return False
    for before, word in zip(["", *words], words, strict=False):
        if word == "token" and _HARMLESS_BEFORE_TOKEN.fullmatch(before):
            continue
        if _SECRET_WORD.fullmatch(word) or (word in ("key", "keys") and _BEFORE_KEY.fullmatch(before)):
            return True
        if word == "string" and before == "connection":
            return True
    return False


def looks_secret_setting(name: str) -> bool:
    """The same for environment variables and headers, where a name that ends in `KEY` or `AUTH` is enough."""
    words = _words(name)
    return looks_secret(name) or (bool(words) and words[-1] in ("key", "keys", "auth") and "public" not in words)


def in_variable(name: str, value: str) -> list[str]:
    """Return the secrets in a value from environment variable `name`: the whole value, unless it is clearly harmless.

    Harmless are switches, small numbers, paths, and URLs except for the secrets inside them: masking those in every
    message would make a recording useless and protect nothing.
    """
    if looks_secret_setting(name):
        return [value]
    if "://" in value:
        return in_url(value)
    harmless = _HARMLESS_VARIABLE.fullmatch(name) or _HARMLESS_VALUE.fullmatch(value) or _PATH.match(value)
    return [] if harmless else [value]


def in_headers(headers: Iterable[tuple[str, str]]) -> list[str]:
    """Return the secrets in header values: the whole value, and only the credential after a scheme."""
    secrets: list[str] = []
    for name, value in headers:
        if looks_secret_setting(name):
            secrets.append(value)
            credential = _SCHEME_AND_CREDENTIAL.fullmatch(value)
            if credential:
                secrets.append(credential[1])
            if name.lower() == "cookie":
                secrets += in_cookies(value)
        secrets += _TOKEN.findall(value)
    return secrets


def in_cookies(cookies: str) -> list[str]:
    """Return the secrets among the values of `name=value; …`, as of variables."""
    pairs = (cookie.partition("=") for cookie in cookies.split(";"))
    return in_environment((name.strip(), value.strip()) for name, _, value in pairs)


class CookieSecrets:
    """Secrets among the values of cookies, of which only the first are searched: a balancer may set new ones."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def new(self, cookies: str) -> list[str]:
        """Return the secrets in `name=value; …` that it has not returned before; none beyond `MAX_COOKIE_SECRETS`."""
        secrets = [secret for secret in in_cookies(cookies) if secret not in self._known]
        if len(self._known) + len(secrets) > MAX_COOKIE_SECRETS:
            return []
        self._known.update(secrets)
        return secrets


def in_environment(env: Iterable[tuple[str, str]]) -> list[str]:
    """Return the secrets among environment variables, by their names and their looks, and passwords in their URLs."""
    secrets: list[str] = []
    for name, value in env:
        if looks_secret_setting(name) or "://" in value or _LIKE_A_SECRET.fullmatch(value):
            secrets += in_variable(name, value)
    return secrets


def in_url(url: str) -> list[str]:
    """Return the secrets in a URL: its userinfo, and values under secret-looking names, raw and decoded."""
    secrets: list[str] = []
    for userinfo in _USERINFO.findall(url):
        user, colon, password = userinfo.partition(":")
        secrets.append(password if colon else user)
    secrets += [value for _, name, value in _PARAMETER.findall(url) if is_secret_parameter(name)]
    return secrets + [decoded for value in secrets if (decoded := unquote(value)) != value]


def in_arguments(argv: Sequence[str]) -> list[str]:
    """Return the secrets in a command: `--token X`, `-e API_KEY=X`, `Authorization: Bearer X`, in URLs, of known
    formats."""
    secrets: list[str] = []
    after_secret_flag = False
    for word in argv:
        if after_secret_flag and not word.startswith("-"):
            secrets.append(word)
        after_secret_flag = word.startswith("-") and "=" not in word and looks_secret(word)
        assignment = _ASSIGNMENT.fullmatch(word)
        if assignment and (assignment[1].isupper() or looks_secret_setting(assignment[1])):
            secrets += in_environment([(assignment[1], assignment[2])])
        header = _HEADER.fullmatch(word)
        if header and not header[2].startswith("//"):
            secrets += in_headers([(header[1], header[2])])
        if "://" in word:
            secrets += in_url(word)
        secrets += _TOKEN.findall(word)
    return secrets


_REFERENCE = lazy_pattern(r"\$\{{1,2}[^{}]{0,200}\}{1,2}|\{(?:env|file):[^{}]{0,200}\}")
"""A reference that was not expanded, such as `${env:TOKEN}`: the name of a secret, not a secret."""


def unique(values: Iterable[str]) -> tuple[str, ...]:
    """Return `values` without empty ones, duplicates, words that only introduce a credential, and references."""
    usable = (value for value in values if value.strip() and value not in (MASK, "Bearer", "Basic"))
    return tuple(dict.fromkeys(value for value in usable if not _REFERENCE.fullmatch(value)))


def mask(text: str, secrets: Iterable[str]) -> str:
    """Mask every secret in `text`. A secret of under four characters is masked only as the whole value."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= MIN_INSIDE:
            text = text.replace(secret, MASK)
        elif text == secret:
            text = MASK
        elif text.endswith(f"={secret}"):
            text = text[: -len(secret)] + MASK
    return text


def mask_url(url: str) -> str:
    """Return `url` with masked userinfo and secret-looking parameters, otherwise unchanged."""
    return _PARAMETER.sub(_mask_parameter, _USERINFO.sub(f"://{MASK}@", url))


def _mask_parameter(match: re.Match[str]) -> str:
    return f"{match[1]}{match[2]}={MASK}" if match[3] and is_secret_parameter(match[2]) else match[0]


def is_secret_parameter(name: str) -> bool:
    """Whether the value of a URL's parameter is a secret by its name."""
    plain = unquote(name)
    return looks_secret_setting(plain) or bool(_QUERY_SECRET.fullmatch(plain))


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name[:200])]
