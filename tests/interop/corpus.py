"""The corpus of servers: their packages, their commands, and the expected findings.

Data only. `install.py` installs `PYTHON` and `NPM`, `test_corpus.py` opens each of `ENTRIES`. Versions are exact: an
entry says what one version does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Over = Literal["stdio", "http", "sse"]
OVER: Mapping[Over, str] = {"stdio": "stdio", "http": "Streamable HTTP", "sse": "HTTP+SSE"}

_OLD_COMPANIONS = ("pydantic==2.10.*", "starlette==0.46.*", "anyio==4.8.*")
PYTHON: Mapping[str, tuple[str, ...]] = {
    "mcp-1.2": ("mcp==1.2.0", *_OLD_COMPANIONS),
    "mcp-1.6": ("mcp==1.6.0", *_OLD_COMPANIONS),
    "mcp-1.9": ("mcp==1.9.4", *_OLD_COMPANIONS),
    "mcp-1.26": ("mcp==1.26.0",),
    "mcp-2.3": ("mcp==2.3.0",),
    "fastmcp-2": ("fastmcp==2.14.7", "mcp==1.30.0"),
    "fastmcp-3": ("fastmcp==3.4.10", "mcp==1.30.0"),
    "fastmcp-4": ("fastmcp==4.1.2", "mcp==2.3.0"),
    "reference": (
        "mcp-server-fetch==2026.10.24",
        "mcp-server-git==2026.10.19",
        "mcp-server-time==2026.10.19",
        "mcp==2.3.0",
    ),
    "reference-old": ("mcp-server-sqlite==2025.4.25", "mcp-server-time==0.6.2", "mcp==1.30.0"),
    "mcp-proxy": ("mcp-proxy==0.13.0", "mcp==1.30.0"),
    "grafana": ("mcp-grafana==2.1.1",),
    "locust": ("locust==2.47.0", "--editable", str(Path(__file__).parents[2])),
}
"""What each of the Python environments holds."""

NPM: Mapping[str, str] = {
    "@modelcontextprotocol/server-everything": "2026.8.31",
    **{
        f"everything-{version}": f"npm:@modelcontextprotocol/server-everything@{version}"
        for version in ("0.6.2", "2025.4.8", "2025.9.12", "2025.11.25", "2026.1.26")
    },
    "@modelcontextprotocol/server-filesystem": "2026.8.31",
    "@modelcontextprotocol/server-memory": "2026.8.31",
    "@modelcontextprotocol/server-sequential-thinking": "2026.8.31",
    "@modelcontextprotocol/sdk": "1.32.2",
    "sdk-1.12": "npm:@modelcontextprotocol/sdk@1.12.3",
    "@modelcontextprotocol/server": "2.4.0",
    "@modelcontextprotocol/node": "2.1.2",
    "@cloudflare/workers-oauth-provider": "1.2.3",
    "express": "5.3.0",
    "jose": "6.2.17",
    "oauth4webapi": "3.8.8",
    "oidc-provider": "9.13.3",
    "mcp-hub": "4.2.1",
    "supergateway": "4.0.0",
    "kubernetes-mcp-server": "0.0.67",
    "@azure/mcp": "2.0.5",
}
"""What the one npm project depends on, by the names that it is installed under."""

NPM_OF_THIS_MACHINE: Mapping[str, str] = {
    "@jdxcode/mise-linux-x64": "2026.9.15",
    "@jdxcode/mise-linux-arm64": "2026.9.15",
}
"""The same for packages of which npm takes those that fit the machine."""


@dataclass(frozen=True)
class Entry:
    """One server over one transport.

    In `command`, `prepare`, `arguments` and `env` stand `{node}` and `{npx}` for the programs, `{npm}` for the folder of
    the npm project, `{bin}` for its programs, `{python}` for the folder of the environments, `{interpreter}` for the
    Python they were made with, `{uvx}` for uv's runner and `{uv_cache}` for its cache, `{servers}` for the folder of our
    own scripts, `{folder}` for an empty one and `{port}` for the port to listen on.
    """

    name: str
    made_with: str
    """The library that it stands on, and the version, where that is known."""
    over: Over
    command: str
    revision: str
    """The revision that is to be agreed on."""
    tool: str
    arguments: Mapping[str, Any]
    answer: str
    """Part of what the call answers."""
    path: str = ""
    """Of the URL, for a server that listens."""
    spawns: int = 1
    """How many processes it takes to open it over stdio."""
    fails: bool = False
    """Whether the call is answered with a failure, as it should be."""
    env: Mapping[str, str] = field(default_factory=dict)
    prepare: str = ""
    """A command that runs before."""
    up: tuple[str, str] | None = None
    """A path, and what a GET of it answers once the server is up; else it is up when it listens."""

    def facts(self) -> list[str]:
        """The cells of the table, except how it was found and how long it took."""
        starts = str(self.spawns) if self.over == "stdio" else "-"
        return [self.name, self.made_with, OVER[self.over], self.era, self.revision, starts]

    @property
    def id(self) -> str:
        """Its name among the tests."""
        return f"{self.name.replace(' ', '-')}-{self.over}"

    @property
    def era(self) -> Literal["legacy", "modern"]:
        """The expected era."""
        return "modern" if self.revision >= "2026-07-28" else "legacy"


PATHS: Mapping[Over, str] = {"stdio": "", "http": "/mcp", "sse": "/sse"}
"""Where servers listen by custom."""
_ECHO: dict[str, Any] = {"tool": "echo", "arguments": {"message": "hello"}, "answer": "hello"}
_ADD: dict[str, Any] = {"tool": "add", "arguments": {"a": 2, "b": 3}, "answer": "the sum is 5"}
_LOOPBACK = "{node} --require {servers}/../loopback.cjs"


def _everything(version: str, sdk: str, revision: str, *overs: Over) -> list[Entry]:
    """A version of server-everything."""
    folder = "@modelcontextprotocol/server-everything" if version == "2026.8.31" else f"everything-{version}"
    script = f"{{npm}}/node_modules/{folder}/dist"
    old = version in ("0.6.2", "2025.4.8")
    words = {"stdio": "stdio", "http": "streamableHttp", "sse": "sse"}
    return [
        Entry(
            f"server-everything {version}",
            f"TypeScript SDK {sdk}",
            over,
            ("{node}" if over == "stdio" else _LOOPBACK)
            + (f" {script}/{'index' if over == 'stdio' else 'sse'}.js" if old else f" {script}/index.js {words[over]}"),
            revision,
            path=PATHS[over],
            env={} if over == "stdio" else {"PORT": "{port}"},
            **_ECHO,
        )
        for over in overs
    ]


def _python_sdk(version: str, revision: str, *overs: Over, spawns: int = 1, sse: str = "") -> list[Entry]:
    """Our small server on a version of the Python SDK. Over HTTP+SSE the revision may be another, `sse`."""
    words = {"stdio": "stdio", "http": "streamable-http {port}", "sse": "sse {port}"}
    short = ".".join(version.split(".")[:2])
    return [
        Entry(
            f"python-sdk {short}",
            f"Python SDK {version}",
            over,
            f"{{python}}/mcp-{short}/bin/python {{servers}}/small_python_sdk.py {words[over]}",
            sse if sse and over == "sse" else revision,
            path=PATHS[over],
            spawns=spawns if over == "stdio" else 1,
            **_ADD,
        )
        for over in overs
    ]


def _fastmcp(version: str, sdk: str, revision: str, *, sse: str = "") -> list[Entry]:
    """Our small server on a version of fastmcp."""
    words: dict[Over, str] = {"stdio": "stdio", "http": "http {port}", "sse": "sse {port}"}
    major = version.split(".")[0]
    return [
        Entry(
            f"fastmcp {major}",
            f"fastmcp {version}, Python SDK {sdk}",
            over,
            f"{{python}}/fastmcp-{major}/bin/python {{servers}}/small_fastmcp.py {words[over]}",
            sse if sse and over == "sse" else revision,
            path=PATHS[over],
            **_ADD,
        )
        for over in words
    ]


def _typescript_1(version: str, package: str, revision: str) -> list[Entry]:
    """Our small server on a 1.x of the TypeScript SDK."""
    short = ".".join(version.split(".")[:2])
    return [
        Entry(
            f"typescript-sdk {short}",
            f"TypeScript SDK {version}",
            over,
            f"{{node}} {{npm}}/small_typescript_1.mjs {package}" + ("" if over == "stdio" else " {port}"),
            revision,
            path=path,
            **_ADD,
        )
        for over, path in PATHS.items()
    ]


def _typescript_2(name: str, handshakes: Literal["serve", "reject"]) -> list[Entry]:
    """Our small server on 2.x of the TypeScript SDK."""
    overs: tuple[Over, ...] = ("stdio", "http")
    return [
        Entry(
            name,
            "TypeScript SDK 2.4.0",
            over,
            f"{{node}} {{npm}}/small_typescript_2.mjs {handshakes}" + ("" if over == "stdio" else " {port}"),
            "2026-07-28",
            path=PATHS[over],
            **_ADD,
        )
        for over in overs
    ]


def _reference_npm(name: str, command: str, tool: str, arguments: dict[str, Any], answer: str, **more: Any) -> Entry:
    """One of the reference servers on npm, started by its program."""
    program = f"{{bin}}/mcp-server-{name} {command}"
    made = "TypeScript SDK 1.32.2"
    return Entry(f"server-{name}", made, "stdio", program, "2025-11-25", tool, arguments, answer, **more)


def _kubernetes(over: Over, revision: str) -> Entry:
    return Entry(
        "kubernetes-mcp-server",
        "Go SDK 1.8.0",
        over,
        "{bin}/kubernetes-mcp-server --kubeconfig {servers}/kubeconfig.yaml"
        + ("" if over == "stdio" else " --port {port} --bind-address 127.0.0.1"),
        revision,
        "configuration_view",
        {},
        "nowhere",
        path=PATHS[over],
    )


def _grafana(over: Over, revision: str) -> Entry:
    words = {"stdio": "", "http": " -t streamable-http", "sse": " -t sse"}
    return Entry(
        "mcp-grafana",
        "Go SDK 1.8.0",
        over,
        "{python}/grafana/bin/mcp-grafana" + words[over] + ("" if over == "stdio" else " --address 127.0.0.1:{port}"),
        revision,
        "suggest_loki_alloy_label_config",
        {"approvedLabels": ["app"]},
        "stage.label_keep",
        path=PATHS[over],
    )


def _gateway(name: str, made_with: str, over: Over, command: str, revision: str) -> Entry:
    return Entry(name, made_with, over, command, revision, path=PATHS[over], **_ECHO)


_INNER = "{npm}/node_modules/everything-2025.11.25/dist/index.js"
_SUPERGATEWAY = _LOOPBACK + " {bin}/supergateway --port {port} --stdio '{node} " + _INNER + "'"

ENTRIES: tuple[Entry, ...] = (
    *_everything("0.6.2", "1.0.1", "2024-11-05", "stdio", "sse"),
    *_everything("2025.4.8", "1.0.1", "2024-11-05", "stdio", "sse"),
    *_everything("2025.9.12", "1.32.2", "2025-11-25", "stdio", "http", "sse"),
    *_everything("2025.11.25", "1.32.2", "2025-11-25", "stdio", "http", "sse"),
    *_everything("2026.1.26", "1.32.2", "2025-11-25", "stdio", "http", "sse"),
    *_everything("2026.8.31", "1.32.2", "2025-11-25", "stdio", "http", "sse"),
    *_python_sdk("1.2.0", "2024-11-05", "stdio", "sse", spawns=2),
    *_python_sdk("1.6.0", "2024-11-05", "stdio", "sse", spawns=2),
    *_python_sdk("1.9.4", "2025-03-26", "stdio", "http", "sse"),
    *_python_sdk("1.26.0", "2025-11-25", "stdio", "http", "sse"),
    *_python_sdk("2.3.0", "2026-07-28", "stdio", "http", "sse", sse="2025-11-25"),
    *_fastmcp("2.14.7", "1.30.0", "2025-11-25"),
    *_fastmcp("3.4.10", "1.30.0", "2025-11-25"),
    *_fastmcp("4.1.2", "2.3.0", "2026-07-28", sse="2025-11-25"),
    *_typescript_1("1.12.3", "sdk-1.12", "2025-03-26"),
    *_typescript_1("1.32.2", "@modelcontextprotocol/sdk", "2025-11-25"),
    *_typescript_2("typescript-sdk 2.4", "serve"),
    *_typescript_2("typescript-sdk 2.4 modern only", "reject"),
    _reference_npm("filesystem", "{folder}", "list_allowed_directories", {}, "{folder}"),
    _reference_npm("memory", "", "read_graph", {}, "entities", env={"MEMORY_FILE_PATH": "{folder}/memory.json"}),
    _reference_npm(
        "sequential-thinking",
        "",
        "sequentialthinking",
        {"thought": "Is it one?", "thoughtNumber": 1, "totalThoughts": 1, "nextThoughtNeeded": False},
        "thoughtHistoryLength",
    ),
    Entry(
        "server-everything by npx",
        "TypeScript SDK 1.32.2",
        "stdio",
        "{npx} --prefix {npm} mcp-server-everything",
        "2025-11-25",
        **_ECHO,
    ),
    Entry(
        "mcp-server-fetch",
        "Python SDK 2.3.0",
        "stdio",
        "{python}/reference/bin/mcp-server-fetch --ignore-robots-txt",
        "2026-07-28",
        "fetch",
        {"url": "http://127.0.0.1:9/"},
        "127.0.0.1",
        fails=True,
    ),
    Entry(
        "mcp-server-git",
        "Python SDK 2.3.0",
        "stdio",
        "{python}/reference/bin/mcp-server-git --repository {folder}",
        "2026-07-28",
        "git_status",
        {"repo_path": "{folder}"},
        "branch",
        prepare="git init --quiet {folder}",
    ),
    Entry(
        "mcp-server-time by uvx",
        "Python SDK 2.3.0",
        "stdio",
        "{uvx} --offline --from mcp-server-time==2026.10.19 mcp-server-time",
        "2026-07-28",
        "get_current_time",
        {"timezone": "Etc/UTC"},
        "datetime",
        env={"UV_CACHE_DIR": "{uv_cache}", "UV_PYTHON": "{interpreter}"},
    ),
    Entry(
        "mcp-server-time 0.6.2",
        "Python SDK 1.30.0",
        "stdio",
        "{python}/reference-old/bin/mcp-server-time",
        "2025-11-25",
        "get_current_time",
        {"timezone": "Etc/UTC"},
        "datetime",
    ),
    Entry(
        "mcp-server-sqlite",
        "Python SDK 1.30.0",
        "stdio",
        "{python}/reference-old/bin/mcp-server-sqlite --db-path {folder}/data.db",
        "2025-11-25",
        "list_tables",
        {},
        "[]",
    ),
    Entry(
        "mcp-hub 4.2.1",
        "TypeScript SDK, bundled",
        "sse",
        _LOOPBACK + " {bin}/mcp-hub --port {port} --config {servers}/mcp-hub.json",
        "2025-06-18",
        "inner__echo",
        {"message": "hello"},
        "hello",
        path="/mcp",
        env={"NODE": "{node}", "INNER": _INNER},
        up=("/api/health", '"status":"connected"'),
    ),
    _gateway(
        "mcp-proxy 0.13",
        "Python SDK 1.30.0",
        "http",
        "{python}/mcp-proxy/bin/mcp-proxy --port {port} {node} " + _INNER,
        "2025-11-25",
    ),
    _gateway(
        "mcp-proxy 0.13",
        "Python SDK 1.30.0",
        "sse",
        "{python}/mcp-proxy/bin/mcp-proxy --port {port} {node} " + _INNER,
        "2025-11-25",
    ),
    _gateway(
        "supergateway 4.0",
        "TypeScript SDK 1.30.0",
        "http",
        _SUPERGATEWAY + " --outputTransport streamableHttp",
        "2025-11-25",
    ),
    _gateway("supergateway 4.0", "TypeScript SDK 1.30.0", "sse", _SUPERGATEWAY, "2025-11-25"),
    _kubernetes("stdio", "2026-07-28"),
    _kubernetes("http", "2025-11-25"),
    _grafana("stdio", "2026-07-28"),
    _grafana("http", "2026-07-28"),
    _grafana("sse", "2025-11-25"),
    Entry(
        "mise 2026.9.15",
        "Rust SDK 3.4.0",
        "stdio",
        "{bin}/mise mcp",
        "2026-07-28",
        "list_commands",
        {},
        "install",
        env={"MISE_EXPERIMENTAL": "1"},
    ),
    Entry(
        "azmcp 2.0.5",
        "C# SDK 1.0",
        "stdio",
        "{bin}/azmcp server start --namespace bestpractices",
        "2025-11-25",
        "group_list",
        {},
        "subscription",
        env={"AZURE_MCP_COLLECT_TELEMETRY": "false"},
        fails=True,
    ),
)
