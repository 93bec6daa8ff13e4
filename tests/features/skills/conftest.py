"""A scripted server of skills, in memory: the tide table of the specification's examples."""

from __future__ import annotations

import base64
import copy
import hashlib
from collections.abc import Callable
from typing import Any

from inspector.client.session import Session
from inspector.protocol.extensions import SKILLS
from tests.client.conftest import make_session
from tests.client.modern import DISCOVERED, complete, modern

SKILL_MD = (
    b"---\nname: tide-table\ndescription: Reads a tide table and says when the boat can leave.\n"
    b"metadata:\n  owner: harbour\n---\nRead [the rules](references/RULES.md) first.\n"
)
RULES = b"Leave two hours before high water.\n"
ROOT = "skill://harbour/tide-table"
URI = f"{ROOT}/SKILL.md"
FRONT = {
    "name": "tide-table",
    "description": "Reads a tide table and says when the boat can leave.",
    "metadata": {"owner": "harbour"},
}


def listed(path: str, data: bytes, **other: Any) -> dict[str, Any]:
    """A file as an entry lists it."""
    return {"uri": f"{ROOT}/{path}", "digest": f"sha256:{hashlib.sha256(data).hexdigest()}", "size": len(data)} | other


def entry(*files: dict[str, Any], **other: Any) -> dict[str, Any]:
    """An entry of the tide table; by default with its two files."""
    resources = list(files) or [listed("SKILL.md", SKILL_MD), listed("references/RULES.md", RULES)]
    return copy.deepcopy({"uri": URI, "frontmatter": FRONT, "resources": resources} | other)


class SkillServer:
    """Answers skills/list, skills/get, resources/read and resources/directory/read, and counts what is read."""

    def __init__(self, *entries: Any, files: dict[str, bytes] | None = None, directory: bool = True) -> None:
        self.entries: list[Any] = list(entries) or [entry()]
        self.files = {"SKILL.md": SKILL_MD, "references/RULES.md": RULES} if files is None else files
        self.read: list[str] = []
        self.methods: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {}
        settings = {"directoryRead": True} if directory else {}
        self.declared: dict[str, Any] = {"resources": {}, "extensions": {SKILLS: settings}}

    def session(self, **options: Any) -> Session:
        """A session with this server, not open yet."""

        def answered(name: str) -> Callable[[dict[str, Any], Callable[[Any], None]], None]:
            def answer(message: dict[str, Any], reply: Callable[[Any], None]) -> None:
                given = self.methods.get(name, getattr(self, name))(message["params"])
                reply({"jsonrpc": "2.0", "id": message["id"], **given})

            return answer

        discovered = {**DISCOVERED, "capabilities": self.declared}
        scripted = modern(
            discovered, skills__list=answered("list"), skills__get=answered("get"), resources__read=answered("file"),
            resources__directory__read=answered("folder"),
        )  # fmt: skip
        self.scripted = scripted
        return make_session(scripted, era="modern", **options)

    def list(self, params: dict[str, Any]) -> dict[str, Any]:
        return {"result": complete(skills=self.entries, ttlMs=1000, cacheScope="public")}

    def get(self, params: dict[str, Any]) -> dict[str, Any]:
        item = next((item for item in self.entries if isinstance(item, dict) and item["uri"] == params["uri"]), None)
        if item is None:
            return {"error": {"code": -32602, "message": "unknown"}}
        return {"result": complete(skill=item, ttlMs=1000, cacheScope="public")}

    def file(self, params: dict[str, Any]) -> dict[str, Any]:
        path = params["uri"].removeprefix(f"{ROOT}/")
        self.read.append(path)
        if path not in self.files:
            return {"error": {"code": -32602, "message": "unknown"}}
        return {"result": complete(contents=[block(params["uri"], self.files[path])])}

    def folder(self, params: dict[str, Any]) -> dict[str, Any]:
        children: dict[str, dict[str, Any]] = {}
        for path in self.files:
            whole = f"{ROOT}/{path}"
            if whole.startswith(f"{params['uri']}/"):
                name, slash, _ = whole.removeprefix(f"{params['uri']}/").partition("/")
                mime = "inode/directory" if slash else "text/plain"
                children[name] = {"uri": f"{params['uri']}/{name}", "name": name, "mimeType": mime}
        if not children:
            return {"error": {"code": -32602, "message": "unknown"}}
        return {"result": complete(resources=list(children.values()))}


def block(uri: str, data: bytes) -> dict[str, Any]:
    """The contents of a file: text if it is UTF-8, else a blob."""
    try:
        return {"uri": uri, "text": data.decode()}
    except UnicodeDecodeError:
        return {"uri": uri, "blob": base64.b64encode(data).decode()}
