"""`inspector skills`: the skills of a server, verified and saved on request. Nothing of a skill is executed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from inspector.cli.options import DIR, Option
from inspector.cli.output import Output
from inspector.cli.verb import PositionalArgument, Verb

if TYPE_CHECKING:
    from inspector.cli.verb import Invocation
    from inspector.client.session import Session
    from inspector.client.session_state import SessionState
    from inspector.features.skills.entries import Skill
    from inspector.features.skills.observed import SkillLog
    from inspector.features.skills.reading import SkillReader
    from inspector.features.skills.verify import FileCheck

NAME, TEXT = 200, 2000
DIFFERENT = 5


def run(invocation: Invocation) -> int:
    """List the skills, or show, verify or save some of them; 5 if one differs from its entry."""
    from inspector.cli.session_setup import target_of
    from inspector.config.targets import RecordingTarget
    from inspector.errors import UsageError

    name = _named_skill(invocation)
    target = target_of(invocation)
    if isinstance(target, RecordingTarget):
        from inspector.cli.open_recording import recorded_session
        from inspector.features.skills.observed import SkillLog

        if invocation.option("verify"):
            raise UsageError("--verify reads from a server, and this is a recording.", hint="Remove it.")
        out = invocation.output
        with recorded_session(target.path, out) as recorded:
            log = SkillLog(recorded.journal)
            log.advance()
            skills = _chosen(log, name)
            code = _print(out, log, skills, recorded, detailed=bool(name))
            return _save(invocation, out, log, skills, target.label) or code
    return _live(invocation, target, name)


def _live(invocation: Invocation, target: Any, name: str) -> int:

    from inspector.cli import headless

    async def work(session: Session, out: Output) -> int:
        from inspector.features.skills.reading import SkillReader

        reader = SkillReader(session)
        skills = await _find(reader, name)
        verifies, saves = bool(invocation.option("verify")), invocation.option("output") is not None
        for skill in skills if verifies or saves or name else ():
            await _read(reader, skill, out, everything=verifies or saves)
        skills = [reader.log.skill(skill.uri) or skill for skill in skills]
        code = _print(out, reader.log, skills, session, detailed=bool(name or verifies))
        for note in reader.notes:
            out.note(f"note: {out.safe(note, TEXT)}")
        return _save(invocation, out, reader.log, skills, target.label) or code

    settings = dict(invocation.values.get("extension") or ())
    if "io.modelcontextprotocol/skills" not in settings:
        invocation.values["extension"] = [*settings.items(), ("io.modelcontextprotocol/skills", {})]
    return headless.run(invocation, work, target)


def _named_skill(invocation: Invocation) -> str:
    """Return the skill that is named: by --skill, or by the word after a target that is one word."""
    return invocation.option("skill") or invocation.arguments["name"] or ""


async def _find(reader: SkillReader, name: str) -> list[Skill]:
    """Return the skills to show. A URI is opened without the list (C-SKILL-07)."""
    if "://" in name:
        return [await reader.get(name)]
    await reader.load()
    return _chosen(reader.log, name)


def _chosen(log: SkillLog, name: str) -> list[Skill]:
    from inspector.config.foreign_files import nearest
    from inspector.errors import UsageError

    if not name:
        return log.skills
    skills = log.named(name)
    if not skills:
        names = [skill.name for skill in log.skills]
        near = nearest(name, names)
        listed = f"Use one of: {', '.join(names[:8])}." if names else "A skill that is not listed is opened by its URI."
        raise UsageError(
            f"No skill of the list is named {name[:80]}.", hint=f"Did you mean {near}?" if near else listed
        )
    return skills


async def _read(reader: SkillReader, skill: Skill, out: Output, *, everything: bool) -> None:
    """Read SKILL.md, or every file and the directories; what cannot be read is in the report."""
    from inspector.errors import NotOffered, ServerError, SkillRefused
    from inspector.features.skills.reading import offers_directories
    from inspector.text import quantity

    try:
        if not everything:
            await reader.read(skill, skill.skill_md)
            return
        if skill.kind == "static" and not skill.over_limit:
            out.note(
                f"Reading {quantity(len(skill.files), 'file')} of {out.safe(skill.name, NAME)}, {_size(skill.size)}."
            )
        await reader.verify(skill)
        if offers_directories(reader.session.server):
            await reader.walk(skill)
        elif not reader.session.catalog.resources.pages and reader.session.server.can("resources"):
            # Files that are not listed may stand in the list of resources.
            await reader.session.load("resources")
    except SkillRefused as problem:
        reader.notes.append(problem.message)
    except (NotOffered, ServerError) as problem:
        reader.notes.append(f"{skill.name[:80]}: {problem.message}")


def _print(out: Output, log: SkillLog, skills: list[Skill], session: SessionState, *, detailed: bool) -> int:
    resources = session.catalog.resources.items
    rows = [_as_json(log, skill, session.target.label, resources) for skill in skills]
    failed = any(row["state"] in ("failed", "changed-files") for row in rows)
    if out.json:
        page = log.list.page
        hint = {key: page[key] for key in ("ttlMs", "cacheScope") if key in page}
        out.document({"server": session.target.label, "complete": log.list.complete, **hint, "skills": rows})
        return DIFFERENT if failed else 0
    if not skills:
        out.note("The server lists no skills; it may still serve some that are opened by their URI.")
    elif detailed or failed:
        for at, skill in enumerate(skills):
            out.lines([*([""] if at else []), *_detail(out, log, skill, resources)])
    else:
        out.table([_row(out, log, skill) for skill in skills])
        for skill in skills:
            if skill.problems:
                first = skill.problems[0]
                more = f", and {len(skill.problems) - 1} more" if len(skill.problems) > 1 else ""
                out.note(f"note: {out.safe(skill.name or 'an entry', NAME)}: {out.safe(first.text, TEXT)}{more}")
    if session.server.era == "legacy" and session.server.known:
        revision = out.safe(session.server.revision, NAME)
        out.note(f"note: The server declares skills at {revision}; they are defined for 2026-07-28 and later.")
    if log.list.dropped:
        out.note(f"note: {log.list.dropped:,} further entries are not shown.")
    return DIFFERENT if failed else 0


def _row(out: Output, log: SkillLog, skill: Skill) -> tuple[str, ...]:
    from inspector.text import quantity

    files = quantity(skill.count, "file") if skill.kind == "static" else skill.kind
    size = _size(skill.size) if skill.kind == "static" else ""
    return (
        out.safe(skill.name, NAME) or "(unnamed)",
        out.safe(skill.version, 40),
        files,
        size,
        out.safe(skill.uri, NAME),
        out.safe(skill.description, TEXT),
    )


def _detail(out: Output, log: SkillLog, skill: Skill, resources: list[Any]) -> Iterator[str]:
    safe = out.safe
    facts = [("skill", safe(skill.name, NAME)), ("uri", safe(skill.uri, NAME))]
    facts += [(key, safe(_text(value), TEXT)) for key, value in skill.frontmatter.items() if key != "name"][:50]
    if skill.asks:
        facts.append(("asks for", ", ".join(key for key, _ in skill.asks) + " (never obeyed by Inspector)"))
    same = log.same_name(skill)
    if same:
        facts.append(("same name", ", ".join(safe(other.uri, NAME) for other in same[:5])))
    if log.entry_before(skill) is not None:
        facts.append(("changed", "its entry is another one than before; an approval would be revoked"))
    width = min(max(len("problem"), *(len(label) for label, _ in facts[:60])) + 2, 42)
    yield from (f"{label[:40]:<{width}}{text}" for label, text in facts)
    for problem in skill.problems[:50]:
        word = "problem" if problem.level == "must" else "note"
        yield f"{word:<{width}}{problem.check} {safe(problem.text, TEXT)}"
    for check in log.checks(skill) if skill.kind != "invalid" else ():
        yield from _check_lines(out, check)
    gone = {file.uri for file in log.missing(skill)}
    for file in skill.files:
        if file.uri in gone:
            yield f"  missing      {safe(file.path, NAME)}: listed, but not in its directory"
    for unlisted in log.unlisted(skill, resources):
        yield f"  not listed   {safe(unlisted.path, NAME)}: in the directory, but not in the list; it was not read"


def _check_lines(out: Output, check: FileCheck) -> Iterator[str]:
    size = f"  {_size(check.file.size)}" if check.file.size >= 0 else ""
    word = {"matches": "ok", "not-read": "not read", "unverified": "unverified"}.get(check.outcome, "failed")
    reason = "" if check.outcome in ("matches", "not-read", "unverified") else f": {check.words}"
    detail = f" ({out.safe(check.detail, TEXT)})" if check.detail else ""
    yield f"  {word:<12} {out.safe(check.file.path or check.file.uri, NAME)}{size}{reason}{detail}"
    if check.outcome == "digest":
        yield f"  {'':<12}   expected {out.safe(check.file.digest or 'none', 80)}"
        yield f"  {'':<12}   found    {check.digest}"


def _as_json(log: SkillLog, skill: Skill, label: str, resources: list[Any]) -> dict[str, Any]:
    checks = log.checks(skill) if skill.kind != "invalid" else []
    unlisted, missing = log.unlisted(skill, resources), log.missing(skill)
    return {
        "server": label,
        "uri": skill.uri,
        "name": skill.name,
        "description": skill.description,
        "kind": skill.kind,
        "frontmatter": skill.frontmatter,
        "state": state_of(checks, bool(unlisted or missing)),
        "count": skill.count,
        "size": skill.size,
        "files": [check.as_json() for check in checks],
        "unlisted": [{"uri": file.uri, "path": file.path} for file in unlisted],
        "missing": [file.uri for file in missing],
        "problems": [
            {"check": problem.check, "level": problem.level, "text": problem.text} for problem in skill.problems
        ],
        "over_limit": skill.over_limit or None,
        "changed": log.entry_before(skill) is not None,
        "walked": log.has_walked(skill),
    }


def state_of(checks: list[FileCheck], differs: bool) -> str:
    """Return the state of a skill: `failed`, `changed-files`, `matches`, `unverified` or `not-read`."""
    if any(check.failed for check in checks):
        return "failed"
    if differs:
        return "changed-files"
    if checks and all(check.outcome == "matches" for check in checks):
        return "matches"
    read = [check for check in checks if check.outcome != "not-read"]
    return "unverified" if read and len(read) == len(checks) else "not-read" if not read else "partly-read"


def _save(invocation: Invocation, out: Output, log: SkillLog, skills: list[Skill], label: str) -> int:
    """Save the skills if asked to; 5 if a file is not saved."""
    folder = invocation.option("output")
    if folder is None:
        return 0
    from inspector.cli.output_files import forced
    from inspector.features.skills.saving import is_read_by_agents, save_skill
    from inspector.text import quantity

    code = 0
    if is_read_by_agents(folder):
        out.note(
            f"note: Programs load skills from {out.safe(str(folder), NAME)}. Read these skills before you use them."
        )
    for skill in skills:
        if skill.kind == "invalid":
            continue
        saved = save_skill(skill, label, log.checks(skill), folder, force=forced(invocation))
        out.written(saved.folder, f"  {quantity(len(saved.written), 'file')}")
        for name, reason in saved.left_out:
            out.note(f"not written: {out.safe(name, NAME)}: {reason}.")
            code = DIFFERENT
    return code


def _text(value: Any) -> str:
    from inspector.protocol.jsonrpc import excerpt

    return value if isinstance(value, str) else excerpt(value, TEXT)


def _size(count: int) -> str:
    from inspector.text import size

    return size(count)


SKILLS = Verb(
    "skills",
    run,
    recordings=True,
    slots=(PositionalArgument("name", shown="NAME|URI", optional=True, after=True),),
    options=(
        Option("--skill", "Show this skill of the list, or open one by its URI", "NAME|URI"),
        Option("--verify", "Read every listed file, and compare size, SHA-256 and front matter with the list"),
        Option("-o --output", "Read, verify and save the files that match below this directory", DIR),
    ),
)
