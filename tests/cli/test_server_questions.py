"""`--ask`: questions of the server, answered on a real terminal."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from inspector.cli.output import Output
from inspector.cli.server_questions import MAX_TRIES, QuestionPrompts, _read
from inspector.protocol.forms.form import Form
from tests.processes import DEMO, INSPECTOR, environment, has_output, run
from tests.test_addresses import DISGUISED, LOOKALIKE, MIXES, REQUESTED

pytestmark = pytest.mark.slow


class Dialogue:
    """`inspector WORDS` on a pseudo-terminal."""

    def __init__(self, home: Path, *words: str) -> None:
        import pty

        self._ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [*INSPECTOR, *words, *DEMO], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
            env=environment(home, COLUMNS="200"),
        )  # fmt: skip
        os.close(theirs)
        self.output = ""

    def answer(self, prompt: str, line: str) -> None:
        """Wait for a prompt at the end of the output, and type a line."""
        while not self.output.endswith(prompt):
            assert self._read(), self.output
        self.output = ""
        os.write(self._ours, f"{line}\n".encode())

    def end(self) -> str:
        """The output from the last answer to the end."""
        while self._read():
            pass
        os.close(self._ours)
        return self.output

    def _read(self) -> bool:
        assert has_output(self._ours, 30), self.output
        try:
            data = os.read(self._ours, 65536)
        except OSError:  # so Linux says that the other end is closed
            return False
        self.output += data.decode("utf-8", "replace")
        return bool(data)


@pytest.fixture
def dialogue(tmp_path: Path) -> Iterator[Callable[..., Dialogue]]:
    begun: list[Dialogue] = []

    def begin(*words: str) -> Dialogue:
        begun.append(Dialogue(tmp_path, *words))
        return begun[-1]

    yield begin
    for one in begun:
        one.process.kill()
        one.process.wait()


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_several_questions_of_one_call_are_asked_one_after_the_other(
    dialogue: Callable[..., Dialogue], era: str
) -> None:
    asked = dialogue("call", "ask-several", "--ask", "--era", era)
    asked.answer("c to cancel: ", "")
    asked.answer("colour: ", "4")
    assert "not one of the choices" not in asked.output
    asked.answer("not one of the choices\r\ncolour: ", "green")
    asked.answer("d to decline: ", "")
    asked.answer("only a dot.\r\n", "Hi\n.")
    asked.answer("another folder, or d to decline: ", "/srv")
    result = asked.end()
    assert '"content":{"colour":"green"}' in result
    assert '"text":"Hi"' in result
    assert '"uri":"file:///srv"' in result
    assert asked.process.wait(10) == 0


@pytest.mark.parametrize(("typed", "value"), [("y", True), ("Yes", True), ("no", False), ("true", True), ("n", False)])
def test_a_boolean_is_answered_as_in_a_terminal(typed: str, value: bool) -> None:
    form = Form({"type": "object", "properties": {"sure": {"type": "boolean"}}})
    assert _read(form, form.fields()[0], typed) == (value, "")


def test_with_json_a_question_is_shown_before_it_is_answered(dialogue: Callable[..., Dialogue]) -> None:
    asked = dialogue("call", "ask-user", "--ask", "--json")
    asked.answer(
        "asks for input:\r\n  Please tell us about yourself.\r\nEnter to answer, d to decline, c to cancel: ", "d"
    )
    assert "chose to decline" in asked.end()


def test_a_question_can_be_declined(dialogue: Callable[..., Dialogue]) -> None:
    asked = dialogue("call", "ask-user", "--ask")
    asked.answer("c to cancel: ", "yes")
    asked.answer("  yes is not one of the answers.\r\nEnter to answer, d to decline, c to cancel: ", "d")
    assert asked.end().endswith("Declined.\r\nThe user chose to decline.\r\n")


@pytest.mark.parametrize("before", [[], [""]])
def test_wrong_answers_without_end_cancel_the_question(dialogue: Callable[..., Dialogue], before: list[str]) -> None:
    asked = dialogue("call", "ask-user", "--ask")
    for line in before:
        asked.answer("c to cancel: ", line)
    asked.answer(": ", "\n".join(["wrong"] * 200))
    output = asked.end()
    assert f"{MAX_TRIES} answers were wrong.\r\nCancelled." in output
    assert output.endswith("The user chose to cancel.\r\n")


def test_what_was_answered_beforehand_is_not_asked(dialogue: Callable[..., Dialogue]) -> None:
    asked = dialogue("call", "ask-model", "--ask", "--sampling", "Beforehand")
    output = asked.end()
    assert "Beforehand" in output
    assert "asks a model" not in output


def test_without_a_terminal_the_options_decide(tmp_path: Path) -> None:
    ran = run(tmp_path, ["call", "ask-user", "--ask", "--elicit", "cancel", *DEMO])
    assert ran.out == "The user chose to cancel.\n"


async def test_a_url_is_shown_whole_as_it_is_requested(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """C-ELIC-04."""

    async def consent(prompts: QuestionPrompts, prompt: str) -> None:
        """The user presses Enter."""

    monkeypatch.setattr(QuestionPrompts, "_consent", consent)
    prompts = QuestionPrompts.__new__(QuestionPrompts)
    prompts._out, prompts._session = Output(), SimpleNamespace(server=SimpleNamespace(name="s"))
    for url in (f"{LOOKALIKE}/{'a' * 3000}", DISGUISED, ["no text"]):
        await prompts._url(SimpleNamespace(params={"url": url}, message="", accept=lambda content: None))
    output = capsys.readouterr().err
    assert f"  {REQUESTED}/{'a' * 3000} {MIXES}\n" in output
    assert "  https://api.github.com\\u2215v3.evil.example/mcp\n" in output
    assert '  ["no text"]\n' in output
