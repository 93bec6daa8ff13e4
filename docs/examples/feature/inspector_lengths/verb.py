"""`inspector lengths TARGET`."""

from inspector.cli import headless
from inspector.cli.verb import Verb
from inspector_lengths.lengths import lengths


def run(invocation):
    async def work(session, out):
        await session.load("tools")
        rows = lengths(session.catalog["tools"].items)
        if invocation.json:
            out.document(dict(rows))
        else:
            out.table([(out.safe(name), f"{length:,} characters") for name, length in rows])
        return 0

    return headless.run(invocation, work)


LENGTHS = Verb("lengths", run)
