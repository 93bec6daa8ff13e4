"""A run of pytest inside a test, in this process: it has imported pytest and the library already."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest


def pytest_here(
    folder: Path, words: Sequence[str], env: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> tuple[int, str]:
    """Run `pytest WORDS` in a folder with an environment; then forget the modules of the folder.

    Returns the exit code, and both outputs. Name the plugins in `words`: those of packages are not loaded.
    """
    capfd.readouterr()
    with pytest.MonkeyPatch.context() as patch:
        # Two files that are written in one second may have the same time and size.
        patch.setattr(sys, "dont_write_bytecode", True)
        patch.setattr(sys, "path", [*env["PYTHONPATH"].split(":"), *sys.path])
        for name in os.environ.keys() - env.keys():
            patch.delenv(name)
        for name, value in env.items():
            patch.setenv(name, value)
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        patch.chdir(folder)
        try:
            code = int(pytest.main([*words]))
        finally:
            for name, module in [*sys.modules.items()]:
                if str(getattr(module, "__file__", None)).startswith(f"{folder}/"):
                    del sys.modules[name]
    return code, "".join(capfd.readouterr())
