"""The check. Its rule is its row in `checks.toml`."""

from pathlib import Path

from inspector.check.check_table import CheckTable
from inspector.check.outcome import bad, good
from inspector_lengths.lengths import SHORTEST, lengths

CHECKS = CheckTable(Path(__file__).with_suffix(".toml"))


@CHECKS.active("LENGTHS-01")
async def long_enough(visit):
    short = [name for name, length in lengths(visit.items("tools")) if length < SHORTEST]
    return bad(f"The description of {short[0]} is short.") if short else good()
