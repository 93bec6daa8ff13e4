"""Requests of the server to the client: elicitation, sampling, roots."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from inspector.check.check_table import CheckTable, Need
from inspector.check.checks.client_request_rules import (
    FormProblem,
    form_problems,
    link_problems,
    links_in_form,
    sampling_problems,
    secrets_asked,
    unbalanced,
)
from inspector.check.outcome import Outcome, bad, doubtful, good, skipped
from inspector.check.visit.answered_calls import AnsweredCall, answered_call, answered_calls, questions
from inspector.check.visit.tool_calls import FEW, InputRequest, everything, tool_calls
from inspector.check.visit.visit import Visit
from inspector.protocol.jsonrpc import URL_ELICITATION_REQUIRED, Shape, excerpt
from inspector.protocol.members import array_at, objects_at, value_at
from inspector.text import quantity

_ELICIT, _SAMPLE, _ROOTS = "elicitation/create", "sampling/createMessage", "roots/list"
_NO_FORM = "no allowed tool uses form elicitation"
_NO_LINK = "no allowed tool uses URL elicitation"
_NO_SAMPLE = "no allowed tool uses sampling"


CHECKS = CheckTable("client_features", mode="tool", needs=Need.CALLS)


@CHECKS.active("CLI-01", apart=True)
async def secrets(visit: Visit) -> Outcome:
    """The fields of every form."""
    return _worst_problem(await _forms(visit), secrets_asked, _NO_FORM)


@CHECKS.active("CLI-02", apart=True)
async def shapes(visit: Visit) -> Outcome:
    """The schema of every form."""
    return _worst_problem(await _forms(visit), lambda params: form_problems(params, visit.features), _NO_FORM)


@CHECKS.active("CLI-03", apart=True)
async def links(visit: Visit) -> Outcome:
    """The URL of every URL elicitation, and the texts of every form."""
    links = _worst_problem(await _links(visit), lambda params: link_problems(params, visit.features), _NO_LINK)
    if links.seen in ("bad", "doubtful"):
        return links
    clickable = _worst_problem(await _forms(visit), links_in_form, _NO_FORM)
    return clickable if clickable.seen == "doubtful" or links.seen == "nothing" else links


@CHECKS.active("CLI-04", apart=True)
async def link_errors(visit: Visit) -> Outcome:
    """Every error -32042."""
    seen: list[int] = []
    for made in await answered_calls(visit):
        if made.response.code != URL_ELICITATION_REQUIRED:
            continue
        elicitations = value_at(made.response.error, "data", "elicitations")
        if type(elicitations) is not list or not elicitations:
            return bad(f"{made.call.name}: elicitations is {excerpt(elicitations, 80)}.", *made.response.events)
        for elicitation in elicitations[:100]:
            if (
                type(elicitation) is not dict
                or elicitation.get("mode") != "url"
                or not isinstance(elicitation.get("elicitationId"), str)
            ):
                return bad(
                    f"{made.call.name}: one of the elicitations is {excerpt(elicitation, 100)}.", *made.response.events
                )
        seen += made.response.events
    return good("", *seen) if seen else skipped("no call returned error -32042")


@CHECKS.active("CLI-05", apart=True)
async def declined(visit: Visit) -> Outcome:
    """The tools that use elicitation, declined once and cancelled once."""
    asking = [first for first in await answered_calls(visit) if first.asks(_ELICIT)][:FEW]
    seen: list[int] = []
    for first in asking:
        async with visit.new_connection(capabilities=everything(visit.features)) as connection:
            other = await answered_call(visit, connection, first.call, action="cancel")
        for action, made in (("declined", first), ("dismissed", other)):
            wrong = _no_end(made)
            if wrong:
                events = (*made.response.events, *(question.n for question in made.questions[:5]))
                return bad(f"After {action}, {first.call.name} {wrong}.", *events)
            seen += made.response.events
    return good("", *seen) if seen else skipped("no allowed tool uses elicitation")


@CHECKS.active("CLI-06", apart=True)
async def samples(visit: Visit) -> Outcome:
    """Every sampling request."""
    requests = await questions(visit, _SAMPLE)
    return _worst_problem(requests, lambda params: sampling_problems(params, visit.features), _NO_SAMPLE)


@CHECKS.active("CLI-07", apart=True)
async def tools_for_models(visit: Visit) -> Outcome:
    """Sampling requests to a client without sampling.tools, and to one that has it and uses the first tool."""
    for call in tool_calls(visit):
        for question in call.asks(_SAMPLE):
            if _offers_tools(question):
                return bad(f"{call.name} sends tools to a client that does not declare sampling.tools.", question.n)
    offered = [question for question in await questions(visit, _SAMPLE) if _offers_tools(question)]
    for question in offered:
        wrong = unbalanced(question.params)
        if wrong:
            return bad(f"{question.tool}: {wrong}", question.n)
    evidence = [question.n for question in offered]
    return good("", *evidence) if evidence else skipped("no allowed tool uses sampling with tools")


@CHECKS.active("CLI-08", apart=True)
async def refused(visit: Visit) -> Outcome:
    """The tools that use sampling, which is rejected; then a request that every server answers."""
    asking = [first for first in await answered_calls(visit) if first.asks(_SAMPLE)][:FEW]
    seen: list[int] = []
    for first in asking:
        async with visit.new_connection(capabilities=everything(visit.features)) as connection:
            made = await answered_call(visit, connection, first.call, refuses=True)
            wrong = _no_end(made)
            after = (
                await connection.request("server/discover", {}) if visit.modern else await connection.request("ping")
            )
        if wrong:
            return bad(f"After sampling was rejected, {first.call.name} {wrong}.", *made.response.events)
        if not after.answered:
            return bad(
                f"After sampling was rejected the server did not respond: {after.brief}.",
                *made.response.events,
                after.n,
            )
        seen += (*made.response.events, *after.events)
    return good("", *seen) if seen else skipped(_NO_SAMPLE)


@CHECKS.active("CLI-09", apart=True)
async def roots(visit: Visit) -> Outcome:
    """The tools that request roots: from a client without roots, and from one with an empty list."""
    asking = [call for call in tool_calls(visit) if call.asks(_ROOTS)][:FEW]
    seen: list[int] = []
    for call in asking:
        # The shared session declares roots.
        async with visit.new_connection(why="as a client without roots") as connection:
            response = await connection.request("tools/call", call.params, timeout=visit.limits.request / 2)
            requests = [
                frame.n
                for frame in connection.frames
                if frame.shape is Shape.REQUEST and frame.message["method"] == _ROOTS
            ]
        if requests or _ROOTS in excerpt(response.body.get("inputRequests"), 10_000):
            return bad(f"{call.name} requests roots, which are not declared.", *response.events, *requests[:1])
        # A tool that also uses sampling waits for that response; without either response it takes long.
        if response.answered and not call.response.answered and not call.asks(_SAMPLE):
            return bad(
                f"{call.name} did not respond when the list of roots was empty.", call.response.n, *response.events
            )
        seen += (*call.response.events, *response.events)
    return good("", *seen) if seen else skipped("no allowed tool requests roots")


async def _forms(visit: Visit) -> list[InputRequest]:
    return [question for question in await questions(visit, _ELICIT) if question.params.get("mode", "form") != "url"]


async def _links(visit: Visit) -> list[InputRequest]:
    """The URLs to open, from a request or an error."""
    requests = [question for question in await questions(visit, _ELICIT) if question.params.get("mode") == "url"]
    for made in await answered_calls(visit):
        if made.response.code == URL_ELICITATION_REQUIRED:
            links = objects_at(array_at(made.response.error, "data", "elicitations")[:100])
            requests += (InputRequest(made.response.response_n, _ELICIT, params, made.call.name) for params in links)
    return requests


def _worst_problem(
    requests: list[InputRequest], problems_of: Callable[[dict[str, Any]], Iterable[FormProblem]], nothing: str
) -> Outcome:
    """The worst problem of some requests."""
    worst: Outcome | None = None
    for question in requests:
        for level, sentence in problems_of(question.params):
            if level == "bad":
                return bad(f"{question.tool}: {sentence}", question.n)
            worst = worst or doubtful(f"{question.tool}: {sentence}", question.n)
    return worst or (good("", *(question.n for question in requests[:20])) if requests else skipped(nothing))


def _offers_tools(question: InputRequest) -> bool:
    return "tools" in question.params or "toolChoice" in question.params


def _no_end(made: AnsweredCall) -> str:
    """How a call failed to end, as the end of a sentence."""
    if made.lost:
        return "closed the connection"
    if made.endless:
        return f"sent {quantity(len(made.questions), 'request')}"
    return "" if made.response.answered else "never responded"
