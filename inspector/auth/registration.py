"""The client that authenticates to an authorization server (2026-07-28/basic/authorization/client-registration).

In this order: a client of the options, the URL of a client id metadata document, a client that was registered before,
one that is registered now, one that the person enters (C-AUTH-14). Each belongs to one issuer (C-AUTH-17).
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

from inspector.auth import json_documents, token_endpoint, url_checks
from inspector.auth.actions import (
    AskClient,
    AuthFlow,
    Fetch,
    LoadStoredClient,
    RegisterSecret,
    StoreClient,
    fetch,
    record_step,
)
from inspector.auth.json_documents import OAuthDocument
from inspector.auth.models import METHODS, Method, OAuthClient
from inspector.auth.options import AuthOptions
from inspector.auth.server_metadata import AuthorizationServer
from inspector.errors import AuthorizationNeeded
from inspector.hints import GIVE_TOKEN, Hint, Parameter
from inspector.text import safe

NAME = "Inspector"
"""The client name that authorization servers show."""

_PRINTABLE = re.compile(r"[ -~]+\Z")


def given(server: AuthorizationServer, options: AuthOptions) -> AuthFlow[OAuthClient | None]:
    """Return the client of the options: its id, or its document's URL if the server accepts those."""
    if options.client_id:
        of = options.client_issuer
        if of and of != server.issuer:
            yield from record_step(
                "registration",
                f"The client is registered with {safe(of, 200)}, not with this server",
                ok=False,
                rule="C-AUTH-17",
                expected=of,
                found=server.issuer,
                fix="Register a client with this server, too.",
            )
            raise AuthorizationNeeded(
                f"The client {safe(options.client_id, 100)} is registered with {safe(of, 200)}, but the server uses "
                f"{safe(server.issuer, 200)}. Inspector does not send it to another server.",
                hint="Give a client that is registered with that server, or none.",
            )
        if options.client_secret:
            yield RegisterSecret(options.client_secret)
        yield from record_step(
            "registration",
            f"{safe(options.client_id, 200)}, as the options say",
            rule="C-AUTH-14",
            client_id=options.client_id,
        )
        return OAuthClient(options.client_id, options.client_secret, "private_key_jwt" if options.client_key else "")
    url = options.client_metadata_url
    if not (url and server.takes_documents):
        return None
    try:
        where = url_checks.parts(url)
        if where.scheme != "https" or where.path in ("", "/") or where.fragment:
            raise ValueError("it is not an https URL with a path")
    except ValueError as error:
        raise AuthorizationNeeded(
            f"“{safe(url, 200)}” is not a valid client id: {error}.",
            hint="Use an https URL with a path (C-AUTH-15).",
        ) from None
    yield from record_step(
        "registration", f"The URL of a metadata document: {safe(url, 200)}", rule="C-AUTH-15", client_id=url
    )
    return OAuthClient(url, "", "private_key_jwt" if options.client_key else "none", "document")


def stored(server: AuthorizationServer, now: float) -> AuthFlow[OAuthClient | None]:
    """Return the client that was registered with this issuer before, if its secret has not expired (C-AUTH-17)."""
    client = yield LoadStoredClient(server.issuer)
    if not isinstance(client, OAuthClient):
        return None
    if client.client_secret:
        yield RegisterSecret(client.client_secret)
    if client.expires_at and client.expires_at <= now:
        yield StoreClient(server.issuer, None)
        yield from record_step(
            "registration", "The client of the last login has expired", rule="RFC 7591 section 3.2.1"
        )
        return None
    return client


def register(server: AuthorizationServer, redirect_uri: str, scope: tuple[str, ...] | None) -> AuthFlow[OAuthClient]:
    """Register a client now (RFC 7591). Raises `AuthorizationNeeded` if the server refuses or its response is invalid.

    The application type is `native`: the redirect URI is on this machine (C-AUTH-16).
    """
    asked = _preferred(server.methods)
    request = {
        "client_name": NAME,
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": asked,
        "application_type": "native",
    }
    if server.grants is not None and server.device_endpoint and DEVICE in server.grants:
        request["grant_types"] = ["authorization_code", "refresh_token", DEVICE]
    if scope:
        request["scope"] = " ".join(scope)
    fields = (("Content-Type", "application/json"), ("Accept", "application/json"))
    url = server.registration_endpoint
    answer = yield from fetch(
        Fetch("POST", url, fields, json.dumps(request).encode(), what="the registration", named=server.is_named(url))
    )
    values = json_documents.parsed(answer.body)
    try:
        if answer.status not in (200, 201) or values is None or values.get("error") is not None:
            raise _refused(server, answer.status, values, redirect_uri)
        document = OAuthDocument(values, "The registration response", hint="Its format is in RFC 7591 section 3.2.1.")
        for secret in ("client_secret", "registration_access_token"):
            if document.text(secret):
                yield RegisterSecret(document.text(secret))
        client = replace(_client(document, asked, server.methods, redirect_uri), scope=_scope(values, scope))
    except AuthorizationNeeded as error:
        yield from record_step(
            "registration",
            error.message,
            ok=False,
            rule="C-AUTH-16",
            url=url,
            status=answer.status,
            redirect_uri=redirect_uri,
            fix=error.hint,
            field=getattr(error, "field", "error"),
        )
        raise
    yield from record_step(
        "registration",
        f"Registered now as {safe(client.client_id, 100)}",
        rule="C-AUTH-14",
        url=url,
        status=answer.status,
        client_id=client.client_id,
        method=client.method,
        redirect_uri=redirect_uri,
        application_type="native",
    )
    yield from document.loose_steps("registration", "RFC 7591 section 3.2.1")
    yield StoreClient(server.issuer, client)
    return client


def typed(server: AuthorizationServer, redirect_uri: str) -> AuthFlow[OAuthClient]:
    """Return the client that the person enters. Raises `AuthorizationNeeded` without one."""
    client = yield AskClient(server.issuer, redirect_uri)
    if not isinstance(client, OAuthClient) or not client.client_id:
        yield from record_step(
            "registration",
            "No client ID is set, and the server does not support client registration",
            ok=False,
            rule="C-AUTH-14",
            redirect_uri=redirect_uri,
            fix=Hint(
                "Register a client there by hand with that redirect URI, and set its id with ", Parameter.CLIENT_ID, "."
            ),
        )
        raise AuthorizationNeeded(
            f"The authorization server {safe(server.issuer, 200)} does not support client "
            "registration, and no client ID is set.",
            hint=Hint(
                f"Register one there with the redirect URI {redirect_uri}, and set its id with ",
                Parameter.CLIENT_ID,
                ".",
            ),
        )
    client = replace(client, origin="typed")
    if client.client_secret:
        yield RegisterSecret(client.client_secret)
    yield from record_step("registration", f"{safe(client.client_id, 200)}, as entered", rule="C-AUTH-14")
    yield StoreClient(server.issuer, client)
    return client


DEVICE = "urn:ietf:params:oauth:grant-type:device_code"


def _preferred(offered: tuple[str, ...] | None) -> Method:
    """Return the method to request: none, for a program that cannot keep a secret, else an offered one (C-AUTH-19)."""
    if offered is None or "none" in offered:
        return "none"
    return token_endpoint.secret_method(offered, "none")


def _client(document: OAuthDocument, asked: Method, offered: tuple[str, ...] | None, redirect_uri: str) -> OAuthClient:
    client_id = document.needed("client_id", longest=url_checks.MAX_URL)
    if not _PRINTABLE.match(client_id):
        raise document.refused(
            "client_id", "contains characters that are not allowed in a client id", "be printable ASCII"
        )
    redirects = document.texts("redirect_uris")
    if redirects and redirect_uri not in redirects:
        reason = f"does not contain {redirect_uri}, but “{safe(redirects[0], 200)}”"
        raise document.refused("redirect_uris", reason, f"contain {redirect_uri}, as requested")
    secret = document.text("client_secret")
    named_method = document.text("token_endpoint_auth_method")
    method: Method = next((known for known in METHODS if known == named_method), asked)
    if named_method and (named_method != method or named_method == "private_key_jwt"):
        reason = f"is “{safe(named_method, 60)}”, which was not requested"
        raise document.refused("token_endpoint_auth_method", reason, f"be “{asked}”")
    if not named_method and asked == "none" and secret and offered is None:
        # Neither the metadata nor the response names a method: the default of both applies (RFC 7591 section 2).
        method = "client_secret_basic"
    if method.startswith("client_secret") and not secret:
        raise document.refused("client_secret", f"is missing, though the method is {method}", "be there")
    ends = document.seconds("client_secret_expires_at") or 0
    return OAuthClient(client_id, secret, method, "registered", redirect_uri, ends)


def _scope(values: dict[str, Any], asked: tuple[str, ...] | None) -> tuple[str, ...]:
    """Return the scopes that a client is registered for: as requested, changed by the server (RFC 7591 section 2)."""
    value = values.get("scope")
    listed = value.split() if isinstance(value, str) else value if isinstance(value, list) else []
    words = [
        word for word in listed[: json_documents.MAX_ENTRIES] if isinstance(word, str) and json_documents.is_scope(word)
    ]
    return tuple(dict.fromkeys((*(asked or ()), *words)))


def _refused(
    server: AuthorizationServer, status: int, values: dict[str, object] | None, redirect_uri: str
) -> AuthorizationNeeded:
    code, reason = json_documents.error_of(values)
    reported = f" with “{code}”" + (f": {reason}" if reason else "") if code else f" with status {status}"
    if not server.place:  # Only the default endpoints of an old revision are known: there may be no such server.
        return AuthorizationNeeded(
            f"{safe(server.issuer, 200)} requires authorization but names no authorization server. It refused to "
            f"register a client{reported}.",
            hint=GIVE_TOKEN,
        )
    if code == "invalid_redirect_uri":
        hint = Hint(
            f"It should accept {redirect_uri} with any port: a loopback address. Otherwise register a client by "
            "hand, and set its id with ",
            Parameter.CLIENT_ID,
            ".",
        )
    else:
        hint = Hint("Register a client by hand, and set its id with ", Parameter.CLIENT_ID, ".")
    return AuthorizationNeeded(
        f"The authorization server {safe(server.issuer, 200)} refused to register a client{reported}.", hint=hint
    )
