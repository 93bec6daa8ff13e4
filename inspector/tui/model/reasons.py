"""Why a verb does not work now, in a few words for the palette."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspector.tui.feature_verbs import verbs_in
from inspector.tui.model.verbs import VerbRules

RECORDING = "a recording sends nothing"
_NOT_A_PROCESS = "the server is not a process of this computer"
_NO_FILE = "stderr does not name a file"
_NO_LOGIN = "there was no login"
_CONNECTING = "it is still connecting"
_CLOSED = "no question is open"
_NO_CALL = "no call is in flight"
_RUNNING = "checks are running, or a recording is open"
_NO_CHECK, _NO_REPORT = "no check is selected", "no check has run"
_CANNOT_RUN = "not connected, running already, or nothing is selected"
_NO_FAILURE, _MATCHES = "no step failed", "the result matches its schema"
_NO_ITEM, _NO_RESULT = "no item is selected", "nothing has come back yet"
_ELSEWHERE = "the recording is at an earlier moment"

WHY_NOT: Mapping[str, str] = {
    "app.restart": _NOT_A_PROCESS,
    "app.watch": _NOT_A_PROCESS,
    "app.question": _CLOSED,
    "app.back": "nothing to go back to",
    "app.result": _NO_RESULT,
    "server.open-source": _NO_FILE,
    "server.restart": _NOT_A_PROCESS,
    "server.watch": _NOT_A_PROCESS,
    "server.log-level": "the server does not send log messages",
    "server.authorization": _NO_LOGIN,
    "failed.stop": "it is not connecting",
    "failed.again": _CONNECTING,
    "failed.back": "the cause is shown",
    "failed.call-again": "no call was lost",
    "failed.edit": _CONNECTING,
    "failed.watch": _NOT_A_PROCESS,
    "failed.authorization": _NO_LOGIN,
    "failed.otherwise": "the server does not ask for a login",
    "failed.open-source": _NO_FILE,
    "authorization.log-in": _CONNECTING,
    "authorization.log-out": "you are not logged in",
    "authorization.reveal": "you are not logged in",
    "diff.frame-a": "A has no message here",
    "diff.frame-b": "B has no message here",
    "check.run": _RUNNING,
    "check.hosts": _RUNNING,
    "check.allow": _RUNNING,
    "check.intrusive": _RUNNING,
    "check.again": _NO_CHECK,
    "check.copy": _NO_CHECK,
    "check.login": "the server is not reached over HTTP",
    "check.its-messages": "the check does not name a message",
    "check.stop": "no check is running",
    "check.leave": "nothing to leave",
    **dict.fromkeys(("check.report", "check.baseline", "check.faults", "check.level"), _NO_REPORT),
    **dict.fromkeys(("check.next", "check.previous"), _NO_REPORT),
    "tasks.cancel": "no running task is selected",
    "tasks.poll": "no task is selected",
    "tasks.refresh": "the server does not list its tasks",
    "tasks.its-messages": "no task is selected",
    "tasks.open-call": "the call of the task is not known",
    "calls.run": _CANNOT_RUN,
    "calls.run-all": _CANNOT_RUN,
    "calls.new": "not connected",
    "calls.edit": "no file is selected",
    "calls.environment": "no environment is defined",
    "calls.pin-flow": "no saved call is selected",
    "calls.next-failure": _NO_FAILURE,
    "calls.previous-failure": _NO_FAILURE,
    "calls.its-messages": "the saved call has not run",
    "calls.leave": "nothing to leave",
    **dict.fromkeys(("asked.answer", "asked.always", "asked.decline", "asked.later"), _CLOSED),
    "catalog.all": "no filter is set, and no call is in flight",
    "catalog.call": "the list is empty",
    "catalog.save": "the list is empty",
    "catalog.sort": "only a list of tools can be sorted",
    "call.cancel": _NO_CALL,
    "call.more-time": _NO_CALL,
    "form.call": _NO_ITEM,
    "form.save": _NO_ITEM,
    "form.empty": _NO_ITEM,
    "form.leave": _NO_ITEM,
    "form.call-task": "the tool does not support tasks",
    "form.past-calls": "there are no earlier calls",
    "form.saved-calls": "no saved call calls this item",
    "resource.read": "only a resource can be read",
    "resource.subscribe": "the server does not offer it here",
    "result.compare": "this item was not called before",
    "result.expect": _NO_RESULT,
    "result.pin-call": _NO_RESULT,
    "result.save-call": _NO_RESULT,
    "result.next-difference": _MATCHES,
    "result.previous-difference": _MATCHES,
    **dict.fromkeys(("ask.accept", "ask.decline", "ask.standing"), _CLOSED),
    "ask.cancel": "only an open elicitation can be cancelled",
    "ask.open": "no open question has a URL",
    "ask.copy": "no open question has a URL",
    "ask.its-messages": "the question is open",
    "form.json": "the answer is not text",
    "detail.open-source": "the message does not name a file",
    "detail.why": "the message has no finding, or it is shown",
    "messages.all": "no filter is set",
    **dict.fromkeys(("messages.next-hit", "messages.previous-hit"), _ELSEWHERE),
    **dict.fromkeys(("messages.next-finding", "messages.previous-finding"), _ELSEWHERE),
}


_NEEDS = {"tool": "no tool is selected", "call": "no tool is selected", "page": "the tool does not have a page"}
"""By what a verb of a feature needs."""


def why_not(verb: str, rules: VerbRules[Any], facts: Any) -> str:
    """Return why a verb does not work now; empty if it does, or if the rules do not decide that."""
    if rules.available(verb, facts):
        return ""
    if not getattr(facts, "live", True):
        live = facts._replace(live=True)
        if rules.available(verb, live):
            return RECORDING
    rows = verbs_in(verb.partition(".")[0])
    return WHY_NOT.get(verb) or next((_NEEDS.get(row.needs, "") for _, row in rows if row.id == verb), "")
