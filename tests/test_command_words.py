"""Command lines by the rules of both families. The rules of Windows are those of Microsoft's pages, as tables."""

from __future__ import annotations

import ntpath
import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import inspector
from inspector.command_words import (
    Family,
    NotPassed,
    find_on_windows,
    is_batch,
    join,
    join_for_files,
    quote,
    set_variable,
    split,
    variable,
    windows_start,
    with_variables,
)

WORDS = st.lists(st.text(st.sampled_from("ab \"'\\%$&|^!@{}\t\n,;=é-")), max_size=4)
FAMILIES = st.sampled_from(("posix", "windows"))


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        # “Parsing C command-line arguments”, the table of examples.
        (r'"abc" d e', ["abc", "d", "e"]),
        (r'a\\b d"e f"g h', [r"a\\b", "de fg", "h"]),
        (r"a\\\"b c d", [r"a\"b", "c", "d"]),
        (r'a\\\\"b c" d e', [r"a\\b c", "d", "e"]),
        (r'a"b"" c d"', ['ab" c d']),
        # The rules in words: white space, quotes with nothing in them, backslashes before other characters.
        ("  a \t b  ", ["a", "b"]),
        ('"" ""', ["", ""]),
        (r"C:\Users\me\srv.exe --dir=C:\x\ ", [r"C:\Users\me\srv.exe", "--dir=C:\\x\\"]),
        (r'"C:\Program Files\nodejs\node.exe" "C:\my server\index.js"', [r"C:\Program Files\nodejs\node.exe", r"C:\my server\index.js"]),
        (r'"C:\dir with space\\" next', ["C:\\dir with space\\", "next"]),
        (r'{\"a\": 1}', ['{"a":', "1}"]),
        ('"{""a"": 1}"', ['{"a": 1}']),
        # Beyond these rules: whole words in single quotes, as in PowerShell and in commands of other systems.
        ("it's 'one word' x", ["it's", "one word", "x"]),
        ("uv run 'shop server'", ["uv", "run", "shop server"]),
        ("'C:\\my dir\\' ''", ["C:\\my dir\\", ""]),
        ("\"it 'x\" y' z", ["it 'x", "y'", "z"]),
        ("'a'b 'c", ["'a'b", "'c"]),
        (r"\\server\share\x.exe", [r"\\server\share\x.exe"]),
        ("", []),
    ],
)  # fmt: skip
def test_a_command_typed_on_windows_is_split_by_its_rules(typed: str, words: list[str]) -> None:
    assert split(typed, "windows") == words


@pytest.mark.parametrize("family", ["posix", "windows"])
def test_a_quotation_mark_that_is_not_closed_is_an_error(family: Family) -> None:
    with pytest.raises(ValueError, match="No closing quotation"):
        split('node "srv.js', family)


@given(WORDS, FAMILIES)
@example(["\\", 'a\\"b', "a\\", "", "\\\n"], "windows")
def test_words_that_are_joined_are_split_into_the_same_words(words: list[str], family: Family) -> None:
    assert split(join(words, family), family) == words


@given(WORDS, FAMILIES)
@example([r"C:\my tools\srv.py", '{"a": 1}', "it's", "a\\"], "windows")
def test_a_command_in_a_file_means_the_same_in_both_families(words: list[str], family: Family) -> None:
    words = [word.replace("\\\\", "\\") for word in words if "\\\\\\" not in word]
    assert split(join_for_files(words), family) == words


@pytest.mark.parametrize(
    ("word", "typed"),
    [
        ("srv.py", "srv.py"),
        (r"C:\tools\srv.py", r"C:\tools\srv.py"),
        ("--env", "--env"),
        ("", '""'),
        ("a b", '"a b"'),
        ("a&b", '"a&b"'),
        ('{"a": 1}', '"{""a"": 1}"'),
        # PowerShell takes a word that begins with @ for a variable.
        ("@shop", '"@shop"'),
        ("a@b", "a@b"),
        ("C:\\my dir\\", '"C:\\my dir\\\\"'),
    ],
)
def test_a_word_is_quoted_for_the_shells_of_windows(word: str, typed: str) -> None:
    assert quote(word, "windows") == typed


def test_a_shell_is_told_to_set_a_variable_in_its_own_words() -> None:
    assert set_variable("TOKEN", "posix") == "export TOKEN=…"
    assert set_variable("TOKEN", "windows") == "set TOKEN=…"


# cmd.exe


def test_a_program_is_started_with_the_arguments_of_the_c_runtime() -> None:
    start = windows_start(r"C:\a b\srv.exe", ["x y", 'q"', "%PATH%", "&"], {})
    assert start.program == r"C:\a b\srv.exe"
    assert start.line == r'"C:\a b\srv.exe" "x y" q\" %PATH% &'
    assert split(start.line, "windows") == [r"C:\a b\srv.exe", "x y", 'q"', "%PATH%", "&"]


@pytest.mark.parametrize("name", ["npx.cmd", "NPX.CMD", "run.bat", "run.bat.", "run.cmd . "])
def test_a_batch_file_is_known_by_its_name_as_windows_reads_it(name: str) -> None:
    assert is_batch(name)
    assert windows_start(name, [], {"SYSTEMROOT": r"D:\Win"}).program == r"D:\Win\System32\cmd.exe"


def cmd_reads(line: str) -> list[str]:
    """Return the words that a batch file gets; fail if cmd.exe finds something of its own in them.

    First variables: `%` that is followed by `%` stays, `%NAME%` and `%NAME:~FROM,COUNT%` become a value, which is not
    read again. Then & | < > ^ ( ) and line ends outside of quotation marks are cmd.exe's own.
    """
    start, _, rest = line.partition('/c "')
    assert start == "cmd.exe /d /e:on /v:off /s "
    assert rest.endswith('"')
    rest, text = rest[:-1], ""
    while rest:
        char, rest = rest[0], rest[1:]
        name, closed, behind = rest.partition("%")
        if char == "%" and name and closed:
            assert name == "cd:~,", f"%{name}% is expanded"
            rest = behind
        else:
            text += char
    quoted = False
    for char in text:
        quoted ^= char == '"'
        assert quoted or char not in "&|<>^()\r\n;,=", text
    return split(text, "windows")[1:]


@given(st.lists(st.text(st.characters(exclude_characters="\0\r\n", exclude_categories=["Cs"])) | st.text(st.sampled_from('"%&|^\\ a')), max_size=4))  # fmt: skip
@example(['"&calc.exe'])
@example(["%PATH%", "100%", "%%", "%CMDCMDLINE:~-1%&calc.exe"])
@example(["a\\", "b c", "", "!TOKEN!", "%1", "%*"])
def test_the_arguments_of_a_batch_file_arrive_and_nothing_in_them_is_run(arguments: list[str]) -> None:
    start = windows_start(r"C:\100%\npx.cmd", arguments, {})
    assert cmd_reads(start.line) == arguments


@pytest.mark.parametrize("word", ["a\nb", "a\rb", "a\0b"])
def test_what_cmd_cannot_pass_on_is_refused(word: str) -> None:
    with pytest.raises(NotPassed) as caught:
        windows_start("npx.cmd", ["x", word], {})
    assert caught.value.word == word


# PATH and PATHEXT

FILES = {
    r"c:\node\npx": "a shell script",
    r"c:\node\npx.cmd": "",
    r"c:\node\node.exe": "",
    r"c:\tools\node.bat": "",
    r"c:\tools\srv.py": "",
    r"c:\tools\a.b.exe": "",
    r"c:\with space\uvx.exe": "",
    r"c:\project\npx.cmd": "a stranger's",
    r"c:\project\dist\server.exe": "",
}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("npx", r"C:\node\npx.cmd"),
        ("NPX.CMD", r"C:\node\NPX.CMD"),
        ("node", r"C:\tools\node.bat"),
        ("node.exe", r"C:\node\node.exe"),
        ("a.b", r"C:\tools\a.b.exe"),
        ("uvx", r"C:\with space\uvx.exe"),
        # PATHEXT lists .PY, but Windows starts no text.
        ("srv", None),
        ("srv.py", None),
        ("missing", None),
        (r".\dist\server", r"C:\project\dist\server.exe"),
        ("dist/server.exe", r"C:\project\dist\server.exe"),
        (r"C:\tools\srv.py", r"C:\tools\srv.py"),
        (r"C:\node\npx", r"C:\node\npx.cmd"),
    ],
)
def test_a_program_is_found_by_path_and_pathext_and_never_in_the_current_folder(
    name: str, expected: str | None
) -> None:
    environment = {"Path": r'C:\tools;;C:\node;"C:\with space"', "PathExt": ".COM;.EXE;.BAT;.CMD;.PY"}
    got = find_on_windows(name, environment, r"C:\project", lambda path: ntpath.normcase(path) in FILES)
    assert (got and ntpath.normcase(got)) == (expected and ntpath.normcase(expected))


def test_without_pathext_the_usual_suffixes_are_tried() -> None:
    program = find_on_windows("npx", {"PATH": r"C:\node"}, "", lambda path: ntpath.normcase(path) in FILES)
    assert program == r"C:\node\npx.cmd"


# Variables


def test_the_name_of_a_variable_has_no_case_on_windows() -> None:
    here = {"Path": "a", "Token": "t"}
    assert variable(here, "PATH", "windows") == "a"
    assert variable(here, "PATH", "posix") is None
    assert with_variables(here, {"PATH": "b"}, "windows") == {"PATH": "b", "Token": "t"}
    assert with_variables(here, {"PATH": "b"}, "posix") == {"Path": "a", "PATH": "b", "Token": "t"}


def test_only_scripts_for_a_posix_shell_are_quoted_apart_from_this() -> None:
    """Another use of `shlex` would quote and split for a shell that Windows does not have."""
    package = Path(inspector.__file__).parent
    users = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if re.search(r"^\s*(?:import shlex|from shlex )", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert users == {"command_words.py", "formats/quoting.py"}
