from hypothesis import given
from hypothesis import strategies as st

from inspector.tui.widgets.edit_buffer import UNDO_LIMIT, EditBuffer


def buffer(marked: str, **options) -> EditBuffer:
    """Make a buffer from a text in which `|` is the cursor."""
    made = EditBuffer(marked.replace("|", ""), **options)
    made.go(marked.index("|"))
    return made


def marked(made: EditBuffer) -> str:
    return f"{made.text[: made.cursor]}|{made.text[made.cursor :]}"


def test_text_goes_where_the_cursor_is_in_place_of_the_selection():
    made = buffer("ab|cd")
    assert made.insert("X")
    assert marked(made) == "abX|cd"
    made.go(5, select=True)
    assert made.selected == "cd"
    made.insert("!")
    assert marked(made) == "abX!|"
    for to, at in ((99, 4), (-5, 0)):
        made.go(to)
        assert made.cursor == at, "the cursor stays in the text"


def test_rows_and_columns():
    made = buffer("one\ntw|o\n\nfour")
    assert made.place() == (1, 2)
    assert made.rows == ["one", "two", "", "four"]
    assert [made.offset(*place) for place in [(0, 0), (1, 2), (2, 5), (3, 99), (9, 1)]] == [0, 6, 8, 13, 10]
    assert (made.line_start(), made.line_end()) == (4, 7)


def test_long_lines_are_broken_into_rows():
    made = buffer("one two three|\nabcdefgh\n")
    made.width = 7
    assert made.rows == ["one two", "three", "abcdefg", "h", ""]
    assert made.place() == (1, 5)
    # The place behind a broken word is in the next row, the one before a space that broke a line in its own.
    assert [made.offset(*place) for place in [(0, 9), (1, 0), (2, 7), (3, 0), (4, 3)]] == [7, 8, 20, 21, 23]
    assert [made.place(at) for at in (7, 8, 20, 21)] == [(0, 7), (1, 0), (2, 6), (3, 0)]
    assert (made.line_start(), made.line_end()) == (0, 13)
    made.width = None
    assert made.rows == ["one two three", "abcdefgh", ""]


def test_words():
    made = buffer("one, two_2 |three")
    assert (made.word_left(), made.word_right()) == (5, 16)
    assert (buffer("|").word_right(), buffer("...|").word_left()) == (0, 0)


def test_deleting_takes_the_selection_first():
    made = buffer("abc|d")
    assert made.delete(2, 3)
    assert marked(made) == "ab|d"
    made.select_all()
    assert made.delete(0, 0)
    assert marked(made) == "|"
    assert not made.delete(-1, 0)


def test_what_was_typed_in_one_go_is_undone_in_one_go_and_a_move_ends_it():
    made = buffer("|")
    for char in "hello":
        made.insert(char, typed=True)
    made.insert(" world")
    for step, done, text in (
        (made.undo, True, "hello"), (made.undo, True, ""), (made.undo, False, ""),
        (made.redo, True, "hello"), (made.redo, True, "hello world"), (made.redo, False, "hello world"),
    ):  # fmt: skip
        assert (step(), made.text) == (done, text)
    made.insert("a", typed=True)
    made.go(0)
    made.insert("b", typed=True)
    made.undo()
    assert made.text == "hello worlda"


def test_the_limit_refuses_and_changes_nothing_and_undo_is_bounded():
    made = buffer("abc|", limit=4)
    assert made.insert("d")
    assert not made.insert("e")
    assert made.text == "abcd"
    made.select_all()
    assert made.insert("1234")
    made = EditBuffer()
    for at in range(UNDO_LIMIT + 50):
        made.insert(str(at % 10))
    while made.undo():
        pass
    assert len(made.text) == 50


@given(
    st.text("ab \n,", max_size=20),
    st.lists(
        st.one_of(
            st.tuples(st.just("insert"), st.text("xy\n", min_size=1, max_size=3)),
            st.tuples(st.just("delete"), st.integers(0, 20)),
            st.tuples(st.just("go"), st.integers(-1, 25)),
            st.tuples(st.just("select"), st.integers(-1, 25)),
        ),
        max_size=12,
    ),
    st.one_of(st.none(), st.integers(1, 6)),
)
def test_every_change_can_be_undone_to_the_beginning(text, steps, width):
    made = EditBuffer(text)
    made.width = width
    for name, value in steps:
        if name == "insert":
            made.insert(value)
        elif name == "delete":
            made.delete(value, value + 2)
        else:
            made.go(value, select=name == "select")
        assert 0 <= made.cursor <= len(made.text)
        row, column = made.place()
        assert made.offset(row, column) == made.cursor
        line = made.text[made.line_start() : made.cursor]
        assert line.endswith(made.rows[row][:column])
        assert width is not None or line == made.rows[row][:column]
    while made.undo():
        pass
    assert made.text == text
