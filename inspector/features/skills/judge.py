"""Rules of skills for the judge, and the requests of checks. `entries.py` judges an entry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from inspector.check.judge import text_rules
from inspector.check.judge.feature_rules import FeatureRules
from inspector.check.judge.rules import RuleVerdict, short
from inspector.check.judge.state import JudgeState
from inspector.check.visit.facts import collected
from inspector.check.visit.request_outcome import RequestOutcome
from inspector.client.extensions import declared_settings
from inspector.client.state.server import Server
from inspector.features.skills import uris
from inspector.features.skills.entries import EntryProblem, Skill, read_entry
from inspector.features.skills.observed import FOLDER_TYPE
from inspector.journal.findings import Level
from inspector.protocol.extensions import SKILLS
from inspector.protocol.members import array_at, object_at, objects_at

if TYPE_CHECKING:
    from inspector.check.visit.visit import Visit

METHODS = ("skills/list", "skills/get", "resources/directory/read")
NOWHERE = "inspector-check-no-such-skill"
FEW = 5
"""The most skills that are requested by every visit."""
_SKILL_KEYS = "io.modelcontextprotocol.skills/"
_OLD_INDEX = "skill://index.json"
_LEVELS: dict[str, Level] = {"must": "must", "should": "should", "info": "note"}


def _declaration(server: Server) -> Iterator[RuleVerdict]:
    settings = declared_settings(server, SKILLS)
    if settings is None:
        return
    if not server.can("resources"):
        yield "SKILL-01", "must", "The server declares skills, but not the capability resources."
    reads = settings.get("directoryRead", False)
    if type(reads) is not bool:
        yield "SKILL-02", "must", f"directoryRead is {short(reads)}, not a boolean."


def result_rules(
    method: str, result: dict[str, Any], state: JudgeState, params: dict[str, Any]
) -> Iterator[RuleVerdict]:
    """Rules for results of the methods of skills in 2026-07-28, and for old forms in any revision."""
    if method == "server/discover":
        yield from _declaration(Server(result))
    if method == "resources/list":
        yield from _old_forms(result)
    if method not in METHODS or state.era != "modern":
        return
    kind = result.get("resultType")
    if kind != "complete":
        yield "SKILL-05", "must", f"The resultType of {method} is {short(kind)}, not complete."
    if method != "resources/directory/read":
        yield from _cache_rules(method, result)
    if method == "skills/list":
        yield from _list_rules(result, state, params)
    elif method == "skills/get":
        if "nextCursor" in result:
            yield "SKILL-26", "must", "The result of skills/get has a nextCursor."
    else:
        yield from _metadata_rules(result.get("resources"))


def _cache_rules(method: str, result: dict[str, Any]) -> Iterator[RuleVerdict]:
    ttl, scope = result.get("ttlMs"), result.get("cacheScope")
    if type(ttl) is not int or ttl < 0:
        yield "SKILL-06", "must", f"ttlMs of {method} is {short(ttl)}, not an integer of 0 or more."
    if scope not in ("public", "private"):
        yield "SKILL-06", "must", f"cacheScope of {method} is {short(scope)}, neither public nor private."


def _list_rules(result: dict[str, Any], state: JudgeState, params: dict[str, Any]) -> Iterator[RuleVerdict]:
    entries = result.get("skills")
    if type(entries) is not list:
        yield "SKILL-29", "must", f"skills is {short(entries)}, not a list."
        return
    known: dict[str, str] = state.of_features.setdefault("skills", {})
    """The names of the skills on earlier pages, by URI."""
    if "cursor" not in params:
        known.clear()
    for raw in entries[:1000]:
        skill = read_entry(raw)
        whose = short(skill.name or "an entry")
        for problem in skill.problems[:20]:
            yield _verdict(whose, problem)
        if not skill.uri:
            continue
        if skill.uri in known:
            yield "SKILL-29", "must", f"The list has {short(skill.uri)} twice."
        elif skill.name in known.values():
            yield "SKILL-31", "should", f"Two skills have the name {whose}."
        known[skill.uri] = skill.name
        yield from _uri_rules(whose, skill)
        yield from _security_rules(whose, skill)


def _verdict(whose: str, problem: EntryProblem) -> RuleVerdict:
    return problem.check, _LEVELS[problem.level], f"Skill {whose}: {problem.text}."


def _uri_rules(whose: str, skill: Skill) -> Iterator[RuleVerdict]:
    odd = uris.odd_segments(skill.uri)
    if odd:
        yield "SKILL-30", "should", f"Skill {whose}: {odd}."
    scheme = skill.uri.partition(":")[0].lower()
    if scheme != "skill":
        yield "SKILL-32", "note", f"Skill {whose} has the scheme {short(scheme)}; skill:// is recommended."


def _security_rules(whose: str, skill: Skill) -> Iterator[RuleVerdict]:
    asks = [key for key, _ in skill.asks if key != "compatibility"]
    scripts = [file.path for file in skill.files if file.path.startswith("scripts/")]
    facts = [*(f"asks for {key}" for key in asks), *(["has scripts"] if scripts else [])]
    facts += ["has no list of its files"] if skill.kind == "dynamic" else []
    if facts:
        yield "SKILL-40", "note", f"Skill {whose} {', '.join(facts)}."
    texts = (("name", skill.name), ("description", skill.description), *(("uri", file.uri) for file in skill.files))
    for key, text in texts:
        hidden = text_rules.hidden(text, frozenset())
        if hidden:
            yield "SKILL-41", "should", f"Skill {whose}: its {key} contains {hidden}."
            return


def _metadata_rules(resources: Any) -> Iterator[RuleVerdict]:
    for resource in objects_at(resources):
        key = odd_key(resource.get("_meta"))
        if key:
            yield "SKILL-24", "should", f"A file of a skill has the _meta key {short(key)}."


def odd_key(meta: Any) -> str:
    """Return the first key with no prefix, or with a reserved one of others; empty if there is none."""
    for key in object_at(meta):
        prefix = key.partition("/")[0] + "/"
        if "/" not in key or (prefix.startswith("io.modelcontextprotocol") and prefix != _SKILL_KEYS):
            return str(key)
    return ""


def _old_forms(result: dict[str, Any]) -> Iterator[RuleVerdict]:
    for resource in objects_at(result.get("resources")):
        if resource.get("uri") == _OLD_INDEX:
            yield "SKILL-39", "should", f"The resource {_OLD_INDEX} belongs to a draft; skills/list replaces it."


@dataclass(slots=True)
class ServedSkills:
    """The skills of a visit: the pages of the list, and the skills in them."""

    pages: list[RequestOutcome] = field(default_factory=list)
    skills: list[Skill] = field(default_factory=list)
    complete: bool = False
    walks: dict[str, list[ReadDirectory]] = field(default_factory=dict)
    """By URI of a skill, its directories."""

    @property
    def events(self) -> tuple[int, ...]:
        """The evidence: requests and answers."""
        return tuple(n for page in self.pages for n in page.events)

    def usable(self, limit: int) -> list[Skill]:
        """Return the valid skills with a list of files, as many as a check looks at."""
        return [skill for skill in self.skills if skill.kind == "static"][:limit]


@dataclass(frozen=True, slots=True)
class ReadDirectory:
    """A directory that was read: its URI, the requests, and its children."""

    uri: str
    responses: tuple[RequestOutcome, ...]
    children: tuple[dict[str, Any], ...]
    repeats: bool = False
    """Whether the server repeated a cursor."""

    @property
    def events(self) -> tuple[int, ...]:
        """The evidence."""
        return tuple(n for response in self.responses for n in response.events)


def declares_skills(visit: Visit) -> bool:
    """Whether the server declares the extension."""
    return declared_settings(visit.session.server, SKILLS) is not None


def declares_directories(visit: Visit) -> bool:
    """Whether the server declares that directories can be read."""
    return (declared_settings(visit.session.server, SKILLS) or {}).get("directoryRead") is True


@collected(ServedSkills)
async def listed_skills(visit: Visit, served: ServedSkills) -> None:
    """Read the list of skills, once in a visit."""
    params: dict[str, Any] = {}
    seen: set[str] = set()
    for _ in range(visit.limits.items):
        page = await visit.request("skills/list", params)
        served.pages.append(page)
        served.skills += map(read_entry, array_at(page.body.get("skills")))
        cursor = page.body.get("nextCursor")
        if not isinstance(cursor, str) or cursor in seen:
            served.complete = page.ok and cursor is None
            break
        seen.add(cursor)
        params = {"cursor": cursor}


async def served_skills(visit: Visit) -> ServedSkills | None:
    """Return the list of skills; None if the server declares no skills."""
    return await listed_skills(visit) if declares_skills(visit) else None


async def walked(visit: Visit, skill: Skill, served: ServedSkills) -> list[ReadDirectory]:
    """Read the directories of a skill, once in a visit."""
    if skill.uri not in served.walks:
        folders: list[ReadDirectory] = []
        served.walks[skill.uri] = folders
        waiting, seen = [skill.directory], {skill.directory}
        root = uris.parse(skill.uri)
        while waiting and len(folders) < visit.limits.items and isinstance(root, uris.SkillUri):
            made = await _read_folder(visit, waiting.pop(0))
            folders.append(made)
            for child in made.children:
                uri = child.get("uri")
                if child.get("mimeType") == FOLDER_TYPE and isinstance(uri, str) and uris.path_in(root, uri):
                    waiting += [] if uri in seen else [uri]
                    seen.add(uri)
    return served.walks[skill.uri]


async def _read_folder(visit: Visit, uri: str) -> ReadDirectory:
    responses: list[RequestOutcome] = []
    children: list[dict[str, Any]] = []
    params: dict[str, Any] = {"uri": uri}
    seen: set[str] = set()
    for _ in range(visit.limits.items):
        page = await visit.request("resources/directory/read", params)
        responses.append(page)
        children += objects_at(page.body.get("resources"))
        cursor = page.body.get("nextCursor")
        if not isinstance(cursor, str):
            return ReadDirectory(uri, tuple(responses), tuple(children))
        if cursor in seen:
            return ReadDirectory(uri, tuple(responses), tuple(children), True)
        seen.add(cursor)
        params = {"uri": uri, "cursor": cursor}
    return ReadDirectory(uri, tuple(responses), tuple(children))


async def warm_up(visit: Visit) -> None:
    """Request the first skills, and their directories."""
    served = await served_skills(visit)
    for skill in served.skills[:FEW] if served is not None else ():
        if skill.kind != "invalid":
            await visit.request("skills/get", {"uri": skill.uri})
            if declares_directories(visit):
                await visit.request("resources/directory/read", {"uri": skill.directory})


RULES = FeatureRules(result=result_rules, warm_up=warm_up)
