import pytest
from textual.geometry import Offset

from inspector.tui.keymap import Keymap
from inspector.tui.widgets.status_lines import Footer, HeaderLine, LinePart, MainTab, TabLine, session_parts
from tests.tui.tui_screens import Stage, assert_in, on_stage, screen_lines, settle

TABS = (
    MainTab("tools", "1", "Tools", "Tools", "17"),
    MainTab("resources", "2", "Resources", "Res", "7"),
    MainTab("templates", "3", "Templates", "Tmpl", "2"),
    MainTab("server", "6", "Server", "Server"),
    MainTab("inbox", "7", "Inbox", "Inbox", "1", "ask"),
)
HINTS = Keymap().hints(["app.palette", "app.help"])


def parts(**more):
    return session_parts(
        "everything",
        "npx -y @modelcontextprotocol/server-everything",
        short_target="server-everything",
        transport="stdio",
        revision="2025-11-25",
        era="legacy",
        **({"state": ("connected", "received"), "recorded": 1204, "latency": "12 ms"} | more),
    )


async def header(width: int, **more) -> str:
    async with on_stage(HeaderLine(parts(**more)), (width, 2)) as (app, pilot, _):
        await settle(pilot, lambda: bool(screen_lines(app)[0]))
        return screen_lines(app)[0]


async def test_the_header_says_who_and_how_it_fares_and_how_the_era_was_found_out_is_the_first_to_go():
    how = "server/discover got a result"
    for line, era in ((await header(160), ""), (await header(160, how=how), f"  {how}")):
        assert line.startswith(" everything  npx -y @modelcontextprotocol/server-everything  ")
        assert line.endswith(f"  stdio  2025-11-25 legacy{era}   ● connected   ● rec 1,204    12 ms")
    assert "discover" not in await header(120, how=how)
    assert "2025-11-25 legacy" in await header(120, how=how)
    failed = await header(48, state=("exited 1 after 0.4 s", "error"), settled=False, latency="")
    assert_in(failed, "✗ exited 1 after 0.4 s", "everything")
    # Another latency moves nothing else.
    places = {(await header(160, latency=latency)).index("● rec") for latency in ("0 ms", "12 ms", "309 ms", "1.2 s")}
    assert len(places) == 1


@pytest.mark.parametrize(("width", "words"), [
    (110, "everything server-everything stdio 2025-11-25 legacy ● connected ● rec 1,204 12 ms"),
    (88, "everything server-everything stdio 2025-11-25 ● connected ● rec 1,204 12 ms"),
    (75, "everything stdio 2025-11-25 legacy ● connected ● rec 1,204 12 ms"),
    (62, "everything stdio 2025-11-25 ● connected ● rec 1,204"),
    (50, "everything stdio 2025-11-25 ● ● rec 1,204"),
    (46, "everything stdio 2025-11-25 ● ● 1,204"),
    (40, "everything stdio 2025-11-25 ● ●"),
    (32, "everything 2025-11-25 ● ●"),
    (20, "everything ● ●"),
    (12, "ev… ● ●"),
])  # fmt: skip
async def test_the_header_gives_way_from_the_least_to_the_name_and_the_state(width, words):
    shown = await header(width)
    assert len(shown) == width - 1
    assert shown.split() == words.split()


async def test_the_server_names_itself_in_safe_text_only():
    app = Stage(HeaderLine(session_parts("a\x1b[2Jb", "x\ny", state="[red]ok[/red]")))
    async with app.run_test(size=(60, 2)):
        line = screen_lines(app)[0]
        assert line.startswith(" a␛[2Jb  x↵y")
        assert line.endswith("● [red]ok[/red]")


async def test_a_header_of_other_parts():
    line = HeaderLine(
        [LinePart([[("replay", ["bold", "bright"][1])]]), LinePart(["nothing is sent", ""], (1,), right=True)]
    )
    async with Stage(line).run_test(size=(30, 2)) as pilot:
        assert screen_lines(pilot.app)[0] == " replay" + " " * 7 + "nothing is sent"
        await pilot.resize_terminal(20, 2)
        assert screen_lines(pilot.app)[0] == " replay"


async def test_tabs_with_their_counts_and_hints():
    async with on_stage(TabLine(TABS, hints=HINTS), (100, 2)) as (app, _pilot, _):
        tabs = " 1 Tools 17  2 Resources 7  3 Templates 2  6 Server  7 Inbox 1"
        assert screen_lines(app)[0] == tabs + " " * 18 + "^p palette   ? help"
        look = app.current_theme.palette
        strip = app.screen._compositor.render_strips()[0]
        at = strip.text.index
        roles = {"Tools": "accent", "17": "bright", "Resources": "muted", "Inbox": "ask", "1 T": "faint"}
        for word, role in roles.items():
            assert next(iter(strip.crop(at(word), at(word) + 1))).style.color == look.style(role).color, word


@pytest.mark.parametrize(("width", "line"), [
    (74, " 1 Tools 17  2 Resources 7  3 Templates 2  6 Server  7 Inbox 1   ? help"),
    (64, " 1 Tools 17  2 Resources 7  3 Templates 2  6 Server  7 Inbox 1"),
    (56, " 1 Tools 17  2 Res 7  3 Tmpl 2  6 Server  7 Inbox 1"),
    (46, " 1 Tools  2 Res  3 Tmpl  6 Server  7 Inbox 1"),
    (38, " 1 Tools 2 3 Tmpl 6 Server 7 Inbox 1"),
    (28, " 1 Tools 2 3 6 7 Inbox 1"),
])  # fmt: skip
async def test_on_a_narrow_screen_hints_go_first_then_labels_shorten(width, line):
    async with on_stage(TabLine(TABS, hints=HINTS), (width, 2)) as (app, _pilot, _):
        assert screen_lines(app)[0].split() == line.split()


class Pressed(Stage):
    """Notes the keys that a click presses."""

    BINDINGS = [("question_mark", "note('?')", ""), ("ctrl+r", "note('^r')", "")]  # noqa: RUF012

    def __init__(self, *widgets):
        super().__init__(*widgets)
        self.pressed = []

    def action_note(self, key: str) -> None:
        self.pressed.append(key)


async def test_a_click_on_a_tab_chooses_it_and_one_on_a_hint_presses_its_key():
    line = TabLine(TABS, hints=HINTS)
    app = Pressed(line)
    async with app.run_test(size=(100, 2), message_hook=app.hear) as pilot:
        text = screen_lines(app)[0]
        for x in (text.index("Resources"), text.index("17") + 3, text.index("help")):
            await pilot.click(line, offset=Offset(x, 0))
        await settle(pilot, lambda: app.pressed == ["?"])
        assert [m.tab for m in app.heard(TabLine.Chosen)] == ["resources"]


async def test_the_footers_note_gives_way_to_its_keys_and_a_click_presses_one():
    footer = Footer(Keymap().hints(["form.call", "app.messages", "app.quit"]), "nothing is sent until ^r")
    app = Pressed(footer)
    async with app.run_test(size=(66, 2)) as pilot:
        keys = " ^r call   m messages   q quit"
        assert screen_lines(app)[0] == keys + " " * 11 + "nothing is sent until ^r"
        await pilot.click(footer, offset=(3, 0))
        await settle(pilot, lambda: app.pressed == ["^r"])
        await pilot.resize_terminal(50, 2)
        assert screen_lines(app)[0] == keys
