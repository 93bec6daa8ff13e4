"""Whether a load can hurt a server of another person."""

from __future__ import annotations

from urllib.parse import urlsplit

from inspector.addresses import is_loopback
from inspector.config.targets import HttpTarget, StdioTarget


def is_this_machine(target: StdioTarget | HttpTarget) -> bool:
    """Whether the target is a process of ours, or a server at a loopback address."""
    if isinstance(target, StdioTarget) or target.network is not None:
        return True
    try:
        host = urlsplit(target.url).hostname or ""
    except ValueError:
        return False
    return is_loopback(host) and not target.proxy
