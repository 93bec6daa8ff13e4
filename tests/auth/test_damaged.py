"""A damaged login, in the file or in the keyring: no login, or a new one, and no crash."""

from __future__ import annotations

import json
import re
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.auth import assertions
from inspector.auth.models import Grant, OAuthClient
from inspector.auth.store import Store
from inspector.cli.login_options import as_json
from inspector.errors import AuthorizationNeeded
from tests.auth.scripted_servers import ISSUER, NOW, SERVER, Refused, World, authorization, grant
from tests.auth.test_store import FILE, Memory, Missing

KEY = assertions.new_key()
GRANT = grant(token_type="DPoP", key=KEY, refresh_token="refresh", scope=("a",), asked=("a", "b"))
CLIENT = OAuthClient("client-1", "client-secret", "client_secret_basic", "registered")
FIELD = re.compile(r"[\x20-\x7e]*\Z")
"""The characters that a header field may have."""

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
    | st.sampled_from((10**400, -(10**400), "\ud800", "a\r\nX: y", "DPoP", "Bearer", KEY, "private_key_jwt", "javascript:x")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)  # fmt: skip
SECRETS = ("access_token", "refresh_token", "key", "client_secret")
PARTS = st.sampled_from((*SECRETS, *GRANT.as_json(), "secret", "secrets", "renewable"))
DAMAGE = st.dictionaries(PARTS, VALUES | st.just(...), min_size=1, max_size=3)
CLIENTS = st.dictionaries(st.sampled_from((*CLIENT.as_json(), "secret", "secrets")), VALUES | st.just(...), max_size=3)
VAULTS = st.sampled_from((Memory, Missing))


def damaged(whole: dict[str, Any], damage: dict[str, Any]) -> dict[str, Any]:
    """A record with other values; `...` is none."""
    return {name: value for name, value in (whole | damage).items() if value is not ...}


def used(store: Store) -> World:
    """Everything that is done with what a store holds, up to a new login."""
    kept = {
        (stored.issuer, stored.resource): stored
        for stored in (store.grant(SERVER), store.grant("", ISSUER, SERVER))
        if stored
    }
    world = World(store=kept, clients={ISSUER: client} if (client := store.client(ISSUER)) else {})
    state = authorization()
    with suppress(AuthorizationNeeded):
        world.run(state.ready())
        sent = state.fields("POST", SERVER)
        assert all(FIELD.match(value) for _, value in sent)
        world.run(state.answer(Refused(), sent))
        assert all(FIELD.match(value) for _, value in state.fields("POST", SERVER))
        world.run(state.log_out())
    for login in store.logins():
        as_json(login.grant, login.renewable)
        store.keep(login.grant.issuer, login.grant.resource, None)
    return world


@given(damage=DAMAGE, client=CLIENTS, inside=st.booleans(), vault=VAULTS)
def test_a_damaged_record_is_no_login_and_never_a_crash(
    damage: dict[str, Any], client: dict[str, Any], inside: bool, vault: type[Memory]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, keyring = Path(folder) / FILE, vault()
        store = Store(path, keyring)
        store.keep(ISSUER, SERVER, GRANT)
        store.keep_client(ISSUER, CLIENT)
        data = json.loads(path.read_text())
        (record,) = data["grants"]
        held = keyring.held.get(record.get("secret", ""))
        secrets = json.loads(held) if held else record["secrets"]
        for name in damage.keys() & {*SECRETS}:
            secrets = damaged(secrets, {name: damage.pop(name)})
        if held:
            keyring.held[record["secret"]] = json.dumps(secrets)
        else:
            record["secrets"] = secrets
        if inside:
            record["client"] = damaged(record["client"], client)
        data["grants"] = [damaged(record, damage)]
        data["clients"] = [damaged(data["clients"][0], client)]
        path.write_text(json.dumps(data))
        used(Store(path, keyring))


KEYS = st.dictionaries(
    st.sampled_from(("kty", "crv", "x", "y", "d", "use", "key_ops", "alg", "n", "e", "k")),
    VALUES | st.sampled_from(("EC", "RSA", "oct", "P-384", "AAAA", json.loads(KEY)["x"])) | st.just(...), max_size=4,
)  # fmt: skip


@given(damage=KEYS, rest=st.sampled_from(("", "}", "[" * 10_000)))
def test_a_key_is_one_that_can_sign_or_none(damage: dict[str, Any], rest: str) -> None:
    text = json.dumps(damaged(json.loads(KEY), damage)) + rest
    if assertions.is_key(text):
        assert assertions.claims_of(assertions.proof(text, "GET", SERVER, NOW))


@pytest.mark.parametrize(
    "key",
    ["x", "", "{}", "[1]", '{"kty":"EC"}', '{"kty":"EC","crv":"P-256","x":"a","y":"b","d":"c"}', KEY.replace("P-256", "P-384"),
     json.dumps({name: value for name, value in json.loads(KEY).items() if name != "d"})],
    ids=("text", "empty", "no-members", "list", "kty-alone", "no-numbers", "other-curve", "public"),  # KEY is random
)  # fmt: skip
def test_a_token_with_a_damaged_key_does_not_count(tmp_path: Path, key: str) -> None:
    """It is not sent; the person logs in again, and the next key is a good one."""
    vault = Memory()
    store = Store(tmp_path / FILE, vault)
    store.keep(ISSUER, SERVER, GRANT)
    assert store.grant(SERVER) == GRANT
    (name,) = vault.held
    vault.held[name] = json.dumps(json.loads(vault.held[name]) | {"key": key})
    assert store.grant(SERVER) is None
    world = World()
    state = authorization()
    world.run(state.ready())
    assert state.fields("POST", SERVER) == []
    assert world.run(state.answer(Refused(), []))
    store.keep(ISSUER, SERVER, state.grant)
    assert store.grant(SERVER) == state.grant


@pytest.mark.parametrize("name", ["access_token", "refresh_token"])
@pytest.mark.parametrize("value", ["a b", "a\r\nX: y", "é", "\ud800", "a\n"])
def test_a_token_that_cannot_be_sent_is_none(name: str, value: str) -> None:
    assert Grant.from_json(GRANT.as_json() | {name: value}) is None


def test_a_whole_record_is_used(tmp_path: Path) -> None:
    store = Store(tmp_path / FILE, Memory())
    store.keep(ISSUER, SERVER, grant(refresh_token="refresh"))
    store.keep_client(ISSUER, CLIENT)
    world = used(store)
    assert not world.visits
    assert world.forms()[0]["refresh_token"] == "refresh"
