"""Which hosts are this machine, private, link-local: each range of the registries, each spelling."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

import httpx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from inspector import addresses
from inspector.text import safe

LOOKALIKE = "https://\u0430pi.github.com/mcp"
"""The first letter is Cyrillic."""
REQUESTED = "https://xn--pi-6kc.github.com/mcp"
MIXES = "(its host mixes Cyrillic and Latin letters)"
DISGUISED = "https://api.github.com\u2215v3.evil.example/mcp"
"""The first slash is a letter of the host."""
BECOMES = (
    "its host “api.github.com\\u2215v3.evil.example” would become api.github.xn--comv3-4d6b.evil.example in the request"
)

ASCII_HOSTS = {
    "localhost": "localhost", "EXAMPLE.com": "example.com", "a_b.example": "a_b.example", "example.com.": "example.com.",
    "8.8.8.8": "8.8.8.8", "[::1]": "::1", "[2001:DB8::1]": "2001:db8::1", "[fe80::1%eth0]": "fe80::1%eth0",
    "bücher.example": "xn--bcher-kva.example", "BÜCHER.example": "xn--bcher-kva.example", "faß.de": "xn--fa-hia.de",
    "пример.рф": "xn--e1afmkfd.xn--p1ai", "日本語.jp": "xn--wgv71a119e.jp", "ΣΟΦΙΑΣ.gr": "xn--mxaprpdp.gr",
    "a_b.bücher.example": "a_b.xn--bcher-kva.example", "xn--pi-6kc.github.com": "xn--pi-6kc.github.com",
}  # fmt: skip
OTHER_HOSTS = {
    "api.github.com\u2215v3.evil.example": "api.github.xn--comv3-4d6b.evil.example",
    "api.github.com\u2024evil.example": "api.github.com.evil.example", "bank\u3002com": "bank.com",
    "bank\uff0ecom": "bank.com", "bank\uff61com": "bank.com", "①②⑦.⓪.⓪.①": "127.0.0.1", "１２７.0.0.1": "127.0.0.1",
    "127。0。0。1": "127.0.0.1", "ｅxample.com": "example.com", "\u212araken.com": "kraken.com", "a\u200db.com": "ab.com",
    "a\u00adb.com": "ab.com", "e\u0301.com": "xn--9ca.com", "㎝.com": "cm.com", "ﬁ.com": "fi.com", "💩.la": "xn--ls8h.la",
    "127.1": "127.0.0.1", "2130706433": "127.0.0.1", "0x7f000001": "127.0.0.1", "0x7F.1": "127.0.0.1",
    "0177.0.0.1": "127.0.0.1", "127.0.0.1.": "127.0.0.1", "0": "0.0.0.0",
}  # fmt: skip
NO_HOSTS = (
    "", ".", "..", "a..b", ".a", "a b", "a%2eb", "a%2f", "a\\b", "a@b", "a,b", "$HOST", "{host}", "a" * 64, "a." * 130,
    "1.2.3.256", "1.2.3.4.5", "08.0.0.1", "a.0x7f", "[::g]", "[::1%]", "[::1%a/b]", "[::1%a]b]", "\ud800.com", "ü" * 300,
)  # fmt: skip
LOOPBACK = (
    "localhost", "LOCALHOST", "localhost.", "x.localhost", "127.0.0.1", "127.9.9.9", "::1", "[::1]", "0:0:0:0:0:0:0:1",
    "::ffff:127.0.0.1", "::ffff:7f00:1", "::FFFF:127.0.0.1", "0:0:0:0:0:ffff:127.0.0.1", "[::ffff:127.0.0.1]",
)  # fmt: skip
EMBEDDED_LOOPBACK = (
    "::127.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b::127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "0.0.0.0", "0.1.2.3",
    "::", "[::]", "::ffff:0.0.0.0",
)  # fmt: skip
ODD_SPELLINGS = (
    "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1", "0X7F.0.0.1", "017700000001", "0177.0.0.1", "127.0.0.1.",
    "127.0.0.01", "010.0.0.1", "10.0.0.5.", "3232235521", "08.0.0.1", "0x", "1.2.3.256", "1.2.3.4.5", "8.8", "a.0x7f",
)  # fmt: skip
LINK_LOCAL = (
    "169.254.0.1", "169.254.169.254", "fe80::1", "fe80::1%eth0", "febf::1", "::ffff:169.254.169.254", "::169.254.169.254",
    "64:ff9b::169.254.169.254", "2002:a9fe:a9fe::", "192.0.0.192", "::ffff:192.0.0.192", "100.100.100.200",
    "fd00:ec2::254",
)  # fmt: skip
PRIVATE = (
    "10.1.2.3", "100.64.0.1", "100.127.255.255", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.0.255", "192.0.2.1",
    "192.88.99.1", "192.168.0.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1",
    "239.255.255.255", "240.0.0.1", "255.255.255.255",
    "::ffff:10.0.0.1", "::ffff:a00:1", "[::ffff:192.168.0.1]", "::10.0.0.1", "::ffff:0:10.0.0.1", "64:ff9b::10.0.0.1",
    "64:ff9b::a00:1", "2002:0a00:0001::", "2002:c0a8:1::1",
    "64:ff9b:1::8.8.8.8", "64:ff9b:1:ffff::1", "64:ff9b:2::1", "100::1", "2001::1", "2001:0:4136:e378::1", "2001:2::1",
    "2001:10::1", "2001:db8::1", "3fff::1", "5f00::1", "fc00::1", "fd00::1", "fec0::1", "feff::1", "ff02::1", "1::1",
    "local", "printer.local", "PRINTER.LOCAL.", "metadata.google.internal", "x.localdomain", "x.home.arpa",
)  # fmt: skip
PUBLIC = (
    "8.8.8.8", "1.1.1.1", "100.63.255.255", "100.128.0.1", "172.15.0.1", "172.32.0.1", "192.0.1.1", "192.169.0.1",
    "198.17.255.255", "198.20.0.1", "223.255.255.255", "9.255.255.255", "11.0.0.1", "128.0.0.1", "169.253.0.1",
    "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "64:ff9b::808:808", "2002:808:808::1", "2606:4700::1111", "2001:4860:4860::8888",
    "2a00::1", "3ffe::1", "example.com", "example.com.", "local.example", "localhost.example.com",
    "127.0.0.1.example.com", "10.example", "", "not a host", "::g", "1:2:3",
)  # fmt: skip
HERE = (*LOOPBACK, *EMBEDDED_LOOPBACK, *ODD_SPELLINGS)


def test_a_host_is_requested_in_ascii_and_lower_case(subtests: pytest.Subtests) -> None:
    for written, requested in ASCII_HOSTS.items():
        with subtests.test(ascii(written)):
            assert addresses.requested_host(written) == requested
            url = addresses.requested_url(f"https://{written}:81/Mcp?a=ü")
            assert url == f"https://{f'[{requested}]' if ':' in requested else requested}:81/Mcp?a=ü"


def test_a_host_that_would_become_another_is_refused_with_that_one(subtests: pytest.Subtests) -> None:
    """The error shows it, so that a person decides about that one."""
    for written, other in OTHER_HOSTS.items():
        with subtests.test(ascii(written)), pytest.raises(ValueError, match=f"would become {other} in the request"):
            addresses.requested_host(written)


def test_what_is_not_a_host_is_refused(subtests: pytest.Subtests) -> None:
    for written in NO_HOSTS:
        with (
            subtests.test(ascii(written)),
            pytest.raises(ValueError, match=r"is not a host name|is not an IPv6 address"),
        ):
            addresses.requested_host(written)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://api.github.com\\@evil.example/", "backslash"),
        ("https://evil.example\\.github.com/", "backslash"),
        ("https://api.github.com\t.evil.example/", "control character"),
        ("https://api.github.com\n.evil.example/", "control character"),
        ("https://api.github.com/\x00", "control character"),
        ("https://[::1/", "scheme://host"),
        ("https://[::1]x/", "scheme://host"),
        ("https://host:8a/", "scheme://host"),
        ("https://[@host/", "bracket"),
        ("https://:80/", "no host"),
        ("https://me@/", "no host"),
        ("https://api.github.com\uff0f@evil.example/", "looks like one that ends a host"),
        ("https://\uff20@evil.example/", "looks like one that ends a host"),
        ("//host/", "scheme://host"),
    ],
)
def test_a_url_that_parsers_read_in_different_ways_is_refused(url: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        addresses.requested_url(url)


@given(st.text(max_size=30))
@example("\u2024")
@example("ΑΣ.gr")
@example("a.xn--0")
def test_the_requested_host_is_the_one_that_httpx_requests(written: str) -> None:
    """An independent client agrees, so that no host is accepted which others read differently."""
    try:
        host = addresses.requested_host(written)
    except ValueError:
        return
    assert host.isascii()
    assert addresses.requested_host(host) == host
    # `str.lower` knows the final sigma, and IDNA does not.
    asked = "".join(char.lower() for char in written)
    assert httpx.URL(f"https://{f'[{host}]' if ':' in host else asked}/").raw_host.decode() == host


_PARTS = st.sampled_from([*"/\\?#@:[]%.-&;＠／。．\u2215\u2044\u00ad\u200d\u202eßİſK①", "//", "user:pw@", "evil.example", "127.0.0.1",
    "[::1]", ":80", ":", "xn--", "%2e", "%40", "localhost", "\u0430pi"])  # fmt: skip


@given(st.lists(_PARTS | st.text(max_size=3), max_size=8).map("".join))
@example("\uff20@A")
def test_independent_parsers_agree_about_the_host_of_a_url_that_is_accepted(rest: str) -> None:
    url = f"https://{rest}"
    try:
        made = addresses.requested_url(url)
        asked = httpx.URL(made).raw_host.decode()
    except (ValueError, httpx.InvalidURL):
        return
    assert addresses.requested_url(made) == made
    assert asked == urlsplit(made).hostname
    assert addresses.shown_url(url).startswith(f"https://{safe(made[8:], 8)}"[:-1])


@pytest.mark.parametrize(
    ("host", "scripts"),
    [
        ("\u0430pi.github.com", "Cyrillic and Latin"),
        ("micr\u03bfs\u043eft.com", "Cyrillic, Greek and Latin"),
        ("пример.com", ""),
        ("bücher.example", ""),
        ("日本語カタかな.jp", ""),
        ("한국漢字.kr", ""),
        ("日本語abc.jp", "East Asian and Latin"),
        ("xn--a-ecp.example", ""),
        ("xn--99999999.example", ""),
        ("localhost", ""),
        ("::1", ""),
    ],
)
def test_scripts_that_one_word_mixes_are_named(host: str, scripts: str) -> None:
    assert addresses.mixed_scripts(addresses.requested_host(host)) == scripts


def test_a_url_is_shown_as_it_is_requested() -> None:
    assert addresses.shown_url(LOOKALIKE) == f"{REQUESTED} {MIXES}"
    assert addresses.shown_url(LOOKALIKE + "a" * 500, 60).endswith(f"aa… {MIXES}")
    assert addresses.shown_url(DISGUISED) == "https://api.github.com\\u2215v3.evil.example/mcp"
    assert (
        addresses.shown_url("${BASE:-https://\u0430pi.github.com}/mcp") == "${BASE:-https://\\u0430pi.github.com}/mcp"
    )
    assert addresses.shown_url("https://h/ü") == "https://h/ü"


def test_a_command_is_shown_with_remarks_on_its_hosts() -> None:
    assert addresses.host_remarks(f"npx mcp-remote {LOOKALIKE}") == f" (its host is xn--pi-6kc.github.com) {MIXES}"
    assert addresses.host_remarks(f"npx '--url={DISGUISED}'") == f" ({BECOMES})"
    assert "would become 127.0.0.1" in addresses.host_remarks("npx mcp-remote http://me:pw@2130706433:80/mcp")
    for plain in (
        "npx x https://API.github.com/ü",
        "docker run ${IMAGE} https://${HOST}/",
        "grep ://x",
        "curl http://[::1]:80/",
    ):
        assert addresses.host_remarks(plain) == ""


def test_a_host_of_this_machine_or_its_networks_is_private(subtests: pytest.Subtests) -> None:
    """C-SEC-02."""
    for host in (*HERE, *LINK_LOCAL, *PRIVATE):
        with subtests.test(host):
            assert addresses.is_private(host)


def test_any_other_host_is_public(subtests: pytest.Subtests) -> None:
    for host in PUBLIC:
        with subtests.test(host):
            assert not addresses.is_private(host)
            assert not addresses.is_loopback(host)
            assert not addresses.is_link_local(host)
            assert not addresses.reaches_this_machine(host)


def test_only_the_usual_spellings_of_this_machine_are_loopback(subtests: pytest.Subtests) -> None:
    """Secrets go there without TLS."""
    for host in (*HERE, *LINK_LOCAL, *PRIVATE, *PUBLIC):
        with subtests.test(host):
            assert addresses.is_loopback(host) == (host in LOOPBACK)


def test_an_embedded_or_oddly_spelled_address_can_reach_this_machine(subtests: pytest.Subtests) -> None:
    for host in (*HERE, *LINK_LOCAL, *PRIVATE):
        with subtests.test(host):
            assert addresses.reaches_this_machine(host) == (host in HERE)


def test_link_local_addresses_and_metadata_services_are_reported_apart(subtests: pytest.Subtests) -> None:
    for host in (*LOOPBACK, *EMBEDDED_LOOPBACK, *LINK_LOCAL, *PRIVATE):
        with subtests.test(host):
            assert addresses.is_link_local(host) == (host in LINK_LOCAL)


@pytest.mark.parametrize(
    ("home", "allowed"),
    [
        ("127.0.0.1", {"127.0.0.1", "10.0.0.1", "8.8.8.8"}),
        ("10.0.0.2", {"10.0.0.1", "8.8.8.8"}),
        ("8.8.8.8", {"8.8.8.8"}),
        ("harbour.example", {"8.8.8.8"}),
    ],
)
def test_a_document_leads_into_no_network_in_which_its_host_is_not(home: str, allowed: set[str]) -> None:
    hosts = ("127.0.0.1", "10.0.0.1", "169.254.169.254", "192.0.0.192", "8.8.8.8")
    assert {host for host in hosts if addresses.may_lead_to(host, home)} == allowed


def test_a_name_may_stand_for_a_private_network() -> None:
    assert addresses.may_lead_to("10.0.0.1", "harbour.example", inside=True)
    assert not addresses.may_lead_to("127.0.0.1", "harbour.example", inside=True)
    assert not addresses.may_lead_to("10.0.0.1", "10.0.0.2", inside=False)


@given(st.ip_addresses(v=4).map(int), st.sampled_from(("{}", "{:#x}", "0{:o}")))
def test_no_number_that_the_system_reads_as_an_address_is_public(number: int, form: str) -> None:
    """`inet_aton` reads a single number, in three bases, as an IPv4 address."""
    text = form.format(number)
    socket.inet_aton(text)
    assert addresses.is_private(text)


@given(st.ip_addresses(v=4), st.sampled_from(("::ffff:{}", "::{}", "::ffff:0:{}", "64:ff9b::{}")))
def test_an_embedded_address_is_judged_as_itself(address: object, form: str) -> None:
    assert addresses.is_private(form.format(address)) == addresses.is_private(str(address))


@given(st.text(alphabet=st.sampled_from("0123456789abcdefx.:[]%lo"), max_size=30))
def test_any_text_is_classified(text: str) -> None:
    private = addresses.is_private(text)
    assert private or not addresses.is_loopback(text)
    assert private or not addresses.is_link_local(text)
    assert private or not addresses.reaches_this_machine(text)
