"""Reads the servers in each client's config file: one function per family, all with a Definition as the result.

Each function gets the parsed file and yields one Found per server. For an invalid server it yields the error instead of
a definition, and continues with the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from inspector.config import entry_fields, expand, foreign_files, login_entry, registry_entries, server_definition
from inspector.config.client_config_paths import ConfigPlace
from inspector.config.host_files.table import ConfigFamily
from inspector.config.server_definition import Definition
from inspector.config.targets import NO_OPTIONS, ServerOptions
from inspector.config.text_checks import root_uri
from inspector.errors import ConfigError, TargetError
from inspector.reasons import split_reason

OWN_TOP = ["$schema", "servers", "mcpServers", "inputs"]
OWN_KEYS = (
    "type transport command args env envFile cwd url headers auth proxy verify era protocol timeout roots client"
    " extensions disabled description"
).split()
_ONLY_OWN = frozenset({"transport", "auth", "proxy", "verify", "era", "protocol", "roots", "client", "extensions"})
_ONLY_VSCODE = frozenset({"dev", "gallery", "version", "sandbox", "sandboxEnabled"})
_EMPTY: tuple[Any, ...] = (None, "", [], {})
"""Values that say that a member is not set."""
_ERAS: dict[str, Literal["auto", "legacy", "modern"]] = {"auto": "auto", "legacy": "legacy", "modern": "modern"}


@dataclass(frozen=True, slots=True)
class FoundServer:
    """One server of a file: its definition, or its error. `workspace` is set if it differs from the file's."""

    name: str
    raw: Mapping[str, Any] = field(repr=False)
    definition: Definition | ConfigError
    dialect: expand.VariableSyntax
    disabled: bool = False
    inputs: tuple[expand.InputQuestion, ...] = ()
    workspace: Path | None = None


Reader = Callable[[Mapping[str, Any], ConfigPlace, list[Path]], Iterator[FoundServer]]


def read(data: Mapping[str, Any], place: ConfigPlace, workspaces: list[Path]) -> list[FoundServer]:
    """Return the servers of `data`, the file at `place`, for `workspaces` (nearest first). Raises ConfigError if it
    is invalid."""
    if place.family == "registry" and not registry_entries.is_server_json(data):
        # Many projects have a server.json: one that is not for MCP is not an error.
        return []
    return list(_READERS[place.family](data, place, workspaces))


def recognise(path: Path) -> ConfigPlace:
    """Return the place of a file that the user named, detected by its content. Raises ConfigError if that fails."""
    data = foreign_files.load_object(path)
    mcp = data.get("mcp")
    family: ConfigFamily
    if "context_servers" in data:
        family, label = "zed", "Zed"
    elif "mcpServers" in data:
        family, label = ("continue", "Continue") if isinstance(data["mcpServers"], list) else ("generic", "this file")
    elif "servers" in data:
        family, label = ("vscode", "VS Code") if _is_vscode(data) else ("own", "this file")
    elif registry_entries.is_server_json(data):
        family, label = "registry", "server.json"
    elif "mcp_servers" in data:
        family, label = "codex", "Codex"
    elif isinstance(mcp, dict) and not {"servers", "inputs"} & mcp.keys():
        family, label = "opencode", "opencode"
    elif "mcp" in data or "mcp.servers" in data:
        family, label = "vscode-settings", "VS Code"
    elif isinstance(data.get("extensions"), dict):
        family, label = "goose", "Goose"
    else:
        raise no_servers(path)
    return ConfigPlace(path, family, label)


def no_servers(path: Path, program: str = "") -> ConfigError:
    """Return the error for a named file without servers, with the place where it seems to have some.

    Raises ConfigError where the file cannot be read.
    """
    data = foreign_files.load_object(path)
    what = f"{path} is read as a file of {program} and has no servers" if program else f"{path} has no servers"
    place = _server_place(data)
    if place is None:
        return ConfigError(
            what,
            hint="Add one to “servers”, “mcpServers” or “context_servers”, or use a server.json.",
        )
    where = f"“{foreign_files.printable(place)}” has" if place else "its top level has"
    return ConfigError(
        f"{what} where Inspector looks for them; {where} some",
        hint="Move them to an object “mcpServers” in a file of its own.",
    )


def has_servers_elsewhere(data: Mapping[str, Any]) -> bool:
    """Whether a file has what looks like servers, where its format has none."""
    return _server_place(data) is not None


def _server_place(value: Mapping[str, Any], above: str = "") -> str | None:
    """Return the path of the first object, at most three levels deep, whose members look like servers; else None."""
    inner = [(key, member) for key, member in value.items() if isinstance(member, dict)]
    if any(type(member.get(key)) in (str, list) for _, member in inner for key in ("command", "cmd", "url", "uri")):
        return above
    if above.count(".") >= 2:
        return None
    places = (_server_place(member, f"{above}.{key}" if above else key) for key, member in inner)
    return next((place for place in places if place is not None), None)


def _is_vscode(data: Mapping[str, Any]) -> bool:
    """Whether a file with `servers` is VS Code's, the only other family with this key."""
    servers = data["servers"].values() if isinstance(data["servers"], dict) else ()
    keys = {key for server in servers if isinstance(server, dict) for key in server}
    return bool(keys & _ONLY_VSCODE) or ("inputs" in data and not keys & _ONLY_OWN)


def own_servers(data: Mapping[str, Any], path: Path) -> Iterator[FoundServer]:
    """Read `inspector.json`: `servers`, each with `command` or `url`, and Inspector's own keys (era, auth, roots …).

    The whole value of an `env` or `headers` member may be a reference: `env:NAME`, `file:PATH`, `keyring:NAME`;
    `{"value": "…"}` is literal text. An unknown key is an error, because the format is ours.
    """
    for key in data:
        if key not in OWN_TOP:
            raise _unknown(key, OWN_TOP, str(path))
    try:
        entry_fields.text(data, "$schema")
    except ConfigError as error:
        raise ConfigError(f"{path}: {error.message}") from None
    place = ConfigPlace(path, "own", "")
    servers = _servers(data, "servers", place) | _servers(data, "mcpServers", place)
    if not ("servers" in data or "mcpServers" in data):
        raise ConfigError(f"{path} has no servers", hint="Add a “servers” object.")
    inputs = expand.questions(data.get("inputs"))
    for name, raw in servers.items():
        yield _found_server(name, raw, partial(_own_server, folder=path.parent), "own", inputs=inputs, strict=True)


def _own_server(raw: Mapping[str, Any], folder: Path) -> Definition:
    for key in raw:
        if key not in OWN_KEYS:
            raise _unknown(key, OWN_KEYS, "")
    era = entry_fields.text(raw, "era")
    if era and era not in _ERAS:
        raise ConfigError(f"“era” is {foreign_files.printable(era)}", hint="Use auto, legacy or modern.")
    options = ServerOptions(
        era=_ERAS.get(era),
        protocol=entry_fields.text(raw, "protocol") or None,
        timeout=entry_fields.seconds(raw, "timeout"),
        roots=tuple(_root(root, folder) for root in entry_fields.texts(raw, "roots")),
        client=entry_fields.text(raw, "client"),
        extensions=entry_fields.object_map(raw, "extensions"),
    )
    plain = dict(raw)
    for key in ("env", "headers"):
        if isinstance(raw.get(key), dict):
            plain[key] = {name: _own_value(value) for name, value in raw[key].items()}
    command = raw.get("command")
    if isinstance(command, str) and raw.get("args") is None and " " in command.strip():
        from inspector import command_words

        try:
            command = command_words.split(command)
        except ValueError as error:
            raise ConfigError(f"“command” cannot be parsed: {split_reason(error)}") from None
    if isinstance(command, list):
        words = entry_fields.texts({"command": command}, "command")
        plain |= {"command": words[0] if words else "", "args": [*words[1:], *entry_fields.texts(raw, "args")]}
    _check_types(plain)
    verify, proxy = entry_fields.flag(raw, "verify", True), entry_fields.text(raw, "proxy")
    made = _either(plain, options=options, verify=verify, proxy=proxy)
    auth = login_entry.read(raw)
    if auth and made.kind == "stdio":
        raise ConfigError("“auth” is for servers at a URL", hint="Use “env” to pass secrets to a command (C-STDIO-09).")
    return replace(made, auth=auth)


def _check_types(plain: Mapping[str, Any]) -> None:
    """Reject a value of a wrong type even if unused, such as `headers` of a command."""
    for key in ("command", "url", "envFile", "cwd", "description"):
        entry_fields.text(plain, key)
    entry_fields.texts(plain, "args")
    for key in ("env", "headers"):
        entry_fields.text_map(plain, key)
    server_definition.declared_transport({"transport": plain.get("transport")})


def _own_value(value: Any) -> Any:
    if isinstance(value, dict) and list(value) == ["value"]:
        return entry_fields.text(value, "value").replace("${", "$${")
    if isinstance(value, str) and value.partition(":")[0] in ("env", "file", "keyring") and ":" in value:
        return f"${{{value}}}"
    return value


def _root(root: str, folder: Path) -> str:
    try:
        return root_uri(root, folder)
    except TargetError as error:
        raise ConfigError(f"“roots” is wrong: {error.message}") from None


def _claude_code_server(raw: Mapping[str, Any]) -> Definition:
    """Read an entry of Claude Code: `type` stdio, http or sse; `timeout` in milliseconds."""
    return _either(raw, options=ServerOptions(timeout=entry_fields.seconds(raw, "timeout", unit=0.001)))


def _claude_code_user(data: Mapping[str, Any], place: ConfigPlace, workspaces: list[Path]) -> Iterator[FoundServer]:
    """Read `~/.claude.json`: `projects.<path>.mcpServers` of the current folders, then the global `mcpServers`."""
    projects = data.get("projects")
    for folder in workspaces:
        project = projects.get(folder.as_posix(), projects.get(str(folder))) if isinstance(projects, dict) else None
        if not isinstance(project, dict):
            continue
        off = project.get("disabledMcpServers")
        try:
            servers = _servers(project, "mcpServers", place)
        except ConfigError as error:
            yield FoundServer("", {}, error, "claude-code")
            continue
        for name, raw in servers.items():
            server = _found_server(name, raw, _claude_code_server, "claude-code", workspace=folder)
            yield replace(server, disabled=True) if isinstance(off, list) and name in off else server
    for name, raw in _servers(data, "mcpServers", place).items():
        yield _found_server(name, raw, _claude_code_server, "claude-code")


def _common(
    data: Mapping[str, Any],
    place: ConfigPlace,
    workspaces: list[Path],
    *,
    dialect: expand.VariableSyntax,
    make: Callable[[Mapping[str, Any]], Definition] | None = None,
    key: str = "mcpServers",
) -> Iterator[FoundServer]:
    """Read a file with servers under `key`, whose program expands references of this dialect."""
    for name, raw in _servers(data, key, place).items():
        yield _found_server(name, raw, make or _either, dialect)


def _cline_server(raw: Mapping[str, Any]) -> Definition:
    """Read an entry of Cline. `transport` may be an object with its own `type`; a URL without a type is HTTP+SSE."""
    nested = raw.get("transport")
    plain = {**raw, **nested, "transport": None} if isinstance(nested, dict) else raw
    made = _either(plain)
    declared = server_definition.declared_transport(plain)
    return replace(made, transport="sse") if made.kind == "http" and not declared else made


def _vscode(data: Mapping[str, Any], place: ConfigPlace, workspaces: list[Path]) -> Iterator[FoundServer]:
    """Read VS Code's `mcp.json`: `servers` and `inputs`. Its `http` means Streamable HTTP first, then HTTP+SSE."""
    inputs = expand.questions(data.get("inputs"))
    for name, raw in _servers(data, "servers", place).items():
        yield _found_server(name, raw, _vscode_server, "vscode", inputs=inputs)


def _vscode_server(raw: Mapping[str, Any]) -> Definition:
    made = _either(raw)
    return replace(made, transport="auto") if made.transport == "http" else made


def _vscode_settings(data: Mapping[str, Any], place: ConfigPlace, workspaces: list[Path]) -> Iterator[FoundServer]:
    """Read `mcp` in VS Code's settings.json, the older place: `{"mcp": {"servers": …, "inputs": …}}`."""
    inner = data.get("mcp")
    merged = dict(inner) if isinstance(inner, dict) else {}
    for key in ("servers", "inputs"):
        if f"mcp.{key}" in data:
            merged[key] = data[f"mcp.{key}"]
    return _vscode(merged, place, workspaces)


def _windsurf_server(raw: Mapping[str, Any]) -> Definition:
    """Read an entry of Windsurf: `serverUrl` or `url`, for either HTTP transport."""
    return _either(raw, url_keys=("serverUrl", "url"))


def _gemini_server(raw: Mapping[str, Any]) -> Definition:
    """Read an entry of Gemini CLI: `httpUrl` is Streamable HTTP, `url` HTTP+SSE; milliseconds."""
    options = ServerOptions(timeout=entry_fields.seconds(raw, "timeout", unit=0.001))
    if raw.get("httpUrl") is not None:
        return server_definition.http(raw, "httpUrl", transport="http", options=options)
    if raw.get("url") is not None and not server_definition.declared_transport(raw):
        return server_definition.http(raw, transport="sse", options=options)
    return _either(raw, options=options)


def _zed_server(raw: Mapping[str, Any]) -> Definition:
    """Read an entry of Zed: `command` as text or `{path, args, env}`, or `url`; `enabled`."""
    command = raw.get("command")
    if isinstance(command, dict):
        return server_definition.stdio({**command, "command": command.get("path")})
    if command is None and raw.get("url") is None:
        raise ConfigError(
            "a Zed extension starts this server", hint="Its command is known only to Zed: give the command here."
        )
    return _either(raw)


def _opencode_server(raw: Mapping[str, Any]) -> Definition:
    """Read an entry of opencode: `command` a list, `environment`; it expands `{env:NAME}` and `{file:PATH}`."""
    if raw.keys() <= {"enabled"}:
        raise ConfigError("it only switches a server of another opencode file on or off")
    options = ServerOptions(timeout=entry_fields.seconds(raw, "timeout", unit=0.001))
    plain = {**raw, "env": raw.get("environment")}
    if isinstance(raw.get("command"), list):
        words = entry_fields.texts(raw, "command")
        plain |= {"command": words[0], "args": [*words[1:], *entry_fields.texts(raw, "args")]}
    return _either(_as_own(plain, _OPENCODE_REFERENCE), options=options)


def _codex_server(raw: Mapping[str, Any]) -> Definition:
    """Read an entry of Codex: secrets are named by their variable."""
    plain = _as_own(raw)
    headers = entry_fields.text_map(plain, "http_headers")
    for header, variable in entry_fields.text_map(raw, "env_http_headers").items():
        headers[header] = f"${{{variable}}}"
    if token := entry_fields.text(raw, "bearer_token_env_var"):
        headers["Authorization"] = f"Bearer ${{{token}}}"
    named = raw.get("env_vars") if isinstance(raw.get("env_vars"), list) else []
    names = [entry.get("name") if isinstance(entry, dict) else entry for entry in named or ()]
    passed = {name: f"${{{name}}}" for name in names if isinstance(name, str)}
    options = ServerOptions(timeout=entry_fields.seconds(raw, "tool_timeout_sec"))
    plain |= {"env": passed | entry_fields.text_map(plain, "env"), "headers": headers}
    return _either(plain, options=options)


def _goose(data: Mapping[str, Any], place: ConfigPlace, workspaces: list[Path]) -> Iterator[FoundServer]:
    """Read Goose's `config.yaml`: `extensions` with `cmd`, `args`, `envs`, or `uri`; not those inside of Goose."""
    for name, raw in _servers(data, "extensions", place).items():
        if isinstance(raw, dict) and raw.get("type") in _GOOSE_TRANSPORTS:
            yield _found_server(name, raw, _goose_server, "own")


def _goose_server(raw: Mapping[str, Any]) -> Definition:
    plain = _as_own(raw)
    secrets = {name: f"${{{name}}}" for name in entry_fields.texts(raw, "env_keys")}
    plain |= {"command": plain.get("cmd"), "url": plain.get("uri"), "headers": raw.get("headers")}
    plain["env"] = secrets | entry_fields.text_map(plain, "envs")
    return _either(plain, options=ServerOptions(timeout=entry_fields.seconds(raw, "timeout")))


def _continue(data: Mapping[str, Any], place: ConfigPlace, workspaces: list[Path]) -> Iterator[FoundServer]:
    """Read Continue's `config.yaml`: a list `mcpServers` with names; it expands `${{ secrets.NAME }}`."""
    listed = data.get("mcpServers")
    if not isinstance(listed, list):
        yield from _common(data, place, workspaces, dialect="own")
        return
    for number, raw in enumerate(listed, 1):
        name = raw.get("name") if isinstance(raw, dict) else None
        yield _found_server(
            name if isinstance(name, str) and name else f"server-{number}", raw, _continue_server, "own"
        )


def _continue_server(raw: Mapping[str, Any]) -> Definition:
    plain = _as_own(raw, _CONTINUE_REFERENCE)
    options = plain.get("requestOptions")
    return _either(plain | {"headers": options.get("headers") if isinstance(options, dict) else None})


_OPENCODE_REFERENCE = re.compile(r"\{(?P<kind>env|file):(?P<name>[^{}]+)\}")
_CONTINUE_REFERENCE = re.compile(r"\$\{\{\s*secrets\.(?P<name>\w+)\s*\}\}")
_GOOSE_TRANSPORTS = ("stdio", "sse", "streamable_http")


def _as_own(value: Any, reference: re.Pattern[str] | None = None) -> Any:
    """Return a value of a file with its references in our own syntax, and other text escaped."""
    if isinstance(value, dict):
        return {key: _as_own(member, reference) for key, member in value.items()}
    if isinstance(value, list):
        return [_as_own(member, reference) for member in value]
    if not isinstance(value, str):
        return value
    pieces, start = [], 0
    for match in reference.finditer(value) if reference else ():
        kind = match.groupdict().get("kind") or "env"
        pieces += [value[start : match.start()].replace("${", "$${"), f"${{{kind}:{match['name'].strip()}}}"]
        start = match.end()
    return "".join([*pieces, value[start:].replace("${", "$${")])


def _registry(data: Mapping[str, Any], place: ConfigPlace, workspaces: list[Path]) -> Iterator[FoundServer]:
    """Read `server.json` of the MCP registry: one server per package and per remote; see `registry`."""
    for name, raw in registry_entries.servers(data):
        try:
            made: Definition | ConfigError = registry_entries.preview(raw)
        except ConfigError as error:
            made = error
        yield FoundServer(name, raw, made, "literal")


_READERS: dict[ConfigFamily, Reader] = {
    "own": lambda data, place, workspaces: own_servers(data, place.path),
    "generic": partial(_common, dialect="own"),
    "claude-code": partial(_common, dialect="claude-code", make=_claude_code_server),
    "claude-code-user": _claude_code_user,
    "claude-desktop": partial(_common, dialect="literal"),
    "cursor": partial(_common, dialect="cursor"),
    "vscode": _vscode,
    "vscode-settings": _vscode_settings,
    "windsurf": partial(_common, dialect="windsurf", make=_windsurf_server),
    "gemini": partial(_common, dialect="gemini", make=_gemini_server),
    "zed": partial(_common, key="context_servers", dialect="literal", make=_zed_server),
    "opencode": partial(_common, key="mcp", dialect="own", make=_opencode_server),
    "codex": partial(_common, key="mcp_servers", dialect="own", make=_codex_server),
    "goose": _goose,
    "continue": _continue,
    "copilot": partial(_common, dialect="gemini"),
    "kiro": partial(_common, dialect="claude-code"),
    "cline": partial(_common, dialect="cline", make=_cline_server),
    "lm-studio": partial(_common, dialect="literal"),
    "registry": _registry,
}


def _servers(data: Mapping[str, Any], key: str, place: ConfigPlace) -> dict[str, Any]:
    value = data.get(key)
    # Our own format is strict.
    if value is None or (place.family != "own" and value in _EMPTY):
        return {}
    if not isinstance(value, dict):
        raise ConfigError(f"{place.path}: “{key}” must be an object of servers, not {foreign_files.kind_of(value)}")
    return value


def _found_server(
    name: str,
    raw: Any,
    make: Callable[[Mapping[str, Any]], Definition],
    dialect: expand.VariableSyntax,
    *,
    inputs: tuple[expand.InputQuestion, ...] = (),
    workspace: Path | None = None,
    strict: bool = False,
) -> FoundServer:
    if not isinstance(raw, dict):
        return FoundServer(name, {}, ConfigError(f"it must be an object, not {foreign_files.kind_of(raw)}"), dialect)
    try:
        # Programs write empty members for what is not set. Our own format is strict.
        plain = raw if strict else {key: value for key, value in raw.items() if value not in _EMPTY}
        made: Definition | ConfigError = make(plain)
        disabled = entry_fields.flag(plain, "disabled", False) or not entry_fields.flag(plain, "enabled", True)
    except ConfigError as error:
        made, disabled = error, False
    inputs = tuple(question._replace(server=name) for question in inputs)
    return FoundServer(name, raw, made, dialect, disabled, inputs, workspace)


def _either(
    raw: Mapping[str, Any],
    *,
    url_keys: tuple[str, ...] = ("url",),
    options: ServerOptions = NO_OPTIONS,
    verify: bool = True,
    proxy: str = "",
) -> Definition:
    """Read a command or a URL, whichever is present; `type` decides if both are."""
    declared = server_definition.declared_transport(raw)
    url_key = next((key for key in url_keys if raw.get(key) is not None), "")
    if raw.get("command") is not None and (declared == "stdio" or not url_key):
        if declared in ("http", "sse"):
            raise ConfigError(f"its type is {declared}, but it has a “command” and no “url”")
        return server_definition.stdio(raw, options=options)
    if not url_key:
        expected = " nor ".join(f"“{key}”" for key in ("command", *url_keys))
        raise ConfigError(f"it has neither {expected}")
    if declared == "stdio":
        raise ConfigError("its type is stdio, but it has no “command”")
    transport: Literal["auto", "http", "sse"] = declared or "auto"
    made = server_definition.http(raw, url_key, transport=transport, options=options)
    return replace(made, verify=verify, proxy=proxy or None)


def _unknown(key: str, known: list[str], where: str) -> ConfigError:
    near = foreign_files.nearest(key, known)
    start = f"{where}: " if where else ""
    return ConfigError(
        f"{start}“{foreign_files.printable(key)}” is not a key that Inspector knows",
        hint=f"Did you mean “{near}”?" if near else f"Use one of: {', '.join(known)}.",
    )
