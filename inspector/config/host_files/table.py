"""The facts about hosts and their config files, as data: `hosts.json` beside this module. Reads them once."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from inspector.config import foreign_files
from inspector.errors import UsageError

FILE = Path(__file__).with_name("hosts.json")
ConfigFamily = Literal[
    "own",
    "generic",
    "claude-code",
    "claude-code-user",
    "claude-desktop",
    "cursor",
    "vscode",
    "vscode-settings",
    "windsurf",
    "gemini",
    "zed",
    "opencode",
    "codex",
    "goose",
    "continue",
    "copilot",
    "kiro",
    "cline",
    "lm-studio",
    "registry",
]
"""How a file is read: one reader a family, see `client_configs`."""
HostScope = Literal["managed", "local", "project", "user"]
SCOPES: tuple[HostScope, ...] = ("managed", "local", "project", "user")
"""Of two entries with one name, the scope that wins is the first."""


@dataclass(frozen=True, slots=True)
class HostFact:
    """One fact about a host: a rule for this program, a sentence for people, its source and date."""

    rule: str
    value: Any
    what: str
    source: str
    date: str

    @property
    def cited(self) -> str:
        """The source with its date."""
        return f"{self.source} ({self.date})"


@dataclass(frozen=True)
class Host:
    """A host and its facts by rule. A rule that is missing is not known."""

    id: str
    name: str
    client: str
    """How it introduces itself to a server: an id of `hosts.facts`, which has not that of each host."""
    facts: Mapping[str, HostFact]

    def rule(self, name: str, default: Any = None) -> Any:
        """Return the value of a rule, or `default` if it is not known."""
        return self.facts[name].value if name in self.facts else default


@dataclass(frozen=True, slots=True)
class HostFile:
    """A config file of a host, for one folder. `path` may not exist; `tail` is its end that other places share.

    `top` is the member with its servers.
    """

    host: Host
    path: Path
    scope: HostScope
    reader: ConfigFamily
    label: str
    workspace: Path | None
    tail: str
    top: str


@dataclass(frozen=True, slots=True)
class Machine:
    """The folders, variables and system (a `system.NAME`) that paths depend on."""

    home: Path
    environ: Mapping[str, str]
    platform: str

    def folder(self, name: str) -> str:
        """Return a folder that the table names, such as `config`; the first variable that is set moves it."""
        *variables, usual = _of_system(_data()["folders"][name], self.platform)
        folders = (self.environ.get(variable[1:]) for variable in variables)
        return next(filter(None, folders), str(usual).replace("{home}", str(self.home)))

    def path(self, template: str, workspace: Path | None = None) -> Path:
        """Return the path of a template of the table."""
        text = template.replace("{home}", str(self.home)).replace("{workspace}", str(workspace or self.home))
        for name in _data()["folders"]:
            if f"{{{name}}}" in text:
                text = text.replace(f"{{{name}}}", self.folder(name))
        return Path(text)

    def place(self, file: Mapping[str, Any], workspace: Path | None) -> Path:
        """Return the path of a file of the table: where a variable moves it, else its usual place."""
        for variable, rest in file.get("variables", {}).items():
            if self.environ.get(variable):
                return Path(self.environ[variable], rest)
        return self.path(str(_of_system(file["path"], self.platform)), workspace)


@cache
def hosts() -> tuple[Host, ...]:
    """Return all hosts, in the order in which their files are listed."""
    return tuple(
        Host(id, host["name"], host.get("client", id), {fact["rule"]: HostFact(**fact) for fact in host["facts"]})
        for host in _data()["hosts"]
        for id in [host["id"]]
    )


def host_named(word: str) -> Host:
    """Return the host with this id or name, or the id of its client. Raises `UsageError` with the nearest one."""
    named = {name: host for host in hosts() for name in (host.client, host.id, host.name.casefold())}
    named_host = named.get(word) or named.get(word.casefold())
    if named_host is None:
        ids = [host.id for host in hosts()]
        near = foreign_files.nearest(word, ids)
        hint = f"Did you mean {near}?" if near else f"Use one of: {', '.join(ids)}; or all."
        raise UsageError(f"{foreign_files.printable(word)} is not a host that Inspector knows.", hint=hint)
    return named_host


def host_with_id(id: str) -> Host | None:
    """Return the host with this id; None for files of no host."""
    return next((host for host in hosts() if host.id == id), None)


def files(machine: Machine, workspace: Path | None) -> Iterator[HostFile]:
    """Yield the files that hosts have in a project's folder, or (None) those of the user and the organization."""
    for host in hosts():
        for file in host.rule("files"):
            if (file["scope"] == "project") == (workspace is not None):
                template = _of_system(file["path"], machine.platform)
                if template is not None:
                    path, label = machine.place(file, workspace), file.get("label", host.name)
                    top = file.get("servers") or host.rule("servers")
                    yield HostFile(host, path, file["scope"], file["reader"], label, workspace, _tail(template), top)


def passed_variables(host: Host, machine: Machine) -> dict[str, str] | None:
    """Return the variables that a host adds to those of an entry; None if that is not known."""
    group = _data()["environments"].get(host.rule("passes"), {})
    names = _of_system({key: group[key] for key in ("posix", "win32") if key in group}, machine.platform)
    if names is not None:
        return {name: machine.environ[name] for name in names if name in machine.environ}
    if "not" not in group:
        return None
    hidden = re.compile(group["not"])
    return {name: value for name, value in machine.environ.items() if not hidden.search(name)}


def passed_in_words(host: Host) -> str:
    """Return which variables a host passes, for people; empty if that is not known."""
    return str(_data()["environments"].get(host.rule("passes"), {}).get("what", ""))


def _tail(template: str) -> str:
    return template.rpartition("}/")[2].lstrip("/")


def _of_system(value: Any, platform: str) -> Any:
    """Return the part of a value that is for this system; a value without parts is for all."""
    if not isinstance(value, dict):
        return value
    system = platform if platform in ("darwin", "win32") else "linux"
    posix = None if system == "win32" else value.get("posix")
    return value.get(system, posix if posix is not None else value.get("any"))


@cache
def _data() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return data


def member(data: Any, dotted: str) -> Any:
    """Return a member by its path, such as `mcp.excluded`; None if there is none."""
    for key in dotted.split("."):
        data = data.get(key) if isinstance(data, dict) else None
    return data


def exists(path: Path) -> bool:
    """Whether there is a file at this path."""
    return os.path.isfile(path)
