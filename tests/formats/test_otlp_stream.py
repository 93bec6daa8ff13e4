"""Spans that are streamed to a collector, which may be slow, down, or refusing."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from inspector.cli.output import Output
from inspector.cli.telemetry import Telemetry
from inspector.config.settings import Settings
from inspector.errors import UsageError
from inspector.formats import otlp_stream
from inspector.formats.otlp_stream import OtlpStream, endpoint, headers_from_environment
from inspector.journal.journal import Journal
from tests.formats.collector import Collector
from tests.formats.journals import exported


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    monkeypatch.setattr(otlp_stream, "INTERVAL", 0.01)
    started = Collector()
    yield started
    started.server.shutdown()
    started.server.server_close()


def journal() -> Journal:
    return Journal.unnamed({"kind": "stdio"})


def send(journal: Journal, id: int, method: str = "tools/call", **params: object) -> None:
    message = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
    journal.record_sent("stdio", json.dumps(message).encode(), message)


def receive(journal: Journal, **message: object) -> None:
    journal.record_received("stdio", [json.dumps({"jsonrpc": "2.0", **message}).encode()])


def until(happened: Any) -> None:
    end = time.monotonic() + 10
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_a_span_arrives_when_its_call_has_ended(collector: Collector) -> None:
    live = journal()
    stream = OtlpStream(live, endpoint(collector.url))
    send(live, 1, name="echo")
    send(live, 2, name="slow")
    receive(live, id=1, result={})
    until(lambda: collector.names == ["tools/call echo"])
    receive(live, method="notifications/progress", params={"progressToken": 9})
    receive(live, id=2, result={"isError": True})
    live.close()
    live.release()
    report = stream.finish()
    assert sorted(collector.names[1:]) == ["MCP session", "tools/call slow"]
    assert (report.sent, report.lost) == (3, "")
    assert collector.paths[0] == "/v1/traces"


def test_the_spans_are_those_of_the_export(collector: Collector) -> None:
    live = journal()
    stream = OtlpStream(live, endpoint(collector.url))
    send(live, 1, name="ask")
    receive(live, id="q", method="elicitation/create", params={})
    message = {"jsonrpc": "2.0", "id": "q", "result": {}}
    live.record_sent("stdio", json.dumps(message).encode(), message)
    receive(live, id=1, result={})
    send(live, 2, name="gone")
    live.record_life("", "cancel", **{"for": 5})
    receive(live, id=2, result={})  # late
    send(live, 3, name="open")
    live.close()
    stream.finish()
    (resource,) = json.loads(exported(live, "otlp", None))["resourceSpans"]
    expected = {span["spanId"]: span for span in resource["scopeSpans"][0]["spans"]}
    streamed = {span["spanId"]: span for span in collector.spans}
    assert streamed.keys() == expected.keys()
    assert len(streamed) == len(collector.spans)  # none twice
    assert streamed.pop(span_id_of("gone", streamed))["attributes"][-1]["value"] in (
        {"stringValue": "cancelled"}, {"stringValue": "late"},
    )  # fmt: skip
    assert all(span == expected[id] for id, span in streamed.items())


def span_id_of(name: str, spans: dict[str, dict[str, Any]]) -> str:
    return next(id for id, span in spans.items() if span["name"].endswith(name))


def test_a_collector_that_is_busy_gets_the_same_spans_again(collector: Collector) -> None:
    collector.answers = [(503, {}), (429, {})]
    live = journal()
    stream = OtlpStream(live, endpoint(collector.url))
    send(live, 1, name="echo")
    receive(live, id=1, result={})
    live.close()
    report = stream.finish()
    assert sorted(collector.names) == ["MCP session", "tools/call echo"]
    assert report.lost == ""


def test_refused_and_rejected_spans_are_counted(collector: Collector) -> None:
    collector.answers = [
        (400, {}),
        (200, {"partialSuccess": {"rejectedSpans": "1", "errorMessage": "too \x1b[31mold"}}),
    ]
    live = journal()
    stream = OtlpStream(live, endpoint(collector.url))
    for id in (1, 2):
        send(live, id, name="echo")
        receive(live, id=id, result={})
        until(lambda id=id: stream.report.refused == id)
    live.close()
    report = stream.finish()
    assert (report.sent, report.refused) == (1, 2)
    assert report.lost == "2 spans did not reach the collector: too ␛[31mold."


@pytest.mark.parametrize(
    ("status", "answer", "headers"),
    [
        (200, b"[" * 60_000, {}),
        (200, b'{"partialSuccess":{"rejectedSpans":' + b"9" * 5_000 + b"}}", {}),
        (200, b"\xff\xfe", {}),
        (200, b"x" * (4 << 20), {}),
        (200, b"not gzip", {"Content-Encoding": "gzip"}),
        (200, {}, {"Content-Type": "application/json; charset=nowhere"}),
        (503, {}, {"Retry-After": "9" * 5_000}),
        (503, {}, {"Retry-After": "\u00b2"}),
    ],
)
def test_no_answer_of_a_collector_ends_the_stream(
    collector: Collector, status: int, answer: Any, headers: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(otlp_stream, "MAX_PAUSE", 0.01)
    collector.answers.append((status, answer))
    collector.more_headers = headers
    live = journal()
    stream = OtlpStream(live, endpoint(collector.url))
    for id in (1, 2):
        send(live, id, name="echo")
        receive(live, id=id, result={})
        until(lambda: len(collector.spans) >= id)  # noqa: B023 - called in the same round
    live.close()
    assert stream.finish().lost == ""
    assert collector.names.count("tools/call echo") >= 2


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_spans_do_not_follow_a_redirect(collector: Collector, status: int) -> None:
    other = Collector()
    collector.answers.append((status, {}))
    collector.more_headers = {"Location": f"{other.url}/v1/traces"}
    live = journal()
    stream = OtlpStream(live, endpoint(collector.url))
    send(live, 1, name="echo")
    receive(live, id=1, result={})
    live.close()
    assert "did not reach the collector" in stream.finish().lost
    assert collector.paths == ["/v1/traces"]
    assert other.paths == []
    other.server.shutdown()
    other.server.server_close()


def test_spans_pass_no_proxy_of_the_environment(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = Collector()
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, proxy.url)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    live = journal()
    stream = OtlpStream(live, endpoint(collector.url), {"Authorization": "Bearer key"})
    send(live, 1, name="echo")
    receive(live, id=1, result={})
    live.close()
    assert stream.finish().lost == ""
    assert collector.paths == ["/v1/traces"]
    assert proxy.paths == []
    proxy.server.shutdown()
    proxy.server.server_close()


def test_a_variable_of_opentelemetry_names_no_collector(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
        monkeypatch.setenv(name, collector.url)
    live = journal()
    telemetry = Telemetry(Output(), Settings().otlp)
    telemetry.follow(live)
    send(live, 1, name="echo")
    receive(live, id=1, result={})
    live.close()
    telemetry.finish()
    assert collector.paths == []


def test_a_header_that_http_does_not_allow_costs_a_sentence() -> None:
    live = journal()
    stream = OtlpStream(live, endpoint("http://127.0.0.1:1"), {"X-\u00e9": "\u20ac"})
    send(live, 1, name="echo")
    receive(live, id=1, result={})
    live.close()
    assert "spans did not reach the collector: a header" in stream.finish().lost


@pytest.mark.parametrize("name", ["Transfer-Encoding", "content-length", "Connection"])
def test_a_header_that_frames_the_request_is_not_sent(collector: Collector, name: str) -> None:
    live = journal()
    stream = OtlpStream(live, endpoint(collector.url), {name: "chunked"})
    send(live, 1, name="echo")
    receive(live, id=1, result={})
    live.close()
    assert f"OTEL_EXPORTER_OTLP_HEADERS is not valid: The header {name} cannot be set" in stream.finish().lost
    assert collector.names == []


def test_a_collector_that_is_down_costs_a_sentence_and_no_session(collector: Collector) -> None:
    collector.server.server_close()
    live = journal()
    stream = OtlpStream(live, endpoint(collector.url))
    send(live, 1, name="echo")
    receive(live, id=1, result={})
    live.close()
    until(lambda: stream.report.problem)
    report = stream.finish(0.05)
    assert report.lost == "2 spans did not reach the collector: it is not reachable."


def test_every_lost_span_of_a_long_session_is_counted_without_making_it(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    collector.answers = [(503, {})] * 1000
    monkeypatch.setattr(otlp_stream, "MAX_SPANS", 10)
    live = journal()
    for id in range(3000):
        send(live, id, name="echo")
        receive(live, id=id, result={})
    live.close()
    stream = OtlpStream(live, endpoint(collector.url))
    until(lambda: stream.report.problem)
    report = stream.finish(0.1)
    assert report.lost.startswith("3,001 spans did not reach the collector: it ")


def test_a_slow_collector_does_not_hold_the_session(collector: Collector) -> None:
    collector.delay = 0.3
    live = journal()
    stream = OtlpStream(live, endpoint(collector.url))
    for id in range(200):
        send(live, id, name="echo")
        receive(live, id=id, result={})
    assert not collector.requests  # all is recorded before the first answer of the collector
    live.close()
    assert stream.finish(5).lost == ""
    assert len(collector.spans) == 201


@pytest.mark.slow
def test_spans_that_a_stalled_collector_holds_are_counted(collector: Collector) -> None:
    """A request that began before the end of the session outlasts the time that the end waits."""
    collector.delay = 2.0
    live = journal()
    stream = OtlpStream(live, endpoint(collector.url))
    for id in (1, 2):
        send(live, id, name="echo")
        receive(live, id=id, result={})
    until(lambda: stream._under_way)
    live.close()
    live.release()
    report = stream.finish(0.05)
    assert report.lost.startswith("at least ")
    assert report.lost.endswith("did not reach the collector: it does not answer.")


def test_a_flood_comes_in_batches(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(otlp_stream, "MAX_SPANS", 10)
    live = journal()
    for id in range(55):
        send(live, id, name="echo")
        receive(live, id=id, result={})
    live.close()
    assert OtlpStream(live, endpoint(collector.url)).finish(5).sent == 56
    sizes = [len(body["resourceSpans"][0]["scopeSpans"][0]["spans"]) for body in collector.requests]
    assert max(sizes) == 10
    assert sum(sizes) == 56


@pytest.mark.parametrize(("url", "sent"), [
    ("http://localhost:4318", "http://localhost:4318/v1/traces"),
    ("https://host/", "https://host/v1/traces"),
    ("https://host/custom/path", "https://host/custom/path"),
])  # fmt: skip
def test_a_url_without_a_path_gets_that_of_otlp(url: str, sent: str) -> None:
    assert endpoint(url) == sent


@pytest.mark.parametrize(
    "url", ["localhost:4318", "ftp://host", "http://", "http://host:port", "", "http://①②⑦.0.0.1:4318"]
)
def test_what_is_not_a_collector(url: str) -> None:
    with pytest.raises(UsageError, match="not the URL of an OpenTelemetry collector"):
        endpoint(url)


def test_headers_come_from_the_variable_of_opentelemetry(collector: Collector) -> None:
    environ = {"OTEL_EXPORTER_OTLP_HEADERS": "api-key=s%20ecret, x-team=mcp,broken"}
    headers = headers_from_environment(environ)
    assert headers == {"api-key": "s ecret", "x-team": "mcp"}
    live = journal()
    live.close()
    OtlpStream(live, endpoint(collector.url), headers).finish()
    assert collector.headers[0]["api-key"] == "s ecret"
