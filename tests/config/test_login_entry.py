"""The `auth` object of a config entry."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector.config import login_entry
from inspector.config.servers import find_servers, resolve
from inspector.config.targets import HttpTarget
from inspector.errors import ConfigError

URL = "https://mcp.example/mcp"


def entry(tmp_path: Path, auth: Any, **more: Any) -> Any:
    path = tmp_path / "inspector.json"
    path.write_text(json.dumps({"servers": {"s": {"url": URL, "auth": auth} | more}}))
    listed = find_servers(tmp_path, tmp_path, {}, config=path)
    return listed.entries[0] if listed.entries else listed.problems[0]


def test_what_is_given_reaches_the_target(tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_text("KEY-TEXT\n")
    auth = {
        "clientId": "me",
        "clientSecret": "env:SECRET",
        "clientKey": "file:key.pem",
        "scope": "a b",
        "openBrowser": False,
    }
    target = resolve(entry(tmp_path, auth | {"grant": "client-credentials"}), {"SECRET": "the-secret"})
    assert isinstance(target, HttpTarget)
    assert target.auth == {
        "client_id": "me", "client_secret": "the-secret", "client_key": "KEY-TEXT", "scope": "a b",
        "open_browser": False, "grant": "client-credentials",
    }  # fmt: skip
    assert {"the-secret", "KEY-TEXT"} <= set(target.secrets)
    assert "the-secret" not in repr(target) + json.dumps(target.as_header())


def test_every_key_is_an_option_of_authorization() -> None:
    from dataclasses import fields

    from inspector.auth.options import GRANTS, AuthOptions

    known = {field.name: field for field in fields(AuthOptions)}
    assert set(login_entry.KEYS.values()) <= set(known)
    assert {name for name, field in known.items() if not field.repr} == login_entry.SECRETS
    assert login_entry.GRANTS == GRANTS


@pytest.mark.parametrize(
    ("auth", "says"),
    [
        ("x", "must be an object"),
        ({"clientid": "x"}, "Did you mean “clientId”"),
        ({"clientId": {"a": 1}}, "“auth.clientId” must be text"),
        ({"openBrowser": "yes"}, "“auth.openBrowser” must be true or false"),
        ({"grant": "magic"}, "Use one of: auto"),
        ({"clientSecret": "hunter2-in-the-clear"}, "must be a reference to the secret"),
        ({"bearer": "Bearer abc"}, "env:NAME"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path: Path, auth: Any, says: str) -> None:
    problem = entry(tmp_path, auth)
    assert says in f"{problem.message} {problem.hint}"
    assert "hunter2" not in problem.message + problem.hint


def test_a_reference_may_be_part_of_a_url_and_a_missing_one_is_named(tmp_path: Path) -> None:
    target = resolve(entry(tmp_path, {"authServer": "https://${HOST}/as"}), {"HOST": "as.example"})
    assert isinstance(target, HttpTarget)
    assert target.auth == {"auth_server": "https://as.example/as"}
    with pytest.raises(ConfigError, match="NOT_SET"):
        resolve(entry(tmp_path, {"bearer": "env:NOT_SET"}), {})


def test_commands_have_no_login(tmp_path: Path) -> None:
    """C-STDIO-09: secrets of a command come from its environment."""
    path = tmp_path / "inspector.json"
    path.write_text(json.dumps({"servers": {"s": {"command": "x", "auth": {"clientId": "a"}}}}))
    (problem,) = find_servers(tmp_path, tmp_path, {}, config=path).problems
    assert "URL" in problem.message
