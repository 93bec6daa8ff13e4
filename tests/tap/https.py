"""A tap on HTTP in this process, between raw sockets: a scripted server, and clients."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable

from inspector.config.targets import HttpTarget
from inspector.journal.format import Dir, Kind
from inspector.journal.journal import Journal
from inspector.tap.http import HttpTap

PATIENCE = 20
Serve = Callable[["Connection"], Awaitable[None]]


async def until(condition: Callable[[], object]) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.002)


class Connection:
    """One end of a socket."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self.seen = b""
        """Everything that has been read."""

    async def head(self) -> bytes:
        """Read to the end of a head."""
        return self._saw(await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), PATIENCE))

    async def exactly(self, size: int) -> bytes:
        """Read so many bytes."""
        return self._saw(await asyncio.wait_for(self.reader.readexactly(size), PATIENCE))

    async def rest(self) -> bytes:
        """Read to the end."""
        return self._saw(await asyncio.wait_for(self.reader.read(), PATIENCE))

    def _saw(self, data: bytes) -> bytes:
        self.seen += data
        return data

    def write(self, data: bytes) -> None:
        """Write."""
        self.writer.write(data)

    async def request(self) -> bytes:
        """Read one request with a Content-Length, or none; its body."""
        head = (await self.head()).lower()
        _, there, after = head.partition(b"content-length:")
        return await self.exactly(int(after.split(b"\r\n")[0])) if there else b""


class Upstream:
    """The server behind the tap. `connections` has every connection."""

    def __init__(self, serve: Serve, tls: ssl.SSLContext | None = None) -> None:
        self._serve = serve
        self.tls = tls
        self.connections: list[Connection] = []
        self.port = 0
        self.ended = 0

    async def start(self) -> None:
        """Listen."""
        self._server = await asyncio.start_server(self._accepted, "127.0.0.1", 0, ssl=self.tls)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = Connection(reader, writer)
        self.connections.append(connection)
        try:
            await self._serve(connection)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
            self.ended += 1

    async def stop(self) -> None:
        """Stop listening."""
        self._server.close()


class Stage:
    """An upstream, a tap on it, and what it has recorded."""

    def __init__(
        self, upstream: Upstream, *, port: int | None = None, host: str = "127.0.0.1", **target: object
    ) -> None:
        where = port if port is not None else upstream.port
        self.upstream = upstream
        scheme = "https" if upstream.tls is not None else "http"
        self.target = HttpTarget(f"{scheme}://127.0.0.1:{where}/mcp", **target)  # type: ignore[arg-type]
        self.journal = Journal.unnamed({})
        self.tap = HttpTap(self.target, self.journal)
        self.clients: list[Connection] = []

    @property
    def host(self) -> bytes:
        """The tap's name for a client."""
        return b"127.0.0.1:%d" % self.tap.port

    @property
    def server_host(self) -> bytes:
        """The server's name."""
        return b"127.0.0.1:%d" % self.upstream.port

    async def client(self) -> Connection:
        """Connect to the tap."""
        client = Connection(*await asyncio.open_connection("127.0.0.1", self.tap.port, limit=1 << 26))
        self.clients.append(client)
        return client

    def post(self, body: bytes, *fields: bytes) -> bytes:
        """A request as a client writes it."""
        lines = [b"POST /mcp HTTP/1.1", b"Host: " + self.host, b"Content-Length: %d" % len(body), *fields]
        return b"\r\n".join(lines) + b"\r\n\r\n" + body

    def passed(self, data: bytes) -> bytes:
        """The request that the server should receive."""
        return data.replace(b"Host: " + self.host, b"Host: " + self.server_host)

    def _bytes(self, dir: Dir) -> list[bytes]:
        index = self.journal.index
        numbers = [n for n in range(1, len(self.journal) + 1) if index.kind(n) in (Kind.RPC, Kind.INVALID)]
        return [self.journal.event(n).bytes for n in numbers if index.dir(n) == dir]

    @property
    def sent(self) -> list[bytes]:
        """The messages of clients that were recorded."""
        return self._bytes(Dir.SEND)

    @property
    def received(self) -> list[bytes]:
        """The messages of the server that were recorded."""
        return self._bytes(Dir.RECV)

    def _fields(self, kind: Kind) -> list[dict[str, object]]:
        index = self.journal.index
        return [self.journal.event(n).fields for n in range(1, len(self.journal) + 1) if index.kind(n) == kind]

    @property
    def notes(self) -> str:
        """All notes."""
        return "\n".join(str(fields["text"]) for fields in self._fields(Kind.NOTE))

    @property
    def statuses(self) -> list[object]:
        """The statuses of the responses that were recorded."""
        return [fields["status"] for fields in self._fields(Kind.HTTP) if "status" in fields]

    def whole(self) -> bytes:
        """The recording, as it is in its file."""
        storage = self.journal.storage
        return storage.pread(0, storage.size)

    async def close(self) -> None:
        """Close everything."""
        for client in self.clients:
            client.writer.close()
        await self.tap.close()
        await self.upstream.stop()
        self.journal.close()
        self.journal.release()
