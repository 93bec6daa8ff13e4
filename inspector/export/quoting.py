"""Text that is not ours as words of a shell and as Python: it is data there, and no secret is in it.

What the recording has redacted becomes a variable of the shell or of the environment.
"""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Iterable
from typing import Any

from inspector.config.checks import format_command
from inspector.config.secrecy import MASK
from inspector.journal.redaction import MARK
from inspector.text import safe

REDACTED = re.compile(rf"{MARK.pattern}|{re.escape(MASK)}")
"""What stands in a recording in the place of a secret."""
FIELD_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""The name of a header field (RFC 9110 section 5.1)."""
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""The name of a variable of a shell."""
DEEPEST = 60
"""Levels of a value that is written as Python: what reads it has a limit of its own, of about a hundred."""

_NOT_SENT = frozenset(("content-length", "host", "connection", "accept-encoding", "transfer-encoding", "user-agent"))
"""Header fields that the HTTP client writes itself."""
_PREFIX = "INSPECTOR_"
"""How each variable's name begins: a header that is named after a variable of the user must not send its value."""
SECRET = f"{_PREFIX}SECRET"
"""The variable that holds what was redacted outside headers."""
SESSION = f"{_PREFIX}SESSION_ID"
_VARIABLES = {
    "authorization": f"{_PREFIX}TOKEN",
    "mcp-session-id": SESSION,
    "cookie": f"{_PREFIX}COOKIE",
    "proxy-authorization": f"{_PREFIX}PROXY_TOKEN",
}


class TooDeep(ValueError):
    """A value is nested too deeply to be written as Python."""


def fields_to_send(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The header fields to send again; a name that is none (curl would read `@name` from a file) is left out."""
    return [(name, value) for name, value in pairs if name.lower() not in _NOT_SENT and FIELD_NAME.fullmatch(name)]


def variable(header: str) -> str:
    """The variable that holds the secret of a header field."""
    name = header.lower()
    words = re.sub(r"[^A-Z0-9]+", "_", name.upper()).strip("_")[:40]
    return _VARIABLES.get(name) or f"{_PREFIX}HEADER_{words or 'VALUE'}"


def remark(value: object, limit: int = 100) -> str:
    """Text for a comment: one line of ASCII, with nothing in it that moves or ends anything."""
    return safe(value, limit, ascii=True)


# Shell words


def word(text: str, variable: str = SECRET) -> str:
    """A shell word; what was redacted in it is the value of a variable."""
    pieces = REDACTED.split(text)
    quoted = [format_command([piece]) if piece else "" for piece in pieces]
    return f'"${variable}"'.join(quoted) or "''"


def posix_word(text: str, variable: str = SECRET) -> str:
    """The same for any POSIX shell, which has no `$'…'`; line ends at the end of unprintable text get lost."""
    pieces = REDACTED.split(text)
    return f'"${variable}"'.join(_posix_quoted(piece) if piece else "" for piece in pieces) or "''"


def _posix_quoted(text: str) -> str:
    if text.isprintable():
        return shlex.quote(text)
    octets = text.encode("utf-8", "replace")
    plain = b"".join(
        b"\\%03o" % each if each < 32 or each > 126 or each in b"\\'%" else b"%c" % each for each in octets
    )
    return f"\"$(printf '{plain.decode()}')\""


def one_line(raw: str) -> str:
    """A JSON text on one line: line ends in it stand between values only (RFC 8259 section 7)."""
    return raw.replace("\r", " ").replace("\n", " ")


# Python


def literal(value: Any) -> str:
    """A value as Python writes it, in ASCII, texts in double quotes where that can be."""
    if isinstance(value, str):
        return json.dumps(value) if value.isascii() and value.isprintable() else ascii(value)
    return ascii(value)


def expression(text: str, variable: str = SECRET) -> str:
    """A Python expression for a text; what was redacted in it comes from the environment."""
    pieces = REDACTED.split(text)
    inserted = f' + os.environ["{variable}"] + '
    return inserted.join(literal(piece) for piece in pieces)


def python_value(value: Any, depth: int = 0) -> str:
    """A Python expression for a JSON value. Raises `TooDeep`."""
    if depth > DEEPEST:
        raise TooDeep
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
        return hex(value)  # Python writes no more than 4,300 decimal digits.
    return literal(value)
