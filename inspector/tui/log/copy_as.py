"""Turns a recorded request into text to paste: a curl command, an inspector command, a Python program.

The text has no secrets: each redacted value becomes a variable of the shell or the environment.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from textual.widget import Widget

from inspector.client.session_state import Commands
from inspector.config.secret_values import MASK
from inspector.errors import InspectorError, UsageError
from inspector.formats.quoting import (
    FIELD_NAME,
    REDACTED,
    VARIABLE,
    expression,
    fields_to_send,
    literal,
    one_line,
    variable,
    word,
)
from inspector.journal.format import Dir, Event, Kind
from inspector.journal.index import Index
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.lazy_pattern import lazy_pattern
from inspector.protocol import jsonrpc
from inspector.protocol.jsonrpc import Shape
from inspector.protocol.revisions import NEWEST_LEGACY
from inspector.protocol.views import View
from inspector.text import safe
from inspector.tui.advice import error_text
from inspector.tui.log.detail_view import json_text, request_head
from inspector.tui.log.summaries import headers_of
from inspector.tui.pane_messages import Copy

_MAX_OPTIONS = 50
_VARIABLE = lazy_pattern(r"""\$\{?(INSPECTOR_[A-Z0-9_]+)|environ\[["'](INSPECTOR_[A-Z0-9_]+)""")
_PLAIN_KEY = lazy_pattern(r"[A-Za-z_][\w-]*")
_URL = lazy_pattern(r"https?://", re.IGNORECASE)
_LISTS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "templates",
    "prompts/list": "prompts",
    "initialize": "info",
}


def sent_by_us(index: Index, n: int) -> int:
    """Return the message to send again at event `n`. It is `n`, our request that it answers, or 0."""
    if n and index.dir(n) == Dir.RECV and index.shape(n) in (Shape.RESULT, Shape.ERROR):
        n = index.pair(n)
    return n if n and index.dir(n) == Dir.SEND and index.kind(n) in (Kind.RPC, Kind.INVALID) else 0


def send_again(session: Commands, n: int) -> str:
    """Send event `n` again: a request with a new id, anything else unchanged. Returns why it failed."""
    event = session.journal.event(n)
    message = event.message
    try:
        if event.shape == Shape.REQUEST:
            session.start(message["method"], without_token(message.get("params")))
        elif event.shape == Shape.NOTIFICATION and isinstance(message.get("params", {}), dict):
            session.notify(message["method"], message.get("params"))
        else:
            session.send_raw(event.bytes)
    except InspectorError as error:
        return error.message
    return ""


def text_to_edit(session: Commands, n: int) -> str:
    """Return the text of event `n` to edit; a request gets the next id and loses its progress token."""
    event = session.journal.event(n)
    message = event.message
    if event.shape != Shape.REQUEST:
        return event.text if message is None else _pretty(message)
    edited = {**message, "id": session.next_id}
    params = without_token(message["params"]) if isinstance(message.get("params"), dict) else message.get("params")
    if params is None:
        edited.pop("params", None)
    else:
        edited["params"] = params
    return _pretty(edited)


def _pretty(message: Any) -> str:
    return json.dumps(message, indent=2, ensure_ascii=False)


def without_token(params: Any) -> dict[str, Any] | None:
    """Return the parameters of a request to send again, without its progress token."""
    if not isinstance(params, dict):
        return None
    meta = params.get("_meta")
    if not isinstance(meta, dict) or "progressToken" not in meta:
        return params
    kept = {key: value for key, value in meta.items() if key != "progressToken"}
    rest = {key: value for key, value in params.items() if key != "_meta"}
    if not kept:
        return rest or None
    return {**rest, "_meta": kept}


class CannotCopy(UsageError):
    """A message cannot be written in the requested form."""

    code = "copy"


def _sent(journal: Journal, n: int) -> Event:
    request = sent_by_us(journal.index, n)
    if not request:
        raise CannotCopy(
            "The selected event is not a message that Inspector sent.", hint="Choose a request, or the answer to one."
        )
    event = journal.event(request)
    if event.raw is None or "\0" in event.raw:
        raise CannotCopy("The message is not text, so it cannot be pasted.", hint="Save it to a file instead.")
    return event


def variables(text: str) -> list[str]:
    """Return the variables that a copied text has in place of secrets."""
    return list(dict.fromkeys(shell or python for shell, python in _VARIABLE.findall(text)))


# curl


def curl(journal: Journal, n: int) -> str:
    """Return the HTTP request of event `n` as a curl command. Raises `CannotCopy` if there is none."""
    head = _head(journal, n)
    request = sent_by_us(journal.index, n)
    lines = [f"curl -gsSN -X {word(head.text('method') or 'POST')} --url {word(head.text('url'))}"]
    lines += [f"-H {word(f'{name}: {value}', variable(name))}" for name, value in fields_to_send(headers_of(head))]
    if request and head.text("method").upper() == "POST":
        lines.append(f"--data-raw {word(_sent(journal, n).text)}")
    return " \\\n  ".join(lines)


def _head(journal: Journal, n: int) -> View:
    head_n = request_head(journal, sent_by_us(journal.index, n) or n)
    if not head_n:
        raise CannotCopy(
            "The message was not sent over HTTP, so curl cannot repeat it.",
            hint="The palette (^p) copies a stdio message as an inspector command or as Python.",
        )
    return View(journal.event(head_n).fields)


# Inspector's command line


def command(journal: Journal, n: int) -> str:
    """Return the request of event `n` as an inspector command. Raises `CannotCopy` if it is not a request."""
    event = _sent(journal, n)
    message = event.message
    if event.shape != Shape.REQUEST:
        raise CannotCopy("Only a request can be copied as a command.", hint="Copy the message as JSON instead.")
    method, params = message["method"], message.get("params")
    if method.startswith("-"):
        raise CannotCopy("Its method would be read as an option.", hint="Copy the message as JSON instead.")
    words = _verb(method, params if isinstance(params, dict) else {}, params)
    return " ".join(("inspector", *map(word, words), *_connection(journal), *map(word, _target(journal))))


def _verb(method: str, params: Mapping[str, Any], given: Any) -> list[str]:
    rest = {key for key in params if key != "_meta"}
    name, uri, arguments = params.get("name"), params.get("uri"), params.get("arguments", {})
    named = isinstance(name, str) and name != "" and not name.startswith("-") and isinstance(arguments, dict)
    if method == "tools/call" and named and rest <= {"name", "arguments"}:
        return ["call", str(name), *_pairs(arguments)]
    if method == "prompts/get" and named and rest <= {"name", "arguments"}:
        return ["prompt", str(name), *_pairs(arguments)]
    if method == "resources/read" and isinstance(uri, str) and uri and not uri.startswith("-") and rest == {"uri"}:
        return ["read", uri]
    if method in _LISTS and (not rest or method == "initialize"):
        return [_LISTS[method]]
    if given is None or (isinstance(given, dict) and not rest):
        return ["request", method]
    body = {key: params[key] for key in params if key != "_meta"} if isinstance(given, dict) else given
    return ["request", method, _json(body)]


def _pairs(arguments: Mapping[str, Any]) -> list[str]:
    if not all(_PLAIN_KEY.fullmatch(key) for key in arguments):
        return ["--args", _json(arguments)]
    return [_pair(key, value) for key, value in arguments.items()]


def _pair(key: str, value: Any) -> str:
    """Return `key=text`, or `key:=json` for a value that is not text or that would be read as another type."""
    if isinstance(value, str) and value and value[0] not in '[{"@':
        try:
            jsonrpc.parse(value.encode("utf-8", "surrogatepass"))
        except jsonrpc.NotJson:
            return f"{key}={value}"
    return f"{key}:={_json(value)}"


def _json(value: Any) -> str:
    return jsonrpc.encode(value).decode()


def _target(journal: Journal) -> list[str]:
    """Return the arguments that name the server, from the recording's header."""
    header = View(journal.header.get("target"))
    if header.text("name"):
        return [f"@{header.text('name')}"]
    argv = _argv(journal)
    if argv:
        return ["--", *argv]
    # What is not a URL would be read as a command or as the name of a config entry.
    return [header.text("url") if _URL.match(header.text("url")) else "TARGET"]


def _connection(journal: Journal) -> list[str]:
    """Return the quoted options that a target needs. Their values are not in the recording: they become variables."""
    header = View(journal.header.get("target"))
    if header.text("name"):
        return []
    options = [f"--cwd {word(header.text('cwd'))}"] if header.text("cwd") else []
    variables, fields = (
        [name for name in header.array(key)[:_MAX_OPTIONS] if isinstance(name, str) and shape.fullmatch(name)]
        for key, shape in (("env", VARIABLE), ("headers", FIELD_NAME))
    )
    options += [f'--env {name}="${name}"' for name in variables]
    return options + [f"--header {word(f'{name}: {MASK}', variable(name))}" for name in fields]


def _argv(journal: Journal) -> list[str]:
    argv = View(journal.header.get("target")).array("argv")
    return [word for word in argv if isinstance(word, str)]


# Python


def python(journal: Journal, n: int) -> str:
    """Return a Python program that sends the message of event `n` and prints the answer.

    It uses httpx for HTTP, else the standard library. Raises `CannotCopy` if event `n` is not a message of ours.
    """
    event = _sent(journal, n)
    if request_head(journal, event.n):
        return _python_http(_head(journal, n), event.text)
    return _python_stdio(journal, event)


def _python_http(head: View, body: str) -> str:
    headers = [
        f"    {literal(name)}: {expression(value, variable(name))}," for name, value in fields_to_send(headers_of(head))
    ]
    uses_environment = any("os.environ" in line for line in headers) or REDACTED.search(head.text("url") + body)
    return "\n".join(
        (
            *(("import os", "") if uses_environment else ()),
            "import httpx",
            "",
            "headers = {",
            *headers,
            "}",
            f"body = {expression(body)}",
            f"url = {expression(head.text('url'))}",
            "",
            'with httpx.stream("POST", url, headers=headers, content=body.encode(), timeout=60) as response:',
            "    print(response.status_code, response.reason_phrase)",
            "    for line in response.iter_lines():",
            "        print(line)",
            "",
        )
    )


def _python_stdio(journal: Journal, event: Event) -> str:
    argv = ", ".join(expression(word) for word in _argv(journal)) or '"SERVER", "ARGUMENT"'
    message = View(event.message)
    asked = event.shape == Shape.REQUEST
    opening = _opening(journal)
    sends: list[str] = []
    if message.text("method") != "initialize":
        sends = [
            f"send({expression(opening)})",
            f"answer({literal(View(jsonrpc.parse(opening.encode())).members.get('id'))})",
            """send('{"jsonrpc":"2.0","method":"notifications/initialized"}')""",
        ]
    sends.append(f"send({expression(one_line(event.text))})")
    if asked:
        sends.append(f"print(json.dumps(answer({literal(message.members.get('id'))}), indent=2))")
    body = "\n".join(sends)
    environment = "import os\n" if "os.environ" in argv + body else ""
    return f"""import json
{environment}import subprocess

server = subprocess.Popen([{argv}], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")


def send(text):
    server.stdin.write(text + "\\n")
    server.stdin.flush()


def answer(id):
    for line in server.stdout:
        message = json.loads(line)
        if message.get("id") == id and "method" not in message:
            return message


{body}
server.stdin.close()
server.wait(10)
"""


def _opening(journal: Journal) -> str:
    """Return the `initialize` message of this recording's connection, or one of ours."""
    n = Query(method="initialize").first(journal.index, upto=500)
    event = journal.event(n) if n else None
    if event is not None and event.shape == Shape.REQUEST and event.dir == Dir.SEND and event.raw is not None:
        return one_line(event.raw)
    client = {"protocolVersion": NEWEST_LEGACY, "capabilities": {}, "clientInfo": {"name": "script", "version": "1"}}
    return _json(jsonrpc.request(0, "initialize", client))


FORMS: Mapping[str, Callable[[Journal, int], str]] = {"curl": curl, "command": command, "Python": python}
"""Each form, by its name in a confirmation."""


def suggested_name(journal: Journal, n: int) -> str:
    """Return a safe file name for a message: `tools-call-7.json`. Text of the server is sanitised."""
    index = journal.index
    words: Sequence[str] = re.findall(r"[A-Za-z0-9]+", safe(index.method(n), 60))
    event = journal.event(n)
    suffix = "bin" if event.data is not None else "json" if event.kind == Kind.RPC else "txt"
    return f"{'-'.join(words) or 'message'}-{n}.{suffix}"


# The clipboard


def message_text(journal: Journal, n: int) -> str:
    """Return the text of event `n` as copy takes it; empty for 0."""
    event = journal.event(n) if n else None
    return (json_text(event) or event.text) if event is not None else ""


def copy_message(pane: Widget, journal: Journal, n: int) -> None:
    """Copy event `n` as JSON; nothing for 0."""
    if n:
        _copy(pane, message_text(journal, n), "the message")


def copy_request(pane: Widget, journal: Journal, n: int, form: str) -> None:
    """Copy the request that event `n` is or answers in one of `FORMS`, or tell why it cannot be."""
    if not n:
        return
    try:
        text = FORMS[form](journal, n)
    except InspectorError as error:
        pane.notify(error_text(error, pane), markup=False, timeout=5)
        return
    secrets = ", ".join(variables(text))
    _copy(pane, text, f"the request as {form}" + (f"; set {secrets} before you use it" if secrets else ""))


def _copy(pane: Widget, text: str, what: str) -> None:
    # A terminal cannot take a lone surrogate.
    pane.post_message(Copy(text.encode("utf-8", "replace").decode(), what))
