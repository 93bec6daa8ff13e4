"""The description on PyPI is the README with links that lead to the repository: PyPI has no other file of it."""

from __future__ import annotations

import re
from pathlib import Path

LINK = re.compile(r"(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)\s]+)\)")
"""A link or a picture whose target is a file of the repository."""
VERSION = re.compile(r'__version__ = "(.+)"')


def for_pypi(readme: str, repository: str, version: str) -> str:
    """The README for PyPI. Without the address of a repository, links become text and pictures are omitted."""

    def absolute(found: re.Match[str]) -> str:
        picture, text, path = found.groups()
        if not repository:
            return "" if picture else text
        return f"{picture}[{text}]({repository.rstrip('/')}/{'raw' if picture else 'blob'}/v{version}/{path})"

    return LINK.sub(absolute, readme)


def get_metadata_hook() -> type:
    """Return the hook; hatchling calls this because pyproject.toml names the readme as dynamic."""
    from hatchling.metadata.plugin.interface import MetadataHookInterface

    class ReadmeHook(MetadataHookInterface):
        def update(self, metadata: dict) -> None:
            root = Path(self.root)
            found = VERSION.search((root / "inspector" / "version.py").read_text(encoding="utf-8"))
            assert found is not None
            repository = metadata.get("urls", {}).get("Repository", "")
            text = for_pypi((root / "README.md").read_text(encoding="utf-8"), repository, found[1])
            metadata["readme"] = {"content-type": "text/markdown", "text": text}

    return ReadmeHook
