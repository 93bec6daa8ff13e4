"""Finds secrets in one line of a recording: in its texts, in JSON inside texts, in base64, under telling names.

A line is JSON, the message in it is a string, and a string of the message may be JSON again. An inner finding is mapped
outward to an edit of the line itself, so that nothing else of it changes.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple
from urllib import parse

from inspector.config.folder_names import FolderNames
from inspector.config.private_keys import PrivateKeyFilter
from inspector.config.secret_forms import BEGINNING, SecretFinder
from inspector.config.token_patterns import LIKE_A_TOKEN
from inspector.protocol.exact_json.tokens import JsonSyntaxError, JsonToken, tokens, unquote
from inspector.redact import entropy, named_secrets
from inspector.redact.rules import START, RedactionRules, RulePath

_ESCAPE = re.compile(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL)


class FoundSecret(NamedTuple):
    """A secret: its rule, its text, its place."""

    rule: str
    secret: str
    where: str


class Edit(NamedTuple):
    """Replaces characters `start` to `end` of a text by `text`, because of the secrets found there."""

    start: int
    end: int
    text: str
    secrets: tuple[FoundSecret, ...]


def merged(edits: Iterable[Edit]) -> list[Edit]:
    """Return the edits in order, without overlaps: the earlier one stays, of two with one start the longer."""
    kept: list[Edit] = []
    for edit in sorted(edits, key=lambda edit: (edit.start, -edit.end)):
        if not kept or edit.start >= kept[-1].end:
            kept.append(edit)
    return kept


def applied(text: str, edits: Sequence[Edit]) -> str:
    """Return the text with ordered edits that do not overlap."""
    parts: list[str] = []
    at = 0
    for edit in edits:
        parts += (text[at : edit.start], edit.text)
        at = edit.end
    return "".join(parts) + text[at:] if edits else text


def outward(literal: str, value: str, edits: Sequence[Edit], offset: int) -> list[Edit]:
    """Map edits of the value of a string literal to the text in which the literal starts at `offset`.

    Everything else keeps its spelling.
    """
    if not edits:
        return []
    if len(value) == len(literal) - 2:  # nothing is escaped, or an escape is invalid and the text is used as it is
        shift = offset + 1
        return [Edit(edit.start + shift, edit.end + shift, _escaped(edit.text), edit.secrets) for edit in edits]
    places = sorted({place for edit in edits for place in (edit.start, edit.end)})
    at: dict[int, int] = {}
    escapes = _ESCAPE.finditer(literal, 1, len(literal) - 1)
    escape = next(escapes, None)
    raw, plain = 1, 0  # positions in the literal and in its value
    for place in places:
        while escape is not None and place > plain + escape.start() - raw:
            raw, plain = escape.end(), plain + escape.start() - raw + 1
            escape = next(escapes, None)
        at[place] = raw + place - plain
    return [Edit(offset + at[edit.start], offset + at[edit.end], _escaped(edit.text), edit.secrets) for edit in edits]


def _escaped(text: str) -> str:
    """Return a text escaped for a string literal."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


MAX_DEPTH = 6
"""Levels of JSON in strings of JSON that are searched, base64 included."""
MIN_LENGTH = 4
"""Characters below which a text is not searched."""
RUN = re.compile(r"(?:\\[nrtbf]|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2})?([A-Za-z0-9]{4,})")
"""A run of letters and digits, also in a text with escapes."""

_BEGUN = 4
"""Letters and digits of a run by which a secret that was cut off is found."""
_ESCAPED = re.compile(r"\\u00[2-7]")
_MIN_ASSIGNMENT = 7
_MIN_KEY = 16
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")
_BASE64_INSIDE = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,}+={0,2}(?![A-Za-z0-9+/_=-])")
_SCHEME = re.compile(r"\S{2,20} +(?=\S)")
_PAIRS = frozenset(("headers", "env", "environment", "cookies", "fields"))
_LABELS = frozenset(("name", "key", "header", "field"))
_DIGESTS = ("sha1-", "sha256-", "sha384-", "sha512-", "sha256:", "sha512:")
_MAX_PLACE = 12
_STEP = 60


class KnownSecret(NamedTuple):
    """A secret that was found, its rule, and what finds it elsewhere."""

    secret: str
    rule: str
    finder: SecretFinder


def keys_of_secret(secret: str) -> set[str]:
    """Return texts of which one is a key of each text with the secret, or with its beginning."""
    whole, begun = RUN.findall(secret), RUN.findall(secret[:BEGINNING])
    return {*sorted(whole, key=len)[-1:], *(run[:_BEGUN] for run in begun[:1])}


def keys_of_text(text: str) -> set[str]:
    """Return the runs of letters and digits in a text, and how each begins."""
    runs = set(RUN.findall(text))
    return runs | {run[:_BEGUN] for run in runs}


class _Frame:
    """An object or array that is being read."""

    __slots__ = ("index", "is_object", "key", "label", "name", "previous", "reached", "start")

    def __init__(self, name: str, is_object: bool, start: int, reached: list[frozenset[int]]) -> None:
        self.name = name
        """The name of its member."""
        self.is_object = is_object
        self.start = start
        """Its start, if a rule hides all of it; else -1."""
        self.reached = reached
        """The progress of each rule's path here."""
        self.key = ""
        self.index = -1
        self.label = ""
        """For an object, the name that it gives for its value; for an array, its first item."""
        self.previous = ""


class SecretScanner:
    """Searches for what the rules define. `mark` makes the replacement of a secret.

    `known`: secrets that were found elsewhere, by their keys; they are found in any text.
    """

    def __init__(self, rules: RedactionRules, mark: Callable[[str], str]) -> None:
        self.rules = rules
        self.mark = mark
        self.known: dict[str, list[KnownSecret]] = {}
        self._shapes = rules.shapes
        self._named = "named" in rules.names
        self._random = "entropy" in rules.names
        self._keys = PrivateKeyFilter()
        self._folders = FolderNames(rules.folders) if "home" in rules.names else None
        hints = {hint for shape in self._shapes for hint in shape.hints if hint != "token"}
        hints.update(named_secrets.HINTS if self._named else (), self._folders.hints if self._folders else ())
        self._hints = sorted(hints)
        self._by_sign: dict[str, list[str]] = {}
        """The hints, by a sign in them. A single character is searched much faster: images have few signs."""
        for hint in self._hints:
            self._by_sign.setdefault(next((char for char in hint if char in "_-.@/"), ""), []).append(hint)
        self._present = self._hints
        """The hints that may occur in the texts of the current line."""

    @property
    def inside_key(self) -> bool:
        """Whether a private key has begun in the lines of the server's output, and has not ended."""
        return self._keys.inside

    def restart(self) -> None:
        """Begin with the first line again."""
        self._keys = PrivateKeyFilter()

    def line(self, text: str) -> list[Edit]:
        """Return the edits of a line of a recording, in order.

        A torn line or invalid JSON is searched as plain text.
        """
        self._present = self._present_in(text)
        if not self._suspicious(text):
            return []
        if text[:1] == "{":
            try:
                return merged(self._json(text, "", 0))
            except JsonSyntaxError:
                pass
        return merged(self._plain(text, "", "a line that is not JSON"))

    def _suspicious(self, text: str) -> bool:
        """Whether the line may contain a secret. Most lines end here."""
        if self.rules.patterns or self.rules.paths or self.inside_key or _ESCAPED.search(text):
            return True
        if len(text) < _MIN_ASSIGNMENT:
            return self.knows(text)
        low = text.lower()
        if any(hint in low for hint in self._present) or low.count("token") > low.count("progresstoken"):
            return True
        return entropy.may_hold(text) or self.knows(text) or LIKE_A_TOKEN.search(text) is not None

    def _present_in(self, text: str) -> list[str]:
        """Return the hints in a line, plain or escaped."""
        if _ESCAPED.search(text):
            return self._hints
        low = text.lower()
        present = [hint for sign, hints in self._by_sign.items() if sign in low for hint in hints if hint in low]
        quoted = any(hint.endswith("\\") for hint in present)  # An escaped quote is a plain one one level deeper.
        return [hint for hint in self._hints if hint in low or hint[-1] == '"'] if quoted else present

    def knows(self, text: str) -> bool:
        """Whether a text may contain one of the known secrets."""
        return bool(self.known) and not self.known.keys().isdisjoint(keys_of_text(text))

    # Texts

    def _text(self, text: str, name: str, where: str, level: int) -> list[Edit]:
        """Return the edits of any text; `name` is the name of its member."""
        if level < MAX_DEPTH and text:
            if text[0] in "{[ \t\r\n\ufeff" and text.lstrip(" \t\r\n\ufeff")[:1] in ("{", "["):
                try:
                    return merged(self._json(text, where, level))
                except JsonSyntaxError:
                    pass
            elif len(text) >= 24:
                compact = "".join(text.split()) if "\n" in text else text
                if _BASE64.fullmatch(compact):
                    inside = [edit._replace(end=len(text)) for edit in self._base64(compact, where, level)]
                    return inside or merged(self._plain(text, name, where))
                return merged([*self._plain(text, name, where), *self._encoded(text, where, level)])
        return merged(self._plain(text, name, where))

    def _encoded(self, text: str, where: str, level: int) -> Iterator[Edit]:
        """Yield the edits of base64 in the middle of a text, such as in a `data:` URL."""
        for match in _BASE64_INSIDE.finditer(text):
            for edit in self._base64(match[0], where, level):
                yield edit._replace(start=match.start(), end=match.end())

    def _plain(self, text: str, name: str, where: str, *, binary: bool = False) -> Iterator[Edit]:
        """Yield the edits of plain text. Of `binary` data only by rules that nothing else applies."""
        low = text.lower()
        present = [hint for hint in self._present if hint in low]
        for shape in self._shapes:
            if (binary and not shape.prefix) or (shape.hints and shape.hints.isdisjoint(present)):
                continue
            for start, end in shape.places(text):
                yield self._edit(start, end, shape.name, text[start:end], where)
        for rule, pattern in self.rules.patterns:
            for match in pattern.finditer(text):
                start, end = match.span(1 if pattern.groups and match[1] is not None else 0)
                if end > start:
                    yield self._edit(start, end, rule, text[start:end], where)
        if self._named and not binary and ("=" in text or ":" in text):
            for start, end, secret in named_secrets.in_text(text):
                yield self._edit(start, end, "named", secret, where)
        if self._random and not binary and len(text) >= 20 and name.lower() not in entropy.OPAQUE:
            yield from self._runs(text, where)
        if self.knows(text):
            yield from self._known(text, where)
        if self._folders is not None and not binary and any(hint in low for hint in self._folders.hints):
            yield from (Edit(start, end, replacement, ()) for start, end, replacement in self._folders.places(text))

    def _runs(self, text: str, where: str) -> Iterator[Edit]:
        for match in entropy.RUN.finditer(text):
            run = match[0]
            embedded = run.startswith(_DIGESTS) or text.endswith("base64,", 0, match.start())
            if not embedded and entropy.looks_random(run):
                yield self._edit(*match.span(), "entropy", run, where)

    def _known(self, text: str, where: str) -> Iterator[Edit]:
        present = self.known.keys() & keys_of_text(text)
        for secret, rule, finder in dict.fromkeys(known for key in present for known in self.known[key]):
            for start, end in finder.places(text):
                yield self._edit(start, end, rule, secret, where)

    def _edit(self, start: int, end: int, rule: str, secret: str, where: str) -> Edit:
        plain = parse.unquote(secret) if "%" in secret else secret
        return Edit(start, end, self.mark(plain), (FoundSecret(rule, plain, where),))

    # Base64

    def _base64(self, text: str, where: str, level: int) -> list[Edit]:
        """Return the edit of base64 with a secret in it: all of it, encoded again."""
        safe = "-" in text or "_" in text
        try:
            data = base64.b64decode(text + "=" * (-len(text) % 4), b"-_" if safe else None, validate=True)
        except (binascii.Error, ValueError):
            return []
        new, secrets = self.data(data, where, level + 1)
        if not secrets:
            return []
        encoded = (base64.urlsafe_b64encode if safe else base64.b64encode)(new).decode()
        return [Edit(0, len(text), encoded if len(text) % 4 == 0 else encoded.rstrip("="), secrets)]

    def data(self, data: bytes, where: str, level: int) -> tuple[bytes, tuple[FoundSecret, ...]]:
        """Return bytes without their secrets, and the secrets."""
        try:
            text, binary = data.decode("utf-8"), False
        except UnicodeDecodeError:
            text, binary = data.decode("latin-1"), True
        binary = binary or "\0" in text
        outside, self._present = self._present, self._present_in(text)
        if binary:
            inside = self._encoded(text, where, level) if level < MAX_DEPTH else ()
            edits = merged([*self._plain(text, "", where, binary=True), *inside])
        else:
            edits = self._text(text, "", where, level)
        self._present = outside
        if not edits:
            return data, ()
        if binary:
            # Each character is a byte, and must be one afterwards.
            edits = [edit._replace(text=edit.text.encode().decode("latin-1")) for edit in edits]
            new = applied(text, edits).encode("latin-1")
        else:
            new = applied(text, edits).encode("utf-8")
        return new, tuple(found_secret for edit in edits for found_secret in edit.secrets)

    # JSON

    def _json(self, text: str, where: str, level: int) -> Iterator[Edit]:
        """Yield the edits of a JSON text, not in order. Raises `JsonSyntaxError` if it is not JSON.

        Level 0 is the line; on level 1 is the message, in which paths are matched.
        """
        frames: list[_Frame] = []
        paths: Sequence[tuple[str, RulePath]] = self.rules.paths if level == 1 and where == "$" else ()
        for token, start, end in tokens(text):
            if token is JsonToken.KEY:
                frame = frames[-1]
                frame.key = unquote(text[start:end])
                if len(frame.key) >= _MIN_KEY and self._suspicious(frame.key):
                    inner = self._text(frame.key, "name", where, level + 1)
                    yield from outward(text[start:end], frame.key, inner, start)
                continue
            if token is JsonToken.CLOSE:
                frame = frames.pop()
                if frame.start >= 0:
                    yield self._whole(text, frame.start, end, frame.name, _place(where, frames, level))
                continue
            around = frames[-1] if frames else None
            if around is not None and not around.is_object:
                around.index += 1
            reached = _reached(paths, frames) if paths else []
            hidden = next((rule for (rule, path), far in zip(paths, reached, strict=True) if path.ends(far)), "")
            if token is not JsonToken.SCALAR:
                name = "" if around is None else around.key if around.is_object else around.name
                frames.append(_Frame(hidden or name, token is JsonToken.OBJECT, start if hidden else -1, reached))
            elif hidden:
                yield self._whole(text, start, end, hidden, _place(where, frames, level))
            elif text[start] == '"':
                yield from self._string(text[start:end], start, frames, where, level)
            elif around is not None and self._named and text[start] in "-0123456789" and end - start >= 4:
                name = around.key if around.is_object else ""
                if named_secrets.hides_numbers(name):
                    yield self._whole(text, start, end, "named", _place(where, frames, level))

    def _whole(self, text: str, start: int, end: int, rule: str, where: str) -> Edit:
        """Return the edit of a value of any type: a string replaces it."""
        value = text[start:end]
        secret = unquote(value) if value[0] == '"' else value
        return Edit(start, end, f'"{self.mark(secret)}"', (FoundSecret(rule, secret, where),))

    def _string(self, literal: str, at: int, frames: list[_Frame], where: str, level: int) -> list[Edit]:
        """Return the edits of a string literal at `at`."""
        value = unquote(literal)
        name, setting = _name_of(frames, value)
        if level == 0 and len(frames) == 1 and name in ("raw", "b64"):
            return outward(literal, value, self._payload(value, name, frames), at)
        if (
            self._named
            and name
            and (named_secrets.is_secret_setting(name) if setting else named_secrets.is_secret(name))
        ):
            scheme = _SCHEME.match(value) if name.lower().endswith("authorization") else None
            start = scheme.end() if scheme else 0
            if named_secrets.plausible(name, value[start:]):
                place = _place(where, frames, level)
                return outward(literal, value, [self._edit(start, len(value), "named", value[start:], place)], at)
        if (len(value) < MIN_LENGTH and not self.rules.patterns) or not self._suspicious(value):
            return []
        return outward(literal, value, self._text(value, name, _place(where, frames, level), level + 1), at)

    def _payload(self, value: str, name: str, frames: list[_Frame]) -> list[Edit]:
        """Return the edits of a message on the wire: a text, or other bytes."""
        kind = frames[0].label
        if name == "raw":
            if kind in ("stderr", "invalid") and "pem" in self.rules.names:
                octets = value.encode("utf-8", "surrogatepass")
                if self._keys.line(octets) != octets:
                    return [self._edit(0, len(value), "pem", value, kind)]
            return self._text(value, "", "$" if value.lstrip()[:1] in ("{", "[") else kind, 1)
        try:
            data = base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            return []
        new, payload = self.data(data, kind, 1)
        return [Edit(0, len(value), base64.b64encode(new).decode(), payload)] if payload else []


def _name_of(frames: list[_Frame], value: str) -> tuple[str, bool]:
    """Return the name of a string, and whether it is a header or a variable. Remembers names for later values."""
    if not frames:
        return "", False
    frame = frames[-1]
    if frame.is_object:
        if frame.key in _LABELS or (frame.key == "kind" and len(frames) == 1):
            frame.label = value[:200]
        if frame.key == "value" and frame.label:
            return frame.label, True
        return frame.key, frame.name in _PAIRS
    before, frame.previous = frame.previous, value[:200]
    if frame.index == 1 and len(frames) > 1 and frames[-2].name in _PAIRS:
        return before, True
    if before.startswith("-") and "=" not in before and not value.startswith("-"):
        return before, False
    return frame.name, False


def _reached(paths: Sequence[tuple[str, RulePath]], frames: list[_Frame]) -> list[frozenset[int]]:
    """Return the progress of each path at the current value. In an array of messages each starts again."""
    if not frames:
        return [START] * len(paths)
    frame = frames[-1]
    key = frame.key if frame.is_object else frame.index
    progress = [path.step(far, key) for (_, path), far in zip(paths, frame.reached, strict=True)]
    return [far | START for far in progress] if len(frames) == 1 and not frame.is_object else progress


def _place(where: str, frames: list[_Frame], level: int) -> str:
    """Return the place of a value, for people: in the message from `$`, in the line by its member's name."""
    if level > 1:
        return where
    steps = [f"[{frame.index}]" if not frame.is_object else f".{frame.key[:_STEP]}" for frame in frames]
    if len(steps) > _MAX_PLACE:
        steps = [*steps[:3], "…", *steps[-6:]]
    return (where if level else "") + ("".join(steps) if level else "".join(steps)[1:])
