"""`inspector help`: the help of a verb, or a page on a topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.cli.manual import TOPICS
from inspector.cli.verb import PositionalArgument, Verb, load
from inspector.cli.verbs import SUMMARIES

if TYPE_CHECKING:
    from inspector.cli.verb import Invocation


def run(invocation: Invocation) -> int:
    """Print the page; without a topic, the list of topics."""
    from inspector.cli import help as pages

    name = invocation.arguments["topic"]
    if name is None:
        pages.print_topics()
    elif name in TOPICS:
        pages.print_topic(name)
    else:
        pages.print_help(load(name))
    return 0


HELP = Verb(
    "help",
    run,
    slots=(PositionalArgument("topic", metavar="TOPIC|VERB", choices=(*TOPICS, *SUMMARIES), optional=True),),
    target="none",
    prints=False,
)
