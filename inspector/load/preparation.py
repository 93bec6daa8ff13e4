"""A plan, as the server that it is for allows it: its tools and the secrets in its arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from inspector.calls.variables import Secrets
from inspector.config.server_memory import left_out, without_secrets
from inspector.errors import NotOffered, UsageError
from inspector.hints import Hint, Parameter
from inspector.load.plan import LoadPlan
from inspector.protocol.views import is_read_only

if TYPE_CHECKING:
    from inspector.client.session import Session


def check_tools(plan: LoadPlan, session: Session, allowed: frozenset[str] | Literal["all"]) -> None:
    """Raise unless the server lists the tools, and they are read-only or allowed."""
    listed = session.catalog.tools
    for name in plan.tools:
        tool = listed.get(name)
        if tool is None:
            from inspector.config.foreign_files import nearest

            names = [item["name"] for item in listed.items if type(item.get("name")) is str]
            near = nearest(name, names)
            raise NotOffered(
                f"The server does not list a tool “{name[:80]}”.",
                hint=f"Did you mean “{near[:80]}”?" if near else "List them with `inspector tools`.",
            )
        if reasons := session.refused_tools.get(name):
            raise NotOffered(f"The tool “{name[:80]}” must not be called over HTTP: {reasons[0]}.")
        if not is_read_only(tool) and allowed != "all" and name not in allowed:
            raise UsageError(
                f"The tool “{name[:80]}” is not annotated read-only, so it is not called many times.",
                hint=Hint("If calls of it do no harm, add ", Parameter.ALLOW_CALLS.to(name[:80]), "."),
            )


def input_schemas(plan: LoadPlan, session: Session) -> dict[str, Any]:
    """The schemas of the arguments of the plan's tools, by tool, as the server lists them."""
    listed = session.catalog.tools
    return {name: (listed.get(name) or {}).get("inputSchema") for name in plan.tools}


def secret_arguments(plan: LoadPlan, session: Session) -> Secrets:
    """Return the arguments that are secrets by their names or schemas: no report and no recording has them."""
    secrets, schemas = Secrets(), input_schemas(plan, session)
    for call in plan.calls:
        for value in left_out(call.arguments, without_secrets(call.arguments, schemas.get(call.tool))):
            secrets.add(value)
    return secrets
