"""What servers answer and ask, as a program sees it: thin typed views that keep what came in `raw` and never raise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self

from inspector.errors import ToolFailed
from inspector.protocol.views import ContentBlock, decode_base64

_EMPTY: Mapping[str, Any] = {}


class Body:
    """An object of the protocol. `raw` is what came, of whatever type; nothing of it is lost or changed."""

    __slots__ = ("raw",)

    def __init__(self, raw: Any) -> None:
        self.raw = raw

    def __repr__(self) -> str:
        from inspector.text import safe

        return f"{type(self).__name__}({safe(self.raw, 200)})"

    def __eq__(self, other: object) -> bool:
        """Whether the other is the same value, as it came; it may be one itself."""
        return bool(self.raw == (other.raw if isinstance(other, Body) else other))

    __hash__ = None  # type: ignore[assignment]  # What is held can change, and can be a dict.

    def __getitem__(self, key: str) -> Any:
        """A member, as in `result["content"]`. KeyError where there is none."""
        return self.members[key]

    def __contains__(self, key: object) -> bool:
        return key in self.members

    @property
    def members(self) -> Mapping[str, Any]:
        """The members; none where `raw` is no object."""
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


class Answer(Body):
    """The result of a request of ours."""

    __slots__ = ("n", "name", "seconds")

    def __init__(self, raw: Any, *, n: int = 0, seconds: float = 0.0, name: str = "") -> None:
        super().__init__(raw)
        self.n = n
        """The number of the answer in the recording; 0 where it is in none."""
        self.seconds = seconds
        """How long it took."""
        self.name = name
        """What was asked for: the tool's or prompt's name, or the URI."""


class ToolResult(Answer):
    """What `tools/call` gave (C-TOOL-02 … C-TOOL-05)."""

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
        """`structuredContent`, whatever it is; None where there is none."""
        return self.members.get("structuredContent")

    @property
    def is_error(self) -> bool:
        """Whether the tool says that it failed. An error of the protocol is raised instead, as `ServerError`."""
        return self.members.get("isError") is True

    def raise_for_error(self) -> Self:
        """The result itself. Raises `ToolFailed` where the tool says that it failed."""
        if self.is_error:
            raise ToolFailed(self.text, self.raw, tool=self.name)
        return self


class ResourceContents(Body):
    """One part of what a resource holds."""

    __slots__ = ()

    @property
    def uri(self) -> str:
        return self._text("uri")

    @property
    def mime_type(self) -> str:
        return self._text("mimeType")

    @property
    def text(self) -> str:
        """The text; `""` where it is none."""
        return self._text("text")

    @property
    def data(self) -> bytes | None:
        """The decoded bytes of a `blob`; None where there is none, or where it is no base64."""
        blob = self.members.get("blob")
        return decode_base64(blob) if isinstance(blob, str) else None


class ResourceResult(Answer):
    """What `resources/read` gave."""

    __slots__ = ()

    @property
    def contents(self) -> tuple[ResourceContents, ...]:
        """The parts, in the server's order."""
        return tuple(map(ResourceContents, self._items("contents")))

    @property
    def text(self) -> str:
        """The text of all parts that have one, joined by line feeds."""
        return "\n".join(part.text for part in self.contents if part.text)


class Message(Body):
    """One message of a prompt, or of a sampling request."""

    __slots__ = ()

    @property
    def role(self) -> str:
        return self._text("role")

    @property
    def content(self) -> tuple[ContentBlock, ...]:
        """The blocks; revisions differ in whether there may be more than one."""
        found = self.members.get("content")
        return tuple(map(ContentBlock, found if isinstance(found, list) else [] if found is None else [found]))

    @property
    def text(self) -> str:
        """The text of all blocks that have one, joined by line feeds."""
        return "\n".join(block.body for block in self.content if block.body)


class PromptResult(Answer):
    """What `prompts/get` gave."""

    __slots__ = ()

    @property
    def description(self) -> str:
        return self._text("description")

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages, in the server's order."""
        return tuple(map(Message, self._items("messages")))


class Notification(Body):
    """A notification of the server. `raw` is the whole message."""

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
        """The parameters; none where the server gave none."""
        return self._object("params")


class SamplingRequest(Body):
    """The server wants a model's answer: the parameters of `sampling/createMessage`."""

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
        """How long the answer may be; None where the server does not say it as a whole number."""
        value = self.members.get("maxTokens")
        return value if type(value) is int else None


class Elicitation(Body):
    """The server wants to know something: the parameters of `elicitation/create`."""

    __slots__ = ()

    @property
    def message(self) -> str:
        """What the server says."""
        return self._text("message")

    @property
    def mode(self) -> str:
        """`form` or `url`; a missing one is the form (C-ELIC-01)."""
        return self._text("mode") or "form"

    @property
    def schema(self) -> Mapping[str, Any]:
        """What it wants to know, as a JSON Schema; empty for a URL."""
        return self._object("requestedSchema")

    @property
    def url(self) -> str:
        """Where it wants a person to go; `""` for a form."""
        return self._text("url")

    def defaults(self) -> Any:
        """The content made of the schema's defaults."""
        from inspector.protocol.form import Form

        return Form.from_schema(dict(self.schema)).defaults()
