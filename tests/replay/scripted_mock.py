"""A mock server without a transport: a recording written by the test, clients that keep what they are sent."""

import asyncio

from inspector.journal.format import Dir
from inspector.journal.journal import Journal
from inspector.protocol import jsonrpc
from inspector.replay.mock.server import Mock, MockOptions
from inspector.serving.base import ClientMessage, RequestHead

PATIENCE = 20


async def until(condition):
    """Wait until something holds."""
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0)


class Written:
    """A recording, message by message; each is `step` microseconds after the one before."""

    def __init__(self, channel="stdio", step=1000):
        self.journal = Journal.unnamed({})
        self.channel = channel
        self.clock = 0
        self.step = step
        self.journal.now = self._now

    def _now(self):
        self.clock += self.step
        return self.clock

    def send(self, message, channel=None):
        raw = message if isinstance(message, bytes) else jsonrpc.encode(message)
        return self.journal.record_sent(channel or self.channel, raw, None if isinstance(message, bytes) else message)

    def receive(self, message, channel=None):
        raw = message if isinstance(message, bytes) else jsonrpc.encode(message)
        self.journal.record_received(channel or self.channel, [raw])
        return len(self.journal)

    def ask(self, id, method, params=None, channel=None):
        return self.send(jsonrpc.request(id, method, params), channel)

    def answer(self, id, value, channel=None):
        return self.receive(jsonrpc.result(id, value), channel)

    def exchange(self, id, method, params, value):
        """A request and its result."""
        return self.ask(id, method, params), self.answer(id, value)

    def notify(self, method, params=None):
        return self.receive(jsonrpc.notification(method, params))

    def head(self, status, kind, channel, **fields):
        headers = [["Content-Type", kind], *([name.replace("_", "-"), value] for name, value in fields.items())]
        return self.journal.record_http(channel, Dir.RECV, status=status, headers=headers)

    def handshake(self, id=0, **result):
        """The opening of the legacy era."""
        result = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "then"}} | result
        self.exchange(id, "initialize", {"protocolVersion": "2025-11-25"}, result)
        self.send(jsonrpc.notification("notifications/initialized"))


class KeptReply:
    """A reply that keeps everything it is given."""

    def __init__(self, client, channel="stdio"):
        self.client = client
        self.channel = channel
        self.begun = None
        self.sent = []
        self.ended = False
        self.cuts = []

    @property
    def open(self):
        return not self.ended and not self.cuts

    def begin(self, form, status=200, fields=()):
        self.begun = self.begun or (form, status)

    def send(self, data):
        self.sent.append(data)
        self.client.all.append(data)

    def end(self):
        self.ended = True

    def cut(self, data=b"", retry=None):
        self.cuts.append((data, retry))

    async def drain(self):
        await asyncio.sleep(0)

    @property
    def messages(self):
        return [jsonrpc.parse(raw) for raw in self.sent]


class KeptClient:
    """A client of a mock server, in this process."""

    def __init__(self, mock, transport="stdio"):
        self.transport = transport
        self.session = "" if transport == "stdio" else "a-session"
        self.channel = "stdio" if transport == "stdio" else "get-1"
        self.all = []
        self.pushed = []
        self.dropped = False
        self._posts = 0
        self.handler = mock.opens(self)

    def push(self, data):
        self.pushed.append(data)
        self.all.append(data)

    def drop(self):
        self.dropped = True

    async def drain(self):
        await asyncio.sleep(0)

    def say(self, message, **fields):
        """Send a message (or bytes); the reply to it."""
        data = message if isinstance(message, bytes) else jsonrpc.encode(message)
        self._posts += 1
        over_http = self.transport == "http"
        reply = KeptReply(self, f"post-{self._posts}" if over_http else "stdio")
        pairs = [(name.replace("_", "-"), value) for name, value in fields.items()]
        self.handler.received(
            ClientMessage.read(data, head=RequestHead("POST", "/mcp", pairs) if over_http else None), reply
        )
        return reply

    def ask(self, id, method, params=None, **fields):
        return self.say(jsonrpc.request(id, method, params), **fields)

    async def call(self, method, params=None, id=None, **fields):
        """Ask, and wait for the answer."""
        id = f"call-{self._posts}" if id is None else id
        reply = self.ask(id, method, params, **fields)
        await until(lambda: reply.ended or reply.cuts)
        return reply.messages[-1] if reply.sent else None

    @property
    def messages(self):
        return [jsonrpc.parse(raw) for raw in self.all]

    @property
    def methods(self):
        """The messages by method; responses by their id."""
        return [message.get("method") or message.get("id") for message in self.messages]


class Slept:
    """A `sleep` that returns immediately and records the seconds."""

    def __init__(self):
        self.seconds = []

    async def __call__(self, seconds):
        self.seconds.append(round(seconds, 6))
        await asyncio.sleep(0)


async def mocked(written, **options):
    """A mock of a written recording that does not sleep."""
    extra = {name: options.pop(name) for name in ("new_journal", "on_stderr", "upstream", "filter") if name in options}
    mock = Mock(written.journal, MockOptions(**options), sleep=Slept(), **extra)
    await mock.load()
    return mock
