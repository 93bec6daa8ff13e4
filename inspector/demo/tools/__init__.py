"""The tools: what a tool is, and all of them in the order in which they are listed."""

from __future__ import annotations

from inspector.demo.content import result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from inspector.demo.call import Call
    from inspector.demo.revisions import Features

    Run = Callable[[Call], dict[str, Any]]

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


def received(call: Call) -> dict[str, Any]:
    """The result of tools that only tell what they were given, in the shape of RECEIVED."""
    return result(structured={"received": call.arguments})


def all_tools() -> list[Tool]:
    """Every tool the server starts with."""
    from inspector.demo.tools import asks, changes, forms, headers, results, rounds, tasks, variants, work

    modules = (forms, variants, results, work, asks, rounds, tasks, changes, headers)
    return [tool for module in modules for tool in module.box.tools]
