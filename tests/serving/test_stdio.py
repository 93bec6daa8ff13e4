"""Our own stdin and stdout: complete lines in order, only messages on stdout, and each way to end."""

import asyncio
import json
import os
import subprocess
import sys
import threading
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.protocol.jsonrpc import Shape
from inspector.serving.line_splitter import LineBuffer
from tests.processes import ROOT
from tests.serving.scripted_handler import PATIENCE, Stdio, until


@pytest.fixture
async def stdio():
    made = []

    def make(**how):
        made.append(Stdio(**how))
        return made[-1]

    yield make
    for end in made:
        await end.aclose()


def test_lines_are_put_together_of_what_single_reads_bring():
    lines = LineBuffer()
    assert lines.feed(b"a") == []
    assert lines.feed(b"b") == []
    assert lines.held == 2
    assert lines.feed(b"c\nd\n\ne") == [b"abc", b"d", b""]
    assert lines.held == 1
    assert lines.rest() == b"e"
    assert (lines.rest(), lines.held) == (b"", 0)


@given(st.binary(max_size=60), st.lists(st.integers(0, 60), max_size=8))
def test_lines_do_not_depend_on_how_they_are_read(data, cuts):
    lines = LineBuffer()
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    complete = [line for start, end in pairwise(edges) for line in lines.feed(data[start:end])]
    assert [*complete, lines.rest()] == data.split(b"\n")


async def test_messages_arrive_and_answers_go_out_in_their_order(stdio):
    end = stdio()
    await end.write(b'{"id":1,"method":"json","params":[1]}\n\n  \n{"method":"n"}\r\n')
    await end.write(b'{"id":2,"method":"stream","params":{"count":2}}\n')
    await until(lambda: len(end.handler.arrived) == 3)
    end.hang_up()
    assert await end.running == "end"
    assert [arrived.shape for arrived in end.handler.arrived] == [Shape.REQUEST, Shape.NOTIFICATION, Shape.REQUEST]
    answers = [json.loads(line) for line in (await end.read()).splitlines()]
    assert [answer.get("id") for answer in answers] == [1, None, None, 2]
    assert end.handler.gone is False


async def test_half_a_line_at_the_end_is_handed_on_as_what_it_is(stdio):
    end = stdio()
    await end.write(b'garbage\n{"id":1,"met')
    end.hang_up()
    assert await end.running == "end"
    garbage, half = end.handler.arrived
    assert (garbage.shape, garbage.cut, bool(garbage.reason)) == (Shape.NONE, False, True)
    assert (half.data, half.message, half.cut) == (b'{"id":1,"met', None, True)


@pytest.mark.slow
async def test_a_line_of_50_megabytes_is_one_message(stdio):
    end = stdio()
    big = b'{"id":1,"method":"n","params":"' + b"x" * (50 << 20) + b'"}'
    await end.write(big + b"\n")
    await until(lambda: end.handler.arrived)
    assert len(end.handler.arrived[0].data) == len(big)
    assert end.handler.arrived[0].shape is Shape.REQUEST


async def test_a_large_answer_waits_for_a_client_that_reads_slowly(stdio):
    end = stdio()
    end.end.push(b"x" * (8 << 20))
    draining = asyncio.ensure_future(end.end.drain())
    await asyncio.sleep(0)
    assert not draining.done()
    got = 0
    while got < (8 << 20) + 1:
        got += len(await end.read())
    await draining
    assert got == (8 << 20) + 1


async def test_draining_waits_until_the_client_has_read(stdio, monkeypatch):
    monkeypatch.setattr("inspector.serving.standard_streams.TAKEN_WITHIN", PATIENCE)
    end = stdio()
    end.end.push(b"{}")
    draining = asyncio.ensure_future(end.end.drain())
    for _ in range(5):
        await asyncio.sleep(0)
    assert not draining.done()
    await end.read()
    await draining


async def test_line_ends_inside_a_message_do_not_end_it(stdio):
    end = stdio()
    end.end.push(b'{\r\n "id": 1\n}')
    assert await end.read() == b'{   "id": 1 }\n'


@pytest.mark.slow
async def test_who_asks_without_reading_is_not_listened_to(stdio):
    end = stdio()
    asking, paused, pause = threading.Event(), threading.Event(), end.end._in.pause
    end.end._in.pause = lambda: (pause(), paused.set())

    def ask_on():
        line = b'{"id":1,"method":"json","params":"' + b"y" * (1 << 20) + b'"}\n'
        for _ in range(60):
            end._write(line)
        asking.set()

    thread = threading.Thread(target=ask_on)
    thread.start()
    await until(paused.is_set)
    assert not asking.is_set()
    while not asking.is_set():
        await end.read(1 << 22)
    end.hang_up()
    await end.read_to_end()
    thread.join()
    assert await end.running == "end"
    assert len(end.handler.arrived) == 60


async def test_a_client_that_takes_nothing_is_given_up_at_the_limit(stdio):
    end = stdio(unsent=1 << 20)
    for _ in range(4):
        end.end.push(b"z" * (1 << 19))
    assert await end.running == "broken"
    assert end.handler.gone is True
    assert not end.end.open


async def test_a_line_that_does_not_end_is_given_up_at_the_limit(stdio):
    end = stdio(limit=1000)
    await end.write(b"x" * 5000)
    assert await end.running == "too-long"
    (arrived,) = end.handler.arrived
    assert arrived.cut
    assert arrived.data.startswith(b"xxx")


async def test_a_client_that_is_gone_is_noticed_at_the_next_word(stdio):
    end = stdio()
    os.close(end.read_fd)
    end.read_fd = -1
    end.end.push(b"{}")
    assert await end.running == "broken"
    end.end.push(b"{}")


async def test_being_told_to_stop_ends_at_once(stdio):
    end = stdio()
    end.stop.set()
    assert await end.running == "stopped"
    assert end.handler.gone is True


async def test_a_reply_that_is_cut_ends_everything_after_its_beginning(stdio):
    end = stdio()
    await end.write(b'{"id":1,"method":"later"}\n')
    await until(lambda: end.handler.replies)
    (reply,) = end.handler.replies
    assert reply.open
    reply.cut(b'{"id":1,')
    assert await end.running == "dropped"
    assert await end.read_to_end() == b'{"id":1,'
    assert not reply.open


async def test_what_was_asked_may_be_answered_after_the_end_of_stdin(stdio):
    end = stdio()

    async def close(*, gone):
        end.handler.replies[0].send(b"the answer")

    end.handler.close = close
    await end.write(b'{"id":1,"method":"later"}\n')
    await until(lambda: end.handler.replies)
    end.hang_up()
    await end.running
    assert await end.read() == b"the answer\n"


PRINTS = """
import asyncio, os, sys
from inspector.serving.stdio import StdioServer

class Prints:
    def __init__(self, client): self.client = client
    def received(self, arrived, reply):
        print("printed", flush=True)
        os.write(1, b"written\\n")
        reply.send(b"answer")
    def left(self, reply): ...
    async def close(self, *, gone): ...

async def main(): print(await StdioServer(Prints).run(), flush=True)
asyncio.run(main())
"""


def run_prints(stdin, stdout=subprocess.PIPE):
    words = [sys.executable, "-c", PRINTS]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(words, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, timeout=60, env=env, check=True)


@pytest.mark.slow
def test_files_can_stand_for_pipes_and_nothing_else_reaches_stdout(tmp_path):
    asked, answered = tmp_path / "asked", tmp_path / "answered"
    asked.write_bytes(b'{"id":1,"method":"x"}\n' * 2)
    with asked.open("rb") as stdin, answered.open("wb") as stdout:
        ran = run_prints(stdin, stdout)
    assert answered.read_bytes() == b"answer\nanswer\n"
    assert ran.stderr.decode().split() == ["printed", "written"] * 2 + ["end"]


@pytest.mark.slow
def test_a_pipe_is_given_back_as_it_was():
    reading, writing = os.pipe()
    os.write(writing, b'{"id":1,"method":"x"}\n')
    os.close(writing)
    assert run_prints(reading).stdout == b"answer\n"
    assert os.get_blocking(reading)
    os.close(reading)
