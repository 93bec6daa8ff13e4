"""Packages that are functions, too: `inspector.check` is the package of the checks and the public function.

Python sets a package as the attribute of its parent when it is imported, and no function of that name survives there.
So the package itself is made callable.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class CallablePackage(ModuleType):
    """A package whose call is that of the function which has its name."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self.__wrapped__(*args, **options)

    @property
    def __wrapped__(self) -> Any:
        """The function; what asks for a signature looks here."""
        from importlib import import_module

        name = self.__name__.rpartition(".")[2]
        return getattr(import_module(_HOMES[name]), name)


_HOMES = {"check": "inspector.library.checking", "doctor": "inspector.library.diagnosing"}


def make_callable(package: str) -> None:
    """Let a package be called."""
    sys.modules[package].__class__ = CallablePackage
