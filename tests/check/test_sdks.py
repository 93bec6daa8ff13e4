"""Findings of an SDK: detected by messages of the SDK, and not confused with other causes of the check."""

from __future__ import annotations

import json
import re

import pytest

from inspector.check.outcome import Outcome, Visited, bad, doubtful, good
from inspector.check.registry import checks
from inspector.check.reports.policy import Policy
from inspector.check.reports.sdks import SDKS, ServerIdentity, recognised
from inspector.check.reports.summary import Report, report_of
from inspector.check.result import Result
from inspector.check.run import Run
from inspector.journal.journal import Journal

# As the SDKs wrote it: messages of minimal servers, shortened to what is looked at.
PYTHON_1 = '{"jsonrpc":"2.0","id":6,"error":{"code":-32602,"message":"Invalid request parameters","data":""}}'
FASTMCP_1 = '{"jsonrpc":"2.0","id":4,"result":{"tools":[{"name":"add","inputSchema":{"title":"addArguments"}}]}}'
PYTHON_2 = (
    '{"jsonrpc":"2.0","id":6,"error":{"code":-32601,"message":"Method not found","data":"inspector/no-such-method"}}'
)
FASTMCP_3 = '{"jsonrpc":"2.0","id":4,"result":{"tools":[{"name":"add","_meta":{"fastmcp":{"tags":[]}}}]}}'
TYPESCRIPT_1 = '{"result":{"tools":[]},"jsonrpc":"2.0","id":4}'
NO_METHOD = '{"jsonrpc":"2.0","id":6,"error":{"code":-32601,"message":"Method not found"}}'
MCP_SERVER = '{"result":{"content":[{"type":"text","text":"MCP error -32602: Tool x not found"}],"isError":true},"jsonrpc":"2.0","id":7}'
COPIED = '{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"MCP error -32602: Tool x not found"}],"isError":true}}'
TYPESCRIPT_2 = '{"jsonrpc":"2.0","id":8,"error":{"code":-32602,"message":"Request is missing the required _meta envelope for protocol revision 2026-07-28"}}'
GO = r'{"jsonrpc":"2.0","id":6,"error":{"code":-32601,"message":"method not found: \"inspector/no-such-method\""}}'
GO_HTTP = r'{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"invalid params: unmarshaling \"[]\" into a *mcp.CallToolParamsRaw: json: cannot unmarshal"}}'
PLAIN = '{"jsonrpc":"2.0","id":4,"result":{"tools":[]}}'


def journal_of(*messages: str) -> Journal:
    journal = Journal.unnamed({})
    response = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}
    journal.record_sent("stdio", json.dumps(response).encode(), response)
    info = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "tiny", "version": "1.2"}}
    welcome = {"jsonrpc": "2.0", "id": 0, "result": info}
    journal.record_received("stdio", [json.dumps(welcome).encode(), *(message.encode() for message in messages)])
    return journal


def seen(*messages: str) -> ServerIdentity:
    journal = journal_of(*messages)
    try:
        return recognised(journal)
    finally:
        journal.release()


@pytest.mark.parametrize(
    ("messages", "name"),
    [
        ([PYTHON_1], "Python SDK 1.9 to 1.30"),
        ([PYTHON_1, FASTMCP_1], "Python SDK 1.9 to 1.30 (FastMCP)"),
        ([PYTHON_1, FASTMCP_3], "FastMCP 2 to 3 (Python)"),
        ([PYTHON_2], "Python SDK 2.3"),
        ([PYTHON_2, FASTMCP_1], "Python SDK 2.3 (MCPServer)"),
        ([PYTHON_2, FASTMCP_3], "FastMCP 4 (Python)"),
        # The newer generation shows signs of the older one as well.
        ([PYTHON_2, PYTHON_1, FASTMCP_3], "FastMCP 4 (Python)"),
        ([TYPESCRIPT_1, NO_METHOD], "TypeScript SDK 1.32 or older"),
        ([TYPESCRIPT_1, NO_METHOD, MCP_SERVER], "TypeScript SDK 1 (McpServer)"),
        ([TYPESCRIPT_1, NO_METHOD, TYPESCRIPT_2], "TypeScript SDK 2"),
        ([GO], "Go SDK 1.8"),
        ([GO_HTTP], "Go SDK 1.8"),
        ([], ""),
        ([PLAIN, NO_METHOD], ""),
        ([TYPESCRIPT_1], ""),  # One sign alone is not enough.
        ([PYTHON_1, MCP_SERVER], ""),  # A gateway: either side may be the cause.
        ([PYTHON_1, GO], ""),
        # The wording of an error can be copied: without the messages of the SDK it proves nothing.
        ([PLAIN, NO_METHOD, COPIED], ""),
    ],
)
def test_an_sdk_is_recognised_by_what_it_sends(messages: list[str], name: str) -> None:
    assert seen(*messages).sdk == name


def test_the_server_is_named_as_it_names_itself() -> None:
    assert seen()[:2] == ("tiny", "1.2")


def result(id: str, outcome: Outcome, transport: str = "stdio") -> Result:
    return Result(checks()[id], Visited("2025-03-26", transport, 1, 9), outcome)


def report(results: list[Result], *messages: str, policy: Policy | None = None) -> Report:
    journal = journal_of(*messages)
    try:
        run = Run("server", results, [Visited("2025-03-26", "stdio", 1, 9)])
        return report_of(run, journal, policy or Policy())
    finally:
        journal.release()


BATCHES = result("BASE-12", bad("2 of 2 requests in a batch got no response.", 3))
LOGS = "A log message of the logger {} came, but logging is not declared. (3 more)"
ISSUES = result("TOOL-15", bad("“add” succeeded without [“a”].", 4))


def test_a_server_whose_only_fault_is_its_sdks_passes_under_app() -> None:
    policy = Policy("warn", profile="app", strict=True)
    assert report([BATCHES], PYTHON_1, policy=policy).exit_code == 0
    assert report([BATCHES], PYTHON_1, policy=Policy("warn", strict=True)).exit_code == 5
    assert report([BATCHES], PLAIN, policy=policy).exit_code == 5  # Not recognised: it counts.
    assert report([BATCHES, ISSUES], PYTHON_1, policy=policy).exit_code == 5


@pytest.mark.parametrize(
    ("id", "outcome", "transport", "origin"),
    [
        ("BASE-12", bad("2 of 2 requests in a batch got no response.", 1), "stdio", True),
        (
            "BASE-06",
            bad('An unknown method got error -32602 "Invalid request parameters".', 1),
            "stdio",
            True,
        ),
        ("BASE-06", bad("An unknown method got the result {}.", 1), "stdio", False),
        ("PROM-04", bad('The request got error 0 "Unknown prompt: x".', 1), "stdio", True),
        ("PROM-04", bad('The request got error -32603 "my own".', 1), "stdio", False),
        (
            "UTIL-20",
            doubtful('Before initialize it got error -32602 "Invalid request parameters".', 1),
            "stdio",
            True,
        ),
        ("UTIL-08", bad(LOGS.format('"mcp.server.exception_handler"'), 1), "stdio", True),
        ("UTIL-08", bad(LOGS.format('"my-server"'), 1), "stdio", False),
        ("BASE-12", good(), "stdio", False),
    ],
)
def test_a_finding_is_the_sdks_only_where_it_looks_like_it(
    id: str, outcome: Outcome, transport: str, origin: bool
) -> None:
    finding = report([result(id, outcome, transport)], PYTHON_1).run.results[0]
    assert (finding.origin is not None) is origin


def test_a_server_whose_only_fault_is_the_go_sdks_passes_under_app() -> None:
    ends = result(
        "BASE-07",
        bad("After a line that is not JSON the server did not respond: The server ended with exit code 1.", 3),
    )
    hangs = result("BASE-07", bad("After a line that is not JSON the server did not respond: no response.", 3))
    assert report([ends], GO, policy=Policy(profile="app", strict=True)).exit_code == 0
    assert report([hangs], GO, policy=Policy(profile="app", strict=True)).exit_code == 5
    assert report([ends], PLAIN, policy=Policy(profile="app", strict=True)).exit_code == 5


@pytest.mark.parametrize(
    ("id", "text", "of_sdk"),
    [
        ("BASE-06", "An unknown method got no response: h answered 400 Bad Request to x: {}", True),
        ("BASE-06", "An unknown method got the result {{}}.", False),
        ("LIFE-23", "A request of revision 1900-01-01 got no response ({}).", True),
        ("LIFE-23", "A request of revision 1900-01-01 got the result {{}}.", False),
    ],
)
def test_over_http_the_go_sdk_refuses_with_a_page_of_text(id: str, text: str, of_sdk: bool) -> None:
    page = {
        "BASE-06": 'JSON RPC not handled: "x" unsupported.',
        "LIFE-23": "Bad Request: Unsupported protocol version (supported versions: 2026-07-28)",
    }[id]
    refused = result(id, bad(text.format(page), 3), "http")
    assert report([refused], GO_HTTP, policy=Policy(profile="app", strict=True)).exit_code == (0 if of_sdk else 5)


@pytest.mark.parametrize(("about", "of_sdk"), [("an unknown member", True), ("query is null", False)])
def test_the_typescript_sdk_drops_members_that_its_schemas_forbid(about: str, of_sdk: bool) -> None:
    taken = result("CASE-02", bad(f"{about}: inspector call x --args '{{}}' got the result {{}}.", 3))
    checked = report([taken], TYPESCRIPT_1, NO_METHOD, MCP_SERVER)
    assert (checked.run.results[0].origin is not None) is of_sdk


def test_what_an_author_can_switch_on_counts_and_names_the_option() -> None:
    served = result("HTTP-05", bad("A request from http://evil.example was served, with status 200.", 1), "http")
    checked = report([served], TYPESCRIPT_1, NO_METHOD, policy=Policy(profile="app", strict=True))
    assert checked.exit_code == 5
    finding = checked.as_json()["results"][0]
    assert finding["origin"] == "sdk"
    assert "allowedOrigins" in finding["option"]


def test_every_row_names_a_check_and_an_expression() -> None:
    for sdk in SDKS:
        for group in sdk.signs:
            assert group
            for sign in group:
                re.compile(sign)
        for cause in sdk.causes:
            assert cause.check in checks(), (sdk.name, cause.check)
            re.compile(cause.shows)
