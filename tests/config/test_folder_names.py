"""Paths tell who their user is: home folders and the folders of a recording are shortened."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector.config.folder_names import FolderNames
from inspector.redact.rules import RedactionRules, read_rules
from inspector.redact.scan import SecretScanner, applied


def shortened(text: str, *known: str) -> str:
    folders = FolderNames(known)
    result = text
    for start, end, new in reversed(list(folders.places(text))):
        result = result[:start] + new + result[end:]
    assert folders.hidden(text) == result
    return result


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/home/alice/project/x.py", "/home/…/project/x.py"),
        ("in /Users/alice.b: no", "in /Users/…: no"),
        ("/var/home/alice/x", "/var/home/…/x"),
        ("C:\\Users\\Alice\\AppData", "C:\\Users\\…\\AppData"),
        ("C:/Users/Alice/AppData", "C:/Users/…/AppData"),
        ("/mnt/c/Users/Alice/x", "/mnt/c/Users/…/x"),
        ("/c/Users/Alice/x", "/c/Users/…/x"),
        ("file:///home/al%20ice/x", "file:///home/…/x"),
        ("PATH=/home/a/bin:/home/b/bin", "PATH=/home/…/bin:/home/…/bin"),
        ("https://example.com/home/page", "https://example.com/home/page"),
        ("http://localhost:80/Users/1", "http://localhost:80/Users/1"),
        ("/Users/Shared/x and /home/runner/work", "/Users/Shared/x and /home/runner/work"),
        ("/usr/lib/python3", "/usr/lib/python3"),
    ],
)
def test_home_folders(text: str, expected: str) -> None:
    assert shortened(text) == expected


def test_ones_own_home_and_other_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: Path("/people/alice"))
    assert shortened("/people/alice/x, /people/alice2/x", "/people/alice/x") == "~/x, /people/alice2/x"
    assert shortened("/srv/alice/shop/a.py:/srv/alice/shop-2", "/srv/alice/shop") == "…/shop/a.py:/srv/alice/shop-2"
    assert shortened("/app/x /tmp/x", "/app", "/") == "/app/x /tmp/x"


@pytest.mark.parametrize("home", ["D:\\people\\alice", "\\\\server\\people\\alice"])
def test_a_folder_of_windows_in_every_form(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: Path(home))
    for name, expected in ((home, "~"), ("D:\\work\\alice\\shop", "…/shop")):
        forms = {name, name.replace("\\", "/"), json.dumps(name)[1:-1], name.lower()}
        assert {shortened(f"{form}\\x", "D:\\work\\alice\\shop") for form in forms} == {f"{expected}\\x"}


def test_a_folder_of_windows_is_found_in_a_line() -> None:
    rules = read_rules(["home"])
    rules.folders = ("D:\\work\\alice\\shop",)
    line = json.dumps({"n": 1, "kind": "note", "text": f"see {rules.folders[0]}"})
    redacted = applied(line, SecretScanner(rules, lambda _secret: "*").line(line))
    assert json.loads(redacted)["text"] == "see …/shop"


def test_every_text_of_a_line_is_searched() -> None:
    rules = read_rules(["home"])
    rules.folders = ("/srv/alice/shop",)
    message = json.dumps({"/home/alice/some/key": json.dumps({"path": "/home/alice/x", "cwd": "/srv/alice/shop"})})
    line = json.dumps({"n": 1, "kind": "life", "cwd": "C:\\Users\\alice\\x", "raw": message})
    edits = SecretScanner(rules, lambda _secret: "*").line(line)
    redacted = json.loads(applied(line, edits))
    assert "alice" not in json.dumps(redacted)
    assert json.loads(json.loads(redacted["raw"])["/home/…/some/key"]) == {"path": "/home/…/x", "cwd": "…/shop"}
    assert [secret for edit in edits for secret in edit.secrets] == []
    assert SecretScanner(RedactionRules(), lambda _secret: "*").line(line) == []
