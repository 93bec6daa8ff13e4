"""The public names of `import inspector`, and its cost."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import inspector
from inspector.feature import our_features

SOURCE = Path(inspector.__file__)


@pytest.mark.slow
def test_importing_it_loads_nothing() -> None:
    code = "import sys; before = set(sys.modules); import inspector; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True, cwd=SOURCE.parents[1]
    )
    assert set(done.stdout.split()) <= {"__future__", "inspector", "inspector.version"}


@pytest.mark.parametrize("name", inspector.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(inspector, name) is not None
    assert name in dir(inspector)


def test_what_type_checkers_see_is_what_is_there() -> None:
    tree = ast.parse(SOURCE.read_text(encoding="utf-8"))
    blocks = [node for node in tree.body if isinstance(node, ast.If) and isinstance(node.test, ast.Name)]
    imports = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
    seen = {alias.name: node.module for node in imports for alias in node.names}
    homes = {name: home for home, names in inspector._HOMES.items() for name in names}
    homes |= {
        name: f"features.{feature.name}.{module}"
        for feature in our_features()
        for name, module in feature.names.items()
    }
    assert seen == {name: f"inspector.{homes.get(name, 'errors')}" for name in seen}
    assert homes.keys() <= seen.keys()
    assert sorted([*seen, "__version__"]) == sorted(inspector.__all__)
    assert (SOURCE.parent / "py.typed").exists()


def test_every_error_that_the_library_raises_is_public_and_in_the_table() -> None:
    from inspector.errors import InspectorError
    from tests.cli.json_page import every_error

    of_surfaces = {"CannotAppend", "ConnectingStopped", "OutputExists", "SkillRefused", "FeatureError"}
    """Raised by the interface and the command line only."""
    public = {error for error in every_error() if error.__name__ in inspector.__all__}
    # A class without a code of its own is a case of a public one, such as a missing value of a config file.
    private = {error.__name__ for error in set(every_error()) - public if "code" in vars(error)}
    assert private - of_surfaces == set()
    page = (SOURCE.parents[1] / "docs" / "reference" / "library.md").read_text(encoding="utf-8")
    table = page.partition("| Error | Raised if |")[2].partition("\n\n")[0]
    assert set(re.findall(r"`([A-Z]\w+)`", table)) == {error.__name__ for error in public - {InspectorError}}


def test_a_folder_that_an_older_version_left_takes_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "load" / "__pycache__").mkdir(parents=True)
    monkeypatch.setattr(inspector, "__path__", [str(tmp_path)])
    monkeypatch.delitem(vars(inspector), "load", raising=False)
    assert callable(inspector.load)


def test_other_names_are_not_there() -> None:
    with pytest.raises(AttributeError, match="no attribute 'opne'"):
        _ = inspector.opne  # type: ignore[attr-defined]


def test_star_gives_the_public_names() -> None:
    names: dict[str, object] = {}
    exec("from inspector import *", names)
    assert set(inspector.__all__) <= set(names)
