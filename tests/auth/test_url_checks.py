"""URLs of strangers: judged in parts, compared as they are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.auth import url_checks


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        ("https://mcp.example.com/mcp", "https://mcp.example.com/mcp"),
        ("HTTPS://MCP.Example.com:443/Mcp", "https://mcp.example.com/Mcp"),
        ("https://mcp.example.com/", "https://mcp.example.com"),
        ("https://mcp.example.com", "https://mcp.example.com"),
        ("https://mcp.example.com:8443/a/#frag", "https://mcp.example.com:8443/a/"),
        ("http://[::1]:8000/mcp?tenant=1", "http://[::1]:8000/mcp?tenant=1"),
    ],
)
def test_the_canonical_uri_of_a_server(server: str, expected: str) -> None:
    """C-AUTH-21: lower-case scheme and host, no fragment, no lone slash."""
    assert url_checks.canonical(server) == expected


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        (" https://me:secret@h:8443/mcp?x=ü#frag ", "https://h:8443/mcp?x=%C3%BC"),
        ("https://bücher.example/é%20a", "https://xn--bcher-kva.example/%C3%A9%20a"),
        ("HTTP://[::1]:80/a;b", "http://[::1]:80/a;b"),
        ("https://h:99999/", "https://h:99999/"),
        ("https://" + "ü" * 300 + "/", "https://" + "ü" * 300 + "/"),
        ("https://h/mcp", "https://h/mcp"),
        ("https://bank\u3002com/mcp", "https://bank\u3002com/mcp"),
    ],
)
def test_the_url_of_a_person_is_written_as_it_is_sent(server: str, expected: str) -> None:
    assert url_checks.as_sent(server) == expected


@pytest.mark.parametrize(
    ("resource", "server", "covered"),
    [
        ("https://h/mcp", "https://h/mcp", True),
        ("https://h", "https://h/mcp", True),
        ("https://h/", "https://h/mcp", True),
        ("https://H:443/mcp/", "https://h/mcp", True),
        ("https://h/mc", "https://h/mcp", False),
        ("https://h/mcp/sub", "https://h/mcp", False),
        ("https://evil/mcp", "https://h/mcp", False),
        ("http://h/mcp", "https://h/mcp", False),
        ("https://h:8443/mcp", "https://h/mcp", False),
        ("https://h/x/../mcp", "https://h/x/../mcp", False),
        ("https://h/%2e%2e/", "https://h/mcp", False),
        ("https://h@evil/mcp", "https://h/mcp", False),
        ("https://h\\@evil/mcp", "https://h/mcp", False),
        ("https://h/mcp#x", "https://h/mcp", False),
        ("https://h/mcp?tenant=2", "https://h/mcp?tenant=1", False),
        ("https://h/mcp?tenant=1", "https://h/mcp?tenant=1", True),
        ("not a url", "https://h/mcp", False),
        ("", "https://h/mcp", False),
    ],
)
def test_a_resource_names_the_server_or_what_it_is_part_of(resource: str, server: str, covered: bool) -> None:
    """C-AUTH-07."""
    assert url_checks.covers(resource, server) is covered


@pytest.mark.parametrize(
    "bad",
    [
        "javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "ftp://h/x", "//h/x", "h/x", "",
        "https://", "https:///x", "https://h:99999/", "https://h:0/", "https://a b/", "https://h/\n", "https://h/\x00",
        "https://u@h/", "https://u:p@h/", "https://h\\x/", "https://ü.example/", "https://[::g]/", "https://[1/",
        "https://h/" + "x" * 3000, "http://h/", "https://h/#x", "https://h/#", "https://h%2fx/", "https://h?x\ty",
        "https://2130706433/", "https://0x7f.1/", "https://127.0.0.1./", "https://[fe80::1%a b]/",
    ],
)  # fmt: skip
def test_secrets_go_to_no_such_url(bad: str) -> None:
    """C-AUTH-13, C-SEC-01."""
    with pytest.raises(ValueError):
        url_checks.secure(bad)


@pytest.mark.parametrize(
    "good", ["https://h", "https://h/x?y=1", "http://127.0.0.1:8000/x", "http://localhost/", "http://[::1]/"]
)
def test_secrets_go_to_https_and_to_this_machine(good: str) -> None:
    url_checks.secure(good)


def test_the_places_of_metadata_are_in_order() -> None:
    """C-AUTH-06, C-AUTH-09."""
    root = "https://h/.well-known/oauth-protected-resource"
    assert url_checks.resource_places("https://h/public/mcp") == [f"{root}/public/mcp", root]
    assert url_checks.resource_places("https://h/") == [root]
    assert url_checks.server_places("https://as.example/tenant1") == [
        "https://as.example/.well-known/oauth-authorization-server/tenant1",
        "https://as.example/.well-known/openid-configuration/tenant1",
        "https://as.example/tenant1/.well-known/openid-configuration",
    ]
    assert url_checks.server_places("https://as.example/") == url_checks.server_places("https://as.example") == [
        "https://as.example/.well-known/oauth-authorization-server",
        "https://as.example/.well-known/openid-configuration",
    ]  # fmt: skip


@given(st.text(alphabet=st.sampled_from("htps:/@[]%.#?\\ a1"), max_size=40))
def test_anything_is_read_or_refused(text: str) -> None:
    try:
        parts = url_checks.parts(text)
    except ValueError:
        return
    assert parts.scheme in ("http", "https")
    assert parts.host
