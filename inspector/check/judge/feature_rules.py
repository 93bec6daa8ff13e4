"""The rules of features for the judge."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from inspector.check.judge.rules import RuleVerdict
from inspector.check.judge.state import JudgeState
from inspector.feature import features

if TYPE_CHECKING:
    from inspector.check.visit.visit import Visit

Rules = Iterable[RuleVerdict]


def _no_rules(*_: Any) -> Rules:
    return ()


async def _nothing(_: Any) -> None:
    return


class FeatureRules(NamedTuple):
    """The rules of one feature: functions that yield verdicts, and harmless requests that they need."""

    message: Callable[[dict[str, Any]], Rules] = _no_rules
    """Of any message of the server."""
    tool: Callable[[dict[str, Any]], Rules] = _no_rules
    """Of a tool in a list."""
    result: Callable[[str, dict[str, Any], JudgeState, dict[str, Any]], Rules] = _no_rules
    """Of a result: method, result, state, and params of the request."""
    warm_up: Callable[[Visit], Awaitable[None]] = _nothing
    """Requests of every visit, so that the judge has messages."""


@cache
def feature_rules() -> tuple[FeatureRules, ...]:
    """The rules of each feature that has some."""
    loaded = (feature.load_or_skip(feature.judge, FeatureRules) for feature in features() if feature.judge)
    return tuple(rules for rules in loaded if rules is not None)
