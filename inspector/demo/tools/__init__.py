"""The tools: `definitions.json` has what is listed, in its order; the modules here have the function of each."""

from __future__ import annotations

from inspector.demo.definitions import FUNCTIONS, DemoTool, document
from inspector.demo.tools import arguments, client_requests, long_running, results  # noqa: F401 - they fill FUNCTIONS


def all_tools() -> list[DemoTool]:
    """Every tool the server starts with."""
    return [DemoTool(definition, *FUNCTIONS[definition["name"]]) for definition in document()["tools"]]
