"""The verbs of the panes and screens: which are shown, and which work, by the facts of each."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.tui.feature_verbs import all_keys
from inspector.tui.model.ask import ASK_VERBS, AnswerBy, AskFacts
from inspector.tui.model.calls import CALLS_VERBS, CallsFacts
from inspector.tui.model.catalog import CALL_VERBS, CATALOG_VERBS, INBOX_VERBS, CatalogFacts, InboxFacts
from inspector.tui.model.check import CHECK_VERBS, CheckFacts
from inspector.tui.model.detail import DETAIL_VERBS, DetailFacts
from inspector.tui.model.form import FORM_VERBS, FormFacts
from inspector.tui.model.log import LOG_VERBS, Fold, LogFacts
from inspector.tui.model.reasons import RECORDING, WHY_NOT, why_not
from inspector.tui.model.result import RESULT_VERBS, ResultFacts, Showing
from inspector.tui.model.screens import DIFF_VERBS, LOGIN_VERBS, DiffFacts, LoginFacts
from inspector.tui.model.server import FAILED_VERBS, SERVER_VERBS, ServerTabFacts
from inspector.tui.model.session import SESSION_VERBS, SessionFacts
from inspector.tui.model.tasks import TASK_VERBS, TaskFacts
from inspector.tui.verbs import BY_ID
from tests.tui.model.verb_tables import Verbs

ASK, CALL, CALLS = Verbs("ask", ASK_VERBS), Verbs("call", CALL_VERBS), Verbs("calls", CALLS_VERBS)
CATALOG, CHECK = Verbs("catalog", CATALOG_VERBS), Verbs("check", CHECK_VERBS)
DETAIL, DIFF = Verbs("detail", DETAIL_VERBS), Verbs("diff", DIFF_VERBS)
FAILED = Verbs("failed", FAILED_VERBS)
FORM, INBOX = Verbs("form", FORM_VERBS), Verbs("inbox", INBOX_VERBS)
LOGIN = Verbs("authorization", LOGIN_VERBS)
LOG, RESULT = Verbs("messages", LOG_VERBS), Verbs("result", RESULT_VERBS)
TASKS = Verbs("tasks", TASK_VERBS)
SERVER, SESSION = Verbs("server", SERVER_VERBS), Verbs("app", SESSION_VERBS)

ELICITATION, OVER = AskFacts(), AskFacts(is_open=False)
LINK, REFUSED_LINK = AskFacts(by=AnswerBy.LINK), AskFacts(by=AnswerBy.REFUSED_LINK)
SAMPLING = AskFacts(topic="sampling", by=AnswerBy.TEXT)
ROOTS = AskFacts(topic="roots", by=AnswerBy.ROOTS)
TOOL = FormFacts()
RESOURCE = FormFacts(kind="resource", editable=False, can_subscribe=True)
PAST = FormFacts(live=False, answered=True, past=True)
NO_ITEM = FormFacts(kind="")
TEXT = ResultFacts()
TABLE = ResultFacts(showing=Showing.TABLE, views=("content", "table", "raw"))
ROW = TABLE._replace(showing=Showing.ROW)
TOOLS = CatalogFacts(tool=True, sortable=True)
ASKED = ("asked.answer", "asked.decline", "asked.later")
CONNECTING, HTTP = ServerTabFacts(connecting=True), ServerTabFacts(stdio=False)
QUIET = LogFacts(rows=3)
"""A live log without filter or folded rows; the cursor is on an event of the server."""
BY_EXCHANGE = QUIET._replace(by_exchange=True)
OLD = QUIET._replace(live=False, at_end=False)
"""A recording at a moment before its end."""

SHOWN: list[tuple[Verbs, Any, str]] = [
    (ASK, ELICITATION, "accept  decline  later  form.json=json  cancel  standing=always"),
    (ASK, ELICITATION._replace(as_json=True, from_now_on=True, several=True),
     "accept  decline  later  next  form.json=form  cancel  standing=answer only once"),
    (ASK, LINK, "open  copy  accept  decline  later  cancel  standing=always"),
    # A link that must not be opened has no key for it.
    (ASK, REFUSED_LINK, "accept  decline  later  cancel  standing=always"),
    (ASK, SAMPLING, "accept  decline=decline  later  form.json=json  standing=always"),
    (ASK, SAMPLING._replace(ends_call=True, as_json=True),
     "accept  decline=decline, end call  later  form.json=text  standing=always"),
    (ASK, ROOTS, "accept  standing  decline=decline  later  form.json=json"),
    (ASK, ROOTS._replace(as_json=True), "accept  decline=decline  later  form.json=text"),
    (ASK, OVER, "its-messages  later=list"),
    (ASK, OVER._replace(looks_back=True), "replay.answer=go to answer  its-messages  later=list"),
    (FORM, TOOL, "call  json=json  save  leave"),
    (FORM, TOOL._replace(answered=True, past=True, saved=True, as_json=True),
     "call  app.result  json=form  past-calls  save  leave"),
    # While it runs, escape cancels; while it asks, its key is not the one that leads to the question.
    (FORM, TOOL._replace(running=True), "call  call.cancel  json=json  save"),
    (FORM, TOOL._replace(running=True, asks=True, answered=True, past=True), "call.cancel  json=json  past-calls  save"),
    (FORM, TOOL._replace(may_be_task=True, other_revision=True, editable=False),
     "call  call-task  app.revision=other revision  save  leave"),
    (FORM, RESOURCE, "call  resource.subscribe=subscribe  save  leave"),
    (FORM, RESOURCE._replace(subscribed=True), "call  resource.subscribe=unsubscribe  save  leave"),
    (FORM, RESOURCE._replace(can_subscribe=False), "call  save  leave"),
    (FORM, PAST, "app.result  leave"),
    (FORM, NO_ITEM, ""),
    (RESULT, TEXT, "call  copy  its-messages  leave  app.result=to form  save-call  expect  save  views=view"),
    (RESULT, TEXT._replace(live=False, differs=True), "next-difference  copy  its-messages  leave  save  views=view"),
    (RESULT, TEXT._replace(views=("content", "structured", "raw"), called_before=True),
     "call  copy  views=view  compare  its-messages  leave  app.result=to form  save-call  expect  save"),
    (RESULT, TABLE,
     "call  list.select=open row  table.sort  table.filter=filter rows  table.copy=copy  views=view  its-messages  "
     "leave  app.result=to form  save-call  expect"),
    (RESULT, TABLE._replace(filtered=True, live=False, links=True),
     "list.select=open row  table.sort  table.filter=filter rows  table.all  table.copy=copy  views=view  "
     "its-messages  leave"),
    (RESULT, ROW,
     "leave=table  call  json.copy=copy value  views=view  its-messages  app.result=to form  save-call  expect"),
    (RESULT, TEXT._replace(answered=False, views=(), links=True),
     "open  call  its-messages  leave  app.result=to form  save-call  expect"),
    (RESULT, TEXT._replace(has_result=False), ""),
    (LOG, QUIET, "list.select=open  filter  exchange  compare  timeline"),
    (LOG, QUIET._replace(comparing=True),
     "compare=compare with it  all=stop comparing  list.select=open  filter  exchange  timeline"),
    (LOG, QUIET._replace(rows=0), "filter  timeline"),
    (LOG, QUIET._replace(live=False, sent=True, hidden=2, is_one_exchange=True),
     "list.select=go there  filter  exchange=all calls  compare  timeline  fold=unfold"),
    (LOG, QUIET._replace(fold=Fold.NOTHING, searched=True, at_end=False),
     "list.select=open  filter  next-hit  exchange  compare  timeline  fold=fold"),
    (LOG, BY_EXCHANGE._replace(filtered=True, matching=1200, sent=True),
     "list.select=open  filter  exchange  send-again  export=export these 1,200  compare  timeline"),
    (CATALOG, TOOLS, "list.select  call  filter"),
    (CATALOG, TOOLS._replace(filtered=True), "list.select  call  filter  all=clear filter"),
    (CATALOG, TOOLS._replace(calling=True, filtered=True), "list.select  call  filter  all=clear filter"),
    (CATALOG, CatalogFacts(asked=ASKED, calling=True), "asked.answer  asked.decline  list.select  asked.later  filter"),
    (CATALOG, CatalogFacts(rows=0), "filter"),
    (CATALOG, CatalogFacts(live=False, tool=True), "list.select  filter"),
    (INBOX, InboxFacts(), "list.select"),
    (INBOX, InboxFacts(asked=ASKED, standing=True), "list.select  asked.answer  asked.decline  ask-again"),
    (INBOX, InboxFacts(rows=0, live=False, standing=True), ""),
    (CALL, True, "cancel  more-time  its-messages"),
    (CALL, False, "its-messages"),
    (SERVER, ServerTabFacts(watching=True), "reconnect  restart  edit=edit the command  watch=stop watching  app.revision"),
    (SERVER, HTTP._replace(logins=True, can_log=True), "reconnect  edit=edit the URL  log-level  authorization  app.revision"),
    (SERVER, ServerTabFacts(live=False, can_log=True, names_file=True), "open-source"),
    (FAILED, CONNECTING, "stop  doctor"),
    (FAILED, ServerTabFacts(names_file=True, lost_call=True, logins=True),
     "again=start again  call-again  doctor  edit=edit the command  copy  open-source  watch=restart on change  "
     "app.revision"),
    (FAILED, HTTP._replace(logins=True, needs_login=True),
     "again=log in again  authorization  otherwise  doctor  copy  edit=edit the URL  app.revision"),
    (FAILED, ServerTabFacts(hides_cause=True),
     "back  again=start again  doctor  edit=edit the command  copy  watch=restart on change  app.revision"),
    (FAILED, ServerTabFacts(live=False), "copy"),
    (DETAIL, DetailFacts(has_event=False), "app.back=messages"),
    (DETAIL, DetailFacts(sent=True, marked=True, related=True),
     "copy  related  views=view  app.zoom  mark=remove mark  save  app.back=messages"),
    (CHECK, CheckFacts(), "list.select=evidence  run  again  faults  report  allow"),
    (CHECK, CheckFacts(current=False, report=False, results=False), "list.select=run  allow"),
    (CHECK, CheckFacts(running=True), "stop  list.select=evidence"),
    (CHECK, CheckFacts(live=False, messages=True), "list.select=evidence  run  faults  report"),
    (CHECK, CheckFacts(reading=True, messages=True), "its-messages  again  copy  leave"),
    (CHECK, CheckFacts(running=True, reading=True, messages=True), "stop  leave"),
    (CALLS, CallsFacts(running=True, select="open", in_flow=True), "list.select=open  leave=stop"),
    (CALLS, CallsFacts(environments=True, failures=True, messages=True, pinned=True, select="open"),
     "list.select=open  run  run-all  edit  environment  new  next-failure  its-messages  pin-flow=not on restart  "
     "collection.filter"),
    (CALLS, CallsFacts(filtered=True), "leave=clear filter  run  run-all  edit  new  pin-flow  collection.filter"),
    (CALLS, CallsFacts(in_flow=True), "run  run-all  edit  new  pin-flow  leave=list"),
    (CALLS, CallsFacts(live=False, ready=False), "edit  collection.filter"),
    (LOGIN, LoginFacts(), "open  again  log-in  otherwise"),
    (LOGIN, LoginFacts(live=False, token=True), "open  log-out"),
    (DIFF, DiffFacts(), "next  previous  same  copy  leave"),
    (DIFF, DiffFacts(b=True), "next  previous  same  frame-b  copy  leave"),
]  # fmt: skip

WORKS: list[tuple[Verbs, Any, str, str]] = [
    (ASK, ELICITATION, "cancel accept later", "form.json"),
    (ASK, SAMPLING, "form.json", "cancel"),
    (ASK, OVER, "later", "cancel accept"),
    (ASK, LINK, "open", "form.json"),
    (ASK, REFUSED_LINK, "", "open"),
    (ASK, LINK._replace(is_open=False), "", "open"),
    (FORM, TOOL, "call save empty leave past-calls about",
     "call-task saved-calls resource.read"),
    (FORM, TOOL._replace(running=True), "call save empty leave past-calls about",
     "call-task saved-calls"),
    (FORM, TOOL._replace(past=True, saved=True), "call save empty leave past-calls about saved-calls",
     "call-task"),
    (FORM, RESOURCE, "call save empty leave about resource.read resource.subscribe",
     "call-task past-calls saved-calls"),
    (FORM, RESOURCE._replace(live=False), "leave", "resource.read resource.subscribe"),
    (FORM, RESOURCE._replace(can_subscribe=False), "resource.read", "resource.subscribe"),
    (FORM, PAST, "leave about", "save empty call-task past-calls saved-calls call"),
    (FORM, NO_ITEM, "about", "save empty leave call-task past-calls saved-calls call"),
    (RESULT, TEXT, "call save-call expect pin-call copy", "compare next-difference previous-difference"),
    (RESULT, TEXT._replace(live=False, differs=True), "copy next-difference previous-difference",
     "call save-call expect pin-call"),
    (RESULT, TEXT._replace(called_before=True), "compare", ""),
    (RESULT, TEXT._replace(has_result=False), "call", "save-call expect pin-call"),
    (SESSION, SessionFacts(), "reconnect restart watch export compose pin side-by-side revision extensions",
     "question back result"),
    (SESSION, SessionFacts(is_process=False), "reconnect export compose pin side-by-side revision extensions",
     "restart watch question back"),
    (SESSION, SessionFacts(live=False), "reconnect export",
     "restart watch question back compose pin side-by-side revision extensions"),
    (SESSION, SessionFacts(live=False, asked=True, can_go_back=True, has_outcome=True), "reconnect export question back result",
     "restart watch"),
    # A key goes past the log when its verb does not work.
    (LOG, OLD, "copy", "all send-again edit-again next-hit previous-hit next-finding previous-finding"),
    (LOG, OLD._replace(can_clear=True), "all copy", "send-again next-hit"),
    (LOG, OLD._replace(live=True), "send-again edit-again", "all next-hit"),
    (LOG, OLD._replace(at_end=True), "next-hit previous-hit next-finding previous-finding", "all edit-again"),
    (CATALOG, TOOLS, "call save refresh sort filter", "all asked.answer asked.later"),
    (CATALOG, TOOLS._replace(filtered=True), "all", "asked.answer"),
    (CATALOG, TOOLS._replace(calling=True, asked=ASKED), "all asked.answer asked.decline asked.later", "asked.always"),
    (CATALOG, CatalogFacts(live=False), "filter", "save refresh sort"),
    (CATALOG, CatalogFacts(rows=0), "filter", "call save"),
    (INBOX, InboxFacts(asked=ASKED), "asked.answer asked.decline ask-again", "asked.always asked.later"),
    (INBOX, InboxFacts(live=False), "its-messages", "asked.answer ask-again"),
    (CALL, False, "its-messages", "cancel more-time"),
    (SERVER, HTTP, "reconnect edit", "restart watch log-level open-source authorization"),
    (SERVER, ServerTabFacts(live=False, logins=True), "authorization", "reconnect restart edit watch"),
    (FAILED, CONNECTING._replace(lost_call=True), "stop doctor watch copy", "again call-again edit otherwise"),
    (FAILED, ServerTabFacts(lost_call=True, needs_login=True), "again call-again edit otherwise", "stop back"),
    (FAILED, ServerTabFacts(live=False, lost_call=True), "copy", "again call-again edit doctor watch"),
    (DETAIL, DetailFacts(), "copy save mark", "open-source why"),
    (DETAIL, DetailFacts(names_file=True, hides_findings=True), "open-source why", ""),
    (CHECK, CheckFacts(), "run again hosts allow intrusive report baseline faults copy", "login its-messages leave"),
    (CHECK, CheckFacts(current=False), "run report", "again copy stop leave"),
    (CHECK, CheckFacts(running=True), "stop level next", "run again hosts allow intrusive report baseline"),
    (CHECK, CheckFacts(live=False, http=True, in_text=True), "leave run hosts", "again allow intrusive login"),
    (CHECK, CheckFacts(http=True, current=False, report=False, results=False), "login", "copy faults report"),
    (CALLS, CallsFacts(), "run run-all new edit pin-flow",
     "leave environment next-failure previous-failure its-messages"),
    (CALLS, CallsFacts(running=True), "leave new", "run run-all"),
    (CALLS, CallsFacts(filtered=True, flow=False, flows=False), "leave edit", "run run-all pin-flow"),
    (CALLS, CallsFacts(ready=False, in_flow=True, file=False), "leave pin-flow", "run new edit"),
    (TASKS, TaskFacts(), "", "cancel poll refresh its-messages open-call"),
    (TASKS, TaskFacts(live=False, can_list=True, selected=True), "its-messages", "cancel poll refresh open-call"),
    (TASKS, TaskFacts(can_list=True, selected=True, done=True, has_call=True), "poll refresh its-messages open-call",
     "cancel"),
    (LOGIN, LoginFacts(connecting=True, token=True), "again otherwise log-out reveal", "log-in"),
    (LOGIN, LoginFacts(live=False), "open", "again log-in otherwise log-out reveal"),
    (DIFF, DiffFacts(a=True), "frame-a copy", "frame-b"),
]  # fmt: skip


@pytest.mark.parametrize(("verbs", "facts", "line"), SHOWN)
def test_the_keys_that_are_shown(verbs: Verbs, facts: Any, line: str) -> None:
    assert verbs.line(facts) == line
    assert {verb for pair, _ in verbs.rules.line(facts) for verb in pair.split("|")} <= BY_ID.keys()


@pytest.mark.parametrize("verbs", [FORM, RESULT])
def test_the_keys_that_are_shown_work(verbs: Verbs) -> None:
    for facts in (facts for table, facts, _ in SHOWN if table is verbs):
        for pair, _ in verbs.rules.line(facts):
            assert all(verbs.rules.available(verb, facts) for verb in pair.split("|")), pair


@pytest.mark.parametrize(("verbs", "facts", "works", "rests"), WORKS)
def test_the_verbs_that_work(verbs: Verbs, facts: Any, works: str, rests: str) -> None:
    assert [verb for verb in f"{works} {rests}".split() if verbs.works(verb, facts)] == works.split()


TABLES = [
    CATALOG_VERBS,
    INBOX_VERBS,
    CALL_VERBS,
    CALLS_VERBS,
    CHECK_VERBS,
    DETAIL_VERBS,
    DIFF_VERBS,
    FAILED_VERBS,
    FORM_VERBS,
]
TABLES += [ASK_VERBS, LOGIN_VERBS, LOG_VERBS, RESULT_VERBS, SERVER_VERBS, SESSION_VERBS, TASK_VERBS]


def test_a_verb_that_does_not_always_work_has_a_reason() -> None:
    of_features = {verb.id for _, of_feature in all_keys() for verb in of_feature.verbs}
    verbs = {verb for rules in TABLES for verb in rules.conditional} - of_features
    # The others need only a live session.
    assert set(WHY_NOT) <= verbs
    assert verbs - set(WHY_NOT) == {
        "app.revision", "app.extensions", "app.compose", "app.pin", "app.side-by-side",
        "authorization.again", "authorization.otherwise", "catalog.refresh", "failed.doctor", "inbox.ask-again",
        "messages.send-again", "messages.edit-again", "result.call", "server.edit", "server.reconnect",
    }  # fmt: skip


def test_the_reason_is_the_recording_where_a_live_session_would_do_it() -> None:
    assert why_not("server.reconnect", SERVER_VERBS, ServerTabFacts()) == ""
    assert why_not("server.reconnect", SERVER_VERBS, ServerTabFacts(live=False)) == RECORDING
    assert why_not("form.call", FORM_VERBS, FormFacts(live=False)) == RECORDING
    assert why_not("form.call", FORM_VERBS, FormFacts(kind="")) == "no item is selected"
    for _, of_feature in all_keys():
        for verb in of_feature.verbs:
            if verb.needs and verb.context == "catalog":
                assert why_not(verb.id, CATALOG_VERBS, CatalogFacts()), verb.id
    assert why_not("catalog.filter", CATALOG_VERBS, CatalogFacts()) == "", "always"
