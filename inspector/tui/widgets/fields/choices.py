"""Fields with choices: boolean, one of a few, some of a few, and long lists with a filter."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from inspector.protocol.forms.form import UNSET, Field
from inspector.text import cell_len, safe
from inspector.tui.keymap import bindings, types_here
from inspector.tui.themes import ascii_only, palette, signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.fields.base import FieldFrame, FieldHost

APART = 3
"""Cells between two choices of a line."""
FEW = 8
"""Choices that may be on one line."""

MENU_ROWS = 8
LABEL_LIMIT = 200


class ToggleField(FieldFrame, can_focus=True):
    """`[x]` true, `[ ]` false, `[-]` not set; the description is beside the state, or in the foot."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("choices")]
    describes_in_body = True

    def __init__(self, field: Field, host: FieldHost, *, labelled: bool = True) -> None:
        super().__init__()
        self.frame(field, host, labelled=labelled)

    def body_line(self, y: int) -> Strip:
        value = self.field.value
        mark = "x" if value is True else " " if value is False else "-"
        state = f"[{mark}] {self.field.text or 'not set'}"
        pieces: list[paint.Piece] = [(state, "bright" if self.has_focus else "normal")]
        if self.field.description and not self.has_foot:
            pieces.append((f"  {self.field.description}", "normal"))
        return self.body_strip(paint.segments(pieces, room=self.size.width))

    def key_verbs(self) -> list[str | tuple[str, str]]:
        verbs: list[str | tuple[str, str]] = [("choices.choose", "false" if self.field.value is True else "true")]
        if self.field.value is not UNSET and not self.field.required and not self.field.is_item:
            verbs.append("field.clear")
        return verbs + super().key_verbs()

    def body_clicked(self, x: int, y: int) -> None:
        self.action_choose()

    def action_choose(self) -> None:
        path, value = self.field.path, self.field.value is not True
        self.host.change(self, lambda form: form.put(path, value))

    def action_previous(self) -> None:
        self.action_choose()

    def action_following(self) -> None:
        self.action_choose()

    def action_open(self) -> None:
        raise SkipAction


class ChoiceField(FieldFrame, can_focus=True):
    """One or some of several values: on one line if they fit, else a list with a filter.

    On one line ← and → move; a single choice is selected by moving, several by space. In the open list, typing filters,
    enter selects and esc closes.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("choices"),
        Binding("up", "up", show=False),
        Binding("backspace", "erase", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
    ]

    class ListShown(Message):
        """The list of choices was opened or closed: other keys work now."""

    def __init__(self, field: Field, host: FieldHost, *, labelled: bool = True) -> None:
        super().__init__()
        self.frame(field, host, labelled=labelled)
        self.opened = False
        self.words = ""
        self._at = 0
        self._top = 0
        self._labels: list[str] = []
        self._matches: list[int] = []
        self._make_labels()

    # Choices

    @property
    def several(self) -> bool:
        """Whether more than one may be chosen."""
        return self.field.kind == "multi"

    def labels(self) -> list[str]:
        """Return the labels as the server gave them."""
        return [choice.label for choice in self.field.choices]

    def chosen(self) -> tuple[int, ...]:
        """Return which choices are selected."""
        return self.field.chosen

    def pick(self, index: int) -> None:
        """Select one; of several, toggle it."""
        path = self.field.path
        if self.several:
            self.host.change(self, lambda form: form.toggle(path, index))
        else:
            value = self.field.choices[index].value
            self.host.change(self, lambda form: form.put(path, value))

    def _make_labels(self) -> None:
        plain = ascii_only()
        self._labels = [safe(label, LABEL_LIMIT, ascii=plain) for label in self.labels()]
        self._find()

    def field_changed(self) -> None:
        self._make_labels()
        if not self.opened and self.chosen() and not self.several:
            self._at = self.chosen()[0]

    def _find(self) -> None:
        words = self.words.lower().split()
        self._matches = [
            index for index, label in enumerate(self._labels) if all(word in label.lower() for word in words)
        ]

    @property
    def on_one_line(self) -> bool:
        """Whether all choices fit beside each other."""
        marks, gap = 4 * len(self._labels), self._gap
        room = self.body_room + gap
        return len(self._labels) <= FEW and marks + sum(cell_len(text) + gap for text in self._labels) <= room

    @property
    def _gap(self) -> int:
        return APART if self.host.columns is None else 1

    # Keys

    def check_consume_key(self, key: str, character: str | None) -> bool:
        return self.opened and types_here(self, key, character)

    def on_key(self, event: events.Key) -> None:
        if event.is_printable and event.character and (self.opened or not self.on_one_line) and event.key != "space":
            event.stop()
            event.prevent_default()
            if not self.opened:
                self._open()
            self._filter(self.words + event.character)

    def key_verbs(self) -> list[str | tuple[str, str]]:
        if self.opened:
            return [("field.next", "choose"), "choices.dismiss"]
        if not self.on_one_line:
            return [("choices.choose", "choose"), *super().key_verbs()]
        moves: list[str | tuple[str, str]] = ["choices.previous", "choices.following"]
        return [*moves, *(["choices.choose"] if self.several else []), *super().key_verbs()]

    @property
    def keeps_keys(self) -> bool:
        return self.opened

    def action_erase(self) -> None:
        if not self.opened:
            raise SkipAction
        self._filter(self.words[:-1])

    def _filter(self, words: str) -> None:
        self.words = words
        self._find()
        self._at = self._top = 0
        self._redraw()

    def action_previous(self) -> None:
        if self.opened:
            raise SkipAction
        self._step(-1)

    def action_following(self) -> None:
        if self.opened:
            raise SkipAction
        self._step(1)

    def _step(self, by: int) -> None:
        if not self.on_one_line or not self._labels:
            raise SkipAction
        nothing = not self.several and not self.chosen()
        self._at = 0 if nothing else (self._at + by) % len(self._labels)
        if self.several:
            self.refresh()
        else:
            self.pick(self._at)

    def action_choose(self) -> None:
        if self.opened:
            self._pick_match()
        elif self.on_one_line:
            if self._labels:
                self.pick(self._at if self.several else (self._at + bool(self.chosen())) % len(self._labels))
        else:
            self._open()

    def action_open(self) -> None:
        if self.opened:
            self._go(1)
        elif self.on_one_line:
            raise SkipAction
        else:
            self._open()

    def action_up(self) -> None:
        if not self.opened:
            raise SkipAction
        self._go(-1)

    def action_page(self, by: int) -> None:
        if not self.opened:
            raise SkipAction
        self._go(by * MENU_ROWS)

    def action_next(self) -> None:
        if self.opened:
            self._pick_match()
        else:
            self.host.go_next(self)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While the list is closed, the key that closes it goes to what is around the field."""
        return self.opened if action == "dismiss" else True

    def action_dismiss(self) -> None:
        self._close()

    def _pick_match(self) -> None:
        if self._matches:
            index = self._matches[self._at]
            if not self.several:
                self._close()
            self.pick(index)

    def _go(self, by: int) -> None:
        self._at = min(max(self._at + by, 0), max(len(self._matches) - 1, 0))
        self._top = min(max(self._top, self._at - MENU_ROWS + 1), self._at)
        self.refresh()

    def _open(self) -> None:
        self.opened = True
        self.words = ""
        self._find()
        chosen = self.chosen()
        self._at = chosen[0] if chosen else 0
        self._top = max(self._at - MENU_ROWS // 2, 0)
        self._redraw()
        self.post_message(self.ListShown())

    def _close(self) -> None:
        self.opened = False
        self.words = ""
        self._find()
        self._at = self.chosen()[0] if self.chosen() else 0
        self._redraw()
        self.post_message(self.ListShown())

    def on_blur(self) -> None:
        if self.opened:
            self._close()

    def _redraw(self) -> None:
        self.refresh(layout=True)

    # Mouse

    def body_clicked(self, x: int, y: int) -> None:
        if self.opened:
            if y == 0:
                self._close()
            elif 0 <= self._top + y - 1 < len(self._matches):
                self._at = self._top + y - 1
                self._pick_match()
        elif not self.on_one_line:
            self._open()
        else:
            start = 0
            for index, label in enumerate(self._labels):
                end = start + 4 + cell_len(label)
                if start <= x < end:
                    self._at = index
                    self.pick(index)
                start = end + self._gap

    # Drawing

    def body_rows(self) -> int:
        return 1 + min(max(len(self._matches), 1), MENU_ROWS) if self.opened else 1

    def _mark(self, chosen: bool) -> str:
        if self.several:
            return "[x]" if chosen else "[ ]"
        return f"({'*' if ascii_only() else '•'})" if chosen else "( )"

    def body_line(self, y: int) -> Strip:
        if self.opened:
            return self._menu_line(y)
        return self._inline() if self.on_one_line else self._summary()

    def _inline(self) -> Strip:
        theme = palette()
        chosen = set(self.chosen())
        line: list[Segment] = []
        for index, label in enumerate(self._labels):
            here = self.several and self.has_focus and index == self._at
            role = "bright bold" if here else "bright" if index in chosen else "normal"
            line += [Segment(" " * self._gap)] if line else []
            line.append(Segment(f"{self._mark(index in chosen)} ", theme.style("accent" if here else role)))
            line.append(Segment(label, theme.style(role)))
        if self.field.value is None and self.field.nullable and not chosen:
            line.append(Segment(f"   {self.field.text}", theme.style("faint")))
        return self.body_strip(line)

    def _summary(self) -> Strip:
        chosen = self.chosen()
        words = ", ".join(self._labels[index] for index in chosen[:20])
        pieces: list[paint.Piece] = [(f"{signs_now().unfolded} ", "muted"), (words, "bright")]
        if not chosen:
            pieces.append((self.field.text or "nothing selected", "faint"))
        return self.body_strip(paint.segments(pieces, room=self.size.width))

    def _menu_line(self, y: int) -> Strip:
        if y == 0:
            counted = f"  {len(self._matches):,} of {len(self._labels):,}"
            words: list[paint.Piece] = [("/ ", "key"), (self.words, "bright"), (signs_now().caret, "accent")]
            return self.body_strip(paint.segments([*words, (counted, "faint")], room=self.size.width))
        row = self._top + y - 1
        if row >= len(self._matches):
            return self.body_strip(paint.segments([("no match", "faint")]))
        index = self._matches[row]
        here = row == self._at
        mark = self._mark(index in self.chosen())
        line = paint.segments([(f"{mark} ", "accent" if here else "muted"), (self._labels[index], "bright")])
        if here:
            theme = palette()
            line = [Segment(text, theme.on(style, "selection") if style else None) for text, style, _ in line]
        return self.body_strip(line)


class VariantField(ChoiceField):
    """Selects the variant of a field; the field itself follows without a label."""

    @property
    def several(self) -> bool:
        return False

    def labels(self) -> list[str]:
        return list(self.field.variants)

    def chosen(self) -> tuple[int, ...]:
        return (self.field.variant,)

    def pick(self, index: int) -> None:
        path = self.field.path
        if index != self.field.variant:
            self.host.change(self, lambda form: form.choose(path, index), structure=True)
