"""The footer: which keys it shows, in which order, by what works at the focus and on the screen."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.tui.keymap import Keymap
from inspector.tui.model.ask import ASK_VERBS, AskFacts
from inspector.tui.model.catalog import CATALOG_VERBS, CatalogFacts
from inspector.tui.model.detail import DETAIL_VERBS, DetailFacts
from inspector.tui.model.footer import MOST, FooterFacts, footer
from inspector.tui.model.form import FORM_VERBS, FormFacts
from inspector.tui.model.log import LOG_VERBS, LogFacts
from inspector.tui.model.result import RESULT_VERBS, ResultFacts, Showing
from inspector.tui.model.server import FAILED_VERBS, SERVER_VERBS, ServerTabFacts
from inspector.tui.model.verbs import KeyHint, VerbRules

KEYS = Keymap()
HERE, NARROW, TYPING = FooterFacts(), FooterFacts(narrow=True), FooterFacts(typing=True)
TABLE = ResultFacts(showing=Showing.TABLE, views=("content", "table", "raw"), called_before=True)
SCREEN = {"app.messages": "", "app.quit": "", "app.start-list": "", "app.zoom": ""}
TYPED = {"app.next-pane": "next field", "app.start-list": ""}

FOOTERS: list[tuple[VerbRules[Any], Any, dict[str, str], FooterFacts, str]] = [
    (CATALOG_VERBS, CatalogFacts(tool=True), SCREEN, HERE,
     "enter open   ^r send   / filter   m messages   q quit   b start"),
    (CATALOG_VERBS, CatalogFacts(rows=0), SCREEN, HERE, "/ filter   m messages   q quit   b start   z zoom"),
    (RESULT_VERBS, TABLE, SCREEN, HERE,
     "^r send again   enter open row   o sort   / filter rows   c copy   m messages"),
    # In one column the ways out stay, and what is used less goes.
    (RESULT_VERBS, TABLE, SCREEN, NARROW, "^r send again   enter open row   o sort   m messages   esc list   q quit"),
    (RESULT_VERBS, TABLE, SCREEN, FooterFacts(narrow=True, room=50), "^r send again   m messages   esc list   q quit"),
    (RESULT_VERBS, ResultFacts(), SCREEN, HERE,
     "^r send again   c copy   esc list   alt-r to form   ^s save call   m messages"),
    (RESULT_VERBS, ResultFacts(follow="unsubscribe"), SCREEN, HERE,
     "^r send again   u unsubscribe   c copy   esc list   alt-r to form   m messages"),
    # What does not fit can have the whole screen.
    (RESULT_VERBS, ResultFacts(cut=True), SCREEN, HERE,
     "^r send again   c copy   z zoom   esc list   alt-r to form   m messages"),
    # The way out is used more than what a result is saved for.
    (RESULT_VERBS, ResultFacts(called_before=True), SCREEN, HERE,
     "^r send again   c copy   D compare   esc list   alt-r to form   m messages"),
    # A form takes letters as text: only keys that type nothing, and always the way out.
    (FORM_VERBS, FormFacts(past=True), TYPED, TYPING,
     "^r send   ^e json   ↑ earlier calls   ^s save call   tab next field   esc list"),
    (FORM_VERBS, FormFacts(answered=True, may_be_task=True, past=True), TYPED, TYPING,
     "^r send   alt-r to result   f4 as a task   ^e json   ↑ earlier calls   esc list"),
    # The key that leads to the question is shown once.
    (FORM_VERBS, FormFacts(running=True, asks=True), {**TYPED, "app.question": ""}, TYPING,
     "^g to question   ^e json   ^s save call   tab next field   esc cancel call   b start"),
    (ASK_VERBS, AskFacts(), TYPED, TYPING,
     "^r send answer   ^d decline   ^e json   alt-c cancel   ^s always   esc later"),
    (LOG_VERBS, LogFacts(sent=True), {**SCREEN, "app.messages": "list"}, HERE,
     "enter open   / filter   g only this call   ^r send again   v timeline   m list"),
    (LOG_VERBS, LogFacts(by_exchange=True), {**SCREEN, "app.zoom": "restore"}, FooterFacts(narrow=True, zoomed=True),
     "enter open   / filter   g only this call   m messages   z restore   q quit"),
    # The way out of a message leads to the log, too: it is shown once.
    (DETAIL_VERBS, DetailFacts(), SCREEN, NARROW, "c copy   z zoom   * mark   w write file   esc messages   q quit"),
    (LOG_VERBS, LogFacts(searched=True, filtered=True), {}, HERE,
     "enter open   / filter   g only this call   v timeline"),
    # Zoom has the place that the pane gives it, and the title that it has now.
    (DETAIL_VERBS, DetailFacts(), {**SCREEN, "app.zoom": "restore"}, FooterFacts(narrow=True, zoomed=True),
     "c copy   z restore   * mark   w write file   esc messages   q quit"),
    (LOG_VERBS, LogFacts(rows=3, sent=True), {**SCREEN, "app.messages": "list"}, HERE,
     "enter open   / filter   g only this call   ^r send again   d compare two   m list"),
    (LOG_VERBS, LogFacts(searched=True), {}, HERE,
     "enter open   / filter   n next match   g only this call   v timeline"),
    # A call of the row that runs; a pane that shows the key leaves room for others, whichever pane works it.
    (CATALOG_VERBS, CatalogFacts(tool=True, calling=True), SCREEN, NARROW,
     "enter open   ^r send   / filter   m messages   esc cancel call   q quit"),
    (CATALOG_VERBS, CatalogFacts(tool=True, calling=True), SCREEN,
     FooterFacts(in_panes=(KEYS.hint("call.cancel"),)), "enter open   ^r send   / filter   m messages   q quit   b start"),
    (ASK_VERBS, AskFacts(is_open=False), SCREEN,
     FooterFacts(in_panes=(KEYS.hint("ask.its-messages"), KEYS.hint("ask.later", "list"))), "q quit   b start   z zoom"),
    # What is wrong with the connection comes first.
    (CATALOG_VERBS, CatalogFacts(tool=True), {**SCREEN, "app.reconnect": ""}, HERE,
     "f10 reconnect   enter open   ^r send   / filter   m messages   q quit"),
    (FAILED_VERBS, ServerTabFacts(lost_call=True), SCREEN, HERE,
     "r start again   ^r send again   d doctor   e edit the command   c copy report   m messages"),
    (SERVER_VERBS, ServerTabFacts(), SCREEN, NARROW,
     "r reconnect   R restart   e edit the command   w watch files   m messages   q quit"),
]  # fmt: skip


@pytest.mark.parametrize(("rules", "facts", "common", "screen", "line"), FOOTERS)
def test_the_keys_of_the_footer(
    rules: VerbRules[Any], facts: Any, common: dict[str, str], screen: FooterFacts, line: str
) -> None:
    key_hints = footer(of_pane(rules, facts), {verb: KEYS.hint(verb, title) for verb, title in common.items()}, screen)
    assert "   ".join(f"{hint.label} {hint.title}" for hint in key_hints) == line
    assert len(key_hints) <= MOST


def of_pane(rules: VerbRules[Any], facts: Any) -> list[KeyHint]:
    return [KEYS.hint(verb, title) for verb, title in rules.line(facts) if "|" not in verb]


def test_a_key_of_the_pane_replaces_that_of_the_screen() -> None:
    own = [KEYS.hint("result.call"), KEYS.hint("result.its-messages", "its messages")]
    key_hints = footer(own, {"app.messages": KEYS.hint("app.messages")}, HERE)
    assert [(hint.key, hint.verb) for hint in key_hints] == [("ctrl+r", "result.call"), ("m", "result.its-messages")]
