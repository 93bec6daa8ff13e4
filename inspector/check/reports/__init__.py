"""Reports of a run: its summary and policy, and a module for each format, with `document(report) -> str`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inspector.check.reports.summary import Report

FORMATS = {
    "junit": "JUnit's XML, for CI",
    "sarif": "SARIF 2.1.0, for code scanning",
    "md": "Markdown, for a pull request",
    "html": "one web page without scripts",
    "badge": "an SVG badge with the score",
}


def document(report: Report, format: str) -> str:
    """A report in one of the formats."""
    names = {"md": "markdown"}
    text: str = import_module(f"inspector.check.reports.{names.get(format, format)}").document(report)
    return text
