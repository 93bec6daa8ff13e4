"""The requests that a local listener accepts: by `Host`, by `Origin`, by the address of the connection."""

from __future__ import annotations

import asyncio

import pytest

from inspector.config.targets import HttpTarget
from inspector.journal.journal import Journal
from inspector.serving import http_origins
from inspector.serving.base import RequestHead
from inspector.serving.http import Binding, HttpServer
from inspector.serving.http_origins import RequestGuard, normal_origin
from inspector.tap.http import HttpTap
from tests.serving.scripted_handler import Scripted, initialize, parse, request

LAN = ("192.168.1.5", 8000)
LOCAL = ("127.0.0.1", 8000)
LAN_6 = ("fd00::5", 8000)
MAPPED = ("::ffff:192.168.1.5", 8000)
EVIL_IPS = (
    "http://192.168.1.66:8000",
    "http://10.0.0.1",
    "http://93.184.216.34",
    "https://[2001:db8::1]",
    "http://0.0.0.0:8000",
)


def head(host: str | None, origin: str | None, arrived_at: tuple[str, int]) -> RequestHead:
    fields = [("Host", host), ("Origin", origin)]
    return RequestHead("POST", "/mcp", [(name, value) for name, value in fields if value is not None], arrived_at)


def from_page(site: str, mode: str, dest: str, origin: str | None = None) -> RequestHead:
    fields = [("Host", "127.0.0.1:8000"), ("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", mode), ("Sec-Fetch-Dest", dest)]
    return RequestHead("GET", "/mcp", [*fields, *([("Origin", origin)] if origin else [])], LOCAL)


@pytest.mark.parametrize(
    ("mode", "dest"),
    [("no-cors", "image"), ("no-cors", "script"), ("navigate", "iframe"), ("navigate", "object")],
)
def test_an_image_or_a_frame_of_another_site_is_refused(mode: str, dest: str) -> None:
    guard = RequestGuard("127.0.0.1")
    assert "another site" in guard.refusal(from_page("cross-site", mode, dest))
    assert "another site" in guard.refusal(from_page("cross-site", mode, dest), pages=True)
    for site in ("none", "same-origin", "same-site"):
        assert guard.refusal(from_page(site, mode, dest)) == ""


def test_a_link_of_another_site_opens_only_what_is_a_page() -> None:
    guard = RequestGuard("127.0.0.1")
    assert "another site" in guard.refusal(from_page("cross-site", "navigate", "document"))
    assert guard.refusal(from_page("cross-site", "navigate", "document"), pages=True) == ""


def test_a_page_with_an_allowed_origin_may_be_of_another_site() -> None:
    guard = RequestGuard("127.0.0.1", origins=["https://ide.example"])
    assert guard.refusal(from_page("cross-site", "cors", "empty", "https://ide.example")) == ""
    assert guard.refusal(from_page("cross-site", "cors", "empty", "http://localhost:6274")) == ""


@pytest.mark.parametrize(
    ("bound", "arrived_at", "host", "origin"),
    [
        # Bound to this machine: any of its names and ports, any of its pages.
        ("127.0.0.1", LOCAL, "127.0.0.1:8000", None),
        ("127.0.0.1", LOCAL, "localhost", "http://localhost:5173"),
        ("127.0.0.1", LOCAL, "localhost:9000", "http://127.0.0.1"),
        ("127.0.0.1", LOCAL, "[::1]:8000", "http://[::1]:3"),
        # Bound to one other address, or to all: the requested address, and its own pages.
        ("192.168.1.5", LAN, "192.168.1.5:8000", None),
        ("192.168.1.5", LAN, "192.168.1.5:8000", "http://192.168.1.5:8000"),
        ("192.168.1.5", LAN, "192.168.1.5:8000", "HTTP://192.168.1.5:8000"),
        ("0.0.0.0", LAN, "192.168.1.5:8000", "http://192.168.1.5:8000"),
        ("::", MAPPED, "192.168.1.5:8000", "http://192.168.1.5:8000"),
        ("::", LAN_6, "[fd00::5]:8000", "http://[fd00::5]:8000"),
        ("::", LAN_6, "[fd00:0:0::5]:8000", None),
        ("box.lan", LAN, "box.lan:8000", "http://box.lan:8000"),
        ("box.lan", LAN, "BOX.LAN:8000", None),
        ("0.0.0.0", ("192.168.1.5", 80), "192.168.1.5", "http://192.168.1.5"),
        # Bound to all and reached over loopback.
        ("0.0.0.0", LOCAL, "localhost:8000", "http://localhost:5173"),
        ("0.0.0.0", LOCAL, "0.0.0.0:8000", None),
        ("::", ("::ffff:127.0.0.1", 8000), "localhost:8000", None),
    ],
)  # fmt: skip
def test_what_was_requested_is_let_in(bound: str, arrived_at: tuple[str, int], host: str, origin: str | None) -> None:
    assert RequestGuard(bound).refusal(head(host, origin, arrived_at)) == ""


@pytest.mark.parametrize("origin", [*EVIL_IPS, "http://evil.example", "null", "x", "", "http://localhost:1", "http://127.0.0.1:8000",
                                    "http://192.168.1.5", "http://192.168.1.5:8001", "https://192.168.1.5",
                                    "ftp://192.168.1.5:8000", "http://u@192.168.1.5:8000", "http://192.168.1.5:8000/x",
                                    "http://192.168.1.5.evil.example:8000", "http://192.168.1.5:8000 http://evil.example"])  # fmt: skip
@pytest.mark.parametrize("bound", ["192.168.1.5", "0.0.0.0", "box.lan"])
def test_bound_elsewhere_no_other_page_is_let_in(bound: str, origin: str) -> None:
    refusal = RequestGuard(bound).refusal(head("192.168.1.5:8000", origin, LAN))
    assert "Origin" in refusal
    assert "--allow-origin" in refusal
    assert RequestGuard(bound).cors(head("192.168.1.5:8000", origin, LAN)) == []


@pytest.mark.parametrize(
    "origin", [*EVIL_IPS, "http://evil.example", "null", "http://localhost.evil.example", "http://e\\.localhost"]
)
def test_bound_to_this_machine_no_page_of_another_is_let_in(origin: str) -> None:
    assert "Origin" in RequestGuard("127.0.0.1").refusal(head("127.0.0.1:8000", origin, LOCAL))


@pytest.mark.parametrize(
    ("bound", "arrived_at", "host"),
    [
        ("127.0.0.1", LOCAL, "192.168.1.5:8000"), ("127.0.0.1", LOCAL, "evil.example"), ("127.0.0.1", LOCAL, ""),
        ("127.0.0.1", LOCAL, "127.0.0.1:8000, evil.example"), ("127.0.0.1", LOCAL, "a@127.0.0.1"),
        ("127.0.0.1", LOCAL, "evil.example#.localhost"), ("127.0.0.1", LOCAL, "evil.example;.localhost"),
        ("192.168.1.5", LAN, "192.168.1.66:8000"), ("192.168.1.5", LAN, "192.168.1.5:8001"), ("192.168.1.5", LAN, "192.168.1.5"),
        ("192.168.1.5", LAN, "localhost:8000"), ("192.168.1.5", LAN, "127.0.0.1:8000"), ("0.0.0.0", LAN, "8.8.8.8:8000"),
        ("0.0.0.0", LAN, "evil.example:8000"), ("box.lan", LAN, "box.lan.evil.example:8000"), ("0.0.0.0", LAN, "0.0.0.0:99999999"),
        ("0.0.0.0", ("", 0), "192.168.1.5:8000"),
    ],
)  # fmt: skip
def test_no_other_host_may_be_asked_for(bound: str, arrived_at: tuple[str, int], host: str) -> None:
    refusal = RequestGuard(bound).refusal(head(host, None, arrived_at))
    assert "Host" in refusal
    assert "--allow-host" in refusal


def test_there_is_one_host_and_one_origin_at_most() -> None:
    guard = RequestGuard("127.0.0.1")
    assert "exactly one Host" in guard.refusal(head(None, None, LOCAL))
    twice = (("Host", "localhost"), ("Origin", "http://localhost"), ("origin", "http://evil.example"))
    assert "more than one Origin" in guard.refusal(RequestHead("POST", "/", twice, LOCAL))
    assert "exactly one Host" in guard.refusal(
        RequestHead("POST", "/", (("Host", "localhost"), ("Host", "localhost")), LOCAL)
    )


def test_a_whole_url_as_target_names_the_same_host() -> None:
    guard = RequestGuard("127.0.0.1")

    def refusal(target: str) -> str:
        return guard.refusal(RequestHead("POST", target, (("Host", "localhost"),), LOCAL))

    assert not any(map(refusal, ("/mcp", "*", "http://localhost/mcp", "http://LOCALHOST", "//localhost/mcp")))
    assert all(
        map(refusal, ("http://evil.example/mcp", "http://localhost@evil.example/", "evil.example:443", "", "mcp"))
    )


def test_allowed_origins_and_hosts_are_let_in_exactly() -> None:
    guard = RequestGuard(
        "0.0.0.0", ["mcp.example"], ["https://app.example", "http://10.0.0.1:5173", "vscode-webview://abc"]
    )
    for origin in ("https://app.example", "https://APP.example:443", "http://10.0.0.1:5173", "vscode-webview://abc"):
        asked = head("mcp.example", origin, LAN)
        assert guard.refusal(asked) == ""
        assert ("Access-Control-Allow-Origin", origin) in guard.cors(asked)
    for origin in ("http://app.example", "https://app.example:8443", "http://10.0.0.1", "vscode-webview://abd", "null"):
        assert "Origin" in guard.refusal(head("mcp.example", origin, LAN))
    assert guard.refusal(head("mcp.example:1", "http://mcp.example:1", LAN)) == "", "its own page"


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("https://App.Example", "https://app.example"), ("https://a:443", "https://a"), ("http://a:443", "http://a:443"),
        ("http://[::1]:80", "http://[::1]"), (" http://a ", "http://a"), ("*", ""), ("null", ""), ("a", ""), ("http://", ""),
        ("http://a/", ""), ("http://a?b", ""), ("http://a b", ""), ("http://a:port", ""), ("http://u@a", ""), ("http://::1", ""),
    ],
)  # fmt: skip
def test_an_origin_is_compared_as_browsers_write_it(text: str, origin: str) -> None:
    assert normal_origin(text) == origin


# With real sockets. 127.0.0.1 is taken for an address of the network here, as nothing else may be listened on.


@pytest.fixture
def lan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_origins, "is_loopback", lambda host: host == "localhost")


async def exchange(port: int, data: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(data)
    answer = await reader.read()
    writer.close()
    return answer


@pytest.mark.parametrize("origin", EVIL_IPS)
async def test_a_mock_on_the_network_refuses_pages_of_other_addresses(lan: None, origin: str) -> None:
    handlers: list[Scripted] = []
    end = HttpServer(lambda client: Scripted(client, handlers), "127.0.0.1", 0, Binding())
    await end.start()
    port = int(end.url.rsplit(":", 1)[1].partition("/")[0])
    own = f"127.0.0.1:{port}"
    try:
        for host, came_from, status in (
            (own, None, 200), (own, f"http://{own}", 200), (own, origin, 403), (own, "http://localhost:1", 403),
            ("10.0.0.1", None, 403), ("127.0.0.1:1", None, 403), ("localhost", None, 403),
        ):  # fmt: skip
            fields = {"Origin": came_from} if came_from else {}
            data = request(body=initialize(), host=host, Connection="close", **fields)
            answered_status, answered, _ = parse(await exchange(port, data))
            assert answered_status == status, (host, came_from)
            assert answered.get("access-control-allow-origin") == (came_from if status == 200 else None)
    finally:
        await end.close()
    assert len(handlers) == 2


async def test_a_tap_on_the_network_never_lends_the_server_s_origin_to_another_page(lan: None) -> None:
    seen: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    tap = HttpTap(HttpTarget(f"http://127.0.0.1:{port}/mcp"), Journal.unnamed({}), origins=("https://app.example",))
    await tap.start()
    own = f"127.0.0.1:{tap.port}"
    try:
        for origin in (*EVIL_IPS, "http://localhost:1", f"http://127.0.0.1:{port}", "null"):
            ask = f"GET /mcp HTTP/1.1\r\nHost: {own}\r\nOrigin: {origin}\r\n\r\n"
            assert (await exchange(tap.port, ask.encode())).startswith(b"HTTP/1.1 403 "), origin
        assert seen == []
        for origin in (f"http://{own}", "https://app.example"):
            ask = f"GET /mcp HTTP/1.1\r\nHost: {own}\r\nOrigin: {origin}\r\n\r\n"
            assert (await exchange(tap.port, ask.encode())).startswith(b"HTTP/1.1 204 "), origin
            assert f"Origin: http://127.0.0.1:{port}".encode() in seen.pop()
    finally:
        await tap.close()
        server.close()
