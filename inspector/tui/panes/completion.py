"""Values that the server offers for an argument while it is typed: asked for once, a moment after the last key."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from inspector.client.session import Session
from inspector.errors import InspectorError, NotOffered, ServerError
from inspector.protocol.form import Field
from inspector.protocol.jsonrpc import METHOD_NOT_FOUND
from inspector.text import safe
from inspector.tui.events import AnySession
from inspector.tui.panes.keys import hints
from inspector.tui.themes import palette
from inspector.tui.widgets import paint
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.fields.text import TextField
from inspector.tui.widgets.form import FormView

PAUSE = 0.15
"""Seconds without a key after which the server is asked."""

KEPT = 200
"""Answers that are kept for each session."""

SHOWN = 100
"""Values that are shown of an answer; the specification allows no more (C-COMP-01)."""

VALUE = 200


class Completer:
    """Asks for completions: debounced, cached, one question at a time (C-COMP-01)."""

    def __init__(self, session: Session, found: Callable[[str, str, list[str]], None]) -> None:
        """`found(argument, value, values)` is called with what the server offers for what was typed last."""
        self._session = session
        self._found = found
        self._cache: OrderedDict[Any, list[str]] = OrderedDict()
        self._task: asyncio.Task[Any] | None = None
        self._offered = True

    def typed(self, ref: dict[str, Any], argument: str, value: str, others: dict[str, str]) -> None:
        """An argument has this text now; `others` are the arguments that were filled in already."""
        self.stop()
        if not self._offered:
            return
        key = (tuple(ref.items()), argument, value, tuple(sorted(others.items())))
        if key in self._cache:
            self._cache.move_to_end(key)
            self._found(argument, value, self._cache[key])
            return
        self._task = self._session.run(self._ask(key, ref, argument, value, others))

    def stop(self) -> None:
        """What was typed does not matter any more."""
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
            # Revisions without the capability leave no other way to find out.
            self._offered = error.rpc_code != METHOD_NOT_FOUND
            values = []
        except InspectorError:
            return
        self._cache[key] = values[:SHOWN]
        if len(self._cache) > KEPT:
            self._cache.popitem(last=False)
        self._found(argument, value, self._cache[key])


class Suggestions(Widget):
    """One line of values that could be taken, the next one bright."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    Suggestions { height: 1; width: 1fr; display: none; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.values: list[str] = []
        self.at = 0

    @property
    def chosen(self) -> str | None:
        """The value that would be taken, or None."""
        return self.values[self.at] if self.values and self.at >= 0 else None

    def show(self, values: list[str], *, chosen: bool = True) -> None:
        """Show these values, or nothing where there are none; the first is chosen, or none until the user steps."""
        self.values = values
        self.at = 0 if chosen else -1
        self.display = bool(values)
        self.refresh()

    def step(self, by: int) -> None:
        """Go to the next or previous value, round the end."""
        if self.values:
            self.at = (max(self.at, -1 if by > 0 else 0) + by) % len(self.values)
            self.refresh()

    def render_line(self, y: int) -> Strip:
        look = palette()
        cells = self.size.width
        room = max(cells - 2, 1)
        takes = ("app.next-pane", "takes") if self.at >= 0 else ("list.down", "chooses")
        key = " ".join(f"{hint.label} {hint.title}" for hint in hints(self, takes))
        right = paint.segments([(key, "faint")], room=room, look=look)
        line: list[Segment] = []
        # The chosen value is always in view: as many before it as leave room for it.
        for at in range(max(self.at - 3, 0), len(self.values)):
            role = "bright" if at == self.at else "muted"
            line += paint.segments([(safe(self.values[at], VALUE), role), "  "], room=room, look=look)
            if paint.width(line) > room:
                break
        side = Segment(" ")
        return paint.strip([side, *paint.spread(line, right, room), side], cells, look=look)


class FieldCompletion:
    """Completes the field of a form that is typed into, and shows the values on a line below the form."""

    def __init__(self, session: AnySession, line: Suggestions) -> None:
        self._line = line
        self._completer = Completer(session, self._found) if isinstance(session, Session) else None
        self._editor: Editor | None = None
        self._field: Field | None = None

    def look(self, ref: dict[str, Any] | None, view: FormView) -> None:
        """Look at what is typed into now; `ref` is how the server calls what is completed, None for nothing."""
        focused = view.screen.focused if view.is_attached else None
        if ref is None or self._completer is None or not isinstance(focused, TextField):
            self.clear()
            return
        if focused is not self._editor:
            self.clear()
        self._editor, self._field = focused, focused.field
        value = view.value if isinstance(view.value, dict) else {}
        name = self._field.name
        others = {key: text for key, text in value.items() if isinstance(text, str) and key != name}
        self._completer.typed(ref, name, self._field.text, others)

    def clear(self) -> None:
        """Nothing is typed into: take the suggestions away."""
        if self._completer is not None:
            self._completer.stop()
        if self._editor is not None:
            self._editor.suggestion = ""
        self._editor = self._field = None
        self._line.show([])

    def _found(self, argument: str, value: str, values: list[str]) -> None:
        field = self._field
        if field is None or (field.name, field.text) != (argument, value):
            return
        # Where nothing was typed, tab must still leave the field empty.
        self._line.show([each for each in values if each != value], chosen=bool(value))
        self._suggest()

    def _suggest(self) -> None:
        """Show the chosen value in the field as well, where it goes on from what was typed."""
        if self._editor is not None:
            self._editor.suggestion = self._line.chosen or ""

    def take(self) -> bool:
        """Put the value that is suggested into the field; False where none is."""
        chosen, editor = self._line.chosen, self._editor
        if chosen is None or editor is None or not editor.has_focus:
            return False
        self._line.show([])
        editor.value = chosen
        return True

    def step(self, by: int) -> bool:
        """Go to the next or previous value; False where there are none."""
        if not self._line.values:
            return False
        self._line.step(by)
        self._suggest()
        return True
