"""Turns characters into tokens: an estimate by default, or a tokenizer that is on this machine already."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from inspector.errors import UsageError

ESTIMATE = "characters / 4"
"""The method of the estimate. JSON is denser than prose: it may need up to characters / 3."""
_CHARACTERS_A_TOKEN = 4


class TokenCounter(NamedTuple):
    """Counts the tokens of texts."""

    method: str
    """`characters / 4`, or the name of a tokenizer."""
    count: Callable[[str], int]

    @property
    def is_estimate(self) -> bool:
        """Whether the counts are estimated from characters."""
        return self.method == ESTIMATE


def estimate(characters: int) -> int:
    """Return the estimated tokens of a number of characters, rounded up."""
    return -(-characters // _CHARACTERS_A_TOKEN)


ESTIMATED = TokenCounter(ESTIMATE, lambda text: estimate(len(text)))


def tokenizer(name: str) -> TokenCounter:
    """Return the tokenizer `name` of tiktoken, such as `o200k_base`. Nothing is downloaded.

    Raises `UsageError` if tiktoken is not installed, does not know the name, or its vocabulary is not on this machine.
    """
    try:
        import tiktoken  # type: ignore[import-not-found, unused-ignore]
        import tiktoken.load  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise UsageError(
            "A tokenizer needs the package tiktoken, which is not installed.",
            hint="Install tiktoken, or count without a tokenizer: tokens are then characters / 4.",
        ) from None
    encoding = _encoding(tiktoken, name)
    return TokenCounter(name, lambda text: len(encoding.encode(text, disallowed_special=())))


class _NotOnDisk(Exception):
    """The vocabulary would have to be downloaded."""


def _encoding(tiktoken: Any, name: str) -> Any:
    if name not in tiktoken.list_encoding_names():
        raise UsageError(
            f"Unknown tokenizer “{name[:40]}”.", hint=f"tiktoken has {', '.join(tiktoken.list_encoding_names())}."
        )

    def refuse(*_: Any) -> bytes:
        raise _NotOnDisk

    download = tiktoken.load.read_file
    tiktoken.load.read_file = refuse  # The library reads its cache first, and calls this to download.
    try:
        return tiktoken.get_encoding(name)
    except _NotOnDisk:
        raise UsageError(
            f"The vocabulary of {name} is not on this machine, and Inspector downloads nothing.",
            hint="Set TIKTOKEN_CACHE_DIR to a directory that has it, or count without a tokenizer.",
        ) from None
    finally:
        tiktoken.load.read_file = download
