"""`settings.json` and `inspector.json` as pydantic models for programs; their readers decide what is valid.

The keys are documented in `docs/schemas`. The start path does not load pydantic, so it does not import this module.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator
from pydantic_core import PydanticCustomError

from inspector.config import client_configs, settings
from inspector.errors import ConfigError


def _read(reader: Callable[[dict[str, Any]], dict[str, Any]], value: Any) -> Any:
    """The members of a file that its reader accepts; a value that is not an object is left to pydantic."""
    try:
        return reader(value) if isinstance(value, dict) else value
    except ConfigError as error:
        # A brace in the message would start a placeholder of the template.
        message = f"{error.message}. {error.hint.command_line}".rstrip()
        raise PydanticCustomError("config", "{message}", {"message": message}) from None


class SettingsModel(BaseModel):
    """The content of `settings.json`: each setting is an attribute, with its default where the file has none."""

    # An error does not repeat the input: it may be a secret.
    model_config = ConfigDict(extra="allow", frozen=True, hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def _settings(cls, value: Any) -> Any:
        return _read(lambda data: asdict(settings.Settings(**settings.of_file(data, "the settings"))), value)


class ServersModel(BaseModel):
    """The content of `inspector.json`: `servers`, each with its entry as written, and `inputs`."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    servers: dict[str, Any]
    inputs: Any = None

    @model_validator(mode="before")
    @classmethod
    def _servers(cls, value: Any) -> Any:
        return _read(_own_file, value)


def _own_file(data: dict[str, Any]) -> dict[str, Any]:
    servers = list(client_configs.own_servers(data, Path("inspector.json")))
    for server in servers:
        if isinstance(server.definition, ConfigError):
            raise ConfigError(f"{server.name}: {server.definition.message}", hint=server.definition.hint)
    return {"servers": {server.name: server.raw for server in servers}, "inputs": data.get("inputs")}
