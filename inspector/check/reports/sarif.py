"""SARIF 2.1.0 (OASIS): a rule for each check that ran, a result for each finding, as code scanning reads it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

from inspector.check.check_table import Check
from inspector.check.poison.rules import taxonomy_codes
from inspector.check.reports.policy import FindingKey, key_of
from inspector.check.reports.summary import Report
from inspector.check.result import FAULT_VERDICTS, Result, Verdict
from inspector.file_uris import to_uri
from inspector.protocol.revisions import REVISIONS
from inspector.text import safe
from inspector.version import __version__

_LEVELS: dict[Verdict, str] = {"fail": "error", "warn": "warning", "note": "note"}
_SEVERITY = {"security": "7.0"}
"""`security-severity` as GitHub reads it: 7.0 to 8.9 is high."""
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_SPECIFICATION = "https://modelcontextprotocol.io/specification"
_ROOT = "SRCROOT"


def document(report: Report) -> str:
    """The whole document.

    Without a source file, the evidence are lines of the recording: event `n` is line `n + 1`.
    """
    checks = {result.check.id: result.check for result in report.results}
    places = {id: at for at, id in enumerate(checks)}
    results = [
        _result(report, result, places[result.check.id])
        for result in report.results
        if result.verdict in _LEVELS or report.policy.rule(result) == "failing"
    ]
    results += [_absent(report, key, verdict, places[key[0]]) for key, verdict in report.gone]
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "Inspector",
                "version": __version__,
                "rules": [_rule(check, strict=report.policy.strict) for check in checks.values()],
            }
        },
        "automationDetails": {"id": f"inspector-check/{_name(report)}/{report.identity.kind or 'unknown'}/"},
        "invocations": [
            {
                "executionSuccessful": not report.unreached,
                "exitCode": report.exit_code,
                "exitCodeDescription": safe(report.summary, 1000),
            }
        ],
        "columnKind": "unicodeCodePoints",
        "results": results,
        "properties": {"score": report.score, "target": report.run.target},
    }
    if report.sources is not None:
        run["originalUriBaseIds"] = {_ROOT: {"uri": f"{to_uri(str(report.sources.folder)).rstrip('/')}/"}}
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _name(report: Report) -> str:
    return quote(safe(report.identity.name or report.run.target, 100).replace("/", "-"), safe="-._ @")


def _rule(check: Check, *, strict: bool) -> dict[str, Any]:
    page = _page(check)
    link = f"[{check.page}]({page})" if page else check.page
    about = f"Class: {check.check_class}, level: `{check.level}`. Specification: {link}."
    rule: dict[str, Any] = {
        "id": check.id,
        "shortDescription": {"text": check.says},
        "fullDescription": {"text": f"{check.says} Class: {check.check_class}. {check.breaks}".rstrip()},
        "help": {
            "text": f"{check.fix} (specification: {check.page})",
            "markdown": f"**{check.says}**\n\n{check.fix}\n\n{about}",
        },
        "defaultConfiguration": {"level": _LEVELS[FAULT_VERDICTS[check.check_class, "bad"][strict]]},
        "properties": {
            "class": check.check_class,
            "level": check.level,
            "group": check.group,
            "tags": [
                "mcp",
                check.group,
                *(["security"] if check.level in _SEVERITY else []),
                *taxonomy_codes(check.id),
            ],
            "precision": "high" if check.level in ("must", "type") else "medium",
        },
    }
    if page:
        rule["helpUri"] = page
    if check.level in _SEVERITY:
        rule["properties"]["security-severity"] = _SEVERITY[check.level]
    return rule


def _page(check: Check) -> str:
    """The URL of the specification's page for the newest revision of the check; empty for other documents."""
    page, _, part = check.page.partition("#")
    if not page or " " in page or page[0].isupper() or page in ("schema", "deprecated", "changelog", "extensions/apps"):
        return ""
    revision = max(check.revisions, key=REVISIONS.index)
    return f"{_SPECIFICATION}/{revision}/{page}{f'#{part}' if part else ''}"


def _result(report: Report, result: Result, rule: int) -> dict[str, Any]:
    text = safe(result.outcome.text or result.check.says, 2000)
    ruling, key = report.policy.rule(result), key_of(result)
    entry: dict[str, Any] = {
        "ruleId": result.check.id,
        "ruleIndex": rule,
        # A skipped check says nothing about the server: its result has no level (section 3.27.9).
        **({"level": _LEVELS[result.verdict]} if result.verdict in _LEVELS else {"kind": "open", "level": "none"}),
        "message": {"text": f"{text} ({result.visited.name})"},
        "locations": _locations(report, result),
        "partialFingerprints": _fingerprints(report, key),
        "properties": {
            "verdict": result.verdict,
            "ruling": ruling,
            "revision": result.visited.revision,
            "transport": result.visited.transport,
            "origin": "sdk" if result.origin is not None else "server",
        },
    }
    if result.origin is not None:
        entry["properties"]["sdk"] = result.origin.sdk
    baseline = report.policy.baseline
    if baseline is not None:
        entry["baselineState"] = "unchanged" if baseline.knows(result) else "new"
    if ruling == "excluded" and result.origin is not None:
        reason = f"{result.origin.sdk} causes this, and the author of the server cannot change it."
        entry["suppressions"] = [{"kind": "external", "status": "accepted", "justification": reason}]
    return entry


def _absent(report: Report, key: FindingKey, verdict: Verdict, rule: int) -> dict[str, Any]:
    """A finding of the baseline that is gone."""
    return {
        "ruleId": key[0],
        "ruleIndex": rule,
        "level": _LEVELS[verdict],
        "message": {"text": f"No longer found ({key[1]} over {key[2]})"},
        "locations": [_recorded(report, 0)],
        "partialFingerprints": _fingerprints(report, key),
        "baselineState": "absent",
        "properties": {"verdict": verdict, "ruling": "gone", "revision": key[1], "transport": key[2]},
    }


def _fingerprints(report: Report, key: FindingKey) -> dict[str, str]:
    """A fingerprint of a finding that is the same in every run, whatever the name of the recording."""
    name = f"{key[0]}/{key[1]} over {key[2]}"
    digest = hashlib.sha256(f"{report.identity.name or report.run.target}\n{name}".encode("utf-8", "replace"))
    return {"check/v1": name, "primaryLocationLineHash": f"{digest.hexdigest()[:16]}:1"}


def _locations(report: Report, result: Result) -> list[dict[str, Any]]:
    place = report.sources.place(result) if report.sources is not None else None
    if place is None:
        return [_recorded(report, n) for n in result.outcome.evidence[:5]] or [_recorded(report, 0)]
    artifact = {"uri": quote(place.file), "uriBaseId": _ROOT}
    return [{"physicalLocation": {"artifactLocation": artifact, "region": {"startLine": place.line}}}]


def _recorded(report: Report, n: int) -> dict[str, Any]:
    where = report.recording_path or "recording"
    artifact = {"uri": quote(Path(where).name if where[0] == "~" or Path(where).anchor else where)}
    return {"physicalLocation": {"artifactLocation": artifact, "region": {"startLine": n + 1}}}
