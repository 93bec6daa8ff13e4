"""A Python program with the official SDK (`mcp` 2) that repeats the recorded client's requests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, Any

from inspector.export.python_script import write_parts
from inspector.export.quoting import FIELD_NAME, VARIABLE, expression, literal, python_value, remark, variable
from inspector.export.recording_facts import facts_of
from inspector.export.script_steps import ExportStep, answers
from inspector.export.selection import Selection, left_out
from inspector.journal.journal import Journal
from inspector.protocol.views import View
from inspector.version import __version__

_LISTS = {
    "tools/list": "list_tools",
    "resources/list": "list_resources",
    "resources/templates/list": "list_resource_templates",
    "prompts/list": "list_prompts",
}
_BY_URI = {
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


def write(journal: Journal, out: IO[str], numbers: Iterable[int] | None) -> list[str]:
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
    parts, skipped = write_parts(journal, chosen, out, lambda step: f"await show({_call(step)})", "client")
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


def _call(step: ExportStep) -> str:
    """Return the SDK call that sends a step's request."""
    params = step.params or {}
    name, uri, arguments = params.get("name"), params.get("uri"), params.get("arguments", {})
    keys = set(params)
    if isinstance(name, str) and type(arguments) is dict and keys <= {"name", "arguments"}:
        verb = {"tools/call": "call_tool", "prompts/get": "get_prompt"}.get(step.method)
        if verb:
            return f"client.{verb}({expression(name)}, {python_value(arguments)})"
    if isinstance(uri, str) and keys == {"uri"} and step.method in _BY_URI:
        return f"client.{_BY_URI[step.method]}({expression(uri)})"
    if step.method in _LISTS and not params:
        return f"client.{_LISTS[step.method]}()"
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
