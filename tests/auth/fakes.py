"""The runner's helpers in tests: a web of prepared responses, a person with prepared answers, a recorder."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from inspector.auth.actions import Fetched
from inspector.auth.models import OAuthClient
from inspector.auth.person import NO_TERMINAL, LoginPage
from inspector.errors import HttpError
from inspector.journal.journal import Journal

Answer = Fetched | Exception | Callable[..., Fetched]


class FakeWeb:
    """Answers by URL; asks to be admitted to the addresses that a name has."""

    def __init__(
        self, answers: dict[str, Answer] | None = None, names: dict[str, str | list[str]] | None = None
    ) -> None:
        self.answers = answers or {}
        self.names = names or {}
        self.sent: list[tuple[str, str, tuple[tuple[str, str], ...], bytes]] = []

    async def send(
        self, method: str, url: str, fields: Sequence[tuple[str, str]], body: bytes, *, limit: int,
        admit: Callable[[str], bool],
    ) -> Fetched:  # fmt: skip
        host = url.partition("://")[2].partition("/")[0].partition(":")[0]
        if not all(map(admit, await self.addresses(host))):
            raise HttpError(f"{host} is at a private address")
        self.sent.append((method, url, tuple(fields), body))
        answer = self.answers.get(url, Fetched(404, (), b"", url))
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, Fetched) else answer(method, url, fields, body)

    async def addresses(self, host: str) -> list[str]:
        listed = self.names.get(host, [])
        return [listed] if isinstance(listed, str) else listed

    async def aclose(self) -> None:
        pass


class FakePerson:
    """Says what it was told to say. `visits` is what it was shown."""

    def __init__(self, *, consents: bool | None = True, pastes: Sequence[str] = (), present: bool = True) -> None:
        self.present = present
        self.absence = "" if present else NO_TERMINAL
        self.consents = consents
        self.pastes = list(pastes)
        self.asked: list[tuple[str, str]] = []
        self.visits: list[LoginPage] = []
        self.messages: list[str] = []
        self.rejections: list[str] = []
        self.ends: list[bool] = []
        self.client: OAuthClient | None = None

    async def consent(self, url: str, host: str, until: float) -> bool | None:
        self.asked.append((url, host))
        return self.consents

    async def show(self, page: LoginPage) -> None:
        self.visits.append(page)

    async def pasted(self) -> str:
        if self.pastes:
            return self.pastes.pop(0)
        never: str = await asyncio.get_running_loop().create_future()
        return never

    async def client_for(self, issuer: str, redirect_uri: str) -> OAuthClient | None:
        return self.client

    async def choose(self, issuers: tuple[str, ...]) -> str:
        return issuers[-1]

    async def done(self, ok: bool) -> None:
        self.ends.append(ok)

    def rejected(self, text: str) -> None:
        self.rejections.append(text)

    def say(self, text: str) -> None:
        self.messages.append(text)


class FakeRecorder:
    """A journal behind the part of a sink that authorization needs."""

    def __init__(self) -> None:
        self.journal = Journal.unnamed({})
        self.asked: list[bool] = []

    def auth(self, step: str, ok: bool, text: str, **more: Any) -> int:
        return self.journal.record_auth(step, ok, text, **more)

    def asking(self, begun: bool) -> None:
        self.asked.append(begun)

    def secret(self, value: str) -> None:
        self.journal.redactor.add(value)

    def steps(self) -> list[tuple[str, bool]]:
        """Step and outcome of each event."""
        return [(event.fields["step"], event.fields["ok"]) for event in self.journal.events()]

    def text(self) -> str:
        """The whole recording."""
        return self.journal.storage.pread(0, self.journal.storage.size).decode()
