"""What the server offers: a tool and a prompt, each as it is listed and with the function that serves it.

Those functions are given a `Call`, whose `world` holds these very tools and prompts. So this module cannot name the
class: here a call is `Any`, and each function says what it takes.
"""

from __future__ import annotations

from inspector.demo.content import fit_block, result
from inspector.demo.rpc import INVALID_PARAMS, RpcError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from inspector.demo.revisions import Features

    Run = Callable[[Any], dict[str, Any]]
    Render = Callable[[Any, dict[str, str]], list[tuple[str, dict[str, Any]]]]

RECEIVED = {
    "type": "object",
    "properties": {"received": {"type": "object", "description": "The arguments as they arrived"}},
    "required": ["received"],
}
READ_ONLY = {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False}


class Tool:
    """A tool as it is listed, and what it does.

    `patient` tools may take long, so each call gets a thread; `needs` names the feature without which there is none.
    """

    __slots__ = ("definition", "needs", "patient", "run")

    def __init__(self, definition: dict[str, Any], run: Run, *, patient: bool, needs: str = "") -> None:
        self.definition = definition
        self.run = run
        self.patient = patient
        self.needs = needs

    @property
    def name(self) -> str:
        """The name by which it is called."""
        name: str = self.definition["name"]
        return name

    def offered(self, features: Features) -> bool:
        """Whether the tool exists at a revision."""
        return not self.needs or bool(getattr(features, self.needs))


class Toolbox:
    """Collects the tools of one module."""

    def __init__(self) -> None:
        self.tools: list[Tool] = []

    def add(
        self,
        name: str,
        properties: dict[str, Any] | None = None,
        *,
        title: str,
        required: tuple[str, ...] = (),
        schema: dict[str, Any] | None = None,
        hints: dict[str, Any] | None = None,
        patient: bool = False,
        needs: str = "",
        **more: Any,
    ) -> Callable[[Run], Run]:
        """Makes a function a tool; its docstring is the description. `schema` adds to or replaces the input schema."""
        wanted: dict[str, Any] = {"type": "object"}
        if properties is not None:
            wanted["properties"] = properties
        if required:
            wanted["required"] = list(required)
        wanted |= schema or {}

        def make(run: Run) -> Run:
            description = " ".join((run.__doc__ or "").split())
            definition = {"name": name, "title": title, "description": description, "inputSchema": wanted, **more}
            definition["annotations"] = {"title": title, **(hints or {})}
            self.tools.append(Tool(definition, run, patient=patient, needs=needs))
            return run

        return make


class Prompt:
    """A prompt as it is listed, and what it renders: (role, content block) pairs. `patient` ones ask the client."""

    __slots__ = ("definition", "patient", "render")

    def __init__(self, definition: dict[str, Any], render: Render, *, patient: bool = False) -> None:
        self.definition = definition
        self.render = render
        self.patient = patient

    def get(self, call: Any) -> dict[str, Any]:
        """The result of prompts/get; raises RpcError for arguments that are missing or no text."""
        given = call.arguments
        for argument in self.definition.get("arguments", ()):
            if argument.get("required") and argument["name"] not in given:
                raise RpcError(INVALID_PARAMS, f"Missing required argument: {argument['name']}")
        if not all(isinstance(value, str) for value in given.values()):
            raise RpcError(INVALID_PARAMS, "Prompt arguments must be strings")
        said = [(role, fit_block(block, call.features)) for role, block in self.render(call, given)]
        return {
            "description": self.definition["description"],
            "messages": [{"role": role, "content": block} for role, block in said],
        }


def received(call: Any) -> dict[str, Any]:
    """The result of tools that only tell what they were given, in the shape of RECEIVED."""
    return result(structured={"received": call.arguments})
