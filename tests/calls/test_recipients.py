"""The recipients of credentials: one server each, and a question before a file of others gets one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inspector.calls.collection import Collection
from inspector.calls.environments import in_effect
from inspector.calls.recipients import CredentialCheck, Recipient
from inspector.calls.yaml_text import CallsError
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.config.trust import Exposure, TrustAnswer
from inspector.errors import TrustNeeded, UsageError

SECRET = "s3cr3t-of-the-user"
SERVERS = {
    "shop": HttpTarget("https://shop.example/mcp"),
    "shop-2": HttpTarget("https://Shop.example:443/other"),
    "evil": HttpTarget("https://evil.example/mcp"),
    "plain": HttpTarget("http://shop.example/mcp"),
    "cmd": StdioTarget(("server", "--now")),
    "cmd-2": StdioTarget(("server",)),
    "named": StdioTarget(("server", "--now"), name="named", source="inspector.json"),
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HOME", "INSPECTOR_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    for name in ("SHOP_TOKEN", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, SECRET)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def flow(folder: Path, server: str, *names: str) -> None:
    """A flow in `calls`, on a server of `SERVERS`, that inserts variables."""
    path = folder / "calls" / f"{server}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    inserted = ", ".join(f"{name}: '{{{{{name}}}}}'" for name in names)
    path.write_text(f"inspector: 1\nserver: {server}\nsteps:\n  - call: a\n    args: {{{inserted}}}\n")


def environment(folder: Path, text: str, name: str = "ci") -> None:
    path = folder / "calls" / "env" / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def checked(
    folder: Path,
    *,
    given: tuple[str, ...] = (),
    values: dict[str, Any] | None = None,
    consent: Callable[[Exposure], TrustAnswer] | None = None,
    **how: bool,
) -> list[Recipient]:
    collection = Collection.read([folder / "calls"])
    check = CredentialCheck(lambda _, server: SERVERS[server], consent, given)
    servers = {saved: saved.model.server for saved in collection.flows}
    recipients = check(servers, list(collection.environments.values()), values or {}, **{"named": False, **how})
    # What was allowed can be read now, and nothing else was in the way.
    for name, source in in_effect(list(collection.environments.values()), values or {})[1].items():
        if any(source.reference(name) == place for recipient in recipients for _, place in recipient.uses):
            assert source.read(name) == SECRET
    return recipients


def texts(recipients: list[Recipient]) -> list[str]:
    return [recipient.sentence() for recipient in recipients]


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("shop", "shop-2", True), ("shop", "evil", False), ("shop", "plain", False), ("cmd", "cmd-2", False),
        ("cmd", "named", True), ("shop", "cmd", False),
    ],
)  # fmt: skip
def test_options_with_credentials_are_for_one_server(home: Path, first: str, second: str, same: bool) -> None:
    flow(home, first)
    flow(home, second)
    assert checked(home) == []
    if same:
        (recipient,) = checked(home, given=("--bearer-env", "--header X-Key"))
        assert recipient.sentence().endswith(" gets --bearer-env and --header X-Key.")
        return
    with pytest.raises(UsageError) as caught:
        checked(home, given=("--bearer-env", "--header X-Key"))
    message = caught.value.message
    assert message.startswith("2 servers would get --bearer-env and --header X-Key: ")
    for name in (first, second):
        assert f"(calls/{name}.yaml)" in message


def test_a_secret_of_an_environment_is_for_one_server_under_any_name(home: Path) -> None:
    flow(home, "shop", "token")
    flow(home, "evil", "zone")
    environment(home, "token: env:SHOP_TOKEN\nzone: plain\n")
    assert texts(checked(home)) == ["https://shop.example gets token (env:SHOP_TOKEN)."]
    environment(home, "token: env:SHOP_TOKEN\nzone: env:SHOP_TOKEN\n")
    with pytest.raises(UsageError, match=r"2 servers would get zone \(env:SHOP_TOKEN\) and token \(env:SHOP_TOKEN\)"):
        checked(home)
    environment(home, "token: env:SHOP_TOKEN\nzone: env:AWS_SECRET_ACCESS_KEY\n")
    assert texts(checked(home)) == [
        "https://evil.example gets zone (env:AWS_SECRET_ACCESS_KEY).",
        "https://shop.example gets token (env:SHOP_TOKEN).",
    ]
    assert texts(checked(home, values={"zone": "x", "token": "y"})) == ["https://shop.example gets the variable token."]


def test_a_given_secret_is_for_one_server(home: Path) -> None:
    flow(home, "shop", "password", "sku")
    flow(home, "evil", "password", "sku")
    assert checked(home, values={"sku": "A-1"}) == []
    with pytest.raises(UsageError, match="2 servers would get the variable password: "):
        checked(home, values={"password": "typed"})


def test_a_flow_that_another_one_uses_counts_as_part_of_it(home: Path) -> None:
    flow(home, "shop", "token")
    (home / "calls" / "evil.yaml").write_text("inspector: 1\nserver: evil\nsteps:\n  - use: shop.yaml\n")
    environment(home, "token: env:SHOP_TOKEN\n")
    with pytest.raises(UsageError, match=r"2 servers would get token \(env:SHOP_TOKEN\)"):
        checked(home)


@pytest.fixture
def clone(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = home / "clone"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("value", ["env:AWS_SECRET_ACCESS_KEY", "file:~/vault", "keyring:vault/me"])
def test_an_environment_of_a_cloned_folder_asks_before_a_value_is_read(clone: Path, value: str) -> None:
    (clone.parent / "vault").write_text(SECRET)
    flow(clone, "evil", "zone")
    environment(clone, f"zone: {value}\nunused: env:NOT_SET\n")
    with pytest.raises(TrustNeeded) as caught:
        checked(clone)
    assert caught.value.exit_code == 3
    assert "--trust" in caught.value.hint.command_line
    refused: Exposure = caught.value.exposure
    assert refused.title == f"Environment ci in {clone / 'calls' / 'env' / 'ci.yaml'}"
    assert refused.facts()[0] == "sends to https://evil.example"
    assert refused.facts()[1].endswith(" in variable zone")
    assert SECRET not in repr(caught.value)
    if not value.startswith("keyring"):
        asked: list[Exposure] = []

        def consent(exposure: Exposure) -> TrustAnswer:
            asked.append(exposure)
            return "once"

        checked(clone, consent=consent)
        assert asked == [refused]


def test_a_variable_that_is_not_set_is_told_before_anything_is_asked(clone: Path) -> None:
    flow(clone, "evil", "zone", "other")
    environment(clone, "zone: env:AWS_SECRET_ACCESS_KEY\nother: env:NOT_SET\n")
    with pytest.raises(CallsError, match="The environment variable NOT_SET is not set"):
        checked(clone, consent=lambda _: pytest.fail("asked"))


def test_always_holds_until_the_place_or_the_server_changes(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = clone.parent / "other"
    (other / ".git").mkdir(parents=True)
    for folder in (clone, other):
        flow(folder, "evil", "zone")
        environment(folder, "zone: env:AWS_SECRET_ACCESS_KEY\nplain: 1\n")
    assert checked(Path(), consent=lambda _: "always")
    environment(clone, "zone: env:AWS_SECRET_ACCESS_KEY\nplain: 2\n")
    assert checked(clone)
    monkeypatch.chdir(other)
    with pytest.raises(TrustNeeded):
        checked(Path())
    monkeypatch.chdir(clone)
    for change in (
        lambda: environment(clone, "zone: env:SHOP_TOKEN\n"),
        lambda: (flow(clone, "shop", "zone"), (clone / "calls/evil.yaml").unlink()),
        lambda: (environment(clone, "zone: env:SHOP_TOKEN\n", "two"), (clone / "calls/env/ci.yaml").unlink()),
    ):
        change()
        with pytest.raises(TrustNeeded):
            checked(clone)


def test_the_users_own_environment_asks_for_a_flow_of_others_that_names_the_server(home: Path) -> None:
    flow(home, "evil", "token")
    (home / "env").mkdir()
    (home / "env" / "ci.yaml").write_text("token: env:SHOP_TOKEN\n")
    assert checked(home)
    (home / "calls" / ".git").mkdir()
    with pytest.raises(TrustNeeded, match=r"Environment ci in .*evil\.yaml was not opened"):
        checked(home)
    assert checked(home, named=True), "the user named the server"


def test_variables_that_every_command_gets_are_not_asked_for(clone: Path) -> None:
    flow(clone, "cmd", "home")
    environment(clone, "home: env:HOME\n")
    check = CredentialCheck(lambda _, server: SERVERS[server])
    collection = Collection.read([clone / "calls"])
    check({collection.flows[0]: "cmd"}, list(collection.environments.values()), {}, named=False)
    with pytest.raises(TrustNeeded):
        check({collection.flows[0]: "shop"}, list(collection.environments.values()), {}, named=False)
    with pytest.raises(TrustNeeded):
        check({collection.flows[0]: None}, list(collection.environments.values()), {}, named=False)


@pytest.mark.parametrize(
    ("server", "how", "asks"),
    [
        ("cmd", {"dry": True}, True), ("cmd", {}, False), ("cmd", {"dry": True, "named": True}, False),
        ("named", {"dry": True}, False), ("shop", {"dry": True}, False),
    ],
)  # fmt: skip
def test_a_dry_run_asks_before_it_starts_a_command_of_others(
    clone: Path, server: str, how: dict[str, bool], asks: bool
) -> None:
    flow(clone, server)
    if not asks:
        assert checked(clone, **how) == []
        return
    with pytest.raises(
        TrustNeeded, match=r"Saved call cmd in .*cmd\.yaml was not opened.* runs server --now"
    ) as caught:
        checked(clone, **how)
    assert caught.value.exposure.as_json()["references"] == []
    assert checked(clone, consent=lambda _: "once", **how) == []
