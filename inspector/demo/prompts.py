"""The prompts: with and without arguments, with pictures, sounds, resources and several messages."""

from __future__ import annotations

from inspector.demo.content import accepted, audio, embedded, form, image, link, text
from inspector.demo.definitions import DemoPrompt, document
from inspector.demo.rpc import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from inspector.demo.call import ClientRequest
    from inspector.demo.definitions import Render


def _greet(call: ClientRequest, given: dict[str, str]) -> list[tuple[str, dict[str, Any]]]:
    return [("user", text("Say hello to the user of this inspector, warmly and in one sentence."))]


def _explain(call: ClientRequest, given: dict[str, str]) -> list[tuple[str, dict[str, Any]]]:
    framework = f" with {given['framework']}" if given.get("framework") else ""
    detail = given.get("detail", "brief")
    return [("user", text(f"Explain this {given['language']}{framework} code ({detail}):\n\n{given['code']}"))]


def _summarize(call: ClientRequest, given: dict[str, str]) -> list[tuple[str, dict[str, Any]]]:
    entries = call.state.resources.read(given["uri"])
    return [("user", text("Summarize what follows.")), *(("user", embedded(entry)) for entry in entries)]


def _describe(call: ClientRequest, given: dict[str, str]) -> list[tuple[str, dict[str, Any]]]:
    from inspector.demo.content import picture, tone

    return [
        ("user", text(f"Describe the picture and the sound in {given.get('language', 'English')}.")),
        ("user", image(picture())),
        ("user", audio(tone())),
    ]


def _interview(call: ClientRequest, given: dict[str, str]) -> list[tuple[str, dict[str, Any]]]:
    return [
        ("user", text(f"Let us talk about {given['topic']}.")),
        ("assistant", text("Gladly. What would you like to know first?")),
        ("user", text("Start with this, please:")),
        ("user", link(call.state.resources.page(0, 1)[0])),
    ]


def _introduce(call: ClientRequest, given: dict[str, str]) -> list[tuple[str, dict[str, Any]]]:
    name = "an anonymous user"
    try:
        if not call.missing("elicitation"):
            question = form(call.features, "Who are you?", name={"type": "string", "title": "Name"})
            name = str((accepted(call.ask(question)[0]) or {}).get("name", name))
    except Refused:
        pass  # the prompt works without a name
    return [("user", text(f"You are talking to {name}."))]


_RENDERS: dict[str, Render] = {
    "greet": _greet,
    "explain-code": _explain,
    "summarize-resource": _summarize,
    "describe-media": _describe,
    "interview": _interview,
    "introduce-me": _introduce,
}


def all_prompts() -> list[DemoPrompt]:
    """Every prompt the server starts with."""
    return [
        DemoPrompt(prompt, _RENDERS[prompt["name"]], slow=prompt["name"] == "introduce-me")
        for prompt in document()["prompts"]
    ]
