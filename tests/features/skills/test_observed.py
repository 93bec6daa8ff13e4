"""The skills of a journal, at any moment of it."""

from inspector.features.skills import observed
from inspector.features.skills.observed import SkillLog
from inspector.journal.journal import Journal
from inspector.protocol import jsonrpc


class Tape:
    """A journal to which a test adds exchanges."""

    def __init__(self):
        self.journal = Journal.unnamed({})
        self.id = 0

    def lists(self, *names, cursor=None, further=None):
        params = {} if cursor is None else {"cursor": cursor}
        rest = {} if further is None else {"nextCursor": further}
        entries = [{"uri": f"skill://x/{name}/SKILL.md", "frontmatter": {"name": name}} for name in names]
        return self.answers(params, result={"skills": entries, **rest})

    def answers(self, params, **answer):
        self.id += 1
        request = jsonrpc.request(self.id, "skills/list", params)
        self.journal.record_sent("stdio", jsonrpc.encode(request), request)
        self.journal.record_received("stdio", [jsonrpc.encode({"jsonrpc": "2.0", "id": self.id, **answer})])
        return len(self.journal)


def names(log):
    return [skill.name for skill in log.skills]


def test_pages_add_up_and_another_list_replaces_them():
    tape = Tape()
    tape.lists("a", "b", further="1")
    log = SkillLog(tape.journal)
    assert log.advance()
    assert (log.list.pages, log.list.complete) == (1, False)
    tape.lists("c", cursor="1")
    log.advance()
    assert (log.list.pages, log.list.complete, names(log)) == (2, True, ["a", "b", "c"])
    tape.lists("d")
    log.advance()
    assert (log.list.pages, [skill.name for skill in log.list.entries]) == (1, ["d"])
    assert names(log) == ["d", "a", "b", "c"], "the others are still known by their URI"


def test_a_list_that_fails_is_not_complete():
    tape = Tape()
    tape.lists("a")
    tape.answers({"cursor": "1"}, error={"code": -32603, "message": "no"})
    log = SkillLog(tape.journal)
    log.advance()
    assert (names(log), log.list.complete) == (["a"], False)


def test_entries_beyond_the_limit_are_counted(monkeypatch):
    monkeypatch.setattr(observed, "MAX_SKILLS", 3)
    tape = Tape()
    tape.lists("a", "b", further="1")
    tape.lists("c", "d", "e", cursor="1")
    log = SkillLog(tape.journal)
    log.advance()
    assert (names(log), log.list.dropped) == (["a", "b", "c"], 2)


def test_an_earlier_event_shows_what_was_known_then():
    tape = Tape()
    first = tape.lists("a")
    tape.lists("b")
    log = SkillLog(tape.journal)
    log.advance()
    assert names(log) == ["b", "a"]
    assert log.advance(first)
    assert names(log) == ["a"]
    log.advance(0)
    assert (names(log), log.list.pages) == ([], 0)
