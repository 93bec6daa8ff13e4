"""Addons on the command line: taps as processes, the settings, and files that must not name an addon."""

import json
import os
import subprocess
import sys

import pytest

from tests.processes import environment

pytestmark = pytest.mark.slow

ECHO = """
import sys
for line in sys.stdin.buffer:
    sys.stdout.buffer.write(b"server got " + line if b'"id"' not in line else line.replace(b"method", b"result"))
    sys.stdout.buffer.flush()
sys.stderr.write("server ends\\n")
sys.exit(7)
"""
SCRIPTED = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        result = {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}
        if asked["method"] == "initialize":
            result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s"}}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""
MARK = "open('loaded', 'w').close()"


@pytest.fixture
def run(tmp_path):
    """Run `inspector WORDS` to its end, in a folder with addons and servers."""
    (tmp_path / "echo.py").write_text(ECHO)
    (tmp_path / "server.py").write_text(SCRIPTED)
    (tmp_path / "mark.py").write_text(MARK)

    def run(*words, given=b"", **variables):
        env = environment(tmp_path, **variables)
        command = [sys.executable, "-m", "inspector", *words]
        return subprocess.run(command, input=given, capture_output=True, cwd=tmp_path, env=env, timeout=60)

    run.folder = tmp_path
    return run


def events(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_tap_with_an_addon_that_does_nothing_passes_every_byte(run):
    (run.folder / "passive.py").write_text("def on_request(m, ctx): pass\ndef on_response(m, ctx): return m")
    given = (
        b'{"jsonrpc": "2.0",  "id":1, "method":"a", "x":1.50, "x":2}\r\nnot json\n\n[]\n'
        b'{"jsonrpc":"2.0","id":"\xff","method":"b"}\n{"jsonrpc":"2.0","method":"n"}\n{"unfinished'
    )
    plain = run("tap", "--no-record", "--", sys.executable, "echo.py", given=given)
    acting = run(
        "tap", "--addon", "passive.py", "--record", "r.mcp.jsonl", "--", sys.executable, "echo.py", given=given
    )
    assert acting.stdout == plain.stdout != b""
    assert acting.returncode == plain.returncode == 7
    assert acting.stderr.splitlines() == [b"note: This tap acts: passive.py may change each message.", b"server ends"]
    header, *rest = events(run.folder / "r.mcp.jsonl")
    assert header["addons"] == ["passive.py"]
    assert [event.get("raw") for event in rest if event.get("dir") == "send"][:2] == [
        '{"jsonrpc": "2.0",  "id":1, "method":"a", "x":1.50, "x":2}\r',
        "not json",
    ]


BROKEN = """
import os, sys
def on_connect(ctx): print("at connect")
def on_request(m, ctx):
    print("printed"); sys.stdout.write("written\\n"); os.write(1, b"raw\\n")
    if m["method"] == "raise": raise KeyError(m["id"])
    if m["method"] == "id": m["id"] += 1; return m
    if m["method"] == "nonsense": return 5
    if m["method"] == "fork": os.fork()
def on_end(ctx): 1 / 0
"""


def test_a_broken_addon_changes_nothing_that_the_client_or_the_server_gets(run):
    (run.folder / "broken.py").write_text(BROKEN)
    methods = ["raise", "id", "nonsense", "fork", "raise", "id", "nonsense", "fork"]
    given = b"".join(
        b'{"jsonrpc":"2.0", "id":%d,"method":"%b"}\n' % (n, method.encode()) for n, method in enumerate(methods)
    )
    ran = run("tap", "--addon", "broken.py", "--record", "r.mcp.jsonl", "--", sys.executable, "echo.py", given=given)
    assert ran.stdout == given.replace(b"method", b"result")
    assert ran.returncode == 7
    stderr = ran.stderr.decode()
    sentences = [
        "on_request in broken.py forked this process: the copy ends as the function returns.",
        "on_request in broken.py failed: KeyError: 0 (line 6). The message passes unchanged.",
        "on_request in broken.py changed the id 1 to 2. The message passes unchanged.",
        "on_request in broken.py returned an int, which is not a message. The message passes unchanged.",
        "on_end in broken.py failed: ZeroDivisionError: division by zero (line 10).\n",
    ]
    assert {sentence: stderr.count(sentence) for sentence in sentences} == dict.fromkeys(sentences, 1), stderr
    assert [stderr.count(word) for word in ("printed", "written", "raw\n")] == [8, 8, 8]
    assert [event for event in events(run.folder / "r.mcp.jsonl") if "addon" in event] == []


def test_a_tap_changes_refuses_and_delays_and_the_end_waits_for_nothing(run):
    (run.folder / "acts.py").write_text(
        "def on_request(m, ctx):\n"
        '  if m["method"] == "no": ctx.refuse(-1, "not this")\n'
        '  if m["method"] == "late": ctx.delay(3000)\n'
        '  if m["method"] == "old": m["method"] = "new"; return m'
    )
    given = b"".join(
        b'{"jsonrpc":"2.0","id":%d,"method":"%b"}\n' % item for item in ((1, b"late"), (2, b"no"), (3, b"old"))
    )
    ran = run("tap", "--addon", "acts.py", "--record", "r.mcp.jsonl", "--", sys.executable, "echo.py", given=given)
    answers = {answer["id"]: answer for answer in map(json.loads, ran.stdout.splitlines())}
    assert answers[2]["error"] == {"code": -1, "message": "not this"}
    assert (answers[1]["result"], answers[3]["result"]) == ("late", "new")
    steps = [event["addon"][0]["did"] for event in events(run.folder / "r.mcp.jsonl") if "addon" in event]
    assert steps == ["refused", "refused", "changed", "delayed by 3000 s"]


def tools(run, *words, **variables):
    return run("tools", *words, "--no-record", "--", sys.executable, "server.py", **variables)


def test_the_settings_of_the_user_name_addons(run):
    folder = run.folder / "config"
    folder.mkdir()
    (folder / "settings.json").write_text(json.dumps({"addons": [str(run.folder / "mark.py")]}))
    assert tools(run, INSPECTOR_CONFIG_HOME=str(folder)).returncode == 0
    assert (run.folder / "loaded").exists()


def test_nothing_in_the_folder_names_an_addon(run):
    entry = {"command": sys.executable, "args": ["server.py"], "addons": ["mark.py"], "addon": "mark.py"}
    (run.folder / "inspector.json").write_text(json.dumps({"servers": {"s": entry}, "addons": ["mark.py"]}))
    (run.folder / ".env").write_text("INSPECTOR_ADDONS=mark.py")
    run("tools", "@s", "--no-record", "--trust")
    assert b"INSPECTOR_ADDONS cannot be set" in tools(run, INSPECTOR_ADDONS='["/mark.py"]').stderr
    assert not (run.folder / "loaded").exists()


def test_without_an_addon_nothing_of_it_is_imported(run):
    code = (
        "import os, sys\nos._exit = lambda code: sys.stderr.write(str(sorted(sys.modules)))\n"
        "sys.argv = ['inspector', 'tools', '--no-record', '--', sys.executable, 'server.py']\n"
        "from inspector.cli.main import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        cwd=run.folder,
        env=environment(run.folder) | {"PYTHONPATH": os.getcwd()},
        text=True,
    )
    assert "'inspector.client.session'" in done.stderr
    assert "inspector.addons" not in done.stderr


def test_a_file_that_cannot_be_loaded_starts_nothing(run):
    (run.folder / "torn.py").write_text("def on_request(m, ctx:")
    ran = tools(run, "--addon", "torn.py")
    assert ran.returncode == 2
    assert ran.stderr.decode().startswith("error: The addon torn.py cannot be loaded: line 1: ")
    ran = tools(run, "--addon", "none.py")
    assert ran.stderr.decode().partition("\n")[0].endswith("none.py cannot be read: the file does not exist.")
