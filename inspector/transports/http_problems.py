"""Describes errors below HTTP: name lookup, connecting, TLS, a server with another protocol."""

from __future__ import annotations

import errno
import re
import socket
import ssl
from collections.abc import Iterator

from inspector.errors import HttpError
from inspector.hints import Hint, Parameter
from inspector.reasons import http_reason, os_reason, tls_reason
from inspector.text import safe
from inspector.transports.http_url import Url
from inspector.transports.network import BadFraming, ConnectionBroken, Disconnected, NotHttp, Unsendable

_MAX_DEPTH = 32
_DETAIL = 200

_CERTIFICATE = {
    9: "is not valid yet",
    10: "has expired",
    18: "is self-signed",
    19: "is signed by a self-signed authority that is not trusted here",
    20: "is signed by an authority that is not trusted here",
    21: "is signed by an authority that is not trusted here",
    23: "has been revoked",
    62: "was issued for another name",
    64: "was issued for another address",
}
"""OpenSSL's X509_V_ERR_* codes."""

_NOT_TLS = frozenset(
    (
        "WRONG_VERSION_NUMBER",
        "HTTP_REQUEST",
        "UNKNOWN_PROTOCOL",
        "RECORD_LAYER_FAILURE",
        "PACKET_LENGTH_TOO_LONG",
        "UNEXPECTED_MESSAGE",
        "BAD_PACKET_LENGTH",
    )
)
_NO_REASONS = (ssl.SSLWantReadError, ssl.SSLWantWriteError, ssl.SSLEOFError)
"""States of a TLS connection with another cause."""
_UNANSWERED = frozenset(
    ("RemoteProtocolError", "ReadError", "WriteError", "ConnectionBroken", "Disconnected", "NotHttp")
)
"""The errors of a request that a TLS server took for a broken handshake."""
_BINARY = "illegal request line"
"""h11's error for a response that starts with a control character, like a TLS alert; it tells only in its text."""


def explain(
    error: BaseException, url: Url, proxy: str, *, reached: bool = True, answered: bool = False, spoke: bool = True
) -> HttpError:
    """Return the `HttpError` for an exception of a connection, the system, the TLS library, or httpcore.

    httpcore's are known by their names, because it is loaded only for proxies.

    `proxy` is the proxy's host:port or empty; `reached` means that the TCP connection was accepted, `answered` that the
    response's head was read, `spoke` that an earlier request was answered in HTTP.
    """
    chain = list(_causes(error))
    names = {type(one).__name__ for one in chain}
    where = url.address
    certificate = next((one for one in chain if isinstance(one, ssl.SSLCertVerificationError)), None)
    if certificate is not None:
        return _certificate(certificate, url)
    tls = next((one for one in chain if isinstance(one, ssl.SSLError) and not isinstance(one, _NO_REASONS)), None)
    if tls is not None:
        return _tls(tls, url)
    if "ProxyError" in names:
        return HttpError(
            f"The proxy {proxy} refused to connect to {where}: {_proxy_reason(error)}.",
            hint="Check the proxy's address, user and password, and whether it allows this host.",
        )
    if answered:
        if isinstance(error, BadFraming):
            return HttpError(
                f"The response from {where} violates HTTP: {_text(error)}.",
                hint="Fix the headers of the server, or of a proxy before it. The message log has them.",
            )
        return HttpError(
            f"The response from {where} is incomplete: {_text(error)}.",
            hint="The server, or a proxy, closed the connection. The message log has the received part.",
        )
    if names & {"ConnectError", "ConnectTimeout"} or isinstance(error, OSError):
        problem = _shaking_hands(names, url, proxy) if reached else _connecting(chain, names, url, proxy)
        problem.arrived = reached
        return problem
    problem = _exchanging(error, names, url)
    # For a binary response the hint already has this.
    if url.scheme == "http" and not proxy and not spoke and names & _UNANSWERED and not _is_binary(error):
        problem.hint = Hint(f"If the server expects TLS, use https://{url.netloc}{url.target}. ", problem.hint)
    return problem


def _causes(error: BaseException) -> Iterator[BaseException]:
    waiting = [error]
    for _ in range(_MAX_DEPTH):
        if not waiting:
            return
        one = waiting.pop(0)
        yield one
        if isinstance(one, BaseExceptionGroup):
            waiting.extend(one.exceptions)
        cause = one.__cause__ or one.__context__
        if cause is not None:
            waiting.append(cause)


_SOCKS = (
    ("Invalid username", "the user or the password is wrong"),
    ("Requested ", "it wants another kind of login"),
    ("not allowed by ruleset", "its rules do not allow it"),
    ("unreachable", "the host cannot be reached"),
    ("Connection refused", "the host refused the connection"),
    ("TTL expired", "the host is too far away"),
    ("not supported", "it does not support the request"),
)
"""Parts of the sentences that httpcore has for a SOCKS proxy."""
_RECEIVED = re.compile(r"received (\d+) bytes, expected (\d+)")


def _proxy_reason(error: BaseException) -> str:
    """Return why a proxy does not connect: the status line of an HTTP proxy, or what a SOCKS proxy says."""
    text = str(error)
    if text[:3].isdigit():
        return safe(text, _DETAIL)
    return next((reason for part, reason in _SOCKS if part in text), "it could not connect")


def _text(error: BaseException) -> str:
    """Return the HTTP error of the server, or of our request, as a clause."""
    text = str(error)
    if isinstance(error, Unsendable):
        return text
    if isinstance(error, NotHttp):
        return f"{text}: “{safe(error.quoted.decode('latin-1'), _DETAIL)}”" if error.quoted else text
    if isinstance(error, ConnectionBroken):
        return _reason(error)
    reason = http_reason(error)
    if counts := _RECEIVED.search(text):
        reason += f" after {int(counts[1]):,} of {int(counts[2]):,} bytes"
    _, quoted, rest = text.partition("bytearray(b")
    if quoted and rest[-2:] in ("')", '")'):  # h11 quotes bytes at the end of its sentence.
        reason += f": “{safe(rest[1:-2], _DETAIL)}”"
    return reason


def _certificate(error: ssl.SSLCertVerificationError, url: Url) -> HttpError:
    what = _CERTIFICATE.get(error.verify_code, "is not trusted")
    return HttpError(
        f"The certificate of {url.address} {what} ({safe(error.verify_message, _DETAIL)}).",
        hint=Hint(
            (
                "Set SSL_CERT_FILE=/path/to/ca.pem to trust the authority that signed it. To connect without "
                "verification, add "
            ),
            Parameter.NO_VERIFY,
            ".",
        ),
    )


def _tls(error: ssl.SSLError, url: Url) -> HttpError:
    reason = error.reason or ""
    if reason in _NOT_TLS:
        return HttpError(
            f"{url.address} does not use TLS ({safe(reason, _DETAIL)}).",
            hint=f"It may be a plain HTTP server: try http://{url.netloc}{url.target}",
        )
    return HttpError(
        f"The TLS handshake with {url.address} failed: {tls_reason(error)}.",
        hint="The server may require a client certificate, or a version of TLS that is disabled here.",
    )


def _connecting(chain: list[BaseException], names: set[str], url: Url, proxy: str) -> HttpError:
    peer = f"the proxy {proxy}" if proxy else url.address
    start = peer[0].upper() + peer[1:] if proxy else peer
    system = next((one for one in chain if isinstance(one, OSError) and one.errno is not None), None)
    if isinstance(system, socket.gaierror):
        name = proxy.rpartition(":")[0] if proxy else url.host
        return HttpError(
            f"The name {name} cannot be resolved: {os_reason(system)}.",
            hint="Check the spelling, and whether this machine is online.",
        )
    if "ConnectTimeout" in names or (system is not None and system.errno == errno.ETIMEDOUT):
        return HttpError(
            f"{start} did not accept the connection in time.",
            hint="Check host and port, and whether a firewall blocks them, or set a longer timeout.",
        )
    if system is None:
        return HttpError(f"Cannot connect to {peer}.", hint="Check host and port.")
    if system.errno == errno.ECONNREFUSED:
        return HttpError(
            f"Nothing listens on {peer}: the connection was refused.",
            hint="Is the server running? Check host and port.",
        )
    if system.errno in (errno.EMFILE, errno.ENFILE):
        return HttpError(
            f"Cannot connect to {peer}: too many files are open.",
            hint="Send fewer requests at once, or raise the limit (ulimit -n).",
        )
    return HttpError(
        f"Cannot connect to {peer}: {os_reason(system)}.",
        hint="Check host and port, and the network.",
    )


def _shaking_hands(names: set[str], url: Url, proxy: str) -> HttpError:
    peer = f"{url.address} (by the proxy {proxy})" if proxy else url.address
    what = (
        "did not answer the TLS handshake in time"
        if "ConnectTimeout" in names
        else "closed the connection during the TLS handshake"
    )
    return HttpError(
        f"{peer} accepted the connection, but {what}.",
        hint=f"Check the port; it may be a plain HTTP server: try http://{url.netloc}{url.target}",
    )


def _exchanging(error: BaseException, names: set[str], url: Url) -> HttpError:
    where = url.address
    if isinstance(error, Unsendable) or "LocalProtocolError" in names:
        return HttpError(
            f"The request to {where} cannot be sent: {_text(error)}.", hint="Check the headers that you added."
        )
    cause = error.__cause__
    if isinstance(error, NotHttp) or (type(error).__name__ == "RemoteProtocolError" and cause is not None):
        hint = "Check that the port is that of the MCP server's HTTP endpoint."
        text = _text(error)
        if _is_binary(error):
            text = "its answer is binary"
            if url.scheme == "http":
                hint = f"It may expect TLS: try https://{url.netloc}{url.target}"
        return HttpError(f"{where} does not answer in HTTP: {text}.", hint=hint)
    if isinstance(error, Disconnected) or "RemoteProtocolError" in names:
        return HttpError(
            f"{where} closed the connection without an answer.",
            hint="The server may have crashed. It may have executed the request: check before you send it again.",
        )
    return HttpError(
        f"The connection to {where} broke before a response: {_reason(error)}.",
        hint="The server may have crashed. It may have executed the request: check before you send it again.",
    )


def _is_binary(error: BaseException) -> bool:
    """Whether a response was not HTTP because it starts with a control character."""
    if isinstance(error, NotHttp):
        return error.binary
    return error.__cause__ is not None and _BINARY in str(error)


def _reason(error: BaseException) -> str:
    for one in _causes(error):
        if isinstance(one, OSError):
            return os_reason(one)
    return "the connection was closed" if isinstance(error, ConnectionBroken) else _text(error)
