"""One process at a time: turns that are taken, waited for, given, and lost with the process."""

from __future__ import annotations

import asyncio
import stat
import sys
from pathlib import Path

import pytest

from inspector.auth.runner import Lock


async def test_a_turn_is_taken_by_one_and_waited_for_by_the_other(tmp_path: Path) -> None:
    one, other = Lock(tmp_path / "a" / "x.lock"), Lock(tmp_path / "a" / "x.lock")
    assert await one.acquire()
    assert await one.acquire(), "it is theirs already"
    waiting = asyncio.ensure_future(other.acquire())
    assert not await Lock(tmp_path / "a" / "x.lock").acquire(0), "another owner holds it"
    assert not waiting.done()
    one.release()
    one.release()
    assert await waiting
    other.release()
    assert await one.acquire(0)
    one.release()
    status = (tmp_path / "a" / "x.lock").stat()
    assert (stat.S_IMODE(status.st_mode), status.st_size) == (0o600, 0)


async def test_turns_of_different_logins_have_nothing_to_do_with_each_other(tmp_path: Path) -> None:
    one, other = Lock(tmp_path / "x.lock"), Lock(tmp_path / "y.lock")
    assert await one.acquire(0)
    assert await other.acquire(0)
    one.release()
    other.release()


async def test_a_waiter_that_gave_up_holds_no_lock(tmp_path: Path) -> None:
    one, other = Lock(tmp_path / "x.lock"), Lock(tmp_path / "x.lock")
    await one.acquire()
    waiting = asyncio.ensure_future(other.acquire())
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    one.release()
    assert await one.acquire(0)
    one.release()


@pytest.mark.slow
async def test_a_process_that_dies_gives_its_turn_away(tmp_path: Path) -> None:
    program = (
        "import asyncio, sys; from pathlib import Path; from inspector.auth.runner import Lock\n"
        "lock = Lock(Path(sys.argv[1])); asyncio.run(lock.acquire()); print('taken', flush=True); sys.stdin.read()"
    )
    lock = Lock(tmp_path / "x.lock")
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, str(tmp_path / "x.lock"),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    assert await process.stdout.readline() == b"taken\n"
    assert not await lock.acquire(0)
    process.kill()
    await process.wait()
    assert await lock.acquire()
    lock.release()


async def test_where_nothing_can_be_locked_it_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert not await Lock(tmp_path / "file" / "x.lock").acquire()
