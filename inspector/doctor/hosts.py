"""The config files of a host: which it reads, which entry wins, what it would start and what is wrong. Starts nothing.

`survey` looks at all files of a host. `as_host_starts` gives one entry as the host starts it, for `run.diagnose`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from inspector.config import client_config_paths, foreign_files, servers, trust
from inspector.config.expand import AskInput, Reference
from inspector.config.host_files import reading, table
from inspector.config.host_files.environment import as_started_by
from inspector.config.host_files.reading import Remark
from inspector.config.host_files.table import Host, HostFile, Machine
from inspector.config.jsonc import JsoncError, repeated
from inspector.config.secret_values import looks_secret_setting
from inspector.config.servers import ServerEntry, ServerList
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.doctor.command import CommandDoctor
from inspector.doctor.config_entry import ExaminedEntry, examined
from inspector.doctor.diagnosis import NO_FIX, Diagnosis, DoctorVerdict, Fix, StepCollector, TimeLimits, Weight
from inspector.doctor.privacy import Privacy
from inspector.errors import ConfigError, InspectorError, TrustNeeded
from inspector.text import quantity

_MOST_NAMES = 8
_VERDICTS: dict[Weight, DoctorVerdict] = {Weight.PROOF: "failed", Weight.LIKELY: "warn", Weight.SYMPTOM: "info"}


@dataclass(frozen=True, slots=True)
class HostFolder:
    """A host on this machine, opened in a folder."""

    host: Host
    machine: Machine
    folder: Path

    @property
    def workspaces(self) -> list[Path]:
        """The folder and those above it that belong to the project."""
        return client_config_paths.workspaces(self.folder, self.machine.home)

    @property
    def files(self) -> list[HostFile]:
        """The files that the host reads, whether they exist or not, nearest first."""
        files = [file for folder in (*self.workspaces, None) for file in table.files(self.machine, folder)]
        return [file for file in files if file.host == self.host]

    @property
    def is_used(self) -> bool:
        """Whether one of its files exists."""
        return any(foreign_files.present(file.path) for file in self.files)

    def servers(self) -> ServerList:
        """Return what the host's files say."""
        machine = self.machine
        return servers.find_servers(self.folder, machine.home, machine.environ, machine.platform, host=self.host)


def survey(where: HostFolder, only: str = "") -> Diagnosis:
    """Say what a host would start, and what is wrong in its files. `only` is the name of one entry."""
    host, machine, listed = where.host, where.machine, where.servers()
    entries = [entry for entry in listed.entries if only in ("", entry.name)]
    examined_entries = {id(entry): _examine(machine, entry) for entry in entries}
    secrets = [value for item in examined_entries.values() if item.target for value in item.target.secrets]
    steps = StepCollector(Privacy(secrets, str(machine.home)))
    files = where.files
    for file in files:
        if foreign_files.present(file.path):
            _report_file(steps, file, listed)
    missing = list(dict.fromkeys(str(file.path) for file in files if not foreign_files.present(file.path)))
    if missing:
        steps.add("file", "skipped", f"does not exist: {', '.join(missing)}")
    for remark in reading.ignored(host, machine, where.workspaces, files):
        _blame(steps, "file", remark, Weight.SYMPTOM if listed.entries else Weight.PROOF)
    for problem in listed.problems:
        if problem.server and only in ("", problem.server):
            remark = problem.remark or Remark(f"{problem.message}.", problem.hint.command_line)
            if remark.is_choice:
                steps.add(f"@{problem.server}", "skipped", remark.text.removesuffix("."), details=[str(problem.path)])
            elif remark.about != "file":
                _blame(steps, f"@{problem.server}", remark)
    started = sum(_report_entry(steps, where, examined_entries[id(entry)]) for entry in entries)
    cause = steps.cause()
    if cause is not None and cause.weight >= Weight.LIKELY:
        return Diagnosis(f"--host {host.id}", "host", "fails", cause.text, cause.fix, tuple(steps.added))
    text = f"{host.name} would start {started} of {quantity(len(entries), 'server')}."
    if not entries:
        text = f"{host.name} has no servers here."
    return Diagnosis(f"--host {host.id}", "host", "starts", text, NO_FIX, tuple(steps.added))


def as_host_starts(
    where: HostFolder, word: str, *, prompt: AskInput | None = None, consent: trust.Consent | None = None
) -> ExaminedEntry:
    """Return the entry `@NAME` as the host starts it; with a problem if the host does not start it.

    Raises `TargetError` or `ConfigError` if none of the host's files has it.
    """
    listed = where.servers()
    named = [entry for entry in listed.entries if f"@{entry.name}" == word]
    entry = next((entry for entry in named if entry.remark is None), None) or (named[0] if named else listed.find(word))
    if entry.remark is not None:
        problem = ConfigError(entry.remark.text.removesuffix("."), hint=entry.remark.fix)
        return ExaminedEntry(entry, problem=problem, host=where.host)
    examined_entry = examined(entry, where.machine.environ, where.machine.home, prompt=prompt, consent=consent)
    target = _started(where, examined_entry)
    if isinstance(target, StdioTarget) and target.starter is not None and not entry.owned:
        # Inspector passes few variables to such a server, but the host may pass every secret of the shell.
        names = sorted(target.starter.environ, key=lambda name: (not looks_secret_setting(name), name))
        uses = [("the environment", Reference("variable", name)) for name in names]
        meaning = [where.host.id, entry.raw]
        exposed = trust.exposure(entry.definition, uses, server=entry.name, path=entry.path, meaning=meaning)
        try:
            if exposed is not None:
                trust.require(exposed, consent)
        except TrustNeeded as needed:
            return replace(examined_entry, host=where.host, exposure=exposed, problem=needed, target=None)
    return replace(examined_entry, host=where.host, target=target)


def start_time(host: Host, entry: ServerEntry) -> float | None:
    """Return the seconds that the entry gives its server to start; None if it says nothing."""
    for key, unit in host.rule("timeout", {}).items():
        seconds = entry.raw.get(key)
        if isinstance(seconds, int | float) and not isinstance(seconds, bool) and seconds > 0:
            return float(seconds * unit)
    return None


def report_host(steps: StepCollector, entry: ServerEntry, host: Host | None) -> None:
    """Add what is known about how the host starts this entry; without a host, what its file does not pass."""
    if host is not None:
        steps.add("host", "ok", f"as {host.name} starts it", details=_known(host, entry))
    reader = host or table.host_with_id(entry.host)
    remarks = _remarks(host, entry) if host else reading.not_passed(reader, entry.raw) if reader else ()
    for remark in remarks:
        _blame(steps, "entry", remark, Weight.LIKELY)


def _examine(machine: Machine, entry: ServerEntry) -> ExaminedEntry:
    """Return an entry as far as it can be read without a question to the user."""
    examined_entry = examined(entry, machine.environ, machine.home)
    if not isinstance(examined_entry.problem, TrustNeeded):
        return examined_entry
    try:
        return replace(examined_entry, target=servers.outline(entry, machine.environ, machine.home))
    except InspectorError:
        return examined_entry


def _started(where: HostFolder, examined_entry: ExaminedEntry) -> StdioTarget | HttpTarget | None:
    target = examined_entry.target
    if not isinstance(target, StdioTarget):
        return target
    workspace = examined_entry.entry.workspace or where.folder
    return as_started_by(where.host, target, where.machine, workspace)


def _report_file(steps: StepCollector, file: HostFile, listed: ServerList) -> None:
    problem = next((problem for problem in listed.problems if problem.path == file.path and not problem.server), None)
    remark = next((remark for remark in listed.remarks(file.path) if remark.about == "file"), None)
    if problem is not None and remark is None:
        steps.add("file", "failed", problem.message, fix=Fix(problem.hint), cause=f"{problem.message}.")
        return
    names = {file.top, *(entry.name for entry in listed.entries if entry.path == file.path)}
    twice = [key for key in _repeated(file.path) if key in names]
    if remark is not None:
        _blame(steps, "file", remark)
    elif twice:
        text = f"{file.path} has “{twice[0]}” twice in one object: only the last one counts."
        _blame(steps, "file", Remark(text, "Remove or rename one."), Weight.LIKELY)
    else:
        count = sum(entry.path == file.path for entry in listed.entries)
        steps.add("file", "ok", f"{file.path}: {quantity(count, 'server')}")


def _repeated(path: Path) -> list[str]:
    if path.suffix not in (".json", ".jsonc"):
        return []
    try:
        return repeated(foreign_files.read_text(path))
    except (ConfigError, JsoncError, ValueError):
        return []


def _report_entry(steps: StepCollector, where: HostFolder, examined_entry: ExaminedEntry) -> bool:
    """Add the step of one entry. True if the host would start it, as far as is known without a start."""
    host, entry = where.host, examined_entry.entry
    name = f"@{entry.name}"
    if entry.remark is not None and entry.remark.about == "file":
        steps.add(name, "skipped", f"{host.name} does not read its file", details=[str(entry.path)])
        return False
    if entry.remark is not None and entry.remark.is_choice:
        steps.add(name, "skipped", entry.remark.text.removesuffix("."), details=[str(entry.path)])
        return False
    if entry.remark is not None:
        _blame(steps, name, entry.remark, details=[str(entry.path)])
        return False
    target, text = _started(where, examined_entry), entry.summary
    problem = examined_entry.problem
    asked = {question.variable for question in entry.inputs}
    unset = [variable for variable in examined_entry.missing if variable not in asked and not host.rule("stores")]
    if unset:
        text = f"{name} needs {', '.join(unset)}, which is not set in this shell."
        _blame(steps, name, Remark(text, "Set it where the host is started."), Weight.LIKELY)
        return False
    if problem is not None and not examined_entry.missing and not isinstance(problem, TrustNeeded):
        _blame(steps, name, Remark(f"{problem.message.removesuffix('.')}.", problem.hint.command_line))
        return False
    if isinstance(target, StdioTarget):
        scratch = StepCollector(steps.privacy, steps.line)
        CommandDoctor(target, scratch, TimeLimits(), where.machine.platform).inspect()
        cause = scratch.cause()
        if cause is not None:
            steps.add(name, "failed", cause.text.removesuffix("."), fix=cause.fix, cause=f"{name}: {cause.text}")
            return False
        text = f"{target.describe()}, in {target.cwd or 'the folder of the host'}, with {_variables(host, target)}"
    steps.add(name, "ok", text, details=[str(entry.path), *_known(host, entry)])
    for remark in _remarks(host, entry):
        _blame(steps, name, replace(remark, text=f"{name}: {remark.text}"), Weight.LIKELY)
    return True


def _remarks(host: Host, entry: ServerEntry) -> list[Remark]:
    """Return what the server gets other than the entry says."""
    as_written = reading.passed_as_written(host, entry.raw)
    return [*reading.not_passed(host, entry.raw), *([] if as_written is None else [as_written])]


def _variables(host: Host, target: StdioTarget) -> str:
    """Return which variables a server gets, by name."""
    own, group = sorted(target.env), table.passed_in_words(host)
    if target.starter is not None and host.rule("passes") in ("sdk", "codex"):
        own = sorted({*target.starter.environ, *own})
        group = ""
    names = [*own[:_MOST_NAMES], *([f"{len(own) - _MOST_NAMES} more"] if len(own) > _MOST_NAMES else [])]
    others = group or ("" if target.starter is not None else "others, which are not known")
    return " and ".join(filter(None, (", ".join(names), others)))


def _known(host: Host, entry: ServerEntry) -> Sequence[str]:
    """Return the facts that decide how an entry is started, each with its source."""
    rules = ["expands", "passes", "path", "folder", "timeout"]
    rules += ["asks"] if host.rule("asks") == entry.scope else []
    facts = [host.facts[rule] for rule in rules if rule in host.facts]
    return [f"{fact.rule}: {fact.what} [{fact.cited}]" for fact in facts]


def _blame(
    steps: StepCollector, name: str, remark: Remark, weight: Weight = Weight.PROOF, details: Sequence[str] = ()
) -> None:
    cited = [] if remark.fact is None else [f"source: {remark.fact.cited}"]
    steps.add(
        name,
        _VERDICTS[weight],
        remark.text.removesuffix("."),
        details=[*details, *cited],
        fix=Fix(remark.fix),
        cause=remark.text,
        weight=weight,
    )
