"""The skills of the demo: their files, and their entries."""

from __future__ import annotations

from inspector.demo.content import contents

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SCHEME = "skill://"

_ORDERS = """---
name: order-lookup
description: Finds an order and says where it is. Use it when the user asks about a delivery.
license: Apache-2.0
allowed-tools: list-orders export-orders
metadata:
  version: "2.0.1"
---
# Order lookup

1. Call `list-orders` with the number of the order.
2. Say the status in one sentence. The words are in [the table](references/STATUS.md).
"""
_STATUS = """# Status words

| Status | Say |
|---|---|
| packed | It is packed and leaves today. |
| sent | It is on its way. |
"""
_COUNTRIES = '{"countries": ["it", "jp", "no", "pe"]}\n'
_TOTAL = "import json\nimport sys\n\nprint(sum(row['price'] for row in json.load(sys.stdin)))\n"
_TABLES = """---
name: tide-table
description: Reads a tide table and says when the boat can leave.
metadata:
  owner: harbour
---
Read [the rules](references/RULES.md) first.
"""
_RULES = "Leave two hours before high water.\n"
_TODAY = """---
name: today
description: Tells what is new today.
---
Read the clock first.
"""


def _logo() -> bytes:
    from inspector.demo.content import picture

    return picture(16, 16)


def files_of(skill: str) -> dict[str, str | bytes]:
    """Returns the files of a skill by path."""
    if skill == "shop/order-lookup":
        return {
            "SKILL.md": _ORDERS,
            "assets/logo.png": _logo(),
            "references/STATUS.md": _STATUS,
            "references/countries.json": _COUNTRIES,
            "scripts/total.py": _TOTAL,
        }
    return (
        {"SKILL.md": _TABLES, "references/RULES.md": _RULES} if skill == "harbour/tide-table" else {"SKILL.md": _TODAY}
    )


FRONT: dict[str, dict[str, Any]] = {
    "shop/order-lookup": {
        "name": "order-lookup",
        "description": "Finds an order and says where it is. Use it when the user asks about a delivery.",
        "license": "Apache-2.0",
        "allowed-tools": "list-orders export-orders",
        "metadata": {"version": "2.0.1"},
    },
    "harbour/tide-table": {
        "name": "tide-table",
        "description": "Reads a tide table and says when the boat can leave.",
        "metadata": {"owner": "harbour"},
    },
    "news/today": {
        "name": "today",
        "description": "Tells what is new today.",
    },
}
_DYNAMIC = "news/today"
_MIMES = {"md": "text/markdown", "json": "application/json", "py": "text/x-python", "png": "image/png"}


def bytes_of(content: str | bytes) -> bytes:
    """Returns the bytes of a file."""
    return content.encode() if isinstance(content, str) else content


def entry_of(skill: str) -> dict[str, Any]:
    """Returns the entry of a skill: its front matter, and its files with size and digest."""
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
    return {"uri": f"{SCHEME}{skill}/SKILL.md", "frontmatter": FRONT[skill], "resources": resources}


def read(uri: str) -> dict[str, Any] | None:
    """Returns the contents of a file of a skill, or None."""
    found = _found(uri)
    return None if found is None else contents(uri, mime_of(uri), found)


def _found(uri: str) -> str | bytes | None:
    skill = skill_of(uri)
    return None if skill is None else files_of(skill).get(uri.removeprefix(f"{SCHEME}{skill}/"))


def skill_of(uri: str) -> str | None:
    """Returns the skill that a URI belongs to, or None."""
    return next((skill for skill in FRONT if uri.startswith(f"{SCHEME}{skill}/")), None)


def mime_of(uri: str) -> str:
    """Returns the media type of a file."""
    return _MIMES.get(uri.rpartition(".")[2], "text/plain")
