"""The grants: the authorization code that needs a browser, and those that need none.

Each is a flow from the discovered metadata to a `Grant`. A failed grant never falls back to another. Sources: RFC 6749
section 4.4, RFC 7523, RFC 8628, RFC 8693; SEP-1046, SEP-990, SEP-1933.
"""

from __future__ import annotations

from inspector.auth import assertions, authorization_code, registration, server_metadata, token_endpoint, url_checks
from inspector.auth.actions import (
    AuthFlow,
    Denied,
    OpenListener,
    RegisterSecret,
    Show,
    StoreClient,
    TimedOut,
    Wait,
    record_step,
)
from inspector.auth.discovery import Discovery
from inspector.auth.json_documents import InvalidDocument
from inspector.auth.models import Grant, OAuthClient
from inspector.auth.options import AuthOptions, GrantKind
from inspector.auth.server_metadata import AuthorizationServer
from inspector.auth.token_endpoint import TokenContext, TokenRefused
from inspector.errors import AuthorizationNeeded
from inspector.hints import Hint, Parameter
from inspector.text import safe

JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
ID_JAG = "urn:ietf:params:oauth:token-type:id-jag"
ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token"

POLL = 5.0
"""Seconds between two polls for a device's token, unless the server says otherwise (RFC 8628 section 3.2)."""

MAX_WAIT = 1800.0
"""Maximum seconds to wait for a device's code, whatever the server says."""


def selected(options: AuthOptions) -> GrantKind:
    """Return the grant that the options select or imply; `auto` if the server's metadata decides."""
    if options.grant != "auto":
        return options.grant
    return "workload" if options.assertion else "enterprise" if options.idp_id_token else "auto"


def kind_of(discovered: Discovery, options: AuthOptions) -> GrantKind:
    """Return the grant to use: the one of the options, else one that the authorization server supports."""
    if (kind := selected(options)) != "auto":
        return kind
    offered = discovered.server.grants
    if offered is not None and "authorization_code" not in offered:
        if "client_credentials" in offered and options.client_id and (options.client_secret or options.client_key):
            return "client-credentials"
        if registration.DEVICE in offered and discovered.server.device_endpoint:
            return "device"
    return "code"


def needs_person(kind: GrantKind) -> bool:
    """Whether the grant needs a person."""
    return kind in ("auto", "code", "device")


def acquire(
    kind: GrantKind,
    discovered: Discovery,
    mcp_server: str,
    scope: tuple[str, ...] | None,
    context: TokenContext,
    reason: str = "",
) -> AuthFlow[Grant]:
    """Get a token by the grant `kind`. Raises `AuthorizationNeeded` with the reason.

    `reason` is the message when a person is needed and none is present; empty for a first login.
    """
    key = ""
    if context.options.dpop and (discovered.wants_bound or assertions.PROOF_ALGORITHM in discovered.server.dpop):
        key = assertions.new_key()
        yield RegisterSecret(key)
    job = _GrantRun(discovered, mcp_server, scope, context, key, reason)
    ways = {
        "client-credentials": job.client_credentials,
        "enterprise": job.enterprise,
        "workload": job.workload,
        "device": job.device,
    }
    return (yield from ways.get(kind, job.code)())


class _GrantRun:
    """One run of a grant: its servers, options and scopes."""

    def __init__(
        self,
        discovered: Discovery,
        mcp_server: str,
        scope: tuple[str, ...] | None,
        context: TokenContext,
        key: str,
        reason: str,
    ) -> None:
        self._server: AuthorizationServer = discovered.server
        self._resource = discovered.resource.resource
        self._mcp_server = mcp_server
        self._scope = scope
        self._context = context
        self._options = context.options
        self._key = key
        self._why = reason

    # With a person

    def code(self) -> AuthFlow[Grant]:
        """The authorization code grant (C-AUTH-20 to 30)."""
        yield from authorization_code.check(self._server)
        client = yield from registration.given(self._server, self._options)
        before = None if client else (yield from registration.stored(self._server, self._context.now()))
        redirect_uri = yield from self._redirect_uri(before)
        fits = before is not None and before.redirect_uri in ("", redirect_uri) and before.may_ask(self._scope)
        if client is None and before is not None and fits:
            client = before
            yield from record_step(
                "registration",
                f"{safe(client.client_id, 100)}, from the last login",
                rule="C-AUTH-17",
                client_id=client.client_id,
            )
        if client is None:
            client = yield from self._new_client(redirect_uri)
        forgotten = client is before and client.origin == "registered"
        try:
            asked = authorization_code.request(self._server, client, redirect_uri, self._resource, self._scope)
            word = yield from authorization_code.visit(asked, self._scope, doubtful=forgotten)
            return (
                yield from self._token(
                    client,
                    {
                        "grant_type": "authorization_code",
                        "code": word,
                        "redirect_uri": redirect_uri,
                        "code_verifier": asked.verifier,
                    },
                    "code",
                )
            )
        except (Denied, TimedOut, TokenRefused) as error:
            # A server shows only the person that it does not know the client: the next login uses another one.
            mistyped = client.origin == "typed" and not isinstance(error, Denied)
            if forgotten or mistyped:
                yield StoreClient(self._server.issuer, None)
            raise

    def device(self) -> AuthFlow[Grant]:
        """The device authorization grant: a code that the person enters elsewhere (RFC 8628)."""
        server = self._server
        if not server.device_endpoint:
            yield from self._missing("device", "“device_authorization_endpoint”", "RFC 8628 section 4")
        client = yield from registration.given(server, self._options)
        client = client or (yield from registration.stored(server, self._context.now()))
        client = client or (yield from self._new_client("http://127.0.0.1/callback"))
        asked = {"resource": self._resource} | ({"scope": " ".join(self._scope)} if self._scope else {})
        at_device = token_endpoint.at(server, server.device_endpoint)
        document = yield from token_endpoint.ask(at_device, client, asked, self._context, what="a device code")
        device_code = document.needed("device_code")
        yield RegisterSecret(device_code)
        url = document.endpoint("verification_uri", needed=True)
        complete = document.endpoint("verification_uri_complete")
        word = document.needed("user_code", longest=64)
        lasting = min(document.seconds("expires_in") or MAX_WAIT, MAX_WAIT)
        pause = min(max(document.seconds("interval") or POLL, 1), 60)
        yield from document.loose_steps("device", "RFC 8628")
        host = server.page_host(url)
        yield from record_step("device", f"A code to enter at {safe(url, 200)}", rule="RFC 8628", host=host, url=url)
        yield Show(url, safe(word, 64), host, complete, lasting, server.is_named(complete or url))
        form = {"grant_type": registration.DEVICE, "device_code": device_code}
        while lasting > 0:
            try:
                yield Wait(pause)
            except Denied as error:
                yield from record_step("device", error.message, ok=False, fix=error.hint)
                raise
            lasting -= pause
            try:
                return (yield from self._token(client, form, "device"))
            except TokenRefused as error:
                if error.error == "slow_down":
                    pause += POLL
                elif error.error != "authorization_pending":
                    raise
        late = TimedOut(f"The code was not entered at {safe(url, 200)} in time.", hint="Log in again.")
        yield from record_step("device", late.message, ok=False, fix=late.hint)
        raise late

    # Without one

    def client_credentials(self) -> AuthFlow[Grant]:
        """The client credentials grant, with a secret or a signed assertion (C-AUTH-40)."""
        client = yield from self._given_client("client-credentials")
        if not client.client_secret and client.method != "private_key_jwt":
            yield from self._missing(
                "token",
                "the client's secret or key",
                "C-AUTH-40",
                Parameter.CLIENT_SECRET,
                Parameter.CLIENT_KEY,
            )
        return (
            yield from self._token(client, self._scoped({"grant_type": "client_credentials"}), "client-credentials")
        )

    def enterprise(self) -> AuthFlow[Grant]:
        """Enterprise-managed authorization: the company's provider exchanges an id token for the grant (C-AUTH-41).

        The authorization server's own page is never opened.
        """
        options = self._options
        client = yield from self._given_client("enterprise")
        if not options.idp_id_token:
            yield from self._missing(
                "exchange", "the id token of the identity provider", "C-AUTH-41", Parameter.ID_TOKEN
            )
        yield RegisterSecret(options.idp_id_token)
        if not (options.idp_issuer or options.idp_token_endpoint):
            yield from self._missing("exchange", "identity provider", "C-AUTH-41", Parameter.IDP)
        provider = yield from self._provider()
        who = OAuthClient(options.idp_client_id, options.idp_client_secret, "" if options.idp_client_secret else "none")
        if who.client_secret:
            yield RegisterSecret(who.client_secret)
        asked = self._scoped(
            {
                "grant_type": TOKEN_EXCHANGE,
                "requested_token_type": ID_JAG,
                "audience": self._server.issuer,
                "resource": self._resource,
                "subject_token": options.idp_id_token,
                "subject_token_type": ID_TOKEN,
            }
        )
        try:
            document = yield from token_endpoint.ask(provider, who, asked, self._context, what="the identity assertion")
            assertion = document.needed("access_token", longest=token_endpoint.MAX_TOKEN)
            yield RegisterSecret(assertion)
            given = document.text("issued_token_type")
            if given and given != ID_JAG:
                raise document.refused("issued_token_type", f"is “{safe(given, 80)}”, not {ID_JAG}", f"be {ID_JAG}")
        except (TokenRefused, InvalidDocument) as error:
            yield from record_step(
                "exchange", error.message, ok=False, rule="C-AUTH-41", url=provider.token_endpoint, fix=error.hint
            )
            raise
        yield from record_step(
            "exchange",
            "The identity provider gave an assertion for this server",
            rule="C-AUTH-41",
            audience=self._server.issuer,
            resource=self._resource,
            url=provider.token_endpoint,
        )
        form = self._scoped({"grant_type": JWT_BEARER, "assertion": assertion})
        return (yield from self._token(client, form, "enterprise"))

    def workload(self) -> AuthFlow[Grant]:
        """Workload identity: the JWT that a platform issued for this workload is the grant (C-AUTH-43)."""
        if not self._options.assertion:
            yield from self._missing("token", "the workload's assertion", "C-AUTH-43", Parameter.ASSERTION)
        client = (yield from registration.given(self._server, self._options)) or OAuthClient("", "", "none")
        yield RegisterSecret(self._options.assertion)
        form = self._scoped({"grant_type": JWT_BEARER, "assertion": self._options.assertion})
        return (yield from self._token(client, form, "workload"))

    # Parts

    def _token(self, client: OAuthClient, form: dict[str, str], kind: str) -> AuthFlow[Grant]:
        """Request a token at the token endpoint, with the resource that it is for (C-AUTH-21)."""
        asked = form | {"resource": self._resource}
        try:
            document = yield from token_endpoint.ask(self._server, client, asked, self._context, key=self._key)
            return (
                yield from token_endpoint.granted(
                    document,
                    self._server,
                    client,
                    self._context,
                    mcp_server=self._mcp_server,
                    resource=self._resource,
                    asked=self._scope,
                    kind=kind,
                    key=self._key,
                )
            )
        except AuthorizationNeeded as error:
            if getattr(error, "error", "") not in ("authorization_pending", "slow_down"):
                yield from record_step(
                    "token",
                    error.message,
                    ok=False,
                    rule="RFC 6749 section 5",
                    url=self._server.token_endpoint,
                    fix=error.hint,
                    field=getattr(error, "field", "error"),
                )
            raise

    def _redirect_uri(self, before: OAuthClient | None) -> AuthFlow[str]:
        """Return the redirect URI (C-AUTH-23)."""
        given = self._options.redirect_uri
        if given:
            try:
                url_checks.secure(given)
            except ValueError as error:
                raise AuthorizationNeeded(
                    f"“{safe(given, 200)}” is not a valid redirect URI: {error}.",
                    hint="Use an http URL on this machine, or an https URL.",
                ) from None
        answer = yield OpenListener(
            given or (before.redirect_uri if before else ""), fixed=bool(given), reason=self._why
        )
        assert isinstance(answer, str)
        return answer

    def _new_client(self, redirect_uri: str) -> AuthFlow[OAuthClient]:
        if self._server.registration_endpoint:
            return (yield from registration.register(self._server, redirect_uri, self._scope))
        return (yield from registration.typed(self._server, redirect_uri))

    def _given_client(self, kind: str) -> AuthFlow[OAuthClient]:
        client = yield from registration.given(self._server, self._options)
        if client is None:
            raise AuthorizationNeeded(
                f"The grant {kind} needs a client that is registered with {safe(self._server.issuer, 200)}.",
                hint=Hint("Set its id with ", Parameter.CLIENT_ID, "."),
            )
        return client

    def _provider(self) -> AuthFlow[AuthorizationServer]:
        """Return the identity provider's token endpoint: as given, else from its metadata."""
        options = self._options
        endpoint = options.idp_token_endpoint
        if not endpoint and options.idp_issuer:
            return (yield from server_metadata.of(options.idp_issuer, named=True))
        try:
            url_checks.secure(endpoint)
        except ValueError as error:
            raise AuthorizationNeeded(
                f"“{safe(endpoint, 200)}” cannot be the identity provider's token endpoint: {error}.",
                hint=Hint(
                    "Set the identity provider's issuer with ",
                    Parameter.IDP,
                    ", or its token endpoint with ",
                    Parameter.IDP_TOKEN_ENDPOINT,
                    ".",
                ),
            ) from None
        return AuthorizationServer(options.idp_issuer or url_checks.origin(endpoint), endpoint, named=True)

    def _scoped(self, form: dict[str, str]) -> dict[str, str]:
        return form | ({"scope": " ".join(self._scope)} if self._scope else {})

    def _missing(self, step: str, what: str, rule: str, *given_with: Parameter) -> AuthFlow[None]:
        """Raise for something that this grant requires: of the server, or of the options."""
        where = "The options have" if given_with else f"The authorization server {safe(self._server.issuer, 200)} names"
        hint = Hint("See ", Parameter.GRANT, " for other grants.")
        if given_with:
            ways = [part for parameter in given_with for part in (" or ", parameter)][1:]
            hint = Hint("Set it with ", *ways, ".")
        message = f"{where} no {what.removeprefix('the ')}"
        yield from record_step(step, message, ok=False, rule=rule, fix=hint if given_with else "")
        raise AuthorizationNeeded(f"{message}, which this grant needs.", hint=hint)
