"""Packages that are also functions: `inspector.check` is the package of the checks and the public function.

Python sets a package as the attribute of its parent when it is imported, so a function of that name is overwritten.
Therefore the package itself is made callable.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class CallablePackage(ModuleType):
    """A package that calls the function with its name."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self.__wrapped__(*args, **options)

    @property
    def __wrapped__(self) -> Any:
        """The function; code that asks for a signature looks here."""
        from importlib import import_module

        name = self.__name__.rpartition(".")[2]
        return getattr(import_module(_HOMES[name]), name)


_HOMES = {
    "check": "inspector.library.checking",
    "doctor": "inspector.library.diagnosing",
}


def make_callable(package: str) -> None:
    """Make a package callable."""
    sys.modules[package].__class__ = CallablePackage
