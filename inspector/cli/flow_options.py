"""The options that give values to the variables of flows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from inspector.cli.options import Option, Value, pair
from inspector.errors import UsageError

if TYPE_CHECKING:
    from inspector.calls.collection import Flow
    from inspector.cli.output import Output


def _given(word: str) -> tuple[str, Any]:
    """`NAME=VALUE`, or `NAME:=JSON`."""
    import re

    from inspector.protocol import jsonrpc

    name, value = pair(word)
    parsed: Any = value
    if name.endswith(":"):
        name = name[:-1]
        try:
            parsed = jsonrpc.parse(value.encode("utf-8", "surrogateescape"))
        except jsonrpc.NotJson as problem:
            raise UsageError(f"{name}:= needs JSON: {problem}.", hint=f"Write {name}=TEXT for plain text.") from None
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]*", name):
        raise UsageError(f"“{name[:80]}” is not a variable name.", hint="Write it as NAME=VALUE.")
    return name, parsed


ENVIRONMENT = Option("--environment", "Variables of this environment; repeatable, later ones win", "NAME", many=True)
SET = Option("--set", "Set a variable, NAME=VALUE or NAME:=JSON; repeatable", Value("NAME=VALUE", _given), many=True)


def warn_of_unused(out: Output, flows: Iterable[Flow], given: Mapping[str, Any]) -> None:
    """Warn of a `--set` that sets nothing: its name is probably misspelt."""
    from inspector.calls.variables import names_used
    from inspector.config.foreign_files import nearest

    known = {name for flow in flows for name in (*names_used(flow), *flow.model.vars)}
    for name in given:
        if name not in known:
            near = nearest(name, sorted(known))
            out.warn(
                f"note: No saved call uses the variable {name} of --set." + (f" Did you mean {near}?" if near else "")
            )
