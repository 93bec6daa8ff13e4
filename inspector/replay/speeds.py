"""The speeds of playback, as numbers and text."""

from __future__ import annotations

from math import inf

SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 10.0, 25.0, 100.0, inf)
"""The steps of `faster` and `slower`; `inf` is the maximum speed."""
SLOWEST, FASTEST = 0.1, 100.0


def words(speed: float) -> str:
    """Format a speed: `4×`, `0.25×`, `max`."""
    return "max" if speed == inf else f"{speed:g}×"


def read(text: str) -> float | None:
    """Parse a speed: `4`, `4x`, `0.5×`, `1/4`, `max`; None if it is invalid or out of bounds."""
    plain = text.strip().lower()
    if plain == "max":
        return inf
    plain = plain.removesuffix("x").removesuffix("×").strip()
    over, _, under = plain.partition("/")
    try:
        speed = float(over) / float(under) if under else float(over)
    except (ValueError, ZeroDivisionError):
        return None
    return speed if SLOWEST <= speed <= FASTEST else None


def step(speed: float, by: int) -> float:
    """Return the next speed in this direction, or the same at the end of the scale."""
    if by > 0:
        return next((other for other in SPEEDS if other > speed), speed)
    return next((other for other in reversed(SPEEDS) if other < speed), speed)
