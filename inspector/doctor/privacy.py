"""The privacy of a report in a public issue: it contains no secrets and no names of users."""

from __future__ import annotations

import re
from collections.abc import Iterable

from inspector.config import secret_values
from inspector.config.folder_names import FolderNames
from inspector.config.private_keys import PrivateKeyFilter
from inspector.config.secret_forms import SHORTEST, SecretFinder
from inspector.config.token_patterns import without_tokens

_ASSIGNED = re.compile(r"""(?<![\w.-])([A-Za-z][\w.-]{0,60})(["']?\s?[=:]\s?["']?)([^\s"'&;,]{4,})""")
_BEARER = re.compile(r"\b(Bearer|Basic|DPoP)\s+[\w.~+/-]{6,}+(?!=\\?\")=*", re.IGNORECASE)
"""A scheme and its credential; the parameters of a challenge, such as `Bearer error="…"`, are none."""
_URL = re.compile(r"""\b[a-z][a-z0-9+.-]{1,20}://[^\s"'<>]+""", re.IGNORECASE)
_MAX_LENGTH = 1 << 16


class Privacy:
    """Removes secrets and user names from a text, in linear time."""

    def __init__(self, secrets: Iterable[str] = (), home: str | None = None) -> None:
        """`secrets` are known secret values; `home` is the user's home folder."""
        self._secrets = list(secrets)
        self._finder = SecretFinder(self._secrets)
        self._folders = FolderNames(home=home)

    def add(self, secret: str) -> None:
        """Remove this secret too from now on."""
        if secret not in self._secrets:
            self._secrets.append(secret)
            self._finder.add(secret)

    def __call__(self, text: str) -> str:
        """Return the text as it may be published."""
        text = text[:_MAX_LENGTH]
        text = PrivateKeyFilter().line(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")
        text = self._finder.replaced(text, secret_values.MASK, cut=SHORTEST if "…" in text else 0)
        text = secret_values.mask(text, self._secrets)
        text = without_tokens(text, secret_values.MASK)
        # Also what only resembles a token: a report is read by others, and an example that is masked costs nothing.
        for token in secret_values.in_headers([("text", text)]):
            text = text.replace(token, secret_values.MASK)
        text = _URL.sub(lambda match: secret_values.mask_url(match[0]), text)
        text = _BEARER.sub(rf"\1 {secret_values.MASK}", text)
        text = _ASSIGNED.sub(_assigned, text)
        return self._folders.hidden(text)


def _assigned(match: re.Match[str]) -> str:
    named = secret_values.looks_secret(match[1]) or (
        match[1].isupper() and secret_values.looks_secret_setting(match[1])
    )
    plain = match[3].startswith(("$", "missing-")) or secret_values.MASK in match[3]
    return f"{match[1]}{match[2]}{secret_values.MASK}" if named and not plain else match[0]
