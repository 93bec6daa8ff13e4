"""A secret that the server repeats reaches no output and no file."""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.cli.conftest import Run, Script

pytestmark = pytest.mark.slow

SECRET = 'tok/en"é-Ab12cd34Ef56'
ENCODED = base64.b64encode(SECRET.encode()).decode()
QUOTED = quote(SECRET, safe="")
NESTED = json.dumps({"headers": json.dumps({"Authorization": f"Bearer {SECRET}"}), "url": f"https://h/?t={QUOTED}"})
TOOL = {
    "name": f"get-{SECRET}", "description": f"Uses {SECRET}.", "inputSchema": {"type": "object"},
}  # fmt: skip


@pytest.fixture
def server(script: Script, tmp_path: Path) -> list[str]:
    hello = {
        "protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "resources": {}},
        "serverInfo": {"name": f"shop {SECRET}", "version": SECRET}, "instructions": f"Log in with {QUOTED}.",
    }  # fmt: skip
    log = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": f"using {SECRET}"}}
    texts = [{"type": "text", "text": text} for text in (f"{SECRET}, {ENCODED}", NESTED)]
    answer = {"content": texts, "structuredContent": {SECRET: [QUOTED, NESTED]}}
    error = {"code": -32000, "message": f"bad token {SECRET}", "data": {"sent": ENCODED, "body": NESTED}}
    words = script(
        initialize={"result": hello}, tools__list={"result": {"tools": [TOOL]}},
        tools__call={"result": answer, "before": [log]}, resources__read={"error": error},
    )  # fmt: skip
    path = Path(words[-1])
    path.write_text(json.dumps(json.loads(path.read_text()) | {"log": str(tmp_path / "received")}))
    return ["--env", f"SHOP_TOKEN={SECRET}", *words]


def leaks(text: str) -> list[str]:
    return [form for form in ("Ab12cd34Ef56", "QWIxMmNkMzRFZj", "FiMTJjZDM0RWY1", "BYjEyY2QzNEVmN") if form in text]


@pytest.mark.parametrize("json_wanted", [(), ("--json",)])
@pytest.mark.parametrize(
    "words",
    [
        ("info",), ("tools",), ("call", TOOL["name"]), ("read", "shop://x"), ("request", "resources/read"),
        ("pin",), ("check",), ("doctor",), ("check", "--junit", "-"), ("check", "--sarif", "-"), ("check", "--html", "-"),
    ],
)  # fmt: skip
def test_no_output_and_no_state_file_has_it(
    run: Run, server: list[str], home: Path, words: tuple[str, ...], json_wanted: tuple[str, ...]
) -> None:
    if "-" in words and json_wanted:
        return
    ran = run(*words, *json_wanted, *server)
    assert ran.code in (0, 1, 5)
    assert leaks(ran.out + ran.err) == []
    assert "‹redacted " in ran.out + ran.err or words[0] in ("pin", "doctor") or words[1:]
    files = [path for path in home.rglob("*") if path.is_file()]
    assert files
    assert [(path, leaked) for path in files if (leaked := leaks(path.read_text("utf-8", "replace")))] == []


@pytest.mark.parametrize("cut", ["{}…", "{}...", "key {}", "<{}>", '{{"key": "{}", "ok": false}}'])
@pytest.mark.parametrize("json_wanted", [(), ("--json",)])
def test_a_secret_that_the_server_cuts_off_is_nowhere(
    run: Run, script: Script, home: Path, tmp_path: Path, cut: str, json_wanted: tuple[str, ...]
) -> None:
    text = cut.format("sk-live-Ab12cd34Ef56Gh")
    server = ("--env", "SHOP_TOKEN=sk-live-Ab12cd34Ef56Gh78Ij90", *script(
        tools__list={"result": {"tools": [{**TOOL, "name": "get", "description": text}]}},
        tools__call={"result": {"content": [{"type": "text", "text": text}], "structuredContent": {"said": text}}},
        resources__read={"error": {"code": -32000, "message": text, "data": {"said": [text]}}},
    ))  # fmt: skip
    path = tmp_path / "s.mcp.jsonl"
    for words in (("tools",), ("call", "get"), ("read", "shop://x"), ("check",)):
        ran = run(*words, *json_wanted, "--force", "--record", str(path), *server)
        assert ran.code in (0, 1, 5)
        exports = [run("export", str(path), "--to", to).out for to in ("md", "html", "json")]
        texts = [file.read_text("utf-8", "replace") for file in home.rglob("*") if file.is_file()]
        assert [output for output in (ran.out, ran.err, path.read_text(), *exports, *texts) if "Ab12" in output] == []


def test_a_pin_with_a_redacted_name_is_found_unchanged(run: Run, server: list[str]) -> None:
    assert run("pin", *server).code == 0
    assert "offers what was pinned" in run("pin", *server).out


def test_what_goes_back_to_the_server_is_what_it_sent(run: Run, server: list[str], tmp_path: Path) -> None:
    (tool,) = run("tools", "--json", *server).json["tools"]
    assert leaks(tool["name"]) == []
    run("call", TOOL["name"], *server)
    sent: list[Any] = [json.loads(line) for line in (tmp_path / "received").read_text().splitlines()]
    assert [one["params"]["name"] for one in sent if one.get("method") == "tools/call"] == [TOOL["name"]]


@pytest.mark.parametrize("json_wanted", [(), ("--json",)])
@pytest.mark.parametrize("stream", ["stderr", "stdout"])
def test_the_last_words_of_a_server_are_told_without_it(run: Run, stream: str, json_wanted: tuple[str, ...]) -> None:
    dies = f"import os, sys; print('cannot use', os.environ['SHOP_TOKEN'], file=sys.{stream}); sys.exit(3)"
    ran = run("info", *json_wanted, "--env", f"SHOP_TOKEN={SECRET}", "--", sys.executable, "-c", dies)
    assert ran.code == 4
    assert leaks(ran.out + ran.err) == []
    assert stream == "stdout" or "cannot use ‹redacted " in ran.err


@pytest.mark.parametrize("json_wanted", [(), ("--json",)])
def test_the_hint_that_repeats_the_command_line_is_without_it(run: Run, json_wanted: tuple[str, ...]) -> None:
    dies = [sys.executable, "-c", "import sys; sys.exit(3)", "--token", SECRET]
    ran = run("info", *json_wanted, "--env", f"SHOP_TOKEN={SECRET}", "--", *dies)
    assert ran.code == 4
    assert leaks(ran.out + ran.err) == []
    assert "--token '***'" in ran.err


KEY = [
    "-----BEGIN RSA PRIVATE KEY-----",
    *(f"MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQCRnoI1ZnTHQ{n:03}" for n in range(30)),
    "lxRPj2Oa==",
    "-----END RSA PRIVATE KEY-----",
]
DIES = """
import pathlib, sys, time
printed = pathlib.Path(__file__).with_name("printed").read_text()
print(printed, file=sys.stderr)
print(printed)
time.sleep(0.1)
sys.exit(3)
"""


@pytest.mark.parametrize("after", [0, 2])
@pytest.mark.parametrize(
    "words",
    [
        ("info",), ("tools", "--json"), ("doctor",), ("doctor", "--paste"), ("doctor", "--json"), ("check",),
        ("check", "--json"), ("check", "--html", "-"), ("check", "--markdown", "-"), ("tap",),
    ],
)  # fmt: skip
def test_a_private_key_that_a_server_prints_is_nowhere(
    run: Run, home: Path, tmp_path: Path, words: tuple[str, ...], after: int
) -> None:
    (tmp_path / "printed").write_text("\n".join([*KEY, *["the last line"] * after]))
    (tmp_path / "dies.py").write_text(DIES)
    path = tmp_path / "s.mcp.jsonl"
    ran = run(*words, "--record", str(path), "--", sys.executable, str(tmp_path / "dies.py"))
    assert ran.code != 0
    texts = [file.read_text("utf-8", "replace") for file in home.rglob("*") if file.is_file()]
    if words != ("tap",):  # It passes everything on.
        texts += [ran.out, ran.err]
    if words[0] != "doctor":
        texts += [path.read_text(), *(run("export", str(path), "--to", to).out for to in ("md", "html", "json"))]
    for text in texts:
        assert not [line for line in KEY if line[:64] in text or line in text.split()]
    assert not after or "the last line" in "".join(texts)
