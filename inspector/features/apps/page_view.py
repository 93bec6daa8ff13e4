"""A page of MCP Apps in a result: facts, policy and loaded URLs as rows, and its text. It is never rendered or run."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from inspector.client.session_state import SessionState
from inspector.features.apps.policy import BY_SPECIFICATION
from inspector.journal.format import Dir
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol.app_definitions import SCHEME, tool_app
from inspector.protocol.jsonrpc import Shape
from inspector.text import quantity, size
from inspector.tui.pane_messages import OpenResource
from inspector.tui.themes import signs_now
from inspector.tui.widgets.fact_rows import Row, fact, heading
from inspector.tui.work.page_views import PageInResult

if TYPE_CHECKING:
    from inspector.features.apps.page import AppPage
    from inspector.tui.main.screen import MainScreen

MAX_TEXT = 1_000_000
"""Characters of the text of a page that are shown."""
_SHOWN_URLS = 100
_SHOWN_PROBLEMS = 50
_EARLIER = 200
"""Earlier reads that are searched for one of the same page."""
_READS = Query(method="resources/read", dir=Dir.SEND, shape=Shape.REQUEST)


def page_in(session: SessionState, request: int, result: Any) -> PageInResult | None:
    """Return the page in a result of request `request`; None if it did not read one.

    This may take a second for 20 MB: call it in a thread.
    """
    journal = session.journal
    if not request or journal.index.method(request) != "resources/read" or not isinstance(result, dict):
        return None
    uri = _uri(journal, request)
    if not uri.startswith(SCHEME):
        return None
    # The reader needs the tables of HTML's named characters, which take 10 ms to load.
    from inspector.features.apps.page import read_page

    page = read_page(uri, result, session.catalog["resources"].get(uri))
    text, is_whole = page.text
    if len(text) > MAX_TEXT or not is_whole:
        text = f"{text[:MAX_TEXT]}\n… The page has more text. The JSON view has its source."
    return PageInResult(_rows(page, _compared(journal, request, page)), text)


def _uri(journal: Journal, request: int) -> str:
    message = journal.event(request).message if request else None
    params = message.get("params") if isinstance(message, dict) else None
    uri = params.get("uri") if isinstance(params, dict) else None
    return uri if isinstance(uri, str) else ""


def _compared(journal: Journal, request: int, page: AppPage) -> tuple[str, str]:
    """Return how the page compares with the previous read of it (C-APP-12): a few words, and their role."""
    from inspector.features.apps.page import read_page

    for seen, n in enumerate(_READS.backwards(journal.index, upto=request - 1)):
        if seen >= _EARLIER:
            break
        answer = journal.index.pair(n)
        if answer and journal.index.shape(answer) is Shape.RESULT and _uri(journal, n) == page.uri:
            before = read_page(page.uri, journal.event(answer).message["result"])
            when = f"{journal.clock(journal.index.time(answer)):%H:%M:%S}"
            if before.sha256 == page.sha256:
                return f"the same as at {when}", "muted"
            return f"differs from the read at {when}", "finding"
    return "", "muted"


def _rows(page: AppPage, compared: tuple[str, str]) -> list[Row]:
    border = {True: "yes", False: "no", None: "the host decides"}[page.border]
    kind = "the restrictive default: the page declares no csp" if page.policy.is_default else "built from csp"
    rows = [
        Row([("Not rendered and not run. Rules: MCP Apps, stable 2026-01-26.", "muted")]),
        *fact("page", page.uri, "bright"),
        *(fact("title", page.title) if page.title else ()),
        *fact("type", page.mime_type or "none"),
        *fact("size", f"{size(len(page.data))} in {page.member or 'none'}"),
        *fact("sha256", page.sha256),
        *(fact("", *compared) if compared[0] else ()),
        *fact("permissions", ", ".join(page.permissions) or "none", "finding" if page.permissions else "normal"),
        *fact("domain", page.domain or "the host's default"),
        *fact("border", border),
        *fact("metadata", f"from the {page.ui_place}" if page.ui_place else "none"),
    ]
    rows += _problems(page)
    rows += [*heading("Policy"), Row([(kind, "muted")])]
    for directive in page.policy.directives:
        name = f"  {directive.name:<12}"
        for origin, sources in groupby(directive.sources, lambda source: source.origin):
            declared = origin != BY_SPECIFICATION
            values = " ".join(source.value for source in sources)
            pieces: list[Any] = [(name, "muted"), (values, "finding" if declared else "normal")]
            rows.append(Row([*pieces, (f"  {origin}", "muted")] if declared else pieces, 14))
            name = " " * len(name)
    scan = page.scan
    rows += heading("Loaded URLs")
    whole = "" if scan.is_whole else " Only a part of the page was examined."
    named = f"{quantity(len(scan.loaded), 'URL')}, and {scan.mentioned:,} that are only named."
    rows.append(Row([(f"{named} A hint: scripts can build others.{whole}", "muted")]))
    for url in scan.loaded[:_SHOWN_URLS]:
        sign, role = (signs_now().done, "received") if url.allowed else (signs_now().finding, "finding")
        rows.append(Row([(f"  {sign} ", role), (f"{url.directive:<12}", "muted"), url.url], 16))
    if len(scan.loaded) > _SHOWN_URLS:
        rows.append(Row([(f"  {len(scan.loaded) - _SHOWN_URLS:,} more", "muted")]))
    return rows


def _problems(page: AppPage) -> list[Row]:
    problems = [problem for problem in page.all_problems if problem.rule != "APP-13"]
    rows = [
        Row([(f"  {signs_now().finding} ", "finding"), problem.text, (f"  {problem.rule}", "muted")], 4)
        for problem in problems[:_SHOWN_PROBLEMS]
    ]
    return [*heading("Problems"), *rows] if rows else []


async def start(screen: MainScreen, tool: str, arguments: Any) -> None:
    """Read the page of a tool."""
    screen.post_message(OpenResource(tool_app(screen.session.catalog["tools"].get(tool) or {}).uri))
