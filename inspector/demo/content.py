"""Content blocks and tool results in their newest form, and their conversion to older revisions."""

from __future__ import annotations

from binascii import b2a_base64, crc32
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from inspector.demo.revisions import DemoFeatures


def base64(data: bytes) -> str:
    """Standard base64 in one line."""
    return b2a_base64(data, newline=False).decode("ascii")


def icon(colour: str = "orange") -> dict[str, Any]:
    """A dot as an icon (2025-11-25 and later)."""
    circle = f'<circle cx="4" cy="4" r="3" fill="{colour}"/>'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8">{circle}</svg>'
    return {"src": f"data:image/svg+xml;base64,{base64(svg.encode())}", "mimeType": "image/svg+xml", "sizes": ["any"]}


def png(width: int, height: int, pixel: Callable[[int, int], tuple[int, int, int]]) -> bytes:
    """Returns a PNG (8-bit RGB, W3C PNG section 5) with the colours of `pixel(x, y)`."""
    import struct
    import zlib

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", crc32(kind + body))

    rows = b"".join(b"\0" + bytes(part for x in range(width) for part in pixel(x, y)) for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


@cache
def picture(width: int = 96, height: int = 64, colour: tuple[int, int, int] = (235, 120, 60)) -> bytes:
    """A sun over a darkening sky, as PNG."""
    radius = min(width, height) // 4
    centre_x, centre_y = width // 2, height // 2

    def pixel(x: int, y: int) -> tuple[int, int, int]:
        if (x - centre_x) ** 2 + (y - centre_y) ** 2 <= radius**2:
            return colour
        shade = 255 - 200 * y // height
        return shade // 4, shade // 2, shade

    return png(width, height, pixel)


@cache
def tone(frequency: float = 440.0, seconds: float = 0.25) -> bytes:
    """A sine tone as WAV (8 kHz, 8 bit, mono) that fades out."""
    import math
    import struct

    rate = 8000
    count = int(rate * seconds)
    step = 2 * math.pi * frequency / rate
    samples = bytes(128 + int(100 * (1 - n / count) * math.sin(n * step)) for n in range(count))
    samples += b"\0" * (count % 2)  # RIFF chunks are padded to an even length
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, rate, rate, 1, 8)
    data = struct.pack("<4sI", b"data", count) + samples
    return struct.pack("<4sI4s", b"RIFF", 4 + len(form) + len(data), b"WAVE") + form + data


# The feature that each key requires; other keys exist since the first revision.
_NEEDS = {
    "title": "titles",
    "icons": "icons",
    "_meta": "meta",
    "outputSchema": "structured",
    "structuredContent": "structured",
    "websiteUrl": "icons",
    "execution": "core_tasks",
}


def text(words: str, **more: Any) -> dict[str, Any]:
    """A text block."""
    return {"type": "text", "text": words, **more}


def image(data: bytes, **more: Any) -> dict[str, Any]:
    """An image block of a PNG."""
    return {"type": "image", "data": base64(data), "mimeType": "image/png", **more}


def audio(data: bytes, **more: Any) -> dict[str, Any]:
    """An audio block of a WAV (2025-03-26 and later)."""
    return {"type": "audio", "data": base64(data), "mimeType": "audio/wav", **more}


def embedded(contents: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A block that holds the contents of a resource."""
    return {"type": "resource", "resource": contents, **more}


def link(resource: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A block that points to a resource (2025-06-18 and later), given as it is listed."""
    return {"type": "resource_link", **resource, **more}


def contents(uri: str, mime: str, data: str | bytes) -> dict[str, Any]:
    """The contents of a resource: text for str, a base64 blob for bytes."""
    body = {"text": data} if isinstance(data, str) else {"blob": base64(data)}
    return {"uri": uri, "mimeType": mime, **body}


def result(*blocks: dict[str, Any] | str, structured: dict[str, Any] | None = None) -> dict[str, Any]:
    """Returns a tool's result. Structured content is repeated as text, for clients without support for it."""
    content = [text(block) if isinstance(block, str) else block for block in blocks]
    if structured is None:
        return {"content": content}
    if not content:
        from inspector.demo.rpc import encode

        content = [text(encode(structured).decode())]
    return {"content": content, "structuredContent": structured}


def form(features: DemoFeatures, message: str, **fields: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A question to the user with a form, whose fields are all required."""
    schema = {"type": "object", "properties": fields, "required": list(fields)}
    params: dict[str, Any] = {"message": message, "requestedSchema": schema}
    if features.elicitation_extended:
        params["mode"] = "form"
    return "elicitation/create", params


def accepted(answer: dict[str, Any]) -> dict[str, Any] | None:
    """Returns the user's input in a form; None if it was not accepted."""
    content = answer.get("content")
    return content if answer.get("action") == "accept" and isinstance(content, dict) else None


def failure(words: str) -> dict[str, Any]:
    """A tool's result that reports an error to the model."""
    return {"content": [text(words)], "isError": True}


def fit(thing: dict[str, Any], features: DemoFeatures) -> dict[str, Any]:
    """Returns a tool, resource, template, prompt, argument or implementation without keys that its revision lacks."""
    fitted = {key: value for key, value in thing.items() if key not in _NEEDS or getattr(features, _NEEDS[key])}
    if isinstance(fitted.get("arguments"), list):
        fitted["arguments"] = [fit(argument, features) for argument in fitted["arguments"]]
    if "inputSchema" in fitted and not features.tool_annotations:
        fitted.pop("annotations", None)
    return _fit_annotations(fitted, features)


def fit_block(block: dict[str, Any], features: DemoFeatures) -> dict[str, Any]:
    """Converts a content block to a revision: audio becomes an embedded blob, a link becomes text."""
    if block["type"] == "audio" and not features.audio:
        resource = {"uri": "demo://inline/audio.wav", "mimeType": block["mimeType"], "blob": block["data"]}
        block = {"type": "resource", "resource": resource}
    if block["type"] == "resource_link" and not features.resource_links:
        block = text(f"{block['name']}: {block['uri']}")
    return fit(block, features)


def fit_result(outcome: dict[str, Any], features: DemoFeatures) -> dict[str, Any]:
    """Converts a tool's result to a revision."""
    return fit(outcome, features) | {"content": [fit_block(block, features) for block in outcome["content"]]}


def _fit_annotations(thing: dict[str, Any], features: DemoFeatures) -> dict[str, Any]:
    notes = thing.get("annotations")
    if isinstance(notes, dict) and "lastModified" in notes and not features.last_modified:
        thing["annotations"] = {key: value for key, value in notes.items() if key != "lastModified"}
    return thing


_MIMES = {"md": "text/markdown", "json": "application/json", "py": "text/x-python", "png": "image/png"}


def bytes_of(content: str | bytes) -> bytes:
    """Returns the bytes of a file."""
    return content.encode() if isinstance(content, str) else content


def mime_of(uri: str) -> str:
    """Returns the media type of a file."""
    return _MIMES.get(uri.rpartition(".")[2], "text/plain")
