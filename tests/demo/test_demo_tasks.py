"""Tasks of the demo server: those of 2025-11-25, and those of the extension to 2026-07-28."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from inspector.demo.tasks import DemoTask
from tests.demo.demo_client import (
    EVERYTHING_MODERN,
    MODERN,
    PREFIX,
    HttpPeer,
    HttpServer,
    MemoryPeer,
    ModernHttpPeer,
    Peer,
    about_client,
    text_of,
)
from tests.demo.schemas import check

Connect = Callable[..., MemoryPeer]
LEGACY = "2025-11-25"
RELATED = PREFIX + "related-task"
TASKS = EVERYTHING_MODERN | {"extensions": {PREFIX + "tasks": {}}}
QUICK = {"seconds": 0, "steps": 2}
TASK_KEYS = {"taskId", "status", "statusMessage", "createdAt", "lastUpdatedAt"}
ENDED = ("completed", "failed", "cancelled")


# --- 2025-11-25 ------------------------------------------------------------------------------------------------------


def begin(peer: Peer, name: str, task: Any = None, **arguments: Any) -> dict[str, Any]:
    """Calls a tool as a task; gives the task."""
    params = {"name": name, "arguments": arguments, "task": {} if task is None else task}
    created = peer.ask("tools/call", params)
    check(LEGACY, "CreateTaskResult", created)
    assert created["task"]["status"] == "working"
    begun: dict[str, Any] = created["task"]
    return begun


def state(peer: Peer, task: dict[str, Any]) -> dict[str, Any]:
    current = peer.ask("tasks/get", {"taskId": task["taskId"]})
    check(LEGACY, "GetTaskResult", current)
    assert "_meta" not in current
    return current


def status_of(peer: Peer, task: dict[str, Any]) -> list[str]:
    """The statuses that the client was told of, in their order."""
    notices = [notice for notice in peer.all_of("notifications/tasks/status") if notice["taskId"] == task["taskId"]]
    for notice in notices:
        check(LEGACY, "TaskStatusNotificationParams", notice)
    return [notice["status"] for notice in notices]


def outcome(peer: Peer, task: dict[str, Any]) -> dict[str, Any]:
    """The response to tasks/result, which comes when the task has ended."""
    return peer.response(peer.start("tasks/result", {"taskId": task["taskId"]}))


def test_tasks_are_offered_at_the_revision_that_knows_them_only() -> None:
    for revision in ("2025-06-18", LEGACY):
        peer = MemoryPeer()
        opened = peer.open(revision)
        assert ("tasks" in opened["capabilities"]) == (revision == LEGACY)
        tools = {tool["name"]: tool for tool in peer.ask("tools/list")["tools"]}
        supports = {tool.get("execution", {}).get("taskSupport") for tool in tools.values()}
        assert supports == ({None, "forbidden", "optional", "required"} if revision == LEGACY else {None})
        peer.close()


def test_a_task_goes_its_way_and_its_result_is_fetched(connect: Connect) -> None:
    peer = connect()
    peer.answers.clear()
    task = begin(peer, "task-slow", **QUICK)
    result = outcome(peer, task)["result"]
    check(LEGACY, "CallToolResult", result)
    assert text_of(result) == "The slow task is done."
    assert result["_meta"][RELATED] == {"taskId": task["taskId"]}
    ended = state(peer, task)
    assert ended["status"] == "completed"
    assert ended["createdAt"] == task["createdAt"]
    assert ended["lastUpdatedAt"] >= task["lastUpdatedAt"]
    assert status_of(peer, task) == ["working", "working", "completed"]
    assert outcome(peer, task)["result"] == result


def test_progress_and_log_messages_go_on_after_the_request_was_answered(connect: Connect) -> None:
    peer = connect()
    params = {"name": "task-slow", "arguments": QUICK, "task": {}, "_meta": {"progressToken": "t"}}
    task = peer.ask("tools/call", params)["task"]
    outcome(peer, task)
    progress = peer.all_of("notifications/progress")
    assert [report["progress"] for report in progress] == [1, 2]
    assert all(report["_meta"][RELATED] == {"taskId": task["taskId"]} for report in progress)


def test_a_task_asks_on_the_request_for_its_result(connect: Connect) -> None:
    peer = connect()
    asked: list[dict[str, Any]] = []

    def answer(params: dict[str, Any]) -> dict[str, Any]:
        asked.append(params)
        (field,) = params["requestedSchema"]["properties"]
        return {"result": {"action": "accept", "content": {field: f"my {field}"}}}

    task = begin(peer, "task-ask")
    peer.wait(lambda message: "input_required" in status_of(peer, task))
    assert not any(message.get("method") == "elicitation/create" for message in peer.received)
    peer.answers["elicitation/create"] = answer
    assert text_of(outcome(peer, task)["result"]) == "You are my name, and you like my colour."
    assert [message["_meta"][RELATED] for message in asked] == [{"taskId": task["taskId"]}] * 2
    assert status_of(peer, task) == ["input_required", "working", "input_required", "working", "completed"]


def test_a_request_for_the_result_that_is_cancelled_leaves_the_question_to_the_next(connect: Connect) -> None:
    peer = connect()
    task = begin(peer, "task-ask")
    first = peer.start("tasks/result", {"taskId": task["taskId"]})
    question = peer.wait(lambda message: message.get("method") == "elicitation/create")
    peer.notify("notifications/cancelled", {"requestId": first})
    withdrawn = peer.notification("notifications/cancelled")
    assert withdrawn["params"]["requestId"] == question["id"]
    peer.answers["elicitation/create"] = lambda params: {"error": {"code": -1, "message": "not today"}}
    result = outcome(peer, task)["result"]
    assert "not today" in text_of(result)
    assert state(peer, task)["status"] == "failed"


@pytest.mark.parametrize(
    ("name", "status", "failed"),
    [("task-fail", "failed", True), ("task-error", "failed", None), ("task-give-up", "cancelled", None)],
)
def test_a_task_fails_in_several_ways(connect: Connect, name: str, status: str, failed: bool | None) -> None:
    peer = connect()
    task = begin(peer, name, **QUICK)
    response = outcome(peer, task)
    assert state(peer, task)["status"] == status
    if failed:
        assert response["result"]["isError"] is True
    else:
        assert response["error"]["code"] == -32603
        assert response["error"].get("data") == ({"part": "main spring"} if name == "task-error" else None)


def test_a_task_is_cancelled_once(connect: Connect) -> None:
    peer = connect()
    task = begin(peer, "task-endless")
    waiting = peer.start("tasks/result", {"taskId": task["taskId"]})
    cancelled = peer.ask("tasks/cancel", {"taskId": task["taskId"]})
    check(LEGACY, "CancelTaskResult", cancelled)
    assert cancelled["status"] == "cancelled"
    assert peer.response(waiting)["error"]["code"] == -32603
    assert peer.error("tasks/cancel", {"taskId": task["taskId"]})["code"] == -32602
    assert state(peer, task)["status"] == "cancelled"


def test_tasks_are_listed_in_pages(connect: Connect) -> None:
    peer = connect()
    begun = [begin(peer, "task-endless")["taskId"] for _ in range(23)]
    listed: list[str] = []
    params: dict[str, Any] = {}
    for _ in range(3):
        page = peer.ask("tasks/list", params)
        check(LEGACY, "ListTasksResult", page)
        listed += [task["taskId"] for task in page["tasks"]]
        params = {"cursor": page.get("nextCursor")}
    assert params == {"cursor": None}
    assert listed == begun
    assert len(set(begun)) == 23
    assert peer.error("tasks/list", {"cursor": "bogus"})["code"] == -32602


def test_tasks_are_those_of_one_session(connect: Connect) -> None:
    task = begin(connect(), "task-endless")
    other = connect()
    assert other.ask("tasks/list") == {"tasks": []}
    for method in ("tasks/get", "tasks/result", "tasks/cancel"):
        assert other.error(method, {"taskId": task["taskId"]})["code"] == -32602
        assert other.error(method, {"taskId": {}})["code"] == -32602
        assert other.error(method)["code"] == -32602


def test_a_tool_is_called_as_a_task_only_where_it_can_be(connect: Connect) -> None:
    peer = connect()
    assert peer.error("tools/call", {"name": "task-only"})["code"] == -32601
    assert text_of(outcome(peer, begin(peer, "task-only", **QUICK))["result"]) == "The task is done."
    for name in ("echo", "slow"):
        assert peer.error("tools/call", {"name": name, "task": {}})["code"] == -32601
    assert text_of(peer.call("task-slow", **QUICK)) == "The slow task is done."
    older = connect(revision="2025-06-18")
    ignored = {"name": "task-slow", "arguments": QUICK, "task": {"ttl": 5}}
    assert text_of(older.ask("tools/call", ignored)) == "The slow task is done."
    assert older.error("tools/call", {"name": "task-only", "arguments": QUICK})["code"] == -32602
    assert older.error("tasks/list")["code"] == -32601


@pytest.mark.parametrize("task", ["yes", [], 7, {"ttl": "long"}, {"ttl": -1}, {"ttl": True}, {"ttl": 1.5}])
def test_a_malformed_wish_for_a_task_is_refused(connect: Connect, task: Any) -> None:
    peer = connect()
    assert peer.error("tools/call", {"name": "task-slow", "task": task})["code"] == -32602
    assert peer.ask("tasks/list") == {"tasks": []}


def test_a_task_is_forgotten_when_its_time_is_over(connect: Connect) -> None:
    peer = connect()
    brief, long = begin(peer, "task-endless", {"ttl": 0}), begin(peer, "task-endless", {"ttl": 10**12})
    assert brief["ttl"] == 0
    assert long["ttl"] == 3_600_000
    assert [task["taskId"] for task in peer.ask("tasks/list")["tasks"]] == [long["taskId"]]
    assert peer.error("tasks/get", {"taskId": brief["taskId"]})["code"] == -32602
    assert status_of(peer, brief)[-1] == "cancelled"


def test_tasks_work_over_http(http_server: HttpServer) -> None:
    peer = HttpPeer(http_server.url)
    peer.open()
    peer.answers["elicitation/create"] = lambda params: {"result": {"action": "decline"}}
    task = begin(peer, "task-ask")
    assert text_of(outcome(peer, task)["result"]) == "You are no name, and you like no colour."
    endless = begin(peer, "task-endless")
    assert state(peer, endless)["status"] == "working"
    peer.finish()


def test_a_task_that_has_ended_stays_unchanged() -> None:
    statuses: list[str] = []
    task = DemoTask(1000, lambda changed: statuses.append(changed.status))
    task.say("begun")
    task.cancel()
    message = task.message
    task.say("still here")
    task.cancel()
    assert (task.status, task.message) == ("cancelled", message)
    assert statuses == ["working", "cancelled"]


def test_a_closed_session_ends_its_tasks() -> None:
    peer = MemoryPeer()
    peer.open()
    begin(peer, "task-endless")
    (task,) = peer._connection._session._tasks._tasks.all()
    peer.close()
    assert task.status == "cancelled"
    assert task.call
    assert task.call.cancelled


# --- the extension ---------------------------------------------------------------------------------------------------


def started(peer: Peer, name: str, **arguments: Any) -> dict[str, Any]:
    """Calls a tool that becomes a task; gives the task."""
    created = peer.ask("tools/call", {"name": name, "arguments": arguments})
    assert created["resultType"] == "task"
    assert set(created) == TASK_KEYS | {"resultType", "ttlMs", "pollIntervalMs", "_meta"}
    return created


def polled(peer: Peer, task: dict[str, Any], *statuses: str) -> dict[str, Any]:
    """The task once it has one of the statuses, as tasks/get shows it."""
    for _ in range(2000):
        current = peer.ask("tasks/get", {"taskId": task["taskId"]})
        assert current["resultType"] == "complete"
        if current["status"] in statuses:
            return current
    raise AssertionError(f"the task was never {statuses}")


def test_the_extension_is_offered(modern: Connect) -> None:
    assert modern().ask("server/discover")["capabilities"]["extensions"][PREFIX + "tasks"] == {}
    assert not any("execution" in tool for tool in modern().ask("tools/list")["tools"])


def test_a_call_becomes_a_task_and_the_result_stands_in_it(modern: Connect) -> None:  # TASK-05
    client = modern(TASKS)
    task = started(client, "task-slow", **QUICK)
    done = polled(client, task, "completed")
    check(MODERN, "CallToolResult", done["result"])
    assert text_of(done["result"]) == "The slow task is done."
    assert done["createdAt"] == task["createdAt"]
    assert client.all_of("notifications/progress") == []


def test_nothing_becomes_a_task_for_a_client_that_does_not_know_tasks(modern: Connect) -> None:  # TASK-04
    client = modern()
    assert text_of(client.call("task-slow", **QUICK)) == "The slow task is done."
    refused = client.response(client.start("tools/call", {"name": "task-only"}))
    check(MODERN, "MissingRequiredClientCapabilityError", refused)
    assert refused["error"]["data"] == {"requiredCapabilities": {"extensions": {PREFIX + "tasks": {}}}}
    client.meta = about_client(TASKS)
    task = started(client, "task-endless")
    for capabilities in ({}, {"extensions": []}, {"extensions": {PREFIX + "tasks": True}}):
        client.meta = about_client(capabilities)
        for method in ("tasks/get", "tasks/update", "tasks/cancel"):
            assert client.error(method, {"taskId": task["taskId"], "inputResponses": {}})["code"] == -32021
        listening = {"notifications": {"taskIds": [task["taskId"]]}}
        assert client.error("subscriptions/listen", listening)["code"] == -32021  # TASK-08


def test_a_task_asks_by_its_status_and_is_answered_by_an_update(modern: Connect) -> None:  # TASK-07
    client = modern(TASKS)
    task = started(client, "task-ask")
    about = {"taskId": task["taskId"]}
    keys = []
    for word in ("Bo", "red"):
        asking = polled(client, task, "input_required")
        assert polled(client, task, "input_required")["inputRequests"] == asking["inputRequests"]
        check(MODERN, "InputRequests", asking["inputRequests"])
        ((key, question),) = asking["inputRequests"].items()
        keys.append(key)
        (field,) = question["params"]["requestedSchema"]["properties"]
        answers = {key: {"action": "accept", "content": {field: word}}, "unasked": {}}
        answered = client.ask("tasks/update", about | {"inputResponses": answers})
        assert {member for member in answered if member != "_meta"} == {"resultType"}
        client.ask("tasks/update", about | {"inputResponses": {key: {"action": "decline"}}})  # too late: ignored
    assert text_of(polled(client, task, *ENDED)["result"]) == "You are Bo, and you like red."
    assert len(set(keys)) == 2


@pytest.mark.parametrize("answers", [None, [], {"elicitation-1": None}, {"elicitation-1": {"action": 3}}])
def test_malformed_answers_to_a_task_are_refused(modern: Connect, answers: Any) -> None:
    client = modern(TASKS)
    task = started(client, "task-ask")
    polled(client, task, "input_required")
    assert client.error("tasks/update", {"taskId": task["taskId"], "inputResponses": answers})["code"] == -32602
    assert "elicitation-1" in polled(client, task, "input_required")["inputRequests"]


def test_a_tool_error_completes_a_task_and_a_protocol_error_fails_it(modern: Connect) -> None:  # TASK-07
    client = modern(TASKS)
    failed = polled(client, started(client, "task-fail", **QUICK), *ENDED)
    assert (failed["status"], failed["result"]["isError"]) == ("completed", True)
    broken = polled(client, started(client, "task-error", **QUICK), *ENDED)
    assert broken["status"] == "failed"
    assert broken["error"] == {"code": -32603, "message": "The machine broke down", "data": {"part": "main spring"}}
    given_up = polled(client, started(client, "task-give-up", **QUICK), *ENDED)
    assert given_up["status"] == "cancelled"
    assert not {"result", "error"} & set(given_up)


def test_a_task_is_cancelled_by_its_own_method(modern: Connect) -> None:
    client = modern(TASKS)
    task = started(client, "task-endless")
    for _ in range(2):  # the second is acknowledged too
        answered = client.ask("tasks/cancel", {"taskId": task["taskId"]})
        assert {member for member in answered if member != "_meta"} == {"resultType"}
    assert polled(client, task, *ENDED)["status"] == "cancelled"


def test_there_is_no_list_and_no_blocking_result(modern: Connect) -> None:  # TASK-06
    client = modern(TASKS)
    for method in ("tasks/list", "tasks/result"):
        assert client.error(method, {"taskId": "x"})["code"] == -32601
    for method in ("tasks/get", "tasks/update", "tasks/cancel"):
        for name in ("unknown", {}, None):
            assert client.error(method, {"taskId": name, "inputResponses": {}})["code"] == -32602


def test_who_listens_to_a_task_is_reported_all_of_it(modern: Connect) -> None:  # TASK-08
    client = modern(TASKS)
    task, other = started(client, "task-ask"), started(client, "task-endless")
    number = client.start("subscriptions/listen", {"notifications": {"taskIds": [task["taskId"], "unknown"]}})
    begun = client.notification("notifications/subscriptions/acknowledged")
    assert begun["params"]["notifications"] == {"taskIds": [task["taskId"]]}
    for _ in range(2):
        asking = polled(client, task, "input_required")
        (key,) = asking["inputRequests"]
        decline = {"inputResponses": {key: {"action": "decline"}}}
        client.ask("tasks/update", {"taskId": task["taskId"]} | decline)
    client.ask("tasks/cancel", {"taskId": other["taskId"]})
    last = client.wait(lambda message: message.get("method") == "notifications/tasks" and "result" in message["params"])
    notified = client.all_of("notifications/tasks")
    assert {message["taskId"] for message in notified} == {task["taskId"]}
    assert {message["_meta"][PREFIX + "subscriptionId"] for message in notified} == {number}
    members = {key: value for key, value in last["params"].items() if key != "_meta"}
    same = polled(client, task, "completed")
    assert members == {key: value for key, value in same.items() if key not in ("_meta", "resultType")}


def test_over_http_the_id_of_a_task_is_repeated_in_a_header(http_server: HttpServer) -> None:  # TASK-06
    client = ModernHttpPeer(http_server.url)
    client.meta = about_client(TASKS)
    task = started(client, "task-endless")
    about = {"taskId": task["taskId"]}
    for wrong in (None, "another"):
        refused = client.request_with("tasks/get", about, Mcp_Name=wrong)
        assert (refused.status, refused.json["error"]["code"]) == (400, -32020)
    assert ModernHttpPeer(http_server.url).request_with("tasks/get", about).status == 400
    assert polled(client, task, "working")["status"] == "working"
    client.ask("tasks/cancel", about)
    client.finish_posts()
