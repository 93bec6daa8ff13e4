"""Validates or escapes texts for a process, an HTTP request or a line of output."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from inspector.command_words import FAMILY, Family, quote
from inspector.config import secret_values
from inspector.errors import TargetError
from inspector.lazy_pattern import lazy_pattern
from inspector.reasons import url_reason

_FIELD_NAME = lazy_pattern(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_FIELD_BREAKER = lazy_pattern(r"[\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]")
_SCHEME = lazy_pattern(r"[A-Za-z][A-Za-z0-9+.-]+:")
HOST_HINT = "Write the host as it is requested, in ASCII."
FRAMING = frozenset(
    (
        "connection",
        "content-length",
        "expect",
        "keep-alive",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    )
)
"""Headers, in lower case, that say where a message ends or what becomes of its connection (RFC 9112; RFC 9110, 7.6.1).

Set by a user they would contradict what is sent, which fails or lets one request pass for two.
"""


def parse_header(text: str) -> tuple[str, str]:
    """Parse `--header 'Name: value'` (RFC 9110 section 5). Raises TargetError if it is invalid."""
    name, colon, value = text.partition(":")
    if not colon:
        raise TargetError(f"The header {_beginning(text)} has no value", hint="Write it as 'Name: value'.")
    return checked_header(name.strip(), value.strip())


def _beginning(text: str) -> str:
    """Return the first word of a malformed option: what follows may be a secret, as in 'Authorization Bearer …'."""
    word = re.match(r"\s*([^\s=]{0,60}[\s=]?)", text)
    assert word is not None
    return one_line(word[1]) + ("…" if word.end() < len(text) else "")


def parse_variable(text: str) -> tuple[str, str | None]:
    """Parse `--env NAME=value`; the value is None for `--env NAME`. Raises TargetError if it is invalid."""
    name, equals, value = text.partition("=")
    name = name.strip()
    if not name or (not equals and len(name.split()) > 1):
        raise TargetError(
            f"--env {_beginning(text)} is not a variable" if text else "--env has no variable",
            hint="Write NAME=value, or NAME for a variable of this shell.",
        )
    return checked_text(name, "a variable's name"), checked_text(value, f"the value of {name}") if equals else None


def checked_headers(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Check a user's headers of a request, with at most one `Host`. Raises `TargetError`."""
    headers = tuple(checked_header(name, value) for name, value in pairs)
    if sum(name.lower() == "host" for name, _ in headers) > 1:
        raise TargetError("A request has one Host header, but several are given", hint="Remove all but one.")
    return headers


def checked_header(name: str, value: str) -> tuple[str, str]:
    """Check that a user's header can be sent unchanged and does not frame the request. Raises `TargetError`.

    Its name is a token and its value cannot break out of its line (RFC 9110 sections 5.1 and 5.5).
    """
    safe_name = one_line(name[:60])
    if not _FIELD_NAME.fullmatch(name):
        raise TargetError(f"{_beginning(name)!r} is not a header name", hint="Write it as 'Name: value'.")
    if _FIELD_BREAKER.search(value):
        raise TargetError(
            f"The value of the header {safe_name} contains a line break, another control character or a lone surrogate"
        )
    if name.lower() in FRAMING:
        raise TargetError(
            f"The header {safe_name} cannot be set: Inspector frames requests and manages connections itself",
            hint="Remove it.",
        )
    return name, value


def root_uri(text: str, folder: str | os.PathLike[str] = "") -> str:
    """The URI of a root: a `file:` URI unmodified, else that of a path, relative to `folder` (C-ROOT-01).

    Raises TargetError for another URI, and for a path that has no URI.
    """
    from inspector.file_uris import to_uri

    if text.startswith("file://"):
        return text
    if _SCHEME.match(text):
        raise TargetError(f"The root {one_line(text[:80])} is not a file: URI", hint="Use a folder or a file:// URI.")
    try:
        return to_uri(os.path.abspath(os.path.join(folder, os.path.expanduser(checked_text(text, "a root")))))
    except UnicodeEncodeError:
        raise TargetError(f"The root {text[:80]!a} is not a path", hint="Use a folder or a file:// URI.") from None


def checked_text(text: str, what: str) -> str:
    """Return `text` if it can be passed to a process. Raises TargetError otherwise."""
    try:
        if b"\0" not in text.encode("utf-8", "surrogateescape"):
            return text
    except UnicodeEncodeError:
        pass
    raise TargetError(
        f"{what[:1].upper()}{what[1:]} contains a NUL or a lone surrogate, which a process cannot receive"
    )


def checked_url(url: str) -> str:
    """Return an http or https URL with its host as it is requested. Raises TargetError for anything else."""
    safe_url = one_line(secret_values.mask_url(url)[:200])
    if not re.match(r"https?://", url, re.IGNORECASE):
        raise TargetError(f"{safe_url} is not an http or https URL")
    if any(char <= " " or char == "\x7f" or "\ud800" <= char <= "\udfff" for char in url):
        raise TargetError(f"{safe_url} contains a space or a control character", hint="Write it percent-encoded.")
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise TargetError(f"{safe_url} is not a URL: {url_reason(error)}") from None
    if not host or port == 0:
        raise TargetError(f"{safe_url} has no {'valid port' if host else 'host'}")
    from inspector.addresses import requested_url, shown_url

    try:
        return requested_url(url)
    except ValueError as error:
        safe_url = shown_url(secret_values.mask_url(url), 200)
        raise TargetError(f"{safe_url} is refused: {error}", hint=HOST_HINT) from None


def format_command(argv: Iterable[str], family: Family = FAMILY) -> str:
    """Format `argv` as one line that a shell can parse: quoted if needed, unprintable characters as `$'…'`.

    On Windows, where no shell has these, they are only shown.
    """
    return " ".join(_quote(word, family) for word in argv)


def one_line(text: str) -> str:
    """Return `text` with unprintable characters as escapes."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escape(char) for char in text)


def _quote(word: str, family: Family) -> str:
    if word.isprintable() or family == "windows":
        return quote(one_line(word), family)
    escaped = "".join(char if char.isprintable() and char not in "\\'" else _escape(char) for char in word)
    return f"$'{escaped}'"


def _escape(char: str) -> str:
    if char in "\\'":
        return f"\\{char}"
    return char.encode("unicode_escape").decode("ascii")
