"""The servers in config files, for one folder: list them without opening any, find one by name, resolve it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from inspector.config import (
    client_config_paths,
    client_configs,
    expand,
    foreign_files,
    login_entry,
    paths,
    registry_entries,
    text_checks,
    trust,
)
from inspector.config.host_files import table
from inspector.config.host_files.reading import FileReading, Remark, misplaced
from inspector.config.host_files.table import SCOPES, ConfigFamily, Host, HostScope
from inspector.config.server_definition import THE_COMMAND, THE_URL, Definition
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.errors import ConfigError, TargetError
from inspector.hints import NO_HINT, Hint, Parameter
from inspector.system import NAME

_NOT_IN_A_SLUG = re.compile(r"[^\w.]+")


@dataclass(frozen=True, slots=True)
class ServerEntry:
    """A server in a config file, unexpanded. `raw` is the file's object for it.

    `summary` is the whole command or URL in one line with references as written (C-STDIO-10). `reference` is the
    shortest unique name of this entry; `workspace` the project it belongs to, None for the user's files.
    """

    name: str
    source_label: str
    path: Path
    kind: Literal["stdio", "http"]
    summary: str
    disabled: bool
    raw: Mapping[str, Any] = field(repr=False)
    definition: Definition = field(repr=False)
    family: ConfigFamily
    dialect: expand.VariableSyntax
    workspace: Path | None = None
    inputs: tuple[expand.InputQuestion, ...] = ()
    reference: str = ""
    owned: bool = False
    """Whether the file is the user's own; any other one may be part of a cloned folder."""
    host: str = ""
    """The id of the host that reads the file; empty for our own files."""
    scope: HostScope = "user"
    remark: Remark | None = None
    """Why the host does not start it; None if it does, as far as is known."""

    def same_as(self, other: ServerEntry) -> bool:
        """Whether both open the same server: equal definitions with the same meaning in either file."""
        if self.definition != other.definition or self.name != other.name or self.family == "registry":
            return False
        # The start folder matters for a command that names something in it.
        if self.workspace != other.workspace and any(_is_relative(word) for word in self.definition.command):
            return False
        if self.owned != other.owned and self.definition.is_guarded:
            return False
        if not self.definition.has_references:
            return True
        return (self.dialect, self.workspace, self.inputs) == (other.dialect, other.workspace, other.inputs)


@dataclass(frozen=True, slots=True)
class ConfigProblem:
    """An invalid config file, or an invalid `server` in it: the error and its hint."""

    path: Path
    message: str
    hint: Hint = NO_HINT
    server: str = ""
    remark: Remark | None = None
    """Why the host does not start the server, or does not read any in the file."""


@dataclass(frozen=True, slots=True)
class ServerList:
    """The servers in the config files. Entries of this folder come first; an error in one file does not affect
    others."""

    entries: tuple[ServerEntry, ...] = ()
    problems: tuple[ConfigProblem, ...] = ()
    config: Path | None = None

    def remarks(self, path: Path | None = None) -> list[Remark]:
        """Return why hosts do not start entries: of one file, or of all."""
        remarks = [(entry.path, entry.remark) for entry in self.entries]
        remarks += [(problem.path, problem.remark) for problem in self.problems]
        return [remark for file, remark in remarks if remark is not None and path in (None, file)]

    def knows(self, name: str) -> bool:
        """Whether a config file names this server, rightly or not."""
        return name in (*(entry.name for entry in self.entries), *(problem.server for problem in self.problems))

    def find(self, word: str) -> ServerEntry:
        """Return the entry for `@NAME` or `@NAME:FILEPART`. Raises TargetError if there is none, or more than one."""
        word = word.removeprefix("@")
        if self.config is not None and not self.entries:
            for problem in self.problems:
                if not problem.server:
                    raise ConfigError(problem.message, hint=problem.hint)
        for name, part in _readings(word):
            named = [entry for entry in self.entries if entry.name == name]
            chosen = _matching(named, part) if part else named
            if chosen:
                return _one(f"@{word}", chosen)
        raise self._unknown(word)

    def _unknown(self, word: str) -> TargetError:
        safe_word = foreign_files.printable(word)
        for name, _ in _readings(word):
            for problem in self.problems:
                if problem.server and problem.server == name:
                    why, fix = (problem.message, problem.hint)
                    if problem.remark is not None and not problem.remark.is_choice:
                        why, fix = problem.remark.text.removesuffix("."), Hint(problem.remark.fix)
                    return TargetError(f"@{safe_word} cannot be used: {why}", hint=fix)
            named = [entry for entry in self.entries if entry.name == name]
            if named:
                return TargetError(
                    f"No config file that has @{name} matches @{safe_word}",
                    hint=f"Write {_listed(named)}.",
                )
        nowhere = "No config file has the server" if self.config is None else f"{self.config} has no server"
        return TargetError(f"{nowhere} @{safe_word}", hint=self._hint(word))

    def _hint(self, word: str) -> Hint:
        names = list(dict.fromkeys(entry.name for entry in self.entries))
        near = foreign_files.nearest(word, names)
        if near:
            hint = Hint(f"Did you mean @{foreign_files.printable(near)}?")
        elif names:
            more = f" and {len(names) - 8} more" if len(names) > 8 else ""
            hint = Hint(
                f"Use one of: {', '.join(f'@{foreign_files.printable(name, 40)}' for name in names[:8])}{more}."
            )
        else:
            hint = Hint("Give a command or a URL, or ", Parameter.NAME_CONFIG, ".")
        if "/" in word:
            hint = Hint(hint, f" To run the npm package: inspector npx -y @{foreign_files.printable(word)}")
        broken = [problem.message.removesuffix(".") for problem in self.problems if not problem.server]
        if broken:
            hint = Hint(hint, f" {'; '.join(broken[:3])}.")
        return hint


def find_servers(
    folder: Path | None = None,
    home: Path | None = None,
    environ: Mapping[str, str] | None = None,
    platform: str | None = None,
    config: Path | None = None,
    host: Host | None = None,
) -> ServerList:
    """Return the servers in every client's config files for `folder`, only in the file `config`, or only of `host`.

    `platform` is a `system.NAME`. It only reads files: nothing is expanded, started or asked.
    """
    folder = Path.cwd() if folder is None else folder
    home = paths.home_folder() if home is None else home
    environ = os.environ if environ is None else environ
    machine = table.Machine(home, environ, platform or NAME)
    entries: list[ServerEntry] = []
    problems: list[ConfigProblem] = []
    if config is not None:
        config = Path(os.path.abspath(folder / os.path.expanduser(config)))
        try:
            known = client_config_paths.explicit(config, machine)
            looked_at = [known or client_configs.recognise(config)]
        except ConfigError as error:
            return ServerList((), (ConfigProblem(config, error.message, error.hint),), config)
    else:
        looked_at = client_config_paths.places(folder, machine)
        looked_at = [place for place in looked_at if host is None or place.host == host.id]
    workspaces = client_config_paths.workspaces(folder, home)
    users = (
        {os.path.realpath(place.path) for place in looked_at if place.workspace is None} if config is None else set()
    )
    seen: set[str] = set()
    for place in looked_at:
        real = os.path.realpath(place.path)
        if real in seen or (config is None and not foreign_files.present(place.path)):
            continue
        owned = client_config_paths.is_own(place, folder, machine, named=config is not None)
        if not owned and real in users:
            # A link to a file of the user: it is read as that client reads it.
            continue
        seen.add(real)
        try:
            data = foreign_files.load_object(place.path)
            servers = client_configs.read(data, place, workspaces)
            if config is not None and not servers and client_configs.has_servers_elsewhere(data):
                raise client_configs.no_servers(place.path, "" if place.family in ("own", "generic") else place.label)
        except ConfigError as error:
            problems.append(ConfigProblem(place.path, error.message, error.hint))
            continue
        reader = table.host_with_id(place.host)
        unread = misplaced(reader, place.path, place.top, data) if reader is not None else None
        if unread is not None:
            problems.append(ConfigProblem(place.path, unread.text, Hint(unread.fix), remark=unread))
        written = {server.name: server.raw for server in servers}
        reading = None if reader is None else FileReading(reader, place.path, machine, workspaces, written)
        for server in servers:
            scope: HostScope = "local" if server.workspace and not place.workspace else place.scope
            remark = reading.remark(server.name, server.raw, scope, disabled=server.disabled) if reading else None
            if isinstance(server.definition, ConfigError):
                problems.append(_problem(place, server.name, server.definition, remark))
            else:
                entries.append(_entry(place, server, server.definition, owned, scope, remark))
    # A project's servers in ~/.claude.json belong to this folder too; sorting is stable, so files keep their order.
    nearness = {workspace: index for index, workspace in enumerate(workspaces)}
    entries.sort(key=lambda entry: nearness.get(entry.workspace, len(nearness)) if entry.workspace else len(nearness))
    entries = _shadowed(entries)
    return ServerList(tuple(_referenced(entries)), tuple(problems), config)


def _shadowed(entries: list[ServerEntry]) -> list[ServerEntry]:
    """Return the entries, with a remark on each that its host does not start because it uses another one."""
    first: dict[tuple[str, str], ServerEntry] = {}
    managed = {entry.host: entry for entry in entries if entry.scope == "managed"}
    for entry in sorted(entries, key=lambda entry: SCOPES.index(entry.scope)):
        first.setdefault((entry.host, entry.name), entry)
    return [_with_winner(entry, managed.get(entry.host), first[entry.host, entry.name]) for entry in entries]


def _with_winner(entry: ServerEntry, managed: ServerEntry | None, first: ServerEntry) -> ServerEntry:
    host = table.host_with_id(entry.host)
    if host is None or entry.remark is not None:
        return entry
    if managed is not None and entry.scope != "managed":
        text = f"{host.name} does not start @{entry.name}: your organization allows only the servers of {managed.path}."
        return replace(entry, remark=Remark(text, fact=host.facts["managed"], about="choice"))
    if first is not entry and host.rule("wins"):
        text = f"{host.name} does not start this @{entry.name}: that in {first.path} wins."
        return replace(entry, remark=Remark(text, fact=host.facts["wins"], about="choice"))
    return entry


def resolve(
    entry: ServerEntry,
    environ: Mapping[str, str] | None = None,
    prompt: expand.AskInput | None = None,
    *,
    home: Path | None = None,
    consent: trust.Consent | None = None,
) -> StdioTarget | HttpTarget:
    """Return the target of `entry`, with its references expanded now. Raises ConfigError for a missing value.

    An entry that is not the user's own and exposes the user's data needs a stored answer, or `consent`; otherwise
    TrustNeeded is raised before any value is read.
    """
    expander = expand.Expander(**_context(entry, environ, home), prompt=prompt)
    if not entry.owned:
        survey, made = _surveyed(entry, environ, home)
        exposure = _exposure(entry, survey, made)
        if exposure is not None:
            trust.require(exposure, consent)
        expander.allowed = frozenset(reference for _, reference in survey.uses)
    made = registry_entries.fill(entry.raw, expander) if entry.family == "registry" else entry.definition
    try:
        target = _http(entry, made, expander) if made.kind == "http" else _stdio(entry, made, expander)
        return replace(target, remark=entry.remark.text if entry.remark else "")
    except TargetError as error:
        raise ConfigError(
            f"@{foreign_files.printable(entry.name)} in {entry.path}: {error.message}", hint=error.hint
        ) from None


def exposure_of(
    entry: ServerEntry, environ: Mapping[str, str] | None = None, home: Path | None = None
) -> trust.Exposure | None:
    """Return what opening `entry` exposes; None for nothing, and for the user's own entries."""
    if entry.owned:
        return None
    try:
        survey, made = _surveyed(entry, environ, home, lenient=True)
        return _exposure(entry, survey, made)
    except ConfigError:
        return None  # opening it shows the error


def outline(
    entry: ServerEntry, environ: Mapping[str, str] | None = None, home: Path | None = None
) -> StdioTarget | HttpTarget | None:
    """Return the target with names of references instead of values; None if they are in its command or URL.

    It reads no value, so it needs no consent. It is not for a start. Raises ConfigError.
    """
    survey, made = _surveyed(entry, environ, home, lenient=True)
    if any(place in (THE_COMMAND, THE_URL) for place, _ in survey.uses):
        return None
    return _http(entry, made, survey) if made.kind == "http" else _stdio(entry, made, survey)


def _surveyed(
    entry: ServerEntry, environ: Mapping[str, str] | None, home: Path | None, *, lenient: bool = False
) -> tuple[expand.ReferenceSurvey, Definition]:
    """Return the references that opening `entry` follows, and its definition with names instead of their values."""
    survey = expand.ReferenceSurvey(**_context(entry, environ, home), place="the entry", lenient=lenient)
    made = registry_entries.fill(entry.raw, survey) if entry.family == "registry" else entry.definition
    for survey.place, text in made.texts():
        survey(text)
    if made.env_file:
        survey.place = "the environment"
        survey.env_file(_path(survey(made.env_file), survey))
    return survey, made


def _exposure(entry: ServerEntry, survey: expand.ReferenceSurvey, made: Definition) -> trust.Exposure | None:
    inputs = [[question.id, question.default, question.secret, *question.choices] for question in entry.inputs]
    meaning = [entry.family, entry.dialect, str(entry.workspace or ""), entry.raw, inputs]
    return trust.exposure(made, survey.uses, server=entry.name, path=entry.path, meaning=meaning)


def _context(entry: ServerEntry, environ: Mapping[str, str] | None, home: Path | None) -> dict[str, Any]:
    """Return all that the expansion of `entry` depends on."""
    return {
        "dialect": entry.dialect,
        "server": entry.name,
        "path": entry.path,
        "environ": os.environ if environ is None else environ,
        "home": paths.home_folder() if home is None else home,
        "workspace": entry.workspace or Path.cwd(),
        "inputs": entry.inputs,
    }


def _stdio(entry: ServerEntry, made: Definition, expander: expand.Expander) -> StdioTarget:
    command = tuple(text_checks.checked_text(expander(word), THE_COMMAND) for word in made.command)
    host = table.host_with_id(entry.host)
    if host is not None and host.rule("home"):
        command = tuple(
            str(_path(word, expander)) if word == "~" or word.startswith(("~/", "~\\")) else word for word in command
        )
    if not command[0].strip():
        raise TargetError("the command is empty after its references are expanded")
    env: dict[str, str] = {}
    if made.env_file:
        try:
            env = expander.env_file(_path(expander(made.env_file), expander))
        except ConfigError as error:
            message = f"@{foreign_files.printable(entry.name)} in {entry.path} needs its envFile, but {error.message}"
            raise ConfigError(message, hint=error.hint) from None
    for name, value in made.env.items():
        text_checks.checked_text(name, "a variable's name")
        if not name or "=" in name:
            raise TargetError(f"{foreign_files.printable(name)!r} is not a valid name of an environment variable")
        env[name] = text_checks.checked_text(expander(value), f"the value of {name}")
    cwd = str(entry.workspace) if entry.workspace is not None else None
    if made.cwd:
        cwd = str(_path(text_checks.checked_text(expander(made.cwd), "the folder"), expander))
    return StdioTarget(command, env, cwd, entry.name, str(entry.path), tuple(expander.secrets), made.options)


def _http(entry: ServerEntry, made: Definition, expander: expand.Expander) -> HttpTarget:
    headers = text_checks.checked_headers((name, expander(value)) for name, value in made.headers)
    auth = login_entry.expanded(made.auth, expander)
    if not entry.owned and auth.get("open_browser"):
        # Only the user decides whether a browser opens without a question.
        del auth["open_browser"]
    return HttpTarget(
        url=text_checks.checked_url(expander(made.url)),
        headers=headers,
        transport=made.transport,
        proxy=expander(made.proxy) if made.proxy else None,
        verify=made.verify,
        name=entry.name,
        source=str(entry.path),
        secrets=tuple(expander.secrets),
        options=made.options,
        auth=auth,
        owned=entry.owned,
    )


def _path(text: str, expander: expand.Expander) -> Path:
    """A path in a config file: `~` is the home folder; a relative path is relative to the project."""
    if text == "~" or text.startswith(("~/", "~\\")):
        return expander.home / text[2:]
    return expander.workspace / text


def _entry(
    place: client_config_paths.ConfigPlace,
    server: client_configs.FoundServer,
    made: Definition,
    owned: bool,
    scope: HostScope,
    remark: Remark | None,
) -> ServerEntry:
    return ServerEntry(
        name=server.name,
        source_label=place.label,
        path=place.path,
        kind=made.kind,
        summary=made.summary,
        disabled=server.disabled or (remark is not None and remark.is_choice),
        raw=server.raw,
        definition=made,
        family=place.family,
        dialect=server.dialect,
        workspace=server.workspace or place.workspace,
        inputs=server.inputs,
        owned=owned,
        host=place.host,
        scope=scope,
        remark=remark,
    )


def _problem(
    place: client_config_paths.ConfigPlace, server: str, error: ConfigError, remark: Remark | None
) -> ConfigProblem:
    if remark is not None and remark.about == "key":
        return ConfigProblem(place.path, remark.text, Hint(remark.fix), server, remark)
    where = f"the server {foreign_files.printable(server)} in {place.path}" if server else str(place.path)
    return ConfigProblem(place.path, f"{where}: {error.message}", error.hint, server, remark)


def _readings(word: str) -> list[tuple[str, str]]:
    """Yield the meanings of `NAME:FILEPART`, first the whole as a name: names may contain colons too."""
    cuts = [index for index, char in enumerate(word[:500]) if char == ":"]
    return [(word, ""), *((word[:index], word[index + 1 :]) for index in reversed(cuts))]


def _matching(entries: list[ServerEntry], part: str) -> list[ServerEntry]:
    folded = part.casefold()
    exact = [
        entry
        for entry in entries
        if folded == _slug(entry.source_label) or f"/{entry.path.as_posix()}".casefold().endswith(f"/{folded}")
    ]
    return exact or [
        entry for entry in entries if folded in str(entry.path).casefold() or folded in entry.source_label.casefold()
    ]


def _one(word: str, entries: list[ServerEntry]) -> ServerEntry:
    enabled = [entry for entry in entries if not entry.disabled] or entries
    first = enabled[0]
    if all(entry.same_as(first) for entry in enabled[1:]):
        return first
    raise TargetError(
        f"{foreign_files.printable(word)} is in {len(enabled)} files with different definitions",
        hint=f"Write {_listed(enabled)}.",
    )


def _listed(entries: list[ServerEntry]) -> str:
    return " or ".join(f"{entry.reference} ({entry.path})" for entry in entries[:8])


def _referenced(entries: list[ServerEntry]) -> list[ServerEntry]:
    """Return the entries, each with its shortest unique name."""
    by_name: dict[str, list[ServerEntry]] = {}
    for entry in entries:
        by_name.setdefault(entry.name, []).append(entry)
    return [replace(entry, reference=_reference(entry, by_name[entry.name])) for entry in entries]


def _reference(entry: ServerEntry, named: list[ServerEntry]) -> str:
    others = [other for other in named if other is not entry]
    if all(other.same_as(entry) for other in others):
        return f"@{entry.name}"
    parts = entry.path.parts
    tails = ["/".join(parts[-count:]) for count in range(1, len(parts))]
    for part in (_slug(entry.source_label), *tails):
        if _matching(named, part) == [entry]:
            return f"@{entry.name}:{part}"
    return f"@{entry.name}:{entry.path}"


def _slug(label: str) -> str:
    return _NOT_IN_A_SLUG.sub("-", label.casefold())


def _is_relative(word: str) -> bool:
    return word.startswith(("./", "../")) or bool(re.search(r"\.(?:py|js|mjs|cjs|ts|sh|rb|jar)$", word[-8:]))
