"""A server at a URL: the URL, names, ports, TLS, HTTP and the session."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field, replace

from inspector.addresses import is_loopback, mixed_scripts
from inspector.config import secret_values
from inspector.config.targets import HttpTarget
from inspector.doctor import browser, certificate, http_report, login, network, other_paths
from inspector.doctor.diagnosis import Fix, Stopwatch, Weight
from inspector.doctor.http_requests import ProbeClient, ProbeResponse
from inspector.doctor.network import PortAttempt
from inspector.doctor.process import introduced
from inspector.doctor.session_step import OpenResult, SessionDoctor, open_session
from inspector.errors import AuthorizationNeeded, UsageError
from inspector.hints import Hint, Parameter, UnsetParameters
from inspector.reasons import os_reason
from inspector.text import duration
from inspector.transports.http_url import PROXY_SCHEMES, Url, parse_url, system_proxy

_LOOPBACK = ("127.0.0.1", "::1")


@dataclass
class UrlDoctor(SessionDoctor):
    """Examines one URL; `check` returns the session's result, None if no session was tried."""

    target: HttpTarget
    usable: bool
    """Whether the target can be opened: all variables are set."""
    _reached: str = field(default="", init=False)
    """An address whose port accepts connections."""

    async def check(self) -> OpenResult | None:
        """Run all steps."""
        try:
            url = parse_url(self.target.url)
        except ValueError as error:
            self.steps.add(
                "url",
                "failed",
                f"it is not a URL: {error}",
                fix=Fix("Write http://host:port/path or https://…"),
                cause=f"The URL is not valid: {error}.",
            )
            return None
        if not self.usable:
            self.steps.add("url", "skipped", "no request, because variables are not set")
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
            web = ProbeClient(self.target, self.journal, self.limits.answer)
            return await self._speak(web, url, proxy)
        except UsageError as error:
            self.steps.add("http", "failed", error.message, fix=Fix(error.hint), cause=error.message)
            return None

    def _not_reached(self, *names: str) -> None:
        for name in names:
            self.steps.add(name, "skipped", "not reached")

    # The URL and the proxy

    def _url(self, url: Url) -> None:
        remarks = []
        text = self.target.url
        if text != text.strip() or " " in text.strip():
            remarks.append("it contains spaces")
        if "#" in text:
            remarks.append("the part after # is not sent")
        if url.user or url.password:
            remarks.append("user and password in it are sent as Basic authorization")
        if url.target == "/":
            remarks.append("it has no path: most servers are at /mcp")
        if url.scheme == "http" and not is_loopback(url.host):
            remarks.append("http is not encrypted: others on the network can read everything")
        if url.host == "0.0.0.0":
            remarks.append("0.0.0.0 is a listening address: connect to 127.0.0.1")
        if scripts := mixed_scripts(url.host):
            remarks.append(f"its host mixes {scripts} letters")
        masked = secret_values.mask_url(url.text)
        self.steps.add("url", "warn" if remarks else "ok", "; ".join((masked, *remarks)))

    def _proxy(self) -> Url | None:
        url = parse_url(self.target.url)
        text = self.target.proxy or system_proxy(url)
        if not text:
            skipped = [name for name in _proxy_variables() if os.environ.get(name)]
            if skipped:
                reason = "loopback needs none" if is_loopback(url.host) else "none of them applies to this URL"
                self.steps.add("proxy", "info", f"none: {', '.join(skipped)} set, and {reason}")
            return None
        try:
            return parse_url(text, PROXY_SCHEMES)
        except ValueError as error:
            self.steps.add(
                "proxy",
                "failed",
                f"the proxy cannot be used: {error}",
                fix=Fix("Write a proxy as http://host:port."),
                cause=f"The configured proxy cannot be used: {error}.",
            )
            return None

    def _proxy_source(self) -> str:
        if self.target.proxy:
            return "from the target"
        names = [name for name in _proxy_variables() if os.environ.get(name) and not name.lower().startswith("no_")]
        return f"from {', '.join(names)}" if names else "from the system"

    async def _through(self, proxy: Url, url: Url) -> bool:
        """Check whether the proxy accepts connections."""
        try:
            addresses = await network.addresses(proxy.host, proxy.port, self.limits.name)
            tried = await asyncio.gather(*(network.try_port(ip, proxy.port, self.limits.port) for ip in addresses))
        except (OSError, TimeoutError) as error:
            self.steps.add(
                "proxy",
                "failed",
                f"{proxy.host} cannot be resolved",
                details=[os_reason(error)],
                fix=Fix("Check the proxy, or do not use it for this host.", f"export NO_PROXY={url.host}"),
                cause=f"The proxy {proxy.host} ({self._proxy_source()}) cannot be resolved to an address.",
            )
            return False
        good = [attempt for attempt in tried if attempt.port == "open"]
        if good:
            self.steps.add("proxy", "ok", f"{proxy.address}, {self._proxy_source()}", seconds=good[0].seconds)
            return True
        what = "refuses the connection" if tried[0].port == "refused" else "does not accept connections"
        direct = await self._direct(url)
        self.steps.add(
            "proxy",
            "failed",
            f"{proxy.address} {what}",
            details=[*map(_tried, tried), *direct],
            fix=Fix("Check the proxy, or do not use it for this host.", f"export NO_PROXY={url.host}"),
            cause=f"The proxy {proxy.address} ({self._proxy_source()}) {what}.",
        )
        return False

    async def _direct(self, url: Url) -> list[str]:
        """Check whether the host accepts connections without the proxy."""
        try:
            addresses = await network.addresses(url.host, url.port, self.limits.name)
            tried = await asyncio.gather(*(network.try_port(ip, url.port, self.limits.port) for ip in addresses))
        except (OSError, TimeoutError):
            return [f"without it, {url.host} cannot be resolved"]
        return [f"without it, {_tried(attempt)}" for attempt in tried]

    async def _port(self, url: Url) -> bool:
        """Resolve the name and try the port of each address; True if one of them accepts connections."""
        watch = Stopwatch()
        try:
            addresses = await network.addresses(url.host, url.port, self.limits.name)
        except TimeoutError:
            self.steps.add(
                "name",
                "failed",
                f"{url.host}: no response within {self.limits.name:g} s",
                seconds=watch.seconds,
                fix=Fix("Check the name server of this machine, and its network connection."),
                cause=f"The name {url.host} was not resolved: no name server responded.",
            )
            return False
        except OSError as error:
            self.steps.add(
                "name",
                "failed",
                f"{url.host}: {error.strerror or error}",
                seconds=watch.seconds,
                fix=Fix("Check the spelling, and the network connection of this machine."),
                cause=f"The name {url.host} cannot be resolved to an address.",
            )
            return False
        if addresses != [url.host]:
            self.steps.add("name", "ok", f"{url.host} is {', '.join(addresses)}", seconds=watch.seconds)
        tried = await asyncio.gather(*(network.try_port(ip, url.port, self.limits.port) for ip in addresses))
        good = [attempt for attempt in tried if attempt.port == "open"]
        bad = [attempt for attempt in tried if attempt.port != "open"]
        seconds = min((attempt.seconds for attempt in good), default=max(attempt.seconds for attempt in tried))
        details = list(map(_tried, tried))
        if good:
            self._reached = good[0].address
            text = f"{', '.join(attempt.address for attempt in good)} accepts connections on port {url.port}"
            if bad:
                text += (
                    f", {', '.join(attempt.address for attempt in bad)} does not: clients that try only that one fail"
                )
            self.steps.add("port", "warn" if bad else "ok", text, details=details, seconds=seconds)
            return True
        await self._closed(url, tried, details, seconds)
        return False

    async def _closed(self, url: Url, tried: list[PortAttempt], details: list[str], seconds: float) -> None:
        if is_loopback(url.host):
            for address in _LOOPBACK:
                if address in {attempt.address for attempt in tried}:
                    continue
                other = await network.try_port(address, url.port, self.limits.port)
                details.append(_tried(other))
                if other.port == "open":
                    family, used = ("IPv6", "IPv4") if ":" in address else ("IPv4", "IPv6")
                    there = replace(url, host=address)
                    self.steps.add(
                        "port",
                        "failed",
                        f"refused on {tried[0].address}, accepted on {address}",
                        details=details,
                        seconds=seconds,
                        fix=Fix("Use the bound address.", str(self.steps.line.on_url(there.text))),
                        cause=f"The server listens on {family} only ({address}), but {url.host} is {used}.",
                    )
                    return
        states = {attempt.port for attempt in tried}
        if states == {"refused"}:
            cause = f"Nothing listens on {url.address}: the connection is refused."
            fix = Fix("Start the server, and check the port.")
        elif "filtered" in states:
            cause = f"{url.address} does not accept connections: a firewall drops them, or the host is down."
            fix = Fix("Check host, port and firewalls.")
        else:
            cause = f"{url.address} cannot be reached: {tried[0].reason}."
            fix = Fix("Check the network, for example a VPN.")
        self.steps.add(
            "port",
            "failed",
            f"port {url.port} does not accept connections",
            details=details,
            seconds=seconds,
            fix=fix,
            cause=cause,
        )

    async def _tls(self, url: Url) -> bool:
        """Do the TLS handshake, or find out what else the port uses; True if a session can be tried."""
        tls = await network.try_tls(self._reached, url, self.limits.port)
        if tls.spoken or tls.verify_code:
            certificate.report(self.steps, tls, url, verify=self.target.verify)
            return not tls.verify_code or not self.target.verify
        plain = replace(url, scheme="http")
        web = ProbeClient(replace(self.target, url=plain.text, headers=()), self.journal, self.limits.port)
        try:
            answer = await web.ask(plain)
        finally:
            await web.close()
        if answer.status:
            self.steps.add(
                "tls",
                "failed",
                "it uses plain HTTP on this port",
                seconds=tls.seconds,
                details=[tls.reason],
                fix=Fix("Use http.", str(self.steps.line.on_url(plain.text))),
                cause=f"The server on {url.address} uses plain HTTP, but the URL says https.",
            )
        else:
            self.steps.add(
                "tls",
                "failed",
                f"the TLS handshake failed: {tls.reason}",
                seconds=tls.seconds,
                fix=Fix("Check the port, and the server's TLS settings."),
                cause=f"{url.address} accepts the connection but does not use TLS: {tls.reason}.",
            )
        return False

    # HTTP, the session, and related checks

    async def _speak(self, web: ProbeClient, url: Url, proxy: Url | None) -> OpenResult | None:
        try:
            first = await web.ask(url)
            if not first.status and url.scheme == "http" and proxy is None and await self._is_tls(first, url):
                self._not_reached("handshake")
                return None
            opened = await open_session(self.target, self.journal, self.options, connect=self.connect)
            connected = opened.server is not None
            is_explained = http_report.report(self.steps, first, url, connected=connected, proxy=proxy)
            refused = isinstance(opened.error, AuthorizationNeeded) and opened.error.given
            if first.status in (401, 403) and not refused and not _own_authorization(self.target, first):
                await login.check(self.steps, self.target, self.journal, first, self.limits.login)
            self._session(opened, is_explained)
            if connected:
                await browser.check(self.steps, web, url)
            else:
                await self._instead(web, url, first, opened)
            return opened
        finally:
            await web.close()

    async def _is_tls(self, first: ProbeResponse, url: Url) -> bool:
        tls = await network.try_tls(self._reached, url, self.limits.port)
        if not (tls.spoken or tls.verify_code):
            return False
        there = replace(url, scheme="https")
        self.steps.add(
            "http",
            "failed",
            "it uses TLS on this port",
            details=[first.reason],
            seconds=first.seconds,
            fix=Fix("Use https.", str(self.steps.line.on_url(there.text))),
            cause=f"The server on {url.address} uses TLS, but the URL says http.",
        )
        return True

    def _session(self, opened: OpenResult, is_explained: bool) -> None:
        if opened.server is not None:
            times = [f"{method}: {duration(seconds * 1e6)}" for method, seconds in opened.connection.answered.items()]
            self.steps.add(
                "handshake",
                "ok",
                introduced(opened),
                details=[*times, *opened.connection.steps],
                seconds=opened.seconds,
            )
            return
        error = opened.error
        assert error is not None
        wants = isinstance(error, AuthorizationNeeded) and not error.given
        self.steps.add(
            "handshake",
            "failed",
            error.message.rstrip("."),
            details=opened.connection.steps,
            seconds=opened.seconds,
            fix=Fix(error.hint),
            cause=error.message,
            weight=Weight.SYMPTOM if is_explained or wants else Weight.LIKELY,
        )

    async def _instead(self, web: ProbeClient, url: Url, first: ProbeResponse, opened: OpenResult) -> None:
        """Try the other transport at the same URL, and other paths, if those may be the cause."""
        if not http_report.may_be_elsewhere(first) or isinstance(opened.error, AuthorizationNeeded):
            return
        if self.target.transport != "auto":
            if self.target.transport == "sse" and first.speaks:
                other, name = "http", "Streamable HTTP, not the older HTTP+SSE"
            elif self.target.transport == "http" and (await web.listen(url)).body == "stream":
                other, name = "sse", "the older HTTP+SSE, not Streamable HTTP"
            else:
                other, name = "", ""
            if other:
                self.steps.add(
                    "transport",
                    "failed",
                    f"it uses {name}",
                    fix=Fix(
                        Hint(UnsetParameters((Parameter.TRANSPORT,)), "."),
                        str(self.steps.line.on_url(url.text, other)),
                    ),
                    cause=f"The server at this URL uses {name}.",
                )
                return
        if not first.speaks and await other_paths.check(self.steps, web, url, self.limits.paths) is None:
            await other_paths.look_in_documents(self.steps, self.target, url, self.limits.paths)


def _tried(tried: PortAttempt) -> str:
    reason = f" ({tried.reason})" if tried.reason else f" in {duration(tried.seconds * 1e6)}"
    return f"{tried.address}: {tried.port}{reason}"


def _proxy_variables() -> list[str]:
    names = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY")
    return [variable for name in names for variable in (name, name.lower())]


def _own_authorization(target: HttpTarget, refusal: ProbeResponse) -> bool:
    """Whether a 403 is not about a login: the request had authorization, or the response has no challenge."""
    return refusal.status == 403 and not refusal.all("www-authenticate")
