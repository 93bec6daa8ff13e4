"""`file:` URIs of both families: drives, shares, what must be escaped, and what other programs write."""

from __future__ import annotations

import ntpath
import posixpath

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from inspector.command_words import Family
from inspector.file_uris import to_path, to_uri


@pytest.mark.parametrize(
    ("path", "family", "uri"),
    [
        ("/", "posix", "file:///"),
        ("/srv/a b/ü", "posix", "file:///srv/a%20b/%C3%BC"),
        ("/a\\b", "posix", "file:///a%5Cb"),
        ("/100%", "posix", "file:///100%25"),
        ("C:\\", "windows", "file:///C:/"),
        (r"C:\Users\me\a b", "windows", "file:///C:/Users/me/a%20b"),
        (r"d:\x#y\100%", "windows", "file:///d:/x%23y/100%25"),
        (r"\\server\share\x y", "windows", "file://server/share/x%20y"),
        (r"\\?\C:\very\long", "windows", "file:///C:/very/long"),
        (r"\\?\UNC\server\share\x", "windows", "file://server/share/x"),
        ("C:/x/y", "windows", "file:///C:/x/y"),
    ],
)
def test_the_uri_of_a_path(path: str, family: Family, uri: str) -> None:
    assert to_uri(path, family) == uri


@pytest.mark.parametrize(
    ("uri", "posix", "windows"),
    [
        ("file:///C:/Users/a%20b", "/C:/Users/a b", r"C:\Users\a b"),
        ("file:///c%3A/x", "/c:/x", r"c:\x"),
        ("file:///C|/x", "/C|/x", r"C:\x"),
        ("file:/C:/x", "/C:/x", r"C:\x"),
        ("file://C:/x", None, r"C:\x"),
        (r"file://C:\x\y", None, r"C:\x\y"),
        ("file:///C:", "/C:", "C:\\"),
        ("file://localhost/C:/x", "/C:/x", r"C:\x"),
        ("file://server/share/x%20y", None, r"\\server\share\x y"),
        ("file:////server/share/x", "//server/share/x", r"\\server\share\x"),
        ("FILE:///srv/x", "/srv/x", None),
        ("file:relative", None, None),
        ("file:///a%00b", None, None),
        ("https://x.example/C:/x", None, None),
        ("file:///x?y", None, None),
    ],
)
def test_the_path_of_a_uri(uri: str, posix: str | None, windows: str | None) -> None:
    assert to_path(uri, "posix") == posix
    assert to_path(uri, "windows") == windows


@pytest.mark.parametrize(("path", "family"), [("a/b", "posix"), ("", "posix"), (r"a\b", "windows"), (r"\a", "windows"), ("C:a", "windows")])  # fmt: skip
def test_a_relative_path_has_no_uri(path: str, family: Family) -> None:
    with pytest.raises(ValueError, match="relative"):
        to_uri(path, family)


NAMES = st.text(st.characters(exclude_characters='\0/\\:*?"<>|', exclude_categories=["Cs"]), min_size=1, max_size=8)


@given(st.lists(NAMES, max_size=4))
@example(["a b", "100%", "#?", "ü漢"])
def test_a_path_of_posix_comes_back_from_its_uri(names: list[str]) -> None:
    path = posixpath.join("/", *names)
    assert to_path(to_uri(path, "posix"), "posix") == path


@given(
    st.sampled_from(("C:\\", "z:\\", r"\\server\share" + "\\", r"\\10.0.0.1\c$" + "\\")), st.lists(NAMES, max_size=4)
)
@example("C:\\", ["a b", "100%", "#", "ü漢"])
def test_a_path_of_windows_comes_back_from_its_uri(start: str, names: list[str]) -> None:
    path = ntpath.join(start, *names)
    uri = to_uri(path, "windows")
    assert uri.isascii()
    assert " " not in uri
    assert to_path(uri, "windows") == path


@given(NAMES)
def test_a_uri_of_one_family_is_never_another_place_of_the_other(name: str) -> None:
    assume(not name.startswith("/"))
    assert to_path(to_uri(f"/{name}", "posix"), "windows") is None
