"""The event stream parser: every rule of the WHATWG text, however the stream is cut."""

import itertools
import re
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.transports.sse_stream import SseEvent, SseParser


def parse(*chunks):
    parser = SseParser()
    return [event for chunk in chunks for event in parser.feed(chunk)]


def reference(stream):
    """The specification's algorithm, line by line over the whole stream. Returns the events and the incomplete rest."""
    if stream.startswith(b"\xef\xbb\xbf"):
        stream = stream[3:]
    events, data, type, id, retry, open = [], [], "", None, None, False
    lines = re.split(rb"\r\n|\n|\r", stream)
    for line in lines[:-1]:
        if not line:
            if open:
                events.append(SseEvent(b"\n".join(data) if data else None, type, id, retry))
            data, type, id, retry, open = [], "", None, None, False
            continue
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            data.append(value)
        elif name == b"event":
            type = value.decode("utf-8", "replace")
        elif name == b"id" and b"\0" not in value:
            id = value.decode("utf-8", "surrogateescape")
        elif name == b"retry" and value.isdigit() and len(value) <= 15:
            retry = int(value)
        else:
            events.append(SseEvent(None, line=line))
            continue
        open = True
    return events


PIECES = st.sampled_from([
    b"data: one", b"data:two", b"data", b"data: ", b"data:  x", b"event: message", b"event:odd", b"id: 7", b"id",
    b"id: a\0b", b"retry: 100", b"retry: soon", b"retry:", b": comment", b":", b"unknown: field", b"daten", b"\xff\xfe",
    b"data: \xff", b"\xef\xbb\xbf", b"\n", b"\r", b"\r\n", b"\n\n", b"\r\n\r\n", b"\r\r", b"\n\r", b" ", b"\0",
    b"data: \xe2\x80\xa8\xc2\x85\x0b\x0c",
])  # fmt: skip
STREAMS = st.lists(PIECES, max_size=40).map(b"".join)


@given(STREAMS)
def test_a_whole_stream_is_read_as_the_specification_says(stream):
    assert parse(stream) == reference(stream)


@given(STREAMS, st.data())
def test_chunks_make_no_difference(stream, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=12)))
    bounds = [0, *cuts, len(stream)]
    chunks = [stream[a:b] for a, b in itertools.pairwise(bounds)]
    assert parse(*chunks) == parse(stream) == parse(*(stream[i : i + 1] for i in range(len(stream))))


@given(STREAMS)
def test_what_is_held_is_what_an_open_event_has(stream):
    parser = SseParser()
    parser.feed(stream)
    assert 0 <= parser.held <= len(stream)
    parser.feed(b"\n\n")
    assert parser.held == 0


@pytest.mark.parametrize("eol", [b"\n", b"\r", b"\r\n"])
def test_an_event_is_there_as_soon_as_its_last_line_end_is(eol):
    parser = SseParser()
    assert parser.feed(b"data: x" + eol) == []
    assert parser.feed(eol) == [SseEvent(b"x")]


def test_the_line_feed_of_a_crlf_that_was_cut_is_no_line_of_its_own():
    assert parse(b"data: a\r", b"\ndata: b\r", b"\n\r", b"\n") == [SseEvent(b"a\nb")]


def test_a_byte_order_mark_is_skipped_even_in_pieces():
    assert parse(b"\xef", b"\xbb", b"\xbfdata: x\n\n") == [SseEvent(b"x")]


def test_only_one_byte_order_mark_is_skipped():
    assert parse(b"\xef\xbb\xbf\xef\xbb\xbfdata: x\n\n") == [SseEvent(None, line=b"\xef\xbb\xbfdata: x")]


def test_separators_that_are_not_line_ends_stay_in_the_data():
    text = "a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg".encode()
    assert parse(b"data: " + text + b"\n\n") == [SseEvent(text)]


def test_id_and_retry_are_remembered_beyond_their_event():
    parser = SseParser()
    parser.feed(b"id: 7\nretry: 250\n\ndata: x\n\n")
    assert (parser.last_id, parser.retry) == ("7", 250)
    parser.feed(b"id\n\n")
    assert parser.last_id == ""


def test_an_id_with_nul_and_an_absurd_retry_are_ignored_but_given():
    parser = SseParser()
    lines = [event.line for event in parser.feed(b"id: a\0b\nretry: " + b"9" * 4000 + b"\n\n")]
    assert lines == [b"id: a\0b", b"retry: " + b"9" * 4000]
    assert (parser.last_id, parser.retry) == ("", None)


def test_the_end_gives_what_was_left_and_its_id_does_not_count():
    parser = SseParser()
    parser.feed(b"id: 1\ndata: whole\n\nid: 2\ndata: one\ndata: tw")
    assert parser.end() == SseEvent(b"one\ntw", id="2")
    assert parser.last_id == "1"
    assert parser.end() is None
    assert parser.feed(b"\xef\xbb\xbfdata: next stream\n\n") == [SseEvent(b"next stream")]


@pytest.mark.parametrize("start", [b"dat", b"\xef\xbb", b": half a comment"])
def test_the_end_gives_a_line_that_is_not_a_field_too(start):
    parser = SseParser()
    parser.feed(start)
    assert parser.end() == SseEvent(None, line=start)


def test_an_event_of_many_megabytes_in_small_chunks_arrives_whole():
    body = bytes(range(97, 123)) * 160_000
    parser = SseParser()
    events = parser.feed(b"data: ")
    for start in range(0, len(body), 1024):
        events += parser.feed(body[start : start + 1024])
    events += parser.feed(b"\n\n")
    assert len(events) == 1
    assert events[0].data == body


def test_an_event_of_many_short_lines_takes_about_its_size():
    parser = SseParser()
    chunk = b"data: ab\n" * 1000
    tracemalloc.start()
    try:
        for _ in range(15):
            parser.feed(chunk)
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert parser.held == 15_000 * len(b"ab\n") - 1
    assert taken < 2 * parser.held
