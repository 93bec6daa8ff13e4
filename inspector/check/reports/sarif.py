"""SARIF 2.1.0 (OASIS): a rule for each check that was done, a result for each fault."""

from __future__ import annotations

import json
from typing import Any

from inspector.check.outcome import Result
from inspector.check.report import Report
from inspector.text import safe
from inspector.version import __version__

_LEVELS = {"fail": "error", "warn": "warning", "note": "note"}
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def document(report: Report) -> str:
    """The whole document. Evidence are lines of the recording: event `n` stands on line `n + 1`."""
    rules = [
        {
            "id": checked.check.id,
            "name": checked.check.id,
            "shortDescription": {"text": checked.check.says},
            "help": {"text": f"{checked.check.fix} (specification: {checked.check.page})"},
            "properties": {"level": checked.check.level, "group": checked.check.group},
        }
        for checked in report.checked
    ]
    places = {rule["id"]: at for at, rule in enumerate(rules)}
    results = [
        _result(report, result, places[result.check.id])
        for checked in report.checked
        for result in checked.results
        if result.verdict in _LEVELS
    ]
    tool = {"driver": {"name": "Inspector", "version": __version__, "rules": rules}}
    run = {"tool": tool, "results": results, "properties": {"score": report.score, "target": report.run.target}}
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _result(report: Report, result: Result, rule: int) -> dict[str, Any]:
    text = safe(result.outcome.text or result.check.says, 2000)
    return {
        "ruleId": result.check.id,
        "ruleIndex": rule,
        "level": _LEVELS[result.verdict],
        "message": {"text": f"{text} ({result.visited.name})"},
        "locations": [_location(report, n) for n in result.outcome.evidence[:5]] or [_location(report, 0)],
        "partialFingerprints": {"check/v1": f"{result.check.id}/{result.visited.name}"},
    }


def _location(report: Report, n: int) -> dict[str, Any]:
    artifact = {"uri": report.recording.rpartition("/")[2] or "recording"}
    return {"physicalLocation": {"artifactLocation": artifact, "region": {"startLine": n + 1}}}
