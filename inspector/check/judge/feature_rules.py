"""The rules of features for the judge."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from inspector.check.judge.rules import RuleVerdict
from inspector.check.judge.state import JudgeState
from inspector.config.logfile import skip_failed
from inspector.errors import InspectorError
from inspector.feature import Feature, other_features, our_features

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
    ours, others = (_loaded(of_some) for of_some in (our_features(), other_features()))
    return (*ours, *(_guarded(rules) for rules in others))


def _loaded(some: Iterable[Feature]) -> list[FeatureRules]:
    loaded = (feature.load_or_skip(feature.judge, FeatureRules) for feature in some if feature.judge)
    return [rules for rules in loaded if rules is not None]


def _guarded(rules: FeatureRules) -> FeatureRules:
    """The rules of another package: the first error of one ends only that one, and is told once."""

    def guarded(rule: Callable[..., Rules]) -> Callable[..., Rules]:
        failed = False

        def judge(*given: Any) -> Rules:
            nonlocal failed
            if not failed:
                try:
                    yield from rule(*given)
                except Exception as error:  # noqa: BLE001 - any error of foreign code
                    failed = True
                    skip_failed(error)

        return judge

    async def warm_up(visit: Visit) -> None:
        try:
            await rules.warm_up(visit)
        except InspectorError:
            raise
        except Exception as error:  # noqa: BLE001 - any error of foreign code
            skip_failed(error)

    return FeatureRules(guarded(rules.message), guarded(rules.tool), guarded(rules.result), warm_up)
