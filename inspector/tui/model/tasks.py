"""The verbs of tasks: when they work, and which are shown."""

from __future__ import annotations

from typing import NamedTuple

from inspector.tui.model.verbs import Offer, VerbRules


class TaskFacts(NamedTuple):
    """The facts about the selected task. `can_list`: the server can list its tasks."""

    live: bool = True
    can_list: bool = False
    selected: bool = False
    done: bool = False
    has_call: bool = False
    """The call that created it is known."""


TASK_VERBS: VerbRules[TaskFacts] = VerbRules(
    {
        "tasks.cancel": lambda facts: facts.live and facts.selected and not facts.done,
        "tasks.poll": lambda facts: facts.live and facts.selected,
        "tasks.refresh": lambda facts: facts.live and facts.can_list,
        "tasks.its-messages": lambda facts: facts.selected,
        "tasks.open-call": lambda facts: facts.has_call,
    },
    [Offer(f"tasks.{verb}") for verb in ("cancel", "poll", "refresh", "its-messages", "open-call")],
)
