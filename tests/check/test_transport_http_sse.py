"""HTTP+SSE: for each check a server that breaks it and is found out, and one in order that passes."""

from inspector.check.outcome import Visited
from inspector.check.passive import judged
from inspector.check.registry import checks
from inspector.config.targets import HttpTarget
from inspector.journal.format import Dir
from inspector.journal.journal import Journal
from tests.check.faulty_servers import (
    Bodies,
    PlantedWeb,
    RewritesRequest,
    Says,
    case_tests,
    checked,
    is_not_blamed,
    put,
)
from tests.check.faulty_servers import WebCase as Case

R1 = "2024-11-05"


class Sse(PlantedWeb):
    """The demo's other endpoint."""

    async def __aenter__(self):
        await super().__aenter__()
        self.target = HttpTarget(self.web.url.removesuffix("/mcp") + "/sse", transport="sse")
        return self


def without_origin(request):
    put(request, "Origin", None)


def hello_first(_request, data):
    return b"event: hello\ndata: x\n\n" + data if data.startswith(b"event: endpoint") else data


def is_the_check(request):
    return request.method == "POST" and request.message.get("id") == "inspector-check"


CASES = [
    Case("SSE-01", R1, Bodies(hello_first), server=Sse),
    Case("SSE-02", R1, Bodies(lambda _, data: data.replace(b"event: message", b"event: update")), server=Sse),
    Case("SSE-04", R1, RewritesRequest(without_origin), server=Sse),
    Case("SSE-05", R1, Says(is_the_check, lambda _, reply: reply.body(202)), server=Sse),
    Case("SSE-06", R1, Says(lambda request: request.target == "/mcp", lambda _, reply: reply.body(404)), server=Sse),
]


test_a_planted_fault_is_found, test_a_server_in_order_is_not_blamed = case_tests(CASES)


def is_no_request(request):
    return request.method == "POST" and request.message.get("id") in (70071, 70072)


async def test_a_refused_post_is_reported_as_what_it_is():
    fault = Says(is_no_request, lambda _, reply: reply.body(400))
    result, journal = await checked(Case("BASE-08", R1, None, server=Sse), fault, {})
    assert "got status 400" in result.outcome.text
    journal.release()


ENDPOINT = Case("SSE-03", R1, None, server=Sse)


async def test_an_endpoint_of_the_same_origin_is_not_blamed():
    await is_not_blamed(ENDPOINT)


def test_an_endpoint_of_another_origin_is_found_in_a_recording():
    """Inspector itself goes no further than this event; other clients do."""
    journal = Journal.unnamed({})
    journal.record_http("get-1", Dir.SEND, method="GET", url="http://127.0.0.1:8000/sse", headers=[])
    stream = [("Content-Type", "text/event-stream")]
    journal.record_http("get-1", Dir.RECV, status=200, headers=stream)
    n = journal.record_sse("get-1", "http://evil.example/messages", event="endpoint")
    (result,) = judged(journal, [checks()["SSE-03"]], Visited(R1, "sse", 1, len(journal)))
    assert result.verdict == "fail"
    assert result.outcome.evidence == (n,)
    journal.release()
