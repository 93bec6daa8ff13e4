"""The clauses that replace texts of libraries, each for an error that the library raises."""

from __future__ import annotations

import json
import re
import shlex
import socket
import ssl
import tomllib
from urllib.parse import urlsplit

import h11
import pytest

from inspector.reasons import (
    http_reason,
    json_fault,
    os_reason,
    regex_reason,
    split_reason,
    tls_reason,
    toml_reason,
    url_reason,
)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "a value is missing at character 1"),
        ("{oops", "a member name in double quotes is missing at character 2"),
        ('{"a" 1}', "“:” is missing at character 6"),
        ("[1 2]", "“,” is missing at character 4"),
        ('["open', "a string is not closed at character 2"),
        ('["\\q"]', "an escape sequence is not valid at character 3"),
        ('["\x01"]', "a control character is in a string at character 3"),
        ("{} {}", "more text follows the value at character 4"),
    ],
)
def test_json(text: str, fault: str) -> None:
    with pytest.raises(json.JSONDecodeError) as raised:
        json.loads(text)
    assert json_fault(raised.value) == fault


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[a", "“]” is missing (end of document)"),
        ("a 1", "“=” is missing (line 1, column 3)"),
        ("a = 1\na = 2", "a name is defined twice (end of document)"),
        ("a = x", "the value is not valid (line 1, column 5)"),
        ("a = 'x", "a string is not closed (end of document)"),
        ("a = 2026-02-31", "the date does not exist (line 1, column 5)"),
        ("a = [1", "a list is not closed (end of document)"),
        ("a = 'x\x01'", "a character is not allowed (line 1, column 7)"),
        (f"a = {'9' * 5000}", "a number has too many digits"),
        (f"a = {'[' * 100_000}", "it is nested too deeply"),
    ],
)
def test_toml(text: str, reason: str) -> None:
    with pytest.raises((ValueError, RecursionError)) as raised:
        tomllib.loads(text)
    assert toml_reason(raised.value) == reason


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(a", "a group is not closed (character 1)"),
        ("a)", "an extra “)” (character 2)"),
        ("[a", "a “[” is not closed (character 1)"),
        ("*a", "a repetition has nothing to repeat (character 1)"),
        ("a**", "a repetition is repeated (character 3)"),
        ("a{3,1}", "the least number of repetitions is above the greatest (character 3)"),
        ("[z-a]", "the range of characters is not valid (character 2)"),
        ("\\", "it ends with a backslash (character 1)"),
        ("(?<=a+)b", "a look-behind needs a fixed width"),
        ("(?P=b)", "it refers to a group that does not exist (character 5)"),
    ],
)
def test_regular_expressions(pattern: str, reason: str) -> None:
    with pytest.raises(re.error) as raised:
        re.compile(pattern)
    assert regex_reason(raised.value) == reason


@pytest.mark.parametrize(
    ("line", "reason"), [("'half", "a quotation mark is not closed"), ("half\\", "it ends with a backslash")]
)
def test_command_lines(line: str, reason: str) -> None:
    with pytest.raises(ValueError) as raised:
        shlex.split(line)
    assert split_reason(raised.value) == reason


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://a:99999", "its port is above 65535"),
        ("http://a:b", "its port is not a number"),
        ("http://[::1", "its IPv6 address is not valid"),
        ("http://a℀b", "its host has characters that are not allowed"),
    ],
)
def test_urls(url: str, reason: str) -> None:
    with pytest.raises(ValueError) as raised:
        assert urlsplit(url).port
    assert url_reason(raised.value) == reason


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"GARBAGE\r\n\r\n", "its first line is not an HTTP request line"),
        (b"\x16\x03\x01\x02\x00", "its first line is not an HTTP request line"),
        (b"\r\n", "the first line is missing"),
        (b"GET / HTTP/1.1\r\n\r\n", "it has no Host header"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "it has several Host headers"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nsecret value\r\n\r\n", "a line of its header is not valid"),
        (
            b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nsecret\r\n",
            "a chunk of the body is not valid",
        ),
    ],
)
def test_http(data: bytes, reason: str) -> None:
    connection = h11.Connection(h11.SERVER)
    connection.receive_data(data)
    with pytest.raises(h11.RemoteProtocolError) as raised:
        list(iter(connection.next_event, h11.NEED_DATA))
    assert http_reason(raised.value) == reason


def test_tls_of_a_server_that_speaks_something_else() -> None:
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    connection = ssl.create_default_context().wrap_bio(incoming, outgoing, server_hostname="a.example")
    incoming.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    with pytest.raises(ssl.SSLError) as raised:
        connection.do_handshake()
    assert tls_reason(raised.value) == "the answer is not TLS"
    assert os_reason(raised.value) == "the answer is not TLS"


def test_the_operating_system() -> None:
    with pytest.raises(OSError) as raised:
        open("/nowhere/at/all")  # noqa: SIM115 - it does not open
    assert os_reason(raised.value) == "no such file or directory"
    with pytest.raises(ValueError) as null:
        open("a\0b")  # noqa: SIM115 - it does not open
    assert os_reason(null.value) == "it has a character that is not allowed"
    assert os_reason(socket.gaierror(socket.EAI_NONAME, "Name or service not known")) == "the name does not exist"
    assert os_reason(OSError("only a text")) == "the operating system refused it"
