"""The grammar of the command line: where the verb, its words, our options and the target begin and end."""

from __future__ import annotations

import io
import sys
from contextlib import suppress
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.cli import verbs
from inspector.cli.parser import asks_for_json, check_command, scan
from inspector.cli.verb import Invocation
from inspector.errors import UsageError
from tests.typed import typed


def scanned(text: str) -> Invocation:
    return scan(text.split())


@pytest.mark.parametrize(
    ("line", "verb", "target"),
    [
        ("", "", []),
        ("npx -y some-server --flag", "", ["npx", "-y", "some-server", "--flag"]),
        ("https://host/mcp", "", ["https://host/mcp"]),
        ("@name", "", ["@name"]),
        ("session.mcp.jsonl", "", ["session.mcp.jsonl"]),
        ("tools npx -y server", "tools", ["npx", "-y", "server"]),
        ("tools --json npx -y server --json", "tools", ["npx", "-y", "server", "--json"]),
        ("--json tools @name", "tools", ["@name"]),
        ("call echo python server.py", "call", ["python", "server.py"]),
        ("call echo message=hi python server.py a=b", "call", ["python", "server.py", "a=b"]),
        ("read file:///x python server.py", "read", ["python", "server.py"]),
        ("read https://host/page https://host/mcp", "read", ["https://host/mcp"]),
        ("request ping python s.py", "request", ["python", "s.py"]),
        ("complete prompt greet name A @x", "complete", ["@x"]),
        ("toolsmith", "", ["toolsmith"]),
        ("tools tools", "tools", ["tools"]),
    ],
)
def test_the_first_word_that_is_not_a_verb_begins_the_target(line: str, verb: str, target: list[str]) -> None:
    invocation = scanned(line)
    assert (invocation.verb.name, invocation.target_words, invocation.command) == (verb, target, False)


def test_everything_after_two_dashes_is_a_command_whatever_it_looks_like() -> None:
    invocation = scanned("tools --json -- @name --json -- x")
    assert invocation.command
    assert invocation.target_words == ["@name", "--json", "--", "x"]
    assert invocation.json


def test_a_verb_after_two_dashes_is_a_program() -> None:
    invocation = scanned("-- tools")
    assert (invocation.verb.name, invocation.target_words) == ("", ["tools"])


@pytest.mark.parametrize("target", ["@name", "https://host/mcp", "HTTP://host", "kept.mcp.jsonl"])
def test_options_and_pairs_may_follow_a_target_that_is_one_word(target: str) -> None:
    invocation = scan(["call", "echo", target, "message=hi", "--json"])
    assert invocation.json
    assert invocation.arguments["arguments"] == ["message=hi"]
    assert invocation.target_words == [target]


def test_a_second_word_after_a_target_of_one_word_is_refused() -> None:
    with pytest.raises(UsageError, match="after the target @name"):
        scanned("tools @name python")
    with pytest.raises(UsageError, match="is already the target"):
        scanned("tools @name -- python")


@pytest.mark.parametrize(
    ("word", "is_argument"),
    [
        ("a=1", True),
        ("a:=1", True),
        ("a=", True),
        ("url=https://h/?q=1", True),
        ("a.b[0]=x", True),
        ("https://h/?q=1", False),
        ("@name=x", False),
        ("=x", False),
        (":=x", False),
        ("plain", False),
    ],
)
def test_pairs_are_arguments_and_urls_with_a_query_are_targets(word: str, is_argument: bool) -> None:
    invocation = scan(["call", "echo", word, *(["@t"] if is_argument else [])])
    assert invocation.arguments["arguments"] == ([word] if is_argument else [])


def test_an_object_after_the_method_is_its_parameters() -> None:
    invocation = scan(["request", "x/y", '{"a": 1}', "@name"])
    assert invocation.arguments == {"method": "x/y", "params": '{"a": 1}'}
    assert scan(["request", "x/y", "@name"]).arguments["params"] is None
    assert scan(["request", "x/y", "[1]", "--json", "@name"]).json  # A list is refused later, and starts no command.


def test_options_take_the_next_word_or_what_follows_the_equals_sign() -> None:
    invocation = scanned("tools --timeout 5 --era=legacy --header A:1 --header=B:2 --env X=a=b @name")
    assert invocation.option("timeout") == 5.0
    assert invocation.option("era") == "legacy"
    assert invocation.option("header") == [("A", "1"), ("B", "2")]
    assert invocation.option("env") == [("X", "a=b")]


def test_a_negative_number_is_a_word_and_no_option() -> None:
    assert scanned("complete prompt p size -5 @x").arguments["value"] == "-5"


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        ("tools --jsn @x", "Unknown option --jsn", "Did you mean --json?"),
        ("tools --zzzzzz @x", "Unknown option --zzzzzz", "--help"),
        ("tools --timeout", "--timeout needs a value", "--timeout TIME"),
        ("tools --timeout -- x", "--timeout needs a value", ""),
        ("tools --timeout soon @x", "is not a length of time", ""),
        ("tools --timeout 0 @x", "is not above 0", ""),
        ("tools --timeout nan @x", "is not a length of time", ""),
        ("tools --timeout inf @x", "is not a length of time", ""),
        ("tools --era old @x", "--era cannot be “old”", "auto, legacy or modern"),
        ("tools --json=yes @x", "--json takes no value", ""),
        ("tools --page-limit 0 @x", "is not a whole number above 0", ""),
        ("tools --page-limit ٣ @x", "is not a whole number above 0", ""),
        ("tools --follow @x", "Unknown option --follow", ""),
        ("tools", "needs a target", "after --"),
        ("call", "needs the argument TOOL", "Usage: inspector call"),
        ("call -- python", "needs the argument TOOL", ""),
        ("completion", "needs one of bash, zsh, fish", "Usage: inspector completion"),
        ("read", "needs the argument URI", ""),
        ("complete resource x", "Unknown kind “resource”", "Use one of: prompt, template"),
        ("completion powershell", "Unknown shell “powershell”", "Use one of: bash, zsh, fish"),
        ("replay a.mcp.jsonl b", "Unexpected argument", ""),
        ("replay --json a.mcp.jsonl", "`inspector replay` does not take --json", ""),
        ("--json replay a.mcp.jsonl", "`inspector replay` does not take --json", ""),
        ("servers --timeout 3", "`inspector servers` does not take --timeout", ""),
        ("--json @x", "--json works only with a verb", "inspector tools --json"),
        ("tools --record a --no-record @x", "--record cannot be used with --no-record", ""),
        ("tools --keep . --no-record @x", "--keep cannot be used with --no-record", ""),
        ("tools --record a --keep . @x", "--record cannot be used with --keep", ""),
        ("tools --header nonsense @x", "has no value", "Name: value"),
        ("tools --env =x @x", "--env =… is not a variable", "NAME for a variable of this shell"),
        ("complete prompt a b c --with x @t", "is not in name=value form", ""),
        ("tools --elicit maybe @x", "--elicit cannot be “maybe”", "decline"),
        ("tools --elicit [1] @x", "--elicit cannot be", ""),
        ("tools --elicit {1 @x", "is not JSON", ""),
        ("call t --args [] @x", "is not a JSON object", ""),
        ("tools --revision= @x", "The revision is empty", ""),
        ("export x --to pdf", "--to cannot be “pdf”", "md, json, html"),
        ("export x --events 5-2", "is not a range of events", ""),
    ],
)
def test_what_cannot_be_understood_is_reported_with_the_way_out(line: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        scanned(line)
    assert message in caught.value.message
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        (
            "chekc https://host/mcp",
            "neither a verb of inspector nor a program on PATH",
            "Did you mean “inspector check”?",
        ),
        ("call get-sum 2 3 -- python", "Unexpected argument “2”", "inspector call get-sum KEY=VALUE -- COMMAND"),
        ("prompt greet Ada", "Unexpected argument “Ada”", "inspector prompt greet KEY=VALUE -- COMMAND"),
    ],
)
def test_a_word_that_cannot_be_started_is_refused(line: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_command(scanned(line))
    assert message in caught.value.message
    assert hint in caught.value.hint


WORDS = (
    "urn://a",
    "x=1",
    "x:=1",
    "@a",
    "-1",
    "--",
    "",
    "{",
    "[",
    "a.jsonl",
    "zebra",
    "--json",
    "--cwd",
    "https://a",
    "=",
)


@pytest.mark.parametrize("verb", ["", *verbs.summaries()])
def test_words_of_any_kind_are_parsed_or_refused(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    for count in (1, 2):
        for words in product(WORDS, repeat=count):
            with suppress(UsageError):
                check_command(scan([verb, *words] if verb else words))


def test_a_program_may_be_named_like_a_verb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "chekc"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    for line in ("chekc x", "-- chek x", "--cwd /tmp chek x", "https://host/mcp", "call t a=1 chekc"):
        check_command(scanned(line))


def test_a_side_of_a_comparison_may_be_a_command_after_dashes() -> None:
    invocation = scan(["diff", "a.mcp.jsonl", "--exact", "--", "python", "my server.py", "--flag"])
    assert invocation.arguments == {"a": "a.mcp.jsonl", "b": typed("python 'my server.py' --flag")}
    assert invocation.option("exact") is True


def test_values_come_from_files_where_they_begin_with_an_at_sign(tmp_path: Path) -> None:
    file = tmp_path / "args.json"
    file.write_text('{"a": 12345678901234567890}', encoding="utf-8")
    assert scan(["call", "t", "--args", f"@{file}", "@x"]).option("args") == {"a": 12345678901234567890}
    with pytest.raises(UsageError, match="the file does not exist"):
        scan(["call", "t", "--args", f"@{file}.not", "@x"])


def test_a_standard_input_that_is_not_text_is_reported_to_be_that(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff"), encoding="utf-8"))
    with pytest.raises(UsageError, match="stdin cannot be read"):
        scan(["call", "t", "--args", "@-", "@x"])


def test_a_folder_given_as_a_root_becomes_its_uri(tmp_path: Path) -> None:
    invocation = scan(["tools", "--root", str(tmp_path), "--root", "file:///srv", "@x"])
    assert invocation.option("root") == [tmp_path.as_uri(), "file:///srv"]
    with pytest.raises(UsageError, match="is not a file: URI"):
        scan(["tools", "--root", "https://host.example", "@x"])


@pytest.mark.parametrize(
    ("line", "expected"),
    [("tools --json @x", True), ("tools -- x --json", False), ("tools @x", False), ("tools --bogus --json", True)],
)
def test_errors_are_json_where_it_was_asked_of_us(line: str, expected: bool) -> None:
    assert asks_for_json(line.split()) is expected


@given(
    st.lists(
        st.text(max_size=12) | st.sampled_from(["tools", "call", "--json", "--timeout", "@x", "a=b", "{}"]), max_size=8
    )
)
def test_any_words_are_either_understood_or_refused_with_a_sentence(words: list[str]) -> None:
    try:
        refused = scan(words) is None
    except UsageError as error:
        refused = not error.message
    assert not refused


@given(st.lists(st.text(max_size=12), max_size=8))
def test_a_command_after_two_dashes_comes_through_unchanged(words: list[str]) -> None:
    assert scan(["info", "--", "server", *words]).target_words == ["server", *words]
