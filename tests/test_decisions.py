"""No code decides by the text of a message: a type, a code, an enum or a member does."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "inspector"
SENTENCE = re.compile(r"[A-Za-z’']{2,}[,:]? [a-z]{2,}")
"""Two words of a sentence: nothing on the wire looks so."""
SAID = frozenset({"message", "hint", "why", "reason"})
"""Members that hold a sentence."""
SEARCHES = frozenset({"startswith", "endswith", "find", "index", "count"})
ALLOWED = {
    ("replay/report.py", "not recorded"): "a verdict of the JSON report: a code that has two words",
    ("tui/widgets/form.py", "add key"): "the name of a slot",
    ("tui/calls/controller.py", "this step"): "the word of a choice, which the dialog returns",
    ("features/events/screen.py", "out of order"): "a noun without a plural",
    ("cli/verbs/info.py", ""): "two errors that read alike are printed once",
}
"""Places that decide nothing by a sentence, with the reason."""


def texts(node: ast.expr) -> Iterator[str]:
    """The texts of an operand: a constant, the items of a tuple, list or set, and fixed parts."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr | ast.Tuple | ast.List | ast.Set):
        for part in node.values if isinstance(node, ast.JoinedStr) else node.elts:
            yield from texts(part)


def is_said(node: ast.expr) -> bool:
    """Whether an operand is the text of an error: one of `SAID`, or `str(error)`."""
    if isinstance(node, ast.Call):
        called = isinstance(node.func, ast.Name) and node.func.id == "str"
        name = node.args[0].id if called and node.args and isinstance(node.args[0], ast.Name) else ""
        return name in ("error", "problem", "exception", "failure")
    return isinstance(node, ast.Attribute) and node.attr in SAID


def decisions(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The lines that compare a sentence or search in one, each with the text they search for."""
    for node in ast.walk(tree):
        operands: list[ast.expr] = []
        compares_sentence = False
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.NotEq | ast.In | ast.NotIn):
            operands = [node.left, *node.comparators]
            # A JSON-RPC message is also a member of that name; a search in it is for one word.
            compares_sentence = isinstance(node.ops[0], ast.Eq | ast.NotEq) and is_said(node.left)
            compares_sentence = compares_sentence and any(is_said(part) for part in node.comparators)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SEARCHES:
            operands, compares_sentence = node.args, is_said(node.func.value)
        elif isinstance(node, ast.Match):
            patterns = [part.value for case in node.cases for part in ast.walk(case.pattern)
                        if isinstance(part, ast.MatchValue)]  # fmt: skip
            operands = patterns
        operand_texts = [text for operand in operands for text in texts(operand)]
        if compares_sentence:
            yield node.lineno, "".join(operand_texts)
        for text in operand_texts:
            if SENTENCE.search(text) and not compares_sentence:
                yield node.lineno, text


@pytest.mark.slow
def test_no_sentence_is_compared_to_decide() -> None:
    problems = []
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if not name.startswith("demo/"):
            lines = decisions(ast.parse(path.read_text(encoding="utf-8")))
            problems += [f"{name}:{line} {text}" for line, text in lines if (name, text) not in ALLOWED]
    assert problems == []


@pytest.mark.parametrize(
    ("code", "caught"),
    [
        ('error.message.startswith("The schema")', True),
        ('"not logged in" in problem', True),
        ('said.startswith(("needs tool calls", "no"))', True),
        ('what == "a new token"', True),
        ("one.message == other.message", True),
        ('str(error).find("x")', True),
        ('"result" in answer.message', False),
        ('method == "tools/call"', False),
        ('text.startswith("data: ")', False),
        ('kind in ("stdio", "http")', False),
    ],
)
def test_what_is_caught(code: str, caught: bool) -> None:
    assert bool(list(decisions(ast.parse(code)))) is caught
