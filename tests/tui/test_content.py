import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.protocol.views import ContentBlock
from inspector.tui.widgets.content import ContentView
from inspector.tui.widgets.content_blocks import (
    BLOCK_LIMIT,
    DrawOptions,
    bytes_of,
    file_name,
    shown_blocks,
    text_sections,
)
from tests.tui.test_media import png
from tests.tui.tui_screens import burst, on_stage, press, screen_lines, screen_text, settle

PICTURE = base64.b64encode(png(4, 4, (b"\x00" + b"\xff\x00\x00" * 4) * 4)).decode()
WAV = base64.b64encode(
    b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\x80\x3e\0\0"
).decode()
LINK = {
    "type": "resource_link", "uri": "demo://r/1", "name": "one", "title": "One", "mimeType": "text/plain",
    "size": 1204,
}  # fmt: skip


def lines_of(blocks, **options) -> list[str]:
    """Return all lines of some blocks, as text."""
    return [
        section.text(line)
        for block in shown_blocks(blocks, DrawOptions(**({"columns": 0} | options)))
        for section in block.sections
        for line in range(len(section))
    ]


@pytest.mark.parametrize(("block", "lines"), [
    ({"type": "text", "text": "Echo: hello\nbye"}, ["Echo: hello", "bye"]),
    ({"type": "text", "text": ' {"a": [1, {"b": 1}]}'}, ["{", '  "a": [', "    1,", '    { "b": 1 }', "  ]", "}"]),
    ({"type": "text", "text": "[not json]"}, ["[not json]"]),
    ({"type": "text", "text": "# Title\n\n- **a**\n- b"}, ["Title", "", "· a", "· b"]),
    ({"type": "text", "text": "# one comment"}, ["# one comment"]),
    ({"type": "text", "text": ""}, ["empty text"]),
    ({"type": "text", "text": " \n\n"}, ["only white space"]),
    ({"type": "text", "text": "x", "annotations": {"audience": ["user"], "priority": 0.5}},
     ["text  for user  priority 0.5", "x"]),
    ({"type": "image", "mimeType": "image/png", "data": PICTURE}, ["image  image/png  PNG  4 × 4  73 B"]),
    ({"type": "image", "mimeType": "image/png", "data": "no!"}, ["image  image/png  its data is not valid base64"]),
    ({"type": "text", "text": f"![chart](data:image/png;base64,{PICTURE})\n"},
     ["chart", "image  image/png  PNG  4 × 4  73 B"]),
    ({"type": "text", "text": f"a\n![](data:image/png;base64,{PICTURE})\nb"},
     ["a", "", "image  image/png  PNG  4 × 4  73 B", "", "b"]),
    ({"type": "audio", "mimeType": "audio/wav", "data": WAV}, ["audio  audio/wav  WAV  1.0 s  44 B"]),
    ({"type": "resource", "resource": {"uri": "file:///a.txt", "mimeType": "text/plain", "text": "body"}},
     ["resource  file:///a.txt  text/plain  4 B", "body"]),
    ({"type": "resource", "resource": {"uri": "x:/a.md", "mimeType": "text/markdown", "text": "# T"}},
     ["resource  x:/a.md  text/markdown  3 B", "T"]),
    ({"type": "resource", "resource": {"uri": "x:/a", "mimeType": "application/octet-stream", "blob": "AAAA"}},
     ["resource  x:/a  application/octet-stream  3 B"]),
    (LINK | {"description": "the first"}, ["↳  One  text/plain  1.2 kB", "  demo://r/1", "  the first"]),
    ({"type": "tool_use", "id": "t1", "name": "add", "input": {"a": 1}}, ["tool use  add  t1", '{ "a": 1 }']),
    ({"type": "tool_result", "toolUseId": "t1", "isError": True, "content": [{"type": "text", "text": "no"}]},
     ["tool result for  t1  an error", "text", "no"]),
    ({"type": "hologram", "x": 1}, ["unknown content", '{ "type": "hologram", "x": 1 }']),
    (7, ["the content is not an object", "7"]),
    (None, ["the content is not an object", "null"]),
    ({"type": "text"}, ["▲  text is missing", ""]),
    ({"type": "text", "text": {"a": 1}}, ["▲  text is an object", ""]),
])  # fmt: skip
def test_each_kind_of_block_is_shown(block, lines):
    """C-TOOL-05."""
    assert lines_of([block]) == lines


def test_nothing_is_said_of_content_that_has_no_place_yet():
    assert not ContentView([{"type": "text", "text": "a"}], empty="The content is empty.").empty


def test_several_blocks_are_reported_apart_and_many_are_counted():
    assert lines_of([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]) == ["text", "a", "", "text", "b"]
    many = lines_of([{"type": "text", "text": "a"}] * (BLOCK_LIMIT + 5))
    assert many[-1] == "5 more blocks are not shown; see the JSON"
    assert lines_of([{"type": "text", "text": '{"a":1}'}], plain=True) == ['{"a":1}'], "as it was written"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
KEYS = ["type", "text", "data", "mimeType", "uri", "name", "size", "resource", "content", "annotations", "input"]
KINDS = [*ContentBlock.KINDS, "strange"]


@given(st.dictionaries(st.sampled_from(KEYS), json_values, max_size=6), st.sampled_from(KINDS), json_values)
def test_no_block_is_too_strange(members, kind, resource):
    block = members | {"type": kind, "resource": resource}
    assert lines_of([block], columns=20)
    assert lines_of(block)
    bytes_of(ContentBlock(block))


@pytest.mark.slow
def test_nesting_is_bounded():
    block: dict = {"type": "text", "text": "deep"}
    for _ in range(2000):
        block = {"type": "tool_result", "toolUseId": "t", "content": [block]}
    assert lines_of([block])
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    assert lines_of([{"type": "strange", "x": deep}])


@pytest.mark.parametrize(("uri", "mime", "name"), [
    ("file:///../../etc/passwd", "", "passwd.bin"),
    ("file:///a/b/report.pdf?x=1#y", "", "report.pdf"),
    ("x:\\..\\..\\evil.exe", "", "evil.exe"),
    ("demo://a/..", "", "resource.bin"),
    ("demo://a/.hidden", "", "hidden.bin"),
    ("demo://a/ein Bild\x00\n.png", "", "ein-Bild-.png"),
    ("demo://" + "x" * 500, "text/markdown; charset=utf-8", "x" * 60 + ".md"),
    ("", "application/json", "resource.json"),
])  # fmt: skip
def test_a_file_is_never_named_as_a_path(uri, mime, name):
    block = ContentBlock({"type": "resource", "resource": {"uri": uri, "mimeType": mime, "blob": ""}})
    assert file_name(block, "bin") == name


async def test_a_link_is_followed_and_a_block_is_saved_by_asking():
    blocks = [{"type": "text", "text": "see"}, LINK, {"type": "image", "mimeType": "image/png", "data": PICTURE}]
    async with on_stage(ContentView(blocks), (60, 20)) as (app, pilot, view):
        await burst(pilot, "o", "down", "down", "down", "down", "enter", "o")
        assert [m.uri for m in app.messages_of(ContentView.OpenResource)] == ["demo://r/1", "demo://r/1"]
        await burst(pilot, "w", "end", "w")
        saved = app.messages_of(ContentView.SaveRequested)
        assert saved[-1].data == base64.b64decode(PICTURE)
        assert saved[-1].suggested == "image.png"
        # Enter does what its row is for, and the footer names it.
        assert view.key_verbs() == [("list.select", "write file")]
        await pilot.press("enter")
        assert len(app.messages_of(ContentView.SaveRequested)) == len(saved) + 1
        await pilot.press("home", "w")
        assert app.messages_of(ContentView.SaveRequested)[-1].data == b"see"


async def test_json_in_a_text_folds_and_is_copied_as_written():
    view = ContentView([{"type": "text", "text": '{"a":  {"b": 1, "c": [1, [2]]}}'}])
    async with on_stage(view, (60, 20)) as (app, pilot, _):
        await pilot.press("down", "space")
        assert screen_lines(app)[:3] == [" {", '   "a": {  2 fields', " }"]
        await pilot.press("c", "p")
        assert app.clipboard == "/a"
        await pilot.press("v")
        assert screen_lines(app)[0] == ' {"a":  {"b": 1, "c": [1, [2]]}}'


@pytest.mark.parametrize(("picture", "drawn"), [
    (png(4, 4, b""), True),
    (png(4, 4, b"", interlaced=1), False),
    (png(2000, 2000, b""), False),
])  # fmt: skip
def test_a_png_that_is_not_drawn_says_so(picture, drawn):
    block = {"type": "image", "mimeType": "image/png", "data": base64.b64encode(picture).decode()}
    reason = "not drawn: too large or interlaced"
    assert (reason in lines_of(block, columns=20)[0]) is not drawn
    assert reason not in lines_of(block, columns=0)[0]


async def test_a_picture_is_painted_where_there_are_colours(monkeypatch):
    blocks = [{"type": "image", "mimeType": "image/png", "data": PICTURE}]
    async with on_stage(ContentView(blocks), (60, 20), theme="ansi") as (app, pilot, _):
        assert screen_text(app).strip() == "image  image/png  PNG  4 × 4  73 B"
    monkeypatch.setattr(ContentView, "_can_paint", lambda self: True)
    async with on_stage(ContentView(blocks), (60, 20)) as (app, pilot, _):
        await settle(pilot, lambda: "▀▀▀▀" in screen_text(app))
        assert screen_lines(app)[1:3] == [" ▀▀▀▀", " ▀▀▀▀"]


async def test_megabytes_of_text_are_drawn_beside():
    text = json.dumps([{"n": at, "text": "x" * 40} for at in range(4000)])
    async with on_stage(ContentView([{"type": "text", "text": text}]), (60, 8)) as (app, pilot, view):
        await settle(pilot, lambda: '"n": 0' in screen_text(app))
        view.load([{"type": "text", "text": "y " * 150_000}])
        view.load([{"type": "text", "text": "last"}])
        await pilot.pause(0.1)
        assert screen_text(app).strip() == "last"
        view.load([{"type": "text", "text": "z " * 150_000}])
        await settle(pilot, lambda: " z z" in screen_text(app))
        await press(pilot, "end", until=lambda: view.is_measured)
        await pilot.press("end")
        assert "more: a show all" in screen_text(app)
        top = view.scroll_offset.y
        await press(pilot, "a", until=lambda: "more: a" not in screen_text(app) and "z z" in screen_text(app))
        assert view.scroll_offset.y == top > 0


async def test_no_content_says_what_would_be_here_and_text_alone_scrolls():
    async with on_stage(ContentView(empty="no content"), (40, 6)) as (app, pilot, view):
        assert screen_text(app).strip() == "no content"
        await burst(pilot, "w", "o", "enter", "c", "v", "a")
        view.load({"type": "text", "text": "one block"})
        await pilot.pause()
        assert screen_text(app).strip() == "one block"
        view.load([{"type": "text", "text": "\n".join(f"line {at}" for at in range(50))}])
        await pilot.pause()
        assert screen_lines(app)[0].startswith(" line 0")
        assert not view.shows_cursor
        await pilot.press("down")
        assert screen_lines(app)[0].startswith(" line 1")


@pytest.mark.parametrize(("kind", "lines"), [("", 3), ("text/plain", 3), ("text/markdown", 2)])
def test_only_what_is_declared_as_markdown_joins_its_lines(kind: str, lines: int) -> None:
    text = "**Steps** of **today**\nbegin here\n# End"
    (section,) = text_sections(text, kind, DrawOptions())
    assert len(section) == lines


async def test_no_letter_of_a_content_is_cut_where_the_bar_for_scrolling_comes() -> None:
    words = " ".join(f"word-{n:03}" for n in range(80))
    async with on_stage(ContentView(), (37, 12)) as (app, pilot, view):
        view.load([{"type": "text", "text": words}])
        await settle(pilot, lambda: view.show_vertical_scrollbar)
        await pilot.pause()
        assert words.startswith(" ".join(line[:35].strip() for line in screen_lines(app)))
