"""Lines of a server's log: without control sequences, JSON entries by level and message, and without our own probe."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.log_lines import display_lines, readable, searched


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("plain text", "plain text"),
        ("\x1b[1;31mError:\x1b[0m no key", "Error: no key"),
        ("\x1b]8;;https://x.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]0;title\x07text\x1b(B", "text"),
        ("\x9b31mred", "red"),
        ("cut off\x1b[", "cut off"),
        ("⠙ loading\r⠹ loading\rdone", "done"),
        ('{"level":50,"time":1,"pid":1,"hostname":"h","msg":"pino fails"}', "error pino fails"),
        ('{"name":"a","pid":1,"level":30,"msg":"bunyan","time":"2026-01-01","v":0}', "info bunyan"),
        ('{"event": "structlog", "level": "warning", "timestamp": "x"}', "warning structlog"),
        ('{"level":"error","ts":1.6,"caller":"a.go:1","msg":"zap","error":"refused"}', "error zap: refused"),
        ('{"time":"x","level":"ERROR","msg":"slog","err":"refused: slog"}', "ERROR slog: refused: slog"),
        ('{"level":"error","message":"winston \\u001b[31mred"}', "error winston red"),
        ('{"@t":"x","@mt":"serilog","@l":"Error"}', "Error serilog"),
        ('{"severity":"ERROR","message":"cloud"}', "ERROR cloud"),
        ('{"timestamp":"x","level":"INFO","fields":{"message":"tracing"},"target":"a::b"}', "INFO tracing"),
        ('{"msg":"no level"}', '{"msg":"no level"}'),
        ('{"level":"info"}', '{"level":"info"}'),
        ('{"jsonrpc":"2.0","level":"info","message":"a message"}', '{"jsonrpc":"2.0","level":"info","message":"a message"}'),
        ('{"level":"info","msg":', '{"level":"info","msg":'),
        ("", ""),
    ],
)  # fmt: skip
def test_a_line_is_read_as_people_read_it(line: str, read: str) -> None:
    assert readable(line) == read


def test_the_error_of_a_json_line_is_searched() -> None:
    line = (
        '{"level":60,"msg":"start","err":{"type":"Error","message":"A_KEY is not set","stack":"Error: x\\n    at y"}}'
    )
    assert searched([line]) == ["start: A_KEY is not set", "A_KEY is not set", "Error: x", "    at y"]


PYDANTIC = """\
Server started
Failed to validate request: 2 validation errors for ClientRequest
PingRequest.method
  Input should be 'ping' [type=literal_error, input_value='server/discover', input_type=str]
    For further information visit https://errors.example/literal_error
InitializeRequest.params.capabilities
  Field required [type=missing, input_value={}, input_type=dict]
Ready\
"""
TRACEBACK = """\
Traceback (most recent call last):
  File "server.py", line 3, in handle
    handlers[method]()
KeyError: 'server/discover'
Ready\
"""


@pytest.mark.parametrize(
    ("log", "left"),
    [
        (PYDANTIC, ["(6 lines about server/discover, the first request of Inspector)", "Server started", "Ready"]),
        (TRACEBACK, ["(4 lines about server/discover, the first request of Inspector)", "Ready"]),
        ("Unknown method: server/discover\n\x1b[2K\n\nReady",
         ["(2 lines about server/discover, the first request of Inspector)", "Ready"]),
        ("Traceback (most recent call last):\n  File \"a.py\"\nValueError: x", None),
    ],
)  # fmt: skip
def test_what_our_first_request_caused_is_one_line(log: str, left: list[str] | None) -> None:
    assert display_lines(log.split("\n")) == (left if left is not None else log.split("\n"))


@given(st.lists(st.text(alphabet=st.characters(codec="utf-8"), max_size=200), max_size=10))
def test_any_lines_are_survived(lines: list[str]) -> None:
    assert all("\x1b[" not in line for line in map(readable, lines))
    searched(lines)
    display_lines(lines)


def test_hostile_lines_take_linear_time() -> None:
    for line in ("\x1b[" * 50_000, "\x1b]" * 50_000, "{" * 50_000, '{"level":' * 20_000, "\x1b" * 100_000):
        readable(line)
