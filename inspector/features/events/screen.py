"""The events view: the event types of a server, a form for one, and its events as they arrive.

Nothing is requested but the list until the user polls or follows; leaving the view ends the streams (C-EVENT-27).
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

from rich.segment import Segment
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical

from inspector.client.session_state import Commands
from inspector.errors import InspectorError
from inspector.features.events.feed import Feed, Following
from inspector.features.events.protocol import EventType
from inspector.features.events.subscription import EventRow, Subscription, data_check
from inspector.journal.journal import Journal
from inspector.protocol.exact_json.text import tree
from inspector.protocol.extensions import EVENTS
from inspector.protocol.forms.form import UNSET, Form
from inspector.protocol.jsonrpc import encode
from inspector.text import quantity, safe
from inspector.tui.advice import error_text
from inspector.tui.dialogs import Confirm
from inspector.tui.full_screen import FullScreen
from inspector.tui.keymap import KeyHint, bindings
from inspector.tui.main import chrome
from inspector.tui.model.widths import TWO_COLUMNS
from inspector.tui.pane_keys import hints
from inspector.tui.pane_messages import ShowEvent
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.fact_rows import FactsView, Row, RowSection, fact, paragraph
from inspector.tui.widgets.form import FormView
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.row_source import ListRows
from inspector.tui.widgets.sections import JsonSection
from inspector.tui.widgets.status_lines import Footer, HeaderLine
from inspector.tui.widgets.too_small import TooSmall
from inspector.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from inspector.tui.main.screen import MainScreen

_TIME, _ID, _CURSOR = 13, 22, 18
_MIN_FOR_CURSOR, _MIN_FOR_ID = 100, 56
"""Cells from which there is room for the column."""
_CLOSE = 200
"""Rows from the end that are read without a pass over all."""


class TypeRows(ListRows[EventType]):
    """Draws event types with their delivery modes."""

    def __init__(self) -> None:
        super().__init__(lambda event_type: event_type.name)

    def render(self, index: int, width: int, selected: bool, focused: bool) -> list[Segment]:
        """Return one row: name, modes; a type that Inspector cannot follow is muted."""
        event = self.rows[index]
        role = "muted" if event.follows_by is None else "bright" if selected else "normal"
        sign = [(f"{signs_now().finding} ", "finding")] if event.problems else []
        left = paint.segments([*sign, (event.name, role)], room=width)
        return paint.spread(left, paint.segments(" ".join(event.delivery) or "no mode", "muted"), width)


class SubscriptionRows:
    """Draws the rows of a subscription: time, kind, id, data, cursor."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.subscription: Subscription | None = None

    def __len__(self) -> int:
        return 0 if self.subscription is None else len(self.subscription.rows)

    def row(self, index: int) -> EventRow:
        """Return the row at a place; rows near the end are found at once."""
        assert self.subscription is not None
        rows = self.subscription.rows
        return rows[index - len(rows)] if len(rows) - index < _CLOSE else next(islice(rows, index, None))

    def key_at(self, index: int) -> Hashable:
        """Return the number of a row since the start, which stays when older rows are dropped."""
        return index if self.subscription is None else self.subscription.dropped + index

    def index_of(self, key: Hashable) -> int | None:
        """Return the row of a key; None if it was dropped."""
        if self.subscription is None or not isinstance(key, int):
            return None
        at = key - self.subscription.dropped
        return at if 0 <= at < len(self) else None

    def render(self, index: int, width: int, selected: bool, focused: bool) -> list[Segment]:
        """Return one row."""
        row = self.row(index)
        sign, role = _sign_of(row)
        at = self._journal.clock(round(row.at * 1e6)).astimezone().strftime("%H:%M:%S.%f")[:-3]
        line = [*paint.cell([(at, "muted")], _TIME), *paint.cell([(sign, role)], 2)]
        room = width - _TIME - 2
        if row.kind in ("event", "repeat"):
            if width >= _MIN_FOR_ID:
                line += [*paint.cell([(row.event_id, role)], _ID - 1), Segment(" ")]
                room -= _ID
            wide = width >= _MIN_FOR_CURSOR and bool(row.cursor)
            pieces = [*([(f"{row.note}  ", "finding")] if row.note else []), (row.data, "normal")]
            line += paint.cell(pieces, room - (_CURSOR if wide else 0))
            return [*line, *paint.cell([(row.cursor, "muted")], _CURSOR, right=True)] if wide else line
        words = {"active": "confirmed", "gap": "gap", "heartbeat": "heartbeat", "error": "error"}.get(row.kind, "")
        cursor = f"cursor {row.cursor}" if row.cursor else ""
        return [*line, *paint.cell([(f"{words:<11}" if words else "", role), (row.note or cursor, "muted")], room)]


def _sign_of(row: EventRow) -> tuple[str, str]:
    signs = signs_now()
    if row.kind == "event":
        return (signs.finding, "finding") if row.note else (signs.received, "received")
    return {
        "repeat": (signs.times, "muted"),
        "active": (signs.live, "received"),
        "gap": (signs.finding, "finding"),
        "heartbeat": (signs.later, "muted"),
        "error": (signs.failed, "error"),
        "terminated": (signs.failed, "error"),
    }.get(row.kind, (signs.local, "muted"))


TICK = 0.1
"""Seconds between two looks at the subscription."""


class EventsScreen(FullScreen[int | None]):
    """The events view of a live session. Its result is the message to show, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("events")]
    DEFAULT_CSS = """
    EventsScreen #feed-body { height: 1fr; }
    EventsScreen #feed-left { width: 48; }
    EventsScreen #feed-right { width: 1fr; }
    EventsScreen #feed-types { height: 1fr; }
    EventsScreen #feed-about { height: 1fr; }
    EventsScreen #feed-form { height: auto; max-height: 45%; }
    EventsScreen #feed-form > FormView { max-height: 100%; }
    EventsScreen #feed-events { height: 1fr; }
    EventsScreen VirtualList { height: 1fr; }
    EventsScreen.-narrow #feed-left { width: 1fr; }
    EventsScreen.-narrow.-chosen #feed-left { display: none; }
    EventsScreen.-narrow #feed-right { display: none; }
    EventsScreen.-narrow.-chosen #feed-right { display: block; }
    """

    def __init__(self, session: Commands) -> None:
        super().__init__()
        self.session = session
        self.feed = Feed(session)
        self.types = TypeRows()
        self.rows = SubscriptionRows(session.journal)
        self.followed: Following | None = None
        self._polling = False
        self._drawn: tuple[Any, ...] = ()
        self._event: EventType | None = None

    def compose(self) -> ComposeResult:
        yield HeaderLine(id="header")
        with Horizontal(id="feed-body"):
            with Vertical(id="feed-left"):
                yield Pane(
                    VirtualList(self.types, empty="Reading events/list.", id="types"),
                    title="Event types",
                    id="feed-types",
                )
                yield Pane(FactsView(what="the event type", id="about"), title="Type", id="feed-about")
            with Vertical(id="feed-right"):
                yield Pane(
                    FormView(empty="This event type has no arguments.", id="arguments"),
                    title="Arguments",
                    id="feed-form",
                )
                yield Pane(
                    VirtualList(self.rows, empty="Follow the event type, or poll it once.", id="arrived"),
                    title="Events",
                    id="feed-events",
                )
        yield Footer(id="feed-footer")
        yield TooSmall()

    def on_mount(self) -> None:
        self._types.focus()
        self._arrived.can_follow = True
        self._arrived.follow = True
        self.query_one(HeaderLine).parts = chrome.header(self.session, None, self.size.width)
        self.set_interval(TICK, self.tick)
        self.action_again()

    def on_unmount(self) -> None:
        self.feed.close()

    def on_resize(self) -> None:
        self.set_class(self.size.width < TWO_COLUMNS, "-narrow")

    # Event types

    @property
    def _types(self) -> VirtualList:
        return self.query_one("#types", VirtualList)

    @property
    def _arrived(self) -> VirtualList:
        return self.query_one("#arrived", VirtualList)

    @property
    def _form(self) -> FormView:
        return self.query_one("#arguments", FormView)

    def action_again(self) -> None:
        """Read the list of event types again."""
        self.run_worker(self._load(), exclusive=True, group="events", exit_on_error=False)

    async def _load(self) -> None:
        edge = self.query_one("#feed-types", Pane)
        try:
            if not await self._allowed():
                self.dismiss(None)
                return
            self.types.rows = await self.feed.list_types()
        except InspectorError as error:
            self._types.empty = safe(error.message, 500)
            self._types.source_changed()
            self.notify(error_text(error, self), severity="warning", markup=False, timeout=8)
            return
        self._types.empty = "The server lists no event types."
        self._types.source_changed()
        edge.facts = [quantity(len(self.types), "type")]
        edge.tone = "error" if self.feed.problems else ""
        for problem in self.feed.problems[:3]:
            self.notify(safe(problem, 200), severity="warning", markup=False, timeout=8)
        await self._choose()

    async def _allowed(self) -> bool:
        """Whether events may be requested. The user is asked about a declaration of the older sketch (C-EVENT-03)."""
        if self.feed.declared.dialect != "sketch":
            self.feed.require()
            return True
        self.feed.require(sketch=True)
        asked = Confirm("Use the events of this server?", safe(self.feed.declared.problem, 200), "use", "cancel")
        agreed = await self.app.push_screen_wait(asked)
        return agreed is True

    async def on_virtual_list_highlighted(self, event: VirtualList.Highlighted) -> None:
        event.stop()
        if event.list_view is self._types:
            await self._choose()

    async def _choose(self) -> None:
        """Show the type under the cursor, and its form."""
        at = self._types.cursor
        event = self.types.rows[at] if 0 <= at < len(self.types) else None
        if event is self._event:
            return
        self._event = event
        self.query_one("#about", FactsView).set_sections([] if event is None else _about(event))
        schema = event.input_schema if event is not None else {}
        await self._form.show(Form(schema or {"type": "object"}))
        form = self.query_one("#feed-form", Pane)
        form.title = ["Arguments  ", (event.name if event is not None else "", "bright")]
        self._show_keys()

    def on_virtual_list_selected(self, event: VirtualList.Selected) -> None:
        event.stop()
        if event.list_view is self._types:
            self.add_class("-chosen")
            self.call_after_refresh(self._form.focus_first)
            self._show_keys()
            return
        at = self._arrived.cursor
        if 0 <= at < len(self.rows) and self.rows.row(at).n:
            self.dismiss(self.rows.row(at).n)

    # Polls and streams

    def _subscription(self) -> Subscription | None:
        """Return a subscription with the arguments of the form; None with a message if they are wrong."""
        event = self._event
        if event is None:
            return None
        if self._form.errors:
            self._form.focus_wrong()
            self.notify("Correct the arguments first.", severity="warning", timeout=4)
            return None
        value = self._form.value
        arguments = {} if value is UNSET or not isinstance(value, dict) else value
        known = self.rows.subscription
        if known is not None and known.event is event and known.arguments == arguments and self._is_over:
            return known  # Goes on at its cursor.
        return Subscription(event, arguments, data_check(event))

    @property
    def _is_over(self) -> bool:
        return self.followed is None or self.followed.over.is_set()

    def action_follow(self) -> None:
        """Follow the event type with the arguments of the form."""
        event = self._event
        if event is None or not self._is_over:
            return
        if event.follows_by is None:
            self.notify(f"{safe(event.name, 60)} is not delivered by poll or push.", markup=False, timeout=5)
            return
        subscription = self._subscription()
        if subscription is not None:
            self._show(subscription)
            self.followed = self.feed.follow(subscription, event.follows_by)
            self._show_keys()

    def action_poll(self) -> None:
        """Poll the event type once."""
        event = self._event
        if event is None or not self._is_over or self._polling:
            return
        if "poll" not in event.delivery:
            self.notify(f"{safe(event.name, 60)} is not delivered by poll.", markup=False, timeout=5)
            return
        subscription = self._subscription()
        if subscription is not None:
            self._show(subscription)
            self.followed = None
            self._polling = True
            self.run_worker(self._poll(subscription), exclusive=True, group="poll", exit_on_error=False)

    async def _poll(self, subscription: Subscription) -> None:
        try:
            await self.feed.poll(subscription)
        except InspectorError as error:
            subscription.note(error.message, 0, 0.0)
            self.notify(error_text(error, self), severity="error", markup=False, timeout=8)
        finally:
            self._polling = False
        self._show_keys()

    def _show(self, subscription: Subscription) -> None:
        self.add_class("-chosen")
        if subscription is not self.rows.subscription:
            self.rows.subscription = subscription
            self._drawn = ()
            self._arrived.source_changed()
        self._arrived.focus()
        self._arrived.action_last()

    def tick(self) -> None:
        """Draw what has arrived; read the list of types again if the server says that it has changed."""
        if self.feed.must_list_again:
            self.feed.must_list_again = False
            self.notify("The list of event types has changed and is read again.", timeout=5)
            self.action_again()
        subscription = self.rows.subscription
        if subscription is None:
            return
        state = self.followed.state if self.followed is not None else "polling" if self._polling else ""
        drawn = (subscription.total, state, self.feed.stray_count)
        if drawn == self._drawn:
            return
        ended = self._drawn[1:2] != (state,)
        self._drawn = drawn
        self._arrived.source_changed()
        edge = self.query_one("#feed-events", Pane)
        edge.facts = _facts(subscription, state, self.feed)
        edge.tone = "error" if self.followed is not None and self.followed.error is not None else ""
        if ended:
            reason = self.followed.reason if self.followed is not None and state == "ended" else ""
            if reason and reason != "Stopped.":
                self.notify(safe(reason, 300), severity="warning", markup=False, timeout=8)
            self._show_keys()

    # Keys

    def action_leave(self) -> None:
        """Stop following; then go back."""
        if not self._is_over and self.followed is not None:
            self.feed.stop(self.followed)
            self.tick()
            self._show_keys()
        elif self.has_class("-narrow") and self.has_class("-chosen"):
            self.remove_class("-chosen")
            self.call_after_refresh(self._types.focus)
            self._show_keys()
        else:
            self.dismiss(None)

    def hints(self) -> list[KeyHint]:
        """Return the keys that work now."""
        event = self._event
        if not self._is_over:
            return hints(self, ("events.leave", "stop"))
        can_follow = event is not None and event.follows_by is not None
        keys: list[str | tuple[str, str]] = ["events.follow"] if can_follow else []
        if event is not None and "poll" in event.delivery:
            keys.append("events.poll")
        return hints(self, *keys, "events.again", "events.leave")

    def on_descendant_focus(self) -> None:
        self._show_keys()

    def _show_keys(self) -> None:
        self.query_one(Footer).offer(self.hints(), "app.next-pane")


def _about(event: EventType) -> list[RowSection | JsonSection]:
    rows = [*paragraph(event.description or "no description"), *fact("delivery", ", ".join(event.delivery) or "none")]
    rows += [Row([(f"{signs_now().finding} {problem}", "finding")], 2) for problem in event.problems]
    sections: list[RowSection | JsonSection] = [RowSection(rows)]
    for title, schema in (("data (payloadSchema)", event.payload_schema), ("inputSchema", event.input_schema)):
        if schema:
            sections += [RowSection([Row(), Row([(title, "bright bold")])]), JsonSection(tree(encode(schema).decode()))]
    return sections


def _facts(subscription: Subscription, state: str, feed: Feed) -> list[paint.Pieces]:
    counts = subscription.counts
    live = state in ("active", "waiting", "starting", "polling")
    facts: list[paint.Pieces] = [[(state, "received" if live else "muted")]] if state else []
    facts.append(quantity(counts.events, "event"))
    for amount, noun, role in (
        (counts.gaps, "gap", "finding"),
        (counts.invalid, "invalid event", "finding"),
        (counts.repeats, "repeat", "muted"),
        (counts.errors, "error", "error"),
        (feed.stray_count, "stray notification", "finding"),
        (counts.older, "out of order", "muted"),
        (counts.heartbeats, "heartbeat", "muted"),
    ):
        if amount:
            text = f"{amount:,} out of order" if noun == "out of order" else quantity(amount, noun)
            facts.append([(text, role)])
    return facts


async def start(screen: MainScreen, tool: str, arguments: Any) -> None:
    """Show the events of the server. The draft extension must be offered (`--extension events`)."""
    session = screen.session.commands
    if session is None:
        screen.notify("A recording sends no requests; the log shows its events.", timeout=5)
        return
    if session.options.extensions.get(EVENTS) is None:
        screen.notify(
            "Events are a draft. Offer the extension io.modelcontextprotocol/events first: choose “extensions” in "
            "the palette, or connect with --extension events.",
            severity="warning",
            timeout=8,
        )
        return

    def opened(n: int | None) -> None:
        if n is not None:
            screen.post_message(ShowEvent(n))

    screen.app.push_screen(EventsScreen(session), opened)
