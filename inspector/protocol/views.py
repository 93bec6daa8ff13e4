"""Lenient views of objects from servers: typed properties that never raise and lose nothing.

A view has the object itself in `raw`, of any type. A property whose value is absent or of the wrong type has its empty
value (`""`, `()`, `{}`, None); `problems` describes the errors. All text is the server's: show it only through
`inspector.text.safe`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from inspector.protocol.members import object_at
from inspector.text import safe

UNNAMED = "(unnamed)"
_EMPTY: Mapping[str, Any] = {}


class View:
    """The base class: typed access to the members of `raw`."""

    __slots__ = ("raw",)
    required: ClassVar[tuple[str, ...]] = ()
    """Members that must be strings, according to the specification."""

    def __init__(self, raw: Any) -> None:
        self.raw = raw

    def __repr__(self) -> str:
        return f"{type(self).__name__}({safe(self.raw, 80)})"

    @property
    def members(self) -> Mapping[str, Any]:
        """The object's members; none if `raw` is not an object."""
        return self.raw if isinstance(self.raw, dict) else _EMPTY

    def text(self, key: str) -> str:
        """Return the member `key` if it is a string, else `""`."""
        return _text(self.members, key)

    def object(self, key: str) -> Mapping[str, Any]:
        """Return the member `key` if it is an object, else an empty one."""
        return _object(self.members, key)

    def array(self, key: str) -> list[Any]:
        """Return the member `key` if it is an array, else an empty one."""
        value = self.members.get(key)
        return value if isinstance(value, list) else []

    @property
    def meta(self) -> Mapping[str, Any]:
        """`_meta`."""
        return self.object("_meta")

    @property
    def problems(self) -> list[str]:
        """The errors in the object itself, one short phrase each."""
        if not isinstance(self.raw, dict):
            return [f"{_kind(self.raw)} instead of an object"]
        problems = [
            f"{key} is {_kind(self.raw[key])} instead of a string" if key in self.raw else f"{key} is missing"
            for key in self.required
            if not isinstance(self.raw.get(key), str)
        ]
        problems += [f"{key} is empty" for key in self.required if self.raw.get(key) == ""]
        return problems


class NamedView(View):
    """An object with a programmatic `name` and perhaps a `title` for people."""

    __slots__ = ()
    required: ClassVar[tuple[str, ...]] = ("name",)

    @property
    def name(self) -> str:
        """The key by which it is called; `""` if the server gave none."""
        return self.text("name")

    @property
    def title(self) -> str:
        return self.text("title")

    @property
    def display_name(self) -> str:
        """The name for people: the title if there is one, else the name (C-BASE-17)."""
        return self.title or self.name or UNNAMED

    @property
    def description(self) -> str:
        return self.text("description")

    @property
    def icons(self) -> list[Any]:
        """The icons as sent. They are listed, never fetched (C-BASE-16)."""
        return self.array("icons")


class Tool(NamedView):
    """A tool of `tools/list`."""

    __slots__ = ()

    @property
    def display_name(self) -> str:
        """Title, else `annotations.title`, else name (C-BASE-17)."""
        return self.title or _text(self.annotations, "title") or self.name or UNNAMED

    @property
    def annotations(self) -> Mapping[str, Any]:
        """The server's hints about the tool; untrusted (C-TOOL-01)."""
        return self.object("annotations")

    @property
    def hints(self) -> tuple[str, ...]:
        """The hints that the server gave, in words: `changes nothing`, `may delete`, `reaches other systems` …

        Missing hints are skipped, although the specification has a default for each. So is `only adds` of a tool that
        changes nothing; `may delete` contradicts that, and is kept.
        """
        hints = {
            key: words[value]
            for key, words in _HINTS.items()
            if isinstance(value := self.annotations.get(key), bool) and words[value]
        }
        if "readOnlyHint" in hints and self.annotations.get("destructiveHint") is False:
            del hints["destructiveHint"]
        return tuple(hints.values())

    @property
    def input_schema(self) -> Any:
        """`inputSchema` as sent, of any type; `{}` if it is missing."""
        return self.members.get("inputSchema", {})

    @property
    def output_schema(self) -> Any:
        """`outputSchema` as sent, or None."""
        return self.members.get("outputSchema")

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of the top level arguments, in the order of the schema."""
        return tuple(_object(_as_object(self.input_schema), "properties"))

    @property
    def required_arguments(self) -> tuple[str, ...]:
        """The names in `inputSchema.required`."""
        return _strings(_as_object(self.input_schema).get("required"))

    @property
    def task_support(self) -> str:
        """`execution.taskSupport`: `forbidden`, `optional` or `required`; `forbidden` if missing (C-TOOL-06)."""
        return _text(self.object("execution"), "taskSupport") or "forbidden"

    @property
    def problems(self) -> list[str]:
        problems = super().problems
        if not isinstance(self.raw, dict):
            return problems
        if "inputSchema" not in self.raw:
            problems.append("inputSchema is missing")
        elif not isinstance(self.raw["inputSchema"], dict):
            problems.append(f"inputSchema is {_kind(self.raw['inputSchema'])} instead of an object")
        elif self.raw["inputSchema"].get("type") != "object":
            problems.append('inputSchema is not of type "object"')
        if "outputSchema" in self.raw and not isinstance(self.raw["outputSchema"], dict):
            problems.append(f"outputSchema is {_kind(self.raw['outputSchema'])} instead of an object")
        return problems


class Resource(NamedView):
    """A resource of `resources/list`, or the equal part of a resource link."""

    __slots__ = ()
    required: ClassVar[tuple[str, ...]] = ("uri", "name")

    @property
    def uri(self) -> str:
        return self.text("uri")

    @property
    def display_name(self) -> str:
        return self.title or self.name or self.uri or UNNAMED

    @property
    def mime_type(self) -> str:
        return self.text("mimeType")

    @property
    def size(self) -> int | None:
        """The size in bytes that the server states, or None."""
        return _whole(self.members.get("size"))

    @property
    def annotations(self) -> Mapping[str, Any]:
        return self.object("annotations")


class ResourceTemplate(NamedView):
    """A template of `resources/templates/list`."""

    __slots__ = ()
    required: ClassVar[tuple[str, ...]] = ("uriTemplate", "name")

    @property
    def uri_template(self) -> str:
        """The RFC 6570 template."""
        return self.text("uriTemplate")

    @property
    def display_name(self) -> str:
        return self.title or self.name or self.uri_template or UNNAMED

    @property
    def mime_type(self) -> str:
        return self.text("mimeType")

    @property
    def annotations(self) -> Mapping[str, Any]:
        return self.object("annotations")


class PromptArgument(NamedView):
    """One argument of a prompt. Its value is always a string."""

    __slots__ = ()

    @property
    def is_required(self) -> bool:
        return self.members.get("required") is True


class Prompt(NamedView):
    """A prompt of `prompts/list`."""

    __slots__ = ()

    @property
    def arguments(self) -> tuple[PromptArgument, ...]:
        return tuple(PromptArgument(item) for item in self.array("arguments"))

    @property
    def argument_schema(self) -> dict[str, Any]:
        """The arguments as a JSON Schema, so that one form serves tools and prompts."""
        named = [argument for argument in self.arguments if argument.name]
        return {
            "type": "object",
            "properties": {
                argument.name: {"type": "string", "title": argument.title, "description": argument.description}
                for argument in named
            },
            "required": [argument.name for argument in named if argument.is_required],
        }


class ContentBlock(View):
    """One block of a tool's result, a prompt's message or a sampling message (C-TOOL-05)."""

    __slots__ = ()
    KINDS: ClassVar = ("text", "image", "audio", "resource", "resource_link", "tool_use", "tool_result")

    @property
    def kind(self) -> str:
        """One of `KINDS`, or `unknown`: such a block is shown as JSON, never dropped."""
        kind = self.text("type")
        return kind if kind in self.KINDS else "unknown"

    @property
    def body(self) -> str:
        """The text of a text block, or of an embedded text resource."""
        return _text(self.object("resource"), "text") if self.kind == "resource" else self.text("text")

    @property
    def mime_type(self) -> str:
        return _text(self.object("resource"), "mimeType") if self.kind == "resource" else self.text("mimeType")

    @property
    def uri(self) -> str:
        return _text(self.object("resource"), "uri") if self.kind == "resource" else self.text("uri")

    @property
    def link(self) -> Resource:
        """The resource of a resource link."""
        return Resource(self.raw)

    @property
    def encoded(self) -> str | None:
        """The base64 text of an image, audio or an embedded binary resource; None if the block has none."""
        source, key = (self.object("resource"), "blob") if self.kind == "resource" else (self.members, "data")
        value = source.get(key)
        return value if isinstance(value, str) and self.kind in ("image", "audio", "resource") else None

    def data(self) -> bytes | None:
        """Return the decoded bytes (RFC 4648 section 4; line breaks are skipped), or None if it is not base64."""
        if self.encoded is None:
            return None
        return decode_base64(self.encoded)

    @property
    def annotations(self) -> Mapping[str, Any]:
        return self.object("annotations")

    @property
    def problems(self) -> list[str]:
        problems = super().problems
        if problems:
            return problems
        if not isinstance(self.raw.get("type"), str):
            return ["type is missing" if "type" not in self.raw else f"type is {_kind(self.raw['type'])}"]
        needs: dict[str, tuple[str, ...]] = {
            "text": ("text",),
            "image": ("data", "mimeType"),
            "audio": ("data", "mimeType"),
            "resource_link": ("uri", "name"),
        }
        for key in needs.get(self.kind, ()):
            if not isinstance(self.raw.get(key), str):
                problems.append(f"{key} is {_kind(self.raw[key])}" if key in self.raw else f"{key} is missing")
        if self.kind == "resource":
            inner = self.object("resource")
            if not isinstance(inner.get("uri"), str):
                problems.append("resource.uri is missing")
            if not isinstance(inner.get("text"), str) and not isinstance(inner.get("blob"), str):
                problems.append("resource has neither text nor blob")
        return problems


class ServerInfo(NamedView):
    """A server's description of itself (`serverInfo`): shown, never relied on."""

    __slots__ = ()
    required: ClassVar[tuple[str, ...]] = ("name", "version")

    @property
    def version(self) -> str:
        return self.text("version")


MAY_DELETE = "may delete"
"""What is said of a tool that declares that it destroys."""

_HINTS: dict[str, tuple[str, str]] = {
    "readOnlyHint": ("", "changes nothing"),
    "destructiveHint": ("only adds", MAY_DELETE),
    "idempotentHint": ("", "may be repeated"),
    "openWorldHint": ("", "reaches other systems"),
}


def is_read_only(tool: Any) -> bool:
    """Whether a tool declares that it changes nothing, and does not declare that it destroys something."""
    hints = object_at(tool, "annotations")
    # A value that is not a boolean may be meant as true.
    return hints.get("readOnlyHint") is True and hints.get("destructiveHint") in (None, False)


def destruction(tool: Any, *, by_default: bool = False) -> str:
    """Return why a tool may destroy something; empty if it does not say so.

    `by_default`: a tool without both hints counts as well. The specification has these defaults: not read-only, and
    destructive unless it says otherwise.
    """
    hints = object_at(tool, "annotations")
    destroys, reads = hints.get("destructiveHint"), hints.get("readOnlyHint")
    if isinstance(destroys, bool):
        return "The tool is annotated as destructive." if destroys else ""
    if reads is False:
        return "The tool is annotated as not read-only, and does not say that it destroys nothing."
    if by_default and not is_read_only(tool):
        return "The tool has no annotation that says that it destroys nothing."
    return ""


def decode_base64(text: str) -> bytes | None:
    """Return the bytes of base64 `text`, or None if it is not base64. Line breaks and missing padding are accepted."""
    import binascii

    compact = "".join(text.split())
    try:
        return binascii.a2b_base64(compact + "=" * (-len(compact) % 4), strict_mode=True)
    except (binascii.Error, ValueError):
        return None


def _text(members: Mapping[str, Any], key: str) -> str:
    value = members.get(key)
    return value if isinstance(value, str) else ""


def _object(members: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    return _as_object(members.get(key))


def _as_object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else _EMPTY


def _strings(value: Any) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def _whole(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value if isinstance(value, int) else None


def _kind(value: Any) -> str:
    """Return the JSON type of a value, with its article."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "an array" if isinstance(value, (list, tuple)) else "an object"
