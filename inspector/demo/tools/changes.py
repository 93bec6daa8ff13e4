"""Tools that change the server's lists, and tools about the connection."""

from __future__ import annotations

from inspector.demo.content import failure, result
from inspector.demo.definitions import ToolTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from inspector.demo.call import ClientRequest

box = ToolTable()


@box.add(
    "change-list",
    {
        "list": {"type": "string", "enum": ["tools", "resources", "prompts"], "default": "tools"},
        "action": {"type": "string", "enum": ["add", "remove"], "default": "add"},
    },
    title="Change a list",
    hints={"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False, "openWorldHint": False},
)
def change_list(call: ClientRequest) -> dict[str, Any]:
    """Adds an entry to one of the lists, or removes the last one that it added, and notifies every client."""
    topic, action = call.arguments.get("list", "tools"), call.arguments.get("action", "add")
    if action == "add":
        return result(f"Added {call.world.add_extra(topic)} to the {topic}.")
    removed = call.world.remove_extra(topic)
    if removed is None:
        return failure(f"There is nothing to remove from the {topic}: add something first.")
    return result(f"Removed {removed} from the {topic}.")


@box.add(
    "touch-resource",
    {"uri": {"type": "string", "format": "uri", "default": "demo://readme"}},
    title="Touch a resource",
    hints={"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False},
)
def touch_resource(call: ClientRequest) -> dict[str, Any]:
    """Sends an update of a resource to every client that has subscribed to it."""
    uri = call.arguments.get("uri", "demo://readme")
    call.world.touch(uri)
    return result(f"{uri} was touched.")


@box.add(
    "end-listening",
    {
        "how": {
            "type": "string",
            "oneOf": [
                {"const": "result", "title": "with the result, as when the server stops"},
                {"const": "cancelled", "title": "with notifications/cancelled"},
                {"const": "silence", "title": "without a message; over HTTP the stream just ends"},
            ],
            "default": "result",
        }
    },
    title="End subscriptions",
    hints={"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False},
    needs="listening",
)
def end_listening(call: ClientRequest) -> dict[str, Any]:
    """Ends every subscriptions/listen from the server's side, in one of the possible ways."""
    subscriptions = list(call.world.subscriptions)
    for each in subscriptions:
        each.end(call.arguments.get("how", "result"))
    return result(f"Ended {len(subscriptions)} subscriptions.")


@box.add("about-client", title="About you", hints={"readOnlyHint": True})
def about_client(call: ClientRequest) -> dict[str, Any]:
    """Returns what the server knows about its client, and the _meta of this call."""
    return result(structured=call.describe_client() | {"meta": call.meta})
