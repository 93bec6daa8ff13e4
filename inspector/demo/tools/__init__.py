"""The tools, in the order in which they are listed."""

from __future__ import annotations

from inspector.demo.tools import asks, changes, forms, headers, results, rounds, tasks, variants, work

TYPE_CHECKING = False
if TYPE_CHECKING:
    from inspector.demo.offers import Tool


def all_tools() -> list[Tool]:
    """Every tool the server starts with."""
    modules = (forms, variants, results, work, asks, rounds, tasks, changes, headers)
    return [tool for module in modules for tool in module.box.tools]
