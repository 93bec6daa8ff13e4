"""Pages of a list with opaque cursors."""

from __future__ import annotations

from binascii import a2b_hex, b2a_hex

from inspector.demo.rpc import INVALID_PARAMS, RpcError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PAGE_SIZE = 100


def start_of(kind: str, cursor: Any) -> int:
    """Returns the start of a cursor's page (0 without one); raises RpcError for a cursor of another list."""
    if cursor is None:
        return 0
    try:
        owner, _, start = a2b_hex(cursor).decode("ascii").partition(":")
        if owner != kind or not start.isdigit():
            raise ValueError(cursor)
        return int(start)
    except (TypeError, ValueError):
        raise RpcError(INVALID_PARAMS, "Invalid cursor") from None


def page_of(kind: str, key: str, entries: list[dict[str, Any]], stop: int, total: int) -> dict[str, Any]:
    """The result of a list method for entries that end before `stop`, with a cursor if there are more."""
    page: dict[str, Any] = {key: entries}
    if stop < total:
        page["nextCursor"] = b2a_hex(f"{kind}:{stop}".encode()).decode("ascii")
    return page
