"""Servers that fail to start or respond, crash, flood, or respond wrongly: errors name the cause, no process is left."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from cases import CASES

from inspector.check.judge.judge import Judge
from inspector.cli.open_recording import whole_journal
from inspector.client.engine.wire import Wire
from inspector.client.options import Options
from inspector.client.session import Session
from inspector.config.target_arguments import parse_target
from inspector.errors import RequestCancelled
from inspector.journal.format import Dir, Kind
from inspector.journal.index import State
from inspector.journal.journal import Journal
from inspector.transports.pipes import FIRST_READ, MANY_LINES
from inspector.transports.stdio import StdioTransport
from tests.bad_input.conftest import PATIENCE, Run, Running, Serve, is_one_sentence
from tests.processes import left_of

pytestmark = pytest.mark.slow

FLOOD = 20_000


def write(path: Path, text: str, mode: int = 0o755) -> str:
    """A file to be started."""
    path.write_text(text)
    path.chmod(mode)
    return str(path)


@pytest.mark.parametrize("verb", [["tools"], ["info"], ["call", "echo"], ["read", "x://y"], ["request", "ping"]])
def test_a_command_that_does_not_exist(run: Run, verb: list[str]) -> None:
    ran = run(*verb, "--", "no-such-program")
    assert (ran.code, ran.out) == (4, "")
    assert ran.err.startswith(
        "error: The command “no-such-program” was not found.\nhint: Check the spelling. Install it"
    )
    assert is_one_sentence(ran.err)


@pytest.mark.parametrize(
    ("text", "mode", "told"),
    [
        ("print(1)", 0o644, "is not executable"),
        ("#!/no/such/interpreter\n", 0o755, "The interpreter in the first line of"),
        ("\x7fELF garbage", 0o755, "could not be started: exec format error"),
    ],
)
def test_a_file_that_cannot_be_executed(run: Run, tmp_path: Path, text: str, mode: int, told: str) -> None:
    ran = run("tools", "--", write(tmp_path / "server", text, mode))
    assert (ran.code, ran.out) == (4, "")
    assert told in ran.err.splitlines()[0]
    assert is_one_sentence(ran.err)


def test_a_folder_is_no_server(run: Run, tmp_path: Path) -> None:
    ran = run("tools", "--", str(tmp_path))
    assert ran.code == 4
    assert "is a folder" in ran.err
    assert "chmod" not in ran.err


def test_a_folder_that_does_not_exist(run: Run, tmp_path: Path) -> None:
    ran = run("tools", "--cwd", str(tmp_path / "nowhere"), "--", "true")
    assert ran.code == 2
    assert "nowhere" in ran.err


def test_silence_is_told_when_its_time_is_over(run: Run, serve: Serve, recording: Path) -> None:
    ran = run("tools", "--timeout", "0.3", "--record", str(recording), *serve("silent"))
    assert (ran.code, ran.out) == (4, "")
    assert ran.err.startswith("error: No response to initialize within 0.3 s.\nhint: Allow more time with --timeout ")
    with whole_journal(recording) as journal:
        sent = [event.message for event in journal.events() if event.dir is Dir.SEND and event.kind is Kind.RPC]
        (begun,) = [message["id"] for message in sent if message["method"] == "initialize"]
        cancelled = [message["params"]["requestId"] for message in sent if message["method"].endswith("/cancelled")]
        assert begun not in cancelled  # C-LIFE-08


def test_silence_can_be_interrupted(start: Callable[..., Running], serve: Serve, recording: Path) -> None:
    running = start("tools", "--record", str(recording), *serve("silent"))
    while not recording.exists() or b'\\"initialize\\"' not in recording.read_bytes():
        assert running.process.poll() is None
    ran = running.interrupt()
    assert (ran.code, ran.out, ran.err) == (130, "", "")
    with whole_journal(recording) as journal:
        assert journal.ended is not None
        assert journal.ended["reason"] == "interrupted"


def test_last_words_of_a_server_that_is_dead_at_start(run: Run, serve: Serve) -> None:
    ran = run("tools", *serve("dead-at-start"))
    assert (ran.code, ran.out) == (4, "")
    assert ran.err.startswith(
        "error: The server ended with exit code 3.\n"
        "  hostile: reading configuration\n"
        "  hostile: config.json: no such file\n"
        "hint: "
    )
    error = run("tools", "--json", *serve("dead-at-start")).error
    assert (error["code"], error["status"]) == ("exited", 3)


def test_a_server_that_ends_after_the_handshake(run: Run, serve: Serve, recording: Path) -> None:
    ran = run("tools", "--record", str(recording), *serve("exits-after-initialize"))
    assert ran.code == 4
    assert "ended with exit code 4" in ran.err
    with whole_journal(recording) as journal:
        assert any(event.fields.get("event") == "exit" for event in journal.events())


def test_a_server_that_closes_its_input_and_runs_on(run: Run, tmp_path: Path) -> None:
    hello = '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}}'
    ran = run("tools", "--", write(tmp_path / "server", f"#!/bin/sh\nread line; exec <&-; echo '{hello}'; sleep 60\n"))
    assert (ran.code, ran.out) == (4, "")
    assert "\nerror: The server closed its input but still runs.\n" in f"\n{ran.err}"


def test_a_server_that_is_killed(run: Run, tmp_path: Path) -> None:
    ran = run("tools", "--", write(tmp_path / "server", "#!/bin/sh\nkill -SEGV $$\n"))
    assert ran.code == 4
    assert ran.err.startswith("error: The server was ended by SIGSEGV.\n")


def test_a_flood_of_messages_is_kept_whole(run: Run, serve: Serve, recording: Path) -> None:
    server = serve("flood-stdout", "stdio", "--count", str(FLOOD))
    ran = run("call", "echo", "--quiet", "--record", str(recording), *server)
    assert (ran.code, ran.out, ran.err) == (0, "hello\n", "")
    with whole_journal(recording) as journal:
        told = [event.message["params"]["data"] for event in journal.events() if "flood" in event.text]
        assert told == [f"flood {number}" for number in range(1, FLOOD + 1)]


def test_a_flood_over_http_is_kept_whole(run: Run, serve: Serve, recording: Path) -> None:
    server = serve("flood-stdout", "sse", "--count", "5000", apart=True)
    ran = run("call", "echo", "--quiet", "--record", str(recording), *server)
    assert (ran.code, ran.out) == (0, "hello\n")
    with whole_journal(recording) as journal:
        assert sum("flood" in event.text for event in journal.events()) == 5000


def test_a_flood_on_stderr_is_kept_whole_and_not_shown(run: Run, serve: Serve, recording: Path) -> None:
    """C-STDIO-03."""
    server = serve("flood-stderr", "stdio", "--count", str(FLOOD))
    ran = run("call", "echo", "--record", str(recording), *server)
    assert (ran.code, ran.out, ran.err) == (0, "hello\n", "")
    with whole_journal(recording) as journal:
        lines = [event.text for event in journal.events() if event.kind is Kind.STDERR]
        assert lines == [f"hostile: flood line {number}" for number in range(1, FLOOD + 1)]


async def test_the_shortest_lines_without_end_are_taken_in_small_bites() -> None:
    """Else one read of them would hold up everything else for a second."""
    counts: list[int] = []

    class NoListener:
        def on_frame(self, frame: Any) -> None: ...
        def on_failed(self, outgoing: Any, error: Any) -> None: ...
        def on_lost(self, error: Any) -> None: ...

    class Counting(Wire):
        def received(self, channel: str, messages: Sequence[bytes], extra: str = "", *, cut: bool = False) -> bool:
            counts.append(len(messages))
            return super().received(channel, messages, extra, cut=cut)

    journal = Journal.unnamed({})
    transport = StdioTransport(["yes"], Counting(journal, NoListener(), lambda: None))
    await transport.start()
    async with asyncio.timeout(PATIENCE):
        while len(counts) < 5:
            await asyncio.sleep(0)
    await transport.close()
    journal.release()
    assert max(counts) <= max(MANY_LINES, FIRST_READ)
    assert max(counts[1:]) <= MANY_LINES


def test_a_line_without_end_is_given_up_at_the_limit(run: Run, serve: Serve, recording: Path, home: Path) -> None:
    (home / "settings.json").write_text('{"max_body_bytes": 3000000}')
    ran = run("call", "echo", "--record", str(recording), *serve("endless"))
    assert (ran.code, ran.out) == (4, "")
    assert "without a line end" in ran.err
    assert "max_body_bytes" in ran.err
    assert 10_000 < recording.stat().st_size < 3_000_000


async def test_a_late_answer_is_shown_as_late(serve: Serve, recording: Path) -> None:
    target = parse_target(serve("late")[1:], command=True)
    session = Session(target, Journal.create(recording, {}), Options())
    await session.open()
    call = session.call_tool("echo")
    await session.ping()
    call.cancel()
    with pytest.raises(RequestCancelled):
        await call.result()
    async with asyncio.timeout(PATIENCE):
        while not call.outcome.late:
            await asyncio.sleep(0.005)
    await session.close()
    assert session.journal.index.state(call.answer_n) is State.LATE
    session.journal.release()


@pytest.mark.parametrize("form", ["stdio", "json", "sse"])
async def test_answers_in_another_order_reach_their_calls(serve: Serve, recording: Path, form: str) -> None:
    words = serve("out-of-order", form)
    target = parse_target(words[1:] if form == "stdio" else words, command=form == "stdio")
    session = Session(target, Journal.create(recording, {}), Options())
    await session.open()
    first, second = session.call_tool("echo", {"message": "1"}), session.call_tool("echo", {"message": "2"})
    await asyncio.gather(first.result(), second.result())
    await session.close()
    assert session.journal.event(first.answer_n).message["id"] == first.id
    assert session.journal.event(second.answer_n).message["id"] == second.id
    assert form != "stdio" or first.answer_n > second.answer_n
    session.journal.release()


def test_a_cursor_that_repeats_itself_ends_the_list_with_a_word(run: Run, serve: Serve, recording: Path) -> None:
    ran = run("tools", "--record", str(recording), *serve("repeated-cursor"))
    assert ran.code == 0
    assert "repeated a cursor" in ran.err
    with whole_journal(recording) as journal:
        assert [found.rule for found in journal.findings.all()] == ["C-PAG-03"]


def test_a_server_that_will_not_end_is_ended(run: Run, serve: Serve, recording: Path) -> None:
    ran = run("call", "echo", "--record", str(recording), *serve("stubborn"))
    assert (ran.code, ran.out, ran.err) == (0, "hello\n", "")
    with whole_journal(recording) as journal:
        (ended,) = [event.fields for event in journal.events() if event.fields.get("event") == "exit"]
        assert (ended["status"], ended["by"]) == (-9, "us")


@pytest.mark.parametrize("name", ["unknown-id", "answers-twice", "strange-messages"])
def test_unrequested_messages_hide_nothing(run: Run, serve: Serve, recording: Path, name: str) -> None:
    ran = run("call", "echo", "--json", "--record", str(recording), *serve(name))
    assert (ran.code, ran.json["content"][0]["text"]) == (0, "hello")
    with whole_journal(recording) as journal:
        Judge(journal).run_all()
        assert journal.findings.total
        assert all(message in [event.bytes for event in journal.events()] for message in CASES[name].messages(1))


def test_notes_on_what_cannot_be_used_are_few(run: Run, tmp_path: Path) -> None:
    server = write(tmp_path / "server", "#!/bin/sh\nfor n in 1 2 3 4 5 6 7 8 9 10 11 12; do echo line $n; done\n")
    ran = run("tools", "--", server)
    notes = [line for line in ran.err.splitlines() if line.startswith("note: ")]
    assert notes[0] == "note: The server printed “line 1” to stdout, which must contain only messages."
    assert notes[-1] == "note: The recording has more unusable messages."
    assert len(notes) == 6
    assert "note:" not in run("tools", "--quiet", "--", server).err


def test_children_of_a_server_that_has_ended_are_ended_too(run: Run, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    server = write(tmp_path / "server", f"#!/bin/sh\nsleep 600 &\necho $! > {pid}\nexit 3\n")
    ran = run("tools", "--timeout", "0.5", "--", server)
    assert ran.code == 4
    assert left_of(int(pid.read_text())) == []
