"""Collections of API clients, made into saved calls."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from inspector.calls.collection import Collection
from inspector.calls.variables import Variables, check
from inspector.cli.main import run
from inspector.errors import UsageError
from inspector.features.api_clients.saved_calls import ImportedCalls, import_calls, recognised_client

SECRET = "s3cr3t-0123456789abcdef"


def rpc(method: str, params: Any = None, **more: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method} | ({"params": params} if params is not None else {}) | more


def postman(*items: Any, **more: Any) -> dict[str, Any]:
    schema = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
    return {"info": {"name": "Shop server", "schema": schema}, "item": list(items), **more}


def posted(name: str, body: Any, **more: Any) -> dict[str, Any]:
    raw = body if isinstance(body, str) else json.dumps(body, indent=2)
    url = {"raw": "{{baseUrl}}/mcp", "host": ["{{baseUrl}}"], "path": ["mcp"]}
    return {"name": name, "request": {"method": "POST", "url": url, "body": {"mode": "raw", "raw": raw}, **more}}


POSTMAN = postman(
    posted("Open", rpc("initialize", {"protocolVersion": "2025-06-18"})),
    {
        "name": "Orders",
        "item": [
            posted(
                "Create an order",
                '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create-order",'
                '"arguments":{"count": {{count}}, "sku": "{{sku}}", "ref": "{{$guid}}", "password": "'
                + SECRET
                + '"}}}',
                header=[
                    {"key": "Content-Type", "value": "application/json"},
                    {"key": "X-Api-Key", "value": SECRET},
                    {"key": "X-Team", "value": "blue"},
                    {"key": "X-Off", "value": "1", "disabled": True},
                ],
                auth={"type": "bearer", "bearer": [{"key": "token", "value": "{{token}}"}]},
            ),
            posted("Its lines", rpc("resources/read", {"uri": "order://{{order id}}/lines"})),
            {"name": "Health", "request": {"method": "GET", "url": "{{baseUrl}}/health"}},
        ],
    },
    posted("Stop", {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
    posted("Form", "a=b"),
    variable=[
        {"key": "baseUrl", "value": "https://{{host}}"},
        {"key": "host", "value": "shop.example"},
        {"key": "count", "value": "2"},
        {"key": "sku", "value": "A-1"},
        {"key": "token", "value": SECRET, "type": "secret"},
    ],
)


def read(
    folder: Path, environment: str | None = None, environ: dict[str, str] | None = None, **values: str
) -> dict[str, Any]:
    """By name of the file, each flow with its variables inserted."""
    collection = Collection.read([folder])
    assert not collection.ignored
    chosen = [collection.environment(environment)] if environment else []
    inserted = {}
    for flow in collection.flows:
        check(flow, [*values, *(name for source in chosen for name in source.names)])
        variables = Variables.for_flow(flow, chosen, values, seed=1, environ=environ or {})
        inserted[flow.path.relative_to(folder).as_posix()] = variables.insert(flow.located.value)
    return inserted


def written(folder: Path) -> str:
    return "\n".join(file.read_text() for file in sorted(folder.rglob("*.yaml")))


def imported(tmp_path: Path, content: Any, name: str = "c.json", format: str = "postman") -> ImportedCalls:
    file = tmp_path / name
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    assert recognised_client(file) == format
    return import_calls(file, tmp_path / "calls", format)


def test_a_postman_collection_becomes_flows(tmp_path: Path) -> None:
    made = imported(tmp_path, POSTMAN)
    assert (made.flows, made.steps) == (1, 2)
    environ = {"IMPORTED_SHOP_SERVER_PASSWORD": "p", "IMPORTED_SHOP_SERVER_TOKEN": "t"}
    (flow,) = read(tmp_path / "calls", "imported", environ, order_id="o-1").values()
    assert flow["server"] == "https://shop.example/mcp"
    first, second = flow["steps"]
    assert first["call"] == "create-order"
    assert first["name"] == "Create an order"
    assert len(first["args"].pop("ref")) == 36
    assert first["args"] == {"count": 2, "sku": "A-1", "password": "p"}
    assert first["headers"] == {"Authorization": "Bearer t", "X-Api-Key": "p", "X-Team": "blue"}
    assert second == {"name": "Its lines", "read": "order://o-1/lines"}


def test_no_secret_of_a_collection_is_written(tmp_path: Path) -> None:
    made = imported(tmp_path, POSTMAN)
    assert SECRET not in written(tmp_path / "calls")
    assert (tmp_path / "calls" / "env" / "imported.yaml").read_text().splitlines()[1:] == [
        "password: env:IMPORTED_SHOP_SERVER_PASSWORD",
        "token: env:IMPORTED_SHOP_SERVER_TOKEN",
    ]
    assert made.notes[2:] == [
        "Secrets are not written: set IMPORTED_SHOP_SERVER_PASSWORD, IMPORTED_SHOP_SERVER_TOKEN. A run with --environment imported sends "
        "them to https://shop.example/mcp.",
        "Variables without a value: order_id. Give them with --set, or in an environment.",
    ]


def test_what_is_not_a_request_of_mcp_is_counted(tmp_path: Path) -> None:
    made = imported(tmp_path, POSTMAN)
    assert "Left out: 2 session messages, 2 non-MCP requests." in made.notes


def test_a_folder_of_postman_with_requests_of_mcp(tmp_path: Path) -> None:
    folder = tmp_path / "Shop"
    (folder / "Orders" / ".resources").mkdir(parents=True)
    (folder / "Orders" / ".resources" / "definition.yaml").write_text("$kind: collection\nname: Orders\n")
    (folder / "Orders" / "b.request.yaml").write_text(
        "$kind: mcp-request\ntransport: stdio\ncommand: uvx shop --token " + SECRET + "\nenv:\n  API_KEY: '{{KEY}}'\n"
        'message: |-\n  {"method": "tools/call", "params": {"name": "pay", "arguments": {"day": "2026-01-01"}}}\norder: 1\n'
    )
    (folder / "Orders" / "a.request.yaml").write_text(
        "$kind: mcp-request\ntransport: stdio\ncommand: uvx shop --token "
        + SECRET
        + '\nmessage: \'{"method":"tools/list"}\'\norder: 2\n'
    )
    (folder / "x.request.yaml").write_text("$kind: graphql-request\nurl: https://x.example\n")
    (folder / "dev.environment.yaml").write_text("name: Dev\nvalues:\n  - {key: KEY, value: v, type: secret}\n")
    assert recognised_client(folder) == "postman"
    made = import_calls(folder, tmp_path / "calls", "postman")
    environ = {"IMPORTED_SHOP_SERVER_SECRET": "s", "IMPORTED_SHOP_KEY": "k"}
    assert read(tmp_path / "calls", "imported", environ) == {
        "orders.yaml": {
            "inspector": 1,
            "name": "Orders",
            "server": "uvx shop --token s",
            "steps": [
                {"name": "b", "call": "pay", "args": {"day": "2026-01-01"}},
                {"name": "a", "request": "tools/list"},
            ],
        }
    }
    assert (tmp_path / "calls" / "env" / "dev.yaml").read_text() == "KEY: env:IMPORTED_SHOP_KEY\n"
    assert SECRET not in written(tmp_path / "calls")
    assert any("1 graphql request" in note for note in made.notes)


COMMENTED = """{
  // the "second page, without { what is never sent }}
  "jsonrpc": "2.0", "id": 3, "method": "tools/call", /* "id": {{unused}}, */
  "params": {"name": "list", "arguments": {"page": {{page}}, "at": "https://x/* a, ] */", "tags": ["a", ], /* {{size}} */ },},
}"""
COMMENTED_STEP = {"call": "list", "args": {"page": 2, "at": "https://x/* a, ] */", "tags": ["a"]}}


@pytest.mark.parametrize("client", ["postman", "bruno", "insomnia"])
def test_comments_and_trailing_commas_of_a_body_are_not_sent(tmp_path: Path, client: str) -> None:
    url, values = "https://x.example/mcp", [{"name": "page", "key": "page", "value": 2}]
    request = {"url": url, "method": "POST", "body": {"type": "json", "data": COMMENTED, "text": COMMENTED}}
    bundle = {"opencollection": "1.0.0", "info": {"name": "Shop"}, "request": {"variables": values}}
    bundle["items"] = [{"info": {"name": "list", "type": "http"}, "http": request}]
    saved = {"type": "collection.insomnia.rest/5.0", "name": "Shop", "collection": [{"name": "list", **request}]}
    saved["environments"] = {"data": {"page": 2}}
    item = {"name": "list", "request": {"method": "POST", "url": url, "body": {"mode": "raw", "raw": COMMENTED}}}
    content, name = {
        "postman": (postman(item, variable=values), "c.json"),
        "bruno": (yaml.safe_dump(bundle), "c.yml"),
        "insomnia": (yaml.safe_dump(saved), "c.yaml"),
    }[client]
    made = imported(tmp_path, content, name, client)
    (flow,) = read(tmp_path / "calls").values()
    assert (flow["steps"], made.notes) == ([COMMENTED_STEP], [])


@pytest.mark.parametrize("body", ["// nothing", '{"jsonrpc": "2.0", "method": "x" /* open', "/* a */ ,", "[1, // a\n]"])
def test_a_body_of_comments_is_not_a_request_of_mcp(tmp_path: Path, body: str) -> None:
    made = imported(tmp_path, postman(posted("good", rpc("tools/list")), posted("bad", body)))
    assert made.steps == 1
    assert "Left out: 1 non-MCP request." in made.notes


BRUNO = {
    "opencollection.yml": "opencollection: 1.0.0\ninfo:\n  name: Shop\n",
    "environments/local.yml": "name: local\nvariables:\n  - name: baseUrl\n    value: http://127.0.0.1:1\n"
    "  - name: apiToken\n    value: " + SECRET + "\n    secret: true\n",
    "Orders/create.yml": "info:\n  name: Create\n  type: http\n  seq: 2\nhttp:\n  method: POST\n  url: '{{baseUrl}}/mcp'\n"
    "  headers:\n    - name: X-Token\n      value: '{{apiToken}}'\n  body:\n    type: json\n    data: |-\n"
    '      {"jsonrpc":"2.0","id":"a","method":"prompts/get","params":{"name":"greet","arguments":{"who":"no"}}}\n'
    "settings:\n  encodeUrl: true\n",
    "Orders/first.yml": "info:\n  name: First\n  type: http\n  seq: 1\nhttp:\n  method: post\n  url: '{{baseUrl}}/mcp'\n"
    '  body:\n    type: json\n    data: \'{"jsonrpc":"2.0","method":"notifications/x","params":{"n":1}}\'\n'
    "runtime:\n  scripts:\n    - type: tests\n      code: x\n",
    "Orders/folder.yml": "info:\n  name: Orders\n  type: folder\n",
    "ping.yml": "info: {name: Ping, type: http, seq: 1}\nhttp: {method: GET, url: 'https://x.example'}\n",
    "call.yml": "info: {name: Call, type: grpc}\ngrpc: {url: x}\n",
    "old.bru": "meta {\n}\n",
}  # fmt: skip


def test_a_folder_of_bruno(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    for name, content in BRUNO.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    assert recognised_client(folder) == "bruno"
    made = import_calls(folder, tmp_path / "calls", "bruno")
    assert read(tmp_path / "calls", "local", {"IMPORTED_SHOP_API_TOKEN": "t"}) == {
        "orders.yaml": {
            "inspector": 1,
            "name": "Orders",
            "server": "http://127.0.0.1:1/mcp",
            "steps": [
                {"name": "First", "notify": "notifications/x", "params": {"n": 1}},
                {"name": "Create", "prompt": "greet", "args": {"who": "no"}, "headers": {"X-Token": "t"}},
            ],
        }
    }
    assert SECRET not in written(tmp_path / "calls")
    note = next(note for note in made.notes if note.startswith("Left out"))
    for part in ("1 grpc request", "1 non-MCP request", "1 script", "1 .bru file"):
        assert part in note


def test_one_file_of_bruno(tmp_path: Path) -> None:
    made = imported(
        tmp_path,
        "opencollection: 1.0.0\ninfo: {name: Shop}\nbundled: true\nitems:\n- info: {name: Orders}\n  items:\n"
        "  - info: {name: Ask, type: http}\n    http:\n      method: POST\n      url: https://x.example/mcp\n"
        '      body: {type: json, data: \'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}\'}\n',
        "shop.yml",
        "bruno",
    )
    assert made.steps == 1
    assert read(tmp_path / "calls")["orders.yaml"]["steps"] == [{"name": "Ask", "call": "a"}]


def test_a_file_of_insomnia(tmp_path: Path) -> None:
    made = imported(
        tmp_path,
        "type: collection.insomnia.rest/5.0\nschema_version: '5.1'\nname: Shop\nmeta: {id: wrk_1, created: 1746022396}\n"
        "collection:\n- name: env\n  meta: {id: fld_1}\n  children:\n"
        "  - url: '{{ _.base.url }}/mcp'\n    name: Deep\n    method: POST\n    meta: {id: req_1}\n"
        "    headers: [{name: X-Day, value: 2026-01-01}]\n    body:\n      mimeType: application/json\n"
        '      text: |-\n        {"jsonrpc": "2.0", "id": 1, "method": "tools/call",\n'
        '         "params": {"name": "add", "arguments": {"a": {{ _.a }}, "b": "{{ _.b }}"}}}\n'
        "- name: second\n  url: https://x.example/mcp\n  method: POST\n  meta: {id: req_2, sortKey: -1}\n"
        '  body: {text: \'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\'}\n'
        "- name: first\n  url: https://x.example/mcp\n  method: POST\n  meta: {id: req_3, sortKey: -2}\n"
        '  body: {text: \'{"jsonrpc":"2.0","id":1,"method":"prompts/list"}\'}\n'
        "- name: stream\n  meta: {id: ws-req_1}\n  url: wss://x.example\n"
        "environments:\n  name: Base\n  data: {base: {url: 'https://x.example'}, a: 7, b: no}\n"
        "  subEnvironments: [{name: Local dev, data: {base: {url: 'http://127.0.0.1:1'}}}]\n",
        "shop.yaml",
        "insomnia",
    )
    flows = read(tmp_path / "calls")
    assert [step["name"] for step in flows.pop("shop.yaml")["steps"]] == ["first", "second"]
    assert flows == {
        "env.yaml": {
            "inspector": 1,
            "name": "env",
            "server": "https://x.example/mcp",
            "vars": {"base_url": "https://x.example", "a": 7, "b": "no"},
            "steps": [{"name": "Deep", "call": "add", "args": {"a": 7, "b": "no"}, "headers": {"X-Day": "2026-01-01"}}],
        }
    }
    assert read(tmp_path / "calls", "local-dev")["env.yaml"]["server"] == "http://127.0.0.1:1/mcp"
    assert "Left out: 1 WebSocket request." in made.notes


def test_an_mcp_client_of_insomnia_has_no_calls(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"has no MCP request: 1 MCP client"):
        imported(
            tmp_path, "type: mcpClient.insomnia/5.0\nname: Tools\nmcpRequest: {url: 'https://x.example/mcp'}\n",
            "tools.yaml", "insomnia",
        )  # fmt: skip


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    imported(tmp_path, POSTMAN)
    before = {file: file.read_bytes() for file in (tmp_path / "calls").rglob("*.yaml")}
    (tmp_path / "calls" / "env" / "imported.yaml").write_text("mine: 1\n")
    (tmp_path / "calls" / "orders.yaml").unlink()
    with pytest.raises(UsageError, match=r"imported\.yaml already exists"):
        imported(tmp_path, POSTMAN)
    assert not (tmp_path / "calls" / "orders.yaml").exists(), "no file is written where one of them exists"
    assert set(before) == {tmp_path / "calls" / "orders.yaml", tmp_path / "calls" / "env" / "imported.yaml"}


def test_folders_that_are_named_alike_and_one_server_more(tmp_path: Path) -> None:
    other = posted("b", rpc("tools/list"))
    other["request"]["url"] = "https://other.example/mcp"
    folder = {"name": "A/b", "item": [posted("a", rpc("tools/list")), other]}
    env = {"name": "env", "item": [{"name": "x", "item": [posted("c", rpc("tools/list"))]}]}
    imported(tmp_path, postman(folder, {**folder, "name": "a b"}, env))
    names = sorted(file.relative_to(tmp_path / "calls").as_posix() for file in (tmp_path / "calls").rglob("*.yaml"))
    assert names == ["a-b-2.yaml", "a-b-3.yaml", "a-b-4.yaml", "a-b.yaml", "env-x.yaml"]


PLACES = {"zone": "file:~/.vault-token", "region": "env:AWS_SECRET_ACCESS_KEY", "ring": "keyring:vault/me"}
"""Texts that are the places of secrets in an environment of ours."""
CALL = json.dumps(rpc("tools/call", {"name": "t", "arguments": {name: f"{{{{{name}}}}}" for name in PLACES}}))


def _postman(folder: Path) -> None:
    values = [{"key": name, "value": value} for name, value in PLACES.items()]
    (folder / "dev.environment.yaml").write_text(yaml.safe_dump({"name": "dev", "values": values}))
    request = {"$kind": "mcp-request", "url": "https://shop.example/mcp", "message": CALL}
    (folder / "a.request.yaml").write_text(yaml.safe_dump(request))


def _bruno(folder: Path) -> None:
    values = [{"name": name, "value": value} for name, value in PLACES.items()]
    (folder / "environments").mkdir()
    (folder / "environments" / "dev.yml").write_text(yaml.safe_dump({"name": "dev", "variables": values}))
    (folder / "opencollection.yml").write_text("opencollection: 1.0.0\ninfo: {name: Shop}\n")
    http = {"method": "POST", "url": "https://shop.example/mcp", "body": {"type": "json", "data": CALL}}
    (folder / "a.yml").write_text(yaml.safe_dump({"info": {"name": "A", "type": "http"}, "http": http}))


def _insomnia(folder: Path) -> None:
    request = {"url": "https://shop.example/mcp", "name": "A", "method": "POST", "body": {"text": CALL}}
    environments = {"name": "Base", "data": {}, "subEnvironments": [{"name": "dev", "data": PLACES}]}
    content = {"type": "collection.insomnia.rest/5.0", "name": "Shop"}
    (folder / "shop.yaml").write_text(
        yaml.safe_dump({**content, "collection": [request], "environments": environments})
    )


@pytest.mark.parametrize("client", [_postman, _bruno, _insomnia], ids=lambda client: client.__name__.strip("_"))
def test_no_text_of_a_collection_names_a_secret_of_the_user(tmp_path: Path, client: Callable[[Path], None]) -> None:
    folder = tmp_path / "Shop"
    folder.mkdir()
    client(folder)
    path = next(folder.glob("shop.yaml"), folder)
    format = recognised_client(path)
    assert format is not None
    import_calls(path, tmp_path / "calls", format)
    environment = Collection.read([tmp_path / "calls"]).environment("dev")
    assert environment.references == {}
    (flow,) = read(tmp_path / "calls", "dev", {"AWS_SECRET_ACCESS_KEY": SECRET}).values()
    assert flow["steps"][0]["args"] == PLACES


def test_a_name_in_braces_is_no_name_of_a_variable_of_the_process(tmp_path: Path) -> None:
    names = ["AWS_SECRET_ACCESS_KEY", "process.env.HOME", "$processEnv HOME", "vault:token", "env:HOME", "file:~/x"]
    call = rpc(
        "tools/call", {"name": "{{process.env.TOOL}}", "arguments": {"a": " ".join(f"{{{{{n}}}}}" for n in names)}}
    )
    made = imported(tmp_path, postman(posted("a", call), posted("b", rpc("{{METHOD}}/{{not one}}"))))
    assert not (tmp_path / "calls" / "env").exists()
    (note,) = (note for note in made.notes if note.startswith("Variables without a value: "))
    named = note.removeprefix("Variables without a value: ").partition(". ")[0].split(", ")
    assert set(named) == {
        "AWS_SECRET_ACCESS_KEY", "HOME", "METHOD", "TOOL", "baseUrl", "env_HOME", "file_x", "not_one", "processEnv_HOME",
        "vault_token",
    }  # fmt: skip
    environ = dict.fromkeys(named, SECRET)
    with pytest.raises(UsageError, match="Unknown variable"):
        read(tmp_path / "calls", environ=environ)
    (flow,) = read(tmp_path / "calls", environ=environ, **dict.fromkeys(named, "v")).values()
    assert flow["steps"][0] == {"name": "a", "call": "v", "args": {"a": "v v v v v v"}}
    assert flow["steps"][1]["request"] == "v/v"


def test_no_collection_chooses_a_variable_that_another_program_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = {"key": "secret_access_key", "value": SECRET, "type": "secret"}
    call = posted("a", rpc("tools/call", {"name": "t", "arguments": {"a": "{{secret_access_key}}"}}))
    collection = postman(call, variable=[secret, {"key": "baseUrl", "value": "https://evil.example"}])
    collection["info"]["name"] = "AWS"
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "mine-0123")
    monkeypatch.delenv("IMPORTED_AWS_SECRET_ACCESS_KEY", raising=False)
    assert not [note for note in imported(tmp_path, collection).notes if "is set already" in note]
    environment = (tmp_path / "calls" / "env" / "imported.yaml").read_text()
    assert environment.endswith("\nsecret_access_key: env:IMPORTED_AWS_SECRET_ACCESS_KEY\n")
    monkeypatch.setenv("IMPORTED_AWS_SECRET_ACCESS_KEY", "mine-4567")
    made = import_calls(tmp_path / "c.json", tmp_path / "calls2", "postman")
    assert made.notes[-1] == (
        "IMPORTED_AWS_SECRET_ACCESS_KEY is set already: its value would be sent to https://evil.example/mcp."
    )
    assert "mine-4567" not in "".join(made.notes)


@pytest.mark.parametrize(
    ("url", "values", "server"),
    [
        ("https://x.example/mcp", {}, "https://x.example/mcp"),
        ("x.example:8000/mcp", {}, "http://x.example:8000/mcp"),
        ("sh -c 'touch pwned'", {}, "http://sh -c 'touch pwned'"),
        ("@github", {}, "http://@github"),
        ("{{b}}/mcp", {"b": "https://x.example"}, "https://x.example/mcp"),
        ("{{b}}", {"b": "sh -c 'touch pwned'"}, "http://sh -c 'touch pwned'"),
        ("{{b}}hub", {"b": "@git"}, "http://@github"),
        ("{{b}}://{{host}}/mcp", {"b": "https", "host": "x.example"}, "https://x.example/mcp"),
        ("{{b}}{{host}}", {"b": "", "host": "sh"}, "http://sh"),
        ("{{b}}", {"b": "@github", "dev": {"b": "https://x.example"}}, None),
        ("{{b}}", {"b": "https://x.example", "dev": {"b": "sh -c x"}}, None),
    ],
)
def test_a_url_of_a_collection_is_never_a_command_or_the_name_of_an_entry(
    tmp_path: Path, url: str, values: dict[str, Any], server: str | None
) -> None:
    folder = tmp_path / "Shop"
    (folder / "environments").mkdir(parents=True)
    dev = [{"name": name, "value": value} for name, value in values.get("dev", {}).items()]
    base = [{"name": name, "value": value} for name, value in values.items() if name != "dev"]
    (folder / "opencollection.yml").write_text(yaml.safe_dump({"opencollection": "1", "request": {"variables": base}}))
    (folder / "environments" / "dev.yml").write_text(yaml.safe_dump({"name": "dev", "variables": dev}))
    http = {"method": "POST", "url": url, "body": {"type": "json", "data": json.dumps(rpc("tools/list"))}}
    (folder / "a.yml").write_text(yaml.safe_dump({"info": {"name": "A", "type": "http"}, "http": http}))
    if server is None:
        with pytest.raises(UsageError, match="1 unusable URL"):
            import_calls(folder, tmp_path / "calls", "bruno")
        return
    import_calls(folder, tmp_path / "calls", "bruno")
    assert [flow["server"] for flow in read(tmp_path / "calls").values()] == [server]


@pytest.mark.parametrize("command", ["@github", "https://x.example/mcp"])
def test_a_command_of_a_collection_is_one_and_is_named(tmp_path: Path, command: str) -> None:
    for name, text in (("a", "uvx shop --now"), ("b", command)):
        request = {"$kind": "mcp-request", "command": text, "message": json.dumps({"method": "tools/list"})}
        (tmp_path / f"{name}.request.yaml").write_text(yaml.safe_dump(request))
    made = import_calls(tmp_path, tmp_path / "calls", "postman")
    assert [flow["server"] for flow in read(tmp_path / "calls").values()] == ["uvx shop --now"]
    assert made.notes == ["Left out: 1 unusable command.", "Commands that a run starts: uvx shop --now."]


@pytest.mark.parametrize("content", ["[]", "{}", '{"info": 1}', "a: ]", "a: &a [*a]", "!!python/object:x {}"])
@pytest.mark.parametrize("name", ["c.json", "c.yaml"])
def test_a_file_that_is_not_a_collection_is_not_taken_for_one(tmp_path: Path, content: str, name: str) -> None:
    (tmp_path / name).write_text(content)
    if name == "c.json" or content[0] in "[{":
        assert recognised_client(tmp_path / name) is None
    else:  # No other reader reads YAML, so this says what is wrong.
        with pytest.raises(UsageError, match=r"YAML|anchors|tags"):
            recognised_client(tmp_path / name)
    for format in ("postman", "bruno", "insomnia"):
        with pytest.raises(UsageError):
            import_calls(tmp_path / name, tmp_path / "calls", format)
    assert not (tmp_path / "calls").exists()


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8"), max_size=5) | st.just("{{x}}"),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["item", "name", "request", "url", "raw", "body", "mode", "method", "header", "key", "value", "auth"]),
        inner, max_size=4,
    ),
    max_leaves=20,
)  # fmt: skip


@pytest.mark.slow
@given(st.lists(ODD, max_size=3), ODD, ODD)
def test_whatever_stands_in_a_collection_it_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, odd: list[Any], arguments: Any, variable: Any
) -> None:
    folder = tmp_path_factory.mktemp("odd")
    good = posted("good", rpc("tools/call", {"name": "a", "arguments": arguments}))
    (folder / "c.json").write_text(json.dumps(postman(good, *odd, variable=variable)))
    made = import_calls(folder / "c.json", folder / "calls", "postman")
    assert made.steps >= 1
    read_again = Collection.read([folder / "calls"])
    assert len(read_again.flows) == made.flows


def test_the_command_line_writes_and_says_what_it_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("shop.json").write_text(json.dumps(POSTMAN))
    assert run(["import", "shop.json", "-o", "calls"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert err.endswith(
        f"written: {Path('calls/orders.yaml')}\nwritten: {Path('calls/env/imported.yaml')}\n"
        "1 saved call with 2 steps, read as Postman.\n"
    )
    assert "note: Left out: 2 session messages, 2 non-MCP requests." in err
    assert run(["import", "shop.json", "-o", "calls", "--json"]) == 2
    error = json.loads(capsys.readouterr().err)["error"]
    assert f"{Path('calls/orders.yaml')} already exists" in error["message"]
    assert run(["import", "shop.json", "-o", "calls2", "--json", "--from", "postman"]) == 0
    assert json.loads(capsys.readouterr().out)["steps"] == 2
