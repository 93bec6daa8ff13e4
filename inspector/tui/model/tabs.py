"""The table of the tabs: key, title, the pane with its list, and the pane beside that."""

from __future__ import annotations

from typing import NamedTuple


class Tab(NamedTuple):
    """One tab. `short` is its title where there is little room.

    `main` is the pane that gets the focus: a list, or the whole tab. `beside` is the pane beside a list.
    """

    id: str
    key: str
    title: str
    short: str
    main: str
    beside: str = ""


TABS = (
    Tab("tools", "1", "Tools", "Tools", "catalog", "work"),
    Tab("resources", "2", "Resources", "Res", "catalog", "work"),
    Tab("templates", "3", "Templates", "Tmpl", "catalog", "work"),
    Tab("prompts", "4", "Prompts", "Prompt", "catalog", "work"),
    Tab("tasks", "5", "Tasks", "Task", "tasks", "task"),
    Tab("server", "6", "Server", "Srv", "server"),
    Tab("inbox", "7", "Inbox", "Inbox", "inbox", "work"),
    Tab("check", "8", "Check", "Check", "check"),
    Tab("calls", "9", "Calls", "Call", "calls", "flow"),
    Tab("skills", "0", "Skills", "Skills", "skills", "skill"),
)
BY_ID = {tab.id: tab for tab in TABS}
