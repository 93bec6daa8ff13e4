"""A session, for programs."""

from __future__ import annotations

import asyncio
import base64
import sys
import traceback
from pathlib import Path
from typing import Any

import pytest

import inspector
from inspector.client.options import Options
from inspector.config.targets import StdioTarget
from inspector.library.session import Session, parts
from inspector.transports.memory import MemoryTransport
from tests.client.conftest import Server, until
from tests.library.conftest import session_on

DEMO = [sys.executable, "-m", "inspector.demo"]


def result(message: dict[str, Any], value: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": message["id"], "result": value}


def notification(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": params}


async def test_a_tool_is_called() -> None:
    raw = {"content": [{"type": "text", "text": "4"}], "structuredContent": {"sum": 4}, "x": 1}
    async with session_on(Server(tools__call=raw)) as session:
        answer = await session.call_tool("add", {"a": 2, "b": 2})
        assert (answer.text, answer.structured, answer.is_error, answer["x"]) == ("4", {"sum": 4}, False, 1)
        assert answer.raw == raw
        assert answer.raise_for_error() is answer
        assert answer.seconds >= 0
        assert session.recording[answer.n].message["result"] == raw
    (exchange,) = session.recording.exchanges("method:tools/call")
    assert exchange.params["arguments"] == {"a": 2, "b": 2}
    assert (exchange.name, exchange.state, exchange.result, exchange.error) == ("add", "done", raw, None)
    assert session.recording.is_complete


async def test_a_tool_that_fails_gives_a_result_that_says_so() -> None:
    raw = {"content": [{"type": "text", "text": "no such city"}], "isError": True}
    async with session_on(Server(tools__call=raw)) as session:
        answer = await session.call_tool("weather")
        assert answer.is_error
        with pytest.raises(inspector.ToolFailed, match="The tool weather failed: no such city") as caught:
            answer.raise_for_error()
        assert caught.value.result == raw


@pytest.mark.parametrize("odd", [None, 7, [], {}, {"content": 3}, {"content": [None, {"type": 4}], "isError": "yes"}])
async def test_any_result_is_a_result(odd: Any) -> None:
    def answer(message: Any, reply: Any) -> None:
        reply(result(message, odd))

    async with session_on(Server(tools__call=answer, resources__read=answer, prompts__get=answer)) as session:
        called = await session.call_tool("t")
        assert called.raw == odd
        assert called.text == ""
        assert not called.is_error
        assert [block.kind for block in called.content] in ([], ["unknown", "unknown"])
        assert (await session.read_resource("a://b")).contents == ()
        assert (await session.get_prompt("p")).messages == ()


async def test_results_are_exact_and_errors_are_without_secrets() -> None:
    secret = "tok-Ab12cd34"
    raw = {"content": [{"type": "text", "text": f"using {secret}"}]}

    def answer(message: dict[str, Any], reply: Any) -> None:
        bad = {"code": -1, "message": f"no {secret}", "data": secret}
        works = message["params"]["name"] == "works"
        reply(result(message, raw) if works else {"jsonrpc": "2.0", "id": message["id"], "error": bad})

    server = Server(tools__call=answer)
    session = Session(
        StdioTarget(("test",), env={"SHOP_TOKEN": secret}), Options(era="legacy"),
        connect=lambda _target, sink, _options: MemoryTransport(sink, server),
    )  # fmt: skip
    async with session:
        called = await session.call_tool("works")
        assert called.raw == raw
        with pytest.raises(inspector.ServerError, match="no ‹redacted ") as caught:
            await session.call_tool("fails")
        assert secret not in f"{caught.value!r} {caught.value} {caught.value.as_json()}"
        assert secret not in str(session.recording[called.n].message)


async def test_lists_are_read_to_their_end_as_views() -> None:
    def page(message: Any, reply: Any) -> None:
        again = "cursor" in message.get("params", {})
        tools = [{"name": "b" if again else "a", "description": "d"}]
        reply(result(message, {"tools": tools} if again else {"tools": tools, "nextCursor": "2"}))

    server = Server(
        tools__list=page, prompts__list={"prompts": [{"name": "p", "arguments": [{"name": "x", "required": True}]}]},
        resources__list={"resources": [{"uri": "a://b", "name": "r"}]},
    )  # fmt: skip
    async with session_on(server) as session:
        assert [(tool.name, tool.description) for tool in await session.tools()] == [("a", "d"), ("b", "d")]
        assert [argument.name for argument in (await session.prompts())[0].arguments] == ["x"]
        assert [resource.uri for resource in await session.resources()] == ["a://b"]
        assert await session.templates() == []
        assert [tool.name for tool in session.recording.tools] == ["a", "b"]
        assert session.recording.server.name == "test"


async def test_resources_and_prompts() -> None:
    picture = base64.b64encode(b"\x89PNG").decode()
    server = Server(
        resources__read={"contents": [{"uri": "a://b", "mimeType": "text/plain", "text": "hi"}, {"blob": picture}]},
        prompts__get={"description": "d", "messages": [{"role": "user", "content": {"type": "text", "text": "hello"}}]},
        completion__complete={"completion": {"values": ["python", "pytest"]}},
    )
    async with session_on(server) as session:
        read = await session.read_resource("a://b")
        assert read.text == "hi"
        assert [(part.uri, part.mime_type, part.data) for part in read.contents] == [
            ("a://b", "text/plain", None), ("", "", b"\x89PNG"),
        ]  # fmt: skip
        prompt = await session.get_prompt("greet", {"name": "Ada"})
        assert (prompt.description, [(item.role, item.text) for item in prompt.messages]) == ("d", [("user", "hello")])
        assert await session.complete("greet", "language", "py") == ["python", "pytest"]
        await session.complete("a://{b}", "b", "")
    refs = [message["params"]["ref"]["type"] for message in server.asked("completion/complete")]
    assert refs == ["ref/prompt", "ref/resource"]


async def test_any_request_and_any_notification() -> None:
    server = Server(x__y={"z": [1]})
    async with session_on(server) as session:
        assert await session.request("x/y", {"a": 1}) == {"z": [1]}
        session.notify("notifications/mine", {"b": 2})
        await until(lambda: server.asked("notifications/mine"))
        with pytest.raises(inspector.ServerError) as caught:
            await session.request("no/such")
        assert caught.value.rpc_code == -32601
    assert server.asked("x/y")[0]["params"] == {"a": 1}


async def test_progress_is_reported_in_order_and_before_the_result() -> None:
    def work(message: Any, reply: Any) -> None:
        token = message["params"]["_meta"]["progressToken"]
        for step in (1, 2, 3):
            reply(
                notification("notifications/progress", progressToken=token, progress=step, total=3, message=f"s{step}")
            )
        reply(notification("notifications/progress", progressToken="another", progress=99))
        reply(result(message, {"content": []}))

    updates: list[tuple[Any, Any, Any, Any]] = []
    async with session_on(Server(tools__call=work)) as session:
        await session.call_tool(
            "slow", progress=lambda step: updates.append((step.value, step.total, step.message, step.count))
        )
        assert updates == [(1, 3, "s1", 1), (2, 3, "s2", 2), (3, 3, "s3", 3)]


async def test_what_the_callback_of_progress_raises_ends_the_call() -> None:
    def work(message: Any, reply: Any) -> None:
        reply(
            notification(
                "notifications/progress", progressToken=message["params"]["_meta"]["progressToken"], progress=1
            )
        )

    def broken(_step: inspector.Progress) -> None:
        raise LookupError("mine")

    server = Server(tools__call=work)
    async with session_on(server) as session:
        with pytest.raises(LookupError, match="mine"):
            await session.call_tool("slow", progress=broken)
        await until(lambda: server.asked("notifications/cancelled"))


async def test_who_stops_waiting_cancels() -> None:
    server = Server(tools__call=lambda _message, _reply: None)
    async with session_on(server) as session:
        for progress in (None, print):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01):
                    await session.call_tool("slow", progress=progress)
        await until(lambda: len(server.asked("notifications/cancelled")) == 2)
        with pytest.raises(inspector.RequestTimeout):
            await session.call_tool("slow", timeout=0.01)


async def test_notifications_are_iterated_from_when_they_were_wanted() -> None:
    def work(message: Any, reply: Any) -> None:
        reply(notification("notifications/message", level="info", data="one"))
        reply(notification("notifications/other"))
        reply(
            [notification("notifications/message", data="two"), 7, notification("notifications/message", data="three")]
        )
        reply(result(message, {}))

    async with session_on(Server(tools__call=work)) as session:
        await session.call_tool("before")
        everything, logs = session.notifications(), session.notifications("notifications/message")
        await session.call_tool("now")
        assert [(await anext(logs)).params["data"] for _ in range(3)] == ["one", "two", "three"]
        assert [(await anext(everything)).method for _ in range(2)] == ["notifications/message", "notifications/other"]
        waiting = asyncio.create_task(anext(logs))
        await session.call_tool("again")
        assert (await waiting)["params"] == {"level": "info", "data": "one"}
        rest = asyncio.create_task(_drain(logs))
        await asyncio.sleep(0)
    assert await rest == ["two", "three"]


async def _drain(stream: Any) -> list[Any]:
    return [notification.params.get("data") async for notification in stream]


async def test_a_connection_that_is_lost_ends_the_iteration_with_the_reason() -> None:
    def die(_message: Any, _reply: Any) -> None:
        raise inspector.ServerExited("gone")

    async with session_on(Server(tools__call=die)) as session:
        stream = session.notifications()
        with pytest.raises(inspector.ServerExited):
            await session.call_tool("t")
        with pytest.raises(inspector.ServerExited, match="gone"):
            await anext(stream)


def asking(method: str, params: dict[str, Any]) -> Any:
    """A server whose tool asks the client and returns the client's answer."""

    async def call(message: Any, reply: Any) -> None:
        server.waiting[message["id"]] = message
        reply({"jsonrpc": "2.0", "id": f"q{message['id']}", "method": method, "params": params})

    class Asking(Server):
        waiting: dict[Any, Any]

        async def __call__(self, message: Any, reply: Any) -> None:
            if message.get("method") is None and str(message.get("id")).startswith("q"):
                asked = self.waiting.pop(int(message["id"][1:]))
                response = message.get("result", message.get("error"))
                reply(result(asked, {"structuredContent": response, "content": []}))
            await super().__call__(message, reply)

    server = Asking(tools__call=call)
    server.waiting = {}
    return server


SAMPLING = {
    "messages": [{"role": "user", "content": {"type": "text", "text": "2 + 2?"}}],
    "maxTokens": 9,
    "systemPrompt": "s",
}
ELICIT = {
    "message": "Who?",
    "requestedSchema": {"type": "object", "properties": {"name": {"type": "string", "default": "Ada"}}},
}


async def test_sampling_is_answered_by_a_callback() -> None:
    async def model(asked: inspector.SamplingRequest) -> str:
        await asyncio.sleep(0)
        assert (asked.max_tokens, asked.system_prompt) == (9, "s")
        return asked.messages[0].text.replace("2 + 2?", "4")

    async with session_on(asking("sampling/createMessage", SAMPLING), sampling=model) as session:
        structured = (await session.call_tool("t")).structured
        assert structured["content"] == {"type": "text", "text": "4"}
    whole = {"role": "assistant", "model": "m", "content": {"type": "text", "text": "x"}}
    async with session_on(asking("sampling/createMessage", SAMPLING), sampling=lambda _asked: whole) as session:
        assert (await session.call_tool("t")).structured == whole
    async with session_on(asking("sampling/createMessage", SAMPLING), sampling=lambda _asked: None) as session:
        assert (await session.call_tool("t")).structured["code"] == -1


@pytest.mark.parametrize(
    ("answer", "sent"),
    [
        ({"name": "Bob"}, {"action": "accept", "content": {"name": "Bob"}}),
        ("defaults", {"action": "accept", "content": {"name": "Ada"}}),
        ("cancel", {"action": "cancel"}),
        ("decline", {"action": "decline"}),
        (None, {"action": "decline"}),
    ],
)
async def test_elicitation_is_answered_by_a_callback(answer: Any, sent: Any) -> None:
    def person(asked: inspector.Elicitation) -> Any:
        assert (asked.message, asked.mode, list(asked.schema["properties"])) == ("Who?", "form", ["name"])
        return answer

    async with session_on(asking("elicitation/create", ELICIT), elicitation=person) as session:
        assert (await session.call_tool("t")).structured == sent


async def test_a_visited_url_is_accepted_without_content() -> None:
    asked = {"mode": "url", "message": "m", "url": "https://e.example/x", "elicitationId": "1"}
    seen: list[str] = []
    server = asking("elicitation/create", asked)
    async with session_on(server, elicitation=lambda question: seen.append(question.url) or {}) as session:
        assert (await session.call_tool("t")).structured == {"action": "accept"}
    assert seen == ["https://e.example/x"]


@pytest.mark.parametrize("kind", ["sampling", "elicitation"])
async def test_what_a_callback_raises_reaches_who_called(kind: str) -> None:
    def broken(_asked: Any) -> str:
        raise LookupError("mine")

    server = asking("sampling/createMessage", SAMPLING) if kind == "sampling" else asking("elicitation/create", ELICIT)
    async with session_on(server, **{kind: broken}) as session:
        with pytest.raises(LookupError, match="mine"):
            await session.call_tool("t")
    async with session_on(server, **{kind: lambda _asked: 7}) as session:
        with pytest.raises(TypeError, match="callback must return"):
            await session.call_tool("t")


@pytest.mark.slow
async def test_a_session_that_cannot_be_opened_says_why_and_leaves_nothing() -> None:
    session = inspector.open([sys.executable, "-c", "raise SystemExit(3)"])
    with pytest.raises(inspector.ServerExited):
        await session.connect()
    await session.close()
    assert session.recording.is_complete
    with pytest.raises(inspector.SessionLost):
        await session.connect()


@pytest.mark.slow
async def test_a_plain_traceback_of_a_server_that_exited_shows_hint_and_stderr() -> None:
    program = "import sys; sys.stderr.write('no database\\x1b[2J\\ntoken TOP-SECRET-9\\n'); sys.exit(3)"
    session = inspector.open([sys.executable, "-c", program], env={"API_KEY": "TOP-SECRET-9"})
    with pytest.raises(inspector.ServerExited) as caught:
        await session.connect()
    text = "".join(traceback.format_exception(caught.value))
    assert "Hint:" not in text
    assert "Last lines on stderr:\n  no database" in text
    assert "\x1b" not in text
    assert "TOP-SECRET-9" not in text
    with pytest.raises(inspector.ServerExited) as silent:
        await inspector.open([sys.executable, "-c", "raise SystemExit(3)"]).connect()
    assert "Hint: It wrote nothing to stderr." in "".join(traceback.format_exception(silent.value))


async def test_a_sampling_answer_that_is_too_long_warns() -> None:
    server = asking("sampling/createMessage", SAMPLING)
    async with session_on(server, sampling=lambda _asked: "a b c d e f g h i j") as session:
        with pytest.warns(UserWarning, match="10 words; the server allows 9 tokens"):
            result = await session.call_tool("t")
    assert result.structured["content"]["text"] == "a b c d e f g h i j"


async def test_a_session_that_is_not_connected_says_so() -> None:
    session = inspector.open("true")
    for use in (lambda: session.server, lambda: session.recording, lambda: session.notify("x")):
        with pytest.raises(inspector.SessionLost, match="not connected"):
            use()
    await session.close()
    assert "not connected" in repr(session)


@pytest.mark.slow
@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_real_server_in_either_era(era: Any, tmp_path: Path) -> None:
    path = tmp_path / "s.mcp.jsonl"
    questions: list[str] = []

    def person(asked: inspector.Elicitation) -> dict[str, str]:
        questions.append(asked.message)
        return {"name": "Ada", "email": "ada@example.org"}

    options = {"elicit": person, "record": path, "roots": [tmp_path], "extensions": ["tasks"]}
    async with inspector.open(DEMO, era=era, **options) as session:
        assert session.server.era == era
        assert (await session.call_tool("ask-user")).text
        assert len(questions) == 1
        values: list[float] = []
        await session.call_tool("slow", {"seconds": 0.01, "steps": 3}, progress=lambda step: values.append(step.value))
        assert values
        assert values == sorted(values)
        assert (await session.call_tool("task-slow", {"seconds": 0.05}, as_task=True)).raise_for_error()
        assert [task.status for task in await session.tasks()] == ["completed"]
        updates = session.notifications("notifications/resources/updated")
        await session.subscribe("demo://readme")
        await session.call_tool("touch-resource", {"uri": "demo://readme"})
        assert (await anext(updates)).params["uri"] == "demo://readme"
    with inspector.recording(path) as read:
        assert read.is_complete
        assert next(read.exchanges("method:tools/call -dir:recv")).name == "ask-user"


def test_what_is_given_wrongly_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(inspector.TargetError):
        inspector.open("")
    with pytest.raises(inspector.UsageError, match="elicit="):
        inspector.open("true", elicit="maybe")
    with pytest.raises(inspector.UsageError, match="needs an interface"):
        inspector.open("true", sampling="ask")
    with pytest.raises(inspector.UsageError, match="a login works only with a URL"):
        inspector.open("true", bearer="x")
    with pytest.raises(inspector.UsageError, match="exclude"):
        inspector.open("https://h.example/mcp", bearer="x", auth=inspector.AuthOptions())
    wrong = {
        "era": "old",
        "revision": 5,
        "timeout": "5",
        "max_timeout": 0,
        "client": 5,
        "log_level": "loud",
        "sampling": 5,
    }
    for name, value in wrong.items():
        with pytest.raises(inspector.UsageError, match=f"“{name}” in inspector.open must be"):
            inspector.open("true", **{name: value})
    assert parts(inspector.open("true", protocol="2025-06-18"))[1].protocol == "2025-06-18"  # The old name.
    assert parts(inspector.open("true", revision="2025-06-18"))[1].protocol == "2025-06-18"
    (tmp_path / "s.mcp.jsonl").write_text("x")
    with pytest.raises(inspector.UsageError, match="--cwd has no effect"):
        inspector.open(str(tmp_path / "s.mcp.jsonl"), cwd=tmp_path)


@pytest.mark.slow
async def test_no_extension_is_offered_unless_asked_for(tmp_path: Path) -> None:
    """C-EXT-08."""
    async with inspector.open(DEMO, era="modern") as session:
        assert sent_extensions(session) is None
    offered = {"com.example/x": {"a": [None, False, 0]}, "tasks": {}}
    async with inspector.open(DEMO, era="modern", client="Acme/2.1", extensions=offered) as session:
        assert sent_extensions(session) == {
            "com.example/x": {"a": [None, False, 0]},
            "io.modelcontextprotocol/tasks": {},
        }


def sent_extensions(session: inspector.Session) -> object:
    """Return the extensions in the newest request."""
    *_, request = session.recording.messages("dir:send method:*")
    return request["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"].get("extensions")
