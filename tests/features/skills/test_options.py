"""`inspector check --read-skills` lets the checks read files of skills, and nothing else does."""

from __future__ import annotations

from inspector.check.selection import CheckSelection
from inspector.cli.parser import scan
from inspector.features.skills.options import CHECK


def test_files_of_skills_are_read_only_with_the_option() -> None:
    url = "http://127.0.0.1:9/mcp"
    asked, unasked = (
        CHECK.use(scan(words), CheckSelection()) for words in (["check", "--read-skills", url], ["check", url])
    )
    assert (asked.allowed.more["skills"], unasked.allowed.more["skills"]) == (True, False)
