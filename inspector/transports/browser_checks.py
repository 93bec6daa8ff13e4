"""Pages of a browser check: a service before the server lets only browsers pass."""

from __future__ import annotations

from collections.abc import Callable

from inspector.hints import Hint, Parameter

_BY_HEADER = (
    ("cf-mitigated", ("challenge",), "Cloudflare"),
    ("x-vercel-mitigated", ("challenge", "deny"), "Vercel"),
    ("x-amzn-waf-action", ("challenge", "captcha"), "AWS WAF"),
    ("ngrok-error-code", ("ERR_NGROK_6024",), "ngrok"),
)
"""A header, its values, and the service that sends it."""
_BY_PAGE = (
    ((b"/cdn-cgi/challenge-platform/", b"_cf_chl_opt", b"cf-error-details"), "Cloudflare"),
    ((b"awsWafCookieDomainList", b"AwsWafIntegration"), "AWS WAF"),
    ((b"_Incapsula_Resource",), "Imperva"),
    ((b"captcha-delivery.com",), "DataDome"),
    ((b"px-captcha", b"_pxAppId"), "HUMAN"),
    ((b"within.website", b"anubis_challenge"), "Anubis"),
    ((b"ddos-guard/js-challenge",), "DDoS-Guard"),
    ((b"/.well-known/vercel/security/",), "Vercel"),
    ((b"ERR_NGROK_6024",), "ngrok"),
    ((b"Enable JavaScript and cookies to continue", b"re not a bot!"), "A service"),
)
"""Parts of a page, and the service that makes such pages."""


def browser_check(header: Callable[[str], str | None], body: bytes) -> str:
    """Return the service that answered with its browser check; empty for another answer."""
    for name, values, service in _BY_HEADER:
        if header(name) in values:
            return service
    if b"<" not in body[:200]:
        return ""
    return next((service for parts, service in _BY_PAGE if any(part in body for part in parts)), "")


def remedy(service: str) -> Hint:
    """Return what to do about the browser check of a service."""
    if service == "ngrok":
        return Hint("Send the header ngrok-skip-browser-warning with ", Parameter.HEADERS, ".")
    rule = " (a WAF rule with the action Skip)" if service == "Cloudflare" else ""
    return Hint(f"Let programs reach this path without the check{rule}, or use an address behind it.")
