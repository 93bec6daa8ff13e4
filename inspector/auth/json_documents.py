"""JSON documents from servers: read up to a limit, each value checked, and an error names the member."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from inspector.auth import url_checks
from inspector.auth.actions import AuthFlow, Fetched, record_step
from inspector.errors import AuthorizationNeeded
from inspector.text import safe

MAX_SIZE = 1 << 20
"""Maximum bytes of a document."""

MAX_ENTRIES = 500
"""Maximum entries of a list in a document."""

_SCOPE = re.compile(r"[!#-\[\]-~]{1,256}\Z")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_NUMBER = re.compile(r"\s*-?[0-9]{1,20}(?:\.[0-9]{1,20})?\s*")
_SECONDS = "be a number of seconds from now, such as 3600"
_KINDS = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}


class InvalidDocument(AuthorizationNeeded):
    """A document, or one of its values, is not valid.

    `field` is the member's name, `rule` the rule that its value breaks; empty for a wrong type or a missing member.
    """

    def __init__(self, message: str, *, hint: str = "", field: str = "", rule: str = "") -> None:
        super().__init__(message, hint=hint)
        self.field = field
        self.rule = rule


def parsed(body: bytes) -> dict[str, Any] | None:
    """Return the JSON object in a body; None for anything else."""
    if len(body) > MAX_SIZE:
        return None
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def described(answer: Fetched) -> str:
    """Describe a response without a usable document in a few words: “status 404”, “a page of HTML, not JSON”."""
    if answer.status != 200:
        return f"status {answer.status}"
    if len(answer.body) > MAX_SIZE:
        return f"a document of {len(answer.body)} bytes"
    if not answer.body.strip():
        return "an empty body"
    if answer.body.lstrip()[:1] == b"<":
        return "a page of HTML, not JSON"
    try:
        json.loads(answer.body)
    except RecursionError:
        return "JSON that is nested too deeply"
    except ValueError:
        return "a body that is not JSON"
    return "JSON that is not an object"


def error_of(values: Mapping[str, object] | None) -> tuple[str, str]:
    """Return `error` and `error_description` of an OAuth response, safe to show; empty if missing."""
    code, reason = (values or {}).get("error"), (values or {}).get("error_description")
    return safe(code, 60) if isinstance(code, str) else "", safe(reason, 200) if isinstance(reason, str) else ""


class OAuthDocument:
    """One JSON object from a server. `what` is its name in a sentence: “The protected resource metadata”."""

    def __init__(self, values: Mapping[str, Any], what: str, *, hint: str = "") -> None:
        self.values = values
        self.what = what
        self._hint = hint
        self._loose: dict[str, str] = {}
        """By member, how a value that was accepted differs from its type."""

    def loose_steps(self, step: str, rule: str) -> AuthFlow[None]:
        """Record the values that were accepted although they have another type, as several providers send them."""
        for name, how in self._loose.items():
            text = f"{self.what} was accepted, although its “{name}” {how}"
            yield from record_step(step, text, rule=rule, field=name)

    def text(self, name: str, *, longest: int = 8192) -> str:
        """Return the text under `name`; empty if missing."""
        value = self.values.get(name)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise self.refused(name, f"is {_kind(value)}, not a string", "be a string")
        if len(value) > longest:
            raise self.refused(name, f"is {len(value)} characters long", f"have at most {longest}")
        if _SURROGATE.search(value):  # It could not be sent.
            raise self.refused(name, "is not valid Unicode", "be valid Unicode")
        return value

    def needed(self, name: str, *, longest: int = 8192) -> str:
        """Return the text under `name`, which is required."""
        value = self.text(name, longest=longest)
        if not value:
            raise self.refused(name, "is missing" if name not in self.values else "is empty", "be there")
        return value

    def texts(self, name: str) -> tuple[str, ...] | None:
        """Return the list of texts under `name`; None if missing."""
        value = self.values.get(name)
        if value is None:
            return None
        if not isinstance(value, list):
            raise self.refused(name, f"is {_kind(value)}, not a list of strings", "be a list of strings")
        if len(value) > MAX_ENTRIES:
            raise self.refused(name, f"has {len(value)} entries", f"have at most {MAX_ENTRIES}")
        for entry in value:
            if not isinstance(entry, str):
                raise self.refused(name, f"contains {_kind(entry)}, not only strings", "be a list of strings")
            if len(entry) > url_checks.MAX_URL:
                raise self.refused(
                    name, f"contains an entry of {len(entry)} characters", f"have at most {url_checks.MAX_URL}"
                )
        return tuple(value)

    def scopes(self, name: str) -> tuple[str, ...] | None:
        """Return the list of scopes under `name` (RFC 6749 section 3.3); None if missing. A text of them is one too."""
        value = self.values.get(name)
        if isinstance(value, str):
            self._loose[name] = "is a string, not a list of strings"
            return self._checked_scopes(name, self.text(name).split())
        texts = self.texts(name)
        return None if texts is None else self._checked_scopes(name, texts)

    def scope(self, name: str = "scope") -> tuple[str, ...]:
        """Return the scopes in the text under `name`; empty if missing. A list of them is one too."""
        if isinstance(self.values.get(name), list):
            self._loose[name] = "is a list, not a string"
            return self._checked_scopes(name, self.texts(name) or ())
        return self._checked_scopes(name, self.text(name).split())

    def _checked_scopes(self, name: str, scopes: Sequence[str]) -> tuple[str, ...]:
        for entry in scopes:
            if not is_scope(entry):
                raise self.refused(
                    name,
                    f"contains “{safe(entry, 60)}”, which is not a valid scope",
                    "be scopes without spaces, quotes or control characters",
                )
        return tuple(dict.fromkeys(scopes))

    def flag(self, name: str) -> bool:
        """Whether `name` is true; false if missing."""
        value = self.values.get(name)
        if value is None:
            return False
        if isinstance(value, str) and value.lower() in ("true", "false"):
            self._loose[name] = "is a string, not true or false"
            return value.lower() == "true"
        if not isinstance(value, bool):
            raise self.refused(name, f"is {_kind(value)}, not true or false", "be true or false")
        return value

    def seconds(self, name: str) -> float | None:
        """Return the number of seconds under `name`, not negative; None if missing."""
        value = self.values.get(name)
        if value is None:
            return None
        if isinstance(value, str) and (not value or _NUMBER.fullmatch(value)):
            self._loose[name] = "is a string, not a number"
            if not value:
                return None
            value = float(value)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.refused(name, f"is {_kind(value)}, not a number of seconds", _SECONDS)
        if value < 0:
            raise self.refused(name, "is negative", _SECONDS)
        if value > 1e11 or not math.isfinite(value):  # In this order: `isfinite` fails for an integer of 400 digits.
            raise self.refused(name, "is too large", _SECONDS)
        return float(value)

    def endpoint(self, name: str, *, needed: bool = False) -> str:
        """Return the URL under `name`, unmodified: https, or http on this machine (C-AUTH-13, C-SEC-01)."""
        value = self.needed(name) if needed else self.text(name)
        if value:
            try:
                url_checks.secure(value)
            except ValueError as error:
                safe_value = safe(value, 120)
                reason = f"is “{safe_value}”, which is not allowed: {error}"
                raise self.refused(name, reason, "be an https URL, or one on this machine", rule="C-AUTH-13") from None
        return value

    def refused(self, name: str, reason: str, should: str, *, rule: str = "") -> InvalidDocument:
        """Return the error for the value under `name`: `reason` it is invalid, and what it `should` be or have."""
        hint = f"“{name}” should {should}. {self._hint}".rstrip()
        return InvalidDocument(f"{self.what} cannot be used: its “{name}” {reason}.", hint=hint, field=name, rule=rule)


def is_scope(text: str) -> bool:
    """Whether a text is one scope (RFC 6749 section 3.3) of reasonable length."""
    return _SCOPE.match(text) is not None


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "a number")
