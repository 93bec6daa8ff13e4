"""Catalogs and cards as documents: their entries, what is wrong with them, and what they should not contain."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from inspector.addresses import is_private, lenient_host
from inspector.config.secret_values import looks_secret
from inspector.protocol.jsonrpc import excerpt
from inspector.transports.http_url import parse_url

CATALOG_TYPE = "application/ai-catalog+json"
CARD_TYPE = "application/mcp-server-card+json"
SCHEMA = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"
MAX_ENTRIES = 1_000
"""Entries of a catalog that are read."""
MAX_REMOTES = 50
_NAME = re.compile(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+")
_RANGE = re.compile(r"[\^~<>=*|]|\s-\s|(?:^|\.)[xX](?:\.|$)|^latest$")
_IDENTIFIER = re.compile(r"urn:air:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[A-Za-z0-9._~-]+){1,8}")
_VARIABLE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_TRANSPORTS = ("streamable-http", "sse")
_LISTS = ("tools", "resources", "prompts", "capabilities", "packages")
_RESERVED_HEADERS = frozenset(
    ("host", "content-length", "content-type", "connection", "transfer-encoding", "upgrade", "te", "trailer", "cookie")
)
# A token begins where no other one goes on, so that a long row is read once.
_SECRETS = re.compile(
    r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|sk-[A-Za-z0-9_-]{20,}|eyJ(?<![\w-]eyJ)[A-Za-z0-9_-]{8,}+\.eyJ|(?:AKIA|ASIA)[A-Z0-9]{16})"
    r"|-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----|\bBearer +[A-Za-z0-9+/_.~-]{16,}"
)
_URL = re.compile(r"\b(?:https?|wss?)://[^\s\"'<>{}]{1,500}", re.IGNORECASE)
_HOST = re.compile(r"://(?:[^/?#]*@)?([^:/?#]*)")
_MAX_TEXTS = 5_000

EntryKind = Literal["card", "catalog", "other", "invalid"]


class CardProblem(NamedTuple):
    """One deviation. Contains text of the document: show it only through `inspector.text.safe`."""

    rule: str
    """The id of its check: `CARD-05`."""
    text: str
    """A sentence."""


class CatalogEntry(NamedTuple):
    """One entry of a catalog."""

    kind: EntryKind
    identifier: str
    url: str
    """Where the card is; empty if it stands in `data`."""
    data: Any
    """The card itself; None if it stands at `url`."""


class CatalogReading(NamedTuple):
    """The entries of a catalog, and what is wrong with it."""

    entries: tuple[CatalogEntry, ...]
    problems: tuple[CardProblem, ...]
    total: int

    def of_kind(self, kind: EntryKind) -> tuple[CatalogEntry, ...]:
        """Return the entries of one kind."""
        return tuple(entry for entry in self.entries if entry.kind == kind)


def is_catalog(document: Any) -> bool:
    """Whether a document is a catalog."""
    return type(document) is dict and type(document.get("entries")) is list


def read_catalog(document: Mapping[str, Any]) -> CatalogReading:
    """Return the entries of a catalog. Unknown types are kept apart, nested catalogs are not followed (C-CARD-10)."""
    given = document["entries"]
    problems: list[CardProblem] = []
    entries = []
    for n, entry in enumerate(given[:MAX_ENTRIES]):
        where = f"Entry {n + 1}"
        if type(entry) is not dict:
            problems.append(CardProblem("CARD-03", f"{where} is {excerpt(entry, 60)}, not an object."))
            continue
        identifier, kind = entry.get("identifier"), entry.get("type", entry.get("mediaType"))
        missing = [key for key in ("identifier", "type") if type(entry.get(key)) is not str]
        if missing:
            problems.append(CardProblem("CARD-03", f"{where} lacks {' and '.join(missing)}."))
        elif not _IDENTIFIER.fullmatch(entry["identifier"][:500]):
            text = f"The identifier {excerpt(identifier, 80)} is not of the form urn:air:publisher:namespace:name."
            problems.append(CardProblem("CARD-04", text))
        url, data = entry.get("url"), entry.get("data")
        usable = ("url" in entry) != ("data" in entry) and (type(url) is str if "url" in entry else type(data) is dict)
        if not usable:
            text = f"{where} must have either url, a string, or data, an object."
            problems.append(CardProblem("CARD-03", text))
        entry_kind: EntryKind = "card" if kind == CARD_TYPE else "catalog" if kind == CATALOG_TYPE else "other"
        name = identifier if type(identifier) is str else ""
        entries.append(CatalogEntry(entry_kind if usable else "invalid", name, url if type(url) is str else "", data))
    if len(given) > MAX_ENTRIES:
        text = f"The catalog has {len(given):,} entries; the first {MAX_ENTRIES:,} are read."
        problems.append(CardProblem("CARD-03", text))
    return CatalogReading(tuple(entries), tuple(problems), len(given))


def card_problems(card: Any) -> Iterator[CardProblem]:
    """Yield what is wrong with a card according to its schema, v1 (CARD-05)."""
    if type(card) is not dict:
        yield CardProblem("CARD-05", f"The card is {excerpt(card, 60)}, not an object.")
        return
    for text in _member_problems(card):
        yield CardProblem("CARD-05", text)
    remotes = card.get("remotes", [])
    if type(remotes) is not list:
        yield CardProblem("CARD-05", f"remotes is {excerpt(remotes, 40)}, not a list.")
        return
    for n, remote in enumerate(remotes[:MAX_REMOTES]):
        for text in _remote_problems(remote):
            yield CardProblem("CARD-05", f"remotes[{n}]: {text}.")
    if len(remotes) > MAX_REMOTES:
        yield CardProblem("CARD-05", f"The card has {len(remotes):,} remotes; the first {MAX_REMOTES} are read.")


def _member_problems(card: dict[str, Any]) -> Iterator[str]:
    missing = [key for key in ("$schema", "name", "description", "version") if key not in card]
    if missing:
        yield f"The card lacks {', '.join(missing)}."
    if "$schema" in card and card["$schema"] != SCHEMA:
        yield f"$schema is {excerpt(card['$schema'], 100)}, not {SCHEMA}."
    name = card.get("name", "a/b")
    if type(name) is not str or not 3 <= len(name) <= 200 or not _NAME.fullmatch(name):
        yield f"The name {excerpt(name, 80)} is not of the form namespace/name."
    for key, limit in (("description", 100), ("title", 100), ("version", 255)):
        value = card.get(key, "-")
        if type(value) is not str or not 1 <= len(value) <= limit:
            actual = f"has {len(value):,} characters" if type(value) is str else f"is {excerpt(value, 40)}"
            yield f"{key} {actual}; it must be a string of 1 to {limit} characters."
    version = card.get("version")
    if type(version) is str and _RANGE.search(version[:300]):
        yield f"The version {excerpt(version, 60)} is a range, not a version."
    kinds: tuple[tuple[str, type, str], ...] = (
        ("websiteUrl", str, "a string"),
        ("icons", list, "a list"),
        ("repository", dict, "an object"),
        ("_meta", dict, "an object"),
    )
    for key, kind, words in kinds:
        if key in card and type(card[key]) is not kind:
            yield f"{key} is {excerpt(card[key], 40)}, not {words}."


def _remote_problems(remote: Any) -> Iterator[str]:
    if type(remote) is not dict:
        yield f"it is {excerpt(remote, 40)}, not an object"
        return
    if remote.get("type") not in _TRANSPORTS:
        yield f"the type {excerpt(remote.get('type'), 40)} is neither streamable-http nor sse"
    url = remote.get("url")
    template = type(url) is str and url.startswith("{")
    if not template and (type(url) is not str or not url.lower().startswith(("https://", "http://"))):
        yield f"the URL {excerpt(url, 80)} is not an http or https URL"
    variables = remote.get("variables", {})
    if type(variables) is not dict:
        yield f"variables is {excerpt(variables, 40)}, not an object"
        variables = {}
    for name in _VARIABLE.findall(url if type(url) is str else ""):
        if name not in variables:
            yield f"the variable {{{name}}} of the URL is not declared"
    versions = remote.get("supportedProtocolVersions", [])
    if type(versions) is not list or not all(type(version) is str for version in versions):
        yield f"supportedProtocolVersions is {excerpt(versions, 40)}, not a list of strings"
    headers = remote.get("headers", [])
    if type(headers) is not list:
        yield f"headers is {excerpt(headers, 40)}, not a list"
        headers = []
    for header in headers[:100]:
        name = header.get("name") if type(header) is dict else None
        if type(name) is not str or not name:
            yield f"a header has the name {excerpt(name, 40)}"
        elif name.lower() in _RESERVED_HEADERS:
            yield f"the header {excerpt(name, 40)} belongs to the connection, and a card cannot set it"


def disclosures(document: Any, host: str) -> Iterator[CardProblem]:
    """Yield secrets, private addresses and internal names in a public document of `host` (CARD-10)."""
    public = not is_private(host)
    for where, text in _texts(document):
        if _SECRETS.search(text[:20_000]):
            yield CardProblem("CARD-10", f"{where or 'The document'} contains a secret.")
        key = where.rpartition(".")[2]
        if key == "value" and looks_secret(_sibling_name(document, where)):
            yield CardProblem("CARD-10", f"{where} is the value of a secret.")
        for match in _URL.finditer(text[:20_000]) if public else ():
            try:
                target = parse_url(match[0]).host
            except ValueError:
                target = lenient_host(_HOST.split(match[0])[1])
            if is_private(target):
                yield CardProblem("CARD-10", f"{where} contains the private address {excerpt(target, 80)}.")


def listed_parts(card: Any) -> tuple[str, ...]:
    """Return members of a card that belong to the running server: tools, resources, prompts (CARD-12)."""
    return tuple(key for key in _LISTS if type(card) is dict and key in card)


def versions_of(card: Any) -> tuple[str, ...]:
    """Return the protocol versions that the remotes of a card name."""
    named: dict[str, None] = {}
    for remote in remotes_of(card):
        versions = remote.get("supportedProtocolVersions")
        named |= dict.fromkeys(text for text in versions if type(text) is str) if type(versions) is list else {}
    return tuple(named)


def remotes_of(card: Any) -> list[dict[str, Any]]:
    """Return the remotes of a card that are objects."""
    remotes = card.get("remotes") if type(card) is dict else None
    return [remote for remote in remotes[:MAX_REMOTES] if type(remote) is dict] if type(remotes) is list else []


def _texts(document: Any) -> Iterator[tuple[str, str]]:
    """Yield the strings of a document with their places, as many as are checked."""
    todo: list[tuple[str, Any]] = [("", document)]
    for _ in range(_MAX_TEXTS):
        if not todo:
            return
        where, item = todo.pop()
        if type(item) is str:
            yield where, item
        elif type(item) is dict:
            todo += ((f"{where}.{key}"[:200] if where else str(key)[:100], value) for key, value in item.items())
        elif type(item) is list:
            todo += ((f"{where}[{n}]", value) for n, value in enumerate(item[:_MAX_TEXTS]))


def _sibling_name(document: Any, where: str) -> str:
    """Return the `name` beside a `value`: of a header or a variable."""
    item = document
    for step in re.findall(r"[^.\[\]]+", where)[:-1]:
        if type(item) is list and step.isdecimal() and int(step) < len(item):
            item = item[int(step)]
        elif type(item) is dict:
            item = item.get(step)
    name = item.get("name") if type(item) is dict else None
    return name if type(name) is str else ""
