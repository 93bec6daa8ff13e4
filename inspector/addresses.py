"""Hosts of URLs: how each is requested, and which are this machine, private or link-local.

The only place that knows spellings and address ranges. Every URL that is requested, or shown before a decision, has
its host from `requested_host`.

A host is a name or an address, as in a URL; an IPv6 address may have brackets and a zone. Names are not resolved:
check each address again after the lookup of a name.

A function whose True grants something (`is_loopback`) takes an address in its usual spelling only. A function whose
True refuses something is also True for a host that ends in a number and is not an IPv4 address in its usual
spelling: `127.1`, `0x7f000001`, `0177.0.0.1`, `127.0.0.1.` Resolvers and proxies read those differently, and no public
server needs them.

Sources: IDNA 2008 (RFC 5891), as httpx and browsers encode names; the IANA IPv4 and IPv6 Special-Purpose Address
Registries; RFC 6052, 4291, 3056, 4380. The ranges are listed here because `ipaddress.is_global` answers differently
from one Python release to the next.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv4Network, IPv6Address, IPv6Network

from inspector.lazy_pattern import lazy_pattern
from inspector.text import safe

Address = IPv4Address | IPv6Address

_PRIVATE_4 = tuple(
    IPv4Network(network)
    for network in """
    0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24
    192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4
    """.split()
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
_NUMBER = lazy_pattern(r"0[xX][0-9a-fA-F]*|[0-9]+")
_LABEL = lazy_pattern(r"[a-z0-9_-]{1,63}")
_ZONE = lazy_pattern(r"[A-Za-z0-9._~-]+")
_URL = lazy_pattern(
    r"([A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#]*@)?)(\[[^/?#]*\]|[^:/?#\[\]]*)((?::[0-9]*)?(?:[/?#].*)?)", re.DOTALL
)
_HOSTS = lazy_pattern(r"https?://(?:[^/?#\s'\"]*@)?([^:/?#\s'\"\[]+)", re.IGNORECASE)
_CONTROL = lazy_pattern(r"[\x00-\x1f\x7f]")
_DELIMITERS = frozenset("/?#@:")
_MAX_HOST = 253
_EAST_ASIAN = frozenset(("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO"))
"""Scripts that one word of Chinese, Japanese or Korean mixes."""


def requested_host(written: str) -> str:
    """Return a host as it is requested: lower case, ASCII (`xn--…`), an IPv6 address without brackets.

    A host that would be requested as another one than it looks is refused: IDNA may change its case only, and an IPv4
    address has its usual spelling. Raises ValueError with the reason as a clause.
    """
    if written[:1] == "[" or ":" in written:
        return _requested_address(written)
    labels = [_requested_label(label) for label in written.removesuffix(".").split(".")]
    host = ".".join(labels) + "." * written.endswith(".")
    if len(written) > _MAX_HOST or len(host) > _MAX_HOST or "" in labels or _is_oddly_spelled(host):
        raise ValueError(_refused(written))
    return host


def _requested_address(written: str) -> str:
    address, percent, zone = written.removeprefix("[").removesuffix("]").partition("%")
    try:
        IPv6Address(address)
    except AddressValueError:
        raise ValueError(f"“{_quoted(written)}” is not an IPv6 address") from None
    if percent and not _ZONE.fullmatch(zone):
        raise ValueError(f"“{_quoted(written)}” is not an IPv6 address")
    return address.lower() + percent + zone


def _requested_label(label: str) -> str:
    """Return one part of a name as it is requested; an empty text if it is refused."""
    lower = label.lower() if label.isascii() else "".join(map(_lower, label))
    if not lower.isascii():
        # Imported here, because nearly every host is ASCII.
        import idna

        try:
            lower = idna.alabel(lower).decode("ascii")
        except UnicodeError:
            return ""
    return lower if _LABEL.fullmatch(lower) else ""


def _lower(char: str) -> str:
    """Return a letter in lower case, unless that is another letter: the Kelvin sign is not a “k”."""
    lower = char.lower()
    return lower if lower.upper() == char else char


def lenient_host(written: str) -> str:
    """Return the name or address for which lenient programs take a host that is refused; empty if for none."""
    import socket

    host = ""
    if len(written) <= _MAX_HOST:
        try:
            # IDNA 2003 also accepts what looks like another host: compatibility forms, symbols, other full stops.
            host = written.encode("idna").decode("ascii").lower()
            host = socket.inet_ntoa(socket.inet_aton(host.removesuffix(".")))
        except (UnicodeError, OSError):
            pass
    return host


def _refused(written: str) -> str:
    host = lenient_host(written)
    if not host or (host == written.lower() and written.isascii()):
        return f"“{_quoted(written)}” is not a host name"
    return f"its host “{_quoted(written)}” would become {safe(host, _MAX_HOST)} in the request"


def _quoted(host: str) -> str:
    return safe(host, 100, ascii=True)


@lru_cache(maxsize=64)  # Each connection to a server asks for the same one.
def requested_url(url: str) -> str:
    """Return a URL with its host as it is requested, and otherwise unchanged. Raises ValueError with the reason."""
    before, host, after = _split(url)
    host = requested_host(host)
    return f"{before}[{host}]{after}" if ":" in host else before + host + after


def shown_url(url: str, limit: int | None = None) -> str:
    """Return a URL as it is requested, in one line for a decision about it.

    At most `limit` characters of it are returned. A remark names the scripts that its host mixes. Of a URL that cannot
    be requested, such as one with references in its host, every character beyond ASCII is an escape.
    """
    try:
        url = requested_url(url)
    except ValueError:
        return safe(url, limit, ascii=True)
    return safe(url, limit) + script_remark(_split(url)[1])


def host_remarks(text: str) -> str:
    """Return remarks about the hosts in a command that are not requested as they look, to stand behind it."""
    remarks = []
    for written in _HOSTS.findall(text):
        try:
            host = requested_host(written)
        except ValueError as error:
            refers = written.isascii() and not set("${<").isdisjoint(written)
            remarks.append("" if refers else f" ({error})")
        else:
            remarks.append(("" if host == written.lower() else f" (its host is {host})") + script_remark(host))
    return "".join(dict.fromkeys(remarks))


def script_remark(host: str) -> str:
    """Return a remark to stand behind a requested host that mixes scripts; empty if it does not."""
    scripts = mixed_scripts(host)
    return f" (its host mixes {scripts} letters)" if scripts else ""


def mixed_scripts(host: str) -> str:
    """Return the scripts that one word of a requested host mixes, such as `Cyrillic and Latin`; else empty."""
    for word in spelled_host(host).split("."):
        scripts = sorted({_script(char) for char in word if unicodedata.category(char) in ("Ll", "Lo", "Lt", "Lu")})
        if len(scripts) > 1:
            return f"{', '.join(scripts[:-1])} and {scripts[-1]}"
    return ""


def spelled_host(host: str) -> str:
    """Return a requested host with the letters that `xn--` stands for. Never for a decision: they may look alike."""
    return ".".join(_spelled(label) for label in host.split("."))


def _spelled(label: str) -> str:
    try:
        return label[4:].encode("ascii").decode("punycode") if label.startswith("xn--") else label
    except UnicodeError:
        return label


def _script(letter: str) -> str:
    name = unicodedata.name(letter, "unknown").partition(" ")[0]
    return "East Asian" if name in _EAST_ASIAN else name.capitalize()


def _split(url: str) -> tuple[str, str, str]:
    """Split a URL before and after its host, where every parser of URLs agrees. Raises ValueError with the reason.

    Python and browsers disagree about a backslash, and drop control characters. Python refuses what becomes a delimiter
    when it is normalised, such as a wide slash.
    """
    if _CONTROL.search(url):
        raise ValueError("it contains a control character")
    match = _URL.fullmatch(url)
    if match is None:
        raise ValueError("it is not scheme://host:port/path")
    if "\\" in match[1] + match[2]:
        raise ValueError("its host contains a backslash, or follows one")
    if not set("[]").isdisjoint(match[1]):
        raise ValueError("it has a bracket before its host")
    if not match[2]:
        raise ValueError("it has no host")
    user = match[1].partition("://")[2].replace("@", "").replace(":", "")
    if not user.isascii() and not _DELIMITERS.isdisjoint(unicodedata.normalize("NFKC", user)):
        raise ValueError("a character before its host looks like one that ends a host")
    return match[1], match[2], match[3]


def parse(host: str) -> Address | None:
    """Return the address of a host in its usual spelling; None for a name."""
    text = host.removeprefix("[").removesuffix("]").partition("%")[0]
    try:
        return IPv6Address(text) if ":" in text else IPv4Address(text)
    except AddressValueError:
        return None


@lru_cache(256)
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
