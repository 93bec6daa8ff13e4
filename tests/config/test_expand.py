"""References in config values: each client's own, expanded once, with every missing value named."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, get_args

import keyring
import keyring.errors
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.config.expand import Expander, InputQuestion, VariableSyntax, env_file, questions
from inspector.errors import ConfigError

DIALECTS = get_args(VariableSyntax)
ENVIRON = {"TOKEN": "t0p-s3cret", "EMPTY": "", "NESTED": "${TOKEN} $TOKEN", "HOME": "/home/me", "A1": "one"}
REFERENCE_LIKE = st.text(st.sampled_from("${}:-TOKENenvfile/ a\\"), max_size=40)


def expander(dialect: Any, path: Path = Path("/w/x.json"), **options: Any) -> Expander:
    given_here = {"environ": ENVIRON, "home": Path("/home/me"), "workspace": Path("/w/shop")} | options
    return Expander(dialect=dialect, server="srv", path=path, **given_here)


@pytest.mark.parametrize(
    ("dialect", "text", "expanded"),
    [
        ("claude-code", "Bearer ${TOKEN}", "Bearer t0p-s3cret"),
        ("claude-code", "${NONE:-dflt}/${TOKEN:-x}", "dflt/t0p-s3cret"),
        ("claude-code", "${NONE:-}", ""),
        ("claude-code", "${EMPTY:-x}", ""),
        ("claude-code", "${NONE:-a:-b}", "a:-b"),
        ("claude-code", "$TOKEN ${env:TOKEN} ${/}", "$TOKEN ${env:TOKEN} ${/}"),
        ("vscode", "${env:TOKEN}|${userHome}|${cwd}", "t0p-s3cret|/home/me|/w/shop"),
        ("vscode", "${workspaceFolder}${/}x ${workspaceFolderBasename}", f"/w/shop{os.sep}x shop"),
        ("vscode", "${TOKEN} $TOKEN ${file}", "${TOKEN} $TOKEN ${file}"),
        ("cursor", "${env:TOKEN}${pathSeparator}${workspaceFolder}", f"t0p-s3cret{os.sep}/w/shop"),
        ("cursor", "${input:x} ${cwd} ${TOKEN}", "${input:x} ${cwd} ${TOKEN}"),
        ("windsurf", "${env:TOKEN} ${TOKEN} ${userHome}", "t0p-s3cret ${TOKEN} ${userHome}"),
        ("gemini", "$TOKEN-${TOKEN} ${NONE:-d} $5 $ $$", "t0p-s3cret-t0p-s3cret d $5 $ $$"),
        ("literal", "${TOKEN} $TOKEN ${env:TOKEN}", "${TOKEN} $TOKEN ${env:TOKEN}"),
        (
            "own",
            "${TOKEN} ${env:TOKEN} ${NONE:-d} ${workspaceFolder} ${userHome}",
            "t0p-s3cret " * 2 + "d /w/shop /home/me",
        ),
        ("own", "$${TOKEN} $$ $TOKEN", "${TOKEN} $$ $TOKEN"),
        ("own", "${not a name} ${} ${unclosed", "${not a name} ${} ${unclosed"),
    ],
)
def test_each_client_has_its_own_references(dialect: str, text: str, expanded: str) -> None:
    assert expander(dialect)(text) == expanded


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_expanded_value_is_not_expanded_again(dialect: str) -> None:
    for text in ("${NESTED}", "${env:NESTED}", "$NESTED"):
        assert "t0p-s3cret" not in expander(dialect)(text)


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("claude-code", "${NONE}"),
        ("vscode", "${env:NONE}"),
        ("cursor", "${env:NONE}"),
        ("windsurf", "x${env:NONE}"),
        ("gemini", "$NONE"),
        ("gemini", "${NONE}"),
        ("own", "${NONE}"),
        ("own", "${env:NONE}"),
    ],
)
def test_a_missing_variable_is_named_with_server_file_and_remedy(dialect: str, text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        expander(dialect)(text)
    assert all(word in caught.value.message for word in ("NONE", "@srv", "/w/x.json"))
    assert "export NONE=" in caught.value.hint


def test_values_of_variables_are_secrets_and_defaults_and_places_are_none() -> None:
    own = expander("own")
    own("${TOKEN} ${NONE:-default} ${HOME} ${workspaceFolder}")
    assert own.secrets == ["t0p-s3cret"]


@pytest.mark.parametrize("dialect", ["own", "windsurf"])
def test_files_give_their_text_without_the_last_line_break(dialect: str, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("from-file\n")
    made = expander(dialect, path=tmp_path / "x.json", home=tmp_path)
    assert made("Bearer ${file:token}|${file:~/token}") == "Bearer from-file|from-file"
    assert made.secrets == ["from-file", "from-file"]


@pytest.mark.parametrize("name", ["missing", ".", "big", "fifo", "binary"])
def test_a_file_that_gives_no_value_is_named(name: str, tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(b"x" * 100_000)
    (tmp_path / "binary").write_bytes(b"\0\xff")
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(ConfigError) as caught:
        expander("own", path=tmp_path / "x.json")(f"${{file:{name}}}")
    assert "@srv" in caught.value.message
    assert str(tmp_path / name) in caught.value.message


def test_the_keyring_gives_values_of_our_service_and_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = {("inspector", "github"): "k-one", ("my/app", "me"): "k-two"}
    monkeypatch.setattr(keyring, "get_password", lambda service, user: entries.get((service, user)))
    own = expander("own")
    assert own("${keyring:github} ${keyring:my/app/me}") == "k-one k-two"
    assert own.secrets == ["k-one", "k-two"]
    with pytest.raises(ConfigError, match="the entry does not exist") as caught:
        own("${keyring:other}")
    assert "keyring set inspector other" in caught.value.hint


def test_a_locked_keyring_is_an_error_with_another_way(monkeypatch: pytest.MonkeyPatch) -> None:
    def locked(service: str, user: str) -> str:
        raise keyring.errors.KeyringLocked("locked")

    monkeypatch.setattr(keyring, "get_password", locked)
    with pytest.raises(ConfigError, match="locked") as caught:
        expander("own")("${keyring:github}")
    assert "${env:NAME}" in caught.value.hint


INPUTS = questions(
    [
        {"type": "promptString", "id": "api-key", "description": "The key", "password": True},
        {"type": "pickString", "id": "mode", "options": ["a", {"label": "B", "value": "b"}], "default": "a"},
        {"type": "command", "id": "cmd", "command": "x"},
        {"id": 7},
        "nonsense",
    ]
)


def test_inputs_come_from_the_environment_then_the_prompt_then_the_default() -> None:
    asked: list[InputQuestion] = []

    def prompt(question: InputQuestion) -> str | None:
        asked.append(question)
        return "typed" if question.id == "api-key" else None

    made = expander("vscode", inputs=INPUTS, prompt=prompt)
    assert made("${input:api-key}${input:api-key} ${input:mode}") == "typedtyped a"
    assert [question.id for question in asked] == ["api-key", "mode"]
    assert asked[0].secret
    assert asked[1].choices == ("a", "b")
    assert made.secrets == ["typed"]
    preset = expander("vscode", inputs=INPUTS, environ={"INPUT_API_KEY": "set", "INPUT_MODE": "b"})
    assert preset("${input:api-key} ${input:mode}") == "set b"
    assert preset.secrets == ["set"]


@pytest.mark.parametrize("name", ["cmd", "other", ""])
def test_an_input_that_is_not_defined_is_an_error(name: str) -> None:
    with pytest.raises(ConfigError, match="does not define"):
        expander("vscode", inputs=INPUTS)(f"${{input:{name}}}")


def test_an_input_without_an_answer_names_its_variable() -> None:
    with pytest.raises(ConfigError, match=r"api-key \(The key\)") as caught:
        expander("vscode", inputs=INPUTS)("${input:api-key}")
    assert "INPUT_API_KEY" in caught.value.hint


@pytest.mark.parametrize("text", ["${config:editor.font}", "${command:x.y}"])
def test_what_only_vscode_can_look_up_is_reported(text: str) -> None:
    with pytest.raises(ConfigError, match="only VS Code"):
        expander("vscode")(text)


@given(REFERENCE_LIKE, st.sampled_from(DIALECTS))
def test_any_text_expands_or_names_what_is_missing(text: str, dialect: VariableSyntax) -> None:
    made = expander(dialect, environ={})
    try:
        expanded, message = made(text), ""
    except ConfigError as error:
        expanded, message = "", error.message
    # Without any variable set, a text is left as it is, loses a reference to a default or a place, or is refused.
    assert "@srv" in message or expanded == text or "${" in text


@given(st.text(st.characters(exclude_characters="$")), st.sampled_from(DIALECTS))
def test_a_text_without_references_stays(text: str, dialect: VariableSyntax) -> None:
    assert expander(dialect)(text) == text


@given(st.lists(st.sampled_from(["${TOKEN}", "x", "}", "{", " ", "$${"]), max_size=12))
def test_own_references_are_replaced_one_by_one(parts: list[str]) -> None:
    meaning = {"${TOKEN}": "t0p-s3cret", "$${": "${"}
    assert expander("own")("".join(parts)) == "".join(meaning.get(part, part) for part in parts)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("unit", ["${", "$", "$${", "${a", "${TOKEN", "}", "$TOKEN${"])
def test_hostile_text_costs_one_pass(dialect: VariableSyntax, unit: str) -> None:
    expander(dialect)(unit * 200_000)


def test_an_env_file_gives_its_variables() -> None:
    text = "# note\nA=1\nexport B = 'two words' \nC=\"x=y\"\nD=plain # note\nE=\nbad line\n=x\n9X=1\nF=#kept\n"
    assert env_file(text) == {"A": "1", "B": "two words", "C": "x=y", "D": "plain", "E": "", "F": "#kept"}
