"""Tools that show forms: every kind of argument that JSON Schema can describe."""

from __future__ import annotations

from inspector.demo.content import failure, link, result
from inspector.demo.definitions import READ_ONLY, RECEIVED, ToolTable, received

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from inspector.demo.call import ClientRequest

box = ToolTable()


@box.add(
    "echo",
    {"message": {"type": "string", "description": "The text to return"}},
    required=("message",),
    title="Echo",
    hints=READ_ONLY,
)
def echo(call: ClientRequest) -> dict[str, Any]:
    """Returns its message."""
    return result(call.arguments["message"])


@box.add(
    "add",
    {
        "a": {"type": "number", "description": "The first number", "minimum": -1e9, "maximum": 1e9},
        "b": {"type": "number", "description": "The second number", "minimum": -1e9, "maximum": 1e9},
    },
    required=("a", "b"),
    title="Add two numbers",
    hints=READ_ONLY,
    outputSchema={"type": "object", "properties": {"sum": {"type": "number"}}, "required": ["sum"]},
)
def add(call: ClientRequest) -> dict[str, Any]:
    """Adds two numbers from -1,000,000,000 to 1,000,000,000."""
    return result(structured={"sum": call.arguments["a"] + call.arguments["b"]})


@box.add(
    "roll-dice",
    {
        "dice": {"type": "integer", "description": "How many dice", "minimum": 1, "maximum": 20, "default": 2},
        "sides": {
            "type": "integer",
            "description": "An even number of sides",
            "multipleOf": 2,
            "minimum": 2,
            "exclusiveMaximum": 101,
            "default": 6,
        },
    },
    title="Roll dice",
    hints={"readOnlyHint": True, "idempotentHint": False, "openWorldHint": False},
)
def roll_dice(call: ClientRequest) -> dict[str, Any]:
    """Rolls dice. Integers with bounds, steps and defaults."""
    import random

    dice, sides = call.arguments.get("dice", 2), call.arguments.get("sides", 6)
    rolled = [random.randint(1, int(sides)) for _ in range(int(dice))]
    return result(structured={"rolled": rolled, "total": sum(rolled)})


@box.add(
    "order-pizza",
    {
        "size": {
            "type": "string",
            "title": "Size",
            "description": "An enum whose values have titles",
            "oneOf": [
                {"const": "s", "title": "Small, 26 cm"},
                {"const": "m", "title": "Medium, 32 cm"},
                {"const": "l", "title": "Large, 40 cm"},
            ],
            "default": "m",
        },
        "crust": {
            "type": "string",
            "title": "Crust",
            "description": "A plain enum",
            "enum": ["thin", "pan", "stuffed"],
            "default": "thin",
        },
        "toppings": {
            "type": "array",
            "title": "Toppings",
            "description": "A choice of several, each at most once",
            "items": {"type": "string", "enum": ["mozzarella", "tomato", "basil", "olives", "mushrooms", "anchovies"]},
            "uniqueItems": True,
            "minItems": 1,
            "maxItems": 4,
            "default": ["mozzarella", "tomato"],
        },
        "extras": {
            "type": "array",
            "title": "Extras",
            "description": "A choice of several with titles",
            "items": {"anyOf": [{"const": "oil", "title": "Chili oil"}, {"const": "dip", "title": "Garlic dip"}]},
            "uniqueItems": True,
        },
        "deliver": {"type": "boolean", "title": "Deliver", "description": "Or you fetch it", "default": False},
    },
    required=("size", "toppings"),
    title="Order a pizza",
    hints={"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False, "openWorldHint": False},
)
def order_pizza(call: ClientRequest) -> dict[str, Any]:
    """Pretends to order a pizza. Enums of every kind: plain, titled, one of several, several of many."""
    wanted = call.arguments
    where = "comes to you" if wanted.get("deliver") else "waits for you"
    return result(f"A pizza ({wanted['size']}) with {', '.join(wanted['toppings'])} {where}.")


_PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "As in the passport", "minLength": 1, "maxLength": 80},
        "born": {"type": "string", "format": "date", "description": "Day of birth"},
        "passport": {
            "type": "object",
            "properties": {
                "country": {"type": "string", "pattern": "^[A-Z]{2}$", "description": "Two letters"},
                "number": {"type": "string", "pattern": "^[A-Z0-9]{6,9}$"},
            },
            "required": ["country", "number"],
        },
    },
    "required": ["name"],
}


@box.add(
    "book-trip",
    {
        "traveller": {**_PERSON, "description": "Who travels"},
        "legs": {
            "type": "array",
            "description": "The stages, in order",
            "minItems": 1,
            "maxItems": 6,
            "items": {
                "type": "object",
                "properties": {
                    "from": {"type": "string", "pattern": "^[A-Z]{3}$", "description": "Airport code"},
                    "to": {"type": "string", "pattern": "^[A-Z]{3}$", "description": "Airport code"},
                    "date": {"type": "string", "format": "date"},
                    "class": {"type": "string", "enum": ["economy", "business"], "default": "economy"},
                },
                "required": ["from", "to", "date"],
            },
        },
        "companions": {"type": "array", "items": _PERSON, "description": "Who else comes along"},
        "insurance": {"type": "boolean", "default": True},
    },
    required=("traveller", "legs"),
    title="Book a trip",
    hints={"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False, "openWorldHint": True},
)
def book_trip(call: ClientRequest) -> dict[str, Any]:
    """Pretends to book a trip. Objects in objects, and lists of objects."""
    legs = call.arguments["legs"]
    route = " → ".join([legs[0]["from"], *(leg["to"] for leg in legs)])
    people = 1 + len(call.arguments.get("companions", []))
    return result(f"{call.arguments['traveller']['name']} travels {route} ({people} seats).")


@box.add(
    "search",
    {
        "query": {"type": "string", "description": "Part of a name", "minLength": 1, "maxLength": 100},
        "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 5},
        "sort": {
            "type": "object",
            "properties": {
                "by": {"type": "string", "enum": ["name", "uri", "size"], "default": "name"},
                "descending": {"type": "boolean", "default": False},
            },
        },
    },
    required=("query",),
    title="Search the resources",
    hints=READ_ONLY,
)
def search(call: ClientRequest) -> dict[str, Any]:
    """Finds resources by name and answers with links to them."""
    wanted = call.arguments
    sort = wanted.get("sort", {})
    found = call.world.resources.find(wanted["query"], int(wanted.get("limit", 5)))
    if not found:
        return failure(f"No resource has “{wanted['query']}” in its name.")
    found.sort(key=lambda each: each.get(sort.get("by", "name"), 0), reverse=sort.get("descending", False))
    return result(f"{len(found)} found", *(link(each) for each in found))


@box.add(
    "register",
    {
        "email": {"type": "string", "format": "email", "description": "An address with @"},
        "homepage": {"type": "string", "format": "uri", "description": "A URL"},
        "birthday": {"type": "string", "format": "date"},
        "meeting": {"type": "string", "format": "date-time"},
        "alarm": {"type": "string", "format": "time"},
        "token": {"type": "string", "format": "uuid"},
        "host": {"type": "string", "format": "ipv4"},
        "code": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{4}$", "description": "Like AB-1234"},
        "bio": {"type": "string", "minLength": 10, "maxLength": 400, "description": "Ten characters or more"},
    },
    required=("email", "code"),
    title="Register",
    outputSchema=RECEIVED,
)
def register(call: ClientRequest) -> dict[str, Any]:
    """Text in every format, with patterns and lengths."""
    return received(call)


@box.add(
    "configure",
    {
        "name": {"type": "string", "default": "demo"},
        "retries": {"type": "integer", "default": 3, "minimum": 0},
        "ratio": {"type": "number", "default": 0.5, "minimum": 0, "maximum": 1},
        "verbose": {"type": "boolean", "default": True},
        "tags": {"type": "array", "items": {"type": "string"}, "default": ["one", "two"]},
        "window": {
            "type": "object",
            "properties": {"width": {"type": "integer"}, "height": {"type": "integer"}},
            "default": {"width": 80, "height": 24},
        },
    },
    title="Configure",
    hints={"idempotentHint": True},
    outputSchema=RECEIVED,
)
def configure(call: ClientRequest) -> dict[str, Any]:
    """Every argument has a default, so it can be called without arguments."""
    return received(call)


@box.add("what-time", schema={"additionalProperties": False}, title="What time is it?", hints={"readOnlyHint": True})
def what_time(call: ClientRequest) -> dict[str, Any]:
    """Returns the time. It takes no arguments, and refuses any."""
    import time

    return result(time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime()))
