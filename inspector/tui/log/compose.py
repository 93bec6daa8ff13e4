"""Write a message by hand: any text, JSON or not, checked while it is typed and sent unchanged.

The answer appears beside the message on a wide screen, else below it, with its time and findings. The message can be
changed and sent again.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen

from inspector.client.engine.pending_requests import Call
from inspector.client.session_state import Commands
from inspector.errors import InspectorError
from inspector.protocol import jsonrpc
from inspector.protocol.jsonrpc import Shape
from inspector.protocol.revisions import NEWEST_LEGACY
from inspector.text import count, duration, safe
from inspector.tui.keymap import bindings
from inspector.tui.log.detail import DetailPane
from inspector.tui.model.widths import THREE_COLUMNS, TWO_COLUMNS
from inspector.tui.pane_keys import hints
from inspector.tui.pane_messages import Copy, Save, ShowEvent
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.clipboard import copy
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.sections import json_spans
from inspector.tui.widgets.virtual_list import TextRows, VirtualList

LIMIT = 500_000
"""Characters that can be edited here."""
COLOURED = 10_000
"""Characters up to which JSON is coloured while it is typed."""
WATCH = 0.1
"""Seconds between two checks for the answer."""

METHODS: dict[str, dict[str, Any] | None] = {
    "tools/call": {"name": "", "arguments": {}},
    "tools/list": None,
    "resources/list": None,
    "resources/templates/list": None,
    "resources/read": {"uri": ""},
    "resources/subscribe": {"uri": ""},
    "resources/unsubscribe": {"uri": ""},
    "prompts/list": None,
    "prompts/get": {"name": "", "arguments": {}},
    "completion/complete": {"ref": {"type": "ref/prompt", "name": ""}, "argument": {"name": "", "value": ""}},
    "logging/setLevel": {"level": "info"},
    "ping": None,
    "initialize": {
        "protocolVersion": NEWEST_LEGACY,
        "capabilities": {},
        "clientInfo": {"name": "inspector", "version": "0"},
    },
    "notifications/initialized": None,
    "notifications/cancelled": {"requestId": 0, "reason": ""},
    "notifications/progress": {"progressToken": 0, "progress": 1, "total": 2},
    "notifications/roots/list_changed": None,
}
"""The methods that can be sent to a server, with initial parameters."""

_drafts: WeakKeyDictionary[Commands, str] = WeakKeyDictionary()


def template(method: str, id: int) -> str:
    """Return the initial text for a method."""
    params = METHODS.get(method)
    if method.startswith("notifications/"):
        return json.dumps(jsonrpc.notification(method, params), indent=2)
    return json.dumps(jsonrpc.request(id, method, params), indent=2)


def with_method(text: str, method: str, id: int) -> str:
    """Return a message with another method; it keeps the parameters that the user filled in."""
    try:
        message = jsonrpc.parse(text.encode("utf-8", "surrogatepass"))
    except jsonrpc.NotJson:
        message = None
    if not isinstance(message, dict) or message.get("params") in (None, METHODS.get(str(message.get("method")))):
        return template(method, id)
    kept = {key: value for key, value in message.items() if key != "id" or not method.startswith("notifications/")}
    return json.dumps({**kept, "method": method}, indent=2, ensure_ascii=False)


class DescribedMessage:
    """A text as a message: its description, and the bytes to send.

    Over stdio a message is a line. JSON on several lines is therefore sent on one, which does not change its value,
    unless `as_typed` is set. Text that is not JSON is always sent as it is.
    """

    def __init__(self, text: str, *, one_line: bool, as_typed: bool) -> None:
        self.data = text.encode("utf-8", "surrogatepass")
        self.message: Any = None
        self.words: list[paint.Piece] = []
        if not text.strip():
            self.words = [("empty", "muted")]
            return
        try:
            self.message = jsonrpc.parse(self.data)
        except jsonrpc.NotJson as problem:
            self.words = [("not JSON: ", "error"), str(problem), (", sent as it is", "muted")]
        else:
            self.words = _what(self.message)
            if one_line and not as_typed:
                # In JSON, a line end can only be between values (RFC 8259 section 7).
                self.data = text.strip().replace("\r", " ").replace("\n", " ").encode("utf-8", "surrogatepass")
        lines = self.data.count(b"\n") + 1
        if one_line and lines > 1:
            self.words.append((f", {count(lines)} lines, so as many messages", "finding"))


def _what(message: Any) -> list[paint.Piece]:
    shape = jsonrpc.shape_of(message)
    if shape == Shape.BATCH:
        return [f"batch of {count(len(message))}"]
    if shape == Shape.NONE:
        return [("JSON, but not a JSON-RPC message", "finding")]
    missing: list[paint.Piece] = [] if message.get("jsonrpc") == "2.0" else [(', without "jsonrpc": "2.0"', "finding")]
    if shape == Shape.NOTIFICATION:
        return ["notification ", (message["method"], "bright"), *missing]
    id = safe(json.dumps(message.get("id")) if not isinstance(message.get("id"), (dict, list)) else message["id"], 60)
    if shape == Shape.REQUEST:
        return ["request ", (message["method"], "bright"), f", id {id}", *missing]
    return [f"{'result' if shape == Shape.RESULT else 'error'} for id {id}", *missing]


def _colours(text: str) -> list[tuple[int, int, str]]:
    return json_spans(text) if len(text) <= COLOURED else []


class MessageEditor(Editor):
    """An editor that fills its area; enter starts a new line with the same indentation."""

    DEFAULT_CSS = """
    MessageEditor { height: 1fr; margin: 0 1; }
    """

    def __init__(self, value: str) -> None:
        super().__init__(
            value,
            multiline=True,
            placeholder="a message",
            ground="ground",
            idle_ground="ground",
            limit=LIMIT,
            highlight=_colours,
        )

    @property
    def rows_shown(self) -> int:
        # Its height is that of its area, whatever the text.
        return 1

    def action_submit(self) -> None:
        row = self.buffer.rows[self.buffer.place()[0]]
        self._insert("\n" + row[: len(row) - len(row.lstrip(" "))])


class ComposeScreen(ModalScreen[None]):
    """The panel. It starts with `text`; if empty, with the last draft, or the template of a tool call."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("compose")]
    DEFAULT_CSS = """
    ComposeScreen { background: transparent; align: left bottom; }
    ComposeScreen > #panel { width: 59%; height: 1fr; margin: 2 0 1 0; }
    ComposeScreen #message, ComposeScreen #answer { height: 1fr; }
    ComposeScreen #answer { display: none; }
    ComposeScreen Horizontal { height: 1fr; }
    ComposeScreen #methods { width: 36; height: 1fr; display: none; }
    ComposeScreen.-narrow > #panel, ComposeScreen.-medium > #panel { width: 100%; }
    ComposeScreen.-medium > #panel { margin: 2 0 7 0; }
    ComposeScreen.-whole > #panel { width: 100%; margin: 2 0 1 0; }
    ComposeScreen.-medium.-answered > #panel { margin: 2 0 1 0; }
    ComposeScreen.-wide.-answered > #panel { width: 100%; layout: horizontal; }
    ComposeScreen.-wide.-answered #message, ComposeScreen.-wide.-answered #answer { width: 1fr; }
    """
    shows_findings = True
    """The judge keeps running while the screen is open: it shows the findings of the answer."""
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (TWO_COLUMNS, "-medium"), (THREE_COLUMNS, "-wide")]  # noqa: RUF012

    def __init__(self, session: Commands, text: str = "", *, whole: bool = False) -> None:
        """`whole`: over the whole screen, because the log has it and no part of it could be read beside this."""
        super().__init__(classes="-whole" if whole else None)
        self.session = session
        self.as_typed = False
        self._call: Call | None = None
        self._editor = MessageEditor(text or _drafts.get(session) or template("tools/call", session.next_id))
        self._methods = VirtualList(TextRows([(name,) for name in METHODS]), id="methods")
        self._edge = Pane(title="Message", id="message")
        self._answer = DetailPane(session, id="answer")

    def compose(self) -> ComposeResult:
        with Vertical(id="panel"):
            with self._edge, Horizontal():
                yield self._methods
                yield self._editor
            yield self._answer

    def on_mount(self) -> None:
        self._edge.keys = hints(self, "compose.send", "compose.method", "compose.as-typed", "compose.close")
        self._editor.buffer.go(0)
        self._editor.focus()
        self.set_interval(WATCH, self._watch)
        self._describe()

    @property
    def described(self) -> DescribedMessage:
        """The text as a message, and the bytes to send."""
        one_line = self.session.target.kind == "stdio"
        return DescribedMessage(self._editor.value, one_line=one_line, as_typed=self.as_typed)

    def _describe(self) -> None:
        described = self.described
        self._edge.facts = [described.words]
        self._edge.tone = ""

    def on_editor_changed(self, event: Editor.Changed) -> None:
        event.stop()
        _drafts[self.session] = event.value
        self._describe()

    def on_editor_too_long(self, event: Editor.TooLong) -> None:
        event.stop()
        self._say([(f"More than {count(LIMIT)} characters cannot be edited here.", "error")])

    def _say(self, words: paint.Pieces) -> None:
        self._edge.note = words

    # Send

    def action_send(self) -> None:
        """Send the text. An error is shown here, and the text stays."""
        described = self.described
        if not described.data:
            self._say([("The message is empty.", "error")])
            return
        try:
            sent = self.session.send_raw(described.data)
        except InspectorError as error:
            self._call = None
            self._say([(error.message, "error")])
            return
        self._call = sent if isinstance(sent, Call) else None
        n = sent.n if isinstance(sent, Call) else sent
        self._say([("sent as message ", "muted"), (f"#{n}", "bright")])
        self._show(n)
        if isinstance(sent, Call):
            self._next_id(described.message)

    def _next_id(self, message: dict[str, Any]) -> None:
        """Give the text the next id, unless the user typed one: a repeated id would be an error."""
        text, id = self._editor.value, message["id"]
        if type(id) is not int or text != json.dumps(message, indent=2, ensure_ascii=False):
            return
        at = self._editor.buffer.cursor
        self._editor.value = json.dumps({**message, "id": self.session.next_id}, indent=2, ensure_ascii=False)
        self._editor.buffer.go(at)
        self._editor.refresh()

    def _show(self, n: int) -> None:
        """Show the sent message, then its answer, beside or below the editor."""
        if not self._answer.display:
            self._answer.display = True
            self.add_class("-answered")
        self._answer.show(n)

    def _watch(self) -> None:
        """Show the state of the last request."""
        if self._answer.display:
            self._answer.tick()
        call, signs = self._call, signs_now()
        if call is None:
            return
        took = duration(call.elapsed * 1_000_000)
        id = safe(call.id, 40)
        if call.fate == "pending":
            self._say([(signs.sent, "sent"), f" {id} ", (f"waiting {took}", "muted")])
            return
        self._call = None
        if call.answer_n:
            self._show(call.answer_n)
        if call.error is not None:
            self._say([(signs.failed, "error"), f" {id} ", (call.error.message, "error"), (f"  {took}", "muted")])
        else:
            self._say([(signs.received, "received"), f" {id} answered ", (took, "muted")])

    # Methods, line ends, closing

    def action_method(self) -> None:
        """Show the list of methods, or hide it again."""
        self._methods.display = not self._methods.display
        self.set_focus(self._methods if self._methods.display else self._editor)

    def on_virtual_list_selected(self, event: VirtualList.Selected) -> None:
        event.stop()
        method = list(METHODS)[event.index]
        self._editor.value = with_method(self._editor.value, method, self.session.next_id)
        self._editor.buffer.go(0)
        self.action_method()

    def on_virtual_list_highlighted(self, event: VirtualList.Highlighted) -> None:
        event.stop()

    # Actions on the answer

    def on_copy(self, event: Copy) -> None:
        event.stop()
        copy(self, event.text, event.what)

    def on_save(self, event: Save) -> None:
        """The screen below asks for a file name and saves."""
        event.stop()
        self.app.screen_stack[-2].post_message(event)

    def on_show_event(self, event: ShowEvent) -> None:
        """Show the message that belongs to the one shown."""
        event.stop()
        self._show(event.n)

    def action_as_typed(self) -> None:
        """Send JSON with its line ends, or on one line again."""
        self.as_typed = not self.as_typed
        self._say([("sent exactly as typed" if self.as_typed else "JSON is sent on one line", "muted")])
        self._describe()

    def action_close(self) -> None:
        """Close; keep the text as a draft."""
        if self._methods.display:
            self.action_method()
            return
        if self._answer.has_focus_within:
            self._editor.focus()
            return
        _drafts[self.session] = self._editor.value
        self.dismiss(None)
