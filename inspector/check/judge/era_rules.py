"""The rules of each era, as a table. The judge distinguishes eras only here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from inspector.check.judge import cache_rules, modern_rules, notification_rules, rules
from inspector.check.judge.rules import RuleVerdict
from inspector.check.judge.state import JudgeState
from inspector.protocol.revisions import Era


class EraRules(NamedTuple):
    """The rules of one era by subject. The judge itself calls rules of every era."""

    results: tuple[modern_rules.AnswerRule, ...]
    errors: tuple[modern_rules.AnswerRule, ...]
    requests: tuple[Callable[[dict[str, Any], JudgeState], Iterator[RuleVerdict]], ...]
    """For requests of the server."""
    notices: tuple[notification_rules.NoticeRule, ...]
    http_tools: tuple[Callable[[dict[str, Any], JudgeState], Iterator[RuleVerdict]], ...]
    """For tools that are listed over HTTP."""


ERAS: dict[Era, EraRules] = {
    "legacy": EraRules((), (), (rules.request_rules,), notification_rules.RULES_BEFORE, ()),
    "modern": EraRules(
        (*modern_rules.RESULT_RULES, cache_rules.changed_early),
        modern_rules.ERROR_RULES,
        (rules.no_requests,),
        (*notification_rules.RULES, cache_rules.forgets),
        (rules.header_rules,),
    ),
}
