"""Which files are a reason to start a server again, and which are none."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from inspector.client.source_files import changes, folder_of
from inspector.config.targets import StdioTarget
from inspector.errors import UsageError

PATIENCE = 20


async def reported_names(target: StdioTarget, write: Sequence[tuple[Path, str]], last: Path) -> list[list[str]]:
    """Return the reported names when files are written one after the other, until `last` is reported."""
    reported: list[list[str]] = []

    async def listen() -> None:
        async for names in changes(target):
            reported.append(names)
            if any(name.endswith(last.name) for name in names):
                return

    async with asyncio.timeout(PATIENCE):
        listening = asyncio.ensure_future(listen())
        await asyncio.sleep(0.3)
        for path, text in write:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        while not listening.done():  # The watch may have begun after the last of them.
            last.write_text("again")
            await asyncio.wait((listening,), timeout=0.3)
        await listening
    return reported


async def test_programs_and_settings_count_and_nothing_else(tmp_path: Path) -> None:
    target = StdioTarget(("python", "server.py"), cwd=str(tmp_path))
    others = ("notes.txt", "memory.json", "data.sqlite", "session.mcp.jsonl", "node_modules/x/index.js", ".git/config.toml",
              "__pycache__/a.py", ".venv/lib/b.py")  # fmt: skip
    last = tmp_path / "src" / "tool.py"
    last.parent.mkdir()
    reported = await reported_names(target, [(tmp_path / name, "x") for name in others], last)
    assert reported == [["src/tool.py"]]


@pytest.mark.parametrize("name", ["server.ts", ".env", "package.json", "pyproject.toml"])
async def test_what_counts(name: str, tmp_path: Path) -> None:
    target = StdioTarget(("python", "server.py"), cwd=str(tmp_path))
    assert (await reported_names(target, [(tmp_path / name, "x")], tmp_path / name))[-1] == [name]


async def test_the_program_itself_counts_whatever_its_name_is(tmp_path: Path) -> None:
    program = tmp_path / "server"
    program.write_text("#!/bin/sh\n")
    target = StdioTarget(("./server", "x"), cwd=str(tmp_path))
    assert (await reported_names(target, [(program, "#!/bin/sh\n\n")], program))[-1] == ["server"]


@pytest.mark.parametrize("folder", ["~", "/"])
def test_a_home_or_a_root_is_not_watched(folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    place = str(tmp_path) if folder == "~" else folder
    with pytest.raises(UsageError, match="too many files") as caught:
        folder_of(StdioTarget(("x",), cwd=place))
    assert "--cwd" in caught.value.hint.command_line


async def test_a_folder_that_goes_is_reported(tmp_path: Path) -> None:
    target = StdioTarget(("x",), cwd=str(tmp_path / "gone"))
    with pytest.raises(UsageError, match="cannot be watched"):
        await anext(changes(target))
