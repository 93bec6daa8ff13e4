"""`x-mcp-file`: where it belongs, and the file that the user picks."""

import base64
import hashlib
import os

import pytest

from inspector.errors import UsageError
from inspector.protocol.file_inputs import MAX_SIZE, FileInput, file_input, file_inputs, file_values, pick_file
from inspector.protocol.forms.form import Form

CHART = {"type": "string", "format": "uri", "x-mcp-file": {"accept": ["image/png", ".pdf"], "maxSize": 4}}
ANY = FileInput("", (), None, "")


def test_a_text_property_takes_a_file():
    assert file_input(CHART) == FileInput("", ("image/png", ".pdf"), 4, "")
    assert [item.where for item in file_inputs({"properties": {"chart": CHART}})] == ["/properties/chart"]


@pytest.mark.parametrize("schema", [
    None, 7, {}, {"type": "string"}, {"type": "object", "x-mcp-file": {}}, {"type": "string", "x-mcp-file": True},
    {"type": "string", "x-mcp-file": []}, {"type": "string", "x-mcp-file": {"maxSize": "1MB"}},
    {"type": "string", "x-mcp-file": {"maxSize": -1}}, {"type": "string", "x-mcp-file": {"accept": "image/png"}},
])  # fmt: skip
def test_the_keyword_is_ignored_where_it_does_not_belong(schema):
    """C-FILE-02."""
    assert file_input(schema) is None


def test_a_form_has_a_file_field():
    """C-FILE-01."""
    form = Form({"type": "object", "properties": {"chart": CHART, "name": {"type": "string"}}})
    fields = {field.name: field for field in form.fields()}
    assert fields["chart"].file.max_size == 4
    assert fields["chart"].hint == "file, image/png, .pdf, at most 4 B"
    assert fields["name"].file is None


def test_a_picked_file_is_a_data_uri_without_its_name(tmp_path):
    """C-FILE-04."""
    file = tmp_path / "secret-name.png"
    file.write_bytes(b"\x00\xff\xe4\n")
    picked = pick_file(file, file_input(CHART))
    assert picked.value == "data:image/png;base64,AP/kCg=="
    assert base64.b64decode(picked.value.partition(",")[2]) == b"\x00\xff\xe4\n"
    assert (picked.size, picked.sha256) == (4, hashlib.sha256(b"\x00\xff\xe4\n").hexdigest())
    assert picked.warnings == ()


def test_what_the_server_may_not_accept_is_a_warning(tmp_path):
    """C-FILE-03."""
    file = tmp_path / "notes.unknown"
    file.write_bytes(b"12345")
    picked = pick_file(file, file_input(CHART))
    assert picked.media_type == "application/octet-stream"
    assert len(picked.warnings) == 2


@pytest.mark.parametrize(("accept", "fits"), [
    ((), True), (("image/*",), True), (("*/*",), True), ((".PNG",), True), (("image/jpeg",), False), ((".pdf",), False),
])  # fmt: skip
def test_types_and_suffixes(tmp_path, accept, fits):
    file = tmp_path / "a.png"
    file.write_bytes(b"x")
    assert (pick_file(file, FileInput("", accept, None, "")).warnings == ()) is fits


def test_only_regular_files_of_a_usual_size_are_read(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    huge = tmp_path / "huge"
    with huge.open("wb") as file:
        file.truncate(MAX_SIZE + 1)
    link = tmp_path / "link"
    link.symlink_to("/dev/zero")
    for path in (fifo, huge, link, tmp_path, tmp_path / "nothing", tmp_path / "a\0b"):
        with pytest.raises(UsageError):
            pick_file(path, ANY)


SCHEMA = {"type": "object", "properties": {"chart": CHART, "all": {"type": "array", "items": CHART}}}
DOT = "data:image/png;base64,AP/kCg=="


def test_the_files_among_arguments():
    """C-FILE-04."""
    files = list(file_values(SCHEMA, {"chart": DOT, "all": [DOT, "data:,x", "data:a;base64,?"], "n": 1}))
    assert [(file.value, file.media_type, file.size) for file in files] == [(DOT, "image/png", 4)] * 2
    assert files[0].sha256 == hashlib.sha256(b"\x00\xff\xe4\n").hexdigest()
    assert list(file_values({"type": "object", "properties": {"chart": {"type": "string"}}}, {"chart": DOT})) == []
    assert list(file_values(None, {"chart": DOT})) == []
