"""The reader of HTTP/1.1 responses: the responses that it accepts and refuses, wherever the bytes are cut.

The result is compared with that of h11, which the serving side uses.
"""

import gc
import weakref
from itertools import pairwise

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.transports.http1_reader import ResponseReader
from inspector.transports.network import NotHttp

OK = b"HTTP/1.1 200 OK\r\n"


def test_a_reader_that_is_dropped_is_freed_at_once():
    """A reference cycle would keep each response until the next garbage collection."""
    gc.disable()
    try:
        reader = ResponseReader("GET")
        reader.feed(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")
        assert reader.complete
        dropped = weakref.ref(reader)
        del reader
        assert dropped() is None
    finally:
        gc.enable()


def read(data, *cuts, method="POST", ended=False):
    """Return the reader after `data`, in pieces that are cut at these places, and the body."""
    reader = ResponseReader(method)
    places = [0, *sorted(cuts), len(data)]
    for start, end in pairwise(places):
        if end > start:
            reader.feed(data[start:end])
    if ended:
        reader.end()
    return reader, b"".join(reader.pieces)


def refusal(data, *cuts, ended=False):
    with pytest.raises(NotHttp) as caught:
        read(data, *cuts, ended=ended)
    return str(caught.value)


def test_a_head_is_kept_as_it_came():
    reader, body = read(OK + b"X-A: 1\r\nx-a:2 \r\nContent-LENGTH: 2\r\ncontent-length: 2\r\nEmpty:\r\n\r\nhi")
    headers = [("X-A", "1"), ("x-a", "2"), ("Content-LENGTH", "2"), ("content-length", "2"), ("Empty", "")]
    assert reader.head == (200, "OK", "HTTP/1.1", headers)
    assert (body, reader.complete, reader.persistent) == (b"hi", True, True)


@pytest.mark.parametrize(
    ("data", "clause"),
    [
        (b"SSH-2.0-OpenSSH\r\n", "its first line is not an HTTP status line"),
        (b"HTTQ", "its first line is not an HTTP status line"),
        (b"\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", "the first line is missing"),
        (b"HTTP/1.1 2000 OK\r\n\r\n", "its first line is not an HTTP status line"),
        (b"HTTP/1.1 200 O\0K\r\n\r\n", "its first line is not an HTTP status line"),
        (b"HTTP/1.1 099 Low\r\n\r\n", "its status code is out of range"),
        (b"HTTP/1.1 101 Switching\r\n\r\n", "it switches to a protocol that was not requested"),
        (OK + b"bad\r\n\r\n", "a line of its header is not valid"),
        (OK + b"X : 1\r\n\r\n", "a line of its header is not valid"),
        (OK + b"X: a\0b\r\n\r\n", "a line of its header is not valid"),
        (OK + b"X: a\rSet-Cookie: b\r\n\r\n", "a line of its header is not valid"),
        (OK + b" folded: 1\r\n\r\n", "its header begins with a continuation line"),
        (OK + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", "it has two different Content-Length headers"),
        (OK + b"Content-Length: 1, 2\r\n\r\n", "it has two different Content-Length headers"),
        (OK + b"Content-Length: -1\r\n\r\n", "its Content-Length is not a number"),
        (OK + b"Content-Length: 0x1\r\n\r\n", "its Content-Length is not a number"),
        (OK + b"Content-Length: " + b"9" * 21 + b"\r\n\r\n", "its Content-Length is not a number"),
        (OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n", "its Transfer-Encoding is not “chunked”"),
        (OK + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
         "it has several Transfer-Encoding headers"),
        (OK + b"X: " + b"x" * (101 << 10), "its header is too long"),
        (OK + b"X: 1\r\n" * 20_000 + b"\r\n", "its header is too long"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" * 33 + OK, "it begins with more than 32 interim responses (1xx)"),
    ],
)  # fmt: skip
def test_a_head_that_is_refused(data, clause):
    assert refusal(data) == clause
    assert refusal(data, *range(1, min(len(data), 200))) == clause


CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("body", "clause"),
    [
        (b"zz\r\nx\r\n", "a chunk of the body is not valid"),
        (b"-1\r\n", "a chunk of the body is not valid"),
        (b"\r\n", "a chunk of the body is not valid"),
        (b"f" * 21 + b"\r\n", "a chunk of the body is not valid"),
        (b"5\nhello", "a chunk of the body is not valid"),
        (b"1;a\rb\r\nx", "a chunk of the body is not valid"),
        (b"1\r\nxy\r\n", "a chunk of the body is longer than its size"),
        (b"1\r\nx\rz", "a chunk of the body is longer than its size"),
        (b"1;" + b"e" * (17 << 10), "the line before a chunk of the body is too long"),
        (b"1;" + b"e" * (17 << 10) + b"\r\nx\r\n", "the line before a chunk of the body is too long"),
        (b"0\r\n" + b"X: 1\r\n" * 20_000, "the trailers of its body are too long"),
        (b"0\r\nbad\r\n\r\n", "a line of its header is not valid"),
    ],
)
def test_a_chunked_body_that_is_refused(body, clause):
    data = CHUNKED + body
    assert refusal(data) == clause
    assert refusal(data, *range(len(CHUNKED) - 4, len(CHUNKED) + min(len(body), 60))) == clause


@pytest.mark.parametrize(
    ("data", "clause"),
    [
        (b"HTTP/1.1 200", "the connection was closed within its header"),
        (OK + b"Content-Length: 10\r\n\r\nabc", "the connection was closed after 3 of 10 bytes"),
        (CHUNKED + b"5\r\nab", "the connection was closed"),
        (CHUNKED + b"0\r\n", "the connection was closed"),
    ],
)
def test_a_response_that_ends_early(data, clause):
    assert refusal(data, ended=True) == clause


@pytest.mark.parametrize(
    ("data", "method", "body", "persistent"),
    [
        (OK + b"Content-Length: 0\r\n\r\n", "POST", b"", True),
        (b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", "POST", b"", False),
        (b"HTTP/1.1 204 No Content\r\n\r\nbody", "POST", b"", False),
        (b"HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n", "POST", b"", False),
        (OK + b"Content-Length: 5\r\n\r\n", "HEAD", b"", True),
        (OK + b"Content-Length: 2\r\n\r\nhi" + OK + b"Content-Length: 4\r\n\r\nevil", "POST", b"hi", False),
        (OK + b"Content-Length: 3\r\nTransfer-Encoding: Chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", "POST", b"a", False),
        (CHUNKED + b"1;x=y\r\na\r\n00\r\nX-Trailer: 1\r\n\r\n", "POST", b"a", True),
        (CHUNKED + b"1 \r\na\r\n0\r\n\r\nmore", "POST", b"a", False),
        (OK + b"Connection: Keep-Alive, Close\r\nContent-Length: 1\r\n\r\na", "POST", b"a", False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na", "POST", b"a", False),
        (b"HTTP/1.1 200\nX: 1\n\tand 2\nContent-Length: 1\n\na", "POST", b"a", True),
        (b"HTTP/1.1 100 Continue\r\nX: 1\r\n\r\nHTTP/1.1 103 Hints\r\n\r\n" + OK + b"Content-Length: 1\r\n\r\na", "POST",
         b"a", True),
    ],
)  # fmt: skip
def test_where_a_response_ends(data, method, body, persistent):
    for cuts in ((), range(1, len(data))):
        reader, received = read(data, *cuts, method=method)
        assert (received, reader.complete, reader.persistent) == (body, True, persistent)


def test_a_body_without_a_length_lasts_to_the_end_of_the_connection():
    reader, body = read(OK + b"\r\nabc", ended=True)
    assert (body, reader.complete, reader.persistent) == (b"abc", True, False)


def test_an_interim_response_is_received_data():
    assert not ResponseReader("POST").received
    for data in (b"H", b"HTTP/1.1 100 Continue\r\n\r\n", OK + b"\r\n"):
        assert read(data)[0].received


def test_a_folded_line_is_one_header():
    reader, _ = read(OK + b"X: one\r\n  two\r\n\tthree\r\nY: 4\r\n\r\n")
    assert reader.head[3] == [("X", "one two three"), ("Y", "4")]


# Comparison with h11

tokens = st.sampled_from(["X-A", "content-type", "Set-Cookie", "a", "~!#"])
values = st.sampled_from(["", "1", "a b", "ä", "\x01", "\tx ", 'q="1"'])
fields = st.lists(st.tuples(tokens, values).map(lambda pair: f"{pair[0]}: {pair[1]}\r\n".encode("latin-1")), max_size=4)
bodies = st.binary(max_size=40)


@st.composite
def responses(draw):
    """A response that is mostly valid: one part of it may be replaced."""
    version = draw(st.sampled_from([b"HTTP/1.1", b"HTTP/1.1", b"HTTP/1.0"]))
    status = draw(st.sampled_from([b" 200 OK", b" 204 None", b" 304 ", b" 404", b" 500 \xe4"]))
    lines = draw(fields)
    body = draw(bodies)
    framing = draw(st.sampled_from(["length", "chunked", "neither", "both"]))
    if framing in ("length", "both"):
        lines.append(b"Content-Length: %d\r\n" % len(body))
    if framing in ("chunked", "both"):
        lines.append(b"Transfer-Encoding: chunked\r\n")
        cuts = draw(st.lists(st.integers(0, len(body)), max_size=3).map(sorted))
        pieces = [body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True) if b > a]
        body = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
    data = version + status + b"\r\n" + b"".join(draw(st.permutations(lines))) + b"\r\n" + body
    if draw(st.booleans()):
        at = draw(st.integers(0, len(data) - 1))
        data = (
            data[:at]
            + draw(st.sampled_from([b"", b"\0", b"\n", b" ", b"\r\n", b"9", b":", b";", b"\r"]))
            + data[at + 1 :]
        )
    return data


def unframed(headers):
    """Return the headers without those that h11 changes: it lowers the case of a coding, and drops a repeated length."""
    lowered = [(name.lower(), value) for name, value in headers]
    return [field for field in lowered if field[0] not in (b"content-length", b"transfer-encoding")]


def opinion_of_h11(data):
    """Return status, headers and body as h11 reads them, or None for what it refuses or what is incomplete."""
    connection = h11.Connection(h11.CLIENT)
    connection.send(h11.Request(method="POST", target="/", headers=[("Host", "a")]))
    connection.send(h11.EndOfMessage())
    head, body = None, b""
    try:
        connection.receive_data(data)
        connection.receive_data(b"")
        while True:
            event = connection.next_event()
            if isinstance(event, h11.Response):
                head = event.status_code, unframed(event.headers)
            elif isinstance(event, h11.Data):
                body += bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                return (*head, body)
            elif event in (h11.NEED_DATA, h11.PAUSED) or isinstance(event, h11.ConnectionClosed):
                return None
    except h11.ProtocolError:
        return None


@given(responses(), st.lists(st.integers(1, 200), max_size=6))
def test_another_reader_sees_the_same(data, cuts):
    try:
        reader, body = read(data, *(cut for cut in cuts if cut < len(data)), ended=True)
    except NotHttp:
        opinion = None
    else:
        status, _, _, headers = reader.head
        opinion = status, unframed((name.encode(), value.encode("latin-1")) for name, value in headers), body
    other = opinion_of_h11(data)
    assert opinion == other


@given(responses(), st.lists(st.integers(1, 200), max_size=8))
def test_where_the_bytes_are_cut_makes_no_difference(data, cuts):
    def outcome(*cuts):
        try:
            reader, body = read(data, *cuts, ended=True)
        except NotHttp as error:
            return str(error)
        return reader.head, body, reader.complete, reader.persistent

    assert outcome() == outcome(*(cut for cut in cuts if cut < len(data)))
