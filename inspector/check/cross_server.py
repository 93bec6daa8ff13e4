"""Findings about servers that were checked together: equal names, orders about tools of others, imitated names.

One server alone cannot show them, so these checks are not in the table of `registry.checks`: each run of one server
would skip them. A user who has the servers in one config is the only one who can see all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from inspector.addresses import spelled_host
from inspector.check.check_table import Check
from inspector.check.outcome import Visited, bad
from inspector.check.poison.names import GENERIC, imitated, same_name, shared_names
from inspector.check.poison.phrases import ordered_tools
from inspector.check.poison.prepared_text import MAX_LENGTH, decoded, sentences, visible
from inspector.check.poison.rules import names_in, texts_of
from inspector.check.registry import across
from inspector.check.reports.policy import Policy, Ruling
from inspector.check.result import Result
from inspector.config.command_labels import program_label
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.hosts import host_facts
from inspector.journal.format import Dir, Kind
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import Shape, excerpt
from inspector.protocol.members import array_at, value_at

SAME_NAME, OTHERS_TOOL, IMITATES = "WORD-12", "WORD-01", "WORD-13"
MAX_DEFINITIONS = 5_000
"""Definitions of one server that are compared."""
MAX_TEXTS = 2_000
"""Texts of one definition that are compared."""
MAX_WORDS = 64
"""Words of a command that are read."""
MAX_FINDINGS = 50
"""Orders of one server about tools of others."""
_SHOWN = 10
"""Names in a sentence; `tools` has all."""
_LISTS = {
    "tools/list": ("tools", "tool"),
    "prompts/list": ("prompts", "prompt"),
    "resources/list": ("resources", "resource"),
    "resources/templates/list": ("resourceTemplates", "template"),
}
_HANDSHAKES = ("initialize", "server/discover")
_NOWHERE = Visited("", "")

KnownFindings = frozenset[tuple[str, tuple[str, ...], str]]
"""Id, servers and tool of earlier findings."""


class Definitions(NamedTuple):
    """The tools of one server, and every definition that a model reads."""

    server: str
    """Its reference: `@NAME`."""
    tools: tuple[str, ...]
    texts: tuple[tuple[str, Any], ...]
    """(`the tool "echo"`, its definition); also prompts, resources, templates and the instructions."""
    own: frozenset[str]
    """Names of its tools, parameters and values, as `phrases.own_names` writes them."""
    prompts: tuple[str, ...] = ()
    entry: tuple[str, ...] = ()
    """The names in its config entry: its own, its package with scope, its host."""


class CrossServerFinding(NamedTuple):
    """A finding about two servers, or about an entry."""

    check: Check
    servers: tuple[str, ...]
    """References. For an order, first the server that gives it, then the one that has the tool."""
    tools: tuple[str, ...]
    """Names of tools or prompts; for an entry, its name that imitates another."""
    seen: str
    """One sentence. Contains text of the servers."""
    apart: tuple[str, ...] = ()
    """For equal names of tools: the hosts that put the server's name before a tool's, so that they stay apart."""
    mixed: tuple[str, ...] = ()
    """The hosts that do not."""

    @property
    def result(self) -> Result:
        """The finding as the result of a check, without a revision."""
        return Result(self.check, _NOWHERE, bad(self.seen))

    def ruling(self, policy: Policy, known: KnownFindings) -> Ruling:
        """Its effect on the run. It is known if the baseline has it for each of its tools."""
        ruling = replace(policy, baseline=None).rule(replace(self.result, strict=policy.strict))
        if ruling != "passed" and all((self.check.id, self.servers, tool) in known for tool in self.tools):
            return "known"
        return ruling

    def as_json(self) -> dict[str, Any]:
        """For `--json`; the same names as in the results of one server."""
        check = self.check
        return {
            "id": check.id,
            "verdict": self.result.verdict,
            "class": check.check_class,
            "level": check.level,
            "group": check.group,
            "servers": list(self.servers),
            "tools": list(self.tools),
            "says": check.says,
            "seen": self.seen,
            "page": check.page,
            "fix": check.fix,
            **({"hosts": {"apart": list(self.apart), "mixed": list(self.mixed)}} if self.apart or self.mixed else {}),
        }


def entry_names(name: str, target: StdioTarget | HttpTarget) -> tuple[str, ...]:
    """The names by which an entry says whose server it is: its own, its package with scope, or its host."""
    if isinstance(target, HttpTarget):
        return name, spelled_host(urlsplit(target.url).hostname or "")
    scopes = (word.partition("/")[0] for word in target.command[:MAX_WORDS] if word.startswith("@") and "/" in word)
    return name, program_label(target.command), *scopes


def definitions_of(server: str, journal: Journal, entry: tuple[str, ...] = ()) -> Definitions:
    """The definitions that a server sent in a recording, of all revisions. `entry`: see `entry_names`."""
    definitions: dict[tuple[str, str], Any] = {}
    index = journal.index
    for n in range(1, len(journal) + 1):
        method = index.method(n)
        if method not in _LISTS and method not in _HANDSHAKES:
            continue
        if index.kind(n) != Kind.RPC or index.dir(n) != Dir.RECV or index.shape(n) != Shape.RESULT:
            continue
        result = value_at(journal.event(n).message, "result")
        if type(result) is not dict or len(definitions) >= MAX_DEFINITIONS:
            continue
        if method in _HANDSHAKES:
            definitions["", "its instructions"] = {"instructions": result.get("instructions")}
            continue
        key, kind = _LISTS[method]
        for listed in array_at(result.get(key))[:MAX_DEFINITIONS]:
            name = value_at(listed, "name")
            if type(name) is str:
                definitions[kind, name] = listed
    texts = tuple(
        (f"the {kind} {excerpt(name, 80)}" if kind else name, entry) for (kind, name), entry in definitions.items()
    )
    tools, prompts = (tuple(name for of, name in definitions if of == kind) for kind in ("tool", "prompt"))
    return Definitions(server, tools, texts, names_in(list(definitions.values())), prompts, entry)


def compare(servers: Iterable[Definitions], checks: Mapping[str, Check] = across()) -> list[CrossServerFinding]:
    """The findings about each pair of servers, those of security first. `checks`: those to run."""
    # The same entry may stand in the files of two clients.
    different = list({server.server: server for server in servers}.values())
    findings: list[CrossServerFinding] = []
    if OTHERS_TOOL in checks:
        findings += (finding for server in different for finding in islice(_orders(server, different), MAX_FINDINGS))
    if SAME_NAME in checks:
        findings += _same_names([(server.server, server.tools) for server in different], "tool")
        findings += _same_names([(server.server, server.prompts) for server in different], "prompt")
    if IMITATES in checks:
        findings += (finding for server in different for finding in _imitations(server))
    return findings


def _imitations(server: Definitions) -> Iterator[CrossServerFinding]:
    for name in dict.fromkeys(server.entry):
        known = imitated(name)
        if known:
            yield CrossServerFinding(
                across()[IMITATES],
                (server.server,),
                (name,),
                f"{server.server}: its entry names {excerpt(name, 80)}, which looks like {known}, and is another.",
            )
            return


def _same_names(servers: Sequence[tuple[str, tuple[str, ...]]], kind: str) -> Iterator[CrossServerFinding]:
    pairs: dict[tuple[str, str, bool], list[tuple[str, str]]] = {}
    for one, name, other, its in shared_names(servers):
        if one != other:
            pairs.setdefault((one, other, same_name(name) in GENERIC), []).append((name, its))
    check = across()[SAME_NAME]
    for (one, other, generic), names in pairs.items():
        listed = [
            excerpt(name, 80) if name == its else f"{excerpt(name, 80)} ({excerpt(its, 80)} in {other})"
            for name, its in names[:_SHOWN]
        ]
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        many = f"{kind}s" if len(names) > 1 else f"a {kind}"
        yield CrossServerFinding(
            check._replace(level="info", check_class="advice") if generic else check,
            (one, other),
            tuple(name for name, _ in names),
            f"{one} and {other} both have {many} with the name {', '.join(listed)}{more}.",
            *(_views() if kind == "tool" else ()),
        )


def _views() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The hosts that keep tools of two servers apart by a prefix, and those that do not."""
    known = host_facts()
    apart: list[str] = []
    mixed: list[str] = []
    for host, title in known.labels.items():
        rule = known.name_rule(host)
        if rule is not None:
            (apart if "{server" in rule.pattern else mixed).append(title)
    return tuple(apart), tuple(mixed)


def _orders(server: Definitions, servers: Sequence[Definitions]) -> Iterator[CrossServerFinding]:
    """Orders in the texts of one server about tools that only others have: one for each tool."""
    foreign: dict[str, list[tuple[str, str]]] = {}
    mine = {same_name(name) for name in server.tools}
    for other in servers:
        for name in other.tools if other is not server else ():
            if same_name(name) not in mine and same_name(name) not in GENERIC:
                foreign.setdefault(same_name(name), []).append((other.server, name))
    reported: set[tuple[str, str]] = set()
    for whose, definition in server.texts if foreign else ():
        for path, text, _ in islice(texts_of(definition), MAX_TEXTS):
            raw = text[:MAX_LENGTH]
            for part in (raw, *(inner.text for inner in decoded(raw))):
                for sentence in sentences(visible(part)):
                    for name in ordered_tools(sentence, server.own):
                        for place in foreign.get(same_name(name), ()):
                            if place not in reported:
                                reported.add(place)
                                yield _order(server.server, f"{whose}: {path}", place, sentence)


def _order(server: str, where: str, tool: tuple[str, str], sentence: str) -> CrossServerFinding:
    other, name = tool
    return CrossServerFinding(
        across()[OTHERS_TOOL],
        (server, other),
        (name,),
        f"{server}, {where} tells a model how to use {excerpt(name, 80)} of {other}: {excerpt(sentence, 300)}.",
    )
