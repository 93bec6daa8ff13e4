"""The widgets that show a question of the server and edit its answer, one class for each kind.

The pane around them has the keys. Sources: specification, "Elicitation", "Sampling", "Roots".
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Protocol

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.message import Message
from textual.widget import Widget

from inspector.client.inbox import HUMAN_MODEL, Question, StandingAnswers, root_object, sampling_result
from inspector.file_uris import to_uri
from inspector.protocol.forms.form import UNSET, Form
from inspector.text import safe
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.content import MessagesView
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.form import FormView
from inspector.tui.widgets.json_editor import JsonEditor, json_lines, read_json
from inspector.tui.widgets.links import Link, look_at
from inspector.tui.widgets.paragraphs import Paragraph, Paragraphs
from inspector.tui.widgets.sections import PieceSection, Section, TextSection

MESSAGE_LINES = 12
TOOL_NAMES = 12


class AnswerBody(Protocol):
    """Shows one kind of question and edits its answer."""

    def to_fix(self) -> list[str]:
        """Return the errors in the answer; empty if it can be sent."""
        ...

    def accept(self) -> None:
        """Send the answer."""
        ...

    def standing(self) -> dict[str, Any]:
        """Return the fields of `StandingAnswers` that would repeat this answer from now on."""
        ...

    def focus_first(self) -> bool:
        """Focus the first field of the answer."""
        ...

    def focus_wrong(self) -> bool:
        """Focus the first field with an error."""
        ...


class FormBody(Container):
    """The form of an elicitation, with its defaults filled in (C-ELIC-03)."""

    DEFAULT_CSS = """
    FormBody { height: 1fr; }
    FormBody > FormView { height: auto; max-height: 100%; }
    """

    def __init__(self, question: Question) -> None:
        super().__init__()
        self.question = question
        form = Form(question.schema)
        defaults = form.defaults()
        if defaults is not UNSET:
            form.load(defaults)
        self.view = FormView(form, empty="The form has no fields: accepting it is enough.")

    def compose(self) -> ComposeResult:
        yield self.view

    def on_resize(self) -> None:
        self._fit()

    def on_form_view_grown(self, event: FormView.Grown) -> None:
        event.stop()
        self._fit()

    def _fit(self) -> None:
        """Give each field one line where not all fit with lines of their own."""
        width, height = self.size
        if height:
            self.view.put_on_lines(self.view.lines(width, slim=False) > height)

    def to_fix(self) -> list[str]:
        return list(self.view.errors.values())

    @property
    def json_mode(self) -> bool:
        """Whether the answer is shown as JSON."""
        return self.view.json_mode

    def note(self) -> paint.Pieces:
        """Show the errors and missing fields, or that the answer is valid."""
        return self.view.note() or [(f"{signs_now().done} valid", "received")]

    def _content(self) -> Any:
        value = self.view.value
        return {} if value is UNSET else value

    def accept(self) -> None:
        self.question.accept(self._content())

    def standing(self) -> dict[str, Any]:
        content = self._content()
        same = content == Form(self.question.schema).defaults()
        return {"elicitation": "defaults" if same or not isinstance(content, dict) else content}

    def focus_first(self) -> bool:
        return self.view.focus_first()

    def focus_wrong(self) -> bool:
        return self.view.focus_wrong()


class UrlBody(Container, can_focus=True):
    """The URL of an elicitation: in full, its host highlighted, with warnings (C-ELIC-04). It never opens by itself."""

    DEFAULT_CSS = """
    UrlBody { height: 1fr; }
    """

    def __init__(self, question: Question) -> None:
        super().__init__()
        self.question = question
        self.link: Link = look_at(question.params.get("url"))
        self.notice = ""

    def compose(self) -> ComposeResult:
        yield Paragraphs(self._lines())

    def _lines(self) -> list[Paragraph]:
        link = self.link
        lines: list[Paragraph] = [list(link.pieces), ("", "normal")]
        if link.host:
            lines.append([("host  ", "muted"), (link.host, "bright bold")])
        lines += [(warning, "finding") for warning in link.warnings]
        if link.refusal:
            lines.append((f"This URL cannot be opened: {link.refusal[0].lower()}{link.refusal[1:]}", "error"))
        if self.notice:
            lines += [("", "normal"), (self.notice, "ask")]
        return lines

    def tell(self, words: str) -> None:
        """Show the result of opening the URL."""
        self.notice = words
        self.query_one(Paragraphs).show(self._lines())

    def to_fix(self) -> list[str]:
        return []

    def accept(self) -> None:
        self.question.accept(None)

    def standing(self) -> dict[str, Any]:
        # Accepting every URL in advance would not be consent.
        return {}

    def focus_first(self) -> bool:
        self.focus()
        return True

    focus_wrong = focus_first


class AnswerEditor(Editor):
    """A text box that grows; enter starts a new line."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "newline", show=False)]
    most_rows: ClassVar[int] = 100
    tab_title = ""
    """The title of the key for the next field, if there is one."""


class ModelName(Editor):
    """The name of the model that answered."""

    tab_title = "next field"


class TextBody(Container):
    """A question that is answered with text: the model's reply for sampling, one URI per line for roots.

    `toggle_json` shows the whole result as JSON instead; it can be edited and is sent unchanged.
    """

    DEFAULT_CSS = """
    TextBody, TextBody > Container { height: 1fr; }
    TextBody > VerticalScroll { height: 1fr; padding: 0 1; scrollbar-size: 1 1; }
    TextBody MessagesView { height: 1fr; }
    TextBody Paragraphs { max-height: 30%; }
    TextBody > Container > Editor { height: auto; max-height: 50%; margin: 0 1; }
    """

    class Edited(Message):
        """The JSON was edited."""

    def __init__(self, question: Question) -> None:
        super().__init__()
        self.question = question
        self.editor = AnswerEditor(self.first_text(), multiline=True, placeholder=self.placeholder)
        self.json: JsonEditor | None = None

    placeholder = ""

    def first_text(self) -> str:
        """Return the initial text of the editor."""
        return ""

    def result(self) -> Any:
        """Return the result made from the text."""
        raise NotImplementedError

    def context(self) -> list[Widget]:
        """Return the widget above the answer."""
        return []

    def details(self) -> list[Widget]:
        """Return the widget below the answer."""
        return []

    def wrong(self) -> list[str]:
        """Return the errors in the text."""
        return []

    def compose(self) -> ComposeResult:
        self._plain = Container(*self.context(), self.editor, *self.details())
        yield self._plain

    @property
    def json_mode(self) -> bool:
        """Whether the whole result is shown as JSON."""
        return self.json is not None

    async def toggle_json(self) -> None:
        """Show the whole result as JSON, or the text again."""
        if self.json is None:
            self.json = JsonEditor(json_lines(self.result()) or "", self._json_edited)
            self._plain.display = False
            await self.mount(VerticalScroll(self.json, can_focus=False))
            self.json.focus()
        else:
            await self.query(VerticalScroll).remove()
            self.json = None
            self._plain.display = True
            self.editor.focus()

    def _json_edited(self, text: str) -> None:
        if self.json is not None:
            self.json.mark(read_json(text)[1], {})
        self.post_message(self.Edited())

    def to_fix(self) -> list[str]:
        if self.json is None:
            return self.wrong()
        problem = read_json(self.json.value)[1]
        return [f"not JSON, {problem}"] if problem is not None else []

    def accept(self) -> None:
        if self.json is not None:
            value, problem = read_json(self.json.value)
            self.question.send(self.json.value if problem is not None else value)
        else:
            self.accept_text()

    def accept_text(self) -> None:
        """Send the result made from the text."""
        self.question.send(self.result())

    def standing(self) -> dict[str, Any]:
        return {}

    def focus_first(self) -> bool:
        (self.json or self.editor).focus()
        return True

    focus_wrong = focus_first


class SamplingBody(TextBody):
    """A sampling request, and the user's answer instead of a model's (C-SAMP-01)."""

    placeholder = "reply as the model"

    def __init__(self, question: Question) -> None:
        super().__init__(question)
        self.model = ModelName(HUMAN_MODEL, lead=[("model  ", "muted")], placeholder=HUMAN_MODEL, idle_ground="ground")
        self.editor.tab_title = self.model.tab_title

    def details(self) -> list[Widget]:
        return [self.model]

    def context(self) -> list[Widget]:
        view = MessagesView(empty="The request has no messages.")
        view.load_messages(self.question.params.get("messages", []), self._about())
        return [view]

    def _about(self) -> list[Section]:
        """Return the request's settings: limits, model preferences, tools, its system prompt."""
        params = self.question.params
        words: list[str] = []
        for key, name in (("maxTokens", "at most {} tokens"), ("temperature", "temperature {}")):
            if key in params:
                words.append(name.format(safe(params[key], 20)))
        if params.get("includeContext") not in (None, "none"):
            words.append(f"context {safe(params['includeContext'], 20)}")
        if isinstance(params.get("stopSequences"), list) and params["stopSequences"]:
            words.append(f"stops at {safe(params['stopSequences'][:5], 80)}")
        lines = ["  ".join(words), _preferences(params.get("modelPreferences"))]
        tools = params.get("tools")
        if isinstance(tools, list) and tools:
            names = [safe(tool.get("name"), 40) for tool in tools[:TOOL_NAMES] if isinstance(tool, dict)]
            more = f" and {len(tools) - TOOL_NAMES} more" if len(tools) > TOOL_NAMES else ""
            lines.append(f"offers the tools {', '.join(names)}{more}")
        sections: list[Section] = [PieceSection([(line, ()) for line in lines if line])]
        system = params.get("systemPrompt")
        if isinstance(system, str) and system:
            sections += [PieceSection([("", ()), ("system", [(0, 6, "muted bold")])]), TextSection(system)]
        return sections

    def wrong(self) -> list[str]:
        return [] if self.editor.value.strip() else ["the answer is empty"]

    def result(self) -> Any:
        return sampling_result(self.editor.value, self._model)

    def accept_text(self) -> None:
        self.question.reply_text(self.editor.value, self._model)

    @property
    def _model(self) -> str:
        """The `model` of the answer: it says that a person answered, unless the user types another name."""
        return self.model.value.strip() or HUMAN_MODEL

    def standing(self) -> dict[str, Any]:
        # Two of these words have another meaning in a standing answer.
        text = self.editor.value
        return {"sampling": text} if self.json is None and text not in ("ask", "decline") else {}


class RootsBody(TextBody):
    """The folders that the server may know: file URIs, one per line, validated before they are sent (C-ROOT-02)."""

    placeholder = "file:///folder, one per line; empty for none"

    def __init__(self, question: Question, standing: StandingAnswers) -> None:
        self._standing = standing
        super().__init__(question)

    def first_text(self) -> str:
        roots = self._standing.roots
        return "\n".join(roots if isinstance(roots, tuple) else (to_uri(str(Path.cwd())),))

    def context(self) -> list[Widget]:
        about = (
            "A root is a folder or file that the server may work in. The server gets exactly these URIs, one per line."
        )
        return [Paragraphs([(about, "normal")], after=1)]

    def uris(self) -> list[str]:
        """Return the URIs as the user typed them."""
        return [line.strip() for line in self.editor.value.split("\n") if line.strip()]

    def wrong(self) -> list[str]:
        return [f"{safe(uri, 60)} is not a file:// URI" for uri in self.uris() if not uri.startswith("file://")]

    def result(self) -> Any:
        return {"roots": [root_object(uri) for uri in self.uris()]}

    def standing(self) -> dict[str, Any]:
        return {"roots": tuple(self.uris())} if self.json is None else {}


def body_for(question: Question, standing: StandingAnswers) -> FormBody | UrlBody | TextBody:
    """Return the widget that shows a question and edits its answer."""
    if question.topic == "sampling":
        return SamplingBody(question)
    if question.topic == "roots":
        return RootsBody(question, standing)
    return UrlBody(question) if question.mode == "url" else FormBody(question)


def _preferences(value: Any) -> str:
    preferences = value if isinstance(value, dict) else {}
    hints = preferences.get("hints")
    first_hints = hints[:5] if isinstance(hints, list) else []
    names = [safe(hint.get("name"), 40) for hint in first_hints if isinstance(hint, dict)]
    words = [f"preferred models: {', '.join(names)}"] if names else []
    for key, name in (("costPriority", "cost"), ("speedPriority", "speed"), ("intelligencePriority", "intelligence")):
        if key in preferences:
            words.append(f"{name} {safe(preferences[key], 10)}")
    return "  ".join(words)


def fill(body: FormBody | UrlBody | TextBody, answer: Any) -> None:
    """Fill a body with an answer from a recording, before it is shown. The answer may be None or malformed."""
    given = answer if isinstance(answer, dict) else {}
    if isinstance(body, FormBody):
        if isinstance(given.get("content"), dict):
            body.view.form.load(given["content"])
        return
    if isinstance(body, TextBody):
        content = given.get("content")
        blocks = content if isinstance(content, list) else [content]
        texts = [block["text"] for block in blocks if isinstance(block, dict) and isinstance(block.get("text"), str)]
        roots = given.get("roots")
        uris = [root.get("uri") for root in roots if isinstance(root, dict)] if isinstance(roots, list) else []
        body.editor.value = "\n".join([*texts, *(uri for uri in uris if isinstance(uri, str))])
