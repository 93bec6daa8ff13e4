"""Labels for the server's questions: kind, summary, status."""

from __future__ import annotations

from inspector.client.inbox import Question
from inspector.client.session_state import SessionState
from inspector.client.state.server import Server
from inspector.protocol.views import ContentBlock
from inspector.text import safe
from inspector.tui.widgets import paint

SUMMARY = 300

_STATES = {
    "open": ("waiting for you", "ask"),
    "answered": ("answered", "muted"),
    "declined": ("declined", "muted"),
    "cancelled": ("cancelled", "muted"),
    "refused": ("refused", "muted"),
    "withdrawn": ("withdrawn by the server", "muted"),
    "lost": ("never answered", "error"),
}


def kind(question: Question) -> str:
    """Return the kind of a question: `sampling`, `roots`, `elicitation` with its mode."""
    return f"elicitation  {safe(question.mode, 20)}" if question.topic == "elicitation" else question.topic


def summary(question: Question) -> str:
    """Return the question in one line: the server's text, or what the request wants."""
    if question.topic == "elicitation":
        return safe(" ".join(question.message[:SUMMARY].split()), SUMMARY)
    if question.topic == "roots":
        return "which folders may the server use?"
    messages = question.params.get("messages")
    last = messages[-1] if isinstance(messages, list) and messages else None
    content = last.get("content") if isinstance(last, dict) else None
    blocks = content if isinstance(content, list) else [content]
    text = next((block.body for item in blocks[:20] if (block := ContentBlock(item)).kind == "text"), "")
    return safe(" ".join(text[:SUMMARY].split()), SUMMARY)


def standing(question: Question) -> tuple[str, str]:
    """Return the status of a question and its role; an accepted question says so."""
    words, role = _STATES[question.state]
    action = question.answer.get("action") if isinstance(question.answer, dict) else None
    return ("accepted" if question.state == "answered" and action == "accept" else words), role


def asker(server: Server) -> str:
    """Return the name that the server gives itself (C-ELIC-02)."""
    return safe(server.title, 60) or "the server"


def inside(session: SessionState, question: Question) -> list[paint.Piece]:
    """Return the request of ours inside which the question was asked; empty if unknown."""
    index = session.journal.index
    if not 0 < question.parent <= index.count:
        return []
    return [("inside ", "muted"), f"{index.method(question.parent)}", (f" {index.id(question.parent)}", "muted")]
