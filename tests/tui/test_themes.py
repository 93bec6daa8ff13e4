import importlib.resources
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest
import yaml
from rich._palettes import EIGHT_BIT_PALETTE
from rich.color import Color, ColorSystem
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from inspector.errors import ConfigError
from inspector.tui import themes
from inspector.tui.theme_switch import ThemeSwitch
from inspector.tui.themes import (
    GROUNDS,
    MIN_CONTRAST,
    ROLES,
    ThemeStyles,
    bundled,
    contrast,
    palette,
    read_theme,
    style,
)
from tests.tui.tui_screens import Stage, settle

NAMES = sorted(path.stem for path in themes.bundled_folder().glob("*.yaml"))
COLOURED = [name for name in NAMES if not bundled(name).ansi]
INKS = [role for role in ROLES if role not in GROUNDS and role != "edge" and not role.startswith("chart")]


def triplet(spec: str) -> tuple[int, int, int]:
    digits = spec.split()[0]
    return int(digits[1:3], 16), int(digits[3:5], 16), int(digits[5:7], 16)


def test_the_themes_that_are_promised_are_bundled():
    assert {"dark", "light", "high-contrast", "ansi", "mono"} <= set(NAMES)
    assert len(NAMES) >= 7


def in_colours(name: str, colours: int) -> ThemeStyles:
    """A bundled theme in a terminal with so many colours."""
    return bundled(name) if colours > 256 else bundled(name).in_256()


at_both_depths = pytest.mark.parametrize("colours", [2**24, 256])


@at_both_depths
@pytest.mark.parametrize("name", COLOURED)
def test_every_ink_can_be_read_on_the_grounds_it_stands_on_and_on_a_selected_row(name, colours):
    theme = in_colours(name, colours)
    for ground in ("ground", "panel"):
        under = drawn(triplet(theme.roles[ground]), colours)
        weak = {role: contrast(drawn(triplet(theme.roles[role]), colours), under) for role in INKS}
        assert {role: value for role, value in weak.items() if value < MIN_CONTRAST} == {}, ground
    for ground, role in product(("selection", "selection-dim"), INKS):
        lifted = theme.on(theme.style(role), ground)
        assert lifted.bgcolor == theme.style(ground).bgcolor
        ink, under = (drawn(one.triplet, colours) for one in (lifted.color, lifted.bgcolor))
        assert contrast(ink, under) >= MIN_CONTRAST, role


def drawn(colour: tuple[int, int, int], colours: int) -> tuple[int, int, int]:
    """The colour that a terminal with so many colours shows."""
    if colours > 256:
        return tuple(colour)
    number = Color.from_rgb(*colour).downgrade(ColorSystem.EIGHT_BIT).number
    red, green, blue = EIGHT_BIT_PALETTE[number or 0]
    return red, green, blue


@at_both_depths
@pytest.mark.parametrize("name", COLOURED)
def test_focus_and_selection_are_told_apart(name, colours):
    roles = in_colours(name, colours).roles
    grounds = [drawn(triplet(roles[role]), colours) for role in GROUNDS]
    assert all(contrast(one, other) > 1.03 for one, other in combinations(grounds, 2)), grounds
    accent, edge = (drawn(triplet(roles[role]), colours) for role in ("accent", "edge"))
    assert contrast(accent, edge) >= 1.5


@pytest.mark.parametrize(("system", "ground"), [("256", "#141414"), ("truecolor", "#11151c")])
async def test_the_terminal_decides_between_the_depths(system, ground, monkeypatch):
    monkeypatch.setattr("textual.constants.COLOR_SYSTEM", system)
    app = Stage()
    async with app.run_test():
        switch = ThemeSwitch(app, None, lambda problem: None)
        assert switch.use("dark")
        assert palette().roles["ground"] == ground


@pytest.mark.parametrize("name", COLOURED)
def test_the_four_weights_are_four(name):
    assert contrast((0, 0, 0), (255, 255, 255)) == pytest.approx(21)
    assert contrast((119, 119, 119), (255, 255, 255)) == pytest.approx(4.478, abs=0.001)
    roles = bundled(name).roles
    ground = triplet(roles["ground"])
    weights = [contrast(triplet(roles[role]), ground) for role in ("bright", "normal", "muted", "faint")]
    assert weights == sorted(weights, reverse=True)
    assert len(set(weights)) == 4


@pytest.mark.parametrize("name", NAMES)
def test_the_plain_reader_reads_bundled_themes_as_yaml_does(name):
    text = (themes.bundled_folder() / f"{name}.yaml").read_text()
    assert themes._read_plain(text) == yaml.safe_load(text)
    assert set(yaml.safe_load(text)["roles"]) == set(ROLES)


def test_a_bundled_theme_needs_no_yaml(monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    assert read_theme(themes.bundled_folder() / "dark.yaml").roles["ground"] == "#11151c"


def test_themes_are_found_in_a_wheel_and_in_a_source_tree(monkeypatch, tmp_path):
    monkeypatch.setattr(importlib.resources, "files", lambda package: tmp_path / package)
    assert themes.bundled_folder() == tmp_path / "themes"
    inside = tmp_path / "inspector" / "_data" / "themes"
    inside.mkdir(parents=True)
    assert themes.bundled_folder() == inside


def test_a_user_theme_names_only_what_differs(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("dark: false\nroles: {accent: '#102030', error: 'ansi_red bold'}\n")
    theme = read_theme(path)
    assert theme.name == "mine"
    assert theme.style("accent").color.triplet == (0x10, 0x20, 0x30)
    assert theme.style("error") == Style(color="red", bold=True)
    assert theme.roles["muted"] == bundled("light").roles["muted"]


@pytest.mark.parametrize(("text", "says", "hint"), [
    ("roles: [", "not valid YAML", ""), ("- a\n- b\n", "not a mapping", "roles"),
    ("rolls:\n  accent: '#ffffff'\n", "Unknown key `rolls`", "`roles`"),
    ("roles:\n  acent: '#ffffff'\n", "Unknown role `acent`", "`accent`"),
    ("roles:\n  accent: blue-ish\n", "`accent`", "#rrggbb"),
    ("roles:\n  accent: '#ffffff blink'\n", "`accent`", "underline"),
    ("roles:\n  accent: 5\n", "`accent`", "#rrggbb"),
    ("roles:\n  accent: ansi_mauve\n", "`accent`", "ansi_red"),
    ("dark: maybe\n", "`dark`", ""), ("roles: 7\n", "`roles`", ""), ("roles: &a {accent: *a}\n", "theme", ""),
    ("? [a, b]\n: c\n", "has a key that is not a text, line 1", ""),
    ("roles: {accent: &a red, error: *a}\n", "uses anchors, which are not read, line 1", ""),
    ("x" * 70_000, "larger than", ""),
])  # fmt: skip
def test_a_broken_theme_is_named_with_its_remedy(tmp_path, text, says, hint):
    path = tmp_path / "broken.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        read_theme(path)
    assert says in caught.value.message
    assert "broken.yaml" in caught.value.message
    assert hint in caught.value.hint


def test_a_theme_that_is_not_text_or_not_there_is_named(tmp_path):
    path = tmp_path / "bytes.yaml"
    path.write_bytes(b"roles: \xff\xfe")
    with pytest.raises(ConfigError, match="UTF-8"):
        read_theme(path)
    with pytest.raises(ConfigError, match="cannot be read"):
        read_theme(tmp_path / "absent.yaml")


def test_styles_come_by_role_are_made_once_and_without_an_app_are_those_of_the_default():
    theme = bundled("dark")
    assert theme.style("bright bold").bold
    assert theme.style("muted") is theme.style("muted")
    assert theme.style("selection").bgcolor is not None
    assert theme.style("selection").color is None
    assert palette().name == themes.DEFAULT
    assert style("error") == theme.style("error")


def test_the_terminals_colours_are_not_measured_and_reversed_rows_lose_their_hues():
    theme = bundled("ansi")
    assert theme.on(theme.style("error"), "selection") == Style(reverse=True)
    assert theme.on(theme.style("bright"), "selection") == Style(reverse=True, bold=True)
    assert theme.style("normal") == Style()


async def test_every_theme_can_be_worn():
    app = Stage(theme=NAMES[0])
    async with app.run_test() as pilot:
        for name in NAMES:
            app.switch.use(name)
            await pilot.pause()
            assert (app.problems, app.current_theme.name) == ([], name)
            assert palette_in(app) is bundled(name)
            assert app.theme_variables["role-muted"] == bundled(name).roles["muted"].split()[0]


def palette_in(app: Stage) -> ThemeStyles:
    with app._context():
        return palette()


async def test_under_no_color_the_colourless_theme_is_worn(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    app = Stage(theme="light")
    async with app.run_test():
        assert app.theme == "mono"
    assert all(spec.startswith("ansi_default") for spec in bundled("mono").roles.values())


class Drawn(Widget):
    """Draws by role, without any help of the style sheet."""

    def __init__(self) -> None:
        super().__init__()
        self.drawn_in: list[str] = []

    def render_line(self, y: int) -> Strip:
        self.drawn_in.append(palette().name)
        return Strip.blank(1)


async def test_a_theme_that_differs_only_in_what_widgets_draw_is_seen_at_once():
    app = Stage(Drawn(), theme="ansi")
    async with app.run_test() as pilot:
        app.switch.use("mono")
        await pilot.pause()
        assert app.query_one(Drawn).drawn_in[-1] == "mono"


class Mine:
    """A theme of the user, each time a second newer, in an app that watches its folder."""

    def __init__(self, app: Stage, folder: Path) -> None:
        self.app, self.file = app, folder / "mine.yaml"
        self.at = 1
        self.problems: list[ConfigError] = []
        self.switch = ThemeSwitch(app, folder, self.problems.append)

    def write(self, accent: str) -> None:
        self.file.write_text(f"roles: {{accent: {accent!r}}}")
        self.at += 1
        os.utime(self.file, (self.at, self.at))

    async def read(self, pilot: Any) -> str:
        """Look at the file; returns the colour in force."""
        self.switch.poll()
        await pilot.pause()
        return palette_in(self.app).roles["accent"]


@asynccontextmanager
async def with_mine(folder: Path, accent: str) -> AsyncIterator[tuple[Stage, Any, Mine]]:
    app = Stage()
    async with app.run_test() as pilot:
        mine = Mine(app, folder)
        mine.write(accent)
        yield app, pilot, mine


async def test_a_user_theme_is_watched_and_read_again_when_its_file_changes(tmp_path):
    async with with_mine(tmp_path, "#010203") as (app, pilot, mine):
        assert "mine" in mine.switch.names()
        assert mine.switch.use("mine")
        assert mine.switch._timer is not None
        await pilot.pause()
        assert palette_in(app).roles["accent"] == await mine.read(pilot) == "#010203"
        mine.write("#040506")
        assert await mine.read(pilot) == app.theme_variables["role-accent"] == "#040506"
        mine.write("nonsense")
        assert await mine.read(pilot) == "#040506"
        assert "mine.yaml" in mine.problems[0].message
        mine.file.unlink()
        mine.switch.poll()
        assert len(mine.problems) == 1
        mine.switch.use("light")
        assert mine.switch._timer is None, "only a user theme is watched"


@pytest.mark.parametrize("name", ["nothing-like-it", "../../etc/passwd", "/etc/passwd", ""])
async def test_an_unknown_theme_is_reported_and_the_default_worn(tmp_path, name):
    async with with_mine(tmp_path, "#010203") as (app, pilot, mine):
        assert not mine.switch.use(name)
        await settle(pilot, lambda: app.theme == "dark")
        assert "dark" in mine.problems[0].hint


async def test_a_broken_user_theme_falls_back_and_returns_when_fixed(tmp_path):
    async with with_mine(tmp_path, "nonsense") as (app, pilot, mine):
        assert not mine.switch.use("mine")
        assert app.theme == "dark"
        mine.write("#070809")
        assert await mine.read(pilot) == "#070809"
