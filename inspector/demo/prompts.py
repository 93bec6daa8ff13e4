"""The prompts: with and without arguments, with pictures, sounds, resources and several messages."""

from __future__ import annotations

from inspector.demo.content import accepted, audio, embedded, form, image, link, text
from inspector.demo.definitions import Prompt
from inspector.demo.media import icon
from inspector.demo.rpc import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from inspector.demo.call import ClientRequest

FRAMEWORKS = {
    "javascript": ["express", "next", "react", "svelte", "vue"],
    "python": ["django", "fastapi", "flask", "pyramid", "textual"],
    "ruby": ["hanami", "rails", "sinatra"],
    "rust": ["actix", "axum", "rocket"],
}


def _argument(name: str, description: str, *, required: bool = False) -> dict[str, Any]:
    title = name.capitalize().replace("_", " ")
    return {"name": name, "title": title, "description": description, "required": required}


def _greet(call: ClientRequest, given: dict[str, str]) -> list[tuple[str, dict[str, Any]]]:
    return [("user", text("Say hello to the user of this inspector, warmly and in one sentence."))]


def _explain(call: ClientRequest, given: dict[str, str]) -> list[tuple[str, dict[str, Any]]]:
    framework = f" with {given['framework']}" if given.get("framework") else ""
    detail = given.get("detail", "brief")
    return [("user", text(f"Explain this {given['language']}{framework} code ({detail}):\n\n{given['code']}"))]


def _summarize(call: ClientRequest, given: dict[str, str]) -> list[tuple[str, dict[str, Any]]]:
    found = call.world.resources.read(given["uri"])
    return [("user", text("Summarize what follows.")), *(("user", embedded(each)) for each in found)]


def _describe(call: ClientRequest, given: dict[str, str]) -> list[tuple[str, dict[str, Any]]]:
    from inspector.demo.media import picture, tone

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
        ("user", link(call.world.resources.page(0, 1)[0])),
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


def all_prompts() -> list[Prompt]:
    """Every prompt the server starts with."""
    return [
        Prompt(
            {"name": "greet", "title": "Greet", "description": "Takes no arguments", "icons": [icon("plum")]}, _greet
        ),
        Prompt(
            {
                "name": "explain-code",
                "title": "Explain code",
                "description": "Arguments can be completed; the framework depends on the language",
                "arguments": [
                    _argument("language", "The programming language", required=True),
                    _argument("framework", "The framework"),
                    _argument("code", "The code", required=True),
                    _argument("detail", "The level of detail"),
                ],
            },
            _explain,
        ),
        Prompt(
            {
                "name": "summarize-resource",
                "title": "Summarize a resource",
                "description": "Embeds a resource, whose URI can be completed",
                "arguments": [_argument("uri", "The resource", required=True)],
            },
            _summarize,
        ),
        Prompt(
            {
                "name": "describe-media",
                "title": "Describe a picture and a sound",
                "description": "Contains an image and an audio block",
                "arguments": [_argument("language", "The language of the answer")],
            },
            _describe,
        ),
        Prompt(
            {
                "name": "interview",
                "title": "Interview",
                "description": "Several messages of both roles, and a link to a resource",
                "arguments": [_argument("topic", "The topic", required=True)],
            },
            _interview,
        ),
        Prompt(
            {"name": "introduce-me", "title": "Introduce me", "description": "Asks the user for a name with a form"},
            _introduce,
            patient=True,
        ),
    ]
