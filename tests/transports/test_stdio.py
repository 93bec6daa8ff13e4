"""A server as a child process: framing, environment, stderr, early death, shutdown, no orphan."""

import asyncio
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import textwrap
import time

import pytest

from inspector.client.engine.wire import Wire
from inspector.errors import InspectorError, LimitReached, ServerExited, SpawnError
from inspector.journal.format import Kind
from inspector.journal.journal import Journal
from inspector.system.posix import processes
from inspector.transports import reading_pause, stdio, write_batch
from inspector.transports.base import Outgoing
from inspector.transports.child import child_environment, describe_status
from inspector.transports.stdio import StdioTransport

pytestmark = pytest.mark.slow

ECHO = "import sys\nfor line in sys.stdin.buffer:\n  sys.stdout.buffer.write(line); sys.stdout.buffer.flush()"


class Listener:
    def __init__(self):
        self.frames = []
        self.error: InspectorError | None = None
        self.changed = asyncio.Event()

    def on_frame(self, frame):
        self.frames.append(frame)
        self.changed.set()

    def on_failed(self, outgoing, error):
        raise AssertionError("stdio never fails one request alone")

    def on_lost(self, error):
        assert self.error is None, "said twice"
        self.error = error
        self.changed.set()

    async def wait(self, condition, seconds=60):
        async with asyncio.timeout(seconds):
            while not condition():
                self.changed.clear()
                await self.changed.wait()


class Child:
    """A transport on a Python child, with its journal and listener."""

    def __init__(self, code, *, command=None, **options):
        self.journal = Journal.unnamed({})
        self.listener = Listener()
        wire = Wire(self.journal, self.listener, self.listener.changed.set)
        command = command or [sys.executable, "-S", "-E", "-c", textwrap.dedent(code)]
        self.transport = StdioTransport(command, wire, **options)

    async def __aenter__(self):
        await self.transport.start()
        return self

    async def __aexit__(self, *_):
        await self.transport.close()

    def send(self, message):
        outgoing = Outgoing(json.dumps(message).encode(), message)
        self.transport.send(outgoing)
        return outgoing.n

    def received(self, kind=Kind.RPC):
        index = self.journal.index
        return [
            self.journal.event(n).bytes for n in range(1, len(index) + 1) if index.kind(n) == kind and index.dir(n) == 2
        ]

    def count(self, kind):
        index = self.journal.index
        return sum(index.kind(n) == kind and index.dir(n) == 2 for n in range(1, len(index) + 1))

    def life(self, name):
        return [
            event.fields for event in self.journal.events() if event.kind == Kind.LIFE and event.fields["event"] == name
        ]


async def test_a_message_goes_out_and_returns_and_both_are_recorded():
    """C-STDIO-01."""
    async with Child(ECHO) as child:
        n = child.send({"method": "hello"})
        await child.listener.wait(lambda: child.listener.frames)
        assert child.listener.frames[0].message == {"method": "hello"}
        assert child.journal.event(n).message == {"method": "hello"}
        assert n < child.listener.frames[0].n


async def test_lines_are_split_on_line_feeds_only():
    code = r"""
    import os
    os.write(1, '{"a":"\u2028\u2029\u0085"}\r\n\n{"b":1}\n{"c"'.encode()); os.write(1, b':2}\n')
    import sys; sys.stdin.read()
    """
    async with Child(code) as child:
        await child.listener.wait(lambda: len(child.listener.frames) == 3)
        assert child.received() == ['{"a":"\u2028\u2029\u0085"}\r'.encode(), b'{"b":1}', b'{"c":2}']
        assert child.received(Kind.INVALID) == [b""]


async def test_fifty_megabytes_in_one_line():
    code = """
    import os
    data = memoryview(b'{"id":1,"result":"' + b'x' * 50_000_000 + b'"}' + bytes([10]))
    while data:
        data = data[os.write(1, data):]
    import sys; sys.stdin.read()
    """
    async with Child(code) as child:
        await child.listener.wait(lambda: child.listener.frames, 60)
        assert len(child.listener.frames[0].message["result"]) == 50_000_000
        assert len(child.journal.event(child.listener.frames[0].n).bytes) == 50_000_000 + 20


async def test_a_large_message_to_a_child_that_reads_slowly():
    code = """
    import sys, time
    time.sleep(0.3)
    line = sys.stdin.buffer.readline()
    sys.stdout.write('{"id":1,"result":%d}' % len(line) + chr(10)); sys.stdout.flush()
    sys.stdin.read()
    """
    async with Child(code) as child:
        message = {"x": "y" * 3_000_000}
        child.send(message)
        child.send({"method": "second"})
        await child.listener.wait(lambda: child.listener.frames)
        assert child.listener.frames[0].message["result"] == len(json.dumps(message)) + 1


async def test_a_line_without_end_is_given_up_at_the_limit_and_its_beginning_kept():
    code = """
    import os
    while True: os.write(1, b"x" * 65536)
    """
    async with Child(code, limit=1 << 20) as child:
        await child.listener.wait(lambda: child.listener.error)
        assert isinstance(child.listener.error, LimitReached)
        assert "max_body_bytes" in child.listener.error.hint
        [beginning] = child.received(Kind.INVALID)
        assert beginning.startswith(b"xxxx")
        await gone(child.transport.process.pid)


def test_on_windows_the_child_gets_what_programs_need_there_in_any_case() -> None:
    shell = {
        "SystemRoot": r"C:\Windows", "Path": r"C:\bin", "PATHEXT": ".EXE;.CMD", "AppData": "a", "LOCALAPPDATA": "l",
        "TEMP": "t", "TMP": "t", "USERPROFILE": "u", "HOMEDRIVE": "C:", "HOMEPATH": "h", "USERNAME": "n",
        "ProgramFiles": "p", "ProgramFiles(x86)": "p86", "ProgramData": "d", "ComSpec": "c", "windir": "w",
        "Https_Proxy": "http://u:p@proxy", "MY_TOKEN": "secret",
    }  # fmt: skip
    env = child_environment({"PATH": r"C:\mine"}, shell, family="windows")
    assert env.pop("PATH") == r"C:\mine"
    assert "Path" not in env
    assert env == {name: value for name, value in shell.items() if name not in ("Path", "MY_TOKEN")} | {
        "Https_Proxy": "http://proxy"
    }
    everything = child_environment({"my_token": "mine"}, shell, inherits=True, family="windows")
    assert (everything["my_token"], "MY_TOKEN" in everything) == ("mine", False)


async def test_the_child_gets_the_wanted_environment_only(monkeypatch):
    """C-STDIO-09."""
    monkeypatch.setenv("MY_SECRET_TOKEN", "do not pass on")
    code = """
    import os, sys
    sys.stdout.write('{"id":1,"result":"' + ' '.join(sorted(os.environ)) + '"}' + chr(10)); sys.stdout.flush()
    sys.stdin.read()
    """
    async with Child(code, env={"WANTED": "1"}) as child:
        await child.listener.wait(lambda: child.listener.frames)
        names = child.listener.frames[0].message["result"].split()
        assert {"PATH", "HOME", "WANTED"} <= set(names)
        assert "MY_SECRET_TOKEN" not in names
        spawn = child.life("spawn")[0]
        assert "WANTED" in spawn["env"]
        assert "do not pass on" not in json.dumps(spawn)


async def test_no_shell_reads_the_command_and_the_group_is_its_own(tmp_path):
    code = """
import json, os, sys
found = [sys.argv[1:], os.getppid(), os.getpgrp() == os.getpid()]
print(json.dumps({"id": 1, "result": found}), flush=True)
sys.stdin.read()
"""
    words = ["a  b", f"$(touch {tmp_path}/no)", f"; touch {tmp_path}/no", "`id`", "*", "$HOME", '"', ""]
    async with Child("", command=[sys.executable, "-S", "-E", "-c", code, *words]) as child:
        await child.listener.wait(lambda: child.listener.frames)
        assert child.listener.frames[0].message["result"] == [words, os.getpid(), True]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("http://user:password@proxy.example:3128", "http://proxy.example:3128"),
        ("http://user:p@ss/w@proxy.example:3128/", "http://proxy.example:3128/"),
        ("user:password@proxy.example:3128", "proxy.example:3128"),
        ("http://token@[::1]:3128", "http://[::1]:3128"),
        ("http://user:a://b@proxy.example", "http://proxy.example"),
        ("http://proxy.example:3128", "http://proxy.example:3128"),
        ("", ""),
    ],
)
def test_no_child_gets_the_password_of_a_proxy(ours, theirs):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        assert child_environment({}, {name: ours}) == {name: theirs}
        assert child_environment({name: ours}, {name: ours}) == {name: ours}, "--env passes it on as it is"


def test_inherited_variables():
    ours = {"PATH": "/bin", "LC_ALL": "C", "XDG_RUNTIME_DIR": "/run", "AWS_SECRET_ACCESS_KEY": "x"}
    assert child_environment({"A": "b"}, ours) == {"PATH": "/bin", "LC_ALL": "C", "XDG_RUNTIME_DIR": "/run", "A": "b"}


async def test_stderr_is_recorded_line_by_line_to_the_end():
    """C-STDIO-03."""
    code = r"""
    import os
    os.write(2, b"one\ntwo"); os.write(2, b" halves\n\xff\xfe\n" + b"z" * 200_000 + b"\nlast without end")
    import sys; sys.stdin.read()
    """
    async with Child(code) as child:
        await child.listener.wait(lambda: len(child.received(Kind.STDERR)) >= 4)
    lines = child.transport.last_words
    assert "two halves" in lines
    assert lines[-1] == "last without end"


async def test_a_flood_on_stderr_does_not_stop_the_child():
    code = """
    import os
    for _ in range(200): os.write(2, b"x" * 99 + b"!" + bytes([10]) * 1)
    for _ in range(10): os.write(2, (b"y" * 99 + bytes([10])) * 1000)
    os.write(1, b'{"id":1,"result":"done"}' + bytes([10]))
    import sys; sys.stdin.read()
    """
    async with Child(code) as child:
        await child.listener.wait(lambda: child.listener.frames, 60)
        await child.listener.wait(lambda: child.count(Kind.STDERR) == 10_200, 60)


async def test_a_child_that_dies_early_is_reported_with_code_and_last_words():
    code = "import sys; sys.stderr.write('no such module: httpx' + chr(10)); sys.exit(3)"
    async with Child(code) as child:
        await child.listener.wait(lambda: child.listener.error)
        error = child.listener.error
        assert isinstance(error, ServerExited)
        assert error.status == 3
        assert "ended with exit code 3" in error.message
        assert error.stderr == ("no such module: httpx",)
    assert [fields["status"] for fields in child.life("exit")] == [3]


async def test_death_in_the_middle_of_a_reply_keeps_the_half():
    code = 'import os; os.write(1, b\'{"id":1,"result":{"te\'); os.abort()'
    async with Child(code) as child:
        await child.listener.wait(lambda: child.listener.error)
        assert "SIGABRT" in child.listener.error.message
        assert child.received(Kind.INVALID) == [b'{"id":1,"result":{"te']


async def test_sending_to_a_dead_child_is_an_error_and_recorded_nowhere():
    async with Child("pass") as child:
        await child.listener.wait(lambda: child.listener.error)
        before = len(child.journal)
        with pytest.raises(InspectorError):
            child.send({"method": "x"})
        assert len(child.journal) == before


async def test_waiting_for_the_end_of_a_server_that_closed_both_pipes_is_not_busy(monkeypatch):
    steps = 0

    def counted(wait):
        def count(*arguments, **options):
            nonlocal steps
            steps += 1
            return wait(*arguments, **options)

        return count

    code = """
    import os, time
    os.close(0)
    os.write(1, b'{"method":"x"}\\n')
    os.close(1)
    time.sleep(60)
    """
    async with Child(code) as child:
        await child.listener.wait(lambda: child.listener.frames)
        monkeypatch.setattr(asyncio, "wait", counted(asyncio.wait))
        monkeypatch.setattr(asyncio, "sleep", counted(asyncio.sleep))
        child.send({"id": 1, "method": "finds the closed pipe"})
        child.send({"id": 2, "method": "waits for the end"})
        await child.listener.wait(lambda: child.listener.error)
        assert child.listener.error.message == "The server closed its output but still runs."
        assert steps < 100


@pytest.mark.parametrize(
    ("command", "advice"),
    [
        ("no-such-program-anywhere", "Check the spelling. Install it, or put its folder on the PATH."),
        (
            "./no-such-program",
            "Check the path. It is relative to the current folder, or to --cwd. "
            "Hosts start a command in their own folder: a config needs an absolute path.",
        ),
        ("/no/such/program", "Check the path."),
    ],
)
async def test_what_to_check_depends_on_how_the_command_was_written(command, advice):
    with pytest.raises(SpawnError) as raised:
        await StdioTransport([command], Wire(Journal.unnamed({}), None, lambda: None)).start()
    assert raised.value.hint.command_line == advice


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["/no/such/program"], "was not found"),
        (["no-such-program-anywhere"], "was not found"),
        ([__file__], "is not executable"),
        (["/tmp"], "is a folder"),
        (["bad\0name"], "could not be started"),
    ],
)
async def test_commands_that_cannot_be_started(command, words):
    child = Child("", command=command)
    with pytest.raises(SpawnError, match=words) as caught:
        await child.transport.start()
    assert caught.value.hint


async def test_a_script_whose_interpreter_is_missing(tmp_path):
    script = tmp_path / "server"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    with pytest.raises(SpawnError, match="interpreter"):
        await Child("", command=[str(script)]).transport.start()


async def test_a_file_that_is_not_a_program(tmp_path):
    script = tmp_path / "server"
    script.write_bytes(b"\x00\x01\x02")
    script.chmod(0o755)
    with pytest.raises(SpawnError, match="could not be started"):
        await Child("", command=[str(script)]).transport.start()


async def test_a_missing_folder_is_named():
    with pytest.raises(SpawnError, match="/no/such/folder"):
        await Child("pass", cwd="/no/such/folder").transport.start()


def alive(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def gone(*pids, seconds=60):
    async with asyncio.timeout(seconds):
        while any(alive(pid) for pid in pids):
            await asyncio.sleep(0.02)


STUBBORN = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
grandchild = subprocess.Popen([sys.executable, "-S", "-c", "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600)"])
sys.stdout.write('{"id":1,"result":[%d,%d]}' % (os.getpid(), grandchild.pid) + chr(10)); sys.stdout.flush()
time.sleep(600)
"""


LEAVES_ONE_BEHIND = """
import os, subprocess, sys
left = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)"])
os.write(1, b'{"id":1,"result":%d}' % left.pid + bytes([10]))
os.write(2, b"no more" + bytes([10]))
END
"""


@pytest.mark.parametrize("told_by_the_system", [True, False])
@pytest.mark.parametrize(("end", "status"), [("os._exit(3)", 3), ("os._exit(0)", 0), ("os.kill(os.getpid(), 9)", -9)])
async def test_a_server_that_ends_is_noticed_though_one_of_its_children_holds_its_output(
    monkeypatch, end, status, told_by_the_system
):
    """Its remaining processes keep the pipes open, and are ended."""
    if not told_by_the_system:
        monkeypatch.setattr(os, "pidfd_open", lambda pid: (_ for _ in ()).throw(OSError()))
    async with Child(LEAVES_ONE_BEHIND.replace("END", end)) as child:
        await child.listener.wait(lambda: child.listener.error)
        error = child.listener.error
        assert isinstance(error, ServerExited)
        assert error.status == status
        assert error.stderr == ("no more",)
        assert "left behind" in error.hint
        assert child.life("exit")[0]["status"] == status
        with pytest.raises(ServerExited):
            child.send({"method": "x"})
        await gone(child.listener.frames[0].message["result"])


async def test_what_arrives_after_the_end_of_the_server_is_heard_out(monkeypatch):
    monkeypatch.setattr(stdio, "SILENCE_SECONDS", 10)
    code = """
    import os, sys
    parent = os.getpid()
    if os.fork():
        os._exit(3)
    while os.getppid() == parent:
        pass
    os.write(1, b'{"id":1,"result":"late"}' + bytes([10]) + b'{"id":2,"res')
    """
    async with Child(code) as child:
        await child.listener.wait(lambda: child.listener.error)
        assert child.listener.frames[0].message["result"] == "late"
        assert child.received(Kind.INVALID) == [b'{"id":2,"res']
        assert child.listener.error.status == 3


async def test_half_a_message_and_half_a_line_of_stderr_are_kept_when_the_rest_is_given_up():
    code = """
    import os, subprocess, sys
    left = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)"])
    os.write(1, b'{"id":1,"res'); os.write(2, b"cannot go")
    os._exit(1)
    """
    async with Child(code) as child:
        await child.listener.wait(lambda: child.listener.error)
        assert child.received(Kind.INVALID) == [b'{"id":1,"res']
        assert child.listener.error.stderr == ("cannot go",)


async def test_messages_that_keep_coming_after_exit_code_0_put_the_loss_off(monkeypatch):
    monkeypatch.setattr(stdio, "SILENCE_SECONDS", 0.5)
    code = r"""
    import os, time
    os.write(1, b'{"id":0,"result":{}}\n')
    if os.fork():
        os._exit(0)
    for number in range(30):
        os.write(1, b'{"id":1,"result":%d}\n' % number)
        time.sleep(0.05)
    time.sleep(60)
    """
    async with Child(code) as child:
        await child.listener.wait(lambda: child.listener.error)
        assert len(child.listener.frames) == 31
        assert child.listener.error.status == 0
        assert child.life("handed-over") == []


LAUNCHER = """
import os, sys, time
parent = os.getpid()
if os.fork():
    os._exit(0)
while os.getppid() == parent:
    pass
"""


@pytest.mark.parametrize("own_session", ["", "os.setsid()\n"])
async def test_a_launcher_that_leaves_the_work_to_another_process_is_no_server_that_ended(own_session):
    async with Child(LAUNCHER + own_session + ECHO) as child:
        await child.listener.wait(lambda: child.life("handed-over"))
        for number in range(3):
            child.send({"id": number, "method": "x"})
            await child.listener.wait(lambda number=number: len(child.listener.frames) > number)
        assert child.listener.error is None
    assert child.listener.error is None
    assert child.life("exit")[0]["status"] == 0


async def test_the_end_of_the_one_that_a_launcher_started_is_reported_as_that():
    code = LAUNCHER + "sys.stdin.readline(); os.write(2, b'enough')"
    async with Child(code) as child:
        await child.listener.wait(lambda: child.life("handed-over"))
        child.send({"method": "x"})
        await child.listener.wait(lambda: child.listener.error)
        assert "closed its output" in child.listener.error.message
        assert "exit code 0" in child.listener.error.message
        assert child.listener.error.stderr == ("enough",)


async def test_a_launcher_without_a_reader_behind_it_has_ended():
    async with Child("", command=["sh", "-c", "sleep 60 &"]) as child:
        await child.listener.wait(lambda: child.listener.error)
        assert child.listener.error.status == 0


async def test_a_launcher_that_leaves_one_who_never_listens_has_ended(monkeypatch):
    monkeypatch.setattr(stdio, "SUCCESSOR_SECONDS", 0.2)
    async with Child(LAUNCHER + "time.sleep(60)") as child:
        child.send({"method": "x"})
        await child.listener.wait(lambda: child.listener.error)
        assert child.listener.error.status == 0
        assert child.life("handed-over")


async def test_a_launcher_that_waits_is_a_server_like_any_other():
    shell = ["sh", "-c", 'exec 3<&0; "$@" <&3 & wait; exit 5', "sh", sys.executable, "-S", "-E", "-c", ECHO]
    async with Child("", command=shell) as child:
        child.send({"method": "x"})
        await child.listener.wait(lambda: child.listener.frames)
        assert child.life("handed-over") == []
        await child.transport.close()
    assert child.life("exit")[0]["status"] == 5


async def test_a_child_keeps_its_number_until_its_group_has_been_ended():
    async with Child(LEAVES_ONE_BEHIND.replace("END", "os._exit(3)")) as child:
        await child.listener.wait(lambda: child.listener.error)
        process = child.transport.process
        assert process.status == 3
        assert process.popen.returncode is None
    assert process.popen.returncode == 3
    assert process.status == 3


async def test_a_child_that_ignores_everything_is_killed_with_its_children():
    """C-STDIO-04, C-STDIO-05."""
    async with Child(STUBBORN) as child:
        await child.listener.wait(lambda: child.listener.frames)
        pids = child.listener.frames[0].message["result"]
        await child.transport.close()
        await gone(*pids)
    assert child.life("exit")[0]["signal"] == signal.SIGKILL


ESCAPED = """
import json, os, subprocess, sys, time
sleeper = "import os, time; os.fork() and os._exit(0); os.setsid(); print(os.getpid(), flush=True); time.sleep(600)"
left = subprocess.Popen([sys.executable, "-S", "-c", sleeper], stdout=subprocess.PIPE, start_new_session=True)
print(json.dumps({"id": 1, "result": [os.getpid(), int(left.stdout.readline())]}), flush=True)
sys.stdin.read()
"""


NAMELESS = ESCAPED.replace("start_new_session=True)", "start_new_session=True, env={})")


@pytest.mark.parametrize("code", [ESCAPED, NAMELESS], ids=["escaped", "without an environment"])
@pytest.mark.parametrize("now", [False, True], ids=["closed", "killed at once"])
async def test_what_a_child_left_in_a_session_of_its_own_is_ended_too(now, code):
    async with Child(code) as child:
        await child.listener.wait(lambda: child.listener.frames)
        pids = child.listener.frames[0].message["result"]
        if now:
            child.transport.kill_now()
        await child.transport.close()
        await gone(*pids)


def test_what_a_server_has_started_before_it_was_marked_is_marked_too():
    """A shell has a process in a session of its own sooner than we have marked the shell."""
    own = "import os, time; os.setsid(); print(os.getpid(), flush=True); time.sleep(600)"
    code = f"import subprocess, sys; subprocess.Popen([sys.executable, '-S', '-c', {own!r}], env={{}}); input()"
    mark = "0123456789abcdef"
    with subprocess.Popen(
        [sys.executable, "-S", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as server:
        left = int(server.stdout.readline())
        processes._mark_limits(server.pid, mark)
        processes._signal_left(mark, signal.SIGKILL)
        end = time.monotonic() + 10
        while (alive(left) or alive(server.pid)) and time.monotonic() < end:
            time.sleep(0.02)
        assert not alive(left)
        assert not alive(server.pid)


async def test_a_child_that_heeds_its_closed_input_is_not_signalled():
    """C-STDIO-04, C-STDIO-05."""
    async with Child("import sys; sys.stdin.read(); sys.exit(7)") as child:
        pass
    assert child.life("exit")[0]["status"] == 7


async def test_answers_given_while_ending_are_still_recorded():
    code = "import sys; sys.stdin.read(); sys.stdout.write('{\"method\":\"bye\"}' + chr(10)); sys.stderr.write('bye')"
    async with Child(code) as child:
        pass
    methods = [child.journal.index.method(n) for n in range(1, len(child.journal) + 1)]
    assert "bye" in methods


async def test_closing_twice_and_before_the_start_is_harmless():
    child = Child(ECHO)
    await child.transport.close()
    async with Child(ECHO) as child:
        await child.transport.close()
        await child.transport.close()
    assert len(child.life("exit")) == 1


async def test_a_close_that_is_interrupted_leaves_no_process_behind():
    async with Child(STUBBORN) as child:
        await child.listener.wait(lambda: child.listener.frames)
        pids = child.listener.frames[0].message["result"]
        closing = asyncio.create_task(child.transport.close())
        await asyncio.sleep(0.05)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        await gone(*pids)


async def test_unread_input_is_known():
    async with Child("import time; time.sleep(30)") as child:
        child.send({"method": "not read"})
        assert child.transport.unread() > 10
    async with Child(ECHO) as child:
        child.send({"method": "x"})
        await child.listener.wait(lambda: child.listener.frames)
        assert child.transport.unread() == 0


@pytest.mark.parametrize("code", [STUBBORN, ESCAPED, NAMELESS], ids=["stubborn", "escaped", "without an environment"])
def test_no_orphan_survives_a_kill_of_the_inspector(code):
    """The guard ends the child's group when we are killed and cannot do it ourselves."""
    program = f"""
import asyncio
from inspector.client.engine.wire import Wire
from inspector.journal.journal import Journal
from inspector.transports.stdio import StdioTransport
class L:
    def on_frame(self, frame): print(*frame.message["result"], flush=True)
    def on_lost(self, error): pass
async def main():
    t = StdioTransport([{sys.executable!r}, "-S", "-c", {code!r}], Wire(Journal.unnamed({{}}), L(), lambda: None))
    await t.start()
    print("guarded", flush=True)
    await asyncio.sleep(60)
asyncio.run(main())
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    lines = [process.stdout.readline().split() for _ in range(2)]
    assert ["guarded"] in lines
    pids = [int(pid) for line in lines for pid in line if pid != "guarded"]
    assert all(alive(pid) for pid in pids)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    end = time.monotonic() + 10
    while any(alive(pid) for pid in pids) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(alive(pid) for pid in pids)


def test_a_kill_of_the_inspector_at_the_very_start_leaves_no_deaf_server():
    """The guard is started before the child."""
    program = f"""
import asyncio, os, signal
from inspector.client.engine.wire import Wire
from inspector.journal.journal import Journal
from inspector.system.posix import processes
from inspector.transports import stdio
def die(guard, pid):
    print(pid, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
processes._Guard.watch = die
async def main():
    deaf = [{sys.executable!r}, "-S", "-c", "import time; time.sleep(60)"]
    await stdio.StdioTransport(deaf, Wire(Journal.unnamed({{}}), None, lambda: None)).start()
asyncio.run(main())
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    with process.stdout:
        pid = int(process.stdout.readline())
    assert process.wait() == -signal.SIGKILL
    end = time.monotonic() + 10
    while alive(pid) and time.monotonic() < end:
        time.sleep(0.05)
    assert not alive(pid)


def sleeper(**how):
    return subprocess.Popen(["sleep", "60"], start_new_session=True, **how)


async def test_a_process_that_is_not_of_the_server_keeps_its_limits_and_its_life():
    """Neither we nor another child of ours is marked."""
    before = resource.getrlimit(resource.RLIMIT_RTTIME)
    with sleeper() as earlier:
        async with Child(ESCAPED) as child:
            await child.listener.wait(lambda: child.listener.frames)
            with sleeper(env={}) as later:
                await child.transport.close()
                left = [later.poll(), earlier.poll()]
                later.kill()
        earlier.kill()
    assert left == [None, None]
    assert resource.getrlimit(resource.RLIMIT_RTTIME) == before


async def test_a_command_that_cannot_be_started_leaves_no_guard(monkeypatch):
    guards, guard = [], processes._Guard
    monkeypatch.setattr(processes, "_Guard", lambda mark: guards.append(guard(mark)) or guards[-1])
    with pytest.raises(SpawnError):
        await StdioTransport([sys.executable], Wire(Journal.unnamed({}), None, lambda: None), cwd="/no/folder").start()
    assert [guard._process for guard in guards] == [None]


def test_exit_statuses_in_words():
    assert describe_status(0) == "ended with exit code 0"
    assert describe_status(-11) == "was ended by SIGSEGV"
    assert describe_status(-200) == "was ended by signal 200"


async def test_a_server_that_asks_and_does_not_read_the_replies_is_not_read_on(monkeypatch):
    monkeypatch.setattr(write_batch, "MAX_REPLIES", 10_000)
    monkeypatch.setattr(reading_pause, "TOLD_AFTER", 0.01)
    code = """
    import os, sys, threading
    def flood():
        for n in range(4000):
            os.write(1, b'{"jsonrpc":"2.0","id":%d,"method":"ping"}\\n' % n)
    asking = threading.Thread(target=flood, daemon=True)
    asking.start()
    go = os.open(sys.argv[1], os.O_RDONLY)
    count = sum(1 for _ in zip(range(4000), sys.stdin.buffer))
    os.write(2, b'%d replies\\n' % count)
    """
    with tempfile.TemporaryDirectory() as folder:
        gate = os.path.join(folder, "gate")
        os.mkfifo(gate)
        command = [sys.executable, "-S", "-E", "-c", textwrap.dedent(code), gate]
        async with Child("", command=command) as child:
            reply = b'{"jsonrpc":"2.0","id":0,"result":{"padding":"%b"}}' % (b"x" * 1000)

            def answer(frame):
                child.transport.send(Outgoing(reply, json.loads(reply)))
                child.listener.changed.set()

            child.listener.on_frame = answer
            await child.listener.wait(lambda: child.life("reading-paused"))
            waiting = len(child.journal)
            for _ in range(50):
                await asyncio.sleep(0)
            assert len(child.journal) == waiting
            os.close(os.open(gate, os.O_WRONLY))
            await child.listener.wait(lambda: child.count(Kind.STDERR) == 1)
            assert child.received(Kind.STDERR) == [b"4000 replies"]
