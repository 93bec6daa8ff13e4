"""Hints of errors: the same data in the terms of the command line, the library and the interface."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

import pytest

from inspector.errors import HttpError, TargetError
from inspector.hints import LOG_IN, Hint, Parameter, Setting, UnsetParameters
from inspector.tui.advice import PLACES, VerbAdvice, advice
from inspector.tui.keymap import Keymap
from inspector.tui.verbs import BY_ID
from tests.sources import PACKAGE, sources

OPTION = re.compile(r"(?<![\w-])(?:--[a-z][a-z-]+|-o\b)")
"""An option of a command line, such as `--timeout` or `-o`."""
COMMAND_LINE_ONLY = ("cli/", "features/web/", "features/events/options.py", "demo/", "pytest_plugin.py", "hints.py")
"""Where text may name options: no other surface shows it."""


def modules(*patterns: str) -> Iterator[tuple[str, ast.Module]]:
    """The modules of every surface whose text has each of the patterns: only these need to be parsed."""
    for path, source in sources().items():
        name = path.relative_to(PACKAGE).as_posix()
        if (
            not name.startswith(COMMAND_LINE_ONLY)
            and not name.endswith("/verb.py")
            and all(re.search(pattern, source) for pattern in patterns)
        ):
            yield name, ast.parse(source)


def filled(node: ast.expr) -> ast.expr:
    """An expression in which names that only its function knows stand for the text `x`, or for a parameter."""

    class Fill(ast.NodeTransformer):
        def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.expr:
            return ast.FormattedValue(ast.Constant("x"), -1, None)

        def visit_Starred(self, node: ast.Starred) -> ast.expr:
            return ast.Constant("x")

        def visit_Name(self, node: ast.Name) -> ast.expr:
            if node.id == "parameter":  # Of a table: any stands for all of them.
                return ast.parse("Parameter.CWD", mode="eval").body
            return node if node.id in ("Hint", "Parameter", "Unset") else ast.Constant("x")

        def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
            return node if ast.unparse(node).startswith("Parameter.") else ast.Constant("x")

        def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
            return ast.Constant("x")

        def visit_Call(self, node: ast.Call) -> ast.expr:
            ours = isinstance(node.func, ast.Name) and node.func.id in ("Hint", "Unset")
            value = isinstance(node.func, ast.Attribute) and node.func.attr == "to"
            return self.generic_visit(node) if ours or value else ast.Constant("x")  # type: ignore[return-value]

    return ast.fix_missing_locations(Fill().visit(node))


@cache
def hints() -> list[tuple[str, Hint]]:
    """Every hint of the sources that names a parameter, with its place; read when a test needs it."""
    return [*written(), ("inspector/hints.py", LOG_IN)]


def written() -> Iterator[tuple[str, Hint]]:
    """Every hint of the sources that names a parameter, with its place."""
    for name, module in modules(r"\bHint\b"):
        for node in ast.walk(module):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Hint":
                place = f"{name}:{node.lineno}"
                code = compile(ast.Expression(filled(node)), place, "eval")
                hint = eval(code, {"Hint": Hint, "Parameter": Parameter, "Unset": UnsetParameters})
                if hint.as_json():
                    yield place, hint


@pytest.mark.slow
def test_every_parameter_is_named_by_some_hint() -> None:
    named = {part.parameter.name for part in LOG_IN.parts if isinstance(part, Setting)}
    for name, module in modules(r"\bParameter\b"):
        if name != "tui/advice.py":
            named |= {
                node.attr
                for node in ast.walk(module)
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "Parameter"
            }
    assert named == {parameter.name for parameter in Parameter}
    assert len(hints()) > 40


@pytest.mark.slow
def test_each_surface_has_words_of_its_own(subtests: pytest.Subtests) -> None:
    for place, hint in hints():
        with subtests.test(place=place):
            typed, on_screen = hint.command_line, advice(hint)
            for text in (typed, on_screen, str(hint)):
                assert "{}" not in text
                assert "  " not in text
            assert (
                OPTION.search(typed) or "remove" in typed.lower() or "`inspector" in typed or "Run the command" in typed
            )
            assert not OPTION.search(on_screen), on_screen
            assert typed != on_screen


@pytest.mark.parametrize("parameter", Parameter)
def test_every_parameter_has_a_place_in_the_interface(parameter: Parameter) -> None:
    place = PLACES[parameter]
    assert place.verb in BY_ID if isinstance(place, VerbAdvice) else not OPTION.search(place)


@pytest.mark.slow
def test_no_option_is_written_into_a_hint() -> None:
    """Not in `hint=`, not in an assignment to `hint`, and not in a part of a `Hint`."""
    problems = []
    for name, module in modules("(?i)hint|fix", OPTION.pattern):
        for node in ast.walk(module):
            given: list[ast.expr] = []
            if isinstance(node, ast.Call):
                given += [part.value for part in node.keywords if part.arg in ("hint", "fix")]
                if isinstance(node.func, ast.Name) and node.func.id in ("Hint", "Fix"):
                    given += node.args[: 1 if node.func.id == "Fix" else None]
            elif isinstance(node, ast.Assign):
                named = [getattr(part, "attr", getattr(part, "id", "")) for part in node.targets]
                given += [node.value] if any("hint" in part.casefold() for part in named) else []
            problems += [
                f"{name}:{node.lineno} {text.value}"
                for value in given
                for text in _own_texts(value)
                if OPTION.search(text.value)
            ]
    assert problems == []


def _own_texts(value: ast.expr) -> Iterator[ast.Constant]:
    """The texts of an expression, except those in calls other than `Hint` and `Fix`."""
    if isinstance(value, ast.Constant):
        if isinstance(value.value, str):
            yield value
        return
    children: list[ast.AST] = [*ast.iter_child_nodes(value)]
    if isinstance(value, ast.Call):
        called = getattr(value.func, "id", "")
        children = [*value.args[:1]] if called == "Fix" else [*value.args] if called == "Hint" else []
    for child in children:
        if isinstance(child, ast.expr):
            yield from _own_texts(child)


@pytest.mark.parametrize(
    ("hint", "typed", "keyword", "on_screen"),
    [
        (Hint("Reconnect."), "Reconnect.", "Reconnect.", "Reconnect."),
        (
            Hint("Allow more time with ", Parameter.TIMEOUT.to("SECONDS"), "."),
            "Allow more time with --timeout SECONDS.", "Allow more time with timeout=SECONDS.",
            "Allow more time with “timeout” in the settings.",
        ),
        (
            Hint("Try ", Parameter.ERA.to("legacy"), ", or ", UnsetParameters((Parameter.ERA, Parameter.REVISION)), "."),
            "Try --era legacy, or remove --era and --revision.", 'Try era="legacy", or remove era and revision.',
            "Try legacy with “revision” (f9), or choose “auto” with “revision” (f9).",
        ),
        (
            Hint(UnsetParameters((Parameter.TRANSPORT,)), ", or give the server's URL."),
            "Remove --transport, or give the server's URL.", "Remove transport, or give the server's URL.",
            "Remove “type” from the config entry, or give the server's URL.",
        ),
        (
            Hint("A client with ", Parameter.CLIENT_ID, " and ", Parameter.GRANT.to("device"), "."),
            "A client with --client-id and --grant device.",
            'A client with AuthOptions(client_id=…) and AuthOptions(grant="device").',
            "A client with “other login” (o).",
        ),
        (
            Hint("The session is unknown. ", Parameter.RECONNECT, "."),
            "The session is unknown. Run the command again.", "The session is unknown. Connect again.",
            "The session is unknown. Connect again with “reconnect” (f10).",
        ),
        (
            Hint("Give it with ", Parameter.CLIENT_SECRET, " or ", Parameter.CLIENT_KEY, "."),
            "Give it with --client-secret-env or --client-key.",
            "Give it with AuthOptions(client_secret=…) or AuthOptions(client_key=…).",
            "Give it with “other login” (o) or “auth.clientKey” in a config entry.",
        ),
    ],
)  # fmt: skip
def test_words_of_the_surfaces(hint: Hint, typed: str, keyword: str, on_screen: str) -> None:
    assert (hint.command_line, hint, advice(hint)) == (typed, keyword, on_screen)


def test_a_key_of_the_users_keymap_is_named() -> None:
    keymap = Keymap({"authorization.otherwise": "ctrl+l"})
    assert advice(Hint("See ", Parameter.GRANT, "."), keymap) == "See “other login” (^l)."


def test_a_recording_keeps_the_parts(subtests: pytest.Subtests) -> None:
    for place, hint in hints()[:12]:
        with subtests.test(place=place):
            again = Hint.from_json(hint.as_json(), hint.command_line)
            assert (again.parts, again.command_line) == (hint.parts, hint.command_line)


@pytest.mark.parametrize(
    "parts", [None, 1, [{}], [1], [{"set": "NONE", "value": "x"}], [{"unset": 1}], [{"unset": ["X"]}]]
)
def test_parts_that_cannot_be_read_leave_the_text(parts: object) -> None:
    assert Hint.from_json(parts, "Reconnect.") == "Reconnect."
    assert Hint.from_json(parts, 7) == ""


def test_an_error_holds_a_hint_whatever_it_is_given() -> None:
    error = HttpError("It broke.", hint="Reconnect.")
    assert isinstance(error.hint, Hint)
    error.hint = Hint("Leave it, or ", Parameter.TIMEOUT.to("9"), ".")
    assert error.as_json()["hint"] == "Leave it, or --timeout 9."
    assert error.as_event()["hint_parts"] == ["Leave it, or ", {"set": "TIMEOUT", "value": "9"}, "."]
    assert TargetError("It broke.").as_event() == {"code": "target", "message": "It broke."}


def test_secrets_are_taken_out_of_every_part() -> None:
    hint = Hint("Not s3cret: ", Parameter.TIMEOUT.to("s3cret"), UnsetParameters((Parameter.ERA,)))
    clean = hint.mapped(lambda text: text.replace("s3cret", "…"))
    assert clean.command_line == "Not …: --timeout …remove --era"


def test_another_sentence_follows() -> None:
    assert Hint("").then("Try it.") == "Try it."
    assert Hint("See ", Parameter.GRANT, ".").then("Try it.").command_line == "See --grant. Try it."
