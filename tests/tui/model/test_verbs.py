"""The verbs of the panes and screens: which are shown, and which work, by the facts of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pytest

from inspector.tui.model.ask import ASK_VERBS, AnswerBy, AskFacts
from inspector.tui.model.calls import CALLS_VERBS, CallsFacts
from inspector.tui.model.catalog import CALL_VERBS, CATALOG_VERBS, INBOX_VERBS, CatalogFacts, InboxFacts
from inspector.tui.model.check import CHECK_VERBS, FINDING_VERBS, CheckFacts
from inspector.tui.model.detail import DETAIL_VERBS, EDGE_VERBS, DetailFacts
from inspector.tui.model.form import FORM_VERBS, FormFacts
from inspector.tui.model.log import EXCHANGE_VERBS, LOG_VERBS, LogFacts, footer_verbs
from inspector.tui.model.result import BOTH_COLUMNS, BOTH_VIEWS, RESULT_VERBS, ResultFacts, Showing, result_verbs
from inspector.tui.model.screens import DIFF_VERBS, LOAD_VERBS, LOGIN_VERBS, DiffFacts, LoadFacts, LoginFacts
from inspector.tui.model.server import FAILED_VERBS, SERVER_VERBS, ServerTabFacts
from inspector.tui.model.session import SESSION_VERBS, SessionFacts
from inspector.tui.model.verbs import VerbRules
from inspector.tui.verbs import BY_ID


@dataclass(frozen=True)
class Verbs:
    """The verbs of a pane. In the tables below, a verb of its own context is written without the context."""

    context: str
    rules: VerbRules[Any]
    shown: Callable[[Any], list[tuple[str, str]]]

    def line(self, facts: Any) -> str:
        """The verbs that are shown, each with its title where that is not the usual one."""
        names = {BOTH_VIEWS: "views", BOTH_COLUMNS: "columns"}
        verbs = [(names.get(verb, verb).removeprefix(f"{self.context}."), title) for verb, title in self.shown(facts)]
        return "  ".join(f"{verb}={title}" if title else verb for verb, title in verbs)

    def works(self, verb: str, facts: Any) -> bool:
        """Whether a verb works: both ways to ask have the same answer."""
        name = verb if "." in verb else f"{self.context}.{verb}"
        works = self.rules.available(name, facts)
        assert self.rules.can(name.partition(".")[2].replace("-", "_"), lambda: facts) is works
        return works


def verbs_of(context: str, rules: VerbRules[Any]) -> Verbs:
    return Verbs(context, rules, rules.line)


ASK, CALL, CALLS = verbs_of("ask", ASK_VERBS), verbs_of("call", CALL_VERBS), verbs_of("calls", CALLS_VERBS)
CATALOG, CHECK = verbs_of("catalog", CATALOG_VERBS), verbs_of("check", CHECK_VERBS)
DETAIL, EDGE = verbs_of("detail", DETAIL_VERBS), verbs_of("detail", EDGE_VERBS)
DIFF, EXCHANGES = verbs_of("diff", DIFF_VERBS), verbs_of("messages", EXCHANGE_VERBS)
FAILED, FINDING = verbs_of("failed", FAILED_VERBS), verbs_of("check", FINDING_VERBS)
FORM, INBOX = verbs_of("form", FORM_VERBS), verbs_of("inbox", INBOX_VERBS)
LOAD, LOGIN = verbs_of("load", LOAD_VERBS), verbs_of("authorization", LOGIN_VERBS)
LOG = Verbs("messages", LOG_VERBS, footer_verbs)
RESULT = Verbs("result", RESULT_VERBS, partial(result_verbs, zoom=("app.zoom", "zoom")))
SERVER, SESSION = verbs_of("server", SERVER_VERBS), verbs_of("app", SESSION_VERBS)

ELICITATION, OVER = AskFacts(), AskFacts(is_open=False)
LINK, REFUSED_LINK = AskFacts(by=AnswerBy.LINK), AskFacts(by=AnswerBy.REFUSED_LINK)
SAMPLING = AskFacts(topic="sampling", by=AnswerBy.TEXT)
ROOTS = AskFacts(topic="roots", by=AnswerBy.ROOTS)
TOOL = FormFacts()
RESOURCE = FormFacts(kind="resource", verb="read", editable=False, can_subscribe=True)
PAST = FormFacts(live=False, answered=True, past=True)
NO_ITEM = FormFacts(kind="")
TEXT = ResultFacts()
TABLE = ResultFacts(showing=Showing.TABLE, view="table", views=("content", "table", "raw"))
ROW = replace(TABLE, showing=Showing.ROW)
TOOLS = CatalogFacts(tool=True, sortable=True)
ASKED = ("asked.answer", "asked.decline", "asked.later")
CONNECTING, HTTP = ServerTabFacts(connecting=True), ServerTabFacts(stdio=False)
QUIET = LogFacts(rows=3, current=1)
"""A live log without filter, findings, marks, or folded rows; the cursor is on an event of the server."""
BY_EXCHANGE = QUIET._replace(by_exchange=True)
OLD = QUIET._replace(live=False, at_end=False)
"""A recording at a moment before its end."""

SHOWN: list[tuple[Verbs, Any, str]] = [
    (ASK, ELICITATION, "accept  decline  later  form.json=json  cancel  standing=always"),
    (ASK, replace(ELICITATION, as_json=True, from_now_on=True, several=True),
     "accept  decline  later  next  form.json=form  cancel  standing=answer only once"),
    (ASK, LINK, "open  copy  accept  decline  later  cancel  standing=always"),
    # A link that must not be opened has no key for it.
    (ASK, REFUSED_LINK, "accept  decline  later  cancel  standing=always"),
    (ASK, SAMPLING, "accept=answer  decline=decline  later  form.json=json  standing=always"),
    (ASK, replace(SAMPLING, ends_call=True, as_json=True),
     "accept=answer  decline=decline, end call  later  form.json=text  standing=always"),
    (ASK, ROOTS, "accept=answer  standing=always answer this  decline=decline  later  form.json=json"),
    (ASK, replace(ROOTS, as_json=True), "accept=answer  decline=decline  later  form.json=text"),
    (ASK, OVER, "its-messages  later=list"),
    (ASK, replace(OVER, looks_back=True), "replay.answer=go to answer  its-messages  later=list"),
    (FORM, TOOL, "call=call  leave  json=json  editor  model  save  load"),
    (FORM, replace(TOOL, answered=True, past=True, saved=True, as_json=True),
     "call=call  result  leave  json=form  editor  model  past-calls  save  saved-calls  load"),
    # While it runs, escape cancels.
    (FORM, replace(TOOL, running=True), "call=call  call.cancel  json=json  editor  model  save  load"),
    (FORM, replace(TOOL, running=True, asks=True),
     "call=to question  call.cancel  json=json  editor  model  save  load"),
    (FORM, replace(TOOL, running=True, answered=True, past=True),
     "call=call  call.cancel  json=json  editor  model  past-calls  save  load"),
    (FORM, replace(TOOL, may_be_task=True, other_revision=True, editable=False),
     "call=call  leave  call-task  app.revision=other revision  model  save  load"),
    (FORM, RESOURCE, "call=read  leave  resource.subscribe=subscribe  save"),
    (FORM, replace(RESOURCE, subscribed=True), "call=read  leave  resource.subscribe=unsubscribe  save"),
    (FORM, replace(RESOURCE, can_subscribe=False), "call=read  leave  save"),
    (FORM, FormFacts(kind="prompt", verb="get"), "call=get  leave  json=json  editor  save"),
    (FORM, PAST, "leave"),
    (FORM, NO_ITEM, ""),
    (RESULT, TEXT,
     "call=call again  copy  save  app.zoom=zoom  json  its-messages  export  expect  pin-call=run on restart  leave"),
    (RESULT, replace(TEXT, live=False), "copy  save  app.zoom=zoom  json  its-messages  export  leave"),
    (RESULT, replace(TEXT, compact=True),
     "call=call again  leave  copy  save  app.zoom=zoom  json  its-messages  export  expect  pin-call=run on restart"),
    (RESULT, replace(TEXT, called_before=True),
     "call=call again  copy  compare  save  app.zoom=zoom  json  its-messages  export  expect  pin-call=run on restart  "
     "leave"),
    (RESULT, replace(TEXT, method="resources/read", pinned=True),
     "call=read again  copy  save  app.zoom=zoom  json  its-messages  export  expect  pin-call=not on restart  leave"),
    (RESULT, replace(TEXT, view="structured", views=("content", "structured", "raw"), differs=True),
     "call=call again  copy  save  next-difference  views=view  app.zoom=zoom  content  json  its-messages  export  "
     "expect  pin-call=run on restart  leave"),
    (RESULT, replace(TEXT, live=False, differs=True),
     "copy  save  next-difference  app.zoom=zoom  json  its-messages  export  leave"),
    (RESULT, TABLE,
     "table.sort  columns=column  table.filter  list.select=open row  table.save  views=view  app.zoom=zoom  "
     "call=call again  content  json  its-messages  export  expect  pin-call=run on restart  leave"),
    (RESULT, replace(TABLE, called_before=True),
     "table.sort  columns=column  table.filter  list.select=open row  table.save  views=view  app.zoom=zoom  "
     "call=call again  compare  content  json  its-messages  export  expect  pin-call=run on restart  leave"),
    (RESULT, replace(TABLE, filtered=True, live=False, links=True),
     "table.sort  columns=column  table.filter  table.all  list.select=open row  table.save  views=view  app.zoom=zoom  "
     "content  json  its-messages  export  leave"),
    (RESULT, ROW,
     "leave=table  json.copy=copy value  json.strings  views=view  app.zoom=zoom  content  json  its-messages  export  "
     "expect  pin-call=run on restart"),
    (RESULT, replace(TEXT, answered=False, views=(), links=True),
     "open  call=call again  app.zoom=zoom  its-messages  export  expect  pin-call=run on restart  leave"),
    (RESULT, replace(TEXT, shown=False), ""),
    (LOG, QUIET, "list.select  filter  mark=mark  exchange  timeline  follow  times  app.zoom"),
    (LOG, QUIET._replace(rows=0, marks=2), "filter"),
    (LOG, QUIET._replace(live=False, marked=True, sent=True, hidden=2, is_one_exchange=True),
     "list.select=go there  filter  mark=unmark  fold=unfold  exchange=all  timeline  follow  times  app.zoom"),
    (LOG, QUIET._replace(current=0, folds=False),
     "list.select  filter  fold=fold  exchange  timeline  follow  times  app.zoom"),
    (LOG, QUIET._replace(searched=True, at_end=False),
     "list.select  filter  next-hit  mark=mark  exchange  timeline  follow  times  app.zoom"),
    (LOG, BY_EXCHANGE._replace(searched=True, findings=1, marks=1, hidden=4, has_partner=True, sent=True),
     "list.select  filter  next-hit  next-finding  mark=mark  next-mark  fold=unfold  exchange  partner  timeline  "
     "send-again  edit-again  follow  times"),
    (EXCHANGES, BY_EXCHANGE._replace(matching=1200),
     "filter  list.select  timeline  send-again  compare  follow  times  export=export"),
    (EXCHANGES, BY_EXCHANGE._replace(live=False),
     "filter  list.select  timeline  compare  follow  times  export=export"),
    (EXCHANGES, BY_EXCHANGE._replace(hidden=1, filtered=True, matching=1200),
     "filter  list.select  timeline  send-again  fold=unfold  compare  follow  times  export=export these 1,200"),
    (CATALOG, TOOLS, "list.select  call=call  filter  refresh  sort=by cost  model"),
    (CATALOG, TOOLS._replace(page=True, calling=True, by_cost=True),
     "list.select  all=cancel call  call=call  filter  refresh  sort=server's order  model  page"),
    # Escape drops the filter first.
    (CATALOG, TOOLS._replace(filtered=True, calling=True, roomy=False),
     "list.select  call=call  filter  refresh  model"),
    (CATALOG, CatalogFacts(verb="read", asked=ASKED, calling=True),
     "asked.answer  asked.decline  list.select  asked.later  filter  refresh"),
    (CATALOG, CatalogFacts(rows=0), "filter  refresh"),
    (CATALOG, CatalogFacts(live=False, tool=True, page=True), "list.select  filter  model"),
    (INBOX, InboxFacts(), "list.select"),
    (INBOX, InboxFacts(asked=ASKED, standing=True), "list.select  asked.answer  asked.decline  ask-again"),
    (INBOX, InboxFacts(rows=0, live=False, standing=True), ""),
    (CALL, True, "cancel  more-time  its-messages"),
    (CALL, False, "its-messages"),
    (SERVER, ServerTabFacts(watching=True), "reconnect  restart  watch=stop watching  extensions  app.revision"),
    (SERVER, HTTP._replace(logins=True, can_log=True), "reconnect  log-level  extensions  authorization  app.revision"),
    (SERVER, ServerTabFacts(live=False, can_log=True, names_file=True), "open-source"),
    (FAILED, CONNECTING, "stop  doctor"),
    (FAILED, ServerTabFacts(names_file=True, lost_call=True, logins=True),
     "again=start again  call-again  edit=edit the command  doctor  copy  open-source  watch=restart on change  "
     "app.revision"),
    (FAILED, HTTP._replace(logins=True, needs_login=True),
     "again=log in again  authorization  otherwise  doctor  copy  edit=edit the URL  app.revision"),
    (FAILED, ServerTabFacts(live=False), "again=start again  copy  app.revision"),
    (DETAIL, DetailFacts(shown=False), "app.back=messages"),
    (DETAIL, DetailFacts(sent=True, marked=True, related=True),
     "copy  app.back=messages  copy-command  save  mark=remove mark  related  export  next-tab=next view"),
    (EDGE, DetailFacts(shown=False), ""),
    (EDGE, DetailFacts(sent=True, http=True, names_file=True, hides_findings=True),
     "copy  copy-curl  save  mark=mark  export  open-source  why"),
    (CHECK, CheckFacts(), "list.select=evidence  run  again  allow  hosts  faults  report"),
    (CHECK, CheckFacts(current=False, report=False, results=False), "run  allow  hosts"),
    (CHECK, CheckFacts(live=False, messages=True), "list.select=evidence  run  hosts  faults  report"),
    (CHECK, CheckFacts(reading=True, messages=True), "its-messages  again  copy  leave=back"),
    (CHECK, CheckFacts(running=True, reading=True, messages=True), "leave=stop"),
    (FINDING, CheckFacts(messages=True), "its-messages  copy  baseline"),
    (FINDING, CheckFacts(running=True, messages=True), "its-messages  copy"),
    (CALLS, CallsFacts(running=True, select="open", in_flow=True), "list.select=open  leave=stop"),
    (CALLS, CallsFacts(environments=True, failures=True, messages=True, pinned=True, select="open"),
     "list.select=open  run  run-all  edit  environment  new  next-failure  its-messages  pin-flow=not on restart  "
     "collection.filter"),
    (CALLS, CallsFacts(in_flow=True), "run  run-all  edit  new  pin-flow  leave=list"),
    (CALLS, CallsFacts(live=False, ready=False), "edit  collection.filter"),
    (LOGIN, LoginFacts(), "open  again  log-in  otherwise"),
    (LOGIN, LoginFacts(live=False, token=True), "open  log-out"),
    (LOAD, LoadFacts(has_rate=True, paused=True), "pause=go on  faster  slower  leave=stop"),
    (LOAD, LoadFacts(over=True, report=True, recorded=True, narrow=True),
     "leave=back  report  edit  its-messages  next-view"),
    (DIFF, DiffFacts(), "next  previous  same  copy  leave"),
    (DIFF, DiffFacts(b=True), "next  previous  same  frame-b  copy  leave"),
]  # fmt: skip

WORKS: list[tuple[Verbs, Any, str, str]] = [
    (ASK, ELICITATION, "cancel accept later", "form.json"),
    (ASK, SAMPLING, "form.json", "cancel"),
    (ASK, OVER, "later", "cancel accept"),
    (ASK, LINK, "open", "form.json"),
    (ASK, REFUSED_LINK, "", "open"),
    (ASK, replace(LINK, is_open=False), "", "open"),
    (FORM, TOOL, "call save empty leave load model past-calls about",
     "result call-task older-call saved-calls resource.read"),
    (FORM, replace(TOOL, running=True), "call save empty leave load model past-calls about result",
     "call-task older-call saved-calls"),
    (FORM, replace(TOOL, past=True, saved=True), "call save empty leave load model past-calls about older-call saved-calls",
     "result call-task"),
    (FORM, RESOURCE, "call save empty leave about resource.read resource.subscribe",
     "result call-task load model older-call past-calls saved-calls"),
    (FORM, replace(RESOURCE, live=False), "leave", "resource.read resource.subscribe"),
    (FORM, replace(RESOURCE, can_subscribe=False), "resource.read", "resource.subscribe"),
    (FORM, PAST, "leave about model result", "save empty call-task load older-call past-calls saved-calls call"),
    (FORM, NO_ITEM, "about", "save empty leave result call-task load model older-call past-calls saved-calls call"),
    (RESULT, TEXT, "call expect pin-call copy", "compare next-difference previous-difference"),
    (RESULT, replace(TEXT, live=False, differs=True), "copy next-difference previous-difference",
     "call expect pin-call"),
    (RESULT, replace(TEXT, called_before=True), "compare", ""),
    (RESULT, replace(TEXT, shown=False), "call", "expect pin-call"),
    (SESSION, SessionFacts(), "reconnect restart watch export compose pin side-by-side revision extensions",
     "question back"),
    (SESSION, SessionFacts(is_process=False), "reconnect export compose pin side-by-side revision extensions",
     "restart watch question back"),
    (SESSION, SessionFacts(live=False), "export",
     "reconnect restart watch question back compose pin side-by-side revision extensions"),
    (SESSION, SessionFacts(live=False, asked=True, can_go_back=True), "export question back",
     "reconnect restart watch"),
    # A key goes past the log when its verb does not work.
    (LOG, OLD, "copy", "all send-again edit-again next-hit previous-hit next-finding previous-finding"),
    (LOG, OLD._replace(can_clear=True), "all copy", "send-again next-hit"),
    (LOG, OLD._replace(live=True), "send-again edit-again", "all next-hit"),
    (LOG, OLD._replace(at_end=True), "next-hit previous-hit next-finding previous-finding", "all edit-again"),
    (CATALOG, TOOLS, "call refresh sort model filter", "all asked.answer asked.later page"),
    (CATALOG, TOOLS._replace(filtered=True), "all", "asked.answer"),
    (CATALOG, TOOLS._replace(calling=True, asked=ASKED), "all asked.answer asked.decline asked.later", "asked.always"),
    (CATALOG, CatalogFacts(live=False, page=True), "filter", "refresh page sort model"),
    (INBOX, InboxFacts(asked=ASKED), "asked.answer asked.decline ask-again", "asked.always asked.later"),
    (INBOX, InboxFacts(live=False), "its-messages", "asked.answer ask-again"),
    (CALL, False, "its-messages", "cancel more-time"),
    (SERVER, HTTP, "reconnect extensions", "restart watch log-level open-source authorization"),
    (SERVER, ServerTabFacts(live=False, logins=True), "authorization", "reconnect restart watch extensions"),
    (FAILED, CONNECTING._replace(lost_call=True), "stop doctor watch copy", "again call-again edit otherwise"),
    (FAILED, ServerTabFacts(lost_call=True, needs_login=True), "again call-again edit otherwise", "stop"),
    (FAILED, ServerTabFacts(live=False, lost_call=True), "again copy", "call-again edit doctor watch"),
    (DETAIL, DetailFacts(), "copy save mark", "open-source why"),
    (DETAIL, DetailFacts(names_file=True, hides_findings=True), "open-source why", ""),
    (CHECK, CheckFacts(), "run again hosts allow intrusive report baseline faults copy", "login its-messages leave"),
    (CHECK, CheckFacts(current=False), "run report", "again copy"),
    (CHECK, CheckFacts(running=True), "leave level next", "run again hosts allow intrusive report baseline"),
    (CHECK, CheckFacts(live=False, http=True, in_text=True), "leave run hosts", "again allow intrusive login"),
    (CHECK, CheckFacts(http=True, current=False, report=False, results=False), "login", "copy faults report"),
    (CALLS, CallsFacts(), "run run-all new edit pin-flow",
     "leave environment next-failure previous-failure its-messages"),
    (CALLS, CallsFacts(running=True), "leave new", "run run-all"),
    (CALLS, CallsFacts(filtered=True, flow=False, flows=False), "leave edit", "run run-all pin-flow"),
    (CALLS, CallsFacts(ready=False, in_flow=True, file=False), "leave pin-flow", "run new edit"),
    (LOGIN, LoginFacts(connecting=True, token=True), "again otherwise log-out reveal", "log-in"),
    (LOGIN, LoginFacts(live=False), "open", "again log-in otherwise log-out reveal"),
    (LOAD, LoadFacts(), "leave", "pause faster slower report edit its-messages next-view"),
    (DIFF, DiffFacts(a=True), "frame-a copy", "frame-b"),
]  # fmt: skip


@pytest.mark.parametrize(("verbs", "facts", "line"), SHOWN)
def test_the_keys_that_are_shown(verbs: Verbs, facts: Any, line: str) -> None:
    assert verbs.line(facts) == line
    assert {verb for pair, _ in verbs.shown(facts) for verb in pair.split("|")} <= BY_ID.keys()


@pytest.mark.parametrize("verbs", [FORM, RESULT])
def test_the_keys_that_are_shown_work(verbs: Verbs) -> None:
    for facts in (facts for shown, facts, _ in SHOWN if shown is verbs):
        for pair, _ in verbs.shown(facts):
            assert all(verbs.rules.available(verb, facts) for verb in pair.split("|")), pair


@pytest.mark.parametrize(("verbs", "facts", "works", "rests"), WORKS)
def test_the_verbs_that_work(verbs: Verbs, facts: Any, works: str, rests: str) -> None:
    assert [verb for verb in f"{works} {rests}".split() if verbs.works(verb, facts)] == works.split()
