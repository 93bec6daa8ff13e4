"""Streams spans to an OpenTelemetry collector while a session goes on (OTLP/HTTP 1.x, JSON encoding).

A thread follows the recording through a reader of its own, so the session never waits for it: the recording is the
queue, whatever the collector does. A span is sent when its exchange has ended. Spans that the collector refused, or did
not accept before the end of the session, are counted as lost.

Source: https://opentelemetry.io/docs/specs/otlp/#otlphttp (retries, partial success).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from inspector.config.text_checks import checked_headers
from inspector.errors import TargetError, UsageError
from inspector.formats.otlp import Spans, around_spans, dumps
from inspector.formats.selection import facts_of
from inspector.journal.exchange import around
from inspector.journal.format import Kind
from inspector.journal.index import State
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import NotJson, Shape, parse
from inspector.protocol.views import View
from inspector.text import quantity, safe
from inspector.version import __version__

if TYPE_CHECKING:
    import httpx

PATH = "/v1/traces"
INTERVAL = 1.0
"""Seconds between two looks at the recording."""
MAX_SPANS = 512
"""Spans in one request."""
MAX_BYTES = 4 << 20
"""Bytes in one request, beyond which it has no further span."""
FLUSH = 5.0
"""Seconds that the end of a session waits for the collector."""
TIMEOUT = 10.0
MAX_ANSWER = 1 << 16
"""Bytes of an answer that are read."""
RETRIED = frozenset((429, 502, 503, 504))
"""Statuses after which the same spans are sent again (OTLP/HTTP, "Retryable Response Codes")."""
MAX_PAUSE = 30.0
SHARE = 0.2
"""The share of its time that the thread may work while the session goes on."""
_LOOKED_AT = 10_000
"""Events of one exchange that are searched for what happened inside it."""
_ENDS = Query(shape=(Shape.RESULT, Shape.ERROR, Shape.NOTIFICATION)) | Query(kind=Kind.LIFE)
_REQUESTS = Query(shape=Shape.REQUEST)
SpanMaker = Callable[[], dict[str, Any]]
_ANSWERS = (Shape.RESULT, Shape.ERROR)
_GIVEN_UP = (State.CANCELLED, State.TIMED_OUT, State.LOST, State.ERROR)


@dataclass(slots=True)
class StreamReport:
    """The number of spans of a session that were sent, refused and not sent."""

    sent: int = 0
    refused: int = 0
    """Spans that the collector refused."""
    unsent: int = 0
    """Spans that the collector did not accept before the end."""
    problem: str = ""
    """Why, in words of the collector or of ours; safe text."""
    is_counted: bool = False
    """Whether all spans are counted; a very long session may end before."""

    @property
    def lost(self) -> str:
        """A sentence about the spans that were lost; empty if there are none."""
        number = self.refused + self.unsent
        if not number:
            return ""
        least = "" if self.is_counted else "at least "
        reason = self.problem or "there was no time left"
        return f"{least}{quantity(number, 'span')} did not reach the collector: {reason}."


def endpoint(url: str) -> str:
    """Return the URL that spans are sent to: a URL without a path gets the path of OTLP. Raises `UsageError`."""
    from urllib.parse import urlsplit

    from inspector.addresses import requested_url

    try:
        _ = urlsplit(url).port
        url = requested_url(url)
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(
            f"“{url[:80]}” is not the URL of an OpenTelemetry collector.", hint="Example: http://localhost:4318"
        )
    return url if parts.path.strip("/") else f"{url.rstrip('/')}{PATH}"


def headers_from_environment(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the headers in OTEL_EXPORTER_OTLP_HEADERS: `name=value` pairs with percent escapes, after commas.

    Source: OpenTelemetry specification, protocol/exporter.
    """
    import os
    from urllib.parse import unquote

    text = (os.environ if environ is None else environ).get("OTEL_EXPORTER_OTLP_HEADERS", "")
    pairs = (part.partition("=") for part in text.split(","))
    return {name.strip(): unquote(value.strip()) for name, sign, value in pairs if sign and name.strip()}


class OtlpStream:
    """Sends the spans of one session to a collector. `finish` ends it."""

    def __init__(self, journal: Journal, url: str, headers: Mapping[str, str] | None = None) -> None:
        """Start to follow a recording. `url` comes from `endpoint`; `headers` are sent with each request."""
        self._journal = journal.follower()
        self._url = url
        own = {"Content-Type": "application/json", "User-Agent": f"inspector/{__version__}"}
        # An answer is read as it comes: a compressed one may be of any size.
        own["Accept-Encoding"] = "identity"
        try:
            checked_headers((headers or {}).items())
            self._wrong_header = ""
        except TargetError as error:
            self._wrong_header = f"a header in OTEL_EXPORTER_OTLP_HEADERS is not valid: {error.message}"
        self._headers = [
            (name.encode("utf-8", "replace"), value.encode("utf-8", "replace"))
            for name, value in (own | dict(headers or {})).items()
        ]
        self._spans: Spans | None = None
        self._so_far = _GrowingEvents(self._journal)
        self._done = 0
        """Events up to here were looked at."""
        self._given_up: set[int] = set()
        """The requests without an answer whose spans were made; an answer may still come."""
        self._waiting: list[str] = []
        """The batch, as JSON, that was not accepted when the session ended."""
        self._under_way = 0
        """The number of spans in the request that the collector has not answered yet."""
        self._over = threading.Event()
        self._until = float("inf")
        """The time at which the thread gives up."""
        self.report = StreamReport()
        self._thread = threading.Thread(target=self._run, name="otlp", daemon=True)
        self._thread.start()

    def finish(self, seconds: float = FLUSH) -> StreamReport:
        """Send what is left, for at most so many seconds, and return what became of the spans."""
        self._until = time.monotonic() + seconds
        self._over.set()
        self._thread.join(seconds + 0.5)
        if not self._thread.is_alive():
            return self.report
        # A request cannot be ended from here. It waits for an answer that would come too late.
        number = self._under_way
        problem = "it does not answer" if number else self.report.problem
        return replace(self.report, unsent=self.report.unsent + max(number, 1), problem=problem, is_counted=False)

    def _run(self) -> None:
        import httpx

        from inspector.transports.http_client import tls_context

        try:
            # Spans and the collector's key pass no proxy of the environment: the user named the collector only.
            with httpx.Client(timeout=TIMEOUT, verify=tls_context(True), trust_env=False) as client:
                while not self._over.wait(INTERVAL):
                    self._step(client)
                self._flush(client)
        finally:
            self._journal.release()

    def _step(self, client: httpx.Client) -> None:
        """Send the spans of new events."""
        begun = time.monotonic()
        while self._journal.refresh():
            if self._rest(begun):
                return
            begun = time.monotonic()
        begun = time.monotonic()
        for batch in self._batches(self._ended()):
            over, pause = self._rest(begun), self._post(client, batch)
            while pause and not over:
                over = self._over.wait(pause)
                pause = self._post(client, batch, pause)
            if pause:
                self._waiting = batch
            if over:
                return
            begun = time.monotonic()

    def _rest(self, begun: float) -> bool:
        """Wait, so that work since `begun` is only a share of the time. Returns whether the session is over."""
        return self._over.wait((time.monotonic() - begun) * (1 / SHARE - 1))

    def _flush(self, client: httpx.Client) -> None:
        """Send what is left until the time is over; count the rest."""
        while (unread := self._journal.refresh()) and time.monotonic() < self._until:
            pass
        if self._waiting:
            self._post_until(client, self._waiting)
        rest = self._last()
        for batch in self._batches(rest):
            self._post_until(client, batch)
            if time.monotonic() > self._until:
                break
        self.report.unsent += sum(1 for _ in rest)  # counted, not made
        self.report.is_counted = not unread

    def _post_until(self, client: httpx.Client, batch: list[str]) -> None:
        pause = 0.0
        while (left := self._until - time.monotonic()) > 0:
            pause = self._post(client, batch, pause, timeout=min(left, TIMEOUT))
            if not pause:
                return
            time.sleep(min(pause, max(self._until - time.monotonic(), 0)))
        self.report.unsent += len(batch)

    # Spans

    def _ended(self) -> Iterator[SpanMaker]:
        """Yield a maker for each exchange that has ended since the last look, and for each lone notification."""
        last = self._journal.index.count
        self._so_far.last = last
        spans = self._made()
        index = self._journal.index
        for n in _ENDS.forwards(index, self._done, last):
            self._done = n
            request = self._ended_by(n)
            if request:
                yield partial(spans.exchange, request)
            elif spans.stands_alone(n):
                yield partial(spans.notification, n)
        self._done = last

    def _ended_by(self, n: int) -> int:
        """Return the request whose exchange event `n` ends: with its answer, or because it was given up; else 0."""
        index = self._journal.index
        request = index.pair(n)
        if not request or index.shape(n) is Shape.REQUEST:
            return 0
        if index.shape(n) in _ANSWERS:
            return request if index.pair(request) == n and request not in self._given_up else 0
        if request in self._given_up or index.state(request) not in _GIVEN_UP or self._so_far.answer(request):
            return 0
        self._given_up.add(request)
        return request

    def _last(self) -> Iterator[SpanMaker]:
        """Yield a maker for each span that is left: exchanges, open requests, and the session."""
        yield from self._ended()
        spans, index = self._made(), self._journal.index
        for n in _REQUESTS.forwards(index):
            if index.state(n) is State.PENDING:
                yield partial(spans.exchange, n)
        yield spans.session

    def _made(self) -> Spans:
        """Return the maker of spans. The facts of the connection may have arrived since the last look."""
        self._spans = Spans(self._journal, self._so_far, facts_of(self._journal))
        return self._spans

    def _batches(self, spans: Iterable[SpanMaker]) -> Iterator[list[str]]:
        batch: list[str] = []
        held = 0
        for make in spans:
            span = dumps(make())
            batch.append(span)
            held += len(span)
            if len(batch) == MAX_SPANS or held > MAX_BYTES:
                yield batch
                batch, held = [], 0
        if batch:
            yield batch

    # Requests

    def _post(self, client: httpx.Client, batch: list[str], pause: float = 0.0, timeout: float = TIMEOUT) -> float:
        """Send spans. Returns the seconds after which to try again; 0 if the collector accepted or refused them."""
        import httpx

        if self._wrong_header:
            self.report.problem = self._wrong_header
            self.report.refused += len(batch)
            return 0.0
        assert self._spans is not None
        head, tail = around_spans(self._spans)
        body = f"{head}{','.join(batch)}{tail}".encode("utf-8", "replace")
        again = min(max(pause * 2, INTERVAL), MAX_PAUSE)
        self._under_way = len(batch)
        try:
            with client.stream("POST", self._url, content=body, headers=self._headers, timeout=timeout) as answer:
                if answer.is_success:
                    self._count_accepted(_head_of(answer), len(batch))
                    return 0.0
        except (httpx.LocalProtocolError, UnicodeError):
            self.report.problem = "a header in OTEL_EXPORTER_OTLP_HEADERS is not valid"
            self.report.refused += len(batch)
            return 0.0
        except (httpx.HTTPError, OSError) as error:
            self.report.problem = _why(error)
            return again
        finally:
            self._under_way = 0
        self.report.problem = f"it answered with HTTP status {answer.status_code}"
        if answer.status_code in RETRIED:
            asked = answer.headers.get("Retry-After", "")
            return min(float(asked), MAX_PAUSE) if asked.isascii() and asked.isdigit() else again
        self.report.refused += len(batch)
        return 0.0

    def _count_accepted(self, body: bytes, number: int) -> None:
        """Count the spans of an accepted request, without those that the answer names as rejected."""
        rejected, reason = _partial(body)
        rejected = min(rejected, number)
        self.report.sent += number - rejected
        self.report.refused += rejected
        if rejected:
            self.report.problem = safe(reason, 200) or "it rejected them without a reason"


def _head_of(answer: httpx.Response) -> bytes:
    """Return the body of an answer; empty if it is long, or breaks off: the status says enough."""
    import httpx

    head = b""
    try:
        for chunk in answer.iter_raw():
            head += chunk
            if len(head) > MAX_ANSWER:
                return b""
    except (httpx.HTTPError, OSError):
        return b""
    return head


class _GrowingEvents:
    """The events of a growing recording up to `last`."""

    def __init__(self, journal: Journal) -> None:
        self._index = journal.index
        self.last = 0

    def __contains__(self, n: int) -> bool:
        return 0 < n <= self.last

    def answer(self, request: int) -> int:
        answer = self._index.pair(request)
        return answer if 0 < answer <= self.last and self._index.shape(answer) in _ANSWERS else 0

    def inside(self, request: int) -> Iterator[int]:
        end = min(self.answer(request) or self.last, request + _LOOKED_AT)
        for n in _INSIDE.forwards(self._index, request, end):
            if around(self._index, n) == request:
                yield n


_INSIDE = Query(shape=(Shape.REQUEST, Shape.NOTIFICATION))


def _partial(data: bytes) -> tuple[int, str]:
    """Return the number of rejected spans and the reason from the body of an answer with status 2xx."""
    try:
        body = parse(data)
    except NotJson:
        return 0, ""
    part = View(View(body).object("partialSuccess"))
    number, reason = part.members.get("rejectedSpans"), part.text("errorMessage")
    if isinstance(number, str) and number.isascii() and number.isdigit() and len(number) < 18:
        number = int(number)  # an int64 is a string in the JSON encoding
    return number if type(number) is int and number > 0 else 0, reason


def _why(error: Exception) -> str:
    """Return why a request failed, in our words."""
    import httpx

    if isinstance(error, httpx.ConnectTimeout):
        return "it does not accept connections"
    if isinstance(error, httpx.TimeoutException):
        return "it does not answer"
    if isinstance(error, httpx.ConnectError):
        return "it is not reachable"
    return "the connection broke"
