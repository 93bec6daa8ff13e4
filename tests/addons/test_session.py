"""Addons between a session and its server: what they may do, what is recorded, and what of them is refused."""

import asyncio
import json
import math
import os
import time
from pathlib import Path

import pytest

from inspector.addons import addon as addons
from inspector.client.recorded_session import RecordedSession
from inspector.errors import ServerError, UsageError
from inspector.journal.alterations import authors
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import encode, warm_up
from inspector.transports.memory import MemoryTransport
from tests.addons.conftest import altered, lines, message
from tests.client.conftest import Server, until

RESULT = {"content": [{"type": "text", "text": "fine"}]}


class Http(MemoryTransport):
    """A transport whose messages have headers."""

    name = "http"


def calls(server):
    return [asked["params"] for asked in server.asked("tools/call")]


# What an addon may do


async def test_without_functions_every_byte_passes(stage):
    stage.load("")
    async with stage.session(server := Server(tools__call=RESULT)) as session:
        assert await session.call_tool("price", {"article": 1}).result() == RESULT
        assert calls(server) == [{"name": "price", "arguments": {"article": 1}, "_meta": {"progressToken": 1}}]
        assert altered(session.journal) == []


async def test_a_changed_request_reaches_the_server_and_both_texts_are_recorded(stage):
    stage.load('def on_request(m, ctx):\n  if "name" in m["params"]: m["params"]["arguments"] = {"b": 2}; return m')
    async with stage.session(server := Server(tools__call=RESULT)) as session:
        call = session.call_tool("price", {"a": 1})
        assert await call.result() == RESULT
        assert calls(server)[0]["arguments"] == {"b": 2}
        [line] = altered(session.journal)
        assert message(line)["params"]["arguments"] == {"b": 2}
        [step] = line["addon"]
        assert (step["by"], step["did"]) == ("a.py", "changed")
        assert step["before"] == (
            '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":'
            '{"name":"price","arguments":{"a":1},"_meta":{"progressToken":1}}}'
        )
        assert session.journal.index.pair(call.n) == call.answer_n > 0


async def test_a_changed_response_reaches_the_session_with_the_exact_bytes_before(stage):
    stage.load(
        "def on_response(m, ctx):\n"
        '  if ctx.request["method"] == "tools/call" and ctx.sender == "server": m["result"] = {"content": []}; return m'
    )
    before = b'{ "jsonrpc":"2.0", "id":1,"result":{"content":[ ],"x":1.0e5}}'
    async with stage.session(Server(tools__call=lambda asked, reply: reply(before))) as session:
        assert await session.call_tool("price").result() == {"content": []}
        [line] = altered(session.journal)
        assert line["addon"] == [{"by": "a.py", "did": "changed", "before": before.decode()}]
        assert line["dir"] == "recv"


async def test_a_refused_request_never_reaches_the_server(stage):
    stage.load('def on_request(m, ctx):\n  if "name" in m["params"]: ctx.refuse(-32001, "not today")')
    async with stage.session(server := Server(tools__call=RESULT)) as session:
        call = session.call_tool("price")
        with pytest.raises(ServerError, match="not today") as caught:
            await call.result()
        assert caught.value.rpc_code == -32001
        assert calls(server) == []
        sent, received = altered(session.journal)
        assert [sent["addon"], received["addon"]] == [[{"by": "a.py", "did": "refused"}]] * 2
        assert session.journal.index.pair(call.n) == call.answer_n > call.n


async def test_an_addon_answers_instead_of_the_server(stage):
    stage.load('def on_request(m, ctx):\n  if "name" in m["params"]: ctx.answer({"content": [], "by": "addon"})')
    async with stage.session(server := Server()) as session:
        assert await session.call_tool("price").result() == {"content": [], "by": "addon"}
        assert calls(server) == []


async def test_a_response_may_be_refused_or_answered(stage):
    stage.load(
        "def on_response(m, ctx):\n"
        '  name = ctx.request["params"].get("name")\n'
        '  if name == "no": ctx.refuse(-1, "bad")\n'
        '  if name == "yes": ctx.answer({"content": []})'
    )
    async with stage.session(Server(tools__call=RESULT)) as session:
        assert await session.call_tool("yes").result() == {"content": []}
        with pytest.raises(ServerError, match="bad"):
            await session.call_tool("no").result()
        assert [line["addon"][0]["did"] for line in altered(session.journal)] == ["answered", "refused"]


async def test_a_question_is_answered_without_the_session(stage):
    stage.load('def on_question(q, ctx): ctx.answer({"roots": [{"uri": "file:///x"}]})')

    async def ask(asked, reply):
        reply({"jsonrpc": "2.0", "id": "q", "method": "roots/list"})
        await until(lambda: server.seen[-1].get("id") == "q")
        reply({"jsonrpc": "2.0", "id": asked["id"], "result": server.seen[-1]["result"]})

    async with stage.session(server := Server(tools__call=ask)) as session:
        assert await session.call_tool("ask").result() == {"roots": [{"uri": "file:///x"}]}
        assert session.inbox.questions == []
        assert [(line["dir"], line["addon"][0]["did"]) for line in altered(session.journal)] == [
            ("recv", "answered"),
            ("send", "answered"),
        ]


async def test_a_refused_notification_is_dropped_and_a_changed_one_passes(stage):
    stage.load(
        "def on_notification(m, ctx):\n"
        '  if ctx.sender == "client": return\n'
        '  if m["params"]["data"] == "secret": ctx.refuse(0, "")\n'
        '  else: m["params"]["data"] = "changed"; return m'
    )

    def log(asked, reply):
        for data in ("secret", "open"):
            reply({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": data}})
        reply({"jsonrpc": "2.0", "id": asked["id"], "result": RESULT})

    async with stage.session(Server(tools__call=log)) as session:
        await session.call_tool("log").result()
        dropped, changed = altered(session.journal)
        assert dropped["addon"][0]["did"] == "refused"
        assert message(changed)["params"]["data"] == "changed"


async def test_a_delayed_message_does_not_hold_the_others(stage):
    stage.load('def on_request(m, ctx):\n  if m["params"].get("name") == "slow": ctx.delay(0.05)')
    async with stage.session(server := Server(tools__call=RESULT)) as session:
        slow, fast = session.call_tool("slow"), session.call_tool("fast")
        await asyncio.gather(slow.result(), fast.result())
        assert [params["name"] for params in calls(server)] == ["fast", "slow"]
        assert altered(session.journal)[0]["addon"] == [{"by": "a.py", "did": "delayed by 0.05 s"}]
        assert slow.n > fast.n > 0


@pytest.mark.parametrize(
    ("decision", "outcome"), [("refuse(-1, 'late')", "error"), ("answer({'by': 'addon'})", "result")]
)
async def test_a_delayed_decision_does_not_hold_the_others(stage, decision, outcome):
    stage.load(f'def on_request(m, ctx):\n  if m["params"].get("name") == "slow": ctx.delay(0.05); ctx.{decision}')
    async with stage.session(server := Server(tools__call=RESULT)) as session:
        slow, fast = session.call_tool("slow"), session.call_tool("fast")
        await fast.result()
        assert altered(session.journal) == []
        await asyncio.wait([asyncio.ensure_future(slow.result())])
        assert [params["name"] for params in calls(server)] == ["fast"]
        sent, received = altered(session.journal)
        assert outcome in message(received)
        did = {"error": "refused", "result": "answered"}[outcome]
        assert [step["did"] for step in sent["addon"]] == ["delayed by 0.05 s", did]
        assert [step["did"] for step in received["addon"]] == [did]


async def test_the_end_of_the_connection_answers_what_was_delayed(stage):
    stage.load('def on_request(m, ctx):\n  if "name" in m["params"]: ctx.delay(3000); ctx.answer({"by": "addon"})')
    async with stage.session(Server()) as session:
        call = session.call_tool("slow")
        await session.transport.close()
        assert await call.result() == {"by": "addon"}


async def test_of_several_decisions_the_last_reply_wins_over_a_changed_message(stage):
    stage.load(
        "def on_request(m, ctx):\n"
        '  if "name" in m["params"]: ctx.refuse(-1, "no"); ctx.answer({"by": "addon"}); m["x"] = 1; return m\n'
        "def on_response(m, ctx): ctx.note(str(m))",
        "def on_request(m, ctx):\n  if 'name' in m['params']: ctx.note('not reached')",
    )
    async with stage.session(server := Server(tools__call=RESULT)) as session:
        stage.notes.clear()
        assert await session.call_tool("price").result() == {"by": "addon"}
        assert (calls(server), stage.notes) == ([], [])


async def test_the_end_of_the_connection_delivers_what_was_delayed(stage):
    stage.load('def on_request(m, ctx):\n  if "name" in m["params"]: ctx.delay(3000)')
    async with stage.session(server := Server(tools__call=RESULT)) as session:
        session.call_tool("slow")
        await session.transport.close()
        assert len(altered(session.journal)) == 1
    assert server.asked("initialize")


async def test_notes_and_state_and_the_two_ends_of_a_connection(stage):
    stage.load(
        "def on_connect(ctx): ctx.state['calls'] = 0\n"
        "def on_request(m, ctx): ctx.state['calls'] += 'name' in m.get('params', {})\n"
        "def on_end(ctx): ctx.note(f\"{ctx.state['calls']} calls\\x1b[31m\")"
    )
    async with stage.session(Server(tools__call=RESULT)) as session:
        await session.call_tool("a").result()
        await session.call_tool("b").result()
        journal = session.journal
        await session.leave()
        [line] = lines(journal, "life")[-1:]
    assert (line["event"], line["by"], line["text"]) == ("addon", "a.py", stage.notes[0])
    assert stage.notes == ["a.py: 2 calls␛[31m"]


async def test_addons_see_what_the_ones_before_them_made(stage):
    change = 'def on_request(m, ctx):\n  if "name" in m["params"]: m["params"]["name"] += "{0}"; return m'
    stage.load(change.format("-a"), change.format("-b"))
    async with stage.session(server := Server(tools__call=RESULT)) as session:
        await session.call_tool("x").result()
        assert calls(server)[0]["name"] == "x-a-b"
        [line] = altered(session.journal)
        assert [(step["by"], json.loads(step["before"])["params"]["name"]) for step in line["addon"]] == [
            ("a.py", "x"),
            ("b.py", "x-a"),
        ]


async def test_a_header_is_sent_over_http_with_those_that_repeat_the_changed_values(stage):
    stage.load('def on_request(m, ctx):\n  ctx.header("X-Tenant", "acme")\n  m["params"] = {"name": "other"}; return m')
    sent = []

    class Kept(Http):
        def send(self, outgoing):
            sent.append(outgoing)
            super().send(outgoing)

    async with stage.session(Server(), transport=Kept) as session:
        session.driver.headers = lambda method, params: (("Mcp-Name", params["name"]),)
        session.call_tool("price", headers=[("A", "b")])
        assert sent[-1].user_headers == (("A", "b"), ("X-Tenant", "acme"))
        assert sent[-1].headers == (("Mcp-Name", "other"),)
        assert [step["did"] for step in altered(session.journal)[-1]["addon"]] == ["changed", "header X-Tenant"]


async def test_the_header_of_an_addon_is_recorded_and_the_message_stays_the_sender_s(stage):
    stage.load('def on_request(m, ctx): ctx.header("X-Tenant", "acme")')
    async with stage.session(Server(), transport=Http) as session:
        journal = session.journal
        assert altered(journal)[0]["addon"] == [{"by": "a.py", "did": "header X-Tenant"}]
        assert authors(altered(journal)[0]) == []
        batch = b'[{"jsonrpc":"2.0",  "id":6,"method":"keep"}]'
        session.send_raw(batch)
        [line] = [line for line in lines(journal) if line["raw"].startswith("[")]
        assert (line["raw"].encode(), line["addon"][0]["did"]) == (batch, "header X-Tenant")
    assert stage.notes == []


@pytest.mark.parametrize(
    ("transport", "function"), [(MemoryTransport, "on_request(m, ctx)"), (Http, "on_response(m, ctx)")]
)
async def test_a_header_that_no_message_can_carry_is_said_once(stage, transport, function):
    stage.load(f'def {function}: ctx.header("X-Tenant", "acme")')
    async with stage.session(Server(tools__call=RESULT), transport=transport) as session:
        await session.call_tool("price").result()
        assert altered(session.journal) == []
    name = function.partition("(")[0]
    assert stage.notes == [
        f"{name} in a.py set the header X-Tenant, which is not sent: only messages of the client over HTTP have "
        "headers. Change params._meta instead."
    ]


@pytest.mark.parametrize(
    ("meta", "result", "expected"),
    [
        ("2026-07-28", {"content": []}, {"resultType": "complete", "content": []}),
        ("2026-07-28", {"resultType": "input_required"}, {"resultType": "input_required"}),
        ("2026-07-28", [], []),
        ("2025-11-25", {"content": []}, {"content": []}),
        ([], {"content": []}, {"content": []}),
    ],
)
@pytest.mark.parametrize("function", ["on_request", "on_response"])
async def test_an_answer_has_the_type_that_results_need_in_its_revision(stage, function, meta, result, expected):
    stage.load(f"def {function}(m, ctx): ctx.answer({result!r})")
    connection = stage.filter.connection(lambda by, text: None)
    key = "io.modelcontextprotocol/protocolVersion"
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"_meta": {key: meta}}}
    filtered = connection.judge("client", encode(asked), asked)
    data = filtered.reply
    if function == "on_response":
        answer = {"jsonrpc": "2.0", "id": 1, "result": {}}
        data = connection.judge("server", encode(answer), answer).data
    assert json.loads(data)["result"] == expected


async def test_the_messages_of_a_batch_are_judged_one_by_one(stage):
    stage.load(
        "def on_request(m, ctx):\n"
        '  if m["method"] == "drop": ctx.refuse(-1, "no")\n'
        '  if m["method"] == "change": m["params"] = {}; return m'
    )
    batch = b'[{"jsonrpc":"2.0","id":7,"method":"drop"}, {"jsonrpc":"2.0","id":8,"method":"change"}]'
    async with stage.session(Server()) as session:
        session.send_raw(b'[{"jsonrpc":"2.0","id":6,"method":"keep"}]')
        session.send_raw(batch)
        session.send_raw(batch.partition(b", ")[0] + b"]")
        first, second = (line["addon"] for line in altered(session.journal))
        assert first == [
            {"by": "a.py", "did": "refused", "before": batch.decode()},
            {"by": "a.py", "did": "changed"},
        ]
        assert second[0]["did"] == "refused"
        raw = [line["raw"] for line in lines(session.journal) if line["raw"].startswith("[")]
        assert raw[:2] == [
            '[{"jsonrpc":"2.0","id":6,"method":"keep"}]',
            '[{"jsonrpc":"2.0","id":8,"method":"change","params":{}}]',
        ]
        await until(lambda: "error" in lines(session.journal)[-1]["raw"])
        refusals = [json.loads(line["raw"]) for line in lines(session.journal) if '"no"' in line["raw"]]
        assert [answer["id"] for [answer] in refusals] == [7, 7]


# What is recorded


async def test_secrets_are_redacted_before_and_after(stage):
    stage.load(
        'def on_request(m, ctx):\n  if "name" in m["params"]: m["params"]["name"] += "!"; ctx.note(str(m)); return m'
    )
    async with stage.session(server := Server(tools__call=RESULT), secrets=["s3cr3t-v4lue"]) as session:
        await session.call_tool("x", {"key": "s3cr3t-v4lue"}).result()
        assert calls(server)[0]["arguments"] == {"key": "s3cr3t-v4lue"}
        journal = session.journal
        text = journal.storage.pread(0, journal.storage.size).decode()
        assert "s3cr3t-v4lue" not in text
        assert text.count("redacted ") >= 3


async def test_a_replay_shows_what_the_session_saw(stage, tmp_path):
    stage.load(
        "def on_response(m, ctx):\n"
        '  if ctx.request["method"] == "tools/list": m["result"]["tools"][0]["name"] = "new"; return m'
    )
    tools = {"tools": [{"name": "old", "inputSchema": {"type": "object"}}]}
    async with stage.session(Server(tools__list=tools)) as session:
        await session.load("tools")
        assert [tool["name"] for tool in session.catalog["tools"].items] == ["new"]
        recorded = RecordedSession(session.journal, tmp_path)
        while recorded.advance():
            pass
        assert [tool["name"] for tool in recorded.catalog["tools"].items] == ["new"]


# What of an addon is refused

UNCHANGED = [
    ('return "text"', "on_request in a.py returned a str, which is not a message. The message passes unchanged."),
    ("return [m]", "on_request in a.py returned a list, which is not a message. The message passes unchanged."),
    ('return m | {"id": 99}', "on_request in a.py changed the id 1 to 99. The message passes unchanged."),
    ('return m | {"id": True}', "on_request in a.py changed the id 1 to True. The message passes unchanged."),
    (
        'm.pop("id"); return m',
        "on_request in a.py returned an object that is not a request. The message passes unchanged.",
    ),
    ("return {}", "on_request in a.py returned an object that is not a request. The message passes unchanged."),
    ('m["params"] = {"x": print}; return m', "on_request in a.py returned a message that is not JSON"),
    (
        'm["params"] = {}',
        "on_request in a.py returned None, but has changed the message. The message passes unchanged.",
    ),
    ("ctx.answer(print)", "on_request in a.py gave an answer that is not JSON"),
    ("ctx.answer({1})", "on_request in a.py gave an answer that is not JSON"),
    ("1 / 0", "on_request in a.py failed: ZeroDivisionError: division by zero (line 2). The message passes unchanged."),
    ("import asyncio; raise asyncio.CancelledError", "on_request in a.py failed: CancelledError (line 2). The message"),
    ("raise GeneratorExit", "on_request in a.py failed: GeneratorExit (line 2). The message passes unchanged."),
    ("raise SystemExit(3)", "on_request in a.py failed: SystemExit: 3 (line 2). The message passes unchanged."),
    ('ctx.refuse("no", 1)', "on_request in a.py failed: TypeError: ctx.refuse takes a number and a text (line 2)"),
    ("ctx.delay(-1)", "on_request in a.py failed: ValueError: ctx.delay takes 0 to 3600 seconds (line 2)"),
    ('ctx.refuse(-1, "no"); 1 / 0', "on_request in a.py failed: ZeroDivisionError"),
]


@pytest.mark.parametrize(("code", "sentence"), UNCHANGED)
async def test_nonsense_changes_no_byte_and_is_said_once(stage, code, sentence):
    warm_up()  # The fast library would write a set as a list.
    stage.load("def on_request(m, ctx):\n  " + f'if "name" in m["params"]: {code}')
    async with stage.session(server := Server(tools__call=RESULT)) as session:
        for _ in range(3):
            await session.call_tool("price", {"a": 1}).result()
        assert [params["arguments"] for params in calls(server)] == [{"a": 1}] * 3
        assert altered(session.journal) == []
        [note] = stage.notes
        assert note.startswith(sentence)
        assert [line["text"] for line in lines(session.journal, "life") if line["event"] == "addon"] == [note]


async def test_a_function_that_blocks_is_interrupted_and_not_called_again(stage, monkeypatch):
    monkeypatch.setattr(addons, "LIMIT", 0.02)
    stage.load(
        "import time\n"
        "def on_request(m, ctx):\n"
        "  while 'name' in m['params']:\n"
        "    try: time.sleep(5)\n"
        "    except Exception: pass"
    )
    async with stage.session(server := Server(tools__call=RESULT)) as session:
        began = time.monotonic()
        for _ in range(3):
            await session.call_tool("price").result()
        assert time.monotonic() - began < 4
        assert len(calls(server)) == 3
        assert stage.filter.addons[0].functions == {}
        assert stage.notes == [
            "on_request in a.py did not return within 0.02 s: all messages waited. It is called again when the file "
            "changes."
        ]


async def test_a_function_that_blocks_is_interrupted_by_the_alarm_of_earlier_messages(stage, monkeypatch):
    times, take = [], addons._guard._alarm.set
    monkeypatch.setattr(addons._guard._alarm, "set", lambda *given: times.append(given[0]) or take(*given))
    monkeypatch.setattr(addons, "LIMIT", 0.3)
    stage.load("import time\ndef on_request(m, ctx):\n  if m.get('params', {}).get('name') == 'slow': time.sleep(3)")
    async with stage.session(server := Server(tools__call=RESULT)) as session:
        for _ in range(50):
            await session.call_tool("price").result()
        assert len(times) < 10
        await asyncio.sleep(0.1)
        began = time.monotonic()
        await session.call_tool("slow").result()
        assert 0.29 < time.monotonic() - began < 2
        assert len(calls(server)) == 51
        [note] = stage.notes
        assert note.startswith("on_request in a.py did not return within 0.3 s")
    await until(lambda: addons._guard._rings == math.inf)


async def test_a_function_that_cannot_be_interrupted_is_out_of_use_too(stage, monkeypatch):
    monkeypatch.setattr(addons, "LIMIT", 0.01)
    monkeypatch.setattr(addons._guard._alarm, "_can_ring", False)
    stage.load("import time\ndef on_request(m, ctx):\n  time.sleep(0.02)\n  ctx.refuse(-1, 'late')")
    async with stage.session(Server()):
        [note] = stage.notes
        assert note.startswith("on_request in a.py did not return within 0.01 s: all messages waited.")


@pytest.mark.slow
async def test_a_copy_of_the_process_ends(stage):
    stage.load("import os\ndef on_request(m, ctx):\n  if 'name' in m['params']: os.fork()")
    async with stage.session(server := Server(tools__call=RESULT)) as session:
        for calls_made in (1, 2):
            await session.call_tool("price").result()
            await asyncio.to_thread(os.wait)
            assert len(calls(server)) == calls_made
    assert stage.notes == ["on_request in a.py forked this process: the copy ends as the function returns."]


@pytest.mark.slow
def test_a_file_that_forks_while_it_is_loaded_is_refused(stage):
    with pytest.raises(UsageError, match=r"a\.py forks as it is loaded"):
        stage.load("import os\nos.fork()")
    os.wait()


async def test_prints_go_to_stderr(stage, capsys):
    stage.load("print('loaded')\ndef on_connect(ctx): print('hello')")
    async with stage.session(Server()):
        pass
    assert capsys.readouterr() == ("", "loaded\nhello\n")


# The file


async def test_a_changed_file_is_loaded_before_the_next_message(stage):
    name = 'def on_request(m, ctx):\n  if "name" in m["params"]: m["params"]["name"] = "{0}"; return m'
    stage.load(name.format("one"))
    async with stage.session(server := Server(tools__call=RESULT)) as session:
        await session.call_tool("x").result()
        stage.write("a", name.format("two"))
        await session.call_tool("x").result()
        stage.write("a", "def on_request(m, ctx) oops")
        await session.call_tool("x").result()
        (stage.folder / "a.py").unlink()
        await session.call_tool("x").result()
        assert [params["name"] for params in calls(server)] == ["one", "two", "two", "two"]
        assert stage.notes == [
            "a.py has changed and was loaded again.",
            "The addon a.py cannot be loaded: line 1: expected ':'. The version before it stays in use.",
        ]


@pytest.mark.parametrize(
    ("text", "problem", "hint"),
    [
        ("def f(:", "The addon a.py cannot be loaded: line 1: invalid syntax", "Correct the file."),
        ("import no_such_module_x", "No module named 'no_such_module_x' (line 1)", "Correct the file."),
        ("raise SystemExit", "The addon a.py cannot be loaded: SystemExit (line 1).", "Correct the file."),
        ("def on_reqest(m, ctx): pass", "a.py has a function on_reqest, which is never called.", "on_request?"),
        ("async def on_end(ctx): pass", "on_end in a.py is async, and is never awaited.", "def on_end"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_at_the_start(stage, text, problem, hint):
    with pytest.raises(UsageError) as caught:
        stage.load(text)
    assert problem in caught.value.message
    assert hint in caught.value.hint


def test_a_missing_file_is_named(stage):
    with pytest.raises(UsageError, match=r"b\.py cannot be read: the file does not exist"):
        addons.Addon(stage.folder / "b.py")


def test_a_file_without_an_end_is_not_read(stage):
    for kind in ("/dev/zero", stage.folder):
        with pytest.raises(UsageError, match=r"cannot be read: it is (not a regular file|a folder)"):
            addons.Addon(Path(kind))


def test_the_judge_does_not_blame_the_server_for_an_addon(tmp_path):
    from inspector.check.judge.judge import Judge
    from inspector.journal.alterations import Alteration
    from inspector.journal.journal import altered as member

    def findings(steps):
        journal = Journal.unnamed({})
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        journal.record_sent("stdio", json.dumps(asked).encode(), asked)
        journal.record_received("stdio", [b'{"jsonrpc":"1.0","id":1,"result":{"tools":3}}'], member(journal, steps))
        judge = Judge(journal)
        judge.run_all()
        numbers = [finding.n for finding in judge.findings.all()]
        journal.release()
        return numbers

    assert 2 in findings([])
    assert 2 not in findings([Alteration("a.py", "changed", b"{}")])
