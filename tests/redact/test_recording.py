"""Whole recordings: the secrets found, the copy, and that nothing else is lost."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from inspector.errors import RecordingError
from inspector.journal.journal import Journal
from inspector.redact.recording import Redaction
from inspector.redact.rules import read_rules
from tests.redact.test_scan import GITHUB

GOLDEN = sorted((Path(__file__).parents[2] / "recordings").glob("*.mcp.jsonl"))


def recorded(path: Path, *messages: Any, stderr: tuple[bytes, ...] = (), target: dict[str, Any] | None = None) -> Path:
    """A recording of messages of a server."""
    journal = Journal.create(path, target or {})
    journal.record_received("stdio", [json.dumps(message).encode() for message in messages])
    journal.record_stderr("stderr", stderr)
    journal.close()
    journal.release()
    return path


def copied(path: Path, *rules: str) -> tuple[list[str], Redaction]:
    """The lines of the copy, and the `Redaction` that wrote it."""
    redaction, out = Redaction(path, read_rules(rules)), io.BytesIO()
    redaction.write(out)
    return out.getvalue().decode("utf-8", "surrogateescape").splitlines(), redaction


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.name)
def test_nothing_of_a_recording_without_secrets_is_changed(path: Path) -> None:
    assert Redaction(path, read_rules()).inspect().count == 0
    lines, redaction = copied(path)
    assert redaction.report.count == 0
    original = path.read_bytes().decode("utf-8", "surrogateescape").splitlines()
    assert lines[1:] == original[1:]
    assert json.loads(lines[0]).keys() - json.loads(original[0]).keys() == {"redacted"}


def test_a_secret_that_stands_under_its_name_somewhere_is_hidden_everywhere(tmp_path: Path) -> None:
    path = recorded(
        tmp_path / "s.mcp.jsonl", {"method": "log", "params": {"text": "user hunter22!x logs in"}},
        {"id": 1, "result": {"password": "hunter22!x"}}, stderr=(b"got hunter22!x", b"got hunter22"),
        target={"argv": ["srv", "hunter22!x"]},
    )  # fmt: skip
    lines, redaction = copied(path)
    events = [json.loads(line) for line in lines]
    marks = {events[0]["target"]["argv"][1], json.loads(events[2]["raw"])["result"]["password"]}
    assert len(marks) == 1
    (mark,) = marks
    assert mark.startswith("‹redacted ")
    assert json.loads(events[1]["raw"])["params"]["text"] == f"user {mark} logs in"
    assert [event["raw"] for event in events[3:5]] == [f"got {mark}", "got hunter22"]
    assert [event.get("redacted") for event in events[1:]] == [True, True, True, None, None]
    (value,) = redaction.report.values
    assert (value.rule, value.head, value.length, value.count, value.events) == ("named", "", 10, 4, [0, 1, 2, 3])
    assert redaction.report.lines == 4
    seen = Redaction(path, read_rules()).inspect()
    assert (seen.count, [secret.count for secret in seen.values]) == (4, [4])


def test_a_secret_that_is_cut_off_elsewhere_is_hidden_there_too(tmp_path: Path) -> None:
    secret = "shop-4f9a8b7c6d5e4f3a"
    path = recorded(
        tmp_path / "s.mcp.jsonl", {"method": "log", "params": {"text": f"{secret[:17]}… is old"}},
        {"id": 1, "result": {"password": secret}}, stderr=(f"key {secret[:14]}".encode(), b"shop-4f9a, shop-4f9a8b7c9"),
    )  # fmt: skip
    lines, _ = copied(path)
    events = [json.loads(line) for line in lines]
    mark = json.loads(events[2]["raw"])["result"]["password"]
    assert json.loads(events[1]["raw"])["params"]["text"] == f"{mark}… is old"
    assert [event["raw"] for event in events[3:5]] == [f"key {mark}", "shop-4f9a, shop-4f9a8b7c9"]


def test_equal_values_have_equal_marks_and_each_copy_has_its_own(tmp_path: Path) -> None:
    path = recorded(tmp_path / "s.mcp.jsonl", {"a": GITHUB, "b": [GITHUB, GITHUB[:-1] + "X"]})
    first, second = (json.loads(json.loads(copied(path)[0][1])["raw"]) for _ in range(2))
    assert first["a"] == first["b"][0] != first["b"][1]
    assert first["a"] != second["a"]


def test_no_secret_is_in_the_report(tmp_path: Path) -> None:
    path = recorded(tmp_path / "s.mcp.jsonl", {"a": GITHUB, "password": "hunter22"})
    report = Redaction(path, read_rules()).inspect()
    assert [(value.rule, value.head, value.length, value.where) for value in report.values] == [
        ("github", "ghp_", 40, "$.a"), ("named", "", 8, "$.password"),
    ]  # fmt: skip
    assert GITHUB[:8] not in repr(report)


def test_the_copy_is_a_recording_and_redacted_only_once(tmp_path: Path) -> None:
    path = recorded(tmp_path / "s.mcp.jsonl", {"jsonrpc": "2.0", "method": "a", "params": {"x": GITHUB}})
    lines, _ = copied(path, "$..y", "email")
    copy = tmp_path / "copy.mcp.jsonl"
    copy.write_text("\n".join(lines) + "\n", encoding="utf-8")
    journal = Journal.open(copy)
    journal.refresh()
    assert journal.header["redacted"]["rules"] == 1
    assert "email" in journal.header["redacted"]["names"]
    assert journal.event(1).message["params"]["x"].startswith("‹redacted ")
    assert journal.event(1).fields["redacted"] is True
    assert journal.ended is not None
    journal.release()
    again, redaction = copied(copy)
    assert again == lines
    assert redaction.report.count == 0


def test_torn_and_broken_lines_are_kept_without_their_secrets(tmp_path: Path) -> None:
    path = recorded(tmp_path / "s.mcp.jsonl", {"x": GITHUB})
    whole = path.read_bytes().splitlines()
    odd = b"\n".join(
        [*whole[:2], b"", b"no json " + GITHUB.encode() + b" \xff", b'{"kind":"new","x":[1,{}]}', whole[1][:-3]]
    )
    path.write_bytes(odd)
    lines, redaction = copied(path)
    mark = json.loads(json.loads(lines[1])["raw"])["x"]
    expected = odd.replace(GITHUB.encode(), mark.encode()).decode("utf-8", "surrogateescape").split("\n")
    expected[1] = expected[1][:-1] + ',"redacted":true}'
    assert lines[1:] == expected[1:]
    assert redaction.report.lines == 3


def test_what_is_written_after_it_was_opened_is_not_read(tmp_path: Path) -> None:
    path = recorded(tmp_path / "s.mcp.jsonl", {"x": 1})
    redaction, before = Redaction(path, read_rules()), path.read_bytes()
    with path.open("ab") as file:
        file.write(b'{"kind":"more"}\n')
    out = io.BytesIO()
    redaction.write(out)
    assert out.getvalue().splitlines()[1:] == before.splitlines()[1:]


def test_more_secrets_than_can_be_remembered_are_all_hidden_where_they_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector.redact.recording.MAX_KNOWN", 20)
    monkeypatch.setattr("inspector.redact.recording.MAX_VALUES", 30)
    secrets = [{"password": f"hunter{number:06}"} for number in range(40)]
    path = recorded(tmp_path / "s.mcp.jsonl", *secrets)
    lines, redaction = copied(path)
    assert not any("hunter" in line for line in lines)
    assert redaction.report.count == 40
    assert (len(redaction.report.values), redaction.report.more) == (30, 10)


def test_what_is_no_recording_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("{}\n")
    for name in ("x", "none"):
        with pytest.raises(RecordingError):
            Redaction(tmp_path / name, read_rules())
