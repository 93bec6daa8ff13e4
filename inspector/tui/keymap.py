"""Turns the table of verbs into keys: Textual bindings, labels for hints, and the user's keymap with its conflicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from string import punctuation
from typing import NamedTuple

from textual.binding import Binding
from textual.keys import Keys, _character_to_key
from textual.message_pump import MessagePump

from inspector.errors import ConfigError
from inspector.text import safe
from inspector.tui.model.verbs import KeyHint as KeyHint
from inspector.tui.verbs import BY_ID, CONTEXTS, VERBS, KeymapVerb

_LABELS: Mapping[str, str] = {
    "escape": "esc",
    "delete": "del",
    "pageup": "pgup",
    "pagedown": "pgdn",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    **{_character_to_key(char): char for char in punctuation},
}
_ASCII = {"↑": "up", "↓": "down", "←": "left", "→": "right", "⇧": "shift-"}
_MODIFIERS = frozenset({"ctrl", "shift", "alt", "super", "meta", "hyper"})
_PUNCTUATION = frozenset(_character_to_key(char) for char in punctuation)
_NAMED = frozenset(str(key.value) for key in Keys) | _PUNCTUATION
REMOVED: Mapping[str, str] = {
    "app.tab-3": "app.tab-2",
    "calls.read-again": "",
    "form.older-call": "form.past-calls",
    "form.result": "app.result",
    "items.move-down": "field.move-down",
    "items.move-up": "field.move-up",
    "messages.negotiation": "messages.fold",
    "model.leave": "model.all",
    "replay.speed": "replay.faster",
    "result.content": "result.next-tab",
    "result.structured": "result.next-tab",
    "result.table": "result.next-tab",
    "server.extensions": "app.extensions",
    "timeline.rows": "timeline.back",
}
"""Ids of earlier versions that a keymap may name: the verb that does it now; empty where the program does it itself."""


def label(key: str, ascii: bool = False) -> str:
    """Return the label of a key: `ctrl+r` is `^r`, `question_mark` is `?`."""
    *modifiers, base = key.split("+")
    text = _LABELS.get(base, base)
    if "shift" in modifiers:
        text = f"⇧{text}"
    if "alt" in modifiers:
        text = f"alt-{text}"
    if "ctrl" in modifiers:
        text = f"^{text}"
    if ascii:
        for sign, word in _ASCII.items():
            text = text.replace(sign, word)
    return text


def types_text(key: str) -> bool:
    """Whether a key types a character; in a text field it is never an action."""
    base = key.removeprefix("shift+")
    return len(base) == 1 or base in _PUNCTUATION or base == "space"


NO_KEY = "no-key"
"""The key of a verb without one, which no terminal sends: only a binding that exists can get a key in the settings."""


def bindings(context: str, *, without: str = "") -> list[Binding]:
    """Return a context's bindings, for a widget's `BINDINGS`; a keymap can change their keys by id.

    Keys of the context `without` are skipped: in the pane around the widget they have another meaning.
    """
    taken = {key for verb in VERBS if verb.context == without for key in verb.key.split(",")}
    bound = []
    for verb in VERBS:
        keys = ",".join(key for key in verb.key.split(",") if key not in taken)
        if verb.context == context and (keys or not verb.key):
            bound.append(Binding(keys or NO_KEY, verb.action, verb.title, show=False, id=verb.id))
    return bound


class KeyRow(NamedTuple):
    """A row of keys: the verbs of a group that one sentence describes, such as those for next and previous.

    Without a key they are in the palette.
    """

    verbs: list[KeymapVerb]
    keys: list[str]


class Keymap:
    """The keys in force: those of the table, or the user's if the settings name others.

    `problems` are the ConfigErrors of the overrides: unknown verbs, unknown keys, and keys with two actions in one
    place. A conflict is reported, but the user's key is used. An entry that cannot be understood is ignored.
    """

    def __init__(self, overrides: Mapping[str, str] | None = None) -> None:
        self.overrides: dict[str, str] = {}
        self._verbs_at: dict[str, list[KeymapVerb]] = {}
        self.problems: list[ConfigError] = []
        for verb_id, keys in (overrides or {}).items():
            self._override(verb_id, keys)
        self.problems += self._conflicts()
        self.moved = frozenset(key for verb_id in self.overrides for key in BY_ID[verb_id].key.split(",") if key)
        """The keys of the table whose verbs have keys of the user."""

    def keys(self, verb_id: str) -> list[str]:
        """Return the keys of a verb, by Textual's names."""
        keys = self.overrides.get(verb_id, BY_ID[verb_id].key)
        return [key for key in keys.split(",") if key]

    def verbs_at(self, key: str) -> Sequence[KeymapVerb]:
        """Return the verbs of a key, each in its own context."""
        if not self._verbs_at:
            for verb in VERBS:
                for bound_key in self.keys(verb.id):
                    self._verbs_at.setdefault(bound_key, []).append(verb)
        return self._verbs_at.get(key, ())

    def hint(self, verb_id: str, title: str = "", *, ascii: bool = False) -> KeyHint:
        """Return a verb's hint for a pane or a footer, optionally with another title."""
        keys = self.keys(verb_id)
        key = keys[0] if keys else ""
        return KeyHint(label(key, ascii), title or BY_ID[verb_id].title, key, verb_id)

    def hints(self, verb_ids: Iterable[str], *, ascii: bool = False) -> list[KeyHint]:
        """Return the hints of several verbs, without those that have no key."""
        return [hint for hint in (self.hint(verb_id, ascii=ascii) for verb_id in verb_ids) if hint.key]

    def table(self, verbs: Iterable[KeymapVerb] = VERBS) -> dict[str, list[KeyRow]]:
        """Return the rows of each group, for the keys page and the docs."""
        rows: dict[str, dict[str, KeyRow]] = {}
        for verb in verbs:
            same = rows.setdefault(verb.group, {}).setdefault(verb.description, KeyRow([], []))
            same.verbs.append(verb)
            same.keys.extend(key for key in self.keys(verb.id) if key not in same.keys)
        return {group: list(group_rows.values()) for group, group_rows in rows.items()}

    def _override(self, verb_id: str, keys: str) -> None:
        if verb_id in REMOVED:
            now = REMOVED[verb_id]
            hint = f"Use `{now}` instead." if now else "Inspector does this by itself. Remove the entry."
            self.problems.append(ConfigError(f"The verb `{verb_id}` in the keymap was removed", hint=hint))
            return
        if verb_id not in BY_ID:
            from difflib import get_close_matches

            near = get_close_matches(verb_id[:80], BY_ID, 1, 0.5)
            hint = f"Did you mean `{near[0]}`?" if near else "The help screen lists every verb."
            self.problems.append(ConfigError(f"Unknown verb `{safe(verb_id, 60)}` in the keymap", hint=hint))
            return
        named = [normal_key(key.strip()) for key in keys.split(",") if key.strip()]
        bad = [key for key, normal in zip(keys.split(","), named, strict=False) if normal is None]
        if not named or bad:
            self.problems.append(
                ConfigError(
                    f"Unknown key `{safe(keys, 60)}` for `{verb_id}` in the keymap",
                    hint="Write a key like ctrl+r, f5, shift+up, slash or x; separate several with commas.",
                )
            )
            return
        self.overrides[verb_id] = ",".join(key for key in named if key)

    def _conflicts(self) -> list[ConfigError]:
        """Find ambiguous keys of the overrides: bound twice in a context, or hidden by an inner context."""
        errors = []
        for verb_id in self.overrides:
            verb = BY_ID[verb_id]
            for other in VERBS:
                if other.id == verb_id or not _meet(verb.context, other.context):
                    continue
                # The table itself lets an inner context hide a key; only changes by the user are reported.
                both = sorted(set(self.keys(verb_id)) & set(self.keys(other.id)))
                if both and not (other.id in self.overrides and other.id < verb_id):
                    errors.append(
                        ConfigError(
                            (
                                f"The keymap gives {', '.join(label(key) for key in both)} to `{verb_id}`, "
                                f"but `{other.id}` uses it too"
                            ),
                            hint=f"Give `{other.id}` another key, or choose a free one.",
                        )
                    )
        return errors


_DEFAULT = Keymap()


def keymap_of(widget: MessagePump) -> Keymap:
    """Return the keymap in force: the app's attribute `verb_keys`, or the default."""
    keymap = getattr(widget.app, "verb_keys", None)
    return keymap if isinstance(keymap, Keymap) else _DEFAULT


def types_here(field: MessagePump, key: str, character: str | None) -> bool:
    """Whether a character is text in a field, for its `check_consume_key`; `key` is one of the table, or `""`.

    Textual takes such keys from all verbs around the field before it looks at the user's keymap. That of a verb with
    keys of the user stays, else these would do nothing in a field.
    """
    return character is not None and character.isprintable() and key not in keymap_of(field).moved


def normal_key(key: str) -> str | None:
    """Return a key by Textual's name (`/` is `slash`, `^r` is `ctrl+r`), or None if it is not a key."""
    if len(key) == 2 and key.startswith("^"):
        key = f"ctrl+{key[1]}"
    *modifiers, base = ["+"] if key == "+" else key.split("+")
    if not set(modifiers) <= _MODIFIERS:
        return None
    if len(base) == 1 and base.isprintable():
        base = base if base.isalnum() else _character_to_key(base)
    elif base not in _NAMED:
        return None
    return "+".join((*modifiers, base))


def _meet(one: str, other: str) -> bool:
    """Whether two contexts can be in force at the same time: one is inside the other."""
    return one in _within(other) or other in _within(one)


def _within(context: str) -> Iterable[str]:
    while context:
        yield context
        context = CONTEXTS[context]
