"""URLs of endpoints: accepted and refused ones, the requested host and target, and the proxy."""

import errno
import socket

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from inspector.errors import HttpError
from inspector.transports import http1_connection
from inspector.transports.base import HttpOptions
from inspector.transports.http_client import Endpoint
from inspector.transports.http_url import PROXY_SCHEMES, parse_url, resolve, system_proxy


@pytest.mark.parametrize(
    ("text", "whole", "address"),
    [
        ("http://localhost/mcp", "http://localhost/mcp", "localhost:80"),
        ("HTTPS://Example.COM:443", "https://example.com/", "example.com:443"),
        ("https://example.com:8443/a%20b?x=1&y=%2F", "https://example.com:8443/a%20b?x=1&y=%2F", "example.com:8443"),
        ("http://[::1]:3000/mcp#part", "http://[::1]:3000/mcp", "[::1]:3000"),
        ("http://bücher.example/a b/ü", "http://xn--bcher-kva.example/a%20b/%C3%BC", "xn--bcher-kva.example:80"),
        (" http://host?q=a b ", "http://host/?q=a%20b", "host:80"),
    ],
)
def test_a_url_as_it_goes_on_the_wire(text, whole, address):
    url = parse_url(text)
    assert url.text == whole
    assert url.address == address


async def test_an_ipv6_address_is_connected_to_without_its_brackets(monkeypatch):
    url = parse_url("http://[::1]:3000/mcp")
    reached = []

    async def refuse(family, address):
        reached.append((family, address[:2]))
        raise ConnectionRefusedError(errno.ECONNREFUSED, "refused")

    monkeypatch.setattr(http1_connection, "_reached", refuse)
    with pytest.raises(HttpError, match=r"Nothing listens on \[::1\]:3000"):
        await Endpoint(url, HttpOptions()).exchange("GET", url, [])
    assert reached == [(socket.AF_INET6, ("::1", 3000))]
    assert url.netloc == "[::1]:3000"


def test_user_and_password_are_kept_apart():
    url = parse_url("https://me%40home:p%3Aw@host/mcp")
    assert (url.user, url.password) == ("me@home", "p:w")
    assert url.text == "https://host/mcp"


@pytest.mark.parametrize(
    "text",
    [
        "", "host", "ftp://host", "file:///etc/passwd", "javascript:alert(1)", "http://", "http:///path", "http://host:0/",
        "http://host:99999/", "http://host:x/", "http://[::1/", "http://[zz]/", "http://a b/", "http://a\x00b/", "http://a\\b/",
        "http://" + "a" * 70 + "." + "b" * 70, "http://..", "http://ho<st>/",
        "http://host/a\r\nX: y", "http://a%2eb/", "http://127.1/", "http://①②⑦.0.0.1/", "http://api.github.com\u2215v3.evil/",
    ],
)  # fmt: skip
def test_what_is_not_an_url_is_refused_with_a_reason(text):
    with pytest.raises(ValueError, match=r"it|“"):
        parse_url(text)


@given(st.text())
@example("http://\u2024/")
@example("\u2024")
def test_no_text_gets_anything_but_a_url_or_a_reason(text):
    try:
        url = parse_url("http://" + text)
    except ValueError:
        return
    assert url.text.isascii()
    assert url.text.isprintable()
    assert " " not in url.text
    assert parse_url(url.text).text == url.text


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/mcp/", "http://host:1/mcp/"),
        ("mcp/", "http://host:1/a/mcp/"),
        ("?x=1", "http://host:1/a/b?x=1"),
        ("//other/x", "http://other/x"),
        ("https://host:1/a/b", "https://host:1/a/b"),
    ],
)
def test_where_a_location_points(location, target):
    assert resolve(parse_url("http://host:1/a/b"), location).text == target


def test_the_origin_tells_schemes_hosts_and_ports_apart():
    origins = {parse_url(text).origin for text in ("http://a", "http://a:80/x", "https://a", "http://a:81", "http://b")}
    assert origins == {"http://a", "https://a", "http://a:81", "http://b"}


@pytest.fixture
def environment(monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    return monkeypatch


def test_the_proxy_of_the_environment(environment):
    environment.setenv("HTTPS_PROXY", "http://proxy:3128")
    environment.setenv("NO_PROXY", "internal.example, .corp")
    assert system_proxy(parse_url("https://example.com/")) == "http://proxy:3128"
    assert system_proxy(parse_url("http://example.com/")) is None
    assert system_proxy(parse_url("https://internal.example/")) is None
    assert system_proxy(parse_url("https://x.corp/")) is None


def test_all_proxy_without_a_scheme(environment):
    environment.setenv("all_proxy", "proxy:3128")
    assert system_proxy(parse_url("http://example.com/")) == "http://proxy:3128"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
def test_no_proxy_of_the_environment_for_this_machine(environment, host):
    environment.setenv("HTTP_PROXY", "http://proxy:3128")
    assert system_proxy(parse_url(f"http://{host}:5000/mcp")) is None


def test_a_socks_proxy_is_a_url_only_where_proxies_are():
    assert parse_url("socks5://p", PROXY_SCHEMES).address == "p:1080"
    with pytest.raises(ValueError, match="does not start with"):
        parse_url("socks5://p")
