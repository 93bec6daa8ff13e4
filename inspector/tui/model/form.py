"""The verbs of an item and its form: when they work, and which are shown."""

from __future__ import annotations

from typing import Literal, NamedTuple

from inspector.tui.model.verbs import Offer, VerbRules


class FormFacts(NamedTuple):
    """The facts about the item that is shown, and its form. `kind` is `""` without an item; `live`: it can be sent."""

    live: bool = True
    kind: Literal["", "tool", "prompt", "resource", "template"] = "tool"
    running: bool = False
    answered: bool = False
    asks: bool = False
    """The call waits for the user's answer, and the form has what was sent."""
    may_be_task: bool = False
    other_revision: bool = False
    """Another revision may help where the call failed."""
    can_subscribe: bool = False
    subscribed: bool = False
    editable: bool = True
    """The form has fields, or is shown as JSON."""
    as_json: bool = False
    past: bool = False
    """There are earlier calls."""
    saved: bool = False
    """There are saved calls."""
    offers: bool = False
    """Values are offered for the focused field: the arrow keys choose one."""

    @property
    def sendable(self) -> bool:
        """There is an item that can be sent."""
        return self.live and self.kind != ""

    @property
    def follow(self) -> str:
        """The title of the key for changes of the resource: `subscribe`, `unsubscribe`, or `""` without such a key."""
        if not (self.sendable and self.kind == "resource" and self.can_subscribe):
            return ""
        return "unsubscribe" if self.subscribed else "subscribe"

    @property
    def is_tool(self) -> bool:
        """The item is a tool."""
        return self.kind == "tool"


FORM_VERBS: VerbRules[FormFacts] = VerbRules(
    {
        "form.call": lambda facts: facts.sendable,
        "form.save": lambda facts: facts.sendable,
        "form.empty": lambda facts: facts.sendable,
        "form.leave": lambda facts: facts.kind != "",
        "form.call-task": lambda facts: facts.sendable and facts.may_be_task,
        "form.past-calls": lambda facts: facts.sendable and (facts.is_tool or facts.past),
        "form.saved-calls": lambda facts: facts.sendable and facts.saved,
        "resource.read": lambda facts: facts.sendable and facts.kind == "resource",
        "resource.subscribe": lambda facts: facts.follow != "",
    },
    (
        # While the call waits for an answer, the key of the question is shown.
        Offer("form.call", lambda facts: facts.sendable and not facts.asks),
        Offer("app.result", lambda facts: facts.kind != "" and facts.answered and not facts.running),
        Offer("call.cancel", lambda facts: facts.sendable and facts.running),
        Offer("form.call-task"),
        Offer("app.revision", lambda facts: facts.sendable and facts.other_revision, "other revision"),
        Offer("resource.subscribe", title=lambda facts: facts.follow),
        Offer(
            "form.json",
            lambda facts: facts.sendable and facts.kind != "resource" and facts.editable,
            lambda facts: "form" if facts.as_json else "json",
        ),
        Offer("form.past-calls", lambda facts: facts.sendable and facts.past and not facts.offers),
        Offer("form.save"),
        Offer("form.leave", lambda facts: facts.kind != "" and not (facts.live and facts.running)),
    ),
    context="form",
    needs={"tool": lambda facts: facts.is_tool, "call": lambda facts: facts.sendable and facts.is_tool},
)
