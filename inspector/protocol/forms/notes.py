"""The state of a form besides its value, by the JSON pointers of fields."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Notes:
    """Typed texts, their errors, chosen variants with the values of others, and fields opened or closed by hand."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.wrong: dict[str, str] = {}
        self.variants: dict[str, int] = {}
        self.left: dict[str, dict[int, Any]] = {}
        """The last value of each variant that was left for another one."""
        self.opened: dict[str, bool] = {}

    def clear(self) -> None:
        """Remove everything about the value; open fields stay open."""
        self.texts.clear()
        self.wrong.clear()
        self.variants.clear()
        self.left.clear()

    def forget(self, path: str) -> None:
        """Remove typed texts at, above and below a path, and choices below it."""
        notes: dict[str, Any]
        for notes in (self.texts, self.wrong, self.variants, self.left):
            for known in [known for known in notes if known.startswith(path + "/")]:
                del notes[known]
        self.texts.pop(path, None)
        self.wrong.pop(path, None)
        self.forget_above(path)

    def forget_above(self, path: str) -> None:
        """Remove typed texts of the objects and arrays around a path."""
        while path:
            path = path.rpartition("/")[0]
            self.texts.pop(path, None)
            self.wrong.pop(path, None)

    def renumber(self, parent: str, place: Callable[[int], int | None]) -> None:
        """Move the notes of an array's items to their new places; None for a removed item."""
        head = parent + "/"
        notes: dict[str, Any]
        for notes in (self.texts, self.wrong, self.variants, self.left, self.opened):
            moved: dict[str, Any] = {}
            for path in [path for path in notes if path.startswith(head)]:
                step, slash, rest = path.removeprefix(head).partition("/")
                note = notes.pop(path)
                target = place(int(step)) if step.isdecimal() else None
                if target is not None:
                    moved[f"{head}{target}{slash}{rest}"] = note
            notes.update(moved)
