"""Hostile servers, and the command line that meets them: in this process where that is enough, else as a program."""

from __future__ import annotations

import fcntl
import os
import signal
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from inspector.cli import main
from tests.processes import INSPECTOR, Ran, environment, left_of, spawned

SERVERS = Path(__file__).parents[1] / "servers"
sys.path.insert(0, str(SERVERS))

from cases import CASES  # noqa: E402 - the hostile servers are programs beside each other, not a package
from hostile_http import ENDPOINT, Listener, serve_http  # noqa: E402
from hostile_script import Script  # noqa: E402

PATIENCE = 60
HOSTILE = (sys.executable, "-S", "-E", str(SERVERS / "hostile.py"))

Run = Callable[..., Ran]
Serve = Callable[..., list[str]]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own for every test: no settings, no config files, no recordings."""
    folder = tmp_path / "home"
    folder.mkdir()
    for name in ("COLUMNS", "LC_ALL", "LC_CTYPE", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HOME", "INSPECTOR_STATE_HOME", "INSPECTOR_CONFIG_HOME"):
        monkeypatch.setenv(name, str(folder))
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """Where a test keeps its recording."""
    return tmp_path / "session.mcp.jsonl"


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Runs a command line in this process; nothing that it started may be left, and nothing may be a traceback."""

    def runner(*words: str) -> Ran:
        capfdbinary.readouterr()
        code = main.run(words)
        out, err = capfdbinary.readouterr()
        ran = Ran(code, out.decode(), err.decode())
        assert "Traceback" not in ran.err
        assert "Inspector itself failed" not in ran.err
        if "--record" in words:
            kept = Path(words[words.index("--record") + 1])
            if kept.is_file():
                assert [left for pid in spawned(kept) for left in left_of(pid)] == []
        return ran

    return runner


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Words that name a hostile server: `serve(case, form)`; over HTTP it listens in this process until the test ends.

    `form` is `stdio`, `json`, `sse` or `http+sse`; `at` is the method that is answered badly; `apart` makes an HTTP
    server a process of its own, for those that die.
    """
    with ExitStack() as stack:

        def server(
            case: str, form: str = "stdio", *more: str, apart: bool = False, status: int = 0, at: str = "",
            endpoint: str = ENDPOINT,
        ) -> list[str]:  # fmt: skip
            if form == "stdio":
                return ["--", *HOSTILE, "--case", case, *more]
            options = ["--transport", "sse"] if form == "http+sse" else []
            if apart:
                return [*options, stack.enter_context(_process(case, form, *more))]
            script = Script(CASES[case], at or CASES[case].at, 3)
            listener = serve_http(script, 0, form, status, "http://127.0.0.2:9/mcp", endpoint)
            stack.enter_context(_thread(listener))
            return [*options, f"http://127.0.0.1:{listener.server_address[1]}/mcp"]

        yield server


class _thread:
    """A listener that serves in a thread."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._thread = threading.Thread(target=listener.serve_forever, args=(0.01,))

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown()
        self._listener.server_close()
        self._thread.join()


class _process:
    """A listener that is a process; its URL is the value."""

    def __init__(self, case: str, form: str, *more: str) -> None:
        words = [*HOSTILE, "--case", case, "--http", "0", "--form", form, *more]
        self._process = subprocess.Popen(words, stderr=subprocess.PIPE)

    def __enter__(self) -> str:
        assert self._process.stderr
        return self._process.stderr.readline().decode().split()[-1]

    def __exit__(self, *_: object) -> None:
        assert self._process.stderr
        self._process.terminate()
        self._process.stderr.close()
        self._process.wait(PATIENCE)


class Running:
    """`inspector WORDS` as a process, for what needs signals: read its stderr, then end it."""

    def __init__(self, home: Path, *words: str) -> None:
        self.process = subprocess.Popen(
            [*INSPECTOR, *words],
            env=environment(home),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def line(self) -> str:
        """The next line on stderr."""
        assert self.process.stderr
        return self.process.stderr.readline().decode()

    def interrupt(self) -> Ran:
        """Press ctrl+c."""
        self.process.send_signal(signal.SIGINT)
        return self.end()

    def end(self) -> Ran:
        """Waits for the end; nothing of it may be left."""
        out, err = self.process.communicate(timeout=PATIENCE)
        assert left_of(self.process.pid) == []
        return Ran(self.process.returncode, out.decode(), err.decode())


class OnTerminal:
    """`inspector WORDS` on a pseudo-terminal of 45 lines with 160 columns, which takes whatever is drawn."""

    def __init__(self, home: Path, term: str, *words: str) -> None:
        self._ours, theirs = os.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 45, 160, 0, 0))
        self.process = subprocess.Popen(
            [*INSPECTOR, *words],
            env=environment(home, TERM=term),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        self._got = bytearray()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        try:
            while block := os.read(self._ours, 65536):
                self._got += block
        except OSError:
            pass  # Linux reports in this way that the other end is closed

    def end(self) -> tuple[int, bytes]:
        """Waits for the end: the exit code and all that the terminal got."""
        code = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        os.close(self._ours)
        return code, bytes(self._got)


@pytest.fixture
def on_terminal(home: Path) -> Iterator[Callable[..., OnTerminal]]:
    """Starts `inspector WORDS` on a terminal of some type: `on_terminal(term, *words)`."""
    started: list[OnTerminal] = []

    def starter(term: str, *words: str) -> OnTerminal:
        started.append(OnTerminal(home, term, *words))
        return started[-1]

    yield starter
    for each in started:
        if each.process.poll() is None:
            each.process.kill()
            each.end()


@pytest.fixture
def start(home: Path) -> Iterator[Callable[..., Running]]:
    """Starts `inspector WORDS`; whatever happens, it does not outlive the test."""
    started: list[Running] = []

    def starter(*words: str) -> Running:
        started.append(Running(home, *words))
        return started[-1]

    yield starter
    for each in started:
        if each.process.poll() is None:
            each.process.kill()
            each.process.communicate()


def is_one_sentence(err: str) -> bool:
    """Whether an error has the right form: a line that says what happened, then hints and our facts."""
    lines = [line for line in err.splitlines() if not line.startswith("note: ")]
    return (
        lines[0].startswith("error: ")
        and all(line.startswith(("hint: ", "recording: ", "  ")) for line in lines[1:])
        and any(line.startswith("hint: ") for line in lines)
    )
