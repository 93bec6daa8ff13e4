"""Tools that need several rounds: several questions at once, one after the other, or only another call."""

from __future__ import annotations

from inspector.demo.content import accepted, failure, form, result, text
from inspector.demo.definitions import ToolTable
from inspector.demo.rpc import Refused, encode
from inspector.demo.tools.client_requests import ASKS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from inspector.demo.call import ClientRequest

box = ToolTable()


def _chosen(answer: dict[str, Any], field: str) -> str | None:
    """Returns the value of a form's field; None if the form was not accepted, or the field is empty."""
    chosen = (accepted(answer) or {}).get(field)
    return chosen if isinstance(chosen, str) and chosen else None


@box.add("ask-several", title="Ask three things at once", hints=ASKS, patient=True)
def ask_several(call: ClientRequest) -> dict[str, Any]:
    """Asks the user, the client's model and for the client's roots, all at the same time."""
    missing = call.missing("elicitation") or call.missing("sampling") or call.missing("roots")
    if missing:
        return failure(missing)
    say = {"messages": [{"role": "user", "content": text("Say one word.")}], "maxTokens": 20}
    colours = {"type": "string", "enum": ["red", "green", "blue"]}
    colour = form(call.features, "Which colour do you like?", colour=colours)
    try:
        answers = call.ask(colour, ("sampling/createMessage", say), ("roots/list", {}))
    except Refused as refusal:
        return failure(f"The client refused one of three questions: {refusal}")
    return result(*(encode(answer).decode() for answer in answers))


@box.add("ask-twice", title="Ask a second time", hints=ASKS, patient=True)
def ask_twice(call: ClientRequest) -> dict[str, Any]:
    """Asks with a form, and then with another one that depends on the first answer."""
    missing = call.missing("elicitation")
    if missing:
        return failure(missing)
    try:
        names = {"Europe": ["Bergen", "Lisbon"], "Asia": ["Kyoto", "Hanoi"]}
        region = {"type": "string", "title": "Continent", "enum": list(names)}
        continent = _chosen(call.ask(form(call.features, "Where do you want to go?", continent=region))[0], "continent")
        if continent is None:
            return result("Then you stay at home.")
        towns = {"type": "string", "title": "Town", "enum": names.get(continent, ["Nowhere"])}
        town = _chosen(call.ask(form(call.features, f"Where in {continent}?", town=towns))[0], "town")
    except Refused as refusal:
        return failure(f"The client refused a question: {refusal}")
    return result(f"You only get as far as {continent}." if town is None else f"Have a good time in {town}!")


@box.add(
    "come-back",
    {"times": {"type": "integer", "minimum": 0, "maximum": 100, "default": 2}},
    title="Come back later",
    hints=ASKS,
)
def come_back(call: ClientRequest) -> dict[str, Any]:
    """Asks nothing, but makes the client call again a few times before it returns a result (2026-07-28)."""
    times = int(call.arguments.get("times", 2))
    for _ in range(times):
        call.come_back()
    return result(f"Done after at most {times} further calls.")
