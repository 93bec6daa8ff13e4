"""The commands of the README and of docs/ are run, their output is compared, and their links are followed."""

from __future__ import annotations

import asyncio
import io
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

import pytest

from inspector.cli import main
from inspector.cli.parser import CommandLineParser, is_whole_target, scan
from inspector.cli.verbs import open as open_verb
from inspector.config.settings import Settings
from inspector.config.targets import RecordingTarget
from inspector.journal.filters.syntax import compiled
from inspector.journal.journal import whole_journal
from inspector.protocol.revisions import REVISIONS
from inspector.tui.app import InspectorApp
from inspector.tui.keymap import Keymap
from inspector.tui.keys_page import BEGIN, END, markdown
from inspector.tui.themes import ROLES, bundled_folder
from inspector.tui.verbs import BY_ID
from tests.processes import ROOT, Ran, environment
from tests.tui.live_app import WIDE
from tests.tui.live_app import shows as shows_text

PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
KEYS, FILTER, SETTINGS = (
    (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8") for name in ("keys.md", "filter.md", "settings.md")
)
REPLACED = {
    "inspector npx -y @modelcontextprotocol/server-everything": "inspector python -m inspector.demo",
    "inspector https://host/mcp": "inspector {url}",
}
"""What needs the network, and what is run instead of it."""

OF_OTHERS = {"mcp-cassette": "session.cassette.json", "har": "session.har", "jsonl": "session.jsonl"}
"""Files of other recorders, by their format."""

WEATHER = "import weather_sdk\n"
"""A server that cannot start: the module does not exist."""

SAVED = {
    "shop.py": "write-a-server.md",
    "keyed.py": "give-a-server-its-environment.md",
    "map.py": "look-at-apps.md",
    "prices.py": "extend.md",
}
"""Servers and an addon that a page tells its reader to save: the first Python block of the page."""

WRAPPER = '#!/bin/sh\nexec "{python}" {words} "$@"\n'
SERVERS = '{"servers": {"github": {"command": "python", "args": ["-m", "inspector.demo"]}}}'
SERVER = 'import runpy\nrunpy.run_module("inspector.demo", run_name="__main__")\n'


def blocks(page: Path, language: str) -> Iterator[str]:
    """The fenced blocks of a language on a page."""
    for match in re.finditer(
        rf"^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    ):
        yield match[1]


def typed() -> list[str]:
    """Every command of the pages, once, without comments."""
    lines = [line for page in PAGES for block in blocks(page, "sh") for line in block.splitlines()]
    return list(dict.fromkeys(line.partition(" #")[0].strip() for line in lines if line.strip()))


COMMANDS = typed()
INSPECTOR = [command for command in COMMANDS if command.split()[0] == "inspector"]

NOT_RUN = {
    r"https?://|host\.example|io\.example": "asks an address of the reader",
    r"@(?:shop|mail|docs|all)\b|--host claude-desktop": "opens what the reader's config files name",
    r"\b(?:docker|ssh|uv)\b|\.venv/": "starts a program of the reader",
    r"--env API_KEY|--environment staging": "needs a variable of the reader",
    r"--ask\b|--auth\b|serve --http|--start": "waits for a person, or serves until it is stopped",
    r"delivery\.txt": "reads a file of the reader",
    r"\bmysrv\b": "is part of an output",
    r"lengths|LENGTHS": "needs the template of the page, which has tests of its own",
    r"^inspector help agents >": "is run without the file by the test of its page",
    r"^git ": "needs a repository with commits",
    r"\.pyz\b": "is run by `make zipapp`",
}
"""Why a command that stands on a page is not run, by what its line names."""

BEFORE = re.compile(r"\s*(?:\$ |- run: )?(?:.*[;|&] |\w[\w ]* run (?:\S+ )*?)?(?:[A-Z_]+=\S+ )*(?:/\S+/|python3 )?")
"""What may stand in a line before the program: a variable, its folder, a pipe, or a program that runs it."""


PROGRAMS = ("URL", "lengths", "node", "npx", "python")
"""What follows `inspector` on a page without being a verb of ours: programs, and the verb of the template."""


def _command(line: str) -> str:
    """Return the command of Inspector in a line, under its first name; empty if there is none."""
    match = re.fullmatch(rf"{BEFORE.pattern}(?:inspector(?:\.pyz)?|mcpi)( (?!VERB |\[).*)?", line)
    return f"inspector{(match[1] or '').partition(' #')[0]}".strip() if match else ""


def _fenced(page: Path) -> Iterator[tuple[str, str, str]]:
    """Yield (language, line, command) of Inspector in the blocks of a page: scripts, jobs and outputs too."""
    for language, block in re.findall(r"^```(\S*)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S):
        for line in re.sub(r"\\\n\s*", "", block).splitlines():
            if command := _command(line):
                yield language, line.strip().removeprefix("$ "), command


def _in_text(page: Path) -> Iterator[str]:
    """Yield each command of Inspector in the sentences and tables of a page."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for quoted in re.findall(r"`([^`]+)`", text):
        if command := _command(re.sub(r"\s+", " ", quoted.replace("\\|", "|"))):
            yield command


def test_no_command_is_left_out_silently() -> None:
    """Blocks of these languages are run, those of saved-calls.md by `test_tour.py`; YAML has jobs for a CI server."""
    fenced = [row for page in PAGES for row in _fenced(page)]
    run = {command for language, _, command in fenced if language in ("sh", "console", "shell-session")}
    jobs = ("yaml", "python", "toml")
    others = {line for language, line, command in fenced if language not in jobs and command not in run}
    unexplained = {line for line in others if not any(re.search(part, line) for part in NOT_RUN)}
    assert not unexplained, "write these into a block `sh` or `console`, or say in NOT_RUN why they are not run"
    unused = [part for part in NOT_RUN if not any(re.search(part, line) for line in others)]
    assert not unused
    indented = [page.name for page in PAGES if re.search(r"^[ >]+```|^\s*~~~", page.read_text(encoding="utf-8"), re.M)]
    assert not indented, "their blocks are not read: begin them at the start of the line"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_command_that_a_page_names_is_one(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Verbs and options of every command, run or not; a sentence may name a part of one."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("{}"))
    for command in [*(command for *_, command in _fenced(page)), *_in_text(page)]:
        if re.search(r"\bVERB\b|TOPIC\b|\bJSON\b", command):
            continue
        words = CommandLineParser()
        for word in shlex.split(re.sub(r" (?:\||\d?>) .*", "", command))[1:]:
            words.feed(word)
        if words.verb is None or not words.verb.name:
            # A mistyped verb is read as a program.
            assert all(is_whole_target(word) or word in PROGRAMS for word in words.target_words[:1])


@pytest.fixture(scope="session")
def programs() -> Iterator[str]:
    """A search path on which `inspector` and `python` are ours; short, since pages show paths in lines that wrap."""
    with tempfile.TemporaryDirectory(prefix="b") as name:
        folder = Path(name)
        for program, words in (("inspector", "-m inspector"), ("python", "")):
            (folder / program).write_text(WRAPPER.format(python=sys.executable, words=words))
            (folder / program).chmod(0o755)
        yield f"{folder}:{environment(folder)['PATH']}"


@pytest.fixture(scope="session")
def recording(programs: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of the demo server, in which a message is marked."""
    home = tmp_path_factory.mktemp("recording")
    words = ["inspector", "tools", "--record", "session.mcp.jsonl", "--", "python", "-m", "inspector.demo"]
    env = environment(home, PATH=programs)
    subprocess.run(words, cwd=home, env=env, check=True, capture_output=True)
    for format, name in OF_OTHERS.items():
        words = ["inspector", "export", "session.mcp.jsonl", "--to", format, "-o", name]
        subprocess.run(words, cwd=home, env=env, check=True, capture_output=True)
    with whole_journal(home / "session.mcp.jsonl") as journal:
        journal.mark(2)
    return home / "session.mcp.jsonl"


@pytest.fixture
def folder(tmp_path: Path, recording: Path) -> Path:
    """The folder of a user: recordings, files of other recorders, servers, a config file."""
    (tmp_path / "inspector.json").write_text(SERVERS)
    (tmp_path / "server.py").write_text(SERVER)
    (tmp_path / "weather.py").write_text(WEATHER)
    (tmp_path / "calls").mkdir()
    (tmp_path / "calls" / "add.yaml").write_text(next(blocks(ROOT / "README.md", "yaml")))
    for name, page in SAVED.items():
        (tmp_path / name).write_text(next(blocks(ROOT / "docs/how-to" / page, "python")))
    for name in (recording.name, *OF_OTHERS.values()):
        shutil.copy(recording.with_name(name), tmp_path)
    (tmp_path / "recordings").mkdir()
    shutil.copy(recording, tmp_path / "recordings" / "2026-01-02T03-04-05Z-demo-ab12.mcp.jsonl")
    return tmp_path


@pytest.fixture
def url(folder: Path) -> Iterator[str]:
    """The demo server over HTTP."""
    words = [sys.executable, "-m", "inspector.demo", "--http", "0"]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment(folder))
    assert server.stdout is not None
    try:
        match = re.search(r"http://\S+", server.stdout.readline().decode())
        assert match is not None
        yield match[0]
    finally:
        server.terminate()
        server.wait()


def opens_the_interface(command: str) -> bool:
    """Whether a command draws a screen."""
    words = shlex.split(command)[1:]
    shows_help = any(word in words for word in ("--help", "--help-all", "--version"))
    return not shows_help and scan(words).verb.name in ("", "open", "demo", "replay")


BROWSER = [command for command in INSPECTOR if " web" in command and scan(shlex.split(command)[1:]).verb.name == "web"]
HEADLESS = [command for command in INSPECTOR if not opens_the_interface(command) and command not in BROWSER]
FIRST_OF_VERB = {scan(shlex.split(command)[1:]).verb.name: command for command in reversed(HEADLESS)}
"""For each verb, the command that is run as a process; the others call the same entry function in this process."""

CHECKS_ALL = [
    command for command in HEADLESS if re.match("inspector check (?!.*--(only|revision|plan)).* -- ", command)
]
"""Commands that run every check at every revision. The first one does, the others at one revision."""
ONE_REVISION = ("--revision", "2025-11-25")

OPENING = [command for command in INSPECTOR if opens_the_interface(command)]
ON_TERMINAL = {scan(shlex.split(command)[1:]).verb.name: command for command in reversed(OPENING)} | {
    "start": "inspector"
}
"""For each verb and the start screen, the command that is run on a terminal; the others are run in this process."""


IN_SHELL = re.compile(r"[|<>;&$`*~\n]")
"""What the shell does for a command."""


@pytest.fixture
def as_user(folder: Path, programs: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a user as the current one, and the environment of a user, for commands in this process."""
    for name in os.environ.keys() - (env := environment(folder, PATH=programs)).keys():
        monkeypatch.delenv(name)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(folder)
    return folder


def run_here(words: list[str]) -> tuple[int, str]:
    """Run `inspector WORDS` in this process: the exit code, and what it prints on both outputs, in its order."""
    kept = os.dup(1), os.dup(2)
    with tempfile.TemporaryFile() as file, open(os.devnull) as nothing:
        try:
            for number in (1, 2):
                os.dup2(file.fileno(), number)
            with (
                io.TextIOWrapper(os.fdopen(1, "wb", 0, closefd=False), "utf-8", write_through=True) as out,
                redirect_stdout(out),
                redirect_stderr(out),
                patch.object(sys, "stdin", nothing),
            ):
                code = main.run(words)
        finally:
            for number, before in zip((1, 2), kept, strict=True):
                os.dup2(before, number)
                os.close(before)
        file.seek(0)
        return code, file.read().decode()


def run_as_process(words: list[str], folder: Path, programs: str) -> Ran:
    """Run a command as a user does."""
    env = environment(folder, PATH=programs)
    ran = subprocess.run(words, cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True)
    return Ran(ran.returncode, ran.stdout.decode(), ran.stderr.decode())


@pytest.mark.slow
@pytest.mark.parametrize("command", HEADLESS)
def test_what_is_to_be_typed_works(
    command: str,
    as_user: Path,
    programs: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    folder = as_user
    words = shlex.split(command)
    if command in CHECKS_ALL[1:]:
        words[2:2] = ONE_REVISION
    if "-o" in words:
        (folder / words[words.index("-o") + 1]).unlink(missing_ok=True)
    if command in FIRST_OF_VERB.values():
        ran = run_as_process(words, folder, programs)
    else:
        ran = Ran(main.run(words[1:]), *capfd.readouterr())
    assert ran.code == 0, ran.err
    # A list may be empty; then stderr says so.
    assert (folder / words[words.index("-o") + 1]).stat().st_size if "-o" in words else ran.out or ran.err


def opened_here(words: list[str], *texts: str) -> int:
    """Run `inspector WORDS` in this process without a terminal: wait for the texts, quit, and return the exit code."""

    async def drive(app: InspectorApp) -> int | None:
        async with app.run_test(size=WIDE) as pilot:
            for text in texts:
                await shows_text(app, pilot, text)
            await pilot.press("q")
        return app.return_value

    interval = sys.getswitchinterval()
    try:
        with (
            patch.object(open_verb, "missing_terminal", lambda: ""),
            patch.object(InspectorApp, "run", lambda app, **_: asyncio.run(drive(app))),
        ):
            return main.run(words)
    finally:
        sys.setswitchinterval(interval)


@pytest.mark.slow
@pytest.mark.parametrize("command", OPENING)
def test_what_opens_the_interface_does(
    command: str, as_user: Path, programs: str, request: pytest.FixtureRequest
) -> None:
    local = REPLACED.get(command, command)
    if "{url}" in local:
        local = local.format(url=request.getfixturevalue("url"))
    words = shlex.split(local)[1:]
    # A recording is named by its file.
    named = words[-1] if words[:1] == ["replay"] else "Demo server"
    if command not in ON_TERMINAL.values():
        assert opened_here(words, named, "Tools") == 0
        return
    from tests.tui.terminal import Terminal

    with Terminal(as_user, words, PATH=programs) as terminal:
        if words:
            terminal.shows(named, "Tools")
        else:
            terminal.shows("Recordings", "@github")
            terminal.press("\t")
            terminal.shows("q quit")
        terminal.press("q")
        assert terminal.ends() == 0


@pytest.mark.slow
@pytest.mark.parametrize("command", BROWSER)
def test_what_serves_the_interface_prints_its_address(command: str, folder: Path, programs: str) -> None:
    env = environment(folder, PATH=programs)
    with subprocess.Popen(shlex.split(command), cwd=folder, env=env, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{43}/\n", process.stdout.readline())
        process.send_signal(signal.SIGINT)
        assert process.wait() == 0


SESSIONS = [
    pytest.param(page, block, id=f"{page.stem}-{number}")
    for page in PAGES
    for number, block in enumerate(blocks(page, "console"))
]


@pytest.mark.slow
@pytest.mark.parametrize(("page", "block"), SESSIONS)
def test_the_output_on_a_page_is_what_the_program_prints(
    page: Path, block: str, as_user: Path, programs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line `…` on the page stands for lines that it does not show. `GOLDEN=write` updates the page.

    Commands that need the shell run in it; `test_what_is_to_be_typed_works` runs one of each verb as a process.
    """
    folder = as_user
    monkeypatch.setenv("COLUMNS", "90")
    code = 0
    for command, documented in commands_with_output(block):
        words = [] if IN_SHELL.search(command) else shlex.split(command)
        if words[:1] == ["inspector"]:
            code, output = run_here(words[1:])
        else:
            code, output = run_in_shell(command.replace("$?", str(code)))
        printed = output.rstrip("\n").replace(str(folder), "~/shop").replace(programs.partition(":")[0], "/usr/bin")
        if not shows(documented, printed) and os.environ.get("GOLDEN") == "write":
            assert code != 2 or documented.startswith("error:"), (
                f"{command} can no longer run on {page.name}:\n{printed}"
            )
            text = page.read_text(encoding="utf-8")
            old, new = (f"$ {command}\n{output}\n" for output in (documented, updated(documented, printed)))
            assert text.count(old) == 1
            page.write_text(text.replace(old, new), encoding="utf-8")
        else:
            assert shows(documented, printed), f"{command}\n{printed}"


def run_in_shell(command: str) -> tuple[int, str]:
    """Run a line of a page: the exit code, and both outputs."""
    ran = subprocess.run(
        command, shell=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    return ran.returncode, ran.stdout


def commands_with_output(block: str) -> list[tuple[str, str]]:
    """Return each command of a `console` block with the output below it."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [(command, output.rstrip("\n")) for command, _, output in (part.partition("\n") for part in parts)]


VARIABLE = (
    (r"<?\d[\d.,]* ?(?:ms|s|min)\b", "TIME"),
    (r"\b\d\d:\d\d(?::\d\d(?:\.\d+)?)?\b", "CLOCK"),
    (rf"\b(?!{'|'.join(REVISIONS)})20\d\d-\d\d-\d\d|T\d\d-\d\d-\d\dZ", "DATE"),
    (r"(?:\d[\d.,]* ?|- )(?:B|kB|MB)\b", "SIZE"),
    (r"\b\d+ skipped, \d+ passed", "CHECKS"),
    (r"\bprocess \d+|\(events? [\d, ]+\)", "NUMBERS"),
    (r"\bpython \d[\d.]+", "python V"),
    (r"-[0-9a-f]{4}\.mcp\.jsonl", "-ID.mcp.jsonl"),
    (r"(?<![\w/:.])[~.]?/(?:[\w.+-]+/)*(?:[\w.+-]+)?", lambda match: "/" + match[0].rpartition("/")[2].rstrip(")")),
    (r"(?<=in )/[\w.-]+|(?<=in )\.(?=\W|$)", "FOLDER"),
    (r"[ ─]+", " "),
)
"""What differs from run to run (times, sizes, process ids, names of recordings, folders), and with each new check."""


def comparable(output: str) -> list[str]:
    """Return the lines of an output without what differs from run to run."""
    for pattern, instead in VARIABLE:
        output = re.sub(pattern, instead, output)
    return [line.strip() for line in output.splitlines()]


def shows(page: str, printed: str) -> bool:
    """Whether the printed lines are those of the page, in which a line `…` stands for any lines."""
    lines = comparable(printed)
    pattern = "\n".join("(?:.*\n)*?" if line == "…" else re.escape(line) for line in comparable(page))
    pattern = pattern.replace("(?:.*\n)*?\n", "(?:.*\n)*?")
    return re.fullmatch(pattern, "\n".join([*lines, ""]) if page.endswith("…") else "\n".join(lines)) is not None


def updated(page: str, printed: str) -> str:
    """Return the page's output with the lines printed today, and `…` where it has one."""
    parts = [part.strip("\n").splitlines() for part in re.split(r"^…$", page, flags=re.MULTILINE)]
    lines = printed.splitlines()
    if len(parts) == 1:
        return printed
    first, last = parts[0], parts[-1]
    kept = [*lines[: len(first)], *(line for part in parts[1:-1] for line in ("…", *part)), "…"]
    return "\n".join([*kept, *(lines[-len(last) :] if last else [])])


def test_nothing_else_is_replaced_than_what_needs_the_network() -> None:
    # A collector on this machine may be missing: the session goes on, and says so.
    local = {command: re.sub(r"demo://|http://localhost:4318\b", "", command) for command in COMMANDS}
    assert {command for command, rest in local.items() if "npx" in rest or "://" in rest} == set(REPLACED)


def test_the_recording_of_the_pages_is_a_recording() -> None:
    named = {word for command in INSPECTOR for word in command.split() if word.endswith(".mcp.jsonl")}
    assert named == {"session.mcp.jsonl"}
    assert all(RecordingTarget(Path(word)).kind == "recording" for word in named)


@pytest.mark.slow
@pytest.mark.parametrize("command", [command for command in COMMANDS if command.split()[0] != "inspector"])
def test_make_makes_what_is_named(command: str) -> None:
    program, *targets = shlex.split(command)
    assert program == "make"
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)
    subprocess.run(["make", "-n", *targets], cwd=ROOT, check=True, capture_output=True)


def test_the_table_of_keys_is_current() -> None:
    assert KEYS.count(BEGIN) == KEYS.count(END) == 1
    written = KEYS.partition(BEGIN)[2].partition(END)[0]
    assert written.strip() == markdown().strip(), "run: python -m inspector.tui.keys_page"
    assert all(f"`{verb}`" in written for verb in BY_ID)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        if anchor:
            headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def test_the_modules_that_the_architecture_names_exist() -> None:
    text = (ROOT / "docs/explanation/architecture.md").read_text(encoding="utf-8")
    package = ROOT / "inspector"
    named = set(re.findall(r"`([\w/.*-]+(?:\.(?:py|toml|json|yaml|jsonl)|/))`", text))
    assert len(named) > 100
    named -= {"inspector.json", "settings.json"}  # files of the user
    gone = [name for name in named if not any(package.glob(f"**/{name}")) and not any(ROOT.glob(name))]
    assert gone == []


def test_the_site_and_the_index_list_every_page() -> None:
    """Pages for maintainers are named in mkdocs.yml too, but are not in the menu."""
    docs = ROOT / "docs"
    pages = {page.relative_to(docs).as_posix() for page in docs.rglob("*.md")}
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    menu = re.findall(r"^ +- (?:[^#:]+: )?(\S+\.md)$", text, re.MULTILINE)
    for_maintainers = re.findall(r"^  (\S+\.md)$", text, re.MULTILINE)
    assert sorted([*menu, *for_maintainers]) == sorted(pages)
    index = (docs / "index.md").read_text(encoding="utf-8")
    assert pages - {"index.md"} <= set(re.findall(r"\]\(([^)]+)\)", index))


def test_filters_of_the_page_are_filters() -> None:
    terms = re.findall(r"`((?:-?)[a-z]+:[^`\s/][^`]*)`", FILTER)
    assert len(terms) > 12
    examples = "".join(blocks(ROOT / "docs" / "reference" / "filter.md", "text"))
    assert len(examples.splitlines()) > 4
    for source in (*terms, *examples.splitlines()):
        compiled(source)


def test_themes_settings_and_keys_of_the_page_exist() -> None:
    settings, _, themes = SETTINGS.partition("## Themes")
    assert {path.stem for path in bundled_folder().glob("*.yaml")} <= set(re.findall(r"`([a-z-]+)`", themes))
    assert set(ROLES) <= set(re.findall(r"^\| `([a-z-]+)` \|", themes, re.MULTILINE))
    assert set(re.findall(r"^\| `([a-z_]+)` \|", settings, re.MULTILINE)) == set(Settings.__dataclass_fields__)
    example = re.findall(r'"([a-z]+\.[a-z-]+)": "([^"]+)"', settings)
    assert example
    assert Keymap(dict(example)).problems == []


def test_the_theme_of_the_page_is_one(tmp_path: Path) -> None:
    from inspector.tui.themes import read_theme

    (source,) = blocks(ROOT / "docs" / "reference" / "settings.md", "yaml")
    path = tmp_path / "mine.yaml"
    path.write_text(source)
    assert read_theme(path).name == "mine"


def test_each_part_of_the_security_page_names_tests_that_exist() -> None:
    page = (ROOT / "docs" / "explanation" / "security.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in page.partition("## Tests")[2].splitlines() if "::" in line]
    assert {row[0] for row in rows} == set(re.findall(r"^\*\*(.+?)\.\*\*", page, re.MULTILINE))
    for file, name in re.findall(r"`([a-z_/]+\.py)::(test_\w+)`", page):
        assert f"def {name}(" in (ROOT / "tests" / file).read_text(encoding="utf-8"), name


def test_the_page_has_each_input_of_the_action() -> None:
    import yaml

    page = (ROOT / "docs" / "how-to" / "check-in-ci.md").read_text(encoding="utf-8")
    table = page.partition("| Input | Meaning |")[2].partition("\n\n")[0]
    inputs = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["inputs"]
    assert re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE) == list(inputs)
