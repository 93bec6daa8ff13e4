"""Each export, opened by its own consumer: a browser, Mermaid, validators, the SDK, curl, the other recorders."""

from __future__ import annotations

import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import inspector
from inspector.journal.journal import Journal
from tests.formats.journals import RECORDINGS, call, exported, hostile, opened, result
from tests.interop.listening_servers import free_port, listening
from tests.interop.peers import CACHE, HERE, NODE
from tests.processes import environment

pytestmark = pytest.mark.interop

CONSUMERS = CACHE / "consumers"
PYTHON = str(CACHE / "python/consumers/bin/python")
SCRIPTS = HERE / "consumers"
DEMO = [sys.executable, "-m", "inspector.demo"]
ECHO: list[dict[str, Any]] = [
    {
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    },
    {"method": "notifications/initialized"},
    {"id": 2, "method": "tools/call", "params": {"name": "echo", "arguments": {"message": "hi"}}},
]
"""The messages of a client that calls one tool of the demo server."""
CLIENT: dict[str, Any] = {"era": "legacy", "sampling": "a haiku", "elicit": "decline"}
SAMPLES = ("demo-tour", "demo-http", "hostile")


@pytest.fixture
def journals() -> Iterator[dict[str, Journal]]:
    """The exported recordings: the samples, and the most hostile one."""
    by_name = {name: opened(RECORDINGS / f"{name}.mcp.jsonl") for name in SAMPLES}
    by_name |= {"worst": hostile(), "worst-http": hostile(http=True)}
    yield by_name
    for journal in by_name.values():
        journal.release()


def written(journals: dict[str, Journal], format: str, folder: Path, suffix: str) -> list[str]:
    """The exports in files."""
    paths = []
    for name, journal in journals.items():
        path = folder / f"{name}{suffix}"
        path.write_text(exported(journal, format), encoding="utf-8")
        paths.append(str(path))
    return paths


def stdout_of(words: list[str], folder: Path, **variables: str) -> str:
    """The stdout of a program, which must succeed."""
    env = environment(folder, **{"TMPDIR": str(folder), **variables})
    ran = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert ran.returncode == 0, ran.stderr + ran.stdout
    return ran.stdout


def script_output(script: str, paths: list[str], folder: Path, **variables: str) -> Any:
    """The output of one of our scripts about files."""
    words = [NODE, str(CONSUMERS / script)] if script.endswith(".mjs") else [PYTHON, str(SCRIPTS / script)]
    return json.loads(stdout_of([*words, *paths], folder, **variables))


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Where the browser is unpacked, once."""
    return {"TMPDIR": str(tmp_path_factory.mktemp("browser"))}


# The page


@pytest.fixture
def canary() -> Iterator[tuple[str, list[str]]]:
    """A URL that must not be requested, and the requests to it."""
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()


def baited(url: str) -> Journal:
    """A recording that tries to make a browser request `url`, in every way that a page has."""
    baits = [
        f"<img src={url}/img>", f"<script src={url}/script></script>", f"<link rel=stylesheet href={url}/style>",
        f"</script><script>fetch('{url}/fetch')</script>", f"<iframe src={url}/frame></iframe>",
        f"<svg onload=\"fetch('{url}/svg')\">", f"@import url({url}/import);", f"url({url}/css)",
        f"</title><meta http-equiv=refresh content='0;url={url}/refresh'>", f"javascript:fetch('{url}/js')",
    ]  # fmt: skip
    journal = Journal.unnamed({"label": baits[3], "url": f"{url}/target"})
    for at, bait in enumerate(baits):
        call(
            journal, at, bait, {"name": bait, bait: bait}, result(at, {bait: [bait], "icons": [{"src": f"{url}/icon"}]})
        )
        journal.record_received("stdio", [bait.encode()])
        journal.record_stderr("stderr", [bait.encode()])
        journal.record_life("", bait, reason=bait)
    return journal


def test_a_browser_runs_and_asks_for_nothing_of_a_server(
    journals: dict[str, Journal], canary: tuple[str, list[str]], browser: dict[str, str], tmp_path: Path
) -> None:
    url, asked = canary
    journals["baited"] = baited(url)
    paths = written(journals, "html", tmp_path, ".html")
    ours: set[str] = set()
    pages = script_output("browser.mjs", paths, tmp_path, **browser)
    for (name, journal), path, page in zip(journals.items(), paths, pages, strict=True):
        assert page["requests"] == [f"file://{path}"]
        assert (page["dialogs"], page["errors"]) == ([], [])
        assert page["rows"] == len(journal) == len(page["texts"])
        numbers = [text.split(" ")[0] for text in page["texts"]]
        assert numbers == [str(n) for n in range(1, len(journal) + 1)], name
        ours |= set(page["elements"])
    assert ours <= {
        "html", "head", "meta", "title", "style", "body", "header", "h1", "h2", "div", "span", "input", "button", "main",
        "noscript", "script", "p", "pre",
    }  # fmt: skip
    assert asked == []


def test_a_browser_shows_searches_and_folds(
    journals: dict[str, Journal], browser: dict[str, str], tmp_path: Path
) -> None:
    paths = written({"demo-http": journals["demo-http"], "worst": journals["worst"]}, "html", tmp_path, ".html")
    http, worst = script_output("browser.mjs", paths, tmp_path, **browser)
    assert (http["title"], http["counted"]) == ("127.0.0.1:8000", "67 of 67")
    assert '"method": "initialize"' in http["texts"][0]
    assert int(http["folded"].split()[0]) < 67
    assert http["searched"] == "9 of 67"
    assert int(worst["found"].split()[0]) > 10
    text = "\n".join(worst["texts"])
    assert "123456789012345678901234567890" in text
    assert "␛[2J‹202E›" in text
    assert "\u202e" not in text


def test_a_browser_opens_a_hundred_thousand_events(browser: dict[str, str], tmp_path: Path) -> None:
    journal = Journal.unnamed({"label": "long"})
    for n in range(1000):
        note = f'{{"method":"notifications/message","params":{{"level":"info","data":"{n}"}}}}'.encode()
        journal.record_received("stdio", [note] * 100)
    (page,) = script_output("browser.mjs", written({"long": journal}, "html", tmp_path, ".html"), tmp_path, **browser)
    journal.release()
    assert page["counted"] == "100,000 of 100,000"
    assert 10 < page["drawn"] < 100
    assert page["errors"] == []


# Pictures, archives, traces


def test_mermaid_draws_every_diagram(journals: dict[str, Journal], browser: dict[str, str], tmp_path: Path) -> None:
    paths = written(journals, "mermaid", tmp_path, ".mmd")
    output = script_output("mermaid.mjs", paths, tmp_path, **browser)
    assert output["dialogs"] == []
    for path, picture in zip(paths, output["drawn"], strict=True):
        lines = Path(path).read_text().splitlines()[3:]
        assert len(picture["messages"]) + len(picture["notes"]) == len(lines)
        assert not {"script", "img", "foreignObject", "a"} & set(picture["elements"])
    worst = output["drawn"][list(journals).index("worst")]
    assert any("</script><script>alert(1)</script>" in text for text in worst["messages"])
    assert any("a;b#c%%d:e->>f" in text for text in worst["messages"])


def test_a_validator_takes_every_archive(journals: dict[str, Journal], tmp_path: Path) -> None:
    archives = script_output("har.mjs", written(journals, "har", tmp_path, ".har"), tmp_path)
    assert all(archive.get("entries") for archive in archives), archives


def test_opentelemetry_reads_every_trace(journals: dict[str, Journal], tmp_path: Path) -> None:
    traces = script_output("read_traces.py", written(journals, "otlp", tmp_path, ".json"), tmp_path)
    assert len(traces) == len(journals)
    assert {"MCP session", "tools/call slow", "sampling/createMessage"} <= set(traces[0])


def test_opentelemetry_reads_the_spans_that_a_tap_streams(tmp_path: Path) -> None:
    bodies: list[Path] = []

    class Collector(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(tmp_path / f"{len(bodies)}.json")
            bodies[-1].write_bytes(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *words: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        tap = [
            sys.executable,
            "-m",
            "inspector",
            "tap",
            "--otlp",
            f"http://127.0.0.1:{server.server_port}",
            "--",
            *DEMO,
        ]
        # A client that waits for the tap's end: one that kills it after a second may lose the last spans.
        lines = b"".join(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n" for message in ECHO)
        subprocess.run(tap, input=lines, capture_output=True, check=True, timeout=60)
    finally:
        server.shutdown()
        server.server_close()
    traces = script_output("read_traces.py", list(map(str, bodies)), tmp_path)
    names = [name for trace in traces for name in trace]
    assert {"tools/call echo", "MCP session"} <= set(names)


# Programs


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of the demo server over stdio."""
    return recorded(tmp_path_factory.mktemp("talk") / "talk.mcp.jsonl", DEMO)


def recorded(path: Path, target: list[str] | str, era: str = "legacy") -> Path:
    import asyncio

    async def talk() -> None:
        async with inspector.open(target, record=path, **{**CLIENT, "era": era}) as session:
            await session.tools()
            await session.call_tool("echo", {"message": "it's here"})
            await session.call_tool("ask-model")
            await session.call_tool("ask-user")
            await session.read_resource("demo://readme")
            await session.get_prompt("greet")
            await session.complete("explain-code", "language", "p")
            with pytest.raises(inspector.ServerError):
                await session.request("no/such/method", {"a": 1})

    asyncio.run(talk())
    return path


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_official_sdk_does_it_again(era: str, tmp_path: Path) -> None:
    path = recorded(tmp_path / "talk.mcp.jsonl", DEMO, era)
    program = tmp_path / "again.py"
    program.write_text(exported(opened(path), "python-sdk"))
    text = stdout_of([str(CACHE / "python/mcp-2.3/bin/python"), "-W", "ignore", str(program)], tmp_path)
    for part in ("it's here", "a haiku", "decline", "The demo server", "python", "Method not found"):
        assert part in text


def test_tests_made_of_a_modern_session_pass(tmp_path: Path) -> None:
    path = recorded(tmp_path / "talk.mcp.jsonl", DEMO, "modern")
    module = tmp_path / "test_again.py"
    module.write_text(exported(opened(path), "pytest"))
    assert "8 passed" in stdout_of(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(module)], tmp_path
    )


def test_curl_sends_it_again_over_http(tmp_path: Path) -> None:
    assert shutil.which("curl"), "curl is missing"
    port = free_port()
    env = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with listening([*DEMO, "--http", str(port)], port, tmp_path / "log", env=env):
        path = recorded(tmp_path / "http.mcp.jsonl", f"http://127.0.0.1:{port}/mcp")
        script = tmp_path / "again.sh"
        script.write_text(exported(opened(path), "curl"))
        assert "redacted" not in script.read_text()
        text = stdout_of(["sh", str(script)], tmp_path, PAUSE="3", WAIT="30")
    for part in ("it's here", "a haiku", "The demo server", "-32601"):
        assert part in text


# Other recorders


def test_mcp_cassette_reads_every_cassette_and_serves_one(
    journals: dict[str, Journal], talk: Path, tmp_path: Path
) -> None:
    import asyncio

    tool = [PYTHON, str(SCRIPTS / "mcp_cassette_tool.py"), str(CACHE / "unpacked")]
    paths = written(journals, "mcp-cassette", tmp_path, ".json")
    amounts = json.loads(stdout_of([*tool, "load", *paths], tmp_path))
    assert amounts == [
        sum(event.kind_name in ("rpc", "invalid") for event in journal.events()) for journal in journals.values()
    ]
    (cassette,) = written({"talk": opened(talk)}, "mcp-cassette", tmp_path, ".json")

    async def play() -> str:
        async with inspector.open([*tool, "serve", cassette], era="legacy") as session:
            return (await session.call_tool("echo", {"message": "it's here"})).text

    assert asyncio.run(play()) == "it's here"


def test_mcp_recorder_reads_every_cassette_and_serves_one(
    journals: dict[str, Journal], talk: Path, tmp_path: Path
) -> None:
    import asyncio

    paths = written(journals, "mcp-recorder", tmp_path, ".json")
    assert all(json.loads(stdout_of([PYTHON, str(SCRIPTS / "mcp_recorder_tool.py"), *paths], tmp_path)))
    (cassette,) = written({"talk": opened(talk)}, "mcp-recorder", tmp_path, ".json")
    port = free_port()
    words = [PYTHON, str(SCRIPTS / "mcp_recorder_here.py"), "replay", "--cassette", cassette, "--port", str(port)]

    async def play() -> str:
        # It matches the opening by its parameters, too: what the client declares must be what it declared.
        async with inspector.open(f"http://127.0.0.1:{port}/mcp", **CLIENT) as session:
            return (await session.call_tool("echo", {"message": "it's here"})).text

    with listening(words, port, tmp_path / "log", env=dict(os.environ)):
        assert asyncio.run(play()) == "it's here"


def test_mcporter_replays_what_it_asked_itself(tmp_path: Path) -> None:
    """It replays only a client that opens the connection in its own words: so the recording is one of it."""
    node = next(CONSUMERS.glob("node_modules/node-linux-*/bin/node"))
    config = tmp_path / "mcporter.json"
    config.write_text(json.dumps({"mcpServers": {"demo": {"command": DEMO[0], "args": DEMO[1:]}}}))
    mcporter = [str(node), str(CONSUMERS / "node_modules/mcporter/dist/cli.js"), "--config", str(config)]
    asked = [*mcporter, "call", "demo.echo", "message=hello"]
    stdout_of([*mcporter, "record", "theirs", "--server", "demo", "--", *asked], tmp_path)
    recordings = tmp_path / ".mcporter" / "recordings"
    journal = Journal.unnamed({"label": "demo"})
    for line in (recordings / "theirs.ndjson").read_text().splitlines():
        message = json.loads(line)
        dir = message.pop("_meta")["dir"]
        if dir == "send":
            journal.record_sent("stdio", json.dumps(message).encode(), message)
        elif dir == "recv":
            journal.record_received("stdio", [json.dumps(message).encode()])
    (recordings / "ours.ndjson").write_text(exported(journal, "mcporter"))
    config.write_text(json.dumps({"mcpServers": {"demo": {"command": "/no/such/program"}}}))
    replay = {"MCPORTER_REPLAY": "ours", "MCPORTER_REPLAY_SERVER": "demo", "MCPORTER_DISABLE_KEEPALIVE": "*"}
    assert "hello" in stdout_of(asked, tmp_path, **replay)
