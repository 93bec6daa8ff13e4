"""Redaction at record time: secrets never reach the file.

A redacted value reads `‹redacted a1b2c3d4›`: a hash under a random key of this recording that is stored nowhere, so
equal values stay recognisable and nothing can be guessed back.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from inspector.config import secrecy

if TYPE_CHECKING:
    from inspector.errors import InspectorError

SECRET_HEADERS = frozenset((
    "authorization", "cookie", "set-cookie", "proxy-authorization", "proxy-authenticate", "x-api-key", "api-key",
    "x-auth-token", "mcp-session-id", "dpop",
))  # fmt: skip
"""Header names whose values are never recorded. A session id is a bearer secret too (C-HTTP-20)."""

SECRET_FIELDS = frozenset((
    "access_token", "refresh_token", "id_token", "token", "code", "code_verifier", "client_secret", "client_assertion",
    "assertion", "subject_token", "actor_token", "device_code", "registration_access_token", "password",
))  # fmt: skip
"""Field names of OAuth bodies and URLs whose values are never recorded (RFC 6749, 7009, 7523, 7591, 8628, 8693)."""

SHORTEST_SECRET = 4
"""A shorter value is not looked for: it would be found everywhere, and hides nothing."""

LONGEST_BODY = 8000
"""Characters of an OAuth body that are recorded."""

LONGEST_WHOLE = 200
"""Characters of a stranger's text that nobody cuts off without saying so."""

_SCHEME = re.compile(r"^(\S+) +(\S.*)$", re.DOTALL)
_QUERY = re.compile(r"([?&#;]|^)([A-Za-z_]+)=([^&#;\s]*)")
_JSON_FIELD = re.compile(
    r'("(?:' + "|".join(map(re.escape, sorted(SECRET_FIELDS))) + r')"\s*:\s*")((?:[^"\\]|\\.)*)("?)', re.IGNORECASE
)
_USERINFO = re.compile(r"(?i)\b(https?://)([^/?#\s@]+)@")


_URL_HEADERS = frozenset(("location", "content-location", "referer", "link", "refresh"))
"""Header fields in which URLs stand: a redirect carries the code of a login."""


class Redactor:
    """Knows what must not be recorded. Use one per recording."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._key = os.urandom(16)
        self._forms: set[str] = set()
        self._secrets: set[str] = set()
        self._pattern: re.Pattern[str] | None = None
        for secret in secrets:
            self.add(secret)

    def add(self, secret: str) -> None:
        """Learn a secret that Inspector holds; from now on it is cut out of everything recorded."""
        if len(secret) < SHORTEST_SECRET or secret in self._forms:
            return
        from inspector.config import logfile

        new = secrecy.forms(secret)
        self._forms |= new
        self._secrets.add(secret)
        logfile.conceal(new)
        longest_first = sorted(self._forms, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first)))

    def mark(self, value: str) -> str:
        """What stands in the place of a secret value."""
        import hmac

        digest = hmac.new(self._key, value.encode("utf-8", "surrogatepass"), "sha256").hexdigest()
        return f"‹redacted {digest[:8]}›"

    def text(self, text: str) -> tuple[str, bool]:
        """The text without the secrets we hold, and whether it was changed."""
        # One search for each form takes less than half the time of one for all of them.
        if self._pattern is None or not any(form in text for form in self._forms):
            return text, False
        return self._pattern.sub(lambda found: self.mark(found.group()), text), True

    @property
    def active(self) -> bool:
        """Whether there is any secret to look for in message bodies."""
        return self._pattern is not None

    def headers(self, pairs: Iterable[tuple[str, str]]) -> tuple[list[tuple[str, str]], bool]:
        """Header pairs without secret values, order kept, and whether any was changed. A scheme (`Bearer`) stays."""
        kept: list[tuple[str, str]] = []
        changed = False
        for name, value in pairs:
            if name.lower() in SECRET_HEADERS:
                scheme = _SCHEME.match(value) if name.lower().endswith("authorization") else None
                safe = f"{scheme[1]} {self.mark(scheme[2])}" if scheme else self.mark(value)
            else:
                safe, _ = self.url(value) if name.lower() in _URL_HEADERS else self.text(value)
            changed = changed or safe != value
            kept.append((name, safe))
        return kept, changed

    def url(self, url: str) -> tuple[str, bool]:
        """A URL without user info, without secret query fields and without secrets we hold."""
        shown = _USERINFO.sub(lambda found: f"{found[1]}{self.mark(found[2])}@", url)
        shown = self.form(shown)
        shown, _ = self.text(shown)
        return shown, shown != url

    def form(self, body: str) -> str:
        """A query string or urlencoded body without the values of secret fields."""
        return _QUERY.sub(
            lambda found: (
                f"{found[1]}{found[2]}={self.mark(found[3])}"
                if found[2].lower() in SECRET_FIELDS and found[3]
                else found[0]
            ),
            body,
        )

    def oauth_body(self, body: str) -> tuple[str, bool]:
        """An OAuth request or response body (JSON or urlencoded) without secret fields, and whether it was changed."""
        try:
            value = json.loads(body)
        except (ValueError, RecursionError):
            # Not JSON, or no longer: a field of a broken object is as secret as that of a whole one.
            shown = _JSON_FIELD.sub(lambda found: f"{found[1]}{self.mark(found[2])}{found[3]}", self.form(body))
        else:
            hidden = self._fields(value)
            shown = body if hidden == value else json.dumps(hidden, ensure_ascii=False)
        shown, _ = self.text(shown)
        return shown, shown != body

    def _fields(self, value: Any, depth: int = 0) -> Any:
        if depth > 20:
            return "…"
        if isinstance(value, dict):
            return {
                key: self.mark(str(item))
                if key.lower() in SECRET_FIELDS and isinstance(item, (str, int, float))
                else self._fields(item, depth + 1)
                for key, item in value.items()
            }
        if isinstance(value, list):
            return [self._fields(item, depth + 1) for item in value]
        return value

    def facts(self, value: Any) -> Any:
        """JSON of our own that tells of an authorization: secret fields, URLs and bodies in it without their secrets.

        What stands under `body` is the text of an OAuth body, what stands under `headers` is pairs.
        """
        if isinstance(value, dict):
            return {str(key): self._fact(str(key), item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.facts(item) for item in value]
        if isinstance(value, str):
            return self.sentence(value)
        return value

    def _fact(self, key: str, value: Any) -> Any:
        if isinstance(value, str) and key in SECRET_FIELDS and value:
            return self.mark(value)
        if isinstance(value, str) and key == "body":
            # Only the whole of it can be read, so it is cut afterwards.
            return self.oauth_body(value)[0][:LONGEST_BODY]
        if key == "headers" and _are_pairs(value):
            return self.headers(value)[0]
        return self.facts(value)

    def error(self, error: InspectorError) -> None:
        """Take the secrets that we hold out of what an error says: a careless server repeats what it was sent."""
        error.message, error.hint = (
            secrecy.without(self.url(said)[0], self._secrets) for said in (error.message, error.hint)
        )
        error.args = (error.message,)

    def sentence(self, text: str) -> str:
        """A text of ours, in which words of a server may be cut off, without URLs' secrets and those that we hold."""
        shown, _ = self.url(text)
        cut = "…" in shown or len(shown) >= LONGEST_WHOLE
        return secrecy.without(shown, self._secrets) if cut else shown

    def argv(self, words: Sequence[str]) -> tuple[list[str], bool]:
        """A command line without secrets we hold."""
        shown = [self.text(word)[0] for word in words]
        return shown, shown != list(words)


def _are_pairs(value: Any) -> bool:
    """Whether this is a list of header fields; a stranger's document may have anything under that name."""
    return isinstance(value, (list, tuple)) and all(
        isinstance(pair, (list, tuple)) and len(pair) == 2 and all(isinstance(part, str) for part in pair)
        for pair in value
    )


def describe() -> dict[str, Any]:
    """What the header of a recording says about its redaction."""
    return {"headers": sorted(SECRET_HEADERS), "fields": sorted(SECRET_FIELDS), "held": True}
