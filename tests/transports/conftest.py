"""Fixtures: scripted HTTP servers and peers that talk to them, all closed at the end."""

import contextlib

import pytest

from inspector.transports.base import HttpOptions
from inspector.transports.http import HttpTransport
from tests.transports.scripted_http import Web
from tests.transports.sinks import Peer


@pytest.fixture
async def serve():
    """`await serve(handler)` starts a scripted server."""
    async with contextlib.AsyncExitStack() as stack:

        async def start(handler, **how):
            return await stack.enter_async_context(Web(handler, **how))

        yield start


@pytest.fixture
async def peer():
    """`await peer(url, **options)` connects with a started HTTP transport."""
    made = []

    async def connect(url, **options):
        client = Peer(lambda sink: HttpTransport(url, sink, HttpOptions(**options)))
        made.append(client)
        await client.transport.start()
        return client

    yield connect
    for client in made:
        await client.transport.close()
        client.sink.journal.release()
