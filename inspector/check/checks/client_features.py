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

_ELICITATION = "client/elicitation"
_SAMPLING = "client/sampling"
_ELICIT, _SAMPLE, _ROOTS = "elicitation/create", "sampling/createMessage", "roots/list"
_NO_FORM = "no allowed tool uses form elicitation"
_NO_LINK = "no allowed tool uses URL elicitation"
_NO_SAMPLE = "no allowed tool uses sampling"


CHECKS = CheckTable("client-features", mode="tool", needs=Need.CALLS)


@CHECKS.active(
    "CLI-01 must r3+",
    page=f"{_ELICITATION}#security-considerations",
    apart=True,
    says="Form elicitation does not request passwords, keys, tokens or card numbers.",
    fix='Use URL mode ("mode": "url") for secrets, so that they do not pass through the client.',
)
async def secrets(visit: Visit) -> Outcome:
    """The fields of every form."""
    return _looked_at(await _forms(visit), secrets_asked, _NO_FORM)


@CHECKS.active(
    "CLI-02 type r3+",
    page=f"{_ELICITATION}#requested-schema",
    apart=True,
    says="requestedSchema is a flat object with primitive properties.",
    fix="Use string, number, integer, boolean and enum properties; do not nest objects.",
)
async def shapes(visit: Visit) -> Outcome:
    """The schema of every form."""
    return _looked_at(await _forms(visit), lambda params: form_problems(params, visit.features), _NO_FORM)


@CHECKS.active(
    "CLI-03 must r4+",
    page=f"{_ELICITATION}#url-mode-elicitation-requests",
    apart=True,
    says="URL elicitation has a valid URL without credentials, and a form contains no URL to open.",
    fix='Send "mode": "url", a message and an https URL without credentials; 2025-11-25 also requires elicitationId.',
)
async def links(visit: Visit) -> Outcome:
    """The URL of every URL elicitation, and the texts of every form."""
    found = _looked_at(await _links(visit), lambda params: link_problems(params, visit.features), _NO_LINK)
    if found.seen in ("bad", "doubtful"):
        return found
    clickable = _looked_at(await _forms(visit), links_in_form, _NO_FORM)
    return clickable if clickable.seen == "doubtful" or found.seen == "nothing" else found


@CHECKS.active(
    "CLI-04 must r4",
    page=f"{_ELICITATION}#url-elicitation-required-error",
    apart=True,
    says="Error -32042 lists the URL elicitations, each with its elicitationId.",
    fix='Set data.elicitations to a list of {"mode": "url", "elicitationId": "…", "url": "https://…", "message": "…"}.',
)
async def link_errors(visit: Visit) -> Outcome:
    """Every error -32042."""
    seen: list[int] = []
    for each in await answered_calls(visit):
        if each.response.code != URL_ELICITATION_REQUIRED:
            continue
        data = each.response.error.get("data")
        wanted = data.get("elicitations") if type(data) is dict else None
        if type(wanted) is not list or not wanted:
            return bad(f"{each.call.name}: elicitations is {excerpt(wanted, 80)}.", *each.response.events)
        for elicitation in wanted[:100]:
            if (
                type(elicitation) is not dict
                or elicitation.get("mode") != "url"
                or not isinstance(elicitation.get("elicitationId"), str)
            ):
                return bad(
                    f"{each.call.name}: one of the elicitations is {excerpt(elicitation, 100)}.", *each.response.events
                )
        seen += each.response.events
    return good("", *seen) if seen else skipped("no call returned error -32042")


@CHECKS.active(
    "CLI-05 must r3+",
    page=f"{_ELICITATION}#response-actions",
    apart=True,
    says="A call ends when the user declines or cancels an elicitation.",
    fix="Continue without the input or fail with an explanation; do not send the same elicitation again.",
)
async def declined(visit: Visit) -> Outcome:
    """The tools that use elicitation, declined once and cancelled once."""
    asking = [each for each in await answered_calls(visit) if each.asks(_ELICIT)][:FEW]
    seen: list[int] = []
    for each in asking:
        async with visit.new_connection(capabilities=everything(visit.features)) as connection:
            other = await answered_call(visit, connection, each.call, action="cancel")
        for action, made in (("declined", each), ("dismissed", other)):
            wrong = _no_end(made)
            if wrong:
                events = (*made.response.events, *(question.n for question in made.questions[:5]))
                return bad(f"After {action}, {each.call.name} {wrong}.", *events)
            seen += made.response.events
    return good("", *seen) if seen else skipped("no allowed tool uses elicitation")


@CHECKS.active(
    "CLI-06 type r1+",
    page=f"{_SAMPLING}#creating-messages",
    apart=True,
    says="A sampling request has messages, maxTokens, and priorities from 0 to 1.",
    fix="Set messages and a positive maxTokens, for example 1000, and do not use includeContext.",
)
async def samples(visit: Visit) -> Outcome:
    """Every sampling request."""
    requests = await questions(visit, _SAMPLE)
    return _looked_at(requests, lambda params: sampling_problems(params, visit.features), _NO_SAMPLE)


@CHECKS.active(
    "CLI-07 must r4+",
    page=f"{_SAMPLING}#sampling-with-tools",
    apart=True,
    says="The server sends tools in sampling only to clients with sampling.tools, and matches each tool_use "
    "with a tool_result.",
    fix="Check sampling.tools in the client capabilities; follow each tool_use with a message that has "
    "only tool_result blocks.",
)
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


@CHECKS.active(
    "CLI-08 robust r1+",
    page=f"{_SAMPLING}#error-handling",
    apart=True,
    says="A rejected sampling request does not break the server.",
    fix="Fail the tool call with an explanation, and continue to serve requests.",
)
async def refused(visit: Visit) -> Outcome:
    """The tools that use sampling, which is rejected; then a request that every server answers."""
    asking = [each for each in await answered_calls(visit) if each.asks(_SAMPLE)][:FEW]
    seen: list[int] = []
    for each in asking:
        async with visit.new_connection(capabilities=everything(visit.features)) as connection:
            made = await answered_call(visit, connection, each.call, refuses=True)
            wrong = _no_end(made)
            after = (
                await connection.request("server/discover", {}) if visit.modern else await connection.request("ping")
            )
        if wrong:
            return bad(f"After sampling was rejected, {each.call.name} {wrong}.", *made.response.events)
        if not after.answered:
            return bad(
                f"After sampling was rejected the server did not respond: {after.shown}.",
                *made.response.events,
                after.n,
            )
        seen += (*made.response.events, *after.events)
    return good("", *seen) if seen else skipped(_NO_SAMPLE)


@CHECKS.active(
    "CLI-09 should r1+",
    page="client/roots",
    apart=True,
    says="The server requests roots only from clients that declare them, and accepts an empty list.",
    fix="Check roots in the client capabilities, and continue if the list is empty.",
)
async def roots(visit: Visit) -> Outcome:
    """The tools that request roots: from a client without roots, and from one with an empty list."""
    asking = [call for call in tool_calls(visit) if call.asks(_ROOTS)][:FEW]
    seen: list[int] = []
    for call in asking:
        # The shared session declares roots.
        async with visit.new_connection(why="as a client without roots") as connection:
            response = await connection.request("tools/call", call.params, timeout=visit.limits.request / 2)
            wanted = [
                frame.n
                for frame in connection.frames
                if frame.shape is Shape.REQUEST and frame.message["method"] == _ROOTS
            ]
        if wanted or _ROOTS in excerpt(response.body.get("inputRequests"), 10_000):
            return bad(f"{call.name} requests roots, which are not declared.", *response.events, *wanted[:1])
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
    found = [question for question in await questions(visit, _ELICIT) if question.params.get("mode") == "url"]
    for each in await answered_calls(visit):
        data = each.response.error.get("data") if each.response.code == URL_ELICITATION_REQUIRED else None
        wanted = data.get("elicitations") if type(data) is dict else None
        links = [each for each in wanted[:100] if type(each) is dict] if type(wanted) is list else []
        found += (InputRequest(each.response.response_n, _ELICIT, params, each.call.name) for params in links)
    return found


def _looked_at(
    requests: list[InputRequest], look: Callable[[dict[str, Any]], Iterable[FormProblem]], nothing: str
) -> Outcome:
    """The worst problem of some requests."""
    worst: Outcome | None = None
    for question in requests:
        for level, sentence in look(question.params):
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
        return f"sent {len(made.questions)} requests"
    return "" if made.response.answered else "never responded"
