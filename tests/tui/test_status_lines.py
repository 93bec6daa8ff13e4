from textual.geometry import Offset

from inspector.tui.keymap import Keymap
from inspector.tui.main.chrome import header_parts
from inspector.tui.model.header import HeaderNotice
from inspector.tui.widgets.status_lines import Footer, HeaderLine, LinePart, MainTab, TabLine
from tests.tui.tui_screens import Stage, on_stage, screen_lines, settle

TABS = (
    MainTab("tools", "1", "Tools", "Tools", "17"),
    MainTab("resources", "2", "Resources", "Res", "7"),
    MainTab("templates", "3", "Templates", "Tmpl", "2"),
    MainTab("server", "6", "Server", "Server"),
    MainTab("inbox", "7", "Inbox", "Inbox", "1", "ask"),
)
HINTS = Keymap().hints(["app.palette", "app.help"])


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
        theme = app.current_theme.palette
        strip = app.screen._compositor.render_strips()[0]
        at = strip.text.index
        roles = {"Tools": "accent", "17": "bright", "Resources": "muted", "Inbox": "ask", "1 T": "faint"}
        for word, role in roles.items():
            assert next(iter(strip.crop(at(word), at(word) + 1))).style.color == theme.style(role).color, word


NARROWER = (
    (74, " 1 Tools 17  2 Resources 7  3 Templates 2  6 Server  7 Inbox 1   ? help"),
    (64, " 1 Tools 17  2 Resources 7  3 Templates 2  6 Server  7 Inbox 1"),
    (56, " 1 Tools 17  2 Res 7  3 Tmpl 2  6 Server  7 Inbox 1"),
    (46, " 1 Tools  2 Res  3 Tmpl  6 Server  7 Inbox 1"),
    (38, " 1 Tools 2 3 Tmpl 6 Server 7 Inbox 1"),
    (28, " 1 Tools 2 3 6 7 Inbox 1"),
)


async def test_on_a_narrow_screen_hints_go_first_then_labels_shorten():
    async with on_stage(TabLine(TABS, hints=HINTS), (80, 2)) as (app, pilot, _):
        for width, line in NARROWER:
            await pilot.resize_terminal(width, 2)
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
        assert [m.tab for m in app.messages_of(TabLine.Chosen)] == ["resources"]


async def test_what_needs_the_user_gives_way_to_fewer_words_and_the_name_is_cut_last():
    notices = [HeaderNotice("2 questions", "2", "ask"), HeaderNotice("1 finding", "1", "finding")]
    parts = header_parts([("everything", "bright bold")], ("connected", "received"), notices)
    async with on_stage(HeaderLine(parts), (80, 2)) as (app, pilot, _):
        for width, words in (
            (60, "everything ● connected ? 2 questions ▲ 1 finding"), (40, "everything ● connected ? 2 ▲ 1"),
            (28, "everything ● ? 2 ▲ 1"), (22, "everythi… ? 2 ▲ 1"),
        ):  # fmt: skip
            await pilot.resize_terminal(width, 2)
            assert screen_lines(app)[0].split() == words.split()


async def test_a_click_on_a_key_of_the_footer_presses_it():
    footer = Footer()
    app = Pressed(footer)
    async with app.run_test(size=(66, 2)) as pilot:
        footer.offer(Keymap().hints(["form.call"]), "app.messages", "app.quit")
        await pilot.pause()
        assert screen_lines(app)[0] == " ^r send   m messages   q quit" + " " * 29 + "? keys"
        await pilot.click(footer, offset=(3, 0))
        await settle(pilot, lambda: app.pressed == ["^r"])
