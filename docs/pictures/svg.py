"""Small SVG pictures of terminal screens: each different row is written once, and no font is fetched."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

WIDTH, HEIGHT = 8.4, 16.5
"""Pixels of a character cell."""
MARGIN = 12
GROUND, TEXT = "#11151c", "#e6ebf2"
_CELL, _LINE = 12.2, 24.4
"""Units of a character cell in the screenshots of Textual."""


@dataclass(frozen=True)
class Row:
    """One row of a screen: backgrounds as (colour, column, columns), texts as (style, column, columns, text)."""

    grounds: tuple[tuple[str, int, int], ...]
    texts: tuple[tuple[str, int, int, str], ...]

    @property
    def text(self) -> str:
        """The characters of the row."""
        line = ""
        for _, column, _, text in self.texts:
            line = line.ljust(column) + text
        return line.replace("\xa0", " ")


@dataclass(frozen=True)
class Frame:
    """A screen, its caption, and its time in seconds."""

    rows: tuple[Row, ...]
    caption: str
    seconds: float


def screen(app) -> tuple[Row, ...]:
    """Return the screen of an app, from its Textual screenshot."""
    svg = app.export_screenshot()
    styles = dict(re.findall(r"\.terminal-\d+-(r\d+) \{ ([^}]*?);? ?\}", svg))
    grounds: list[list[tuple[str, int, int]]] = [[] for _ in range(app.size.height)]
    texts: list[list[tuple[str, int, int, str]]] = [[] for _ in range(app.size.height)]
    for colour, x, y, width in re.findall(
        r'<rect fill="(#\w+)" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="24\.65"', svg
    ):
        row = grounds[round((float(y) - 1.5) / _LINE)]
        column, columns = round(float(x) / _CELL), round(float(width) / _CELL)
        if row and row[-1][0] == colour and row[-1][1] + row[-1][2] == column:
            row[-1] = (colour, row[-1][1], row[-1][2] + columns)
        else:
            row.append((colour, column, columns))
    for name, x, length, line, text in re.findall(
        r'<text class="terminal-\d+-(r\d+)" x="([\d.]+)" y="[\d.]+" textLength="([\d.]+)" '
        r'clip-path="url\(#terminal-\d+-line-(\d+)\)">([^<]*)</text>',
        svg,
    ):
        columns = round(float(length) / _CELL)
        texts[int(line)].append((styles[name], round(float(x) / _CELL), columns, html.unescape(text)))
    return tuple(Row(tuple(row), tuple(line)) for row, line in zip(grounds, texts, strict=True))


def picture(rows: tuple[Row, ...], columns: int) -> str:
    """One screen as SVG."""
    drawing = _Drawing()
    body = drawing.screen(rows)
    return drawing.document(body, columns, len(rows))


def animation(frames: list[Frame], columns: int) -> str:
    """Return the screens in a loop, each with its caption below. CSS moves a strip of them."""
    drawing = _Drawing()
    height = len(frames[0].rows)
    total = sum(frame.seconds for frame in frames)
    parts, steps, begin = [], [], 0.0
    for number, frame in enumerate(frames):
        offset = number * (height + 2) * HEIGHT
        caption = drawing.caption(frame.caption, (height + 1) * HEIGHT)
        parts.append(f'<g transform="translate(0 {offset:g})">{drawing.screen(frame.rows)}{caption}</g>')
        steps.append(f"{begin / total:.3%}{{transform:translateY({-offset:g}px)}}")
        begin += frame.seconds
    style = (
        f".s{{animation:s {total:g}s step-end infinite}}@keyframes s{{{''.join(steps)}}}"
        "@media(prefers-reduced-motion:reduce){.s{animation:none}}"
    )
    return drawing.document(f'<g class="s">{"".join(parts)}</g>', columns, height + 2, style)


class _Drawing:
    """The rows and styles that the screens of a document share, each under a short name."""

    def __init__(self) -> None:
        self._rows: dict[Row, str] = {}
        self._styles: dict[str, str] = {}

    def screen(self, rows: tuple[Row, ...]) -> str:
        uses = []
        for number, row in enumerate(rows):
            name = self._rows.setdefault(row, f"r{len(self._rows)}")
            uses.append(f'<use href="#{name}" y="{number * HEIGHT:g}"/>')
        return "".join(uses)

    def caption(self, text: str, y: float) -> str:
        style = self._style(f"fill: {TEXT};font-weight: bold")
        return f'<text class="{style}" x="0" y="{y + 4:g}">{_safe(text)}</text>'

    def document(self, body: str, columns: int, rows: int, style: str = "") -> str:
        width, height = columns * WIDTH, rows * HEIGHT
        defined = "".join(f'<g id="{name}">{self._row(row)}</g>' for row, name in self._rows.items())
        styles = "".join(f".{name}{{{text}}}" for text, name in self._styles.items())
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width + 2 * MARGIN:g} {height + 2 * MARGIN:g}">'
            f"<style>text{{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre}}"
            f"{styles}{style}</style><defs>{defined}</defs>"
            f'<rect width="100%" height="100%" rx="8" fill="{GROUND}"/>'
            f'<svg x="{MARGIN}" y="{MARGIN}" width="{width:g}" height="{height:g}">{body}</svg></svg>\n'
        )

    def _row(self, row: Row) -> str:
        parts = [
            f'<rect x="{column * WIDTH:g}" width="{columns * WIDTH:g}" height="{HEIGHT + 0.3:g}" fill="{colour}"/>'
            for colour, column, columns in row.grounds
            if colour != GROUND
        ]
        for style, column, columns, text in row.texts:
            parts.append(
                f'<text class="{self._style(style)}" x="{column * WIDTH:g}" y="13" '
                f'textLength="{columns * WIDTH:g}">{_safe(text)}</text>'
            )
        return "".join(parts)

    def _style(self, style: str) -> str:
        return self._styles.setdefault(style, f"c{len(self._styles)}")


def _safe(text: str) -> str:
    return html.escape(text, quote=False).replace("\xa0", " ")
