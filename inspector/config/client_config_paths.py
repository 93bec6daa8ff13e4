"""The config files of MCP clients, per platform, for one folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from inspector.config import foreign_files, paths

ConfigFamily = Literal[
    "own",
    "generic",
    "claude-code",
    "claude-code-user",
    "claude-desktop",
    "cursor",
    "vscode",
    "vscode-settings",
    "windsurf",
    "gemini",
    "zed",
    "opencode",
    "codex",
    "goose",
    "continue",
    "registry",
]

OWN_NAMES = ("inspector.json", ".inspector.json")
_OPENCODE_NAMES = ("opencode.json", "opencode.jsonc")
_MAX_PARENTS = 64


@dataclass(frozen=True, slots=True)
class ConfigPlace:
    """A file that may contain servers. `workspace` is the folder it belongs to, None for a file of the user."""

    path: Path
    family: ConfigFamily
    label: str
    workspace: Path | None = None


def places(folder: Path, home: Path, environ: Mapping[str, str], platform: str) -> list[ConfigPlace]:
    """Return every place in the order of listing: this folder, its parents, then the user's files."""
    found = [place for workspace in workspaces(folder, home) for place in _of_workspace(workspace)]
    return found + _of_user(home, environ, platform)


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


def is_own(
    place: ConfigPlace, folder: Path, home: Path, environ: Mapping[str, str], platform: str, *, named: bool
) -> bool:
    """Whether a config file is the user's own, and not part of something cloned or unpacked.

    Besides the files that clients keep for the user, files directly in the home folder are, unless it is a repository.
    A file `named` with `--config` is, if it is not in a repository, not below `folder`, and not another user's.
    """
    home = _absolute(home)
    if not named and place.workspace != home:
        return place.workspace is None
    if _lexical(place.path) in {_lexical(own.path) for own in _of_user(home, environ, platform)}:
        return True
    if not named:
        return not foreign_files.present(home / ".git")
    return belongs_to_user(place.path, folder, home)


def belongs_to_user(path: Path, folder: Path, home: Path) -> bool:
    """Whether a file that is none of a client's is the user's own: neither in a repository nor below `folder`.

    A link counts for both of its ends. Files directly in the home folder are the user's, unless it is a repository.
    """
    home = _absolute(home)
    return all(_is_outside(each, _absolute(folder), home) for each in (_lexical(path), _absolute(path)))


def _is_outside(path: Path, folder: Path, home: Path) -> bool:
    """Whether a file is outside of repositories and of the project around `folder`, and belongs to the user."""
    projects = [parent for parent in workspaces(folder, home) if parent != home]
    if any(path.is_relative_to(project) for project in projects):
        return False
    if any(foreign_files.present(parent / ".git") for parent in path.parents):
        return False
    try:
        owner = os.stat(path).st_uid
    except OSError:
        return False
    return not hasattr(os, "getuid") or owner in (0, os.getuid())


def _lexical(path: Path) -> Path:
    """Return the path with the links of its folders resolved, but not the file itself."""
    return _absolute(path.parent) / path.name


def user_base(home: Path, environ: Mapping[str, str], platform: str) -> Path:
    """Return the folder of programs' settings: the same as platformdirs' roaming one, for any home."""
    if platform == "darwin":
        return home / "Library" / "Application Support"
    if platform == "win32":
        return Path(environ.get("APPDATA") or home / "AppData" / "Roaming")
    return _xdg_config(home, environ)


def explicit(path: Path, home: Path) -> ConfigPlace | None:
    """Return the place of a file given with `--config` by its name; None if only its content can tell."""
    name, folder = path.name.casefold(), path.parent.name.casefold()
    above = None if path.parent.parent == home else path.parent.parent
    if name in OWN_NAMES:
        return ConfigPlace(path, "own", "this file", path.parent)
    if name == ".mcp.json":
        return ConfigPlace(path, "claude-code", "Claude Code", path.parent)
    if name == ".claude.json":
        return ConfigPlace(path, "claude-code-user", "Claude Code")
    if name in _OPENCODE_NAMES:
        return ConfigPlace(path, "opencode", "opencode", path.parent)
    if name == "claude_desktop_config.json":
        return ConfigPlace(path, "claude-desktop", "Claude Desktop")
    if name == "mcp_config.json":
        return ConfigPlace(path, "windsurf", "Windsurf")
    if folder == ".cursor" and name == "mcp.json":
        return ConfigPlace(path, "cursor", "Cursor", above)
    if folder == ".vscode" and name in ("mcp.json", "settings.json"):
        return ConfigPlace(path, "vscode" if name == "mcp.json" else "vscode-settings", "VS Code", above)
    if folder == "user" and name == "mcp.json":
        return ConfigPlace(path, "vscode", "VS Code")
    if folder == ".gemini" and name == "settings.json":
        return ConfigPlace(path, "gemini", "Gemini CLI", above)
    if folder in (".zed", "zed") and name == "settings.json":
        return ConfigPlace(path, "zed", "Zed", above if folder == ".zed" else None)
    return None


def _of_workspace(workspace: Path) -> list[ConfigPlace]:
    return [
        *(ConfigPlace(workspace / name, "own", "this folder", workspace) for name in OWN_NAMES),
        ConfigPlace(workspace / ".mcp.json", "claude-code", "Claude Code", workspace),
        ConfigPlace(workspace / ".cursor" / "mcp.json", "cursor", "Cursor", workspace),
        ConfigPlace(workspace / ".vscode" / "mcp.json", "vscode", "VS Code", workspace),
        ConfigPlace(workspace / ".vscode" / "settings.json", "vscode-settings", "VS Code", workspace),
        ConfigPlace(workspace / ".gemini" / "settings.json", "gemini", "Gemini CLI", workspace),
        ConfigPlace(workspace / ".zed" / "settings.json", "zed", "Zed", workspace),
        *(ConfigPlace(workspace / name, "opencode", "opencode", workspace) for name in _OPENCODE_NAMES),
        ConfigPlace(workspace / "server.json", "registry", "server.json", workspace),
    ]


def _of_user(home: Path, environ: Mapping[str, str], platform: str) -> list[ConfigPlace]:
    base = user_base(home, environ, platform)
    own = paths.override("INSPECTOR_CONFIG_HOME", environ) or base / paths.APP
    claude = Path(environ.get("CLAUDE_CONFIG_DIR") or home)
    zed = base / "Zed" if platform == "win32" else _xdg_config(home, environ) / "zed"
    goose = base / "Block" / "goose" / "config" if platform == "win32" else _xdg_config(home, environ) / "goose"
    found = [
        ConfigPlace(own / OWN_NAMES[0], "own", "Inspector"),
        ConfigPlace(claude / ".claude.json", "claude-code-user", "Claude Code"),
        ConfigPlace(base / "Claude" / "claude_desktop_config.json", "claude-desktop", "Claude Desktop"),
        ConfigPlace(home / ".cursor" / "mcp.json", "cursor", "Cursor"),
    ]
    for program, label in (("Code", "VS Code"), ("Code - Insiders", "VS Code Insiders"), ("VSCodium", "VSCodium")):
        found.append(ConfigPlace(base / program / "User" / "mcp.json", "vscode", label))
        found.append(ConfigPlace(base / program / "User" / "settings.json", "vscode-settings", label))
    return [
        *found,
        ConfigPlace(home / ".codeium" / "windsurf" / "mcp_config.json", "windsurf", "Windsurf"),
        ConfigPlace(home / ".codeium" / "mcp_config.json", "windsurf", "Windsurf plugin"),
        ConfigPlace(home / ".gemini" / "settings.json", "gemini", "Gemini CLI"),
        ConfigPlace(zed / "settings.json", "zed", "Zed"),
        *(
            ConfigPlace(_xdg_config(home, environ) / "opencode" / name, "opencode", "opencode")
            for name in _OPENCODE_NAMES
        ),
        ConfigPlace(Path(environ.get("CODEX_HOME") or home / ".codex") / "config.toml", "codex", "Codex"),
        ConfigPlace(goose / "config.yaml", "goose", "Goose"),
        ConfigPlace(home / ".continue" / "config.yaml", "continue", "Continue"),
    ]


def _xdg_config(home: Path, environ: Mapping[str, str]) -> Path:
    return Path(environ.get("XDG_CONFIG_HOME") or home / ".config")


def _absolute(path: Path) -> Path:
    return Path(os.path.realpath(path))
