"""The TLS step: whether the server uses TLS, and what is wrong with its certificate."""

from __future__ import annotations

from inspector.doctor.diagnosis import Fix, StepCollector
from inspector.doctor.network import Tls, days_left
from inspector.transports.http_url import Url

EXPIRED, NOT_YET, SELF_SIGNED, SELF_SIGNED_CHAIN, NO_ISSUER, UNVERIFIED, REVOKED, OTHER_NAME, OTHER_ADDRESS = (
    10,
    9,
    18,
    19,
    20,
    21,
    23,
    62,
    64,
)
"""OpenSSL's X509_V_ERR_* codes."""
SOON = 14
"""Days before expiry from which a certificate is reported."""


def report(steps: StepCollector, tls: Tls, url: Url, *, verify: bool) -> None:
    """Add the step of a TLS handshake with a server that uses TLS."""
    details = [f"subject: {tls.subject}", f"issuer: {tls.issuer}", f"names: {', '.join(tls.names) or 'none'}"]
    if tls.begins and tls.ends:
        details.append(f"valid: {tls.begins:%Y-%m-%d} to {tls.ends:%Y-%m-%d}")
    if not tls.verify_code:
        left = days_left(tls)
        if left is not None and left < SOON:
            steps.add(
                "tls",
                "warn",
                f"{tls.version}; the certificate expires in {left} days",
                details=details,
                seconds=tls.seconds,
                fix=Fix("Renew the certificate."),
            )
        else:
            steps.add("tls", "ok", f"{tls.version}, a trusted certificate", details=details, seconds=tls.seconds)
        return
    what, fix = _problem(tls, url)
    if not verify:
        steps.add(
            "tls",
            "warn",
            f"the certificate {what}; it is not verified for this target",
            details=details,
            seconds=tls.seconds,
        )
        return
    steps.add(
        "tls",
        "failed",
        f"the certificate {what}",
        details=details,
        seconds=tls.seconds,
        fix=fix,
        cause=f"The certificate of {url.host} {what}.",
    )


def _problem(tls: Tls, url: Url) -> tuple[str, Fix]:
    code = tls.verify_code
    trust = Fix("Set SSL_CERT_FILE to the authority that signed it.", "export SSL_CERT_FILE=…")
    if code == EXPIRED:
        when = f" on {tls.ends:%Y-%m-%d}" if tls.ends else ""
        return f"has expired{when}", Fix("Renew the certificate, and check the clock of this machine.")
    if code == NOT_YET:
        when = f" before {tls.begins:%Y-%m-%d}" if tls.begins else ""
        return f"is not valid{when}", Fix("Check the clock of this machine.")
    if code in (OTHER_NAME, OTHER_ADDRESS):
        names = ", ".join(tls.names[:5]) or tls.subject or "another name"
        return f"was issued for {names}, not for {url.host}", Fix("Use the name that it was issued for.")
    if code == SELF_SIGNED:
        return "is self-signed", Fix(
            "Add it to SSL_CERT_FILE, so that this machine trusts it.", "export SSL_CERT_FILE=…"
        )
    if code == SELF_SIGNED_CHAIN:
        return "comes from a self-signed authority that is not trusted here", trust
    if code in (NO_ISSUER, UNVERIFIED):
        return "comes from an authority that is not trusted here, or its chain is incomplete", trust
    if code == REVOKED:
        return "has been revoked", Fix("Get another certificate.")
    return f"is not trusted: {tls.reason}", trust
