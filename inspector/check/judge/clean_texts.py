"""Remembers texts without a finding.

So the lists of a server are not judged again in every visit.
"""

from __future__ import annotations

from hashlib import blake2b

MAX_DIGESTS = 100_000
"""Digests that are kept, about 10 MB."""


class CleanTexts:
    """A bounded set of texts, by their digests. It forgets all of them when it is full."""

    def __init__(self) -> None:
        self._known: set[bytes] = set()

    def __contains__(self, digest: bytes) -> bool:
        return digest in self._known

    def add(self, digest: bytes) -> None:
        """Remember a text."""
        if len(self._known) >= MAX_DIGESTS:
            self._known.clear()
        self._known.add(digest)


def digest_of(text: str, how: str = "") -> bytes:
    """The digest of a text and of how it was judged. A server cannot make two texts that share one."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16, person=how.encode()).digest()
