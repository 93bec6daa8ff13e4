"""The log, the raw view and transcripts show what addons did."""

import io
import json

import pytest

from inspector.formats import markdown
from inspector.journal import alterations
from inspector.journal.alterations import Alteration
from inspector.journal.journal import Journal, altered
from inspector.tui.log.detail_view import raw_sections
from inspector.tui.log.summaries import summary

BEFORE = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"old"}}'
AFTER = BEFORE.replace(b"old", b"new")


@pytest.fixture
def journal():
    """A request that an addon has changed, and a question that it has answered."""
    journal = Journal.unnamed({})
    steps = [Alteration("guard.py", "changed", BEFORE), Alteration("late.py", "delayed by 2 s")]
    journal.record_sent("stdio", AFTER, json.loads(AFTER), altered(journal, steps))
    question = b'{"jsonrpc":"2.0","id":"q","method":"roots/list"}'
    journal.record_received("stdio", [question], altered(journal, [Alteration("guard.py", "answered")]))
    yield journal
    journal.release()


def words(pieces):
    return "".join(piece if isinstance(piece, str) else piece[0] for piece in pieces)


def test_the_row_of_the_log_says_who_did_what(journal):
    assert words(summary(journal, 1)).endswith("  changed by guard.py  delayed by 2 s by late.py")
    assert words(summary(journal, 2)).endswith("  answered by guard.py")


def test_the_raw_view_has_the_text_before_and_after(journal):
    text = repr([vars(section) for section in raw_sections(journal.event(1))])
    assert text.index("changed by the addon guard.py, before:") < text.index('"old"') < text.index('"new"')
    assert "delayed by 2 s by the addon late.py." in text


def test_a_transcript_has_both(journal):
    out = io.StringIO()
    markdown.write(journal, out, None)
    text = out.getvalue()
    assert text.index("`changed` by the addon `guard.py`, before:") < text.index('"old"') < text.index('"new"')


def test_a_question_that_was_answered_by_an_addon_did_not_reach_the_client(journal):
    assert [alterations.was_withheld(journal.event(n).fields) for n in (1, 2)] == [False, True]
    for odd in ({}, {"addon": 3}, {"addon": [3, {}]}, {"addon": [{"by": 1, "did": []}]}):
        assert not alterations.was_withheld(odd)


def test_text_that_is_not_utf_8_is_kept_as_base64(journal):
    [step] = alterations.read(json.loads("{" + altered(journal, [Alteration("a.py", "changed", b"\xff")])[1:] + "}"))
    assert step.before == "/w=="
