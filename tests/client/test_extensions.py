"""Extensions: what is offered in each era, what counts as a declaration, and what a client must not send."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from inspector.client.extensions import (
    ClientIdentity,
    by_id,
    client_in,
    declared_settings,
    extension_choices,
    extension_states,
    map_problem,
    missing_extensions,
    offered_in,
    require_declared,
)
from inspector.client.options import Options
from inspector.client.state.calls import server_error
from inspector.client.state.server import Server
from inspector.errors import InvalidAnswer, NotOffered, ServerError
from inspector.hints import Hint
from inspector.protocol.extensions import SKILLS, TASKS, UI, VALID_ID, default_settings, full_id
from inspector.protocol.revisions import features
from tests.client.conftest import Server as ScriptedServer
from tests.client.conftest import make_session
from tests.client.modern import CAPABILITIES, CLIENT, DISCOVERED, complete, modern

NESTED = {"nested": {"enabled": False, "limit": 0}, "values": ["a", 2, None], "empty": {}}
OFFERED = {"com.example/conformance": NESTED, "com.example/empty": {}}


def server(**capabilities: Any) -> Server:
    return Server({"protocolVersion": "2025-11-25", "capabilities": capabilities})


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-11-25", "2026-07-28"])
def test_the_map_is_offered_unchanged_in_every_revision(revision: str) -> None:
    """C-EXT-02."""
    offered = Options(extensions=OFFERED).capabilities(features(revision))["extensions"]
    assert json.dumps({id: offered[id] for id in OFFERED}) == json.dumps(OFFERED)
    assert (TASKS in offered) == (revision == "2026-07-28")


def test_nothing_is_offered_in_the_handshake_unless_asked_for() -> None:
    """C-APP-02: apps are not offered either."""
    assert "extensions" not in Options().capabilities(features("2025-11-25"))
    assert "extensions" not in Options(default_extensions=()).capabilities(features("2026-07-28"))
    withheld = Options(extensions={TASKS: None})
    assert "extensions" not in withheld.capabilities(features("2026-07-28"))


def test_the_last_map_wins_by_full_id() -> None:
    assert by_id({"skills": {"a": 1}}, {SKILLS: {}}, {"x/y": None}) == {SKILLS: {}, "x/y": None}


@pytest.mark.parametrize(
    ("word", "name", "version"),
    [
        ("Claude/2.1", "Claude", "2.1"),
        ("Visual Studio Code/v1.103.2", "Visual Studio Code", "v1.103.2"),
        ("@acme/client", "@acme/client", ClientIdentity().version),
        ("@acme/client/3", "@acme/client", "3"),
    ],
)
def test_a_client_name_may_have_a_version(word: str, name: str, version: str) -> None:
    assert ClientIdentity.parse(word).as_json() == {"name": name, "version": version}


def test_the_servers_map_is_kept_in_order_with_what_is_unknown() -> None:
    """C-EXT-03, C-EXT-09: offered, declared and in effect."""
    declared = {"com.example/z": NESTED, SKILLS: {"directoryRead": True}, "com.example/a": {}}
    states = extension_states(server(extensions=declared), {"com.example/a": {"x": 1}, "com.example/ours": {}})
    assert [state.id for state in states] == [*declared, "com.example/ours"]
    assert [state.settings for state in states[:3]] == list(declared.values())
    assert [state.in_effect for state in states] == [False, True, True, False]
    assert states[2].as_json() == {
        "id": "com.example/a", "offered": {"x": 1}, "declared": True, "settings": {}, "in_effect": True
    }  # fmt: skip


@pytest.mark.parametrize("value", [True, None, [], "on", 1])
def test_settings_that_are_not_an_object_do_not_declare(value: Any) -> None:
    """C-EXT-06."""
    declaring = server(extensions={SKILLS: value})
    (state,) = extension_states(declaring, {})
    assert not state.declared
    assert "not an object" in state.problem
    assert declared_settings(declaring, SKILLS) is None


@pytest.mark.parametrize("value", [True, None, ["com.example/x"], "on"])
def test_a_map_that_is_not_an_object_declares_nothing(value: Any) -> None:
    declaring = server(extensions=value)
    assert extension_states(declaring, {}) == []
    assert map_problem(declaring).startswith("extensions is ")


@pytest.mark.parametrize(
    ("raw", "place"),
    [
        ({"capabilities": {SKILLS: {}}}, f"capabilities.{SKILLS}"),
        ({"capabilities": {"skills": {}}}, "capabilities.skills"),
        ({"capabilities": {"experimental": {SKILLS: {}}}}, f"capabilities.experimental.{SKILLS}"),
        ({"capabilities": {}, "_meta": {SKILLS: {}}}, f"_meta.{SKILLS}"),
    ],
)
def test_an_extension_in_the_wrong_place_is_named_and_not_used(raw: dict[str, Any], place: str) -> None:
    """C-EXT-07."""
    (state,) = extension_states(Server(raw), {})
    assert state.id == SKILLS
    assert place in state.problem
    assert not state.in_effect
    with pytest.raises(NotOffered, match="wrong place"):
        require_declared(Server(raw), "skills/list")


def test_ids_match_exactly() -> None:
    """C-EXT-12, C-EXT-04: the method of an extension that is not declared is not sent."""
    for id in ("io.modelcontextprotocol/skills-v2", "IO.modelcontextprotocol/skills", "io.modelcontextprotocol/skill"):
        with pytest.raises(NotOffered):
            require_declared(server(extensions={id: {}}), "skills/get")
    require_declared(server(extensions={SKILLS: {}}), "skills/get")
    require_declared(server(), "tools/list")


def test_ten_thousand_extensions_are_read() -> None:
    """C-EXT-11."""
    many = {f"com.example/x{number}": {} for number in range(20_000)}
    assert len(extension_states(server(extensions=many), {})) == 10_000


@pytest.mark.parametrize(
    ("id", "valid"),
    [
        ("com.example/x", True), ("io.modelcontextprotocol/oauth-client-credentials", True), ("skills", False),
        ("/x", False), ("com.example/", False), ("com..example/x", False), ("-a/x", False), ("com.example/x\u202e", False),
    ],
)  # fmt: skip
def test_the_form_of_an_id(id: str, valid: bool) -> None:
    assert bool(VALID_ID.fullmatch(id)) == valid


def test_an_error_that_demands_an_extension_says_how_to_offer_it() -> None:
    """C-EXT-05."""
    data = {"requiredCapabilities": {"extensions": {"com.example/x": {}}}}
    error = server_error({"code": -32021, "message": "No", "data": data}, "tools/call")
    assert isinstance(error.hint, Hint)
    assert error.hint.command_line == (
        "The server needs the extension com.example/x. Offer it: --extension com.example/x."
    )
    assert missing_extensions(-32021, {"requiredCapabilities": {"extensions": ["x"]}}) == []
    assert missing_extensions(-32602, data) == []


async def test_every_modern_request_carries_the_same_map() -> None:
    """C-EXT-01: the user's extensions, and tasks; no other."""
    scripted = modern(tools__list=complete(tools=[]))
    session = make_session(scripted, era="modern", extensions=OFFERED, client=ClientIdentity.parse("Acme/2.1"))
    await session.open()
    await session.request("tools/list")
    metas = [message["params"]["_meta"] for message in scripted.seen if "id" in message]
    assert len(metas) == 2
    for meta in metas:
        assert meta[CAPABILITIES]["extensions"] == {TASKS: {}} | OFFERED
        assert meta[CLIENT] == {"name": "Acme", "version": "2.1"}
    assert offered_in(session.journal) == {TASKS: {}} | OFFERED
    await session.close()


def test_apps_are_offered_with_the_type_of_a_page() -> None:
    """C-APP-01: also under the short name and without settings of the user."""
    for name in ("apps", "ui", UI):
        (id,) = by_id({name: default_settings(full_id(name))})
        offered = Options(extensions={id: default_settings(id)}).capabilities(features("2025-11-25"))["extensions"]
        assert offered == {UI: {"mimeTypes": ["text/html;profile=mcp-app"]}}


async def test_the_handshake_carries_the_map() -> None:
    """C-EXT-02."""
    scripted = ScriptedServer()
    session = make_session(scripted, extensions=OFFERED, era="legacy", client=ClientIdentity.parse("Acme/2.1"))
    await session.open()
    (params,) = [message["params"] for message in scripted.seen if message.get("method") == "initialize"]
    assert params["capabilities"]["extensions"] == OFFERED
    assert offered_in(session.journal) == OFFERED
    assert client_in(session.journal) == {"name": "Acme", "version": "2.1"}
    await session.close()


async def test_a_task_is_not_accepted_from_a_server_that_was_not_offered_tasks() -> None:
    """C-EXT-04."""
    scripted = modern(
        tools__call={"resultType": "task", "taskId": "t", "status": "working"}, tools__list=complete(tools=[])
    )
    session = make_session(scripted, era="modern", extensions={TASKS: None})
    await session.open()
    with pytest.raises(InvalidAnswer, match="does not offer the extension"):
        await session.call_tool("x").result()
    await session.close()


async def test_a_demanded_extension_can_be_chosen() -> None:
    data = {"requiredCapabilities": {"extensions": {"com.example/x": {}}}}
    scripted = modern(
        {**DISCOVERED, "capabilities": {"extensions": {SKILLS: {"directoryRead": True}}}},
        tools__list=lambda message, reply: reply(
            {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32021, "message": "No", "data": data}}
        ),
    )
    session = make_session(scripted, era="modern")
    await session.open()
    with pytest.raises(ServerError, match="-32021"):
        await session.request("tools/list")
    offered, choices = extension_choices(session.server, session.journal, session.upto)
    assert list(offered) == [TASKS]
    assert [choice.id for choice in choices][:3] == ["com.example/x", SKILLS, TASKS]
    await session.close()


async def test_the_maps_of_both_sides_come_through_the_handshake_unchanged() -> None:
    """C-EXT-02, C-EXT-03: as in the official suite, where the server's map goes back to the server."""
    theirs = {
        "com.example/conformance": {"values": [None, False, 0, "b"], "nested": {"x": {}}},
        "com.example/empty": {},
    }
    scripted = ScriptedServer(tools__call={"content": []}, tools__list={"tools": []})
    scripted.initialize["capabilities"] = {"tools": {}, "extensions": theirs}
    ours = {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}, **OFFERED}
    session = make_session(scripted, extensions=ours)
    await session.open()
    declared = session.server.capabilities["extensions"]
    await session.call_tool("test_legacy_extension_capabilities", {"extensions": declared}).result()
    (call,) = scripted.asked("tools/call")
    assert json.dumps(call["params"]["arguments"]["extensions"]) == json.dumps(theirs)
    (opened,) = scripted.asked("initialize")
    assert json.dumps(opened["params"]["capabilities"]["extensions"]) == json.dumps(ours)
    await session.close()


async def test_a_recording_has_the_hash_of_a_file_and_the_server_its_bytes() -> None:
    """C-FILE-04: also in what the server sends back, and when the recorded arguments are sent again."""
    schema = {"type": "object", "properties": {"chart": {"type": "string", "x-mcp-file": {}}}}
    value = "data:text/plain;base64," + "QUJD" * 50_000
    scripted = modern(
        tools__list=complete(tools=[{"name": "x", "inputSchema": schema}]),
        tools__call=complete(content=[{"type": "text", "text": f"got {value}"}, {"type": "text", "text": value}]),
    )
    session = make_session(scripted, era="modern")
    await session.open()
    await session.load("tools")
    call = session.call_tool("x", {"chart": value, "note": "as it is"})
    result = await call.result()
    mark = f"‹redacted file text/plain 150000 bytes sha256:{hashlib.sha256(b'ABC' * 50_000).hexdigest()}›"
    assert [block["text"] for block in result["content"]] == [f"got {mark}", mark]
    (sent,) = scripted.asked("tools/call")
    assert sent["params"]["arguments"]["chart"] == value
    recorded = session.journal.event(call.n).message["params"]["arguments"]
    assert recorded == {"chart": mark, "note": "as it is"}
    assert value not in session.journal.event(call.answer_n).text
    await session.call_tool("x", session.journal.redactor.restored(recorded)).result()
    assert scripted.asked("tools/call")[1]["params"]["arguments"]["chart"] == value
    await session.close()
