"""Redacts a whole recording: lists its secrets, and writes a copy without them. Reads line by line, twice."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from inspector.config.secret_forms import SecretFinder
from inspector.config.token_patterns import SHAPES
from inspector.errors import RecordingError
from inspector.journal.format import dumps
from inspector.journal.journal import Journal
from inspector.journal.redaction import Redactor
from inspector.protocol.jsonrpc import NotJson, parse
from inspector.redact.rules import RedactionRules
from inspector.redact.scan import Edit, FoundSecret, KnownSecret, SecretScanner, applied, keys_of_secret
from inspector.version import __version__

MAX_VALUES = 20_000
"""Different values that are listed separately."""
MAX_KNOWN = 2000
"""Values that are searched everywhere because they occurred under a telling name."""
MIN_KNOWN = 8
"""Characters of such a value; a shorter one would match other text."""
EVENTS_NAMED = 10
MIN_FOR_A_HEAD = 12
"""Characters of a secret from which its first ones may be shown."""

_SHOWN = {shape.name: shape.prefix for shape in SHAPES}
_SPREADS = ("named", "entropy", "aws-secret", "bearer", "url")


@dataclass(slots=True)
class SecretValue:
    """One secret: the part of it that may be shown, and its places."""

    rule: str
    head: str
    """Its first characters if they show its kind, else empty."""
    length: int
    """In characters."""
    where: str
    """The first place."""
    count: int = 0
    events: list[int] = field(default_factory=list)
    """The numbers of the first events that contain it; 0 is the header."""


@dataclass(slots=True)
class RedactionReport:
    """The secrets in a recording."""

    values: list[SecretValue] = field(default_factory=list)
    """Each different secret once, in order of occurrence."""
    count: int = 0
    """Places."""
    lines: int = 0
    """Lines with a secret."""
    more: int = 0
    """Places whose values are not in `values`, because there are too many."""


class Redaction:
    """Finds and removes the secrets that the rules define in one recording.

    Equal values get equal marks, made with a key that is not stored.
    """

    def __init__(self, path: Path, rules: RedactionRules, about: Mapping[str, Any] | None = None) -> None:
        """`about` are members that the copy's header gets; they are searched too.

        Raises `RecordingError` if `path` is not a recording.
        """
        self._about = dict(about or {})
        journal = Journal.open(path)
        self._size = journal.storage.size
        self.notices = list(journal.notices)
        journal.release()
        self._path = path
        self._rules = rules
        self._scanner = SecretScanner(rules, Redactor().mark)
        self._values: dict[str, SecretValue] = {}
        self._holds = bytearray()
        """For each line, whether the first reading found a secret in it."""
        self.report = RedactionReport()

    def inspect(self) -> RedactionReport:
        """Search for secrets. A value found under a telling name is then searched everywhere."""
        self._read_first()
        if self._scanner.known:
            for _ in self._read_again():
                pass
        return self.report

    def write(self, out: IO[bytes]) -> RedactionReport:
        """Write the recording without its secrets. All other bytes stay unchanged."""
        self._read_first()
        for line in self._read_again():
            out.write(line)
        return self.report

    def _raw(self) -> Iterator[bytes]:
        """Yield the lines of the file, up to its end when it was opened."""
        left = self._size
        try:
            with open(self._path, "rb") as file:
                while left > 0 and (line := file.readline(left)):
                    first = left == self._size
                    left -= len(line)
                    yield self._with_members(line) if first and self._about else line
        except OSError as error:
            raise RecordingError(f"{self._path} cannot be read: {error.strerror or error}.") from None

    def _with_members(self, header: bytes) -> bytes:
        value = parse(header)
        return dumps(value | self._about).encode("utf-8", "replace") + b"\n" if type(value) is dict else header

    def _read_first(self) -> None:
        """Find the lines with secrets, and the values to search everywhere."""
        if self._holds:
            return
        known = KnownSecrets({*_SPREADS, *(name for name, _ in self._rules.paths)})
        for number, line in enumerate(self._raw()):
            edits = self._scanner.line(line.decode("utf-8", "surrogateescape"))
            self._holds.append(bool(edits))
            self._count_secrets(number, edits)
            known.add(found_secret for edit in edits for found_secret in edit.secrets)
        self._scanner.known = known.by_key
        self.report.values = list(self._values.values())

    def _read_again(self) -> Iterator[bytes]:
        """Yield the lines to write."""
        self._values = {}
        self.report = RedactionReport()
        scanner = self._scanner
        scanner.restart()
        for number, line in enumerate(self._raw()):
            text = line.decode("utf-8", "surrogateescape")
            again = (number < len(self._holds) and self._holds[number]) or scanner.inside_key or scanner.knows(text)
            edits = scanner.line(text) if again else []
            self._count_secrets(number, edits)
            if number == 0:
                yield self._header(text, edits)
            else:
                yield _marked(text, edits).encode("utf-8", "surrogateescape") if edits else line
        self.report.values = list(self._values.values())

    def _count_secrets(self, number: int, edits: list[Edit]) -> None:
        """Count the secrets of a line."""
        report = self.report
        report.lines += bool(edits)
        for rule, secret, where in (found_secret for edit in edits for found_secret in edit.secrets):
            report.count += 1
            key = self._scanner.mark(secret)
            value = self._values.get(key)
            if value is None:
                if len(self._values) >= MAX_VALUES:
                    report.more += 1
                    continue
                head = secret[: _SHOWN.get(rule, 0)] if len(secret) >= MIN_FOR_A_HEAD else ""
                value = self._values[key] = SecretValue(rule, head, len(secret), where)
            value.count += 1
            if len(value.events) < EVENTS_NAMED and number not in value.events:
                value.events.append(number)

    def _header(self, text: str, edits: list[Edit]) -> bytes:
        """Return the header with a note about the redaction, which may be there already."""
        redacted = applied(text, edits)
        end = redacted.rstrip()
        if end.endswith("}") and '"redacted":{' not in redacted:
            own = len(self._rules.patterns) + len(self._rules.paths)
            done = dumps({"by": f"inspector/{__version__}", "names": sorted(self._rules.names), "rules": own})
            redacted = f'{end[:-1]},"redacted":{done}}}{redacted[len(end) :]}'
        return redacted.encode("utf-8", "surrogateescape")


class KnownSecrets:
    """Secrets that were under a telling name, by their keys."""

    def __init__(self, spreads: Collection[str]) -> None:
        """`spreads`: the rules whose secrets are searched everywhere."""
        self.by_key: dict[str, list[KnownSecret]] = {}
        self._spreads = spreads
        self._seen: set[str] = set()

    def add(self, secrets: Iterable[FoundSecret]) -> None:
        """Add a secret to search elsewhere."""
        for rule, secret, _ in secrets:
            if rule not in self._spreads or len(secret) < MIN_KNOWN or secret in self._seen:
                continue
            if len(self._seen) >= MAX_KNOWN:
                return
            self._seen.add(secret)
            known = KnownSecret(secret, rule, SecretFinder((secret,)))
            for key in keys_of_secret(secret):
                self.by_key.setdefault(key, []).append(known)


def _marked(text: str, edits: list[Edit]) -> str:
    """Return a line with its edits, marked as altered if it is JSON without that mark."""
    redacted = applied(text, edits)
    try:
        value = parse(redacted.encode("utf-8", "surrogateescape"))
    except NotJson:
        return redacted
    end = redacted.rstrip()
    if type(value) is not dict or value.get("redacted") is True or not end.endswith("}"):
        return redacted
    return f'{end[:-1]},"redacted":true}}{redacted[len(end) :]}'
