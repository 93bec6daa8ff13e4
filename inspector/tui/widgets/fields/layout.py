"""Decides which widgets a form needs, in which order."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from inspector.protocol.forms.form import Field, Form
from inspector.tui.widgets.fields.base import FieldFrame, FieldHost
from inspector.tui.widgets.fields.choices import ChoiceField, ToggleField, VariantField
from inspector.tui.widgets.fields.containers import AddItem, AddKey, ContainerField, FixedField
from inspector.tui.widgets.fields.text import LongField, TextField, is_long

FrameMaker = Callable[[], FieldFrame]
FieldSlot = tuple[str, str]
"""The identity of a field's widget: the field's path, and the kind of widget."""


def slots_of(form: Form, host: FieldHost) -> Iterator[tuple[FieldSlot, Field, FrameMaker]]:
    """Yield the widgets of the form's fields; after an open object or array, the row that adds to it."""
    open_ones: list[Field] = []
    root = form.root
    if root.kind == "object" and root.variants:
        yield (root.path, "variant"), root, lambda: VariantField(root, host)
    for field in form.fields():
        while open_ones and not field.path.startswith(open_ones[-1].path + "/"):
            yield _adder(open_ones.pop(), host)
        yield from _widgets_of(field, host)
        if field.is_open and field.can_add:
            open_ones.append(field)
    while open_ones:
        yield _adder(open_ones.pop(), host)
    if root.kind == "object" and root.can_add:
        yield _adder(root, host)


def _widgets_of(field: Field, host: FieldHost) -> Iterator[tuple[FieldSlot, Field, FrameMaker]]:
    labelled = not field.variants
    if field.variants:
        yield (field.path, "variant"), field, lambda: VariantField(field, host)
    make: Callable[..., FieldFrame]
    if field.kind in ("object", "array"):
        name, make = "container", ContainerField
    elif field.kind in ("enum", "multi"):
        name, make = field.kind, ChoiceField
    elif field.kind == "boolean":
        name, make = "boolean", ToggleField
    elif field.kind in ("const", "null"):
        name, make = f"fixed {field.required}", FixedField
    elif is_long(field):
        name, make = "long", LongField
    else:
        name, make = "typed", TextField
    yield (field.path, f"{name} {labelled}"), field, lambda: make(field, host, labelled=labelled)


def _adder(field: Field, host: FieldHost) -> tuple[FieldSlot, Field, FrameMaker]:
    if field.kind == "array":
        return (field.path, "add item"), field, lambda: AddItem(field, host)
    return (field.path, "add key"), field, lambda: AddKey(field, host)
