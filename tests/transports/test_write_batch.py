"""Messages to a server's stdin: written one by one or together, and while its output is not read."""

import asyncio
import json
import os
from contextlib import suppress

import pytest

from inspector.transports import write_batch
from inspector.transports.base import Outgoing
from inspector.transports.write_batch import GATHER_MOST, WriteBatch
from tests.transports.sinks import RecordingSink


class Sink(RecordingSink):
    """Keeps which records wait for `flush`."""

    def __init__(self):
        super().__init__()
        self.held = []
        self.flushes = 0

    def sent(self, channel, outgoing, *, hold=False):
        self.held.append(hold)
        super().sent(channel, outgoing, hold=hold)

    def flush(self):
        self.flushes += 1


class Output:
    """A server's output: only whether it is being read."""

    is_read = True

    def pause(self):
        self.is_read = False

    def resume(self):
        self.is_read = True


class Stdin:
    """A `WriteBatch` on a pipe, and the pipe's other end."""

    def __init__(self):
        self.fd, write = os.pipe2(os.O_NONBLOCK)
        self.sink = Sink()
        self.output = Output()
        self.batch = WriteBatch(os.fdopen(write, "wb", 0), self.sink, "stdio", self.output)

    def send(self, count=1, size=0):
        for _ in range(count):
            message = {"id": 1, "result": "x" * size}
            self.batch.send(Outgoing(json.dumps(message).encode(), message))

    def lines(self):
        """The lines written since the last call."""
        return os.read(self.fd, 1 << 20).count(b"\n")


@pytest.fixture
async def stdin():
    made = Stdin()
    yield made
    made.batch.pipe.close()
    os.close(made.fd)


async def test_messages_in_a_row_are_written_together_at_the_end_of_the_turn(stdin):
    stdin.send(5)
    assert stdin.sink.held == [False, False, True, True, True]
    assert stdin.lines() == 2
    assert stdin.batch.unread() > 0
    await asyncio.sleep(0)
    assert (stdin.sink.flushes, stdin.lines()) == (1, 3)
    assert stdin.batch.unread() == 0


async def test_no_more_than_a_few_messages_wait_for_the_end_of_the_turn(stdin):
    stdin.send(2 + GATHER_MOST)
    assert stdin.lines() == 2 + GATHER_MOST


@pytest.mark.parametrize(("answers", "held"), [(1, False), (2, True)])
async def test_after_one_answer_the_next_message_is_written_at_once(stdin, answers, held):
    stdin.send(2)
    stdin.batch.received(answers)
    stdin.send()
    assert stdin.sink.held[-1] is held


async def test_messages_that_wait_are_written_before_the_end(stdin):
    stdin.send(4)
    stdin.batch.close()
    assert stdin.lines() == 4
    assert os.read(stdin.fd, 1) == b""


async def test_a_server_that_does_not_read_replies_is_not_read(stdin, monkeypatch):
    monkeypatch.setattr(write_batch, "MAX_REPLIES", 1000)
    stdin.send(size=2 << 20)
    assert not stdin.output.is_read
    async with asyncio.timeout(10):
        while not stdin.output.is_read:
            with suppress(BlockingIOError):
                os.read(stdin.fd, 1 << 20)
            await asyncio.sleep(0)
