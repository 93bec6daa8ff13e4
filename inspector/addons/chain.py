"""The addons of a command, in order, and their decision about each message of a connection."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from inspector.addons.addon import FAILED, Addon, Say
from inspector.addons.context import Context
from inspector.journal.alterations import Alteration, ConnectionFilter, Filtered, Sender
from inspector.protocol.extensions import PREFIX
from inspector.protocol.jsonrpc import NotJson, Shape, encode, id_key, parse, shape_of
from inspector.protocol.members import value_at
from inspector.protocol.revisions import MODERN
from inspector.text import safe
from inspector.transports.base import Sink, Transport

_FUNCTION: dict[tuple[str, Shape], str] = {
    ("client", Shape.REQUEST): "on_request",
    ("server", Shape.REQUEST): "on_question",
    ("client", Shape.NOTIFICATION): "on_notification",
    ("server", Shape.NOTIFICATION): "on_notification",
    **{(sender, shape): "on_response" for sender in ("client", "server") for shape in (Shape.RESULT, Shape.ERROR)},
}
_RESPONSES = (Shape.RESULT, Shape.ERROR)
_KEPT = 10_000
"""Requests that are remembered for their responses."""
_KINDS = {
    Shape.REQUEST: "request",
    Shape.NOTIFICATION: "notification",
    Shape.RESULT: "response",
    Shape.ERROR: "response",
}


class Addons:
    """The `MessageFilter` of a command. Raises `UsageError` for a file that cannot be loaded."""

    def __init__(self, files: Sequence[Path], say: Say) -> None:
        """`say` tells the user one sentence."""
        self.addons = [Addon(path) for path in files]
        self.say = say

    def connection(self, record: Callable[[str, str], object]) -> AddonConnection:
        """Return the filter of a new connection. `record` gets the name of an addon, and what it says."""
        return AddonConnection(self, record)

    def transport(self, sink: Sink, make: Callable[[Sink], Transport]) -> Transport:
        """Return the transport that `make` returns for a sink, with the addons between it and `sink`."""
        from inspector.addons.transport import filtered_transport

        filter = self.connection(lambda by, text: sink.life("", "addon", by=by, text=text))
        transport = filtered_transport(filter, sink, make)
        filter.sends_headers = transport.name in ("http", "sse")
        return transport


class AddonConnection(ConnectionFilter):
    """The decisions about the messages of one connection."""

    def __init__(self, addons: Addons, record: Callable[[str, str], object]) -> None:
        self._addons = addons.addons
        self._tell = addons.say
        self._record = record
        self._states: list[dict[Any, Any]] = [{} for _ in addons.addons]
        self._says = [partial(self._say, addon.name) for addon in addons.addons]
        self._requests: dict[tuple[Sender, Any], dict[str, Any]] = {}
        """By sender and id, the requests without a response."""
        self._open = False
        self.sends_headers = False
        """Whether messages of the client are sent with HTTP headers."""

    def _say(self, by: str, sentence: str) -> None:
        self._record(by, sentence)
        self._tell(sentence)

    def opened(self) -> None:
        self._open = True
        self._event("on_connect")

    def ended(self) -> None:
        if self._open:
            self._open = False
            self._event("on_end")

    def _event(self, name: str) -> None:
        for addon, state, say in zip(self._addons, self._states, self._says, strict=True):
            addon.refresh(say)
            if name in addon.functions:
                addon.call(name, say, Context(addon.name, say, state))

    @property
    def handles_messages(self) -> bool:
        """Whether an addon has functions for messages. Loads changed files again."""
        for addon, say in zip(self._addons, self._says, strict=True):
            addon.refresh(say)
        return any(addon.handles_messages for addon in self._addons)

    def judge(self, sender: Sender, data: bytes, message: Any) -> Filtered:
        filtered = Filtered(data, message)
        shape = shape_of(message)
        if shape is Shape.BATCH:
            return self._batch(sender, filtered)
        name = _FUNCTION.get((sender, shape))
        if name is None:
            return filtered
        request = None
        if shape in _RESPONSES:
            request = self._requests.pop(
                ("server" if sender == "client" else "client", id_key(message.get("id"))), None
            )
        for addon, state, say in zip(self._addons, self._states, self._says, strict=True):
            if name in addon.functions and filtered.passes:
                self._ask(addon, name, Context(addon.name, say, state, sender, request), filtered, shape, say)
        if shape is Shape.REQUEST and filtered.passes:
            self._requests[sender, id_key(message["id"])] = filtered.message
            if len(self._requests) > _KEPT:
                del self._requests[next(iter(self._requests))]
        return filtered

    def _ask(self, addon: Addon, name: str, ctx: Context, filtered: Filtered, shape: Shape, say: Say) -> None:
        """Do with the message what a function decides."""
        given = parse(filtered.data)  # A copy of its own: whatever happens to it, the message stays.
        returned = addon.call(name, say, given, ctx)
        if returned is FAILED:
            return
        changed, problem = _read(returned, given, filtered, shape)
        if problem:
            addon.complain(say, name, f"{problem}. The message passes unchanged.")
        if changed is not None and ctx.outcome is None:
            filtered.alterations.append(Alteration(addon.name, "changed", filtered.data))
            filtered.data, filtered.message = changed, parse(changed)
        if ctx.headers and not (self.sends_headers and ctx.sender == "client"):
            problem = f"set the header {ctx.headers[0][0]}, which is not sent: only messages of the client over HTTP"
            addon.complain(say, name, f"{problem} have headers. Change params._meta instead.")
        elif ctx.outcome is None:
            filtered.alterations += [Alteration(addon.name, f"header {header}") for header, _ in ctx.headers]
            filtered.headers += ctx.headers
        if ctx.seconds:
            filtered.alterations.append(Alteration(addon.name, f"delayed by {ctx.seconds:g} s"))
            filtered.delay += ctx.seconds
        if ctx.outcome is not None:
            self._reply(addon, name, ctx, filtered, shape, say)

    def _reply(self, addon: Addon, name: str, ctx: Context, filtered: Filtered, shape: Shape, say: Say) -> None:
        """Replace a response, reply to a request, or drop a notification."""
        did, members = ctx.outcome or ("", {})
        if _needs_type(members.get("result"), filtered.message if shape is Shape.REQUEST else ctx.request):
            members = {"result": {"resultType": "complete", **members["result"]}}
        try:
            data = _strictly_encoded({"jsonrpc": "2.0", "id": filtered.message.get("id"), **members})
        except (TypeError, ValueError, RecursionError) as error:
            problem = f"gave an answer that is not JSON: {safe(str(error), 200)}. The message passes unchanged."
            addon.complain(say, name, problem)
            return
        if shape in _RESPONSES:
            filtered.alterations.append(Alteration(addon.name, did, filtered.data))
            filtered.data, filtered.message = data, parse(data)
            return
        filtered.alterations.append(Alteration(addon.name, did))
        filtered.passes = False
        filtered.reply = data if shape is Shape.REQUEST else None

    def _batch(self, sender: Sender, filtered: Filtered) -> Filtered:
        """Decide about each message of a batch; those that pass make a new one if any was changed."""
        items = [self.judge(sender, encode(item), item) for item in filtered.message]
        steps = [step for item in items for step in item.alterations]
        if not steps:
            return filtered
        passing = [item.data for item in items if item.passes]
        replies = [item.reply for item in items if item.reply is not None]
        filtered.alterations = [step._replace(before=None) for step in steps]
        filtered.passes = bool(passing)
        filtered.reply = b"[%b]" % b",".join(replies) if replies else None
        filtered.delay = sum(item.delay for item in items)
        filtered.headers = [header for item in items for header in item.headers]
        if any(not item.passes or step.before is not None for item in items for step in item.alterations):
            filtered.alterations[0] = filtered.alterations[0]._replace(before=filtered.data)
            if passing:
                filtered.data = b"[%b]" % b",".join(passing)
                filtered.message = parse(filtered.data)
        return filtered


def _needs_type(result: Any, request: Any) -> bool:
    """Whether a result needs a `resultType` that it has not: in the modern era, where each request has its revision."""
    revision = value_at(request, "params", "_meta", f"{PREFIX}protocolVersion")
    return type(result) is dict and "resultType" not in result and type(revision) is str and revision in MODERN


def _read(returned: Any, given: Any, filtered: Filtered, shape: Shape) -> tuple[bytes | None, str]:
    """Return the bytes of a changed message, None for an unchanged one; and what is wrong with what was returned."""
    if returned is None:
        same = given == filtered.message
        return None, "" if same else "returned None, but has changed the message"
    if not isinstance(returned, dict):
        return None, f"returned {_article(type(returned).__name__)}, which is not a message"
    if _KINDS.get(shape_of(returned)) != _KINDS[shape]:
        return None, f"returned an object that is not a {_KINDS[shape]}"
    if not _same(returned.get("id"), filtered.message.get("id")):
        before, after = (safe(repr(side.get("id")), 60) for side in (filtered.message, returned))
        return None, f"changed the id {before} to {after}"
    try:
        data = _strictly_encoded(returned)
        parse(data)
        return (None if data == encode(filtered.message) else data), ""
    except (TypeError, ValueError, RecursionError, NotJson) as error:
        return None, f"returned a message that is not JSON: {safe(str(error), 200)}"


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


def _strictly_encoded(message: dict[str, Any]) -> bytes:
    """Encode a message of an addon. Raises TypeError, ValueError or RecursionError for a value that is not JSON."""
    json.dumps(message)  # `encode` writes sets and dates too, after enough messages.
    return encode(message)


def _article(name: str) -> str:
    return f"{'an' if name[:1] in 'aeiou' else 'a'} {safe(name, 60)}"
