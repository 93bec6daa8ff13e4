"""The `target` of an imported recording: the other tool's target, without its secrets."""

from __future__ import annotations

from typing import Any

from inspector.config.targets import HttpTarget, StdioTarget


def stdio_target(argv: Any, cwd: Any = None, label: Any = None) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the target of a command, as far as it is known, and the secrets in it."""
    words = tuple(word for word in argv if isinstance(word, str)) if type(argv) is list else ()
    if not words:
        return {"kind": "stdio", "argv": []} | _label(label), ()
    target = StdioTarget(words, cwd=cwd if isinstance(cwd, str) else None)
    return target.as_header() | _label(label), target.secrets


def http_target(url: Any, label: Any = None) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the target of a URL, and the secrets in it."""
    if not isinstance(url, str) or not url:
        return {"kind": "http"} | _label(label), ()
    target = HttpTarget(url)
    return target.as_header() | _label(label), target.secrets


def _label(label: Any) -> dict[str, Any]:
    return {"label": label[:200]} if isinstance(label, str) and label else {}
