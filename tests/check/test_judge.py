"""The judge names what is wrong with which message, by which rule, and nothing that is right."""

import json

import pytest

from inspector.check.judge import judge as judge_module
from inspector.check.judge import rules
from inspector.check.judge.judge import Judge
from inspector.journal.format import header_line
from inspector.journal.journal import Journal

INIT = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
    "protocolVersion": "2025-11-25", "capabilities": {"roots": {}}, "clientInfo": {"name": "i", "version": "1"}}}  # fmt: skip
WELCOME = {"jsonrpc": "2.0", "id": 0, "result": {
    "protocolVersion": "2025-11-25", "capabilities": {"tools": {"listChanged": True}, "logging": {}},
    "serverInfo": {"name": "s", "version": "1"}}}  # fmt: skip
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
TOOL = {"name": "t", "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}},
        "outputSchema": {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}}  # fmt: skip


class Court:
    """A recording with two hands, after a handshake, and its judge."""

    def __init__(self, revision="2025-11-25"):
        self.journal = Journal.unnamed({})
        self.judge = Judge(self.journal)
        welcome = json.loads(json.dumps(WELCOME))
        welcome["result"]["protocolVersion"] = revision
        self.send(INIT)
        self.receive(welcome)
        self.send(READY)

    def send(self, message):
        return self.journal.record_sent("stdio", json.dumps(message).encode(), message)

    def receive(self, message):
        raw = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.journal.record_received("stdio", [raw])
        return len(self.journal)

    def call(self, id=1, name="t", arguments=None, **meta):
        params = {"name": name, "arguments": arguments or {}}
        if meta:
            params["_meta"] = meta
        return self.send({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})

    def tools(self, *tools, id=90, cursor=None, following=None):
        params = {} if cursor is None else {"params": {"cursor": cursor}}
        self.send({"jsonrpc": "2.0", "id": id, "method": "tools/list"} | params)
        more = {} if following is None else {"nextCursor": following}
        return self.receive({"jsonrpc": "2.0", "id": id, "result": {"tools": list(tools), **more}})

    def rules(self, n=None):
        """The rules found for event `n`, or for all."""
        self.judge.run_all()
        findings = self.journal.findings
        return [finding.rule for finding in (findings.all() if n is None else findings.of(n))]


@pytest.fixture
def court():
    made = Court()
    yield made
    made.journal.release()


def result(id, **body):
    return {"jsonrpc": "2.0", "id": id, "result": body}


def notice(method, **params):
    return {"jsonrpc": "2.0", "method": method, "params": params}


def test_a_session_without_fault_has_no_findings(court):
    court.tools(TOOL)
    court.call(1, "t", {"n": 1}, progressToken="p")
    court.receive(notice("notifications/progress", progressToken="p", progress=1))
    court.receive(notice("notifications/message", level="info", data="x"))
    court.receive({"jsonrpc": "2.0", "id": 1, "method": "roots/list"})
    court.send(result(1, roots=[]))
    court.receive(result(1, content=[{"type": "text", "text": "{}"}], structuredContent={"x": 1}))
    assert court.rules() == []


@pytest.mark.parametrize(
    ("raw", "rule"),
    [
        (b"Starting...", "STDIO-01"),
        (b"", "STDIO-01"),
        (b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}\r', "STDIO-02"),
        (b'\xef\xbb\xbf{"jsonrpc":"2.0","method":"notifications/x"}', "BASE-30"),
        (b'{"jsonrpc":"2.0","method":"notifications/\xff"}', "BASE-30"),
        (b'{"jsonrpc":"2.0","method":"notifications/x","params":{"a":1,"a":2}}', "BASE-01"),
        (b'{"jsonrpc":"2.0","method":"notifications/x","params":{"a":NaN}}', "BASE-01"),
        (b'{"jsonrpc":"2.0","method":"notifications/x","params":{"a":"\\ud800"}}', "BASE-30"),
        (b'{"jsonrpc":"2.0","method":"notifications/x","params":{"a":12345678901234567890}}', "BASE-01"),
        (b'{"method":"notifications/x"}', "BASE-01"),
        (b'{"jsonrpc":"1.0","method":"notifications/x"}', "BASE-01"),
        (b"7", "BASE-01"),
        (b'{"jsonrpc":"2.0"}', "BASE-01"),
        (b'[{"jsonrpc":"2.0","method":"notifications/x"}]', "BASE-13"),
        (b'{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}', "C-BASE-02"),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', "C-BASE-02"),
        (b'{"jsonrpc":"2.0","id":null,"method":"notifications/x"}', "BASE-11"),
    ],
)
def test_faults_of_one_message(court, raw, rule):
    n = court.receive(raw)
    assert rule in court.rules(n)


def test_batches_are_lawful_where_the_revision_has_them():
    court = Court("2025-03-26")
    n = court.receive([notice("notifications/message", level="info", data=1)])
    assert "BASE-13" not in court.rules(n)


@pytest.mark.parametrize(
    ("answer", "rule"),
    [
        ({"jsonrpc": "2.0", "id": 1, "result": {"content": []}, "error": {"code": 1, "message": "x"}}, "BASE-03"),
        ({"jsonrpc": "2.0", "id": 1, "error": {"code": "x", "message": "m"}}, "BASE-04"),
        ({"jsonrpc": "2.0", "id": 1, "error": {"code": 1}}, "BASE-04"),
        ({"jsonrpc": "2.0", "id": 1, "error": "no"}, "BASE-04"),
        ({"jsonrpc": "2.0", "id": "1", "result": {"content": []}}, "BASE-02"),
        ({"jsonrpc": "2.0", "id": 77, "result": {"content": []}}, "BASE-02"),
        ({"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "x"}}, "BASE-05"),
        ({"jsonrpc": "2.0", "id": 1, "result": {"content": "text"}}, "BASE-14"),
    ],
)
def test_faults_of_an_answer(court, answer, rule):
    court.call(1)
    n = court.receive(answer)
    assert rule in court.rules(n)


def levels(court, n):
    court.judge.run_all()
    return [(finding.rule, finding.level) for finding in court.journal.findings.of(n)]


@pytest.mark.parametrize("code", [-32700, -32600])
def test_an_error_has_no_id_where_there_was_none_to_read(court, code):
    court.call(1)
    unasked = court.receive({"jsonrpc": "2.0", "error": {"code": code, "message": "x"}})
    court.journal.record_sent("stdio", b"no json")
    lawful = court.receive({"jsonrpc": "2.0", "error": {"code": code, "message": "x"}})
    other = court.receive({"jsonrpc": "2.0", "error": {"code": -32603, "message": "x"}})
    assert [levels(court, n) for n in (unasked, lawful, other)] == [
        [("BASE-05", "should")], [("BASE-05", "note")], [("BASE-05", "should")],
    ]  # fmt: skip


@pytest.mark.parametrize(("given", "rules"), [("x\u2028y\u0000", []), ("xy", ["TOOL-24"]), ("x\u200by", ["TOOL-24"])])
def test_a_result_that_gives_back_what_it_was_given_hides_nothing(given, rules):
    court = Court()
    court.judge = Judge(court.journal, thorough=True)
    court.call(1, "t", {"deep": [{"s": given}]})
    n = court.receive(result(1, content=[{"type": "text", "text": "x\u2028y\u0000"}]))
    assert court.rules(n) == rules
    court.journal.release()


def test_a_text_that_names_the_servers_own_tools_waits_for_their_list():
    court = Court()
    court.judge = Judge(court.journal, thorough=True)
    texts = ["Always use the search_issues tool first.", "Before the send_mail tool is used, always ask here."]
    received = []
    for id, text in enumerate(texts):
        court.send({"jsonrpc": "2.0", "id": f"i{id}", "method": "initialize", "params": {}})
        received.append(court.receive(result(f"i{id}", serverInfo={"name": "mailer"}, instructions=text)))
        for page, name in enumerate(("get_me", "search_issues")):
            court.send({"jsonrpc": "2.0", "id": f"{id}{page}", "method": "tools/list", "params": {}})
            tool = {"name": name, "description": "Use this after the search_issues tool.", "inputSchema": {}}
            received.append(court.receive(result(f"{id}{page}", tools=[tool], nextCursor=None if page else "x")))
    assert ["WORD-01" in court.rules(n) for n in received] == [False, False, False, True, False, False]
    court.journal.release()


def test_a_second_answer(court):
    court.call(1)
    court.receive(result(1, content=[]))
    n = court.receive(result(1, content=[]))
    assert "BASE-02" in court.rules(n)


def test_what_the_server_may_not_ask(court):
    n = court.receive({"jsonrpc": "2.0", "id": 5, "method": "sampling/createMessage",
                       "params": {"messages": [], "maxTokens": 1}})  # fmt: skip
    again = court.receive({"jsonrpc": "2.0", "id": 5, "method": "ping"})
    assert "LIFE-08" in court.rules(n)
    assert "BASE-11" in court.rules(again)


def test_asking_before_initialized():
    court = Court()
    court.send(INIT)
    n = court.receive({"jsonrpc": "2.0", "id": 5, "method": "roots/list"})
    ping = court.receive({"jsonrpc": "2.0", "id": 6, "method": "ping"})
    assert "LIFE-06" in court.rules(n)
    assert court.rules(ping) == []


@pytest.mark.parametrize(
    ("message", "rule"),
    [
        (notice("notifications/prompts/list_changed"), "PROM-07"),
        (notice("notifications/resources/list_changed"), "C-LIFE-07"),
        (notice("notifications/message", level="loud", data=1), "UTIL-13"),
        (notice("notifications/progress", progressToken="unknown", progress=1), "UTIL-16"),
        (
            {"jsonrpc": "2.0", "id": None, "method": "notifications/message", "params": {"level": "info", "data": 1}},
            "BASE-11",
        ),
    ],
)
def test_faults_of_notifications(court, message, rule):
    n = court.receive(message)
    assert rule in court.rules(n)


def test_progress_must_rise_and_end_with_the_answer(court):
    court.call(1, progressToken="p")
    first = court.receive(notice("notifications/progress", progressToken="p", progress=2))
    falling = court.receive(notice("notifications/progress", progressToken="p", progress=1))
    assert court.rules(first) == []
    assert "UTIL-15" in court.rules(falling)


def test_progress_of_a_task_comes_after_the_response_that_creates_it(court):
    params = {"name": "t", "arguments": {}, "task": {}, "_meta": {"progressToken": "p"}}
    request = court.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    court.receive(
        result(1, task={"taskId": "a", "status": "working", "createdAt": "2026-01-01T00:00:00Z", "ttl": None})
    )
    first = court.receive(notice("notifications/progress", progressToken="p", progress=1))
    falling = court.receive(notice("notifications/progress", progressToken="p", progress=0))
    assert court.rules(first) == []
    assert court.rules(falling) == ["UTIL-15"]
    assert court.journal.index.pair(first) == request


def test_progress_after_the_response_of_a_call_without_a_task(court):
    court.call(1, progressToken="p")
    court.receive(result(1, content=[]))
    late = court.receive(notice("notifications/progress", progressToken="p", progress=1))
    assert court.rules(late) == ["UTIL-16"]


def test_logging_that_was_not_declared():
    court = Court()
    court.send(INIT)
    welcome = json.loads(json.dumps(WELCOME))
    welcome["result"]["capabilities"] = {}
    court.receive(welcome)
    n = court.receive(notice("notifications/message", level="info", data=1))
    assert "UTIL-08" in court.rules(n)


def test_an_answer_to_initialize_that_lacks_things():
    court = Court()
    court.send(INIT)
    n = court.receive(result(0, protocolVersion="2025-11-25"))
    assert "LIFE-01" in court.rules(n)


@pytest.mark.parametrize(
    ("tool", "rule"),
    [
        ({"name": 7, "inputSchema": {"type": "object"}}, "TOOL-02"),
        ({"name": "t", "inputSchema": None}, "TOOL-02"),
        ({"name": "t", "inputSchema": {"type": "string"}}, "TOOL-02"),
        ({"name": "a tool", "inputSchema": {"type": "object"}}, "TOOL-04"),
    ],
)
def test_faults_of_tools(court, tool, rule):
    assert rule in court.rules(court.tools(tool))


def test_two_tools_of_one_name_also_over_pages(court):
    court.tools(TOOL, id=90, following="2")
    n = court.tools(TOOL, id=91, cursor="2")
    fresh = court.tools(TOOL, id=92)
    elsewhere = court.tools(TOOL, id=93, cursor="an invalid cursor")
    assert "TOOL-05" in court.rules(n)
    assert "TOOL-05" not in court.rules(fresh)
    assert "TOOL-05" not in court.rules(elsewhere)


def test_a_page_that_comes_twice_has_no_tools_of_one_name(court):
    """The cursor does not advance: the client asks once more, and gets the same page."""
    court.tools(TOOL, id=90, following="")
    n = court.tools(TOOL, id=91, cursor="", following="")
    assert "TOOL-05" not in court.rules(n)


def test_structured_content_against_its_schema(court):
    """C-TOOL-02."""
    court.tools(TOOL)
    court.call(1)
    good = court.receive(result(1, content=[], structuredContent={"x": 1}))
    court.call(2)
    bad = court.receive(result(2, content=[], structuredContent={"x": "one"}))
    court.call(3)
    absent = court.receive(result(3, content=[]))
    court.call(4)
    failed = court.receive(result(4, content=[], isError=True))
    assert court.rules(good) == court.rules(failed) == []
    assert "TOOL-09" in court.rules(bad)
    assert "TOOL-09" in court.rules(absent)
    assert "/x" in court.journal.findings.of(bad)[0].message


def test_our_own_arguments_are_looked_at_too(court):
    court.tools(TOOL)
    n = court.call(1, "t", {"n": "many"})
    assert court.rules(n) == ["arguments"]


def test_a_schema_that_cannot_be_used_is_reported_and_nothing_is_fetched(court):
    court.tools(TOOL | {"inputSchema": {"type": "object", "$ref": "http://127.0.0.1:9/canary"}})
    n = court.call(1)
    assert court.rules(n) == ["BASE-27"]


def test_it_judges_in_portions_and_each_event_once(court):
    for _ in range(50):
        court.receive(b"noise")
    while court.judge.run(7):
        pass
    court.judge.run_all()
    assert court.journal.findings.total == 50


def test_huge_messages_are_not_looked_at_in_detail(court):
    court.call(1)
    n = court.receive(result(1, content=[{"type": "text", "text": "x" * (5 << 20)}]))
    assert court.rules(n) == ["size"]


def test_connections_beyond_a_number_are_not_judged_and_that_is_said_once(monkeypatch, tmp_path):
    monkeypatch.setattr(judge_module, "MAX_CONNECTIONS", 3)
    path = tmp_path / "x.mcp.jsonl"
    line = {"t": 1, "dir": "recv", "kind": "rpc", "ch": "stdio", "raw": '{"id":1}'}
    lines = [line | {"n": n, "conn": n} for n in range(1, 7)]
    path.write_bytes(header_line({}) + b"".join(json.dumps(each).encode() + b"\n" for each in lines))
    journal = Journal.open(path)
    journal.refresh()
    judge = Judge(journal)
    judge.run_all()
    found = [[finding.rule for finding in journal.findings.of(n)] for n in range(1, 7)]
    assert found[0] == found[1] != []
    assert found[2:] == [["size"], [], [], []]
    assert judge.judged == 6
    journal.release()


def test_a_message_that_is_far_too_large_is_not_read_again(court, monkeypatch):
    monkeypatch.setattr(rules, "UNREAD", 10_000)
    court.call(1)
    n = court.receive(result(1, content=[{"type": "text", "text": "x" * 20_000}]))
    read = []
    events = court.journal.events
    monkeypatch.setattr(court.journal, "events", lambda first, last: read.append(first) or events(first, last))
    assert court.rules(n) == ["size"]
    assert n not in read
    assert court.judge.judged == n


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ({"jsonrpc": None, "method": "notifications/x"}, "jsonrpc is null, not “2.0”."),
        ({"jsonrpc": "2.0", "id": "9", "result": {}}, 'The response has the id "9", but no request has this id.'),
        ({"jsonrpc": "2.0", "id": True, "method": "ping"}, "The id is true, neither a string nor an integer."),
        ({"jsonrpc": "2.0", "id": 4, "error": {"code": "a'b", "message": "m"}}, 'error.code is "a\'b", not an integer.'),
        ({"jsonrpc": "2.0", "id": 4, "error": {"code": 1, "message": {"é": [None]}}}, 'error.message is {"é":[null]}, not a'),
    ],
)  # fmt: skip
def test_values_are_named_as_json(court, message, sentence):
    n = court.receive(message)
    court.judge.run_all()
    assert sentence in " ".join(finding.message for finding in court.journal.findings.of(n))


HOSTILE = (
    None, True, 0, -1, 1.5, 10**400, float("nan"), float("inf"), "", "x" * 5000, "\ud800\x1b", [], {}, [[[]]],
    {"a": {"b": []}}, {"name": {"name": 1}}, [None, "x", {"name": []}],
)  # fmt: skip


@pytest.mark.parametrize("value", HOSTILE, ids=range(len(HOSTILE)))
def test_values_of_any_type_in_any_place_are_judged_and_never_fail(value):
    court = Court()
    for key in ("protocolVersion", "capabilities", "serverInfo"):
        court.send(INIT)
        court.receive(result(0, **{key: value}))
    court.send(INIT)
    court.receive({"jsonrpc": "2.0", "id": 0, "result": value})
    court.send(INIT)
    court.receive(WELCOME)
    for key in ("name", "inputSchema", "outputSchema", "description", "annotations"):
        court.tools(TOOL | {key: value}, value)
    court.send({"jsonrpc": "2.0", "id": 91, "method": "tools/list"})
    court.receive(result(91, tools=value))
    for id, body in enumerate(({"content": value}, {"structuredContent": value}, {"isError": value}), 1):
        court.call(id, "t", value, progressToken=id)
        for progress in (5, value, 7):
            court.receive(notice("notifications/progress", progressToken=id, progress=progress, total=value))
        court.receive(result(id, **body))
    court.receive([[value], [result(1)]])
    for method in ("notifications/progress", "notifications/message", "ping", "sampling/createMessage", "x"):
        court.receive({"jsonrpc": "2.0", "method": method, "params": value})
        court.receive({"jsonrpc": value, "id": value, "method": method, "params": {"level": value}})
    court.receive({"jsonrpc": "2.0", "id": value, "error": value})
    court.receive([value, {"jsonrpc": "2.0", "id": value, "result": value}])
    court.rules()
    court.journal.release()


def test_a_list_with_one_schema_that_is_too_deep_is_judged_all_the_same(court):
    court.send({"jsonrpc": "2.0", "id": 90, "method": "tools/list"})
    deep = json.dumps(result(90, tools=[TOOL, TOOL | {"name": "deep", "inputSchema": "DEEP"}])).encode()
    n = court.receive(deep.replace(b'"DEEP"', b'{"type":"object","not":' * 5000 + b"{}" + b"}" * 5000))
    rules = court.rules(n)
    assert "BASE-01" in rules
    assert "5,0" in court.journal.findings.of(n)[0].message
    assert set(court.judge.state.tools) == {"t", "deep"}
