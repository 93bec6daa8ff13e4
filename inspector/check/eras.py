"""Which rules hold in which era, as a table: the only place of the judge where eras are told apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from inspector.check import answers, notices, rules
from inspector.check.rules import RuleVerdict
from inspector.check.watched import Watched
from inspector.protocol.revisions import Era


class EraRules(NamedTuple):
    """The rules of one era, by what they are about; those of every era are called by the judge itself."""

    results: tuple[answers.Rule, ...]
    errors: tuple[answers.Rule, ...]
    requests: tuple[Callable[[dict[str, Any], Watched], Iterator[RuleVerdict]], ...]
    """Of requests that the server makes."""
    notices: tuple[notices.Rule, ...]
    http_tools: tuple[Callable[[dict[str, Any], Watched], Iterator[RuleVerdict]], ...]
    """Of tools that are listed over HTTP."""


ERAS: dict[Era, EraRules] = {
    "legacy": EraRules((), (), (rules.request_rules,), notices.RULES_BEFORE, ()),
    "modern": EraRules(
        answers.RESULT_RULES, answers.ERROR_RULES, (rules.no_requests,), notices.RULES, (rules.header_rules,)
    ),
}
