"""Private names of libraries: each is used in one module, which says why, and is there in the version installed."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import httpcore
import pytest
from textual.scrollbar import ScrollBar

import inspector.tui

TUI = Path(inspector.tui.__file__).parent
USES = {
    "app": {
        "_close_messages_no_wait", "_driver", "_exception", "_exception_event", "_exit", "_handle_exception", "_return_code", "_shutdown",
        "_workers",
    },
    "available_verbs": {"_bindings"},
    "notice_place": {"_notifications", "_refresh_notifications"},
    "themes": {"_context"},
    "unexpected_errors": {"_app", "_remove_worker"},
    "widgets.virtual_list": {"_scroll_update"},
}  # fmt: skip
"""Private names of Textual by the module of `inspector.tui` that uses them. Another module asks one of these."""
PRIVATE = re.compile(r"(?<!\w)_[a-z]\w*")
OWN = re.compile(r"(?:self|cls|super\(\))\.(_[a-z]\w*)|def (_[a-z]\w*)")
FOREIGN = re.compile(r"(?!self|cls)\b[a-z]\w*\._(?P<name>bindings|context)\b")


@cache
def classes(module: ModuleType) -> dict[str, str]:
    """The source of each class of a module by qualified name: `inspect.getsource` reads the whole file for each."""
    source = inspect.getsource(module)
    lines = source.splitlines()
    sources: dict[str, str] = {}

    def walk(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                first = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
                sources[prefix + child.name] = "\n".join(lines[first - 1 : child.end_lineno])
                walk(child, f"{prefix}{child.name}.")
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                walk(child, f"{prefix}{child.name}.<locals>.")
            elif isinstance(child, ast.stmt):
                walk(child, prefix)

    walk(ast.parse(source), "")
    return sources


def source_of(kind: type) -> str:
    """The source of a class."""
    return classes(sys.modules[kind.__module__])[kind.__qualname__]


@cache
def own_names_of(base: type) -> frozenset[str]:
    """The members of a class of Textual itself, and those that its methods set."""
    return frozenset(vars(base)) | frozenset(re.findall(r"self\.(_[a-z]\w*)\b", source_of(base)))


def names_of(kind: type) -> set[str]:
    """The private members that a class has from Textual: those of the classes, and those that their methods set."""
    bases = [base for base in kind.__mro__ if base.__module__.startswith("textual")]
    return {name for base in bases for name in own_names_of(base) if PRIVATE.fullmatch(name)}


def used() -> dict[str, set[str]]:
    """The private names of Textual that each module of the interface uses."""
    used_names: dict[str, set[str]] = {}
    for module in pkgutil.walk_packages(inspector.tui.__path__, "inspector.tui."):
        loaded = importlib.import_module(module.name)
        name = module.name.removeprefix("inspector.tui.")
        text = inspect.getsource(loaded)
        for kind in vars(loaded).values():
            if inspect.isclass(kind) and kind.__module__ == module.name:
                mentioned = {one or other for one, other in OWN.findall(source_of(kind))}
                used_names.setdefault(name, set()).update(mentioned & names_of(kind))
        used_names.setdefault(name, set()).update(f"_{match['name']}" for match in FOREIGN.finditer(text))
    return {name: names for name, names in used_names.items() if names}


@pytest.mark.slow
def test_each_private_name_of_textual_is_used_where_it_is_reported_and_is_still_there() -> None:
    assert used() == USES


def test_scrollbars_still_take_their_renderer_from_their_class() -> None:
    assert "self.renderer" in inspect.getsource(ScrollBar)
    writers = [path.name for path in TUI.rglob("*.py") if "ScrollBar.renderer =" in path.read_text(encoding="utf-8")]
    assert writers == ["scrollbars.py"]


def test_the_app_that_runs_is_requested_in_one_module() -> None:
    askers = [path.name for path in TUI.rglob("*.py") if "active_app" in path.read_text(encoding="utf-8")]
    assert askers == ["themes.py"]
    from textual._context import active_app

    assert active_app.name == "active_app"


def test_what_makes_connections_is_still_there() -> None:
    """`AsyncConnectionPool.create_connection` is not in the documentation of httpcore."""
    parameters = list(inspect.signature(httpcore.AsyncConnectionPool.create_connection).parameters)
    assert parameters == ["self", "origin"]
    package = TUI.parent
    users = [
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if re.search(r"httpcore\._[a-z]|AsyncConnectionPool", path.read_text(encoding="utf-8"))
    ]
    assert users == ["transports/proxy_connections.py"]
