"""The config files of MCP clients, per platform, for one folder."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from inspector.config import foreign_files, paths
from inspector.config.host_files import table
from inspector.config.host_files.table import ConfigFamily
from inspector.system.files import is_ours

OWN_NAMES = ("inspector.json", ".inspector.json")
_SHARED_NAMES = ("mcp.json", "settings.json", "config.toml", "config.yaml")
"""Names of files of several programs: only their folder tells whose they are."""
_MAX_PARENTS = 64


@dataclass(frozen=True, slots=True)
class ConfigPlace:
    """A file that may contain servers. `workspace` is the folder it belongs to, None for a file of the user.

    `host` is the id of the host that reads it, empty for our own files and those of the registry.
    """

    path: Path
    family: ConfigFamily
    label: str
    workspace: Path | None = None
    host: str = ""
    scope: table.HostScope = "user"
    top: str = ""
    """The member in which that host has its servers."""


def places(folder: Path, machine: table.Machine) -> list[ConfigPlace]:
    """Return every place in the order of listing: this folder, its parents, then the user's files."""
    places = [place for workspace in workspaces(folder, machine.home) for place in _of_workspace(workspace, machine)]
    return places + _of_user(machine)


def workspaces(folder: Path, home: Path) -> list[Path]:
    """Return `folder` and its parents up to the repository root, else up to `home`, else none: nearest first.

    Outside of both a parent may be writable for all users, such as /tmp.
    """
    folder, home = _absolute(folder), _absolute(home)
    chain = [folder, *folder.parents][:_MAX_PARENTS]
    for index, parent in enumerate(chain):
        if parent == home or foreign_files.present(parent / ".git"):
            return chain[: index + 1]
    return [folder]


def is_own(place: ConfigPlace, folder: Path, machine: table.Machine, *, named: bool) -> bool:
    """Whether a config file is the user's own, and not part of something cloned or unpacked.

    Besides the files that clients keep for the user, files directly in the home folder are, unless it is a repository.
    A file `named` with `--config` is, if it is not in a repository, not below `folder`, and not another user's.
    """
    home = _absolute(machine.home)
    if not named and place.workspace != home:
        return place.workspace is None
    users = _of_user(machine)
    if _lexical(place.path) in {_lexical(own.path) for own in users}:
        return True
    if not named:
        return not foreign_files.present(home / ".git")
    return belongs_to_user(place.path, folder, home)


def belongs_to_user(path: Path, folder: Path, home: Path) -> bool:
    """Whether a file that is none of a client's is the user's own: neither in a repository nor below `folder`.

    A link counts for both of its ends. Files directly in the home folder are the user's, unless it is a repository.
    """
    home = _absolute(home)
    return all(_is_outside(end, _absolute(folder), home) for end in (_lexical(path), _absolute(path)))


def _is_outside(path: Path, folder: Path, home: Path) -> bool:
    """Whether a file is outside of repositories and of the project around `folder`, and belongs to the user."""
    projects = [parent for parent in workspaces(folder, home) if parent != home]
    if any(path.is_relative_to(project) for project in projects):
        return False
    if any(foreign_files.present(parent / ".git") for parent in path.parents):
        return False
    try:
        return is_ours(os.stat(path))
    except OSError:
        return False


def _lexical(path: Path) -> Path:
    """Return the path with the links of its folders resolved, but not the file itself."""
    return _absolute(path.parent) / path.name


def explicit(path: Path, machine: table.Machine) -> ConfigPlace | None:
    """Return the place of a file given with `--config` by its name; None if only its content can tell."""
    name, folder = path.name.casefold(), path.parent.name.casefold()
    if name in OWN_NAMES:
        return ConfigPlace(path, "own", "this file", path.parent)
    for known in (*table.files(machine, path.parent), *table.files(machine, None)):
        *above, last = known.tail.casefold().split("/")
        if name == last and (last not in _SHARED_NAMES or above[-1:] == [folder]):
            project = path.parents[len(above)] if known.workspace is not None else None
            return _of_host(known, path, None if project == machine.home and above else project)
    return None


def _of_workspace(workspace: Path, machine: table.Machine) -> list[ConfigPlace]:
    return [
        *(ConfigPlace(workspace / name, "own", "this folder", workspace) for name in OWN_NAMES),
        *(_of_host(file, file.path, workspace) for file in table.files(machine, workspace)),
        ConfigPlace(workspace / "server.json", "registry", "server.json", workspace),
    ]


def _of_user(machine: table.Machine) -> list[ConfigPlace]:
    # The folder of programs' settings: the same as platformdirs' roaming one, for any home.
    base = Path(machine.folder("config"))
    own = paths.override("INSPECTOR_CONFIG_HOME", machine.environ) or base / paths.APP
    return [
        ConfigPlace(own / OWN_NAMES[0], "own", "Inspector"),
        *(_of_host(file, file.path, None) for file in table.files(machine, None)),
    ]


def _of_host(file: table.HostFile, path: Path, workspace: Path | None) -> ConfigPlace:
    return ConfigPlace(path, file.reader, file.label, workspace, file.host.id, file.scope, file.top)


def _absolute(path: Path) -> Path:
    return Path(os.path.realpath(path))
