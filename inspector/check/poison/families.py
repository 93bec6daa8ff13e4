"""The families of poisoned text: id, level, what the text makes a model do, and the codes of public taxonomies."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Literal, NamedTuple

PoisonLevel = Literal["security", "lint", "info"]


class PoisonFamily(NamedTuple):
    """One kind of poisoned text. The members are described in `families.toml`."""

    level: PoisonLevel
    effect: str
    codes: list[str]


FAMILIES = {
    name: PoisonFamily(**family)
    for name, family in tomllib.loads(Path(__file__).with_name("families.toml").read_text(encoding="utf-8")).items()
}
