"""The index of a long recording in files: the same results as in memory, saved, and verified before use."""

from __future__ import annotations

import gc
import json
import mmap
import os
import shutil
import stat
import zlib

import pytest

from inspector.client import recordings_folder
from inspector.config import paths
from inspector.journal import columns, saved_index
from inspector.journal.findings import Finding
from inspector.journal.format import Dir, Kind
from inspector.journal.index import State
from inspector.journal.journal import Journal, whole_journal
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import Shape

CALLS = 400


@pytest.fixture(autouse=True)
def few_rows(monkeypatch, tmp_path):
    """IndexColumns go to files after 512 rows, in a folder of the test."""
    monkeypatch.setenv("INSPECTOR_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(columns, "SPILL_ROWS", 1 << 9)
    monkeypatch.setattr(columns, "_STEP_ROWS", 1 << 9)
    monkeypatch.setattr(columns, "_CHECKED", mmap.PAGESIZE)
    monkeypatch.setattr(saved_index, "MIN_BYTES", 1 << 12)


@pytest.fixture
def path(tmp_path):
    made = recorded(tmp_path / "a.mcp.jsonl")
    folders()  # Where a mapped file cannot be removed, the file of the journal that wrote it is no longer in use.
    return made


def recorded(path, calls=CALLS, *, finish=True):
    journal = Journal.create(path, {"kind": "stdio"})
    exchange_messages(journal, calls)
    journal.record_note("odd", Finding(3, "C-1", "must", "odd", page="x"))
    journal.mark(5, "look")
    if finish:
        journal.close()
    journal.release()
    return path


def exchange_messages(journal, calls, first=0):
    for id in range(first, first + calls):
        request = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": f"t{id % 7}"}}
        journal.record_sent("stdio", json.dumps(request).encode(), request)
        answers = [{"jsonrpc": "2.0", "method": "notifications/message", "params": {}}]
        if id % 10:
            answers.append({"jsonrpc": "2.0", "id": id, "result": {"isError": id % 3 == 0}})
        journal.record_received("stdio", [json.dumps(answer).encode() for answer in answers])


def facts(journal):
    index = journal.index
    return [
        (index.kind(n), index.dir(n), index.shape(n), index.state(n), index.method(n), index.channel(n), index.id(n),
         index.pair(n), index.parent(n), index.time(n), index.size(n), index.conn(n), journal.event(n).raw)
        for n in range(1, len(journal) + 1)
    ]  # fmt: skip


def beside(journal):
    index = journal.index
    return (
        index.invalid, index.errors, index.latest(), index.ids.largest, len(index.ids), journal.ended, journal.findings.all(), journal.marks.events(),
        journal.notices, list(index.connections.between(1, len(journal))),
    )  # fmt: skip


def in_memory(path, monkeypatch):
    """Return the facts that a reader without files and without a saved index has."""
    with monkeypatch.context() as patch:
        patch.setattr(columns, "SPILL_ROWS", 1 << 30)
        patch.setattr(saved_index, "MIN_BYTES", 1 << 60)
        with whole_journal(path) as journal:
            return facts(journal), beside(journal)


def folders():
    """Return the folders that stay. Where a mapped file cannot be removed, the next index removes what is left."""
    if not columns.files.CAN_REMOVE_MAPPED:
        gc.collect()
        columns.remove_abandoned(columns.folders())
    return sorted(columns.folders().iterdir()) if columns.folders().exists() else []


def opened(path):
    """Open a recording. Returns the journal and the number of events that it had before it read a line."""
    journal = Journal.open(path)
    journal.refresh(0)
    known = len(journal)
    while journal.refresh():
        pass
    return journal, known


def test_a_recording_that_was_made_here_opens_without_being_read(path, monkeypatch):
    journal, known = opened(path)
    assert known == len(journal) > 1000
    assert (facts(journal), beside(journal)) == in_memory(path, monkeypatch)
    journal.release()


def test_a_recording_of_others_is_read_once(path, monkeypatch):
    assert folders()
    shutil.rmtree(columns.folders())
    first, known = opened(path)
    assert known == 0
    first.release()
    second, known = opened(path)
    assert known == len(second) == len(first)
    assert (facts(second), beside(second)) == in_memory(path, monkeypatch)
    second.release()


def test_a_live_journal_in_files_pairs_as_one_in_memory(tmp_path, monkeypatch):
    journal = Journal.create(tmp_path / "a.mcp.jsonl", {"kind": "stdio"})
    exchange_messages(journal, CALLS)
    assert folders()
    before = facts(journal)
    journal.record_received("stdio", [b'{"jsonrpc":"2.0","id":10,"result":{}}'])  # A late answer, to an early event.
    request = Query(dir=Dir.SEND, shape=Shape.REQUEST, id=10).first(journal.index)
    assert journal.index.pair(request) == len(journal)
    assert journal.index.state(request) is State.DONE
    journal.flush()
    assert facts(journal) == in_memory(journal.path, monkeypatch)[0]
    assert len(before) == len(journal) - 1
    journal.release()


def test_a_recording_without_an_end_can_go_on(tmp_path, monkeypatch):
    path = recorded(tmp_path / "a.mcp.jsonl", finish=False)
    assert not folders()
    opened(path)[0].release()
    journal, known = opened(path)
    assert known == len(journal)
    with open(path, "ab") as file:
        raw = json.dumps(json.dumps({"jsonrpc": "2.0", "id": 20, "result": {}}))
        file.write(f'{{"n":{known + 1},"t":1,"dir":"recv","kind":"rpc","ch":"stdio","raw":{raw}}}\n'.encode())
    assert journal.refresh() is False
    request = Query(dir=Dir.SEND, shape=Shape.REQUEST, id=20).first(journal.index)
    assert journal.index.pair(request) == len(journal) == known + 1
    assert facts(journal) == in_memory(path, monkeypatch)[0]
    journal.release()
    assert opened(path)[1] == 0  # It has changed since: the saved index is not used.


def test_a_mark_is_added_to_the_saved_index(path, monkeypatch):
    journal, known = opened(path)
    journal.mark(7, "this")
    journal.release()
    again, after = opened(path)
    assert after == known + 1
    assert again.marks.events() == [5, 7]
    assert (facts(again), beside(again)) == in_memory(path, monkeypatch)
    again.release()


def test_two_windows_open_one_recording_and_both_mark(path, monkeypatch):
    one, _ = opened(path)
    two, known = opened(path)
    assert known == len(one)
    two.mark(8)
    one.refresh()
    one.mark(9)
    two.refresh()
    assert facts(one) == facts(two) == in_memory(path, monkeypatch)[0]
    one.release()
    two.release()
    del one, two
    assert all(not folder.name.startswith(".") for folder in folders())


def damage_a_column(folder, path):
    with open(folder / "offsets", "r+b") as file:
        file.write(bytes(16))


def cut_a_column(folder, path):
    os.truncate(folder / "pairs", 100)


def damage_any_row(folder, path):
    """Damage a row that is not compared with the recording."""
    with open(folder / "methods", "r+b") as file:
        file.seek(2 * 501)
        file.write(b"\xff\xff")


def lose_a_page(folder, path):
    """Write zeros, as a power failure may: the file keeps its length."""
    with open(folder / "states", "r+b") as file:
        file.seek(300)
        file.write(bytes(200))


def damage_the_state(folder, path):
    saved = (folder / "index.json").read_bytes()
    assert b"tools/call" in saved
    (folder / "index.json").write_bytes(saved.replace(b"tools/call", b"tools/cell", 1))


def cut_the_state(folder, path):
    os.truncate(folder / "index.json", 100)


def empty_the_state(folder, path):
    os.truncate(folder / "index.json", 0)


def saved_state(folder):
    return json.loads((folder / "index.json").read_bytes().partition(b"\n")[2])


def rewrite_the_state(folder, change):
    """Change the state, with a checksum that is right."""
    saved = saved_state(folder)
    change(saved)
    content = json.dumps(saved).encode()
    (folder / "index.json").write_bytes(b"%08x\n" % zlib.crc32(content) + content)


def change_the_state(folder, path):
    rewrite_the_state(folder, lambda saved: saved.clear())


def take_an_older_format(folder, path):
    rewrite_the_state(folder, lambda saved: saved["format"].__setitem__(0, 1))


def change_types(folder, path):
    rewrite_the_state(folder, lambda saved: saved["index"].update(ids=7))


def change_the_count(folder, path):
    rewrite_the_state(folder, lambda saved: saved["index"].update(count=saved["index"]["count"] + 5000))


def leave_out_the_methods(folder, path):
    rewrite_the_state(folder, lambda saved: saved["index"].update(methods=[]))


def leave_out_the_channels(folder, path):
    rewrite_the_state(folder, lambda saved: saved["index"].update(channels="x"))


def name_events_that_are_not_there(folder, path):
    rewrite_the_state(folder, lambda saved: saved["rest"].update(marks=[10**9]))


def take_that_of_another_recording(folder, path):
    other = recorded(path.with_name("b.mcp.jsonl"), CALLS + 5)
    (theirs,) = (candidate for candidate in folders() if candidate != folder)
    shutil.rmtree(folder)
    theirs.rename(folder)
    assert other.exists()


def let_others_write(folder, path):
    folder.chmod(0o777)


def put_a_link(folder, path):
    moved = folder.with_name("elsewhere")
    folder.rename(moved)
    folder.symlink_to(moved)


def link_a_column(folder, path):
    (folder / "states").rename(path.with_name("states"))
    (folder / "states").symlink_to(path.with_name("states"))


def change_the_recording(folder, path):
    text = path.read_bytes()
    at = len(text) // 2
    info = os.stat(path)
    with open(path, "r+b") as file:
        file.seek(text.index(b"tools/call", at))
        file.write(b"tools/list")
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns + 1))


@pytest.mark.parametrize("harm", [
    damage_a_column, damage_any_row, lose_a_page, cut_a_column, damage_the_state, cut_the_state, empty_the_state,
    change_the_state, take_an_older_format, change_types, change_the_count, leave_out_the_methods, leave_out_the_channels, name_events_that_are_not_there,
    take_that_of_another_recording, let_others_write, put_a_link, link_a_column, change_the_recording,
])  # fmt: skip
def test_a_saved_index_that_is_not_right_is_made_again(path, monkeypatch, harm):
    (folder,) = folders()
    harm(folder, path)
    journal, known = opened(path)
    assert known == 0
    assert (facts(journal), beside(journal)) == in_memory(path, monkeypatch)
    journal.release()


@pytest.mark.slow
def test_a_recording_that_was_changed_where_nothing_is_compared_is_read_again(tmp_path, monkeypatch):
    """Its length and its modification time are unchanged."""
    path = recorded(tmp_path / "long.mcp.jsonl", 10 * CALLS)
    info, text = os.stat(path), path.read_bytes()
    with open(path, "r+b") as file:
        file.seek(text.index(b"tools/call", len(text) // 2))
        file.write(b"tools/list")
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))
    journal, known = opened(path)
    assert known == 0
    assert (facts(journal), beside(journal)) == in_memory(path, monkeypatch)
    journal.release()


def test_files_are_private_and_go_with_their_recording(path):
    (folder,) = folders()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}
    assert recordings_folder.delete(path)
    assert not folders()


def test_indexes_of_recordings_that_are_gone_are_removed(path, tmp_path):
    (first,) = folders()
    path.unlink()
    recorded(tmp_path / "b.mcp.jsonl")
    assert len(folders()) == 1
    assert folders() != [first] or saved_state(first)["path"].endswith("b.mcp.jsonl")


def test_a_recording_without_a_name_leaves_nothing():
    journal = Journal.unnamed({})
    exchange_messages(journal, CALLS)
    assert len(folders()) == 1
    before = facts(journal)
    journal.close()
    journal.release()
    assert not folders()
    assert [journal.index.method(n) for n in range(1, len(journal) + 1)] == [fact[4] for fact in before]


def test_a_journal_that_is_dropped_leaves_nothing():
    journal = Journal.unnamed({})
    exchange_messages(journal, CALLS)
    assert len(folders()) == 1
    del journal
    gc.collect()
    assert not folders()


def test_the_folder_of_a_process_that_died_is_removed(path):
    left = columns.folders() / ".1-abc"
    left.mkdir()
    (left / "offsets").write_bytes(b"")
    recorded(path.with_name("b.mcp.jsonl"))
    assert not left.exists()


@pytest.mark.parametrize("refusal", ["folder", "room"])
def test_without_a_place_for_files_the_columns_stay_in_memory(tmp_path, monkeypatch, refusal):
    def refuse(fd, offset, length):
        if refusal == "room" and offset:
            raise OSError(28, "No space left on device")
        allocate(fd, offset, length)

    allocate = columns.files.reserve
    monkeypatch.setattr(columns.files, "reserve", refuse)
    if refusal == "folder":
        monkeypatch.setattr(paths, "cache_folder", lambda: tmp_path / "a.mcp.jsonl")
    path = recorded(tmp_path / "a.mcp.jsonl")
    assert refusal == "folder" or not folders()
    journal, known = opened(path)
    assert known == 0
    assert facts(journal) == in_memory(path, monkeypatch)[0]
    journal.release()


def test_names_with_secrets_are_not_saved(tmp_path):
    journal = Journal.create(tmp_path / "a.mcp.jsonl", {}, ["hunter2-hunter2"])
    exchange_messages(journal, CALLS)
    request = {"jsonrpc": "2.0", "id": "hunter2-hunter2", "method": "x"}
    journal.record_sent("stdio", json.dumps(request).encode(), request)
    journal.close()
    journal.release()
    del journal
    assert not folders()


def test_filters_and_queries_read_the_files(path):
    from inspector.journal.filters import parse

    journal, _ = opened(path)
    index = journal.index
    assert parse("method:tools/call status:pending").numbers(journal) == [
        n for n in range(1, len(journal) + 1)
        if index.state(n) is State.PENDING and index.kind(n) is Kind.RPC
    ]  # fmt: skip
    assert parse("t3").numbers(journal)
    journal.release()
