"""Collections of API clients, made into saved calls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.calls.collection import Collection
from inspector.calls.variables import Variables, check
from inspector.cli.main import run
from inspector.errors import UsageError
from inspector.imports.flows import ImportedCalls, import_calls, recognised_client

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


def read(folder: Path, environment: str | None = None, environ: dict[str, str] | None = None) -> dict[str, Any]:
    """By name of the file, each flow with its variables inserted."""
    collection = Collection.read([folder])
    assert not collection.ignored
    chosen = [collection.environment(environment)] if environment else []
    found = {}
    for flow in collection.flows:
        check(flow, [name for each in chosen for name in each.values])
        variables = Variables.for_flow(flow, chosen, seed=1, environ=environ or {})
        found[flow.path.relative_to(folder).as_posix()] = variables.insert(flow.located.value)
    return found


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
    environ = {"PASSWORD": "p", "TOKEN": "t", "ORDER_ID": "o-1"}
    (flow,) = read(tmp_path / "calls", "imported", environ).values()
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
        "order_id: env:ORDER_ID",
        "password: env:PASSWORD",
        "token: env:TOKEN",
    ]
    assert any("set ORDER_ID, PASSWORD, TOKEN" in note for note in made.notes)


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
    environ = {"SERVER_SECRET": "s", "KEY": "k"}
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
    assert (tmp_path / "calls" / "env" / "dev.yaml").read_text() == "KEY: env:KEY\n"
    assert SECRET not in written(tmp_path / "calls")
    assert any("1 graphql request" in note for note in made.notes)


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
    assert read(tmp_path / "calls", "local", {"API_TOKEN": "t"}) == {
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
    assert names == ["a-b-2.yaml", "a-b-3.yaml", "a-b-4.yaml", "a-b.yaml", "env-x.yaml", "env/imported.yaml"]


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
    assert (
        out == "written: calls/orders.yaml\nwritten: calls/env/imported.yaml\n1 flow with 2 steps, read as Postman.\n"
    )
    assert "note: Left out: 2 session messages, 2 non-MCP requests." in err
    assert run(["import", "shop.json", "-o", "calls", "--json"]) == 2
    assert "calls/orders.yaml already exists" in capsys.readouterr().err
    assert run(["import", "shop.json", "-o", "calls2", "--json", "--from", "postman"]) == 0
    assert json.loads(capsys.readouterr().out)["steps"] == 2
