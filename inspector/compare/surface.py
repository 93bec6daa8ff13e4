"""Compares what two servers offer (lists, capabilities, instructions, identity), with the severity of each change.

A surface is plain data, as `inspector.client.state.surfaces` collects it and a pin stores it: an object with `server`
(the `serverInfo`), `era`, `revision`, `capabilities`, `instructions`, the lists `tools`, `resources`, `templates` and
`prompts` (null if the list was not read), and `incomplete`, which has the reason for each list without an end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from inspector.compare.invisible_characters import Hidden, hidden_in
from inspector.compare.json_values import exact_digest
from inspector.compare.rules import EXACT
from inspector.compare.schema_changes import Side
from inspector.compare.schema_forms import Effort
from inspector.compare.schemas import MAX_STEPS, ChangeSeverity, SchemaChange, compare_schemas
from inspector.compare.values import compare
from inspector.journal.redaction import unkeyed
from inspector.protocol.jsonrpc import excerpt
from inspector.protocol.views import View

Surface = dict[str, Any]

SEVERITIES: tuple[ChangeSeverity, ...] = ("breaking", "unsure", "changed", "added", "cosmetic")
"""Worst first."""
LISTS = {"tools": "name", "resources": "uri", "templates": "uriTemplate", "prompts": "name"}
"""The lists, and the member that identifies their items."""
SINGULAR = {"tools": "tool", "resources": "resource", "templates": "template", "prompts": "prompt"}
AREAS = ("server", "capabilities", "instructions", *LISTS)
_SCHEMAS: dict[str, Side] = {"inputSchema": "input", "outputSchema": "output"}
_WORDS = frozenset(("title", "description"))
_LOUD = frozenset(("title", "description", "annotations"))
_COSMETIC = frozenset(("icons", "size"))


class Witness(NamedTuple):
    """A value that proves that a change breaks clients: the smallest that was found."""

    side: Side
    """`input`: all arguments of a tool, which were accepted and are refused now. `output`: what may be returned now."""
    value: Any

    def sentence(self, limit: int) -> str:
        """Say what the value proves, in at most `limit` characters of it; contains text of the server."""
        what = "is refused now" if self.side == "input" else "may be returned now"
        return f"e.g. {excerpt(self.value, limit)} {what}"


class Change(NamedTuple):
    """One change of a surface. Names, places and values are the server's text."""

    severity: ChangeSeverity
    area: str
    """One of `AREAS`."""
    name: str
    """The item: a tool's name, a resource's URI, a capability; empty for the area itself."""
    what: str
    """The change as a phrase: `is gone`, `argument size: is required now`."""
    a: Any = None
    b: Any = None
    """The values before and after, if they tell more than the phrase; else both None."""
    for_models: bool = False
    """Whether it changes a text of a tool that a model or its user reads, which an attack would change."""
    hidden: Hidden | None = None
    """The hidden characters in the new value."""
    witness: Witness | None = None

    def as_json(self) -> dict[str, Any]:
        """For `--json`."""
        document: dict[str, Any] = {
            "severity": self.severity,
            "area": self.area,
            "name": self.name,
            "what": self.what,
            "warning": self.for_models or self.hidden is not None,
        }
        if self.a is not None or self.b is not None:
            document |= {"a": self.a, "b": self.b}
        if self.witness is not None:
            document["witness"] = self.witness.value
        return document | ({"hidden": str(self.hidden)} if self.hidden is not None else {})


def compare_surfaces(a: Surface, b: Surface) -> list[Change]:
    """Return the changes from surface `a` to surface `b`: by area, then by item, in the order of the lists."""
    a, b = unkeyed(a), unkeyed(b)
    effort = Effort(MAX_STEPS)
    return [
        *_identity(a, b),
        *_capabilities(View(a).object("capabilities"), View(b).object("capabilities")),
        *_instructions(a.get("instructions"), b.get("instructions")),
        *(change for area in LISTS for change in _list(area, a, b, effort)),
    ]


def unread_lists(a: Surface, b: Surface) -> list[str]:
    """Return the lists that at least one surface does not have: they were not compared."""
    return [area for area in LISTS if type(a.get(area)) is not list or type(b.get(area)) is not list]


def worst(changes: Iterable[Change]) -> ChangeSeverity | None:
    """Return the worst severity; None without changes."""
    severities = {change.severity for change in changes}
    return next((severity for severity in SEVERITIES if severity in severities), None)


def counts(changes: Iterable[Change]) -> dict[ChangeSeverity, int]:
    """Return the number of changes of each severity, worst first, including zeros."""
    amounts: dict[ChangeSeverity, int] = dict.fromkeys(SEVERITIES, 0)
    for change in changes:
        amounts[change.severity] += 1
    return {severity: amount for severity, amount in amounts.items() if amount}


def _differ(a: Any, b: Any) -> bool:
    return exact_digest(a) != exact_digest(b)


def _identity(a: Surface, b: Surface) -> Iterator[Change]:
    for key in ("era", "revision"):
        if _differ(a.get(key), b.get(key)):
            yield Change("changed", "server", key, "changed", a.get(key), b.get(key))
    before, after = View(a).object("server"), View(b).object("server")
    for key in _keys(before, after):
        if _differ(before.get(key), after.get(key)):
            severity: ChangeSeverity = "changed" if key in ("name", "title", "description") else "cosmetic"
            yield _changed(severity, "server", key, _came_or_went("", before, after, key), before, after, key)


def _instructions(a: Any, b: Any) -> Iterator[Change]:
    if _differ(a or "", b or ""):
        what = "instructions changed" if a and b else "instructions are new" if b else "instructions are gone"
        yield Change("changed", "instructions", "", what, a or None, b or None, for_models=True, hidden=hidden_in(b))


def _capabilities(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[Change]:
    for name in _keys(a, b):
        if name not in b:
            yield Change("breaking", "capabilities", name, "is gone")
        elif name not in a:
            yield Change("added", "capabilities", name, "is new")
        else:
            for difference in compare(a[name], b[name], EXACT).differences:
                part = str(difference.path).removeprefix("$").removeprefix(".")
                had, has = _on(difference.a), _on(difference.b)
                notifies = part.rpartition(".")[2] == "listChanged"
                severity: ChangeSeverity = "changed" if had == has or notifies else "added" if has else "breaking"
                what = "changed" if had == has else "is new" if has else "is gone"
                yield Change(severity, "capabilities", name, f"{part} {what}".strip(), difference.a, difference.b)


def _on(value: Any) -> bool:
    """Whether a part of a capability is declared."""
    return value is not None and value is not False


def _list(area: str, a: Surface, b: Surface, effort: Effort) -> Iterator[Change]:
    before, after = a.get(area), b.get(area)
    if type(before) is not list or type(after) is not list:
        return  # See `unread_lists`.
    cut_a, cut_b = (View(side).object("incomplete").get(area) for side in (a, b))
    items_a, items_b = _named(area, before), _named(area, after)
    for key, item in items_a.items():
        if key in items_b:
            yield from _item(area, key[0], item, items_b[key], effort)
        elif cut_b:
            yield Change("unsure", area, key[0], "may be gone: the list has no end", item, None)
        else:
            yield Change("breaking", area, key[0], "is gone")
    for key, item in items_b.items():
        if key not in items_a:
            what = "may be new: the list before has no end" if cut_a else "is new"
            description = View(item).members.get("description")
            yield Change("unsure" if cut_a else "added", area, key[0], what, None, description, hidden=hidden_in(item))


def _named(area: str, items: list[Any]) -> dict[tuple[str, int], Any]:
    """Return items by their identity; of equal ones, the k-th."""
    by_identity: dict[tuple[str, int], Any] = {}
    seen: dict[str, int] = {}
    for item in items:
        name = View(item).text(LISTS[area])
        by_identity[name, seen.get(name, 0)] = item
        seen[name] = seen.get(name, 0) + 1
    return by_identity


def _item(area: str, name: str, a: Any, b: Any, effort: Effort) -> list[Change]:
    """Return the changes of one item, worst first."""
    if not _differ(a, b):
        return []
    before, after = View(a).members, View(b).members
    item: list[Change] = []
    for key in _keys(before, after):
        if key in _SCHEMAS:
            item += _schema(area, name, key, before, after, effort)
        elif _differ(before.get(key), after.get(key)):
            item += _MEMBERS.get(key, _member)(area, name, key, before, after)
    item.sort(key=lambda change: SEVERITIES.index(change.severity))
    return item


def _member(area: str, name: str, key: str, a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[Change]:
    severity: ChangeSeverity = "cosmetic" if key in _COSMETIC else "changed"
    yield _changed(severity, area, name, _came_or_went(key, a, b), a, b, key, for_models=key in _LOUD)


def _changed(
    severity: ChangeSeverity,
    area: str,
    name: str,
    what: str,
    a: Mapping[str, Any],
    b: Mapping[str, Any],
    key: str,
    *,
    for_models: bool = False,
) -> Change:
    """Return the change of a member."""
    return Change(severity, area, name, what, a.get(key), b.get(key), for_models, hidden_in(b.get(key)))


def _annotations(area: str, name: str, key: str, a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[Change]:
    before, after = View(a).object(key), View(b).object(key)
    for hint in _keys(before, after):
        if _differ(before.get(hint), after.get(hint)):
            what = _came_or_went(f"annotation {hint}", before, after, hint)
            yield _changed("changed", area, name, what, before, after, hint, for_models=True)
    if type(a.get(key)) is not type(b.get(key)) and not before and not after:
        yield Change("changed", area, name, _came_or_went(key, a, b), a.get(key), b.get(key), True)


def _execution(area: str, name: str, key: str, a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[Change]:
    """Compare task support: a tool that requires or forbids tasks refuses clients that do the opposite."""
    support = [View(side).object(key).get("taskSupport", "forbidden") for side in (a, b)]
    narrower = support[0] != support[1] and support[1] != "optional"
    yield Change("breaking" if narrower else "changed", area, name, _came_or_went(key, a, b), a.get(key), b.get(key))


def _arguments(area: str, name: str, key: str, a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[Change]:
    """Compare the arguments of a prompt."""
    before, after = ({View(one).text("name"): View(one).members for one in View(side).array(key)} for side in (a, b))
    for one in _keys(before, after):
        where = f"argument {one}"
        if one not in after:
            yield Change("breaking", area, name, f"{where}: is gone")
        elif one not in before:
            needed = after[one].get("required") is True
            what = f"{where}: is new, and required" if needed else f"{where}: is new"
            yield Change("breaking" if needed else "added", area, name, what, hidden=hidden_in(after[one]))
        else:
            yield from _argument(area, name, where, before[one], after[one])


def _argument(area: str, name: str, where: str, a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[Change]:
    for key in _keys(a, b):
        if not _differ(a.get(key), b.get(key)):
            continue
        if key == "required":
            needed = b.get(key) is True
            if needed != (a.get(key) is True):
                what = f"{where}: is required now" if needed else f"{where}: is no longer required"
                yield Change("breaking" if needed else "changed", area, name, what)
        else:
            what = f"{where}: {_came_or_went(key, a, b)}"
            yield _changed("changed", area, name, what, a, b, key, for_models=key in _WORDS)


def _schema(
    area: str, name: str, key: str, a: Mapping[str, Any], b: Mapping[str, Any], effort: Effort
) -> Iterator[Change]:
    side = _SCHEMAS[key]
    if side == "output" and (key in a) != (key in b):
        yield Change("added" if key in b else "breaking", area, name, _came_or_went(key, a, b))
        return
    for change in compare_schemas(a.get(key, {}), b.get(key, {}), side, effort):
        for_models = change.effect == "words"
        hidden = hidden_in([change.b, *change.new])
        witness = Witness(side, change.witness[0]) if change.witness else None
        yield Change(
            change.severity, area, name, _phrase(side, change), change.a, change.b, for_models, hidden, witness
        )


def _phrase(side: Side, change: SchemaChange) -> str:
    subject = "argument" if side == "input" else "output"
    if not change.place:
        return f"{'arguments' if side == 'input' else 'output'}: {change.what}"
    return f"{subject} {change.place}: {change.what}"


def _keys(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[str]:
    return [*a, *(key for key in b if key not in a)]


def _came_or_went(what: str, a: Mapping[str, Any], b: Mapping[str, Any], key: str | None = None) -> str:
    key = what if key is None else key
    word = "changed" if key in a and key in b else "is new" if key in b else "is gone"
    return f"{what} {word}".strip()


_MEMBERS: dict[str, Callable[[str, str, str, Mapping[str, Any], Mapping[str, Any]], Iterable[Change]]] = {
    "annotations": _annotations,
    "execution": _execution,
    "arguments": _arguments,
}
