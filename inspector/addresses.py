"""Classifies hosts: this machine, private, link-local. The only place that knows address ranges and spellings.

A host is a name or an address, as in a URL; an IPv6 address may have brackets and a zone. Names are not resolved:
check each address again after the lookup of a name.

A function whose True grants something (`is_loopback`) takes an address in its usual spelling only. A function whose
True refuses something is also True for a host that ends in a number and is not an IPv4 address in its usual
spelling: `127.1`, `0x7f000001`, `0177.0.0.1`, `127.0.0.1.` Resolvers and proxies read those differently, and no public
server needs them.

Sources: the IANA IPv4 and IPv6 Special-Purpose Address Registries; RFC 6052, 4291, 3056, 4380. The ranges are listed
here because `ipaddress.is_global` answers differently from one Python release to the next.
"""

from __future__ import annotations

import re
from ipaddress import AddressValueError, IPv4Address, IPv4Network, IPv6Address, IPv6Network

Address = IPv4Address | IPv6Address

_PRIVATE_4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
)
_PUBLIC_6 = IPv6Network("2000::/3")
"""The only range that IPv6 assigns to public hosts; the next list excludes parts of it."""
_PRIVATE_6 = tuple(IPv6Network(network) for network in ("2001::/23", "2001:db8::/32", "3fff::/20"))
_LINK_LOCAL_6 = IPv6Network("fe80::/10")
_EMBEDDING = tuple(IPv6Network(network) for network in ("::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96"))
"""Prefixes whose last 32 bits are an IPv4 address: compatible, mapped, translated (RFC 2765), NAT64."""
_MAPPED = _EMBEDDING[1]
_6TO4 = IPv6Network("2002::/16")
_METADATA = frozenset({IPv4Address("192.0.0.192"), IPv4Address("100.100.100.200"), IPv6Address("fd00:ec2::254")})
"""Metadata services of clouds (Oracle, Alibaba, AWS) outside the link-local ranges: they hand out credentials."""
_PRIVATE_NAMES = ("local", "internal", "localdomain", "home.arpa")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]*|[0-9]+")


def parse(host: str) -> Address | None:
    """Return the address of a host in its usual spelling; None for a name."""
    text = host.removeprefix("[").removesuffix("]").partition("%")[0]
    try:
        return IPv6Address(text) if ":" in text else IPv4Address(text)
    except AddressValueError:
        return None


def is_loopback(host: str) -> bool:
    """Return whether a host is only this machine: secrets may be sent there without TLS."""
    if _is_name(host, ("localhost",)):
        return True
    address = parse(host)
    if isinstance(address, IPv6Address) and address in _MAPPED:
        address = _embedded(address)
    return address is not None and address.is_loopback


def reaches_this_machine(host: str) -> bool:
    """Return whether a connection to a host can end at this machine: loopback in any embedding, or unspecified."""
    if is_loopback(host) or _is_oddly_spelled(host):
        return True
    address = _unwrapped(host)
    if isinstance(address, IPv4Address):
        return address.is_loopback or address in _PRIVATE_4[0]
    return address is not None and address.is_unspecified


def is_private(host: str) -> bool:
    """Return whether only this machine or its own networks reach a host (C-SEC-02).

    Names that never leave a network count. An IPv4 address inside an IPv6 address is judged as itself.
    """
    if is_loopback(host) or _is_name(host, _PRIVATE_NAMES) or _is_oddly_spelled(host):
        return True
    address = _unwrapped(host)
    if isinstance(address, IPv4Address):
        return any(address in network for network in _PRIVATE_4)
    if address is None:
        return False
    return address not in _PUBLIC_6 or any(address in network for network in _PRIVATE_6)


def is_link_local(host: str) -> bool:
    """Return whether a host is a link-local address or the metadata service of a cloud."""
    address = _unwrapped(host)
    if address is None:
        return _is_oddly_spelled(host)
    link_local = address.is_link_local if isinstance(address, IPv4Address) else address in _LINK_LOCAL_6
    return link_local or address in _METADATA


def may_lead_to(host: str, home: str, *, inside: bool | None = None) -> bool:
    """Return whether a document from `home` may lead to another host (C-SEC-02, C-CARD-07).

    Nothing may lead into a network in which its own host is not. `inside` tells whether `home` is in a private network,
    if that is known better than by its name.
    """
    if is_loopback(home):
        return not is_link_local(host)
    if is_private(home) if inside is None else inside:
        return not (reaches_this_machine(host) or is_link_local(host))
    return not is_private(host)


def _is_name(host: str, suffixes: tuple[str, ...]) -> bool:
    name = host.lower().removesuffix(".")
    return any(name == suffix or name.endswith(f".{suffix}") for suffix in suffixes)


def _is_oddly_spelled(host: str) -> bool:
    """Whether a host ends in a number, like IPv4 addresses, and is not one in its usual spelling."""
    return _NUMBER.fullmatch(host.removesuffix(".").rpartition(".")[2]) is not None and parse(host) is None


def _unwrapped(host: str) -> Address | None:
    """Return the address of a host; an IPv4 address inside an IPv6 address is unwrapped."""
    address = parse(host)
    return (_embedded(address) or address) if isinstance(address, IPv6Address) else address


def _embedded(address: IPv6Address) -> IPv4Address | None:
    if address in _6TO4:
        return IPv4Address(int(address) >> 80 & 0xFFFFFFFF)
    # "::" and "::1" are separate addresses, and all of 0.0.0.0/8 is private in either reading.
    if int(address) > 0xFFFF and any(address in network for network in _EMBEDDING):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return None
