"""A secret is found in every text that contains it, however that was encoded, and nothing else is."""

from __future__ import annotations

import base64
import html
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from inspector.config import logfile, secret_forms
from inspector.config.secret_forms import BEGINNING, LARGE, SHORTEST, SecretFinder


def _json(text: str) -> str:
    return json.dumps(text)[1:-1]


def _upper(text: str) -> str:
    return re.sub(r"(?<!\\)((?:\\\\)*\\u)([0-9a-f]{4})", lambda match: match[1] + match[2].upper(), _json(text))


def _lower(text: str) -> str:
    return re.sub("%..", lambda match: match[0].lower(), quote(text, safe=""))


TEXTUAL: dict[str, Callable[[str], str]] = {
    "JSON": _json,
    "JSON with letters as they are": lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    "JSON with escaped solidus": lambda text: _json(text).replace("/", "\\/"),
    "JSON with upper hex": _upper,
    "JSON for HTML": lambda text: _json(text).replace("<", "\\u003c").replace("&", "\\u0026").replace("'", "\\u0027"),
    "URL": lambda text: quote(text, safe=""),
    "path of a URL": quote,
    "URL with lower hex": _lower,
    "form": quote_plus,
    "HTML": html.escape,
    "XML in ASCII": lambda text: html.escape(text).encode("ascii", "xmlcharrefreplace").decode(),
}
OTHERS: dict[str, Callable[[str], str]] = {
    "shell": shlex.quote,
    "Python": repr,
    "bytes in Python": lambda text: repr(text.encode()),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64 of URLs": lambda text: base64.urlsafe_b64encode(text.encode()).decode().rstrip("="),
}
ENCODERS = TEXTUAL | OTHERS

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
OTHER_LETTERS = LETTERS[1:26] + "a" + LETTERS[27:52] + "A" + LETTERS[53:] + "0"
_TEXT = st.text(st.one_of(st.sampled_from("\"\\/%&<>+' -_.=$\n\tüжé🦊"), st.sampled_from(LETTERS)), max_size=12)
_RUN = st.text(st.sampled_from(LETTERS), min_size=SHORTEST, max_size=24)


def encoded(text: str, names: list[str]) -> str:
    for name in names:
        text = ENCODERS[name](text)
    return text


@given(_TEXT, _RUN, _TEXT, _TEXT, _TEXT, st.lists(st.sampled_from(sorted(ENCODERS)), max_size=4), st.integers(1, 3))
@example("", "HDRsecret77abc", "", "", "", ["base64"], 2)
def test_nothing_of_a_secret_is_left_in_any_nesting_of_encodings(
    left: str, run: str, right: str, before: str, after: str, names: list[str], copies: int
) -> None:
    assume(sum(name.startswith("base64") for name in names) <= 2)
    text = " | ".join([encoded(f"{before}{left}{run}{right}{after}", names)] * copies)
    # Where the text is another one for another secret, it tells something about the secret.
    other_run = run.translate(str.maketrans(LETTERS, OTHER_LETTERS))
    other = " | ".join([encoded(f"{before}{left}{other_run}{right}{after}", names)] * copies)
    telling = {at for at, (one, another) in enumerate(zip(text, other, strict=True)) if one != another}
    places = SecretFinder([left + run + right]).places(text)
    assert telling <= {at for start, end in places for at in range(start, end)}


@given(_RUN, _TEXT, _RUN, _TEXT, _TEXT, st.lists(st.sampled_from(sorted(TEXTUAL)), max_size=4))
def test_all_other_text_stays_exactly_as_it_is(
    first: str, middle: str, last: str, before: str, after: str, names: list[str]
) -> None:
    secret = first + middle + last
    assume(len(re.findall(f"(?={re.escape(secret[:BEGINNING])})", before + secret + after)) == 1)
    replaced = SecretFinder([secret]).replaced(encoded(before + secret + after, names), "Mark")
    assert replaced == encoded(f"{before}Mark{after}", names)


@given(_TEXT, _RUN, _TEXT, st.text(max_size=60), st.lists(st.sampled_from(sorted(ENCODERS)), max_size=3))
def test_a_text_without_the_secret_is_not_changed(left: str, run: str, right: str, text: str, names: list[str]) -> None:
    assume(not any(run in encoded(text, names[:count]) for count in range(len(names) + 1)))
    assume((left + run + right)[:BEGINNING] not in text)
    assert SecretFinder([left + run + right]).places(encoded(text, names)) == []


@given(
    st.text(st.sampled_from("\"\\/%&<>+' -.üжé🦊z1"), min_size=SHORTEST, max_size=12),
    st.lists(st.sampled_from(sorted(TEXTUAL)), max_size=4),
)
def test_a_secret_without_letters_in_a_row_is_found_too(secret: str, names: list[str]) -> None:
    replaced = SecretFinder([secret]).replaced(encoded(f"({secret})", names), "Mark")
    # Of its first and last letter escapes may stay: whether they belong to the letter before cannot be known.
    before, after = (re.escape(encoded(bracket, names)) for bracket in "()")
    assert re.fullmatch(rf"{before}[\\%25Cc]*Mark[\\%25Cc'amp;]*{after}", replaced)


@pytest.mark.parametrize("escape", ["\\u{:04x}", "%{:02X}", "&#{};", "&#{:05};", "&amp;#{};"])
def test_the_last_escaped_letter_of_a_secret_is_found_for_every_length(escape: str) -> None:
    for length in range(8, 200):
        secret = ("Zxq0" * 50)[:length]
        assert SecretFinder([secret]).replaced("".join(escape.format(ord(c)) for c in secret), "Mark") == "Mark"


@pytest.mark.parametrize("secret", ['p"a\\ss/wörd', "пароль/ключ", "a1!b2@c3#🦊", 'say "it"'])
@pytest.mark.parametrize("ensure_ascii", [True, False])
@pytest.mark.parametrize("levels", [1, 2, 3, 4])
def test_json_in_json(secret: str, ensure_ascii: bool, levels: int) -> None:
    text = secret
    for _ in range(levels):
        text = json.dumps({"header": f"Bearer {text}"}, ensure_ascii=ensure_ascii)
    replaced = SecretFinder([secret]).replaced(text, "Mark")
    for _ in range(levels):
        replaced = json.loads(replaced)["header"].removeprefix("Bearer ")
    assert replaced == "Mark"


@pytest.mark.parametrize("names", [[], ["JSON"], ["URL"], ["HTML"], ["JSON", "JSON"], ["JSON", "URL"]], ids="+".join)
@pytest.mark.parametrize("escape", ["\\u{:04x}", "\\U{:08x}", "\\x{:02x}", "%{:02X}", "&#{};", "&#x{:X};"])
def test_a_secret_whose_letters_are_escaped_although_they_need_not_be(escape: str, names: list[str]) -> None:
    secret, around = "ghp-0Az9.tail", "no secret "
    before, text = (encoded("".join(escape.format(ord(c)) for c in part), names) for part in (around, secret))
    assert SecretFinder([secret]).replaced(f"{before}{text} {before}", "…") == f"{before}… {before}"


@pytest.mark.parametrize("secret", ['p"a\\ss/wörd', "пароль/ключ", "a1!b2@c3#🦊4€"])
@pytest.mark.parametrize("names", [[], ["JSON"], ["JSON", "URL"]], ids="+".join)
def test_a_secret_in_bytes_as_python_writes_them(secret: str, names: list[str]) -> None:
    for text in (repr(f"({secret})".encode()), "".join(f"\\x{byte:02X}" for byte in f"({secret})".encode())):
        assert SecretFinder([secret]).replaced(encoded(text, names), "Mark").count("Mark") == 1


@pytest.mark.parametrize("break_at", [3, 11, 30])
@pytest.mark.parametrize("line_end", ["\n", "\r\n    ", "\\n"])
def test_a_secret_in_two_lines(break_at: int, line_end: str) -> None:
    secret = "0123456789-abcdefghijklmnopqrstuvwxyz"
    for text in (secret, base64.b64encode(secret.encode()).decode()):
        broken = text[:break_at] + line_end + text[break_at:]
        assert SecretFinder([secret]).replaced(f"it is {broken} .", "Mark") == "it is Mark ."


def test_the_whole_is_found_where_secrets_overlap() -> None:
    finder = SecretFinder(["Bearer abcd-efgh", "efgh-ijkl", "abcd"])
    assert finder.replaced("with Bearer abcd-efgh-ijkl here, abcd there", "*") == "with * here, * there"


# Texts that are cut off

SECRET = "a-secret/with+more and more of it"


@pytest.mark.parametrize("length", [BEGINNING, 20, len(SECRET)])
@pytest.mark.parametrize("end", ["", "…", "…) and more"])
@pytest.mark.parametrize("name", [[], *([name] for name in TEXTUAL)], ids=str)
def test_a_secret_that_is_cut_off_is_found(length: int, end: str, name: list[str]) -> None:
    text = encoded(f"refused: {SECRET[:length]}", name) + end
    assert "secret" not in SecretFinder([SECRET]).replaced(text, "", cut=BEGINNING)


@pytest.mark.parametrize("escape", ["\\", "\\u", "\\u00f", "%", "%C", "%C3%", "&", "&#25", "&am"])
def test_a_secret_may_be_cut_off_in_an_encoded_letter(escape: str) -> None:
    for end in ("", "…"):
        replaced = SecretFinder(["a-secret-withöut-an-end"]).replaced(
            f"it is a-secret-with{escape}{end}", "*", cut=BEGINNING
        )
        assert replaced == f"it is *{end}"


TOKEN = "sk-live-4f9a8b7c6d5e4f3a"


@pytest.mark.parametrize("length", [BEGINNING, 20, len(TOKEN) - 1])
@pytest.mark.parametrize("end", ["", "…", "...", ", and more", '"', "***"])
@pytest.mark.parametrize("name", [[], ["JSON"], ["JSON", "JSON"], ["URL"], ["HTML"], ["XML in ASCII"]], ids="+".join)
def test_a_beginning_in_a_whole_text_is_found(length: int, end: str, name: list[str]) -> None:
    text = encoded(f"refused: {TOKEN[:length]}{end}", name)
    assert SecretFinder([TOKEN]).replaced(text, "Mark") == encoded(f"refused: Mark{end}", name)


@pytest.mark.parametrize("sign", ["…", "\\u2026", "%E2%80%A6", "%25e2%2580%25a6", "&hellip;", "&amp;#8230;"])
def test_a_beginning_that_ends_with_a_word_is_found_before_the_sign_of_a_cut(sign: str) -> None:
    assert SecretFinder(["shop-secret-and-more"]).replaced(f"shop-secret-{sign}", "*") == f"*{sign}"


@pytest.mark.parametrize(
    ("secret", "text"),
    [
        ("demo-service-secret", "demo-service is not known here; demo-services are"),
        ("postgresql://ada:pass@db.example/x", "postgresql://ada, postgresql:// and postgresql://bob:x@db.example/x"),
        ("https://hooks.example.com/services/T0/x", "https://hooks.example.com and https://hooks.example.com/other"),
        ("-----BEGIN PRIVATE KEY-----\nMIIB", "-----BEGIN PRIVATE KEY-----"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJhIjoxfQ.c2ln", "eyJhbGciOiJIUzI1NiJ9 eyJhbGciOiJIUzI1NiJ9.eyJhIjoyfQ.bm9"),
        ("sk-live-4f9a8b7c", "sk-live-4f9 sk-live-4f9a_1 sk-live-4f9b8b7c"),
    ],
)
def test_what_only_begins_like_a_secret_stays(secret: str, text: str) -> None:
    assert SecretFinder([secret]).replaced(text, "*") == text


def test_a_short_beginning_is_found_before_its_dots() -> None:
    assert SecretFinder(["abcdefgh"]).replaced("with abcd… and abc…", "*", cut=SHORTEST) == "with *… and abc…"


@given(st.lists(st.text(min_size=4, max_size=8), max_size=3), st.text(max_size=30))
def test_cutting_out_ends_for_any_text(secrets: list[str], text: str) -> None:
    assert len(SecretFinder(secrets).replaced(text, "", cut=BEGINNING)) <= len(text)


# The work


@pytest.mark.parametrize(
    ("secret", "unit"),
    [
        ("abcdefgh%ijk", "abcdefgh%25zz &amp;quot; \\\\\\\\u00e9 \\n %5C%22 + 'x' \""),
        ("a!b@c#d$", '{"a": "!b @ c # d $ \\" %20 &amp; + \\u00e9"} '),
        ("a" * 500 + "%", "a" * 499 + "%"),
        ("\\\\\\\\abcd\\\\\\\\", "abcd" + "\\" * 30),
    ],
    ids=["beginnings", "its characters", "periods", "escapes"],
)
def test_a_text_that_was_made_for_it_is_decoded_up_to_a_bound(
    secret: str, unit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded = 0
    decode = secret_forms._View.decoded

    def counted(view: secret_forms._View, *how: object) -> secret_forms._View:
        nonlocal decoded
        decoded += len(view.text)
        return decode(view, *how)  # type: ignore[arg-type]

    monkeypatch.setattr(secret_forms._View, "decoded", counted)
    monkeypatch.setattr(secret_forms, "_MOST_DECODED", 1 << 16)
    monkeypatch.setattr(secret_forms, "_MOST_TRIED", 1000)
    finder = SecretFinder([secret])
    finder.places(unit * (40_000 // len(unit)))
    assert decoded < 1 << 21


@pytest.mark.parametrize("unit", ["a" * 499, "a" * 12 + " ", "a" * 499 + "b", "a" * 500 + "%"])
def test_beginnings_are_compared_a_bounded_number_of_times(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = 0

    class Counted(str):
        def __getitem__(self, at: Any) -> str:
            nonlocal tried
            tried += 1
            return super().__getitem__(at)

    text = Counted(unit * (40_000 // len(unit)))
    list(secret_forms._beginnings(text, "a" * 500 + "%", BEGINNING))
    assert tried <= 2 * len(text)


def test_a_long_secret_of_one_letter_is_searched_in_linear_work() -> None:
    searched = compared = 0

    class Counted(str):
        def find(self, part: str, *places: Any) -> int:
            nonlocal searched
            searched += len(part)
            return super().find(part, *places)

        def __getitem__(self, at: Any) -> str:
            nonlocal compared
            compared += 1
            return super().__getitem__(at)

    secret, text = "x" * 4_000, Counted('{"a":"' + "x" * 20_000 + '"}')
    assert SecretFinder([secret]).places(text) == [(6, 20_006)]
    assert searched < 50 * len(text)
    compared = 0
    parts = Counted(("x" * 399 + " ") * 20)
    list(secret_forms._Secret("x" * 400, "x" * BEGINNING)._in_view(parts, True))
    assert compared < 2 * len(parts)


def test_large_texts_are_searched_for_fewer_forms() -> None:
    finder = SecretFinder(["0123456789abcdef-secret"])
    assert len(finder.anchors(large=True)) < 6 < len(finder.anchors()) < 20
    twice = base64.b64encode(base64.b64encode(b"0123456789abcdef-secret")).decode()
    assert finder.places(twice)
    once = base64.b64encode(b"x" * LARGE + b"0123456789abcdef-secret").decode()
    assert finder.places(once)


# The log file


def test_the_log_holds_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSPECTOR_STATE_HOME", str(tmp_path))
    logfile.conceal('concealed-"värlue')
    twice = json.dumps(json.dumps('concealed-"värlue'))
    logfile.report(ValueError("Illegal header value b'Bearer concealed-\"värlue'"))
    logfile.remark(f'a task with {twice} was destroyed, concealed-"v…')
    text = (tmp_path / "log" / "inspector.log").read_text(encoding="utf-8")
    assert "Illegal header value b'Bearer …'" in text
    assert "concealed" not in text
    assert "rlue" not in text
