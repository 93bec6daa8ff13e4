"""Channels: the stream of bytes of an event. Their names in recordings (`ch`) are made here.

| Name | What it is |
|---|---|
| `stdio` | stdin and stdout of a process, and its life |
| `stderr` | its stderr |
| `post-7` | the seventh POST, and the stream that answers it |
| `get-2` | the second stream opened with GET: a standing one, on which the server sends without a request |
| `delete-1`, `other-1` | an HTTP request of another method |
| `replay`, `replay-3` | answers of a recording instead of a server: notifications, and the third request |

Events of the connection as a whole have the empty name. Imported recordings may have any name.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

STDIO = "stdio"
STDERR = "stderr"
REPLAY = "replay"
ONE_REQUEST = ("post-", "replay-")
"""Prefixes of channels that carry one message of the client and its responses."""
_OF_HTTP = ("post-", "get-", "delete-")
_METHODS = {"POST": "post", "GET": "get", "DELETE": "delete"}


def of_post(number: int | str) -> str:
    """Return the channel of a POST and of its response stream."""
    return f"post-{number}"


def of_get(number: int | str) -> str:
    """Return the channel of a stream opened with GET."""
    return f"get-{number}"


def of_replay(number: int) -> str:
    """Return the channel of a request that a recording answers."""
    return f"{REPLAY}-{number}"


def of_method(method: str) -> str:
    """Return the prefix of the channels of a method: `post`, `get`, `delete`, or `other`."""
    return _METHODS.get(method, "other")


def of_request(method: str, number: int) -> str:
    """Return the channel of an HTTP request in an imported recording: as `of_post` and `of_get`, for any method."""
    return f"{method.lower()}-{number}"


def is_stdio(channel: str) -> bool:
    """Whether it is the stdin and stdout of a process."""
    return channel == STDIO


def is_of_process(channel: str) -> bool:
    """Whether it is a pipe of a process."""
    return channel in (STDIO, STDERR)


def is_post(channel: str) -> bool:
    """Whether it is that of a POST: its messages are responses to that request."""
    return channel.startswith("post-")


def is_get(channel: str) -> bool:
    """Whether it is a standing stream of HTTP, on which the server sends without a request."""
    return channel.startswith("get-")


def is_of_one_request(channel: str) -> bool:
    """Whether it belongs to one HTTP request, or to one that a recording answers."""
    return channel.startswith(_OF_HTTP) or channel.startswith(ONE_REQUEST)


def family(channel: str) -> str:
    """Return the name without its number: `post` of `post-7`."""
    return channel.partition("-")[0]


def transport_of(families: Collection[str]) -> Literal["stdio", "http", "sse"]:
    """Return the transport of a connection by the families of its channels."""
    return "stdio" if STDIO in families else "sse" if "sse" in families else "http"


def exchange_number(channel: str) -> int | None:
    """Return a number for each POST (even) and GET (odd); None for other channels and too large numbers."""
    number = channel.partition("-")[2]
    if not (is_post(channel) or is_get(channel)) or len(number) > 9 or not (number.isascii() and number.isdigit()):
        return None
    return int(number) * 2 + is_get(channel)
