"""Searches a registry, a file or an address that the user names, and describes what an entry would start.

Forms: a `server.json`, the API's wrapped form (`{"server": …, "_meta": …}`), a list of either, or the API's answer
(`{"servers": […]}`). Source: the registry's schema of 2025-12-11 and its API documentation.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from inspector.config import registry_entries
from inspector.config.expand import InputQuestion
from inspector.config.server_definition import Definition
from inspector.config.servers import ServerEntry
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.errors import ConfigError, UsageError
from inspector.features.cards.discovery import CardResponse, FetchCard
from inspector.features.cards.fetching import CardFetcher
from inspector.protocol.jsonrpc import NotJson, excerpt, parse
from inspector.transports.http_url import parse_url

MAX_SIZE = 16 << 20
"""Bytes of a registry file or of one page of an API."""
MAX_PAGES = 10
MAX_SERVERS = 5_000
"""Entries that are read."""
PAGE = 100
API = "/v0.1/servers"
_OFFICIAL = "io.modelcontextprotocol.registry/official"
_SNAKE = frozenset(
    (
        "registry_type",
        "registry_name",
        "runtime_hint",
        "runtime_arguments",
        "package_arguments",
        "environment_variables",
        "transport_type",
        "file_sha256",
        "version_detail",
        "website_url",
        "registry_base_url",
    )
)
"""Members of documents before 2025-09-16."""
_FLOATING = re.compile(r"[\^~<>=*|]|\s-\s|(?:^|\.)[xX](?:\.|$)|^latest$")
_VARIABLE = re.compile(r"\{[A-Za-z_][\w.-]{0,99}\}")
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")


class RegistryChoice(NamedTuple):
    """One way to use a server: a package that is started, or a remote."""

    name: str
    """Its name among the choices of the server."""
    kind: str
    """`npm`, `pypi`, `oci`, … or `streamable-http`, `sse`."""
    raw: Mapping[str, Any]
    definition: Definition | None
    """The command or URL, with `<NAME>` for each value of the user; None if Inspector cannot use it."""
    problem: str
    """Why it cannot be used; empty if it can."""

    @property
    def summary(self) -> str:
        """The whole command or URL in one line."""
        return self.definition.summary if self.definition is not None else self.problem


@dataclass(frozen=True, slots=True)
class RegistryServer:
    """One server of a registry. All of it is text of others: show it only through `inspector.text.safe`."""

    name: str
    title: str
    description: str
    version: str
    status: str
    """`active`, `deprecated`, `deleted`; empty if the document does not say."""
    is_latest: bool | None
    choices: tuple[RegistryChoice, ...]
    problems: tuple[str, ...]
    after_install: str
    """`postInstallInstructions`: shown, never run."""

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "name": self.name,
            "title": self.title or None,
            "description": self.description,
            "version": self.version,
            "status": self.status or None,
            "is_latest": self.is_latest,
            "choices": [
                {
                    "name": choice.name,
                    "kind": choice.kind,
                    "summary": choice.summary if choice.definition else None,
                    "problem": choice.problem or None,
                    "env": env_names(choice),
                    "headers": header_names(choice),
                }
                for choice in self.choices
            ],
            "problems": list(self.problems),
            "after_install": self.after_install or None,
        }


@dataclass(slots=True)
class RegistryListing:
    """The servers of a registry, and what could not be read."""

    servers: list[RegistryServer] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """Entries that are not usable: sentences."""
    more: bool = False
    """Whether the registry has more than was read."""

    def matching(self, words: str) -> list[RegistryServer]:
        """Return the servers whose name, title or description contains every word, in any case."""
        parts = words.casefold().split()
        return [
            server
            for server in self.servers
            if all(word in f"{server.name}\n{server.title}\n{server.description}".casefold() for word in parts)
        ]

    def named(self, name: str) -> RegistryServer:
        """Return the server of this name, the latest version first. Raises `UsageError`."""
        exact = [server for server in self.servers if server.name == name]
        short = [server for server in self.servers if server.name.rpartition("/")[2] == name]
        matches = exact or short
        if not matches:
            raise UsageError(f"The registry has no server “{name[:200]}”.", hint="Search for a part of its name.")
        names = dict.fromkeys(server.name for server in matches)
        if len(names) > 1:
            listed = ", ".join(list(names)[:10])
            raise UsageError(
                f"The registry has several servers “{name[:200]}”: {listed[:1000]}.", hint="Use a full name."
            )
        return next((server for server in matches if server.is_latest), matches[0])


def read_listing(document: Any, listing: RegistryListing | None = None) -> RegistryListing:
    """Return the servers of a document in any form, added to `listing`. Raises `UsageError` for another document."""
    listing = RegistryListing() if listing is None else listing
    entries = document
    if type(document) is dict:
        entries = document.get("servers", [document] if _is_entry(document) else None)
    if type(entries) is not list:
        raise UsageError(
            "The document is not a registry: it has no list of servers.",
            hint="Use a server.json, a list of them, or the address of a registry.",
        )
    for n, entry in enumerate(entries):
        if len(listing.servers) >= MAX_SERVERS:
            listing.more = True
            return listing
        if type(entry) is not dict or not _is_entry(entry):
            listing.refused.append(f"Entry {n + 1} is {excerpt(entry, 60)}, not a server.json.")
            continue
        inner = entry["server"] if type(entry.get("server")) is dict else entry
        old = _old_members(inner)
        if old:
            listing.refused.append(
                f"{excerpt(inner.get('name'), 80)} is a document from before 2025-09-16: it has {old}. "
                "Write its members in camelCase, such as registryType."
            )
            continue
        listing.servers.append(_server(inner, entry.get("_meta") or inner.get("_meta")))
    return listing


async def search_address(url: str, words: str, fetch: FetchCard) -> RegistryListing:
    """Ask a registry at an address. Raises `UsageError`.

    An address that ends in `.json` is a file. Any other one is a registry with the official API.
    """
    listing = RegistryListing()
    if urlsplit(url).path.endswith(".json"):
        return read_listing(_document(await fetch(url, "application/json")), listing)
    base = url.rstrip("/")
    base = base if urlsplit(base).path.endswith("/servers") else f"{base}{API}"
    cursor = ""
    for _ in range(MAX_PAGES):
        query = {"limit": str(PAGE)} | ({"search": words} if words else {}) | ({"cursor": cursor} if cursor else {})
        document = _document(await fetch(f"{base}?{urlencode(query)}", "application/json"))
        read_listing(document, listing)
        metadata = document.get("metadata") if type(document) is dict else None
        following = metadata.get("nextCursor") if type(metadata) is dict else None
        if type(following) is not str or not following or following == cursor:
            return listing
        cursor = following
    listing.more = True
    return listing


async def search_source(source: str, words: str) -> RegistryListing:
    """Search a registry that the user names: a file, or an address. Raises `UsageError`."""
    if "://" not in source:
        return await asyncio.to_thread(read_file, Path(source).expanduser())
    try:
        url = parse_url(source).text
    except ValueError as error:
        raise UsageError(f"“{source[:200]}” is not an address: {error}.") from None
    fetcher = CardFetcher(url, largest=MAX_SIZE)
    try:
        return await search_address(url, words, fetcher.get)
    finally:
        await fetcher.aclose()


def read_file(path: Path) -> RegistryListing:
    """Return the servers of a registry file. Raises `UsageError`."""
    from inspector.config.foreign_files import read_bytes

    try:
        data = read_bytes(path, limit=MAX_SIZE)
    except ConfigError as error:
        raise UsageError(f"{error.message}.") from None
    try:
        document = parse(data)
    except NotJson as error:
        raise UsageError(f"{path} cannot be read as JSON: {error}.") from None
    return read_listing(document)


def entry_of(server: RegistryServer, choice: RegistryChoice, source: Path) -> ServerEntry:
    """Return a choice as a server that can be opened, from the registry `source`. Raises `UsageError`."""
    if choice.definition is None:
        raise UsageError(f"{server.name} cannot be opened: {choice.problem}.")
    return ServerEntry(
        name=choice.name,
        source_label="registry",
        path=source,
        kind=choice.definition.kind,
        summary=choice.summary,
        disabled=False,
        raw=choice.raw,
        definition=choice.definition,
        family="registry",
        dialect="literal",
    )


def env_names(choice: RegistryChoice) -> list[str]:
    """Return the names of the environment variables of a choice."""
    return list(choice.definition.env) if choice.definition is not None else _declared(choice, "environmentVariables")


def header_names(choice: RegistryChoice) -> list[str]:
    """Return the names of the headers of a choice."""
    return _declared(choice, "headers")


def start_facts(choice: RegistryChoice, environ: Mapping[str, str] | None = None) -> Iterator[str]:
    """Yield what opening a choice does, one line each: the whole command or URL, variables, headers (C-REG-02)."""
    environ = os.environ if environ is None else environ
    definition = choice.definition
    if definition is None:
        return
    yield f"{'connects to' if definition.kind == 'http' else 'runs'} {definition.summary}"
    fixed = {
        item.get("name"): item["value"]
        for item in _items(choice, "environmentVariables")
        if item.get("value") is not None
    }
    for name in dict.fromkeys((*env_names(choice), *_declared(choice, "environmentVariables"))):
        if name in fixed:
            yield f"variable {name} is {excerpt(fixed[name], 200)}"
        else:
            yield f"variable {name}{', from your environment' if name in environ else ''}"
    for name in header_names(choice):
        yield f"header {name}"


def filled(server: RegistryServer, target: StdioTarget | HttpTarget) -> StdioTarget | HttpTarget:
    """Return a target whose URL and headers have no `{variable}` left (C-REG-05). Raises `UsageError`."""
    texts = [target.url, *(value for _, value in target.headers)] if isinstance(target, HttpTarget) else []
    for text in texts:
        match = _VARIABLE.search(text)
        if match:
            raise UsageError(
                f"{server.name} leaves {match[0]} open: its document does not declare it.",
                hint="Tell its publisher, and open the URL directly.",
            )
    return target


def own_questions(question: InputQuestion) -> InputQuestion:
    """Return a question of a registry entry as it is asked: names that look like secrets are masked."""
    from inspector.config.secret_values import looks_secret_setting

    return question._replace(secret=question.secret or looks_secret_setting(question.id))


def _document(answer: CardResponse) -> Any:
    """Return the JSON of an answer. Raises `UsageError`."""
    where = answer.url.partition("?")[0]
    if answer.problem or answer.status != 200:
        raise UsageError(f"The registry {where} cannot be read: {answer.summary}.")
    try:
        return parse(answer.body)
    except NotJson:
        raise UsageError(f"The registry {where} cannot be read: {answer.summary}.") from None


def _is_entry(document: Mapping[str, Any]) -> bool:
    inner = document.get("server") if type(document.get("server")) is dict else document
    return type(inner) is dict and type(inner.get("name")) is str


def _old_members(inner: Mapping[str, Any]) -> str:
    """Return a member in the spelling of before 2025-09-16; empty without one."""
    parts: list[Any] = [inner]
    for key in ("packages", "remotes"):
        value = inner.get(key)
        parts += value[:100] if type(value) is list else ()
    for part in parts:
        if type(part) is dict:
            for name in part:
                if name in _SNAKE:
                    return str(name)
    return ""


def _server(inner: Mapping[str, Any], meta: Any) -> RegistryServer:
    official = meta.get(_OFFICIAL) if type(meta) is dict else None
    official = official if type(official) is dict else (meta if type(meta) is dict else {})
    latest = official.get("isLatest")
    return RegistryServer(
        name=_text(inner, "name"),
        title=_text(inner, "title"),
        description=_text(inner, "description"),
        version=_text(inner, "version"),
        status=_text(official, "status") or _text(inner, "status"),
        is_latest=latest if type(latest) is bool else None,
        choices=tuple(_choices(inner)),
        problems=tuple(document_problems(inner)),
        after_install=_text(inner, "postInstallInstructions"),
    )


def _choices(inner: Mapping[str, Any]) -> Iterator[RegistryChoice]:
    for name, raw in registry_entries.servers(inner):
        part = raw.get("package", raw.get("remote"))
        part = part if type(part) is dict else {}
        kind = _text(part, "registryType") or _text(part, "type") or "unknown"
        try:
            made, problem = registry_entries.preview(raw), ""
        except ConfigError as error:
            made, problem = None, error.message
        if kind == "mcpb":
            made, problem = None, "Inspector cannot start packages of mcpb"
        yield RegistryChoice(name, kind, raw, made, problem)


def document_problems(inner: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with a server.json: REG-01, REG-02."""
    missing = [key for key in ("name", "description", "version") if not _text(inner, key)]
    if missing:
        yield f"It lacks {', '.join(missing)}."
    packages = inner.get("packages")
    for n, package in enumerate(packages[:100] if type(packages) is list else ()):
        if type(package) is not dict:
            yield f"packages[{n}] is not an object."
            continue
        version = package.get("version")
        if type(version) is str and _FLOATING.search(version[:300]):
            name = excerpt(package.get("identifier"), 80)
            yield f"The version of {name} is {excerpt(version, 60)}, which is not fixed."
        if package.get("registryType") == "mcpb" and not _SHA256.fullmatch(_text(package, "fileSha256")):
            yield f"The mcpb package {excerpt(package.get('identifier'), 80)} has no valid fileSha256."


def _declared(choice: RegistryChoice, key: str) -> list[str]:
    return [item["name"] for item in _items(choice, key) if type(item.get("name")) is str]


def _items(choice: RegistryChoice, key: str) -> list[dict[str, Any]]:
    """Return the objects of a list of a choice."""
    part = choice.raw.get("package", choice.raw.get("remote"))
    items = part.get(key) if type(part) is dict else None
    return [item for item in items if type(item) is dict] if type(items) is list else []


def _text(members: Mapping[str, Any], key: str) -> str:
    value = members.get(key)
    return value if type(value) is str else ""
