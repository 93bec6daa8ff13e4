"""Saves a verified skill into a folder of the user. No path of a server leaves that folder (C-SKILL-14).

A file lies under the server's label and its URI, each part encoded as one name: `DIR/shop/skill/harbour/tide/SKILL.md`.
Nothing is executed, no link is followed, no file is made executable, and no existing file is replaced without `force`.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence, Set
from pathlib import Path
from typing import NamedTuple

from inspector.config import output_files
from inspector.config.paths import make_private
from inspector.errors import UsageError
from inspector.features.skills import uris
from inspector.features.skills.entries import Skill
from inspector.features.skills.verify import FileCheck

_MAX_LENGTH = 240
"""Bytes of one name of a file or folder."""


class SavedSkill(NamedTuple):
    """A saved skill: its folder, the files, and the files that were not written, with the reason."""

    folder: Path
    written: list[Path]
    left_out: list[tuple[str, str]]


def folder_of(skill: Skill, label: str, folder: Path) -> Path:
    """Return the folder in which a skill of a server is saved. Raises `UsageError` for a name that is too long."""
    root = uris.parse(skill.uri)
    if isinstance(root, str):
        raise UsageError(f"The skill cannot be saved: its uri {root}.")
    names = (uris.folder_name(label), *uris.folder_path(root)[:-1])
    if any(len(name) > _MAX_LENGTH for name in names):
        raise UsageError("The skill cannot be saved: a part of its URI is too long for a file name.")
    return folder.joinpath(*names)


def save_skill(
    skill: Skill, label: str, checks: Sequence[FileCheck], folder: Path, *, force: bool = False
) -> SavedSkill:
    """Write the files of a skill below `folder`, without those that differ from its entry. The folder may be new.

    `label` is our name of the server. Raises `UsageError` for a folder that cannot be used, and `OutputExists`.
    """
    target = folder_of(skill, label, folder)
    written: list[Path] = []
    folders = {target}
    left_out: list[tuple[str, str]] = []
    for check in checks:
        names = [uris.folder_name(part) for part in check.file.path.split("/")] if check.file.path else []
        if check.failed or not check.has_content or not names:
            reason = check.detail if check.outcome == "unverified" else check.words
            left_out.append((check.file.path or check.file.uri, reason if names else "not in the skill's directory"))
        elif any(len(name) > _MAX_LENGTH for name in names):
            left_out.append((check.file.path, "its name is too long for a file"))
        else:
            path = target.joinpath(*names)
            why = _why_not_beside(path, written, folders)
            if why:
                left_out.append((check.file.path, why))
                continue
            _make_folders(folder, path.parent)
            output_files.write_file(path, check.data, force=force)
            written.append(path)
            folders.update(path.parents)
    return SavedSkill(target, written, left_out)


def _why_not_beside(path: Path, written: Sequence[Path], folders: Set[Path]) -> str:
    """Return why a file cannot be written beside those of its skill that are; empty if it can."""
    if path in folders:
        return "it is also a directory of the skill"
    if any(parent in written for parent in path.parents):
        return "its directory is also a file of the skill"
    return ""


def is_read_by_agents(folder: Path) -> bool:
    """Whether programs load skills from a folder: a `skills` folder in one that begins with a dot.

    Its own path or the one behind links counts: programs may use either.
    """
    return any(_is_agents_path(Path(name)) for name in {os.path.abspath(folder), os.path.realpath(folder)})


def _is_agents_path(folder: Path) -> bool:
    parts = [part.lower() for part in folder.parts]
    return any(part.startswith(".") and "skills" in parts[at + 1 :] for at, part in enumerate(parts))


def _make_folders(top: Path, folder: Path) -> None:
    """Create the folders from `top`, which the user named, down to `folder`; no link is followed below `top`."""
    try:
        make_private(top)
        at = top
        for name in folder.relative_to(top).parts:
            at = at / name
            try:
                os.mkdir(at, 0o700)
            except FileExistsError:
                if not stat.S_ISDIR(os.lstat(at).st_mode):
                    raise UsageError(f"{at} is not a folder.", hint="Choose another folder, or delete it.") from None
    except OSError as error:
        raise output_files.cannot_write(folder, error) from None
