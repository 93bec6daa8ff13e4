"""The server's offers: a tool and a prompt, each with its listed definition and its function.

The functions get a `Call`, whose `world` contains these tools and prompts. This module cannot import that class, so a
call is `Any` here, and each function's annotation has the type.
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
    "properties": {"received": {"type": "object", "description": "The received arguments"}},
    "required": ["received"],
}
READ_ONLY = {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False}


class Tool:
    """A tool: its listed definition and its function.

    `patient` tools may take long, so each call gets a thread; `needs` names the feature that the tool requires.
    """

    __slots__ = ("definition", "needs", "patient", "run")

    def __init__(self, definition: dict[str, Any], run: Run, *, patient: bool, needs: str = "") -> None:
        self.definition = definition
        self.run = run
        self.patient = patient
        self.needs = needs

    @property
    def name(self) -> str:
        """The name for calls."""
        name: str = self.definition["name"]
        return name

    def offered(self, features: Features) -> bool:
        """Whether the tool exists at a revision."""
        return not self.needs or bool(getattr(features, self.needs))


class ToolTable:
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
    """A prompt: its listed definition and its function, which returns (role, content block) pairs. `patient` ones ask
    the client.
    """

    __slots__ = ("definition", "patient", "render")

    def __init__(self, definition: dict[str, Any], render: Render, *, patient: bool = False) -> None:
        self.definition = definition
        self.render = render
        self.patient = patient

    def get(self, call: Any) -> dict[str, Any]:
        """Returns the result of prompts/get; raises RpcError for arguments that are missing or not text."""
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
    """Returns a result with the received arguments, in the shape of RECEIVED."""
    return result(structured={"received": call.arguments})
