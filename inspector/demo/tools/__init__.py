"""The tools, in the order in which they are listed."""

from __future__ import annotations

from inspector.demo.tools import (
    changes,
    client_requests,
    forms,
    headers,
    long_running,
    results,
    rounds,
    tasks,
    variants,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from inspector.demo.definitions import Tool


def all_tools() -> list[Tool]:
    """Every tool the server starts with."""
    modules = (forms, variants, results, long_running, client_requests, rounds, tasks, changes, headers)
    return [tool for module in modules for tool in module.box.tools]
