"""Pages of a browser check, and answers that only look like one."""

from __future__ import annotations

import pytest

from inspector.transports.http_status import browser_check, remedy

PAGE = b"<!DOCTYPE html><html><head><title>%b</title></head><body>%b</body></html>"


@pytest.mark.parametrize(
    ("headers", "body", "service"),
    [
        ({"cf-mitigated": "challenge"}, b"", "Cloudflare"),
        (
            {"server": "cloudflare"},
            PAGE % (b"Just a moment...", b"<script>window._cf_chl_opt={}</script>"),
            "Cloudflare",
        ),
        ({"x-vercel-mitigated": "challenge"}, b"", "Vercel"),
        ({"x-amzn-waf-action": "captcha"}, b"", "AWS WAF"),
        ({"ngrok-error-code": "ERR_NGROK_6024"}, PAGE % (b"ngrok", b""), "ngrok"),
        ({}, PAGE % (b"Making sure you&#39;re not a bot!", b"<a href='https://within.website'>"), "Anubis"),
        ({}, PAGE % (b"x", b"<iframe src='https://geo.captcha-delivery.com/x'>"), "DataDome"),
        # Not a check
        ({"server": "cloudflare"}, PAGE % (b"502 Bad Gateway", b""), ""),
        ({"cf-mitigated": ""}, b'{"jsonrpc": "2.0", "error": {"code": -32600, "message": "_cf_chl_opt"}}', ""),
        ({}, PAGE % (b"Log in", b"<input type=password>"), ""),
        ({}, b"", ""),
    ],
)
def test_the_service_is_named(headers: dict[str, str], body: bytes, service: str) -> None:
    assert browser_check(headers.get, body) == service
    assert remedy(service).command_line.endswith(".")
