"""The saved calls of the main screen: saving one, expectations, and runs after a restart."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from textual.screen import Screen

from inspector.calls.collection import Flow
from inspector.calls.results import StepResult
from inspector.calls.snapshots import snapshot_path
from inspector.calls.templates import insert, placeholders
from inspector.calls.writing import (
    SCHEMA,
    append_expectation,
    append_step,
    can_append_expectation,
    create_flow,
    create_text,
    step_text,
)
from inspector.client.state.catalog import KINDS, ListName
from inspector.config.secret_forms import SecretFinder
from inspector.config.trust import Exposure, TrustAnswer
from inspector.errors import InspectorError, UsageError
from inspector.journal.format import Dir
from inspector.journal.query import Query
from inspector.protocol.forms.values import json_of
from inspector.protocol.jsonrpc import Shape
from inspector.text import safe
from inspector.tui.advice import error_text
from inspector.tui.calls.drafts import WritableExpectation, choices, draft_of, file_name, secret_note, server_of
from inspector.tui.calls.rows import ListRow
from inspector.tui.calls.save_dialog import FlowFileChoice, SaveCallDialog
from inspector.tui.calls.saved_calls import NewestRun, SavedCalls
from inspector.tui.calls.steps import PlainStep, item_of, name_of
from inspector.tui.dialogs import Choose
from inspector.tui.themes import signs_now
from inspector.tui.widgets.clipboard import copy
from inspector.tui.widgets.external_editor import edit_file
from inspector.tui.work.answer_changes import difference_texts
from inspector.tui.work.work_items import SavedArguments, WorkItem, label

if TYPE_CHECKING:
    from inspector.calls.progress import EventJudge
    from inspector.client.engine.pending_requests import Call
    from inspector.tui.main.panes import Panes

RECENT = 30
"""Calls of the session that can be saved from the list of calls."""
_WITHOUT_VALUES = ("same shape", "tool error", "same error")
"""The expectations that hold no value of the result."""
_SENT = ("call", "read", "prompt", "args")
"""The keys of a step that have what the form shows."""
_LOOKED_AT = 5000
"""Requests of the session in which calls are looked for, the newest first."""
LOOK_AT_FILES = 1.0
"""Seconds between two looks at the files. (Polled: an editor may replace a folder, or the folder may not exist yet.)"""
_PINNED_CALL_FIRST = 5.0
"""Seconds for which flows wait for the pinned call after a restart."""
_NOTICE_SECONDS = 10
"""Seconds for which a notice stands."""
_LISTS: Mapping[str, ListName] = {"tools/call": "tools", "resources/read": "resources", "prompts/get": "prompts"}


class CallsPart:
    """The saved calls of a screen. It reads them at once where there are any, so that tools show theirs."""

    def __init__(self, screen: Screen[None], panes: Panes, findings: EventJudge, watched: Callable[[], bool]) -> None:
        """`findings` judges the messages of runs; `watched` tells whether a change of a file restarts the server."""
        self._screen = screen
        self._panes = panes
        self.saved: SavedCalls = panes.saved_calls
        self.saved.findings = findings
        self.saved.watched = watched
        self.saved.blanked = panes.messages.read_again
        self.saved.ask = self._ask
        self.saved.listeners.append(self._show_under_items)
        self._shown_for: tuple[object, str] | None = None
        screen.run_worker(self._watch(), group="watch-calls", exit_on_error=False)

    async def _ask(self, exposure: Exposure) -> TrustAnswer:
        from inspector.tui.start.trust import AskTrust

        return await self._screen.app.push_screen_wait(AskTrust(exposure))

    def read(self) -> None:
        """Read the files, in a thread."""
        self._screen.run_worker(self._read, thread=True, group="read-calls", exclusive=True, exit_on_error=False)

    def _read(self) -> None:
        self.saved.read()
        self._screen.app.call_from_thread(self.saved.note_change)

    async def _watch(self) -> None:
        """Read the files again soon after one was changed, made or removed outside."""
        while True:
            await asyncio.sleep(LOOK_AT_FILES)
            if await asyncio.to_thread(self.saved.read_if_changed):
                self.saved.note_change()

    def _show_under_items(self) -> None:
        """Let the forms offer the saved calls of their items."""
        shown_for = (self.saved.collection, self.saved.environment)
        if shown_for == self._shown_for:
            return
        self._shown_for = shown_for
        saved_arguments: dict[tuple[str, str], list[SavedArguments]] = {}
        for flow in self.saved.flows:
            values = self.saved.plain_values(flow)
            for number, step in enumerate(self.saved.steps(flow), 1):
                item = item_of(step)
                if item is not None:
                    where = (flow.path, number)
                    arguments = inserted(step.get("args") or {}, values)
                    key = (item[0], str(inserted(item[1], values)))
                    own = step.get("name") or label(arguments)
                    label_shown = safe(f"{flow.path.stem} {signs_now().crumb} {own}", 40)
                    saved_arguments.setdefault(key, []).append(SavedArguments(arguments, label_shown, where))
        self._panes.work.request.show_saved(saved_arguments)

    # What the cursor of the tab is on

    def show_row(self, row: ListRow | None) -> None:
        """Show what the cursor of the list is on, beside it; the log shows the messages of its run."""
        flow, messages = self._panes.flow, self._panes.messages
        if flow is not None:
            flow.show(row)
        run = self.saved.run_of(row.path) if row is not None and row.path is not None else None
        messages.show_run(run.filter if run is not None else "")
        if run is not None and row is not None:
            self.look_at(run.message_of(row.number or run.worst_step))

    def look_at(self, n: int) -> None:
        """Select a message in the log, where the log is shown."""
        messages = self._panes.messages
        if n and messages.is_on_screen:
            messages.look_at(n)

    # Saving a call

    def save(self, list_name: ListName, address: str, arguments: Any, schema: Any) -> None:
        """Ask for name and file, and save a call."""
        self._screen.run_worker(self._save(list_name, address, arguments, schema), group="dialog", exclusive=True)

    def _secrets(self) -> list[str]:
        """Return the values that are never written."""
        target: Any = self.saved.session.target
        return [*getattr(target, "secrets", ()), *self.saved.secrets()]

    async def _save(
        self,
        list_name: ListName,
        address: str,
        arguments: Any,
        schema: Any,
        expect: Mapping[str, Any] | None = None,
        snapshot: tuple[str, str] | None = None,
        name: str = "",
    ) -> None:
        await asyncio.to_thread(self.saved.read)
        saved = self.saved
        flow = self._chosen_flow()
        draft = draft_of(
            list_name,
            address,
            arguments,
            schema,
            saved.plain_values(flow),
            self._secrets(),
            named=saved.named_secrets(),
            taken={name for environment in saved.environments.values() for name in environment.references},
            templates=self._templates(),
        )
        draft.expect, draft.name = expect, name
        folder = saved.path_text(saved.folder)
        files = [
            FlowFileChoice(
                saved_flow.path,
                saved.path_text(saved_flow.path),
                len(saved_flow.model.steps),
                saved.other_server(saved_flow),
            )
            for saved_flow in saved.flows
        ]
        new_name = self._new_name(address)
        suggested = saved.path_text(flow.path) if flow is not None else new_name
        chosen = await self._screen.app.push_screen_wait(SaveCallDialog(draft, files, suggested, new_name, folder))
        if chosen is None:
            return
        step = draft.step(chosen.name, chosen.variables)
        schema_file = chosen.path.with_name(SCHEMA)
        has_schema = schema_file.exists()
        try:
            line = await asyncio.to_thread(self._write, chosen.path, step, snapshot)
        except InspectorError as error:
            self._screen.notify(
                error_text(error, self._screen), severity="error", timeout=_NOTICE_SECONDS, markup=False
            )
            return
        where = f"{saved.path_text(chosen.path)}:{line}"
        note = f" {secret_note(draft.secrets, Path(folder, 'env', 'NAME.yaml'))}" if draft.secrets else ""
        if not has_schema and schema_file.exists():
            note += f" Editors check it by {saved.path_text(schema_file)}, written beside it."
        self._screen.notify(f"Saved to {where}.{note}", timeout=_NOTICE_SECONDS, markup=False)
        await asyncio.to_thread(saved.read)
        saved.note_change()
        made = next((flow for flow in saved.flows if flow.path.absolute() == chosen.path.absolute()), None)
        if made is not None:
            self._panes.work.request.came_from(made.path, len(made.steps))

    def _templates(self) -> dict[str, str]:
        """Return the texts of saved steps that insert a variable without a value, by what the form shows."""
        texts: dict[str, str] = {}
        for flow in self.saved.flows:
            values = self.saved.plain_values(flow)
            for step in () if self.saved.other_server(flow) else self.saved.steps(flow):
                for text in _texts([value for key, value in step.items() if key in _SENT]):
                    if any(placeholder.name not in values for placeholder in placeholders(text)):
                        texts.setdefault(str(inserted(text, values)), text)
        return texts

    def _chosen_flow(self) -> Flow | None:
        """Return the flow that the cursor of the tab is on, else the only one; never one of another server."""
        saved, calls = self.saved, self._panes.calls
        place = calls.place if calls is not None else None
        own = [flow for flow in saved.flows if not saved.other_server(flow)]
        if place is not None and place.flow is not None and (chosen := saved.flow(place.path)) in own:
            return chosen
        return own[0] if len(own) == 1 else None

    def _new_name(self, address: str) -> str:
        """Return a name of the folder that no file has."""
        path = self.saved.folder / file_name(address)
        stem, number = path.stem, 2
        while path.exists():
            path, number = path.with_name(f"{stem}-{number}.yaml"), number + 1
        return self.saved.path_text(path)

    def _write(self, path: Path, step: PlainStep, snapshot: tuple[str, str] | None) -> int:
        """Append a step to a flow, or write a new flow with it. Returns the line of the step."""
        if snapshot is not None:
            create_text(snapshot_path(path, snapshot[0]), snapshot[1])
        if path.exists():
            return append_step(path, step)
        create_flow(path, server=server_of(self.saved.session.target), steps=[step])
        lines = path.read_text(encoding="utf-8").splitlines()
        return next((at for at, line in enumerate(lines, 1) if line.startswith("  - ")), 1)

    def new_from_call(self) -> None:
        """Choose a call that this session made, and save it."""
        self._screen.run_worker(self._new_from_call(), group="dialog", exclusive=True)

    async def _new_from_call(self) -> None:
        recent = self._recent_calls()
        if not recent:
            self._screen.notify("This session made no call yet.", timeout=5)
            return
        chosen = await self._screen.app.push_screen_wait(
            Choose("Save a call of this session", [(word, text) for word, text, _ in recent])
        )
        call = next((call for word, _, call in recent if word == chosen), None)
        if call is not None:
            list_name, address, arguments = call
            tool = self.saved.session.catalog[list_name].get(address) or {}
            await self._save(list_name, address, arguments, tool.get("inputSchema"))

    def _recent_calls(self) -> list[tuple[str, str, tuple[ListName, str, Any]]]:
        """Return the newest calls, each once: a word for the menu, what was sent, and the call."""
        journal = self.saved.session.journal
        calls: list[tuple[str, str, tuple[ListName, str, Any]]] = []
        seen: set[str] = set()
        for n in islice(Query(shape=Shape.REQUEST, dir=Dir.SEND).backwards(journal.index), _LOOKED_AT):
            list_name = _LISTS.get(journal.index.method(n))
            if list_name is None:
                continue
            message = journal.event(n).message
            params = message.get("params") if isinstance(message, dict) else None
            address = params.get(KINDS[list_name].id_field) if isinstance(params, dict) else None
            if not isinstance(address, str) or not isinstance(params, dict):
                continue
            arguments = params.get("arguments") or {}
            text = f"{address}  {json_of(arguments) if arguments else ''}".rstrip()
            if text not in seen:
                seen.add(text)
                calls.append((f"#{n}", safe(text, 200), (list_name, address, arguments)))
            if len(calls) == RECENT:
                break
        return calls

    # Expectations

    def expect(self, work: WorkItem, pointer: str | None) -> None:
        """Choose an expectation that the result of an item fulfils, and write it."""
        self._screen.run_worker(self._expect(work, pointer), group="dialog", exclusive=True)

    async def _expect(self, work: WorkItem, pointer: str | None) -> None:
        app, journal = self._screen.app, self.saved.session.journal
        answer = work.answer
        if answer is None:
            return
        address = work.catalog_item.address
        value = answer.value(journal)
        offered = choices(answer.outcome, value, pointer, address)
        if _holds_secret(offered, self._secrets()):
            offered = [option for option in offered if option.id in _WITHOUT_VALUES]
            self._screen.notify("The result holds a secret: only its shape can be written.", timeout=_NOTICE_SECONDS)
        if not offered:
            self._screen.notify("The call has no result to expect.", severity="warning", timeout=5)
            return
        chosen = await app.push_screen_wait(
            Choose("Expect of this result", [(option.id, option.about) for option in offered])
        )
        choice = next((option for option in offered if option.id == chosen), None)
        if choice is None:
            return
        flow = self.saved.flow(work.saved_in[0]) if work.saved_in is not None else None
        name = ""
        if flow is not None and work.saved_in is not None and work.saved_in[1] <= len(flow.steps):
            number = work.saved_in[1]
            line = flow.line_of_step(number)
            where = f"{self.saved.path_text(flow.path)}:{line}"
            offers = [
                (
                    "new step",
                    f"add the call again at the end of {self.saved.path_text(flow.path)}, with the expectation",
                ),
                ("editor", f"copy the expectation and open {where} in $EDITOR"),
            ]
            title = "Lines that are in a file are never changed"
            if await asyncio.to_thread(self._can_take, flow, number, work, choice):
                title = "Where to write the expectation"
                offers.insert(0, ("this step", f"append it to the step that is at {where}"))
            how = await app.push_screen_wait(Choose(title, offers))
            if how == "this step":
                await self._append_expectation(flow, number, choice)
                return
            if how == "editor":
                text = "".join(line[2:] + "\n" for line in step_text({"expect": dict(choice.expect)}).splitlines())
                copy(self._screen, text.replace("- expect", "  expect", 1), "the expectation")
                await self._edit(flow.path, line)
                return
            if how is None:
                return
            name = f"{name_of(self.saved.steps(flow)[number - 1])} {choice.id}"
        sent = work.sent if work.catalog_item.list_name != "templates" else {}
        list_name, address = work.catalog_item.saved_as(work.sent)
        await self._save(list_name, address, sent, work.catalog_item.schema, choice.expect, choice.snapshot, name)

    def _can_take(self, flow: Flow, number: int, work: WorkItem, choice: WritableExpectation) -> bool:
        """Whether a saved step made this call, and the expectation can be appended to it."""
        step = self.saved.steps(flow)[number - 1]
        item, run = item_of(step), self.saved.run_of(flow.path)
        values = {**self.saved.plain_values(flow), **(run.captured if run is not None else {})}
        list_name, address = work.catalog_item.saved_as(work.sent)
        sent = work.sent if work.catalog_item.list_name != "templates" else {}
        is_same = item is not None and (item[0], str(inserted(item[1], values))) == (list_name, address)
        return (
            is_same
            and inserted(step.get("args") or {}, values) == (sent or {})
            and can_append_expectation(flow.path, number, choice.expect)
        )

    async def _append_expectation(self, flow: Flow, number: int, choice: WritableExpectation) -> None:
        def write() -> int:
            if choice.snapshot is not None:
                create_text(snapshot_path(flow.path, choice.snapshot[0]), choice.snapshot[1])
            return append_expectation(flow.path, number, choice.expect)

        try:
            line = await asyncio.to_thread(write)
        except InspectorError as error:
            self._screen.notify(
                error_text(error, self._screen), severity="error", timeout=_NOTICE_SECONDS, markup=False
            )
            return
        self._screen.notify(
            f"Saved to {self.saved.path_text(flow.path)}:{line}.", timeout=_NOTICE_SECONDS, markup=False
        )
        await asyncio.to_thread(self.saved.read)
        self.saved.note_change()

    async def _edit(self, path: Path, line: int) -> None:
        try:
            await edit_file(self._screen.app, path, line)
        except UsageError as error:
            self._screen.notify(error_text(error, self._screen), severity="error", markup=False)
        self.read()

    # After a restart

    def restarted(self) -> None:
        """Run again what was chosen for it, and say what is different."""
        self._screen.run_worker(self._restarted(), group="saved-calls", exclusive=True, exit_on_error=False)

    async def _restarted(self) -> None:
        saved = self.saved
        call = self._panes.work.sending.send_pinned()
        await asyncio.to_thread(saved.read)
        saved.note_change()
        flows = [flow for flow in saved.flows if flow.path in saved.pinned]
        before = {flow.path: saved.run_of(flow.path) for flow in flows}
        # The messages of the pinned call are not those of a run.
        if call is not None:
            await asyncio.wait({asyncio.create_task(_until_over(call))}, timeout=_PINNED_CALL_FIRST)
        await saved.run(flows)
        for flow in flows:
            old, new = before[flow.path], saved.runs.get(flow.path)
            if old is not None and new is not None and old is not new:
                saved.changes[flow.path] = await asyncio.to_thread(self._changes, old, new)
                self._tell_outcome(flow, old, new)
        saved.note_change()

    def _changes(self, old: NewestRun, new: NewestRun) -> dict[int, list[str]]:
        changes: dict[int, list[str]] = {}
        for number, results in new.steps.items():
            for one, other in zip(old.steps.get(number, ()), results, strict=False):
                texts = difference_texts(self._result_of(one), self._result_of(other))
                if texts:
                    changes.setdefault(number, []).extend(texts)
        return changes

    def _result_of(self, step: StepResult) -> Any:
        journal = self.saved.session.journal
        message = journal.event(step.answer).message if 0 < step.answer <= journal.index.count else None
        if not isinstance(message, dict):
            return None
        return message.get("result", message.get("error"))

    def _tell_outcome(self, flow: Flow, old: NewestRun, new: NewestRun) -> None:
        path_text = self.saved.path_text(flow.path)
        if old.outcome == "passed" and new.outcome == "failed":
            number = next((number for number in new.steps if new.outcome_of(number) == "failed"), 0)
            step = f" at step {number} {name_of(self.saved.steps(flow)[number - 1])}" if number else ""
            new.turned = f"passed before the restart, and fails now{step}"
            severity: Literal["error", "information"] = "error"
        elif old.outcome == "failed" and new.outcome == "passed":
            new.turned, severity = "failed before the restart, and passes now", "information"
        else:
            return
        message = safe(f"{path_text} {new.turned}.", 300)
        self._screen.notify(message, severity=severity, timeout=_NOTICE_SECONDS, markup=False)


async def _until_over(call: Call) -> None:
    with suppress(InspectorError):
        await call.result()


def _holds_secret(offered: Sequence[WritableExpectation], secrets: Sequence[str]) -> bool:
    """Whether what would be written holds a secret in any of its forms."""
    text = "\n".join(
        f"{json_of(dict(expectation.expect))}\n{expectation.snapshot[1] if expectation.snapshot else ''}"
        for expectation in offered
    )
    return any(secret and secret in text for secret in secrets) or bool(SecretFinder(secrets).places(text))


def inserted(value: Any, values: Mapping[str, Any]) -> Any:
    """Return a value of a step with the variables inserted that are known without a run; other `{{name}}` stay."""
    if isinstance(value, Mapping):
        return {key: inserted(item, values) for key, item in value.items()}
    if isinstance(value, list):
        return [inserted(item, values) for item in value]
    if not isinstance(value, str):
        return value
    return insert(value, lambda placeholder: values.get(placeholder.name, placeholder.written))


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts of a step in which variables may be inserted."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(item)
