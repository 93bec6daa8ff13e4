"""Decides the effect of a result: it fails the run, is known from the baseline, is reported, or is excluded.

Every output (text, JSON, JUnit, SARIF, Markdown, HTML, badge) and the exit code use this decision.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from inspector.check.outcome import Seen
from inspector.check.result import OBSERVED, VERDICTS, Result, Verdict
from inspector.config.foreign_files import load_object, printable, read_text
from inspector.errors import ConfigError, UsageError
from inspector.hints import Hint, Parameter

FORMAT = "mcp-check"
VERSION = 1

Ruling = Literal["failing", "known", "reported", "excluded", "passed"]
FailOn = Literal["fail", "warn", "skip", "never"]
Profile = Literal["full", "app"]
FindingKey = tuple[str, str, str]
"""Id of the check, revision, transport: the identity of a finding in two runs."""

FAILING: dict[FailOn, tuple[Verdict, ...]] = {
    "fail": ("fail",),
    "warn": ("fail", "warn"),
    "skip": ("fail", "warn", "skip"),
    "never": (),
}
"""The verdicts that fail the run, by the value of `--fail-on`."""
PROFILES: tuple[Profile, ...] = ("full", "app")
FINDINGS: tuple[Verdict, ...] = ("fail", "warn")
_KNOWN_BY: dict[Seen, tuple[Seen, ...]] = {
    "bad": ("bad",),
    "doubtful": ("bad", "doubtful"),
    "remark": ("bad", "doubtful", "remark"),
    "nothing": ("bad", "doubtful", "nothing"),
    "good": (),
}
"""What a baseline saw that makes a result known, with and without --strict: a fault that was in doubt is new."""
_SEEN_BEFORE: dict[Verdict, Seen] = {"fail": "bad", "warn": "bad", "note": "remark", "skip": "nothing", "pass": "good"}
"""What a report of Inspector 0.1 saw, which has verdicts only."""
_HINT = Hint("Write one with ", Parameter.CHECK_REPORT, ".")


@dataclass(frozen=True, slots=True)
class Identity:
    """The identity of the checked server. A baseline belongs to a name and a kind of transport, not to a version."""

    name: str = ""
    """The server's own name; empty if it gave none."""
    version: str = ""
    kind: str = ""
    """`stdio` or `http`; empty if there was no connection."""

    def as_json(self) -> dict[str, str | None]:
        """For reports."""
        return {"name": self.name or None, "version": self.version or None, "kind": self.kind or None}


UNKNOWN = Identity()


@dataclass(frozen=True, slots=True)
class Baseline:
    """An earlier report: its server, and the verdict of each check in each visit."""

    identity: Identity
    target: str
    verdicts: Mapping[FindingKey, Verdict]
    source: str = "The baseline"
    seen: Mapping[FindingKey, Seen] = field(default_factory=dict)
    across: frozenset[tuple[str, tuple[str, ...], str]] = frozenset()
    """Id, servers and tool of each finding about two servers (`across.Finding`)."""

    @classmethod
    def empty(cls) -> Baseline:
        """The baseline of a new server: all of its findings are new."""
        return cls(Identity(), "", {})

    def knows(self, result: Result) -> bool:
        """Whether the baseline saw this or worse."""
        return self.seen.get(key_of(result)) in _KNOWN_BY[result.outcome.seen]

    def require(self, identity: Identity, target: str) -> None:
        """Raise `UsageError` unless the baseline is about this server."""
        ours = self.identity
        if not self.verdicts:
            return
        if ours.kind and identity.kind and ours.kind != identity.kind:
            raise UsageError(
                f"{self.source} is the report of a server over {_quote(ours.kind)}, but this server was "
                f"checked over {identity.kind}.",
                hint=_HINT,
            )
        # A server that gave no name in one of the runs is identified by its transport.
        before, now = (ours.name, identity.name) if ours.name and identity.name else (self.target, target)
        if before != now:
            raise UsageError(
                f"{self.source} is the report of the server “{_quote(before)}”, but this server is “{_quote(now)}”.",
                hint=_HINT,
            )


def read_baseline(file: Path) -> Baseline:
    """The baseline in a file. Raises `UsageError` for a file that is not a report."""
    return baseline_of(_document(file), str(file))


def read_baselines(file: Path) -> dict[str, Baseline]:
    """The baselines of several servers by their references: a list from `check @all --json`."""
    document = _document(file)
    if type(document) is not list:
        raise UsageError(
            f"{file} is the report of one server. --baseline with @all needs a list of reports.",
            hint=Hint("Write one with ", Parameter.CHECK_ALL_REPORT, "."),
        )
    baselines = {}
    for entry in document:
        name = entry.get("server") if type(entry) is dict else None
        if type(name) is not str:
            raise UsageError(f"{file} is not a list of check reports.", hint=_HINT)
        if "results" in entry:
            baselines[name] = baseline_of(entry, f"{file} ({_quote(name)})")
    return baselines


def _document(file: Path) -> Any:
    """The JSON value in a file. Raises `UsageError` with the kind of the file if it is not a report."""
    text = read_text(file)
    first = text.lstrip()[:200]
    try:
        if first.startswith("["):
            return json.loads(text)
        return load_object(file)
    except (ConfigError, ValueError, RecursionError):
        if first.startswith("{") and '"mcp-recording"' in first:
            raise UsageError(
                f"{file} is a recording. --baseline needs a JSON report.",
                hint=Hint("Check the recording first: ", Parameter.CHECK_RECORDING_REPORT, "."),
            ) from None
        what = "XML or HTML" if first.startswith("<") else "not JSON"
        raise UsageError(f"{file} is {what}. --baseline needs a JSON report.", hint=_HINT) from None


def baseline_of(document: Any, source: str = "The baseline") -> Baseline:
    """The baseline in a JSON document. Raises `UsageError`."""
    if type(document) is list:
        raise UsageError(
            f"{source} is a list of reports. --baseline needs the report of one server.",
            hint=Hint("A list belongs to ", Parameter.CHECK_AGAINST_LIST, "."),
        )
    if type(document) is not dict or document.get("format") != FORMAT:
        kind = document.get("format") if type(document) is dict else None
        what = "a recording" if kind == "mcp-recording" else "SARIF" if _is_sarif(document) else "another JSON document"
        raise UsageError(f"{source} is {what}. --baseline needs a JSON report of `check`.", hint=_HINT)
    if document.get("version") != VERSION:
        raise UsageError(
            f"{source} is a report of version {_quote(document.get('version'))}; version {VERSION} is supported.",
            hint=_HINT,
        )
    identity, results = document.get("identity"), document.get("results")
    if type(identity) is not dict or type(results) is not list:
        raise UsageError(f"{source} does not name its server, or has no results.", hint=_HINT)
    verdicts: dict[FindingKey, Verdict] = {}
    saw: dict[FindingKey, Seen] = {}
    for result in results:
        verdict = result.get("verdict") if type(result) is dict else None
        if verdict not in VERDICTS:
            raise UsageError(f"{source} has a result without a verdict.", hint=_HINT)
        key = str(result.get("id")), str(result.get("revision")), str(result.get("transport"))
        verdicts[key] = verdict
        outcome = result.get("outcome")
        saw[key] = outcome if outcome in OBSERVED else _SEEN_BEFORE[verdict]
    named = {name: str(identity.get(name) or "") for name in ("name", "version", "kind")}
    return Baseline(Identity(**named), str(document.get("target") or ""), verdicts, source, saw, _across(document))


def _across(document: dict[str, Any]) -> frozenset[tuple[str, tuple[str, ...], str]]:
    """The findings about two servers in the report of one of them; none in a report of an earlier version."""
    findings = document.get("across")
    entries = [entry for entry in findings if type(entry) is dict] if type(findings) is list else []
    return frozenset(
        (str(entry.get("id")), tuple(map(str, entry.get("servers") or ())), str(tool))
        for entry in entries
        for tool in entry.get("tools") or ()
    )


def _is_sarif(document: Any) -> bool:
    return type(document) is dict and type(document.get("runs")) is list


def _quote(value: object) -> str:
    return printable(str(value))


def key_of(result: Result) -> FindingKey:
    """The identity of a result in two runs."""
    return result.check.id, result.visited.revision, result.visited.transport


@dataclass(frozen=True, slots=True)
class Policy:
    """The conditions under which a run fails."""

    fail_on: FailOn = "fail"
    fail_under: int = 0
    """The lowest score that passes."""
    profile: Profile = "full"
    """`app` excludes faults of the SDK that the author of a server cannot change."""
    baseline: Baseline | None = field(default=None, repr=False)
    strict: bool = False
    """Faults of the class `rule` fail, those of `advice` are warnings."""

    def applied(self, results: Iterable[Result]) -> list[Result]:
        """The results, judged as this policy says."""
        return [replace(result, strict=self.strict) for result in results]

    def rule(self, result: Result) -> Ruling:
        """The effect of a result on the run."""
        verdict = result.verdict
        if verdict == "pass":
            return "passed"
        if self.profile == "app" and result.origin is not None and not result.origin.option:
            return "excluded"
        fails = verdict in FAILING[self.fail_on]
        asked = fails or verdict in FINDINGS
        if asked and self.baseline is not None and self.baseline.knows(result):
            return "known"
        return "failing" if fails else "reported"

    def as_json(self) -> dict[str, Any]:
        """For reports."""
        return {
            "fail_on": self.fail_on,
            "fail_under": self.fail_under or None,
            "profile": self.profile,
            "strict": self.strict,
            "baseline": self.baseline is not None,
        }


DEFAULT = Policy()
