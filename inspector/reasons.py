"""Describes errors of libraries and the system in our own words.

Libraries raise errors whose text is for programmers and changes between versions. Each function here takes such an
error and returns a short clause to put after a colon: lower case, without a full stop, never the library's text. An
error that is not in a table becomes a general clause; the position is kept if the library gives one.
"""

from __future__ import annotations

import errno
import os
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from json import JSONDecodeError
    from ssl import SSLError

_JSON: Final = {
    "Expecting value": "a value is missing",
    "Expecting property name enclosed in double quotes": "a member name in double quotes is missing",
    "Expecting ':' delimiter": "“:” is missing",
    "Expecting ',' delimiter": "“,” is missing",
    "Unterminated string starting at": "a string is not closed",
    "Invalid control character at": "a control character is in a string",
    "Invalid \\escape": "an escape sequence is not valid",
    "Invalid \\uXXXX escape": "an escape sequence is not valid",
    "Extra data": "more text follows the value",
    "Illegal trailing comma before end of object": "a comma is before the end of the object",
    "Illegal trailing comma before end of array": "a comma is before the end of the list",
    "Unexpected UTF-8 BOM (decode using utf-8-sig)": "a byte order mark is in the text",
}

_TOML: Final = (
    (("Cannot", "Duplicate"), "a name is defined twice"),
    (("Expected '='",), "“=” is missing"),
    (("Expected ']",), "“]” is missing"),
    (("Expected newline",), "more text follows the value"),
    (("Expected", "Unterminated"), "a string is not closed"),
    (("Invalid date",), "the date does not exist"),
    (("Invalid value",), "the value is not valid"),
    (("Invalid hex", "Unescaped", "Escaped"), "an escape sequence is not valid"),
    (("Unclosed array",), "a list is not closed"),
    (("Unclosed inline",), "a table is not closed"),
    (("Illegal", "Found invalid"), "a character is not allowed"),
    (("Exceeds the limit",), "a number has too many digits"),
)

_REGEX: Final = (
    ("missing )", "a group is not closed"),
    ("unbalanced parenthesis", "an extra “)”"),
    ("unterminated character set", "a “[” is not closed"),
    ("nothing to repeat", "a repetition has nothing to repeat"),
    ("multiple repeat", "a repetition is repeated"),
    ("min repeat greater", "the least number of repetitions is above the greatest"),
    ("bad character range", "the range of characters is not valid"),
    ("bad escape (end of pattern)", "it ends with a backslash"),
    ("bad escape", "an escape sequence is not valid"),
    ("incomplete escape", "an escape sequence is not complete"),
    ("look-behind requires", "a look-behind needs a fixed width"),
    ("invalid group reference", "it refers to a group that does not exist"),
    ("unknown group name", "it refers to a group that does not exist"),
    ("redefinition of group", "two groups have the same name"),
    ("bad character in group name", "the name of a group is not valid"),
    ("unknown extension", "the group's extension is not known"),
    ("global flags not at the start", "flags for the whole pattern belong at its start"),
)

_URL: Final = (
    ("Port out of range", "its port is above 65535"),
    ("Port could not be cast", "its port is not a number"),
    ("Invalid IPv6", "its IPv6 address is not valid"),
    ("IPv6", "its IPv6 address is not valid"),
    ("IPvFuture", "its IPv6 address is not valid"),
    ("netloc", "its host has characters that are not allowed"),
)

_HTTP: Final = (
    ("illegal status line", "its first line is not an HTTP status line"),
    ("illegal request line", "its first line is not an HTTP request line"),
    ("illegal header line", "a line of its header is not valid"),
    ("continuation line", "its header begins with a continuation line"),
    ("Receive buffer too long", "its header is too long"),
    ("no request line", "the first line is missing"),
    ("no response line", "the first line is missing"),
    ("conflicting Content-Length", "it has two different Content-Length headers"),
    ("bad Content-Length", "its Content-Length is not a number"),
    ("Too much data", "the body is longer than its Content-Length"),
    ("Too little data", "the body is shorter than its Content-Length"),
    ("multiple Transfer-Encoding", "it has several Transfer-Encoding headers"),
    ("Only Transfer-Encoding", "its Transfer-Encoding is not “chunked”"),
    ("malformed chunk", "a chunk of the body is not valid"),
    ("illegal chunk", "a chunk of the body is not valid"),
    ("Missing mandatory Host", "it has no Host header"),
    ("Found multiple Host", "it has several Host headers"),
    ("Response status_code", "its status code is out of range"),
    ("status code must be", "its status code is not a number"),
    ("Received server _SWITCH", "it switches to a protocol that was not requested"),
    ("Illegal header name", "the name of a header is not valid"),
    ("Illegal header value", "the value of a header is not valid"),
    ("Illegal target", "the path has characters that are not allowed"),
    ("Illegal method", "the method has characters that are not allowed"),
    ("peer unexpectedly closed", "the connection was closed"),
    ("peer closed connection", "the connection was closed"),
    ("Server disconnected", "the connection was closed"),
)

_TLS: Final = {
    "WRONG_VERSION_NUMBER": "the answer is not TLS",
    "UNSUPPORTED_PROTOCOL": "the TLS version of the server is too old",
    "NO_PROTOCOLS_AVAILABLE": "no TLS version is allowed on both sides",
    "TLSV1_ALERT_PROTOCOL_VERSION": "the server refuses the TLS version",
    "SSLV3_ALERT_HANDSHAKE_FAILURE": "the server refuses the handshake",
    "TLSV13_ALERT_CERTIFICATE_REQUIRED": "the server wants a client certificate",
    "SSLV3_ALERT_BAD_CERTIFICATE": "the server refuses the client certificate",
    "TLSV1_ALERT_UNKNOWN_CA": "the server does not trust the client certificate",
    "TLSV1_UNRECOGNIZED_NAME": "the server does not know this host name",
    "TLSV1_ALERT_INTERNAL_ERROR": "the server reports an internal error",
    "DH_KEY_TOO_SMALL": "the key of the server is too short",
    "CERTIFICATE_VERIFY_FAILED": "the certificate is not trusted",
    "UNEXPECTED_EOF_WHILE_READING": "the server closed the connection",
}

_NAMES: Final = {
    "EAI_NONAME": "the name does not exist",
    "EAI_AGAIN": "the name server did not answer",
    "EAI_FAIL": "the name server failed",
    "EAI_NODATA": "the name has no address",
    "EAI_SERVICE": "the port is not known",
}


def json_reason(error: JSONDecodeError) -> str:
    """Return why a text is not JSON, without the position."""
    return next((reason for start, reason in _JSON.items() if error.msg.startswith(start)), "the syntax is not valid")


def json_fault(error: JSONDecodeError) -> str:
    """Return why a text is not JSON, and at which character (from 1)."""
    return f"{json_reason(error)} at character {error.pos + 1}"


def toml_reason(error: ValueError | RecursionError) -> str:
    """Return why a text is not TOML, with the position if known."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    text = str(error)
    place = re.search(r"\(at (line \d{1,9}, column \d{1,9}|end of document)\)\Z", text)
    reason = next((reason for starts, reason in _TOML if text.startswith(starts)), "the syntax is not valid")
    return f"{reason} ({place[1]})" if place is not None else reason


def regex_reason(error: re.error | RecursionError | OverflowError) -> str:
    """Return why a regular expression does not compile, with the position (from 1) if known."""
    if not isinstance(error, re.error):
        return "it is too large"
    reason = next((reason for start, reason in _REGEX if error.msg.startswith(start)), "the syntax is not valid")
    return reason if error.pos is None else f"{reason} (character {error.pos + 1})"


def split_reason(error: ValueError) -> str:
    """Return why a command line cannot be split into words (`command_words.split`)."""
    return "it ends with a backslash" if "escape" in str(error) else "a quotation mark is not closed"


def url_reason(error: ValueError) -> str:
    """Return why `urllib.parse` cannot parse a URL."""
    text = str(error)
    return next((reason for part, reason in _URL if part in text), "it is not a valid URL")


def http_reason(error: BaseException) -> str:
    """Return why data is not HTTP/1.1, from an error of h11 or httpcore, without the data."""
    text = str(error)
    return next((reason for start, reason in _HTTP if text.startswith(start)), "it violates HTTP")


def tls_reason(error: SSLError) -> str:
    """Return why a TLS handshake failed. OpenSSL's own word is used if the reason is unknown here."""
    word = error.reason or ""
    return _TLS.get(word) or (word.replace("_", " ").lower() if word else "the connection was closed")


def os_reason(error: Exception) -> str:
    """Return why an operation of the system failed: for an `OSError` the system's text, without its number and path.

    The other errors that such an operation raises are `ValueError` (a null character in a path), `UnicodeError` and
    `OverflowError` (a port above 65535).
    """
    import socket
    import ssl

    if isinstance(error, ssl.SSLError):
        return tls_reason(error)
    if isinstance(error, socket.gaierror):
        known = {getattr(socket, name, None): reason for name, reason in _NAMES.items()}
        return known.get(error.errno, "the name cannot be resolved")
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, OverflowError):
        return "the number is out of range"
    if isinstance(error, ValueError):
        return "it has a character that is not allowed"
    if not isinstance(error, OSError) or error.errno is None:
        return "the operating system refused it"
    return os.strerror(error.errno).lower() if error.errno != errno.EPIPE else "the other side closed it"
