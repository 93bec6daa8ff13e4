"""A server's side of webhooks, as SEP-3415 describes it, behind a tunnel.

Whatever URL it is given, it delivers to one local port.
"""

import base64
import hashlib
import hmac
import http.client
import json
import threading
import time
from contextlib import suppress
from urllib.parse import urlsplit

EVENT = {"eventId": "order-1", "name": "order.placed", "timestamp": "2026-11-22T08:00:00Z", "data": {"order": 1}}


def deliver(port, url, secret, id, body, *, method="POST", at=None, certificate=None, **headers):
    """One delivery; headers with `_` for `-` change or (None) take away. Returns the status and the body."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    stamp = str(int(time.time() if at is None else at))
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signature = hmac.digest(key, f"{id}.{stamp}.".encode() + raw, hashlib.sha256)
    fields = {
        "Content-Type": "application/json", "webhook-id": id, "webhook-timestamp": stamp,
        "webhook-signature": "v1," + base64.b64encode(signature).decode(), "X-MCP-Subscription-Id": "sub_1",
    } | {name.replace("_", "-"): value for name, value in headers.items()}  # fmt: skip
    if certificate is None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    else:
        import ssl

        connection = http.client.HTTPSConnection(
            "localhost", port, timeout=5, context=ssl.create_default_context(cafile=certificate)
        )
    parts = urlsplit(url)
    try:
        connection.request(
            method, (parts.path or "/") + (f"?{parts.query}" if parts.query else ""), raw,
            {"Host": parts.netloc} | {name: value for name, value in fields.items() if value is not None},
        )  # fmt: skip
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.getheader("Location")
    finally:
        connection.close()


class Hooks:
    """Subscriptions by webhook, delivered to `port`. Each keyword plants one fault."""

    def __init__(self, port, **faults):
        self.port = port
        self.faults = faults
        self.subscribed = set()
        self.delivering = []

    def subscribe(self, params):
        """The result of events/subscribe, or an error code."""
        delivery = params["delivery"]
        url = delivery["url"]
        if "127.0.0.1" in url and not self.faults.get("takes_private"):
            return -32602
        key = json.dumps([params["name"], params["arguments"], url])
        if key not in self.subscribed:
            if self.faults.get("challenges", True) and "127.0.0.1" not in url:
                body = {"type": "verification", "challenge": "c-1"}
                status, answer, _ = self.send(delivery, "ver-1", body)
                if status != 200 or json.loads(answer) != {"challenge": "c-1"}:
                    return -32027
            self.subscribed.add(key)
            if self.faults.get("delivers", True):
                thread = threading.Thread(target=self.deliver, args=(delivery,), daemon=True)
                self.delivering.append(thread)
                thread.start()
        id = f"sub_{len(self.delivering)}{time.monotonic_ns()}" if self.faults.get("new_ids") else "sub_1"
        until = None if self.faults.get("for_ever") else "2036-11-22T09:00:00Z"
        return {"resultType": "complete", "id": id, "refreshBefore": until, "cursor": "c1", "truncated": False}

    def unsubscribe(self, params):
        """The result of events/unsubscribe, or an error code."""
        key = json.dumps([params["name"], params["arguments"], params["delivery"]["url"]])
        if key in self.subscribed or self.faults.get("forgets"):
            self.subscribed.discard(key)
            return {"resultType": "complete"} | self.faults.get("removed", {})
        return -32023

    def send(self, delivery, id, body):
        return deliver(self.port, delivery["url"], delivery["secret"], id, body, **self.faults.get("sends", {}))

    def deliver(self, delivery):
        """The event; once more after a failure. The receiver may be gone by then."""
        with suppress(OSError, http.client.HTTPException):
            for _ in range(2):
                status, _, location = self.send(delivery, "order-1", EVENT)
                if status == 307 and self.faults.get("follows"):
                    self.send(delivery | {"url": location}, "order-1", EVENT)
                if status == 200:
                    return
