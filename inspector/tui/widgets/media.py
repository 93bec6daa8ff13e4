"""Reads the headers of images and audio, and decodes small PNG images for half-block drawing.

Headers are not trusted: every length is checked against the data, and a PNG is decoded only if it has few pixels, with
a bound on the decompressed size.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from typing import NamedTuple

from rich.color import Color
from rich.segment import Segment
from rich.style import Style

RAW_LIMIT = 2_000_000
"""Bytes of pixels up to which a PNG is drawn; decoding takes a second or two in a thread."""

PIXEL_LIMIT = 400_000

MAX_COLUMNS = 60
MAX_ROWS = 20

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}

Rgb = tuple[int, int, int]


class MediaFacts(NamedTuple):
    """The facts in a file's header: format, and pixels or seconds if it has them (else 0)."""

    format: str
    extension: str
    width: int = 0
    height: int = 0
    seconds: float = 0.0


def facts_of(data: bytes) -> MediaFacts | None:
    """Read the header of an image or audio file; None if the format is unknown."""
    try:
        return _facts_of(data)
    except (struct.error, IndexError):
        return None


def _facts_of(data: bytes) -> MediaFacts | None:
    if data.startswith(_SIGNATURE):
        return MediaFacts("PNG", "png", *struct.unpack_from(">II", data, 16))
    if data.startswith((b"GIF87a", b"GIF89a")):
        return MediaFacts("GIF", "gif", *struct.unpack_from("<HH", data, 6))
    if data.startswith(b"\xff\xd8\xff"):
        return MediaFacts("JPEG", "jpg", *_jpeg_size(data))
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return MediaFacts("WebP", "webp", *_webp_size(data))
    if data[:4] == b"RIFF" and data[8:12] == b"WAVE":
        return MediaFacts("WAV", "wav", seconds=_wav_seconds(data))
    for start, name, extension in (
        (b"OggS", "Ogg", "ogg"),
        (b"fLaC", "FLAC", "flac"),
        (b"ID3", "MP3", "mp3"),
        (b"\xff\xfb", "MP3", "mp3"),
        (b"%PDF-", "PDF", "pdf"),
        (b"PK\x03\x04", "ZIP", "zip"),
        (b"\x1f\x8b", "gzip", "gz"),
    ):
        if data.startswith(start):
            return MediaFacts(name, extension)
    if data.lstrip()[:5].lower() in (b"<svg ", b"<svg>"):
        return MediaFacts("SVG", "svg")
    return None


def _jpeg_size(data: bytes) -> tuple[int, int]:
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF:
            at += 1
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", data, at + 5)
            return width, height
        else:
            at += 2 + max(int(struct.unpack_from(">H", data, at + 2)[0]), 2)
    return 0, 0


def _webp_size(data: bytes) -> tuple[int, int]:
    kind = data[12:16]
    if kind == b"VP8X":
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if kind == b"VP8L":
        bits = int(struct.unpack_from("<I", data, 21)[0])
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 ":
        width, height = struct.unpack_from("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    return 0, 0


def _wav_seconds(data: bytes) -> float:
    at, rate = 12, 0
    # A chunk has at least eight bytes, so this ends; a file with more than a few dozen chunks is not audio that we
    # know.
    for _ in range(64):
        name, length = data[at : at + 4], int(struct.unpack_from("<I", data, at + 4)[0])
        if name == b"fmt ":
            rate = int(struct.unpack_from("<I", data, at + 16)[0])
        elif name == b"data":
            return length / rate if rate else 0.0
        at += 8 + length + (length & 1)
    return 0.0


# Images


class Pixels(NamedTuple):
    """An image: rows of (red, green, blue, alpha)."""

    width: int
    height: int
    rows: Sequence[Sequence[tuple[int, int, int, int]]]


def shown_size(width: int, height: int, columns: int) -> tuple[int, int]:
    """Return the columns and rows of a drawn image in at most `columns` columns; a row shows two pixels."""
    columns = max(min(columns, MAX_COLUMNS, width), 1)
    rows = max(round(height * columns / max(width, 1) / 2), 1)
    if rows > MAX_ROWS:
        columns = max(round(columns * MAX_ROWS / rows), 1)
        rows = MAX_ROWS
    return columns, rows


def can_draw(data: bytes) -> bool:
    """Whether `decode_png` can decode an image: a PNG, not interlaced, small enough."""
    if not data.startswith(_SIGNATURE) or len(data) < 33:
        return False
    width, height, depth, kind, _, _, interlaced = struct.unpack_from(">IIBBBBB", data, 16)
    return (
        kind in _CHANNELS
        and depth in (1, 2, 4, 8, 16)
        and not interlaced
        and width > 0
        and height > 0
        and width * height <= PIXEL_LIMIT
        and (_stride(width, depth, kind) + 1) * height <= RAW_LIMIT
    )


def decode_png(data: bytes) -> Pixels | None:
    """Decode a PNG; None if it is broken or if `can_draw` refuses it (PNG specification, sections 5 to 9)."""
    if not can_draw(data):
        return None
    width, height, depth, kind = struct.unpack_from(">IIBB", data, 16)
    stride = _stride(width, depth, kind)
    packed, palette, alpha = _chunks(data)
    try:
        raw = zlib.decompressobj().decompress(packed, (stride + 1) * height)
    except zlib.error:
        return None
    if len(raw) < (stride + 1) * height or (kind == 3 and not palette):
        return None
    step = max(_CHANNELS[kind] * depth // 8, 1)
    rows = []
    before = bytes(stride)
    for at in range(0, len(raw), stride + 1):
        line = _unfilter(raw[at], bytearray(raw[at + 1 : at + 1 + stride]), before, step)
        if line is None:
            return None
        rows.append(_pixels(line, width, depth, kind, palette, alpha))
        before = bytes(line)
    return Pixels(width, height, rows)


def _stride(width: int, depth: int, kind: int) -> int:
    return (width * _CHANNELS[kind] * depth + 7) // 8


def _chunks(data: bytes) -> tuple[bytes, bytes, bytes]:
    """Return the packed pixels, the palette and its alpha."""
    parts: dict[bytes, list[bytes]] = {b"IDAT": [], b"PLTE": [], b"tRNS": []}
    at = 8
    while at + 8 <= len(data):
        length, name = struct.unpack_from(">I4s", data, at)
        if name in parts:
            parts[name].append(data[at + 8 : at + 8 + length])
        at += 12 + length
    return b"".join(parts[b"IDAT"]), b"".join(parts[b"PLTE"]), b"".join(parts[b"tRNS"])


def _unfilter(kind: int, line: bytearray, above: bytes, step: int) -> bytearray | None:
    if kind == 1:
        for at in range(step, len(line)):
            line[at] = (line[at] + line[at - step]) & 255
    elif kind == 2:
        line = bytearray((value + up) & 255 for value, up in zip(line, above, strict=True))
    elif kind == 3:
        for at in range(len(line)):
            left = line[at - step] if at >= step else 0
            line[at] = (line[at] + (left + above[at]) // 2) & 255
    elif kind == 4:
        for at in range(len(line)):
            left, corner = (line[at - step], above[at - step]) if at >= step else (0, 0)
            up = above[at]
            guess = left + up - corner
            to_left, to_up, to_corner = abs(guess - left), abs(guess - up), abs(guess - corner)
            near = left if to_left <= to_up and to_left <= to_corner else up if to_up <= to_corner else corner
            line[at] = (line[at] + near) & 255
    elif kind:
        return None
    return line


def _pixels(
    line: bytearray, width: int, depth: int, kind: int, palette: bytes, alpha: bytes
) -> list[tuple[int, int, int, int]]:
    channels = _CHANNELS[kind]
    if depth == 16:
        samples: Sequence[int] = line[::2]
    elif depth == 8:
        samples = line
    else:
        top = (1 << depth) - 1
        per_byte = range(8 - depth, -1, -depth)
        unpacked = [byte >> shift & top for byte in line for shift in per_byte][: width * channels]
        samples = unpacked if kind == 3 else [value * 255 // top for value in unpacked]
    if kind == 3:
        colours = [
            (*palette[3 * at : 3 * at + 3], alpha[at] if at < len(alpha) else 255) for at in range(len(palette) // 3)
        ]
        return [colours[at] if at < len(colours) else (0, 0, 0, 255) for at in samples]
    if kind == 0:
        return [(value, value, value, 255) for value in samples]
    if kind == 4:
        return [(value, value, value, a) for value, a in zip(samples[::2], samples[1::2], strict=False)]
    if kind == 2:
        return [(r, g, b, 255) for r, g, b in zip(samples[::3], samples[1::3], samples[2::3], strict=False)]
    return list(zip(samples[::4], samples[1::4], samples[2::4], samples[3::4], strict=False))


def half_blocks(pixels: Pixels, columns: int, rows: int, ground: Rgb) -> list[list[Segment]]:
    """Draw an image with two pixels per cell, as half blocks in the colours of the two."""
    across = [_parts(at, columns, pixels.width) for at in range(columns)]
    down = [_parts(at, 2 * rows, pixels.height) for at in range(2 * rows)]
    means = [[_mean(pixels, xs, ys, ground) for xs in across] for ys in down]
    pairs = zip(means[::2], means[1::2], strict=True)
    return [[Segment("▀", _style(*both)) for both in zip(*pair, strict=True)] for pair in pairs]


def _parts(at: int, of: int, length: int) -> slice:
    """Return the pixels of part `at` of a side; at least one."""
    start = min(at * length // of, length - 1)
    return slice(start, max((at + 1) * length // of, start + 1))


def _mean(pixels: Pixels, xs: slice, ys: slice, ground: Rgb) -> Rgb:
    """Mix the colours of some pixels, so that a thin line stays whole."""
    colours: list[Sequence[int]] = [pixel for row in pixels.rows[ys] for pixel in row[xs]]
    if any(pixel[3] != 255 for pixel in colours):
        colours = [_over(pixel, ground) for pixel in colours]
    red, green, blue, *_ = (sum(part) // len(colours) for part in zip(*colours, strict=True))
    return red, green, blue


def _over(pixel: Sequence[int], ground: Rgb) -> Rgb:
    red, green, blue, alpha = pixel
    if alpha == 255:
        return red, green, blue
    rest = 255 - alpha
    return (
        (red * alpha + ground[0] * rest) // 255,
        (green * alpha + ground[1] * rest) // 255,
        (blue * alpha + ground[2] * rest) // 255,
    )


def _style(upper: Rgb, lower: Rgb) -> Style:
    return Style(color=Color.from_rgb(*upper), bgcolor=Color.from_rgb(*lower))
