"""Files as their host reads them: why it does not start an entry, and what it does not expand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from inspector.config import foreign_files, jsonc
from inspector.config.host_files import table
from inspector.config.host_files.table import Host, HostFact, HostFile, Machine
from inspector.errors import ConfigError

_SAYS = {
    "comments": "a comment",
    "trailing commas": "a comma before a closing bracket",
    "byte order mark": "a byte order mark",
}
_FIXES = {
    "comments": "Remove the comments.",
    "trailing commas": "Remove the comma.",
    "byte order mark": "Save it as UTF-8 without a byte order mark.",
}
_SHELLS = re.compile(
    r"(?:.*[/\\])?(?:ba|da|z|fi|k)?sh(?:\.exe)?|(?:.*[/\\])?(?:cmd|powershell|pwsh)(?:\.exe)?", re.IGNORECASE
)
_BARE = re.compile(r"\$[A-Za-z_]\w{0,100}")


@dataclass(frozen=True, slots=True)
class Remark:
    """A difference between an entry and what its host does with it: a sentence, a fix, and the fact."""

    text: str
    fix: str = ""
    fact: HostFact | None = None
    about: Literal["entry", "key", "file", "choice"] = "entry"
    """Its cause: the entry; the key of its command or URL, so that it has neither; its file, which the host does not
    read; or a choice of the user, so nothing is wrong."""

    @property
    def is_choice(self) -> bool:
        """Whether nothing is wrong: the user switched the entry off, or another one is used instead."""
        return self.about == "choice"


@dataclass(slots=True)
class FileReading:
    """One file of a host: why the host does not read it, or does not start one of its entries."""

    host: Host
    path: Path
    machine: Machine
    workspaces: Sequence[Path]
    entries: Mapping[str, Any] = field(default_factory=dict)
    """The entries as written, by name."""
    whole: Remark | None = None
    _settings: dict[Path, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.whole = (self._unread() or self._refused_by_one()) if self.entries else None

    def remark(self, name: str, raw: Mapping[str, Any], scope: table.HostScope, *, disabled: bool) -> Remark | None:
        """Return why the host does not start this entry; None if it does, as far as is known."""
        if self.whole is not None:
            return self.whole
        if disabled:
            return Remark(f"{self.host.name} does not start @{name}: it is disabled in {self.path}.", about="choice")
        off = self._switched(name) or self._listed(name, scope)
        return off or self._condition(name, raw) or self._other_keys(name, raw)

    def _unread(self) -> Remark | None:
        """The syntax that this program reads and the host does not."""
        refused = self.host.rule("refuses", ())
        if not refused:
            return None
        try:
            content = foreign_files.read_bytes(self.path)
            deviations = [("byte order mark", 1, 1)] if content.startswith(b"\xef\xbb\xbf") else []
            deviations += jsonc.deviations(foreign_files.read_text(self.path))
        except (ConfigError, jsonc.JsoncError):
            return None  # it is reported as unreadable
        for kind, line, column in deviations:
            if kind in refused:
                text = (
                    f"{self.host.name} does not read {self.path}: line {line}, column {column} has {_SAYS[kind]}, "
                    "which it does not accept."
                )
                return Remark(text, _FIXES[kind], self.host.facts["refuses"], about="file")
        return None

    def _refused_by_one(self) -> Remark | None:
        """One entry for which the host refuses the whole file."""
        for name, raw in self.entries.items():
            for rule in self.host.rule("entries", ()):
                if rule.get("whole") and isinstance(raw, dict) and self._applies(rule, name, raw):
                    text = (
                        f"{self.host.name} does not read {self.path}: of @{name}, {rule['says'].removeprefix('its ')}."
                    )
                    return Remark(text, rule["fix"], self.host.facts["entries"], about="file")
        return None

    def _switched(self, name: str) -> Remark | None:
        """A nearer file that switches the entry of another file off."""
        for template in self.host.rule("switches", ()):
            for workspace in self.workspaces:
                path = self.machine.path(template, workspace)
                entry = table.member(self._object(path), self.host.rule("servers"))
                switch = entry.get(name) if isinstance(entry, dict) else None
                enabled = switch.get("enabled") if isinstance(switch, dict) else None
                if enabled is False:
                    text = f"{self.host.name} does not start @{name}: it is disabled in {path}."
                    return Remark(text, fact=self.host.facts["switches"], about="choice")
                if enabled is True:
                    return None
        return None

    def _object(self, path: Path) -> Any:
        if path not in self._settings:
            self._settings[path] = _object_in(path)
        return self._settings[path]

    def _listed(self, name: str, scope: table.HostScope) -> Remark | None:
        """A list in a settings file that switches the entry off, or names all that start."""
        for rule in self.host.rule("lists", ()):
            if rule.get("scope", scope) != scope:
                continue
            for workspace in self.workspaces if "{workspace}" in rule["file"] else self.workspaces[:1]:
                path = self.machine.path(rule["file"], workspace)
                names = table.member(self._object(path), rule["member"])
                if isinstance(names, list) and (name in names) != bool(rule.get("only")):
                    how = "is not in" if rule.get("only") else "is in"
                    text = f"{self.host.name} does not start @{name}: it {how} “{rule['member']}” of {path}."
                    return Remark(text, fact=self.host.facts["lists"], about="choice")
        return None

    def _condition(self, name: str, raw: Mapping[str, Any]) -> Remark | None:
        """A condition of the table that this entry meets."""
        rule = next((rule for rule in self.host.rule("entries", ()) if self._applies(rule, name, raw)), None)
        if rule is None:
            return None
        aside = bool(rule.get("not_examined"))
        does = f"@{name} is not examined" if aside else f"{self.host.name} does not start @{name}"
        return Remark(
            f"{does}: {rule['says']}.", rule["fix"], self.host.facts["entries"], about="choice" if aside else "entry"
        )

    def _applies(self, rule: Mapping[str, Any], name: str, raw: Mapping[str, Any]) -> bool:
        def is_set(key: str) -> bool:
            return raw.get(key) not in (None, "", [], {})

        return (
            ("has" not in rule or is_set(rule["has"]))
            and not any(map(is_set, rule.get("lacks", ())))
            and all(re.fullmatch(pattern, str(raw.get(key))) for key, pattern in rule.get("matches", {}).items())
            and ("text" not in rule or isinstance(raw.get(rule["text"]), str))
            and ("name" not in rule or rule["name"] == name)
            and ("types" not in rule or ("type" in raw and raw["type"] not in rule["types"]))
            and ("command" not in rule or raw.get("command") in rule["command"])
            and ("system" not in rule or rule["system"] == self.machine.platform)
        )

    def _other_keys(self, name: str, raw: Mapping[str, Any]) -> Remark | None:
        """A key of another host instead of one that this host reads."""
        keys = self.host.rule("keys")
        if keys is None:
            return None
        command, urls = keys.get("command", "command"), keys["url"]
        known = {_plain(key) for host in table.hosts() for key in _names(host.rule("keys", {}))}
        wrong = next((key for key in sorted(raw) if raw[key] and _plain(key) in known), "")
        if not wrong or any(raw.get(key) for key in (command, *urls, "transport")):
            return None
        fact, host = self.host.facts["keys"], self.host.name
        is_command = _plain(wrong) in ("command", "cmd")
        if not urls and not is_command:
            bridge = '"command": "npx", "args": ["-y", "mcp-remote", "URL"]'
            fix = f"Add the URL in its settings, or start a bridge: {bridge}."
            text = f"{host} does not start @{name}: it has “{wrong}”, and {host} starts only commands."
            return Remark(text, fix, fact)
        same = (key for key in (command, *urls) if _plain(key) == _plain(wrong))
        right = next(same, command if is_command else urls[0])
        text = f"{host} does not start @{name}: it has “{wrong}”, and {host} reads “{right}”."
        return Remark(text, f"Rename “{wrong}” to “{right}”.", fact, about="key")


_PARTS = {"args": "arguments", "env": "variables", "headers": "headers"}
"""What a server gets of its entry, by its usual key."""


def not_passed(host: Host, raw: Mapping[str, Any]) -> Iterator[Remark]:
    """Yield what a server does not get, because it is under a key of another host, or a misspelt one."""
    keys = host.rule("keys")
    for usual, what in _PARTS.items() if keys is not None else ():
        right = keys.get(usual, usual)
        known = {_plain(other.rule("keys", {}).get(usual, usual)) for other in table.hosts()} - {""}
        wrong = next((key for key in raw if raw[key] and _plain(key) in known), "")
        if right and wrong and not raw.get(right):
            text = f"The server does not get its {what}: they are in “{wrong}”, and {host.name} reads “{right}”."
            yield Remark(text, f"Rename “{wrong}” to “{right}”.", host.facts["keys"])


def passed_as_written(host: Host, raw: Mapping[str, Any]) -> Remark | None:
    """Return the first reference in an entry that other hosts expand and this one does not."""
    own = host.rule("expands")
    if own is None:
        return None
    others = {pattern for other in table.hosts() for pattern in other.rule("expands", ()) if pattern != _BARE.pattern}
    foreign, mine = re.compile("|".join(sorted(others))), re.compile("|".join(own) or "(?!)")
    for place, text in _texts(host, raw):
        rest = mine.sub(lambda own: "\0" * len(own[0]), text)
        match = foreign.search(rest) or (None if place.startswith("the ") else _BARE.fullmatch(rest))
        if match is not None:
            reference, fact = text[slice(*match.span())], host.facts["expands"]
            sentence = f"{host.name} passes “{reference}” in {place} as it is written: it expands {fact.what}."
            return Remark(sentence, "Write the value, or the form that it expands.", fact)
    return None


def _texts(host: Host, raw: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the texts of an entry that its server gets, with their places. A shell expands its arguments itself."""
    keys = host.rule("keys", {})
    command = raw.get(keys.get("command", "command"))
    words = [*(command if isinstance(command, list) else [command]), *_listed(raw.get("args"))]
    places = [("the command", word) for word in words if not _SHELLS.fullmatch(str(words[0]))]
    places += [("the URL", raw.get(key)) for key in keys.get("url", ())]
    for kind, key in (("variable", keys.get("env", "env")), ("header", keys.get("headers", "headers"))):
        members = raw.get(key)
        places += [(f"{kind} {name}", value) for name, value in members.items()] if isinstance(members, dict) else []
    yield from ((place, text) for place, text in places if isinstance(text, str))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def ignored(host: Host, machine: Machine, workspaces: Sequence[Path], read: Sequence[HostFile]) -> Iterator[Remark]:
    """Yield files that have servers, look like files of this host, and are not read by it."""
    for rule in host.rule("ignored", ()):
        for workspace in workspaces if "{workspace}" in rule["path"] else workspaces[:1]:
            path = machine.path(rule["path"], workspace)
            if _members_with_servers(_object_in(path), _TOPS):
                fix = f"Move its servers to {' or '.join(str(file.path) for file in read[:2])}."
                yield Remark(f"{host.name} does not read {path}.", fix, host.facts["ignored"])


def misplaced(host: Host, path: Path, top: str, data: Mapping[str, Any]) -> Remark | None:
    """Return that a file has its servers where the host does not read them: under another member, or none."""
    if table.member(data, top):
        return None
    wrong = next((member for member in _members_with_servers(data, (*_TOPS, top)) if member != top), "")
    fact = host.facts["servers"]
    if wrong:
        text = f"{host.name} does not read “{wrong}” in {path}: it reads “{top}”."
        verb = "Rename it to" if _plain(wrong) == _plain(top) else "Move what is in it to"
        return Remark(text, f"{verb} “{top}”.", fact, about="file")
    entries = [value for key, value in data.items() if key not in ("$schema", "inputs")]
    # A settings file has other members that look like servers.
    if path.name != "settings.json" and all(_looks_like_servers([entry]) for entry in entries) and entries:
        text = f"{host.name} does not read servers at the top level of {path}: it reads “{top}”."
        return Remark(text, f"Move them to “{top}”.", fact, about="file")
    return None


_TOPS = ("mcpServers", "servers", "mcp.servers", "context_servers", "mcp")
"""Members with servers, in files of any host."""


def _members_with_servers(data: Any, tops: Sequence[str]) -> list[str]:
    """Return the members of a file that have servers and a name like one of `tops`, also a misspelt one."""
    members = list(data.items()) if isinstance(data, dict) else []
    members += [
        (f"{key}.{name}", value) for key, inner in members if isinstance(inner, dict) for name, value in inner.items()
    ]
    known = set(map(_plain, tops))
    return [key for key, value in members if _plain(key) in known and _looks_like_servers(value)]


def _plain(key: str) -> str:
    """Return a key as it is compared with others that differ only in case, hyphens, underscores or a plural."""
    return re.sub(r"[-_]", "", key).casefold().removesuffix("s")


def _looks_like_servers(value: Any) -> bool:
    members = value.values() if isinstance(value, dict) else _listed(value)
    return any(
        isinstance(member, dict) and {"command", "url", "cmd", "httpurl", "serverurl"} & set(map(_plain, member))
        for member in members
    )


def _names(keys: Mapping[str, Any]) -> Iterator[str]:
    yield keys.get("command", "command")
    yield from keys.get("url", ())


def _object_in(path: Path) -> Any:
    """Return the content of a file; None if there is none, or it cannot be read."""
    if not table.exists(path):
        return None
    try:
        return foreign_files.load_object(path)
    except ConfigError:
        return None
