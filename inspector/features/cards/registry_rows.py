"""Servers of a registry in the start list: found only on demand, described in full, opened after a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual.app import App
from textual.binding import Binding, BindingType
from textual.widget import Widget

from inspector.config import trust
from inspector.config.expand import InputQuestion
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.errors import InspectorError
from inspector.features.cards.registries import (
    RegistryChoice,
    RegistryListing,
    RegistryServer,
    entry_of,
    filled,
    own_questions,
    search_source,
    start_facts,
)
from inspector.text import safe
from inspector.tui.advice import error_text
from inspector.tui.keymap import KeyHint
from inspector.tui.start.rows import Group, SourceServer
from inspector.tui.start.screen import StartScreen
from inspector.tui.themes import signs_now
from inspector.tui.widgets.dialog import LineDialog, QuestionDialog
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.fact_rows import FactsView, Row, RowSection, fact, paragraph

MAX_COUNT = 200
"""Servers of a search that are listed."""
_LINE = 800


async def search(screen: StartScreen, _tool: str, _arguments: object) -> None:
    """Search the registry of the settings for the typed words. Nothing else contacts it."""
    words, source = screen.typed, screen.settings.registry
    if not source:
        text = "No registry is set. Name a file or an address in the setting “registry”."
        screen.notify(text, severity="warning", markup=False, timeout=8)
        return
    before = screen.feature_group
    screen.show_found(replace(before or _group(source, ()), note=f"searching {source}"))
    try:
        listing = await search_source(source, words)
    except InspectorError as error:
        screen.show_found(before)
        screen.notify(error_text(error, screen), severity="error", markup=False, timeout=10)
    else:
        screen.show_found(_group(source, rows_of(listing, words, source)), select=True)


def _group(source: str, servers: Sequence[SourceServer]) -> Group:
    return Group("found", "Registry", servers, f"No server of {source} fits.", f"{len(servers)} in {source}")


def rows_of(listing: RegistryListing, words: str, source: str) -> list[SourceServer]:
    """Return the ways to open the servers of a listing that fit the words, as many as are listed."""
    fitting = [server for server in listing.matching(words) if server.is_latest is not False]
    return [
        _row(server, choice, source)
        for server in fitting[:MAX_COUNT]
        for choice in server.choices
        if choice.definition is not None
    ]


def _row(server: RegistryServer, choice: RegistryChoice, source: str) -> SourceServer:
    return SourceServer(
        server.name,
        choice.kind,
        choice.summary,
        " ".join(filter(None, (server.version, server.status))),
        f"{server.title} {server.description}",
        partial(_facts, server, choice, source),
        lambda app: _opened(app, server, choice, source),
    )


def _facts(server: RegistryServer, choice: RegistryChoice, source: str) -> list[Row]:
    rows = fact("opens", choice.summary)
    rows += fact("about", server.description) if server.description else []
    rows += fact("registry", source)
    for problem in server.problems[:3]:
        rows += fact("", problem, "finding")
    return rows


async def _opened(
    app: App[int], server: RegistryServer, choice: RegistryChoice, source: str
) -> StdioTarget | HttpTarget | None:
    """Return the target of a server after the user has agreed and given its values; None if not.

    Must run in a worker. Raises `ConfigError` for a missing value, and `UsageError`.
    """
    from inspector.config.servers import resolve

    if not await app.push_screen_wait(AskStart(server, choice, source)):
        return None
    entry = entry_of(server, choice, Path(source))
    answers: dict[str, str | None] = {}

    def prompt(question: InputQuestion) -> str | None:
        if question.id not in answers:
            raise _ValueWanted(own_questions(question))
        return answers[question.id] or question.default

    while True:
        try:
            return filled(server, resolve(entry, prompt=prompt, consent=trust.always))
        except _ValueWanted as missing:
            question = missing.question
        answer = await app.push_screen_wait(AskValue(question))
        if answer is None:
            return None
        answers[question.id] = answer


class _ValueWanted(Exception):
    """A value of the user is needed before the target can be made."""

    def __init__(self, question: InputQuestion) -> None:
        super().__init__(question.id)
        self.question = question


class AskStart(QuestionDialog[bool]):
    """Shows the whole command or URL, its variables and headers. Enter does not accept it."""

    DEFAULT_CSS = """
    AskStart > Pane { max-width: 110; max-height: 90%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", show=False, priority=True),
        Binding("n,escape,q", "answer(False)", show=False, priority=True),
        Binding("enter", "nothing", show=False, priority=True),
    ]

    def __init__(self, server: RegistryServer, choice: RegistryChoice, source: str) -> None:
        rows = _start_rows(server, choice, source)
        keys = [KeyHint("y", "open it", "y"), KeyHint("esc", "do not open", "escape")]
        super().__init__(f"Open {safe(server.name, 60)}?", rows, keys)


def _start_rows(server: RegistryServer, choice: RegistryChoice, source: str) -> list[Row]:
    mark = signs_now().finding
    rows = [
        *paragraph(server.description, limit=5),
        Row([(f"from {safe(source, _LINE)}", "muted")]),
        Row(),
    ]
    rows += [Row(f"  {safe(fact, _LINE)}", 4) for fact in start_facts(choice)]
    for problem in server.problems[:10]:
        rows.append(Row([(f"  {mark} ", "finding"), safe(problem, _LINE)], 4))
    if server.after_install:
        rows += [Row(), Row([("Its publisher says (shown, never run):", "muted")])]
        rows += paragraph(server.after_install, "muted", indent=2, limit=10)
    return rows


class AskValue(LineDialog[str]):
    """Asks for one value of a server; a secret is hidden."""

    DEFAULT_CSS = """
    AskValue > Pane { width: 80%; height: 8; }
    AskValue FactsView { height: 2; }
    AskValue Editor { margin: 1 1 0 1; }
    """

    def __init__(self, question: InputQuestion) -> None:
        initial = "" if question.secret or question.choices else question.default or ""
        editor = Editor(initial, placeholder=safe(", ".join(question.choices), 80) or "value")
        editor.concealed = question.secret
        super().__init__(safe(question.id, 60), editor, "use it", leave="do not open")
        self._question = question

    def above(self) -> Sequence[Widget]:
        return [FactsView()]

    def on_mount(self) -> None:
        super().on_mount()
        about = self._question.description or f"for {self._question.server}"
        self.query_one(FactsView).show(RowSection(paragraph(about, limit=2)))

    def action_take(self) -> None:
        """Close with the typed value; an empty one stands for the default."""
        self.dismiss(self.editor.value)
