"""`inspector apps`: the tools with a page (MCP Apps), and one page as facts, text or source. Nothing is rendered."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from inspector.cli.options import ASK, Option
from inspector.cli.output import Output
from inspector.cli.verb import Verb
from inspector.errors import UsageError
from inspector.protocol.app_definitions import tool_app, unused_pages

if TYPE_CHECKING:
    from inspector.cli.verb import Invocation
    from inspector.client.session_state import SessionState
    from inspector.features.apps.page import AppPage
    from inspector.journal.journal import Journal

NAME = 300
MAX_LOADED = 50
"""Loaded URLs that are listed for a person."""


def run(invocation: Invocation) -> int:
    """List the tools with a page, or show one page, of a server or a recording."""
    from inspector.cli.session_setup import target_of
    from inspector.config.targets import RecordingTarget

    page: str | None = invocation.option("page")
    form = next((name for name in ("text", "source") if invocation.option(name)), "facts")
    if page is None and form != "facts":
        raise UsageError(
            f"--{form} shows one page, and --page is missing.", hint="Name the page by its tool or its ui:// URI."
        )
    target = target_of(invocation)
    if isinstance(target, RecordingTarget):
        from inspector.cli.open_recording import recorded_session

        out = invocation.output
        with recorded_session(target.path, out) as session:
            if page is None:
                return _list(out, session)
            uri = _uri(session, page)
            result = _recorded_answer(session.journal, uri)
            if result is None:
                raise UsageError(f"The recording has no answer for the page {uri}.")
            return _show(out, session, uri, result, form)
    from inspector.cli import headless

    async def work(session: Any, out: Output) -> int:
        await session.load("tools")
        if session.server.can("resources"):
            await session.load("resources")
        if page is None:
            return _list(out, session)
        uri = _uri(session, page)
        return _show(out, session, uri, await session.read_resource(uri).result(), form)

    return headless.run(invocation, work, target)


def _list(out: Output, session: SessionState) -> int:
    """Tools with a page or a restricted visibility, and pages that no tool names."""
    tools, resources = session.catalog["tools"].items, session.catalog["resources"].items
    apps = [(tool, tool_app(tool)) for tool in tools]
    apps = [(tool, app) for tool, app in apps if app.mark or app.problems]
    unused = unused_pages(tools, resources)
    if out.json:
        out.document(
            {
                "tools": [
                    {
                        "name": tool.get("name"),
                        "uri": app.uri or None,
                        "visibility": list(app.visibility),
                        "deprecated": app.is_flat,
                        "problems": [problem._asdict() for problem in app.problems],
                    }
                    for tool, app in apps
                ],
                "unused": unused,
            }
        )
        return 0
    out.table(
        [(out.safe(tool.get("name"), NAME), app.mark or "no page", out.safe(app.uri, NAME)) for tool, app in apps]
    )
    out.lines(f"page without a tool: {out.safe(uri, NAME)}" for uri in unused)
    for _, app in apps:
        for problem in app.problems:
            out.note(f"note: {problem.rule} {out.safe(problem.text, NAME)}")
    if not apps and not unused:
        out.note("No tool has a page. Some servers list such tools only to clients that offer MCP Apps: --extension ui")
    return 0


def _uri(session: SessionState, page: str) -> str:
    """Return the URI of a page by its URI or the name of a tool. Raises `UsageError`."""
    if "://" in page:
        return page
    tool = session.catalog["tools"].get(page)
    if tool is None:
        hint = "`inspector apps` lists the tools with a page."
        raise UsageError(f"The server has no tool “{page[:200]}”.", hint=hint)
    uri = tool_app(tool).uri
    if not uri:
        raise UsageError(f"The tool “{page[:200]}” has no page.")
    return uri


def _recorded_answer(journal: Journal, uri: str) -> Any:
    """Return the newest result of `resources/read` for a URI; None without one."""
    from inspector.journal.format import Dir
    from inspector.journal.query import Query
    from inspector.protocol.jsonrpc import Shape

    asked = Query(method="resources/read", shape=Shape.REQUEST, dir=Dir.SEND)
    for n in asked.backwards(journal.index):
        message = journal.event(n).message
        answer = journal.index.pair(n)
        if answer and journal.index.shape(answer) is Shape.RESULT and message.get("params", {}).get("uri") == uri:
            return journal.event(answer).message["result"]
    return None


def _show(out: Output, session: SessionState, uri: str, result: Any, form: str) -> int:
    from inspector.features.apps.page import read_page

    page = read_page(uri, result, session.catalog["resources"].get(uri))
    if out.json:
        out.document(page.as_json(source=form != "facts"))
    elif form == "text":
        out.lines(out.safe(line) for line in page.text.text.split("\n"))
        if not page.text.is_whole:
            out.note("note: The page has more text than is printed; --source prints all of it.")
    elif form == "source":
        out.lines(out.safe(line) for line in page.source.split("\n"))
    else:
        _facts(out, page)
    return 0


def _facts(out: Output, page: AppPage) -> None:
    from inspector.features.apps.policy import BY_SPECIFICATION
    from inspector.text import quantity, size

    border = {True: "yes", False: "no", None: "the host decides"}[page.border]
    facts = [
        ("page", out.safe(page.uri, NAME)),
        ("title", out.safe(page.title, NAME)),
        ("type", out.safe(page.mime_type, NAME) or "none"),
        ("size", f"{size(len(page.data))} in {page.member or 'none'}"),
        ("sha256", page.sha256),
        ("permissions", out.safe(", ".join(page.permissions), NAME) or "none"),
        ("domain", out.safe(page.domain, NAME) or "the host's default"),
        ("border", border),
        ("metadata", f"from the {page.ui_place}" if page.ui_place else "none"),
    ]
    out.lines(f"{label:<12}{text}" for label, text in facts if text)
    out.line("")
    kind = "the restrictive default, because the page declares no csp" if page.policy.is_default else "built from csp"
    out.line(f"policy      {kind}")
    for directive in page.policy.directives:
        name = f"  {directive.name:<12}"
        for origin, sources in groupby(directive.sources, lambda source: source.origin):
            by = "" if origin == BY_SPECIFICATION else f"  ({origin})"
            out.line(f"{name}{out.safe(' '.join(source.value for source in sources), NAME)}{by}")
            name = " " * len(name)
    scan = page.scan
    out.line("")
    named = f"; {scan.mentioned:,} more are only named" if scan.mentioned else ""
    more = "" if scan.is_whole else "; the page has more, which were not examined"
    out.line(f"loads       {quantity(len(scan.loaded), 'URL')}{named}{more}")
    out.table(
        [
            ("  allowed" if url.allowed else "  not allowed", url.directive, out.safe(url.url, NAME))
            for url in scan.loaded[:MAX_LOADED]
        ]
    )
    if len(scan.loaded) > MAX_LOADED:
        out.line(f"  … {len(scan.loaded) - MAX_LOADED:,} more; --json prints them")
    for warning in page.warnings:
        out.note(f"note: {out.safe(warning, 1000)}")
    for problem in page.all_problems:
        if problem.rule != "APP-13":
            out.note(f"note: {problem.rule} {out.safe(problem.text, 500)}")


APPS = Verb(
    "apps",
    run,
    recordings=True,
    options=(
        Option("--page", "Read this page and show it", "TOOL|URI"),
        Option("--text", "With --page: print the text of the page, without scripts and styles"),
        Option("--source", "With --page: print the HTML"),
        ASK,
    ),
)
