"""The recorded client's requests and answers, as the steps of a program.

Requests that every client sends on its own are omitted: opening the connection, further pages of lists, polling tasks,
input rounds after the first. So are requests without a response: a program would wait in vain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any, NamedTuple

from inspector.client.extensions import CAPABILITIES_KEY
from inspector.export.quoting import (
    FIELD_NAME,
    VARIABLE,
    NestedTooDeep,
    expression,
    literal,
    python_value,
    remark,
    variable,
)
from inspector.export.selection import Selection, facts_of, left_out
from inspector.journal.filters.conditions import subjects_of
from inspector.journal.format import Dir, Kind
from inspector.journal.index import State
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.journal.rounds import ROUND_PARAMETERS
from inspector.protocol.jsonrpc import Shape
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
    """Yield the client's requests in the selected exchanges, in order."""
    index = journal.index
    for exchange in chosen.exchanges():
        n, method, state = exchange.n, exchange.method, index.state(exchange.n)
        if exchange.dir != "send" or method in _OPENING or method.startswith(_FOLLOWING):
            continue
        message = next(journal.events(n, n)).message
        given = message.get("params") if type(message) is dict else None
        params = {key: value for key, value in given.items() if key != "_meta"} if type(given) is dict else None
        name = next(iter(subjects_of(message)), "")
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
    found = ClientAnswers([], [], [], _declared(journal))
    index = journal.index
    for n in chosen.of(Kind.RPC):
        if index.dir(n) is not Dir.SEND:
            continue
        shape = index.shape(n)
        if shape in (Shape.RESULT, Shape.ERROR) and index.pair(n):
            message = next(journal.events(n, n)).message
            result = message.get("result") if type(message) is dict else None
            if type(result) is dict:
                _keep(found, result)
            elif index.method(n) == "sampling/createMessage":
                found.sampling.append(None)
            elif index.method(n) == "elicitation/create":
                found.elicitation.append(None)
        elif shape is Shape.REQUEST:
            message = next(journal.events(n, n)).message
            params = message.get("params") if type(message) is dict else None
            given = params.get("inputResponses") if type(params) is dict else None
            for answer in given.values() if type(given) is dict else ():
                _keep(found, answer)
    if not found.roots and not chosen.everything:
        n = _ROOTS.last(index, 0, chosen.count)
        message = next(journal.events(n, n)).message if n else None
        _keep(found, message.get("result") if type(message) is dict else None)
    return found


def _declared(journal: Journal) -> frozenset[str]:
    """Return the capabilities in the client's handshake or first modern request."""
    index = journal.index
    for n in range(1, index.count + 1):
        if index.dir(n) is not Dir.SEND or index.shape(n) is not Shape.REQUEST:
            continue
        params = View(next(journal.events(n, n)).message).object("params")
        if index.method(n) == "initialize":
            return frozenset(View(params).object("capabilities"))
        meta = View(params).object("_meta")
        if CAPABILITIES_KEY in meta:
            return frozenset(View(meta).object(CAPABILITIES_KEY))
    return frozenset()


def _keep(found: ClientAnswers, answer: Any) -> None:
    """Add an answer to its kind, which its members determine."""
    if type(answer) is not dict:
        return
    try:
        python_value(answer)
    except NestedTooDeep:
        return
    if type(answer.get("roots")) is list:
        found.roots[:] = [root for root in answer["roots"] if type(root) is dict and isinstance(root.get("uri"), str)]
    elif isinstance(answer.get("action"), str) and len(found.elicitation) < MAX_ANSWERS:
        found.elicitation.append(answer)
    elif "role" in answer and "content" in answer and len(found.sampling) < MAX_ANSWERS:
        found.sampling.append(answer)


PART = 200
"""Maximum steps of one function: Python compiles functions with very many statements slowly."""

_LISTS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "templates",
    "prompts/list": "prompts",
}
_BY_URI = {
    "resources/read": "read_resource",
    "resources/subscribe": "subscribe",
    "resources/unsubscribe": "unsubscribe",
}


def write(journal: Journal, out: IO[str], numbers: Iterable[int] | None) -> list[str]:
    """Write the program to `out`, step by step."""
    chosen = Selection(journal, numbers)
    out.write(head(journal, chosen, "Repeats the requests of a recorded session."))
    out.write(
        """

async def show(what):
    try:
        print(await what)
    except inspector.InspectorError as error:
        print(error)
"""
    )
    parts, skipped = write_parts(journal, chosen, out, lambda step: f"await show({call(step)})")
    out.write("\n\nasync def main():\n    async with inspector.open(TARGET, **OPTIONS) as session:\n")
    out.write("".join(f"        await {name}(session)\n" for name in parts) or "        print(session.server)\n")
    out.write('\n\nif __name__ == "__main__":\n    asyncio.run(main())\n')
    return left_out(skipped, "request that cannot be repeated", "requests that cannot be repeated")


def head(journal: Journal, chosen: Selection, what: str, imports: tuple[str, ...] = ()) -> str:
    """Return the start of a program: imports, target, options, and the answers to the server."""
    found = answers(journal, chosen)
    lines = [
        f"# {what} Written by inspector {__version__}.",
        f"# The recording: {remark(journal.header.get('id'))}",
        "import asyncio",
        "import os",
        "",
        "import inspector",
        *imports,
        "",
        f"TARGET = {target(journal)}",
    ]
    options = _options(journal)
    lines += _answering(found, options)
    lines.append("OPTIONS = {" + ", ".join(f'"{name}": {value}' for name, value in options.items()) + "}")
    return "\n".join(lines) + "\n"


def target(journal: Journal) -> str:
    """Return the argument of `inspector.open`, as Python."""
    header = View(journal.header.get("target"))
    if header.text("name"):
        return literal("@" + header.text("name"))
    argv = [each for each in header.array("argv") if isinstance(each, str)]
    if argv:
        return "[" + ", ".join(map(expression, argv)) + "]"
    return expression(header.text("url") or "http://127.0.0.1:8000/mcp")


def _options(journal: Journal) -> dict[str, str]:
    header = View(journal.header.get("target"))
    found: dict[str, str] = {}
    if not header.text("name"):
        env = [name for name in header.array("env") if isinstance(name, str) and VARIABLE.fullmatch(name)]
        fields = [name for name in header.array("headers") if isinstance(name, str) and FIELD_NAME.fullmatch(name)]
        if env:
            found["env"] = "{" + ", ".join(f'{literal(name)}: os.environ["{name}"]' for name in env) + "}"
        if fields:
            pairs = (f'{literal(name)}: os.environ["{variable(name)}"]' for name in fields)
            found["headers"] = "{" + ", ".join(pairs) + "}"
        if header.members.get("inherit_env") is True:
            found["inherit_env"] = "True"
        if header.text("cwd"):
            found["cwd"] = expression(header.text("cwd"))
    era = facts_of(journal).era
    if era in ("legacy", "modern"):
        found["era"] = literal(era)
    return found


def _answering(found: ClientAnswers, options: dict[str, str]) -> list[str]:
    """Return the statements with the recorded client's answers, in order."""
    lines: list[str] = []
    if found.sampling:
        lines += _queue("SAMPLING", found.sampling)
        options["sampling"] = "lambda asked: SAMPLING.pop(0) if SAMPLING else None"
    elif "sampling" in found.declared:
        options["sampling"] = '"decline"'
    if found.elicitation:
        lines += _queue("ELICITATION", [_elicited(answer) for answer in found.elicitation])
        options["elicit"] = 'lambda asked: ELICITATION.pop(0) if ELICITATION else "decline"'
    elif "elicitation" in found.declared:
        options["elicit"] = '"decline"'
    if found.roots or "roots" in found.declared:
        options["roots"] = "[" + ", ".join(expression(root["uri"]) for root in found.roots) + "]"
    return lines


def _elicited(answer: dict[str, Any] | None) -> Any:
    """Return an answer to an elicitation as a callback returns it."""
    action = answer["action"] if answer is not None else "decline"
    if answer is None or action != "accept":
        return action if action == "cancel" else "decline"
    content = answer.get("content")
    return content if type(content) is dict else {}


def _queue(name: str, items: list[Any]) -> list[str]:
    return [f"{name} = [", *(f"    {python_value(item)}," for item in items), "]"]


def write_parts(
    journal: Journal, chosen: Selection, out: IO[str], line: Callable[[ExportStep], str], given: str = "session"
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


def call(step: ExportStep) -> str:
    """Return the call of our library that sends a step's request."""
    params = step.params or {}
    name, uri = params.get("name"), params.get("uri")
    arguments = params.get("arguments", {})
    keys = set(params)
    if step.method == "tools/call" and isinstance(name, str) and type(arguments) is dict:
        if keys <= {"name", "arguments"}:
            return f"session.call_tool({expression(name)}, {python_value(arguments)})"
        if keys <= {"name", "arguments", "task"}:
            return f"session.call_tool({expression(name)}, {python_value(arguments)}, as_task=True)"
    if step.method == "prompts/get" and isinstance(name, str) and keys <= {"name", "arguments"}:
        return f"session.get_prompt({expression(name)}, {python_value(arguments)})"
    if isinstance(uri, str) and keys == {"uri"} and step.method in _BY_URI:
        return f"session.{_BY_URI[step.method]}({expression(uri)})"
    if step.method in _LISTS and not params:
        return f"session.{_LISTS[step.method]}()"
    if step.method == "ping" and not params:
        return "session.ping()"
    if step.method == "logging/setLevel" and isinstance(params.get("level"), str) and keys == {"level"}:
        return f"session.set_log_level({expression(params['level'])})"
    return request(step)


def request(step: ExportStep) -> str:
    """Return the same for any method, as it was sent."""
    given = f", {python_value(step.params)}" if step.params is not None else ""
    return f"session.request({expression(step.method)}{given})"


_SDK_LISTS = {
    "tools/list": "list_tools",
    "resources/list": "list_resources",
    "resources/templates/list": "list_resource_templates",
    "prompts/list": "list_prompts",
}
_SDK_BY_URI = {
    "resources/read": "read_resource",
    "resources/subscribe": "subscribe_resource",
    "resources/unsubscribe": "unsubscribe_resource",
}
_SHOW = """

async def show(what):
    try:
        print(await what)
    except (MCPError, ValueError, RuntimeError) as error:
        print(type(error).__name__, error)


async def request(client, method, params=None):
    made = types.Request[dict | None, str](method=method, params=params)
    return await client.session.send_request(made, types.Result)
"""
_QUESTIONS = """

def refused(message):
    return types.ErrorData(code=types.INVALID_REQUEST, message=message)


async def sampling(context, params):
    answer = SAMPLING.pop(0) if SAMPLING else None
    if answer is None:
        return refused("the recorded client gave no such answer")
    kind = types.CreateMessageResultWithTools if isinstance(answer["content"], list) else types.CreateMessageResult
    return kind.model_validate(answer)


async def elicitation(context, params):
    answer = ELICITATION.pop(0) if ELICITATION else None
    return refused("the recorded client refused") if answer is None else types.ElicitResult.model_validate(answer)


async def roots(context):
    return types.ListRootsResult.model_validate({"roots": ROOTS})
"""


def write_sdk(journal: Journal, out: IO[str], numbers: Iterable[int] | None) -> list[str]:
    """Write the program to `out`, step by step."""
    chosen = Selection(journal, numbers)
    server, imports = _server(journal)
    found = answers(journal, chosen)
    lines = [
        f"# Repeats the requests of a recorded session. Written by inspector {__version__}; needs mcp>=2.",
        f"# The recording: {remark(journal.header.get('id'))}",
        "import asyncio",
        "import os",
        "",
        *imports,
        "",
        f"SERVER = {server}",
        *_list("SAMPLING", found.sampling),
        *_list("ELICITATION", found.elicitation),
        *_list("ROOTS", found.roots),
    ]
    out.write("\n".join(lines) + "\n" + _SHOW + _QUESTIONS)
    parts, skipped = write_parts(journal, chosen, out, lambda step: f"await show({_sdk_call(step)})", "client")
    options = [f"mode={literal(_mode(journal))}"]
    options += (
        f"{name}={callback}"
        for name, callback, given in (
            ("sampling_callback", "sampling", found.sampling),
            ("elicitation_callback", "elicitation", found.elicitation),
            ("list_roots_callback", "roots", found.roots),
        )
        if given or callback in found.declared
    )
    out.write(f"\n\nasync def main():\n    async with Client(SERVER, {', '.join(options)}) as client:\n")
    out.write("".join(f"        await {name}(client)\n" for name in parts) or "        print(client.server_info)\n")
    out.write('\n\nif __name__ == "__main__":\n    asyncio.run(main())\n')
    return left_out(skipped, "request that cannot be repeated", "requests that cannot be repeated")


def _server(journal: Journal) -> tuple[str, list[str]]:
    """Return the argument of `Client`, as Python, and its imports."""
    header = View(journal.header.get("target"))
    argv = [each for each in header.array("argv") if isinstance(each, str)]
    if argv:
        command, *args = map(expression, argv)
        given = [f"command={command}", f"args=[{', '.join(args)}]"]
        env = [name for name in header.array("env") if isinstance(name, str) and VARIABLE.fullmatch(name)]
        if header.members.get("inherit_env") is True:
            given.append("env=dict(os.environ)")
        elif env:
            given.append("env={" + ", ".join(f'{literal(name)}: os.environ["{name}"]' for name in env) + "}")
        if header.text("cwd"):
            given.append(f"cwd={expression(header.text('cwd'))}")
        return f"StdioServerParameters({', '.join(given)})", [
            "from mcp import Client, MCPError, StdioServerParameters, types"
        ]
    url = expression(header.text("url") or "http://127.0.0.1:8000/mcp")
    fields = [name for name in header.array("headers") if isinstance(name, str) and FIELD_NAME.fullmatch(name)]
    if not fields:
        return url, ["from mcp import Client, MCPError, types"]
    pairs = ", ".join(f'{literal(name)}: os.environ["{variable(name)}"]' for name in fields)
    return (
        f"streamable_http_client({url}, http_client=httpx2.AsyncClient(headers={{{pairs}}}))",
        [
            "import httpx2",
            "from mcp import Client, MCPError, types",
            "from mcp.client.streamable_http import streamable_http_client",
        ],
    )


def _mode(journal: Journal) -> str:
    """Return the era for the client: the recorded one, if known."""
    facts = facts_of(journal)
    if facts.era == "modern" and isinstance(facts.revision, str):
        return facts.revision[:20]
    return "legacy" if facts.era == "legacy" else "auto"


def _list(name: str, items: list[Any]) -> list[str]:
    if not items:
        return [f"{name} = []"]
    return [f"{name} = [", *(f"    {python_value(item)}," for item in items), "]"]


def _sdk_call(step: ExportStep) -> str:
    """Return the SDK call that sends a step's request."""
    params = step.params or {}
    name, uri, arguments = params.get("name"), params.get("uri"), params.get("arguments", {})
    keys = set(params)
    if isinstance(name, str) and type(arguments) is dict and keys <= {"name", "arguments"}:
        verb = {"tools/call": "call_tool", "prompts/get": "get_prompt"}.get(step.method)
        if verb:
            return f"client.{verb}({expression(name)}, {python_value(arguments)})"
    if isinstance(uri, str) and keys == {"uri"} and step.method in _SDK_BY_URI:
        return f"client.{_SDK_BY_URI[step.method]}({expression(uri)})"
    if step.method in _SDK_LISTS and not params:
        return f"client.{_SDK_LISTS[step.method]}()"
    if step.method == "ping" and not params:
        return "client.send_ping()"
    if step.method == "logging/setLevel" and isinstance(params.get("level"), str) and keys == {"level"}:
        return f"client.set_logging_level({expression(params['level'])})"
    if step.method == "completion/complete":
        made = _complete(params)
        if made:
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


MAX_SIZE = 100_000
"""Bytes of a response above which a test only requires a result."""

_IMPORTS = (
    "import pytest",
    "from inspector.compare.rules import ComparisonRules",
    "from inspector.compare.values import compare",
)
_BEGIN = """
RULES = ComparisonRules()
# What may differ besides times, ids and cursors:
# RULES = ComparisonRules().plus(ignore=["tools/call now:$.result.content"])


async def ask(answers, n, what):
    try:
        result = await what
        answers[n] = {"result": getattr(result, "raw", result)}
    except inspector.ServerError as error:
        answers[n] = {"error": {"code": error.rpc_code, "message": error.rpc_message}}
"""
_SESSION = """

async def run():
    answers = {{}}
    async with inspector.open(TARGET, **OPTIONS) as session:
        assert session.server
{parts}    return answers


@pytest.fixture(scope="module")
def answers():
    return asyncio.run(run())


# By the number of the request in the recording: method, name, and the response; None if the response is too large.
EXPECTED = {{
"""
_TEST = """}


@pytest.mark.parametrize("n", EXPECTED)
def test_the_answer_is_the_recorded_one(answers, n):
    method, name, expected = EXPECTED[n]
    if expected is None:
        assert "result" in answers[n], answers[n]
        return
    found = compare(expected, answers[n], RULES, method=method, name=name)
    assert found.same, [difference.as_json() for difference in found.differences[:20]]
"""


def write_pytest(journal: Journal, out: IO[str], numbers: Iterable[int] | None) -> list[str]:
    """Write the module to `out`, step by step."""
    chosen = Selection(journal, numbers)
    out.write(head(journal, chosen, "Tests of a recorded session.", _IMPORTS))
    out.write(_BEGIN)
    parts, skipped = write_parts(journal, chosen, out, _statement, "session, answers")
    out.write(_SESSION.format(parts="".join(f"        await {name}(session, answers)\n" for name in parts)))
    for n, expected in _expected(journal, chosen):
        out.write(f"    {n}: {expected},\n")
    out.write(_TEST)
    return left_out(skipped, "request that cannot be repeated", "requests that cannot be repeated")


def _statement(step: ExportStep) -> str:
    # Responses of tools, and single pages of lists, are compared unmodified.
    made = call(step) if step.method in ("tools/call", "prompts/get", "resources/read") else request(step)
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
        message = next(journal.events(answer, answer)).message if answer else None
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
        said = error.get("message")
        told = said if isinstance(said, str) and said else "no message"
        expected = {"error": {"code": error.get("code"), "message": told}}
    elif octets > MAX_SIZE or "task" in (step.params or {}):
        return "None"
    try:
        return python_value(expected)
    except NestedTooDeep:
        return "None"
