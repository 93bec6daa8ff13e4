"""Real authorization servers: how each is started, and the expected results of a login.

Each protects a server with two tools: `read` needs a login with the scope `read`, `write` wants `write` too.
"""

from __future__ import annotations

import json
import os
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.interop.listening_servers import PATIENCE, free_port, listening
from tests.interop.peers import CACHE, HERE, NODE

SERVERS = HERE / "servers"
OIDC_PROVIDER = (NODE, str(CACHE / "npm/auth_oidc_provider.mjs"), "{port}", "{issuer_port}")
COLUMNS = ("login", "next run", "its end", "refused", "logout", "taken back", "more scopes", "restarted")
"""What is seen: of the login, of the run after it, when the token has ended, when it is refused before its end, when we
log out, when the authorization server takes the tokens back, when more scopes are wanted, when it has lost its memory."""

_COMMON = {
    "login": "registers, no secret",
    "next run": "no browser",
    "its end": "renewed",
    "refused": "renewed",
    "logout": "taken back",
    "taken back": "browser",
    "more scopes": "browser: read write",
    "restarted": "registers, browser",
}


@dataclass(frozen=True)
class Site:
    """An authorization server with an MCP server."""

    name: str
    made_with: str
    command: tuple[str, ...]
    seen: Mapping[str, str] = field(default_factory=dict)
    """What is to be seen, by column, where it is not what most servers do."""
    behind: bool = False
    """It sends people on to oidc-provider, which is started too, and is the one that is controlled."""

    @property
    def id(self) -> str:
        """Its name among the tests."""
        return self.name.replace(" ", "-")

    def expected(self, column: str) -> str:
        """The expected results."""
        return {**_COMMON, **self.seen}[column]


@dataclass(frozen=True)
class Running:
    """A site that listens."""

    site: Site
    url: str
    control: str

    def __call__(self, what: str) -> dict[str, int]:
        """Control it: `expire` the tokens, `revoke` them, `forget` everything, or only `count`.

        Returns how many tokens and clients are good then.
        """
        with urllib.request.urlopen(f"{self.control}/control/{what}", timeout=PATIENCE) as answer:
            counts: dict[str, int] = json.load(answer)
        return counts

    @property
    def keys(self) -> dict[str, str]:
        """The private keys of programs that it knows, by algorithm."""
        with urllib.request.urlopen(f"{self.control}/control/keys", timeout=PATIENCE) as answer:
            keys: dict[str, str] = json.load(answer)["keys"]
        return keys


def _python_sdk(version: str, **seen: str) -> Site:
    short = ".".join(version.split(".")[:2])
    command = (str(CACHE / f"python/mcp-{short}/bin/python"), str(SERVERS / "auth_python_sdk.py"), "{port}")
    return Site(
        f"python-sdk {short}", f"Python SDK {version}", command, {"login": "registers, client_secret_post"} | seen
    )


def _fastmcp(version: str, **seen: str) -> Site:
    major = version.split(".")[0]
    command = (str(CACHE / f"python/fastmcp-{major}/bin/python"), str(SERVERS / "auth_fastmcp.py"), "{port}")
    login = "registers, client_secret_post"
    return Site(f"fastmcp {major}", f"fastmcp {version}", command, {"login": login, "refused": "browser"} | seen)


_NAMED = {"more scopes": "--scope, browser: read write"}
_TYPESCRIPT = (NODE, str(CACHE / "npm/auth_typescript.mjs"), "@modelcontextprotocol/sdk", "{port}")
_FAILS = "500; logout, browser"
"""The example's provider fails at a token that it does not know, where it should refuse it."""
PLAIN = Site("oidc-provider 9", "oidc-provider 9.13.3, TypeScript SDK 2.4.0", OIDC_PROVIDER)
BOUND = Site("oidc-provider 9 DPoP", "oidc-provider 9.13.3, oauth4webapi 3.8.8", (*OIDC_PROVIDER, "dpop"))
SITES = (
    _python_sdk("1.9.4", **{"more scopes": "403 without a challenge"}),
    _python_sdk("1.26.0", **_NAMED),
    _python_sdk("2.3.0", **_NAMED),
    _fastmcp("2.14.7"),
    _fastmcp("4.1.2"),
    Site(
        "fastmcp 4 proxy",
        "fastmcp 4.1.2, oidc-provider 9.13.3",
        (str(CACHE / "python/fastmcp-4/bin/python"), str(SERVERS / "auth_fastmcp.py"), "{port}", "{issuer}"),
        seen={"restarted": "browser"},
        behind=True,
    ),
    Site("typescript-sdk 1.32", "TypeScript SDK 1.32.2", (*_TYPESCRIPT, "whole")),
    Site(
        "typescript-sdk 1.32 example",
        "TypeScript SDK 1.32.2",
        (*_TYPESCRIPT, "demo"),
        {
            "its end": "browser",
            "refused": _FAILS,
            "logout": "no endpoint",
            "taken back": _FAILS,
            "restarted": _FAILS,
        },
    ),
    Site(
        "workers-oauth-provider 1",
        "workers-oauth-provider 1.2.3, TypeScript SDK 2.4.0",
        (NODE, str(CACHE / "npm/auth_cloudflare.mjs"), "{port}"),
    ),
    PLAIN,
)


@contextmanager
def running(site: Site, folder: Path) -> Iterator[Running]:
    """Start a site, and what is behind it; end both."""
    port, issuer_port, behind_port = free_port(), free_port(), free_port()
    places = {"port": port, "issuer_port": issuer_port, "issuer": f"http://127.0.0.1:{issuer_port}/realm"}
    env = os.environ | {"HOME": str(folder)}
    with ExitStack() as stack:
        if site.behind:
            words = [word.format(port=behind_port, issuer_port=issuer_port) for word in OIDC_PROVIDER]
            stack.enter_context(listening(words, behind_port, folder / "log-behind", env=env))
        words = [word.format(**places) for word in site.command]
        stack.enter_context(listening(words, port, folder / "log", env=env))
        yield Running(site, f"http://127.0.0.1:{port}/mcp", f"http://127.0.0.1:{behind_port if site.behind else port}")
