"""Foreign text as shell words and as Python: it is data there, and contains no secret.

Redacted values become variables of the shell or the environment.
"""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Iterable
from importlib.resources import files
from typing import Any

from inspector.config.secret_values import MASK
from inspector.config.text_checks import format_command
from inspector.journal.redaction import MARK
from inspector.lazy_pattern import lazy_pattern
from inspector.text import safe

REDACTED = lazy_pattern(rf"{MARK.pattern}|{re.escape(MASK)}")
"""The mark of a redacted value in a recording."""
FIELD_NAME = lazy_pattern(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""The name of a header field (RFC 9110 section 5.1)."""
VARIABLE = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_]*")
"""The name of a shell variable."""
MAX_DEPTH = 60
"""Maximum nesting of a value written as Python: the parser's own limit is about a hundred."""

_NOT_SENT = frozenset(("content-length", "host", "connection", "accept-encoding", "transfer-encoding", "user-agent"))
"""Headers that the HTTP client sets itself."""
_PREFIX = "INSPECTOR_"
"""The prefix of each variable: a header that is named like a variable of the user must not send its value."""
SECRET = f"{_PREFIX}SECRET"
"""The variable for redacted values outside headers."""
SESSION = f"{_PREFIX}SESSION_ID"
_VARIABLES = {
    "authorization": f"{_PREFIX}TOKEN",
    "mcp-session-id": SESSION,
    "cookie": f"{_PREFIX}COOKIE",
    "proxy-authorization": f"{_PREFIX}PROXY_TOKEN",
}


class NestedTooDeep(ValueError):
    """A value is nested too deeply to be written as Python."""


def fields_to_send(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the headers to send again, without invalid names (curl would read `@name` from a file)."""
    return [(name, value) for name, value in pairs if name.lower() not in _NOT_SENT and FIELD_NAME.fullmatch(name)]


def variable(header: str) -> str:
    """Return the variable for a redacted header."""
    name = header.lower()
    words = re.sub(r"[^A-Z0-9]+", "_", name.upper()).strip("_")[:40]
    return _VARIABLES.get(name) or f"{_PREFIX}HEADER_{words or 'VALUE'}"


def remark(value: object, limit: int = 100) -> str:
    """Return text for a comment: one line of ASCII without control characters."""
    return safe(value, limit, ascii=True)


def word(text: str, variable: str = SECRET) -> str:
    """Return a shell word; a redacted part becomes the value of a variable."""
    pieces = REDACTED.split(text)
    quoted = [format_command([piece], "posix") if piece else "" for piece in pieces]
    return f'"${variable}"'.join(quoted) or "''"


def posix_word(text: str, variable: str = SECRET) -> str:
    """Return the same for any POSIX shell, without `$'…'`; trailing line endings of unprintable text are lost."""
    pieces = REDACTED.split(text)
    return f'"${variable}"'.join(_posix_quoted(piece) if piece else "" for piece in pieces) or "''"


def _posix_quoted(text: str) -> str:
    if text.isprintable():
        return shlex.quote(text)
    octets = text.encode("utf-8", "replace")
    plain = b"".join(
        b"\\%03o" % octet if octet < 32 or octet > 126 or octet in b"\\'%" else b"%c" % octet for octet in octets
    )
    return f"\"$(printf '{plain.decode()}')\""


def one_line(raw: str) -> str:
    """Return a JSON text on one line: its line endings are between values only (RFC 8259 section 7)."""
    return raw.replace("\r", " ").replace("\n", " ")


def literal(value: Any) -> str:
    """Return a Python literal of a value, in ASCII, with double quotes if possible."""
    if isinstance(value, str):
        return json.dumps(value) if value.isascii() and value.isprintable() else ascii(value)
    return ascii(value)


def expression(text: str, variable: str = SECRET) -> str:
    """Return a Python expression for a text; a redacted part is read from the environment."""
    pieces = REDACTED.split(text)
    inserted = f' + os.environ["{variable}"] + '
    return inserted.join(literal(piece) for piece in pieces)


def python_value(value: Any, depth: int = 0) -> str:
    """Return a Python expression for a JSON value. Raises `NestedTooDeep`."""
    if depth > MAX_DEPTH:
        raise NestedTooDeep
    if isinstance(value, str):
        return expression(value)
    if isinstance(value, dict):
        members = (f"{expression(str(key))}: {python_value(item, depth + 1)}" for key, item in value.items())
        return "{" + ", ".join(members) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(python_value(item, depth + 1) for item in value) + "]"
    if type(value) is float and not math.isfinite(value):
        return f'float("{value}")'
    if type(value) is int and value.bit_length() > 10_000:
        return hex(value)  # Python formats at most 4,300 decimal digits.
    return literal(value)


def program_part(name: str) -> str:
    """Return a part of a program that does not depend on the recording."""
    return (files(__package__) / "program_parts" / f"{name}.txt").read_text(encoding="utf-8")
