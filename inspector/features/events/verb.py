"""`inspector events`: the event types of a server, and their events by poll, stream or webhook."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from inspector.cli.options import ARGS, FILE, FOR, TIME, Option, Value, count
from inspector.cli.output import PIPED, Output
from inspector.cli.serve_options import ADDRESS
from inspector.cli.verb import PositionalArgument, Verb
from inspector.errors import InspectorError, NotOffered, ServerError, UsageError
from inspector.hints import Hint

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from inspector.cli.verb import Invocation
    from inspector.client.session import Session
    from inspector.features.events.feed import Feed, Following
    from inspector.features.events.protocol import EventType
    from inspector.features.events.subscription import EventRow, Subscription

NAME = 200
DATA = 4000
_ACTIONS = ("poll", "follow", "subscribe", "unsubscribe", "verify")
_NEEDS = {
    "url": ("subscribe", "unsubscribe"),
    "secret-file": ("subscribe", "verify"),
    "ttl": ("subscribe",),
    "for": ("follow", "subscribe"),
    "by": ("follow",),
    "max": ("poll",),
    "max-age": ("poll", "follow"),
    "cursor": ("poll", "follow", "subscribe"),
    "at": ("verify",),
    "listen": ("subscribe",),
}
"""By option, the actions that it belongs to."""
FLUSH_EVERY = 0.05
_MAX_DELIVERY = 64 << 20
"""Seconds between two prints while events arrive."""


def _unix_time(word: str) -> float:
    """Seconds since 1970."""
    if not (word.isascii() and word.isdigit() and len(word) < 13):
        raise UsageError(f"“{word[:80]}” is not a Unix time.", hint="Write the seconds since 1970, such as 1795334400.")
    return float(word)


def run(invocation: Invocation) -> int:
    """List, poll, follow, subscribe, unsubscribe or verify."""
    action = _action(invocation)
    if action == "verify":
        return _verify(invocation)
    from inspector.cli import headless
    from inspector.protocol.extensions import EVENTS

    if action == "subscribe":
        _secret_file(invocation)
    # The verb is the consent: the draft extension is offered without --extension. A later entry wins.
    invocation.values.setdefault("extension", []).insert(0, (EVENTS, {}))

    async def work(session: Session, out: Output) -> int:
        from inspector.features.events.feed import Feed, condition_of

        feed = Feed(session)
        try:
            feed.require(sketch=bool(invocation.option("sketch")))
        except NotOffered as error:
            if feed.declared.dialect == "sketch":
                error.hint = Hint("To use them anyway, add --sketch.")
            raise
        try:
            return await act(feed, session, out)
        except ServerError as error:
            meaning = str(condition_of(error))
            if meaning and not error.hint:
                error.hint = Hint(f"{error.rpc_code} means {meaning}.")
            raise

    async def act(feed: Feed, session: Session, out: Output) -> int:
        types = await feed.list_types()
        for problem in feed.problems[:20]:
            out.note(f"note: events/list: {out.safe(problem, NAME)}")
        if action == "list":
            return _print_types(out, types, feed)
        return await _with_type(invocation, session, out, feed, action)

    return headless.run(invocation, work)


def _action(invocation: Invocation) -> str:
    """Return the chosen action; `list` without one. Raises `UsageError` for options that do not fit."""
    given = [name for name in _ACTIONS if invocation.option(name) is not None]
    if len(given) > 1:
        raise UsageError(f"--{given[0]} cannot be used with --{given[1]}.", hint="Remove one of them.")
    action = given[0] if given else "list"
    for option, actions in _NEEDS.items():
        if invocation.option(option) is not None and action not in actions:
            fitting = " or ".join(f"--{name}" for name in actions)
            raise UsageError(f"--{option} works only with {fitting}.", hint=f"Add {fitting}, or remove --{option}.")
    if action in ("list", "verify") and (invocation.arguments["arguments"] or invocation.option("args") is not None):
        raise UsageError("Arguments need an event type.", hint="Write --poll NAME or --follow NAME.")
    if action == "verify" and invocation.target_words:
        raise UsageError("--verify needs no target: nothing is sent.", hint="Remove the target.")
    if action != "verify" and not invocation.target_words:
        raise invocation.verb.needs_target
    if invocation.option("certificate") is not None and invocation.option("listen") is None:
        raise UsageError("--certificate works only with --listen.", hint="Add --listen, or remove --certificate.")
    for option, action_needs in (("url", ("subscribe", "unsubscribe")), ("secret-file", ("subscribe", "verify"))):
        if action in action_needs and invocation.option(option) is None:
            raise UsageError(f"--{action} needs --{option}.", hint=f"Add --{option} with a value.")
    return action


async def _with_type(invocation: Invocation, session: Session, out: Output, feed: Feed, action: str) -> int:
    from inspector.cli.arguments import assigned
    from inspector.features.events.subscription import Subscription, argument_problem, data_check

    name: str = invocation.option(action)
    event = feed.find(name)
    if event is None:
        from inspector.config.foreign_files import nearest

        near = nearest(name, [event.name for event in feed.types])
        raise UsageError(
            f"The server lists no event type “{name[:80]}”.",
            hint=f"Did you mean “{near[:80]}”?" if near else f"List them with: {out.command('events')}",
        )
    pairs: list[str] = invocation.arguments["arguments"]
    arguments = invocation.option("args", {}) | (assigned(pairs, event.input_schema, out) if pairs else {})
    problem = argument_problem(event, arguments)
    if problem:
        raise UsageError(
            f"{problem} Nothing was sent.", hint=f"To send it anyway: inspector request events/{action} --args JSON …"
        )
    subscription = Subscription(event, arguments, data_check(event))
    subscription.cursor = invocation.option("cursor")
    if action == "poll":
        return await _poll(invocation, session, out, feed, subscription)
    if action == "follow":
        return await _follow(invocation, session, out, feed, subscription)
    return await _webhook(invocation, session, out, subscription, action)


def _print_types(out: Output, types: list[EventType], feed: Feed) -> int:
    if out.json:
        dialect = feed.declared.dialect
        out.document({"dialect": dialect, "events": [event.raw for event in types], "problems": feed.problems})
        return 0
    if feed.declared.problem:
        out.note(f"note: {feed.declared.problem}")
    if not types:
        out.note("The server lists no event types.")
    for event in types:
        usable = "" if event.follows_by else "  (Inspector cannot follow it)"
        if "webhook" in event.delivery and usable:
            usable = "  (with --subscribe only)"
        out.line(f"{out.safe(event.name, NAME)}  {', '.join(event.delivery) or 'no delivery mode'}{usable}")
        if event.description.strip():
            out.lines(line.rstrip() for line in out.wrapped(event.description, "    "))
        for label, schema in (("arguments", event.input_schema), ("data", event.payload_schema)):
            members = _members(out, schema)
            if members:
                out.line(f"    {label}: {members}")
        out.lines(f"    problem: {out.safe(problem, NAME)}" for problem in event.problems)
    return 0


def _members(out: Output, schema: dict[str, Any]) -> str:
    properties = schema.get("properties")
    required = schema.get("required")
    names = list(properties)[:50] if type(properties) is dict else []
    needed = required if type(required) is list else []
    return ", ".join(out.safe(name, NAME) + ("" if name in needed else "?") for name in names)


class _Rows:
    """Prints the rows of a subscription: as text, or each as one line of JSON."""

    def __init__(self, out: Output, session: Session, subscription: Subscription) -> None:
        self._out = out
        self._journal = session.journal
        self._lines: list[str] = []
        subscription.sink = self._add

    def _add(self, row: EventRow, occurrence: Any) -> None:
        out = self._out
        if out.json:
            self._lines.append(_row_json(row, occurrence, self._at(row).isoformat(timespec="milliseconds")))
        elif row.kind != "heartbeat":
            at = self._at(row).strftime("%H:%M:%S.%f")[:-3]
            parts = [row.event_id, row.timestamp, row.data] if row.kind in ("event", "repeat") else [row.cursor]
            words = "  ".join(out.safe(text, PIPED) for text in (*parts, row.note) if text)
            self._lines.append(f"{at}  {row.kind:<10}  {words}".rstrip())

    def _at(self, row: EventRow) -> Any:
        return self._journal.clock(round(row.at * 1e6)).astimezone()

    def flush(self) -> None:
        """Print what has come."""
        lines, self._lines = self._lines, []
        if lines:
            (self._out.documents if self._out.json else self._out.lines)(lines)


def _row_json(row: EventRow, occurrence: Any, at: str) -> str:
    from inspector.protocol import jsonrpc
    from inspector.protocol.exact_json import depth

    members: dict[str, Any] = {"kind": row.kind, "n": row.n, "at": at}
    if occurrence is not None:
        members["event"] = occurrence
    for key in ("cursor", "note"):
        if getattr(row, key):
            members[key] = getattr(row, key)
    try:
        return jsonrpc.encode(members).decode()
    except RecursionError:
        return jsonrpc.encode(members | {"event": depth.LEFT_OUT}).decode()


async def _poll(invocation: Invocation, session: Session, out: Output, feed: Feed, subscription: Subscription) -> int:
    rows = _Rows(out, session, subscription)
    plan = await feed.poll(
        subscription, max_events=invocation.option("max"), max_age_ms=_milliseconds(invocation.option("max-age"))
    )
    rows.flush()
    more = "more events are waiting" if plan.again else f"the next poll is due in {plan.wait:g} s"
    cursor = "no cursor: the type cannot replay" if subscription.cursor is None else f"cursor {subscription.cursor}"
    out.note(f"{_summary(subscription)}; {more}; {out.safe(cursor, NAME)}")
    return 0


async def _follow(invocation: Invocation, session: Session, out: Output, feed: Feed, subscription: Subscription) -> int:
    event = subscription.event
    assert event is not None
    mode = invocation.option("by") or event.follows_by
    if mode is None or mode not in event.delivery:
        by = " and ".join(event.delivery)
        raise NotOffered(
            f"“{event.name[:80]}” is not delivered by {mode or 'poll or push'}.",
            hint="Use --subscribe and --url: it is delivered by webhook."
            if event.delivery == ("webhook",)
            else f"It is delivered by {by}."
            if by
            else "The server lists no delivery mode for it.",
        )
    rows = _Rows(out, session, subscription)
    followed = feed.follow(subscription, mode, max_age_ms=_milliseconds(invocation.option("max-age")))
    try:
        out.note(f"Following {out.safe(event.name, NAME)} by {mode}; press Ctrl-C to stop.")
        with suppress(TimeoutError):
            await asyncio.wait_for(_print_until_over(out, rows, followed), invocation.option("for"))
    finally:
        feed.stop(followed)
        if not out.unread:
            feed.take_all()
        rows.flush()
        out.note(_summary(subscription) + (f"; {feed.stray_count:,} stray notifications" if feed.stray_count else ""))
    if feed.must_list_again and session.phase == "ready":
        await _tell_of_new_list(out, feed, event)
    if followed.error is not None:
        raise followed.error
    return _end(session, out, subscription)


def _end(session: Session, out: Output, subscription: Subscription) -> int:
    """Return the exit code: 1 if the server ended the subscription. Raises the error of a lost connection."""
    if subscription.ended:
        out.note(out.safe(subscription.ended, DATA))
        return 1
    if session.phase == "lost" and session.error is not None:
        raise session.error
    return 0


async def _tell_of_new_list(out: Output, feed: Feed, event: EventType) -> None:
    """Read the list again, and say what became of the event type (C-EVENT-18)."""
    with suppress(InspectorError):
        await feed.list_types()
        now = feed.find(event.name)
        name = out.safe(event.name, NAME)
        if now is None:
            out.note(f"note: The server no longer lists {name}.")
        else:
            changed = "with another definition" if now.raw != event.raw else "unchanged"
            out.note(f"note: The server still lists {name}, {changed}.")


async def _print_until_over(out: Output, rows: _Rows, followed: Following) -> None:
    while not followed.over.is_set() and not out.unread:
        rows.flush()
        with suppress(TimeoutError):
            await asyncio.wait_for(followed.over.wait(), FLUSH_EVERY)
    rows.flush()


def _milliseconds(value: float | None) -> int | None:
    return None if value is None else round(value * 1000)


def _summary(subscription: Subscription) -> str:
    counts = subscription.counts
    parts = [
        f"{amount:,} {one if amount == 1 else several}"
        for amount, one, several in (
            (counts.events, "event", "events"),
            (counts.repeats, "repeat", "repeats"),
            (counts.changed, "repeat with other data", "repeats with other data"),
            (counts.gaps, "gap", "gaps"),
            (counts.invalid, "invalid event", "invalid events"),
            (counts.older, "event older than the one before", "events older than the one before"),
            (counts.errors, "error", "errors"),
            (counts.heartbeats, "heartbeat", "heartbeats"),
        )
        if amount or one == "event"
    ]
    return ", ".join(parts)


def _secret_file(invocation: Invocation) -> str:
    """Return the secret in the file that --secret-file names; a new file gets a new secret."""
    from inspector.features.events import webhook

    file: Path = invocation.option("secret-file")
    if not file.exists():
        from inspector.config.output_files import write_file

        write_file(file, (webhook.new_secret() + "\n").encode())
    from inspector.config.foreign_files import read_text

    secret = read_text(file, limit=10_000).strip()
    webhook.key_of(secret)
    return secret


async def _webhook(
    invocation: Invocation, session: Session, out: Output, subscription: Subscription, action: str
) -> int:
    from inspector.features.events import webhook

    url = invocation.option("url")
    if action == "unsubscribe":
        params = webhook.unsubscribe_params(subscription.name, subscription.arguments, url)
        await session.request("events/unsubscribe", params)
        out.note("Unsubscribed.")
        return 0
    secret = _secret_file(invocation)
    session.journal.redactor.add(secret)

    async def subscribe() -> dict[str, Any]:
        given = webhook.subscribe_params(
            subscription.name,
            subscription.arguments,
            url,
            secret,
            cursor=subscription.cursor,
            ttl_ms=_milliseconds(invocation.option("ttl")),
        )
        result = await session.request("events/subscribe", given)
        body: dict[str, Any] = result if type(result) is dict else {}
        subscription.cursor = body.get("cursor")
        return body

    lasting = invocation.option("for")
    async with _receiving(invocation, session, out, subscription, secret) as over:
        body = await subscribe()
        _print_grant(out, body)
        if lasting is None and over is None:
            out.note("The subscription stays. To end it, run the same command with --unsubscribe NAME.")
            return 0
        refreshing = asyncio.create_task(_refresh(out, subscribe, body))
        ends = [refreshing] if over is None else [refreshing, asyncio.create_task(over.wait())]
        try:
            await asyncio.wait(ends, timeout=lasting, return_when=asyncio.FIRST_COMPLETED)
            if refreshing.done():
                refreshing.result()
        finally:
            for end in ends:
                end.cancel()
            await asyncio.gather(*ends, return_exceptions=True)
            if not subscription.ended and session.phase == "ready":
                params = webhook.unsubscribe_params(subscription.name, subscription.arguments, url)
                await session.request("events/unsubscribe", params)
                out.note("Unsubscribed.")
    return _end(session, out, subscription)


@asynccontextmanager
async def _receiving(
    invocation: Invocation, session: Session, out: Output, subscription: Subscription, secret: str
) -> AsyncIterator[asyncio.Event | None]:
    """Receive deliveries on the address of --listen, and print them. The event is set when the server ends it."""
    where = invocation.option("listen")
    if where is None:
        yield None
        return
    from inspector.features.events.webhook_receiver import Arrival, WebhookAddress, WebhookReceiver

    over = asyncio.Event()
    rows = _Rows(out, session, subscription)
    refused = 0

    def arrived(arrival: Arrival) -> None:
        nonlocal refused
        at = session.journal.index.time(arrival.n) / 1e6 if arrival.n else 0.0
        if arrival.accepted:
            verdict = arrival.verdict
            subscription.delivered(verdict.kind, verdict.body, arrival.n, at, repeated=arrival.repeated)
            for problem in arrival.problems:
                subscription.note(problem, arrival.n, at)
        else:
            refused += 1
            subscription.note(f"Delivery rejected. {' '.join(arrival.problems)}", arrival.n, at)
        if subscription.ended:
            over.set()

    async def printing() -> None:
        while session.phase == "ready" and not out.unread:
            rows.flush()
            await asyncio.sleep(FLUSH_EVERY)
        over.set()

    receiver = WebhookReceiver(
        WebhookAddress.checked(invocation.option("url"), where, invocation.option("certificate")),
        secret,
        session.journal,
        arrived,
    )
    await receiver.start()
    out.note(f"Receiving deliveries on {where[0]}:{receiver.port}; press Ctrl-C to stop.")
    prints = asyncio.create_task(printing())
    try:
        yield over
    finally:
        prints.cancel()
        await asyncio.gather(prints, return_exceptions=True)
        await receiver.close()
        rows.flush()
        refused += receiver.unreported
        out.note(_summary(subscription) + (f", {refused:,} rejected" if refused else ""))


async def _refresh(out: Output, subscribe: Any, body: dict[str, Any]) -> None:
    """Subscribe again before each end of the granted time (C-EVENT-22)."""
    from inspector.features.events.webhook import refresh_after

    while True:
        await asyncio.sleep(refresh_after(body.get("refreshBefore")))
        body = await subscribe()
        _print_grant(out, body)


def _print_grant(out: Output, body: dict[str, Any]) -> None:
    if out.json:
        out.document({key: value for key, value in body.items() if key != "_meta"})
        return
    expiry = body.get("refreshBefore")
    out.line(f"id             {out.safe(body.get('id'), NAME)}")
    out.line(f"refresh before {out.safe(expiry, NAME) if expiry is not None else 'no expiry'}")
    out.line(f"cursor         {out.safe(body.get('cursor'), NAME) if body.get('cursor') is not None else 'none'}")
    if body.get("truncated") is True:
        out.line("gap            events before this subscription may be missing (truncated)")
    status = body.get("deliveryStatus")
    if type(status) is dict:
        out.line(f"delivery       {out.safe(status, DATA)}")


def _verify(invocation: Invocation) -> int:
    """Verify a saved delivery; 5 if a receiver must reject it."""
    import time

    from inspector.config.foreign_files import read_bytes
    from inspector.features.events import webhook

    out = invocation.output
    file: Path = invocation.option("verify")
    raw = read_bytes(file, limit=_MAX_DELIVERY)
    secret_file: Path = invocation.option("secret-file")
    if not secret_file.exists():
        raise UsageError(f"{secret_file} does not exist.", hint="Name the file that --subscribe wrote.")
    at = invocation.option("at")
    verdict = webhook.verify([_secret_file(invocation)], webhook.Delivery.parse(raw), time.time() if at is None else at)
    if out.json:
        out.document(
            {
                "accepted": verdict.accepted,
                "signed": verdict.signed,
                "fresh": verdict.fresh,
                "kind": verdict.kind,
                "problems": list(verdict.problems),
                "answer": verdict.answer or None,
            }
        )
        return 0 if verdict.accepted else 5
    out.line("accept" if verdict.accepted else "reject")
    out.line(f"signature  {'matches' if verdict.signed else 'does not match'}")
    out.line(f"time       {'in the last 5 minutes' if verdict.fresh else 'not in the last 5 minutes'}")
    out.line(f"body       {verdict.kind}")
    out.lines(f"problem    {out.safe(problem, NAME)}" for problem in verdict.problems)
    if verdict.answer:
        out.line(f"respond with 200 and {out.safe(verdict.answer, DATA)}")
    return 0 if verdict.accepted else 5


EVENTS = Verb(
    "events",
    run,
    target="optional",
    slots=(PositionalArgument("arguments", "pairs", shown="KEY=VALUE | KEY:=JSON ..."),),
    options=(
        Option("--poll", "Poll this event type once", "NAME"),
        Option("--follow", "Print events of this type as they arrive", "NAME"),
        Option("--by", "With --follow: the delivery mode; push if the type has it", choices=("push", "poll")),
        FOR,
        Option("--cursor", "Start at this cursor, instead of now", "CURSOR"),
        Option("--max", "With --poll: the most events of one result", Value("COUNT", count)),
        Option("--max-age", "Do not deliver events that are older", TIME),
        Option("--sketch", "Also use a server that declares events as before SEP-3415"),
        Option("--subscribe", "Subscribe your webhook to this event type", "NAME"),
        Option("--unsubscribe", "End the subscription of your webhook", "NAME"),
        Option("--url", "The https URL of your webhook", "URL"),
        Option("--secret-file", "The secret of your webhook; a new file gets a new secret", FILE),
        Option("--listen", "With --subscribe: receive deliveries on this loopback address", ADDRESS),
        Option("--certificate", "With --listen: accept https; a PEM file with certificate and key", FILE),
        Option("--ttl", "With --subscribe: the lifetime to ask for", TIME),
        Option("--verify", "Verify a delivery: a file with the raw HTTP request", FILE),
        Option("--at", "With --verify: the time of the delivery; now without it", Value("UNIX_TIME", _unix_time)),
        ARGS,
    ),
)
