"""Tools that show forms: every kind of argument that JSON Schema can describe."""

from __future__ import annotations

from inspector.demo.content import failure, link, result
from inspector.demo.definitions import tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from inspector.demo.call import ClientRequest


@tool("echo")
def _echo(call: ClientRequest) -> dict[str, Any]:
    return result(call.arguments["message"])


@tool("add")
def _add(call: ClientRequest) -> dict[str, Any]:
    return result(structured={"sum": call.arguments["a"] + call.arguments["b"]})


@tool("roll-dice")
def _roll_dice(call: ClientRequest) -> dict[str, Any]:
    import random

    dice, sides = call.arguments.get("dice", 2), call.arguments.get("sides", 6)
    rolled = [random.randint(1, int(sides)) for _ in range(int(dice))]
    return result(structured={"rolled": rolled, "total": sum(rolled)})


@tool("order-pizza")
def _order_pizza(call: ClientRequest) -> dict[str, Any]:
    arguments = call.arguments
    where = "comes to you" if arguments.get("deliver") else "waits for you"
    return result(f"A pizza ({arguments['size']}) with {', '.join(arguments['toppings'])} {where}.")


@tool("book-trip")
def _book_trip(call: ClientRequest) -> dict[str, Any]:
    legs = call.arguments["legs"]
    route = " → ".join([legs[0]["from"], *(leg["to"] for leg in legs)])
    people = 1 + len(call.arguments.get("companions", []))
    return result(f"{call.arguments['traveller']['name']} travels {route} ({people} seats).")


@tool("search")
def _search(call: ClientRequest) -> dict[str, Any]:
    arguments = call.arguments
    sort = arguments.get("sort", {})
    resources = call.state.resources.find(arguments["query"], int(arguments.get("limit", 5)))
    if not resources:
        return failure(f"No resource has “{arguments['query']}” in its name.")
    resources.sort(key=lambda resource: resource.get(sort.get("by", "name"), 0), reverse=sort.get("descending", False))
    return result(f"{len(resources)} found", *(link(resource) for resource in resources))


@tool("what-time")
def _what_time(call: ClientRequest) -> dict[str, Any]:
    import time

    return result(time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime()))


@tool("send-parcel")
def _send_parcel(call: ClientRequest) -> dict[str, Any]:
    return result(f"{call.arguments['weight']} on the way to a destination of kind {call.arguments['to']['kind']}.")


@tool("tree")
def _tree(call: ClientRequest) -> dict[str, Any]:
    lines: list[str] = []
    waiting = [(0, call.arguments["root"])]
    while waiting:
        depth, node = waiting.pop()
        lines.append("  " * depth + node["name"])
        waiting += [(depth + 1, child) for child in reversed(node.get("children", []))]
    return result("\n".join(lines))


@tool("plot")
def _plot(call: ClientRequest) -> dict[str, Any]:
    points = call.arguments["points"]
    low, high = min(y for _, y in points), max(y for _, y in points)
    scale = 40 / (high - low) if high > low else 1
    return result("\n".join(f"{x:>8g} {'·' * int((y - low) * scale)}● {y:g}" for x, y in points))


def _echo_arguments(call: ClientRequest) -> dict[str, Any]:
    return result(structured={"received": call.arguments})


for _name in ("register", "configure", "set-nickname", "accept-terms", "free-form", "plan-meeting"):
    tool(_name)(_echo_arguments)
for _name in ("route-query", "bad-header"):  # arguments that are repeated in HTTP headers (2026-07-28)
    tool(_name)(_echo_arguments)
