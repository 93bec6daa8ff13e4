"""The shapes of recognisable secrets: tokens of known services, keys, credentials in URLs and headers.

Every pattern is linear: it starts with something fixed, or only where no run of its own characters continues.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

# Not in the middle of a word; but after an escape that was not decoded (`%3D`, `\n`) a word starts.
_B = r"(?:(?<![A-Za-z0-9_-])|(?<=%[0-9A-Fa-f]{2})|(?<=\\[nrt]))"
_END = r"(?![A-Za-z0-9_-])"


class SecretShape(NamedTuple):
    """One kind of secret. `group` is the hidden part of a match."""

    name: str
    summary: str
    hints: tuple[str, ...]
    """In lower case: a text without any of these does not have the shape."""
    pattern: re.Pattern[str]
    group: int = 0
    genuine: Callable[[str], bool] = lambda _: True
    """Whether a match is really a secret, and not an example."""
    shown: int = 0
    """Characters at its start that show its kind and may be displayed; binary data is searched only for shapes with
    some."""
    ordinary: bool = True
    """Enabled by default."""


def mixed(value: str) -> bool:
    """Whether it contains letters and more than a few digits, unlike words and examples."""
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value)) and len(set(value)) > 7


def _userinfo(value: str) -> bool:
    user, colon, password = value.partition(":")
    if not colon:
        return len(user) >= 16 and mixed(user)
    return len(password) > 2 and "‹redacted " not in value and password[0] not in "<${*[" and password != "password"


def _shape(
    name: str,
    summary: str,
    hints: str,
    pattern: str,
    *,
    group: int = 0,
    genuine: Callable[[str], bool] = lambda _: True,
    shown: int = 0,
    ordinary: bool = True,
) -> SecretShape:
    return SecretShape(name, summary, tuple(hints.split()), re.compile(pattern), group, genuine, shown, ordinary)


_SERVICES = (
    r"hf_[A-Za-z0-9]{30,}",
    r"SG\.[\w-]{16,}\.[\w-]{30,}",
    r"do[opr]_v1_[0-9a-f]{64}",
    r"dapi[0-9a-f]{32}",
    r"sbp_[0-9a-f]{40}",
    r"hv[sbr]\.[\w-]{24,}",
    r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",
    r"lin_api_\w{32,}",
    r"ntn_[A-Za-z0-9]{40,}",
    r"ATATT3[\w=-]{40,}",
    r"AGE-SECRET-KEY-1[0-9A-Z]{50,}",
    r"glsa_\w{32,}",
    r"dckr_pat_[\w-]{20,}",
    r"rubygems_[0-9a-f]{48}",
    r"PMAK-[\w-]{50,}",
    r"tvly-[\w-]{20,}",
    r"r8_\w{36,}",
    r"gsk_[A-Za-z0-9]{40,}",
    r"pplx-[0-9a-f]{40,}",
    r"xai-\w{40,}",
    r"\d{8,10}:AA[\w-]{33}(?![\w-])",
)

SHAPES = (
    _shape(
        "pem",
        "private keys (PEM, OpenSSH, PGP)",
        "-----begin",
        r"-----BEGIN (?:[A-Z0-9]++ )*PRIVATE KEY(?: BLOCK)?-----(?:(?!-----)[^\"<>]){0,20000}"
        r"(?:-----END [A-Z0-9 ]{0,40}-----)?",
        shown=11,
    ),
    _shape("jwt", "JSON Web Tokens", "eyj", rf"{_B}eyJ[\w-]{{8,}}+\.[\w-]{{8,}}+(?:\.[\w-]*+){{1,3}}", shown=3),
    _shape(
        "aws", "AWS access key ids", "akia asia abia acca", rf"{_B}(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{{16}}{_END}", shown=4
    ),
    _shape(
        "aws-secret",
        "AWS secret access keys",
        "aws amazon secret",
        r"(?i:aws|amazon|secret)[\w ./-]{0,20}+[\"' ]{0,3}[:=>,][\"' =>]{0,4}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        group=1,
        genuine=mixed,
    ),
    _shape(
        "github",
        "GitHub tokens",
        "gho_ ghp_ ghr_ ghs_ ghu_ github_pat_",
        rf"{_B}(?:gh[oprsu]_[A-Za-z0-9]{{30,}}|github_pat_\w{{22,}})",
        shown=4,
    ),
    _shape(
        "gitlab",
        "GitLab tokens",
        "glpat- gldt- glrt- glptt- glcbt- glsoat- glimt- glagent-",
        rf"{_B}gl(?:pat|dt|rt|ptt|cbt|soat|imt|agent)-[\w-]{{20,}}",
        shown=5,
    ),
    _shape(
        "slack",
        "Slack tokens and webhooks",
        "xox xapp- hooks.slack",
        rf"{_B}(?:xox[a-z]-|xapp-)[\w-]{{10,}}|hooks\.slack\.com/(?:services|workflows)/[\w/+-]{{20,}}",
        shown=5,
    ),
    _shape(
        "openai", "keys of OpenAI, Anthropic and their like", "sk-", rf"{_B}sk-[\w-]{{20,}}", genuine=mixed, shown=3
    ),
    _shape(
        "google",
        "Google API keys, OAuth tokens and client secrets",
        "aiza ya29. gocspx- 1//0",
        rf"{_B}(?:AIza[\w-]{{35}}|ya29\.[\w-]{{20,}}|GOCSPX-[\w-]{{20,}}|1//0[\w-]{{30,}})",
        shown=4,
    ),
    _shape(
        "stripe",
        "Stripe keys",
        "k_live_ k_test_ k_prod_ whsec_",
        rf"{_B}(?:[rs]k_(?:live|test|prod)_\w{{16,}}|whsec_[\w+/]{{24,}}=*)",
        shown=6,
    ),
    _shape("npm", "npm tokens", "npm_", rf"{_B}npm_[A-Za-z0-9]{{36}}{_END}", shown=4),
    _shape("pypi", "PyPI tokens", "pypi-", rf"{_B}pypi-[\w-]{{50,}}", shown=5),
    _shape(
        "service",
        "tokens of other services with a known prefix",
        "hf_ sg. _v1_ dapi sbp_ hvs. hvb. hvr. shpat_ shpca_ shppa_ shpss_ lin_api_ ntn_ atatt3 age-secret glsa_ "
        "dckr_pat_ rubygems_ pmak- tvly- r8_ gsk_ pplx- xai- :aa",
        rf"{_B}(?:{'|'.join(_SERVICES)})",
        shown=3,
    ),
    _shape(
        "bearer",
        "credentials after Bearer, Basic, Token or DPoP",
        "bearer basic token dpop apikey",
        r"(?i:\b(?:bearer|basic|token|dpop|apikey)(?: |%20){1,4})([A-Za-z0-9._~+/-]{16,}+=*)",
        group=1,
        genuine=mixed,
    ),
    _shape(
        "url",
        "user names and passwords in URLs",
        "@",
        r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,20}+:(?:\\?/){2}([^\s/\\?#@\"'<>]{1,500}+)@",
        group=1,
        genuine=_userinfo,
    ),
    _shape(
        "email",
        "e-mail addresses",
        "@",
        r"(?<![\w.+%-])[\w.+%-]{1,64}+@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}[A-Za-z0-9])?\.){1,8}[A-Za-z]{2,24}(?![\w-])",
        ordinary=False,
    ),
)
"""Two more are not here, because they have no pattern: `named` and `entropy`."""

NAMES = {shape.name: shape.summary for shape in SHAPES} | {
    "named": "values that stand under a name like password, apiKey or Authorization",
    "entropy": "random-looking text without a known shape",
}
"""Every built-in rule, with its description."""
