"""The request and response of one login step: the document, with the relevant member highlighted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textual.app import ComposeResult

from inspector.client.state.login import AuthStep
from inspector.journal.journal import Journal
from inspector.protocol.views import View
from inspector.text import duration, safe, size
from inspector.tui.log.summaries import headers_of
from inspector.tui.login.facts import plain_fact
from inspector.tui.login.steps import title
from inspector.tui.widgets.fact_rows import Row, RowSection, paragraph
from inspector.tui.widgets.json_view import JsonView
from inspector.tui.widgets.paint import Pieces
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.tab_row import Tab, TabRow

_TABS = (Tab("response", "response"), Tab("request", "request"), Tab("headers", "headers"))
_LOOKED_AT = {
    "issuer": "issuer",
    "server": "authorization_servers",
    "resource": "resource",
    "authorize": "code_challenge_methods_supported",
}
"""The member of its document that each step reads."""
_FROM = {"server": "resource", "issuer": "metadata", "authorize": "metadata", "scope": "resource"}
"""For a step without a request: the step whose document it uses."""


def document_of(steps: Sequence[AuthStep], at: int) -> tuple[int, int]:
    """Return the place of the step with the document for step `at`, and its newest request.

    A step that uses an earlier step's document has that one. The result is (at, 0) for none.
    """
    step = steps[at]
    if step.fetches:
        return at, step.fetches[-1]
    if step.name == "authorize" and step.outcome == "ok":
        return at, 0
    if step.name == "scope" and step.facts.get("source") != "metadata":
        return at, 0
    wanted = _FROM.get(step.name)
    for before in range(at - 1, -1, -1):
        if steps[before].name == wanted and steps[before].fetches:
            return before, steps[before].fetches[-1]
    return at, 0


class LoginDocument(Pane):
    """One request of a login and its response, both redacted as in the recording."""

    DEFAULT_CSS = """
    LoginDocument > JsonView { height: 1fr; }
    """

    def __init__(self, journal: Journal, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._journal = journal
        self._shown: tuple[object, ...] = ()
        self._facts: View = View({})
        self._why = ""
        self._field = ""
        self._view = JsonView(wrap=True, empty="This step made no request.")

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield self._view

    def show(self, number: int, step: AuthStep, n: int, *, field: str = "", note: Pieces = "") -> None:
        """Show the request of event `n`, which belongs to the step with this number; 0: the step's own facts.

        `field` is highlighted in the document; `note` is shown at the right of the tabs.
        """
        self.tab_note = note
        if (wanted := (number, step.n, n, field)) == self._shown:
            return
        self._shown, self._field = wanted, field
        self.title = [(f"{number} ", "muted"), title(step)] if number else title(step)
        facts: list[Pieces] = []
        self._facts, self._why = View({}), ""
        if n:
            event = self._journal.event(n)
            self._facts, self._why = View(event.fields.get("facts")), str(event.fields.get("text") or "")
            status = self._facts.members.get("status")
            facts.append(
                f"{plain_fact(self._facts.members.get('method'))} {plain_fact(status) if status else 'no answer'}"
            )
            took = self._facts.members.get("ms")
            if isinstance(took, (int, float)) and 0 <= took < 1e9:
                facts.append(duration(round(took * 1000)))
            if body := _body(self._facts, "response"):
                facts.append(size(len(body.encode("utf-8", "replace"))))
        self.facts = facts
        self.tabs = _TABS if n else ()
        if n:
            self._fill()
        else:
            self._view.shows_cursor = False
            self._view.set_sections([RowSection(_own(step))])

    def clear(self) -> None:
        """Show nothing."""
        self._shown = ()
        self.title, self.facts, self.tabs, self.tab_note = "", (), (), ""
        self._view.load("")

    def on_tab_row_chosen(self, event: TabRow.Chosen) -> None:
        event.stop()
        self._fill()

    def step_tab(self, by: int) -> None:
        """Show the next or previous view."""
        if self.tabs:
            self.tab_row.step(by)

    def _fill(self) -> None:
        view, facts = self._view, self._facts
        if self.tab == "headers":
            view.shows_cursor = False
            view.set_sections([RowSection(_heads(facts))])
            return
        side = "request" if self.tab == "request" else "response"
        if side == "response" and facts.members.get("status") is None:
            view.shows_cursor = False
            view.set_sections([RowSection(paragraph(safe(self._why, 2000), "error"))])
            return
        body = _body(facts, side)
        rows = [
            Row([(f"{plain_fact(facts.members.get('method'))} ", "muted"), plain_fact(facts.members.get("url"))], 5)
        ]
        if side == "request" and not body.lstrip().startswith(("{", "[")):
            view.shows_cursor = False
            view.set_sections([RowSection([*rows, Row(), *_form(body)])])
            return
        if not body:
            view.shows_cursor = False
            view.set_sections([RowSection([Row([("empty body", "muted")])])])
            return
        view.shows_cursor = body.lstrip().startswith(("{", "["))
        view.load(body)
        if side == "response" and self._field:
            view.show_pointer(f"/{self._field}", mark=True)


def looked_at(step: AuthStep) -> str:
    """Return the member of its document that a step reads; empty for none."""
    field = step.facts.get("field")
    if isinstance(field, str):
        return field
    return _LOOKED_AT.get(step.name, "") if step.outcome != "ok" or step.name in ("issuer", "server") else ""


def _body(facts: View, side: str) -> str:
    return View(facts.object(side)).text("body")


def _form(body: str) -> list[Row]:
    """The fields of a form, one per line; secrets are already redacted."""
    from urllib.parse import unquote_plus

    rows: list[Row] = []
    for pair in body.split("&")[:200] if body else ():
        name, _, value = pair.partition("=")
        rows.append(Row([(f"{unquote_plus(name)[:200]}  ", "json-key"), unquote_plus(value)[:4000]], 2))
    return rows or [Row([("empty body", "muted")])]


def _heads(facts: View) -> list[Row]:
    """The headers of request and response."""
    rows = [
        Row([(f"{plain_fact(facts.members.get('method'))} ", "bright bold"), plain_fact(facts.members.get("url"))], 2)
    ]
    for side in ("request", "response"):
        if side == "response":
            rows += [Row(), Row([("answer  ", "bright bold"), plain_fact(facts.members.get("status"))])]
        rows += [Row([(f"{name}: ", "muted"), value], 2) for name, value in headers_of(View(facts.object(side)))]
    return rows


def _own(step: AuthStep) -> list[Row]:
    """The facts of a step without requests."""
    said: Any = step.facts.get("challenge")
    if isinstance(said, list) and said:
        rows: list[Row] = []
        for each in said[:8]:
            rows += [Row([("WWW-Authenticate: ", "muted"), plain_fact(each)], 2), Row()]
        return rows
    asked = step.facts.get("asked")
    if isinstance(asked, list) and asked:
        rows = [
            Row(
                [
                    (
                        "The parameters of the authorization URL, except those that bind the answer to this session",
                        "muted",
                    )
                ]
            ),
            Row(),
        ]
        for pair in asked[:40]:
            if isinstance(pair, list) and len(pair) == 2:
                rows.append(Row([(f"{plain_fact(pair[0])}  ", "json-key"), plain_fact(pair[1])], 2))
        return rows
    if step.outcome == "open":
        return [Row([("The login did not reach this step.", "muted")])]
    return [Row([("This step made no request.", "muted")])]
