"""The verbs of saved calls, which the list and the steps of a flow share."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from textual.message import Message
from textual.worker import Worker

from inspector.calls.collection import Flow
from inspector.errors import UsageError
from inspector.text import quantity, safe
from inspector.tui.advice import error_text
from inspector.tui.calls.saved_calls import SavedCalls
from inspector.tui.dialogs import Choose
from inspector.tui.model.calls import CALLS_VERBS, CallsFacts
from inspector.tui.pane_keys import VerbsByRules, hints
from inspector.tui.pane_messages import ShowFiltered
from inspector.tui.widgets.external_editor import edit_file

_NAMED = 3
"""Flows that a notice names."""
_NONE = "none"
NOT_WATCHED = "The server does not restart yet: choose “watch files” in the palette, or start with --watch."


class CursorPlace(NamedTuple):
    """Where the cursor is: a file with a line, and in a flow the number of a step or 0."""

    path: Path
    line: int = 0
    flow: Flow | None = None
    number: int = 0


class CallsChanged(Message):
    """There is something new to show of the saved calls."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, CallsChanged)


class NewFromCall(Message):
    """Save a call of this session."""


class CallsActions(VerbsByRules):
    """A pane about saved calls: `place` says what the keys are about."""

    RULES = CALLS_VERBS
    saved: SavedCalls

    @property
    def place(self) -> CursorPlace | None:
        """Return the file, and the step, that the keys act on."""
        raise NotImplementedError

    def go_to_failure(self, by: int) -> None:
        """Go to the next failure, or to the previous one for -1."""
        raise NotImplementedError

    @property
    def _live(self) -> bool:
        session = self.saved.session
        return session.commands is not None and session.phase == "ready"

    def verb_facts(self) -> CallsFacts:
        """Return the facts on which the verbs depend."""
        saved, place = self.saved, self.place
        flow = place.flow if place is not None else None
        return CallsFacts(
            live=saved.session.commands is not None,
            ready=self._live,
            running=saved.running is not None,
            flows=bool(saved.flows),
            environments=bool(saved.environments),
            failures=bool(saved.errors)
            or any(run is not None and run.outcome == "failed" for run in map(saved.run_of, saved.runs)),
            file=place is not None,
            flow=flow is not None,
            pinned=place is not None and place.path in saved.pinned,
            messages=flow is not None and bool(self._filter_of(flow)),
        )

    def _filter_of(self, flow: Flow) -> str:
        run = self.saved.run_of(flow.path)
        return run.filter if run is not None else ""

    def action_run(self) -> None:
        """Run the step under the cursor, or the flow."""
        place = self.place
        if place is not None and place.flow is not None:
            self._run([place.flow], place.number)

    def action_run_all(self) -> None:
        """Run all flows, without those of other servers."""
        self._run(None, 0)

    def _run(self, flows: list[Flow] | None, number: int) -> None:
        if self._live and self.saved.running is None:
            # Of the screen, and not of a pane: the run goes on while another tab is shown.
            self.screen.run_worker(
                self._run_and_tell(flows, number), group="saved-calls", exclusive=True, exit_on_error=False
            )

    async def _run_and_tell(self, flows: list[Flow] | None, number: int) -> None:
        problem = await self.saved.run(flows, number)
        if problem:
            self.notify(problem, severity="warning", timeout=8, markup=False)
        ran = self.saved.flows_to_run()
        left_out = [flow for flow in self.saved.flows if flow not in ran]
        if flows is None and left_out:
            self._tell_left_out(left_out)

    def _tell_left_out(self, flows: list[Flow]) -> None:
        """Name the flows that “run all” skipped, and their servers: one may be this server in another spelling."""
        names = [
            f"{self.saved.path_text(flow.path)} (server: {safe(self.saved.other_server(flow), 60)})" for flow in flows
        ]
        named = ", ".join(names[:_NAMED])
        if len(names) > _NAMED:
            named += f" and {quantity(len(names) - _NAMED, 'other saved call')}"
        keys = " ".join(f"{hint.label} on a saved call runs it here." for hint in hints(self, "calls.run"))
        text = f"Not run, because the server is not {safe(self.saved.session.target.label, 60)}: {named}. {keys}"
        self.notify(text.strip(), severity="warning", timeout=10, markup=False)

    def _stop(self) -> bool:
        """Stop the run; False where nothing runs."""
        if self.saved.running is None:
            return False
        workers: list[Worker[object]] = [worker for worker in self.screen.workers if worker.group == "saved-calls"]
        for worker in workers:
            worker.cancel()
        return True

    def action_edit(self) -> None:
        """Open the file in the user's editor, at the line."""
        place = self.place
        if place is not None:
            self.screen.run_worker(self._edit(place), group="editor", exclusive=True, exit_on_error=False)

    async def _edit(self, place: CursorPlace) -> None:
        try:
            await edit_file(self.app, place.path, place.line)
        except UsageError as error:
            self.notify(error_text(error, self), severity="error", markup=False)
        self.read_again()

    def read_again(self) -> None:
        """Read the files again."""
        self.screen.run_worker(self._read, thread=True, group="read-calls", exclusive=True, exit_on_error=False)

    def _read(self) -> None:
        self.saved.read()
        self.app.call_from_thread(self.saved.note_change)

    def action_environment(self) -> None:
        """Choose the environment."""
        self.screen.run_worker(self._choose_environment(), group="dialog", exclusive=True)

    async def _choose_environment(self) -> None:
        saved = self.saved
        choices = [(_NONE, "only the variables of the saved calls")]
        choices += [(name, ", ".join(environment.names)) for name, environment in saved.environments.items()]
        chosen = await self.app.push_screen_wait(Choose("Environment", choices, saved.environment or _NONE))
        if chosen is not None:
            self.use_environment("" if chosen == _NONE else chosen)

    def use_environment(self, name: str) -> None:
        """Use the variables of an environment from now on; `""` for those of the flows alone."""
        self.saved.use_environment(name)

    def action_new(self) -> None:
        self.post_message(NewFromCall())

    def action_next_failure(self) -> None:
        self.go_to_failure(1)

    def action_previous_failure(self) -> None:
        self.go_to_failure(-1)

    def action_pin_flow(self) -> None:
        """Run the flow again after each restart of a watched server, or stop doing so."""
        place = self.place
        if place is not None and place.flow is not None:
            self.saved.pinned ^= {place.flow.path}
            self.saved.note_change()
            if place.flow.path in self.saved.pinned and not self.saved.watched():
                self.notify(NOT_WATCHED, timeout=8)

    def action_its_messages(self) -> None:
        """Show only the messages of the last run of the flow."""
        place = self.place
        if place is not None and place.flow is not None and (flow_filter := self._filter_of(place.flow)):
            self.post_message(ShowFiltered(flow_filter))
