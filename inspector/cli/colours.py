"""Colours of the command line: only on a terminal without `NO_COLOR`. Colour never carries meaning alone."""

from __future__ import annotations

import os
import sys
from typing import Literal

Colour = Literal["red", "green", "yellow", "cyan", "bold", "faint"]

_CODES: dict[Colour, str] = {"red": "31", "green": "32", "yellow": "33", "cyan": "36", "bold": "1", "faint": "2"}


class Colours:
    """Paints safe text, or returns it unchanged."""

    def __init__(self, on: bool | None = None) -> None:
        self.on = has_colours() if on is None else on

    def __call__(self, text: str, colour: Colour | None) -> str:
        return f"\x1b[{_CODES[colour]}m{text}\x1b[0m" if self.on and colour is not None and text else text


def has_colours() -> bool:
    """Whether stdout is a terminal with colours; NO_COLOR (https://no-color.org), then FORCE_COLOR decides instead."""
    if os.environ.get("NO_COLOR"):
        return False
    if (forced := os.environ.get("FORCE_COLOR")) is not None and forced != "":
        return forced not in ("0", "false")
    if os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout is not None and sys.stdout.isatty()
