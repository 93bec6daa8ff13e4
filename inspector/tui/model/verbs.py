"""Says which verbs of a pane work now, and which of them are offered at its focus."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from inspector.tui.feature_verbs import verbs_in

F = TypeVar("F")
"""The facts on which the verbs of a pane depend."""


class KeyHint(NamedTuple):
    """A key as a pane or footer shows it: its label, its action, and the key to press."""

    label: str
    title: str
    key: str
    verb: str = ""


@dataclass(frozen=True)  # Not with slots: `Offer[F](…)` fails in Python 3.11 then.
class Offer(Generic[F]):
    """A verb that is offered at the focus while it is useful, by default while it works.

    `title` is another title than that of the verb, or returns it, or `""`.
    """

    verb: str
    is_useful: Callable[[F], bool] | None = None
    title: Callable[[F], str] | str = ""


class VerbRules(Generic[F]):
    """The rules of a pane. `works` says when those verbs work that do not always work.

    `line` has the verbs that are offered, the most used ones first: the footer has room for few of them.
    """

    def __init__(
        self,
        works: Mapping[str, Callable[[F], bool]],
        line: Sequence[Offer[F]],
        *,
        context: str = "",
        needs: Mapping[str, Callable[[F], bool]] | None = None,
    ) -> None:
        """`needs` says what each need of the verbs of features in `context` means: help and the palette offer those."""
        added = [verb for _, verb in verbs_in(context)] if context else []
        works = {**works, **{verb.id: needs[verb.needs] for verb in added if needs and verb.needs in needs}}
        self._works = works
        self._actions = {verb.partition(".")[2].replace("-", "_"): rule for verb, rule in works.items()}
        self._line = (*line, *(Offer[F](verb.id) for verb in added if verb.is_offered))

    def available(self, verb: str, facts: F) -> bool:
        """Whether a verb works now. Bindings, footer, palette and help ask this."""
        works = self._works.get(verb)
        return works is None or works(facts)

    @property
    def conditional(self) -> Collection[str]:
        """The verbs that do not always work."""
        return self._works.keys()

    def can(self, action: str, facts: Callable[[], F]) -> bool:
        """Whether the action of a verb works now. `facts` is called only if that depends on them."""
        works = self._actions.get(action)
        return works is None or works(facts())

    def line(self, facts: F) -> list[tuple[str, str]]:
        """Return the verbs to show, in order, each with its title, or `""` for its usual one."""
        offers = [
            offer
            for offer in self._line
            if (self.available(offer.verb, facts) if offer.is_useful is None else offer.is_useful(facts))
        ]
        return [(offer.verb, offer.title if isinstance(offer.title, str) else offer.title(facts)) for offer in offers]
