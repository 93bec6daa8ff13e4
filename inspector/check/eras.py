"""The rules of each era, as a table. The judge distinguishes eras only here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from inspector.check import answers, cache_rules, notices, rules
from inspector.check.rules import RuleVerdict
from inspector.check.watched import Watched
from inspector.protocol.revisions import Era


class EraRules(NamedTuple):
    """The rules of one era by subject. The judge itself calls rules of every era."""

    results: tuple[answers.AnswerRule, ...]
    errors: tuple[answers.AnswerRule, ...]
    requests: tuple[Callable[[dict[str, Any], Watched], Iterator[RuleVerdict]], ...]
    """For requests of the server."""
    notices: tuple[notices.NoticeRule, ...]
    http_tools: tuple[Callable[[dict[str, Any], Watched], Iterator[RuleVerdict]], ...]
    """For tools that are listed over HTTP."""


ERAS: dict[Era, EraRules] = {
    "legacy": EraRules((), (), (rules.request_rules,), notices.RULES_BEFORE, ()),
    "modern": EraRules(
        (*answers.RESULT_RULES, cache_rules.changed_early),
        answers.ERROR_RULES,
        (rules.no_requests,),
        (*notices.RULES, cache_rules.forgets),
        (rules.header_rules,),
    ),
}
