import struct
import tracemalloc
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.tui.widgets.media import MediaFacts, Pixels, can_draw, decode_png, facts_of, half_blocks, shown_size


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(
    width: int, height: int, lines: bytes, *, depth: int = 8, kind: int = 2, more: bytes = b"", interlaced=0
) -> bytes:
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, interlaced))
    return b"\x89PNG\r\n\x1a\n" + header + more + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


def filtered(rows: list[bytes], kind: int, step: int) -> bytes:
    """Filter rows as an encoder does (PNG specification, section 9)."""
    out = b""
    before = bytes(len(rows[0]))
    for row in rows:
        line = bytearray()
        for at, value in enumerate(row):
            left = row[at - step] if at >= step else 0
            corner = before[at - step] if at >= step else 0
            up = before[at]
            guess = left + up - corner
            paeth = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))[2]
            line.append((value - (0, left, up, (left + up) // 2, paeth)[kind]) & 255)
        out += bytes([kind]) + bytes(line)
        before = row
    return out


@given(
    st.integers(0, 4),
    st.sampled_from([(0, 1), (2, 3), (4, 2), (6, 4)]),
    st.integers(1, 6),
    st.integers(1, 5),
    st.randoms(use_true_random=False),
)
def test_every_filter_and_colour_type_is_decoded(kind, colours, width, height, random):
    colour, channels = colours
    rows = [bytes(random.randrange(256) for _ in range(width * channels)) for _ in range(height)]
    picture = decode_png(png(width, height, filtered(rows, kind, channels), kind=colour))
    for row, line in zip(rows, picture.rows, strict=True):
        for at, pixel in enumerate(line):
            parts = row[at * channels : (at + 1) * channels]
            expected = {
                1: lambda p: (p[0], p[0], p[0], 255),
                2: lambda p: (p[0], p[0], p[0], p[1]),
                3: lambda p: (*p, 255),
                4: tuple,
            }[channels](parts)
            assert pixel == expected


def test_palettes_small_depths_and_sixteen_bits():
    colours = chunk(b"PLTE", bytes([255, 0, 0, 0, 255, 0])) + chunk(b"tRNS", bytes([255, 7]))
    assert decode_png(png(3, 1, b"\x00" + bytes([0b01_00_11_00]), depth=2, kind=3, more=colours)).rows == [
        [(0, 255, 0, 7), (255, 0, 0, 255), (0, 0, 0, 255)]
    ]
    assert decode_png(png(8, 1, b"\x00" + bytes([0b10000001]), depth=1, kind=0)).rows[0][0] == (255, 255, 255, 255)
    assert decode_png(png(1, 1, b"\x00" + b"\x12\x34\x56\x78\x9a\xbc", depth=16)).rows == [[(0x12, 0x56, 0x9A, 255)]]


@pytest.mark.parametrize("data", [
    b"", b"\x89PNG\r\n\x1a\n", png(2, 2, b"\x00" * 3), png(1, 1, b"\x09\x00\x00\x00"),
    png(1, 1, b"\x00\x00", kind=3), png(1, 1, b"\x00\x00\x00\x00", interlaced=1),
    png(1, 1, b"\x00\x00\x00\x00", kind=5), png(0, 1, b"\x00"), png(4_000_000_000, 4_000_000_000, b"\x00"),
    png(1, 1, b"\x00\x00\x00\x00")[:-40] + b"garbage" * 9,
])  # fmt: skip
def test_a_broken_or_large_picture_is_refused(data):
    assert decode_png(data) is None


def test_a_picture_that_expands_beyond_its_size_is_not_expanded():
    bomb = png(2, 2, b"\x00" * 50_000_000)
    assert len(bomb) < 100_000
    tracemalloc.start()
    assert decode_png(bomb).width == 2
    assert tracemalloc.get_traced_memory()[1] < 1_000_000
    tracemalloc.stop()
    assert not can_draw(png(3_000_000, 1, b"\x00", depth=1, kind=0))


@pytest.mark.parametrize(("data", "facts"), [
    (png(40, 30, b""), MediaFacts("PNG", "png", 40, 30)),
    (b"GIF89a" + struct.pack("<HH", 7, 9), MediaFacts("GIF", "gif", 7, 9)),
    (b"\xff\xd8\xff\xe0\x00\x10JFIF" + bytes(10) + b"\xff\xc0\x00\x11\x08\x00\x20\x00\x40\x03" + bytes(8),
     MediaFacts("JPEG", "jpg", 64, 32)),
    (b"\xff\xd8\xff\xe0", MediaFacts("JPEG", "jpg")),
    (b"RIFF\0\0\0\0WEBPVP8X" + bytes(8) + b"\x0f\0\0\x07\0\0", MediaFacts("WebP", "webp", 16, 8)),
    (b"RIFF\0\0\0\0WEBPVP8L" + bytes(4) + b"\x2f" + struct.pack("<I", 9 | 4 << 14),
     MediaFacts("WebP", "webp", 10, 5)),
    (b"RIFF\0\0\0\0WEBPVP8 " + bytes(10) + struct.pack("<HH", 11, 12), MediaFacts("WebP", "webp", 11, 12)),
    (b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\x80\x3e\0\0",
     MediaFacts("WAV", "wav", seconds=1.0)),
    (b"OggS....", MediaFacts("Ogg", "ogg")),
    (b"  <svg xmlns='x'>", MediaFacts("SVG", "svg")),
    (b"%PDF-1.7", MediaFacts("PDF", "pdf")), (b"something else", None), (b"GIF89a", None), (b"", None),
])  # fmt: skip
def test_headers_tell_format_and_size(data, facts):
    assert facts_of(data) == facts


@given(
    st.sampled_from([b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"RIFF\0\0\0\0WAVE", b"RIFF\0\0\0\0WEBP"]),
    st.binary(max_size=80),
)
def test_no_header_is_too_strange(start, rest):
    facts_of(start + rest)
    decode_png(start + rest)


@given(st.integers(1, 10_000), st.integers(1, 10_000), st.integers(1, 200))
def test_a_picture_keeps_its_shape_and_fits(width, height, columns):
    across, down = shown_size(width, height, columns)
    assert 1 <= across <= min(columns, 60)
    assert 1 <= down <= 20


def test_a_picture_becomes_half_blocks_on_the_ground():
    picture = decode_png(png(2, 2, b"\x00\xff\x00\x00\x80\x00\xff\x00\x00" + b"\x00" + b"\x00\x00\xff\xff" * 2, kind=6))
    line = half_blocks(picture, 2, 1, (10, 20, 30))[0]
    assert [segment.text for segment in line] == ["▀", "▀"]
    assert line[0].style.color.triplet == (132, 9, 14)
    assert line[1].style.color.triplet == (10, 20, 30)
    assert line[0].style.bgcolor.triplet == (0, 0, 255)


def test_a_thin_line_of_a_big_picture_is_whole():
    row = [(255, 255, 255, 255)] * 40
    row[13] = (0, 0, 0, 255)
    cells = half_blocks(Pixels(40, 40, [row] * 40), 4, 2, (0, 0, 0))
    shades = [[segment.style.color.triplet.red for segment in line] for line in cells]
    assert all(line[0] == line[2] == line[3] == 255 and line[1] < 255 for line in shades), shades
