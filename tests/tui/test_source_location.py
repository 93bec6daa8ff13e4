"""A file and a line in stderr: found in usual forms, and opened in $EDITOR by a key."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from inspector.config.targets import StdioTarget
from inspector.tui.source_location import SourceLocation, source_locations
from inspector.tui.widgets.virtual_list import VirtualList
from tests.tui.live_app import MEDIUM, WIDE, becomes, running, shows
from tests.tui.small_server import small_server
from tests.tui.tui_screens import press, screen_text

FAILING = small_server({}, introduction='{"capabilities": {}}', before="""
sys.stderr.write("started\\n")
sys.stderr.write('  File "app/tool.py", line 12, in run\\n')
sys.stderr.write("    at f (/no/such/b.js:3:7)\\n")
sys.stderr.flush()
""")  # fmt: skip


@pytest.mark.parametrize(("text", "places"), [
    ('  File "x.py", line 12, in f', [("x.py", 12)]),
    ('File "/a b/x.py", line 1\nFile "/a b/y.py", line 2', [("/a b/y.py", 2), ("/a b/x.py", 1)]),
    ("src/x.ts:12:5 - error TS2304: Cannot find name", [("src/x.ts", 12)]),
    ("    at f (/a/b.js:3:7)", [("/a/b.js", 3)]),
    ("    at f (/a dir/b.js:3:7)", [("/a dir/b.js", 3)]),
    ("    at async /a/b.js:3:7", [("/a/b.js", 3)]),
    ("\t/go/src/main.go:12 +0x1d", [("/go/src/main.go", 12)]),
    ("src/main.rs:3: warning", [("src/main.rs", 3)]),
    ("C:\\x\\y.py:4: oops", [("C:\\x\\y.py", 4)]),
    ("listening on http://127.0.0.1:8080", []),
    ("at f (http://x.example/b.js:3:7) https://a.example/x.ts:12:5", []),
    ('File "http://x.example/x.py", line 3', []),
    ("localhost:8080 at 12:30:45, 127.0.0.1:80, key:1", []),
    ("", []),
])  # fmt: skip
def test_places_are_found_in_usual_forms(text: str, places: list[tuple[str, int]]) -> None:
    assert source_locations(text) == [SourceLocation(*place) for place in places]


def test_a_long_hostile_text_costs_little() -> None:
    assert len(source_locations("a.py:1 " * 1_000_000)) == 1
    assert len(source_locations("".join(f"a{n}.py:1 " for n in range(10_000)))) == 20
    source_locations('File "' * 1_000_000)
    source_locations("(" * 1_000_000 + ":1:" * 1000)


def failing(folder: Path) -> StdioTarget:
    """A server that names a file of its folder on stderr."""
    (folder / "app").mkdir()
    (folder / "app" / "tool.py").write_text("\n" * 20)
    return StdioTarget((sys.executable, "-c", FAILING), name="failing", cwd=str(folder))


@pytest.fixture
def opened(tmp_path: Path, lent_terminal: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file with the arguments that the editor got."""
    written = tmp_path / "arguments.json"
    editor = tmp_path / "vim"
    editor.write_text(f"#!{sys.executable}\nimport json, sys\njson.dump(sys.argv[1:], open({str(written)!r}, 'w'))\n")
    editor.chmod(0o700)
    monkeypatch.setenv("EDITOR", str(editor))
    monkeypatch.delenv("VISUAL", raising=False)
    return written


@pytest.mark.slow
async def test_a_row_of_stderr_opens_its_file_at_the_line(tmp_path: Path, opened: Path) -> None:
    async with running(failing(tmp_path), size=WIDE, until="connected") as (app, pilot):
        await press(pilot, "6", shows="at f (/no/such")
        rows = app.screen.query_one("#stderr-rows", VirtualList)
        rows.focus()
        await press(pilot, "home", until=lambda: rows.cursor == 0, what="on the first row")
        assert "open file" not in screen_text(app)
        await press(pilot, "o", "down", shows="o open file")
        assert not opened.exists()
        await press(pilot, "o", until=opened.exists, what="opened")
        await becomes(app, pilot, lambda: bool(opened.read_text()), "written")
        assert json.loads(opened.read_text()) == ["+12", str(tmp_path / "app" / "tool.py")]
        await press(pilot, "down", "o", shows="/no/such/b.js is not a file here.")
        # The detail of its message opens it too.
        opened.unlink()
        await press(pilot, "m", shows="tool.py")
        await press(pilot, "slash", *"tool.py", "enter", "enter", shows="o open file")
        await press(pilot, "o", until=lambda: opened.exists() and bool(opened.read_text()), what="opened")
        assert json.loads(opened.read_text()) == ["+12", str(tmp_path / "app" / "tool.py")]


@pytest.mark.slow
async def test_the_pane_of_a_failed_connection_opens_the_last_frame(tmp_path: Path, opened: Path) -> None:
    (tmp_path / "boot.py").write_text("\n\nraise SystemExit(__import__('traceback').print_stack() or 3)\n")
    target = StdioTarget((sys.executable, "boot.py"), name="boots", cwd=str(tmp_path))
    async with running(target, size=MEDIUM, until="The server exited") as (app, pilot):
        await shows(app, pilot, "o open file")
        await press(pilot, "o", until=lambda: opened.exists() and bool(opened.read_text()), what="opened")
        assert json.loads(opened.read_text()) == ["+3", str(tmp_path / "boot.py")]
