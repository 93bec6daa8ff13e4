"""Receives the deliveries of one webhook subscription on a loopback address, and verifies each before it is used.

The server delivers to the public https URL of the user; a tunnel or reverse proxy passes the requests on to here, or
this end has a certificate of its own. Source: SEP-3415 (draft), "Webhook-Based Delivery", "Webhook security".
"""

from __future__ import annotations

import asyncio
import errno
import ssl
import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from inspector.addresses import is_loopback
from inspector.config import foreign_files
from inspector.errors import UsageError
from inspector.features.events.webhook import HEADERS, Delivery, Verified, checked_url, key_of, verify
from inspector.journal.journal import Journal
from inspector.reasons import os_reason
from inspector.serving.base import RequestHead
from inspector.serving.http_connection import (
    PLAIN,
    ConnectionLimits,
    RequestRefusal,
    ServedConnection,
    ServedRequest,
    ServedResponse,
)
from inspector.serving.http_origins import RequestGuard

CHANNEL = "webhook"
MAX_BODY = 1 << 20
"""Bytes of a delivery; servers should keep to a quarter of it."""
MAX_IDS = 20_000
"""Ids of deliveries that are remembered to find repeats."""
MAX_UNSIGNED = 100
"""Requests without a valid signature that are recorded and reported one by one; further ones are counted."""
REDIRECTED = "inspector-redirect=1"
"""Query of the URL that a delivery is redirected to by a check."""
_JSON = (("Content-Type", "application/json"),)


class WebhookAddress(NamedTuple):
    """The URL that a server is given, and the local address where its deliveries arrive."""

    url: str
    host: str
    port: int
    certificate: Path | None = None
    """PEM file with certificate chain and private key, to accept https here; None: plain HTTP, behind a tunnel."""

    @classmethod
    def checked(cls, url: str, where: tuple[str, int], certificate: Path | None = None) -> WebhookAddress:
        """Raises `UsageError` unless the URL is https and the host of `where` (with its port) is loopback."""
        host, port = where
        if not is_loopback(host):
            raise UsageError(
                f"{host} is not a loopback address.",
                hint="Listen on 127.0.0.1:PORT, and let a tunnel or reverse proxy pass deliveries on to it.",
            )
        return cls(checked_url(url), host, port, certificate)


class Arrival(NamedTuple):
    """One HTTP request that has arrived, and its verdict."""

    n: int
    """Its event in the recording."""
    method: str
    verdict: Verified
    repeated: bool
    """Its `webhook-id` was accepted before."""
    subscription: str
    """X-MCP-Subscription-Id; empty without it."""
    redirected: bool
    """It follows a redirect of this receiver."""
    problems: tuple[str, ...]
    """What is wrong with it, as sentences; contain text of the delivery."""

    @property
    def accepted(self) -> bool:
        """Whether the receiver has used it, or answered its challenge."""
        return self.method == "POST" and self.verdict.accepted


class WebhookReceiver:
    """Accepts deliveries that `secret` signs: `start` it, subscribe, `close` it. Calls `arrived` with each request.

    It answers 200 to an accepted delivery and to a repeat, with the challenge to a signed verification; 401 without a
    matching signature, 400 to an old or unknown one, 403 to a page of another site. Of a delivery without a signature
    only headers and size are recorded. With `redirects_first`, the first event is redirected, and its repeat accepted.
    """

    def __init__(
        self,
        address: WebhookAddress,
        secret: str,
        journal: Journal,
        arrived: Callable[[Arrival], None],
        *,
        redirects_first: bool = False,
    ) -> None:
        key_of(secret)
        self.address = address
        self.limits = ConnectionLimits(body=MAX_BODY, connections=64, patience=10.0, idle=10.0)
        self.connections: set[ServedConnection] = set()
        self.port = address.port
        """The port in use, after `start`."""
        self.unreported = 0
        """Refused requests without an `Arrival`: of pages of other sites, and without a signature after many others."""
        self._unsigned = 0
        self._secret = secret
        self._journal = journal
        self._arrived = arrived
        self._redirects = redirects_first
        self._ids: OrderedDict[str, None] = OrderedDict()
        self._server: asyncio.Server | None = None
        parts = urlsplit(address.url)
        self._path = parts.path or "/"
        # A tunnel keeps the name in the URL, or puts a name of this machine in its place.
        self._guard = RequestGuard(address.host, [parts.hostname or ""])
        journal.redactor.add(secret)

    async def start(self) -> None:
        """Listen. Raises `UsageError` or `ConfigError` if the address or the certificate cannot be used."""
        address = self.address
        tls = None
        if address.certificate is not None:
            foreign_files.open_regular(address.certificate).close()  # The library would wait for the writer of a pipe.
            tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            try:
                tls.load_cert_chain(address.certificate, password="")
            except (OSError, ssl.SSLError) as error:
                raise UsageError(
                    f"{address.certificate} cannot be used as a certificate: {os_reason(error)}.",
                    hint="Name a PEM file with the certificate chain and its private key, without a password.",
                ) from None
        loop = asyncio.get_running_loop()
        try:
            self._server = await loop.create_server(
                lambda: ServedConnection(self), address.host, address.port, ssl=tls, backlog=64
            )
        except (OSError, OverflowError) as error:
            taken = isinstance(error, OSError) and error.errno == errno.EADDRINUSE
            reason = "another process uses the port" if taken else os_reason(error)
            raise UsageError(
                f"Cannot listen on {address.host}:{address.port}: {reason}.", hint="Choose another port."
            ) from None
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Stop listening. Idempotent."""
        server, self._server = self._server, None
        if server is not None:
            server.close()
            for connection in list(self.connections):
                connection.shut()
            await asyncio.sleep(0)
            if self.unreported:
                self._journal.record_life(CHANNEL, "refused", requests=self.unreported)

    # Requests

    def screen(self, head: RequestHead) -> RequestRefusal | None:
        """Refuse requests for other paths, and those that a page of another site could have sent."""
        if head.target.partition("?")[0] != self._path:
            return RequestRefusal(404, b"Not found.\n", PLAIN)
        if self._guard.refusal(head):
            self.unreported += 1
            return RequestRefusal(403, b"This Host or Origin is not allowed.\n", PLAIN)
        return None

    def answer(self, request: ServedRequest, response: ServedResponse) -> None:
        """Verify a delivery and answer it."""
        if not request.complete or self._server is None:
            response.abort()
            return
        head = request.head
        fields: dict[str, str] = {}
        for name, value in head.fields:
            fields.setdefault(name.lower(), value)
        verdict = verify([self._secret], Delivery(fields, request.body), time.time())
        id = fields.get("webhook-id", "")[:300]
        is_post = head.method == "POST"
        accepted = is_post and verdict.accepted
        redirected = head.target.partition("?")[2].endswith(REDIRECTED)
        redirects = self._redirects and accepted and verdict.kind == "event"
        repeated = accepted and verdict.kind != "verification" and id in self._ids
        if accepted and not redirects:
            self._ids[id] = None
            if len(self._ids) > MAX_IDS:
                self._ids.popitem(last=False)
        self._unsigned += not verdict.signed
        reported = verdict.signed or self._unsigned <= MAX_UNSIGNED
        problems = (*(() if is_post else (f"The method is {head.method[:20]}, not POST.",)), *verdict.problems)
        n = self._record(request, fields, verdict, problems) if reported else 0
        if not is_post:
            response.whole(405, b"Use POST.\n", (*PLAIN, ("Allow", "POST")))
        elif not verdict.signed:
            response.whole(401, b"No signature matches.\n", PLAIN)
        elif not verdict.accepted:
            response.whole(400, b"The delivery is too old, or its type is unknown.\n", PLAIN)
        elif redirects:
            self._redirects = False
            url = self.address.url
            response.whole(307, b"", (("Location", f"{url}{'&' if '?' in url else '?'}{REDIRECTED}"),))
        else:
            response.whole(200, (verdict.answer or "{}").encode(), _JSON)
        if not reported:
            self.unreported += 1
            return
        subscription_id = fields.get("x-mcp-subscription-id", "")[:300]
        self._arrived(Arrival(n, head.method, verdict, repeated, subscription_id, redirected, problems))

    def _record(
        self, request: ServedRequest, fields: dict[str, str], verdict: Verified, problems: tuple[str, ...]
    ) -> int:
        given = {name: fields[name][:1000] for name in ("content-type", *HEADERS) if name in fields}
        body = {"body": request.body.decode("utf-8", "replace")} if verdict.signed else {}
        return self._journal.record_life(
            CHANNEL,
            "delivery",
            method=request.head.method[:20],
            type=verdict.kind,
            headers=given,
            accepted=verdict.accepted,
            problems=list(problems),
            bytes=len(request.body),
            **body,
        )
