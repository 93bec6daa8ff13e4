"""A home folder, a project in it, and an environment: nothing of the machine that runs the tests is seen."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from inspector.config import servers, trust
from inspector.config.servers import ServerEntry, ServerList, find_servers
from inspector.config.target_arguments import parse_target
from inspector.config.targets import Target


@dataclass
class World:
    home: Path
    folder: Path
    environ: dict[str, str] = field(default_factory=dict)
    platform: str = "linux"

    def write(self, name: str, content: Any) -> Path:
        """Writes `name` (`~/…` in the home folder, else in the project): text as it is, anything else as JSON."""
        path = self.home / name[2:] if name.startswith("~/") else self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8", newline="")
        return path

    def find(self, **options: Any) -> ServerList:
        return find_servers(self.folder, self.home, self.environ, self.platform, **options)

    def entry(self, name: str) -> ServerEntry:
        return next(entry for entry in self.find().entries if entry.name == name)

    def open(self, *words: str, **options: Any) -> Target:
        """Opens a target as a user does who trusts every file; `consent=None` is one who was not asked."""
        options = {"consent": trust.always, **options}
        return parse_target(words, environ=self.environ, home=self.home, folder=self.folder, **options)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    # Its files lie where Linux has them.
    monkeypatch.setattr(servers, "NAME", "linux")
    folder = tmp_path / "home" / "src" / "shop"
    (folder / ".git").mkdir(parents=True)
    return World(tmp_path / "home", folder)
