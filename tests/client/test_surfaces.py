"""A session's surface of a server as plain data: the same live and from its recording."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from inspector.client.options import Options
from inspector.client.recorded_session import RecordedSession
from inspector.client.session import Session
from inspector.client.state.surfaces import is_read, read_surface, surface_of
from inspector.config.targets import StdioTarget
from inspector.errors import ConnectionProblem
from inspector.journal.journal import Journal
from inspector.transports.memory import MemoryTransport
from tests.client.conftest import Server, until


def page(message: dict[str, Any], reply: Any) -> None:
    cursor = (message.get("params") or {}).get("cursor")
    body: dict[str, Any] = {"tools": [{"name": "b"}]} if cursor else {"tools": [{"name": "a"}], "nextCursor": "2"}
    reply({"id": message["id"], "result": body})


def session_with(server: Server, path: Path) -> Session:
    journal = Journal.create(path, {"kind": "memory"})
    return Session(
        StdioTarget(("x",)), journal, Options(era="legacy"),
        connect=lambda target, sink, options: MemoryTransport(sink, server),
    )  # fmt: skip


async def test_a_surface_is_the_same_live_and_recorded(tmp_path: Path) -> None:
    path = tmp_path / "a.mcp.jsonl"
    session = session_with(
        Server(tools__list=page, resources__list={"resources": []}, prompts__list={"prompts": []}), path
    )
    await session.open()
    assert surface_of(session)["tools"] is None
    assert not is_read(session)
    live = await read_surface(session)
    assert is_read(session)
    assert [tool["name"] for tool in live["tools"]] == ["a", "b"]
    assert live["incomplete"] == {}
    await session.close()
    session.journal.release()
    journal = Journal.open(path)
    journal.refresh()
    recorded = RecordedSession(journal, path)
    while recorded.advance():
        pass
    assert surface_of(recorded)["tools"] == live["tools"]
    assert surface_of(recorded)["server"] == live["server"]


async def test_a_list_that_breaks_off_is_incomplete(tmp_path: Path) -> None:
    def once(message: dict[str, Any], reply: Any) -> None:
        if (message.get("params") or {}).get("cursor"):
            reply({"id": message["id"], "error": {"code": -32603, "message": "no more"}})
        else:
            page(message, reply)

    session = session_with(Server(tools__list=once, resources__list={}, prompts__list={}), tmp_path / "b.mcp.jsonl")
    await session.open()
    surface = await read_surface(session)
    assert "no more" in surface["incomplete"]["tools"]
    assert len(surface["tools"]) == 1
    assert is_read(session)
    await session.close()


class Changing:
    """A server that reports a change of its tools while it lists its prompts.

    It withholds the second page of the tools that are then loaded again, until the prompts were sent.
    """

    def __init__(self) -> None:
        self.server = Server(tools__list=self.tools, resources__list={}, prompts__list=self.prompts)
        self.listed = 0
        self.withheld = asyncio.Event()
        self.sent = asyncio.Event()

    async def tools(self, message: dict[str, Any], reply: Any) -> None:
        self.listed += 1
        if self.listed % 4 == 0:
            self.withheld.set()
            await self.sent.wait()
        page(message, reply)

    async def prompts(self, message: dict[str, Any], reply: Any) -> None:
        while self.listed % 4 != 2:
            await asyncio.sleep(0)
        self.sent.clear()
        self.withheld.clear()
        reply({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        await self.withheld.wait()
        reply({"jsonrpc": "2.0", "id": message["id"], "result": {"prompts": []}})


async def test_a_change_that_is_reported_during_another_list_leaves_the_surface_whole(tmp_path: Path) -> None:
    changing = Changing()
    session = session_with(changing.server, tmp_path / "d.mcp.jsonl")
    await session.open()
    surface = await read_surface(session)
    assert ([tool["name"] for tool in surface["tools"]], surface["incomplete"]) == (["a", "b"], {})
    assert surface_of(session)["incomplete"] == {"tools": "not all pages were read"}
    changing.sent.set()
    await until(lambda: is_read(session))
    reopening = asyncio.create_task(session.reopen())
    await until(lambda: session.catalog["prompts"].complete and changing.withheld.is_set())
    await reopening
    assert session.surface_changes == []
    changing.sent.set()
    await until(lambda: is_read(session))
    await session.close()


async def test_a_lost_connection_is_raised(tmp_path: Path) -> None:
    session = session_with(Server(tools__list=page), tmp_path / "c.mcp.jsonl")
    await session.open()
    session.on_lost(ConnectionProblem("gone"))
    await session.transport.close()
    with pytest.raises(ConnectionProblem):
        await read_surface(session)
    await session.close()
