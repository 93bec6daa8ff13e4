"""Requests about skills: what is sent, what is never sent, and what a recording shows of it afterwards."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.errors import NotOffered, SkillRefused
from inspector.features.skills.observed import SkillLog
from inspector.features.skills.reading import SkillReader
from inspector.protocol.extensions import SKILLS
from tests.client.modern import complete
from tests.features.skills.conftest import FRONT, ROOT, RULES, SKILL_MD, URI, SkillServer, entry, listed


async def opened(server: SkillServer) -> SkillReader:
    session = server.session()
    await session.open()
    return SkillReader(session)


async def test_a_list_reads_no_file() -> None:
    """C-SKILL-16."""
    server = SkillServer()
    reader = await opened(server)
    (skill,) = await reader.load()
    assert skill.name == "tide-table"
    assert server.read == []
    assert [check.outcome for check in reader.log.checks(skill)] == ["not-read", "not-read"]


async def test_every_file_is_verified_once() -> None:
    """C-SKILL-33."""
    server = SkillServer()
    reader = await opened(server)
    (skill,) = await reader.load()
    paths: list[str] = []
    _, checks = await reader.verify(skill, lambda check: paths.append(check.file.path))
    assert [check.outcome for check in checks] == ["matches", "matches"]
    assert paths == server.read == ["SKILL.md", "references/RULES.md"]


@pytest.mark.parametrize("data", [SKILL_MD + b"x", SKILL_MD.replace(b"first", b"later"), b""])
async def test_after_a_failure_of_skill_md_nothing_more_is_read(data: bytes) -> None:
    """C-SKILL-17, C-SKILL-20."""
    server = SkillServer(files={"SKILL.md": data, "references/RULES.md": RULES})
    reader = await opened(server)
    (skill,) = await reader.load()
    _, checks = await reader.verify(skill)
    assert checks[0].failed
    assert checks[1].outcome == "not-read"
    with pytest.raises(SkillRefused, match=r"SKILL\.md of tide-table"):
        await reader.read(skill, skill.files[1])
    assert server.read == ["SKILL.md"]


async def test_a_file_is_read_only_after_skill_md_matched() -> None:
    server = SkillServer()
    reader = await opened(server)
    (skill,) = await reader.load()
    check = await reader.read(skill, skill.files[1])
    assert check.outcome == "matches"
    assert server.read == ["SKILL.md", "references/RULES.md"]


async def test_a_file_that_is_not_listed_is_not_read() -> None:
    """C-SKILL-19, C-SKILL-23: nor after its directory was read."""
    server = SkillServer(files={"SKILL.md": SKILL_MD, "references/RULES.md": RULES, "templates/a.md": b"x"})
    reader = await opened(server)
    (skill,) = await reader.load()
    from inspector.features.skills.entries import SkillFile

    unlisted = SkillFile(f"{ROOT}/templates/a.md", "templates/a.md", "", 1)
    with pytest.raises(SkillRefused, match="does not list it"):
        await reader.read(skill, unlisted)
    assert server.read == []
    await reader.walk(skill)
    assert [file.path for file in reader.log.unlisted(skill)] == ["templates/a.md"]
    with pytest.raises(SkillRefused, match="does not list it"):
        await reader.read(skill, unlisted)
    assert reader.log.skills[0].files == skill.files
    assert server.read == []


async def test_a_listed_file_that_is_missing_is_named() -> None:
    """C-SKILL-23."""
    raw = entry(listed("SKILL.md", SKILL_MD), listed("references/RULES.md", RULES), listed("gone.md", b"x"))
    reader = await opened(SkillServer(raw))
    (skill,) = await reader.load()
    await reader.walk(skill)
    assert [file.path for file in reader.log.missing(skill)] == ["gone.md"]


@pytest.mark.parametrize(
    "raw",
    [entry(resources=None), entry(resources=[listed(f"f{n}", b"") for n in range(513)]),
     entry(listed("SKILL.md", SKILL_MD, size=1 << 30)), None, {"uri": 5}],
)  # fmt: skip
async def test_a_skill_that_is_invalid_or_too_large_is_not_read(raw: Any) -> None:
    """C-SKILL-10, C-SKILL-11."""
    server = SkillServer(raw, entry(uri="skill://harbour/today/SKILL.md", resources="dynamic"))
    reader = await opened(server)
    skill, other = await reader.load()
    assert other.kind == "dynamic"
    with pytest.raises(SkillRefused, match="is not read"):
        await reader.verify(skill)
    assert server.read == []


async def test_a_changed_skill_is_verified_against_its_new_entry() -> None:
    """C-SKILL-21."""
    server = SkillServer()
    reader = await opened(server)
    (skill,) = await reader.load()
    server.files["references/RULES.md"] = b"Leave at once.\n"
    server.entries = [entry(listed("SKILL.md", SKILL_MD), listed("references/RULES.md", b"Leave at once.\n"))]
    newest, checks = await reader.verify(skill)
    assert [check.outcome for check in checks] == ["matches", "matches"]
    assert newest.manifest != skill.manifest
    assert reader.log.entry_before(newest) is skill
    assert len(server.read) == 2


async def test_a_repeated_cursor_ends_the_list() -> None:
    """C-SKILL-05."""
    server = SkillServer()
    server.methods["list"] = lambda params: {"result": complete(skills=[entry()], nextCursor="again")}
    reader = await opened(server)
    await reader.load()
    assert len(server.scripted.asked("skills/list")) == 2
    assert reader.notes == ["skills/list was stopped: the server repeated a cursor."]


async def test_pages_are_joined_and_an_empty_cursor_is_a_cursor() -> None:
    """C-SKILL-05."""
    server = SkillServer()
    pages = {None: ([entry()], ""), "": ([entry(uri="skill://b/today/SKILL.md", resources="dynamic")], None)}

    def page(params: dict[str, Any]) -> dict[str, Any]:
        skills, cursor = pages[params.get("cursor")]
        return {"result": complete(skills=skills) | ({} if cursor is None else {"nextCursor": cursor})}

    server.methods["list"] = page
    reader = await opened(server)
    assert [skill.uri for skill in await reader.load()] == [URI, "skill://b/today/SKILL.md"]


@pytest.mark.parametrize("skills", [None, {}, "x", [None, "x", 5]])
async def test_a_list_of_another_form_is_survived(skills: Any) -> None:
    server = SkillServer()
    server.methods["list"] = lambda params: {"result": complete(skills=skills)}
    reader = await opened(server)
    assert all(skill.kind == "invalid" for skill in await reader.load())


async def test_a_skill_is_opened_from_its_uri_alone() -> None:
    """C-SKILL-07."""
    server = SkillServer()
    reader = await opened(server)
    skill = await reader.get(URI)
    assert (await reader.read(skill, skill.skill_md)).outcome == "matches"
    assert server.scripted.asked("skills/list") == []
    with pytest.raises(SkillRefused, match=r"not the URI of a SKILL\.md"):
        await reader.get("https://harbour/x")


async def test_a_scheme_does_not_make_a_skill() -> None:
    """C-SKILL-08: any scheme serves skills, and a resource of the scheme `skill` is not one by itself."""
    uri = "https://harbour.example/tide-table/SKILL.md"
    server = SkillServer(entry(uri=uri, resources="dynamic"))
    reader = await opened(server)
    (skill,) = await reader.load()
    assert (skill.uri, skill.kind) == (uri, "dynamic")
    await reader.session.request("resources/read", {"uri": URI})
    reader.log.advance()
    assert reader.log.skills == [skill]
    assert (await reader.get(uri)).kind == "dynamic"


async def test_an_answer_about_another_skill_is_not_taken() -> None:
    """C-SKILL-35."""
    server = SkillServer()
    server.methods["get"] = lambda params: {"result": complete(skill=entry(uri="skill://x/tide-table/SKILL.md"))}
    reader = await opened(server)
    with pytest.raises(SkillRefused, match="without an entry"):
        await reader.get(URI)


@pytest.mark.parametrize("settings", [None, True, []])
async def test_nothing_is_sent_to_a_server_that_does_not_declare_skills(settings: Any) -> None:
    """C-SKILL-01, C-EXT-06."""
    server = SkillServer()
    server.declared = {"resources": {}, "extensions": {SKILLS: settings}}
    reader = await opened(server)
    with pytest.raises(NotOffered, match="not an object"):
        await reader.load()
    assert server.scripted.asked("skills/list") == []


@pytest.mark.parametrize("settings", [{}, {"directoryRead": "true"}, {"directoryRead": 1}])
async def test_directories_are_read_only_if_declared(settings: dict[str, Any]) -> None:
    """C-SKILL-02."""
    server = SkillServer()
    server.declared["extensions"] = {SKILLS: settings}
    reader = await opened(server)
    (skill,) = await reader.load()
    with pytest.raises(NotOffered, match="directoryRead"):
        await reader.walk(skill)
    assert server.scripted.asked("resources/directory/read") == []


async def test_a_directory_that_lists_itself_is_walked_once() -> None:
    server = SkillServer()
    loop = [{"uri": ROOT, "mimeType": "inode/directory"}, {"uri": f"{ROOT}/a", "mimeType": "inode/directory"},
            {"uri": "skill://harbour", "mimeType": "inode/directory"}, {"uri": f"{ROOT}/../x", "mimeType": "inode/directory"}]  # fmt: skip
    server.methods["folder"] = lambda params: {"result": complete(resources=loop)}
    reader = await opened(server)
    (skill,) = await reader.load()
    await reader.walk(skill)
    assert len(server.scripted.asked("resources/directory/read")) == 2


async def test_equal_names_are_kept_apart_by_their_uri() -> None:
    """C-SKILL-13, C-SKILL-15."""
    other = entry(uri="skill://b/tide-table/SKILL.md", resources="dynamic", frontmatter=FRONT)
    reader = await opened(SkillServer(entry(), other))
    first, second = await reader.load()
    assert reader.log.named("tide-table") == [first, second]
    assert reader.log.same_name(first) == [second]


async def test_the_journal_alone_shows_the_same() -> None:
    server = SkillServer(files={"SKILL.md": SKILL_MD, "references/RULES.md": b"x" * 35})
    reader = await opened(server)
    (skill,) = await reader.load()
    before = len(reader.session.journal)
    await reader.verify(skill)
    log = SkillLog(reader.session.journal)
    log.advance()
    (seen,) = log.skills
    assert [check.outcome for check in log.checks(seen)] == ["matches", "digest"]
    log.advance(before)
    assert [check.outcome for check in log.checks(log.skills[0])] == ["not-read", "not-read"]
