"""The keys of features: contexts of their own, and verbs in contexts of the core."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from inspector.feature import Feature, features

VerbRow = tuple[str, str, str, str]
"""Name, title, default key, and sentence of a verb, as in the table of the core."""


class FeatureContext(NamedTuple):
    """A context of a feature, with its verbs."""

    name: str
    outer: str
    """The context whose keys work in it too."""
    title: str
    """The heading in help."""
    rows: Sequence[VerbRow]
    after: str = ""
    """The context that it follows in help; else it is the last one."""
    way: str = ""
    """The id of the verb that leads to it."""
    is_screen: bool = False
    """It is a screen of its own, and no pane of a session."""


class FeatureVerb(NamedTuple):
    """A verb in a context of the core (`app`, `catalog`, `form` or `start`).

    `run` names a coroutine function in the feature. It gets the screen, and in a catalog or a form the name of the tool
    and the arguments in its form.
    """

    id: str
    title: str
    key: str
    description: str
    run: str
    needs: str = ""
    """`tool`: there is a tool; `call`: it can be called; `page`: it has a page; in `start`: this setting is set."""
    after: str = ""
    """The name of the verb that it follows in help; else it is the last one."""
    is_offered: bool = False
    """The footer offers it, as the last one."""

    @property
    def context(self) -> str:
        """The context."""
        return self.id.partition(".")[0]

    @property
    def row(self) -> VerbRow:
        """Its row in the table."""
        return self.id.partition(".")[2], self.title, self.key, self.description


class FeatureTab(NamedTuple):
    """A tab of a session, with its panes: a list and a pane beside it, or one pane.

    `state` names a class that is made with the session when the tab is shown first; it has a `count`. The panes are
    made with that state and their `id`.
    """

    id: str
    title: str
    description: str
    state: str
    main: str
    beside: str = ""
    short: str = ""
    """The title where there is little room."""
    key: str = ""
    extension: str = ""
    """The tab is there if the server declares this extension; else always."""
    missing: str = ""
    """The notice if it does not."""
    is_alone: bool = False
    """It has the width of the log."""

    @property
    def panes(self) -> dict[str, str]:
        """The place of each pane, by its id."""
        return {self.id: self.main} | ({f"{self.id}-beside": self.beside} if self.beside else {})


class Keys(NamedTuple):
    """The keys and tabs of one feature."""

    contexts: Sequence[FeatureContext] = ()
    verbs: Sequence[FeatureVerb] = ()
    tabs: Sequence[FeatureTab] = ()
    page: str = ""
    """Names a function that returns the `PageInResult` of a session, a request and its result, or None."""


@cache
def all_keys() -> Sequence[tuple[Feature, Keys]]:
    """Return the keys of each feature that has some."""
    loaded = [(feature, feature.load_or_skip(feature.keys, Keys)) for feature in features() if feature.keys]
    return [(feature, of_feature) for feature, of_feature in loaded if of_feature is not None]


def contexts() -> list[FeatureContext]:
    """Return the contexts of features."""
    return [context for _, of_feature in all_keys() for context in of_feature.contexts]


def tabs() -> list[tuple[Feature, FeatureTab]]:
    """Return the tabs of features, each with its feature."""
    return [(feature, tab) for feature, of_feature in all_keys() for tab in of_feature.tabs]


def verbs_in(context: str) -> Iterator[tuple[Feature, FeatureVerb]]:
    """Yield the verbs of features in a context of the core, each with its feature."""
    for feature, of_feature in all_keys():
        yield from ((feature, verb) for verb in of_feature.verbs if verb.context == context)
