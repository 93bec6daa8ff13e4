"""A filter between a transport and the session, or the tap, that uses it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

from inspector.errors import ConnectionProblem, InspectorError
from inspector.journal import channels
from inspector.journal.alterations import ConnectionFilter, Filtered
from inspector.protocol.jsonrpc import NotJson, parse
from inspector.transports.base import Outgoing, Sink, Transport
from inspector.transports.delayed import DelayedMessages

_NO_CHANNEL = "addon"
"""The channel of messages that are not sent over HTTP, where each sent one has a channel of its own."""


def filtered_transport(filter: ConnectionFilter, sink: Sink, make: Callable[[Sink], Transport]) -> Transport:
    """Return the transport that `make` returns for a sink, with the filter between it and `sink`."""
    return cast("Transport", _FilteredTransport(filter, sink, make))


class _FilteredTransport:
    """The transport, for the one who sends. What it does not define is the transport's own."""

    def __init__(self, filter: ConnectionFilter, sink: Sink, make: Callable[[Sink], Transport]) -> None:
        self._filter = filter
        self._sink = sink
        self._late = DelayedMessages()
        self._transport = make(cast("Sink", _FilteredSink(filter, sink, self._late, self._reply)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    async def start(self) -> None:
        await self._transport.start()
        self._filter.opened()

    def send(self, outgoing: Outgoing) -> None:
        if not self._filter.handles_messages:
            self._transport.send(outgoing)
            return
        filtered = self._filter.judge("client", outgoing.data, outgoing.message)
        if filtered.headers:
            outgoing.user_headers = (*outgoing.user_headers, *filtered.headers)
        if filtered.alterations:
            outgoing.alterations = filtered.alterations
            if filtered.data is not outgoing.data:
                _rewrite(outgoing, filtered)
        if filtered.delay:
            self._late.add(filtered.delay, lambda: self._deliver_late(outgoing, filtered))
            return
        self._deliver(outgoing, filtered)
        # Later, as every response: the sender still does what follows the sending.
        asyncio.get_running_loop().call_soon(self._answer, filtered)

    @property
    def _channel(self) -> str:
        return channels.STDIO if self._transport.name in ("stdio", "memory") else _NO_CHANNEL

    def _deliver(self, outgoing: Outgoing, filtered: Filtered) -> None:
        if filtered.passes:
            self._transport.send(outgoing)
        else:
            self._sink.sent(self._channel, outgoing)

    def _deliver_late(self, outgoing: Outgoing, filtered: Filtered) -> None:
        try:
            self._deliver(outgoing, filtered)
        except ConnectionProblem as error:
            self._sink.failed(outgoing, error)
        self._answer(filtered)

    def _answer(self, filtered: Filtered) -> None:
        """Give the session the response to a request that did not pass."""
        if filtered.reply is not None:
            self._sink.filtered(self._channel, filtered.reply, filtered.reply_alterations)

    def _reply(self, filtered: Filtered) -> None:
        """Send the server the response to a request that did not pass."""
        if filtered.reply is not None:
            answer = Outgoing(filtered.reply, parse(filtered.reply), alterations=filtered.reply_alterations)
            try:
                self._transport.send(answer)
            except ConnectionProblem as error:
                self._sink.failed(answer, error)

    async def close(self) -> None:
        self._late.deliver_all()
        self._filter.ended()
        await self._transport.close()


class _FilteredSink:
    """The sink, for the transport. What it does not define is the sink's own."""

    def __init__(
        self, filter: ConnectionFilter, sink: Sink, late: DelayedMessages, reply: Callable[[Filtered], None]
    ) -> None:
        self._filter = filter
        self._sink = sink
        self._late = late
        self._reply = reply

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sink, name)

    def received(self, channel: str, messages: Sequence[bytes], extra: str = "", *, cut: bool = False) -> bool:
        if not self._filter.handles_messages:
            return self._sink.received(channel, messages, extra, cut=cut)
        valid = True
        for at, data in enumerate(messages, 1):
            is_cut = cut and at == len(messages)
            try:
                message = None if is_cut else parse(data)
            except NotJson:
                message = None
            filtered = Filtered(data, None) if message is None else self._filter.judge("server", data, message)
            if not filtered.alterations:
                valid = self._sink.received(channel, [data], extra, cut=is_cut) and valid
            elif filtered.delay:
                self._late.add(filtered.delay, partial(self._deliver, channel, filtered, extra))
            else:
                self._deliver(channel, filtered, extra)
        return valid

    def _deliver(self, channel: str, filtered: Filtered, extra: str) -> None:
        self._sink.filtered(channel, filtered.data, filtered.alterations, extra, passes=filtered.passes)
        self._reply(filtered)

    def lost(self, error: InspectorError) -> None:
        self._late.deliver_all()
        self._sink.lost(error)


def _rewrite(outgoing: Outgoing, filtered: Filtered) -> None:
    """Change a message that is to be sent, and the headers that repeat its values."""
    outgoing.data, outgoing.message = filtered.data, filtered.message
    if outgoing.method and type(filtered.message) is dict:
        outgoing.method = filtered.message["method"]
        params = filtered.message.get("params")
        if outgoing.headers_of is not None:
            outgoing.headers = outgoing.headers_of(outgoing.method, params if type(params) is dict else {})
