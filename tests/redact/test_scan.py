"""Secrets are found wherever they are, and everything else stays unchanged."""

from __future__ import annotations

import base64
import json
import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.config.secret_forms import SecretFinder
from inspector.redact.rules import read_rules
from inspector.redact.scan import KnownSecret, SecretScanner, applied, keys_of_secret

MARK = "‹redacted›"
GITHUB = "ghp_" + "a1B2" * 9
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA1c7+9z5P\nad7Oej==\n-----END RSA PRIVATE KEY-----"

SECRETS = {
    "pem": PEM,
    "jwt": JWT,
    "aws": "AKIAIOSFODNN7EXAMPLE",
    "aws-secret": "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "github": GITHUB,
    "gitlab": "glpat-x1Y2z3A4b5C6d7E8f9G0",
    "slack": "xoxb-1234567890-abcdefXYZ",
    "openai": "sk-proj-Ab12Cd34Ef56Gh78Ij90Kl",
    "google": "AIza" + "Sy1_" * 8 + "abc",
    "stripe": "sk_live_4eC39HqLyjWDarjtT1zd",
    "npm": "npm_" + "a1B2" * 9,
    "pypi": "pypi-" + "AgEIcHlwaS5vcmc" * 4,
    "service": "hf_" + "aB3d" * 9,
    "bearer": "Bearer abc.DEF-123456789xyz",
    "url": "postgres://bob:s3cr3t@db.example/x",
    "named": "API_KEY=abcd1234efgh",
    "entropy": "Kq7Zt9vB2mXw4LpR8sNd3Fh6",
}


def scanner(*rules: str) -> SecretScanner:
    return SecretScanner(read_rules(rules), lambda _secret: MARK)


def line(message: Any = None, *, raw: str | None = None, **fields: Any) -> str:
    """A line of a recording."""
    text = json.dumps(message, ensure_ascii=False) if raw is None else raw
    return json.dumps({"n": 1, "t": 2, "dir": "recv", "kind": "rpc", "ch": "stdio", **fields, "raw": text})


def redacted(text: str, *rules: str) -> tuple[str, list[str]]:
    """A line without its secrets, and the rules by which they were found."""
    edits = scanner(*rules).line(text)
    return applied(text, edits), [secret.rule for edit in edits for secret in edit.secrets]


def message(text: str) -> Any:
    return json.loads(json.loads(text)["raw"])


@pytest.mark.parametrize("rule", SECRETS)
def test_each_kind_is_found_by_its_rule_and_not_without_it(rule: str) -> None:
    text = line({"result": {"content": [{"type": "text", "text": f"see {SECRETS[rule]} there"}]}})
    hidden, rules = redacted(text)
    assert rules == [rule]
    assert MARK in message(hidden)["result"]["content"][0]["text"]
    assert message(hidden)["result"]["content"][0]["text"].endswith(" there")
    others = [f"no-{name}" for name in (rule, "entropy", "named", "bearer")]
    assert redacted(text, *others) == (text, [])


def test_mail_addresses_are_found_when_they_are_to_be() -> None:
    text = line({"result": {"text": "write to ada.l+x@mail.example.org, or not@"}})
    assert redacted(text) == (text, [])
    hidden, rules = redacted(text, "email")
    assert message(hidden)["result"]["text"] == f"write to {MARK}, or not@"
    assert rules == ["email"]


WRAPPERS: list[Any] = [
    lambda value: {"deep": [1, {"er": value}]},
    lambda value: json.dumps({"json": value, "n": 1.0}),
    lambda value: json.dumps([value], ensure_ascii=False),
    lambda value: base64.b64encode(f"text {value} text".encode()).decode(),
    lambda value: base64.urlsafe_b64encode(b"\xff\xfe\x00 " + str(value).encode()).decode(),
    lambda value: f"# Markdown\n\n`{value}`\n",
    lambda value: {str(value): 1},
]


@given(
    st.lists(st.sampled_from(range(len(WRAPPERS))), max_size=3), st.sampled_from([GITHUB, JWT, "AKIAIOSFODNN7EXAMPLE"])
)
def test_no_secret_survives_however_it_is_wrapped(wrappers: list[int], secret: str) -> None:
    value: Any = secret
    for number in wrappers:
        value = WRAPPERS[number](value if isinstance(value, str) or number < 3 else json.dumps(value))
    hidden, rules = redacted(line({"result": {"x": value, "y": 1}}))
    assert rules
    assert not _holds(json.loads(hidden), secret)
    assert message(hidden)["result"]["y"] == 1
    # A redacted secret is not found again. (Bytes that are not text always look random.)
    assert redacted(hidden, "no-entropy") == (hidden, [])


def _holds(value: Any, secret: str) -> bool:
    """Whether a secret is anywhere in a value: in JSON inside texts, in base64 inside texts."""
    if isinstance(value, dict):
        return any(_holds(item, secret) for pair in value.items() for item in pair)
    if isinstance(value, list):
        return any(_holds(item, secret) for item in value)
    if not isinstance(value, str):
        return False
    if secret in value:
        return True
    if value[:1] in ("{", "["):
        return _holds(json.loads(value), secret)
    runs = [run for run in re.findall(r"[A-Za-z0-9+/_-]{24,}", value) if len(run) % 4 != 1]
    return any(_holds(_decoded(run), secret) for run in runs)


def _decoded(run: str) -> str:
    text = base64.urlsafe_b64decode(run.replace("+", "-").replace("/", "_") + "=" * (-len(run) % 4)).decode("latin-1")
    return " ".join(text.split("{"))  # not JSON: the secret would be in the text itself


@given(st.text(max_size=200))
def test_any_text_is_read_and_what_has_no_secret_stays_unchanged(text: str) -> None:
    for whole in (text, line(raw=text)):
        edits = scanner("no-entropy").line(whole)
        if not edits:
            assert applied(whole, edits) == whole


def test_everything_beside_a_secret_stays_as_it_was_spelled() -> None:
    raw = r'{ "a" : 1.50e+3,"a":-0, "\u0061": "\u00e9\/ ' + GITHUB + r' \u00e9","b":[ 1,2 ] , "n": NaN}'
    text = line(raw=raw)
    hidden, _ = redacted(text)
    assert json.loads(hidden)["raw"] == raw.replace(GITHUB, MARK)
    assert len(hidden) == len(text) - len(GITHUB) + len(MARK)


@pytest.mark.parametrize(
    ("members", "hidden"),
    [
        ({"password": "hunter22"}, True),
        ({"dbPassword": "correct horse battery"}, True),
        ({"password": 1234}, True),
        ({"api_key": "abcd1234efgh"}, True),
        ({"accessToken": "abcd1234efgh"}, True),
        ({"client_secret": "xyzw9876"}, True),
        ({"headers": {"X-Api-Key": "abcd1234efgh"}}, True),
        ({"headers": {"Signing-Key": "abcd1234efgh"}}, True),
        ({"headers": [{"name": "Authorization", "value": "Basic dXNlcjpwYXNz"}]}, True),
        ({"headers": [["Cookie", "sid=abcd1234efgh"]]}, True),
        ({"env": [{"name": "DB_PASS", "value": "abcd1234"}]}, True),
        ({"args": ["--token", "abcd1234efgh"]}, True),
        ({"cmd": "curl -H 'Authorization: Bearer abcd1234efgh5678'"}, True),
        ({"cmd": "DB_PASSWORD=hunter22 run"}, True),
        ({"text": 'config: "api_key": "abcd1234efgh", broken'}, True),
        ({"url": "https://h.example/x?api_key=abcd1234efgh&y=1"}, True),
        ({"url": "https://h.example/x?code=abcd%2F1234efgh"}, True),
        ({"password": "***"}, False),
        ({"password": "<your password>"}, False),
        ({"password": "${PASSWORD}"}, False),
        ({"password": "‹redacted a1b2c3d4›"}, False),
        ({"password": {"type": "string", "description": "The password."}}, False),
        ({"password": True, "token": None}, False),
        ({"required": ["password", "token"]}, False),
        ({"progressToken": "abcd1234efgh5678"}, False),
        ({"nextCursor": "eyJwYWdlIjoyLCJzaXplIjoxMDB9Zz09"}, False),
        ({"tokens": 12345}, False),
        ({"token_count": "12345678"}, False),
        ({"text": "Enter your password: it must have eight characters"}, False),
        ({"text": "token=TOKEN, api_key=YOUR_API_KEY, password=<password>"}, False),
        ({"text": "token = self.make_token(1234), secret=settings.jwt.key, api_key=other_api_key"}, False),
        ({"text": "API_KEY=ab(c12345678"}, True),
        ({"text": "Set Authorization: Bearer <token> in the header"}, False),
        ({"key": "value", "keys": ["a-long-name-of-a-member-1"]}, False),
        ({"id": "3f8a9c1e-7b2d-4e5f-8a9b-0c1d2e3f4a5b"}, False),
        ({"sha": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}, False),
        ({"text": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}, False),
        ({"text": "io.modelcontextprotocol/serverInfo notifications/resources/updated"}, False),
        ({"text": "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP=="}, False),
        ({"text": "com.example.SomeVeryLongClassName2$InnerThing3"}, False),
        ({"text": "/usr/lib/Python3/dist-packages/Foo2Bar/Baz9"}, False),
        ({"text": "task-management-with-2-words, risk-of-something-long-3"}, False),
        ({"text": "git+ssh://git@github.com/a/b, https://host@x"}, False),
        ({"text": "2026-11-21T08-03-24Z-inspector.demo-C925"}, False),
        ({"uri": "ui://Widget7/Q3lY2x9hZ0b1kR8sT5vW"}, False),
    ],
)  # fmt: skip
def test_names_and_looks_decide(members: dict[str, Any], hidden: bool) -> None:
    text = line({"params": members})
    changed, rules = redacted(text)
    assert bool(rules) is hidden, rules
    assert (changed != text) is hidden


def test_of_a_header_field_the_scheme_stays() -> None:
    text = json.dumps({"kind": "http", "headers": [["Authorization", "Bearer abcd1234"], ["Accept", "text/html"]]})
    hidden, _ = redacted(text)
    assert json.loads(hidden)["headers"] == [["Authorization", f"Bearer {MARK}"], ["Accept", "text/html"]]


def test_headers_urls_and_commands_of_other_events_are_looked_into() -> None:
    text = json.dumps({
        "kind": "life", "argv": ["run", "--token", "abcd1234efgh", "--key=zyxw9876vuts"], "url": "http://a:bcd@h/",
    })  # fmt: skip
    assert json.loads(redacted(text)[0]) == {
        "kind": "life", "argv": ["run", "--token", MARK, f"--key={MARK}"], "url": f"http://{MARK}@h/",
    }  # fmt: skip


def test_paths_hide_values_of_any_type() -> None:
    params = {"a": 1, "b": "text", "c": {"d": [1, 2]}, "e": None, "f": [True, {"g": "h"}]}
    hidden, rules = redacted(
        line({"params": params}), "$.params.a", "$.params.c", "$..g", "$.params.f[0]", "$.params.e"
    )
    assert message(hidden)["params"] == {"a": MARK, "b": "text", "c": MARK, "e": MARK, "f": [MARK, {"g": MARK}]}
    assert sorted(rules) == ["$..g", "$.params.a", "$.params.c", "$.params.e", "$.params.f[0]"]


def test_paths_mean_the_messages_of_a_batch_too_and_nothing_but_messages() -> None:
    hidden, _ = redacted(line([{"params": {"a": 1}}]), "$.params.a")
    assert message(hidden) == [{"params": {"a": MARK}}]
    text = json.dumps({"kind": "note", "raw": '"x"', "params": {"a": 1}})
    assert redacted(text, "$.params.a", "$.raw") == (text, [])


def test_patterns_hide_their_group_or_all_of_what_fits() -> None:
    hidden, _ = redacted(line({"x": "ACME-77 and customer 4711"}), r"/ACME-\d+/", r"/customer (\d+)/")
    assert message(hidden) == {"x": f"{MARK} and customer {MARK}"}
    assert message(redacted(line({"x": "Ada"}), "=Ada")[0]) == {"x": MARK}


def known(secret: str) -> dict[str, list[KnownSecret]]:
    """Return the secrets that the scanner knows after it found this one elsewhere."""
    return {key: [KnownSecret(secret, "named", SecretFinder([secret]))] for key in keys_of_secret(secret)}


def test_known_secrets_are_found_in_any_text() -> None:
    scan = scanner()
    scan.known = known('hunter22!"é')
    text = json.dumps({"kind": "stderr", "raw": 'login\nhunter22!"é ok, %22hunter22%21%22%C3%A9, hunter22 not'})
    assert json.loads(applied(text, scan.line(text)))["raw"] == f"login\n{MARK} ok, %22{MARK}, hunter22 not"


def test_a_line_that_is_torn_or_no_json_is_searched_as_text() -> None:
    for text in (line({"x": GITHUB})[:-4], f"not json {GITHUB} at all", f'{{"n":1,"raw":"\\n{GITHUB}'):
        hidden, rules = redacted(text)
        assert rules == ["github"]
        assert hidden == text.replace(GITHUB, MARK)


def test_a_key_on_stderr_is_hidden_line_by_line() -> None:
    scan = scanner()
    lines = ["before", *PEM.splitlines(), "Zm9vYmFy after"]
    texts = [json.dumps({"n": n, "kind": "stderr", "raw": text}) for n, text in enumerate(lines)]
    hidden = [json.loads(applied(text, scan.line(text)))["raw"] for text in texts]
    assert hidden == ["before", *[MARK] * 4, "Zm9vYmFy after"]


def test_bytes_that_are_not_text_are_looked_into() -> None:
    data = b"\xff\xfe " + GITHUB.encode() + b" \x80"
    text = json.dumps({"n": 1, "kind": "stderr", "b64": base64.b64encode(data).decode()})
    hidden, rules = redacted(text)
    assert rules == ["github"]
    assert base64.b64decode(json.loads(hidden)["b64"]) == b"\xff\xfe " + MARK.encode() + b" \x80"


def test_pictures_are_left_alone() -> None:
    picture = base64.b64encode(bytes(range(256)) * 40).decode()
    text = line({"result": {"content": [{"type": "image", "data": picture}]}})
    assert redacted(text) == (text, [])


def test_what_is_nested_without_an_end_is_read() -> None:
    text: Any = GITHUB
    for _ in range(4):
        text = json.dumps({"x": text})
    assert GITHUB not in redacted(line(raw=text))[0]
    deep = "[" * 5000 + f'"{GITHUB}"' + "]" * 5000
    assert GITHUB not in redacted(line(raw=deep))[0]
    assert GITHUB not in redacted(line(raw="[" * 5000 + f'"{GITHUB}"'))[0]


@pytest.mark.slow
def test_paths_are_followed_into_any_depth_in_one_pass() -> None:
    deep = '{"a":[' * 20_000 + '{"pin":1}' + "]}" * 20_000
    hidden, rules = redacted(line(raw=deep), "$..pin", "$..a.b", "$..x..y")
    assert rules == ["$..pin"]
    assert json.loads(hidden)["raw"] == deep.replace(":1}", f':"{MARK}"}}')


KNOWN = "Kq7Zt9vB2mXw4LpR8sNd3Fh6"
PIECES = st.sampled_from([
    '"', "\\", "{", "}", "[", "]", ":", ",", "=", "@", "&", "--", " ", "\n", "é", "\ud800", "\\u0061", "%3D", "null", "1e5",
    "password", "api_key", "Authorization", "Bearer ", "https://", "u:p@", "‹redacted ", GITHUB, "eyJ", "AKIA",
    "-----BEGIN PRIVATE KEY-----", KNOWN, KNOWN[:15], "…", "headers", "name", "value",
])  # fmt: skip
HOSTILE = st.lists(PIECES, max_size=8).map("".join)
VALUES = st.recursive(
    HOSTILE | st.integers() | st.none(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(HOSTILE | st.just("password"), inner, max_size=3)
        | inner.map(json.dumps)
        | inner.map(lambda value: base64.b64encode(json.dumps(value).encode()).decode())
    ),
    max_leaves=8,
)


@given(
    VALUES,
    st.booleans(),
    st.integers(0, 400),
    st.sampled_from([(), ("email", "$..name", "/p+/"), ("=é", "$.password")]),
)
def test_whatever_a_line_holds_it_is_read_and_stays_what_it_is(
    value: Any, escaped: bool, cut: int, rules: tuple[str, ...]
) -> None:
    scan = scanner(*rules)
    scan.known = known(KNOWN)
    whole = json.dumps({"n": 1, "kind": "stderr", "raw": json.dumps(value, ensure_ascii=escaped), "headers": value})
    edits = scan.line(whole)
    assert all(one.end <= other.start for one, other in pairwise(edits))
    assert json.loads(applied(whole, edits)).keys() == {"n", "kind", "raw", "headers"}
    torn = whole[:cut]
    assert applied(torn, scan.line(torn)).startswith(torn[:1])
