"""Detects secrets, and shows none of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.config import secret_values

SECRET_NAMES = """
token apiToken API_KEY --api-key apikey x-api-key password dbPassword DB_PWD client_secret clientSecret OPENAI_API_KEY
AWS_SECRET_ACCESS_KEY GITHUB_PAT passphrase Authorization Proxy-Authorization Cookie set-cookie jwt connection_string
DATABASE_DSN SLACK_WEBHOOK_URL credentials refreshToken private_key
"""
OTHER_NAMES = """
tokenizer max_tokens maxTokens pageToken next_page_token progressToken token_file API_KEY_PATH passwordFile tokenType
author key sort_key primaryKey issueKey keyboard monkey message url path PWD OLDPWD password_length secretName compass
passenger patch patient cookies tokenSource token_usage token_budget auth_status
"""


@pytest.mark.parametrize("name", SECRET_NAMES.split())
def test_names_of_secrets(name: str) -> None:
    assert secret_values.looks_secret(name)


@pytest.mark.parametrize("name", OTHER_NAMES.split())
def test_names_of_no_secrets(name: str) -> None:
    assert not secret_values.looks_secret(name)


def test_a_setting_that_ends_in_key_is_one_and_a_public_key_is_none() -> None:
    assert secret_values.looks_secret_setting("STRIPE_KEY")
    assert secret_values.looks_secret_setting("X-Auth")
    assert not secret_values.looks_secret_setting("STRIPE_PUBLIC_KEY")
    assert not secret_values.looks_secret_setting("KEYMAP")


@pytest.mark.parametrize(
    ("argv", "secrets"),
    [
        (["x", "--api-key", "abc123"], ["abc123"]),
        (["x", "--api-key=abc123"], ["abc123"]),
        (["x", "--api-key", "--verbose"], []),
        (["docker", "run", "-e", "TOKEN=abc123", "-e", "MODE=fast"], ["abc123"]),
        (["docker", "run", "-e", "GH=hunter2pass", "-e", "REGION=us-east-1", "--id=hunter2pass"], ["hunter2pass"]),
        (["mcp-remote", "--header", "Authorization: Bearer abc123"], ["Bearer abc123", "abc123"]),
        (["psql", "postgres://me:pass%2Fword@host/db"], ["pass%2Fword", "pass/word"]),
        (["x", "https://host/mcp?api_key=k1234&page=2"], ["k1234"]),
        (["x", "ghp_0123456789abcdef0123456789abcdef0123"], ["ghp_0123456789abcdef0123456789abcdef0123"]),
        (["x", "--token-file", "/run/token", "--page-token", "3"], []),
        (["npx", "-y", "pkg", "C:\\dir", "a:b", "http://host/x"], []),
    ],
)
def test_secrets_in_a_command(argv: list[str], secrets: list[str]) -> None:
    assert secret_values.in_arguments(argv) == secrets


def test_secrets_in_headers_and_environment() -> None:
    headers = [("Authorization", "Basic dTpw"), ("X-Trace", "1"), ("x-api-key", "k-1")]
    assert secret_values.in_headers(headers) == ["Basic dTpw", "dTpw", "k-1"]
    assert secret_values.in_headers([("Cookie", "theme=dark; sid=k7fq2x9d")])[-1:] == ["k7fq2x9d"]
    env = [("DATABASE_URL", "mysql://u:pw@h/d"), ("MODE", "fast"), ("API_KEY", "k-2")]
    assert secret_values.in_environment(env) == ["pw", "k-2"]


@pytest.mark.parametrize(
    ("name", "value", "is_secret"),
    [
        ("TOK", "x", True),
        ("GH", "hunter2pass", True),
        ("GH", "S3cr3t!x", True),
        ("GH", "123e4567-e89b-12d3-a456-426614174000", True),
        ("REGION", "us-east-1", False),
        ("VERSION", "v1.2.3", False),
        ("LEVEL", "debugging", False),
        ("PORT", "127.0.0.1:80", False),
        ("DATA", "/srv/data0123456789", False),
        ("TERM", "xterm-256color-16", False),
        ("URL", "https://h0123456789.example/", False),
        ("TITLE", "the 3 words of a title", False),
    ],
)
def test_a_variable_that_was_given_is_a_secret_by_its_name_or_its_looks(name: str, value: str, is_secret: bool) -> None:
    assert secret_values.in_environment([(name, value)]) == [value] * is_secret


@pytest.mark.parametrize(
    ("name", "value", "secrets"),
    [
        ("MY_TOKEN", "1", ["1"]),
        ("THING", "s3cr3t", ["s3cr3t"]),
        ("HOME", "me", []),
        ("PORT", "8080", []),
        ("DEBUG", "True", []),
        ("DATA", "/srv/data", []),
        ("BASE", "https://u:pw12@host/", ["pw12"]),
        ("EMPTY", "", []),
    ],
)
def test_what_comes_from_a_variable_is_a_secret_unless_it_is_plainly_none(
    name: str, value: str, secrets: list[str]
) -> None:
    assert secret_values.in_variable(name, value) == secrets


@pytest.mark.parametrize(
    ("url", "masked"),
    [
        ("https://host/mcp", "https://host/mcp"),
        ("https://user:pw@host:1/x", "https://***@host:1/x"),
        ("https://tok@host", "https://***@host"),
        ("https://h/x?api_key=1&q=a&sig=2#access_token=3", "https://h/x?api_key=***&q=a&sig=***#access_token=***"),
        ("https://h/x?api%5Fkey=1", "https://h/x?api%5Fkey=***"),
        ("https://h/a@b?q=c@d", "https://h/a@b?q=c@d"),
        ("https://h/x?token=", "https://h/x?token="),
    ],
)
def test_urls_are_shown_without_their_secrets(url: str, masked: str) -> None:
    assert secret_values.mask_url(url) == masked


@given(st.lists(st.text(min_size=4), max_size=4), st.text())
def test_no_masked_text_holds_a_secret(secrets: list[str], around: str) -> None:
    text = around.join(secrets)
    masked = secret_values.mask(text, secrets)
    pieces = masked.split(secret_values.MASK)
    assert not [secret for secret in secrets for piece in pieces if secret in piece]


def test_a_short_secret_is_masked_only_as_a_whole_value() -> None:
    assert secret_values.mask("abc", ["abc"]) == "***"
    assert secret_values.mask("--pin=abc", ["abc"]) == "--pin=***"
    assert secret_values.mask("alphabets abcd", ["abc"]) == "alphabets abcd"


@pytest.mark.parametrize("unit", ["eyJ", "a", "://", "?", "&=", "sk-", "Aa", "x=", "@", "a:", "-"], ids=repr)
def test_hostile_arguments_cost_one_pass(unit: str) -> None:
    long = unit * 100_000
    secret_values.in_arguments([long, f"--x={long}", f"http://{long}"])
    secret_values.in_headers([(long, long)])
    assert secret_values.looks_secret(long) in (True, False)
