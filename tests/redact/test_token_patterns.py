"""Tokens of known services are found, wherever they are in a text; what only looks similar is not.

The samples are made here: a token in a file would be reported by scanners for leaked secrets.
"""

from __future__ import annotations

import base64
import json

import pytest

from inspector.config.token_patterns import _SERVICES, SHAPES
from inspector.redact import entropy
from inspector.redact.rules import read_rules
from inspector.redact.scan import SecretScanner, applied

MIXED = "aB3dE5fG7hJ9kLmN0pQrS2tUvWxY4zA6bC8eDfHgKi1jMlOnRq"
DIGITS_OF_ACCOUNT = base64.b64encode(b"112233445566778899").decode()


def mixed(length: int) -> str:
    return (MIXED * 4)[:length]


def lower(length: int) -> str:
    return mixed(length).lower()


def digits(length: int) -> str:
    return ("0a1b2c3d4e5f" * 20)[:length]


def upper(length: int) -> str:
    return mixed(length).upper()


UUID = f"{digits(8)}-{digits(4)}-{digits(4)}-{digits(4)}-{digits(12)}"

SAMPLES: dict[str, tuple[str, str, str]] = {
    "GitHub, classic": ("github", f"ghp_{mixed(36)}", "ghp_short"),
    "GitHub, fine-grained": ("github", f"github_pat_{mixed(22)}_{mixed(50)}", "github_pat_example"),
    "GitLab, personal": ("gitlab", f"glpat-{mixed(20)}", "glpat-your-token"),
    "GitLab, application": ("gitlab", f"gloas-{mixed(40)}", "gloas-x"),
    "GitLab, runner": ("gitlab", f"GR1348941{mixed(20)}", "GR1348941"),
    "Slack, bot": ("slack", f"xoxb-123456789012-{mixed(24)}", "xoxb-x"),
    "Slack, rotated": ("slack", f"xoxe.xoxp-1-{mixed(40)}", "xoxe.txt"),
    "Slack, application": ("slack", f"xapp-1-A0123-{mixed(30)}", "xapp-1"),
    "Slack, webhook": ("slack", f"https://hooks.slack.com/services/T0123/B0123/{mixed(24)}", "https://hooks.slack.com/x"),
    "Discord, bot": ("discord", f"{DIGITS_OF_ACCOUNT}.Gabc_1.{mixed(38)}", "Many.thanks_.for_it"),
    "Discord, user with a second factor": ("discord", f"mfa.{mixed(84)}", "mfa.enabled"),
    "Discord, webhook": ("discord", f"/api/webhooks/123456789012345678/{mixed(68)}", "/api/webhooks/12/x"),
    "Stripe, secret": ("stripe", f"sk_live_{mixed(24)}", "sk_live_x"),
    "Stripe, restricted": ("stripe", f"rk_test_{mixed(24)}", "rk_test_"),
    "Stripe, webhook": ("stripe", f"whsec_{mixed(32)}", "whsec_x"),
    "AWS, key id": ("aws", f"AKIA{upper(16)}", "AKIA"),
    "AWS, temporary key id": ("aws", f"ASIA{upper(16)}", "ASIANMARKETS"),
    "AWS, session": ("aws-session", f"IQoJb3JpZ2lu{mixed(120)}==", "IQoJb3JpZ2lu"),
    "AWS, Bedrock": ("aws-session", f"ABSK{mixed(110)}=", "ABSKIP"),
    "Google, API key": ("google", f"AIza{mixed(35)}", "AIza-short"),
    "Google, access token": ("google", f"ya29.{mixed(40)}", "ya29.x"),
    "Google, client secret": ("google", f"GOCSPX-{mixed(28)}", "GOCSPX-x"),
    "Google, refresh token": ("google", f"1//0{mixed(40)}", "1//0"),
    "Azure, client secret": ("azure", f"abc8Q~{mixed(34)}", "abc8Q~x"),
    "Azure, DevOps": ("azure", f"{mixed(76)}AZDO{mixed(4)}", "AZDO"),
    "Azure, storage": ("azure", f"{mixed(76)}+ASt{mixed(6)}==", "1+ASt"),
    "Azure, functions": ("azure", f"{mixed(44)}AzFu{mixed(8)}==", "AzFu"),
    "npm": ("npm", f"npm_{mixed(36)}", "npm_config_registry"),
    "PyPI": ("pypi", f"pypi-AgEIcHlwaS5vcmc{mixed(60)}", "pypi-server"),
    "Anthropic": ("openai", f"sk-ant-api03-{mixed(40)}", "sk-ant-api03-your-key"),
    "OpenAI, project": ("openai", f"sk-proj-{mixed(48)}", "sk-proj-"),
    "OpenRouter": ("openai", f"sk-or-v1-{digits(64)}", "sk-or-v1"),
    "JSON Web Token": ("jwt", f"eyJhbGciOiJIUzI1NiJ9.eyJz{mixed(20)}.{mixed(43)}", "eyJhbGciOiJIUzI1NiJ9"),
    "JSON Web Token, encrypted": ("jwt", f"eyJhbGciOiJkaXIifQ..{mixed(16)}.{mixed(20)}.{mixed(22)}", "eyJhbGciOiJkaXIifQ.."),
    "user and password": ("url", "https://user:pa55w0rd-x@example.com", "https://user:password@example.com"),
    "token in a URL": ("url", f"https://{mixed(40)}@github.com/o/r", "https://name@github.com/o/r"),
    "PostgreSQL": ("url", "postgres://me:pa55w0rd@db/x", "postgres://me@db/x"),
    "MongoDB": ("url", "mongodb+srv://me:pa55w0rd@db/x", "mongodb+srv://db/x"),
    "Redis": ("url", "redis://:pa55w0rd@cache:6379", "redis://cache:6379"),
    "Telegram": ("service", f"123456789:AA{mixed(33)}", "123:AA"),
    "Terraform": ("service", f"{mixed(14)}.atlasv1.{mixed(67)}", "x.atlasv1.y"),
    "Mailchimp": ("service", f"{digits(32)}-us12", "en-us12"),
}  # fmt: skip

_REST = {
    "SG.": f"{mixed(22)}.{mixed(43)}", "sq0": f"csp-{mixed(43)}", "pat": f"{mixed(14)}.{digits(64)}",
    "pat-na": f"1-{UUID}", "pat-eu": f"1-{UUID}", "dp.": f"pt.{mixed(43)}", "pscale_": f"tkn_{mixed(43)}",
    "tskey-": f"auth-{mixed(20)}", "v1.0-": f"{digits(24)}-{digits(146)}", "re_": f"{mixed(8)}_{mixed(24)}",
    "lsv2_": f"pt_{digits(32)}_{digits(10)}", "AGE-SECRET-KEY-1": upper(58), "NRAK-": upper(27), "oy2": lower(43),
    "napi_": lower(60), "secret_": mixed(43), "ATBB": mixed(32), "cio": mixed(32), "fo1_": mixed(43), "CFPAT-": mixed(43),
}  # fmt: skip
_HEXADECIMAL = {
    "SK": 32, "key-": 32, "dop_v1_": 64, "doo_v1_": 64, "dor_v1_": 64, "dapi": 32, "sbp_": 40, "shpat_": 32, "shpca_": 32,
    "shppa_": 32, "shpss_": 32, "sntryu_": 64, "rubygems_": 48, "bkua_": 40, "squ_": 40, "sqa_": 40, "sqp_": 40,
    "pul-": 40, "fc-": 32, "e2b_": 40, "sk_": 48,
}  # fmt: skip
for begin, _ in _SERVICES:
    rest = digits(_HEXADECIMAL[begin]) if begin in _HEXADECIMAL else _REST.get(begin, mixed(110))
    SAMPLES[f"{begin}…"] = ("service", begin + rest, f"{begin}x")


def hidden(text: str, *rules: str) -> tuple[str, list[str]]:
    message = json.dumps({"result": {"text": text}}, ensure_ascii=False)
    line = json.dumps({"n": 1, "kind": "rpc", "raw": message})
    edits = SecretScanner(read_rules(rules), lambda secret: "‹redacted›").line(line)
    redacted = json.loads(json.loads(applied(line, edits))["raw"])["result"]["text"]
    return redacted, [found_secret.rule for edit in edits for found_secret in edit.secrets]


@pytest.mark.parametrize("name", SAMPLES)
def test_a_token_is_found_by_its_form_alone(name: str) -> None:
    rule, token, _ = SAMPLES[name]
    for before in ("see ", '{"a":"', "x=", "…\n", "https://h/?a=1&x%3D"):
        if "://" in token and before != "see ":
            continue
        redacted, rules = hidden(f"{before}{token} there", "no-entropy", "no-named", "no-bearer")
        assert rule in rules
        assert redacted.endswith(" there")
        assert token[-12:-4] not in redacted.replace("@example.com", "").replace("@github.com/o/r", "")


@pytest.mark.parametrize("name", SAMPLES)
def test_what_only_begins_like_a_token_stays(name: str) -> None:
    text = f"see {SAMPLES[name][2]} there"
    assert hidden(text) == (text, [])


@pytest.mark.parametrize("name", SAMPLES)
def test_a_token_does_not_begin_in_the_middle_of_a_word(name: str) -> None:
    rule, token, _ = SAMPLES[name]
    if rule == "service" and not entropy.looks_random(f"Word{token}"):
        assert rule not in hidden(f"see Word{token} there", "no-entropy")[1] or ":" in token


def test_every_form_has_a_sample() -> None:
    assert {shape.name for shape in SHAPES} - {rule for rule, _, _ in SAMPLES.values()} == {
        "pem", "aws-secret", "bearer", "email",
    }  # fmt: skip
