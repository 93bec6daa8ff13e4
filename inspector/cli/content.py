"""Content blocks and resource contents for people: text unchanged, other content in one line; and saving them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspector.errors import UsageError
from inspector.protocol import jsonrpc
from inspector.protocol.views import ContentBlock, View, decode_base64
from inspector.text import size

if TYPE_CHECKING:
    from inspector.cli.output import Output

LABEL = 500
"""Characters shown of a URI, name or MIME type."""


def blocks_of(value: Any) -> list[Any]:
    """The blocks of a result or message: a list, a single block, or none."""
    if type(value) is list:
        return value
    return [] if value is None else [value]


def block_lines(out: Output, raw: Any) -> list[str]:
    """One content block as safe lines (C-TOOL-05)."""
    block = ContentBlock(raw)
    if block.kind == "text":
        return _text_lines(out, block.body)
    if block.kind in ("image", "audio"):
        return [_bytes_line(out, block.kind, block.mime_type, block.encoded)]
    if block.kind == "resource":
        return resource_lines(out, block.object("resource"))
    if block.kind == "resource_link":
        link = block.link
        facts = [out.safe(link.uri, LABEL), out.safe(link.title or link.name, LABEL), out.safe(link.mime_type, LABEL)]
        if link.size is not None:
            facts.append(size(link.size))
        return ["link: " + "  ".join(filter(None, facts))]
    return json_lines(out, raw)


def resource_lines(out: Output, raw: Any) -> list[str]:
    """The contents of one resource as safe lines."""
    view = View(raw)
    if isinstance(view.members.get("text"), str):
        return _text_lines(out, view.text("text"))
    if isinstance(view.members.get("blob"), str):
        return [_bytes_line(out, "blob", view.text("mimeType"), view.text("blob"))]
    return json_lines(out, raw)


def _text_lines(out: Output, text: str) -> list[str]:
    """Text as safe lines; the line feed at its end is the one that printing adds."""
    return out.safe(text.removesuffix("\n"), multiline=True).split("\n")


def json_lines(out: Output, value: Any) -> list[str]:
    """A value as indented JSON, in safe lines."""
    from inspector.protocol.exact_json.text import pretty

    try:
        text = jsonrpc.encode(value).decode()
    except RecursionError:
        return [out.safe(value)]
    return [out.safe(line) for line in pretty(text)]


def _bytes_line(out: Output, what: str, mime: str, encoded: str | None) -> str:
    data = None if encoded is None else decode_base64(encoded)
    amount = "no data" if encoded is None else "not valid base64" if data is None else size(len(data))
    kind = out.safe(mime, LABEL) or "no MIME type"
    return f"{what}: {kind}  {amount}"


def save_or_tell(path: Path | None, blocks: list[Any], out: Output, *, force: bool = False) -> None:
    """Save the blocks if -o is given; otherwise print a note if there is something to save."""
    if path is not None:
        save(path, blocks, out, force=force)
    elif not out.json and any(_data(View(raw)) is not None for raw in blocks):
        out.note("note: -o FILE writes content that is not text.")


def save(path: Path, blocks: Iterable[Any], out: Output, *, force: bool = False) -> None:
    """Write the bytes of the blocks (content blocks or resource contents) to `path`; their text if none has bytes.

    Several files get the names `name.ext`, `name-2.ext` …, regardless of names from the server. Raises `UsageError`,
    also for an existing file unless `force`.
    """
    views = [View(raw) for raw in blocks]
    contents = [data for data in map(_data, views) if data is not None]
    if not contents:
        text = "\n".join(filter(None, map(_text, views)))
        contents = [text.encode("utf-8", "replace")] if text else []
    if not contents:
        raise UsageError("The result has nothing to save.", hint="Remove -o.")
    from inspector.cli.output_files import binary_file, is_stdout

    if is_stdout(path) and len(contents) > 1:
        raise UsageError(
            f"The result has {len(contents)} files, but stdout takes only one.", hint="Give a file name with -o."
        )
    for number, data in enumerate(contents, 1):
        name = path if number == 1 else path.with_name(f"{path.stem}-{number}{path.suffix}")
        with binary_file(name, out, force=force) as file:
            file.write(data)


def _inner(view: View) -> View:
    return View(view.object("resource")) if view.text("type") == "resource" else view


def _data(view: View) -> bytes | None:
    inner = _inner(view)
    encoded = inner.members.get("blob", inner.members.get("data"))
    return decode_base64(encoded) if isinstance(encoded, str) else None


def _text(view: View) -> str:
    return _inner(view).text("text")
