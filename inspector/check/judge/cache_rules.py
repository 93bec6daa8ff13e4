"""Answers that change while they are still fresh, without a notification (C-HINT-03). Worth a note, not a fault."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from inspector.check.judge.modern_rules import AnsweredRequest
from inspector.check.judge.notification_rules import Notice
from inspector.check.judge.rules import RuleVerdict, short
from inspector.check.judge.state import CachedAnswer, JudgeState
from inspector.client.state.cache import CACHEABLE, seconds_of, subject_of
from inspector.client.state.catalog import KINDS
from inspector.protocol import jsonrpc

_HINTS = ("_meta", "ttlMs", "cacheScope")
_LISTS = {
    kind.changed: [other.method for other in KINDS.values() if other.changed == kind.changed] for kind in KINDS.values()
}


def changed_early(answer: AnsweredRequest, state: JudgeState) -> Iterator[RuleVerdict]:
    """Compare an answer with the previous one to the same request, if that was still fresh."""
    if answer.method not in CACHEABLE or answer.at < 0 or answer.body.get("resultType") == "input_required":
        return
    key = answer.method, subject_of(answer.method, answer.params)
    before = state.cached.pop(key, None)
    life = seconds_of(answer.body.get("ttlMs"))
    until = answer.at + round(life * 1_000_000) if life else 0
    if before is None and not until:
        return
    cached_answer = CachedAnswer(until, _digest(answer.body))
    if before is not None and answer.at < before.until and before.digest != cached_answer.digest:
        seconds = (before.until - answer.at) / 1_000_000
        about = f" of {short(answer.params['uri'])}" if isinstance(answer.params.get("uri"), str) else ""
        yield (
            "C-HINT-03",
            "note",
            f"The result of {answer.method}{about} changed inside its time to live, without a notification: "
            f"the previous one was fresh for another {seconds:.1f} s.",
        )
    state.keep_cached(key, cached_answer)


def forgets(notice: Notice, state: JudgeState) -> Iterator[RuleVerdict]:
    """A notification of a change ends the time to live of what it names."""
    for method in _LISTS.get(notice.method, ()):
        for key in [key for key in state.cached if key[0] == method]:
            del state.cached[key]
    if notice.method == "notifications/resources/updated":
        state.cached.pop(("resources/read", str(notice.params.get("uri"))), None)
    return iter(())


def _digest(body: dict[str, Any]) -> bytes:
    content = {key: value for key, value in body.items() if key not in _HINTS}
    try:
        return hashlib.sha256(jsonrpc.encode(content)).digest()
    except RecursionError:
        return b""
