"""Nothing outside `inspector/journal/` knows how the index keeps its events, or how channels are named."""

from __future__ import annotations

import re
from functools import cache

import pytest

from tests.processes import ROOT

JOURNAL = ROOT / "inspector" / "journal"
COLUMNS = "codes|pairs|times|states|parents|sizes|channels|methods|offsets"
RULES = {
    "packed kind, direction and shape: use `Query` (inspector/journal/query.py), or `index.kind(n)`, `dir(n)`, "
    "`shape(n)`": re.compile(r"(<<|>>) ?[46]\b|& ?(15|63|0x0?[fF]|0x3[fF])\b|\* 16 \+|code_of\("),
    "a column of the index: use `index.pair(n)`, `time(n)` and so on, or a `Query` for many events": re.compile(
        rf"\bindex\w*\._?(views|columns|{COLUMNS})\b|\.views\.({COLUMNS}|ids)\b"
    ),
    "the name of a channel: use `inspector.journal.channels`": re.compile(
        r"""["'](post|get|delete|replay)-["'{]|\b(ch|channel)(\([^)]*\))?\.(startswith|partition|split)\("""
        r"""|\b(ch|channel)(\([^)]*\))? (==|!=|in|not in) [("']"""
    ),
}


@cache
def lines() -> list[tuple[str, str]]:
    """Each line outside the journal with its place."""
    return [
        (f"{path.relative_to(ROOT)}:{number}", line)
        for path in sorted((ROOT / "inspector").rglob("*.py"))
        if JOURNAL not in path.parents
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_only_the_journal_knows(rule: str) -> None:
    matches = [f"{where}: {line.strip()}" for where, line in lines() if RULES[rule].search(line)]
    assert not matches, f"These lines know what only inspector/journal/ should, {rule}.\n" + "\n".join(matches)


@pytest.mark.slow
def test_one_class_is_an_exchange() -> None:
    places = [where for where, line in lines() if re.match(r"class Exchange\b(?!\(exchange\.Exchange\))", line)]
    assert not places, f"An exchange is `inspector.journal.exchange.Exchange`; name these for what they are: {places}"


@pytest.mark.parametrize(("rule", "line"), [
    (0, "code & 15 == Kind.LIFE"), (0, "wanted = Kind.RPC | Dir.SEND << 4"), (0, "code >> 6 == Shape.BATCH"),
    (1, "answer = journal.index.views.pairs[n - 1]"), (1, "facts.views.times[0]"), (1, "names = index.methods.texts"),
    (2, 'if event.ch.startswith("post-"):'), (2, 'event.ch == "stdio"'), (2, 'channel = f"get-{n}"'),
    (2, 'index.channel(n).startswith(PREFIX)'),
])  # fmt: skip
def test_the_rules_see_what_they_are_about(rule: int, line: str) -> None:
    assert list(RULES.values())[rule].search(line)
