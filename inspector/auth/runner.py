"""Performs a flow's actions: fetches, the browser, questions, the store; and records each step."""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from inspector.auth import authorization_code, browser, url_checks
from inspector.auth.actions import (
    Action,
    AskClient,
    AuthFlow,
    ChooseServer,
    Denied,
    Fetch,
    HoldRenewalLock,
    LoadGrant,
    LoadStoredClient,
    OpenListener,
    RecordStep,
    RegisterSecret,
    Show,
    StoreClient,
    StoreGrant,
    TimedOut,
    VisitPage,
    Wait,
)
from inspector.auth.fetching import NAME_IT, Fetcher, HttpSender, Recorder
from inspector.auth.person import LoginPage, Person, person_required
from inspector.auth.store import Store
from inspector.auth.token_endpoint import MIN_SECRET
from inspector.config import paths
from inspector.config.secret_forms import BEGINNING, SecretFinder
from inspector.errors import AuthorizationNeeded, ConfigError, InspectorError
from inspector.hints import Hint, Parameter
from inspector.system.files import open_file, try_lock
from inspector.text import quantity, sentences

WAIT_SECONDS = 30.0
"""Maximum seconds to wait for the lock; a token endpoint responds sooner, or not at all."""
_POLL_SECONDS = 0.02


class Lock:
    """A process's lock on a file. Not for two tasks of one process."""

    def __init__(self, path: Path) -> None:
        """`path` is created if missing, and stays: it is empty."""
        self._path = path
        self._descriptor = -1

    async def acquire(self, seconds: float = WAIT_SECONDS) -> bool:
        """Acquire the lock. False if it timed out or locks are not supported: the caller continues without."""
        if self._descriptor >= 0:
            return True
        try:
            paths.private_folder(self._path.parent)
            descriptor = open_file(self._path, os.O_RDWR | os.O_CREAT)
        except (OSError, ConfigError):
            return False
        try:
            async with asyncio.timeout(seconds):
                # Only a blocked thread learns that a lock is free, and it cannot be cancelled, so this polls.
                while self._descriptor < 0:
                    if try_lock(descriptor):
                        self._descriptor = descriptor
                    else:
                        await asyncio.sleep(_POLL_SECONDS)
        except (TimeoutError, OSError):
            pass
        finally:
            if self._descriptor < 0:
                os.close(descriptor)
        return self._descriptor >= 0

    def release(self) -> None:
        """Release the lock. Idempotent."""
        if self._descriptor >= 0:
            with suppress(OSError):
                os.close(self._descriptor)
            self._descriptor = -1


T = TypeVar("T")

LOGIN_SECONDS = 600.0
"""Timeout in seconds for a complete login, including the person's part, unless one is given."""
REJECTIONS_TOLD = 3
"""Rejected redirects of one reason that are recorded and shown; further ones are only counted."""
STORE_SECONDS = 120.0
"""Timeout in seconds for the user to unlock the keyring."""
MAX_PASTED = 1 << 16
MAX_PASTES = 3
"""Times that the redirect URL may be pasted."""
MAX_LINES = 100
"""Lines that a login reads: more do not come from a person."""
MAX_PAGE = 8000
"""Maximum characters of a URL to visit: a longer one could not be shown complete."""


class FlowRunner:
    """Runs flows on behalf of one MCP server, one at a time."""

    def __init__(
        self,
        server: str,
        *,
        web: HttpSender,
        person: Person,
        store: Store | None,
        recorder: Recorder,
        open_browser: bool | None = None,
        client_id: str = "",
        opener: Callable[[str], Awaitable[str]] = browser.open_browser,
        held: set[str] | None = None,
        seconds: float | None = None,
        login_timeout: float | None = None,
    ) -> None:
        """`server` is its URL; `store` None stores nothing; `open_browser` None asks the person, False never opens.

        With a `client_id`, a grant to another client is not loaded from the store. `held` is the set of known secrets;
        new ones are added. No error that is raised contains one. `seconds` is the timeout of each request, and of the
        browser without a person; `login_timeout` is the timeout of the browser and of the whole login.
        """
        self._fetcher = Fetcher(server, web, recorder, seconds)
        self._person = person
        self._store = store
        self._recorder = recorder
        self._open_browser = open_browser
        self._client_id = client_id
        self._opener = opener
        self._held = set() if held is None else held
        self._callback: browser.Callback | None = None
        self._seconds = seconds
        self._login_timeout = login_timeout
        self._rejected: Counter[str] = Counter()
        """The redirects of each reason that were rejected."""
        self._lines = 0
        self._lock: Lock | None = None
        self._ends = 0.0
        """The deadline of the running flow, in seconds since 1970."""

    async def run(self, flow: AuthFlow[T]) -> T:
        """Run a flow to its end and return its result. Raises what it raises, and `TimedOut`.

        May be cancelled at any time; no listener and no question remains.
        """
        ok = False
        try:
            result = await self._steps(flow)
            ok = True
        except InspectorError as error:
            self._redact(error)
            raise
        finally:
            flow.close()
            self._release_lock()
            await self._stop_listening()
            await self._person.done(ok)
        return result

    async def _steps(self, flow: AuthFlow[T]) -> T:
        answer: Any = None
        problem: InspectorError | None = None
        seconds = self._login_timeout or LOGIN_SECONDS
        self._ends = time.time() + seconds
        deadline: float | None = asyncio.get_running_loop().time() + seconds
        while True:
            try:
                action = flow.send(answer) if problem is None else flow.throw(problem)
            except StopIteration as done:
                result: T = done.value
                return result
            answer, problem = None, None
            try:
                async with asyncio.timeout_at(deadline):
                    answer = await self._perform(action)
            except InspectorError as error:
                problem = error
            except TimeoutError:
                problem = self._too_late("The login was not completed", seconds)
                deadline = None  # What is left for the flow is to record it and to forget.

    async def _perform(self, action: Action) -> Any:
        match action:
            case RecordStep():
                self._recorder.auth(
                    action.step, action.ok, action.text, rule=action.rule, fix=action.fix, facts=dict(action.facts)
                )
            case RegisterSecret():
                self._learn(action.value)
            case Fetch():
                return await self._fetcher(action)
            case OpenListener():
                return await self._listen(action)
            case VisitPage():
                return await self._visit(action)
            case Show():
                if not self._person.present:
                    raise person_required("A person must enter a code", self._person)
                url = await self._shown_url(action.complete or action.url, action.named)
                await self._person.show(
                    LoginPage(url, action.host, code=action.code, until=self._until(action.seconds or LOGIN_SECONDS))
                )
            case Wait():
                await self._wait(action.seconds)
            case AskClient():
                return await self._person.client_for(action.issuer, action.redirect_uri)
            case ChooseServer():
                return await self._person.choose(action.issuers)
            case StoreGrant() | StoreClient() | LoadGrant() | LoadStoredClient():
                return await self._stored(action)
            case HoldRenewalLock():
                await self._hold_lock(action)
        return None

    async def _wait(self, seconds: float) -> None:
        """Wait, unless the person cancels; other input is ignored."""
        try:
            async with asyncio.timeout(seconds) as waiting:
                while True:
                    await self._line()
        except TimeoutError:
            if not waiting.expired():
                raise

    async def _line(self) -> str:
        """Return what the person types next. Raises `Denied` after more lines than a person types."""
        self._lines += 1
        if self._lines > MAX_LINES:
            raise Denied(f"The login was cancelled after {MAX_LINES} lines of input.", hint="Log in again.")
        return (await self._person.pasted()).strip()

    # The store

    async def _hold_lock(self, action: HoldRenewalLock) -> None:
        self._release_lock()
        if action.issuer and self._store is not None:
            self._lock = Lock(self._store.lock_path(action.issuer, action.resource))
            await self._lock.acquire()

    def _release_lock(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    async def _stored(self, action: StoreGrant | StoreClient | LoadGrant | LoadStoredClient) -> Any:
        """Access the store. A missing value or a failed write does not fail the login."""
        store = self._store
        if store is None:
            return None
        try:
            match action:
                case LoadGrant():
                    grant = await self._in_thread(store.grant, action.server, action.issuer, action.resource)
                    if grant is None or self._client_id not in ("", grant.client.client_id):
                        return None
                    self._learn(grant.access_token, grant.refresh_token, grant.key, grant.client.client_secret)
                    return grant
                case LoadStoredClient():
                    client = await self._in_thread(store.client, action.issuer)
                    if client is not None:
                        self._learn(client.client_secret)
                    return client
                case StoreGrant():
                    await self._in_thread(store.keep, action.issuer, action.resource, action.grant)
                case StoreClient():
                    await self._in_thread(store.keep_client, action.issuer, action.client)
        except InspectorError as error:
            self._person.say(sentences(error.message, error.hint))
        return None

    async def _in_thread(self, work: Callable[..., T], *words: Any) -> T:
        """A keyring may wait for its user for ever: on a timeout the thread is abandoned."""
        thread = ThreadPoolExecutor(1, "inspector-store")
        try:
            async with asyncio.timeout(STORE_SECONDS):
                return await asyncio.get_running_loop().run_in_executor(thread, work, *words)
        except TimeoutError:
            raise InspectorError(
                f"The keyring did not answer within {STORE_SECONDS / 60:g} minutes.",
                hint=(
                    "It may show its password prompt on another screen. Set PYTHON_KEYRING_BACKEND to use another "
                    "keyring."
                ),
            ) from None
        finally:
            thread.shutdown(wait=False)

    def _learn(self, *secrets: str) -> None:
        for secret in filter(None, secrets):
            self._held.add(secret)
            self._recorder.secret(secret)

    def _redact(self, error: InspectorError) -> None:
        """Remove secrets from an error: a server may echo its request."""
        error.message = self._without_secrets(error.message)
        error.hint = error.hint.mapped(self._without_secrets)

    def _without_secrets(self, text: str) -> str:
        held = SecretFinder(secret for secret in self._held if len(secret) >= MIN_SECRET)
        return held.replaced(text, "…", cut=BEGINNING)

    def _until(self, seconds: float) -> float:
        """Return the deadline for a wait of `seconds`, in seconds since 1970."""
        return min(time.time() + seconds, self._ends)

    # The browser

    async def _listen(self, action: OpenListener) -> str:
        if not self._person.present and self._open_browser is not True:
            # Checked before a client is registered in vain.
            raise person_required(action.reason or "A person must log in", self._person)
        await self._stop_listening()
        self._callback = await browser.listen(action.redirect_uri, fixed=action.fixed)
        return self._callback.redirect_uri if self._callback is not None else action.redirect_uri

    async def _stop_listening(self) -> None:
        if self._callback is not None:
            await self._callback.close()
            self._callback = None

    async def _visit(self, visit: VisitPage) -> str:
        try:
            return await self._visited(visit)
        except asyncio.CancelledError:
            if visit.doubtful and self._store is not None:
                # The person may have seen that the server does not know the client any more; the server shows that only
                # there.
                with suppress(InspectorError):
                    self._store.keep_client(visit.doubtful, None)
            raise

    async def _shown_url(self, url: str, named: bool) -> str:
        """Return the URL of a page. Raises `Denied` for one that must not be opened (C-AUTH-27)."""
        url = _browser_url(url)
        if reason := await self._fetcher.refuses_page(url, named):
            raise Denied(f"Invalid login URL: {reason}. The page is not opened.", hint=NAME_IT)
        return url

    async def _visited(self, visit: VisitPage) -> str:
        url = await self._shown_url(visit.url, visit.named)
        opened, problem = False, ""
        if self._callback is not None:
            self._callback.expect(lambda back: authorization_code.mismatch(back, visit.state), self._redirect_rejected)
        opens = self._open_browser
        if opens is None:
            # The person may have opened the URL that the question shows.
            answer = await self._first_of(self._person.consent(url, visit.host, self._ends))
            if isinstance(answer, str):
                return answer
            opens = answer
            if opens is False:
                raise Denied(
                    f"Opening a browser on {visit.host} was declined.",
                    hint=Hint(Parameter.NO_BROWSER, " shows the URL instead, and accepts the pasted redirect URL."),
                )
        if opens:
            problem = await self._opener(url)
            opened = not problem
        if not opened and not self._person.present:
            raise AuthorizationNeeded(
                f"{problem} Without a terminal, the URL cannot be shown.",
                hint=Hint("Log in with ", Parameter.LOGIN, " on a terminal."),
            )
        if problem:
            self._person.say(problem)
        # A program that runs without a person expects an end within the timeout of its requests.
        seconds = None if self._person.present or self._login_timeout else self._seconds
        until = self._ends if seconds is None else self._until(seconds)
        await self._person.show(LoginPage(url, visit.host, opened, redirect_uri=visit.redirect_uri, until=until))
        return await self._came_back(visit, seconds)

    async def _came_back(self, visit: VisitPage, seconds: float | None) -> str:
        """Wait for the browser or for a pasted URL, whichever is first; None: until the login times out."""
        back = await self._first_of(self._pasted(visit), seconds)
        if back is None:
            assert seconds is not None
            raise self._too_late("The browser did not come back", seconds)
        return back

    async def _first_of(self, work: Coroutine[Any, Any, T], seconds: float | None = None) -> T | str | None:
        """Return the result of the work, or the redirect of the browser if it comes before; None after `seconds`."""
        waiting: list[asyncio.Future[Any]] = [asyncio.ensure_future(work)]
        if self._callback is not None:
            waiting.append(asyncio.ensure_future(self._callback.wait()))
        try:
            done, _ = await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
        return next((task.result() for task in waiting if task in done), None)

    def _too_late(self, what: str, seconds: float) -> TimedOut:
        message = f"{what} within {seconds:g} s."
        if self._rejected:
            redirects = quantity(self._rejected.total(), "redirect")
            message += f" Inspector rejected {redirects}: the last one {next(reversed(self._rejected))}."
        return TimedOut(message, hint=Hint("Log in again, or allow more time with ", Parameter.LOGIN_TIMEOUT, "."))

    def _redirect_rejected(self, back: str, reason: str) -> None:
        came = ", ".join(authorization_code.came_with(back))
        how = f" with {came}" if came else ""
        self._reject(back, reason, f"Rejected a redirect{how}: it {reason}. Inspector is still waiting.")

    def _reject(self, back: str, reason: str, text: str) -> None:
        """Record and show the rejection of a redirect or a pasted URL, up to a limit for each reason."""
        count = self._rejected.pop(reason, 0) + 1
        self._rejected[reason] = count  # The last reason is the last key.
        if count > REJECTIONS_TOLD:
            return
        self._recorder.auth(
            "callback",
            False,
            text,
            rule="C-AUTH-22",
            fix=authorization_code.STATE_HINT,
            facts={"came_with": authorization_code.came_with(back)},
        )
        self._person.rejected(self._without_secrets(text))

    async def _pasted(self, visit: VisitPage) -> str:
        """Return the redirect URL that the person pastes. Raises `Denied` after `MAX_PASTES` wrong ones."""
        wrong = 0
        while True:
            text = await self._line()
            if not text:
                continue
            if len(text) > MAX_PASTED or not text.startswith(visit.redirect_uri):
                reason = f"does not start with the redirect URI {visit.redirect_uri}"
            elif not (reason := authorization_code.mismatch(text, visit.state)):
                return text
            wrong += 1
            if wrong == MAX_PASTES:
                raise Denied(
                    f"{MAX_PASTES} pasted URLs were rejected. The last one {reason}.",
                    hint="Log in again, and paste the whole address that the browser shows at the end.",
                )
            self._reject(text, reason, f"Rejected the pasted URL (try {wrong} of {MAX_PASTES}): it {reason}.")


def _browser_url(url: str) -> str:
    """Return a URL for a browser: https, or http on this machine. Raises `Denied` for any other (C-AUTH-27)."""
    try:
        # The query may be long, and only its characters are checked.
        url_checks.secure(url.partition("?")[0])
        if len(url) > MAX_PAGE:
            raise ValueError(f"it is {len(url)} characters long")
        if not url.isascii() or not url.isprintable() or " " in url:
            raise ValueError("it contains characters that are not allowed in a URL")
    except ValueError as error:
        raise Denied(f"Invalid login URL: {error}. The page is not opened.") from None
    return url
