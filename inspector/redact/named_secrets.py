"""Detects values that are secret by their name: members, headers, variables, flags, parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from urllib.parse import unquote

from inspector.config import secret_values
from inspector.journal.redaction import SECRET_FIELDS, SECRET_HEADERS

_PASSWORD = re.compile(r"pass|pwd|\bpw\b|secret", re.IGNORECASE)
_NUMERIC = re.compile(r"pass|pwd|pin", re.IGNORECASE)
_PLACEHOLDER = re.compile(
    r"[*•.xX#_-]+|‹.*|<.*>?|\$.*|\{.*|%\w+%|\[.*|(?i:your|my|some|the|an?|insert|enter)[-_ ].*|(?i:null|none|true|false"
    r"|undefined|string|number|integer|boolean|object|password|passwd|secret|token|apikey|api[-_ ]key|key|value"
    r"|required|optional"
    r"|example|changeme|redacted|hidden|masked|include|omit|same-origin|bearer|basic|digest|negotiate|dpop)|[A-Z]+(?:_[A-Z]+)+",
    re.DOTALL,
)
_ASSIGNED = re.compile(r"(?<![\w.$])(?P<name>[A-Za-z_][\w.-]{1,60}+)\\?[\"']?(?P<sep>\s{0,3}(?:=>|[=:])\s{0,3})")
_VALUE = re.compile(r"\\?[\"'`](?P<quoted>[^\"'`\\\n]++)|(?P<plain>[^\s\"'`&;,)}\]\\<>]{4,}+)")
_CODE = re.compile(r"[A-Za-z_][\w.]*\(.*|[A-Za-z_]+(?:\.[A-Za-z_]+)+|[a-z]+(?:_[a-z]+)+", re.DOTALL)
"""The text after a name in program code: a call, a member, another name."""
_PARAMETER = re.compile(r"(?<=[?&;#])([A-Za-z_][\w.%-]{0,60}+)=([^&;#\s\"'<>\\]{1,4000}+)")
_PARAMETER_NAME = re.compile(r"key|sig|signature|code|auth", re.IGNORECASE)
_CREDENTIAL = re.compile(r"(?=[^\n]*\d)(?=[^\n]*[A-Za-z])\S{8,}|\S{20,}")
_HARMLESS_URL = re.compile(r"(?:https?|file|wss?)://", re.IGNORECASE)
_OAUTH = SECRET_FIELDS - {"code", "token", "assertion"}


HINTS = (
    "pass",
    "secret",
    "key",
    "pwd",
    "cred",
    "jwt",
    "bearer",
    "cookie",
    "auth",
    "dsn",
    "sig",
    "code",
    "webhook",
    "dpop",
    "connection",
    "verifier",
    "assertion",
    "session-id",
    'pw"',
    "pw\\",
    "pw=",
    "pw:",
    "pw ",
    'pat"',
    "pat\\",
    "pat=",
    "pat:",
    "pat ",
)
"""In lower case: a text without these and without `token` has no such name."""


@lru_cache(4096)
def is_secret(name: str) -> bool:
    """Whether a value with this name is a secret, as a member, a header or a variable."""
    return name.lower() in SECRET_HEADERS or name.lower() in _OAUTH or secret_values.looks_secret(name[:200])


@lru_cache(4096)
def is_secret_setting(name: str) -> bool:
    """Whether a header or a variable with this name is a secret; their names are less specific."""
    return is_secret(name) or secret_values.looks_secret_setting(name[:200])


def plausible(name: str, value: str) -> bool:
    """Whether a value with such a name is really a secret: not a placeholder, a word or an address."""
    if len(value) < 4 or _PLACEHOLDER.fullmatch(value) or _HARMLESS_URL.match(value):
        return False
    if "‹redacted " in value:
        return False
    return (
        bool(_PASSWORD.search(name))
        or name.lower() in SECRET_HEADERS
        or _CREDENTIAL.fullmatch(value) is not None
        or " " in value.strip()
    )


def hides_numbers(name: str) -> bool:
    """Whether a number under this name is a secret."""
    return bool(name) and _NUMERIC.search(name) is not None and is_secret(name)


def in_text(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, secret) of assignments to such names in a text: `KEY=…`, `key: "…"`, and in its URLs."""
    at = 0
    while (match := _ASSIGNED.search(text, at)) is not None:
        at = match.end()
        name, sign = match["name"], match["sep"].strip()
        setting = sign == "=" and (name.isupper() or text[match.start() - 1 : match.start()] == "-")
        if not (is_secret_setting(name) if setting else is_secret(name)):
            continue
        given = _VALUE.match(text, at)
        if given is None:
            continue
        at = given.end()  # So that each character is read only once, for any text.
        secret = given["quoted"] or given["plain"]
        if not setting and _CODE.fullmatch(secret):
            continue
        prose = sign == ":" and given["plain"] and not _CREDENTIAL.fullmatch(secret)
        if not prose and " " not in secret and plausible(name, secret):
            yield *given.span(given.lastgroup or 0), secret
    for match in _PARAMETER.finditer(text):
        name, value = unquote(match[1]), unquote(match[2])
        if (is_secret_setting(name) or _PARAMETER_NAME.fullmatch(name)) and plausible(name, value):
            yield *match.span(2), value
