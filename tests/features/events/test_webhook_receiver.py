"""The receiver of webhook deliveries: what it accepts, answers and records."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from inspector.errors import ConfigError, UsageError
from inspector.features.events import webhook_receiver
from inspector.features.events.webhook import new_secret
from inspector.features.events.webhook_receiver import REDIRECTED, Arrival, WebhookAddress, WebhookReceiver
from inspector.journal.format import Kind
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from tests.features.events.webhook_server import EVENT, deliver

URL = "https://hooks.example/in?for=me"
SECRET = new_secret()
CERTIFICATES = Path(__file__).parents[2] / "transports" / "certificates"


class Received:
    """A receiver with what has arrived at it."""

    def __init__(self, receiver: WebhookReceiver, journal: Journal, arrivals: list[Arrival]) -> None:
        self.receiver = receiver
        self.journal = journal
        self.arrivals = arrivals

    async def send(
        self, body: Any = EVENT, id: str = "order-1", *, url: str = URL, secret: str = SECRET, **how: Any
    ) -> Any:
        return await asyncio.to_thread(deliver, self.receiver.port, url, secret, id, body, **how)

    @property
    def recorded(self) -> list[dict[str, Any]]:
        numbers = Query(kind=Kind.LIFE).numbers(self.journal.index)
        return [event for n in numbers if (event := self.journal.event(n).fields).get("event") == "delivery"]


@asynccontextmanager
async def receiving(certificate: Path | None = None, **how: Any) -> AsyncIterator[Received]:
    journal, arrivals = Journal.unnamed({}), list[Arrival]()
    address = WebhookAddress.checked(URL, ("127.0.0.1", 0), certificate)
    receiver = WebhookReceiver(address, SECRET, journal, arrivals.append, **how)
    await receiver.start()
    try:
        yield Received(receiver, journal, arrivals)
    finally:
        await receiver.close()
        await receiver.close()
        journal.release()


async def test_a_challenge_is_answered_only_with_a_signature() -> None:
    """C-EVENT-25."""
    body = {"type": "verification", "challenge": "c-1"}
    async with receiving() as here:
        assert (await here.send(body))[:2] == (200, b'{"challenge": "c-1"}')
        assert (await here.send(body))[:2] == (200, b'{"challenge": "c-1"}')
        status, answer, _ = await here.send(body, secret=new_secret())
        assert (status, b"c-1" in answer) == (401, False)
        assert [arrival.accepted for arrival in here.arrivals] == [True, True, False]


@pytest.mark.parametrize(
    ("how", "status", "problem"),
    [
        ({"secret": new_secret()}, 401, "No signature matches"),
        ({"webhook_signature": "v1,AAAA"}, 401, "No signature matches"),
        ({"webhook_signature": None}, 401, "webhook-signature is missing"),
        ({"at": 1_000_000_000}, 400, "s old"),
        ({"at": 9_000_000_000}, 400, "in the future"),
        ({"body": b"{"}, 400, "not JSON"),
        ({"body": {"type": "party"}}, 400, "unknown type"),
        ({"body": b"[" * 100_000}, 400, "not JSON"),
        ({"method": "PUT"}, 405, "PUT, not POST"),
    ],
)
async def test_what_is_rejected(how: dict[str, Any], status: int, problem: str) -> None:
    """C-EVENT-23, C-EVENT-24."""
    async with receiving() as here:
        assert (await here.send(**how))[0] == status
        (arrival,) = here.arrivals
        assert (arrival.accepted, problem in " ".join(arrival.problems)) == (False, True)


async def test_repeats_are_marked_and_a_rejected_delivery_may_come_again() -> None:
    """C-EVENT-24."""
    async with receiving() as here:
        for secret in (new_secret(), SECRET, SECRET):
            await here.send(secret=secret)
        await here.send(EVENT | {"eventId": "order-2"}, "order-2")
        assert [(arrival.accepted, arrival.repeated) for arrival in here.arrivals] == [
            (False, False), (True, False), (True, True), (True, False),
        ]  # fmt: skip


async def test_the_first_event_is_redirected_on_request() -> None:
    async with receiving(redirects_first=True) as here:
        status, _, location = await here.send()
        assert (status, location) == (307, f"{URL}&{REDIRECTED}")
        assert (await here.send())[0] == 200
        assert (await here.send(url=location))[0] == 200
        assert [(arrival.redirected, arrival.repeated) for arrival in here.arrivals] == [
            (False, False), (False, False), (True, True),
        ]  # fmt: skip


async def test_a_recording_has_the_deliveries_without_the_secret() -> None:
    """C-EVENT-21."""
    async with receiving() as here:
        await here.send(EVENT | {"data": {"echo": SECRET}})
        await here.send(b"unsigned", secret=new_secret())
        first, second = here.recorded
        assert (first["type"], first["headers"]["webhook-id"]) == ("event", "order-1")
        assert "order.placed" in first["body"]
        assert SECRET not in str(here.recorded)
        assert ("body" in second, second["bytes"]) == (False, 8)


async def test_other_paths_and_large_bodies_are_refused_before_anything_is_read() -> None:
    async with receiving() as here:
        assert (await here.send(url="https://hooks.example/other"))[0] == 404
        assert (await here.send(b" " * (2 << 20)))[0] == 413
        assert here.arrivals == []


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "127.0.0.1:8088"}, 200),
        ({"Host": "localhost"}, 200),
        ({"Host": "evil.example"}, 403),
        ({"Host": "hooks.example.evil.example"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Host": "127.0.0.1", "Origin": "https://evil.example"}, 403),
        ({"Host": "127.0.0.1", "Origin": "null"}, 403),
        ({"Origin": "https://hooks.example"}, 200),
    ],
)
async def test_no_page_of_another_site_reaches_it(headers: dict[str, str], status: int) -> None:
    """Also with a good signature; nothing of it is recorded."""
    async with receiving() as here:
        assert (await here.send(**headers))[0] == status
        assert (len(here.arrivals), here.receiver.unreported) == ((1, 0) if status == 200 else (0, 1))
        assert len(here.recorded) == len(here.arrivals)


async def test_requests_without_a_signature_are_counted_after_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook_receiver, "MAX_UNSIGNED", 3)
    async with receiving() as here:
        for method in ("POST", "GET", "PUT", "POST", "GET"):
            assert (await here.send(method=method, secret=new_secret()))[0] in (401, 405)
        assert (await here.send())[0] == 200
        assert (len(here.arrivals), len(here.recorded), here.receiver.unreported) == (4, 4, 2)
        journal = here.journal
        await here.receiver.close()
        last = journal.event(len(journal)).fields
        assert (last["event"], last["requests"]) == ("refused", 2)


async def test_idle_connections_leave_room_for_a_delivery() -> None:
    async with receiving() as here:
        held = [await asyncio.open_connection("127.0.0.1", here.receiver.port) for _ in range(80)]
        for _, writer in held[::2]:
            writer.write(b"POST /in HTTP/1.1\r\nHost: hooks.example\r\nContent-Length: 9\r\n\r\n{")
            await writer.drain()
        assert (await here.send())[0] == 200
        for _, writer in held:
            writer.close()


async def test_https_with_a_certificate_of_ones_own(tmp_path: Path) -> None:
    certificate, trusted = tmp_path / "own.pem", CERTIFICATES / "localhost.pem"
    certificate.write_bytes(trusted.read_bytes() + (CERTIFICATES / "key.pem").read_bytes())
    async with receiving(certificate) as here:
        assert (await here.send(certificate=str(trusted)))[0] == 200
    (tmp_path / "bad.pem").write_text("no key")
    with pytest.raises(UsageError, match="cannot be used as a certificate"):
        async with receiving(tmp_path / "bad.pem"):
            pass


async def test_a_pipe_in_place_of_a_certificate_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ConfigError, match="not a regular file"):
        async with receiving(tmp_path / "pipe"):
            pass


async def test_addresses_that_are_refused() -> None:
    """C-EVENT-21."""
    with pytest.raises(UsageError, match="not a loopback address"):
        WebhookAddress.checked(URL, ("0.0.0.0", 0))
    with pytest.raises(UsageError, match="not an https URL"):
        WebhookAddress.checked("http://127.0.0.1/in", ("127.0.0.1", 0))
    async with receiving() as here:
        taken = here.receiver.address._replace(port=here.receiver.port)
        with pytest.raises(UsageError, match="another process uses the port"):
            await WebhookReceiver(taken, SECRET, here.journal, here.arrivals.append).start()
