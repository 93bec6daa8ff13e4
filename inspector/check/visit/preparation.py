"""Makes ready what the checks of a visit need: the shared session, its lists, messages for the judge, tool calls."""

from __future__ import annotations

from inspector.check.check_table import Need
from inspector.check.visit.tool_calls import call_tools
from inspector.check.visit.visit import Visit
from inspector.check.visit.warm_up import warm_up
from inspector.client.state.catalog import KINDS, ListName
from inspector.errors import InspectorError, RequestTimeout


async def prepare(visit: Visit, need: Need, *, watches: bool) -> None:
    """Do what `need` says; `watches`: and send the requests of the warm-up. A failure is the problem of the session."""
    try:
        if need >= Need.SESSION and not visit.shared.problem:
            await _open(visit)
            if watches:
                await warm_up(visit)
            elif need is Need.CALLS:
                await call_tools(visit)
    except InspectorError as error:
        visit.shared.problem = error.message


async def _open(visit: Visit) -> None:
    """Open the shared session, if it is not open, and read its lists."""
    if visit.session.phase != "ready":
        visit.journal.record_life("", "reopen", by="check", revision=visit.revision, why="session again")
        try:
            await visit.session.open()
        except RequestTimeout:
            # It supports the revision, as the survey has shown: on a busy machine it was slow to start.
            await visit.session.reopen()
    for name in ("tools", "resources", "templates", "prompts"):
        if visit.can("resources" if name == "templates" else name):
            await _load(visit, name)


async def _load(visit: Visit, name: ListName) -> None:
    """Read a list. If it times out, request it once more; `settle` finds out whether the response ever comes."""
    await visit.session.load(name)
    if isinstance(visit.session.catalog[name].error, RequestTimeout):
        response = await visit.request(KINDS[name].method, {})
        if response.ok:
            await visit.session.load(name)
