"""A Python program with our own library (`import inspector`) that repeats the recorded client's requests."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import IO, Any

from inspector.export.quoting import FIELD_NAME, VARIABLE, expression, literal, python_value, remark, variable
from inspector.export.recording_facts import facts_of
from inspector.export.script_steps import ClientAnswers, ExportStep, answers, steps
from inspector.export.selection import Selection, left_out
from inspector.journal.journal import Journal
from inspector.protocol.views import View
from inspector.version import __version__

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
