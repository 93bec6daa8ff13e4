"""Keys that arrive faster than they are worked off keep their order, and go where the focus is by then."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from textual import events
from textual.message import Message

if TYPE_CHECKING:
    from textual.app import App as _Base
else:
    _Base = object

LONGEST = 0.25
"""Seconds after which a key counts as done though nothing was heard of it: what had the focus is gone."""


class KeyDone(Message):
    """Follows a key through the widgets it bubbles through; when the app receives it, the key is done."""


class KeysInOrder(_Base):
    """For an app: one key, or paste, at a time.

    Textual hands every key to the widget that has the focus when it arrives. A character is taken there at once, but a
    key with a binding, tab as well as backspace, acts only after it has bubbled to the app. So of `a`, tab, `b` written
    in one go, as by a script or a slow line, both letters would land in the first field. This class holds a key back
    until the one before it is done.
    """

    _waiting_keys: deque[events.Key | events.Paste] | None = None
    _key_under_way: KeyDone | None = None

    async def on_event(self, event: events.Event) -> None:
        if not isinstance(event, events.Key | events.Paste) or event.is_forwarded:
            await super().on_event(event)
        elif self._key_under_way is None:
            await self._take_key(event)
        else:
            if self._waiting_keys is None:
                self._waiting_keys = deque()
            self._waiting_keys.append(event)

    async def _take_key(self, event: events.Key | events.Paste) -> None:
        self._key_under_way = done = KeyDone()
        target = self.focused or self.screen
        await super().on_event(event)
        if target.post_message(done):
            self.set_timer(LONGEST, lambda: self._key_is_done(done))
        else:
            await self._key_is_done(done)

    def on_key_done(self, message: KeyDone) -> None:
        # The key's action may have moved the focus, which a widget asks of the app as of now: that comes first.
        self.call_later(self._key_is_done, message)

    async def _key_is_done(self, done: KeyDone) -> None:
        if done is self._key_under_way:
            self._key_under_way = None
            if self._waiting_keys:
                await self._take_key(self._waiting_keys.popleft())
