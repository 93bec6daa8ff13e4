"""`inspector tools | resources | templates | prompts`: complete lists, all pages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from inspector import command_words
from inspector.cli.options import COUNT, Option
from inspector.cli.output import Output
from inspector.cli.verb import Verb

if TYPE_CHECKING:
    from inspector.cli.verb import Invocation
    from inspector.client.state.catalog import CatalogList, ListName
    from inspector.config.targets import RecordingTarget
    from inspector.journal.findings import Finding
    from inspector.journal.journal import Journal

NOTE = 300
"""Characters shown of a finding or a cursor."""


def run(invocation: Invocation) -> int:
    """Print the list of the verb, from a server or from a recording."""
    from inspector.cli.session_setup import target_of
    from inspector.config.targets import RecordingTarget

    name: ListName = invocation.verb.name  # type: ignore[assignment]  # the verbs below are the names of the lists
    target = target_of(invocation)
    if isinstance(target, RecordingTarget):
        return _recorded(invocation, name, target)
    from inspector.cli import headless

    limit: int = invocation.option("page-limit", 0)
    schemas = bool(invocation.option("schema"))

    async def work(session: Any, out: Output) -> int:
        await session.load(name, page_limit=limit, cursor=invocation.option("cursor"))
        catalog_list = session.catalog[name]
        more = _next_cursor(session.journal, catalog_list.kind.method) if catalog_list.pages == limit else None
        code = _print(out, catalog_list, more, session.journal.findings.all(), schemas=schemas)
        if name == "tools" and catalog_list.pages and not catalog_list.items:
            from inspector.transports.withheld import variables_hint

            hint = variables_hint(target)
            if hint:
                out.note(f"note: {hint.command_line}")
        return code

    return headless.run(invocation, work, target, while_waiting=None if invocation.json else "inspector.cli.item_text")


def _recorded(invocation: Invocation, name: ListName, target: RecordingTarget) -> int:
    from inspector.cli.open_recording import recorded_session

    out = invocation.output
    with recorded_session(target.path, out) as session:
        catalog_list = session.catalog[name]
        if not catalog_list.pages:
            out.note(f"note: The recording has no response to {catalog_list.kind.method}.")
            return _print(out, catalog_list, None, ())
        return _print(
            out, catalog_list, None, session.journal.findings.all(), schemas=bool(invocation.option("schema"))
        )


def _next_cursor(journal: Journal, method: str) -> str | None:
    """The cursor of the page after the newest one."""
    from inspector.cli.exact_results import last_result

    n = last_result(journal, method)
    result = journal.event(n).message["result"] if n else None
    cursor = result.get("nextCursor") if type(result) is dict else None
    return cursor if type(cursor) is str else None


def _print(
    out: Output, catalog_list: CatalogList, more: str | None, findings: Iterable[Finding], *, schemas: bool = False
) -> int:
    """Print a list as far as it was read; then raise the error that ended it."""
    if out.json:
        if catalog_list.error is not None:
            raise catalog_list.error
        out.document({catalog_list.kind.key: catalog_list.items} | ({} if more is None else {"nextCursor": more}))
        _tell(out, catalog_list, findings)
        return 0
    from inspector.cli import item_text

    if catalog_list.kind.name == "tools" and (schemas or out.width is not None):
        out.lines(line for item in catalog_list.items for line in item_text.tool_lines(out, item, schemas=schemas))
    else:
        row = item_text.ROWS[catalog_list.kind.name]
        out.table([row(out, item) for item in catalog_list.items])
    if catalog_list.error is not None:
        raise catalog_list.error
    if catalog_list.pages and not catalog_list.items:
        out.note(f"The server has no {catalog_list.kind.name}.")
    _tell(out, catalog_list, findings)
    if more is not None:
        out.note(f"note: There are more pages: --cursor {out.safe(command_words.quote(more), NOTE)}")
    return 0


def _tell(out: Output, catalog_list: CatalogList, findings: Iterable[Finding]) -> None:
    """Print problems of the list."""
    count = catalog_list.invalid_entries
    if count:
        out.note(f"note: {count:,} entries are not objects and are not shown; the recording has them.")
    for finding in findings:
        out.note(f"note: {out.safe(finding.message, NOTE)}")


_PAGES = (
    Option("--page-limit", "Read at most N pages", COUNT),
    Option("--cursor", "Start at this cursor instead of the first page", "CURSOR"),
)
TOOLS = Verb(
    "tools",
    run,
    recordings=True,
    options=(Option("--schema", "Print the input and output schema of every tool"), *_PAGES),
)
RESOURCES = Verb("resources", run, recordings=True, options=_PAGES)
TEMPLATES = Verb("templates", run, recordings=True, options=_PAGES)
PROMPTS = Verb("prompts", run, recordings=True, options=_PAGES)
