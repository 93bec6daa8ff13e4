"""The extension io.modelcontextprotocol/skills (2026-07-28): two skills with digests, and a dynamic one."""

from __future__ import annotations

from inspector.demo.content import contents
from inspector.demo.paging import page_of, start_of
from inspector.demo.rpc import INVALID_PARAMS, RpcError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from inspector.demo.call import Call
    from inspector.demo.core import Handler

EXTENSION = "io.modelcontextprotocol/skills"
SETTINGS = {"directoryRead": True}
SCHEME = "skill://"
_PAGE = 2  # so that there are pages to read
_MOST_CHILDREN = 100

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
description: Tells what is new today. Its files change, so it has no list of them.
---
Read the clock first.
"""


def _logo() -> bytes:
    from inspector.demo.media import picture

    return picture(16, 16)


def _files(skill: str) -> dict[str, str | bytes]:
    """The files of a skill by path."""
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


_FRONT: dict[str, dict[str, Any]] = {
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
        "description": "Tells what is new today. Its files change, so it has no list of them.",
    },
}
_DYNAMIC = "news/today"
_MIMES = {"md": "text/markdown", "json": "application/json", "py": "text/x-python", "png": "image/png"}


def _bytes(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content


def _entry(skill: str) -> dict[str, Any]:
    from hashlib import sha256

    resources: Any = "dynamic"
    if skill != _DYNAMIC:
        resources = [
            {
                "uri": f"{SCHEME}{skill}/{path}",
                "digest": f"sha256:{sha256(_bytes(content)).hexdigest()}",
                "size": len(_bytes(content)),
            }
            for path, content in _files(skill).items()
        ]
    return {"uri": f"{SCHEME}{skill}/SKILL.md", "frontmatter": _FRONT[skill], "resources": resources}


def read(uri: str) -> dict[str, Any] | None:
    """Returns the contents of a file of a skill, or None."""
    found = _found(uri)
    return None if found is None else contents(uri, _mime_of(uri), found)


def _found(uri: str) -> str | bytes | None:
    skill = _skill_of(uri)
    return None if skill is None else _files(skill).get(uri.removeprefix(f"{SCHEME}{skill}/"))


def _skill_of(uri: str) -> str | None:
    return next((skill for skill in _FRONT if uri.startswith(f"{SCHEME}{skill}/")), None)


def _mime_of(uri: str) -> str:
    return _MIMES.get(uri.rpartition(".")[2], "text/plain")


def _list(call: Call) -> dict[str, Any]:
    start = start_of("skills", call.params.get("cursor"))
    entries = [_entry(skill) for skill in list(_FRONT)[start : start + _PAGE]]
    return page_of("skills", "skills", entries, start + _PAGE, len(_FRONT))


def _get(call: Call) -> dict[str, Any]:
    uri = call.text_param("uri")
    skill = _skill_of(uri)
    if skill is None or not uri.endswith("/SKILL.md"):
        raise RpcError(INVALID_PARAMS, "Not the SKILL.md of a skill of this server", {"uri": uri})
    return {"skill": _entry(skill)}


def _read_directory(call: Call) -> dict[str, Any]:
    uri = call.text_param("uri")
    children: dict[str, dict[str, Any]] = {}
    for skill in _FRONT:
        for path, content in _files(skill).items():
            whole = f"{SCHEME}{skill}/{path}"
            if whole.startswith(f"{uri}/"):
                name, slash, _ = whole.removeprefix(f"{uri}/").partition("/")
                child: dict[str, Any] = {"uri": f"{uri}/{name}", "name": name}
                child |= {"mimeType": "inode/directory"} if slash else _about(whole, content)
                children[name] = child
    if not children or uri == SCHEME.rstrip("/"):
        raise RpcError(INVALID_PARAMS, "Not a directory of a skill of this server", {"uri": uri})
    start = start_of(f"directory {uri}", call.params.get("cursor"))
    found = list(children.values())
    stop = start + _MOST_CHILDREN
    return page_of(f"directory {uri}", "resources", found[start:stop], stop, len(found))


def _about(uri: str, content: str | bytes) -> dict[str, Any]:
    about: dict[str, Any] = {"mimeType": _mime_of(uri), "size": len(_bytes(content))}
    skill = _skill_of(uri)
    if skill is not None and uri == f"{SCHEME}{skill}/SKILL.md":
        about |= {"name": _FRONT[skill]["name"], "description": _FRONT[skill]["description"]}
    return about


SKILL_HANDLERS: dict[str, Handler] = {
    "skills/list": _list,
    "skills/get": _get,
    "resources/directory/read": _read_directory,
}
