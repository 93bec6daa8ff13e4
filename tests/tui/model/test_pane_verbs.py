"""The verbs of the panes: which are shown, and which work, by the facts of each pane."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.tui.model.calls import CALLS_VERBS, CallsFacts
from inspector.tui.model.catalog import CALL_VERBS, CATALOG_VERBS, INBOX_VERBS, CatalogFacts, InboxFacts
from inspector.tui.model.check import CHECK_VERBS, FINDING_VERBS, CheckFacts
from inspector.tui.model.detail import DETAIL_VERBS, EDGE_VERBS, DetailFacts
from inspector.tui.model.screens import DIFF_VERBS, LOAD_VERBS, LOGIN_VERBS, DiffFacts, LoadFacts, LoginFacts
from inspector.tui.model.server import FAILED_VERBS, SERVER_VERBS, ServerFacts
from inspector.tui.model.verbs import VerbRules
from inspector.tui.verbs import BY_ID

ASKED = ("asked.answer", "asked.decline", "asked.later")
TOOL = CatalogFacts(tool=True, sortable=True)
CONNECTING = ServerFacts(connecting=True)
HTTP = ServerFacts(stdio=False)

SHOWN: list[tuple[VerbRules[Any], Any, str]] = [
    (
        CATALOG_VERBS,
        TOOL,
        "list.select catalog.call=call catalog.filter catalog.refresh catalog.sort=by cost catalog.model",
    ),
    (
        CATALOG_VERBS,
        TOOL._replace(page=True, calling=True, by_cost=True),
        "list.select catalog.all=cancel call catalog.call=call catalog.filter catalog.refresh "
        "catalog.sort=server's order catalog.model catalog.page",
    ),
    # Escape drops the filter first.
    (
        CATALOG_VERBS,
        TOOL._replace(filtered=True, calling=True, roomy=False),
        "list.select catalog.call=call catalog.filter catalog.refresh catalog.model",
    ),
    (
        CATALOG_VERBS,
        CatalogFacts(verb="read", asked=ASKED, calling=True),
        "asked.answer asked.decline list.select asked.later catalog.filter catalog.refresh",
    ),
    (CATALOG_VERBS, CatalogFacts(rows=0), "catalog.filter catalog.refresh"),
    (CATALOG_VERBS, CatalogFacts(live=False, tool=True, page=True), "list.select catalog.filter catalog.model"),
    (INBOX_VERBS, InboxFacts(), "list.select"),
    (
        INBOX_VERBS,
        InboxFacts(asked=ASKED, standing=True),
        "list.select asked.answer asked.decline inbox.ask-again",
    ),
    (INBOX_VERBS, InboxFacts(rows=0, live=False, standing=True), ""),
    (CALL_VERBS, True, "call.cancel call.more-time call.its-messages"),
    (CALL_VERBS, False, "call.its-messages"),
    (
        SERVER_VERBS,
        ServerFacts(watching=True),
        "server.reconnect server.restart server.watch=stop watching server.extensions app.revision",
    ),
    (
        SERVER_VERBS,
        HTTP._replace(logins=True, can_log=True),
        "server.reconnect server.log-level server.extensions server.authorization app.revision",
    ),
    (SERVER_VERBS, ServerFacts(live=False, can_log=True, names_file=True), "server.open-source"),
    (FAILED_VERBS, CONNECTING, "failed.stop failed.doctor"),
    (
        FAILED_VERBS,
        ServerFacts(names_file=True, lost_call=True, logins=True),
        "failed.again=start again failed.call-again failed.edit=edit the command failed.doctor failed.copy "
        "failed.open-source failed.watch=restart on change app.revision",
    ),
    (
        FAILED_VERBS,
        HTTP._replace(logins=True, needs_login=True),
        "failed.again=log in again failed.authorization failed.otherwise failed.doctor failed.copy "
        "failed.edit=edit the URL app.revision",
    ),
    (FAILED_VERBS, ServerFacts(live=False), "failed.again=start again failed.copy app.revision"),
    (DETAIL_VERBS, DetailFacts(shown=False), "app.back=messages"),
    (
        DETAIL_VERBS,
        DetailFacts(sent=True, marked=True, related=True),
        "detail.copy app.back=messages detail.copy-command detail.save detail.mark=remove mark detail.related "
        "detail.export detail.next-tab=next view",
    ),
    (EDGE_VERBS, DetailFacts(shown=False), ""),
    (
        EDGE_VERBS,
        DetailFacts(sent=True, http=True, names_file=True, hides_findings=True),
        "detail.copy detail.copy-curl detail.save detail.mark=mark detail.export detail.open-source detail.why",
    ),
    (
        CHECK_VERBS,
        CheckFacts(),
        "list.select=evidence check.run check.again check.allow check.hosts check.faults check.report",
    ),
    (CHECK_VERBS, CheckFacts(current=False, report=False, results=False), "check.run check.allow check.hosts"),
    (
        CHECK_VERBS,
        CheckFacts(live=False, messages=True),
        "list.select=evidence check.run check.hosts check.faults check.report",
    ),
    (
        CHECK_VERBS,
        CheckFacts(reading=True, messages=True),
        "check.its-messages check.again check.copy check.leave=back",
    ),
    (CHECK_VERBS, CheckFacts(running=True, reading=True, messages=True), "check.leave=stop"),
    (FINDING_VERBS, CheckFacts(messages=True), "check.its-messages check.copy check.baseline"),
    (FINDING_VERBS, CheckFacts(running=True, messages=True), "check.its-messages check.copy"),
    (CALLS_VERBS, CallsFacts(running=True, select="open", in_flow=True), "list.select=open calls.leave=stop"),
    (
        CALLS_VERBS,
        CallsFacts(environments=True, failures=True, messages=True, pinned=True, select="open"),
        "list.select=open calls.run calls.run-all calls.edit calls.environment calls.new calls.next-failure "
        "calls.its-messages calls.pin-flow=not on restart collection.filter",
    ),
    (
        CALLS_VERBS,
        CallsFacts(in_flow=True),
        "calls.run calls.run-all calls.edit calls.new calls.pin-flow calls.leave=list",
    ),
    (CALLS_VERBS, CallsFacts(live=False, ready=False), "calls.edit collection.filter"),
    (LOGIN_VERBS, LoginFacts(), "authorization.open authorization.again authorization.log-in authorization.otherwise"),
    (LOGIN_VERBS, LoginFacts(live=False, token=True), "authorization.open authorization.log-out"),
    (LOAD_VERBS, LoadFacts(has_rate=True, paused=True), "load.pause=go on load.faster load.slower load.leave=stop"),
    (
        LOAD_VERBS,
        LoadFacts(over=True, report=True, recorded=True, narrow=True),
        "load.leave=back load.report load.edit load.its-messages load.next-view",
    ),
    (DIFF_VERBS, DiffFacts(), "diff.next diff.previous diff.same diff.copy diff.leave"),
    (DIFF_VERBS, DiffFacts(b=True), "diff.next diff.previous diff.same diff.frame-b diff.copy diff.leave"),
]

WORKS: list[tuple[VerbRules[Any], Any, str, str]] = [
    (CATALOG_VERBS, TOOL, "call refresh sort model filter", "all answer later page"),
    (CATALOG_VERBS, TOOL._replace(filtered=True), "all", "answer"),
    (CATALOG_VERBS, TOOL._replace(calling=True, asked=ASKED), "all answer decline later", "always"),
    (CATALOG_VERBS, CatalogFacts(live=False, page=True), "filter", "refresh page sort model"),
    (INBOX_VERBS, InboxFacts(asked=ASKED), "answer decline ask_again", "always later"),
    (INBOX_VERBS, InboxFacts(live=False), "its_messages", "answer ask_again"),
    (CALL_VERBS, False, "its_messages", "cancel more_time"),
    (SERVER_VERBS, HTTP, "reconnect extensions", "restart watch log_level open_source authorization"),
    (SERVER_VERBS, ServerFacts(live=False, logins=True), "authorization", "reconnect restart watch extensions"),
    (FAILED_VERBS, CONNECTING._replace(lost_call=True), "stop doctor watch copy", "again call_again edit otherwise"),
    (FAILED_VERBS, ServerFacts(lost_call=True, needs_login=True), "again call_again edit otherwise", "stop"),
    (FAILED_VERBS, ServerFacts(live=False, lost_call=True), "again copy", "call_again edit doctor watch"),
    (DETAIL_VERBS, DetailFacts(), "copy save mark", "open_source why"),
    (DETAIL_VERBS, DetailFacts(names_file=True, hides_findings=True), "open_source why", ""),
    (
        CHECK_VERBS,
        CheckFacts(),
        "run again hosts allow intrusive report baseline faults copy",
        "login its_messages leave",
    ),
    (CHECK_VERBS, CheckFacts(current=False), "run report", "again copy"),
    (CHECK_VERBS, CheckFacts(running=True), "leave level next", "run again hosts allow intrusive report baseline"),
    (CHECK_VERBS, CheckFacts(live=False, http=True, in_text=True), "leave run hosts", "again allow intrusive login"),
    (CHECK_VERBS, CheckFacts(http=True, current=False, report=False, results=False), "login", "copy faults report"),
    (
        CALLS_VERBS,
        CallsFacts(),
        "run run_all new edit pin_flow",
        "leave environment next_failure previous_failure its_messages",
    ),
    (CALLS_VERBS, CallsFacts(running=True), "leave new", "run run_all"),
    (CALLS_VERBS, CallsFacts(filtered=True, flow=False, flows=False), "leave edit", "run run_all pin_flow"),
    (CALLS_VERBS, CallsFacts(ready=False, in_flow=True, file=False), "leave pin_flow", "run new edit"),
    (LOGIN_VERBS, LoginFacts(connecting=True, token=True), "again otherwise log_out reveal", "log_in"),
    (LOGIN_VERBS, LoginFacts(live=False), "open", "again log_in otherwise log_out reveal"),
    (LOAD_VERBS, LoadFacts(), "leave", "pause faster slower report edit its_messages next_view"),
    (DIFF_VERBS, DiffFacts(a=True), "frame_a copy", "frame_b"),
]


def shown(rules: VerbRules[Any], facts: Any) -> str:
    return " ".join(f"{verb}={title}" if title else verb for verb, title in rules.line(facts))


@pytest.mark.parametrize(("rules", "facts", "line"), SHOWN)
def test_the_keys_that_are_shown(rules: VerbRules[Any], facts: Any, line: str) -> None:
    assert shown(rules, facts) == line
    assert {verb for verb, _ in rules.line(facts)} <= BY_ID.keys()


@pytest.mark.parametrize(("rules", "facts", "works", "rests"), WORKS)
def test_the_actions_that_work(rules: VerbRules[Any], facts: Any, works: str, rests: str) -> None:
    assert [action for action in works.split() if not rules.can(action, lambda: facts)] == []
    assert [action for action in rests.split() if rules.can(action, lambda: facts)] == []
