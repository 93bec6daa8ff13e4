"""A tap between a client and a command, as processes: bytes, ends, signals, exit codes."""

import signal
import subprocess

import pytest

from tests.processes import INSPECTOR, environment, left_of, run
from tests.servers.cases import CASES
from tests.tap.running_tap import IMPATIENT, Recorded, Tapped, python

pytestmark = pytest.mark.slow

CALL = b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}\n'
ANSWER = b'{"jsonrpc":"2.0","id":1,"result":{}}\n'
HOSTILE = b"".join(case.sent(1, "stdio") for case in CASES.values() if case.name != "huge") + (
    b"Server 1.0 listening ...\n" + CALL + b"\xff\xfe\x00\n\n\r\n" + b'{"jsonrpc":"2.0","id":2,"result":{}}\r\n'
    b"[1,2]\n\x1b[2J\x00\n" + b"x" * 3_000_000 + b"\nhalf a li"
)


def test_bytes_and_stderr_are_those_without_the_tap_and_all_is_recorded(tmp_path):
    tap = Tapped(tmp_path, ["tee", "/dev/stderr"])
    code, out, err = tap.talk(HOSTILE)
    assert (code, out == HOSTILE, err == HOSTILE) == (0, True, True)
    recorded = tap.recorded()
    lines = HOSTILE.split(b"\n")
    assert [line for line in recorded.sent if line] == [line for line in lines if line]
    assert [line for line in recorded.received if line] == [line for line in lines if line]
    assert recorded.complaints


def test_a_line_of_fifty_megabytes_passes_whole(tmp_path):
    size = 50 << 20
    answer = f'import os, sys\nsys.stdin.readline()\ndata = b"\\"" + b"a" * {size} + b"\\"\\n"\n'
    tap = Tapped(tmp_path, python(answer + "while data:\n    data = data[os.write(1, data):]"))
    code, out, _ = tap.talk(CALL)
    assert (code, len(out)) == (0, size + 3)
    assert out.count(b"a") == size
    assert [len(line) for line in tap.recorded().received] == [size + 2]


def test_a_first_half_of_a_line_passes_before_there_is_a_second(tmp_path):
    tap = Tapped(tmp_path, ["cat"])
    tap.stdin.write(CALL[:20])
    tap.stdin.flush()
    assert tap.stdout.read(20) == CALL[:20]
    assert tap.talk(CALL[20:]) == (0, CALL[20:], b"")
    assert tap.recorded().sent == [CALL[:-1]]


def test_a_server_behind_a_tap_gets_the_whole_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("SHOP_REGION", "north")
    code, out, _ = Tapped(tmp_path, ["sh", "-c", "echo $SHOP_REGION"]).talk()
    assert (code, out) == (0, b"north\n")


@pytest.mark.parametrize(("ends", "code", "by"), [("exit 0", 0, None), ("exit 3", 3, None), ("kill -9 $$", 137, 9)])
def test_the_server_s_end_is_the_tap_s(tmp_path, ends, code, by):
    tap = Tapped(tmp_path, ["sh", "-c", f"read line; printf 'half a reply'; {ends}"])
    tap.stdin.write(CALL)
    tap.stdin.flush()
    assert tap.stdout.read() == b"half a reply"
    assert tap.process.wait(60) == code
    recorded = tap.recorded()
    assert recorded.received == [b"half a reply"]
    assert recorded.exits[0].get("signal") == by
    assert tap.talk()[2] == b""


def test_the_end_of_the_client_s_input_is_the_end_of_the_server_s(tmp_path):
    tap = Tapped(tmp_path, ["sh", "-c", "cat > /dev/null; echo after the end"])
    assert tap.talk(CALL) == (0, b"after the end\n", b"")
    assert tap.recorded().life == ["spawn", "client-closed", "exit"]


def test_a_server_that_closes_its_output_still_listens(tmp_path):
    tap = Tapped(tmp_path, ["sh", "-c", "echo hello; exec 1>&-; exec cat 1>&2"])
    assert tap.stdout.read() == b"hello\n"
    code, _, err = tap.talk(CALL)
    assert (code, err) == (0, CALL)
    assert tap.recorded().sent == [CALL[:-1]]


def test_a_signal_that_ends_the_tap_reaches_the_server(tmp_path):
    script = "import signal, sys, time\nsignal.signal(15, lambda *_: sys.exit(print('goodbye') or 7))\n"
    # Not `signal.pause()`: a signal that comes just before it is handled only when the next one comes.
    tap = Tapped(tmp_path, python(script + "print('ready', flush=True)\nwhile True:\n    time.sleep(0.1)"))
    assert tap.stdout.readline() == b"ready\n"
    tap.process.send_signal(signal.SIGTERM)
    assert tap.talk() == (7, b"goodbye\n", b"")
    assert "signal" in tap.recorded().life


def test_a_server_whose_client_is_gone_is_ended(tmp_path):
    stubborn = "import signal, time\nprint('ready', flush=True)\nwhile True:\n    time.sleep(1)"
    tap = Tapped(tmp_path, python(stubborn), (python("")[0], "-c", IMPATIENT))
    assert tap.stdout.readline() == b"ready\n"
    for end in (tap.stdin, tap.stdout, tap.stderr):
        end.close()
    assert tap.process.wait(60) == 128 + signal.SIGTERM
    assert left_of(tap.process.pid) == []
    assert tap.recorded().life == ["spawn", "client-closed", "client-gone", "exit"]


def test_a_tap_that_is_killed_leaves_no_server(tmp_path):
    tap = Tapped(tmp_path, ["cat"])
    assert tap.ask(CALL) == CALL
    tap.process.kill()
    assert tap.stdout.read() == b""
    assert tap.process.wait(60) == -signal.SIGKILL
    assert left_of(tap.process.pid) == []
    assert tap.recorded().sent == [CALL[:-1]]


def test_a_client_that_does_not_read_makes_the_server_wait(tmp_path):
    script = """
import os, select, sys
os.set_blocking(1, False)
block, left, full = b"x" * 65535 + b"\\n", 64 << 20, False
while left > 0:
    if not full and not select.select([], [1], [], 0.3)[1]:
        full = True
        os.write(2, b"full\\n")
        os.set_blocking(1, True)
    else:
        left -= os.write(1, block)
sys.stdin.read()
"""
    tap = Tapped(tmp_path, python(script))
    assert tap.stderr.readline() == b"full\n"
    got = sum(len(tap.stdout.read(1 << 20)) for _ in range(60))
    with open(f"/proc/{tap.process.pid}/status") as status:
        peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    assert got == 60 << 20
    assert peak < 100 << 10, "KiB"
    assert tap.talk()[0] == 0


def test_a_launcher_may_leave_its_server_behind(tmp_path):
    tap = Tapped(tmp_path, ["sh", "-c", "exec 3<&0; cat <&3 & exit 0"])
    assert tap.ask(CALL) == CALL
    assert tap.ask(ANSWER) == ANSWER
    assert tap.talk() == (0, b"", b"")
    assert "handed-over" in tap.recorded().life


def test_a_server_that_cannot_be_started_is_an_error_of_the_tap(tmp_path):
    ran = run(tmp_path, ["tap", "--no-record", "--", "there-is-no-such-server"])
    assert (ran.code, ran.out) == (4, "")
    assert "was not found" in ran.err


def test_a_recording_that_is_there_is_left_alone(tmp_path):
    first, second = Tapped(tmp_path, ["cat"]), Tapped(tmp_path, ["cat"])
    assert first.talk(CALL) == second.talk(CALL) == (0, CALL, b"")
    beside = tmp_path / "tapped.2.mcp.jsonl"
    assert Recorded(first.path).sent == Recorded(beside).sent == [CALL[:-1]]


def test_the_tap_works_without_a_stderr_and_on_files(tmp_path):
    (tmp_path / "in").write_bytes(CALL * 3)
    words = [*INSPECTOR, "tap", "--no-record", "--", "cat"]
    with open(tmp_path / "in", "rb") as stdin, open(tmp_path / "out", "wb") as stdout:
        ran = subprocess.run(
            ["sh", "-c", 'exec "$@" 2>&-', "sh", *words],
            stdin=stdin,
            stdout=stdout,
            env=environment(tmp_path),
            timeout=60,
        )
    assert ran.returncode == 0
    assert (tmp_path / "out").read_bytes() == CALL * 3
