"""Redaction at record time: secrets never reach the file.

A redacted value reads `‹redacted a1b2c3d4›`: a hash under a random key of this recording that is stored nowhere, so
equal values stay recognisable and nothing can be guessed back. A file that was sent as an argument reads
`‹redacted file text/plain 12 bytes sha256:…›` (C-FILE-04).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from inspector.config import secret_values
from inspector.config.private_keys import MARK as KEY
from inspector.config.private_keys import PrivateKeyFilter, may_have_key
from inspector.config.secret_forms import BEGINNING, DEPTH, LARGE, SHORTEST, SecretFinder
from inspector.hints import Hint
from inspector.journal.format import KIND_NAMES, Kind, dumps, event_line, to_base64
from inspector.lazy_pattern import lazy_pattern
from inspector.protocol.exact_json.tokens import STRING_AT, JsonSyntaxError, JsonToken, tokens, unquote
from inspector.protocol.jsonrpc import NotJson, Shape, parse, shape_of

if TYPE_CHECKING:
    from inspector.errors import InspectorError

SECRET_HEADERS = frozenset(
    """
    authorization cookie set-cookie proxy-authorization proxy-authenticate x-api-key api-key x-auth-token mcp-session-id
    dpop
    """.split()
)
"""Header names whose values are never recorded. A session id is a bearer secret too (C-HTTP-20)."""

_SHOWN_HEADERS = ("access-control-", "mcp-param-")
"""How names of headers begin that are no secrets whatever follows; `Mcp-Param-…` repeats what the message has."""

SECRET_FIELDS = frozenset(
    """
    access_token refresh_token id_token token code code_verifier client_secret client_assertion assertion subject_token
    actor_token device_code registration_access_token password
    """.split()
)
"""Members of OAuth bodies and URLs whose values are never recorded (RFC 6749, 7009, 7523, 7591, 8628, 8693)."""

MAX_BODY = 8000
"""Characters of an OAuth body that are recorded."""

MAX_WHOLE = 200
"""Characters above which another program's text is cut with a note."""

MARK = lazy_pattern(r"‹redacted (?:[0-9a-f]{8}|private key|file [^\s›]{1,100} [0-9]{1,10} bytes sha256:[0-9a-f]{64})›")
"""Replaces a secret or a file."""

_MAX_WORD = 64
"""Most characters of a name in the protocol."""

MIN_NUMBER = 6
"""Digits of a JSON number that may be a secret; a shorter one is a port, a limit or a count."""

_GROUP, _BEFORE = LARGE * 3 // 4, LARGE // 4 - 64
"""Bytes of lines that are searched together, and of the line before them: so many are not a large text."""

_SCHEME = lazy_pattern(r"^(\S+) +(\S.*)$", re.DOTALL)
_QUERY = lazy_pattern(r"([?&#;]|^)([A-Za-z_][\w.%-]*+)=([^&#;\s]*)")
_JSON_FIELD = lazy_pattern(
    r'("(?:' + "|".join(map(re.escape, sorted(SECRET_FIELDS))) + r')"\s*+:\s*+")((?:[^"\\]++|\\.)*+)("?)', re.IGNORECASE
)
_USERINFO = lazy_pattern(r"(?i)\b(https?://)([^/?#\s]+)@")


_IDS = frozenset(('"id"', '"requestId"', '"progressToken"'))
"""Keys, as literals, of JSON-RPC ids and of references to them."""

_OF_SERVER = ("rpc_message", "data", "stderr", "challenge")
"""Members of errors with text of a server."""

_URL_HEADERS = frozenset(("location", "content-location", "referer", "link", "refresh"))
"""Headers with URLs: a redirect carries the code of a login."""
_KEPT_HEADS = 256
"""Headers whose shown values are remembered."""
_KEPT_CHARACTERS = 1024
"""Length of a value that is remembered at most."""


@lru_cache(_KEPT_HEADS)
def is_secret_header(name: str) -> bool:
    """Whether values of a header are never recorded. `name` is in lower case."""
    if name in SECRET_HEADERS or "session" in name:
        return True
    return secret_values.looks_secret_setting(name) and not name.startswith(_SHOWN_HEADERS)


class Redactor:
    """Removes secrets from what is recorded. Use one per recording."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self.active = False
        """Whether there is any secret to search for in message bodies."""
        self._key = os.urandom(16)
        self._secrets = SecretFinder()
        self._cookies = secret_values.CookieSecrets()
        self._listeners: list[Callable[[str], object]] = []
        self._files: dict[str, str] = {}
        """By value of a file, its mark."""
        self._marked: dict[str, str] = {}
        """By mark, the text that it replaced in a message."""
        self._heads: dict[tuple[str, str], str] = {}
        """By name and value, the value shown of headers seen lately, of URLs without a name: most heads repeat them."""
        for secret in secrets:
            self.add(secret)

    def add(self, secret: str) -> None:
        """Add a secret of Inspector; from now on it is removed from everything recorded."""
        if len(secret) < SHORTEST or secret in self._secrets:
            return
        from inspector.config import logfile

        self._secrets.add(secret)
        self.active = True
        logfile.conceal(secret)
        self._heads.clear()
        for listener in self._listeners:
            listener(secret)

    def add_cookies(self, cookies: str) -> None:
        """Add the secrets in `name=value; …`, of all cookies only the first ones."""
        for secret in self._cookies.new(cookies):
            self.add(secret)

    def tell(self, listener: Callable[[str], object]) -> Callable[[], None]:
        """Call a listener with each secret, known and to come; returns the function that ends that."""
        for secret in self._secrets:
            listener(secret)
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def add_file(self, value: str, media_type: str, size: int, sha256: str) -> None:
        """Add a file that is an argument, a data URI: from now on it is recorded as a mark."""
        kind = re.sub(r"[\s›]", "", media_type)[:100] or "?"
        self._files[value] = f"‹redacted file {kind} {size} bytes sha256:{sha256}›"
        self.active = True
        self._heads.clear()

    def mark(self, value: str) -> str:
        """Return the mark of a secret value."""
        import hmac

        digest = hmac.new(self._key, value.encode("utf-8", "surrogatepass"), "sha256").hexdigest()
        return f"‹redacted {digest[:8]}›"

    def text(self, text: str, *, cut: bool = False) -> tuple[str, bool]:
        """Return the text without known secrets, and whether it was changed. `cut`: it may end in the middle of one."""
        if not self.active:
            return text, False
        redacted = text
        for value, mark in self._files.items():
            redacted = redacted.replace(value, mark)
        redacted = self._secrets.replaced(redacted, self.mark, cut=BEGINNING if cut else 0)
        return redacted, redacted != text

    def lines(self, lines: Sequence[bytes], before: bytes) -> list[bytes]:
        """Return the lines of one output without known secrets, also those that were broken to fit a width.

        `before` is the line before them.
        """
        redacted: list[bytes] = []
        group: list[bytes] = []
        for line in lines:
            if group and sum(map(len, group)) + len(line) > _GROUP:
                redacted += self._group(group, before)
                before, group = group[-1], []
            group.append(line)
        return redacted + self._group(group, before)

    def _group(self, lines: list[bytes], before: bytes) -> list[bytes]:
        text = b"\n".join((before[-_BEFORE:], *lines)).decode("utf-8", "surrogateescape")
        for value, mark in self._files.items():
            text = text.replace(value, mark)
        text = self._secrets.replaced(text, self._mark_of_lines, cut=BEGINNING)
        return text.encode("utf-8", "surrogateescape").split(b"\n")[1:]

    def _mark_of_lines(self, value: str) -> str:
        return "\n".join(self.mark(line) for line in value.split("\n"))

    def json(self, text: str) -> tuple[str, bool]:
        """Return a message's JSON text without known secrets, and whether it was changed. It stays the same message.

        Secrets are removed from strings, keys and whole numbers. A string that is a name in the protocol stays, and so
        does a number that is an id: they reveal nothing, and the message could not be read without them.
        """
        places = [start for start, _ in self._secrets.places(text, depth=DEPTH + 1)]
        if self._files:
            places = sorted([*places, *(at for value in self._files for at in _places(text, value))])
        if not places:
            return text, False
        parts: list[str] = []
        done = next_place = 0
        key = ""
        try:
            for token, start, end in tokens(text):
                if token is not JsonToken.KEY and token is not JsonToken.SCALAR:
                    continue
                before, key = key, text[start:end] if token is JsonToken.KEY else ""
                while next_place < len(places) and places[next_place] < start:
                    next_place += 1
                if next_place == len(places):
                    break
                if places[next_place] < end:
                    literal = text[start:end]
                    if before not in _IDS or literal.startswith('"'):
                        parts += (text[done:start], self._token(literal))
                        done = end
        except JsonSyntaxError:
            return self.text(text)
        redacted = "".join(parts) + text[done:]
        return redacted, redacted != text

    def _token(self, literal: str) -> str:
        """Return a string or number of a JSON text without secrets."""
        if not literal.startswith('"'):
            return f'"{self._keep(literal)}"' if len(literal) >= MIN_NUMBER and literal in self._secrets else literal
        value = unquote(literal)
        redacted = value
        for file, mark in self._files.items():
            if file in redacted:
                redacted = redacted.replace(file, mark)
                self._marked[mark] = file
        redacted = self._secrets.replaced(redacted, self._keep)
        if redacted == value or _is_of_protocol(value):
            return literal
        if "\\" not in literal:
            return f'"{redacted}"'
        return json.dumps(redacted, ensure_ascii=any("\ud800" <= char <= "\udfff" for char in redacted))

    def _keep(self, value: str) -> str:
        mark = self.mark(value)
        self._marked[mark] = value
        return mark

    def restored(self, value: Any) -> Any:
        """Replace the marks in `value` by the original texts, for messages to the server."""
        return _with_marks(value, lambda match: self._marked.get(match[0], match[0])) if self._marked else value

    def headers(self, pairs: Iterable[tuple[str, str]]) -> tuple[list[tuple[str, str]], bool]:
        """Return header pairs without secret values, in order, and whether any was changed. A scheme (`Bearer`)
        stays."""
        kept: list[tuple[str, str]] = []
        changed = False
        for name, value in pairs:
            redacted = self._heads.get((name, value))
            if redacted is None:
                redacted = self._remember(name, value, self._header(name.lower(), value))
            changed = changed or redacted != value
            kept.append((name, redacted))
        return kept, changed

    def _header(self, name: str, value: str) -> str:
        if is_secret_header(name):
            scheme = _SCHEME.match(value) if name.endswith("authorization") else None
            return f"{scheme[1]} {self.mark(scheme[2])}" if scheme else self.mark(value)
        return (self.url(value) if name in _URL_HEADERS else self.text(value))[0]

    def _remember(self, name: str, value: str, redacted: str) -> str:
        if len(self._heads) >= _KEPT_HEADS:
            self._heads.clear()
        if len(value) <= _KEPT_CHARACTERS:
            self._heads[name, value] = redacted
        return redacted

    def url(self, url: str) -> tuple[str, bool]:
        """Return a URL without user info, secret query fields and known secrets."""
        known = self._heads.get(("", url))
        if known is not None:
            return known, known != url
        redacted = _USERINFO.sub(lambda match: f"{match[1]}{self.mark(match[2])}@", url)
        redacted = self.form(redacted)
        redacted, _ = self.text(redacted)
        self._remember("", url, redacted)
        return redacted, redacted != url

    def form(self, body: str) -> str:
        """Return a query string or urlencoded body without the values of secret fields; marks stay."""

        def hidden(match: re.Match[str]) -> str:
            _, name, value = match.groups()
            is_secret = name.lower() in SECRET_FIELDS or secret_values.is_secret_parameter(name)
            if not value or not is_secret or MARK.match(body, match.start(3)):
                return match[0]
            return f"{match[1]}{name}={self.mark(value)}"

        return _QUERY.sub(hidden, body)

    def oauth_body(self, body: str) -> tuple[str, bool]:
        """Return an OAuth request or response body (JSON or urlencoded) without secret fields, and whether it was
        changed."""
        try:
            value = json.loads(body)
        except (ValueError, RecursionError):
            # Not valid JSON, or cut: a member of a broken object is as secret as that of a whole one.
            redacted = _JSON_FIELD.sub(lambda match: f"{match[1]}{self.mark(match[2])}{match[3]}", self.form(body))
        else:
            hidden = self._fields(value)
            redacted = body if hidden == value else json.dumps(hidden, ensure_ascii=False)
        redacted, _ = self.text(redacted)
        return redacted, redacted != body

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
        """Return our JSON about an authorization, with secrets removed from its fields, URLs and bodies.

        The member `body` is the text of an OAuth body, `headers` has pairs.
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
            # It can be parsed only as a whole, so it is cut afterwards.
            return self.oauth_body(value)[0][:MAX_BODY]
        if key == "headers" and _are_pairs(value):
            return self.headers(value)[0]
        return self.facts(value)

    def error(self, error: InspectorError) -> None:
        """Remove known secrets from an error: a careless server repeats what it received."""
        error.message = self._without_held(error.message)
        error.hint = error.hint.mapped(self._without_held)
        error.args = (error.message,)
        if hasattr(error, "__notes__"):
            error.__notes__ = [self._even_cut_off(self.text(note)[0]) for note in error.__notes__]
        if self.active:
            for name in _OF_SERVER:
                value = getattr(error, name, None)
                if value:
                    setattr(error, name, self._without(value))

    def _without_held(self, text: str) -> str:
        return self._even_cut_off(self.url(text)[0])

    def _even_cut_off(self, text: str) -> str:
        return self._secrets.replaced(text, "…", cut=BEGINNING)

    def _without(self, value: Any) -> Any:
        """Return a value of a server without secrets. It is small, or there are no secrets: an error contains no
        document."""
        if isinstance(value, tuple):
            return tuple(self._without(item) for item in value)
        if isinstance(value, str):
            return self._even_cut_off(self.text(value)[0])
        try:
            return json.loads(self.json(json.dumps(value))[0])
        except (TypeError, ValueError, RecursionError):
            return None

    def sentence(self, text: str) -> str:
        """Return a text of ours, which may contain cut texts of a server, without URLs' secrets and known ones."""
        redacted, _ = self.url(text)
        cut = "…" in redacted or len(redacted) >= MAX_WHOLE
        return self._even_cut_off(redacted) if cut else redacted

    def argv(self, words: Sequence[str]) -> tuple[list[str], bool]:
        """Return a command line without known secrets."""
        redacted = [self.text(word)[0] for word in words]
        return redacted, redacted != list(words)


def unkeyed(value: Any) -> Any:
    """Return `value` with equal marks, so that values of different recordings can be compared."""
    return _with_marks(value, lambda _: "‹redacted 00000000›")


def _with_marks(value: Any, replace: Callable[[re.Match[str]], str]) -> Any:
    """Return `value` with every mark in its strings and keys replaced; the same object without marks."""
    try:
        return _replaced(value, replace)
    except RecursionError:
        return value


def _replaced(value: Any, replace: Callable[[re.Match[str]], str]) -> Any:
    if isinstance(value, str):
        return MARK.sub(replace, value) if "‹redacted " in value else value
    if isinstance(value, dict):
        made = {_replaced(key, replace): _replaced(item, replace) for key, item in value.items()}
        same = len(made) == len(value) and all(
            key is old and item is value[old] for (key, item), old in zip(made.items(), value, strict=True)
        )
        return value if same else made
    if isinstance(value, list):
        items = [_replaced(item, replace) for item in value]
        return value if all(item is old for item, old in zip(items, value, strict=True)) else items
    return value


def _places(text: str, form: str) -> Iterator[int]:
    at = text.find(form)
    while at >= 0:
        yield at
        at = text.find(form, at + len(form))


def _is_of_protocol(word: str) -> bool:
    """Whether a string is a method, member name or constant of a revision's schema, or of JSON Schema."""
    return len(word) <= _MAX_WORD and word in _words_of_protocol()


@cache
def _words_of_protocol() -> frozenset[str]:
    from importlib.resources import files

    words: set[str] = set()
    for file in (files("inspector.protocol") / "schemas").iterdir():
        if file.name.endswith(".json"):
            strings = STRING_AT.findall(file.read_text(encoding="utf-8"))
            words.update(unquote(literal) for literal in strings if len(literal) <= _MAX_WORD)
    return frozenset(words)


def _are_pairs(value: Any) -> bool:
    """Whether this is a list of headers; another program's document may have anything under that name."""
    return isinstance(value, (list, tuple)) and all(
        isinstance(pair, (list, tuple)) and len(pair) == 2 and all(isinstance(part, str) for part in pair)
        for pair in value
    )


def describe() -> dict[str, Any]:
    """Return the description of the redaction for the header of a recording."""
    return {"headers": sorted(SECRET_HEADERS), "fields": sorted(SECRET_FIELDS), "held": True}


_KEPT_OF_LINE = 4096


_RPC, _INVALID, _NONE = Kind.RPC, Kind.INVALID, Shape.NONE
_Arrival = tuple[Kind, Shape, bytes, Any, Any, tuple[str, bool] | None, str]
"""Kind, shape, bytes, message, the message as recorded, its text (see `LineText.as_shown`), and JSON members for the
line."""


class LineText:
    """Makes the texts of one recording. It remembers where a secret has begun that further lines may continue."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._keys: dict[tuple[str, int], PrivateKeyFilter] = {}
        """By channel and connection, the private key that is being printed there."""
        self._last_of_stderr: tuple[tuple[str, int], bytes] = (("", 0), b"")
        """Channel and connection of the last line of stderr, and its end: a secret may begin in it."""

    def arrivals(self, channel: str, conn: int, messages: Sequence[bytes]) -> list[_Arrival]:
        """Parse messages that were received; those that are not JSON are `invalid`."""
        hides = self._redactor.active
        arrived: list[_Arrival] = []
        for raw in messages:
            redacted = None
            try:
                message = kept = parse(raw)
                if hides:
                    kept, redacted = self.as_shown(raw, message)
                arrived.append((_RPC, shape_of(kept), raw, message, kept, redacted, ""))
            except NotJson as problem:
                reason = ',"why":' + dumps(str(problem) if raw.strip() else "an empty line")
                raw = self.without_keys(channel, conn, raw)
                arrived.append((_INVALID, _NONE, raw, None, None, None, reason))
        return arrived

    def as_shown(self, raw: bytes, message: Any) -> tuple[Any, tuple[str, bool]]:
        """Return the value of a received message as recorded; and its text, with whether that was changed."""
        redacted, changed = self._redactor.json(raw.decode("utf-8", "replace"))
        return parse(redacted.encode("utf-8", "surrogatepass")) if changed else message, (redacted, changed)

    def line(
        self,
        n: int,
        t: int,
        dir: str,
        kind: Kind,
        channel: str,
        raw: bytes,
        extra: str,
        redacted: tuple[str, bool] | None = None,
    ) -> bytes:
        """Return the line of any message, for any bytes, without its secrets. `redacted`: see `as_shown`."""
        text, binary, extra = self.text(raw, extra, ',"encoding":"not UTF-8"', json=kind is _RPC, redacted=redacted)
        return event_line(n, t, dir, KIND_NAMES[kind], channel, text, binary, extra).encode("utf-8")

    def text(
        self,
        raw: bytes,
        extra: str,
        unreadable: str = "",
        *,
        json: bool = False,
        redacted: tuple[str, bool] | None = None,
    ) -> tuple[str, bool, str]:
        """Return bytes for a line, redacted: the text, whether it is base64, and the `extra` about it."""
        text, binary = decoded(raw)
        if binary:
            extra += unreadable
        if not self._redactor.active:
            return text, binary, extra + (',"redacted":true' if KEY in text else "")
        extra, hidden = self._redactor.text(extra) if extra else (extra, False)
        text, changed = redacted if redacted and not binary else self._redact(raw, text, binary, json=json)
        hidden = hidden or changed or KEY in text
        return text, binary, extra + (',"redacted":true' if hidden else "")

    def _redact(self, raw: bytes, text: str, binary: bool, *, json: bool = False) -> tuple[str, bool]:
        """Return the text of a line without secrets, and whether it was changed."""
        if binary:
            redacted, changed = self._redactor.text(raw.decode("utf-8", "surrogateescape"), cut=True)
            return (to_base64(redacted.encode("utf-8", "surrogateescape")), True) if changed else (text, False)
        return self._redactor.json(text) if json else self._redactor.text(text, cut=True)

    def without_keys(self, channel: str, conn: int, line: bytes) -> bytes:
        """Return the next line of an output without what belongs to a private key."""
        keys = self._keys.get((channel, conn))
        if keys is None:
            if not may_have_key(line):
                return line
            keys = self._keys[channel, conn] = PrivateKeyFilter()
        redacted = keys.line(line)
        if not keys.inside:
            del self._keys[channel, conn]
        return redacted

    def stderr(self, channel: str, conn: int, lines: Sequence[bytes]) -> Sequence[bytes]:
        """Return further lines of an output without their secrets."""
        if self._keys or may_have_key(b"".join(lines)):
            lines = [self.without_keys(channel, conn, line) for line in lines]
        if self._redactor.active and lines:
            whose, before = self._last_of_stderr
            self._last_of_stderr = (channel, conn), lines[-1][-_KEPT_OF_LINE:]
            lines = self._redactor.lines(lines, before if whose == (channel, conn) else b"")
        return lines


def decoded(raw: bytes) -> tuple[str, bool]:
    """Return bytes as a text for a line; if they are not UTF-8, as base64, and True."""
    try:
        return raw.decode("utf-8"), False
    except UnicodeDecodeError:
        return to_base64(raw), True


def auth_fields(
    redactor: Redactor, step: str, ok: bool, text: str, rule: str, fix: str, facts: dict[str, Any]
) -> tuple[dict[str, Any], bool]:
    """Return the fields of a step of an authorization without secrets, and whether there were any."""
    hint = Hint(fix).mapped(redactor.sentence)
    plain = {"step": step, "ok": ok, "text": text, "rule": rule, "fix": Hint(fix).command_line, "facts": facts}
    redacted = {name: redactor.sentence(value) if isinstance(value, str) else value for name, value in plain.items()}
    redacted["fix"], redacted["facts"] = hint.command_line, redactor.facts(facts)
    kept = {name: value for name, value in redacted.items() if name in ("step", "ok", "text") or value}
    changed = redacted != plain
    if parts := hint.as_json():
        kept["fix_parts"] = parts
    return kept, changed


def http_fields(redactor: Redactor, fields: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """Return the fields of an HTTP head without secrets, and whether there were any."""
    redacted, changed, hidden = dict(fields), False, False
    if "headers" in fields:
        redacted["headers"], changed = redactor.headers(fields["headers"])
    if "url" in fields:
        redacted["url"], hidden = redactor.url(str(fields["url"]))
    return redacted, changed or hidden
