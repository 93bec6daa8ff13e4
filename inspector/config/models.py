"""The public format of `settings.json` and `inspector.json`, as pydantic models with JSON Schemas for editors.

The start path reads these files with `settings` and `clients`, which load no library. `tests/config/test_models.py`
checks that both accept the same files and read the same values. Import this module only if you need a model.

In `inspector.json` a null value counts as missing. An unknown key is an error that names the nearest known key.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    Strict,
    WithJsonSchema,
    WrapValidator,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticCustomError

from inspector.config import foreign_files
from inspector.config.server_definition import entry_url
from inspector.config.text_checks import root_uri
from inspector.errors import ConfigError, TargetError
from inspector.reasons import split_reason

_PLACE_OF_SECRET = r"^(?:(?:env|file|keyring):[\s\S]+|\$\{[^${}]+\})$"


class _Schema(GenerateJsonSchema):
    """A schema without the titles that pydantic derives from names."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def settings_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of `settings.json`."""
    return {"$schema": _Schema.schema_dialect} | SettingsModel.model_json_schema(schema_generator=_Schema)


def servers_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of `inspector.json`."""
    return {"$schema": _Schema.schema_dialect} | ServersModel.model_json_schema(schema_generator=_Schema)


def _wrong(message: str) -> PydanticCustomError:
    # A brace would start a placeholder of the template.
    return PydanticCustomError("config", "{message}", {"message": message})


# Pydantic's `str` rejects lone surrogates. A file may contain them; the users of a text decide about them.
def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise _wrong("must be text")
    return value


def _file_uri(value: Any) -> str:
    text = _text(value)
    if not text.startswith("file://"):
        raise _wrong(f"{foreign_files.shown(text)} is not a file:// URI")
    return text


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    raise _wrong("must be text, a number, true or false")


ConfigText = Annotated[str, PlainValidator(_text), WithJsonSchema({"type": "string"})]
FileUri = Annotated[str, PlainValidator(_file_uri), WithJsonSchema({"type": "string", "pattern": "^file://"})]
Scalar = Annotated[str, PlainValidator(_scalar), WithJsonSchema({"type": ["string", "number", "boolean"]})]
"""A text; a number or a boolean counts as its JSON text."""
Flag = Annotated[bool, Strict()]
Seconds = Annotated[float, Strict(), Field(gt=0, lt=1e9)]
Count = Annotated[int, Strict(), Field(ge=0), BeforeValidator(_whole)]
PositiveCount = Annotated[int, Strict(), Field(gt=0), BeforeValidator(_whole)]


class _Keys(BaseModel):
    """An object without unknown keys."""

    # An error does not repeat the input: it may be a secret.
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, use_attribute_docstrings=True)

    @model_validator(mode="before")
    @classmethod
    def _only_known_keys(cls, value: Any) -> Any:
        known = [field.alias or name for name, field in cls.model_fields.items()]
        for key in value if isinstance(value, Mapping) else ():
            if key not in known:
                near = foreign_files.nearest(key, known)
                hint = f"Did you mean “{near}”?" if near else f"Use one of: {', '.join(known)}."
                raise _wrong(f"“{foreign_files.shown(key)}” is not a key that Inspector knows. {hint}")
        return value


class CommandModel(_Keys):
    """A command of the user on a key of the interface."""

    key: ConfigText = Field(examples=["f7"])
    """Key that runs the command."""

    where: Literal["message", "result", "recording"] = Field(examples=["result"])
    """Content of the file that the command gets, and where its key works."""

    run: ConfigText = Field(examples=["jq . {file}"])
    """Program and arguments, run without a shell; `{file}` is the path of a temporary file."""

    title: ConfigText = Field("", examples=["jq"])
    """Name in help and in the palette. Default: the program."""


class SettingsModel(_Keys):
    """The settings of Inspector: `settings.json` in the config folder."""

    model_config = ConfigDict(title="Inspector settings")

    schema_: ConfigText | None = Field(None, alias="$schema", examples=["./settings.schema.json"])
    """The address of this schema, for editors. Inspector does not read it."""

    timeout: Seconds = Field(60.0, examples=[30])
    """Seconds without an answer or progress after which a request times out. Default: 60."""

    max_timeout: Seconds = Field(600.0, examples=[1800])
    """Seconds after which a request times out despite progress. A value below `timeout` counts as `timeout`. Default:
    600."""

    login_timeout: Seconds | None = Field(None, examples=[120])
    """Seconds for a login, including what you do in the browser. Default: null, which is 10 minutes; without a
    terminal, the browser must come back within `timeout`."""

    era: Literal["auto", "legacy", "modern"] = "auto"
    """Protocol era; `auto` detects it. Default: auto."""

    protocol: ConfigText = Field("", examples=["2025-11-25"])
    """Protocol revision to offer. Default: empty, which is the newest of the era."""

    log_level: Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] | None = Field(
        None, examples=["info"]
    )
    """Least severe log message requested from servers. Default: null, the server decides."""

    roots: tuple[FileUri, ...] = Field((), examples=[["file:///home/ada/src"]])
    """`file://` URIs given to a server that asks for roots. Default: none."""

    sampling: ConfigText = Field("ask", examples=["decline"])
    """Answer to sampling requests: `ask` puts them into the inbox, `decline` declines, other text is the answer.
    Default: ask."""

    elicitation: Literal["ask", "defaults", "decline", "cancel"] | dict[ConfigText, Any] = Field(
        "ask", examples=["defaults", {"name": "Ada"}]
    )
    """Answer to elicitation requests: `ask`, `defaults`, `decline`, `cancel`, or an object with the values.
    Default: ask."""

    client: ConfigText = Field("", examples=["claude-ai/0.1.0"])
    """Name that servers are told, as `NAME` or `NAME/VERSION`. Default: empty, which is inspector and its version."""

    extensions: dict[ConfigText, dict[ConfigText, Any] | None] = Field(
        default_factory=dict, examples=[{"io.modelcontextprotocol/skills": {}}]
    )
    """Extensions to offer to servers, by id or short name (`skills`, `apps`, `events`, `tasks`), with their settings;
    null does not offer one that is offered by default. Default: none."""

    max_body_bytes: PositiveCount | None = Field(None, examples=[1048576])
    """Longest message that is read, in bytes. Default: null, which is 268435456 (256 MiB)."""

    max_recording_bytes: PositiveCount | None = Field(2 << 30, examples=[536870912])
    """Size of one recording in bytes, above which only the sizes of messages are recorded. null: no limit. Default:
    2147483648 (2 GiB)."""

    record: Flag = True
    """Whether sessions are kept as recordings. Default: true."""

    keep_recordings: Count = Field(1000, examples=[50])
    """Number of recordings that are kept; the oldest are removed first. Default: 1000."""

    keep_recordings_bytes: Count = Field(2_000_000_000, examples=[500000000])
    """Bytes that the kept recordings may have together. Default: 2000000000."""

    calls_folder: ConfigText = Field("", examples=["tests/calls"])
    """Folder of the saved calls that the interface shows. Default: calls in the working directory."""

    otlp: ConfigText = Field("", examples=["http://localhost:4318"])
    """URL of an OpenTelemetry collector that gets spans of each session while it goes on. Default: none."""

    registry: ConfigText = Field("", examples=["https://registry.modelcontextprotocol.io"])
    """File or address that `inspector servers --search` searches. Default: none; nothing is contacted."""

    check_pins: Flag = True
    """Whether a pinned server is compared with its pin in every session. Default: true."""

    theme: ConfigText = Field("dark", examples=["light"])
    """Name of a bundled theme, or of a YAML file in the `themes` folder beside the settings. Default: dark."""

    keymap: dict[ConfigText, ConfigText] = Field(default_factory=dict, examples=[{"call.send": "ctrl+r"}])
    """Keys by action id; several keys are separated by commas. Default: none."""

    commands: tuple[CommandModel, ...] = Field(
        (), examples=[[{"key": "f7", "where": "result", "run": "jq . {file}", "title": "jq"}]]
    )
    """Your own commands on keys. Only this file can set them. Default: none."""

    ascii: Literal["auto", "always", "never"] = "auto"
    """Whether signs outside ASCII are replaced; `auto` does so where the locale is not UTF-8. Default: auto."""

    follow: Flag = True
    """Whether the message log follows its end at first. Default: true."""

    mouse: Flag = True
    """Whether the interface uses the mouse; false leaves it to the terminal's own selection. Default: true."""

    attention: Literal["off", "bell", "desktop", "always-bell", "always-desktop"] = "off"
    """How the terminal tells of questions, failures and long calls of a session out of sight; over ssh only with
    `always-`. Default: off, which shows a notice only."""

    ask_before_call: Literal["never", "annotated", "unannotated"] = "never"
    """Before which tools the interface asks: `annotated` as destructive, also `unannotated` ones, which the
    specification takes as destructive, or never. Default: never."""

    diagnostics: Literal["debug", "info", "warning", "error"] = "warning"
    """Least severe message that goes to Inspector's own log file. Default: warning."""


class ValueModel(_Keys):
    """A literal text that is not read as a reference."""

    value: ConfigText | None = Field(examples=["file:./dev.db"])
    """The text."""


def _plain(value: Any, handler: Any) -> Any:
    """A scalar, or an object with only a `value`."""
    return handler(value) if isinstance(value, dict) else _scalar(value)


def _value(value: Any, handler: Any) -> Any:
    return handler(value) if isinstance(value, dict) else _scalar(value)


_VALUE_SCHEMA = {
    "anyOf": [{"type": ["string", "number", "boolean"]}, ValueModel.model_json_schema(schema_generator=_Schema)]
}
ConfigValue = Annotated[ValueModel | str, WrapValidator(_value), WithJsonSchema(_VALUE_SCHEMA)]


def _without_null(value: Any) -> Any:
    return {name: item for name, item in value.items() if item is not None} if isinstance(value, dict) else value


Values = Annotated[
    dict[ConfigText, ConfigValue],
    BeforeValidator(_without_null),
    WithJsonSchema({"type": "object", "additionalProperties": {"anyOf": [*_VALUE_SCHEMA["anyOf"], {"type": "null"}]}}),
]


def _place_of_secret(value: Any) -> str:
    if not re.fullmatch(_PLACE_OF_SECRET[1:-1], _text(value)):
        # The value is not repeated: it may be the secret.
        raise _wrong("must be a reference to the secret. Write env:NAME, file:PATH or keyring:NAME.")
    return str(value)


Secret = Annotated[
    str, PlainValidator(_place_of_secret), WithJsonSchema({"type": "string", "pattern": _PLACE_OF_SECRET})
]
"""A reference to a secret: `env:NAME`, `file:PATH`, `keyring:NAME` or `${…}`."""


class AuthModel(_Keys):
    """Options for logging in to a server at a URL. Every text may be `env:NAME`, `file:PATH` or `keyring:NAME`."""

    model_config = ConfigDict(alias_generator=to_camel)

    bearer: Secret | None = Field(None, examples=["env:SHOP_TOKEN"])
    """Reference to the access token."""

    client_id: ConfigText | None = Field(None, examples=["ci"])
    """Client id at the authorization server. Default: registered where that is possible."""

    client_secret: Secret | None = Field(None, examples=["env:SHOP_SECRET"])
    """Reference to the client secret."""

    client_key: Secret | None = Field(None, examples=["file:key.pem"])
    """Reference to the private key that signs client assertions (PEM)."""

    client_key_id: ConfigText | None = Field(None, examples=["2026-01"])
    """Id of the private key (`kid`)."""

    client_metadata: ConfigText | None = Field(None, examples=["https://ada.example/client.json"])
    """URL of a client metadata document, used as client id."""

    client_issuer: ConfigText | None = Field(None, examples=["https://auth.example"])
    """Issuer of the authorization server that knows the client id."""

    redirect_uri: ConfigText | None = Field(None, examples=["http://127.0.0.1:8765/callback"])
    """Redirect URI of the client."""

    scope: ConfigText | None = Field(None, examples=["read write"])
    """Scopes to ask for, separated by spaces."""

    auth_server: ConfigText | None = Field(None, examples=["https://auth.example"])
    """Issuer of the authorization server, if the server names several or none."""

    grant: Literal["auto", "code", "client-credentials", "enterprise", "workload", "device"] | None = Field(
        None, examples=["client-credentials"]
    )
    """Grant to use. Default: auto."""

    idp_issuer: ConfigText | None = Field(None, examples=["https://idp.example"])
    """Issuer of the identity provider of your company."""

    idp_token_endpoint: ConfigText | None = Field(None, examples=["https://idp.example/token"])
    """Token endpoint of the identity provider."""

    idp_client_id: ConfigText | None = Field(None, examples=["inspector"])
    """Client id at the identity provider."""

    idp_client_secret: Secret | None = Field(None, examples=["env:IDP_SECRET"])
    """Reference to the client secret for the identity provider."""

    idp_id_token: Secret | None = Field(None, examples=["env:ID_TOKEN"])
    """Reference to the id token that the identity provider exchanges."""

    assertion: Secret | None = Field(None, examples=["file:/var/run/token"])
    """Reference to the assertion that a platform gave the workload."""

    open_browser: Flag | None = Field(None, examples=[True])
    """Whether a browser is opened without a question. It applies only in your own config files."""


_TRANSPORTS = (
    "auto",
    "stdio",
    "local",
    "http",
    "streamable-http",
    "streamablehttp",
    "streamable_http",
    "remote",
    "sse",
)


def _transport(value: Any) -> str:
    known = _text(value).strip().casefold()
    if known not in _TRANSPORTS:
        raise _wrong(
            f"{foreign_files.shown(value)} is not a transport that Inspector supports. Use stdio, http or sse."
        )
    return known


TransportText = Annotated[
    str, PlainValidator(_transport), WithJsonSchema({"type": "string", "enum": list(_TRANSPORTS)})
]


def _root(value: Any) -> str:
    root = _scalar(value)
    try:
        root_uri(root)
    except TargetError as error:
        raise _wrong(error.message) from None
    return root


Root = Annotated[str, PlainValidator(_root), WithJsonSchema({"type": ["string", "number", "boolean"]})]


class EntryModel(_Keys):
    """A server: a `command` to start, or the `url` to connect to."""

    model_config = ConfigDict(alias_generator=to_camel)

    type: TransportText | None = Field(None, examples=["http"])
    """`stdio`, `http` (Streamable HTTP), `sse` (HTTP+SSE) or `auto`. Default: auto."""

    transport: TransportText | None = Field(None, examples=["http"])
    """Another name of `type`, which is read first."""

    command: ConfigText | tuple[Scalar, ...] | None = Field(None, examples=["python", ["python", "server.py"]])
    """The program, or a list of the program and its arguments. A text with spaces and no `args` is split like in a
    shell."""

    args: tuple[Scalar, ...] | None = Field(None, examples=[["server.py", "--verbose"]])
    """Arguments of the command."""

    env: Values | None = Field(None, examples=[{"LEVEL": "debug", "TOKEN": "env:SHOP_TOKEN"}])
    """Environment variables of the command. `env:NAME`, `file:PATH` and `keyring:NAME` refer to a value stored
    elsewhere; `{"value": "…"}` is a text that is not such a reference."""

    env_file: ConfigText | None = Field(None, examples=[".env"])
    """Path of a `.env` file with more variables."""

    cwd: ConfigText | None = Field(None, examples=["server"])
    """Folder to start the command in. Default: the project of the file, else the current folder."""

    url: ConfigText | None = Field(None, examples=["https://shop.example/mcp"])
    """URL of the server, with http or https; it may start with a reference."""

    headers: Values | None = Field(None, examples=[{"Authorization": "env:SHOP_TOKEN"}])
    """Headers of each HTTP request; values as in `env`."""

    auth: AuthModel | None = Field(None, examples=[{"clientId": "ci", "clientSecret": "env:SHOP_SECRET"}])
    """Options for logging in to the server at the URL."""

    proxy: ConfigText | None = Field(None, examples=["http://127.0.0.1:8080"])
    """`http://`, `https://` or `socks5://` URL. Default: the proxy of the environment."""

    verify: Flag | None = Field(None, examples=[False])
    """false accepts any certificate. Default: true."""

    era: Literal["auto", "legacy", "modern", ""] | None = Field(None, examples=["modern"])
    """Protocol era. Default: that of the settings."""

    protocol: ConfigText | None = Field(None, examples=["2025-11-25"])
    """Protocol revision to offer. Default: that of the settings."""

    timeout: Seconds | None = Field(None, examples=[120])
    """Seconds without an answer or progress before a request times out. Default: that of the settings."""

    roots: tuple[Root, ...] | None = Field(None, examples=[["data", "file:///home/ada/src"]])
    """Folders or URIs that the server may ask for; a folder is relative to the file."""

    client: ConfigText | None = Field(None, examples=["claude-ai/0.1.0"])
    """Name that the server is told, as `NAME` or `NAME/VERSION`. Default: that of the settings."""

    extensions: dict[ConfigText, dict[ConfigText, Any] | None] | None = Field(
        None, examples=[{"com.example/search": {"depth": 2}}]
    )
    """Extensions to offer, by id or short name, with their settings, beside those of the settings; null: not
    offered."""

    disabled: Flag | None = Field(None, examples=[True])
    """true excludes the entry from `check @all`; it can be opened by name. Default: false."""

    description: ConfigText | None = Field(None, examples=["The shop's test server"])
    """Text for people. Inspector does not use it."""

    @property
    def kind(self) -> Literal["stdio", "http"]:
        """Whether the entry is a command or a URL: `type` decides if it has both."""
        declared = self.type or self.transport
        starts = self.command is not None and (declared in ("stdio", "local") or self.url is None)
        return "stdio" if starts else "http"

    @property
    def words(self) -> tuple[str, ...]:
        """The command and its arguments; empty without a command."""
        command = self.command
        if isinstance(command, str):
            split = self.args is None and " " in command.strip()
            command = tuple(shlex.split(command)) if split else (command,)
        return (*(command or ()), *(self.args or ()))

    @model_validator(mode="after")
    def _is_a_server(self) -> EntryModel:
        declared = self.type or self.transport
        try:
            words = self.words
        except ValueError as error:
            raise _wrong(f"“command” cannot be parsed: {split_reason(error)}") from None
        if self.command is None and self.url is None:
            raise _wrong("it has neither “command” nor “url”")
        if self.kind == "stdio":
            if declared not in (None, "auto", "remote", "stdio", "local"):
                raise _wrong(f"its type is {declared}, but it has a “command” and no “url”")
            if not self.command or not words or not words[0].strip():
                raise _wrong("“command” is empty")
            if self.auth is not None and self.auth.model_dump(exclude_none=True):
                raise _wrong("“auth” is for servers at a URL. Use “env” to pass secrets to a command (C-STDIO-09).")
        elif declared in ("stdio", "local"):
            raise _wrong("its type is stdio, but it has no “command”")
        else:
            try:
                entry_url((self.url or "").strip(), "url")
            except ConfigError as error:
                raise _wrong(error.message) from None
        return self


_CHOICE_SCHEMA = {
    "anyOf": [
        {"type": "string"},
        {
            "type": "object",
            "properties": {"value": {"type": "string"}, "label": {"type": "string"}},
            "required": ["value"],
        },
    ]
}
ChoiceText = Annotated[ConfigText, WithJsonSchema(_CHOICE_SCHEMA)]


class InputModel(BaseModel):
    """A value to ask for when a server is opened whose entry has `${input:ID}`, as VS Code defines it."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)

    id: ConfigText = Field(examples=["shop-token"])
    """The ID of `${input:ID}`. The environment variable `INPUT_ID` answers it without a question."""

    type: Literal["promptString", "pickString"] = "promptString"
    """`promptString` is a text, `pickString` one of the options. Default: promptString."""

    description: ConfigText = Field("", examples=["Token of the shop"])
    """Text for the question."""

    default: ConfigText | None = Field(None, examples=["test"])
    """Value without an answer."""

    password: Flag = False
    """Whether the value is a secret. Default: false."""

    options: tuple[ChoiceText, ...] = Field((), examples=[["test", "live"]])
    """Return the inputs of a file that are a text or a choice, without VS Code's other kinds. Members of a wrong type
    are dropped."""


def _usable(value: Any) -> list[InputModel]:
    """Return the inputs of a file that are a text or a choice, without VS Code's other kinds.

    Members of a wrong type are dropped.
    """
    found = []
    for item in value if isinstance(value, list) else ():
        if not isinstance(item, dict) or not isinstance(item.get("id"), str):
            continue
        if item.get("type", "promptString") not in ("promptString", "pickString"):
            continue
        kept = {name: item[name] for name in ("id", "type") if name in item}
        kept |= {name: item[name] for name in ("description", "default") if isinstance(item.get(name), str)}
        listed = item["options"] if isinstance(item.get("options"), list) else []
        choices = [each.get("value") if isinstance(each, dict) else each for each in listed]
        kept |= {
            "password": item.get("password") is True,
            "options": [each for each in choices if isinstance(each, str)],
        }
        found.append(InputModel(**kept))
    return found


class ServersModel(_Keys):
    """Servers for Inspector: `inspector.json` or `.inspector.json` of a project, or in the config folder."""

    model_config = ConfigDict(title="Inspector servers", alias_generator=to_camel)

    schema_: ConfigText | None = Field(None, alias="$schema", examples=["./servers.schema.json"])
    """The address of this schema, for editors. Inspector does not read it."""

    servers: dict[ConfigText, EntryModel] | None = Field(None, examples=[{"shop": {"url": "https://shop.example/mcp"}}])
    """Each server by its name: `inspector @NAME` opens it."""

    mcp_servers: dict[ConfigText, EntryModel] | None = Field(
        None, examples=[{"local": {"command": "python server.py"}}]
    )
    """Another name of `servers`. For a server in both, this one is used."""

    inputs: Annotated[tuple[InputModel, ...], BeforeValidator(_usable)] = ()
    """Values that are asked for when a server is opened."""

    @model_validator(mode="before")
    @classmethod
    def _each_name_once(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        if not ("servers" in value or "mcpServers" in value):
            raise _wrong("It has no servers. Add a “servers” object.")
        first, second = value.get("servers"), value.get("mcpServers")
        if isinstance(first, dict) and isinstance(second, dict):
            return value | {"servers": {name: entry for name, entry in first.items() if name not in second}}
        return value
