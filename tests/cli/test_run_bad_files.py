"""Files of saved calls that are wrong, as a user sees them: file, line, column, cause, remedy, exit code 2.

Nothing is sent: the server of the flows does not exist, and no recording is made.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.cli.conftest import Run

HEAD = "inspector: 1\nserver: /nothing/there\n"
STEP = HEAD + "steps:\n  - call: x\n"
BOMB = "inspector: 1\nvars:\n  a0: &a0 [x, x]\n" + "".join(
    f"  a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9)
)


class Case(NamedTuple):
    """Files by name below `calls`; how the error begins; what the hint says."""

    files: dict[str, str | bytes]
    error: str
    remedy: str
    options: tuple[str, ...] = ()


def one(text: str | bytes, place: str, cause: str, remedy: str, *options: str) -> Case:
    return Case({"a.yaml": text}, f"calls/a.yaml:{place}: {cause}", remedy, options)


CASES = {
    "a bomb": one(BOMB, "7:12", "Anchors are used more than 1,000 times.", "instead of anchors"),
    "a tag": one(HEAD + "vars: {a: !!python/name:os.system x}\n", "3:11", "Tags are not supported", "Leave the tag out"),
    "a file of 2 MiB": one(HEAD + "#" * (2 << 20), "1:1", "The file is larger than 1 MiB.", "Split it"),
    "a key twice": one(STEP + "    args: {a: 1, a: 2}\n", "5:18", "The key “a” stands twice.", "stands in line 5, too"),
    "a step key twice": one(STEP + "    name: a\n    name: b\n", "6:5", "The key “name” stands twice.", "line 5, too"),
    "no": one(STEP + "    args: {a: no}\n", "5:15", "no is read as true or false by some programs.", "quote it"),
    "on": one(STEP + "    args: {a: [On]}\n", "5:16", "On is read as true or false by some programs.", "quote it"),
    "a date": one(STEP + "    args: {a: 2026-01-01}\n", "5:15", "2026-01-01 is read as a date", "Quote it"),
    "a time of base 60": one(STEP + "    args: {a: 1:30}\n", "5:15", "1:30 is read as a number of base 60", "Quote it"),
    "a leading zero": one(STEP + "    args: {a: 0777}\n", "5:15", "0777 is read as different values", "Quote it"),
    "a tab": one(STEP + "\tname: x\n", "5:1", "A tab cannot indent a line.", "Indent with spaces"),
    "a tab after CRLF": one(STEP.replace("\n", "\r\n") + "\tname: x\r\n", "5:1", "A tab cannot indent", "with spaces"),
    "CRLF and a byte order mark": one(
        ("\ufeff" + STEP + "    argz: {}\n").replace("\n", "\r\n"), "5:5", "Unknown key “argz”.", "Did you mean “args”?"
    ),
    "a byte that is not UTF-8": one(b"inspector: 1\nname: \xe9\nsteps: []\n", "2:7", "The file is not UTF-8.", "UTF-8"),
    "UTF-16": one("inspector: 1\nsteps: []\n".encode("utf-16"), "1:1", "The file is UTF-16.", "Save it as UTF-8"),
    "braces that do not close": one(HEAD + "steps: [{call: x}\n", "4:1", "A list in brackets does not end.", "Close every “[” with “]”"),
    "an unknown key of a flow": one(HEAD + "stepz: []\n", "3:1", "Unknown key “stepz”.", "Did you mean “steps”?"),
    "an unknown key of expect": one(STEP + "    expect: {withn: 1 s}\n", "5:14", "Unknown key “withn”.", "“within”"),
    "an unknown variable": one(
        STEP + "    args: {a: ['{{skuu}}']}\n", "5:16", "Unknown variable “skuu”.", "--set skuu=VALUE"
    ),
    "braces of a server that do not close": one(
        "inspector: 1\nserver: npx {{a\nsteps: []\n", "2:9", "“{{a” is not a variable.", "Write {{name}}"
    ),
    "an unknown variable with a near one": one(
        HEAD + "vars: {sku: 1}\nsteps:\n  - call: x\n    args: {a: '{{skuu}}'}\n", "6:15", "Unknown variable “skuu”.",
        "Did you mean “sku”?",
    ),
    "a variable before its capture": one(
        HEAD + "steps:\n  - read: '{{id}}'\n  - call: x\n    capture: {id: $.id}\n", "4:11", "Unknown variable “id”.",
        "Step 2 captures it. Put that step first.",
    ),
    "a variable of the server": one(
        "inspector: 1\nserver: '{{url}}'\nsteps: []\n", "2:9", "Unknown variable “url”.", "--set url=VALUE"
    ),
    "a flow that uses itself": one(HEAD + "steps:\n  - use: a.yaml\n", "4:10", "Saved calls use one another in a circle", "Remove"),
    "flows that use one another": Case(
        {"a.yaml": HEAD + "steps:\n  - use: s/b.yaml\n", "s/b.yaml": HEAD + "steps:\n  - call: x\n  - use: ../a.yaml\n"},
        "calls/s/b.yaml:5:10: Saved calls use one another in a circle: calls/a.yaml → calls/s/b.yaml → ", "Remove one of these",
    ),
    "a flow that is not there": Case(
        {"a.yaml": HEAD + "steps:\n  - use: logn.yaml\n", "login.yaml": STEP},
        "calls/a.yaml:4:10: The saved call logn.yaml does not exist.", "Did you mean “login.yaml”?",
    ),
    "a value for a number": one(
        HEAD + "vars: {n: 1}\nsteps:\n  - call: x\n    args: {n: '{{n}}'}\n", "", "", "", "--set", "n=two"
    )._replace(error="The variable “n” cannot be “two”: its default is a number.", remedy="Give a number"),
    "an environment with a map": Case(
        {"a.yaml": STEP, "env/ci.yaml": "a: {b: 1}\n"},
        "calls/env/ci.yaml:1:4: The value of “a” is not a string, number, true or false.", "one value", ("--environment", "ci"),
    ),
    "an environment with a date": Case(
        {"a.yaml": STEP, "env/ci.yaml": "a: 1\nday: 2026-01-01\n"}, "calls/env/ci.yaml:2:6: 2026-01-01 is read as a date",
        "Quote it", ("--environment", "ci"),
    ),
    "an environment with a wrong name": Case(
        {"a.yaml": STEP, "env/ci.yaml": "a b: 1\n"}, "calls/env/ci.yaml:1:1: “a b” is not a variable name.", "letters",
        ("--environment", "ci"),
    ),
    "an environment that is a list": Case(
        {"a.yaml": STEP, "env/ci.yaml": "- a\n"}, "calls/env/ci.yaml:1:1: An environment is a map of names and values.",
        "NAME: VALUE", ("--environment", "ci"),
    ),
    "a secret that is not set": Case(
        {"a.yaml": STEP + "    args: {t: '{{t}}'}\n", "env/ci.yaml": "t: env:NO_SUCH_TOKEN\n"},
        "calls/env/ci.yaml:1:4: The environment variable NO_SUCH_TOKEN is not set.", "Set NO_SUCH_TOKEN",
        ("--environment", "ci"),
    ),
    "an environment that is not there": Case(
        {"a.yaml": STEP, "env/staging.yaml": "a: 1\n"}, "The environment “stagin” does not exist.",
        "Did you mean “staging”?", ("--environment", "stagin"),
    ),
    "a wrong path": one(STEP + "    capture: {a: b.c}\n", "5:18", "The value of “a” is \"b.c\".", "Write a path such as $."),
    "a regular expression": one(
        STEP + "    expect: {result: {$.a: {matches: '(?<=a)b'}}}\n", "5:38", "This is not a regular expression", "several expectations"
    ),
    "a snapshot elsewhere": one(
        STEP + "    expect: {same_as: ../x.json}\n", "5:23", "The file ../x.json is not below the folder of the saved call.",
        "Write a relative path",
    ),
    "a file that is not a flow": Case(
        {"a.yaml": "name: x\n"}, "calls/a.yaml:1:1: The file is not a saved call: its first key is not “inspector”.",
        "Begin it with “inspector: 1”", ("calls/a.yaml",),
    ),
    "no flow at all": Case({"a.yaml": "name: x\n"}, "No saved call was found in calls.", "begins with “inspector: 1”"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_file_that_is_wrong(run: Run, home: Path, name: str) -> None:
    case = CASES[name]
    before: dict[Path, Any] = {}
    for file, text in case.files.items():
        path = home / "calls" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        before[path] = text.encode() if isinstance(text, str) else text
        path.write_bytes(before[path])
    ran = run("run", *case.options)
    assert ran.code == 2, ran.out
    error, _, hint = ran.err.partition("\nhint: ")
    assert error.replace(os.sep, "/").startswith(f"error: {case.error}"), ran.err
    assert hint.strip(), "each error says what to do"
    assert case.remedy in hint
    assert not list(home.rglob("*.mcp.jsonl")), "nothing was sent"
    assert {path: path.read_bytes() for path in before} == before
    document = run("run", "--json", *case.options).error
    if case.error.startswith("calls/"):
        place = case.error.split(":")
        assert (document["line"], document["column"]) == (int(place[1]), int(place[2]))
    assert document["hint"]


@pytest.mark.slow
def test_a_byte_order_mark_and_crlf_are_read(run: Run, home: Path, demo: list[str]) -> None:
    (home / "calls").mkdir()
    text = '\ufeffinspector: 1\nsteps:\n  - call: echo\n    args: {message: "ü no"}\n'
    (home / "calls/a.yaml").write_bytes(text.replace("\n", "\r\n").encode())
    assert run("run", *demo).code == 0
