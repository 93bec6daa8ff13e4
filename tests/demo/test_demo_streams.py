"""Streams of the demo's HTTP side: numbering, resuming, hanging up, and what is kept of them."""

from __future__ import annotations

import threading

from inspector.demo.streams import MAX_FINISHED, MAX_KEPT, MAX_WAITING, Stream, Streams


def data_of(events: bytes) -> list[str]:
    return [line.removeprefix("data: ") for line in events.decode().splitlines() if line.startswith("data: ")]


def test_a_quiet_stream_is_kept_alive_with_comments() -> None:
    following = Stream(1, endless=True, primed=False).follow(0, 0.001)
    assert next(following) == next(following) == b": still here\n\n"


def test_the_answer_ends_the_stream_and_what_follows_a_given_event_can_be_had_again() -> None:
    stream = Stream(3, endless=False, primed=True)
    stream.send(b"one")
    stream.answer(b"two")
    assert b"".join(stream.follow(0, 9)) == b"id: 3.1\ndata: \n\nid: 3.2\ndata: one\n\nid: 3.3\ndata: two\n\n"
    assert b"".join(stream.follow(2, 9)) == b"id: 3.3\ndata: two\n\n"
    assert b"".join(stream.follow(99, 9)) == b""
    assert stream.messages() == [b"one", b"two"]


def test_a_stream_that_hangs_up_keeps_what_comes_later_for_the_one_who_resumes() -> None:
    stream = Stream(1, endless=False, primed=False)
    stream.send(b"before")
    stream.hang_up(70)
    stream.answer(b"after")
    assert b"".join(stream.follow(0, 9)) == b"id: 1.1\ndata: before\n\nretry: 70\n\n"
    assert data_of(b"".join(stream.follow(1, 9))) == ["after"]


def test_a_new_reader_ends_the_old_one() -> None:
    stream = Stream(1, endless=True, primed=True)
    old = stream.follow(0, 9)
    assert data_of(next(old)) == [""]
    new = stream.follow(0, 9)
    assert data_of(next(new)) == [""]
    assert next(old, None) is None
    stream.end()
    assert b"".join(new) == b""


def test_an_unread_endless_stream_keeps_its_newest_events() -> None:
    stream = Stream(1, endless=True, primed=False)
    for number in range(MAX_KEPT + 5):
        stream.send(b"%d" % number)
    stream.end()
    kept = data_of(b"".join(stream.follow(0, 9)))
    assert (len(kept), kept[0], kept[-1]) == (MAX_KEPT, "5", str(MAX_KEPT + 4))


def test_who_sends_faster_than_the_reader_takes_has_to_wait_until_the_reader_leaves() -> None:
    stream = Stream(1, endless=False, primed=False)
    done = threading.Event()

    def send() -> None:
        for number in range(3 * MAX_KEPT):
            stream.send(b"%d" % number)
        stream.answer(b"end")
        done.set()

    threading.Thread(target=send, daemon=True).start()
    following = stream.follow(0, 9)
    first = data_of(next(following))
    assert not done.is_set()
    following.close()
    assert done.wait(9)
    rest = data_of(b"".join(stream.follow(len(first), 9)))
    assert rest[-1] == "end"
    assert len(rest) <= MAX_KEPT


def test_what_waits_for_a_listener_is_bounded_and_told_once() -> None:
    streams = Streams()
    for number in range(MAX_WAITING + 9):
        streams.send(b"%d" % number)
    assert len(streams.open(endless=True).messages()) == MAX_WAITING
    assert streams.open(endless=True).messages() == []


def test_a_resumed_listener_is_the_one_that_is_reported() -> None:
    streams = Streams()
    first, second = streams.open(endless=True), streams.open(endless=True)
    streams.send(b"a")
    assert streams.find("1.0") == (first, 0)
    streams.send(b"b")
    streams.leave(first)
    streams.send(b"c")
    assert (first.messages(), second.messages()) == ([b"b"], [b"a", b"c"])


def test_of_the_finished_streams_the_newest_are_kept() -> None:
    streams = Streams()
    for _ in range(MAX_FINISHED + 3):
        streams.open(endless=False).answer(b"x")
    assert streams.find("1.0") is None
    assert streams.find(f"{MAX_FINISHED + 3}.0") is not None


def test_a_stream_that_ends_without_an_answer_gives_nothing_more() -> None:
    stream = Stream(1, endless=False, primed=False)
    stream.answer(None)
    assert list(stream.follow(0, 9)) == []
