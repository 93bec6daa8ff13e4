"""Webhooks: secrets, requests, and which deliveries a receiver accepts."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from inspector.errors import UsageError
from inspector.features.events import webhook
from inspector.features.events.webhook import (
    Delivery,
    Verified,
    key_of,
    new_secret,
    refresh_after,
    subscribe_params,
    verify,
)

SECRET = "whsec_AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA="
BODY = b'{"eventId":"e-1","name":"tide.turned","timestamp":"2026-11-22T08:00:00Z","data":{"pier":3},"cursor":"c2"}'
AT = 1795334400
SIGNATURE = "v1,VEAbHKwIzPPY+8w3xJZwUClqPCS8HPtROv9vq5dV5Nk="
HEADERS = {
    "content-type": "application/json", "webhook-id": "msg_1", "webhook-timestamp": str(AT),
    "webhook-signature": SIGNATURE, "x-mcp-subscription-id": "sub_1",
}  # fmt: skip


def judged(body: bytes = BODY, *, now: float = AT, secret: str = SECRET, **headers: str) -> Verified:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return verify([secret], Delivery(HEADERS | named, body), now)


def signed(body: Any, id: str = "msg_gap_1") -> Verified:
    import hashlib
    import hmac

    raw = json.dumps(body).encode()
    made = hmac.digest(key_of(SECRET), f"{id}.{AT}.".encode() + raw, hashlib.sha256)
    return judged(raw, webhook_id=id, webhook_signature="v1," + base64.b64encode(made).decode())


def test_the_vector() -> None:
    """C-EVENT-23."""
    verified = judged()
    assert (len(BODY), verified.signed, verified.fresh, verified.kind) == (105, True, True, "event")
    assert verified.problems == ("webhook-id is not the eventId.",)


@pytest.mark.parametrize(
    "verify_changed",
    [
        lambda: judged(BODY.replace(b"3", b"4")),
        lambda: judged(json.dumps(json.loads(BODY)).encode()),
        lambda: judged(webhook_id="msg_2"),
        lambda: judged(webhook_timestamp=str(AT + 1), now=AT + 1),
        lambda: judged(webhook_signature="v1,AAAA"),
        lambda: judged(webhook_signature=SIGNATURE.replace("Nk=", "Nj=")),
        lambda: judged(webhook_signature=SIGNATURE.replace("v1,", "v1a,")),
        lambda: judged(webhook_signature=""),
        lambda: judged(secret=new_secret()),
        lambda: judged(secret="whsec_" + base64.b64encode(SECRET.removeprefix("whsec_").encode()).decode()),
    ],
)
def test_any_change_breaks_the_signature(verify_changed: Any) -> None:
    """C-EVENT-23."""
    assert not verify_changed().signed
    assert not verify_changed().accepted


def test_one_of_several_signatures_is_enough() -> None:
    """C-EVENT-23."""
    assert judged(webhook_signature=f"v1,AAAA {SIGNATURE}").accepted


@pytest.mark.parametrize(("age", "fresh"), [(0, True), (299, True), (-299, True), (301, False), (-301, False)])
def test_old_deliveries_are_rejected(age: int, fresh: bool) -> None:
    """C-EVENT-24."""
    assert judged(now=AT + age).fresh is fresh


@pytest.mark.parametrize("stamp", ["soon", "", "1e9", "1" * 30])
def test_times_that_are_none(stamp: str) -> None:
    assert not judged(webhook_timestamp=stamp).accepted


def test_a_challenge_is_answered_only_if_it_is_signed() -> None:
    """C-EVENT-25."""
    body = {"type": "verification", "challenge": "nonce"}
    assert signed(body).answer == '{"challenge": "nonce"}'
    verified = judged(json.dumps(body).encode())
    assert (verified.kind, verified.answer) == ("verification", "")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"type": "gap", "cursor": "c"}, "gap"),
        ({"type": "terminated", "error": {"code": -32024}}, "terminated"),
        ({"type": "verification"}, "unknown"),
        ({"type": "surprise"}, "unknown"),
        ({"type": 5}, "unknown"),
        ([], "unknown"),
    ],
)
def test_control_bodies(body: Any, kind: str) -> None:
    """C-EVENT-25."""
    verified = signed(body)
    assert (verified.kind, verified.accepted) == (kind, kind != "unknown")


@pytest.mark.parametrize("raw", [b"", b"{", b"[" * 100_000, b"\xff"])
def test_bodies_that_are_not_json(raw: bytes) -> None:
    assert judged(raw).kind == "unknown"


def test_a_raw_request_is_read() -> None:
    lines = ["POST /hooks HTTP/1.1", *(f"{name.title()}: {value}" for name, value in HEADERS.items())]
    for end in ("\r\n", "\n"):
        delivery = Delivery.parse(end.join([*lines, "", ""]).encode() + BODY)
        assert verify([SECRET], delivery, AT).signed
    with pytest.raises(UsageError):
        Delivery.parse(b"nothing")


def test_a_new_secret_has_its_form() -> None:
    """C-EVENT-21."""
    made = new_secret()
    assert made.startswith("whsec_")
    assert len(key_of(made)) == 32
    assert new_secret() != made


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_AAAA", "AQID", "whsec_!", "whsec_" + "A" * 100])
def test_wrong_secrets_are_refused_and_not_repeated(secret: str) -> None:
    """C-EVENT-21."""
    with pytest.raises(UsageError) as caught:
        subscribe_params("a", {}, "https://x.example/", secret)
    assert not secret or secret not in caught.value.message.replace(webhook.PREFIX + " and", "")


@pytest.mark.parametrize("url", ["http://x.example/", "https://", "x", "ftp://x", "https://me:pw@x.example/"])
def test_callbacks_that_are_not_plain_https(url: str) -> None:
    """C-EVENT-21."""
    with pytest.raises(UsageError):
        subscribe_params("a", {}, url, SECRET)


def test_the_params_of_a_subscription() -> None:
    assert subscribe_params("a", {"b": 1}, "https://x.example/", SECRET, cursor="c", ttl_ms=5) == {
        "name": "a", "arguments": {"b": 1}, "cursor": "c", "ttlMs": 5,
        "delivery": {"mode": "webhook", "url": "https://x.example/", "secret": SECRET},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("before", "seconds"),
    [
        ("2026-11-22T09:00:00Z", 1800.0), (None, 86_400.0), ("2026-11-22T07:00:00Z", 60.0), ("soon", 60.0), (5, 60.0),
        ("2026-11-22T08:00:01Z", 1.0), ("9999-01-01T00:00:00Z", 86_400.0),
    ],
)  # fmt: skip
def test_when_a_subscription_is_refreshed(before: Any, seconds: float) -> None:
    """C-EVENT-22."""
    assert refresh_after(before, datetime(2026, 11, 22, 8, tzinfo=UTC)) == seconds
