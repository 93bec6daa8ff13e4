"""Pipes and files on the event loop of this system."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.system.files import open_file
from inspector.system.streams import StandardStream, Writer, open_reader

PATIENCE = 60


async def until(so: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not so():
            await asyncio.sleep(0.001)


async def test_a_pipe_is_read_to_its_end() -> None:
    blocks: list[bytes] = []
    end, other = os.pipe()
    reader = open_reader(end, blocks.append)
    os.write(other, b"not read yet")
    await asyncio.sleep(0.01)
    assert blocks == []
    reader.resume()
    await until(lambda: blocks)
    os.write(other, b"more")
    await until(lambda: len(blocks) > 1)
    os.close(other)
    await until(lambda: not reader.open)
    assert blocks == [b"not read yet", b"more", b""]
    reader.close()


async def test_a_paused_pipe_is_not_read_but_drained() -> None:
    blocks: list[bytes] = []
    end, other = os.pipe()
    reader = open_reader(end, blocks.append, 4)
    reader.resume()
    os.write(other, b"1")
    await until(lambda: blocks)
    reader.pause()
    os.write(other, b"23456789")
    await asyncio.sleep(0.01)
    assert blocks == [b"1"]
    os.close(other)
    reader.drain(asyncio.get_running_loop().time() + PATIENCE)
    assert b"".join(blocks) == b"123456789"
    assert not reader.open


async def test_a_file_is_read_like_a_pipe(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 1000)
    blocks: list[bytes] = []
    reader = open_reader(open_file(tmp_path / "a", os.O_RDONLY), blocks.append, 300)
    reader.resume()
    await until(lambda: not reader.open)
    assert [len(block) for block in blocks] == [300, 300, 300, 100, 0]


async def test_everything_is_written_in_order_before_the_end() -> None:
    end, other = os.pipe()
    wrote: list[int] = []
    writer = Writer(other, lambda: wrote.append(writer.queued), lambda: None)
    parts = [bytes([65 + n]) * 100_000 for n in range(20)]
    for part in parts:
        writer.write(part)
    assert writer.queued > 0
    writer.close(after_queue=True)
    blocks: list[bytes] = []
    reader = open_reader(end, blocks.append)
    reader.resume()
    await until(lambda: not reader.open)
    assert b"".join(blocks) == b"".join(parts)
    await until(lambda: not writer.open)
    assert wrote[-1] == 0
    assert writer.queued == 0
    writer.write(b"dropped")


async def test_a_reader_that_is_gone_is_reported_once() -> None:
    end, other = os.pipe()
    broken: list[str] = []
    writer = Writer(other, lambda: None, lambda: broken.append("broken"))
    os.close(end)
    for _ in range(3):
        writer.write(b"x")
        await asyncio.sleep(0.02)
    await until(lambda: broken)
    assert broken == ["broken"]
    assert not writer.open


@pytest.mark.parametrize("number", [1000, 1001])
def test_a_standard_stream_that_is_missing_leads_nowhere(number: int) -> None:
    stream = StandardStream(number)
    descriptor = stream.copy()
    assert os.read(descriptor, 10) == b""
    assert os.write(descriptor, b"lost") == 4
    os.close(descriptor)
    stream.close()
    stream.close()
