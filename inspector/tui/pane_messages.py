"""Messages between panes. A pane posts them; the screen that holds the panes acts on them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from textual.message import Message

from inspector.client.state.catalog import ListName
from inspector.config.targets import HttpTarget, StdioTarget, Target
from inspector.feature import Feature
from inspector.tui.feature_verbs import FeatureVerb

First = Literal["", "check", "doctor", "login"]
"""The first action of a session: a check, a login, or the doctor instead of a connection."""


class ItemHighlighted(Message):
    """The cursor of a catalog is on another item; `item` is None if the list is empty."""

    def __init__(self, list_name: ListName, item: dict[str, Any] | None) -> None:
        super().__init__()
        self.list_name = list_name
        self.item = item

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, ItemHighlighted)


class ItemOpened(Message):
    """The user chose an item of a catalog: focus its form."""

    def __init__(self, list_name: ListName, item: dict[str, Any]) -> None:
        super().__init__()
        self.list_name = list_name
        self.item = item


class OpenBeside(Message):
    """The user opened a row of a list: the focus goes to the pane beside it."""


class LeaveWork(Message):
    """The user left the middle column: the focus returns to the list."""


class ShowExchange(Message):
    """Show only the messages of the exchange of event `n`."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.n = n


class ShowFiltered(Message):
    """Show only the messages that match a filter."""

    def __init__(self, filter: str) -> None:
        super().__init__()
        self.filter = filter


class ShowEvent(Message):
    """Select event `n` in the message log and show its detail.

    `chosen` is the event of the row that the user chose in the log, or 0: a recording is shown as it was then.
    """

    def __init__(self, n: int, *, chosen: int = 0) -> None:
        super().__init__()
        self.n = n
        self.chosen = chosen


class MarksChanged(Message):
    """A mark of the recording was made or removed outside the log."""


class EventHighlighted(Message):
    """The cursor of the message log is on event `n` (0: on none)."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.n = n

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, EventHighlighted)


class ShowAuthorization(Message):
    """Show the newest login."""


class EditTargetWanted(Message):
    """Ask for another command or URL, and open it instead."""


class OpenInstead(Message):
    """End the session and open another target instead."""

    def __init__(self, target: StdioTarget | HttpTarget) -> None:
        super().__init__()
        self.target = target


class ShowStart(Message):
    """Show the start list, with `text` typed; the session stays open behind it."""

    def __init__(self, text: str = "") -> None:
        super().__init__()
        self.text = text


class OpenTarget(Message):
    """Open this target in a new session.

    `beside`: the session connects in the background. `paired`: it is shown side by side with the session in front.
    """

    def __init__(self, target: Target, first: First = "", *, beside: bool = False, paired: bool = False) -> None:
        super().__init__()
        self.target = target
        self.first = first
        self.beside = beside
        self.paired = paired


class SessionNews(Message):
    """The phase or the questions of a session have changed."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, SessionNews)


class WatchFiles(Message):
    """Restart the server when one of its files changes, or stop watching them."""


class OpenResource(Message):
    """Show the resource with this URI and read it."""

    def __init__(self, uri: str) -> None:
        super().__init__()
        self.uri = uri


class EditMessage(Message):
    """Write a message by hand, starting with `text`."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class SendAgain(Message):
    """Send event `n` of the recording again."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.n = n


class Copy(Message):
    """Copy a text to the clipboard; `what` names it in the confirmation."""

    def __init__(self, text: str, what: str) -> None:
        super().__init__()
        self.text = text
        self.what = what


class Save(Message):
    """Ask for a file name and write data to it. `suggested` is a safe file name of ours; `note` is shown afterwards."""

    def __init__(self, data: bytes, suggested: str, what: str, note: str = "") -> None:
        super().__init__()
        self.note = note
        self.data = data
        self.suggested = suggested
        self.what = what


class Export(Message):
    """Export the recording, or only the events in `numbers`; asks for format and name."""

    def __init__(self, numbers: Iterable[int] | None = None) -> None:
        super().__init__()
        self.numbers = None if numbers is None else list(numbers)


class SaveCall(Message):
    """Save a call of an item of the catalog as a step of a flow. `schema` is that of its arguments, or None."""

    def __init__(self, list_name: ListName, address: str, arguments: Any, schema: Any) -> None:
        super().__init__()
        self.list_name = list_name
        self.address = address
        self.arguments = arguments
        self.schema = schema


class UseFeature(Message):
    """Run a verb of a feature, if it has one on a tool with the arguments in its form."""

    def __init__(self, feature: Feature, verb: FeatureVerb, tool: str, arguments: Any) -> None:
        super().__init__()
        self.feature = feature
        self.verb = verb
        self.tool = tool
        self.arguments = arguments


class Reconnected(Message):
    """The session is connected again, and its lists were read and compared."""


class ZoomEnded(Message):
    """The next step is outside the zoomed pane: show all panes again."""


class HintsChanged(Message):
    """The keys of the focused pane have changed: draw the footer again."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, HintsChanged)
