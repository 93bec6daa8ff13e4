"""Servers that the user looks for: in a registry (`servers --search`), by a card (`servers --card`); and opening one.

Nothing is contacted unless the user names it, and nothing is started before the user has read the whole command.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.addresses import shown_url
from inspector.cli import session_setup
from inspector.cli.output import Output
from inspector.config import trust
from inspector.errors import UsageError
from inspector.features.cards import registries
from inspector.features.cards.discovery import CardDiscovery, FoundCard, discover, problems_of
from inspector.features.cards.documents import disclosures, remotes_of, versions_of
from inspector.features.cards.fetching import CardFetcher
from inspector.features.cards.registries import RegistryChoice, RegistryListing, RegistryServer
from inspector.transports.http_url import parse_url

if TYPE_CHECKING:
    from inspector.cli.verb import Invocation
    from inspector.config.expand import InputQuestion
    from inspector.config.targets import HttpTarget, StdioTarget

NAME = 200
TEXT = 2000
WHOLE = 1 << 16
"""Characters of a command or URL that is shown before it is used."""
MAX_SHOWN = 100
"""Servers that are printed for a person."""


def search(invocation: Invocation) -> int:
    """Print the servers of a registry that fit the words."""
    out = invocation.output
    words = invocation.option("search") or ""
    listing = _listing(invocation, words)
    servers = listing.matching(words)
    if out.json:
        out.document({"servers": [server.as_json() for server in servers], "refused": listing.refused})
    else:
        visible = servers[:MAX_SHOWN]
        out.table(
            [
                (
                    out.safe(server.name, NAME),
                    out.safe(server.version, 40),
                    _state(out, server),
                    out.safe(", ".join(dict.fromkeys(choice.kind for choice in server.choices)), 60),
                    out.safe(server.description, TEXT),
                )
                for server in visible
            ]
        )
        if len(servers) > len(visible):
            out.note(f"note: {len(servers) - len(visible):,} more servers fit.")
        if not servers:
            out.note("No server of the registry fits.")
    for text in listing.refused[:20]:
        out.note(f"note: {out.safe(text, 500)}")
    if listing.more:
        out.note("note: The registry has more servers than were read.")
    return 0


def show_or_open(invocation: Invocation) -> int:
    """Print what a server of a registry starts or contacts; with a terminal ask, and open it in the interface."""
    out = invocation.output
    name, _, part = str(invocation.option("open")).partition(":")
    server = _listing(invocation, name.rpartition("/")[2]).named(name)
    choices = [choice for choice in server.choices if part in ("", choice.name, choice.kind)]
    if out.json:
        out.document(server.as_json())
        return 0
    _print_server(out, server, choices)
    usable = [choice for choice in choices if choice.definition is not None]
    if not usable:
        raise UsageError(f"{server.name} has nothing that Inspector can open.")
    if len(usable) > 1:
        names = ", ".join(f"{name}:{choice.name}" for choice in usable)
        raise UsageError(f"{server.name} can be opened in {len(usable)} ways.", hint=f"Name one: {names[:1000]}")
    from inspector.cli.verbs import open as opening

    opening.need_terminal("The command above is what it would start; give it after --.")
    target = _target(out, server, usable[0], _source(invocation))
    return opening.interface(invocation, target)


def _target(out: Output, server: RegistryServer, choice: RegistryChoice, source: str) -> StdioTarget | HttpTarget:
    """Return the target that the user agreed to. Raises `UsageError`, and `ConfigError` for a missing value."""
    from inspector.config.servers import resolve

    does = "Connect" if choice.definition is not None and choice.definition.kind == "http" else "Start it"
    if not out.confirms(f"{does}?"):
        raise UsageError(f"{server.name} was not opened.")

    def ask(question: InputQuestion) -> str | None:
        return session_setup.ask(registries.own_questions(question))

    entry = registries.entry_of(server, choice, Path(source))
    return registries.filled(server, resolve(entry, prompt=ask, consent=trust.always))


def _print_server(out: Output, server: RegistryServer, choices: list[RegistryChoice]) -> None:
    out.line(f"{out.safe(server.name, NAME)}  {out.safe(server.version, 40)}  {_state(out, server)}".rstrip())
    if server.description:
        out.lines(line.rstrip() for line in out.wrapped(server.description, "  "))
    for choice in choices:
        out.line(f"{out.safe(choice.name, NAME)} ({out.safe(choice.kind, 40)})")
        if choice.problem:
            out.line(f"  cannot be opened: {out.safe(choice.problem, 500)}")
        out.lines(f"  {out.safe(fact, WHOLE)}" for fact in registries.start_facts(choice))
    if server.after_install:
        out.line("after installing, its publisher says (shown, never run):")
        out.lines(line.rstrip() for line in out.wrapped(server.after_install, "  "))
    for problem in server.problems:
        out.note(f"note: {out.safe(problem, 500)}")


def _state(out: Output, server: RegistryServer) -> str:
    latest = {True: "latest", False: "not latest", None: ""}[server.is_latest]
    return " ".join(filter(None, (out.safe(server.status, 40), latest)))


def _source(invocation: Invocation) -> str:
    """Return the registry: of the option, or of the settings. Raises `UsageError`."""
    source = invocation.option("registry") or session_setup.settings_of(invocation).registry
    if not source:
        raise UsageError(
            "No registry is given, and none is contacted by default.",
            hint="Name a file or an address, as an option or in the setting “registry”.",
        )
    return str(source)


def _listing(invocation: Invocation, words: str) -> RegistryListing:
    return asyncio.run(registries.search_source(_source(invocation), words))


def _checked(url: str) -> str:
    try:
        return parse_url(url).text
    except ValueError as error:
        raise UsageError(f"“{url[:200]}” is not an address: {error}.") from None


MOST_PROBLEMS = 5
"""Problems of a catalog that are printed."""


def cards(invocation: Invocation) -> int:
    """Fetch and print the cards of a domain or a server that the user names."""
    out = invocation.output
    url = str(invocation.option("card"))
    url = _checked(url if "://" in url else f"https://{url}")
    discovery = asyncio.run(_discovered(url))
    problems = discovery.catalog.problems if discovery.catalog is not None else ()
    if out.json:
        out.document(
            {
                "looked": [{"url": answer.url, "answer": answer.summary} for answer in discovery.looked],
                "cards": [
                    {"url": card.url, "card": card.card, "problems": _card_problems(card)} for card in discovery.cards
                ],
                "catalog_problems": [problem.text for problem in problems],
                "notes": discovery.notes,
            }
        )
        return 0 if discovery.cards else 4
    for card in discovery.cards:
        _print_card(out, card)
    for answer in discovery.looked if not discovery.cards else ():
        out.line(f"{out.safe(shown_url(answer.url, NAME))}: {out.safe(answer.summary, 500)}")
    for note in discovery.notes:
        out.note(f"note: {out.safe(note, 500)}")
    # The last one may be about the number of entries.
    for problem in (*problems[:MOST_PROBLEMS], *problems[MOST_PROBLEMS:][-1:]):
        out.note(f"note: catalog: {out.safe(problem.text, 500)}")
    if len(problems) > MOST_PROBLEMS + 1:
        out.note(f"note: catalog: {len(problems) - MOST_PROBLEMS - 1:,} more problems; --json has all")
    if not discovery.cards:
        out.note("No server card was found.")
    return 0 if discovery.cards else 4


async def _discovered(url: str) -> CardDiscovery:
    fetcher = CardFetcher(url)
    try:
        return await discover(url, fetcher.get)
    finally:
        await fetcher.aclose()


def _card_problems(card: FoundCard) -> list[str]:
    secret = [problem.text for problem in disclosures(card.card, parse_url(card.url).host)]
    return [*problems_of(card), *secret]


def _print_card(out: Output, found_card: FoundCard) -> None:
    card = found_card.card
    safe: Callable[[object, int], str] = out.safe
    place = out.safe(shown_url(found_card.place, NAME))
    out.line(f"{safe(card.get('name'), NAME)}  {safe(card.get('version'), 40)}  from {place}")
    for key in ("title", "description", "websiteUrl"):
        if isinstance(card.get(key), str):
            out.line(f"  {out.safe(shown_url(card[key], TEXT)) if key == 'websiteUrl' else safe(card[key], TEXT)}")
    for remote in remotes_of(card):
        out.line(f"  {safe(remote.get('type'), 40)}  {out.safe(shown_url(str(remote.get('url')), TEXT))}")
        for header in remote.get("headers") or () if isinstance(remote.get("headers"), list) else ():
            out.line(f"    header {safe(header.get('name') if isinstance(header, dict) else header, NAME)}")
    versions = versions_of(card)
    if versions:
        out.line(f"  protocol {safe(', '.join(versions), NAME)}")
    for problem in _card_problems(found_card):
        out.note(f"note: {safe(problem, 500)}")
