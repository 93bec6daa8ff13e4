"""A picture and a sound generated at run time, so that the package contains no binary files."""

from __future__ import annotations

from binascii import b2a_base64, crc32
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def base64(data: bytes) -> str:
    """Standard base64 in one line."""
    return b2a_base64(data, newline=False).decode("ascii")


def icon(colour: str = "orange") -> dict[str, Any]:
    """A dot as an icon (2025-11-25 and later)."""
    circle = f'<circle cx="4" cy="4" r="3" fill="{colour}"/>'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8">{circle}</svg>'
    return {"src": f"data:image/svg+xml;base64,{base64(svg.encode())}", "mimeType": "image/svg+xml", "sizes": ["any"]}


def png(width: int, height: int, pixel: Callable[[int, int], tuple[int, int, int]]) -> bytes:
    """Returns a PNG (8-bit RGB, W3C PNG section 5) with the colours of `pixel(x, y)`."""
    import struct
    import zlib

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", crc32(kind + body))

    rows = b"".join(b"\0" + bytes(part for x in range(width) for part in pixel(x, y)) for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


@cache
def picture(width: int = 96, height: int = 64, colour: tuple[int, int, int] = (235, 120, 60)) -> bytes:
    """A sun over a darkening sky, as PNG."""
    radius = min(width, height) // 4
    centre_x, centre_y = width // 2, height // 2

    def pixel(x: int, y: int) -> tuple[int, int, int]:
        if (x - centre_x) ** 2 + (y - centre_y) ** 2 <= radius**2:
            return colour
        shade = 255 - 200 * y // height
        return shade // 4, shade // 2, shade

    return png(width, height, pixel)


@cache
def tone(frequency: float = 440.0, seconds: float = 0.25) -> bytes:
    """A sine tone as WAV (8 kHz, 8 bit, mono) that fades out."""
    import math
    import struct

    rate = 8000
    count = int(rate * seconds)
    step = 2 * math.pi * frequency / rate
    samples = bytes(128 + int(100 * (1 - n / count) * math.sin(n * step)) for n in range(count))
    samples += b"\0" * (count % 2)  # RIFF chunks are padded to an even length
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, rate, rate, 1, 8)
    data = struct.pack("<4sI", b"data", count) + samples
    return struct.pack("<4sI4s", b"RIFF", 4 + len(form) + len(data), b"WAVE") + form + data
