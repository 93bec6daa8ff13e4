"""The skills of the demo: their files, and their entries."""

from __future__ import annotations

from functools import cache

from inspector.demo.content import bytes_of, contents, mime_of, picture
from inspector.demo.parts import load_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SCHEME = "skill://"

_DYNAMIC = "news/today"


@cache
def _skills() -> dict[str, Any]:
    skills: dict[str, Any] = load_json(__file__)
    return skills


def front_matters() -> dict[str, dict[str, Any]]:
    """Return the front matter of each skill by its name."""
    return {name: skill["frontmatter"] for name, skill in _skills().items()}


def files_of(skill: str) -> dict[str, str | bytes]:
    """Return the files of a skill by path, in their order."""
    files: dict[str, str | bytes] = {path: "\n".join(lines) for path, lines in _skills()[skill]["files"].items()}
    if skill == "shop/order-lookup":
        files["assets/logo.png"] = picture(16, 16)
    return dict(sorted(files.items()))


def entry_of(skill: str) -> dict[str, Any]:
    """Return the entry of a skill: its front matter, and its files with size and digest."""
    from hashlib import sha256

    resources: Any = "dynamic"
    if skill != _DYNAMIC:
        resources = [
            {
                "uri": f"{SCHEME}{skill}/{path}",
                "digest": f"sha256:{sha256(bytes_of(content)).hexdigest()}",
                "size": len(bytes_of(content)),
            }
            for path, content in files_of(skill).items()
        ]
    return {"uri": f"{SCHEME}{skill}/SKILL.md", "frontmatter": front_matters()[skill], "resources": resources}


def read(uri: str) -> dict[str, Any] | None:
    """Return the contents of a file of a skill, or None."""
    content = _content_of(uri)
    return None if content is None else contents(uri, mime_of(uri), content)


def _content_of(uri: str) -> str | bytes | None:
    skill = skill_of(uri)
    return None if skill is None else files_of(skill).get(uri.removeprefix(f"{SCHEME}{skill}/"))


def skill_of(uri: str) -> str | None:
    """Return the skill that a URI belongs to, or None."""
    return next((skill for skill in _skills() if uri.startswith(f"{SCHEME}{skill}/")), None)
