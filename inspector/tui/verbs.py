"""Every verb of the interface in one table: bindings, palette, hints, help and the docs' key table derive from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple


class Verb(NamedTuple):
    """One thing the interface can do.

    `id` is `CONTEXT.NAME` and is what a keymap names; its action is NAME with underscores (`list.page-down` runs
    `action_page_down` of the widget that binds the context). `title` is what a hint says, as short as can be. `group`
    is the heading in help. `key` is Textual's name of the default key, several apart by commas, or empty where only the
    palette has the verb. `context` is where it works. `description` is one sentence for help and the palette.
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


CONTEXTS: Mapping[str, str] = {
    "app": "",
    "replay": "app",
    "list": "app",
    "catalog": "list",
    "inbox": "list",
    "tasks": "list",
    "task": "tasks",
    "messages": "list",
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
    "detail": "app",
    "compose": "app",
    "server": "app",
    "failed": "app",
    "authorization": "app",
    "diff": "list",
    "frame": "app",
    "check": "list",
    "calls": "list",
    "collection": "calls",
    "start": "app",
}
"""Every context, and the one around it whose keys work in it too (a key of the inner context wins)."""

_APP = (
    ("palette", "palette", "ctrl+p", "Find any verb, tool, resource, prompt or theme by name."),
    ("help", "help", "question_mark", "Show the keys of the focused pane."),
    ("quit", "quit", "q", "Leave; asks only while a call is in flight."),
    ("start-list", "start", "b,f3", "Go to the start list, and back. The session stays open."),
    ("next-pane", "next pane", "tab", "Go to the next pane or field."),
    ("previous-pane", "previous pane", "shift+tab", "Go to the previous pane or field."),
    ("tab-1", "tools", "1", "Show the tools."),
    ("tab-2", "resources", "2", "Show the resources."),
    ("tab-3", "templates", "3", "Show the resource templates."),
    ("tab-4", "prompts", "4", "Show the prompts."),
    ("tab-5", "tasks", "5", "Show the tasks: what the server works on after it has answered."),
    ("tab-6", "server", "6", "Show the server: who it is, what it can, how the connection came about."),
    ("tab-7", "inbox", "7", "Show what the server asks of you."),
    ("tab-8", "check", "8", "Show what the server does against the specification."),
    ("tab-9", "calls", "9", "Show the saved calls: flows, their steps and the outcome of their last run."),
    ("messages", "messages", "m", "Go to the message log."),
    ("back", "back", "escape", "From a message to the log; in one column, from the log to the list."),
    ("toggle-messages", "hide", "M", "Hide the message log, or show it again."),
    ("zoom", "zoom", "z,alt+z", "Give the focused pane the whole screen, or restore the panes."),
    ("export", "export", "x", "Export the recording, or what a filter leaves of it."),
    ("compose", "compose", "ctrl+n", "Write any message by hand and send it."),
    ("reconnect", "reconnect", "", "Close the connection and open it again."),
    ("restart", "restart", "", "End the server process and start it again."),
    ("revision", "revision", "f9", "Choose the revision and era of the protocol, and connect again with them."),
    ("watch", "watch files", "", "Start the server again when one of its files changes, or watch them no more."),
    ("compare-with", "compare with", "", "Compare this recording with another one, side by side."),
    (
        "check",
        "check this server",
        "",
        "Check what the server does against the specification, on connections of its own.",
    ),
    ("pin", "pin", "", "Keep what the server offers now, and be warned when it offers something else."),
    ("theme", "theme", "", "Choose a theme."),
)
# `<` and `>` for the speed, as in other players on a terminal: digits are tabs, `+` and `-` allow time and fold.
_REPLAY = (
    ("play", "play", "space", "Play the recording, or pause; where it stands at the end, from the beginning."),
    ("next-frame", "next frame", "right", "Go on by one event."),
    ("previous-frame", "frame before", "left", "Go back by one event."),
    ("next-exchange", "next exchange", "shift+right", "Go on to where the next exchange ends."),
    ("previous-exchange", "exchange before", "shift+left", "Go back to where the exchange before ended."),
    ("next-finding", "next finding", "right_square_bracket", "Go on to the next event with a finding."),
    ("previous-finding", "finding before", "left_square_bracket", "Go back to the event before with a finding."),
    ("next-hit", "next hit", "n", "Go on to the next event that the log's filter leaves."),
    ("previous-hit", "hit before", "N", "Go back to the event before that the log's filter leaves."),
    ("slower", "slower", "less_than_sign", "Play slower."),
    ("faster", "faster", "greater_than_sign", "Play faster, up to as fast as it goes."),
    ("speed", "speed", "", "Choose how fast the recording is played."),
    ("seek", "go to", "at", "Go to a time or to the number of an event."),
    ("to-start", "start", "ctrl+home", "Go to where the recording begins."),
    ("to-end", "end", "ctrl+end", "Go to the end, and stay there if the recording grows."),
    ("answer", "its answer", "a", "Go to the answer of the question, or of the request, that is shown."),
    ("serve", "serve", "s", "Let a server answer from this recording."),
    ("rerun", "run again", "r", "Send what was sent to a live server, and compare."),
)
_LIST = (
    ("up", "up", "up,k", "Go to the previous row."),
    ("down", "down", "down,j", "Go to the next row."),
    ("page-up", "page up", "pageup", "Go up by what is visible."),
    ("page-down", "page down", "pagedown", "Go down by what is visible."),
    ("first", "first", "home,g", "Go to the first row."),
    ("last", "last", "end,G", "Go to the last row, and follow the end where rows keep coming."),
    ("select", "open", "enter", "Open the row."),
)
_CATALOG = (
    ("filter", "filter", "slash", "Show only what matches."),
    ("all", "all", "escape", "Drop the filter."),
    ("call", "call", "ctrl+r", "Send the request with what its form holds."),
    ("refresh", "list again", "r", "Ask the server for the list again."),
)
_INBOX = (("ask-again", "ask me again", "a", "Ask again what was to be answered by standing answers."),)
_TASKS = (
    ("cancel", "cancel", "delete,X", "Ask the server to cancel the task."),
    ("poll", "poll now", "p", "Ask the server now how the task stands."),
    ("refresh", "list again", "r", "Ask the server for its list of tasks, also those of others."),
    ("its-messages", "its messages", "m", "Show only the messages that made the task or name it."),
    ("open-call", "its call", "o", "Go to the tool by whose call the task was made."),
)
_TASK = (("leave", "list", "escape", "Go back to the list."),)
_MESSAGES = (
    ("filter", "filter", "slash", "Show only the messages that match a filter."),
    ("all", "all messages", "escape", "Drop the filter."),
    ("send-again", "send again", "s", "Send the selected request again."),
    ("edit-again", "edit and send", "S", "Edit the selected message and send it."),
    ("compare", "compare two", "d", "Compare the selected message with another."),
    ("follow", "follow", "f", "Keep the newest message selected, or stop doing so."),
    ("times", "times", "t", "Show times absolute, since the start, or since the previous message."),
    ("next-hit", "next hit", "n", "Go to the next message with the text that was searched for."),
    ("previous-hit", "previous hit", "N", "Go to the previous message with the text that was searched for."),
    ("next-finding", "next finding", "right_square_bracket", "Go to the next message with a finding."),
    ("previous-finding", "previous finding", "left_square_bracket", "Go to the previous message with a finding."),
    ("exchange", "exchange", "g", "Show only the messages of this exchange."),
    ("partner", "its partner", "p", "Jump from a request to its answer, and back."),
    ("fold", "fold", "minus", "Show one row a message, or every event: HTTP heads, ends of streams, pages of lists."),
    ("negotiation", "negotiation", "underscore", "Leave out how the connection was made, or show it again."),
    ("export", "export these", "x", "Export the messages that the filter leaves."),
)
_TEXT = (
    ("search", "search", "slash", "Search in the text."),
    ("next-hit", "next hit", "n", "Go to the next place where the text that was searched for stands."),
    ("previous-hit", "previous hit", "N", "Go to the previous place where the text that was searched for stands."),
    ("wrap", "wrap", "W", "Wrap long lines, or let the view scroll sideways."),
    ("show-all", "show all", "a", "Show what was cut for length."),
    ("copy", "copy", "c", "Copy the text."),
    ("scroll-left", "left", "left,h", "Scroll to the left."),
    ("scroll-right", "right", "right,l", "Scroll to the right."),
)
_JSON = (
    ("fold", "fold", "space", "Fold the value, or unfold it."),
    ("close", "fold", "left,h", "Fold the value, or go to the one around it."),
    ("open", "unfold", "right,l", "Unfold the value, or go into it."),
    ("fold-all", "fold all", "minus", "Fold everything below the top level."),
    ("unfold-all", "unfold all", "equals_sign", "Unfold everything."),
    ("copy", "copy value", "c", "Copy the value."),
    ("copy-path", "copy path", "p", "Copy the path of the value, as a JSON Pointer."),
    ("strings", "text blocks", "s", "Show strings of several lines as blocks of text, or on one line again."),
)
_CONTENT = (
    ("save", "save", "w", "Save the image, sound or resource to a file you name."),
    ("go-to", "open", "o", "Go to the resource that is linked."),
    ("plain", "as written", "v", "Show markdown and JSON as they were written, or drawn again."),
)
_TABLE = (
    ("sort", "sort", "o", "Sort by the column: ascending, then descending, then as the server sent it."),
    ("previous-column", "column", "left,h", "Go to the column at the left."),
    ("next-column", "column", "right,l", "Go to the column at the right."),
    ("move-left", "move left", "shift+left,H", "Move the column to the left."),
    ("move-right", "move right", "shift+right,L", "Move the column to the right."),
    ("hide", "hide column", "minus", "Hide the column."),
    ("show-columns", "all columns", "equals_sign", "Show all columns, in the order in which the server sent them."),
    ("filter", "filter", "slash", "Show only the rows that contain what you type; `column:>5` compares."),
    ("all", "all rows", "escape", "Drop the filter, or close the row that is open."),
    ("copy", "copy cell", "c", "Copy the cell."),
    ("copy-row", "copy row", "C", "Copy the row as JSON."),
    ("save", "save", "w", "Save the rows and columns that are shown as CSV."),
)
_FORM = (
    ("call", "call", "ctrl+r", "Send the request with these arguments."),
    ("call-task", "as a task", "f4", "Call the tool as a task, where it may be called so."),
    ("json", "json", "ctrl+e", "Show the same arguments as JSON, or as a form again."),
    ("editor", "$EDITOR", "ctrl+o", "Edit the arguments as JSON in your editor."),
    ("past-calls", "past calls", "up,ctrl+up", "Pick the arguments of an earlier call."),
    ("save", "save call", "ctrl+s", "Save the call with these arguments as a step of a flow."),
    ("saved-calls", "saved calls", "f5", "Load the next saved call of this item into the form."),
    ("about", "whole text", "f2", "Show all of the description, or only its beginning."),
    ("leave", "list", "escape", "Go back to the list."),
)
_RESOURCE = (
    ("read", "read", "enter", "Read the resource."),
    ("subscribe", "subscribe", "u", "Be told when the resource changes, or no longer."),
)
_FIELD = (
    ("next", "next field", "enter", "Go to the next field."),
    ("newline", "new line", "ctrl+j", "Begin a new line in a text field."),
    ("null", "null", "ctrl+t", "Make the value null, or a value again."),
    ("clear", "unset", "ctrl+l", "Unset the field, or put its default back."),
    ("remove", "remove", "alt+delete,f8", "Remove this item, or a key that was added."),
    ("move-up", "move up", "alt+up,f6", "Move this item up."),
    ("move-down", "move down", "alt+down,f7", "Move this item down."),
)
_CHOICES = (
    ("previous", "previous", "left", "Go to the previous choice; of one only, choose it."),
    ("following", "next", "right", "Go to the next choice; of one only, choose it."),
    ("choose", "choose", "space", "Choose, or take the choice back; open a list of choices."),
    ("open", "open", "down", "Open the list of choices."),
)
_ITEMS = (
    ("open", "open", "enter,space", "Show the members, or fold them away."),
    ("add", "add", "plus,insert", "Add an item."),
    ("remove", "remove", "delete", "Remove this item."),
    ("move-up", "move up", "shift+up", "Move this item up."),
    ("move-down", "move down", "shift+down", "Move this item down."),
)
_RESULT = (
    ("call", "call again", "ctrl+r", "Send the request again, with what the form holds."),
    ("copy", "copy", "c", "Copy the result."),
    ("save", "save", "w", "Save the result to a file."),
    ("open", "open the link", "o", "Open the link that the server wants opened first, in your browser."),
    ("next-tab", "next view", "right_curly_bracket", "Show the next view of the result."),
    ("previous-tab", "previous view", "left_curly_bracket", "Show the previous view of the result."),
    ("content", "content", "i", "Show the content: text, Markdown, pictures, links."),
    ("table", "table", "t", "Show the list of objects, or the CSV text, as a table."),
    ("structured", "structured", "d", "Show the structured result as JSON."),
    ("json", "raw", "e", "Show the exact answer as JSON, or the first view again."),
    (
        "next-difference",
        "next difference",
        "right_square_bracket",
        "Go to the next value that differs from the schema.",
    ),
    (
        "previous-difference",
        "previous difference",
        "left_square_bracket",
        "Go to the previous value that differs from the schema.",
    ),
    ("its-messages", "its messages", "m", "Show only the messages of this call."),
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
    ("cancel", "cancel the call", "escape", "Cancel the call, as the transport requires."),
    ("more-time", "more time", "plus", "Allow the call as much time again."),
    ("its-messages", "its messages", "m", "Show only the messages of this call."),
)
_ASK = (
    ("accept", "accept", "ctrl+r", "Send your answer."),
    ("decline", "decline", "ctrl+d", "Say no."),
    ("cancel", "cancel", "escape", "Dismiss the question without an answer."),
    ("standing", "always", "ctrl+s", "Answer every question of this kind this way from now on."),
    ("open", "open the URL", "o", "Open the URL in your browser."),
    ("copy", "copy the URL", "c", "Copy the URL, to open it elsewhere."),
    ("next", "next question", "ctrl+g", "Go to the next question that waits."),
    ("its-messages", "its messages", "m", "Show only the messages of the call inside which it was asked."),
)
_DETAIL = (
    ("copy", "copy", "c", "Copy the message as JSON."),
    ("copy-curl", "as curl", "C", "Copy the request as a curl command."),
    ("copy-command", "as command", "", "Copy the request as a command of ours."),
    ("copy-python", "as Python", "", "Copy the request as Python."),
    ("save", "save", "w", "Save the message to a file."),
    ("related", "related", "r", "Go to the message that this one answers, is answered by, or is about."),
    ("why", "why this rule", "question_mark", "Explain the finding's rule."),
    ("next-tab", "next view", "right_curly_bracket", "Show the next view of the message."),
    ("previous-tab", "previous view", "left_curly_bracket", "Show the previous view of the message."),
)
_COMPOSE = (
    ("send", "send", "ctrl+r", "Send the message as it stands, valid or not."),
    ("method", "method", "ctrl+t", "Choose a method to begin with."),
    ("as-typed", "as typed", "ctrl+e", "Send JSON with its line ends, or on one line again."),
    ("close", "close", "escape", "Close the editor; the text is kept as a draft."),
)
_SERVER = (
    ("reconnect", "reconnect", "r", "Close the connection and open it again."),
    ("restart", "restart", "R", "End the server process and start it again."),
    ("watch", "watch files", "w", "Start the server again when one of its files changes, or watch them no more."),
    ("log-level", "log level", "l", "Choose from which level the server logs."),
    ("authorization", "the login", "a", "Show the steps of the login, and who is logged in."),
)
_FAILED = (
    ("stop", "stop", "escape", "Stop connecting."),
    ("again", "start again", "r", "Try again."),
    ("watch", "watch files", "w", "Start the server again when one of its files changes, or watch them no more."),
    ("edit", "edit", "e", "Change the command or the URL, and open that instead."),
    ("doctor", "doctor", "d", "Look at each step of the connection for the cause, and for what mends it."),
    ("copy", "copy for a bug report", "c", "Copy the steps and the server's last words."),
    ("authorization", "the login", "a", "Show the steps of the login, and where it stopped."),
    (
        "otherwise",
        "log in otherwise",
        "o",
        "Say with which client, scopes, issuer, grant or token to log in, and log in so.",
    ),
)
_AUTHORIZATION = (
    ("open", "open the step", "enter", "Open the step, or close it."),
    ("again", "this step again", "r", "Run the step again, alone; where that cannot be, it says why."),
    ("log-in", "log in anew", "L", "Log in anew, from the first step on, whatever is stored."),
    (
        "otherwise",
        "log in otherwise",
        "o",
        "Say with which client, scopes, issuer, grant or token to log in, and log in so.",
    ),
    ("log-out", "log out", "O", "Give the tokens back, and forget them."),
    ("reveal", "show the token", "T", "Show the token itself, or hide it again."),
    ("its-messages", "its messages", "m", "Go to the messages of the step."),
    ("copy", "copy for a bug report", "c", "Copy the steps, and all there is to say of the one that failed."),
    ("next-tab", "next view", "right_curly_bracket", "Show the next view of what was sent and came back."),
    ("previous-tab", "previous view", "left_curly_bracket", "Show the previous view of what was sent and came back."),
    ("leave", "back", "escape", "Go back."),
)
_DIFF = (
    ("next", "next", "right_square_bracket", "Go to the next difference."),
    ("previous", "before", "left_square_bracket", "Go to the difference before."),
    ("same", "all", "s", "Show the exchanges that do not differ as well, or hide them again."),
    ("frame-a", "open A", "a", "Open recording A at the message."),
    ("frame-b", "open B", "b", "Open recording B at the message."),
    ("copy", "copy", "c", "Copy both sides of the difference."),
    ("leave", "back", "escape", "Go back to where the comparison was asked for."),
)
_FRAME = (("leave", "back", "backspace", "Go back to the comparison, or to the checks."),)
_CHECK = (
    ("run", "run all", "ctrl+r", "Run all checks; of a recording, those that need no server."),
    ("again", "again", "r", "Run the selected check again."),
    ("its-messages", "its messages", "g", "Open the recording of the checks where the selected one has its evidence."),
    ("next", "next", "right_square_bracket", "Go to the next fault."),
    ("previous", "before", "left_square_bracket", "Go to the fault before."),
    ("allow", "allow calls", "a", "Say which tools may be called, and run all checks."),
    ("login", "with login", "l", "Check how the server authorizes as well, or no longer."),
    ("intrusive", "intrusive", "i", "Do also what may do damage or take long, after asking."),
    ("faults", "only fails", "o", "Show only what failed, or everything."),
    ("level", "level", "f", "Show only the checks of one level."),
    ("report", "report", "x", "Save a report: JSON, JUnit, SARIF, Markdown, a web page, or a badge."),
    ("baseline", "to a baseline", "b", "Save what was found, so that later runs count only what is new."),
    ("copy", "copy", "c", "Copy what is said of the selected check."),
    ("leave", "back", "escape", "Stop the checks; in one column, go back to the list."),
)
_CALLS = (
    ("run", "run", "ctrl+r", "Run the step or the flow under the cursor."),
    ("run-all", "run all", "R", "Run all flows."),
    ("edit", "edit", "e", "Open the file in $EDITOR at the line."),
    ("environment", "environment", "E", "Choose the environment whose variables are used."),
    ("new", "new from a call", "n", "Save a call of this session as a step of a flow."),
    ("next-failure", "next failure", "right_square_bracket", "Go to the next failed step or wrong file."),
    ("previous-failure", "failure before", "left_square_bracket", "Go to the previous failed step or wrong file."),
    ("its-messages", "its messages", "m", "Show only the messages of the last run of this flow."),
    (
        "pin-flow",
        "run on restart",
        "P",
        "Run this flow again after each restart of a watched server, or stop doing so.",
    ),
    ("read-again", "read again", "r", "Read the files again."),
    ("leave", "back", "escape", "Stop the run; else drop the filter, or go back to the list."),
)
_COLLECTION = (("filter", "filter", "slash", "Show only the flows and steps that match."),)
_START = (
    ("open", "open", "enter", "Open the selected row."),
    ("up", "up", "up", "Go up; the field keeps the focus."),
    ("down", "down", "down", "Go down; the field keeps the focus."),
    ("page-up", "page up", "pageup", "Go up a page; the field keeps the focus."),
    ("page-down", "page down", "pagedown", "Go down a page; the field keeps the focus."),
    ("filter", "type", "slash", "Go to the field: type a target, or words to narrow the list."),
    ("clear", "clear", "escape", "Clear the field; where it is empty, go back to the session."),
    ("demo", "demo", "f5", "Open the demo server."),
    ("check", "check", "c", "Open the selected server or recording and check it."),
    ("doctor", "doctor", "d", "Find out why the selected server does not connect."),
    ("log-in", "log in", "l", "Open the selected server and log in."),
    ("export", "export", "x", "Export the selected recording."),
    ("delete", "delete", "delete", "Close the selected session, or delete the selected recording after asking."),
)


def _table() -> Iterator[Verb]:
    for context, group, rows in (
        ("app", "Everywhere", _APP),
        ("replay", "A recording", _REPLAY),
        ("list", "Lists", _LIST),
        ("catalog", "Catalogues", _CATALOG),
        ("inbox", "Inbox", _INBOX),
        ("tasks", "Tasks", _TASKS),
        ("task", "A task", _TASK),
        ("messages", "Messages", _MESSAGES),
        ("text", "Text", _TEXT),
        ("json", "JSON", _JSON),
        ("content", "Content", _CONTENT),
        ("table", "Tables", _TABLE),
        ("form", "Forms", _FORM),
        ("resource", "A resource", _RESOURCE),
        ("field", "Fields", _FIELD),
        ("choices", "Choices", _CHOICES),
        ("items", "Items of a field", _ITEMS),
        ("result", "Result", _RESULT),
        ("call", "A call in flight", _CALL),
        ("ask", "A question", _ASK),
        ("detail", "A message", _DETAIL),
        ("compose", "Writing a message", _COMPOSE),
        ("server", "Server", _SERVER),
        ("failed", "No connection", _FAILED),
        ("authorization", "A login", _AUTHORIZATION),
        ("diff", "A comparison", _DIFF),
        ("frame", "A recording opened from elsewhere", _FRAME),
        ("check", "Checks", _CHECK),
        ("calls", "Saved calls", _CALLS),
        ("collection", "The list of saved calls", _COLLECTION),
        ("start", "Start", _START),
    ):
        for name, title, key, description in rows:
            yield Verb(f"{context}.{name}", title, group, key, context, description)


VERBS: tuple[Verb, ...] = tuple(_table())
"""Every verb, in the order in which help and hints name them."""

BY_ID: Mapping[str, Verb] = {verb.id: verb for verb in VERBS}
