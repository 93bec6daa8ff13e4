"""Features: what the program can do beyond its core, one folder each. The core reads this list and imports no feature.

A feature is a package with `FEATURE = Feature(…)` in its `__init__.py`. What it brings is named by strings
(`MODULE:NAME`, the module below its package), so that nothing is imported before it is used. Ours are in `OURS`; those
of other packages are named by the entry point group `inspector.features`.

The demo server reads the list too, so this module imports little.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib import import_module

TYPE_CHECKING = False  # like typing's, which would have to be loaded
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Any, TypeVar

    from inspector.errors import FeatureError

    T = TypeVar("T")

OURS = ("cards", "skills", "events", "context", "apps", "load", "web", "recorders", "official_inspector", "api_clients")
"""Our features, each a folder of `inspector/features/`."""
_GROUP = "[inspector.features]"
"""The entry point group with the features of other packages, as `entry_points.txt` has it."""


class CommandVerb:
    """A verb of the command line. `verb` names its `Verb`; its help page is `pages/NAME.txt` of the feature.

    `after` is the verb that it follows in the help; else it is the last of its group.
    """

    __slots__ = ("after", "group", "name", "summary", "verb")

    def __init__(self, name: str, group: str, summary: str, verb: str, *, after: str = "") -> None:
        self.name = name
        self.group = group
        self.summary = summary
        self.verb = verb
        self.after = after


class Feature:
    """The contributions of a feature, each as far as it has one."""

    def __init__(
        self,
        name: str,
        *,
        verbs: Sequence[CommandVerb] = (),
        options: Mapping[str, str] | None = None,
        keys: str = "",
        checks: str = "",
        judge: str = "",
        demo: str = "",
        formats: str = "",
        calls_importer: str = "",
        other_urls: str = "",
        names: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self.verbs = verbs
        self.options = options or {}
        """Names its `VerbOptions` (`inspector.cli.verb`) for each verb of the core that is `extended`."""
        self.keys = keys
        """Names its `Keys` (`inspector.tui.feature_verbs`): contexts and verbs of the interface."""
        self.checks = checks
        """Names its `CheckTable`."""
        self.judge = judge
        """Names its `FeatureRules` (`inspector.check.judge.feature_rules`)."""
        self.demo = demo
        """Names its `DemoPart` (`inspector.demo.parts`)."""
        self.formats = formats
        """Names its formats of recordings, by name (`inspector.formats.format`)."""
        self.calls_importer = calls_importer
        """Names its `CallsImporter` (`inspector.formats.format`)."""
        self.other_urls = other_urls
        """Names its `UrlSource` (`inspector.doctor.other_paths`)."""
        self.names = names or {}
        """The names that it adds to `import inspector`, each with its module."""
        self.package = ""
        """Its package: the loader says it."""

    @property
    def folder(self) -> Path:
        """The folder of its package."""
        from pathlib import Path

        return Path(sys.modules[self.package].__file__ or "").parent

    def load(self, place: str) -> Any:
        """Import `MODULE:NAME` of the feature. Raises `FeatureError` if a feature of another package is broken."""
        return _imported(f"{self.package}.{place}")

    def load_as(self, kind: type[T], place: str) -> T:
        """Import a part of a type. Raises `FeatureError` as `load` does, also for another type."""
        part = self.load(place)
        if not isinstance(part, kind):
            raise broken(self.package, f"{place} is not of the type {kind.__name__}")
        return part

    def load_or_skip(self, place: str, kind: type[T]) -> T | None:
        """Import a part of the feature; a broken one of another package is None, and `skipped` says why."""
        from inspector.errors import FeatureError

        try:
            return self.load_as(kind, place)
        except FeatureError as error:
            skipped().append(error)
            return None


@cache
def skipped() -> list[FeatureError]:
    """Return the parts of other packages that were skipped so far, because they are broken."""
    return []


@cache
def our_features() -> tuple[Feature, ...]:
    """Our features, in the order of `OURS`."""
    return tuple(_read(f"inspector.features.{name}:FEATURE") for name in OURS)


@cache
def other_features() -> tuple[Feature, ...]:
    """Return the features of other packages; broken ones are skipped. Reads the installed packages once."""
    from inspector.errors import FeatureError

    features = {feature.name: feature for feature in our_features()}
    for place in sorted(_entry_points()):
        try:
            feature = _read(place)
            if feature.name in features:
                raise broken(feature.package, f"{features[feature.name].package} has the name {feature.name}")
            features[feature.name] = feature
        except FeatureError as error:
            skipped().append(error)
    return tuple(features.values())[len(OURS) :]


def features() -> tuple[Feature, ...]:
    """Return all features, ours first."""
    return our_features() + other_features()


def _read(place: str) -> Feature:
    feature = _imported(place)
    package = place.partition(":")[0]
    if not isinstance(feature, Feature):
        raise broken(package, f"{place} is not a Feature")
    feature.package = package
    return feature


def _imported(place: str) -> Any:
    """Import `MODULE:NAME`. Of another package, it never comes from the folder in which the program runs."""
    module, _, name = place.partition(":")
    if module.startswith("inspector."):
        return getattr(import_module(module), name)
    path = sys.path[:]
    sys.path[:] = _folders()
    try:
        return getattr(import_module(module), name)
    except (Exception, SystemExit) as error:
        raise broken(module, f"{type(error).__name__}: {error}") from error
    finally:
        sys.path[:] = path


def broken(package: str, what: str) -> FeatureError:
    """Return the error of a feature that cannot be used."""
    from inspector.errors import FeatureError
    from inspector.text import safe

    return FeatureError(f"Feature {safe(package, 100)} skipped: {safe(what, 200)}", hint="Update or uninstall it.")


def failed(error: BaseException) -> FeatureError | None:
    """Return the error of another package whose feature raised an unexpected one; None if none did."""
    from traceback import extract_tb

    from inspector.errors import FeatureError
    from inspector.text import safe

    for frame in reversed(extract_tb(error.__traceback__)):
        for feature in other_features():
            if frame.filename.startswith(f"{feature.folder}{os.sep}"):
                name, what, where = (
                    type(error).__name__,
                    safe(str(error), 200),
                    f"{frame.filename}, line {frame.lineno}",
                )
                return FeatureError(f"Feature {feature.package} failed: {name}: {what} ({where}).")
    return None


def _folders() -> list[str]:
    """Return the import path without the working directory."""
    try:
        here = os.path.realpath(os.getcwd())
    except OSError:  # It was deleted.
        here = ""
    return [folder for folder in sys.path if folder and os.path.realpath(folder) != here]


def _entry_points() -> Iterator[str]:
    """Yield the installed packages' entry points. `importlib.metadata` would take longer than the rest of a start."""
    for folder in _folders():
        try:
            names = [name for name in os.listdir(folder) if name.endswith(".dist-info")]
        except OSError:
            continue
        for name in names:
            try:
                with open(os.path.join(folder, name, "entry_points.txt"), encoding="utf-8", errors="replace") as file:
                    text = file.read()
            except OSError:
                continue
            lines = text.partition(_GROUP)[2].partition("\n[")[0].splitlines()
            yield from (line.partition("=")[2].partition("[")[0].strip() for line in lines if "=" in line)


def placed(table: Mapping[str, T], added: Iterable[tuple[str, T, str]]) -> dict[str, T]:
    """`table` with each added (name, row, neighbour) after its neighbour, or at the end."""
    rows = list(table.items())
    for name, row, neighbour in added:
        at = next((at for at, (other, _) in enumerate(rows, 1) if other == neighbour), len(rows))
        rows.insert(at, (name, row))
    return dict(rows)
