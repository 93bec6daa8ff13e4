"""The rules by which a login decides, each in words that need no specification beside them."""

from __future__ import annotations

from typing import NamedTuple

_AUTH = "MCP 2026-07-28, authorization"
_DISCOVERY = "MCP 2026-07-28, authorization server discovery"
_REGISTRATION = "MCP 2026-07-28, client registration"


class Rule(NamedTuple):
    """What is demanded, and why; where it is written."""

    text: str
    source: str


RULES: dict[str, Rule] = {
    "C-AUTH-02": Rule(
        "A server that wants a login answers 401, and its WWW-Authenticate field says where the metadata about it is "
        "and which scopes it wants.", _AUTH,
    ),
    "C-AUTH-04": Rule(
        "A token goes only to the server that its authorization server issued it for: anybody else who gets it could "
        "use it.", _AUTH,
    ),
    "C-AUTH-05": Rule(
        "An MCP server publishes who issues its tokens: its protected resource metadata lists at least one "
        "authorization server.", f"{_DISCOVERY}; RFC 9728",
    ),
    "C-AUTH-06": Rule(
        "The protected resource metadata is looked for where the challenge says, then below /.well-known/ with the "
        "server's path, then without it. The first that is there counts.", f"{_DISCOVERY}; RFC 9728 section 3",
    ),
    "C-AUTH-07": Rule(
        "The metadata must be about the very server that was called: otherwise one server could have tokens issued for "
        "another. So nothing from a document about another one is used.", "RFC 9728 section 3.3",
    ),
    "C-AUTH-08": Rule(
        "A server may name several authorization servers; which of them is used is for the client to choose.",
        _DISCOVERY,
    ),
    "C-AUTH-09": Rule(
        "An authorization server describes itself at a well-known place made of its issuer: OAuth's place first, then "
        "those of OpenID Connect. The first document that is there counts.", f"{_DISCOVERY}; RFC 8414 section 3",
    ),
    "C-AUTH-10": Rule(
        "The issuer in the document must be the issuer that it was fetched for, character by character: otherwise one "
        "authorization server could answer for another. So nothing from another one's document is used, and no browser "
        "is opened.", "RFC 8414 section 3.3",
    ),
    "C-AUTH-12": Rule(
        "Codes that come back through a browser are bound to a secret of the client (PKCE, S256), so that whoever "
        "steals one cannot use it. An authorization server that does not say that it checks this is not used.",
        f"{_AUTH}; RFC 7636",
    ),
    "C-AUTH-13": Rule(
        "What is sent to an authorization server lets in whoever reads it: each of its addresses must be https, or on "
        "this machine.", f"{_AUTH}; OAuth 2.1 section 1.5",
    ),
    "C-AUTH-14": Rule(
        "An authorization server must know who asks. In this order: a client that you give, one whose document it "
        "fetches itself, one that is registered on the spot, one that you register by hand.", _REGISTRATION,
    ),
    "C-AUTH-15": Rule("A client id may be the URL of a document that describes the client.", _REGISTRATION),
    "C-AUTH-16": Rule(
        "A client registers itself as a program on this machine, with the address that the browser shall come back to; "
        "the answer must name the client, and that very address.", f"{_REGISTRATION}; RFC 7591",
    ),
    "C-AUTH-17": Rule(
        "A client belongs to the authorization server that it was registered with, and is never shown to another.",
        _REGISTRATION,
    ),
    "C-AUTH-20": Rule(
        "The request that your browser carries names the client, the MCP server and the scopes, and binds the code "
        "that comes back to this session (PKCE, S256).", _AUTH,
    ),
    "C-AUTH-22": Rule(
        "The browser must come back with the “state” that it was sent away with, once: otherwise the answer may be to "
        "a request that somebody else began. The code in such an answer goes nowhere.", "OAuth 2.1 section 7.12",
    ),
    "C-AUTH-24": Rule(
        "The scopes that the challenge names are asked for; where it names none, those of the protected resource "
        "metadata; else none.", _AUTH,
    ),
    "C-AUTH-29": Rule(
        "“iss” in the answer must be the issuer that was asked, character by character, and must be there where the "
        "metadata promise it: otherwise a code could end at another authorization server than the one that issued it.",
        "RFC 9207 section 2.4",
    ),
    "C-AUTH-31": Rule("Tokens are kept in the system's keyring, else in a file that only you can read.", _AUTH),
    "C-AUTH-32": Rule(
        "A token that ends is renewed with its refresh token. One that the authorization server refuses is forgotten, "
        "and the login begins anew.", f"{_AUTH}; RFC 6749 section 6",
    ),
    "C-AUTH-33": Rule(
        "A server that wants more scopes answers 403 and names them. They are asked for together with those that were "
        "granted, so that none is lost.", _AUTH,
    ),
    "C-AUTH-34": Rule(
        "A request that is refused again and again, with new tokens each time, has failed for good after a few.", _AUTH
    ),
    "C-AUTH-35": Rule(
        "A server without protected resource metadata is taken for one of 2025-03-26: its own origin is its "
        "authorization server, at /authorize, /token and /register where nothing else is said.",
        "MCP 2025-03-26, authorization",
    ),
    "C-AUTH-40": Rule("A program may authorize as itself, with its own secret or key.", "SEP-1046"),
    "C-AUTH-41": Rule(
        "A company's identity provider may vouch for who you are, without a page of the server.", "SEP-990"
    ),
    "C-AUTH-43": Rule("A platform may vouch for the program that it runs.", "SEP-1933"),
    "RFC 6749 section 5": Rule(
        "The token endpoint answers with a JSON object: an access token and its type, or an error and its name.",
        "RFC 6749 section 5",
    ),
    "RFC 6749 section 4.1.2.1": Rule(
        "An authorization server may send the browser back with the name of an error in place of a code.",
        "RFC 6749 section 4.1.2.1",
    ),
    "RFC 7009": Rule(
        "An authorization server may offer to take tokens back, so that they are good for nothing.", "RFC 7009"
    ),
    "RFC 7591 section 3.2.1": Rule(
        "The secret of a registered client may end. Then another client is registered.", "RFC 7591 section 3.2.1"
    ),
    "RFC 8414 section 2": Rule(
        "The metadata say what the authorization server does, and where. What is missing or of a wrong type is not "
        "guessed at.", "RFC 8414 section 2",
    ),
    "RFC 9728 section 2": Rule(
        "The protected resource metadata say which server they are about and who issues its tokens. What is missing or "
        "of a wrong type is not guessed at.", "RFC 9728 section 2",
    ),
    "RFC 8628 section 4": Rule(
        "An authorization server that shows codes to be entered elsewhere names the place where they are asked for.",
        "RFC 8628 section 4",
    ),
    "RFC 8628": Rule("A code is shown here and entered on a page elsewhere, on any device.", "RFC 8628"),
    "RFC 9449 section 8": Rule(
        "An authorization server may want a value of its own in each proof that the token's key is at hand.",
        "RFC 9449 section 8",
    ),
    "RFC 9449 section 9": Rule(
        "An MCP server may want a value of its own in each proof that the token's key is at hand.",
        "RFC 9449 section 9",
    ),
}  # fmt: skip
"""By the names that steps give: ours of the specification's demands on authorization, or a section of an RFC."""

RULES["RFC 6749 section 5.1"] = RULES["RFC 6749 section 5"]


def rule_of(name: str) -> Rule | None:
    """The rule of a step; None for one that needs no words."""
    return RULES.get(name)
