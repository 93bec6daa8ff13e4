"""The standing stream: a GET on which the server sends messages outside of requests (C-HTTP-14, C-HTTP-19)."""

from __future__ import annotations

import asyncio
from typing import Any

from inspector.errors import HttpError, LimitReached
from inspector.text import safe
from inspector.transports.http_body import ReadGate
from inspector.transports.http_requests import RESUME_FIELD, SMALL_BODY, STREAM_TYPE, Requester
from inspector.transports.http_stream import STANDING, EventStream

LASTED = 5.0
"""Seconds after which a stream counts as successful, even without events."""


class StandingStream:
    """Keeps a standing stream open as long as the session lives. Its end is never an error of the session.

    Reading pauses while the gate is crowded.
    """

    def __init__(self, requester: Requester, channel: str, gate: ReadGate, *, resumable: bool) -> None:
        self._requester = requester
        self._sink = requester.sink
        self._gate = gate
        self.channel = channel
        self.open = False
        """Whether the server has a standing stream open now."""
        self._resumable = resumable
        self._stream = EventStream(requester.sink, channel, requester.url.address, requester.options.longest)

    async def run(self) -> None:
        """Open the stream, again whenever it ends, until the server refuses it."""
        attempt = 0
        loop = asyncio.get_running_loop()
        while True:
            before, began = self._stream.news, loop.time()
            reason: dict[str, Any] = {}
            try:
                if not await self._listen():
                    return
            except HttpError as error:
                reason = {"error": error.message}
                if error.status is not None:  # a redirect that is not followed; more attempts would end the same way
                    self._life("not-listening", status=error.status, **reason)
                    return
            except LimitReached as error:
                reason = {"error": error.message}
            finally:
                self.open = False
                self._stream.end()
            worked = self._stream.news > before or loop.time() - began > LASTED
            attempt = 0 if worked else attempt + 1
            wait = self._stream.pause(attempt, STANDING)
            self._life("stream-end", events=self._stream.events, wait_ms=round(wait * 1000), **reason)
            await asyncio.sleep(wait)
            self._life("reconnect", attempt=attempt + 1, after=self._after() or None)

    async def _listen(self) -> bool:
        """Send one GET and read it to its end. False: the server offers no standing stream."""
        after = self._after()
        wanted = [(RESUME_FIELD, after)] if after else []
        fields = self._requester.fields(STREAM_TYPE, wanted=wanted)
        answer = await self._requester.open(self.channel, "GET", fields, lasting=True)
        if answer.status == 200 and answer.media_type == STREAM_TYPE:
            self.open = True
            self._life("listening")
            await answer.pump(self._stream.feed, self._gate)
            return True
        body, _ = await answer.body(SMALL_BODY)
        again = answer.status >= 500 or answer.status == 429
        said = {"body": safe(body.decode("utf-8", "replace"), 1000)} if body else {}
        self._life("listen-failed" if again else "not-listening", status=answer.status, **said)
        return again

    def _after(self) -> str:
        return self._stream.resume_id if self._resumable else ""

    def _life(self, event: str, **fields: Any) -> None:
        self._sink.life(self.channel, event, **fields)
