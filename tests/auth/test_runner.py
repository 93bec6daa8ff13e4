"""How a flow's actions are performed: the browser and the person, deadlines, cancelling, the store."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from inspector.auth import runner as module
from inspector.auth.actions import (
    Action,
    AskClient,
    ChooseServer,
    Denied,
    Fetch,
    FetchFailed,
    HoldRenewalLock,
    LoadGrant,
    LoadStoredClient,
    OpenListener,
    RegisterSecret,
    Show,
    StoreClient,
    StoreGrant,
    TimedOut,
    VisitPage,
    Wait,
    record_step,
)
from inspector.auth.models import OAuthClient
from inspector.auth.person import NoPerson
from inspector.auth.runner import LOGIN_SECONDS, MAX_LINES, MAX_PASTES, FlowRunner, Lock
from inspector.auth.store import Store
from inspector.errors import AuthorizationNeeded
from tests.auth.fakes import FakePerson, FakeRecorder, FakeWeb
from tests.auth.test_browser import ask
from tests.auth.test_store import CLIENT, FILE, GRANT, Memory, Missing

LOGIN = "https://as.example/authorize?state=s"


class Opened:
    """A browser that goes where it is sent, and back as it is told to."""

    def __init__(self, query: str = "code=c&state=s", works: bool = True) -> None:
        self.urls: list[str] = []
        self.query = query
        self.works = works
        self.back = ""
        self.visits: set[asyncio.Task[str]] = set()

    async def __call__(self, url: str) -> str:
        self.urls.append(url)
        if self.works and self.back:
            port = int(self.back.split(":")[2].partition("/")[0])
            self.visits.add(asyncio.ensure_future(ask(port, f"/callback?{self.query}")))
        return "" if self.works else "No browser opened. Tried: it (exit code 1)."


def runner(person: Any, **how: Any) -> FlowRunner:
    given: dict[str, Any] = {"web": FakeWeb(), "store": None, "recorder": FakeRecorder()} | how
    return FlowRunner("https://mcp.example/mcp", person=person, **given)


def login(opened: Opened | None = None, url: str = LOGIN) -> Generator[Action, Any, tuple[str, str]]:
    redirect_uri = yield OpenListener()
    if opened is not None:
        opened.back = redirect_uri
    came = yield VisitPage(url, redirect_uri, "as.example", "s")
    return redirect_uri, came


def only(action: Action) -> Generator[Action, Any, Any]:
    answer = yield action
    return answer


async def test_the_browser_is_opened_with_consent_and_returns() -> None:
    person, opened = FakePerson(), Opened()
    redirect_uri, came = await runner(person, opener=opened).run(login(opened))
    assert came == f"{redirect_uri}?code=c&state=s"
    assert person.asked == [(LOGIN, "as.example")]
    assert opened.urls == [LOGIN]
    assert [(seen.url, seen.opened) for seen in person.visits] == [(LOGIN, True)]
    assert person.ends == [True]


async def test_without_consent_nothing_is_opened() -> None:
    opened = Opened()
    with pytest.raises(Denied, match=r"as\.example"):
        await runner(FakePerson(consents=False), opener=opened).run(login(opened))
    assert opened.urls == []


async def test_who_opens_the_url_that_the_question_shows_is_logged_in_without_an_answer() -> None:
    person, opened = FakePerson(), Opened()

    async def consent(url: str, host: str, until: float) -> bool | None:
        await opened(url)
        never: bool = await asyncio.get_running_loop().create_future()
        return never

    person.consent = consent  # type: ignore[method-assign]
    redirect_uri, came = await runner(person, opener=Opened()).run(login(opened))
    assert came == f"{redirect_uri}?code=c&state=s"
    assert (person.visits, person.ends) == ([], [True])


async def test_who_has_a_browser_elsewhere_goes_on_without_one_here() -> None:
    person, opened = FakePerson(consents=None), Opened()

    async def paste() -> str:
        return f"{person.visits[-1].redirect_uri}?code=pasted&state=s"

    person.pasted = paste  # type: ignore[method-assign]
    _, came = await runner(person, opener=opened).run(login())
    assert came.endswith("?code=pasted&state=s")
    assert opened.urls == []
    assert [(seen.url, seen.opened) for seen in person.visits] == [(LOGIN, False)]


async def test_the_person_is_told_until_when_they_are_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspector.auth.runner.time.time", lambda: 1000.0)
    person, opened = FakePerson(), Opened()
    await runner(person, opener=opened).run(login(opened))
    assert person.visits[-1].until == 1000 + LOGIN_SECONDS
    opened = Opened()
    await runner(person, opener=opened, login_timeout=30).run(login(opened))
    assert person.visits[-1].until == 1030
    await runner(person).run(only(Show("https://as.example/device", "AB-CD", "as.example", seconds=120)))
    assert person.visits[-1].until == 1120
    await runner(person).run(only(Show("https://as.example/device", "AB-CD", "as.example", seconds=10**6)))
    assert person.visits[-1].until == 1000 + LOGIN_SECONDS


async def test_consent_can_be_given_in_advance() -> None:
    person, opened = FakePerson(), Opened()
    await runner(person, opener=opened, open_browser=True).run(login(opened))
    assert (person.asked, opened.urls) == ([], [LOGIN])


async def test_consent_in_advance_needs_no_person() -> None:
    opened = Opened()
    await runner(NoPerson(), opener=opened, open_browser=True).run(login(opened))
    with pytest.raises(AuthorizationNeeded, match=r"Tried: it .exit code 1.. Without a terminal"):
        await runner(NoPerson(), opener=Opened(works=False), open_browser=True).run(login())


async def test_without_a_browser_the_address_is_pasted() -> None:
    person, opened = FakePerson(), Opened()
    flow = login()

    async def paste() -> str:
        return f"  {person.visits[-1].redirect_uri}?code=pasted&state=s\n"

    person.pasted = paste  # type: ignore[method-assign]
    redirect_uri, came = await runner(person, opener=opened, open_browser=False).run(flow)
    assert came == f"{redirect_uri}?code=pasted&state=s"
    assert (person.asked, opened.urls) == ([], [])
    assert person.visits[-1].url == LOGIN


async def test_what_is_pasted_must_be_where_the_browser_returns_to() -> None:
    person = FakePerson(pastes=["", "https://evil.example/?code=x", "nonsense"])
    opened = Opened()
    _, came = await runner(person, opener=opened).run(login(opened))
    assert "code=c" in came
    assert [rejection.partition(": it does not start with")[0] for rejection in person.rejections] == [
        "Rejected the pasted URL (try 1 of 3)",
        "Rejected the pasted URL (try 2 of 3)",
    ]


async def test_a_program_that_pastes_without_end_is_stopped() -> None:
    person = FakePerson(pastes=["", *["nonsense"] * 13_000])
    with pytest.raises(Denied, match=r"3 pasted URLs were rejected\. The last one does not start with") as caught:
        await runner(person, opener=Opened(works=False)).run(login())
    assert caught.value.exit_code == 3
    assert len(person.pastes) == 13_000 - MAX_PASTES


@pytest.mark.parametrize("wait", [VisitPage(LOGIN, "http://127.0.0.1:1/", "as.example", "s"), Wait(60)])
async def test_lines_without_an_end_end_the_login(wait: Action) -> None:
    person = FakePerson(pastes=[""] * 13_000)
    with pytest.raises(Denied, match="100 lines"):
        await runner(person, open_browser=False).run(only(wait))
    assert len(person.pastes) == 13_000 - MAX_LINES


class Strays(Opened):
    """A browser that comes back with other answers before it comes back with `query`."""

    def __init__(self, *strays: str, query: str = "code=c&state=s") -> None:
        super().__init__(query)
        self.strays = strays
        self.statuses: list[str] = []

    async def __call__(self, url: str) -> str:
        port = int(self.back.split(":")[2].partition("/")[0])
        for stray in self.strays:
            self.statuses.append(await ask(port, f"/callback?{stray}"))
        return await super().__call__(url) if self.query else ""


STRAYS = {
    "code=evil&state=other": "has a “state” of another login",
    "code=evil": "has no “state”",
    "x=1": "has no “state”",
    "": "has no parameters",
    "notcode=1": "has no “state”",
    "error=access_denied": "has no “state”",
    "code=evil&state=": "has no “state”",
    "code=evil&state=other&state=s": "has “state” more than once",
    "code=evil&code=other&state=s": "has “code” more than once",
    "&".join(f"code{n}=1" for n in range(200)) + "&code=1": "is not a valid URL",
}


@pytest.mark.parametrize("stray", STRAYS)
async def test_an_answer_to_another_request_is_refused_and_waited_past(stray: str) -> None:
    """C-AUTH-22."""
    person, opened, recorder = FakePerson(), Strays(stray), FakeRecorder()
    _, came = await runner(person, opener=opened, recorder=recorder).run(login(opened))
    assert came.endswith("?code=c&state=s")
    assert opened.statuses == ["400 Bad Request"]
    (event,) = [event for event in recorder.journal.events() if event.fields["step"] == "callback"]
    assert not event.fields["ok"]
    assert event.fields["rule"] == "C-AUTH-22"
    assert STRAYS[stray] in event.fields["text"]
    (rejection,) = person.rejections
    assert rejection.endswith(f"it {STRAYS[stray]}. Inspector is still waiting.")
    assert "evil" not in recorder.text() + rejection


TOLD = {
    "error=access_denied&iss=https://evil.example&code=evil": "error=access_denied, iss=https://evil.example, code",
    "%1b[2J=x&iss=%1b]0;x%07": "␛[2J, iss=␛]0;x␇",
    "code=c&iss=" + "x" * 500: "code, iss=" + "x" * 95 + "…",
}


@pytest.mark.parametrize("stray", TOLD)
async def test_what_came_is_told_without_its_secrets(stray: str) -> None:
    person, opened = FakePerson(), Strays(stray)
    await runner(person, opener=opened).run(login(opened))
    assert person.rejections == [
        f"Rejected a redirect with {TOLD[stray]}: it has no “state”. Inspector is still waiting."
    ]


REQUESTS = {
    "GET /callback?code=evil HTTP/1.1\r\nHost: evil.example": "was sent to another host name",
    "POST /callback HTTP/1.1\r\nHost: HERE": "was not sent with GET",
    "GET /callback HTTP/1.1\r\nHost: HERE\r\nSec-Fetch-Dest: image": "is a request of a page, not a redirect",
}


@pytest.mark.parametrize("request_head", REQUESTS)
async def test_no_request_to_the_callback_is_rejected_silently(request_head: str) -> None:
    person, opened = FakePerson(), Opened()

    async def opener(url: str) -> str:
        here = opened.back.split("/")[2]
        port = int(here.split(":")[1])
        await ask(port, "", raw=f"{request_head}\r\n\r\n".replace("HERE", here).encode())
        assert await ask(port, "/favicon.ico") == "404 Not Found"
        return await opened(url)

    await runner(person, opener=opener).run(login(opened))
    (rejection,) = person.rejections
    assert REQUESTS[request_head] in rejection


class Skipping:
    """A clock of the event loop that stands still, and jumps ahead when it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._loop = asyncio.get_running_loop()
        self._begun, self._skipped = self._loop.time(), 0.0
        monkeypatch.setattr(self._loop, "time", lambda: self._begun + self._skipped)

    def skip(self, seconds: float) -> None:
        self._loop.call_soon(setattr, self, "_skipped", self._skipped + seconds)


async def test_a_few_rejections_of_each_reason_are_told_and_all_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    person, recorder, clock = FakePerson(), FakeRecorder(), Skipping(monkeypatch)
    opened = Strays(*["code=evil"] * 12, "code=evil&state=other", query="")

    async def opener(url: str) -> str:
        problem = await opened(url)
        clock.skip(60)
        return problem

    with pytest.raises(TimedOut, match="rejected 13 redirects: the last one has a “state” of another login"):
        await runner(person, opener=opener, recorder=recorder, login_timeout=60).run(login(opened))
    assert opened.statuses == ["400 Bad Request"] * 13
    assert len(recorder.steps()) == len(person.rejections) == module.REJECTIONS_TOLD + 1


async def test_a_pasted_answer_to_another_request_is_refused_too() -> None:
    person = FakePerson()
    pastes = ["code=evil&state=other", "code=pasted&state=s"]

    async def paste() -> str:
        return f"{person.visits[-1].redirect_uri}?{pastes.pop(0)}"

    person.pasted = paste  # type: ignore[method-assign]
    _, came = await runner(person, opener=Opened(works=False)).run(login())
    assert came.endswith("?code=pasted&state=s")
    assert any("a “state” of another login" in rejection for rejection in person.rejections)


async def test_without_a_person_the_login_ends_before_registration() -> None:
    web = FakeWeb()
    with pytest.raises(AuthorizationNeeded, match="standard input is not a terminal") as caught:
        await runner(NoPerson(), web=web).run(login())
    assert "inspector login" in caught.value.hint
    assert caught.value.exit_code == 3
    assert web.sent == []


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "file:///etc/passwd", "http://as.example/", "https://a b/", "-x", LOGIN + "x" * 8000]
)
async def test_only_secure_pages_are_opened(url: str) -> None:
    person, opened = FakePerson(), Opened()
    with pytest.raises(Denied, match="not opened"):
        await runner(person, opener=opened).run(login(opened, url))
    assert (opened.urls, person.visits, person.asked) == ([], [], [])


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8080/delete", "https://localhost/", "https://192.168.1.1/", "https://nas.local/"]
)
async def test_a_public_server_leads_to_no_page_of_a_private_address(url: str) -> None:
    """Unless the person has named the authorization server."""
    person, opened = FakePerson(), Opened()
    with pytest.raises(Denied, match=r"and the server is elsewhere\. The page is not opened"):
        await runner(person, opener=opened, open_browser=True).run(login(opened, url))
    with pytest.raises(Denied, match="not opened"):
        await runner(person).run(only(Show("https://as.example/device", "AB-CD", "as.example", url)))
    assert (opened.urls, person.visits) == ([], [])
    await runner(person).run(only(Show(url, "AB-CD", "as.example", named=True)))
    assert len(person.visits) == 1


@pytest.mark.parametrize(
    ("person", "given", "seconds"),
    [
        (FakePerson(), {}, 600),
        (FakePerson(), {"seconds": 60}, 600),
        (FakePerson(), {"seconds": 60, "login_timeout": 3000}, 3000),
        (NoPerson(), {"seconds": 60}, 60),
        (NoPerson(), {"seconds": 60, "login_timeout": 30}, 30),
        (NoPerson(), {}, 600),
    ],
)
async def test_how_long_the_browser_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, person: Any, given: dict[str, float], seconds: float
) -> None:
    clock = Skipping(monkeypatch)

    async def opener(url: str) -> str:
        clock.skip(seconds)
        return ""

    with pytest.raises(TimedOut, match=f"within {seconds:g} s") as caught:
        await runner(person, opener=opener, open_browser=True, **given).run(login())
    assert "--login-timeout" in caught.value.hint.command_line


@pytest.mark.parametrize(
    "action", [OpenListener(), AskClient("https://as.example", ""), ChooseServer(("a", "b")), Wait(60)]
)
async def test_no_wait_for_the_person_is_longer_than_the_login_may_take(action: Action) -> None:
    async def never(*words: object) -> Any:
        await asyncio.Event().wait()

    person = FakePerson()
    for name in ("consent", "client_for", "choose", "pasted"):
        setattr(person, name, never)
    flow = login() if isinstance(action, OpenListener) else only(action)
    with pytest.raises(TimedOut, match=r"The login was not completed within 0\.01 s"):
        await runner(person, login_timeout=0.01).run(flow)
    assert person.ends == [False]


async def test_a_flow_without_an_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOGIN_SECONDS", 0.01)
    closed: list[bool] = []  # The default of a login counts when no other is given.

    def endless() -> Generator[Action, Any, None]:
        try:
            while True:
                yield Wait(0.001)
        finally:
            closed.append(True)

    with pytest.raises(TimedOut):
        await runner(FakePerson()).run(endless())
    assert closed == [True]


async def test_cancelling_ends_everything() -> None:
    person = FakePerson()
    uris: list[str] = []

    def flow() -> Generator[Action, Any, None]:
        uris.append((yield OpenListener()))
        yield VisitPage(LOGIN, uris[0], "as.example", "s")

    task = asyncio.ensure_future(runner(person, opener=Opened()).run(flow()))
    async with asyncio.timeout(60):
        while not person.visits:
            await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert person.ends == [False]
    with pytest.raises(OSError):
        await ask(int(uris[0].split(":")[2].partition("/")[0]), "/callback?code=1")


@pytest.mark.parametrize("doubtful", ["https://as.example", ""])
@pytest.mark.parametrize("slow", [False, True])
async def test_a_client_that_may_be_unknown_by_now_is_forgotten_by_who_gives_up(
    tmp_path: Path, doubtful: str, slow: bool
) -> None:
    """The browser shows “unknown client”, and only the person knows; also while it is still about to open."""
    person, store = FakePerson(), Store(tmp_path / "logins.json", Memory())
    store.keep_client("https://as.example", CLIENT)
    opened: list[str] = []

    async def opener(url: str) -> bool:
        opened.append(url)
        if slow:
            await asyncio.Event().wait()
        return True

    def flow() -> Generator[Action, Any, None]:
        redirect_uri = yield OpenListener()
        yield VisitPage(LOGIN, redirect_uri, "as.example", "s", doubtful)

    task = asyncio.ensure_future(runner(person, opener=opener, store=store).run(flow()))
    async with asyncio.timeout(60):
        while not (opened if slow else person.visits):
            await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (store.client("https://as.example") is None) is bool(doubtful)


async def test_the_lock_is_held_until_it_is_released_or_the_flow_ends(tmp_path: Path) -> None:
    store = Store(tmp_path / "logins.json", Memory())
    place = store.lock_path("https://as.example", "https://mcp.example/mcp")
    held: list[int] = []

    async def is_free() -> bool:
        other = Lock(place)
        try:
            return await other.acquire(0)
        finally:
            other.release()

    class Asked(FakePerson):
        async def choose(self, issuers: tuple[str, ...]) -> str:
            held.append(not await is_free())
            return issuers[0]

    def flow(*, fails: bool) -> Generator[Action, Any, None]:
        yield HoldRenewalLock("https://as.example", "https://mcp.example/mcp")
        yield ChooseServer(("a",))
        if fails:
            raise Denied("no")
        yield HoldRenewalLock()
        yield ChooseServer(("a",))

    await runner(Asked(), store=store).run(flow(fails=False))
    with pytest.raises(Denied):
        await runner(Asked(), store=store).run(flow(fails=True))
    assert held == [True, False, True]
    assert await is_free()
    await runner(Asked(), store=None).run(flow(fails=False))


async def test_without_a_person_the_error_says_why_one_is_needed() -> None:
    with pytest.raises(AuthorizationNeeded, match=r"^The login ended, but standard input is not a terminal"):
        await runner(NoPerson()).run(only(OpenListener(reason="The login ended")))


async def test_what_cannot_be_done_is_thrown_into_the_flow() -> None:
    def flow() -> Generator[Action, Any, str]:
        try:
            yield Fetch("GET", "http://plain.example/")
        except FetchFailed as error:
            return error.message
        return ""

    assert "https" in await runner(FakePerson()).run(flow())


async def test_steps_are_recorded_and_secrets_learnt() -> None:
    recorder = FakeRecorder()

    def flow() -> Generator[Action, Any, None]:
        yield RegisterSecret("top-secret")
        yield from record_step("token", "A token came: top-secret.", rule="C-AUTH-31", scope=["a"], again="top-secret")
        yield from record_step("callback", "No.", ok=False, fix="Send another.")

    await runner(FakePerson(), recorder=recorder).run(flow())
    first, second = recorder.journal.events()
    assert (first.fields["rule"], first.fields["facts"]["scope"]) == ("C-AUTH-31", ["a"])
    assert (second.fields["ok"], second.fields["fix"]) == (False, "Send another.")
    assert "top-secret" not in recorder.text()


async def test_the_person_is_asked_what_only_a_person_knows() -> None:
    person = FakePerson()
    person.client = OAuthClient("typed", origin="typed")
    assert await runner(person).run(only(AskClient("https://as.example", "http://127.0.0.1:1/"))) == person.client
    assert (
        await runner(person).run(only(ChooseServer(("https://a.example", "https://b.example")))) == "https://b.example"
    )
    await runner(person).run(only(Show("https://as.example/device", "ABCD", "as.example")))
    assert (person.visits[-1].code, person.visits[-1].redirect_uri) == ("ABCD", "")
    with pytest.raises(AuthorizationNeeded, match="enter a code"):
        await runner(NoPerson()).run(only(Show("https://as.example/device", "ABCD", "as.example")))
    with pytest.raises(AuthorizationNeeded, match="several"):
        await runner(NoPerson()).run(only(ChooseServer(("https://a.example", "https://b.example"))))


async def test_what_is_kept_is_found_again_and_never_recorded(tmp_path: Path) -> None:
    store, recorder = Store(tmp_path / FILE, Memory()), FakeRecorder()
    hands = runner(FakePerson(), store=store, recorder=recorder)
    await hands.run(only(StoreGrant(GRANT.issuer, GRANT.resource, GRANT)))
    await hands.run(only(StoreClient(GRANT.issuer, CLIENT)))
    assert await hands.run(only(LoadGrant(GRANT.server))) == GRANT
    assert await hands.run(only(LoadStoredClient(GRANT.issuer))) == CLIENT
    recorder.auth("token", True, "access-secret refresh-secret client-secret")
    assert "-secret" not in recorder.text()


async def test_what_cannot_be_kept_is_reported_and_no_reason_to_fail(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    person = FakePerson()
    hands = runner(person, store=Store(tmp_path / "file" / FILE, Missing()))
    await hands.run(only(StoreGrant(GRANT.issuer, GRANT.resource, GRANT)))
    (message,) = person.messages
    assert "this session" in message
    assert await runner(person).run(only(LoadGrant(GRANT.server))) is None


async def test_an_error_repeats_no_secret_that_was_met_before_or_meanwhile() -> None:
    def flow() -> Generator[Action, Any, None]:
        yield RegisterSecret("the-newer-secret")
        yield Wait(0)
        raise AuthorizationNeeded("It says: the-older-secret, the-newer-secret", hint="It is dGhlLW9sZGVyLXNlY3JldA==.")

    held = {"the-older-secret"}
    with pytest.raises(AuthorizationNeeded) as caught:
        await runner(FakePerson(), held=held).run(flow())
    assert (caught.value.message, caught.value.hint) == ("It says: …, …", "It is ….")
    assert held == {"the-older-secret", "the-newer-secret"}
