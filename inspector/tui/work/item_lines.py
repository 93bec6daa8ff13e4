"""The lines around the form of an item: its description, its problems, and its facts in the edge."""

from __future__ import annotations

from typing import Literal

from inspector.client.session_state import SessionState
from inspector.tui.keymap import KeyHint
from inspector.tui.model.form import FormFacts
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.form import FormView
from inspector.tui.widgets.paragraphs import Paragraph
from inspector.tui.work.work_items import WorkItem

_KINDS: dict[str, Literal["tool", "prompt", "resource", "template"]] = {
    "tools": "tool",
    "prompts": "prompt",
    "resources": "resource",
    "templates": "template",
}


def about_lines(work: WorkItem, session: SessionState) -> list[Paragraph]:
    """Return the description of an item. What happened stands before it, because its end may be cut."""
    item, sign = work.catalog_item, signs_now().finding
    lines: list[Paragraph] = list(item.about)
    if work.revision_hint:
        lines.insert(0, (f"{sign} {work.revision_hint.text}", "finding"))
    reasons = session.refused_tools.get(item.address) if item.list_name == "tools" else None
    if reasons:
        lines.append((f"{sign} It must not be called over HTTP: {'; '.join(reasons)}.", "finding"))
    return [(work.problem, "error"), *lines] if work.problem else lines


def item_facts(work: WorkItem, session: SessionState, clear: list[KeyHint]) -> list[paint.Pieces]:
    """Return the facts of an item: where its values come from, its subscription, its annotations.

    `clear` is the key that drops these values, if there is one.
    """
    item, subscriptions = work.catalog_item, session.subscriptions
    facts: list[paint.Pieces] = list(item.facts)
    if item.address in subscriptions:
        count = subscriptions.counts.get(item.address, 0)
        facts.insert(0, [(f"changed {count} {signs_now().times}" if count else "subscribed", "notification")])
    if work.origin:
        keys: list[paint.Pieces] = [[(hint.label, "key"), (f" {hint.title}", "muted")] for hint in clear]
        facts[:0] = [[(work.origin, "muted")], *keys]
    return facts


def form_facts(
    work: WorkItem, session: SessionState, form: FormView, *, asks: bool, saved: bool, offers: bool
) -> FormFacts:
    """Return the facts on which the verbs of an item depend.

    `asks`: its call waits for the user's answer. `saved`: it has saved calls. `offers`: values are offered for a
    field.
    """
    live = session.commands is not None
    if work.is_empty:
        return FormFacts(live=live, kind="")
    item = work.catalog_item
    return FormFacts(
        live=live,
        kind=_KINDS[item.list_name],
        running=work.is_running,
        answered=work.answer is not None,
        asks=asks,
        may_be_task=item.list_name == "tools" and session.tasks.support(item.item) == "optional",
        other_revision=work.revision_hint is not None,
        can_subscribe=session.server.can("resources", "subscribe"),
        subscribed=item.address in session.subscriptions,
        editable=form.json_mode or not form.has_class("-bare"),
        as_json=form.json_mode,
        past=bool(work.past),
        saved=saved,
        offers=offers,
    )
