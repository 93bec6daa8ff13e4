"""The extension io.modelcontextprotocol/skills (2026-07-28): two skills with digests, and a dynamic one."""

from __future__ import annotations

from inspector.demo.content import bytes_of, mime_of
from inspector.demo.paging import page_of, start_of
from inspector.demo.parts import DemoPart
from inspector.demo.rpc import INVALID_PARAMS, RpcError
from inspector.features.skills.demo_files import SCHEME, entry_of, files_of, front_matters, read, skill_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from inspector.demo.call import ClientRequest, Handler

EXTENSION = "io.modelcontextprotocol/skills"
SETTINGS = {"directoryRead": True}
_PAGE = 2  # so that there are pages to read
_MAX_CHILDREN = 100


def _list(call: ClientRequest) -> dict[str, Any]:
    start = start_of("skills", call.params.get("cursor"))
    entries = [entry_of(skill) for skill in list(front_matters())[start : start + _PAGE]]
    return page_of("skills", "skills", entries, start + _PAGE, len(front_matters()))


def _get(call: ClientRequest) -> dict[str, Any]:
    uri = call.text_param("uri")
    skill = skill_of(uri)
    if skill is None or not uri.endswith("/SKILL.md"):
        raise RpcError(INVALID_PARAMS, "Not the SKILL.md of a skill of this server", {"uri": uri})
    return {"skill": entry_of(skill)}


def _read_directory(call: ClientRequest) -> dict[str, Any]:
    uri = call.text_param("uri")
    children: dict[str, dict[str, Any]] = {}
    for skill in front_matters():
        for path, content in files_of(skill).items():
            whole = f"{SCHEME}{skill}/{path}"
            if whole.startswith(f"{uri}/"):
                name, slash, _ = whole.removeprefix(f"{uri}/").partition("/")
                child: dict[str, Any] = {"uri": f"{uri}/{name}", "name": name}
                child |= {"mimeType": "inode/directory"} if slash else _about(whole, content)
                children[name] = child
    if not children or uri == SCHEME.rstrip("/"):
        raise RpcError(INVALID_PARAMS, "Not a directory of a skill of this server", {"uri": uri})
    start = start_of(f"directory {uri}", call.params.get("cursor"))
    resources = list(children.values())
    stop = start + _MAX_CHILDREN
    return page_of(f"directory {uri}", "resources", resources[start:stop], stop, len(resources))


def _about(uri: str, content: str | bytes) -> dict[str, Any]:
    about: dict[str, Any] = {"mimeType": mime_of(uri), "size": len(bytes_of(content))}
    skill = skill_of(uri)
    if skill is not None and uri == f"{SCHEME}{skill}/SKILL.md":
        front = front_matters()[skill]
        about |= {"name": front["name"], "description": front["description"]}
    return about


SKILL_HANDLERS: dict[str, Handler] = {
    "skills/list": _list,
    "skills/get": _get,
    "resources/directory/read": _read_directory,
}

DEMO = DemoPart(
    EXTENSION,
    settings=SETTINGS,
    handlers=SKILL_HANDLERS,
    fresh={"skills/list": 60_000, "skills/get": 60_000},
    read=read,
)
