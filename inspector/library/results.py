"""Results and requests of servers: thin typed views that keep the original in `raw` and never raise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self

from inspector.errors import ToolFailed
from inspector.protocol.views import ContentBlock, decode_base64

_EMPTY: Mapping[str, Any] = {}


class ProtocolObject:
    """An object of the protocol. `raw` is the original value of any type, complete and unchanged."""

    __slots__ = ("raw",)

    def __init__(self, raw: Any) -> None:
        self.raw = raw

    def __repr__(self) -> str:
        from inspector.text import safe

        return f"{type(self).__name__}({safe(self.raw, 200)})"

    def __eq__(self, other: object) -> bool:
        """Whether the other is the same value; the other may be a view itself."""
        return bool(self.raw == (other.raw if isinstance(other, ProtocolObject) else other))

    __hash__ = None  # type: ignore[assignment]  # What is held can change, and can be a dict.

    def __getitem__(self, key: str) -> Any:
        """Return a member, as in `result["content"]`. Raises KeyError if it is missing."""
        return self.members[key]

    def __contains__(self, key: object) -> bool:
        return key in self.members

    @property
    def members(self) -> Mapping[str, Any]:
        """The members; empty if `raw` is not an object."""
        return self.raw if isinstance(self.raw, dict) else _EMPTY

    @property
    def meta(self) -> Mapping[str, Any]:
        """`_meta`."""
        return self._object("_meta")

    def _text(self, key: str) -> str:
        value = self.members.get(key)
        return value if isinstance(value, str) else ""

    def _object(self, key: str) -> Mapping[str, Any]:
        value = self.members.get(key)
        return value if isinstance(value, dict) else _EMPTY

    def _items(self, key: str) -> Iterator[Any]:
        value = self.members.get(key)
        return iter(value if isinstance(value, list) else ())


class RequestResult(ProtocolObject):
    """The result of our request."""

    __slots__ = ("n", "name", "seconds")

    def __init__(self, raw: Any, *, n: int = 0, seconds: float = 0.0, name: str = "") -> None:
        super().__init__(raw)
        self.n = n
        """The number of the response in the recording; 0 if it is not recorded."""
        self.seconds = seconds
        """The duration in seconds."""
        self.name = name
        """The tool's or prompt's name, or the URI."""


class ToolResult(RequestResult):
    """The result of `tools/call` (C-TOOL-02 … C-TOOL-05)."""

    __slots__ = ()

    @property
    def content(self) -> tuple[ContentBlock, ...]:
        """The blocks, in the server's order."""
        return tuple(map(ContentBlock, self._items("content")))

    @property
    def text(self) -> str:
        """The text of all blocks that have one, joined by line feeds."""
        return "\n".join(block.body for block in self.content if block.body)

    @property
    def structured(self) -> Any:
        """`structuredContent` of any type; None if it is missing."""
        return self.members.get("structuredContent")

    @property
    def is_error(self) -> bool:
        """Whether the tool reports a failure. A protocol error is raised instead, as `ServerError`."""
        return self.members.get("isError") is True

    def raise_for_error(self) -> Self:
        """Return the result itself. Raises `ToolFailed` if the tool reports a failure."""
        if self.is_error:
            raise ToolFailed(self.text, self.raw, tool=self.name)
        return self


class ResourceContents(ProtocolObject):
    """One part of a resource's contents."""

    __slots__ = ()

    @property
    def uri(self) -> str:
        return self._text("uri")

    @property
    def mime_type(self) -> str:
        return self._text("mimeType")

    @property
    def text(self) -> str:
        """The text; `""` without one."""
        return self._text("text")

    @property
    def data(self) -> bytes | None:
        """The decoded bytes of a `blob`; None if it is missing or not base64."""
        blob = self.members.get("blob")
        return decode_base64(blob) if isinstance(blob, str) else None


class ResourceResult(RequestResult):
    """The result of `resources/read`."""

    __slots__ = ()

    @property
    def contents(self) -> tuple[ResourceContents, ...]:
        """The parts, in the server's order."""
        return tuple(map(ResourceContents, self._items("contents")))

    @property
    def text(self) -> str:
        """The text of all parts that have one, joined by line feeds."""
        return "\n".join(part.text for part in self.contents if part.text)


class Message(ProtocolObject):
    """One message of a prompt, or of a sampling request."""

    __slots__ = ()

    @property
    def role(self) -> str:
        return self._text("role")

    @property
    def content(self) -> tuple[ContentBlock, ...]:
        """The blocks; revisions differ in whether more than one is allowed."""
        content = self.members.get("content")
        return tuple(map(ContentBlock, content if isinstance(content, list) else [] if content is None else [content]))

    @property
    def text(self) -> str:
        """The text of all blocks that have one, joined by line feeds."""
        return "\n".join(block.body for block in self.content if block.body)


class PromptResult(RequestResult):
    """The result of `prompts/get`."""

    __slots__ = ()

    @property
    def description(self) -> str:
        return self._text("description")

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages, in the server's order."""
        return tuple(map(Message, self._items("messages")))


class Notification(ProtocolObject):
    """A notification of the server. `raw` is the full message."""

    __slots__ = ("n",)

    def __init__(self, raw: Any, n: int = 0) -> None:
        super().__init__(raw)
        self.n = n
        """Its number in the recording."""

    @property
    def method(self) -> str:
        return self._text("method")

    @property
    def params(self) -> Mapping[str, Any]:
        """The parameters; empty if missing."""
        return self._object("params")


class SamplingRequest(ProtocolObject):
    """A request for a model's answer: the parameters of `sampling/createMessage`."""

    __slots__ = ()

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation so far."""
        return tuple(map(Message, self._items("messages")))

    @property
    def system_prompt(self) -> str:
        return self._text("systemPrompt")

    @property
    def max_tokens(self) -> int | None:
        """Maximum tokens of the answer; None if the server sends no whole number."""
        value = self.members.get("maxTokens")
        return value if type(value) is int else None


class Elicitation(ProtocolObject):
    """A question to the user: the parameters of `elicitation/create`."""

    __slots__ = ()

    @property
    def message(self) -> str:
        """The server's message."""
        return self._text("message")

    @property
    def mode(self) -> str:
        """`form` or `url`; a missing mode is the form (C-ELIC-01)."""
        return self._text("mode") or "form"

    @property
    def schema(self) -> Mapping[str, Any]:
        """The requested content as a JSON Schema; empty for a URL."""
        return self._object("requestedSchema")

    @property
    def url(self) -> str:
        """The URL for a person to visit; `""` for a form."""
        return self._text("url")

    def defaults(self) -> Any:
        """Return the content made of the schema's defaults."""
        from inspector.protocol.forms.form import Form

        return Form(dict(self.schema)).defaults()
