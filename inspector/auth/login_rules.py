"""The rules behind a login's decisions, each readable without the specification."""

from __future__ import annotations

from typing import NamedTuple

_AUTH = "MCP 2026-07-28, authorization"
_DISCOVERY = "MCP 2026-07-28, authorization server discovery"
_REGISTRATION = "MCP 2026-07-28, client registration"


class AuthRule(NamedTuple):
    """The requirement, its reason, and its source."""

    text: str
    source: str


RULES: dict[str, AuthRule] = {
    "C-AUTH-02": AuthRule(
        "A server that requires a login responds with 401. Its WWW-Authenticate field names the metadata URL and the "
        "required scopes.",
        _AUTH,
    ),
    "C-AUTH-04": AuthRule(
        "A token is sent only to the server that it was issued for. Any other server could use it.", _AUTH
    ),
    "C-AUTH-05": AuthRule(
        "An MCP server publishes who issues its tokens: its protected resource metadata lists at least one "
        "authorization server.",
        f"{_DISCOVERY}; RFC 9728",
    ),
    "C-AUTH-06": AuthRule(
        "The client looks for the protected resource metadata at the challenge's URL, then below /.well-known/ with "
        "the server's path, then without it. It uses the first document.",
        f"{_DISCOVERY}; RFC 9728 section 3",
    ),
    "C-AUTH-07": AuthRule(
        "The metadata must be for the server that was called: otherwise one server could get tokens issued for "
        "another. A document for another server is ignored.",
        "RFC 9728 section 3.3",
    ),
    "C-AUTH-08": AuthRule("A server may name several authorization servers; the client chooses one.", _DISCOVERY),
    "C-AUTH-09": AuthRule(
        "An authorization server publishes its metadata at a well-known URL derived from its issuer: OAuth's URL "
        "first, then those of OpenID Connect. The client uses the first document.",
        f"{_DISCOVERY}; RFC 8414 section 3",
    ),
    "C-AUTH-10": AuthRule(
        "The issuer in the metadata must equal the issuer of the authorization server, character by character: "
        "otherwise one server could pose as another. The client ignores other metadata and opens no browser.",
        "RFC 8414 section 3.3",
    ),
    "C-AUTH-12": AuthRule(
        "PKCE (S256) binds an authorization code to a secret of the client, so a stolen code is useless. An "
        "authorization server that does not announce PKCE is not used.",
        f"{_AUTH}; RFC 7636",
    ),
    "C-AUTH-13": AuthRule(
        "Requests to an authorization server contain credentials: each of its URLs must be https, or on this machine.",
        f"{_AUTH}; OAuth 2.1 section 1.5",
    ),
    "C-AUTH-14": AuthRule(
        "An authorization server must know the client. In this order: a client that you give, one whose document the "
        "server fetches, one that is registered automatically, one that you register by hand.",
        _REGISTRATION,
    ),
    "C-AUTH-15": AuthRule("A client id may be the URL of a document that describes the client.", _REGISTRATION),
    "C-AUTH-16": AuthRule(
        "A client registers itself as a native application with its redirect URI; the response must contain a client "
        "id and the same redirect URI.",
        f"{_REGISTRATION}; RFC 7591",
    ),
    "C-AUTH-17": AuthRule(
        "A client belongs to the authorization server that it was registered with, and is never sent to another.",
        _REGISTRATION,
    ),
    "C-AUTH-20": AuthRule(
        "The request in your browser names the client, the MCP server and the scopes, and binds the code to this "
        "session (PKCE, S256).",
        _AUTH,
    ),
    "C-AUTH-22": AuthRule(
        "The redirect must have the “state” of the request, once: otherwise it may belong to a request of an "
        "attacker. Its code is then not sent anywhere.",
        "OAuth 2.1 section 7.12",
    ),
    "C-AUTH-24": AuthRule(
        "The client requests the scopes that the challenge names; without any, those of the protected resource "
        "metadata; else none.",
        _AUTH,
    ),
    "C-AUTH-29": AuthRule(
        "“iss” in the response must equal the requested issuer, character by character, and is required if the "
        "metadata promises it: otherwise a code could be sent to another authorization server than the one that "
        "issued it.",
        "RFC 9207 section 2.4",
    ),
    "C-AUTH-31": AuthRule("Tokens are stored in the system's keyring, or in a file that only you can read.", _AUTH),
    "C-AUTH-32": AuthRule(
        "An expired token is refreshed with its refresh token. If the authorization server refuses the refresh "
        "token, it is deleted, and a new login starts.",
        f"{_AUTH}; RFC 6749 section 6",
    ),
    "C-AUTH-33": AuthRule(
        "A server that requires more scopes responds with 403 and names them. The client requests them together with "
        "the granted scopes, so that none is lost.",
        _AUTH,
    ),
    "C-AUTH-34": AuthRule("A request that is refused several times, with a new token each time, has failed.", _AUTH),
    "C-AUTH-35": AuthRule(
        "A server without protected resource metadata is treated as one of 2025-03-26: its own origin is its "
        "authorization server, with /authorize, /token and /register as defaults.",
        "MCP 2025-03-26, authorization",
    ),
    "C-AUTH-40": AuthRule("A program may authorize as itself, with its own secret or key.", "SEP-1046"),
    "C-AUTH-41": AuthRule(
        "A company's identity provider may authenticate you, without a page of the server.", "SEP-990"
    ),
    "C-AUTH-43": AuthRule("A platform may authenticate the program that it runs.", "SEP-1933"),
    "RFC 6749 section 5": AuthRule(
        "The token endpoint responds with a JSON object: an access token and its type, or an error code.",
        "RFC 6749 section 5",
    ),
    "RFC 6749 section 4.1.2.1": AuthRule(
        "An authorization server may redirect the browser with an error code instead of an authorization code.",
        "RFC 6749 section 4.1.2.1",
    ),
    "RFC 7009": AuthRule(
        "An authorization server may support revocation, after which a token is not valid.", "RFC 7009"
    ),
    "RFC 7591 section 3.2.1": AuthRule(
        "The secret of a registered client may expire. Then another client is registered.", "RFC 7591 section 3.2.1"
    ),
    "RFC 8414 section 2": AuthRule(
        "The metadata describes what the authorization server supports, and its URLs. A missing or invalid member is "
        "not guessed.",
        "RFC 8414 section 2",
    ),
    "RFC 9728 section 2": AuthRule(
        "The protected resource metadata names its server and the authorization servers. A missing or invalid member "
        "is not guessed.",
        "RFC 9728 section 2",
    ),
    "RFC 8628 section 4": AuthRule(
        "An authorization server that supports device codes names the endpoint that issues them.", "RFC 8628 section 4"
    ),
    "RFC 8628": AuthRule("A code is shown here and entered on a page, on any device.", "RFC 8628"),
    "RFC 9449 section 8": AuthRule(
        "An authorization server may require a nonce of its own in each DPoP proof.", "RFC 9449 section 8"
    ),
    "RFC 9449 section 9": AuthRule(
        "An MCP server may require a nonce of its own in each DPoP proof.", "RFC 9449 section 9"
    ),
}
"""By the identifiers that steps record: C-AUTH-… for the specification's requirements, or a section of an RFC."""

RULES["RFC 6749 section 5.1"] = RULES["RFC 6749 section 5"]


def rule_of(name: str) -> AuthRule | None:
    """Return the rule of a step; None without one."""
    return RULES.get(name)
