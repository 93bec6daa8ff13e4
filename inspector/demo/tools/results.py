"""Tools that show results: every kind of content, of structure and of error."""

from __future__ import annotations

from inspector.demo.content import audio, contents, embedded, failure, image, link, result, text
from inspector.demo.definitions import tool
from inspector.demo.rpc import RpcError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from inspector.demo.call import ClientRequest


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


@tool("show-markdown")
def _show_markdown(call: ClientRequest) -> dict[str, Any]:
    return result(text(_MARKDOWN, annotations={"audience": ["user"], "priority": 0.9}))


@tool("show-unicode")
def _show_unicode(call: ClientRequest) -> dict[str, Any]:
    return result(_SAMPLER)


@tool("draw-picture")
def _draw_picture(call: ClientRequest) -> dict[str, Any]:
    from inspector.demo.content import picture

    arguments = call.arguments
    colour = (250, 220, 90) if arguments.get("colour") == "yellow" else (235, 120, 60)
    return result(image(picture(int(arguments.get("width", 96)), int(arguments.get("height", 64)), colour)))


@tool("play-tone")
def _play_tone(call: ClientRequest) -> dict[str, Any]:
    from inspector.demo.content import tone

    return result(audio(tone(call.arguments.get("frequency", 440), call.arguments.get("seconds", 0.25))))


@tool("embed-text")
def _embed_text(call: ClientRequest) -> dict[str, Any]:
    return result("The readme:", embedded(call.state.resources.read("demo://readme")[0]))


@tool("embed-blob")
def _embed_blob(call: ClientRequest) -> dict[str, Any]:
    return result(embedded(contents("demo://inline/bytes.bin", "application/octet-stream", bytes(range(256)))))


@tool("link-resources")
def _link_resources(call: ClientRequest) -> dict[str, Any]:
    listed = call.state.resources.page(0, int(call.arguments.get("count", 3)))
    return result("See also:", *(link(resource) for resource in listed))


@tool("mixed")
def _mixed(call: ClientRequest) -> dict[str, Any]:
    from inspector.demo.content import picture, tone

    for_user = {"audience": ["user"], "priority": 1.0, "lastModified": "2025-11-25T12:00:00Z"}
    for_model = {"audience": ["assistant"], "priority": 0.2}
    return result(
        text("For the user alone.", annotations=for_user),
        text("For the model alone.", annotations=for_model, _meta={"demo.example/weight": 2}),
        image(picture(32, 24), annotations=for_user),
        audio(tone(660, 0.05)),
        link(call.state.resources.page(0, 1)[0], annotations=for_model),
        embedded(contents("demo://inline/data.json", "application/json", '{"answer": 42}'), annotations=for_user),
    )


@tool("weather")
def _weather(call: ClientRequest) -> dict[str, Any]:
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


@tool("bad-structured")
def _bad_structured(call: ClientRequest) -> dict[str, Any]:
    return result(structured={"temperature": "warm", "conditions": "sun", "humidity": 170})


_CUSTOMERS = (
    ("Red Brick Books", "IE"),
    ("Ōsaka Paper Co", "JP"),
    ("Café du Port", "FR"),
    ("Müller GmbH", "DE"),
    ("Łukasz Żółć", "PL"),
)


def _orders(count: int) -> list[dict[str, Any]]:
    """Returns orders that are the same in every call."""
    orders = []
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
        orders.append(order | ({"note": "gift\nwrap in blue paper"} if seed % 17 == 0 else {}))
    return orders


@tool("list-orders")
def _list_orders(call: ClientRequest) -> dict[str, Any]:
    orders = _orders(int(call.arguments.get("count", 500)))
    if call.arguments.get("invalid") is True and len(orders) > 2:
        orders[0]["total"] = "free"
        orders[2]["country"] = "XX"
    return result(structured={"orders": orders})


@tool("export-orders")
def _export_orders(call: ClientRequest) -> dict[str, Any]:
    names = ("id", "customer", "country", "total", "placed")
    orders = _orders(int(call.arguments.get("count", 50)))
    return result(
        "\n".join([",".join(names), *(",".join(str(order[name]) for name in names) for order in orders)]) + "\n"
    )


@tool("fail")
def _fail(call: ClientRequest) -> dict[str, Any]:
    return failure(call.arguments.get("message", "The printer is on fire."))


@tool("protocol-error")
def _protocol_error(call: ClientRequest) -> dict[str, Any]:
    arguments = call.arguments
    data = {"asked": True, "trace": ["demo", "tools", "protocol-error"]} if arguments.get("with_data", True) else None
    raise RpcError(int(arguments.get("code", -32603)), arguments.get("message", "Something broke inside"), data)


@tool("empty")
def _empty(call: ClientRequest) -> dict[str, Any]:
    return result()


@tool("big", slow=True)
def _big(call: ClientRequest) -> dict[str, Any]:
    size = int(call.arguments.get("megabytes", 1) * 1_000_000)
    line = "{:08d} the quick brown fox jumps over the lazy dog again and again\n"
    lines = size // len(line.format(0)) + 1
    return result("".join(map(line.format, range(lines)))[:size])
