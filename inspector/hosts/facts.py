"""The facts about hosts, as data: `facts.json` beside this module. Reads them once.

A host is a program that passes a server's tools to a model, the interface of such a model, or a directory that
reviews servers. A fact is one limit or habit of a host, with its source and date.
"""

from __future__ import annotations

import datetime
import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from inspector.errors import UsageError

HostEffect = Literal["refused", "cut", "left out", "review rejects", "worse answers", "—"]
"""What the host does with a server beyond the limit; `—` for a habit that limits nothing."""
EFFECTS: tuple[HostEffect, ...] = get_args(HostEffect)
FILE = Path(__file__).with_name("facts.json")
DAYS_IN_A_YEAR = 365
_WHOLE_REQUEST = "whole request"
_DATE = re.compile(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?")


class NameRule(NamedTuple):
    """How a host builds the name of a tool that a model sees."""

    pattern: str
    """`mcp__{server}__{tool}`; `{server:13}` is cut to 13 characters."""
    replace: str = ""
    """A regular expression: its matches in server and tool become `replacement`. Empty: nothing is replaced."""
    replacement: str = ""
    ignore_case: bool = False
    most: int | None = None
    """The longest full name; the host cuts or rejects a longer one."""

    def full_name(self, server: str, tool: str) -> str:
        """Return the full name of a tool, not cut to `most`."""
        parts = {"server": server, "tool": tool}
        if self.replace:
            replaced = re.compile(self.replace, re.IGNORECASE if self.ignore_case else 0)
            parts = {key: replaced.sub(self.replacement, value) for key, value in parts.items()}

        def fill(match: re.Match[str]) -> str:
            value = parts[match[1]]
            return value[: int(match[2])] if match[2] else value

        return re.sub(r"\{(server|tool)(?::(\d+))?\}", fill, self.pattern)


class Fact(NamedTuple):
    """One limit or habit of a host."""

    id: str
    """`HOST-CLAUDE-07`."""
    host: str
    """The host's id: `claude-code`."""
    field: str
    """The part of a server that it is about: `tool.description`, `tools.count`, `schema.root`, `result`, …"""
    what: str
    limit: Any
    """A number, text, list or object, for people; `test` has what is evaluated."""
    unit: str
    effect: HostEffect
    provenance: str
    """`vendor docs`, `vendor source`, `issue thread` or `probed by others`."""
    source: tuple[str, ...]
    date: str
    """The date of the source: `2026-08-22`, `2025`, `undated commit`, `undated page (read 2026-11-22)`."""
    confidence: str
    """`high`, `medium` or `low`."""
    verify: str = ""
    """How to try it again."""
    test: dict[str, Any] | None = None
    """What is evaluated: one entry for each kind of test (`evaluation.KINDS`), with its argument."""
    name: NameRule | None = None
    parts: tuple[str, ...] = ()
    """The parts of a tool definition that reach the model, in a fact about that."""
    at_start: tuple[str, ...] = ()
    """The parts that a model gets before it looks for tools, for a host that loads tools on demand."""
    scope: str = ""
    """How far the effect goes: `whole request` means that all other tools of the request are lost too."""
    instead_of: str = ""
    """The id of a fact of a used host that does not count for this host, because it handles that itself."""
    remedy: str = ""
    """What to change in a server beyond the limit."""

    def known_since(self) -> datetime.date | None:
        """Return the latest day that the date may mean; None if the source is undated."""
        match = _DATE.search(self.date)
        if match is None:
            return None
        year, month, day = int(match[1]), int(match[2] or 12), int(match[3] or 28)
        return datetime.date(year, month, day)

    def age(self, today: datetime.date) -> str:
        """Return the age of a fact, `19 months old`. Empty within its first year, and if it is undated."""
        since = self.known_since()
        if since is None or (today - since).days <= DAYS_IN_A_YEAR:
            return ""
        months = (today.year - since.year) * 12 + today.month - since.month
        return f"{months} months old"

    @property
    def fails_request(self) -> bool:
        """Whether the tools of all other servers in the request fail too."""
        return self.scope == _WHOLE_REQUEST

    @property
    def origin(self) -> str:
        """All sources in one line."""
        return "; ".join(self.source)

    @property
    def severity(self) -> int:
        """The position of its effect: 0 is the worst."""
        return EFFECTS.index(self.effect)


class HostClient(NamedTuple):
    """How a host introduces itself to a server: the parameters of its `initialize` request."""

    host: str
    info: dict[str, Any]
    """`clientInfo`: name, version, and a title if it sends one."""
    protocol: str
    """The revision that it asks for."""
    capabilities: dict[str, Any]
    """Everything that it declares except `extensions`."""
    extensions: dict[str, Any]
    """Extension id to settings; empty if it declares none."""
    source: str
    date: str


@dataclass(frozen=True, slots=True)
class HostFacts:
    """All facts of the data file."""

    made: str
    """The date of the file: `2026-11-22`."""
    labels: dict[str, str]
    """Host id to its name for people."""
    uses: dict[str, tuple[str, ...]]
    """Host id to the hosts whose facts count for it too, except those about names."""
    clients: dict[str, HostClient]
    facts: tuple[Fact, ...]

    def choose(self, names: tuple[str, ...]) -> tuple[Fact, ...]:
        """Return the facts of the named hosts and of what they use; `all` names every host.

        Raises `UsageError` for an unknown name, with the nearest one.
        """
        if "all" in names:
            return self.facts
        for name in names:
            self.require(name)
        used = {inner for name in names for inner in self._closure(name)}
        replaced = {fact.instead_of for fact in self.facts if fact.host in names}
        return tuple(
            fact
            for fact in self.facts
            if fact.host in names or (fact.host in used and fact.field not in _NAMES and fact.id not in replaced)
        )

    def _closure(self, host: str) -> set[str]:
        used_hosts: set[str] = set()
        todo = list(self.uses.get(host, ()))
        while todo:
            used = todo.pop()
            if used not in used_hosts:
                used_hosts.add(used)
                todo += self.uses.get(used, ())
        return used_hosts

    def require(self, name: str) -> None:
        """Raise `UsageError` for an unknown host, with the nearest one."""
        if name not in self.labels:
            from difflib import get_close_matches

            near = get_close_matches(name.lower(), self.labels, 1, 0.5)
            hint = f"Did you mean {near[0]}?" if near else f"Hosts are all, {', '.join(self.labels)}."
            raise UsageError(f"Unknown host “{name[:40]}”.", hint=hint)

    def name_rule(self, host: str) -> NameRule | None:
        """Return how a host names tools for a model; None if that is not known."""
        return next((fact.name for fact in self.facts if fact.host == host and fact.name is not None), None)

    def full_name(self, host: str, server: str, tool: str) -> str:
        """Return a tool's name for the model in a host, not cut. Without a known rule it is the tool's own."""
        rule = self.name_rule(host)
        return tool if rule is None else rule.full_name(server, tool)

    def parts(self, host: str) -> tuple[str, ...]:
        """Return the parts of a tool that reach the model; empty if that is not known."""
        return next((fact.parts for fact in self.facts if fact.host == host and fact.parts), ())

    def at_start(self, host: str) -> tuple[str, ...]:
        """Return the parts that the model gets at the start; the same as `parts` without loading on demand."""
        return next((fact.at_start for fact in self.facts if fact.host == host and fact.at_start), self.parts(host))


_NAMES = frozenset(("tool.name", "tool.full_name", "prefix"))
"""A host that uses the interface of a model sends its own names, so the facts about names there say nothing of it."""


@cache
def host_facts() -> HostFacts:
    """Return the facts of the data file; read once."""
    return read_facts(json.loads(FILE.read_text(encoding="utf-8")))


def read_facts(data: dict[str, Any]) -> HostFacts:
    """Return the facts in a document of the shape of `facts.json`."""
    return HostFacts(
        made=data["about"]["made"],
        labels=dict(data["hosts"]),
        uses={host: tuple(used) for host, used in data.get("uses", {}).items()},
        clients={host: _client(host, entry) for host, entry in data.get("clients", {}).items()},
        facts=tuple(_fact(entry) for entry in data["facts"]),
    )


def client_of(host: str) -> HostClient | None:
    """Return how a host introduces itself; None if that is not known. Raises `UsageError` for an unknown host."""
    facts = host_facts()
    facts.require(host)
    return facts.clients.get(host)


def _client(host: str, entry: dict[str, Any]) -> HostClient:
    capabilities = dict(entry["capabilities"])
    extensions = capabilities.pop("extensions", {})
    info: dict[str, Any] = {key: entry[key] for key in ("name", "version", "title") if key in entry}
    return HostClient(host, info, entry["protocol"], capabilities, extensions, entry["source"], entry["date"])


def _fact(entry: dict[str, Any]) -> Fact:
    members = dict(entry)
    name = entry.get("name")
    if name is not None:
        optional = (name.get("replace", ""), name.get("with", ""), name.get("ignore_case", False), name.get("max"))
        members["name"] = NameRule(name["pattern"], *optional)
    for key in ("source", "parts", "at_start"):
        members[key] = tuple(entry.get(key, ()))
    return Fact(**members)
