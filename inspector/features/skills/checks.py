"""Skills (`io.modelcontextprotocol/skills`): the list, its entries, directories; files only if they may be read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from inspector.check.check_table import CheckTable
from inspector.check.judge.rules import short
from inspector.check.outcome import Outcome, Skip, bad, doubtful, expect, good, skipped
from inspector.check.visit.facts import collected
from inspector.check.visit.request_outcome import RequestOutcome
from inspector.check.visit.visit import Visit
from inspector.features.skills import uris
from inspector.features.skills.entries import MAX_BYTES, Skill
from inspector.features.skills.judge import (
    NOWHERE,
    ReadDirectory,
    ServedSkills,
    declares_directories,
    listed_skills,
    odd_key,
    served_skills,
    walked,
)
from inspector.features.skills.observed import FOLDER_TYPE
from inspector.features.skills.verify import FileCheck, FrontMatterError, check_result, read_front_matter
from inspector.protocol.jsonrpc import INVALID_PARAMS

_NO_SKILLS = "the server declares no skills"
_NONE_LISTED = "the server lists no skill with files"
_NO_FOLDERS = "the server does not declare directoryRead"

CHECKS = CheckTable(Path(__file__).with_suffix(".toml"))


def _needs_skills(
    probe: Callable[[Visit, ServedSkills], Awaitable[Outcome]],
) -> Callable[[Visit], Awaitable[Outcome]]:
    """A check of a server that declares skills."""

    async def run(visit: Visit) -> Outcome:
        served = await served_skills(visit)
        return skipped(_NO_SKILLS) if served is None else await probe(visit, served)

    return run


def _needs_folders(
    probe: Callable[[Visit, Skill, list[ReadDirectory]], Awaitable[Outcome | None]],
) -> Callable[[Visit], Awaitable[Outcome]]:
    """A check of the directories of each skill; a fault of one ends it."""

    async def run(visit: Visit) -> Outcome:
        served = await served_skills(visit)
        if served is None:
            return skipped(_NO_SKILLS)
        if not declares_directories(visit):
            return skipped(_NO_FOLDERS)
        seen: list[int] = []
        for skill in served.usable(visit.limits.items):
            folders = await walked(visit, skill, served)
            outcome = await probe(visit, skill, folders)
            if outcome is not None:
                return outcome
            seen += (n for folder in folders for n in folder.events)
        return good("", *seen) if seen else skipped(_NONE_LISTED)

    return run


@CHECKS.active("SKILL-03")
@_needs_skills
async def listed(visit: Visit, served: ServedSkills) -> Outcome:
    """The first page."""
    first = served.pages[0]
    return expect(first, first.ok, f"skills/list got {first.reply}.")


@CHECKS.active("SKILL-04")
@_needs_skills
async def gotten(visit: Visit, served: ServedSkills) -> Outcome:
    """The first skill of the list."""
    skill = next((skill for skill in served.skills if skill.kind != "invalid"), None)
    if skill is None:
        return skipped("the server lists no skill")
    response = await visit.request("skills/get", {"uri": skill.uri})
    return good("", *response.events) if response.ok else bad(f"skills/get got {response.reply}.", *response.events)


@CHECKS.active("SKILL-18")
@_needs_skills
async def complete(visit: Visit, served: ServedSkills) -> Outcome:
    """The files of the directories, and the resources in them, against those of the entry.

    A resource in the directory may be another thing than a file of the skill.
    """
    listed = visit.items("resources")
    seen: list[int] = []
    for skill in served.usable(visit.limits.items):
        for folder in await walked(visit, skill, served) if declares_directories(visit) else ():
            path = _not_in_entry(skill, folder.children)
            if path:
                return bad(f"{short(path)} of {short(skill.name)} is in the directory, but not listed.", *folder.events)
            seen += folder.events
        path = _not_in_entry(skill, listed)
        if path:
            whose = f"the directory of {short(skill.name)}"
            text = f"The resource {short(path)} is in {whose}, but its entry does not list it."
            return doubtful(text, *served.events, visit.newest("resources/list"))
        seen += served.events if listed else ()
    return good("", *seen) if seen else skipped("neither directories nor resources are listed")


def _not_in_entry(skill: Skill, resources: Iterable[dict[str, Any]]) -> str:
    """The path of a resource in the skill's directory that is not in its entry; empty if there is none."""
    known = {file.path for file in skill.files}
    root = uris.parse(skill.uri)
    for resource in resources:
        path = uris.path_in(root, resource.get("uri")) if isinstance(root, uris.SkillUri) else None
        if path and resource.get("mimeType") != FOLDER_TYPE and path not in known:
            return path
    return ""


@collected(list[tuple[Skill, FileCheck, RequestOutcome]])
async def _read_files(visit: Visit, readings: list[tuple[Skill, FileCheck, RequestOutcome]]) -> None:
    """Read SKILL.md and a few files of each skill, once in a visit, up to 16 MiB. SKILL.md of others too."""
    served = await listed_skills(visit)
    received = 0
    for skill in [skill for skill in served.skills if skill.kind != "invalid" and not skill.over_limit][
        : visit.limits.items
    ]:
        first = skill.skill_md
        for file in (
            first,
            *[file for file in skill.files if file.uri != first.uri and file.path][: visit.limits.items],
        ):
            if received > MAX_BYTES:
                return
            response = await visit.request("resources/read", {"uri": file.uri})
            check = check_result(skill, file, response.result, response.response_n)
            received += max(check.size, 0)
            readings.append((skill, check, response))


def _files_check(id: str, wrong: Callable[[Skill, FileCheck], str]) -> None:
    """Add a check of files that are read; `wrong` returns what is wrong with one, empty if nothing is."""

    @CHECKS.active(id)
    @_needs_skills
    async def probe(visit: Visit, served: ServedSkills) -> Outcome:
        if not visit.allowed.more.get("skills"):
            return skipped(Skip.SKILL_FILES)
        seen: list[int] = []
        for skill, check, response in await _read_files(visit):
            text = wrong(skill, check)
            if text:
                return bad(f"{short(check.file.path)} of {short(skill.name)}: {text}.", *response.events)
            seen += response.events
        return good("", *seen) if seen else skipped("the server lists no skill")


def _as_listed(skill: Skill, check: FileCheck) -> str:
    detail = f": {check.detail}" if check.detail else ""
    return f"{check.words}{detail}" if check.outcome in ("size", "digest", "unreadable") else ""


def _front_matter(skill: Skill, check: FileCheck) -> str:
    try:
        front = read_front_matter(check.data)
    except FrontMatterError as problem:
        return str(problem)
    missing = [key for key in ("name", "description") if key not in front.values]
    return f"its front matter has no {' and no '.join(missing)}" if missing else ""


_files_check(
    "SKILL-19",
    lambda skill, check: _as_listed(skill, check) if check.file.uri == skill.uri else "",
)
_files_check(
    "SKILL-20",
    lambda skill, check: _as_listed(skill, check) if check.file.uri != skill.uri else "",
)
_files_check(
    "SKILL-21",
    lambda skill, check: _front_matter(skill, check) if check.file.uri == skill.uri and check.size >= 0 else "",
)
_files_check(
    "SKILL-22",
    lambda skill, check: check.detail if check.outcome == "frontmatter" and check.front_matter is not None else "",
)


@CHECKS.active("SKILL-23")
@_needs_skills
async def described(visit: Visit, served: ServedSkills) -> Outcome:
    """The resources of SKILL.md files in the lists that were read."""
    seen: list[int] = []
    known = {item.get("uri"): item for item in visit.items("resources")}
    for skill in served.usable(visit.limits.items):
        folders = await walked(visit, skill, served) if declares_directories(visit) else []
        events = tuple(n for folder in folders[:1] for n in folder.events) or served.events
        children = {child.get("uri"): child for folder in folders for child in folder.children}
        item = known.get(skill.uri) or children.get(skill.uri)
        if item is None:
            continue
        expected = {
            "mimeType": "text/markdown",
            "name": skill.frontmatter.get("name"),
            "description": skill.frontmatter.get("description"),
        }
        odd = next((key for key, value in expected.items() if item.get(key) != value), None)
        if odd is not None:
            return bad(f"{odd} of the resource {short(skill.uri)} is {short(item.get(odd))}.", *events)
        seen += events
    return good("", *seen) if seen else skipped("no SKILL.md is in a list of resources")


@CHECKS.active("SKILL-24", judged=True)
@_needs_skills
async def prefixed(visit: Visit, served: ServedSkills) -> Outcome:
    """The resources of listed files. The judge has the directories."""
    seen: tuple[int, ...] = ()
    known = {item.get("uri"): item for item in visit.items("resources")}
    for skill in served.usable(visit.limits.items):
        for item in (known[file.uri] for file in skill.files if file.uri in known):
            seen = (visit.newest("resources/list"),)
            key = odd_key(item.get("_meta"))
            if key:
                return bad(f"The resource {short(item.get('uri'))} has the _meta key {short(key)}.", *seen)
        if declares_directories(visit):
            seen = tuple(n for folder in await walked(visit, skill, served) for n in folder.events) or seen
    return good("", *seen) if seen else skipped("no file of a skill is in a list of resources")


@CHECKS.active("SKILL-25")
@_needs_skills
async def same_entry(visit: Visit, served: ServedSkills) -> Outcome:
    """Some skills of the list."""
    seen: list[int] = []
    for skill in [skill for skill in served.skills if skill.kind != "invalid"][:5]:
        response = await visit.request("skills/get", {"uri": skill.uri})
        entry = response.body.get("skill")
        if not response.ok:
            continue
        if type(entry) is not dict or entry.get("uri") != skill.uri:
            return bad(f"skills/get of {short(skill.uri)} has another skill: {short(entry)}.", *response.events)
        if entry != skill.raw:
            return doubtful(f"skills/get of {short(skill.uri)} differs from the list.", *response.events)
        seen += response.events
    return good("", *seen) if seen else skipped("the server lists no skill that skills/get answers")


def _refuses(id: str, asked_for: Callable[[Skill], Iterator[tuple[str, str]]], *, folders: bool = False) -> None:
    """Add a check that some requests get -32602; `asked_for` yields method and uri."""

    @CHECKS.active(id)
    @_needs_skills
    async def probe(visit: Visit, served: ServedSkills) -> Outcome:
        if folders and not declares_directories(visit):
            return skipped(_NO_FOLDERS)
        skill = next(iter(served.usable(1)), None)
        if skill is None:
            return skipped(_NONE_LISTED)
        seen: list[int] = []
        for method, uri in asked_for(skill):
            response = await visit.request(method, {"uri": uri}, probe=True)
            if response.code != INVALID_PARAMS:
                return bad(f"{method} of {short(uri)} got {response.reply}, not error -32602.", *response.events)
            seen += response.events
        return good("", *seen)


_refuses(
    "SKILL-27",
    lambda skill: iter([("skills/get", f"{skill.uri.partition('://')[0]}://{NOWHERE}/SKILL.md")]),
)
_refuses(
    "SKILL-28",
    lambda skill: iter(
        [
            ("skills/get", skill.directory),
            *(("skills/get", file.uri) for file in skill.files[:3] if not file.path.endswith("SKILL.md")),
        ]
    ),
)


@CHECKS.active("SKILL-29", judged=True)
@_needs_skills
async def paged(visit: Visit, served: ServedSkills) -> Outcome:
    """All pages, up to the limit of a check."""
    broken = next((page for page in served.pages[1:] if not page.ok), None)
    if broken is not None:
        return bad(f"A further page of skills/list got {broken.reply}.", *broken.events)
    last = served.pages[-1]
    if not served.complete and last.ok and len(served.pages) < visit.limits.items:
        cursor = last.body.get("nextCursor")
        return bad(f"skills/list does not end: its cursor is {short(cursor)}.", *served.events)
    return good("", *served.events) if last.ok else skipped("skills/list has no result")


@CHECKS.active("SKILL-34")
@_needs_folders
async def folders_read(visit: Visit, skill: Skill, folders: list[ReadDirectory]) -> Outcome | None:
    """Each directory that a listed file lies in."""
    for folder in folders:
        if not folder.responses[0].ok:
            return bad(f"{short(folder.uri)} got {folder.responses[0].reply}.", *folder.events)
    directories = {uris.directory(file.uri) for file in skill.files if file.path}
    for uri in sorted(directories - {folder.uri for folder in folders})[: visit.limits.items]:
        response = await visit.request("resources/directory/read", {"uri": uri})
        if not response.ok:
            return bad(f"{short(uri)} got {response.reply}.", *response.events)
    return None


@CHECKS.active("SKILL-35")
@_needs_folders
async def children(visit: Visit, skill: Skill, folders: list[ReadDirectory]) -> Outcome | None:
    """Each child against the directory, and the listed files against the children."""
    for folder in folders:
        by_uri = {child.get("uri"): child for child in folder.children}
        for uri, child in by_uri.items():
            rest = uri.removeprefix(f"{folder.uri}/") if isinstance(uri, str) else ""
            if not rest or rest == uri or "/" in rest:
                return bad(f"{short(folder.uri)} lists {short(uri)}, which is not a direct child.", *folder.events)
            has_files = any(file.uri.startswith(f"{uri}/") for file in skill.files)
            if has_files and child.get("mimeType") != FOLDER_TYPE:
                return bad(
                    f"The directory {short(uri)} has the mimeType {short(child.get('mimeType'))}.", *folder.events
                )
        missing = next(
            (file for file in skill.files if uris.directory(file.uri) == folder.uri and file.uri not in by_uri), None
        )
        if missing is not None and folder.responses[0].ok:
            return bad(f"{short(folder.uri)} does not list {short(missing.path)}.", *folder.events)
    return None


_refuses(
    "SKILL-36",
    lambda skill: iter(
        [("resources/directory/read", skill.uri), ("resources/directory/read", f"{skill.directory}/{NOWHERE}")]
    ),
    folders=True,
)


@CHECKS.active("SKILL-37")
@_needs_folders
async def folder_pages(visit: Visit, skill: Skill, folders: list[ReadDirectory]) -> Outcome | None:
    """The pages of each directory."""
    for folder in folders:
        last = folder.responses[-1]
        if folder.repeats or (len(folder.responses) > 1 and not last.ok):
            what = "repeats a cursor" if folder.repeats else f"has a page with {last.reply}"
            return bad(f"{short(folder.uri)} {what}.", *folder.events)
    return None


_refuses(
    "SKILL-38",
    lambda skill: iter([("resources/read", f"{skill.directory}/{NOWHERE}.md")]),
)
