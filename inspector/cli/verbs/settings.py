"""`inspector settings`: the effective settings, and the JSON Schema of their file."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Literal

from inspector.cli import verbs
from inspector.cli.options import Option
from inspector.cli.verb import Verb

if TYPE_CHECKING:
    from inspector.cli.verb import Invocation

NAME = 120
VALUE = 2000


def run(invocation: Invocation) -> int:
    """Print each setting according to the file and the environment; with `--schema` the JSON Schema of the file."""
    out = invocation.output
    if invocation.option("schema"):
        out.document_text(schema("settings"))
        return 0
    from inspector.config.settings import load_settings, settings_file
    from inspector.feature import other_features

    values = asdict(load_settings())
    path, others = settings_file(), {feature.name: feature.package for feature in other_features()}
    if out.json:
        out.document({"path": str(path), "settings": values, "features": others})
        return 0
    out.table([(name, out.safe(json.dumps(value, ensure_ascii=False), VALUE)) for name, value in values.items()])
    verbs.groups()  # Skips the verbs of features that cannot be used.
    for name, package in others.items():
        out.note(f"The feature {out.safe(name, NAME)} is from the package {out.safe(package, NAME)}.")
    missing = "" if path.exists() else ", which does not exist"
    out.note(f"The file is {out.safe(str(path))}{missing}.")
    return 0


def schema(file: Literal["settings", "servers"]) -> str:
    """The JSON Schema of a config file."""
    from inspector.config.paths import data_folder

    return (data_folder("docs/schemas") / f"{file}.json").read_text(encoding="utf-8").rstrip("\n")


SETTINGS = Verb(
    "settings", run, target="none", options=(Option("--schema", "Print the JSON Schema of settings.json, for editors"),)
)
