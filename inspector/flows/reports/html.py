"""A run as one HTML page without scripts or references."""

from __future__ import annotations

from html import escape

from inspector.config.paths import shown
from inspector.flows.reports.text import TextReport, failure_text, steps_of
from inspector.flows.results import FlowResult, RunResult, StepResult
from inspector.html_page import page_head
from inspector.text import duration, safe

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem }
table { border-collapse: collapse; width: 100% } td, th { padding: .2rem .6rem; text-align: left; vertical-align: top }
tr { border-bottom: 1px solid #8884 } pre { background: #8882; overflow: auto; padding: .8rem }
.passed { color: #1a7f37 } .failed { color: #cf222e } .skipped, .not_run { color: #9a6700 }
td:last-child { text-align: right }
@media (prefers-color-scheme: dark) { body { background: #111; color: #ddd } }
"""


def as_html(run: RunResult) -> str:
    """The page: the counts, and for each flow its steps and what failed."""
    note = "".join(f"<p>{_text(each)}</p>" for each in TextReport({}).notes(run))
    flows = "\n".join(map(_flow, run.flows))
    return page_head("Saved calls", _STYLE) + (
        f"<body>\n<h1>Saved calls</h1>\n<p>{_text(TextReport({}).totals(run))}</p>{note}\n{flows}\n</body></html>\n"
    )


def _flow(flow: FlowResult) -> str:
    path = _text(flow.display_path or str(flow.path))
    rows = "\n".join(map(_step, flow.steps))
    failed = f"<pre>{_text(failure_text(flow), 100_000)}</pre>" if flow.outcome == "failed" else ""
    recording = f"<p>Recording: {_text(shown(flow.recording))}</p>" if flow.recording is not None else ""
    return (
        f'<h2><span class="{flow.outcome}">{_text(flow.outcome.replace("_", " "))}</span> {_text(flow.name)}</h2>\n'
        f"<p>{path}, {_text(steps_of(flow))}, {_text(duration(flow.seconds * 1e6))}</p>\n"
        f"<table><tr><th>Outcome<th>Step<th>Does<th>Time</tr>\n{rows}</table>\n{failed}{recording}"
    )


def _step(step: StepResult) -> str:
    number = f"{step.parent}.{step.number}" if step.parent else str(step.number)
    row = f" row {step.row}" if step.row else ""
    took = duration(step.seconds * 1e6) if step.outcome in ("passed", "failed") else ""
    reason = f" ({step.error})" if step.outcome in ("skipped", "not_run") and step.error else ""
    return (
        f'<tr><td class="{step.outcome}">{step.outcome.replace("_", " ")}<td>{number} {_text(step.name)}{row}'
        f"<td>{_text(step.label + reason)}<td>{_text(took)}</tr>"
    )


def _text(text: str, limit: int = 4000) -> str:
    return escape(safe(text, limit, multiline=True))
