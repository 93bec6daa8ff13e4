"""Makes the sample recordings in `recordings/`: sessions of Inspector itself with the demo server and hostile ones.

`make golden` runs it. What depends on the machine (paths, process ids, names of environment variables, the time of the
day) is written in a neutral way, so that two makings differ in durations, in what the servers draw by lot, and in the
hashes of what is redacted.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from inspector.client.inbox import StandingAnswers, root_object
from inspector.client.options import Options
from inspector.client.session import Session
from inspector.config.paths import RECORDING_SUFFIX
from inspector.config.target_arguments import parse_target
from inspector.config.targets import HttpTarget, StdioTarget, Target
from inspector.errors import InspectorError
from inspector.journal.format import Dir
from inspector.journal.journal import Journal
from inspector.protocol.forms.form import Form

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "recordings"
DEMO = ("python", "-m", "inspector.demo", "--items", "30", "--tick", "60")
HOSTILE = ("python", "tests/servers/hostile.py", "--case")
CASES = (
    "broken-line", "banner", "blank-lines", "crlf", "bom", "invalid-utf8", "lone-surrogate", "separators", "batch",
    "big-integers", "huge-exponent", "nan", "duplicate-keys", "nul", "text-and-answer", "null-result", "no-result",
    "result-and-error", "error-of-wrong-types", "wrong-content", "no-version", "answers-twice", "unknown-id",
    "string-id", "strange-messages", "dies-mid-reply", "escapes", "repeated-cursor", "exits-after-initialize",
)  # fmt: skip
"""The hostile servers of the sample, in the order in which they are started."""
STUCK = ("nul", "text-and-answer", "no-result", "string-id")
"""Those whose answer cannot be used: the call is cancelled."""
STARTED = "2026-01-01T12:00:00.000000Z"
FOLDER_THEN, PYTHON_THEN = "/home/ada/inspector", "/usr/bin/python"
VARIABLES = ["HOME", "LANG", "PATH", "TERM"]
PATIENCE = 20


async def until(condition: Callable[[], Any]) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.005)


@asynccontextmanager
async def recorded(name: str, target: Target) -> AsyncIterator[Session]:
    """A session that asks its user; in the end its recording stands in `recordings/`."""
    assert isinstance(target, StdioTarget | HttpTarget)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}{RECORDING_SUFFIX}"
        asking = Options(timeout=PATIENCE, standing=StandingAnswers(sampling="ask", elicitation="ask", roots="ask"))
        journal = Journal.create(path, target.as_header())
        session = Session(target, journal, asking)
        try:
            await session.open()
            yield session
        finally:
            await session.close()
            journal.release()
        FOLDER.mkdir(exist_ok=True)
        (FOLDER / path.name).write_bytes(neutral(path.read_bytes(), name))


def neutral(recording: bytes, name: str, folder: str = FOLDER_THEN) -> bytes:
    """The recording without what depends on the machine. Messages are left as they are, but for the port of a URL.

    `folder` is the one in which it was made, where that may stand in it.
    """
    text = recording.decode().replace(folder, FOLDER_THEN).replace(str(ROOT), FOLDER_THEN)
    lines = text.removesuffix("\n").split("\n")
    header = json.loads(lines[0])
    header["id"] = str(uuid.uuid5(uuid.NAMESPACE_URL, name))
    header["started"] = STARTED
    lines[0] = dumps(header)
    for number, line in enumerate(lines):
        if '"event":"spawn"' in line:
            event = json.loads(line)
            event |= {"program": PYTHON_THEN, "cwd": FOLDER_THEN, "env": VARIABLES, "pid": 4000 + event["n"]}
            lines[number] = dumps(event)
    text = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:8000", "\n".join(lines) + "\n")
    for private in (str(ROOT), str(Path.home()), sys.prefix):
        assert private == "/" or private not in text, private
    return text.encode()


dumps = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


async def done(call: Any) -> Any:
    """The result of a call; an error is part of the tour."""
    try:
        return await call.result()
    except InspectorError as error:
        return error


async def tour() -> None:
    """Everything that a server offers: lists, calls of every kind, questions, reading, following, failures."""
    async with recorded("demo-tour", parse_target(list(DEMO), command=True)) as session:
        session.load_all()
        await until(lambda: all(found.complete for found in session.catalog.lists.values()))
        await calls(session)
        await slow_calls(session)
        await questions(session)
        await contents(session)
        await failures(session)


async def calls(session: Session) -> None:
    """Results of every kind."""
    wanted: tuple[tuple[str, dict[str, Any]], ...] = (
        ("echo", {"message": "hello"}),
        ("add", {"a": 19, "b": 23}),
        ("weather", {"city": "Kyoto"}),
        ("bad-structured", {}),
        ("configure", {"name": "sample", "retries": 3, "ratio": 0.25, "verbose": True, "tags": ["a", "b"]}),
        ("order-pizza", {"size": "m", "toppings": ["basil"]}),
        ("show-markdown", {}),
        ("show-unicode", {}),
        ("draw-picture", {"width": 16, "height": 8}),
        ("embed-text", {}),
        ("link-resources", {"count": 3}),
        ("empty", {}),
    )
    for name, arguments in wanted:
        await done(session.call_tool(name, arguments))


async def slow_calls(session: Session) -> None:
    """Progress, log messages, lines on stderr, cancellation, a time-out, two at once."""
    await session.set_log_level("info")
    await done(session.call_tool("slow", {"seconds": 0.4, "steps": 8}))
    await done(session.call_tool("count", {"to": 5, "interval": 0.02}))
    await done(session.call_tool("noisy", {"lines": 3}))
    cancelled = session.call_tool("slow", {"seconds": 30, "steps": 300})
    await until(lambda: cancelled.progress)
    cancelled.cancel("cancelled by the user")
    await done(cancelled)
    await done(session.call_tool("forget", timeout=0.15))
    both = [session.call_tool("slow", {"seconds": seconds, "steps": 2}) for seconds in (0.1, 0.05)]
    await asyncio.gather(*map(done, both))


async def questions(session: Session) -> None:
    """Answer, decline and cancel questions of the server."""
    answers: tuple[tuple[str, Callable[[Any], Any]], ...] = (
        ("ask-model", lambda asked: asked.reply_text("Green letters glow, the cursor waits for a key")),
        ("ask-model", lambda asked: asked.decline()),
        ("ask-user", lambda asked: asked.accept(Form(asked.schema).defaults() | {"name": "Ada"})),
        ("ask-user", lambda asked: asked.decline()),
        ("ask-user", lambda asked: asked.cancel()),
        ("ask-link", lambda asked: asked.decline()),
        ("where-am-i", lambda asked: asked.accept([root_object("file:///home/ada/project")])),
    )  # fmt: skip
    for name, answer in answers:
        call = session.call_tool(name)
        await until(lambda: session.inbox.open() or call.fate != "pending")  # noqa: B023
        for asked in session.inbox.open():
            answer(asked)
        await done(call)
    await done(session.call_tool("ping-client", {"times": 2}))


async def contents(session: Session) -> None:
    """Resources, templates, prompts, completion, subscriptions, lists that change."""
    for uri in ("demo://readme", "demo://planets", "demo://bytes", "demo://items/7", "demo://weather/norway/oslo"):
        await done(session.read_resource(uri))
    await done(session.get_prompt("greet"))
    await done(session.get_prompt("explain-code", {"language": "python", "code": "print(1)", "detail": "short"}))
    await session.complete({"type": "ref/prompt", "name": "explain-code"}, "language", "p")
    await session.complete({"type": "ref/prompt", "name": "explain-code"}, "framework", "", {"language": "python"})
    await session.subscribe("demo://readme")
    await done(session.call_tool("touch-resource", {"uri": "demo://readme"}))
    await until(lambda: session.subscriptions.counts.get("demo://readme"))
    await session.unsubscribe("demo://readme")
    version = session.catalog.tools.version
    await done(session.call_tool("change-list", {"list": "tools", "action": "add"}))
    await until(lambda: session.catalog.tools.version > version and session.catalog.tools.complete)


async def failures(session: Session) -> None:
    """Tool errors and protocol errors; in the end the server dies."""
    await done(session.call_tool("fail", {"message": "The printer is on fire."}))
    await done(session.call_tool("protocol-error", {}))
    await done(session.call_tool("add", {"a": "one"}))
    await done(session.call_tool("no-such-tool"))
    await done(session.read_resource("demo://nowhere"))
    await done(session.get_prompt("explain-code"))
    await done(session.start("no/such/method", progress=False))
    await session.ping()
    await done(session.call_tool("crash", {"exit_code": 3}))


@contextmanager
def serving(*more: str) -> Iterator[str]:
    """The demo server over HTTP, in a process of its own; its URL."""
    words = [sys.executable, "-m", "inspector.demo", "--http", "0", "--items", "30", "--tick", "60", *more]
    with subprocess.Popen(words, stderr=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stderr
        try:
            yield process.stderr.readline().decode().split()[-1]
        finally:
            process.terminate()


async def http(url: str) -> None:
    """A short session over Streamable HTTP: JSON bodies, event streams, one that breaks off and is resumed."""
    async with recorded("demo-http", parse_target([url])) as session:
        await session.load("tools")
        await done(session.call_tool("echo", {"message": "hello"}))
        await done(session.call_tool("slow", {"seconds": 0.2, "steps": 4}))
        await done(session.call_tool("hang-up", {"retry": 100}))
        model = session.call_tool("ask-model")
        await until(session.inbox.open)
        session.inbox.open()[0].reply_text("It is quiet here")
        await done(model)
        await done(session.read_resource("demo://readme"))
        await done(session.call_tool("fail"))


async def hostile() -> None:
    """One hostile server after the other, each with one call that it answers badly."""
    async with recorded("hostile", parse_target([*HOSTILE, "good"], command=True)) as session:
        await done(session.call_tool("echo", {"message": "hello"}))
        for case in CASES:
            session.target = StdioTarget((*HOSTILE, case))
            try:
                await session.reopen()
            except InspectorError:
                continue
            if case == "escapes":  # from here on, each reconnect lists the tools again
                await session.load("tools")
            call = session.call_tool("echo", {"message": "hello"})
            if case in STUCK:
                await until(lambda: _answered(session.journal))
                call.cancel()
            await done(call)


def _answered(journal: Journal) -> bool:
    """Whether something has come after the newest call."""
    for n in range(len(journal), 0, -1):
        if journal.index.dir(n) is Dir.RECV:
            return True
        if journal.index.method(n) == "tools/call":
            return False
    return False


def main() -> None:
    """Makes all of them."""
    os.chdir(ROOT)
    os.environ["PATH"] = str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"]
    asyncio.run(tour())
    with serving() as url:
        asyncio.run(http(url))
    asyncio.run(hostile())
    for path in sorted(FOLDER.glob(f"*{RECORDING_SUFFIX}")):
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size:,} bytes, {len(path.read_bytes().splitlines()):,} lines")


if __name__ == "__main__":
    main()
