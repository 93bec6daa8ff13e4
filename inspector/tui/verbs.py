"""The table of all verbs of the interface: the source of bindings, palette, hints, help and the docs' key table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from inspector.feature import placed
from inspector.tui import feature_verbs
from inspector.tui.feature_verbs import VerbRow
from inspector.tui.model.tabs import TABS


class KeymapVerb(NamedTuple):
    """One action of the interface.

    `id` is `CONTEXT.NAME`, the name in a keymap; its action is NAME with underscores (`list.page-down` runs
    `action_page_down` of the widget that binds the context). `title` is the label in a hint, as short as possible.
    `group` is the heading in help. `key` is Textual's name of the default key, several separated by commas, or empty if
    only the palette has the verb. `context` is where it works. `description` is one sentence for help and the palette.
    """

    id: str
    title: str
    group: str
    key: str
    context: str
    description: str

    @property
    def action(self) -> str:
        """The name of the action method, without `action_`."""
        return self.id.partition(".")[2].replace("-", "_")


_OUTER: Mapping[str, str] = {
    "app": "",
    "replay": "app",
    "list": "app",
    "catalog": "list",
    "inbox": "list",
    "tasks": "list",
    "task": "tasks",
    "messages": "list",
    "timeline": "app",
    "text": "list",
    "json": "text",
    "content": "json",
    "table": "list",
    "form": "app",
    "resource": "form",
    "field": "form",
    "choices": "field",
    "items": "field",
    "result": "app",
    "call": "app",
    "ask": "form",
    "asked": "list",
    "detail": "app",
    "compose": "app",
    "server": "app",
    "failed": "app",
    "authorization": "app",
    "diff": "list",
    "pair": "form",
    "history": "list",
    "frame": "app",
    "check": "list",
    "calls": "list",
    "collection": "calls",
    "start": "app",
}
CONTEXTS: Mapping[str, str] = {**_OUTER, **{context.name: context.outer for context in feature_verbs.contexts()}}
"""Every context and its outer context, whose keys work in it too (a key of the inner context wins)."""

_APP = (
    ("palette", "palette", "ctrl+p", "Find any verb, tool, resource, prompt or theme by name."),
    ("search", "search", "ctrl+f", "Search items, arguments, messages, saved calls and earlier recordings."),
    ("help", "help", "question_mark,f1", "Show the keys of the focused pane."),
    ("quit", "quit", "q", "Quit; asks first if a call is in flight."),
    ("suspend", "suspend", "ctrl+z", "Stop the program for now, and return to the shell; `fg` continues it."),
    ("question", "to question", "ctrl+g", "Go to the next open question of the server."),
    ("start-list", "start", "b,f3", "Go to the start list; a key that is not a letter leads back. Sessions stay open."),
    ("next-pane", "next pane", "tab", "Go to the next pane or field, or to the previous one."),
    ("previous-pane", "previous pane", "shift+tab", "Go to the next pane or field, or to the previous one."),
    *(tab.row for tab in TABS),
    ("messages", "messages", "m", "Go to the message log, and from it back to where you were."),
    (
        "result",
        "to result",
        "alt+r",
        "Go to the result, the call or the question below the form, and back to the form.",
    ),
    ("back", "back", "escape", "Go from a message to the log; in one column, from the log to the list."),
    ("toggle-messages", "hide the log", "M", "Hide the message log, or show it again."),
    (
        "zoom",
        "zoom",
        "z,alt+z",
        "Give the focused pane the whole screen (the log: with waterfall), or restore the panes.",
    ),
    ("export", "export", "x", "Export the recording, or the events that match the filter."),
    ("compose", "compose", "ctrl+n", "Write any message by hand and send it."),
    ("reconnect", "reconnect", "f10", "Close the connection and open it again; in a recording, open its server."),
    ("restart", "restart", "", "Stop the server process and start it again."),
    ("revision", "revision", "f9", "Choose revision and era of the protocol, and reconnect with them."),
    ("extensions", "extensions", "", "Choose the extensions that the client offers, and reconnect with them."),
    ("watch", "watch files", "", "Restart the server when one of its files changes, or stop watching them."),
    (
        "side-by-side",
        "side by side",
        "vertical_line,alt+s",
        "Call the same tool in this session and in another open one, and compare the answers.",
    ),
    ("stderr", "stderr", "", "Show only what the server process wrote to stderr, in the message log."),
    ("compare-with", "compare with", "", "Compare this recording with another one, side by side."),
    (
        "check",
        "check this server",
        "",
        "Check the server against the specification, on separate connections.",
    ),
    ("pin", "pin", "", "Pin what the server offers now, to get a warning when it changes."),
    ("theme", "theme", "", "Choose a theme."),
    (
        "settings",
        "settings",
        "",
        "Open settings.json in $EDITOR, for the next start; `inspector settings` lists all.",
    ),
)
# `<` and `>` change the speed, as in other terminal players: digits are tabs, `+` and `-` change time and folds.
_REPLAY = (
    ("play", "play", "space", "Play the recording, or pause; at the end, play from the beginning."),
    ("next-frame", "next event", "right", "Go forward or back by one event."),
    ("previous-frame", "previous event", "left", "Go forward or back by one event."),
    ("next-exchange", "next call", "shift+right", "Go to the end of the next or previous call."),
    ("previous-exchange", "previous call", "shift+left", "Go to the end of the next or previous call."),
    (
        "next-finding",
        "next error",
        "right_square_bracket",
        "Go to the next or previous error or finding.",
    ),
    (
        "previous-finding",
        "previous error",
        "left_square_bracket",
        "Go to the next or previous error or finding.",
    ),
    ("next-hit", "next match", "n", "Go to the next or previous event that matches the log's filter."),
    ("previous-hit", "previous match", "N", "Go to the next or previous event that matches the log's filter."),
    ("slower", "slower", "less_than_sign", "Play slower or faster."),
    ("faster", "faster", "greater_than_sign", "Play slower or faster."),
    ("seek", "go to", "at", "Go to a time or to the number of an event."),
    (
        "to-start",
        "start",
        "ctrl+home",
        "Go to the beginning of the recording, or follow its end.",
    ),
    ("to-end", "end", "ctrl+end", "Go to the beginning of the recording, or follow its end."),
    ("answer", "its answer", "a", "Go to the answer of the shown question or request."),
    ("serve", "serve", "s", "Serve this recording as a mock server."),
    ("rerun", "rerun", "r", "Send the recorded messages to a live server, and compare."),
)
_LIST = (
    ("up", "up", "up,k", "Go to the previous or the next row."),
    ("down", "down", "down,j", "Go to the previous or the next row."),
    ("page-up", "page up", "pageup", "Go up or down by one screen."),
    ("page-down", "page down", "pagedown", "Go up or down by one screen."),
    ("first", "first", "home,g", "Go to the first row, or to the last one, and follow new rows."),
    ("last", "last", "end,G", "Go to the first row, or to the last one, and follow new rows."),
    ("select", "open", "enter", "Open the row."),
)
_CATALOG = (
    ("filter", "filter", "slash", "Show only what matches."),
    ("all", "all", "escape", "Clear the filter; without one, cancel the call of the row."),
    ("call", "send", "ctrl+r", "Send the request with the values of its form."),
    ("save", "save call", "ctrl+s", "Save the call with the values of its form, in a file."),
    ("refresh", "reload list", "r", "Request the list from the server again."),
    ("sort", "sort by cost", "o", "Sort the tools by what they cost a model, or show the server's order."),
)
_INBOX = (("ask-again", "ask me again", "a", "Show questions again that a standing answer would answer."),)
_TASKS = (
    ("cancel", "cancel", "delete", "Ask the server to cancel the task."),
    ("poll", "poll now", "p", "Request the status of the task now."),
    ("refresh", "reload list", "r", "Request the list of tasks from the server, including those of others."),
    ("its-messages", "its messages", "m", "Show only the messages that created the task or refer to it."),
    ("open-call", "its call", "o", "Go to the tool call that created the task."),
)
_TASK = (("leave", "list", "escape", "Go back to the list."),)
_MESSAGES = (
    ("filter", "filter", "slash", "Show only the messages that match a filter."),
    ("all", "all messages", "escape", "Clear the filter."),
    ("send-again", "send again", "ctrl+r", "Send the selected request again."),
    ("edit-again", "edit and send", "S", "Edit the selected message and send it."),
    ("copy", "copy", "c", "Copy the message as JSON."),
    ("copy-curl", "as curl", "C", "Copy the request as a curl command."),
    ("compare", "compare two", "d", "Compare the selected message with another: press it on both."),
    ("follow", "follow", "f", "Keep the newest message selected, or stop."),
    ("times", "times", "t", "Change the times: clock, since the start, since the previous message."),
    ("next-hit", "next match", "n", "Go to the next or previous message that matches the last filter."),
    ("previous-hit", "previous match", "N", "Go to the next or previous message that matches the last filter."),
    (
        "next-finding",
        "next error",
        "right_square_bracket",
        "Go to the next or previous error or finding.",
    ),
    (
        "previous-finding",
        "previous error",
        "left_square_bracket",
        "Go to the next or previous error or finding.",
    ),
    ("mark", "mark", "asterisk", "Mark the message in the recording, or remove its mark."),
    ("note", "note", "w", "Write a note on the message into the recording."),
    ("next-mark", "next mark", "right_curly_bracket", "Go to the next or previous marked message."),
    ("previous-mark", "previous mark", "left_curly_bracket", "Go to the next or previous marked message."),
    ("exchange", "only this call", "g", "Show only the messages of this call, or all again."),
    ("partner", "its answer", "p", "Jump from a request to its answer, and back."),
    ("fold", "fold", "minus", "Show one row per message, or every event: HTTP heads, ends of streams, pages of lists."),
    ("export", "export these", "x", "Export the messages that match the filter."),
    ("timeline", "timeline", "v", "Show the log as a timeline, on the whole screen."),
)
_TIMELINE = (
    ("zoom-in", "zoom in", "plus", "Show half of the time around the cursor, or twice the time."),
    ("zoom-out", "zoom out", "minus", "Show half of the time around the cursor, or twice the time."),
    ("left", "left", "left", "Move the cursor back or forward."),
    ("right", "right", "right", "Move the cursor back or forward."),
    ("pan-left", "earlier", "shift+left", "Show an earlier or a later part of the session."),
    ("pan-right", "later", "shift+right", "Show an earlier or a later part of the session."),
    ("first", "start", "home,g", "Move the cursor to the start of the session, or to its end, and follow it."),
    ("last", "end", "end,G", "Move the cursor to the start of the session, or to its end, and follow it."),
    ("previous", "previous", "up,k", "Select the previous or the next message at the cursor."),
    ("next", "next", "down,j", "Select the previous or the next message at the cursor."),
    ("mark", "mark range", "space", "Begin a range at the cursor, or drop it."),
    ("filter", "filter to range", "slash", "Show the rows of the range, or of the visible time."),
    ("open", "open", "enter", "Show the selected message in detail."),
    (
        "next-finding",
        "next error",
        "right_square_bracket",
        "Go to the next or previous error or finding.",
    ),
    (
        "previous-finding",
        "previous error",
        "left_square_bracket",
        "Go to the next or previous error or finding.",
    ),
    ("sort", "sort", "o", "Sort the methods by maximum, count, errors or name."),
    ("scope", "whole session", "s", "Measure the whole session instead of the visible time, or the reverse."),
    ("save", "write file", "w", "Write the figures of the methods and tools to a file, as JSON."),
    ("back", "back", "escape", "Drop the range; else show the whole session; else show the rows again."),
)
_TEXT = (
    ("search", "search", "slash", "Search in the text."),
    ("next-hit", "next match", "n", "Go to the next or previous match of the search."),
    ("previous-hit", "previous match", "N", "Go to the next or previous match of the search."),
    ("wrap", "wrap", "W", "Wrap long lines, or let the view scroll sideways."),
    ("show-all", "show all", "a", "Show the part that was cut."),
    ("copy", "copy", "c", "Copy the text."),
    ("scroll-left", "left", "left", "Scroll to the left or to the right."),
    ("scroll-right", "right", "right", "Scroll to the left or to the right."),
)
_JSON = (
    ("fold", "fold", "space", "Fold the value, or unfold it."),
    ("close", "fold", "left", "Fold the value or go to its parent, or unfold it or go to its first child."),
    ("open", "unfold", "right", "Fold the value or go to its parent, or unfold it or go to its first child."),
    ("fold-all", "fold all", "minus", "Fold everything below the top level, or unfold everything."),
    ("unfold-all", "unfold all", "equals_sign", "Fold everything below the top level, or unfold everything."),
    ("copy", "copy value", "c", "Copy the value."),
    ("copy-path", "copy path", "p", "Copy the path of the value as a JSON Pointer."),
    ("strings", "text blocks", "s", "Show strings of several lines as blocks of text, or on one line again."),
)
_CONTENT = (
    ("save", "write file", "w", "Write the image, sound or resource to a file."),
    ("go-to", "open", "o", "Go to the linked resource."),
    ("plain", "as written", "v", "Show Markdown and JSON as text, or formatted again."),
)
_TABLE = (
    ("sort", "sort", "o", "Sort by the column: ascending, descending, then in the server's order."),
    ("previous-column", "column", "left", "Go to the previous or the next column."),
    ("next-column", "column", "right", "Go to the previous or the next column."),
    ("move-left", "move left", "shift+left", "Move the column to the left or to the right."),
    ("move-right", "move right", "shift+right", "Move the column to the left or to the right."),
    ("hide", "hide column", "minus", "Hide the column, or show all columns in the server's order."),
    ("show-columns", "all columns", "equals_sign", "Hide the column, or show all columns in the server's order."),
    ("filter", "filter", "slash", "Show only the rows that contain what you type; `column:>5` compares."),
    ("all", "all rows", "escape", "Clear the filter, or close the open row."),
    ("copy", "copy cell", "c", "Copy the cell."),
    ("copy-row", "copy row", "C", "Copy the row as JSON."),
    ("save", "write file", "w", "Write the visible rows and columns to a file, as CSV."),
)
_FORM = (
    ("call", "send", "ctrl+r", "Send the request with these arguments."),
    ("call-task", "as a task", "f4", "Call the tool as a task, if it supports tasks."),
    ("json", "json", "ctrl+e", "Show the arguments as JSON, or as a form again."),
    ("editor", "$EDITOR", "ctrl+o", "Edit the arguments as JSON in your editor."),
    (
        "past-calls",
        "earlier calls",
        "up",
        "List the history of earlier calls, of other sessions too; choose the arguments of one.",
    ),
    ("empty", "clear form", "alt+l", "Drop the values of the form; defaults of the schema stay."),
    ("save", "save call", "ctrl+s", "Save the call with these arguments, in a file."),
    ("saved-calls", "saved calls", "f5", "Load the next saved call of this item into the form."),
    ("about", "whole text", "f2", "Show the whole description, or only its beginning."),
    ("leave", "list", "escape", "Go back to the list."),
)
_RESOURCE = (
    ("read", "read", "enter", "Read the resource."),
    ("subscribe", "subscribe", "u", "Subscribe to changes of the resource, or unsubscribe."),
)
_FIELD = (
    ("next", "next field", "enter,down", "Go to the next field."),
    ("newline", "new line", "ctrl+j", "Insert a line break in a text field."),
    ("null", "null", "ctrl+t", "Make the value null, or a value again."),
    ("clear", "unset", "ctrl+l", "Unset the field, or restore its default."),
    ("file", "file", "alt+f", "Choose a file whose bytes are sent, if the field takes one."),
    ("remove", "remove", "alt+delete,f8", "Remove this item, or an added key."),
    ("move-up", "move up", "alt+up,f6", "Move this item up or down."),
    ("move-down", "move down", "alt+down,f7", "Move this item up or down."),
)
_CHOICES = (
    ("previous", "previous", "left", "Go to the previous or the next choice; a single choice is also selected."),
    ("following", "next", "right", "Go to the previous or the next choice; a single choice is also selected."),
    ("choose", "choose", "space", "Select the choice, or deselect it; open a list of choices."),
    ("open", "open", "down", "Open the list of choices."),
    ("dismiss", "close", "escape", "Close the list of choices."),
)
_ITEMS = (
    ("open", "open", "enter,space", "Show the members, or hide them."),
    ("add", "add", "plus", "Add an item."),
    ("remove", "remove", "delete", "Remove this item."),
)
_RESULT = (
    ("call", "send again", "ctrl+r", "Send the request again with the values of the form."),
    ("copy", "copy", "c", "Copy the result."),
    ("save", "write file", "w", "Write the result to a file."),
    ("save-call", "save call", "ctrl+s", "Save the call with the arguments of this result, in a file."),
    ("open", "open link", "o", "Open the link that the server needs you to open first, in your browser."),
    ("next-tab", "next view", "right_curly_bracket", "Show the next or previous view of the result."),
    ("previous-tab", "previous view", "left_curly_bracket", "Show the next or previous view of the result."),
    ("json", "raw", "e", "Show the raw answer as JSON, or the first view again."),
    (
        "next-difference",
        "next difference",
        "right_square_bracket",
        "Go to the next or previous value that differs from the schema.",
    ),
    (
        "previous-difference",
        "previous difference",
        "left_square_bracket",
        "Go to the next or previous value that differs from the schema.",
    ),
    ("its-messages", "messages", "m", "Show only the messages of this call."),
    ("export", "export call", "x", "Export the messages of this call."),
    ("compare", "compare", "D", "Compare the result with that of the call before of the same item."),
    ("expect", "expect", "E", "Write an expectation from this result into a saved call."),
    (
        "pin-call",
        "run on restart",
        "P",
        "Send this call again after each restart of a watched server, or stop doing so.",
    ),
    ("leave", "list", "escape", "Go back to the list."),
)
_CALL = (
    ("cancel", "cancel call", "escape", "Cancel the call."),
    ("more-time", "more time", "plus", "Extend the timeout of the call by the same time again."),
    ("its-messages", "messages", "m", "Show only the messages of this call."),
)
_ASK = (
    ("accept", "send answer", "ctrl+r", "Send your answer."),
    ("decline", "decline", "ctrl+d", "Decline the question."),
    ("cancel", "cancel", "alt+c", "Answer an elicitation with “cancel”."),
    ("later", "later", "escape", "Leave the question open; it waits in the inbox."),
    ("standing", "always", "ctrl+s", "Give this answer to every question of this kind from now on."),
    ("open", "open URL", "o", "Open the URL in your browser."),
    ("copy", "copy URL", "c", "Copy the URL, to open it elsewhere."),
    ("next", "next question", "ctrl+g", "Go to the next open question."),
    ("its-messages", "its messages", "m", "Show only the messages of the call that caused the question."),
)
_ASKED = (
    ("answer", "send answer", "ctrl+r", "Send your answer."),
    ("always", "always answer this", "ctrl+s", "Give this answer to every question of this kind from now on."),
    ("decline", "decline", "ctrl+d", "Decline the question."),
    ("later", "later", "escape", "Leave the question open; it waits in the inbox."),
)
_DETAIL = (
    ("copy", "copy", "c", "Copy the message as JSON."),
    ("copy-curl", "as curl", "C", "Copy the request as a curl command."),
    ("copy-command", "as command", "", "Copy the request as an inspector command."),
    ("copy-python", "as Python", "", "Copy the request as Python."),
    ("save", "write file", "w", "Write the message to a file."),
    ("mark", "mark", "asterisk", "Mark the message in the recording, or remove its mark."),
    ("related", "related", "r", "Go to the request, answer or call that this message belongs to."),
    ("export", "export call", "x", "Export the request, its answer, and the messages between them."),
    ("open-source", "open file", "o", "Open the file and line that this text of stderr names in $EDITOR."),
    ("why", "why this rule", "question_mark", "Explain the finding's rule."),
    ("next-tab", "next view", "right_curly_bracket", "Show the next or previous view of the message."),
    ("previous-tab", "previous view", "left_curly_bracket", "Show the next or previous view of the message."),
)
_COMPOSE = (
    ("send", "send", "ctrl+r", "Send the message unchanged, valid or not."),
    ("method", "method", "ctrl+t", "Choose a method for the message."),
    ("as-typed", "as typed", "ctrl+e", "Send JSON with its line ends, or on one line again."),
    ("close", "close", "escape", "Close the editor; the text is kept as a draft."),
)
_SERVER = (
    ("reconnect", "reconnect", "r", "Close the connection and open it again."),
    ("restart", "restart", "R", "Stop the server process and start it again."),
    ("edit", "edit", "e", "Change the command or URL, variables or headers, and open it instead."),
    ("watch", "watch files", "w", "Restart the server when one of its files changes, or stop watching them."),
    ("log-level", "log level", "l", "Choose the log level of the server."),
    ("authorization", "login", "a", "Show the steps of the login and the current token."),
    ("open-source", "open file", "o", "Open the file and line that this row of stderr names in $EDITOR."),
)
_FAILED = (
    ("stop", "stop", "escape", "Stop connecting."),
    ("again", "start again", "r", "Connect again."),
    ("call-again", "send again", "ctrl+r", "Connect again, and send the call that was lost again."),
    ("watch", "watch files", "w", "Restart the server when one of its files changes, or stop watching them."),
    ("edit", "edit", "e", "Change the command or URL, variables or headers, and open it instead."),
    ("doctor", "doctor", "d", "Check each step of the connection, find the cause and suggest a fix."),
    ("back", "back", "escape", "Show why the connection ended, instead of the doctor's report."),
    ("copy", "copy report", "c", "Copy the steps and the last lines of stderr for a bug report."),
    ("open-source", "open file", "o", "Open the file and line that stderr names in $EDITOR."),
    ("authorization", "login", "a", "Show the steps of the login and where it stopped."),
    (
        "otherwise",
        "other login",
        "o",
        "Choose client, scopes, issuer, grant or token, and log in with them.",
    ),
)
_AUTHORIZATION = (
    ("open", "unfold step", "enter", "Unfold the step, or fold it."),
    ("again", "rerun step", "r", "Run only this step again, if possible."),
    ("log-in", "log in again", "L", "Log in again from the first step, even if a token is stored."),
    (
        "otherwise",
        "other login",
        "o",
        "Choose client, scopes, issuer, grant or token, and log in with them.",
    ),
    ("log-out", "log out", "O", "Revoke the tokens and delete them."),
    ("reveal", "show token", "T", "Show the token itself, or hide it again."),
    ("its-messages", "its messages", "m", "Go to the messages of the step."),
    ("copy", "copy report", "c", "Copy the steps, and the details of the failed one, for a bug report."),
    ("next-tab", "next view", "right_curly_bracket", "Show the next or previous view of the request and response."),
    (
        "previous-tab",
        "previous view",
        "left_curly_bracket",
        "Show the next or previous view of the request and response.",
    ),
    ("leave", "back", "escape", "Go back."),
)
_DIFF = (
    ("next", "next", "right_square_bracket", "Go to the next or previous difference."),
    ("previous", "previous", "left_square_bracket", "Go to the next or previous difference."),
    ("same", "all", "s", "Show equal calls as well, or hide them again."),
    ("frame-a", "open A", "a", "Open recording A or B at the message."),
    ("frame-b", "open B", "b", "Open recording A or B at the message."),
    ("json", "json", "v", "Show both results as JSON, or as text again."),
    ("copy", "copy", "c", "Copy both sides of the difference."),
    ("leave", "back", "escape", "Return to the screen that opened the comparison."),
)
_PAIR = (
    ("call", "send", "ctrl+r", "Call the tool in both sessions with these arguments, and compare the answers."),
    ("tool", "tool", "f4", "Choose another tool of the two sessions."),
    ("past-calls", "earlier calls", "up", "List earlier calls of both sessions; choose the arguments of one."),
    ("question", "to question", "ctrl+g", "Go to the session whose server asks; the key for side by side returns."),
    ("session-a", "session A", "f6", "Go to session A or B."),
    ("session-b", "session B", "f7", "Go to session A or B."),
    ("leave", "back", "escape", "Cancel the calls that run; else return to session A."),
)
_HISTORY = (
    ("compare", "compare two", "d", "Compare the answer of the selected call with another: press it on both."),
    ("leave", "back", "escape", "Return to the form."),
)
_FRAME = (("leave", "back", "backspace", "Return to the comparison, or to the checks."),)
_CHECK = (
    ("run", "run", "ctrl+r", "Run all checks; for a recording, those that need no server."),
    ("again", "again", "r", "Run the selected check again."),
    ("stop", "stop", "delete", "Stop the checks, and keep their results so far."),
    ("its-messages", "its messages", "g", "Open the recording of the checks at the evidence of the selected check."),
    ("next", "next", "right_square_bracket", "Go to the next or previous failure or warning."),
    ("previous", "previous", "left_square_bracket", "Go to the next or previous failure or warning."),
    ("allow", "allow calls", "a", "Choose the tools that may be called, and run all checks."),
    ("hosts", "hosts", "h", "Choose the hosts whose limits are checked, and run all checks."),
    ("login", "with login", "l", "Include the authorization checks, or exclude them."),
    ("intrusive", "intrusive", "i", "Include checks that may do damage or take long, after a confirmation."),
    ("faults", "only fails", "o", "Show only failures, or everything."),
    ("level", "level", "f", "Show only the checks of one level."),
    ("report", "report", "x", "Save a report: JSON, JUnit, SARIF, Markdown, a web page, or a badge."),
    ("baseline", "save baseline", "w", "Save the results, so that later runs count only new ones."),
    ("copy", "copy", "c", "Copy the text of the selected check."),
    ("leave", "back", "escape", "Return from the text of a check to the list."),
)
_CALLS = (
    ("run", "run", "ctrl+r", "Run the step or the saved call under the cursor."),
    ("run-all", "run all", "R", "Run all saved calls."),
    ("edit", "edit", "e", "Open the file in $EDITOR at the line."),
    ("environment", "environment", "E", "Choose the environment whose variables are used."),
    ("new", "new from a call", "n", "Save a call of this session."),
    (
        "next-failure",
        "next failure",
        "right_square_bracket",
        "Go to the next or previous failed step or wrong file.",
    ),
    (
        "previous-failure",
        "failure before",
        "left_square_bracket",
        "Go to the next or previous failed step or wrong file.",
    ),
    ("its-messages", "its messages", "m", "Show only the messages of the last run of this saved call."),
    (
        "pin-flow",
        "run on restart",
        "P",
        "Run this saved call again after each restart of a watched server, or stop doing so.",
    ),
    ("leave", "back", "escape", "Stop the run; else drop the filter, or go back to the list."),
)
_COLLECTION = (("filter", "filter", "slash", "Show only the saved calls and steps that match."),)
_START = (
    ("open", "open", "enter", "Open the selected row."),
    ("beside", "open beside", "s", "Open the selected row in the background; the list stays."),
    ("side-by-side", "side by side", "vertical_line", "Open the row beside the session in front; call tools in both."),
    ("up", "up", "up", "Go up or down; the field keeps the focus."),
    ("down", "down", "down", "Go up or down; the field keeps the focus."),
    ("page-up", "page up", "pageup", "Go up or down by a page; the field keeps the focus."),
    ("page-down", "page down", "pagedown", "Go up or down by a page; the field keeps the focus."),
    ("filter", "type", "slash", "Go to the field: type a target, or a filter for the list."),
    ("clear", "clear", "escape", "Clear the field; if it is empty, go back to the session."),
    ("demo", "demo", "f5", "Open the demo server."),
    ("check", "check", "c", "Open the selected server or recording and check it."),
    ("doctor", "doctor", "d", "Find out why the selected server does not connect."),
    ("log-in", "log in", "l", "Open the selected server and log in."),
    ("export", "export", "x", "Export the selected recording."),
    ("keep", "keep", "K", "Keep the selected recording: it is never deleted unasked; or release it."),
    ("delete", "delete", "delete", "Close the selected session, or delete the selected recording after asking."),
)


_GROUPS: Mapping[str, tuple[str, Sequence[VerbRow]]] = {
    "app": ("Everywhere", _APP),
    "replay": ("A recording", _REPLAY),
    "list": ("Lists", _LIST),
    "catalog": ("Catalogues", _CATALOG),
    "inbox": ("Inbox", _INBOX),
    "tasks": ("Tasks", _TASKS),
    "task": ("Tasks", _TASK),
    "messages": ("Messages", _MESSAGES),
    "timeline": ("Timeline", _TIMELINE),
    "text": ("Text", _TEXT),
    "json": ("JSON", _JSON),
    "content": ("Content", _CONTENT),
    "table": ("Tables", _TABLE),
    "form": ("Forms", _FORM),
    "resource": ("Forms", _RESOURCE),
    "field": ("Fields", _FIELD),
    "choices": ("Fields", _CHOICES),
    "items": ("Fields", _ITEMS),
    "result": ("Result", _RESULT),
    "call": ("A call in flight", _CALL),
    "ask": ("A question", _ASK),
    "asked": ("A question", _ASKED),
    "detail": ("A message", _DETAIL),
    "compose": ("Writing a message", _COMPOSE),
    "server": ("Server", _SERVER),
    "failed": ("No connection", _FAILED),
    "authorization": ("A login", _AUTHORIZATION),
    "diff": ("A comparison", _DIFF),
    "pair": ("Two sessions side by side", _PAIR),
    "history": ("Earlier calls", _HISTORY),
    "frame": ("A recording opened from elsewhere", _FRAME),
    "check": ("Checks", _CHECK),
    "calls": ("Saved calls", _CALLS),
    "collection": ("Saved calls", _COLLECTION),
    "start": ("Start", _START),
}
"""The heading and the verbs of each context of the core, in the order of help."""


def _table() -> Iterator[KeymapVerb]:
    added = [(context.name, (context.title, context.rows), context.after) for context in feature_verbs.contexts()]
    for context, (group, rows) in placed(_GROUPS, added).items():
        of_features = [(verb.row[0], verb.row, verb.after) for _, verb in feature_verbs.verbs_in(context)]
        for name, title, key, description in placed({row[0]: row for row in rows}, of_features).values():
            yield KeymapVerb(f"{context}.{name}", title, group, key, context, description)


VERBS: tuple[KeymapVerb, ...] = tuple(_table())
"""Every verb, in the order of help and hints."""

BY_ID: Mapping[str, KeymapVerb] = {verb.id: verb for verb in VERBS}
