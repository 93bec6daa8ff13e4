"""Settings: files, then environment, then flags; what is not a setting is named with what it probably was to be."""

from __future__ import annotations

import ast
import inspect
import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.config import settings as module
from inspector.config.settings import Settings, load_settings, settings_file
from inspector.errors import ConfigError

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=5,
)


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"INSPECTOR_CONFIG_HOME": str(tmp_path)}


def write(environ: dict[str, str], content: Any) -> Path:
    path = settings_file(environ)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_without_anything_the_defaults_hold(environ: dict[str, str]) -> None:
    settings = load_settings(environ=environ)
    assert settings == Settings()
    assert (settings.timeout, settings.max_timeout, settings.theme, settings.ascii) == (60.0, 600.0, "dark", "auto")
    assert (settings.keep_recordings_bytes, settings.max_body_bytes, settings.log_level) == (2_000_000_000, None, None)


def test_flags_win_over_the_environment_and_that_over_the_file(environ: dict[str, str]) -> None:
    write(
        environ,
        '{"$schema": "x", "timeout": 1, "theme": "light", /* mine */ "follow": false, "keymap": {"a.b": "f1"},}',
    )
    environ |= {"INSPECTOR_TIMEOUT": "2", "INSPECTOR_THEME": "123", "INSPECTOR_LOG_LEVEL": "debug"}
    settings = load_settings(environ=environ, flags={"timeout": 3, "theme": None})
    assert (settings.timeout, settings.theme, settings.follow) == (3.0, "123", False)
    assert (settings.keymap, settings.log_level) == ({"a.b": "f1"}, "debug")


def test_every_kind_of_setting_can_stand_in_the_environment(environ: dict[str, str]) -> None:
    environ |= {
        "INSPECTOR_FOLLOW": "false",
        "INSPECTOR_ROOTS": '["file:///x"]',
        "INSPECTOR_KEYMAP": '{"a": "b"}',
        "INSPECTOR_ELICITATION": "decline",
        "INSPECTOR_MAX_BODY_BYTES": "1e6",
        "INSPECTOR_SAMPLING": "[no]",
        "INSPECTOR_ASCII": "always",
    }
    settings = load_settings(environ=environ)
    assert (settings.follow, settings.roots, settings.keymap) == (False, ("file:///x",), {"a": "b"})
    assert (settings.elicitation, settings.max_body_bytes, settings.sampling, settings.ascii) == (
        "decline",
        1_000_000,
        "[no]",
        "always",
    )


def test_elicitation_may_be_answered_with_values(environ: dict[str, str]) -> None:
    write(environ, {"elicitation": {"name": "me"}})
    assert load_settings(environ=environ).elicitation == {"name": "me"}


def test_the_longest_wait_is_never_shorter_than_the_wait(environ: dict[str, str]) -> None:
    write(environ, {"timeout": 900})
    assert load_settings(environ=environ).max_timeout == 900.0


def test_an_unknown_key_is_named_with_the_nearest_and_the_file(environ: dict[str, str]) -> None:
    path = write(environ, {"tiemout": 5})
    with pytest.raises(ConfigError, match="“tiemout”") as caught:
        load_settings(environ=environ)
    assert str(path) in caught.value.message
    assert caught.value.hint == "Did you mean “timeout”?"
    write(environ, {"zzzzzz": 5})
    with pytest.raises(ConfigError) as caught:
        load_settings(environ=environ)
    assert "keep_recordings" in caught.value.hint


def test_a_variable_that_is_nearly_a_setting_is_an_error_and_any_other_is_not_ours(environ: dict[str, str]) -> None:
    assert load_settings(environ=environ | {"INSPECTOR_XQZ_PORT": "1"}) == Settings()
    with pytest.raises(ConfigError, match="INSPECTOR_TIMEOTU") as caught:
        load_settings(environ=environ | {"INSPECTOR_TIMEOTU": "1"})
    assert "INSPECTOR_TIMEOUT" in caught.value.hint


def test_a_flag_is_checked_too(environ: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="“timeout” in the command line must be a number of seconds above 0, not -1"):
        load_settings(environ=environ, flags={"timeout": -1})


WRONG: dict[str, list[Any]] = {
    "timeout": ["5", 0, -1, True, None, [], {}, 10**400, 1e300],
    "max_timeout": ["5", 0, None],
    "login_timeout": ["5", 0, -1, True],
    "era": ["stone", 1, None, ["auto"], {}],
    "protocol": [1, None, []],
    "log_level": ["loud", 1, ["debug"], {}],
    "roots": ["file:///x", [1], {}, None, ["https://x"], ["data"]],
    "sampling": [1, None, True, {}],
    "elicitation": ["perhaps", 1, None, []],
    "addons": ["/x.py", None, [1], ["x.py"], ["./x.py"]],
    "client": [1, None, {"name": "x"}],
    "extensions": [[], "skills", None, {"a/b": 1}, {"a/b": []}],
    "max_body_bytes": [0, -1, 1.5, "5", True, [], 1e999],
    "max_recording_bytes": [0, -1, "2 GB", True],
    "record": ["yes", 1, None],
    "keep_recordings": [-1, 0.5, "5", True, None],
    "keep_recordings_bytes": [-1, "2 GB", None],
    "calls_folder": [1, None, ["calls"]],
    "otlp": [1, None, ["http://localhost:4318"]],
    "registry": [1, None, ["x"]],
    "check_pins": ["yes", 1, None],
    "theme": [1, None, ["dark"]],
    "keymap": [{"a": 1}, [], "x", None, {"a": ["b"]}],
    "commands": [
        {},
        "x",
        None,
        [1],
        [{"key": "f7", "where": "result"}],
        [{"key": "f7", "where": "shell", "run": "x"}],
        [{"key": 1, "where": "result", "run": "x"}],
        [{"key": "f7", "where": "result", "run": "x", "shell": True}],
    ],
    "ascii": [True, "sometimes", None],
    "follow": ["true", 0, None],
    "mouse": ["true", 0, None],
    "attention": [True, "ring", None, 1],
    "ask_before_call": [True, "always", None, 1],
    "diagnostics": ["loud", 1, None],
}


def test_every_setting_is_checked() -> None:
    assert set(WRONG) == {field.name for field in fields(Settings)}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values])
def test_a_value_of_the_wrong_type_is_named_with_its_key_and_file(
    name: str, value: Any, environ: dict[str, str]
) -> None:
    path = write(environ, {name: value}) if value != 1e999 else write(environ, f'{{"{name}": 1e999}}')
    with pytest.raises(ConfigError) as caught:
        load_settings(environ=environ)
    assert f"“{name}” in {path} must be " in caught.value.message
    assert len(caught.value.message) < len(str(path)) + 250


@given(st.dictionaries(st.sampled_from(sorted(WRONG)), JSON, max_size=4))
def test_any_settings_load_or_say_what_is_wrong(
    tmp_path_factory: pytest.TempPathFactory, content: dict[str, Any]
) -> None:
    path = tmp_path_factory.getbasetemp() / "settings.json"
    path.write_text(json.dumps(content))
    try:
        result = load_settings(path, {})
    except ConfigError as error:
        result = error
    assert isinstance(result, Settings) or str(path) in result.message


@pytest.mark.parametrize("content", ["", "{", "[1]", "{'a': 1}"])
def test_a_broken_file_is_named(content: str, environ: dict[str, str]) -> None:
    path = write(environ, content)
    with pytest.raises(ConfigError) as caught:
        load_settings(environ=environ)
    assert str(path) in caught.value.message


def test_the_address_of_a_schema_is_text(environ: dict[str, str]) -> None:
    path = write(environ, {"$schema": 5})
    with pytest.raises(ConfigError) as caught:
        load_settings(environ=environ)
    assert caught.value.message == f"“$schema” in {path} must be text, not 5"


def test_a_file_given_by_hand_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the file does not exist"):
        load_settings(tmp_path / "gone.json", {})


def test_every_setting_is_documented() -> None:
    (body,) = (node for node in ast.parse(inspect.getsource(module)).body if getattr(node, "name", "") == "Settings")
    assert isinstance(body, ast.ClassDef)
    for node, after in zip(body.body, body.body[1:], strict=False):
        if isinstance(node, ast.AnnAssign):
            assert isinstance(after, ast.Expr), ast.unparse(node)
