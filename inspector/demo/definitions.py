"""The server's offers: a tool and a prompt, each with its listed definition and its function.

The functions get a `Call`, whose `state` contains these tools and prompts. This module cannot import that class, so a
call is `Any` here, and each function's annotation has the type.
"""

from __future__ import annotations

import json
from functools import cache

from inspector.demo.content import fit_block
from inspector.demo.rpc import INVALID_PARAMS, RpcError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from inspector.demo.revisions import DemoFeatures

    Run = Callable[[Any], dict[str, Any]]
    Render = Callable[[Any, dict[str, str]], list[tuple[str, dict[str, Any]]]]

FUNCTIONS: dict[str, tuple[Run, bool, str]] = {}
"""The function of each tool by name, whether it is `slow`, and the feature that it `needs`."""


@cache
def document() -> dict[str, Any]:
    """Returns what is listed and sent as it stands: tools, prompts, and parts of the server's own requests."""
    with open(__file__.replace(".py", ".json"), encoding="utf-8") as file:
        content: dict[str, Any] = json.load(file)
        return content


class DemoTool:
    """A tool: its listed definition and its function.

    `slow` tools may take long, so each call gets a thread; `needs` names the feature that the tool requires.
    """

    def __init__(self, definition: dict[str, Any], run: Run, slow: bool = False, needs: str = "") -> None:
        self.definition = definition
        self.name: str = definition["name"]
        self.run = run
        self.slow = slow
        self.needs = needs

    def offered(self, features: DemoFeatures) -> bool:
        """Whether the tool exists at a revision."""
        return not self.needs or bool(getattr(features, self.needs))


def tool(name: str, *, slow: bool = False, needs: str = "") -> Callable[[Run], Run]:
    """Makes a function that of a tool in `document`."""

    def keep(run: Run) -> Run:
        FUNCTIONS[name] = (run, slow, needs)
        return run

    return keep


class DemoPrompt:
    """A prompt: its listed definition and its function, which returns (role, content block) pairs. `slow` ones ask
    the client.
    """

    def __init__(self, definition: dict[str, Any], render: Render, *, slow: bool = False) -> None:
        self.definition = definition
        self.render = render
        self.slow = slow

    def get(self, call: Any) -> dict[str, Any]:
        """Returns the result of prompts/get; raises RpcError for arguments that are missing or not text."""
        given = call.arguments
        for argument in self.definition.get("arguments", ()):
            if argument.get("required") and argument["name"] not in given:
                raise RpcError(INVALID_PARAMS, f"Missing required argument: {argument['name']}")
        if not all(isinstance(value, str) for value in given.values()):
            raise RpcError(INVALID_PARAMS, "Prompt arguments must be strings")
        messages = [(role, fit_block(block, call.features)) for role, block in self.render(call, given)]
        return {
            "description": self.definition["description"],
            "messages": [{"role": role, "content": block} for role, block in messages],
        }
