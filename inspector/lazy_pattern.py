"""Regular expressions that are compiled when they are first used.

A short command imports a hundred and uses ten. The modules that every start imports make theirs here
(tests/test_imports.py).
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class _LazyPattern:
    def __init__(self, source: str | bytes, flags: int) -> None:
        self._source, self._flags = source, flags

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(self._source, self._flags), name)
        setattr(self, name, value)  # The next access does not come here.
        return value


def lazy_pattern(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return the same as `re.compile`, but an error of the expression comes at its first use."""
    return cast("re.Pattern[AnyStr]", _LazyPattern(source, flags))
