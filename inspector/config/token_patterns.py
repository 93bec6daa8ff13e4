"""The shapes of recognisable secrets: tokens of known services, keys, credentials in URLs and headers.

Every pattern is linear: it starts with something fixed, or only where no run of its own characters continues.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple


def _after(begin: str) -> str:
    """Return a pattern that follows `begin`, of fixed length: it was not in the middle of a word.

    After an escape that was not decoded (`%3D`, `\\n`) a word starts. A pattern that starts with a literal text is ten
    times as fast as one that starts with this test.
    """
    return rf"(?:(?<![A-Za-z0-9_-]{begin})|(?<=%[0-9A-Fa-f]{{2}}{begin})|(?<=\\[nrt]{begin}))"


_B = _after("")
_END = r"(?![A-Za-z0-9_-])"


class SecretShape(NamedTuple):
    """One kind of secret. `group` is the hidden part of a match."""

    name: str
    summary: str
    hints: frozenset[str]
    """In lower case: a text without any of these does not have the shape; empty if every text may have it."""
    pattern: re.Pattern[str]
    group: int = 0
    genuine: Callable[[str], bool] = lambda _: True
    """Whether a match is really a secret, and not an example."""
    prefix: int = 0
    """Characters at its start that show its kind and may be displayed; binary data is searched only for shapes with
    some."""
    ordinary: bool = True
    """Enabled by default."""

    def places(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where secrets of this shape are."""
        for match in self.pattern.finditer(text):
            start, end = match.span(self.group)
            if self.genuine(text[start:end]):
                yield start, end


def without_tokens(text: str, mark: str) -> str:
    """Return the text with each secret of an ordinary shape replaced by `mark`."""
    for shape in SHAPES:
        low = text.lower()
        if shape.ordinary and (not shape.hints or any(hint in low for hint in shape.hints)):
            for start, end in reversed(list(shape.places(text))):
                text = text[:start] + mark + text[end:]
    return text


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
    prefix: int = 0,
    ordinary: bool = True,
) -> SecretShape:
    return SecretShape(name, summary, frozenset(hints.split()), re.compile(pattern), group, genuine, prefix, ordinary)


_SERVICES = [
    (begin, rest)
    for line in Path(__file__).with_name("token_prefixes.txt").read_text(encoding="utf-8").splitlines()
    for begin, rest, _ in [line.split(maxsplit=2)]
]
"""How tokens begin, and the pattern of the rest; in the file, the service that issues them."""
_COMMON = frozenset(("SK", "pat", "cio", "EAA", "re_", "sk_", "sl.", "dp."))
"""Those that are in many texts, so that they do not tell that a text has a token."""
LIKE_A_TOKEN = re.compile(r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}|sk_[0-9a-f]{48}")
"""Tokens that begin so and do not look random."""
_OF_SERVICES = "tokens of other services with a known prefix"
_AZURE = r"(?:A(?:z(?:Fu|Se|Ca)|CDb|IoT|PIM)|\+A(?:CR|Eh|St|Sb|Ba))"
"""What Azure puts into its keys, to be found."""


def _token(begin: str, rest: str) -> SecretShape:
    """Return the shape of tokens that begin with a text."""
    hint, text = "" if begin in _COMMON else begin.lower(), re.escape(begin)
    return _shape("service", _OF_SERVICES, hint, f"{text}{_after(text)}{rest}", prefix=len(begin))


SHAPES = (
    _shape(
        "pem",
        "private keys (PEM, OpenSSH, PGP)",
        "-----begin putty-user-key-file",
        r"PuTTY-User-Key-File-[0-9]:(?:(?!Private-MAC:)[^\"<>]){0,20000}(?:Private-MAC:[ 0-9a-f]{0,80})?"
        r"|---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----(?:(?!---- END)[^\"<>]){0,20000}"
        r"|-----BEGIN (?:[A-Z0-9]++ )*PRIVATE KEY(?: BLOCK)?-----(?:(?!-----)[^\"<>]){0,20000}"
        r"(?:-----END [A-Z0-9 ]{0,40}-----)?",
        prefix=11,
    ),
    _shape(
        "jwt",
        "JSON Web Tokens",
        "eyj",
        rf"{_B}eyJ[\w-]{{8,}}+\.(?:[\w-]{{8,}}+(?:\.[\w-]*+){{1,3}}|\.[\w-]{{8,}}+(?:\.[\w-]*+){{2}})",
        prefix=3,
    ),
    _shape(
        "aws",
        "AWS access key ids",
        "akia asia abia acca",
        rf"{_B}(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{{16}}{_END}",
        prefix=4,
    ),
    _shape(
        "aws-session",
        "AWS session tokens and keys of Bedrock",
        "fwogzxivyxdz iqojb3jpz2lu absk bedrock-api-key-",
        rf"{_B}(?:(?:FwoGZXIvYXdz|IQoJb3JpZ2lu)[A-Za-z0-9+/]{{80,}}={{0,2}}|ABSK[A-Za-z0-9+/]{{80,}}={{0,2}}"
        r"|bedrock-api-key-[A-Za-z0-9+/=]{40,})",
        prefix=4,
    ),
    _shape(
        "azure",
        "keys and client secrets of Azure",
        "q~ azdo azfu azse azca acdb +acr +aeh +ast +asb +aba aiot apim",
        rf"{_B}[\w~.-]{{3}}[0-9]Q~[\w~.-]{{31,34}}(?![\w~.-])|{_B}[A-Za-z0-9]{{76}}AZDO[A-Za-z0-9]{{4}}{_END}"
        rf"|(?<![\w+/])[\w+/-]{{30,80}}{_AZURE}[\w+/-]{{4,12}}={{0,2}}(?![\w+/=-])",
        genuine=mixed,
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
        prefix=4,
    ),
    _shape(
        "gitlab",
        "GitLab tokens",
        "glpat- gldt- glrt- glptt- glcbt- glsoat- glimt- glagent- gloas- glft- glffct- gr1348941",
        rf"{_B}(?:gl(?:pat|dt|rt|ptt|cbt|soat|imt|agent|oas|ft|ffct)-|GR1348941)[\w-]{{20,}}",
        prefix=5,
    ),
    _shape(
        "slack",
        "Slack tokens and webhooks",
        "xox xapp- hooks.slack",
        rf"{_B}(?:xoxe\.xox[bp]-|xox[a-z]-|xapp-)[\w-]{{10,}}|hooks\.slack\.com/(?:services|workflows)/[\w/+-]{{20,}}",
        prefix=5,
    ),
    _shape(
        "discord",
        "Discord tokens and webhooks",
        "",
        # The id of the account in base64: digits; a time; a signature.
        rf"[MNO]{_after('[MNO]')}[A-Za-z0-9]{{23,27}}\.[\w-]{{6}}\.[\w-]{{27,40}}{_END}"
        rf"|mfa{_after('mfa')}\.[\w-]{{80,90}}{_END}|/api/webhooks/[0-9]{{15,20}}/[\w-]{{60,80}}",
    ),
    _shape(
        "openai", "keys of OpenAI, Anthropic and their like", "sk-", rf"{_B}sk-[\w-]{{20,}}", genuine=mixed, prefix=3
    ),
    _shape(
        "google",
        "Google API keys, OAuth tokens and client secrets",
        "aiza ya29. gocspx- 1//0",
        rf"{_B}(?:AIza[\w-]{{35}}|ya29\.[\w-]{{20,}}|GOCSPX-[\w-]{{20,}}|1//0[\w-]{{30,}})",
        prefix=4,
    ),
    _shape(
        "stripe",
        "Stripe keys",
        "k_live_ k_test_ k_prod_ whsec_",
        rf"{_B}(?:[rs]k_(?:live|test|prod)_\w{{16,}}|whsec_[\w+/]{{24,}}=*)",
        prefix=6,
    ),
    _shape("npm", "npm tokens", "npm_", rf"{_B}npm_[A-Za-z0-9]{{36}}{_END}", prefix=4),
    _shape("pypi", "PyPI tokens", "pypi-", rf"{_B}pypi-[\w-]{{50,}}", prefix=5),
    *(_token(begin, rest) for begin, rest in _SERVICES),
    _shape(
        "service",
        _OF_SERVICES,
        ":aa .atlasv1. -us",
        # Telegram, Terraform, Mailchimp
        rf"{_B}(?:\d{{8,10}}:AA[\w-]{{33}}|[A-Za-z0-9]{{14}}\.atlasv1\.[\w-]{{60,}}|[0-9a-f]{{32}}-us[0-9]{{1,2}}){_END}",
        prefix=3,
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
"""Three more are not here, because they have no pattern: `named`, `entropy` and `home`."""

NAMES = {shape.name: shape.summary for shape in SHAPES} | {
    "named": "values that stand under a name like password, apiKey or Authorization",
    "entropy": "random-looking text without a known shape",
    "home": "home folders, which name their users",
}
"""Every built-in rule, with its description."""
