"""Programs that repeat the requests of a recorded client: with our library, with the official SDK, and as tests."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any, NamedTuple

from inspector.formats.quoting import (
    FIELD_NAME,
    VARIABLE,
    NestedTooDeep,
    expression,
    literal,
    program_part,
    python_value,
    remark,
    variable,
)
from inspector.formats.selection import Selection, facts_of, left_out, message_of, target_of
from inspector.journal.exchange import ROUND_PARAMETERS
from inspector.journal.filters.conditions import subjects_of
from inspector.journal.format import Dir, Kind
from inspector.journal.index import State
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import Shape
from inspector.protocol.names import CAPABILITIES_KEY
from inspector.protocol.views import View
from inspector.text import duration
from inspector.version import __version__

_OPENING = frozenset(("initialize", "server/discover", "subscriptions/listen"))
_FOLLOWING = ("tasks/",)
_NO_ANSWER = frozenset((State.PENDING, State.CANCELLED, State.TIMED_OUT, State.LOST))
_ROOTS = Query(dir=Dir.SEND, shape=Shape.RESULT, method="roots/list")


class ExportStep(NamedTuple):
    """One request of the client."""

    n: int
    method: str
    params: dict[str, Any] | None
    """Without `_meta`, which each client creates itself."""
    comment: str
    """The request and its outcome, on one safe line."""
    why_not: str
    """Why it is not repeated; empty if it is."""
    round: bool = False
    """Whether it continues an earlier one."""


def steps(journal: Journal, chosen: Selection) -> Iterator[ExportStep]:
    """Yield the client's requests in the selected exchanges, in order.

    Requests that every client sends on its own are omitted: opening the connection, further pages of lists, polling
    tasks, input rounds after the first. So are requests without a response: a program would wait in vain.
    """
    index = journal.index
    for exchange in chosen.exchanges():
        n, method, state = exchange.n, exchange.method, index.state(exchange.n)
        if exchange.dir != "send" or method in _OPENING or method.startswith(_FOLLOWING):
            continue
        message = message_of(journal, n)
        given = message.members.get("params")
        params = {key: value for key, value in given.items() if key != "_meta"} if type(given) is dict else None
        name = next(iter(subjects_of(message.raw)), "")
        elapsed = index.duration(n)
        took = f" in {duration(elapsed)}" if elapsed is not None else ""
        comment = f"{n}: {remark(f'{method} {name}'.strip())}, {exchange.state}{took}"
        round = params is not None and not ROUND_PARAMETERS.isdisjoint(params)
        yield ExportStep(n, method, params, comment, _why_not(state, method, given, params, round), round)


def _why_not(state: State, method: str, given: Any, params: dict[str, Any] | None, round: bool) -> str:
    if state in _NO_ANSWER:
        return "it has no response"
    if round:
        return "it continues an earlier one"
    if method.endswith("/list") and params and "cursor" in params:
        return "it continues a list at a cursor of the recorded session"
    if given is not None and params is None:
        return "its parameters are not an object"
    try:
        python_value(params)
    except NestedTooDeep:
        return "its parameters are nested too deeply"
    return ""


class ClientAnswers(NamedTuple):
    """The client's answers to the server's questions, in order; None for a refusal."""

    sampling: list[dict[str, Any] | None]
    elicitation: list[dict[str, Any] | None]
    roots: list[dict[str, Any]]
    """The roots of the last answer with roots; of the whole recording if none is selected: they hold in between."""
    declared: frozenset[str] = frozenset()
    """The capabilities that the client declared, used or not: a server may offer more to it."""


MAX_ANSWERS = 1000
"""Maximum answers of each kind in a program."""


def answers(journal: Journal, chosen: Selection) -> ClientAnswers:
    """Return the client's answers: to requests of the server, and in its input rounds."""
    answers = ClientAnswers([], [], [], _declared(journal))
    index = journal.index
    for n in chosen.of(Kind.RPC):
        shape = index.shape(n) if index.dir(n) is Dir.SEND else Shape.NONE
        if shape in (Shape.RESULT, Shape.ERROR) and index.pair(n):
            result = message_of(journal, n).members.get("result")
            if type(result) is dict:
                _keep(answers, result)
            elif index.method(n) == "sampling/createMessage":
                answers.sampling.append(None)
            elif index.method(n) == "elicitation/create":
                answers.elicitation.append(None)
        elif shape is Shape.REQUEST:
            for answer in View(message_of(journal, n).object("params")).object("inputResponses").values():
                _keep(answers, answer)
    if not answers.roots and not chosen.everything:
        _keep(answers, message_of(journal, _ROOTS.last(index, 0, chosen.count)).members.get("result"))
    return answers


def _declared(journal: Journal) -> frozenset[str]:
    """Return the capabilities in the client's handshake or first modern request."""
    index = journal.index
    for n in range(1, index.count + 1):
        if index.dir(n) is not Dir.SEND or index.shape(n) is not Shape.REQUEST:
            continue
        params = message_of(journal, n).object("params")
        if index.method(n) == "initialize":
            return frozenset(View(params).object("capabilities"))
        meta = View(params).object("_meta")
        if CAPABILITIES_KEY in meta:
            return frozenset(View(meta).object(CAPABILITIES_KEY))
    return frozenset()


def _keep(kept: ClientAnswers, answer: Any) -> None:
    """Add an answer to its kind, which its members determine."""
    if type(answer) is not dict:
        return
    try:
        python_value(answer)
    except NestedTooDeep:
        return
    if type(answer.get("roots")) is list:
        kept.roots[:] = [root for root in answer["roots"] if type(root) is dict and isinstance(root.get("uri"), str)]
    elif isinstance(answer.get("action"), str) and len(kept.elicitation) < MAX_ANSWERS:
        kept.elicitation.append(answer)
    elif "role" in answer and "content" in answer and len(kept.sampling) < MAX_ANSWERS:
        kept.sampling.append(answer)


PART = 200
"""Maximum steps of one function: Python compiles functions with very many statements slowly."""
MAX_SIZE = 100_000
"""Bytes of a response above which a test only requires a result."""
_CALLS = {
    "tools/list": ("tools", "list_tools", ""),
    "resources/list": ("resources", "list_resources", ""),
    "resources/templates/list": ("templates", "list_resource_templates", ""),
    "prompts/list": ("prompts", "list_prompts", ""),
    "resources/read": ("read_resource", "read_resource", "uri"),
    "resources/subscribe": ("subscribe", "subscribe_resource", "uri"),
    "resources/unsubscribe": ("unsubscribe", "unsubscribe_resource", "uri"),
    "ping": ("ping", "send_ping", ""),
    "logging/setLevel": ("set_log_level", "set_logging_level", "level"),
}
"""By method, the call of our library, that of the SDK, and the only parameter, if there is one."""
_NOT_REPEATED = ("request that cannot be repeated", "requests that cannot be repeated")


def write(journal: Journal, out: IO[str], numbers: Iterable[int] | None) -> list[str]:
    """Write a program with our own library (`import inspector`)."""
    chosen = Selection(journal, numbers)
    out.write(_head(journal, chosen, "Repeats the requests of a recorded session.") + program_part("library"))
    parts, skipped = _write_parts(journal, chosen, out, lambda step: f"await show({_call(step)})", "session")
    _write_main(out, parts, "inspector.open(TARGET, **OPTIONS)", "session", "session.server")
    return left_out(skipped, *_NOT_REPEATED)


def write_sdk(journal: Journal, out: IO[str], numbers: Iterable[int] | None) -> list[str]:
    """Write a program with the official SDK (`mcp` 2)."""
    chosen = Selection(journal, numbers)
    server, imports = _sdk_server(journal)
    recorded = answers(journal, chosen)
    lines = [
        f"# Repeats the requests of a recorded session. Written by inspector {__version__}; needs mcp>=2.",
        f"# The recording: {remark(journal.header.get('id'))}",
        "import asyncio",
        "import os",
        "",
        *imports,
        "",
        f"SERVER = {server}",
        *_list("SAMPLING", recorded.sampling),
        *_list("ELICITATION", recorded.elicitation),
        *_list("ROOTS", recorded.roots),
    ]
    out.write("\n".join(lines) + "\n" + program_part("sdk"))
    parts, skipped = _write_parts(journal, chosen, out, lambda step: f"await show({_sdk_call(step)})", "client")
    options = [f"mode={literal(_sdk_mode(journal))}"]
    options += (
        f"{name}={callback}"
        for name, callback, given in (
            ("sampling_callback", "sampling", recorded.sampling),
            ("elicitation_callback", "elicitation", recorded.elicitation),
            ("list_roots_callback", "roots", recorded.roots),
        )
        if given or callback in recorded.declared
    )
    _write_main(out, parts, f"Client(SERVER, {', '.join(options)})", "client", "client.server_info")
    return left_out(skipped, *_NOT_REPEATED)


def write_pytest(journal: Journal, out: IO[str], numbers: Iterable[int] | None) -> list[str]:
    """Write a pytest module that compares each response with the recorded one.

    It needs pytest and our library, no plugin. Values that are new in every run (times, ids, cursors) may differ; the
    rules are those of `inspector.compare`, and can be changed at the top of the module.
    """
    chosen = Selection(journal, numbers)
    out.write(_head(journal, chosen, "Tests of a recorded session.", _PYTEST_IMPORTS) + program_part("pytest_begin"))
    parts, skipped = _write_parts(journal, chosen, out, _pytest_statement, "session, answers")
    calls = "".join(f"        await {name}(session, answers)\n" for name in parts)
    out.write(program_part("pytest_session").format(parts=calls))
    for n, expected in _expected(journal, chosen):
        out.write(f"    {n}: {expected},\n")
    out.write(program_part("pytest_test"))
    return left_out(skipped, *_NOT_REPEATED)


def _write_main(out: IO[str], parts: list[str], opened: str, name: str, otherwise: str) -> None:
    """Write the function that opens the connection `name` and runs the parts, or prints something without any."""
    out.write(f"\n\nasync def main():\n    async with {opened} as {name}:\n")
    out.write("".join(f"        await {part}({name})\n" for part in parts) or f"        print({otherwise})\n")
    out.write('\n\nif __name__ == "__main__":\n    asyncio.run(main())\n')


def _head(journal: Journal, chosen: Selection, what: str, imports: tuple[str, ...] = ()) -> str:
    """Return the start of a program: imports, target, options, and the answers to the server."""
    lines = [
        f"# {what} Written by inspector {__version__}.",
        f"# The recording: {remark(journal.header.get('id'))}",
        "import asyncio",
        "import os",
        "",
        "import inspector",
        *imports,
        "",
        f"TARGET = {_target(journal)}",
    ]
    options = _options(journal)
    lines += _answering(answers(journal, chosen), options)
    lines.append("OPTIONS = {" + ", ".join(f'"{name}": {value}' for name, value in options.items()) + "}")
    return "\n".join(lines) + "\n"


def _texts(target: View, key: str, pattern: re.Pattern[str] | None = None) -> list[str]:
    """Return the texts of a list in the target, those that are wholly of a pattern."""
    texts = [item for item in target.array(key) if isinstance(item, str)]
    return [text for text in texts if pattern is None or pattern.fullmatch(text)]


def _from_environment(names: list[str], variable: Callable[[str], str] = str) -> str:
    """Return an object, as Python, whose members are read from variables."""
    return "{" + ", ".join(f'{literal(name)}: os.environ["{variable(name)}"]' for name in names) + "}"


def _target(journal: Journal) -> str:
    """Return the argument of `inspector.open`, as Python."""
    target = target_of(journal)
    if target.text("name"):
        return literal("@" + target.text("name"))
    if argv := _texts(target, "argv"):
        return "[" + ", ".join(map(expression, argv)) + "]"
    return expression(target.text("url") or "http://127.0.0.1:8000/mcp")


def _options(journal: Journal) -> dict[str, str]:
    target = target_of(journal)
    options: dict[str, str] = {}
    if not target.text("name"):
        if env := _texts(target, "env", VARIABLE):
            options["env"] = _from_environment(env)
        if fields := _texts(target, "headers", FIELD_NAME):
            options["headers"] = _from_environment(fields, variable)
        if target.members.get("inherit_env") is True:
            options["inherit_env"] = "True"
        if target.text("cwd"):
            options["cwd"] = expression(target.text("cwd"))
    era = facts_of(journal).era
    if era in ("legacy", "modern"):
        options["era"] = literal(era)
    return options


def _answering(recorded: ClientAnswers, options: dict[str, str]) -> list[str]:
    """Return the statements with the recorded client's answers, in order."""
    lines: list[str] = []
    if recorded.sampling:
        lines += _list("SAMPLING", recorded.sampling)
        options["sampling"] = "lambda asked: SAMPLING.pop(0) if SAMPLING else None"
    elif "sampling" in recorded.declared:
        options["sampling"] = '"decline"'
    if recorded.elicitation:
        lines += _list("ELICITATION", [_elicited(answer) for answer in recorded.elicitation])
        options["elicit"] = 'lambda asked: ELICITATION.pop(0) if ELICITATION else "decline"'
    elif "elicitation" in recorded.declared:
        options["elicit"] = '"decline"'
    if recorded.roots or "roots" in recorded.declared:
        options["roots"] = "[" + ", ".join(expression(root["uri"]) for root in recorded.roots) + "]"
    return lines


def _elicited(answer: dict[str, Any] | None) -> Any:
    """Return an answer to an elicitation as a callback returns it."""
    action = answer["action"] if answer is not None else "decline"
    if action != "accept":
        return action if action == "cancel" else "decline"
    return View(answer).object("content")


def _list(name: str, items: list[Any]) -> list[str]:
    """Return the statement that assigns a list, an item on each line."""
    if not items:
        return [f"{name} = []"]
    return [f"{name} = [", *(f"    {python_value(item)}," for item in items), "]"]


def _write_parts(
    journal: Journal, chosen: Selection, out: IO[str], line: Callable[[ExportStep], str], given: str
) -> tuple[list[str], int]:
    """Write the steps as functions with parameters `given`. Return their names, and the number of skipped steps.

    `line` creates the statement of a step.
    """
    names: list[str] = []
    written = skipped = 0
    for step in steps(journal, chosen):
        if written % PART == 0 and not step.why_not:
            names.append(f"part_{len(names) + 1}")
            out.write(f"\n\nasync def {names[-1]}({given}):\n")
        if step.why_not:
            skipped += not step.round
            if names:
                out.write(f"    # {step.comment}: not repeated, {step.why_not}\n")
            continue
        out.write(f"    # {step.comment}\n    {line(step)}\n")
        written += 1
    return names, skipped


def _listed_call(step: ExportStep, *, of_sdk: bool) -> str:
    """Return the call of a method in `_CALLS`; empty for another, and with other parameters."""
    ours, theirs, member = _CALLS.get(step.method, ("", "", ""))
    params = step.params or {}
    name = theirs if of_sdk else ours
    if not name or set(params) != ({member} if member else set()) or not isinstance(params.get(member, ""), str):
        return ""
    return f"{name}({expression(params[member]) if member else ''})"


def _call(step: ExportStep) -> str:
    """Return the call of our library that sends a step's request."""
    params = step.params or {}
    name, arguments, keys = params.get("name"), params.get("arguments", {}), set(params)
    is_tool = step.method == "tools/call" and type(arguments) is dict
    if is_tool and isinstance(name, str) and keys <= {"name", "arguments", "task"}:
        task = ", as_task=True" if "task" in keys else ""
        return f"session.call_tool({expression(name)}, {python_value(arguments)}{task})"
    if step.method == "prompts/get" and isinstance(name, str) and keys <= {"name", "arguments"}:
        return f"session.get_prompt({expression(name)}, {python_value(arguments)})"
    listed = _listed_call(step, of_sdk=False)
    return f"session.{listed}" if listed else _request(step)


def _request(step: ExportStep) -> str:
    """Return the call of our library for any method, as it was sent."""
    given = f", {python_value(step.params)}" if step.params is not None else ""
    return f"session.request({expression(step.method)}{given})"


def _sdk_server(journal: Journal) -> tuple[str, list[str]]:
    """Return the argument of `Client`, as Python, and its imports."""
    target = target_of(journal)
    if argv := _texts(target, "argv"):
        command, *args = map(expression, argv)
        given = [f"command={command}", f"args=[{', '.join(args)}]"]
        env = _texts(target, "env", VARIABLE)
        if target.members.get("inherit_env") is True:
            given.append("env=dict(os.environ)")
        elif env:
            given.append(f"env={_from_environment(env)}")
        if target.text("cwd"):
            given.append(f"cwd={expression(target.text('cwd'))}")
        imports = ["from mcp import Client, MCPError, StdioServerParameters, types"]
        return f"StdioServerParameters({', '.join(given)})", imports
    url = expression(target.text("url") or "http://127.0.0.1:8000/mcp")
    fields = _texts(target, "headers", FIELD_NAME)
    if not fields:
        return url, ["from mcp import Client, MCPError, types"]
    client = f"httpx2.AsyncClient(headers={_from_environment(fields, variable)})"
    return f"streamable_http_client({url}, http_client={client})", [
        "import httpx2",
        "from mcp import Client, MCPError, types",
        "from mcp.client.streamable_http import streamable_http_client",
    ]


def _sdk_mode(journal: Journal) -> str:
    """Return the era for the client: the recorded one, if known."""
    facts = facts_of(journal)
    if facts.era == "modern" and isinstance(facts.revision, str):
        return facts.revision[:20]
    return "legacy" if facts.era == "legacy" else "auto"


def _sdk_call(step: ExportStep) -> str:
    """Return the SDK call that sends a step's request."""
    params = step.params or {}
    name, arguments = params.get("name"), params.get("arguments", {})
    verb = {"tools/call": "call_tool", "prompts/get": "get_prompt"}.get(step.method)
    if verb and isinstance(name, str) and type(arguments) is dict and set(params) <= {"name", "arguments"}:
        return f"client.{verb}({expression(name)}, {python_value(arguments)})"
    if listed := _listed_call(step, of_sdk=True):
        return f"client.{listed}"
    if step.method == "completion/complete" and (made := _complete(params)):
        return made
    given = f", {python_value(step.params)}" if step.params is not None else ""
    return f"request(client, {expression(step.method)}{given})"


def _complete(params: dict[str, Any]) -> str:
    """Return the call for a completion; empty for an unusual one."""
    ref, argument, context = View(params.get("ref")), View(params.get("argument")), View(params.get("context"))
    kind = ref.text("type")
    name = ref.text("name") if kind == "ref/prompt" else ref.text("uri")
    if kind not in ("ref/prompt", "ref/resource") or not name or not argument.text("name"):
        return ""
    made = f"PromptReference(name={expression(name)})"
    if kind == "ref/resource":
        made = f"ResourceTemplateReference(uri={expression(name)})"
    given = {"name": argument.text("name"), "value": argument.text("value")}
    chosen = context.object("arguments")
    more = f", {python_value(dict(chosen))}" if chosen else ""
    return f"client.complete(types.{made}, {python_value(given)}{more})"


_PYTEST_IMPORTS = (
    "import pytest",
    "from inspector.compare.rules import ComparisonRules",
    "from inspector.compare.values import compare",
)


def _pytest_statement(step: ExportStep) -> str:
    # Responses of tools, and single pages of lists, are compared unmodified.
    made = _call(step) if step.method in ("tools/call", "prompts/get", "resources/read") else _request(step)
    return f"await ask(answers, {step.n}, {made})"


def _expected(journal: Journal, chosen: Selection) -> Iterator[tuple[int, str]]:
    """Yield the expected response of each repeated step: `("method", "name", {…})`, as Python.

    If the response was a request for input, it is the response to the last of the rounds that followed.
    """
    pending: dict[tuple[str, str], int] = {}
    for step in steps(journal, chosen):
        about = (step.method, _name(step))
        n = step.n
        if step.round:
            n = pending.pop(about, 0)
        elif step.why_not:
            continue
        answer = journal.index.pair(step.n)
        message = message_of(journal, answer).raw
        if not n or type(message) is not dict:
            continue
        result = message.get("result")
        if type(result) is dict and result.get("resultType") == "input_required":
            pending[about] = n
            continue
        expected = _answer(step, message, journal.index.size(answer))
        yield n, f"({expression(about[0])}, {expression(about[1])}, {expected})"


def _name(step: ExportStep) -> str:
    name = (step.params or {}).get("name")
    return name if isinstance(name, str) else ""


def _answer(step: ExportStep, message: dict[str, Any], octets: int) -> str:
    """Return the recorded response as Python; `None` if only its existence can be expected."""
    error = message.get("error")
    expected: dict[str, Any] = {"result": message.get("result")}
    if type(error) is dict:
        message_text = error.get("message")
        reported = message_text if isinstance(message_text, str) and message_text else "no message"
        expected = {"error": {"code": error.get("code"), "message": reported}}
    elif octets > MAX_SIZE or "task" in (step.params or {}):
        return "None"
    try:
        return python_value(expected)
    except NestedTooDeep:
        return "None"
