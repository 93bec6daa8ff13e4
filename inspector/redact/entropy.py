"""Detects random-looking text: long, with characters of several kinds that change often; not a word, path, id or
digest.

It is a heuristic: it must ignore what messages are full of (names, URIs, cursors, hashes, images), otherwise its
findings would be useless. Secrets without a shape under a telling name are found by that name.
"""

from __future__ import annotations

import base64
import math
import re
from collections import Counter
from itertools import pairwise

RUN = re.compile(r"(?<![A-Za-z0-9+/_=.%-])[A-Za-z0-9+/_-]{20,200}+={0,2}(?![A-Za-z0-9+/_=.%-])")
"""The length of a candidate. Longer runs are data."""

_LONG = re.compile(r"[A-Za-z0-9+/_-]{20,}")
_NO_NAME = 28
"""Characters above which a run is not a name even without a digit."""
_DIGIT = re.compile(r"[0-9]")
_MARK = "‹redacted".encode()
_HEX = re.compile(r"(?:0x)?[0-9a-fA-F-]+={0,2}")
_WORDS = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{4,}")
MIN_BITS = 3.6
"""Least entropy of a run, in bits per character."""
MIN_CHANGES = 0.34
"""Least share of positions where the kind of character changes: 0.6 in random text, 0.2 in names."""
MAX_WORDS = 0.4
"""Most of it that may be words."""

OPAQUE = frozenset(
    """
    nextcursor cursor requeststate progresstoken id taskid elicitationid requestid sessionid etag hash digest sha sha1
    sha256 sha512 md5 checksum integrity commit revision blob data b64 uri url uritemplate traceparent tracestate d path
    src $schema $ref $id name method mimetype label source version state code_challenge nonce
    """.split()
)
"""Members whose values look random but are not secret: names, positions, digests, data."""


def may_hold(text: str) -> bool:
    """Whether a text contains a candidate, or base64, plain or escaped. Fast."""
    return any(
        run.lower() != run and run.upper() != run and (len(run) >= _NO_NAME or _DIGIT.search(run) is not None)
        for run in _LONG.findall(text)
    )


def looks_random(run: str) -> bool:
    """Whether a run of characters looks random."""
    body = run.rstrip("=")
    if len(body) < 20 or _HEX.fullmatch(run):
        return False
    kinds = [_kind(char) for char in body]
    if not {"a", "A", "0"} <= set(kinds):
        return False
    changes = sum(one != other for one, other in pairwise(kinds)) / (len(kinds) - 1)
    if changes < MIN_CHANGES or body.count("/") > max(2, len(body) // 16) or body.count("-") + body.count("_") > 4:
        return False
    if sum(len(word) for word in _WORDS.findall(body) if len(word) > 3) > MAX_WORDS * len(body):
        return False
    return bits(body) >= MIN_BITS and not _is_text(body)


def bits(text: str) -> float:
    """Return the entropy of a text, in bits per character."""
    return -sum(count / len(text) * math.log2(count / len(text)) for count in Counter(text).values())


def _is_text(run: str) -> bool:
    """Whether a run is base64 of readable text, or was redacted already."""
    try:
        data = base64.b64decode(run + "=" * (-len(run) % 4), b"-_" if "-" in run or "_" in run else None, validate=True)
        return _MARK in data or "".join(data.decode("utf-8").split()).isprintable()
    except ValueError:
        return False


def _kind(char: str) -> str:
    return "0" if char.isdigit() else "a" if char.islower() else "A" if char.isupper() else "-"
