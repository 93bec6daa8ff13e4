"""The table of the tabs: their keys and verbs, lists and panes, and when each is shown."""

from __future__ import annotations

from typing import Literal, NamedTuple

from inspector.client.state.catalog import KINDS, ListName
from inspector.tui import feature_verbs
from inspector.tui.feature_verbs import FeatureTab, VerbRow


class Tab(NamedTuple):
    """One tab. `short` is its title where there is little room.

    `main` is the pane that gets the focus: a list, or the whole tab. `beside` is the pane beside a list. `lists` are
    the lists of the server that it shows.
    """

    id: str
    key: str
    title: str
    short: str
    description: str
    main: str
    beside: str = ""
    lists: tuple[ListName, ...] = ()
    visibility: Literal["always", "when-there-is-one"] = "always"
    extension: str = ""
    """The extension that the server must declare."""
    missing: str = ""
    """The notice if the server has nothing for it."""

    @property
    def verb(self) -> str:
        """The id of the verb that shows it."""
        return f"app.tab-{self.key or self.id}"

    @property
    def row(self) -> VerbRow:
        """The row of its verb."""
        return self.verb.partition(".")[2], self.title.lower(), self.key, self.description


def of_feature(tab: FeatureTab) -> Tab:
    """Return the tab of a feature as a row of the table."""
    main, beside = (*tab.panes, "")[:2]
    visibility: Literal["always", "when-there-is-one"] = "when-there-is-one" if tab.extension else "always"
    return Tab(
        *(tab.id, tab.key, tab.title, tab.short or tab.title, tab.description, main, beside),
        visibility=visibility,
        extension=tab.extension,
        missing=tab.missing,
    )


TABS = (
    Tab("tools", "1", "Tools", "Tools", "Show the tools.", "catalog", "work", ("tools",)),
    Tab(
        "resources",
        "2",
        "Resources",
        "Res",
        "Show the resources, with the resource templates.",
        "catalog",
        "work",
        ("resources", "templates"),
    ),
    Tab("prompts", "4", "Prompts", "Prompt", "Show the prompts.", "catalog", "work", ("prompts",)),
    Tab(
        "tasks",
        "5",
        "Tasks",
        "Task",
        "Show the tasks: work that the server continues after its answer.",
        "tasks",
        "task",
        visibility="when-there-is-one",
        missing="This server has not offered tasks.",
    ),
    Tab("server", "6", "Server", "Srv", "Show the server: identity, capabilities, connection.", "server"),
    Tab(
        "inbox",
        "7",
        "Inbox",
        "Inbox",
        "Show the questions of the server.",
        "inbox",
        "work",
        visibility="when-there-is-one",
    ),
    Tab("check", "8", "Check", "Check", "Show the checks of the server against the specification.", "check"),
    Tab(
        "calls",
        "9",
        "Saved",
        "Saved",
        "Show the saved calls, their steps and the outcome of their last run.",
        "calls",
        "flow",
    ),
    *(of_feature(tab) for _, tab in feature_verbs.tabs()),
)
TAB_BY_ID = {tab.id: tab for tab in TABS}
OF_LIST: dict[ListName, Tab] = {name: tab for tab in TABS for name in tab.lists}
"""The tab that shows each list."""
assert OF_LIST.keys() == KINDS.keys()


def shown_tabs(active: str, present: frozenset[str]) -> list[Tab]:
    """Return the tabs to show. `present` are those that have something; the one in front is always shown."""
    return [tab for tab in TABS if tab.visibility == "always" or tab.id == active or tab.id in present]
