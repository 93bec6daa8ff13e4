"""Regular expressions of expectations: searched in linear time, whatever the expression and the text are.

Source: the syntax of the `regex` crate (https://docs.rs/regex), which has no look-around and no back-references.
"""

from __future__ import annotations

import re

SIZE_LIMIT = 1 << 20
"""Bytes of a compiled expression."""
_LOOK_AROUND = re.compile(r"\(\?<?[=!]|\\[1-9]|\(\?P=")


class BadPattern(ValueError):
    """A text is not a regular expression, or needs more than linear time."""

    def __init__(self, problem: str, hint: str = "") -> None:
        super().__init__(problem)
        self.hint = hint


class Pattern:
    """A compiled expression."""

    def __init__(self, pattern: str) -> None:
        import jsonschema_rs

        self.pattern = pattern
        try:
            self._validator = jsonschema_rs.validator_for(
                {"type": "string", "pattern": pattern},
                pattern_options=jsonschema_rs.RegexOptions(size_limit=SIZE_LIMIT, dfa_size_limit=SIZE_LIMIT),
            )
        except (jsonschema_rs.ValidationError, ValueError):
            if _LOOK_AROUND.search(pattern):
                raise BadPattern(
                    "look-around and back-references are not supported.", "Use several expectations instead."
                ) from None
            try:
                re.compile(pattern)
            except (re.error, RecursionError, OverflowError) as error:
                from inspector.reasons import regex_reason

                raise BadPattern(
                    f"{regex_reason(error)}.", "Use “contains” for a plain text, or put a backslash before ( [ { and *."
                ) from None
            raise BadPattern("it is too large, or its syntax is not supported.", "Write a simpler one.") from None

    def search(self, text: str) -> bool:
        """Whether the expression is found anywhere in the text."""
        try:
            return bool(self._validator.is_valid(text))
        except (UnicodeEncodeError, ValueError):
            return bool(self._validator.is_valid(text.encode("utf-8", "replace").decode("utf-8")))
