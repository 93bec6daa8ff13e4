"""The real servers, and by which names each offers what the tests ask for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from inspector.config.target_arguments import parse_target
from inspector.config.targets import HttpTarget, StdioTarget
from tests.interop.listening_servers import free_port
from tests.interop.listening_servers import listening as started

HERE = Path(__file__).parent
CACHE = Path(os.environ.get("INSPECTOR_INTEROP", ""))
NODE = os.environ.get("INSPECTOR_INTEROP_NODE", "node")
EVERYTHING = str(CACHE / "npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js")
SDK = (str(CACHE / "python/mcp-2.3/bin/python"), str(HERE / "servers/sdk_server.py"))
TYPESCRIPT = (NODE, str(CACHE / "npm/typescript_server.mjs"))
FASTMCP = (str(CACHE / "python/fastmcp-4/bin/python"), str(HERE / "servers/fastmcp_server.py"))

Tool = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Offer:
    """The features of one server.

    A tool is its name and the arguments to call it with; a text is part of its result.
    """

    server: str
    """The name in its serverInfo."""
    tools: frozenset[str]
    """Tools that it must list, among others."""
    echo: Tool
    progress: Tool
    steps: int
    slow: Tool
    sampling: Tool
    elicitation: Tool
    roots: Tool
    structured: Tool
    fails: Tool
    resource: str
    resource_text: str
    template: str
    expanded: str
    """A URI made of the template."""
    prompt: str
    prompt_arguments: dict[str, str]
    prompt_text: str
    argument: str
    """The prompt's argument that is completed."""
    values: dict[str, list[str]]
    """What is typed, and what is offered for it."""
    subscribable: str = ""
    touch: Tool | None = None
    """A tool that makes the server tell of a change of `subscribable`."""
    log: Tool | None = None
    """A tool that makes the server log at `warning` and above, and below."""
    asks_first: bool = False
    """In the legacy era it asks for the roots soon after the opening."""


_LANGUAGES = {"p": ["python", "php", "perl"], "g": ["go"], "x": []}


def _ours(server: str, text: str, **more: Any) -> Offer:
    return Offer(
        server=server,
        tools=frozenset(("echo", "add", "count", "slow", "ask_model", "ask_user", "roots", "log", "fail")),
        echo=("echo", {"message": "hello"}),
        progress=("count", {"steps": 4}),
        steps=4,
        slow=("slow", {"seconds": 30}),
        sampling=("ask_model", {"prompt": "What is it?"}),
        elicitation=("ask_user", {}),
        roots=("roots", {}),
        structured=("add", {"a": 2, "b": 3}),
        fails=("fail", {}),
        resource="test://readme",
        resource_text=text,
        template="test://items/{id}",
        expanded="test://items/7",
        prompt="review",
        prompt_arguments={"language": "go"},
        prompt_text="Please review this go code.",
        argument="language",
        values=_LANGUAGES,
        log=("log", {}),
        **more,
    )


SDK_OFFER = _ours(
    "sdk-server",
    "Hello from the SDK",
    subscribable="test://readme",
    touch=("touch", {"uri": "test://readme"}),
)
TYPESCRIPT_OFFER = _ours(
    "typescript-server",
    "Hello from TypeScript",
    subscribable="test://readme",
    touch=("touch", {"uri": "test://readme"}),
)
FASTMCP_OFFER = _ours("fastmcp-server", "Hello from fastmcp")
_DOCUMENT = "demo://resource/static/document/architecture.md"
EVERYTHING_OFFER = Offer(
    server="mcp-servers/everything",
    tools=frozenset(("echo", "get-sum", "get-tiny-image", "get-structured-content", "trigger-long-running-operation")),
    echo=("echo", {"message": "hello"}),
    progress=("trigger-long-running-operation", {"duration": 0.2, "steps": 4}),
    steps=4,
    slow=("trigger-long-running-operation", {"duration": 30, "steps": 1}),
    sampling=("trigger-sampling-request", {"prompt": "What is it?", "maxTokens": 50}),
    elicitation=("trigger-elicitation-request", {}),
    roots=("get-roots-list", {}),
    structured=("get-structured-content", {"location": "New York"}),
    fails=("echo", {"message": 5}),
    resource=_DOCUMENT,
    resource_text="Everything Server",
    template="demo://resource/dynamic/text/{resourceId}",
    expanded="demo://resource/dynamic/text/7",
    prompt="completable-prompt",
    prompt_arguments={"department": "Sales", "name": "Eve"},
    prompt_text="Please promote Eve to the head of the Sales team.",
    argument="department",
    values={"S": ["Sales", "Support"], "E": ["Engineering"], "x": []},
    subscribable=_DOCUMENT,
    touch=("toggle-subscriber-updates", {}),
    asks_first=True,
)


@dataclass(frozen=True)
class Peer:
    """A reachable server: its features, its command-line words, and the era."""

    offer: Offer
    words: tuple[str, ...]
    era: Literal["legacy", "modern"] = "legacy"

    @property
    def revision(self) -> str:
        """The revision that is agreed on."""
        return "2026-07-28" if self.era == "modern" else "2025-11-25"

    @property
    def target(self) -> StdioTarget | HttpTarget:
        """The target that the words name."""
        given = self.words[1:] if self.words[0] == "--" else self.words
        target = parse_target(given, command=self.words[0] == "--")
        assert isinstance(target, StdioTarget | HttpTarget)
        return target


STDIO = {
    "everything": Peer(EVERYTHING_OFFER, ("--", NODE, EVERYTHING, "stdio")),
    "sdk": Peer(SDK_OFFER, ("--", *SDK)),
    "fastmcp": Peer(FASTMCP_OFFER, ("--", *FASTMCP)),
    "sdk-modern": Peer(SDK_OFFER, ("--", *SDK), "modern"),
    "typescript": Peer(TYPESCRIPT_OFFER, ("--", *TYPESCRIPT), "modern"),
}
HTTP: dict[str, tuple[Offer, tuple[str, ...], Literal["legacy", "modern"]]] = {
    "everything-http": (
        EVERYTHING_OFFER,
        (NODE, "--require", str(HERE / "loopback.cjs"), EVERYTHING, "streamableHttp"),
        "legacy",
    ),
    "fastmcp-http": (FASTMCP_OFFER, FASTMCP, "legacy"),
    "sdk-modern-http": (SDK_OFFER, SDK, "modern"),
    "typescript-http": (TYPESCRIPT_OFFER, TYPESCRIPT, "modern"),
}
NAMES = (*STDIO, *HTTP)


@contextmanager
def listening(name: str, log: Path) -> Iterator[Peer]:
    """Starts a server over Streamable HTTP on the loopback interface and ends it. `log` gets what it writes."""
    offer, command, era = HTTP[name]
    port = free_port()
    words = command if name == "everything-http" else (*command, str(port))
    with started(words, port, log, env=os.environ | {"PORT": str(port)}):
        yield Peer(offer, (f"http://127.0.0.1:{port}/mcp",), era)
