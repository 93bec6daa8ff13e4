"""The pytest plugin, in runs of pytest of its own: record, replay, check, and the report of a failed test.

A run is a process where the tests look at a process: at loaded modules, and at the first use. The others are in this
process, which has imported pytest and the library already.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from inspector.library.cassettes import MODES as TAPED_MODES
from inspector.pytest_plugin import MODES, McpFixture
from tests.processes import ROOT, environment
from tests.pytest_runs import pytest_here
from tests.test_docs import blocks

HEAD = f"""
import os, sys
import pytest

DEMO = [{sys.executable!r}, "-m", "inspector.demo"]
SAID = os.environ.get("SAID", "hello")
"""
TESTS = """
@pytest.mark.mcp(DEMO, era="legacy")
async def test_by_the_marker(mcp_session):
    result = await mcp_session.call_tool("echo", {"message": SAID})
    assert result.text == SAID


@pytest.mark.parametrize("word", ["a/b", "a?b"])
async def test_by_hand(mcp, word):
    answers = {"name": "Ada", "email": "a@b.example"}
    async with mcp.recorded(DEMO, elicit=answers) as session, mcp.recorded(DEMO, name="../" + word) as second:
        assert "Ada" in (await session.call_tool("ask-user")).text
        assert (await second.call_tool("echo", {"message": "x"})).text == "x"


async def test_minds_nothing(mcp):
    import inspector
    async with mcp.recorded(DEMO) as session:
        try:
            await session.call_tool("echo", {"message": SAID})
        except inspector.ServerError:
            pass


async def test_a_recording(mcp):
    import inspector
    path = "recordings/test_it/test_by_the_marker.mcp.jsonl"
    async with mcp.replay(path) as session:
        assert (await session.call_tool("echo", {"message": "hello"})).text == "hello"
    async with mcp.serve(path) as server, inspector.open(server.url) as session:
        assert (await session.call_tool("echo", {"message": "hello"})).text == "hello"
    (exchange,) = mcp.recording(path).exchanges("method:tools/call")
    assert exchange.result["content"][0]["text"] == "hello"
"""


FAULTY = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("method") == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {}}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
    elif "id" in asked:
        error = {"code": -32601, "message": "Method not found"}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": error}), flush=True)
"""


class Run:
    """Runs pytest in a folder."""

    def __init__(self, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capfd = capfd
        self.file = folder / "test_it.py"
        (folder / "pytest.ini").write_text(
            "[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n"
        )

    def __call__(
        self, *words: str, tests: str = "", code: int = 0, first: bool = False, process: bool = False, **more: str
    ) -> str:
        """Run pytest; `first` puts the words before our plugins."""
        if tests:
            self.file.write_text(HEAD + tests)
        plugins = ("-p", "inspector.pytest_plugin", "-p", "pytest_asyncio.plugin", "-p", "no:cacheprovider")
        words = ("-q", "--color=no", *(words + plugins if first else plugins + words))
        env = environment(self.folder, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1", PYTHONDONTWRITEBYTECODE="1", **more)
        if process:
            command = [sys.executable, "-m", "pytest", *words]
            done = subprocess.run(command, cwd=self.folder, env=env, capture_output=True, text=True, timeout=60)
            ended, output = done.returncode, done.stdout + done.stderr
        else:
            ended, output = pytest_here(self.folder, words, env, self._capfd)
        assert ended == code, output
        return output

    @property
    def recordings(self) -> dict[str, bytes]:
        """The recordings that there are."""
        paths = sorted((self.folder / "recordings").rglob("*"))
        return {
            str(path.relative_to(self.folder / "recordings")): path.read_bytes() for path in paths if path.is_file()
        }


@pytest.fixture
def run(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Run:
    return Run(tmp_path, capfd)


@pytest.mark.slow
def test_tests_record_first_and_replay_afterwards(run: Run) -> None:
    assert "5 passed" in run(tests=TESTS, process=True)
    first = run.recordings
    assert [re.sub(r"-[0-9a-f]{6}\.", "-######.", name) for name in first] == [
        f"test_it/{name}.mcp.jsonl"
        for name in (
            "a-b-######",
            "a-b-######",
            "test_by_hand-a-b-######",
            "test_by_hand-a-b-######",
            "test_by_the_marker",
            "test_minds_nothing",
        )
    ]
    run.file.write_text(run.file.read_text().replace(sys.executable, "/no/such/program"))
    assert "5 passed" in run("--mcp-record=none")
    output = run(code=1, SAID="bye")
    assert run.recordings == first
    assert "2 failed, 3 passed" in output
    assert "ERROR" not in output
    assert output.count("Not in the MCP recording") == 2
    assert output.count('$.arguments.message: expected "hello", got "bye"') >= 2
    assert "RecordingError: Some requests are not in the recording" in output
    assert re.search(r'→ \{"jsonrpc":"2.0".*"message":"bye"', output)


@pytest.mark.slow
def test_a_test_that_fails_keeps_no_recording_and_shows_the_difference(run: Run) -> None:
    tests = """
@pytest.mark.mcp(DEMO)
async def test_by_fixture(mcp_session):
    result = await mcp_session.call_tool("echo", {"message": "hello"})
    assert result == {"content": [{"type": "text", "text": "?"}]}


@pytest.mark.mcp(DEMO)
async def test_by_hand(mcp):
    async with mcp.recorded() as session:
        mcp.same(await session.call_tool("add", {"a": 1, "b": 2}), {"structuredContent": {"sum": 4}}, ignore=["$.content"])


async def test_nothing_is_named(mcp):
    async with mcp.recorded():
        pass


@pytest.mark.mcp(["/no/such/program"])
async def test_no_server(mcp):
    async with mcp.open():
        pass


async def test_no_recording(mcp):
    mcp.mode = "none"
    async with mcp.recorded(DEMO):
        pass
"""
    output = run(tests=tests, code=1)
    assert "5 failed" in output
    assert run.recordings == {}
    assert "ToolResult == dict" in output
    assert '$.content[0].text: expected "?", got "hello"' in output
    assert "$.structuredContent.sum: expected 4, got 3" in output
    assert "No server to use" in output
    assert "SpawnError" in output
    assert "RecordingError: No recording exists at" in output


@pytest.mark.slow
def test_a_server_gets_the_variables_of_the_ini_file_and_of_the_marker(run: Run) -> None:
    ini = run.folder / "pytest.ini"
    target = f"{sys.executable} keyed.py"
    ini.write_text(f"{ini.read_text()}mcp_target = {target}\nmcp_env =\n    HOME\n    A=1\nmcp_env_file = b.env\n")
    (run.folder / "b.env").write_text("B=2\n")
    (run.folder / "keyed.py").write_text(
        "import os, runpy\n[os.environ[name] for name in ('HOME', 'A', 'B')]\nrunpy.run_module('inspector.demo', run_name='__main__')\n"
    )
    tests = f"""
async def test_ini(inspector_session):
    assert await inspector_session.tools()


@pytest.mark.mcp([{sys.executable!r}, {str(run.folder / "keyed.py")!r}], env={{"A": "1"}}, env_file="b.env")
async def test_marker(inspector_session):
    assert await inspector_session.tools()


async def test_another_server_gets_none(inspector_mcp):
    import inspector
    with pytest.raises(inspector.ServerExited):
        async with inspector_mcp.open([{sys.executable!r}, {str(run.folder / "keyed.py")!r}]):
            pass
"""
    assert "3 passed" in run(tests=tests)


@pytest.mark.slow
def test_modes_come_from_the_command_line_the_environment_and_the_ini_file(run: Run) -> None:
    ini = run.folder / "pytest.ini"
    ini.write_text(f"{ini.read_text()}mcp_record = rewrite\nmcp_target = some server\n")
    tests = """
def test_nothing_is_loaded_that_is_not_used():
    loaded = sorted(name for name in sys.modules if name.partition(".")[0] == "inspector")
    assert loaded == ["inspector", "inspector.pytest_plugin", "inspector.version"]


def test_it(mcp, monkeypatch, request):
    from inspector.pytest_plugin import McpFixture
    assert (mcp.mode, mcp.target) == ("check", "some server")
    monkeypatch.setattr(request.config.option, "mcp_record", None)
    assert McpFixture(request.node, request.config).mode == "rewrite"
    monkeypatch.setenv("INSPECTOR_MCP_RECORD", "none")
    assert McpFixture(request.node, request.config).mode == "none"
    monkeypatch.setenv("INSPECTOR_MCP_RECORD", "sometimes")
    with pytest.raises(pytest.UsageError, match="Invalid mode"):
        McpFixture(request.node, request.config)
"""
    run("--mcp-record=check", tests=tests, process=True)


@pytest.mark.slow
def test_a_server_is_checked_before_the_test_and_what_is_found_fails_it(run: Run) -> None:
    (run.folder / "faulty.py").write_text(FAULTY)
    shutil.copy(ROOT / "recordings" / "demo-tour.mcp.jsonl", run.folder / "session.mcp.jsonl")
    tests = """
FAULTY = [sys.executable, "faulty.py"]
SESSION = "session.mcp.jsonl"
RUNS = []


@pytest.mark.mcp_check(DEMO, only=["LIFE-01", "LIFE-03"], record="run.mcp.jsonl")
async def test_right():
    RUNS.append("right")


@pytest.mark.mcp(FAULTY)
@pytest.mark.mcp_check(only="LIFE-01", revisions="2025-06-18")
@pytest.mark.mcp_check(DEMO, only="LIFE-03")
def test_wrong():
    RUNS.append("wrong")


@pytest.mark.mcp_check(FAULTY, only="LIFE-01", revisions="2025-06-18", baseline="known.json")
@pytest.mark.mcp_check(FAULTY, only="LIFE-01", revisions="2025-06-18", fail_on="never")
@pytest.mark.mcp_check(SESSION, only="BASE-01")
def test_known():
    RUNS.append("known")


@pytest.mark.mcp_check(["/no/such/program"], only="LIFE-01")
def test_missing():
    RUNS.append("missing")


@pytest.mark.mcp_check(SESSION, only="LIFE-03")
def test_nothing_is_seen():
    RUNS.append("nothing")


@pytest.mark.mcp_check(SESSION, only="hosts", hosts="openai-strict")
def test_of_a_host():
    RUNS.append("host")


@pytest.mark.mcp_check(DEMO, only="LIFE-99")
def test_no_such_check():
    RUNS.append("no such")


def test_what_ran():
    assert RUNS == ["right", "known"]
"""
    finding = {"id": "LIFE-01", "verdict": "fail", "revision": "2025-06-18", "transport": "stdio"}
    # The server gives no usable name: its baseline is recognised by how it is reached.
    known = {
        "format": "mcp-check",
        "version": 1,
        "target": "faulty.py",
        "identity": {"kind": "stdio"},
        "results": [finding],
    }
    (run.folder / "known.json").write_text(json.dumps(known))
    output = run(tests=tests, code=1)
    assert "5 failed, 3 passed" in output, output
    assert "note HOST-" in output
    assert "fail LIFE-01 (2025-06-18 over stdio)" in output
    assert "serverInfo" in output
    assert '← {"jsonrpc": "2.0", "id": ' in output
    assert "/no/such/program" in output
    assert "could not be checked: none of the selected checks applied" in output
    assert "unknown check or group “LIFE-99”" in output
    assert (run.folder / "run.mcp.jsonl").is_file()


NEW = """
def test_without_await(inspector_mcp):
    with inspector_mcp.recorded(DEMO) as session:
        for word in SAID.split(","):
            assert session.call_tool("echo", {"message": word}).text == word


async def test_a_client(inspector_server):
    import inspector
    async with inspector_server(DEMO) as server, inspector.open(server.url, era="legacy") as session:
        for word in SAID.split(","):
            assert (await session.call_tool("echo", {"message": word})).text == word


@pytest.mark.mcp(DEMO)
async def test_by_fixture(inspector_session):
    assert (await inspector_session.call_tool("echo", {"message": SAID})).text == SAID
"""


@pytest.mark.slow
def test_new_episodes_are_appended_and_a_mismatch_says_how_to_accept_it(run: Run) -> None:
    assert "3 passed" in run(tests=NEW, SAID="a")
    output = run("--mcp-record=none", code=1, SAID="a,b")
    command = "pytest --mcp-record=rewrite test_it.py::test_"
    assert output.count(f"To accept the change, run: {command}") >= 3
    assert "3 failed" in output
    assert "3 passed" in run("--mcp-record=new-episodes", SAID="a,b")
    assert "3 passed" in run("--mcp-record=none", SAID="a,b")
    advice = re.findall(r"To accept the change, run: pytest (\S+) (\S+)", run("--mcp-record=none", code=1, SAID="z"))
    modes = {mode for mode, _ in advice}
    assert modes == {"--mcp-record=rewrite"}
    run(*modes, *{test for _, test in advice}, SAID="z")
    assert "3 passed" in run("--mcp-record=none", SAID="z")


THEIRS = """
import pytest

@pytest.fixture(scope="session")
def mcp():
    return "theirs"

@pytest.fixture
def mcp_session(mcp):
    return mcp + " too"
"""


@pytest.mark.slow
@pytest.mark.parametrize("order", ["before", "after", "conftest", "module"])
def test_the_old_names_give_way_to_the_fixtures_of_others(run: Run, order: str) -> None:
    tests = """
def test_it(mcp, mcp_session, inspector_mcp):
    assert (mcp, mcp_session) == ("theirs", "theirs too")
    assert inspector_mcp.mode == "once"
"""
    (run.folder / "theirs.py").write_text(THEIRS if order in ("before", "after") else "")
    if order == "conftest":
        (run.folder / "conftest.py").write_text(THEIRS)
    words = {"before": ("-p", "theirs", "-p", "inspector.pytest_plugin"), "after": ("-p", "theirs")}
    run(*words.get(order, ()), tests=(THEIRS if order == "module" else "") + tests, PYTHONPATH=f"{ROOT}:{run.folder}",
        first=order == "before")  # fmt: skip


@pytest.mark.slow
def test_under_trio_the_error_says_what_to_do(run: Run) -> None:
    tests = """
def test_it(inspector_mcp):
    import trio
    import inspector

    async def main():
        with pytest.raises(inspector.UsageError, match="needs asyncio, but trio is running") as caught:
            async with inspector_mcp.recorded(DEMO):
                pass
        assert "inspector.open_sync" in caught.value.hint
        with inspector_mcp.recorded(DEMO) as session:
            return session.call_tool("echo", {"message": "a"}).text

    assert trio.run(main) == "a"
"""
    run(tests=tests)


@pytest.mark.slow
def test_the_examples_of_the_pages_pass_live_and_replayed(run: Run) -> None:
    pages = [ROOT / "docs" / name for name in ("how-to/test-with-pytest.md", "reference/pytest.md")]
    command = f"{sys.executable} -m inspector.demo"
    for number, example in enumerate(example for page in pages for example in blocks(page, "python")):
        (run.folder / f"test_{number}.py").write_text(example.replace("python -m inspector.demo", command))
    assert "9 passed" in run()
    assert len(run.recordings) == 7
    assert "9 passed" in run("--mcp-record=none")


def test_every_mode_and_method_is_on_the_page() -> None:
    text = (ROOT / "docs" / "reference" / "pytest.md").read_text(encoding="utf-8")
    assert MODES == TAPED_MODES
    assert all(f"| `{mode}` |" in text for mode in MODES)
    public = {name for name in vars(McpFixture) if not name.startswith("_")} - {"sections"}
    assert all(f"| `inspector_mcp.{name}(" in text for name in public)


@pytest.mark.slow
def test_a_marker_of_a_module_checks_once(run: Run) -> None:
    """Each further check would start the server again; `record=` would find its file there."""
    tests = f"""
import pytest
from inspector.pytest_plugin import McpFixture
pytestmark = pytest.mark.mcp_check([{sys.executable!r}, "-m", "inspector.demo"], only="LIFE-03", revisions="2025-06-18", record="run.mcp.jsonl")

@pytest.mark.parametrize("n", [1, 2])
def test_one(n, inspector_mcp: McpFixture):
    pass

def test_two():
    pass
"""
    assert "3 passed" in run(tests=tests)
