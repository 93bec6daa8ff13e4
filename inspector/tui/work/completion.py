"""Values that the server offers for an argument while it is typed, requested shortly after the last key."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from rich.segment import Segment

from inspector.client.session_state import Commands, SessionState
from inspector.errors import InspectorError, NotOffered, ServerError
from inspector.protocol.jsonrpc import METHOD_NOT_FOUND
from inspector.text import safe
from inspector.tui.pane_keys import hints
from inspector.tui.pane_messages import HintsChanged
from inspector.tui.themes import palette
from inspector.tui.widgets import paint
from inspector.tui.widgets.fields.text import TextField
from inspector.tui.widgets.form import FormView

PAUSE = 0.15
"""Seconds without a key before the request."""

KEPT = 200
"""Answers that are cached for each session."""

SHOWN = 100
"""Values of an answer that are shown; the specification allows no more (C-COMP-01)."""

VALUE = 200


class Completer:
    """Requests completions: debounced, cached, one request at a time (C-COMP-01)."""

    def __init__(self, session: Commands, on_completions: Callable[[str, str, list[str]], None]) -> None:
        """`on_completions(argument, value, values)` is called with the completions of the newest text."""
        self._session = session
        self._on_completions = on_completions
        self._cache: OrderedDict[Any, list[str]] = OrderedDict()
        self._task: asyncio.Task[Any] | None = None
        self._offered = True

    def typed(self, ref: dict[str, Any], argument: str, value: str, others: dict[str, str]) -> None:
        """An argument has this text now; `others` are the arguments with values."""
        self.stop()
        if not self._offered:
            return
        key = (tuple(ref.items()), argument, value, tuple(sorted(others.items())))
        if key in self._cache:
            self._cache.move_to_end(key)
            self._on_completions(argument, value, self._cache[key])
            return
        self._task = self._session.run(self._ask(key, ref, argument, value, others))

    def stop(self) -> None:
        """Ignore what was typed."""
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def _ask(self, key: Any, ref: dict[str, Any], argument: str, value: str, others: dict[str, str]) -> None:
        await asyncio.sleep(PAUSE)
        try:
            values = await self._session.complete(ref, argument, value, others)
        except NotOffered:
            self._offered = False
            return
        except ServerError as error:
            # In revisions without the capability only a request can tell.
            self._offered = error.rpc_code != METHOD_NOT_FOUND
            values = []
        except InspectorError:
            return
        self._cache[key] = values[:SHOWN]
        if len(self._cache) > KEPT:
            self._cache.popitem(last=False)
        self._on_completions(argument, value, self._cache[key])


class Suggestions:
    """The completions of a field; the field draws them directly below its text.

    `at` is the value that tab accepts, -1 for none. `is_picked`: the user moved to it, so enter accepts it too.
    """

    def __init__(self, field: TextField, values: list[str], *, chosen: bool) -> None:
        self.field = field
        self.values = values
        self.at = 0 if values and chosen else -1
        self.is_picked = False

    @property
    def chosen(self) -> str | None:
        """The value that would be accepted, or None."""
        return self.values[self.at] if self.at >= 0 else None

    def step(self, by: int) -> None:
        """Go to the next or previous value, and wrap around."""
        self.at = (max(self.at, -1 if by > 0 else 0) + by) % len(self.values)
        self.is_picked = True
        self.field.refresh()

    def segments(self, room: int) -> list[Segment]:
        """Draw as many values as fit, always the selected one, and the key that accepts it."""
        theme = palette()
        if not self.values:
            return paint.segments([("suggestions: none", "faint")], room=room, theme=theme)
        takes = ("field.next" if self.is_picked else "app.next-pane", "takes")
        key_hints = hints(self.field, takes if self.at >= 0 else ("list.down", "chooses"))
        key = " ".join(f"{hint.label} {hint.title}" for hint in key_hints)
        right = paint.segments([(key, "faint")], room=room, theme=theme)
        line: list[Segment] = []
        for at in range(max(self.at - 3, 0), len(self.values)):
            role = "bright" if at == self.at else "muted"
            line += paint.segments([(safe(self.values[at], VALUE), role), "  "], room=room, theme=theme)
            if paint.width(line) > room:
                break
        return paint.spread(line, right, room)


class FieldCompletion:
    """Completes the focused field of a form. The field draws the values (`Suggestions`)."""

    def __init__(self, session: SessionState) -> None:
        self._completer = Completer(session.commands, self._show_completions) if session.commands is not None else None
        self._editor: TextField | None = None
        self._offered: Suggestions | None = None

    def complete_focused(self, ref: dict[str, Any] | None, view: FormView) -> None:
        """Complete the focused field; `ref` is the server's reference for the item, None for nothing."""
        focused = view.screen.focused if view.is_attached else None
        if (
            ref is None
            or self._completer is None
            or not isinstance(focused, TextField)
            or view not in focused.ancestors
        ):
            self.clear()
            return
        if focused is not self._editor:
            self.clear()
        self._editor = focused
        value = view.value if isinstance(view.value, dict) else {}
        name = focused.field.name
        others = {key: text for key, text in value.items() if isinstance(text, str) and key != name}
        self._completer.typed(ref, name, focused.field.text, others)

    @property
    def offers(self) -> bool:
        """Whether there are values to choose from."""
        return self._offered is not None and bool(self._offered.values)

    def clear(self) -> None:
        """No field is focused: remove the suggestions."""
        if self._completer is not None:
            self._completer.stop()
        self._show(None)
        self._editor = None

    def _show(self, offered: Suggestions | None) -> None:
        self._offered = offered
        if self._editor is not None:
            self._editor.post_message(HintsChanged())
            self._editor.suggestions = offered
            # The selected value is also shown in the field if it extends the typed text.
            self._editor.suggestion = (offered.chosen if offered is not None else None) or ""
            self._editor.refresh()

    def _show_completions(self, argument: str, value: str, values: list[str]) -> None:
        editor = self._editor
        if editor is None or (editor.field.name, editor.field.text) != (argument, value):
            return
        # Without typed text, tab must leave the field empty.
        others = [other for other in values if other != value]
        # Only other values are shown; if the typed one is the only one, the result is not "none".
        self._show(Suggestions(editor, others, chosen=bool(value)) if others or not values else None)

    def accept(self, *, picked: bool = False) -> bool:
        """Put the suggested value into the field, or only one that the user selected; False without one."""
        offered, editor = self._offered, self._editor
        if offered is None or offered.chosen is None or editor is None or not editor.has_focus:
            return False
        if picked and not offered.is_picked:
            return False
        self._show(None)
        editor.value = offered.chosen
        return True

    def step(self, by: int) -> bool:
        """Go to the next or previous value; False if there are none."""
        if self._offered is None or not self.offers:
            return False
        self._offered.step(by)
        self._show(self._offered)
        return True
