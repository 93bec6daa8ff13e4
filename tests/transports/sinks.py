"""A sink for tests of transports: a real journal behind it, and a future for each request."""

import asyncio

from inspector.errors import InspectorError
from inspector.journal.format import Kind
from inspector.journal.journal import Journal
from inspector.protocol import jsonrpc
from inspector.protocol.jsonrpc import Shape
from inspector.transports.base import Outgoing


class RecordingSink:
    """Records as the session does, and keeps the frames and failures for the test."""

    def __init__(self):
        self.journal = Journal.unnamed({})
        self.frames = []
        self.batches = []
        self.failures = []
        self.losses = []
        self.asked = []
        self.on_frame = None
        self._answers = {}

    def received(self, channel, messages, extra="", *, cut=False):
        self.batches.append((channel, list(messages), extra, cut))
        invalid = self.journal.index.invalid
        for frame in self.journal.record_received(channel, messages, extra, cut=cut):
            self.frames.append(frame)
            if self.on_frame is not None:
                self.on_frame(frame)
            for item in frame.message if frame.shape is Shape.BATCH else [frame.message]:
                if jsonrpc.shape_of(item) in (Shape.RESULT, Shape.ERROR):
                    future = self._answers.get(item.get("id"))
                    if future is not None and not future.done():
                        future.set_result(item)
        return self.journal.index.invalid == invalid

    def sent(self, channel, outgoing, *, hold=False):
        outgoing.n = self.journal.record_sent(channel, outgoing.data, outgoing.message, hold=hold)

    def stderr(self, lines):
        return self.journal.record_stderr("stderr", lines)

    def life(self, channel, event, **fields):
        return self.journal.record_life(channel, event, **fields)

    def http(self, channel, dir, **fields):
        return self.journal.record_http(channel, dir, **fields)

    def sse(self, channel, text, **fields):
        return self.journal.record_sse(channel, text, **fields)

    def auth(self, step, ok, text, **facts):
        return self.journal.record_auth(step, ok, text, **facts)

    def asking(self, begun):
        self.asked.append(begun)

    def failed(self, request, error):
        self.failures.append((request, error))
        future = self._answers.get(request.id)
        if future is not None and not future.done():
            future.set_exception(error)

    def lost(self, error):
        assert not self.losses, "said twice"
        self.losses.append(error)
        for future in self._answers.values():
            if not future.done():
                future.set_exception(error)

    def secret(self, value):
        self.journal.redactor.add(value)

    # For tests

    def expect(self, id):
        """A future for the answer to request `id`, before it is sent."""
        future = self._answers[id] = asyncio.get_running_loop().create_future()
        future.add_done_callback(lambda done: done.cancelled() or done.exception())
        return future

    async def until(self, condition):
        """Wait until something is true."""
        async with asyncio.timeout(60):
            while not condition():
                await asyncio.sleep(0.002)

    def events(self, kind=None, channel=None):
        """Recorded events, oldest first."""
        return [
            event
            for event in self.journal.events()
            if (kind is None or event.kind == kind) and (channel is None or event.ch == channel)
        ]

    def lives(self, name):
        """The `life` events of that name."""
        return [event for event in self.events(Kind.LIFE) if event.fields["event"] == name]

    def text(self):
        """The whole recording."""
        return self.journal.storage.pread(0, self.journal.storage.size).decode()


class Peer:
    """A transport with a recording sink: the test does what a session does."""

    def __init__(self, make):
        self.sink = RecordingSink()
        self.transport = make(self.sink)
        self._next = 0

    def post(self, message, *, headers=()):
        """Send any message; returns its `Outgoing`."""
        shape = jsonrpc.shape_of(message)
        id = message["id"] if shape is Shape.REQUEST else None
        outgoing = Outgoing(jsonrpc.encode(message), message, id, message.get("method", ""), headers)
        self.transport.send(outgoing)
        return outgoing

    def request(self, method, params=None, *, id=None, headers=()):
        """Send a request; returns a future for the response object."""
        if id is None:
            self._next += 1
            id = self._next
        future = self.sink.expect(id)
        self.post(jsonrpc.request(id, method, params), headers=headers)
        return future

    def notify(self, method, params=None):
        """Send a notification."""
        return self.post(jsonrpc.notification(method, params))

    async def call(self, method, params=None, **how):
        """Send a request and wait for the response object."""
        async with asyncio.timeout(60):
            return await self.request(method, params, **how)

    async def error(self, method="tools/list", params=None, **how):
        """Send a request that must fail; returns the error."""
        try:
            answer = await self.call(method, params, **how)
        except InspectorError as error:
            return error
        raise AssertionError(f"answered: {answer}")
