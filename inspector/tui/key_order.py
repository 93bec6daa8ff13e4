"""Keeps keys in order when they arrive faster than they are handled, and sends them to the current focus."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from textual import events
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget
from textual.worker import Worker

from inspector.tui.widgets.editor import Editor

if TYPE_CHECKING:
    from textual.app import App as _Base
else:
    _Base = object

MAX_LENGTH = 0.25
"""Seconds after which a key counts as done without a `KeyDone`, because the focused widget is gone."""

DIALOG = "dialog"
"""The group of workers that open a dialog and wait for its answer."""
FORM = "form"
"""The group of workers that wait for a form, and then give it the focus."""
LISTS = "lists"
"""The group of workers that wait for the lists of a new session."""
OPENING = 1.0
"""Seconds for which keys wait at most until a dialog, a form or a screen that is being opened can take them."""
LISTING = 3.0
"""Seconds for which keys wait at most for the lists, except those that act without them, such as `q`."""
STILL_TYPING = 1.0
"""Seconds after a character for which another one is still meant for the same text."""
SEEN = 0.3
"""Seconds after the new focus was drawn until the user has seen it, and means the new place by a character."""
_LOOK_AGAIN = 0.005

PASSES = 3
"""How often a `KeyDone` follows a key. A widget reports a key in a message to its pane, the pane in another to the
screen, and only that moves the focus: each of them is posted before one more `KeyDone`."""

KeyEvent = events.Key | events.Paste


class _KeyUnderWay:
    """A key that was taken, with the screen in front and the workers that waited for a dialog then."""

    def __init__(self, key: KeyEvent, screen: Screen[Any], dialogs: Iterator[Worker[Any]]) -> None:
        self.key = key
        self.screen = screen
        self.earlier_dialogs = frozenset(dialogs)
        self.taken = time.monotonic()
        self.limit: Timer | None = None


class _TypedText(NamedTuple):
    """The widget that took the last key as text, and when."""

    into: Widget
    at: float


@dataclass
class _FocusMoved:
    """The widget from which the program took the focus, and when the new focus was drawn."""

    before: Widget
    drawn: float = math.inf

    def is_drawn(self) -> None:
        self.drawn = time.monotonic()


class KeyDone(Message):
    """Follows a key through the widgets it bubbles through. When the app gets the last one, the key is done."""

    def __init__(self, key: KeyEvent, target: Widget, passes: int) -> None:
        super().__init__()
        self.key = key
        self.target = target
        self.passes = passes


class KeysInOrder(_Base):
    """A mixin for an app: handles one key or paste at a time.

    Textual hands every key to the widget that has the focus when it arrives. A character is inserted at once, but a key
    with a binding, such as tab or backspace, acts only after it has bubbled to the app. So of `a`, tab, `b` written in
    one go by a script or a slow line, both letters would go to the first field. This class holds a key back until the
    one before it is done.
    """

    screen_comes = False
    """The first screen is being loaded: keys wait for it, however long that takes."""
    _waiting_keys: deque[KeyEvent] | None = None
    _key_under_way: _KeyUnderWay | None = None
    _held_since = 0.0
    """When the first of the waiting keys came."""
    _typed: _TypedText | None = None
    _moved: _FocusMoved | None = None
    focus_is_unseen = False
    """Whether the newest key came before the user saw that the program had moved the focus."""
    key_came = 0.0
    """Time of the newest key on the monotonic clock: long work in threads yields to what the key causes."""

    def program_moves_focus(self) -> None:
        """Call this before the program moves the focus: a character that comes before `SEEN` is for the old place."""
        self._moved = None
        if self.focused is not None:
            self._moved = _FocusMoved(self.focused)
            self.call_after_refresh(self._moved.is_drawn)

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.MouseDown):
            self._moved = None
        if not isinstance(event, KeyEvent) or event.is_forwarded:
            await super().on_event(event)
            return
        self.key_came = time.monotonic()
        if self.screen_comes and isinstance(event, events.Key) and event.key == "ctrl+j":
            # Typed before the program set the terminal, which until then turns a return into a line feed.
            event = events.Key("enter", "\r")
        if self._waiting_keys is None:
            self._waiting_keys = deque()
        if not self._waiting_keys:
            self._held_since = time.monotonic()
        if not (self._key_under_way or self._waiting_keys or self._must_wait(event)):
            await self._take_key(event)
            return
        self._waiting_keys.append(event)
        if self._key_under_way is None and len(self._waiting_keys) == 1:
            await self._take_waiting_key()

    async def _take_waiting_key(self) -> None:
        """Take the first waiting key, when what it is meant for can take it."""
        if self._key_under_way is not None or not self._waiting_keys:
            return
        if self._must_wait(self._waiting_keys[0]):
            self.set_timer(_LOOK_AGAIN, self._take_waiting_key)
            return
        await self._take_key(self._waiting_keys.popleft())

    async def _take_key(self, key: KeyEvent) -> None:
        if not self.screen_stack:
            return  # A key that came while the program ends.
        if self.focused is not None and not _is_shown(self.focused):
            # Textual moves the focus from a hidden widget to a neighbour, which may be hidden too and take letters.
            self.screen.set_focus(None)
        self._return_focus(key)
        target = self.focused or self.screen
        if self._was_for_text(key, target):
            await self._take_waiting_key()
            return
        taken = self._key_under_way = _KeyUnderWay(key, self.screen, self._dialogs())
        await super().on_event(key)
        taken.limit = self.set_timer(MAX_LENGTH, partial(self._key_is_done, key))
        await self._follow(KeyDone(key, target, PASSES))

    def _return_focus(self, key: KeyEvent) -> None:
        """Return the focus for a character that was typed before the user saw that the program had moved it."""
        moved, self._moved = self._moved, None
        self.focus_is_unseen = moved is not None and time.monotonic() - moved.drawn < SEEN
        is_text = isinstance(key, events.Paste) or key.is_printable
        if moved is None or not is_text or not self.focus_is_unseen:
            return
        before = moved.before
        is_there = before.is_attached and before.screen is self.screen and before.focusable and _is_shown(before)
        if is_there and before is not self.focused:
            self.screen.set_focus(before)
            if isinstance(before, Editor):
                before.go_on_typing()

    def _was_for_text(self, key: KeyEvent, target: Widget) -> bool:
        """Whether a key was typed for a text that the program has hidden since, and must do nothing."""
        before, self._typed = self._typed, None
        if not isinstance(key, events.Key) or not key.is_printable:
            return False
        now = time.monotonic()
        if target.check_consume_key("", key.character):  # "": it was pressed, and is not from the table.
            self._typed = _TypedText(target, now)
            return False
        if before is None or now - before.at >= STILL_TYPING:
            return False
        if before.into.is_attached and before.into.screen is self.screen and _is_shown(before.into):
            return False
        self._typed = before._replace(at=now)
        return True

    async def _follow(self, done: KeyDone) -> None:
        # After the focus has moved, the rest of the key's effects are not waited for.
        if not done.passes or (self.focused or self.screen) is not done.target or not done.target.post_message(done):
            await self._key_is_done(done.key)

    def on_key_done(self, message: KeyDone) -> None:
        # The key's action may have moved the focus by a request to the app, which must run first.
        self.call_later(self._follow, KeyDone(message.key, message.target, message.passes - 1))

    async def _key_is_done(self, key: KeyEvent) -> None:
        taken = self._key_under_way
        if taken is None or key is not taken.key or not self.screen_stack:
            return
        if self._opens(taken) and time.monotonic() - taken.taken < OPENING:
            self.set_timer(_LOOK_AGAIN, partial(self._key_is_done, key))
            return
        self._key_under_way = None
        if taken.limit is not None:
            taken.limit.stop()
        await self._take_waiting_key()

    def _dialogs(self) -> Iterator[Worker[Any]]:
        return (worker for worker in self.workers if worker.group == DIALOG)

    def _must_wait(self, key: KeyEvent) -> bool:
        """Whether what the next key is meant for is still being made."""
        if self.screen_comes:
            return True
        waited = time.monotonic() - self._held_since
        if waited < OPENING and self._comes(FORM):
            return True
        return waited < LISTING and self._comes(LISTS) and not self._acts_without_lists(key)

    def _comes(self, group: str) -> bool:
        return any(worker.group == group for worker in self.workers)

    def _acts_without_lists(self, key: KeyEvent) -> bool:
        bound = self.screen.active_bindings.get(key.key) if isinstance(key, events.Key) else None
        return bound is not None and (bound.node is self.screen or bound.node is self)

    def _opens(self, taken: _KeyUnderWay) -> bool:
        """Whether the key opens a form or a screen that cannot take the next key yet."""
        screen = self.screen
        if self._comes(FORM):
            return True
        if screen is taken.screen:
            # The screen of a dialog may have to be imported first.
            return any(worker not in taken.earlier_dialogs for worker in self._dialogs())
        return not screen.is_mounted or (screen.focused is None and bool(screen.focus_chain))


def _is_shown(widget: Widget) -> bool:
    """Whether a widget and everything around it is displayed."""
    return all(node.display for node in widget.ancestors_with_self if isinstance(node, Widget))
