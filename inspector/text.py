"""Safe text: the only way for foreign strings to the screen; and numbers formatted for people."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import cache, lru_cache
from typing import Any, NamedTuple

from inspector.command_words import FAMILY

STACK_LIMIT = 3
"""Combining marks that one character may have; further ones are shown by their code point."""

PLAIN_LIMIT = 4096
"""Most characters of a value that is not a string, if the caller sets no limit."""

TAB = "    "

# Characters that are safe in every context. All others are checked one by one. These ranges contain no mark, format
# character, blank or unassigned code point (a test walks through all of Unicode).
_ITSELF = (
    " -~\u00a1-\u00ac\u00ae-\u02ff\u0391-\u03a1\u03a3-\u03ff\u0400-\u0482\u048a-\u052f\u1e00-\u1eff\u2010-\u2027"
    "\u2030-\u205e\u20a0-\u20c0\u2100-\u218b\u2190-\u2426\u2440-\u244a\u2460-\u27ff\u2801-\u2b73\u3001-\u3029\u3041-\u3096"
    "\u30a0-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff60\U0001f1e6-\U0001f1ff\U0001f300-\U0001f64f"
    "\U0001f680-\U0001f6d7\U0001f900-\U0001f9ff"
)

INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\U00013441\U00013442\U00016fe4\U0001d159")
"""Letters, marks and signs of Unicode that are empty on a screen."""

_IDEOGRAPHIC_SPACE, _BRAILLE_BLANK = "\u3000", "\u2800"
# Not emoji themselves, but drawn as emoji before a style selector.
_TAKES_EMOJI_STYLE = frozenset("#*0123456789\u00a9\u00ae\u203c\u2049\u2122\u2139\u24c2\u3030\u303d\u3297\u3299")
_ZWJ = "\u200d"
_STYLES = "\ufe0e\ufe0f"
_TONES = ("\U0001f3fb", "\U0001f3ff")
"""The first and the last character that gives an emoji a skin colour."""


class _Terminal:
    """The terminal of this process: how it counts emoji."""

    counts_parts = False


def terminal_counts_parts(*, of_emoji: bool) -> None:
    """Set whether the terminal counts the parts of an emoji apart, as tmux 3.3 does.

    `safe` then leaves out style selectors, and writes skin colours as code points: else each later character of the
    line, and the edge of the pane, stands in another cell than is counted here.
    """
    _Terminal.counts_parts = of_emoji
    _doubtful.cache_clear()


_SENTENCE_ENDS = (".", "!", "?", ":", "…", ".”", '."', ".)")


def safe(value: object, limit: int | None = None, *, multiline: bool = False, ascii: bool = False) -> str:
    """Return `value` as text that is safe to display: invisible and moving characters become symbols.

    Control characters become their pictures (`␛`), other characters without a shape their code point (`‹202E›`); with
    `ascii`, everything outside printable ASCII is escaped as in Python (`\\x1b`). A tab becomes spaces, a line end `↵`
    unless `multiline`. A blank other than the space stays only where text has it: one between two visible characters,
    an ideographic space beside a wide character, an empty braille cell beside braille. At most `limit` characters are
    returned; a cut text ends in `…`. The work is linear in the result. A value that is not a string is written as JSON,
    bounded in depth and length.
    """
    text = value if isinstance(value, str) else _plain(value, PLAIN_LIMIT if limit is None else limit + 1)
    cut = limit is not None and len(text) > limit
    if cut:
        text = text[:limit]
    if not (text.isascii() and text.isprintable()):
        if multiline:
            text = text.replace("\r\n", "\n")
        text = _not_ascii(multiline).sub(_escaped, text) if ascii else _doubtful(multiline).sub(_visible, text)
    if limit is not None and (cut or len(text) > limit):
        sign = SIGNS_ASCII.cut if ascii else SIGNS.cut
        text = text[: max(limit - 1, 0)].rstrip(_ZWJ) + sign if limit > 0 else ""
    return text


def lines(value: object, width: int | None = None, *, limit: int | None = None, ascii: bool = False) -> list[str]:
    """Return `value` as safe lines, at least one; with `width`, wrapped at spaces to that many cells."""
    lines = safe(value, limit, multiline=True, ascii=ascii).split("\n")
    if width is None:
        return lines
    return [part for line in lines for part in _wrapped(line, max(width, 1))]


UNSAFE = (
    "\x7f-\x9f\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e007f\ud800-\udfff"
)
"""For a character class: C1 controls, format characters (Unicode category Cf), line separators, lone surrogates.

A terminal executes them, or an editor hides them. A machine format escapes them, which keeps the value.
"""


def escape_json(document: str) -> str:
    """Return JSON text with every `UNSAFE` character as `\\u`: safe for a terminal, with the same value."""
    if document.isascii() and "\x7f" not in document:
        return document
    return _unsafe().sub(_unicode_escape, document)


def json_document(value: Any) -> str:
    """Return the content of a JSON file for people: indented, with the escapes of `escape_json`."""
    import json

    return escape_json(json.dumps(value, indent=2, ensure_ascii=False)) + "\n"


@cache
def _unsafe() -> re.Pattern[str]:
    return re.compile(f"[{UNSAFE}]")


def _unicode_escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at] << 8 | units[at + 1]:04x}" for at in range(0, len(units), 2))


# Compiled when first needed: ordinary text never needs it, and every start loads this module.
@cache
def _doubtful(multiline: bool) -> re.Pattern[str]:
    itself = _ITSELF
    if _Terminal.counts_parts:
        itself = itself.replace("\U0001f300-\U0001f64f", "\U0001f300-\U0001f3fa\U0001f400-\U0001f64f")
    return re.compile(f"[^{itself}\n]+" if multiline else f"[^{itself}]+")


@cache
def _not_ascii(multiline: bool) -> re.Pattern[str]:
    return re.compile(r"[^ -~\n]" if multiline else r"[^ -~]")


@cache
def _controls() -> dict[int, str]:
    return {code: _code_point(chr(code)) for code in (*range(0x20), 0x7F)} | {0x09: TAB, 0x0A: "↵"}


def _visible(match: re.Match[str]) -> str:
    """Write one run of unsafe characters, which may change the character before it and join the one after it."""
    if match[0].isascii():
        return match[0].translate(_controls())  # Only controls: nothing beside one changes its picture.
    text, (start, end) = match.string, match.span()
    base = text[start - 1] if start else "\n"
    styled, stack, out = False, 0, []
    blanks_end, blanks_stay = start, False
    for at in range(start, end):
        char = text[at]
        if char == "\t":
            out.append(TAB)
            base = " "
        elif char == "\n":
            out.append("↵")
            base = "\n"
        elif char in _STYLES and not styled and stack == 0 and _is_emoji_base(base):
            if not _Terminal.counts_parts:
                out.append(char)
            styled = True
            continue
        elif _Terminal.counts_parts and _TONES[0] <= char <= _TONES[1]:
            out.append(_code_point(char))
            base = "\n"
        elif char == _ZWJ and _is_picture(base) and at + 1 < len(text) and _is_picture(text[at + 1]):
            out.append(char)
        elif _is_invisible(char):
            out.append(_code_point(char))
            base = "\n"
        elif _sits_on(char):
            stack += 1
            if base not in "\n " and stack <= STACK_LIMIT:
                out.append(char)
            else:
                out.append(_code_point(char))
            continue
        elif _is_blank(char):
            if at >= blanks_end:
                blanks_end = at + 1
                while blanks_end < len(text) and text[blanks_end] == char:
                    blanks_end += 1
                after = text[blanks_end] if blanks_end < len(text) else "\n"
                blanks_stay = _stay(char, blanks_end - at, text[at - 1] if at else "\n", after)
            out.append(char if blanks_stay else _code_point(char))
            base = char if blanks_stay else "\n"
        elif char.isprintable():
            out.append(char)
            base = char
        else:
            out.append(_code_point(char))
            base = "\n"
        styled, stack = False, 0
    return "".join(out)


def _is_invisible(char: str) -> bool:
    """Whether it is empty, or a variation selector."""
    selects = "\ufe00" <= char <= "\ufe0f" or "\u180b" <= char <= "\u180f" or "\U000e0100" <= char <= "\U000e01ef"
    return selects or char in INVISIBLE


def _is_blank(char: str) -> bool:
    return char == _BRAILLE_BLANK or unicodedata.category(char) == "Zs"


def _stay(blank: str, count: int, before: str, after: str) -> bool:
    """Whether `count` equal blanks are where text has them. Elsewhere they make two names look like one."""
    if blank == _IDEOGRAPHIC_SPACE:
        return _is_wide(before) or _is_wide(after)
    if blank == _BRAILLE_BLANK:
        return "\u2801" <= before <= "\u28ff" or "\u2801" <= after <= "\u28ff"
    return count == 1 and not any(char in "\t\n" or _is_blank(char) for char in (before, after))


def _is_wide(char: str) -> bool:
    return unicodedata.east_asian_width(char) in "WF" and char.isprintable() and not _is_invisible(char)


def _is_picture(char: str) -> bool:
    if char >= "\U0001f000":
        return char <= "\U0001faff" and not "\U0001f1e6" <= char <= "\U0001f1ff"
    return "\u2190" <= char <= "\u2bff" and (
        char <= "\u21ff" or "\u2300" <= char <= "\u23ff" or "\u2600" <= char <= "\u27bf" or char >= "\u2b00"
    )


def _is_emoji_base(char: str) -> bool:
    return char in _TAKES_EMOJI_STYLE or "\u25aa" <= char <= "\u25fe" or _is_picture(char)


def _sits_on(char: str) -> bool:
    """Whether a character is drawn on the one before it: marks, and the later parts of Hangul syllables."""
    category = unicodedata.category(char)
    vowel = "\u1161" <= char <= "\u11ff" or "\ud7b0" <= char <= "\ud7fb"
    return category in ("Mn", "Me") or (vowel and category != "Cn")


def _code_point(char: str) -> str:
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    return f"‹{code:02X}›"


def _escaped(match: re.Match[str]) -> str:
    char = match[0]
    if char == "\t":
        return TAB
    return char.encode("unicode_escape", "surrogatepass").decode("ascii")


def _plain(value: object, limit: int) -> str:
    """Write a value that is not a string: as JSON if possible, cut after about `limit` characters."""
    if isinstance(value, (bytes, bytearray)):
        return bytes(value[: limit + 1]).decode("utf-8", "surrogateescape")
    if not isinstance(value, (dict, list, tuple)):
        return _scalar(value)
    out: list[str] = []
    length = 0
    for piece in _pieces(value):
        out.append(piece)
        length += len(piece)
        if length > limit:
            break
    return "".join(out)


def _pieces(value: object) -> Iterator[str]:
    """Yield JSON-like text in pieces, with a separate stack: a server's nesting must not exhaust Python's."""
    stack: list[Iterator[object]] = [iter((value,))]
    closers = [""]
    fresh = True
    while stack:
        item = next(stack[-1], _END)
        if item is _END:
            stack.pop()
            yield closers.pop()
            fresh = False
            continue
        if not fresh:
            yield ", "
        fresh = False
        if isinstance(item, _Member):
            yield f'"{item.name}": '
            item = item.value
        if isinstance(item, dict):
            yield "{"
            stack.append(_Member(str(name), inner) for name, inner in item.items())
            closers.append("}")
            fresh = True
        elif isinstance(item, (list, tuple)):
            yield "["
            stack.append(iter(item))
            closers.append("]")
            fresh = True
        else:
            yield f'"{item}"' if isinstance(item, str) else _scalar(item)


class _Member:
    __slots__ = ("name", "value")

    def __init__(self, name: str, value: object) -> None:
        self.name = name
        self.value = value


_END = object()


def _scalar(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and value.bit_length() > 4096:
        return f"an integer of about {_digits(value):,} digits"
    return str(value)


def _digits(value: int) -> int:
    return value.bit_length() * 30103 // 100000 + 1


# Cells


@lru_cache(maxsize=4096)
def _char_cells(char: str) -> int:
    if _sits_on(char) or unicodedata.category(char) in ("Cf", "Cc", "Cs", "Zl", "Zp"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """Yield (index of its first character, width in cells) for each group of characters that is drawn as one."""
    start = width = 0
    joined = False
    flag = False
    for at, char in enumerate(text):
        cells = _char_cells(char)
        regional = "\U0001f1e6" <= char <= "\U0001f1ff"
        if at and (cells == 0 or joined or (regional and flag) or (_TONES[0] <= char <= _TONES[1] and width == 2)):
            if char == "\ufe0f" and width == 1 and _is_emoji_base(text[at - 1]):
                width = 2
            joined = char == _ZWJ
            flag = False
            continue
        if at:
            yield start, width
        start, width = at, (2 if regional else cells)
        flag, joined = regional, False
    if text:
        yield start, width


def cell_len(text: str) -> int:
    """Return the number of terminal cells of `text`: wide characters and emoji two, marks none."""
    if text.isascii() and text.isprintable():
        return len(text)
    return sum(width for _, width in _clusters(text))


def ellipsis(text: str, cells: int, sign: str = "…") -> str:
    """Return `text` cut to at most `cells` cells; a cut ends in `sign`."""
    if len(text) <= cells and text.isascii():
        return text
    room = cells - cell_len(sign)
    used = end = 0
    for start, width in _clusters(text):
        if used <= room:
            end = start
        used += width
        if used > cells:
            return text[:end] + sign if room >= 0 else ""
    return text


def _wrapped(line: str, width: int) -> Iterator[str]:
    """Break one line after spaces, or inside a word that is wider than the line."""
    if len(line) <= width and line.isascii():
        yield line
        return
    begin = used = gap = used_at_gap = 0
    for start, cells in _clusters(line):
        blank = line[start] == " "
        if used + cells > width and start > begin and not blank:
            if gap > begin and line[begin:gap].strip(" "):
                yield line[begin:gap].rstrip(" ")
                begin, used = gap, used - used_at_gap
            else:
                if used <= width:  # else it is an indentation wider than the line
                    yield line[begin:start]
                begin, used = start, 0
            gap = 0
        used += cells
        if blank:
            gap, used_at_gap = start + 1, used
    yield line[begin:].rstrip(" ") if used > width else line[begin:]


# Numbers


def sentences(*parts: object) -> str:
    """Join texts as sentences: one without a mark at its end gets a full stop if another follows. Empty ones drop out.

    The last text stays as it is, because a hint may end with a command.
    """
    texts = [text for part in parts if (text := str(part).strip())]
    return " ".join([*map(ended, texts[:-1]), *texts[-1:]])


def file_stem(text: str, limit: int) -> str:
    """Return a text as part of a file name: only ASCII letters and digits, `.`, `_` and `-` stay."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip(".-")[:limit]


def ended(text: str) -> str:
    """Return a sentence with the mark at its end; an empty text stays empty."""
    return text if not text or text.endswith(_SENTENCE_ENDS) else f"{text}."


def repr_of(value: object, *facts: object) -> str:
    """Return the `repr` of an object in one line: its class and the facts that are not empty."""
    words = ", ".join(safe(fact, 120) for fact in facts if fact is not None and fact != "")
    return f"<inspector.{type(value).__name__} {words}>"


def when(started: datetime | None, *, seconds: bool = False) -> str:
    """Format a date: `today 12:58` (or `today 12:58:03`), `yesterday 12:58`, `Mon 16 Nov`."""
    if started is None:
        return ""
    local = started.astimezone()
    days = (datetime.now().astimezone().date() - local.date()).days
    if days == 0:
        return f"today {local:%H:%M:%S}" if seconds else f"today {local:%H:%M}"
    if days == 1:
        return f"yesterday {local:%H:%M}"
    return f"{local:%a %-d %b}" if days < 300 else f"{local:%-d %b %Y}"


def duration(us: float) -> str:
    """Format microseconds: `3.1 ms`, `12 ms`, `1.2 s`, `4 m 12 s`, `2 h 5 m`, `3 d 4 h`."""
    if us != us:
        return "?"
    if us < 0:
        return "-" + duration(-us)
    us = min(us, 10**18)
    if 0 < us < 50:
        return "<0.1 ms"
    if us < 9_950:
        return f"{us / 1e3:.1f} ms" if us else "0 ms"
    if us < 999_500:
        return f"{us / 1e3:.0f} ms"
    if us < 59_950_000:
        return f"{us / 1e6:.1f} s"
    seconds = round(us / 1e6)
    if seconds < 3600:
        return f"{seconds // 60} m {seconds % 60} s"
    minutes = seconds // 60
    if minutes < 1440:
        return f"{minutes // 60} h {minutes % 60} m"
    hours = minutes // 60
    return f"{hours // 24:,} d {hours % 24} h"


def yours(time: str) -> str:
    """Label a time that the user took, beside that of the server: `+3.0 s yours`."""
    return f"+{time} yours"


def size(octets: int) -> str:
    """Format a number of bytes, in powers of 1000: `184 B`, `1.1 kB`, `12.4 kB`, `312 kB`, `1.2 MB`."""
    if abs(octets) < 1000:
        return f"{octets} B"
    value = float(max(min(octets, 10**24), -(10**24)))
    for unit in ("kB", "MB", "GB", "TB"):
        value /= 1000
        if abs(value) < 99.95:
            return f"{value:.1f} {unit}"
        if abs(value) < 999.5:
            return f"{value:.0f} {unit}"
    return f"{value:,.0f} TB"


def count(number: int) -> str:
    """Format a number with thousands separators: `12,407`."""
    return f"{number:,}" if abs(number) < 10**18 else f"about 10^{_digits(number) - 1}"


def quantity(number: int, noun: str) -> str:
    """Format a number with its noun, in the plural if needed: `1 error`, `2 errors`."""
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"


# Signs


class Signs(NamedTuple):
    """The signs of the visual language, each one cell wide."""

    sent: str = "→"
    received: str = "←"
    notification: str = "↯"
    progress: str = "↻"
    asked: str = "?"
    finding: str = "▲"
    done: str = "✓"
    failed: str = "✗"
    live: str = "●"
    local: str = "▪"
    cut: str = "…"
    caret: str = "▏"
    bars: str = "▁▂▃▄▅▆▇█"
    edge: str = "▌"
    nested: str = "↳"
    later: str = "·"
    folded: str = "▸"
    unfolded: str = "▾"
    up: str = "↑"
    down: str = "↓"
    crumb: str = "›"
    times: str = "×"
    line_end: str = "↵"
    quote_open: str = "“"
    quote_close: str = "”"


SIGNS = Signs()
SIGNS_ASCII = Signs(
    sent=">",
    received="<",
    notification="*",
    progress="%",
    finding="!",
    done="+",
    failed="x",
    live="o",
    local="=",
    cut="~",
    caret="|",
    bars="_.-:=+*#",
    edge="|",
    nested="`",
    later=".",
    folded="+",
    unfolded="-",
    up="^",
    down="v",
    crumb=">",
    times="x",
    line_end="$",
    quote_open='"',
    quote_close='"',
)


def signs(ascii: bool) -> Signs:
    """Return the table of signs for a Unicode screen, or for an ASCII one."""
    return SIGNS_ASCII if ascii else SIGNS


def wants_ascii(environ: Mapping[str, str], encoding: str | None) -> bool:
    """Whether only ASCII is safe: the output encoding is not Unicode, or the locale is `C`.

    Python itself writes `LC_CTYPE=C.UTF-8` into the environment under `LANG=C` (PEP 538), so that value alone does not
    override `LANG`.
    """
    if encoding is not None and "utf" not in encoding.lower():
        return True
    overall = environ.get("LC_ALL")
    if overall:
        return _is_c(overall)
    kind = environ.get("LC_CTYPE", "")
    if kind and kind.lower() not in ("c.utf-8", "c.utf8", "utf-8"):
        return _is_c(kind)
    return _is_c(environ.get("LANG", ""))


def _is_c(locale: str) -> bool:
    return locale in ("C", "POSIX")


def decode_log(data: bytes, code_page: str = "") -> str:
    """Return what a program wrote for people: UTF-8, else in the code page of the system, which only Windows has."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode(code_page or _code_page(), "replace")


@cache
def _code_page() -> str:
    import locale

    return locale.getencoding() if FAMILY == "windows" else "utf-8"
