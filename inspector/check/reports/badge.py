"""A badge: the score as a small SVG image."""

from __future__ import annotations

from inspector.check.reports.summary import Report

_COLOURS = ((90, "#2e7d32"), (75, "#9e7c00"), (50, "#b35c00"), (0, "#b3261e"))


def document(report: Report) -> str:
    """The whole image. Contains no text of the server."""
    score = report.score
    text = "unknown" if score is None else f"{score}/100"
    colour = "#616161" if score is None else next(colour for least, colour in _COLOURS if score >= least)
    if report.exit_code:
        failing = len({result.check.id for result in report.failing})
        text += f", {failing} failing" if failing else ", failing"
        colour = _COLOURS[-1][1]
    left, right = 34, 12 + 7 * len(text)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="MCP: {text}"><title>MCP: {text}</title>'
        f'<rect width="{left}" height="20" fill="#555"/><rect x="{left}" width="{right}" height="20" fill="{colour}"/>'
        '<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        f'<text x="{left / 2:g}" y="14">MCP</text><text x="{left + right / 2:g}" y="14">{text}</text></g></svg>\n'
    )
