"""HTTP failures: no server, TLS, redirects, pages of errors, bodies without end."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from inspector.cli.open_recording import whole_journal
from inspector.client.options import Options
from inspector.client.session import Session
from inspector.config.target_arguments import parse_target
from inspector.errors import RequestCancelled
from inspector.journal.journal import Journal
from tests.bad_input.conftest import PATIENCE, Run, Serve, is_one_sentence

CERTIFICATES = Path(__file__).parents[1] / "transports" / "certificates"


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


@pytest.fixture
def tls() -> Iterator[int]:
    """The port of a server with an untrusted certificate."""

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            """A client that does not like the certificate hangs up."""

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATES / "localhost.pem", CERTIFICATES / "key.pem")
    with Quiet(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def test_no_server_listens(run: Run) -> None:
    port = free_port()
    ran = run("tools", f"http://127.0.0.1:{port}/mcp")
    assert (ran.code, ran.out) == (4, "")
    assert ran.err.startswith(f"error: Nothing listens on 127.0.0.1:{port}: the connection was refused.\nhint: ")
    assert is_one_sentence(ran.err)
    assert run("tools", "--json", f"http://127.0.0.1:{port}/mcp").error["code"] == "http"


def test_an_untrusted_certificate(run: Run, tls: int) -> None:
    ran = run("tools", f"https://localhost:{tls}/mcp")
    assert (ran.code, ran.out) == (4, "")
    assert f"The certificate of localhost:{tls} is self-signed" in ran.err
    assert is_one_sentence(ran.err)


def test_plain_http_where_tls_is_spoken(run: Run, tls: int) -> None:
    ran = run("tools", f"http://localhost:{tls}/mcp")
    assert (ran.code, ran.out) == (4, "")
    assert is_one_sentence(ran.err)


def test_tls_where_plain_http_is_spoken(run: Run, serve: Serve) -> None:
    (url,) = serve("good", "json")
    ran = run("tools", url.replace("http:", "https:"))
    assert (ran.code, ran.out) == (4, "")
    assert "TLS" in ran.err
    assert is_one_sentence(ran.err)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirection_to_another_host_is_named_and_not_followed(
    run: Run, serve: Serve, recording: Path, status: int
) -> None:
    ran = run("call", "echo", "--record", str(recording), *serve("redirect", "json", status=status))
    assert (ran.code, ran.out) == (4, "")
    assert f"redirects to another origin, http://127.0.0.2:9 (status {status})" in ran.err
    assert is_one_sentence(ran.err)
    assert b"127.0.0.2:9/mcp" in recording.read_bytes()
    with whole_journal(recording) as journal:
        asked = [event.fields["url"] for event in journal.events() if "url" in event.fields]
        assert not any("127.0.0.2" in url for url in asked)


@pytest.mark.parametrize(("status", "code"), [(400, 4), (401, 3), (403, 3), (404, 4), (429, 4), (500, 4), (503, 4)])
def test_a_page_in_html_is_reported_in_one_sentence(
    run: Run, serve: Serve, recording: Path, status: int, code: int
) -> None:
    ran = run("call", "echo", "--record", str(recording), *serve("html-error", "json", status=status))
    assert (ran.code, ran.out) == (code, "")
    first, *_ = ran.err.splitlines()
    assert first.startswith("error: ")
    assert str(status) in first
    assert first.endswith("Error Something broke")
    assert "<" not in first
    assert is_one_sentence(ran.err)
    assert b"<h1>Something broke</h1>" in recording.read_bytes()


@pytest.mark.parametrize("form", ["json", "sse"])
def test_a_body_without_end_is_given_up_at_the_limit(
    run: Run, serve: Serve, recording: Path, home: Path, form: str
) -> None:
    (home / "settings.json").write_text('{"max_body_bytes": 3000000}')
    ran = run("call", "echo", "--record", str(recording), *serve("endless", form))
    assert (ran.code, ran.out) == (4, "")
    assert "is larger than 3.0 MB" in ran.err
    assert "max_body_bytes" in ran.err
    assert 10_000 < recording.stat().st_size < 3_000_000


@pytest.mark.parametrize("form", ["json", "sse"])
async def test_a_body_without_end_can_be_cancelled(serve: Serve, recording: Path, form: str) -> None:
    (url,) = serve("endless", form)
    session = Session(parse_target([url]), Journal.create(recording, {}), Options())
    await session.open()
    call = session.call_tool("echo")
    await asyncio.sleep(0.02)
    call.cancel()
    with pytest.raises(RequestCancelled):
        await call.result()
    async with asyncio.timeout(PATIENCE):
        await session.close()
    session.journal.release()
    assert "notifications/cancelled" in recording.read_text()


@pytest.mark.slow
@pytest.mark.parametrize("form", ["json", "sse"])
def test_silence_over_http(run: Run, serve: Serve, form: str) -> None:
    ran = run("tools", "--timeout", "0.3", *serve("silent", form, "--linger", "15", apart=True))
    assert (ran.code, ran.out) == (4, "")
    assert "No response to initialize within 0.3 s" in ran.err
