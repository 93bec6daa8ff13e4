"""Servers for another version of their SDK: how their log shows it, and which version they need."""

from __future__ import annotations

import re
from typing import NamedTuple

from inspector.doctor.diagnosis import Fix, Weight
from inspector.doctor.python_packages import incomplete_package, install, installed
from inspector.doctor.server_facts import ServerFacts, StderrCause


class _Row(NamedTuple):
    """A line of the log, and the requirement of the server; `{}` in `lacks` is the group."""

    pattern: re.Pattern[str]
    package: str
    versions: str
    lacks: str


def _row(pattern: str, requirement: str, lacks: str = "has no {}") -> _Row:
    package, sign, version = re.split(r"([<>]=?)", requirement, maxsplit=1)
    return _Row(re.compile(pattern), package, sign + version, lacks)


_IMPORT = r"cannot import name '({})' from '{}[\w.]*'"
_OF_SERVER = (
    "list_tools|call_tool|list_resources|list_resource_templates|read_resource|subscribe_resource|unsubscribe_resource"
    "|list_prompts|get_prompt|completion|set_logging_level|progress_notification|request_context|request_handlers"
    "|notification_handlers"
)
_CAMEL = (
    "inputSchema|outputSchema|mimeType|nextCursor|isError|structuredContent|uriTemplate|protocolVersion|clientInfo"
    "|serverInfo|progressToken|listChanged|resourceTemplates"
)
_ROWS = (
    # Python SDK 1.x with 2.x installed
    _row(
        r"No module named '(mcp\.(?:server\.(?:fastmcp|websocket|experimental|lowlevel\.(?:experimental|func_\w))"
        r"|shared\.(?:session|version|progress|response_router|experimental))[\w.]*)'",
        "mcp<2",
    ),
    _row(
        _IMPORT.format(
            "FastMCP|McpError|RequestContext|ReadResourceContents|RequestResponder|streamablehttp_client"
            "|create_connected_server_and_client_session",
            "mcp",
        ),
        "mcp<2",
    ),
    _row(rf"'Server' object has no attribute '({_OF_SERVER})'", "mcp<2"),
    _row(rf"object has no attribute '({_CAMEL})'", "mcp<2"),
    # Python SDK 2.x with 1.x installed
    _row(r"No module named '(mcp\.server\.mcpserver[\w.]*|mcp_types[\w.]*)'", "mcp>=2"),
    _row(_IMPORT.format("MCPServer|MCPError", "mcp"), "mcp>=2"),
    _row(r"Server\.__init__\(\) got an unexpected keyword argument '(on_\w+)'", "mcp>=2", "does not accept {}"),
    _row(
        r"(Server|ServerSession)\.__init__\(\) (?:takes .{1,20} positional|got an unexpected|missing \d)",
        "mcp<2",
        "takes other arguments for {}",
    ),
    # FastMCP
    _row(r"FastMCP\(\) no longer accepts `(\w+)`", "fastmcp<3", "does not accept {}"),
    _row(
        r"No module named '(fastmcp\.(?:\w+\.(?:prompt|tool|resource)_manager|utilities\.mcp_config)[\w.]*)'",
        "fastmcp<3",
    ),
    _row(_IMPORT.format("PromptManager|ToolManager|ResourceManager", "fastmcp"), "fastmcp<3"),
    _row(
        r"'FastMCP' object has no attribute '(get_tools|get_prompts|get_resources|get_resource_templates|settings)'",
        "fastmcp<3",
    ),
    _row(
        r"No module named '(fastmcp\.(?:tools\.tool|prompts\.prompt|resources\.resource"
        r"|server\.(?:proxy|openapi|sampling|tasks|apps?)|experimental\.(?:sampling|server|utilities))[\w.]*)'",
        "fastmcp<4",
    ),
    _row(
        r"'FastMCP'(?: object)? has no attribute '"
        r"(as_proxy|import_server|remove_tool|add_tool_transformation|remove_tool_transformation)'",
        "fastmcp<4",
    ),
)
_TITLES = {"mcp": "the MCP Python SDK", "fastmcp": "FastMCP"}
_FASTMCP_ARGUMENT = re.compile(r"FastMCP(?:\.__init__)?\(\) got (?:an )?unexpected keyword argument(?:\(s\):)? '(\w+)'")
_SHADOWED = re.compile(
    r"No module named '[\w.]+'; '(?P<a>\w+)' is not a package"
    r"|consider renaming '(?P<b>[^']{1,400}?)(?:\.py)?' since it has the same name"
    r"|from partially initialized module '(?P<c>\w{1,200})'(?: \([^()/\\]{1,80}\))? \((?P<path>[^()]{1,400})\)"
)
_NOT_THERE = re.compile(
    r"cannot import name '(\w+)' from '([\w.]+)' \(([^()]{1,400}?[/\\](?:site|dist)-packages)[/\\]([^/\\()]+)"
)


def _is_own_file(path: str) -> bool:
    return path.endswith(".py") and "site-packages" not in path


def shadowed_module(server: ServerFacts) -> StderrCause | None:
    """Return the cause if a file of the server has the name of a package that it imports."""
    for line in server.log:
        match = _SHADOWED.search(line)
        if match and (match["path"] is None or _is_own_file(match["path"])):
            name = re.split(r"[/\\]", match["a"] or match["b"] or match["c"])[-1]
            file = match["path"] or f"{name}.py"
            return StderrCause(f"Its file {file} hides the package {name}.", Fix("Give that file another name."))
    return None


def sdk_cause(server: ServerFacts) -> StderrCause | None:
    """Return the version of its SDK that a server needs, if its log shows that it has another one."""
    for line in reversed(server.log):
        for row in _ROWS:
            cause = row.pattern.search(line)
            if cause:
                return _needs(row, cause[1], server)
        cause = _FASTMCP_ARGUMENT.search(line)
        if cause:
            return StderrCause(
                f"It was written for another version of FastMCP: the installed one does not accept “{cause[1]}”.",
                Fix("Remove that argument, or install the version that it was written for (before mcp 1.12).")
                if installed(server, "fastmcp")
                else install("mcp<1.12", server, text="Install that version, or remove the argument."),
            )
        cause = _NOT_THERE.search(line)
        if cause:
            return _unfitting(cause, server)
    return None


def requirement_of(source: str) -> str:
    """Return the requirement that an import in source text shows; empty without one."""
    for row in _ROWS:
        if row.package == "mcp":
            for match in re.finditer(r"from (mcp[\w.]*) import (\w+)", source):
                messages = (f"No module named '{match[1]}'", f"cannot import name '{match[2]}' from '{match[1]}'")
                if any(row.pattern.search(message) for message in messages):
                    return row.package + row.versions
    return ""


def _needs(row: _Row, missing: str, server: ServerFacts) -> StderrCause | None:
    package, versions, version = row.package, row.versions, installed(server, row.package)
    title, number = _TITLES[package], re.sub(r"\D", "", versions)
    lacks = row.lacks.format(missing)
    if version and _satisfies(version, versions):
        later = "a later" if versions[0] == "<" else "another"
        return StderrCause(
            f"It needs {later} version of {title}: the installed {package} {version} {lacks}.",
            install(package + versions, server, upgrade=True, text="Install that version."),
        )
    needed = f"version {int(number) - 1}" if versions[0] == "<" else f"version {number}"
    there = f"{package} {version}" if version else "another version"
    if package == "mcp" and versions == "<2" and int(installed(server, "fastmcp").split(".")[0] or 0) > 3:
        package, versions = "fastmcp", "<4"  # It requires version 2 of the SDK.
    return StderrCause(
        f"It was written for {needed} of {title}, but {there} is installed, which {lacks}.",
        install(package + versions, server, text="Install that version."),
    )


def _satisfies(version: str, versions: str) -> bool:
    major, limit = int(version.split(".")[0] or 0), int(re.sub(r"\D", "", versions))
    return major < limit if versions[0] == "<" else major >= limit


def _unfitting(match: re.Match[str], server: ServerFacts) -> StderrCause:
    """Return the cause for a name that an installed package does not have."""
    name, module, package = match[1], match[2], match[4].removesuffix(".py")
    version = installed(server, package)
    importer = _importer(server)
    if importer and importer != package:
        has, limit = installed(server, importer), ""
        if has:
            limit = f"<{int(has.split('.')[0] or 0) + 1}"
        return StderrCause(
            f"The installed versions of {importer} and {package} do not fit: {importer} {has} needs {name} of "
            f"{module}, which {package} {version} does not have.".replace("  ", " "),
            install(importer + limit, server, upgrade=True, text=f"Update {importer}."),
            Weight.LIKELY,
        )
    incomplete = incomplete_package(f"{module}.{name}", server)
    return incomplete or StderrCause(
        f"It was written for another version of the package {package}: {version or 'the installed one'} has no {name}.",
        Fix("Install the version that it was written for."),
        Weight.LIKELY,
    )


def _importer(server: ServerFacts) -> str:
    """Return the installed package whose file is the last of the traceback; empty if it is the server's own file."""
    files = [line for line in server.log if line.lstrip().startswith('File "')]
    importer = re.search(r"[/\\](?:site|dist)-packages[/\\](\w+)", files[-1]) if files else None
    return importer[1] if importer else ""
