"""A pytest module: repeats the recorded session and compares each response with the recorded one.

It needs pytest and our library, no plugin. Values that are new in every run (times, ids, cursors) may differ; the rules
are those of `inspector.compare`, and can be changed at the top of the module.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO, Any

from inspector.export.python_script import call, head, request, write_parts
from inspector.export.quoting import NestedTooDeep, expression, python_value
from inspector.export.script_steps import ExportStep, steps
from inspector.export.selection import Selection, left_out
from inspector.journal.journal import Journal

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


def write(journal: Journal, out: IO[str], numbers: Iterable[int] | None) -> list[str]:
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
