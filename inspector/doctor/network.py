"""The layers below HTTP: names, addresses, ports and TLS. Each check has a time limit and closes its connections."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal, TypeVar

from inspector.reasons import os_reason, tls_reason
from inspector.transports.http_client import tls_context
from inspector.transports.http_url import Url

T = TypeVar("T")
Port = Literal["open", "refused", "filtered", "unreachable"]
MAX_ADDRESSES = 8


async def in_thread(work: Callable[[], T], seconds: float) -> T:
    """Return the result of `work`. Raises `TimeoutError` and abandons the thread after `seconds`."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(value: T | None, error: Exception | None) -> None:
        if not future.done():
            if error is not None:
                future.set_exception(error)
            else:
                future.set_result(value)  # type: ignore[arg-type]

    def run() -> None:
        value, problem = None, None
        try:
            value = work()
        except OSError as error:
            problem = error
        with suppress(RuntimeError):  # The loop has closed meanwhile.
            loop.call_soon_threadsafe(settle, value, problem)

    threading.Thread(target=run, daemon=True, name="inspector-doctor").start()
    async with asyncio.timeout(seconds):
        return await future


async def addresses(host: str, port: int, seconds: float) -> list[str]:
    """Return the addresses of a name, in the system's order. Raises `OSError` and `TimeoutError`."""
    addresses = await in_thread(lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM), seconds)
    return list(dict.fromkeys(str(entry[4][0]) for entry in addresses))[:MAX_ADDRESSES]


@dataclass(frozen=True, slots=True)
class PortAttempt:
    """Whether a port of one address accepts a connection."""

    address: str
    port: Port
    seconds: float
    reason: str = ""


async def try_port(address: str, port: int, seconds: float) -> PortAttempt:
    """Connect, and close immediately."""
    began = time.perf_counter()
    state: Port = "open"
    reason = ""
    try:
        async with asyncio.timeout(seconds):
            _, writer = await asyncio.open_connection(address, port)
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
    except TimeoutError:
        state, reason = "filtered", f"no response within {seconds:g} s"
    except OSError as error:
        refused = error.errno == errno.ECONNREFUSED
        state, reason = "refused" if refused else "unreachable", os_reason(error)
    return PortAttempt(address, state, time.perf_counter() - began, reason)


@dataclass(slots=True)
class Tls:
    """The result of a TLS handshake."""

    spoken: bool = False
    """Whether the other side uses TLS, with a valid certificate or not."""
    version: str = ""
    verify_code: int = 0
    """OpenSSL's X509_V_ERR_*; 0: the certificate is trusted, for this name and today."""
    reason: str = ""
    """Why the handshake failed."""
    seconds: float = 0.0
    subject: str = ""
    issuer: str = ""
    names: list[str] = field(default_factory=list)
    begins: datetime | None = None
    ends: datetime | None = None


async def try_tls(address: str, url: Url, seconds: float) -> Tls:
    """Do a verified TLS handshake. If the certificate is refused, do an unverified one to read it."""
    began = time.perf_counter()
    tls = Tls()
    try:
        _, tls.version = await _handshake(address, url, tls_context(True), seconds)
        tls.spoken = True
    except ssl.SSLCertVerificationError as error:
        tls.verify_code, tls.reason = error.verify_code or -1, error.verify_message or "it is not trusted"
    except TimeoutError:
        tls.reason = f"no response within {seconds:g} s"
    except ssl.SSLError as error:
        tls.reason = tls_reason(error)
    except OSError as error:
        tls.reason = os_reason(error)
    tls.seconds = time.perf_counter() - began
    if tls.spoken or tls.verify_code:
        try:
            certificate, tls.version = await _handshake(address, url, tls_context(False), seconds)
            tls.spoken = True
            _read_certificate(tls, certificate)
        except (OSError, TimeoutError):  # SSLError is a subclass of OSError.
            pass
    return tls


async def _handshake(address: str, url: Url, context: ssl.SSLContext, seconds: float) -> tuple[bytes, str]:
    """Return the certificate as DER and the version of TLS."""
    async with asyncio.timeout(seconds):
        _, writer = await asyncio.open_connection(address, url.port, ssl=context, server_hostname=url.host)
    try:
        tls: ssl.SSLObject = writer.get_extra_info("ssl_object")
        return tls.getpeercert(binary_form=True) or b"", tls.version() or ""
    finally:
        writer.transport.abort()


def _read_certificate(tls: Tls, certificate: bytes) -> None:
    from cryptography import x509

    try:
        read = x509.load_der_x509_certificate(certificate)
        tls.subject, tls.issuer = read.subject.rfc4514_string()[:300], read.issuer.rfc4514_string()[:300]
        tls.begins, tls.ends = read.not_valid_before_utc, read.not_valid_after_utc
        alternative = read.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        tls.names = [str(name.value)[:200] for name in list(alternative)[:20]]
    except x509.ExtensionNotFound:
        tls.names = []
    except ValueError:
        tls.subject = "cannot be read"


def days_left(tls: Tls, now: datetime | None = None) -> int | None:
    """Return the full days until the certificate expires."""
    return None if tls.ends is None else (tls.ends - (now or datetime.now(UTC))).days
