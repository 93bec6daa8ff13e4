"""Asks for the plan of a load: rate or users, length, warm-up, connections."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from inspector.errors import UsageError
from inspector.load.plan import RATE, SECONDS, WAITING, WARM_UP, LoadPlan, number_text
from inspector.text import count
from inspector.tui.widgets.dialog import FieldsDialog
from inspector.tui.widgets.editor import Editor

_LABEL = 16
_FIELDS: Mapping[str, tuple[str, str]] = {
    "rate": ("calls per second", f"{RATE:g}; open model: constant arrival"),
    "users": ("or users", "closed model: each waits for its answer"),
    "seconds": ("length", f"{SECONDS:g} s, with the warm-up"),
    "warm_up": ("warm-up", f"{WARM_UP:g} s that are not counted"),
    "in_flight": ("calls at once", "no limit on each connection"),
    "connections": ("connections", "1"),
    "max_waiting": ("most waiting", f"{count(WAITING)}; further calls are not sent"),
}
"""Each field's label, and its hint when it is empty."""
_UNIT = {"seconds": " s", "warm_up": " s"}
_NUMBER = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,6})?) ?(ms|s|min|/s)?")
_WHOLE = ("users", "in_flight", "connections", "max_waiting")
_UNITS = {"ms": 1e-3, "min": 60.0}


class LoadDialog(FieldsDialog[LoadPlan]):
    """Asks for the plan, starting with a given one."""

    def __init__(self, plan: LoadPlan) -> None:
        self._plan = plan
        super().__init__(f"Load  {', '.join(plan.tools)[:60]}", {name: self._editor(name) for name in _FIELDS}, "start")

    def _editor(self, name: str) -> Editor:
        label, empty = _FIELDS[name]
        value = "" if self._is_empty(name) else number_text(getattr(self._plan, name)) + _UNIT.get(name, "")
        return Editor(value, placeholder=empty, lead=[(f"{label:<{_LABEL}}  ", "muted")], id=f"load-{name}")

    def _is_empty(self, name: str) -> bool:
        """Whether the hint says all: the field has its default, or does not matter."""
        return getattr(self._plan, name) == getattr(LoadPlan(self._plan.calls), name) or (
            name == "rate" and bool(self._plan.users)
        )

    def action_take(self) -> None:
        """Accept the plan if it can be run."""
        try:
            self.dismiss(planned(self._plan, self.typed))
        except UsageError as error:
            self.show_note(error.message)


def planned(plan: LoadPlan, said: Mapping[str, str]) -> LoadPlan:
    """Return a plan with the values of the fields; an empty field has its default. Raises `UsageError`."""
    defaults = LoadPlan(plan.calls)
    values: dict[str, Any] = {name: getattr(defaults, name) for name in _FIELDS}
    for name, text in said.items():
        if not text:
            continue
        found = _NUMBER.fullmatch(text.replace(",", ""))
        if found is None or (name in _WHOLE and not found[1].isdigit()):
            raise UsageError(f"“{text[:40]}” is not a number.")
        values[name] = int(found[1]) if name in _WHOLE else float(found[1]) * _UNITS.get(found[2] or "", 1.0)
    if said.get("users") and said.get("rate"):
        raise UsageError("Give a rate or users, not both.")
    if not said.get("warm_up"):
        values["warm_up"] = min(defaults.warm_up, values["seconds"] / 5)
    return replace(plan, **values)
