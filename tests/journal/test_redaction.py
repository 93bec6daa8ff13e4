"""Secrets are not recorded, and everything else is recorded unchanged."""

import base64
import json
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from inspector.config.secret_forms import SHORTEST
from inspector.errors import InspectorError, ServerError, ServerExited
from inspector.journal.journal import Journal
from inspector.journal.redaction import SECRET_FIELDS, Redactor, unkeyed


@pytest.fixture
def redactor():
    return Redactor()


@pytest.mark.parametrize(
    "name",
    [
        "Authorization", "COOKIE", "set-cookie", "Proxy-Authorization", "X-API-Key", "Mcp-Session-Id", "X-Vault-Token",
        "Ocp-Apim-Subscription-Key", "X-Amz-Security-Token", "CF-Access-Client-Secret", "Session-Id",
    ],
)  # fmt: skip
def test_secret_headers(redactor, name):
    [(kept, value)], changed = redactor.headers([(name, "Bearer abc123")])
    assert kept == name
    assert changed
    assert "abc123" not in value


def test_the_scheme_of_an_authorization_stays(redactor):
    [(_, value)], _ = redactor.headers([("Authorization", "Basic dXNlcjpwdw==")])
    assert value.startswith("Basic ‹redacted ")


def test_other_headers_stay_in_their_order(redactor):
    pairs = [("Accept", "a"), ("accept", "b"), ("X", ""), ("Access-Control-Allow-Credentials", "true")]
    pairs += [("Mcp-Param-Api-Key", "k-1"), ("X-RateLimit-Limit-Tokens", "9"), ("WWW-Authenticate", "Bearer")]
    assert redactor.headers(pairs) == (pairs, False)


@pytest.mark.parametrize(
    ("url", "hidden"),
    [
        ("https://h/x?code=SECRET&a=1", "SECRET"),
        ("https://user:SECRET@h/x", "SECRET"),
        ("https://user:p@SECRET@h/x", "SECRET"),
        ("https://h/#access_token=SECRET", "SECRET"),
        ("https://h/x?a=1;refresh_token=SECRET", "SECRET"),
        ("https://h/x?api-key=SECRET", "SECRET"),
        ("https://h/x?X-Amz-Signature=SECRET&a=1", "SECRET"),
        ("https://h/x?api%5Fkey=SECRET", "SECRET"),
    ],
)
def test_urls(redactor, url, hidden):
    redacted, changed = redactor.url(url)
    assert changed
    assert hidden not in redacted
    assert redactor.url("https://h/x?a=1&b=2") == ("https://h/x?a=1&b=2", False)
    assert redactor.url(redacted) == (redacted, False), "what was hidden stays as it is"


@pytest.mark.parametrize("field", sorted(SECRET_FIELDS))
def test_oauth_bodies_of_both_kinds(redactor, field):
    for body in (json.dumps({"a": [{field: "SECRET"}], "b": 1}), f"grant=x&{field}=SECRET&b=1"):
        redacted, changed = redactor.oauth_body(body)
        assert changed
        assert "SECRET" not in redacted
        assert "b" in redacted


def test_oauth_bodies_without_secrets_stay_as_they_are(redactor):
    for body in ('{"a":  1}', "a=1&b=2", "plain text", "", "[" * 3000, '{"token": null}'):
        assert redactor.oauth_body(body) == (body, False)


def test_a_body_nested_without_end_is_left_alone_below_a_bound(redactor):
    body = json.dumps({"token": "SECRET"})
    for _ in range(30):
        body = json.dumps({"x": json.loads(body)})
    assert "x" in redactor.oauth_body(body)[0]


def test_a_command_line(redactor):
    redactor.add("hunter22")
    redacted, changed = redactor.argv(["serve", "--key=hunter22"])
    assert changed
    assert "hunter22" not in " ".join(redacted)
    assert redactor.argv(["serve"]) == (["serve"], False)


def test_very_short_values_are_not_looked_for(redactor):
    redactor.add("ab")
    assert not redactor.active
    assert redactor.text("cab") == ("cab", False)


@given(st.text(min_size=SHORTEST, max_size=30), st.text(max_size=10), st.text(max_size=10))
def test_a_held_secret_is_found_wherever_it_stands(secret, before, after):
    redactor = Redactor([secret])
    for form in (secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]):
        redacted, changed = redactor.text(f"{before}{form}{after}")
        assert changed
        assert "‹redacted " in redacted


def test_a_strangers_headers_that_are_not_header_fields_are_facts_like_others() -> None:
    journal = Journal.unnamed({})
    n = journal.record_auth("resource", True, "x", facts={"document": {"headers": [1, {"access_token": "hidden-one"}]}})
    assert "hidden-one" not in json.dumps(journal.event(n).fields)


def test_the_token_in_an_answer_that_broke_off_is_hidden() -> None:
    redacted, changed = Redactor().oauth_body('{"token_type":"Bearer","access_token" : "abc-\\"def", "expires_in":')
    assert changed
    assert "abc-" not in redacted
    assert "token_type" in redacted
    assert "abc-def" not in Redactor().oauth_body('{"refresh_token":"abc-def')[0]


def test_what_lies_too_deep_to_be_looked_at_is_omitted() -> None:
    body = '{"a":' * 30 + '{"access_token":"abc-def"}' + "}" * 30
    assert "abc-def" not in Redactor().oauth_body(body)[0]


def test_an_error_that_repeats_a_secret_is_reported_without_it() -> None:
    redactor = Redactor(["the-secret-that-we-hold"])
    error = InspectorError("The server says: bad the-secret-that-we-hold", hint="It began with the-secret-tha…")
    redactor.error(error)
    assert "the-secret" not in f"{error} {error.message} {error.hint}"
    assert error.message.startswith("The server says: bad ‹redacted ")


@pytest.mark.parametrize("before", ["", "x", "id:"])
def test_a_held_secret_is_found_in_the_middle_of_base64(before: str) -> None:
    secret = "a-secret-of-some-length"
    encoded = base64.b64encode(f"{before}{secret}!".encode()).decode()
    inside = base64.b64encode(b"\0" * (len(before) % 3) + secret.encode()).decode()[4:-4]
    assert inside in encoded
    assert inside not in Redactor([secret]).text(encoded)[0]


def test_urls_in_header_fields_lose_their_secrets():
    """A redirect of an authorization server carries the code."""
    pairs = [("Location", "http://127.0.0.1:1/cb?code=the-code&state=s"), ("X-Url", "http://x/?code=1")]
    kept, changed = Redactor().headers(pairs)
    assert changed
    assert "the-code" not in kept[0][1]
    assert kept[0][1].startswith("http://127.0.0.1:1/cb?code=‹redacted ")
    assert kept[1] == pairs[1]


# Messages


def test_a_message_without_its_secrets_is_still_the_same_message() -> None:
    redactor = Redactor(["root", "tools", "1234567", "se/cret"])
    text = (
        '{"jsonrpc":"2.0", "id":1234567,"method":"roots/list",\n'
        r'"tools":[{"name":"root","n":1234567.0,"at":"\/se\/cret\n","roots":"my tools","x":12345670}]}'
    )
    redacted, changed = redactor.json(text)
    assert changed
    value = json.loads(redacted)
    assert (value["method"], set(value)) == ("roots/list", {"jsonrpc", "id", "method", "tools"})
    (tool,) = value["tools"]
    assert (tool["n"], tool["x"]) == (1234567.0, 12345670)
    assert tool["roots"].startswith("my ‹redacted ")
    assert tool["at"].startswith("/‹redacted ")
    assert tool["at"].endswith("›\n")
    assert redactor.restored(value["tools"]) == json.loads(text)["tools"]


@given(st.text(min_size=4, max_size=24), st.integers(4, 24), st.text(max_size=6), st.text(max_size=6))
def test_any_message_stays_json_and_returns(secret: str, length: int, before: str, after: str) -> None:
    redactor = Redactor([secret])
    cut = f"{before}{secret[:length]}"
    value = {
        "jsonrpc": "2.0",
        "result": {before + secret + after: [secret, {"x": after + secret, "y": [cut, f"{cut}…"]}]},
    }
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False)):
        redacted = json.loads(redactor.json(text)[0])
        assert redactor.restored(redacted) == value


@given(st.text(st.sampled_from('ab1-_/. é"'), min_size=13, max_size=30), st.integers(12, 29), st.text(max_size=9))
def test_a_beginning_before_the_sign_of_a_cut_is_never_recorded(secret: str, length: int, before: str) -> None:
    assume(len(secret) > length)
    redacted, _ = Redactor([secret]).text(f"{before}{secret[:length]}…")
    assert secret[:12] not in redacted


@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_message_with_a_secret_that_was_cut_off_is_still_the_same_message(ascii_only: bool) -> None:
    redactor = Redactor(["sk-live-4f9a8b7c6d5e", "weather-server-key"])
    cut = "sk-live-4f9a8b7"
    inner = {"key": cut, "more": [f"bad key {cut}…"]}
    value = {"result": {"text": json.dumps(inner), "name": "weather-server", cut: [f"{cut}…", f"{cut}, it is"]}}
    for text in (json.dumps(value, ensure_ascii=ascii_only), json.dumps(value, ensure_ascii=ascii_only, indent=2)):
        redacted, changed = redactor.json(text)
        assert changed
        assert "sk-live" not in redacted  # Not its digits: the name of a mark may have them.
        result = json.loads(redacted)["result"]
        assert result["name"] == "weather-server"
        assert json.loads(result["text"])["more"][0].endswith("›…")
        assert redactor.restored(json.loads(redacted)) == value


def test_a_number_that_is_a_secret_is_cut_out() -> None:
    redacted, _ = Redactor(["987654"]).json('{"pin":987654,"port":9876}')
    assert json.loads(redacted)["pin"].startswith("‹redacted ")
    assert json.loads(redacted)["port"] == 9876


def test_what_a_server_says_in_an_error_loses_its_secrets() -> None:
    redactor = Redactor(["s3cret-value"])
    error = ServerError(-1, "no s3cret-value", {"sent": ["s3cret-value"]})
    redactor.error(error)
    assert "s3cret" not in json.dumps(error.as_json())
    exited = ServerExited("gone", stderr=("using s3cret-value",))
    redactor.error(exited)
    assert "s3cret" not in json.dumps(exited.as_json())


def test_marks_of_two_recordings_are_alike_without_their_key() -> None:
    marks = [Redactor(["s3cret-value"]).json('{"a":"s3cret-value"}')[0] for _ in range(2)]
    assert marks[0] != marks[1]
    assert unkeyed(marks[0]) == unkeyed(marks[1])


def test_a_secret_that_is_recorded_already_is_overwritten_in_place(tmp_path: Path) -> None:
    path = tmp_path / "r.mcp.jsonl"
    journal = Journal.create(path, {"kind": "stdio"})
    journal.record_stderr("stderr", [b'token "to/ken\xc3\xbc" and 123456789'])
    words = ["sk-live-4f9a8b…", "sk-live-4f9a8b7c"]
    body = {"jsonrpc": "2.0", "id": 1, "result": {"t": 'say "to/kenü"', "n": 123456789, "other": "stays", "cut": words}}
    journal.record_received("stdio", [json.dumps(body).encode()])
    assert "to/ken" in journal.event(1).text
    before = path.stat().st_size
    journal.flush()
    assert journal.blank(["to/kenü", "123456789", "abc", "sk-live-4f9a8b7c6d5e"])
    assert not journal.blank(["to/kenü", "123456789"])
    assert path.stat().st_size == before
    assert journal.event(1).text == f'token "{"*" * 8}" and 999999999'
    assert journal.event(2).message["result"]["n"] == 999999999
    assert journal.event(2).message["result"]["other"] == "stays"
    assert journal.event(2).message["result"]["cut"] == ["*" * 14 + "…", "*" * 16]
    assert "to/ken" not in path.read_text()
    journal.record_note("after")
    journal.close("closed")
    assert all(isinstance(json.loads(line), dict) for line in path.read_text().splitlines())


# Encodings, keys, texts that are cut off


@pytest.mark.parametrize("secret", ["tok/en-Ab12", 'p@"ss\\wörd/1', "пароль-к/люч", 'a"1\\b"2'])
@pytest.mark.parametrize("ensure_ascii", [True, False])
def test_a_secret_in_json_in_json_is_not_recorded(secret: str, ensure_ascii: bool) -> None:
    def text_of(value: object) -> str:
        return json.dumps(value, ensure_ascii=ensure_ascii)

    journal = Journal.unnamed({}, [secret])
    inner = text_of({"header": f"Bearer {secret}", "kept": 1.0})
    for _ in range(2):
        inner = text_of({"type": "text", "text": inner})
    message = {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": inner}]}}
    (frame,) = journal.record_received("stdio", [text_of(message).encode()])
    redacted = frame.message["result"]["content"][0]["text"]
    for _ in range(2):
        redacted = json.loads(redacted)["text"]
    assert json.loads(redacted)["header"].startswith("Bearer ‹redacted ")
    assert json.loads(redacted)["kept"] == 1.0
    assert journal.event(1).message == frame.message
    assert journal.redactor.restored(frame.message) == message


def test_a_message_whose_letters_are_all_escaped_has_no_secret() -> None:
    escaped = "".join(f"\\u{ord(char):04x}" for char in "key ghp_0Az9tail")
    redacted, changed = Redactor(["ghp_0Az9tail"]).json(f'{{"a":"{escaped}"}}')
    assert changed
    assert json.loads(redacted)["a"].startswith("key ‹redacted ")


def test_a_secret_in_a_url_in_json_is_not_recorded() -> None:
    journal = Journal.unnamed({}, ["tok/en+Ab 12"])
    message = {
        "jsonrpc": "2.0",
        "method": "x",
        "params": {"a": "https://h/?q=%7B%22t%22%3A%22tok%2Fen%2BAb+12%22%7D&b=1"},
    }
    (frame,) = journal.record_received("stdio", [json.dumps(message).encode()])
    before, _, after = frame.message["params"]["a"].partition("‹redacted ")
    assert (before, after[8:]) == ("https://h/?q=%7B%22t%22%3A%22", "›%22%7D&b=1")


def test_a_private_key_on_stderr_or_stdout_is_not_recorded() -> None:
    body = ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQCRnoI1ZnTHQuFQ", "lxRPj2Oa=="]
    lines = ["starting", "-----BEGIN PRIVATE KEY-----", *body, "-----END PRIVATE KEY-----", "started"]
    for secrets in ([], ["some-secret"]):
        journal = Journal.unnamed({}, secrets)
        redacted = [line for one in lines for line in journal.record_stderr("stderr", [one.encode()])]
        for one in lines:
            journal.record_received("stdio", [one.encode()])
        key = ["‹redacted private key›"] * 4
        texts = [journal.event(n).text for n in range(1, len(journal) + 1)]
        assert texts == ["starting", *key, "started"] * 2
        assert [line.decode() for line in redacted] == texts[:6]
        assert [journal.event(n).fields.get("redacted") for n in (1, 2)] == [None, True]


def test_keys_of_two_connections_are_told_apart() -> None:
    journal = Journal.unnamed({})
    journal.record_stderr("stderr", [b"-----BEGIN PRIVATE KEY-----"], conn=1)
    journal.record_stderr("stderr", [b"ready"], conn=2)
    journal.record_stderr("stderr", [b"MIIE", b"-----END PRIVATE KEY-----", b"ready"], conn=1)
    assert [journal.event(n).text for n in (2, 5)] == ["ready", "ready"]
    assert journal.event(3).text == "‹redacted private key›"


def test_the_beginning_of_a_secret_at_the_end_of_a_cut_text_is_not_recorded() -> None:
    journal = Journal.unnamed({}, ["a-secret/of-some-length"])
    journal.record_received("stdio", [b'{"a":"a-secret\\/of-some-le'], cut=True)
    journal.record_stderr("stderr", [b"with a-secret/of-so"])
    for n in (1, 2):
        assert "secret" not in journal.event(n).text


@pytest.mark.parametrize("secret", ["a-secret/of-some-length", "0123456789abcdefghijklmnopqrstuvwxyz"])
def test_a_secret_in_two_lines_of_stderr_is_not_recorded(secret: str) -> None:
    journal = Journal.unnamed({}, [secret])
    half = len(secret) // 2
    lines = [f"token={secret[:half]}".encode(), f"      {secret[half:]} is wrong".encode(), b"\xff"]
    redacted = journal.record_stderr("stderr", lines)
    texts = [journal.event(n).text for n in (1, 2)]
    assert [line.decode() for line in redacted[:2]] == texts
    assert texts[0].startswith("token=‹redacted ")
    assert texts[1].endswith("› is wrong")
    assert secret[:half] not in texts[0]
    assert secret[half:] not in texts[1]
    assert journal.event(3).bytes == b"\xff"
    for line in lines:
        journal.record_stderr("stderr", [line])
    assert secret[half:] not in journal.event(5).text
