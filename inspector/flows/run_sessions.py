"""The sessions of a run: one for each flow, recorded, judged, and closed without the secrets that it brought up."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspector.calls.yaml_text import CallsError
from inspector.client.recording import new_journal
from inspector.client.session import Session
from inspector.config.command_lines import CommandLine, line_of
from inspector.config.output_files import cannot_write, check_free, create_beside
from inspector.config.paths import make_private
from inspector.errors import ConnectionProblem, InspectorError, ServerExited, UsageError
from inspector.flows.collection_run import declared
from inspector.flows.observation import last_line, last_words
from inspector.flows.progress import EventJudge, JudgeOf
from inspector.hints import Hint
from inspector.journal.format import SUFFIX
from inspector.journal.redaction import Redactor
from inspector.transports.withheld import variables_hint

if TYPE_CHECKING:
    from inspector.calls.collection import Flow
    from inspector.calls.variables import Secrets
    from inspector.client.options import Options
    from inspector.config.settings import Settings
    from inspector.config.targets import HttpTarget, StdioTarget

_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9._-]+")


class FlowSession:
    """One open session of a run."""

    def __init__(
        self,
        session: Session,
        findings: EventJudge | None,
        secrets: Secrets,
        live: list[Session],
        ended: Callable[[Session], object] | None = None,
    ) -> None:
        self._live = live
        self._ended = ended
        live.append(session)
        self.session = session
        self.findings = findings
        self._secrets = secrets
        self._known = secrets.known
        self._closed = False

    async def close(self, reason: str) -> None:
        """Close the session and its recording; secrets that came up meanwhile are taken out of the recording."""
        if self._closed:
            return
        self._closed = True
        await self.session.close(reason)
        self._live.remove(self.session)
        if self._ended is not None:
            self._ended(self.session)
        self.session.journal.release()
        new = self._secrets.known - self._known
        path = self.session.journal.path
        if new and path is not None:
            redact_recording(path, new)


class SessionOpener:
    """Opens the sessions of a run."""

    def __init__(
        self,
        server_of: Callable[[str], StdioTarget | HttpTarget],
        options_of: Callable[[StdioTarget | HttpTarget], Options],
        settings: Settings,
        *,
        keep: Path | None = None,
        file: Path | None = None,
        record: bool = True,
        judge: JudgeOf | None = None,
        opened: Callable[[Session], object] | None = None,
        ended: Callable[[Session], object] | None = None,
        line: Callable[[StdioTarget | HttpTarget], CommandLine] | None = None,
    ) -> None:
        """`server_of` says what the text of `server` means. Recordings go to the folder `keep`, that of one flow to
        `file`; else to the state folder, or nowhere without `record`. `opened` is told of each session that is open,
        `ended` of each that is closed. `line` is the command line that examines a target.
        """
        self.server_of = server_of
        self.options_of = options_of
        self.settings = settings
        self.keep = keep
        self.file = file
        self.record = record
        self.judge = judge
        self.opened = opened
        self.ended = ended
        self.line = line or (lambda target: line_of(target, os.environ, "doctor"))
        self._targets: dict[str, StdioTarget | HttpTarget] = {}
        self.live: list[Session] = []
        """The sessions that are not closed."""

    async def __call__(self, flow: Flow, server: str, topics: Collection[str], secrets: Secrets) -> FlowSession:
        target = self.target(server)
        options = self.options_of(target)
        options = replace(options, standing=declared(options.standing, topics))
        label = flow.path.stem
        journal = new_journal(
            target,
            record=self._path(flow) if self.record else None,
            keep=self.record,
            settings=self.settings,
            label=label,
            secrets=secrets.known,
            purpose="run",
        )
        # The recording never has these: they are not among those that it must lose at the end.
        journal.redactor.tell(secrets.add)()
        session = Session(target, journal, options)
        judge = self.judge(journal) if self.judge else None
        made = FlowSession(session, judge, secrets, self.live, self.ended)
        try:
            await session.open()
        except BaseException as error:
            if isinstance(error, InspectorError):
                journal.redactor.error(error)
                error.recording = str(journal.path or "")
            if isinstance(error, ConnectionProblem) and error.connecting:
                if isinstance(error, ServerExited) and (words := last_words(error)):
                    # A report has room for one line.
                    variables = variables_hint(target, error.stderr)
                    error.hint = Hint(last_line(words), " " if variables else "", variables)
                error.hint = error.hint.then(f"To find the cause, run {self.line(target)}")
            await made.close("closed")
            raise
        if self.opened is not None:
            self.opened(session)
        return made

    def target(self, server: str) -> StdioTarget | HttpTarget:
        """The target that a text names, found once. Raises `TargetError`, `ConfigError`, `TrustNeeded`."""
        if server not in self._targets:
            self._targets[server] = self.server_of(server)
        return self._targets[server]

    def check(self, servers: Mapping[Flow, str]) -> None:
        """Find all targets, and make the folder of the recordings, before the first server is opened.

        Raises `CallsError` for a target that a flow names, `TrustNeeded`, and `UsageError` for the folder.
        """
        if self.file is not None:
            check_free(self.file)
        if self.keep is not None and self.record:
            try:
                make_private(self.keep)
            except OSError as error:
                raise cannot_write(self.keep, error) from None
        for flow, server in servers.items():
            self.target_of(flow, server)

    def target_of(self, flow: Flow, server: str) -> StdioTarget | HttpTarget:
        """The target of a flow. Raises `CallsError` for one that the flow names, `UsageError` and `TrustNeeded`."""
        try:
            return self.target(server)
        except CallsError:
            raise
        except UsageError as error:
            if server != flow.model.server:
                raise
            raise flow.error(("server",), f"{error.message.rstrip('.')}.", hint=error.hint) from None

    def kill_now(self) -> None:
        """Kill all servers without waiting."""
        for session in self.live:
            session.kill_now()

    def _path(self, flow: Flow) -> Path | None:
        """The file of the recording; in the folder of recordings, one that does not exist. None: the state folder."""
        if self.keep is None:
            return self.file
        stem = _NOT_IN_A_NAME.sub("-", str(Path(flow.display_path).with_suffix(""))).strip(".-")
        path = self.keep / f"{stem}{SUFFIX}"
        count = 1
        while path.exists():
            count += 1
            path = self.keep / f"{stem}-{count}{SUFFIX}"
        return path


def redact_recording(path: Path, secrets: Collection[str]) -> None:
    """Take secrets out of a finished recording that became known only while it was written."""
    redactor = Redactor(secrets)
    if not redactor.active:
        return
    new, descriptor = create_beside(path)
    changed = False
    try:
        with open(descriptor, "wb") as file, open(path, "rb") as old:
            os.chmod(new, path.stat().st_mode & 0o777)
            for line in old:
                clean = _redacted_line(line, redactor)
                changed = changed or clean != line
                file.write(clean)
        if changed:
            os.replace(new, path)
    finally:
        with suppress(OSError):
            new.unlink()


def _redacted_line(line: bytes, redactor: Redactor) -> bytes:
    text = line.decode("utf-8", "surrogateescape")
    if not redactor.text(text)[1]:
        return line
    try:
        body = json.loads(text)
    except ValueError:
        return redactor.text(text)[0].encode("utf-8", "surrogateescape")
    if isinstance(body, dict) and isinstance(body.get("raw"), str) and body.get("kind") == "rpc":
        body["raw"] = redactor.json(body["raw"])[0]
    body = _redacted(body, redactor)
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass") + b"\n"


def _redacted(value: Any, redactor: Redactor) -> Any:
    if isinstance(value, str):
        return redactor.text(value)[0]
    if isinstance(value, dict):
        return {key: item if key == "format" else _redacted(item, redactor) for key, item in value.items()}
    if isinstance(value, list):
        return [_redacted(item, redactor) for item in value]
    return value
