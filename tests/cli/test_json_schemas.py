"""The JSON Schema of each verb's `--json` in docs/schemas/verbs, against what the verb prints."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from inspector.cli import verbs
from inspector.cli.options import JSON
from inspector.cli.verb import load
from inspector.protocol.validation import Validator
from tests.cli.conftest import Run

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "schemas" / "verbs"
SCHEMAS = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))}
MEMBERS: dict[str, Any] = SCHEMAS.pop("members")
OF_THE_PROTOCOL = {"cacheScope", "isError", "nextCursor", "resourceTemplates", "structuredContent", "ttlMs"}
"""Members that a server wrote, or that are named as in the list of the protocol."""
RECORDED = str(ROOT / "recordings" / "demo-tour.mcp.jsonl")
DEMO = ["--", sys.executable, "-m", "inspector.demo"]
FLOW = "inspector: 1\nsteps:\n  - call: add\n    args: {a: 1, b: 2}\n    expect:\n      result: {$.structuredContent.sum: 4}\n"

CASES: dict[str, list[list[str]]] = {
    "apps": [["apps", "--extension", "ui", *DEMO], ["apps", "--extension", "ui", RECORDED]],
    "bundle": [["bundle", RECORDED, "-o", "b.mcp.jsonl"]],
    "call": [["call", "add", "a=1", "b=2", *DEMO], ["call", "fail", *DEMO]],
    "check": [
        ["check", "--only", "lifecycle", "--revision", "2025-11-25", *DEMO],
        ["check", "--only", "lifecycle", RECORDED],
        ["check", "--plan", *DEMO],
        ["check", "--only", "lifecycle", "--revision", "2025-11-25", "--yes", "@one", "@two"],
    ],
    "complete": [["complete", "template", "demo://items/{id}", "id", "1", *DEMO]],
    "context": [
        ["context", "--host", "all", *DEMO],
        ["context", "--budget", "10", "--against", RECORDED, RECORDED],
        ["context", "--tool", "add", RECORDED],
    ],
    "diff": [["diff", RECORDED, str(ROOT / "recordings" / "demo-http.mcp.jsonl")], ["diff", RECORDED, RECORDED]],
    "doctor": [
        ["doctor", *DEMO],
        ["doctor", "--", sys.executable, "-c", "raise SystemExit(3)"],
        ["doctor", RECORDED],
        ["doctor", "--host", "all"],
    ],
    "error": [
        ["call", "nope", *DEMO],
        ["tools", "--", sys.executable, "-c", "import sys; sys.exit('no')"],
        ["run", "broken.yaml", *DEMO],
        ["tools", "@unknown"],
    ],
    "events": [["events", *DEMO], ["events", "--follow", "clock.ticked", "--for", "1.2s", *DEMO]],
    "export": [
        ["export", RECORDED, "--to", "md"],
        ["export", RECORDED, "--to", "json"],
        ["export", RECORDED, "-o", "x.md"],
    ],
    "import": [["import", "archive.har", "-o", "i.mcp.jsonl"]],
    "info": [["info", *DEMO], ["info", "--era", "both", *DEMO], ["info", RECORDED]],
    "listen": [["listen", "--resource", "demo://clock", "--for", "1.2s", *DEMO]],
    "load": [
        ["load", "add", "a=1", "b=2", "--for", "0.3s", "--warmup", "0s", "--fail-on", "p99>1us", *DEMO],
        ["load", "fail", "--users", "1", "--for", "0.2s", "--warmup", "0s", "--allow-calls", "all", *DEMO],
    ],
    "pin": [["pin", *DEMO], ["pin", *DEMO], ["pin"], ["pin", "--show", *DEMO], ["pin", "--remove", *DEMO]],
    "prompt": [["prompt", "greet", *DEMO]],
    "prompts": [["prompts", *DEMO]],
    "read": [["read", "demo://readme", *DEMO]],
    "recordings": [
        ["recordings"],
        ["recordings", "--calls", "*"],
        ["recordings", "--keep", "LAST"],
        ["recordings", "--release", "LAST"],
        ["recordings", "--prune", "--older", "1d", "--dry-run"],
    ],
    "redact": [["redact", RECORDED], ["redact", "--check", RECORDED]],
    "request": [["request", "tools/list", *DEMO], ["request", "notifications/x", *DEMO]],
    "rerun": [["rerun", "one.mcp.jsonl", *DEMO], ["rerun", RECORDED, *DEMO]],
    "resources": [["resources", "--page-limit", "1", *DEMO]],
    "run": [["run", "flow.yaml", *DEMO]],
    "servers": [["servers"], ["servers", "--schema"]],
    "settings": [["settings"], ["settings", "--schema"]],
    "skills": [["skills", *DEMO], ["skills", "--verify", *DEMO], ["skills", RECORDED]],
    "stats": [["stats", RECORDED]],
    "templates": [["templates", *DEMO]],
    "tools": [["tools", *DEMO], ["tools", RECORDED]],
}
"""By schema, the command lines whose output has its form. Some need those before them."""
ELSEWHERE = {
    "login": "tests/cli/test_login.py",
    "logout": "tests/cli/test_login.py",
    "serve": "tests/cli/test_serve.py",
}
"""Verbs that need another side: the file whose tests validate their output."""


def faults(schema: str, text: str) -> list[str]:
    """Return the faults of a document, or of several in a line each."""
    validator = Validator(SCHEMAS[schema])
    lines = text.splitlines() if schema in ("listen", "events") else [text]
    return [str(fault) for line in lines for fault in validator.errors(json.loads(line))]


@pytest.fixture
def folder(home: Path, run: Run) -> Path:
    entry = {"command": DEMO[1], "args": DEMO[2:]}
    (home / "inspector.json").write_text(json.dumps({"servers": {"one": entry, "two": entry}}), encoding="utf-8")
    (home / ".mcp.json").write_text(json.dumps({"mcpServers": {"three": {"url": "https://host.example/mcp"}}}))
    (home / "flow.yaml").write_text(FLOW, encoding="utf-8")
    (home / "broken.yaml").write_text("inspector: 1\nsteps: [{cal: add}]\n", encoding="utf-8")
    return home


@pytest.mark.slow
@pytest.mark.parametrize("schema", CASES)
def test_the_output_of_a_verb_has_the_form_of_its_schema(run: Run, folder: Path, schema: str) -> None:
    if schema in ("recordings", "rerun"):
        run("call", "add", "a=1", "b=2", *DEMO)
        run("call", "add", "a=1", "b=2", "--record", "one.mcp.jsonl", *DEMO)
    if schema == "import":
        run("export", RECORDED, "-o", "archive.har")
    for words in CASES[schema]:
        last = next(iter((folder / "recordings").glob("*.jsonl")), folder)
        ran = run(*(last.name if word == "LAST" else word for word in words[:1]), "--json", *(
            last.name if word == "LAST" else word for word in words[1:]
        ))  # fmt: skip
        printed = ran.err if schema == "error" else ran.out
        assert printed, (words, ran)
        assert faults(schema, printed) == [], words


def test_every_verb_that_prints_json_has_a_schema() -> None:
    printing = {name for name in verbs.summaries() if JSON in load(name).options}
    assert printing | {"error"} == set(SCHEMAS)
    assert set(CASES) | set(ELSEWHERE) == set(SCHEMAS)
    for file in ELSEWHERE.values():
        assert "test_json_schemas" in (ROOT / file).read_text(encoding="utf-8")


def properties(node: Any) -> Iterator[tuple[str, Any]]:
    """Every property of every object in a schema."""
    if isinstance(node, dict):
        members = node.get("properties")
        if isinstance(members, dict):
            yield from members.items()
        for value in node.values():
            yield from properties(value)
    elif isinstance(node, list):
        for value in node:
            yield from properties(value)


@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_shared_member_has_one_meaning_and_every_member_is_in_snake_case(schema: str) -> None:
    document = SCHEMAS[schema]
    for name, meaning in properties(document):
        assert name in OF_THE_PROTOCOL or re.fullmatch(r"[a-z0-9_]+|p99\.9|\$schema|only-[ab]", name), name
        if name in MEMBERS:
            assert meaning["$ref"] == f"#/$defs/{name}", name
    for name, meaning in document.get("$defs", {}).items():
        assert name[0].isupper() or meaning == MEMBERS[name]


def test_the_page_lists_the_shared_members_and_every_code() -> None:
    from tests.cli.json_page import PAGE, codes, written

    page = PAGE.read_text(encoding="utf-8")
    assert page == written(page), "run: python -m tests.cli.json_page"
    assert len(codes()) > 20
