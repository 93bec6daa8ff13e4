"""What the server asks of the client: forms and links for its user, samples of its model, its roots."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from inspector.check import forms
from inspector.check.catalog import CheckTable
from inspector.check.forms import Problem
from inspector.check.interviews import Interview, interview, interviews, questions
from inspector.check.outcome import Outcome, bad, doubtful, good, skipped
from inspector.check.tool_calls import FEW, Question, everything, trials
from inspector.check.visit import Visit
from inspector.protocol.jsonrpc import URL_ELICITATION_REQUIRED, Shape, excerpt

_ELICITATION = "client/elicitation"
_SAMPLING = "client/sampling"
_ELICIT, _SAMPLE, _ROOTS = "elicitation/create", "sampling/createMessage", "roots/list"
_NO_FORM = "no tool that may be called asks for a form to be filled in"
_NO_LINK = "no tool that may be called asks for a link to be opened"
_NO_SAMPLE = "no tool that may be called asks for a sample"


CHECKS = CheckTable("client-features", mode="tool")


@CHECKS.active(
    "CLI-01 must r3+",
    page=f"{_ELICITATION}#security-considerations",
    apart=True,
    says="No form asks for passwords, keys, tokens or cards.",
    fix="Ask the user to open a link, where what is secret does not pass through the client.",
)
async def secrets(visit: Visit) -> Outcome:
    """The fields of every form."""
    return _looked_at(await _forms(visit), forms.secrets_asked, _NO_FORM)


@CHECKS.active(
    "CLI-02 type r3+",
    page=f"{_ELICITATION}#requested-schema",
    apart=True,
    says="A form is one flat object with fields of simple types.",
    fix="Use strings, numbers, booleans and lists of choices; nothing within anything else.",
)
async def shapes(visit: Visit) -> Outcome:
    """The schema of every form."""
    return _looked_at(await _forms(visit), lambda params: forms.form_problems(params, visit.features), _NO_FORM)


@CHECKS.active(
    "CLI-03 must r4+",
    page=f"{_ELICITATION}#url-mode-elicitation-requests",
    apart=True,
    says="A link that the user is asked to open is whole, gives nothing away, and stands in no form.",
    fix="Send mode, message and an https URL without credentials; 2025-11-25 wants an elicitationId, too.",
)
async def links(visit: Visit) -> Outcome:
    """The URL of every link, and the texts of every form."""
    found = _looked_at(await _links(visit), lambda params: forms.link_problems(params, visit.features), _NO_LINK)
    if found.seen in ("bad", "doubtful"):
        return found
    clickable = _looked_at(await _forms(visit), forms.links_in_form, _NO_FORM)
    return clickable if clickable.seen == "doubtful" or found.seen == "nothing" else found


@CHECKS.active(
    "CLI-04 must r4",
    page=f"{_ELICITATION}#url-elicitation-required-error",
    apart=True,
    says="The error that asks for links to be opened names them, each with its id.",
    fix="Put into data.elicitations of error -32042 what is to be opened: mode url, an elicitationId, a URL.",
)
async def link_errors(visit: Visit) -> Outcome:
    """Every error -32042."""
    seen: list[int] = []
    for each in await interviews(visit):
        if each.asked.code != URL_ELICITATION_REQUIRED:
            continue
        data = each.asked.error.get("data")
        wanted = data.get("elicitations") if type(data) is dict else None
        if type(wanted) is not list or not wanted:
            return bad(f"{each.trial.name}: elicitations is {excerpt(wanted, 80)}.", *each.asked.events)
        for link in wanted[:100]:
            if type(link) is not dict or link.get("mode") != "url" or not isinstance(link.get("elicitationId"), str):
                return bad(f"{each.trial.name}: one of them is {excerpt(link, 100)}.", *each.asked.events)
        seen += each.asked.events
    return good("", *seen) if seen else skipped("no call was answered with error -32042")


@CHECKS.active(
    "CLI-05 must r3+",
    page=f"{_ELICITATION}#response-actions",
    apart=True,
    says="A user may decline or dismiss what is asked: the call comes to an end.",
    fix="Go on without the answer, or fail with a word about it; do not ask the same thing again and again.",
)
async def declined(visit: Visit) -> Outcome:
    """The tools that ask the user, once declined and once dismissed."""
    asking = [each for each in await interviews(visit) if each.asks(_ELICIT)][:FEW]
    seen: list[int] = []
    for each in asking:
        async with visit.fresh(capabilities=everything(visit.features)) as link:
            other = await interview(visit, link, each.trial, action="cancel")
        for action, made in (("declined", each), ("dismissed", other)):
            wrong = _no_end(made)
            if wrong:
                events = (*made.asked.events, *(question.n for question in made.questions[:5]))
                return bad(f"When it was {action}, {each.trial.name} {wrong}.", *events)
            seen += made.asked.events
    return good("", *seen) if seen else skipped("no tool that may be called asks the user")


@CHECKS.active(
    "CLI-06 type r1+",
    page=f"{_SAMPLING}#creating-messages",
    apart=True,
    says="A request to sample has messages, the most tokens, and priorities from 0 to 1.",
    fix="Fill messages and maxTokens; leave includeContext out.",
)
async def samples(visit: Visit) -> Outcome:
    """Every request to sample."""
    asked = await questions(visit, _SAMPLE)
    return _looked_at(asked, lambda params: forms.sampling_problems(params, visit.features), _NO_SAMPLE)


@CHECKS.active(
    "CLI-07 must r4+",
    page=f"{_SAMPLING}#sampling-with-tools",
    apart=True,
    says="Tools are offered only to a client that declares sampling.tools, and each use is followed by its result.",
    fix="Look for sampling.tools in the client's capabilities; answer every tool_use in a message of results alone.",
)
async def tools_for_models(visit: Visit) -> Outcome:
    """Requests to sample of a client that has not declared it, and of one that has and uses the first tool."""
    for trial in trials(visit):
        for question in trial.asks(_SAMPLE):
            if _offers_tools(question):
                return bad(f"{trial.name} offers tools to a client that does not declare sampling.tools.", question.n)
    offered = [question for question in await questions(visit, _SAMPLE) if _offers_tools(question)]
    for question in offered:
        wrong = forms.unbalanced(question.params)
        if wrong:
            return bad(f"{question.tool}: {wrong}", question.n)
    evidence = [question.n for question in offered]
    return good("", *evidence) if evidence else skipped("no tool that may be called offers tools to a model")


@CHECKS.active(
    "CLI-08 robust r1+",
    page=f"{_SAMPLING}#error-handling",
    apart=True,
    says="A client that refuses to sample does no harm.",
    fix="Let the call fail with a word about it; the server goes on.",
)
async def refused(visit: Visit) -> Outcome:
    """The tools that ask for a sample, refused; then a request that every server answers."""
    asking = [each for each in await interviews(visit) if each.asks(_SAMPLE)][:FEW]
    seen: list[int] = []
    for each in asking:
        async with visit.fresh(capabilities=everything(visit.features)) as link:
            made = await interview(visit, link, each.trial, refuses=True)
            wrong = _no_end(made)
            after = await link.ask("server/discover", {}) if visit.modern else await link.ask("ping")
        if wrong:
            return bad(f"When a sample was refused, {each.trial.name} {wrong}.", *made.asked.events)
        if not after.answered:
            return bad(f"After a refused sample nothing was answered: {after.shown}.", *made.asked.events, after.n)
        seen += (*made.asked.events, *after.events)
    return good("", *seen) if seen else skipped(_NO_SAMPLE)


@CHECKS.active(
    "CLI-09 should r1+",
    page="client/roots",
    apart=True,
    says="Roots are asked of clients that declare them, and there may be none.",
    fix="Look for roots in the client's capabilities; do without where there are none.",
)
async def roots(visit: Visit) -> Outcome:
    """The tools that ask for roots: of a client without any, and of one that knows none."""
    asking = [trial for trial in trials(visit) if trial.asks(_ROOTS)][:FEW]
    seen: list[int] = []
    for trial in asking:
        async with visit.link() as link:
            asked = await link.ask("tools/call", trial.params, timeout=visit.limits.request / 2)
            wanted = [
                frame.n for frame in link.frames if frame.shape is Shape.REQUEST and frame.message["method"] == _ROOTS
            ]
        if wanted or _ROOTS in excerpt(asked.body.get("inputRequests"), 10_000):
            return bad(f"{trial.name} asks for roots that are not declared.", *asked.events, *wanted[:1])
        # Who asks for a sample, too, waits for that; who answers neither way takes long.
        if asked.answered and not trial.asked.answered and not trial.asks(_SAMPLE):
            return bad(f"{trial.name} gave no answer when there were no roots.", trial.asked.n, *asked.events)
        seen += (*trial.asked.events, *asked.events)
    return good("", *seen) if seen else skipped("no tool that may be called asks for roots")


async def _forms(visit: Visit) -> list[Question]:
    return [question for question in await questions(visit, _ELICIT) if question.params.get("mode", "form") != "url"]


async def _links(visit: Visit) -> list[Question]:
    """What is to be opened, by a question or by an error."""
    found = [question for question in await questions(visit, _ELICIT) if question.params.get("mode") == "url"]
    for each in await interviews(visit):
        data = each.asked.error.get("data") if each.asked.code == URL_ELICITATION_REQUIRED else None
        wanted = data.get("elicitations") if type(data) is dict else None
        links = [link for link in wanted[:100] if type(link) is dict] if type(wanted) is list else []
        found += (Question(each.asked.answer_n, _ELICIT, link, each.trial.name) for link in links)
    return found


def _looked_at(asked: list[Question], look: Callable[[dict[str, Any]], Iterable[Problem]], nothing: str) -> Outcome:
    """The worst of what is wrong with some questions."""
    worst: Outcome | None = None
    for question in asked:
        for level, sentence in look(question.params):
            if level == "bad":
                return bad(f"{question.tool}: {sentence}", question.n)
            worst = worst or doubtful(f"{question.tool}: {sentence}", question.n)
    return worst or (good("", *(question.n for question in asked[:20])) if asked else skipped(nothing))


def _offers_tools(question: Question) -> bool:
    return "tools" in question.params or "toolChoice" in question.params


def _no_end(made: Interview) -> str:
    """How a call came to no end, as the end of a sentence."""
    if made.lost:
        return "ended the connection"
    if made.endless:
        return f"asked {len(made.questions)} times"
    return "" if made.asked.answered else "was never answered"
