"""Parts of a screen do its verbs. Also tells when Textual's private map of bindings, which that needs, changes."""

from __future__ import annotations

from textual.app import App
from textual.screen import Screen

from inspector.tui.available_verbs import contexts, lend, who_does
from inspector.tui.keymap import bindings
from inspector.tui.verbs import BY_ID


class Player:
    """Does some verbs of a recording, and one of the frame."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def action_play(self) -> None:
        self.done.append("play")

    def action_leave(self) -> None:
        self.done.append("leave")


class Stage(Screen[None]):
    BINDINGS = bindings("app")

    def __init__(self, *parts: tuple[Player, str]) -> None:
        super().__init__()
        for part, context in parts:
            lend(part, context, self)


class Lent(App[None]):
    def __init__(self, *screens: Stage) -> None:
        super().__init__()
        self.screens = screens

    def on_mount(self) -> None:
        for screen in self.screens:
            self.push_screen(screen)


async def test_the_keys_of_a_part_work_at_its_screen_and_at_no_other() -> None:
    player = Player()
    plain, lent = Stage(), Stage((player, "replay"))
    app = Lent(plain, lent)
    async with app.run_test() as pilot:
        await pilot.press(BY_ID["replay.play"].key)
        assert player.done == ["play"]
        assert contexts(lent)[:2] == ["replay", "app"]
        assert who_does(lent, BY_ID["replay.play"]) is lent
        assert who_does(lent, BY_ID["replay.faster"]) is None, "the part does not do it"
        await app.pop_screen()
        await pilot.press(BY_ID["replay.play"].key)
        assert player.done == ["play"]
        assert contexts(plain)[:1] == ["app"]
        assert "replay" not in contexts(plain)


async def test_what_was_lent_last_hides_the_same_key() -> None:
    first, last = Player(), Player()
    shared = set(BY_ID["frame.leave"].key.split(","))
    async with Lent(Stage((first, "frame"), (last, "frame"))).run_test() as pilot:
        for key in sorted(shared):
            await pilot.press(key)
    assert first.done == []
    assert last.done == ["leave"] * len(shared)
