"""`inspector.run_flow`: a flow of saved calls, for programs and tests."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspector.config.settings import Settings
from inspector.config.trust import always
from inspector.errors import UsageError
from inspector.library.opening import open as open_session
from inspector.library.session import parts, running

if TYPE_CHECKING:
    from inspector.calls.results import FlowResult
    from inspector.client.options import Options
    from inspector.config.targets import HttpTarget, StdioTarget
    from inspector.library.apps import InProcess


async def run_flow(
    path: str | os.PathLike[str],
    target: str | Sequence[str] | InProcess | None = None,
    *,
    environment: str | Sequence[str] = (),
    set: Mapping[str, Any] | None = None,
    only: str | Sequence[str] = (),
    bail: bool = False,
    update: bool = False,
    dry_run: bool = False,
    seed: int | None = None,
    record: str | os.PathLike[str] | bool = False,
    **options: Any,
) -> FlowResult:
    """Run the flow in the file `path` in a session of its own, and return what came of it.

    `target` is the server, as `inspector.open` takes it; None: the one that the flow names. `options` are those of
    `inspector.open`; `trust` also allows an environment of a folder that is not the user's own. `environment` names
    environments, `set` gives variables, `only` are globs of step names. `update` writes the files of `same_as`,
    `dry_run` opens the server and sends no call, `seed` makes generated values the same each time. `record`: the file
    to record to, which ends with `.jsonl` and must be new, or a folder; True: the folder in which `inspector` keeps
    recordings.

    A step that fails raises nothing: see `FlowResult.outcome`, and `failure` for a text. Raises `UsageError` for files
    and variables that cannot be used, before anything is sent.
    """
    from inspector.calls.collection import Collection
    from inspector.calls.collection_run import CollectionRun, RunOptions, SessionOpener
    from inspector.calls.recipients import CredentialCheck
    from inspector.calls.variables import Secrets
    from inspector.check.judge.judge import Judge

    if Path(path).is_dir():
        raise UsageError(f"{os.fspath(path)} is a folder.", hint="Name the file of one saved call.")
    collection = Collection.read([path])
    flow = collection.flows[0]
    known: dict[str, Options] = {}

    def server_of(text: str) -> StdioTarget | HttpTarget:
        session = open_session(text if target is None else target, **options)
        server, known["options"] = parts(session)
        if server.kind == "recording":
            raise UsageError(f"{server.describe()} is a recording, and saved calls need a server.")
        return server

    secrets = Secrets()
    place = None if isinstance(record, bool) else Path(record)
    is_file = place is not None and place.suffix == ".jsonl"
    opener = SessionOpener(
        server_of,
        lambda _: known["options"],
        Settings(),
        folder=None if is_file else place,
        file=place if is_file else None,
        record=record is not False,
        judge=Judge,
    )
    globs = [only] if isinstance(only, str) else list(only)
    run = CollectionRun(
        [flow],
        opener,
        secrets,
        RunOptions(
            environments=[
                collection.environment(name)
                for name in ([environment] if isinstance(environment, str) else environment)
            ],
            given=dict(set or {}),
            only=globs,
            bail=bail,
            update=update,
            dry=dry_run,
            seed=seed,
            server="" if target is None else "the server of the program",
        ),
        check_credentials=CredentialCheck(opener.target_of, always if options.get("trust") else None),
    )
    opener.check(run.servers)
    async with running(opener.target(run.servers[flow])):
        return (await run.run()).flows[0]
