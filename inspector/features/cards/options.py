"""`inspector servers --search | --open | --card`: what is done instead of listing the configured servers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.cli.options import Option, Value
from inspector.cli.verb import VerbOptions
from inspector.errors import UsageError

if TYPE_CHECKING:
    from inspector.cli.verb import Invocation


def _use(invocation: Invocation) -> int | None:
    """Do what the option asks for; None without one."""
    given = [name for name in ("search", "open", "card") if invocation.option(name) is not None]
    if len(given) > 1:
        raise UsageError(f"--{given[0]} and --{given[1]} cannot be used together.")
    if given:
        from inspector.features.cards import found_servers

        todo = {"search": found_servers.search, "open": found_servers.show_or_open, "card": found_servers.cards}
        return todo[given[0]](invocation)
    if invocation.option("registry") is not None:
        raise UsageError("--registry is where --search and --open look.", hint="Add one of them.")
    return None


SERVERS = VerbOptions(
    (
        Option("--search", "Search a registry for servers with these words", "WORDS"),
        Option("--registry", "The registry: a file, or an address", Value("FILE|URL", str, "file")),
        Option("--open", "Show what a server of the registry starts, ask, and open it", "NAME"),
        Option("--card", "Fetch and show the server card of a domain or a server", "URL"),
    ),
    _use,
    "--search, --open and --card read a registry or a card that you name; nothing else is contacted. --open prints the "
    "whole command or URL with its variables and headers, and asks before it starts anything.",
    (
        "inspector servers --search weather --registry https://registry.modelcontextprotocol.io",
        "inspector servers --open io.example/weather --registry servers.json",
        "inspector servers --card https://host.example/mcp",
    ),
)
