"""Tools that show results: every kind of content, of structure and of error."""

from __future__ import annotations

from inspector.demo.content import audio, contents, embedded, failure, image, link, result, text
from inspector.demo.definitions import READ_ONLY, ToolTable
from inspector.demo.media import icon
from inspector.demo.rpc import RpcError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from inspector.demo.call import ClientRequest

box = ToolTable()

_MARKDOWN = """# A markdown answer

Some **bold**, some *italic*, some `code`, and a [link](https://modelcontextprotocol.io).

1. first
2. second
   - nested

| planet | moons |
|--------|------:|
| Earth  | 1     |
| Mars   | 2     |

```python
def greet(name):
    return f"Hello, {name}"
```

> Quoted text ends the sample.
"""

_SAMPLER = """Latin: façade, naïve, Ångström
Greek, Cyrillic: αβγ жщю
East Asian (two cells each): 你好 こんにちは 안녕
Emoji: 🙂 👩‍💻 🏳️‍🌈 🇪🇺
Combining marks: e\u0301 n\u0303 Z\u0351\u036b\u0343
Right to left: שלום مرحبا
Boxes: ┌─┬─┐ ▁▂▃▄▅▆▇█
Separators: line\u2028paragraph\u2029next\u0085end
Tab:\tend"""

_WEATHER = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "temperature": {"type": "number", "description": "Degrees Celsius"},
        "conditions": {"type": "string", "enum": ["sun", "clouds", "rain", "snow"]},
        "humidity": {"type": "integer", "minimum": 0, "maximum": 100, "description": "Percent"},
        "hours": {"type": "array", "items": {"type": "number"}},
    },
    "required": ["city", "temperature", "conditions"],
}
_CITY = {"city": {"type": "string", "enum": ["Bergen", "Kyoto", "Lima", "Nairobi"], "description": "Where"}}


@box.add("show-markdown", title="Markdown", hints=READ_ONLY)
def show_markdown(call: ClientRequest) -> dict[str, Any]:
    """Returns markdown that is meant for the user."""
    return result(text(_MARKDOWN, annotations={"audience": ["user"], "priority": 0.9}))


@box.add("show-unicode", title="Unicode sampler", hints=READ_ONLY)
def show_unicode(call: ClientRequest) -> dict[str, Any]:
    """Returns scripts, emoji, combining marks and separators that are hard to draw in a terminal."""
    return result(_SAMPLER)


@box.add(
    "draw-picture",
    {
        "width": {"type": "integer", "minimum": 8, "maximum": 400, "default": 96},
        "height": {"type": "integer", "minimum": 8, "maximum": 400, "default": 64},
        "colour": {
            "type": "string",
            "oneOf": [{"const": "orange", "title": "Evening"}, {"const": "yellow", "title": "Noon"}],
            "default": "orange",
        },
    },
    title="Draw a picture",
    hints=READ_ONLY,
    icons=[icon()],
    _meta={"demo.example/category": "media"},
)
def draw_picture(call: ClientRequest) -> dict[str, Any]:
    """Returns a generated PNG image."""
    from inspector.demo.media import picture

    wanted = call.arguments
    colour = (250, 220, 90) if wanted.get("colour") == "yellow" else (235, 120, 60)
    return result(image(picture(int(wanted.get("width", 96)), int(wanted.get("height", 64)), colour)))


@box.add(
    "play-tone",
    {
        "frequency": {"type": "number", "minimum": 20, "maximum": 4000, "default": 440, "description": "Hertz"},
        "seconds": {"type": "number", "exclusiveMinimum": 0, "maximum": 5, "default": 0.25},
    },
    title="Play a tone",
    hints=READ_ONLY,
)
def play_tone(call: ClientRequest) -> dict[str, Any]:
    """Returns a WAV sound. Before 2025-03-26, which has no audio content, it is an embedded resource."""
    from inspector.demo.media import tone

    return result(audio(tone(call.arguments.get("frequency", 440), call.arguments.get("seconds", 0.25))))


@box.add("embed-text", title="Embedded text", hints=READ_ONLY)
def embed_text(call: ClientRequest) -> dict[str, Any]:
    """Returns the readme as an embedded text resource."""
    return result("The readme:", embedded(call.world.resources.read("demo://readme")[0]))


@box.add("embed-blob", title="Embedded blob", hints=READ_ONLY)
def embed_blob(call: ClientRequest) -> dict[str, Any]:
    """Returns bytes of an unknown type as an embedded blob resource."""
    return result(embedded(contents("demo://inline/bytes.bin", "application/octet-stream", bytes(range(256)))))


@box.add(
    "link-resources",
    {"count": {"type": "integer", "minimum": 1, "maximum": 20, "default": 3}},
    title="Links to resources",
    hints=READ_ONLY,
)
def link_resources(call: ClientRequest) -> dict[str, Any]:
    """Returns links to resources. Before 2025-06-18, which has no links, they are text."""
    listed = call.world.resources.page(0, int(call.arguments.get("count", 3)))
    return result("See also:", *(link(each) for each in listed))


@box.add("mixed", title="All kinds at once", hints=READ_ONLY)
def mixed(call: ClientRequest) -> dict[str, Any]:
    """Returns one block of every kind, with different audiences and priorities."""
    from inspector.demo.media import picture, tone

    for_user = {"audience": ["user"], "priority": 1.0, "lastModified": "2025-11-25T12:00:00Z"}
    for_model = {"audience": ["assistant"], "priority": 0.2}
    return result(
        text("For the user alone.", annotations=for_user),
        text("For the model alone.", annotations=for_model, _meta={"demo.example/weight": 2}),
        image(picture(32, 24), annotations=for_user),
        audio(tone(660, 0.05)),
        link(call.world.resources.page(0, 1)[0], annotations=for_model),
        embedded(contents("demo://inline/data.json", "application/json", '{"answer": 42}'), annotations=for_user),
    )


@box.add("weather", _CITY, required=("city",), title="Weather", hints=READ_ONLY, outputSchema=_WEATHER)
def weather(call: ClientRequest) -> dict[str, Any]:
    """Returns structured content that matches its output schema. The weather is made up."""
    city = call.arguments["city"]
    seed = sum(city.encode())
    conditions = ("sun", "clouds", "rain", "snow")[seed % 4]
    hours = [seed % 20 + hour / 2 for hour in range(4)]
    return result(
        structured={
            "city": city,
            "temperature": seed % 20 + 0.5,
            "conditions": conditions,
            "humidity": seed % 100,
            "hours": hours,
        }
    )


@box.add("bad-structured", _CITY, title="Broken structure", hints=READ_ONLY, outputSchema=_WEATHER)
def bad_structured(call: ClientRequest) -> dict[str, Any]:
    """Has the same output schema as weather and breaks it in three places, on purpose."""
    return result(structured={"temperature": "warm", "conditions": "sun", "humidity": 170})


_ORDERS = {
    "type": "object",
    "properties": {
        "orders": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "integer"},
                    "customer": {"type": "string"},
                    "country": {"type": "string", "enum": ["DE", "FR", "IE", "JP", "PL"]},
                    "total": {"type": "number", "minimum": 0},
                    "placed": {"type": "string", "format": "date"},
                    "note": {"type": ["string", "null"]},
                },
                "required": ["id", "customer", "country", "total", "placed"],
            },
        }
    },
    "required": ["orders"],
}
_CUSTOMERS = (
    ("Red Brick Books", "IE"),
    ("Ōsaka Paper Co", "JP"),
    ("Café du Port", "FR"),
    ("Müller GmbH", "DE"),
    ("Łukasz Żółć", "PL"),
)


def _orders(count: int) -> list[dict[str, Any]]:
    """Returns orders that are the same in every call."""
    found = []
    for at in range(count):
        seed = (at * 7919 + 104729) % 99991
        customer, country = _CUSTOMERS[seed % len(_CUSTOMERS)]
        placed = f"2026-{seed % 11 + 1:02d}-{seed % 28 + 1:02d}"
        order = {
            "id": 1000 + at,
            "customer": customer,
            "country": country,
            "total": seed % 200000 / 100,
            "placed": placed,
        }
        found.append(order | ({"note": "gift\nwrap in blue paper"} if seed % 17 == 0 else {}))
    return found


@box.add(
    "list-orders",
    {
        "count": {"type": "integer", "minimum": 0, "maximum": 200000, "default": 500},
        "invalid": {"type": "boolean", "default": False, "description": "Break the output schema in two rows"},
    },
    title="List of orders",
    hints=READ_ONLY,
    outputSchema=_ORDERS,
)
def list_orders(call: ClientRequest) -> dict[str, Any]:
    """Returns a list of objects, which the interface shows as a table."""
    orders = _orders(int(call.arguments.get("count", 500)))
    if call.arguments.get("invalid") is True and len(orders) > 2:
        orders[0]["total"] = "free"
        orders[2]["country"] = "XX"
    return result(structured={"orders": orders})


@box.add(
    "export-orders",
    {"count": {"type": "integer", "minimum": 2, "maximum": 200000, "default": 50}},
    title="Orders as CSV",
    hints=READ_ONLY,
)
def export_orders(call: ClientRequest) -> dict[str, Any]:
    """Returns the same orders as CSV text."""
    names = ("id", "customer", "country", "total", "placed")
    orders = _orders(int(call.arguments.get("count", 50)))
    return result(
        "\n".join([",".join(names), *(",".join(str(order[name]) for name in names) for order in orders)]) + "\n"
    )


@box.add(
    "fail",
    {"message": {"type": "string", "default": "The printer is on fire."}},
    title="Fail",
    hints=READ_ONLY,
)
def fail(call: ClientRequest) -> dict[str, Any]:
    """Returns a tool error: a result that says that the tool failed."""
    return failure(call.arguments.get("message", "The printer is on fire."))


@box.add(
    "protocol-error",
    {
        "code": {"type": "integer", "default": -32603, "minimum": -33000, "maximum": 33000},
        "message": {"type": "string", "default": "Something broke inside"},
        "with_data": {"type": "boolean", "default": True},
    },
    title="Protocol error",
    hints=READ_ONLY,
)
def protocol_error(call: ClientRequest) -> dict[str, Any]:
    """Returns a JSON-RPC error instead of a result."""
    wanted = call.arguments
    data = {"asked": True, "trace": ["demo", "tools", "protocol-error"]} if wanted.get("with_data", True) else None
    raise RpcError(int(wanted.get("code", -32603)), wanted.get("message", "Something broke inside"), data)


@box.add("empty", title="Nothing", hints=READ_ONLY)
def empty(call: ClientRequest) -> dict[str, Any]:
    """Returns no content at all."""
    return result()


@box.add(
    "big",
    {"megabytes": {"type": "number", "exclusiveMinimum": 0, "maximum": 100, "default": 1}},
    title="A big answer",
    hints=READ_ONLY,
    patient=True,
)
def big(call: ClientRequest) -> dict[str, Any]:
    """Returns that many megabytes of numbered lines."""
    size = int(call.arguments.get("megabytes", 1) * 1_000_000)
    line = "{:08d} the quick brown fox jumps over the lazy dog again and again\n"
    lines = size // len(line.format(0)) + 1
    return result("".join(map(line.format, range(lines)))[:size])
