"""A server at a URL: from the URL itself over names, ports, TLS and HTTP to the session, and beside it."""

from __future__ import annotations

import asyncio
import os
import shlex
from dataclasses import replace

from inspector.addresses import is_loopback
from inspector.client.engine.connect import Connect, transport_for
from inspector.client.options import Options
from inspector.config import secrecy
from inspector.config.targets import HttpTarget
from inspector.doctor import browser, certificate, http_words, login, network, paths
from inspector.doctor.diagnosis import Chart, Fix, Limits, Watch, Weight
from inspector.doctor.network import Tried
from inspector.doctor.opening import Opened, opened
from inspector.doctor.process import introduced
from inspector.doctor.web import Response, Web
from inspector.errors import AuthorizationNeeded, UsageError
from inspector.hints import Hint, Parameter, UnsetParameters
from inspector.journal.journal import Journal
from inspector.reasons import os_reason
from inspector.text import duration
from inspector.transports.http_url import PROXY_SCHEMES, Url, parse_url, system_proxy

_LOOPBACK = ("127.0.0.1", "::1")


class UrlDoctor:
    """Looks at one URL; `look` returns how the session went, None where it was never tried."""

    def __init__(
        self, target: HttpTarget, chart: Chart, journal: Journal, options: Options, limits: Limits, usable: bool,
        *, connect: Connect = transport_for,
    ) -> None:  # fmt: skip
        self.target = target
        self.chart = chart
        self.journal = journal
        self.options = options
        self.limits = limits
        self.usable = usable
        self._connect = connect
        self._reached = ""
        """An address whose port takes connections."""

    async def look(self) -> Opened | None:
        """All steps."""
        try:
            url = parse_url(self.target.url)
        except ValueError as error:
            self.chart.add("url", "failed", f"it is no URL: {error}", fix=Fix("Write http://host:port/path or https://…"),
                           cause=f"The URL cannot be used: {error}.")  # fmt: skip
            return None
        if not self.usable:
            self.chart.add("url", "skipped", "not asked without the values that are missing")
            return None
        self._url(url)
        proxy = self._proxy()
        if not await (self._through(proxy, url) if proxy is not None else self._port(url)):
            self._not_reached("http", "handshake")
            return None
        if proxy is None and url.scheme == "https" and not await self._tls(url):
            self._not_reached("http", "handshake")
            return None
        try:
            web = Web(self.target, self.journal, self.limits.answer)
            return await self._speak(web, url, proxy)
        except UsageError as error:
            self.chart.add("http", "failed", error.message, fix=Fix(error.hint), cause=error.message)
            return None

    def _not_reached(self, *names: str) -> None:
        for name in names:
            self.chart.add(name, "skipped", "not reached")

    # The URL and the way there

    def _url(self, url: Url) -> None:
        remarks = []
        text = self.target.url
        if text != text.strip() or " " in text.strip():
            remarks.append("it has spaces in it")
        if "#" in text:
            remarks.append("what stands after # is not sent")
        if url.user or url.password:
            remarks.append("user and password in it are sent as Basic authorization")
        if url.target == "/":
            remarks.append("it has no path: most servers are at /mcp")
        if url.scheme == "http" and not is_loopback(url.host):
            remarks.append("http is not encrypted: whoever is between reads everything")
        if url.host == "0.0.0.0":
            remarks.append("0.0.0.0 is where a server listens: connect to 127.0.0.1")
        shown = secrecy.mask_url(url.text)
        self.chart.add("url", "warn" if remarks else "ok", "; ".join((shown, *remarks)))

    def _proxy(self) -> Url | None:
        url = parse_url(self.target.url)
        text = self.target.proxy or system_proxy(url)
        if not text:
            skipped = [name for name in _proxy_variables() if os.environ.get(name)]
            if skipped:
                why = "this machine itself needs none" if is_loopback(url.host) else "none of them is for this URL"
                self.chart.add("proxy", "info", f"none: {', '.join(skipped)} set, and {why}")
            return None
        try:
            return parse_url(text, PROXY_SCHEMES)
        except ValueError as error:
            self.chart.add(
                "proxy", "failed", f"the proxy cannot be used: {error}", fix=Fix("A proxy is http://host:port."),
                cause=f"The proxy that is set cannot be used: {error}.",
            )  # fmt: skip
            return None

    def _proxy_source(self) -> str:
        if self.target.proxy:
            return "as the target says"
        names = [name for name in _proxy_variables() if os.environ.get(name) and not name.lower().startswith("no_")]
        return f"from {', '.join(names)}" if names else "as the system says"

    async def _through(self, proxy: Url, url: Url) -> bool:
        """Whether the proxy takes connections."""
        try:
            found = await network.addresses(proxy.host, proxy.port, self.limits.name)
            tried = await asyncio.gather(*(network.try_port(each, proxy.port, self.limits.port) for each in found))
        except (OSError, TimeoutError) as error:
            self.chart.add(
                "proxy", "failed", f"{proxy.host} cannot be resolved", details=[os_reason(error)],
                fix=Fix("Check the proxy, or do without it for this host.", f"export NO_PROXY={url.host}"),
                cause=f"The proxy {proxy.host} ({self._proxy_source()}) cannot be resolved to an address.",
            )  # fmt: skip
            return False
        good = [each for each in tried if each.port == "open"]
        if good:
            self.chart.add("proxy", "ok", f"{proxy.address}, {self._proxy_source()}", seconds=good[0].seconds)
            return True
        what = "refuses the connection" if tried[0].port == "refused" else "takes no connection"
        direct = await self._direct(url)
        self.chart.add(
            "proxy", "failed", f"{proxy.address} {what}", details=[*map(_tried, tried), *direct],
            fix=Fix("Check the proxy, or do without it for this host.", f"export NO_PROXY={url.host}"),
            cause=f"The proxy {proxy.address} ({self._proxy_source()}) {what}.",
        )  # fmt: skip
        return False

    async def _direct(self, url: Url) -> list[str]:
        """Whether the host takes connections without the proxy."""
        try:
            found = await network.addresses(url.host, url.port, self.limits.name)
            tried = await asyncio.gather(*(network.try_port(each, url.port, self.limits.port) for each in found))
        except (OSError, TimeoutError):
            return [f"without it, {url.host} cannot be resolved"]
        return [f"without it, {_tried(each)}" for each in tried]

    async def _port(self, url: Url) -> bool:
        """Resolve the name and try the port of each address; whether one of them takes connections."""
        watch = Watch()
        try:
            found = await network.addresses(url.host, url.port, self.limits.name)
        except TimeoutError:
            self.chart.add(
                "name", "failed", f"{url.host}: no answer within {self.limits.name:g} s", seconds=watch.seconds,
                fix=Fix("Check the name server of this machine, and whether it is online."),
                cause=f"The name {url.host} is not resolved: no name server answers.",
            )  # fmt: skip
            return False
        except OSError as error:
            self.chart.add(
                "name", "failed", f"{url.host}: {error.strerror or error}", seconds=watch.seconds,
                fix=Fix("Check the spelling, and whether this machine is online."),
                cause=f"The name {url.host} cannot be resolved to an address.",
            )  # fmt: skip
            return False
        if found != [url.host]:
            self.chart.add("name", "ok", f"{url.host} is {', '.join(found)}", seconds=watch.seconds)
        tried = await asyncio.gather(*(network.try_port(each, url.port, self.limits.port) for each in found))
        good = [each for each in tried if each.port == "open"]
        bad = [each for each in tried if each.port != "open"]
        seconds = min((each.seconds for each in good), default=max(each.seconds for each in tried))
        details = list(map(_tried, tried))
        if good:
            self._reached = good[0].address
            text = f"{', '.join(each.address for each in good)} takes connections on port {url.port}"
            if bad:
                text += f", {', '.join(each.address for each in bad)} does not: clients that try only that one fail"
            self.chart.add("port", "warn" if bad else "ok", text, details=details, seconds=seconds)
            return True
        await self._closed(url, tried, details, seconds)
        return False

    async def _closed(self, url: Url, tried: list[Tried], details: list[str], seconds: float) -> None:
        if is_loopback(url.host):
            for address in _LOOPBACK:
                if address in {each.address for each in tried}:
                    continue
                other = await network.try_port(address, url.port, self.limits.port)
                details.append(_tried(other))
                if other.port == "open":
                    family, used = ("IPv6", "IPv4") if ":" in address else ("IPv4", "IPv6")
                    there = replace(url, host=address)
                    self.chart.add(
                        "port", "failed", f"refused on {tried[0].address}, taken on {address}", details=details,
                        seconds=seconds, fix=Fix("Use the address that it is bound to.", f"inspector '{there.text}'"),
                        cause=f"The server listens on {family} only ({address}), and {url.host} is {used}.",
                    )  # fmt: skip
                    return
        states = {each.port for each in tried}
        if states == {"refused"}:
            cause = f"Nothing listens on {url.address}: the connection is refused."
            fix = Fix("Start the server, and check the port.")
        elif "filtered" in states:
            cause = f"{url.address} takes no connection: a firewall drops it, or the host is down."
            fix = Fix("Check host and port, and the firewalls between.")
        else:
            cause = f"{url.address} cannot be reached: {tried[0].reason}."
            fix = Fix("Check the network, a VPN for example.")
        self.chart.add(
            "port", "failed", f"port {url.port} takes no connection", details=details, seconds=seconds, fix=fix,
            cause=cause,
        )  # fmt: skip

    async def _tls(self, url: Url) -> bool:
        """The handshake, and what speaks instead where there is none; whether a session can be tried."""
        found = await network.try_tls(self._reached, url, self.limits.port)
        if found.spoken or found.verify_code:
            certificate.report(self.chart, found, url, verify=self.target.verify)
            return not found.verify_code or not self.target.verify
        plain = replace(url, scheme="http")
        web = Web(replace(self.target, url=plain.text, headers=()), self.journal, self.limits.port)
        try:
            answer = await web.ask(plain)
        finally:
            await web.close()
        if answer.status:
            self.chart.add(
                "tls", "failed", "it speaks plain HTTP on this port", seconds=found.seconds, details=[found.reason],
                fix=Fix("Use http.", f"inspector {shlex.quote(plain.text)}"),
                cause=f"The server on {url.address} speaks plain HTTP, and the URL says https.",
            )  # fmt: skip
        else:
            self.chart.add(
                "tls", "failed", f"no TLS handshake: {found.reason}", seconds=found.seconds,
                fix=Fix("Check the port, and the server's TLS settings."),
                cause=f"{url.address} takes the connection and does not speak TLS: {found.reason}.",
            )  # fmt: skip
        return False

    # HTTP, the session, and what is beside it

    async def _speak(self, web: Web, url: Url, proxy: Url | None) -> Opened | None:
        try:
            first = await web.ask(url)
            if not first.status and url.scheme == "http" and proxy is None and await self._is_tls(first, url):
                self._not_reached("handshake")
                return None
            found = await opened(self.target, self.journal, self.options, self.limits, connect=self._connect)
            connected = found.server is not None
            said = http_words.report(self.chart, first, url, connected=connected, proxy=proxy)
            if first.status in (401, 403) and not _own_authorization(self.target, first):
                await login.look(self.chart, self.target, self.journal, first, self.limits.login)
            self._session(found, said)
            if connected:
                await browser.look(self.chart, web, url)
            else:
                await self._instead(web, url, first, found)
            return found
        finally:
            await web.close()

    async def _is_tls(self, first: Response, url: Url) -> bool:
        found = await network.try_tls(self._reached, url, self.limits.port)
        if not (found.spoken or found.verify_code):
            return False
        there = replace(url, scheme="https")
        self.chart.add(
            "http", "failed", "it speaks TLS on this port", details=[first.why], seconds=first.seconds,
            fix=Fix("Use https.", f"inspector {shlex.quote(there.text)}"),
            cause=f"The server on {url.address} speaks TLS, and the URL says http.",
        )  # fmt: skip
        return True

    def _session(self, found: Opened, said: bool) -> None:
        if found.server is not None:
            times = [f"{method}: {duration(seconds * 1e6)}" for method, seconds in found.heard.answered.items()]
            self.chart.add(
                "handshake", "ok", introduced(found), details=[*times, *found.heard.steps], seconds=found.seconds
            )
            return
        error = found.error
        assert error is not None
        wants = isinstance(error, AuthorizationNeeded)
        self.chart.add(
            "handshake", "failed", error.message.rstrip("."), details=found.heard.steps, seconds=found.seconds,
            fix=Fix(error.hint), cause=error.message, weight=Weight.SYMPTOM if said or wants else Weight.LIKELY,
        )  # fmt: skip

    async def _instead(self, web: Web, url: Url, first: Response, found: Opened) -> None:
        """The other transport at the same URL, or another path, where those may be the reason."""
        if not http_words.may_be_elsewhere(first) or isinstance(found.error, AuthorizationNeeded):
            return
        if self.target.transport != "auto":
            if self.target.transport == "sse" and first.speaks:
                other, name = "http", "Streamable HTTP, and not the older HTTP+SSE"
            elif self.target.transport == "http" and (await web.listen(url)).body == "stream":
                other, name = "sse", "the older HTTP+SSE, and not Streamable HTTP"
            else:
                other, name = "", ""
            if other:
                self.chart.add(
                    "transport", "failed", f"it speaks {name}",
                    fix=Fix(
                        Hint(UnsetParameters((Parameter.TRANSPORT,)), "."),
                        f"inspector --transport {other} {shlex.quote(url.text)}",
                    ),
                    cause=f"The server at this URL speaks {name}.",
                )  # fmt: skip
                return
        if not first.speaks:
            await paths.look(self.chart, web, url, self.limits.paths)


def _tried(tried: Tried) -> str:
    reason = f" ({tried.reason})" if tried.reason else f" in {duration(tried.seconds * 1e6)}"
    return f"{tried.address}: {tried.port}{reason}"


def _proxy_variables() -> list[str]:
    names = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY")
    return [each for name in names for each in (name, name.lower())]


def _own_authorization(target: HttpTarget, refusal: Response) -> bool:
    """Whether a 403 is about something else than a login: the request had authorization, or nobody is challenged."""
    return refusal.status == 403 and not refusal.all("www-authenticate")
