"""Commands that do not connect, made on purpose: the first sentence names the cause."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from inspector.config.targets import StdioTarget
from inspector.doctor.config_entry import look_up
from inspector.doctor.diagnosis import TimeLimits
from inspector.doctor.run import of_entry
from tests.doctor.conftest import SHORT, Examine, executable, left_running, python, step

pytestmark = pytest.mark.slow

SILENT = "import sys\nsys.stdin.read()\n"
FRAMED = """
import json, sys
while True:
    length = 0
    while (line := sys.stdin.buffer.readline()).strip():
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    if not line:
        break
    if length:
        asked = json.loads(sys.stdin.buffer.read(length))
        body = json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {}}).encode()
        sys.stdout.buffer.write(b"Content-Length: %d\\r\\n\\r\\n%b" % (len(body), body))
        sys.stdout.buffer.flush()
"""
FRAMES_OUT = 'import sys\nprint("Content-Length: 2\\r\\n\\r\\n{}", flush=True)\nsys.stdin.read()\n'
BANNER = """
import runpy
print("Weather server 1.0", flush=True)
runpy.run_module("inspector.demo", run_name="__main__")
"""
STARTS_SLOWLY = """
import runpy, time
until = time.process_time() + 1.5
while time.process_time() < until:
    pass
runpy.run_module("inspector.demo", run_name="__main__")
"""
ENDS_AT_UNKNOWN = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "old", "version": "1"}}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
    elif asked["method"] != "notifications/initialized":
        sys.exit("unknown method")
"""
PRETTY = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"jsonrpc": "2.0", "id": 0, "result": {}}, indent=2), flush=True)
"""
WIDE = """
import sys
for line in sys.stdin:
    sys.stdout.buffer.write('{"jsonrpc": "2.0", "id": 0, "result": {}}\\n'.encode("utf-16-le"))
    sys.stdout.buffer.flush()
"""
LISTENS = 'import sys\nprint("Server listening on http://127.0.0.1:8123/mcp", file=sys.stderr)\nsys.stdin.read()\n'
PORT = "import socket\na = socket.create_server(('127.0.0.1', 0))\nsocket.create_server(a.getsockname())\n"
NO_KEY = "import os\nos.environ['WEATHER_API_KEY']\n"

Make = Callable[[Path], StdioTarget]


def script(name: str, content: str, *, may: bool = True) -> Make:
    """A target that is an executable file of this content."""

    def make(folder: Path) -> StdioTarget:
        path = executable(folder / name, content)
        if not may:
            path.chmod(0o644)
        return StdioTarget((str(path),))

    return make


def program(source: str) -> Make:
    """A target that is a Python program."""
    return lambda folder: python(folder, source)


def command(*words: str) -> Make:
    """A target of these words."""
    return lambda folder: StdioTarget(words)


BROKEN: dict[str, tuple[Make, str]] = {
    "command missing": (command("no-such-server-here"), "The command “no-such-server-here” was not found on the PATH."),
    "path missing": (command("./no-such-server"), "No program exists at ./no-such-server in …."),
    "one word": (command("sh -c true"), "The command is the single word “sh -c true”: “sh” is the program"),
    "not executable": (script("weather", "#!/bin/sh\n", may=False), "…/weather is not executable."),
    "wrong interpreter": (script("weather", "#!/no/such/python\n"), "…/weather should be run by /no/such/python, which does not exist"),
    "no interpreter on the PATH": (script("weather", "#!/usr/bin/env nosuchnode\n"), "…/weather should be run by nosuch"),
    "no first line": (script("weather.py", "import sys\n"), "…/weather.py is not a program, and it has no “#!” line"),
    "Windows line endings": (script("weather", "#!/bin/sh\r\ntrue\r\n"), "…/weather has Windows line endings"),
    "folder missing": (
        lambda folder: StdioTarget(("sh",), cwd=str(folder / "gone")), "The folder …/gone, in which the server should start",
    ),
    "script missing": (command(sys.executable, "gone.py"), "The file gone.py, which "),
    "crash at import": (program("import no_such_package\n"), "It cannot import the Python module no_such_package,"),
    "the server's own package": (command(sys.executable, "-m", "no_such_server"), "Python does not find the server's own package, no_such"),
    "syntax error": (program("def f(:\n"), "Its program has a syntax error"),
    "port in use": (program(PORT), "It needs port "),
    "missing key": (program(NO_KEY), "It needs the environment variable WEATHER_API_KEY, which is not set."),
    "exit code": (program("raise SystemExit(3)\n"), "The server ended with exit code 3 before it responded."),
    "ends by itself": (program("pass\n"), "The server exited by itself with exit code 0"),
    "killed": (program("import os\nos.kill(os.getpid(), 9)\n"), "The server was ended by SIGKILL before it responded."),
    "Content-Length framing": (program(FRAMED), "It frames its messages with Content-Length headers"),
    "Content-Length in its output": (program(FRAMES_OUT), "It frames its messages with Content-Length headers"),
    "several lines": (program(PRETTY), "It writes JSON that spans several lines"),
    "UTF-16": (program(WIDE), "It writes UTF-16 to stdout"),
    "an HTTP server": (program(LISTENS), "It is a server at a URL, http://127.0.0.1:8123/mcp,"),
    "silent": (program(SILENT), "The server runs, but does not respond to what it reads."),
    "does not read": (command("sleep", "600"), "The server runs, but does not read its stdin."),
}  # fmt: skip


async def test_a_server_at_a_url_is_started_before_it_is_connected_to(tmp_path: Path, examine: Examine) -> None:
    make, _ = BROKEN["an HTTP server"]
    diagnosis = await examine(make(tmp_path))
    assert any(found.fix and "in another terminal" in found.fix.text for found in diagnosis.steps)


@pytest.mark.parametrize("name", BROKEN)
async def test_the_first_sentence_names_the_cause(name: str, home: Path, examine: Examine) -> None:
    make, sentence = BROKEN[name]
    # A server without any framing needs no wait.
    limits = replace(SHORT, framing=0.1) if name in ("silent", "does not read") else SHORT
    diagnosis = await examine(make(home), limits=limits)
    cause = diagnosis.cause.replace("~", "…")
    assert cause.startswith(sentence), cause
    assert (diagnosis.outcome, diagnosis.exit_code) == ("fails", 4)
    assert any(step.verdict == "failed" for step in diagnosis.steps)
    assert left_running(examine) == []


@pytest.mark.parametrize("words", [("./bin/weather", "a"), (sys.executable, "./bin/weather.py")])
async def test_a_relative_path_in_a_config_has_one_fix(words: tuple[str, ...], home: Path, examine: Examine) -> None:
    (home / "bin").mkdir()
    (home / "else").mkdir()
    target = StdioTarget(words, cwd=str(home / "else"), name="weather", source=str(home / "mcp.json"))
    at = int(words[0] == sys.executable)
    for exists in (False, True):
        if exists:
            executable(home / words[at], "#!/bin/sh\n")
        diagnosis = await examine(target, limits=SHORT)
        assert "PATH:" not in str(diagnosis.as_json())
        absolute = list(words)
        absolute[at] = "~" + absolute[at].removeprefix(".")
        entry = f'"command": "{absolute[0]}", "args": ["{absolute[1]}"]'
        assert (entry in diagnosis.fix.text.replace(str(home), "~")) is exists
        assert ("hosts start a command in their own folder" in diagnosis.fix.text.lower()) is (exists or not at)
        assert at or {one.fix for one in diagnosis.steps if one.fix.text} == {diagnosis.fix}


async def test_a_banner_on_stdout_is_named_though_it_connects(home: Path, examine: Examine) -> None:
    diagnosis = await examine(python(home, BANNER))
    assert diagnosis.cause.startswith("It connects: inspector-demo ")
    assert "but: it prints “Weather server 1.0” to stdout, which must contain only messages." in diagnosis.cause
    assert (diagnosis.exit_code, step(diagnosis, "stdout").verdict) == (0, "warn")
    assert "stderr" in diagnosis.fix.text


async def test_a_banner_of_a_server_that_connects_is_named_before_an_old_node(home: Path, examine: Examine) -> None:
    (home / "package.json").write_text('{"name": "weather", "engines": {"node": ">=22"}}')
    (home / "index.js").write_text(BANNER)
    old = f'#!/bin/sh\n[ "$1" = --version ] && echo v20.20.2 && exit\nexec {sys.executable} "$@"\n'
    diagnosis = await examine(StdioTarget((str(executable(home / "node", old)), "index.js"), cwd=str(home)))
    assert "but: it prints “Weather server 1.0” to stdout" in diagnosis.cause
    assert step(diagnosis, "version").text == "node 20.20.2 is older than weather requires (>=22)"


async def test_an_end_at_an_unknown_method_is_named_though_it_connects(home: Path, examine: Examine) -> None:
    diagnosis = await examine(python(home, ENDS_AT_UNKNOWN))
    assert "it ended with exit code 1 after the request server/discover" in diagnosis.cause
    assert (diagnosis.outcome, step(diagnosis, "exit").verdict) == ("connects", "warn")


async def test_a_healthy_server_needs_no_fix(examine: Examine) -> None:
    diagnosis = await examine(StdioTarget((sys.executable, "-m", "inspector.demo")))
    assert diagnosis.cause.startswith("It connects: inspector-demo ")
    assert "but" not in diagnosis.cause
    assert (diagnosis.exit_code, diagnosis.fix.as_json()) == (0, {})
    assert {one.verdict for one in diagnosis.steps} <= {"ok", "info"}
    assert step(diagnosis, "handshake").details[0].startswith("server/discover: ")


async def test_the_steps_stand_in_the_recording(examine: Examine) -> None:
    steps = []
    diagnosis = await examine(StdioTarget(("no-such-server-here",)), on_step=steps.append)
    assert tuple(steps) == diagnosis.steps
    journal = examine.journal  # type: ignore[attr-defined]
    noted = [event.fields["doctor"]["name"] for event in journal.events() if "doctor" in event.fields]
    assert noted == [one.name for one in diagnosis.steps]


async def test_no_secret_and_no_user_is_in_a_diagnosis(home: Path, examine: Examine) -> None:
    source = (
        "import sys\nsys.exit('bad token hunter2hunter2 in /home/ada/x, sk-abcdefghijklmnopqrst, API_KEY=zyxwvut')\n"
    )
    diagnosis = await examine(python(home, source, env={"WEATHER_TOKEN": "hunter2hunter2"}))
    text = str(diagnosis.as_json())
    for secret in ("hunter2", "ada", "sk-abcdef", "zyxwvut", str(home)):
        assert secret not in text
    assert "bad token " in text


@pytest.mark.slow
async def test_a_server_that_starts_slowly_connects(home: Path, examine: Examine) -> None:
    """Longer than the timeout of a response: it uses the processor and has written nothing."""
    diagnosis = await examine(python(home, STARTS_SLOWLY), limits=replace(SHORT, answer=0.7))
    assert diagnosis.cause.startswith("It connects: inspector-demo ")
    assert " but" not in diagnosis.cause


async def test_the_whole_of_it_is_bounded(home: Path, examine: Examine) -> None:
    diagnosis = await examine(python(home, SILENT), limits=TimeLimits(others=0.0), max_timeout=0.4)
    assert diagnosis.steps[-1].name == "time"
    assert diagnosis.outcome == "fails"
    assert left_running(examine) == []


ENTRY = """{"mcpServers": {"weather": {"command": "%s", "args": ["-m", "inspector.demo"],
 "env": {"KEY": "${WEATHER_KEY}", "PLACE": "${PLACE:-here}", "OTHER": "${OTHER_KEY}"}}}}"""


async def test_variables_that_a_config_entry_lacks_are_named_all_at_once(home: Path, examine: Examine) -> None:
    (home / ".mcp.json").write_text(ENTRY % sys.executable)
    entry = look_up("@weather", folder=home, home=home, environ={})
    assert (entry.missing, entry.usable) == (("WEATHER_KEY", "OTHER_KEY"), False)
    assert entry.target is not None
    diagnosis = await examine(entry.target, entry=entry)
    assert diagnosis.cause.startswith(
        "@weather in ~/.mcp.json needs the environment variables WEATHER_KEY, OTHER_KEY, which"
    )
    assert step(diagnosis, "command").verdict == "ok", "what can be looked at all the same is"
    assert step(diagnosis, "start").verdict == "skipped"
    assert diagnosis.exit_code == 4


async def test_a_config_entry_in_order_is_named_with_its_file(home: Path, examine: Examine) -> None:
    (home / ".mcp.json").write_text(ENTRY % sys.executable)
    entry = look_up("@weather", folder=home, home=home, environ={"WEATHER_KEY": "1", "OTHER_KEY": "2"})
    assert entry.usable
    assert entry.target is not None
    diagnosis = await examine(entry.target, entry=entry)
    assert step(diagnosis, "config").text == "@weather in ~/.mcp.json"
    assert step(diagnosis, "variables").verdict == "ok"
    assert diagnosis.outcome == "connects"


def test_what_else_is_wrong_with_an_entry_is_a_diagnosis_too(home: Path) -> None:
    written = '{"servers": {"weather": {"command": "x", "env": {"A": "${HERE:-x}${file:gone.txt}"}}}}'
    (home / "inspector.json").write_text(written)
    entry = look_up("@weather", folder=home, home=home, environ={})
    assert (entry.missing, entry.target) == ((), None)
    diagnosis = of_entry(entry)
    assert "needs a value from a file" in diagnosis.cause
    assert diagnosis.exit_code == 4
