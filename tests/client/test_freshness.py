"""The cache hints of answers, as a person reads them: fresh until when, and what is wrong with them."""

import json
from datetime import timedelta

import pytest

from inspector.client.state.cache import NewestAnswers, as_json, folded, freshness
from inspector.journal.findings import Finding
from inspector.journal.journal import Journal


class Answers:
    """A journal with answers to requests."""

    def __init__(self):
        self.journal = Journal.unnamed({})
        self.id = 0

    def add(self, method="tools/list", params=None, **result):
        self.id += 1
        request = {"jsonrpc": "2.0", "id": self.id, "method": method, "params": params or {}}
        self.journal.record_sent("stdio", json.dumps(request).encode(), request)
        self.journal.record_received(
            "stdio", [json.dumps({"jsonrpc": "2.0", "id": self.id, "result": result}).encode()]
        )
        return len(self.journal)

    def one(self, **result):
        return freshness(self.journal, self.add(**result))


@pytest.fixture
def answers():
    made = Answers()
    yield made
    made.journal.release()


def test_an_answer_is_fresh_until_its_time_to_live_ends(answers):
    """C-HINT-01."""
    answer = answers.one(ttlMs=300_000, cacheScope="public")
    assert answer.until - answer.received == timedelta(minutes=5)
    assert answer.is_fresh(answer.received)
    assert not answer.is_fresh(answer.until)
    assert answer.describe(answer.received) == f"fresh until {answer.until:%H:%M:%S}, public"
    assert answer.describe(answer.until) == f"stale since {answer.until:%H:%M:%S}, public"
    assert answer.problem == ""


@pytest.mark.parametrize("ttl", [-1, "5", 1.5, None, True, [], float("1e400")])
def test_an_unusable_time_is_zero_and_named(answers, ttl):
    """C-HINT-01."""
    answer = answers.one(ttlMs=ttl, cacheScope="public")
    assert (answer.seconds, answer.problem.startswith("ttlMs is ")) == (0.0, True)
    assert answer.describe(answer.received) == "stale at once, public"


def test_zero_is_stale_at_once_and_no_problem(answers):
    answer = answers.one(ttlMs=0, cacheScope="private")
    assert (answer.is_fresh(answer.received), answer.problem) == (False, "")


def test_an_unknown_scope_is_private(answers):
    answer = answers.one(ttlMs=1000, cacheScope="shared")
    assert (answer.scope, answer.problem) == ("private", 'cacheScope is "shared"')


def test_a_very_long_time_is_shown_and_capped_for_our_use(answers):
    """C-HINT-04."""
    answer = answers.one(ttlMs=10**15, cacheScope="public")
    assert "used for a day at most" in answer.describe(answer.received)


def test_answers_without_hints_have_no_freshness(answers):
    assert answers.one(tools=[]) is None
    assert answers.one(method="tools/call", ttlMs=5) is None


def test_the_newest_answer_to_each_request(answers):
    answers.add("resources/read", {"uri": "a:1"}, ttlMs=5, cacheScope="public")
    answers.add("tools/list", ttlMs=1, cacheScope="public")
    newest = NewestAnswers(answers.journal)
    assert [(answer.method, answer.seconds) for answer in newest.advance()] == [
        ("tools/list", 0.001),
        ("resources/read", 0.005),
    ]
    last = answers.add("tools/list", ttlMs=2, cacheScope="public")
    assert newest.advance()[0].n == last
    assert [answer.seconds for answer in newest.advance(last - 2)] == [
        0.001,
        0.005,
    ]  # An earlier moment of a recording.


def test_pages_have_clocks_of_their_own_and_differing_scopes_are_private(answers):
    """C-HINT-05."""
    answers.add("tools/list", ttlMs=5000, cacheScope="public", nextCursor="2")
    answers.add("tools/list", {"cursor": "2"}, ttlMs=1000, cacheScope="private")
    newest = NewestAnswers(answers.journal).advance()
    assert {page.scope for page in newest} == {"private"}
    assert "the pages differ in scope" in {page.problem for page in newest}
    assert [(page.seconds, pages) for page, pages in folded(newest)] == [(1.0, 2)]


def test_a_change_inside_the_time_to_live_is_marked(answers):
    n = answers.add("tools/list", ttlMs=5000, cacheScope="public")
    newest = NewestAnswers(answers.journal)
    assert not newest.advance()[0].changed_early
    answers.journal.findings.add(Finding(n, "C-HINT-03", "note", "It changed."))
    assert newest.advance()[0].changed_early
    assert as_json(newest.advance()[0])["changed_early"] is True
