"""Which hosts are this machine, private, link-local: each range of the registries, each spelling."""

from __future__ import annotations

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector import addresses
from inspector.transports.http_url import parse_url

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


@pytest.mark.parametrize("url", ["http://127。0。0。1/", "http://１２７.0.0.1/", "http://①②⑦.0.0.1/"])
def test_letters_that_become_digits_on_the_wire_are_judged_as_digits(url: str) -> None:
    assert addresses.is_private(parse_url(url).host)


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
