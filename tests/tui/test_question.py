"""Questions of the server inside calls: shown, answered, declined, dismissed, answered from now on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from textual.pilot import Pilot
from textual.widgets import Button

from inspector.client.inbox import Question
from inspector.client.recorded_session import RecordedSession
from inspector.client.session import Session
from inspector.config.server_memory import ServerMemory
from inspector.journal.journal import Journal
from inspector.tui.ask.inbox import InboxPane
from inspector.tui.ask.question import QuestionPane
from inspector.tui.model import work as model
from inspector.tui.pane_messages import Copy, ShowExchange
from inspector.tui.widgets import links
from inspector.tui.widgets.form import FormView
from inspector.tui.work import pane as work_pane
from inspector.tui.work.request import RequestPane
from inspector.tui.work.result import ResultPane
from inspector.tui.work.work_items import WorkItem
from tests.tui.live_app import NARROW, TOOLS, WIDE, becomes, demo, main_screen, running, shows, to_tool
from tests.tui.live_demo import (
    Desk,
    Ticking,
    asked_by,
    at_item,
    call_that_asks,
    desk,
    enter_form,
    go,
    in_form,
    sent,
    write,
)
from tests.tui.tui_screens import assert_in, press, screen_lines, screen_text, settle

pytestmark = pytest.mark.slow


def answers(session: Session) -> list[Any]:
    """The answers that were sent to the server's requests, oldest first."""
    results = []
    for n in range(1, session.journal.index.count + 1):
        message = session.journal.event(n).message
        if isinstance(message, dict) and session.journal.index.dir(n) == 1 and "method" not in message:
            results.append(message.get("result", message.get("error")))
    return results


async def ask_again(app: Desk, pilot: Pilot[None], tool: str = "", **arguments: Any) -> WorkItem:
    """Call a tool, or the same one again, which asks; the question has the focus then."""
    work = app.work.work
    if tool:
        work = await go(app, pilot, "tools", tool)
        await app.work.request.form.load(arguments)
    app.catalog.focus_inside()
    await call_that_asks(app, pilot)
    return work


async def test_defaults_are_accepted_by_one_key_and_what_is_wrong_is_reported_first(tmp_path: Path) -> None:
    """C-ELIC-02, C-ELIC-03."""
    async with asked_by(tmp_path, "ask-user") as (session, app, pilot):
        # The address has no default and is required; it was not sent yet.
        await press(
            pilot, shows=("Demo server asks you", "elicitation  form ─", "Please tell us about yourself.",
                          "Your answer goes to Demo server for its request elicitation/create", "1 required"), hides="to fix",
        )  # fmt: skip
        assert app.work.asking.tone == "ask"
        await pilot.press("tab")
        await write(app, pilot, "ada@example.org")
        await press(pilot, "ctrl+r", shows="The user accepted")
        assert answers(session)[0]["action"] == "accept"
        assert answers(session)[0]["content"].items() >= {"name": "Ada", "email": "ada@example.org"}.items()
        await ask_again(app, pilot)
        await press(pilot, "ctrl+r", shows=("again: send it anyway", "is required"))
        assert len(answers(session)) == 1
        await press(pilot, "ctrl+r", until=lambda: len(answers(session)) == 2)
        assert "email" not in answers(session)[1]["content"]


@pytest.mark.parametrize(("height", "lines"), [(30, 1), (60, 2)])
async def test_a_form_without_room_for_its_fields_has_one_line_for_each(
    tmp_path: Path, height: int, lines: int
) -> None:
    async with asked_by(tmp_path, "ask-user", size=(100, height)) as (_session, app, pilot):
        await press(pilot, shows="asks you")
        screen = screen_lines(app)
        name = next(n for n, line in enumerate(screen) if "│ name " in line)
        assert "▌ Ada" in screen[name + lines - 1]
        assert "below" not in screen_text(app), "all fields are shown"


async def test_each_question_is_refused_by_its_keys_also_from_now_on(tmp_path: Path) -> None:
    """C-ELIC-02, C-SAMP-01."""
    async with desk(tmp_path, "tools") as (session, app, pilot):
        for tool, key, expected in (
            ("ask-user", "ctrl+d", "The user chose to decline"),
            ("ask-user", "alt+c", "The user chose to cancel"),
            ("ask-model", "ctrl+d", ""),
            ("where-am-i", "ctrl+d", ""),
        ):
            work = await ask_again(app, pilot, tool)
            await press(pilot, key, shows=expected, until=lambda work=work: not work.is_running)
        assert answers(session)[:2] == [{"action": "decline"}, {"action": "cancel"}]
        assert [answer["code"] for answer in answers(session)[2:]] == [-1, -1]
        await ask_again(app, pilot, "ask-model")
        await press(pilot, "ctrl+s", "ctrl+d", until=lambda: app.work.result.display)
        app.work.send()
        await settle(pilot, lambda: len(answers(session)) == 6)
        assert session.inbox.standing.sampling == "decline"


async def test_an_answer_is_sent_only_after_the_question_could_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, "tools") as (session, app, pilot):
        await ask_again(app, pilot, "where-am-i")
        monkeypatch.setattr(work_pane, "READ_TIME", 60.0)
        await press(pilot, "ctrl+r", "ctrl+s", until=lambda: len(app._notifications) == 1, what="one notice")
        assert len(session.inbox.open()) == 1
        monkeypatch.setattr(work_pane, "READ_TIME", 0.0)
        await press(pilot, "ctrl+r", until=lambda: len(answers(session)) == 1)
        assert session.inbox.standing.roots != tuple(answers(session)[0]["roots"]), "only this time"


async def test_escape_leaves_every_question_open(tmp_path: Path) -> None:
    """C-SAMP-01: only decline (ctrl+d) refuses a sampling request; who wants back to the list loses nothing."""
    async with desk(tmp_path, "tools") as (session, app, pilot):
        for before, tool in enumerate(("ask-user", "ask-link", "ask-model", "where-am-i")):
            work = await ask_again(app, pilot, tool, **({"prompt": "How are you?"} if tool == "ask-model" else {}))
            assert "esc later" in screen_text(app)
            await press(pilot, "escape", until=lambda: not app.work.asking.has_focus_within)
            assert len(session.inbox.open()) == 1
            assert work.is_running
            assert len(answers(session)) == before
            app.work.focus_question()
            await settle(pilot, lambda: app.work.asking.has_focus_within)
            await press(pilot, "ctrl+d", until=lambda work=work: not work.is_running)


async def test_a_model_is_answered_for_by_text_and_one_that_is_too_long_is_noted(tmp_path: Path) -> None:
    """C-SAMP-01, C-SAMP-02."""
    async with desk(tmp_path, "tools") as (session, app, pilot):
        await ask_again(app, pilot, "ask-model", prompt="How are you?", max_tokens=3)
        expected = ("sampling", "at most 3 tokens", "preferred models: claude, small", "You answer in few words.")
        await press(pilot, shows=("How are you?", *expected))
        await press(pilot, "ctrl+r", shows="again: send it anyway")
        await write(app, pilot, "one two three four")
        await press(pilot, "ctrl+r", until=lambda: len(answers(session)) == 1)
        first = answers(session)[0]
        assert first["content"] == {"type": "text", "text": "one two three four"}
        assert (first["stopReason"], first["model"]) == ("endTurn", "human")
        notes = [session.journal.event(n) for n in range(1, len(session.journal) + 1)]
        assert any("4 words; the server allows 3 tokens" in event.fields.get("text", "") for event in notes)
        # Enter begins a line, and the field grows.
        await ask_again(app, pilot)
        for _ in range(5):
            await pilot.press("a", "enter")
        assert app.focused.size.height == 6
        await press(pilot, "z", "ctrl+r", until=lambda: len(answers(session)) == 2)
        assert answers(session)[1]["content"]["text"] == "a\na\na\na\na\nz"


async def test_an_answer_of_a_model_names_the_model_that_was_typed_or_is_a_whole_result_as_json(tmp_path: Path) -> None:
    async with asked_by(tmp_path, "ask-model") as (session, app, pilot):
        await press(pilot, shows="model  human")
        await write(app, pilot, "fine")
        assert getattr(app.focused, "tab_title", "") == "next field", "in the footer"
        await pilot.press("tab", "ctrl+u")
        await write(app, pilot, "tiny-1")
        await press(pilot, "ctrl+r", until=lambda: len(answers(session)) == 1)
        assert (answers(session)[0]["content"]["text"], answers(session)[0]["model"]) == ("fine", "tiny-1")
        await ask_again(app, pilot)
        await write(app, pilot, "hello")
        await press(pilot, "ctrl+e", shows='"role": "assistant"')
        body = app.work.asking.body
        body.json.value = "{"  # type: ignore[union-attr]
        await press(pilot, "ctrl+r", shows="again: send it anyway")
        result = {"role": "assistant", "content": {"type": "text", "text": "mine"}, "model": "me"}
        body.json.value = json.dumps(result)  # type: ignore[union-attr]
        await pilot.pause()
        await press(pilot, "ctrl+r", until=lambda: answers(session)[1:] == [result])


async def test_roots_are_looked_at_changed_and_sent_once_or_from_now_on(tmp_path: Path) -> None:
    """C-ROOT-01, C-ROOT-02."""
    async with asked_by(tmp_path, "where-am-i") as (session, app, pilot):
        assert app.work.asking.body.editor.value == Path.cwd().as_uri()  # type: ignore[union-attr]
        await pilot.press("ctrl+u")
        await write(app, pilot, "https://example.com")
        await press(pilot, shows="is not a file:// URI")
        await press(pilot, "ctrl+r", shows=("again: send it anyway", "is not a file:// URI"))
        await press(pilot, "ctrl+u", hides="is not a file:// URI")
        await write(app, pilot, "file:///a/b")
        await pilot.press("ctrl+j")
        await write(app, pilot, "file:///c")
        await press(pilot, "ctrl+r", until=lambda: len(answers(session)) == 1)
        roots = [{"uri": "file:///a/b", "name": "b"}, {"uri": "file:///c", "name": "c"}]
        assert answers(session)[0] == {"roots": roots}
        await ask_again(app, pilot)
        await pilot.press("ctrl+u")
        await write(app, pilot, "file:///only")
        await press(pilot, "ctrl+s", until=lambda: len(answers(session)) == 2 and app.work.result.display)
        assert session.inbox.standing.roots == ("file:///only",)
        app.work.send()
        await settle(pilot, lambda: len(answers(session)) == 3 and app.work.result.display)
        app.inbox.display = True
        app.inbox.tick()
        app.inbox.action_ask_again()
        assert session.inbox.standing.roots == "ask"
        app.work.send()
        await settle(pilot, lambda: len(session.inbox.open()) == 1)


async def test_a_url_is_copied_or_opened_and_then_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """C-ELIC-04."""
    url, opened, problems = "https://example.com/demo/connect?visit=visit-1", [], ["no browser", ""]

    def remember(link: links.Link) -> str:
        opened.append(link.url)
        return problems[len(opened) - 1]

    monkeypatch.setattr("inspector.tui.ask.question.open_in_browser", remember)
    async with asked_by(tmp_path, "ask-link") as (session, app, pilot):
        assert_in(screen_text(app), url, "host  example.com")
        assert opened == []
        await press(pilot, "c", until=lambda: bool(app.messages_of(Copy)))
        assert app.messages_of(Copy)[0].text == url  # type: ignore[attr-defined]
        await press(pilot, "o", shows="no browser")
        assert answers(session) == []
        await press(pilot, "o", until=lambda: answers(session) == [{"action": "accept"}])
        assert opened == [url] * 2


async def test_roots_are_answered_by_one_key_now_or_always_also_in_the_next_session() -> None:
    folder = Path.cwd().as_uri()
    for key, next_time in (("ctrl+r", "asked"), ("ctrl+s", "answered"), ("", "answered")):
        async with running(demo(), until=f"Tools {TOOLS}") as (app, pilot):
            screen, session = main_screen(app), app.session
            assert isinstance(session, Session)
            await to_tool(app, pilot, "where-am-i")
            await pilot.press("ctrl+r")
            if key:
                await shows(app, pilot, "A root is a folder or file that the server may work in.")
                await becomes(app, pilot, lambda screen=screen: screen.query_one(QuestionPane).has_focus_within)
                await pilot.press(key)
            await becomes(app, pilot, lambda session=session: len(answers(session)) == 1, "answered")
            assert [root["uri"] for root in answers(session)[0]["roots"]] == [folder]
            memory, kept = ServerMemory(session.target), (folder,) if next_time == "answered" else None
            await becomes(app, pilot, lambda memory=memory, kept=kept: memory.roots() == kept)
    async with running(demo(), until=f"Tools {TOOLS}") as (app, pilot):
        await press(pilot, "7", "a", until=lambda: ServerMemory(app.session.target).roots() is None, what="forgotten")


async def test_a_question_of_another_call_waits_in_the_inbox(tmp_path: Path) -> None:
    async with desk(tmp_path, "tools") as (session, app, pilot):
        asked = await go(app, pilot, "tools", "ask-user")
        await go(app, pilot, "tools", "echo")
        await enter_form(app, pilot)
        asked.call = asked.catalog_item.send(session, {"message": "Later"})
        await settle(pilot, lambda: len(session.inbox.open()) == 1)
        await write(app, pilot, "typing on")
        assert app.work.request.form.value == {"message": "typing on"}
        assert not app.work.asking.display
        app.work.show_question(session.inbox.open()[0])
        app.work.focus_question()
        await settle(pilot, lambda: app.work.asking.has_focus_within)
        assert app.work.work is asked
        assert "Later" in screen_text(app)
        await press(pilot, "ctrl+d", until=lambda: not asked.is_running)


@pytest.mark.parametrize("then", ["nothing", "form", "json", "filter"])
async def test_a_question_takes_the_focus_unless_the_user_types(tmp_path: Path, then: str) -> None:
    async with in_form(tmp_path, "tools", "ask-model") as (session, app, pilot):
        await pilot.press(*"hi", *(["ctrl+e"] if then == "json" else []))
        panes, app.panes = app.panes, []  # The question is seen after the keys below.
        await pilot.press("ctrl+r")
        if then == "filter":
            app.catalog.action_filter()
        await pilot.press(*{"nothing": "", "filter": "ask-model"}.get(then, "x"))
        await settle(pilot, lambda: len(session.inbox.open()) == 1)
        app.panes = panes
        await settle(pilot, lambda: app.work.asking.display and not app.work.asking.is_stale)
        await pilot.pause(0.1)
        assert app.work.asking.has_focus_within == (then == "nothing")
        assert app.work.request.has_focus_within == (then in ("form", "json"))
        assert app.catalog.has_focus_within == (then == "filter")


async def test_a_question_that_is_drawn_before_the_tick_takes_the_focus_too(tmp_path: Path) -> None:
    async with in_form(tmp_path, "tools", "ask-model") as (session, app, pilot):
        panes, app.panes = app.panes, []
        await press(pilot, "ctrl+r", until=lambda: len(session.inbox.open()) == 1)
        app.work._draw_lower()  # As for a form that has changed or a list that was read again.
        await settle(pilot, lambda: app.work.asking.question is not None and app.work.asking.display)
        app.panes = panes
        await settle(pilot, lambda: app.work.asking.has_focus_within)


def shown_late(
    app: Desk, monkeypatch: pytest.MonkeyPatch, late: Callable[[Question], bool]
) -> tuple[asyncio.Event, asyncio.Event]:
    """Return an event that is set when such a question waits, and one that lets it be drawn."""
    show, waits, drawn = app.work.asking.show, asyncio.Event(), asyncio.Event()

    async def show_late(question: Question) -> None:
        if late(question):
            waits.set()
            await drawn.wait()
        await show(question)

    monkeypatch.setattr(app.work.asking, "show", show_late)
    return waits, drawn


async def test_a_question_takes_the_focus_though_the_end_of_the_one_before_is_being_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asked_by(tmp_path, "ask-user") as (session, app, pilot):
        waits, drawn = shown_late(app, monkeypatch, lambda question: question.state != "open")
        await press(pilot, "ctrl+d", until=lambda: app.work.result.display and waits.is_set())
        await go(app, pilot, "tools", "where-am-i")
        await press(pilot, "ctrl+r", until=lambda: len(session.inbox.open()) == 1)
        drawn.set()
        await settle(pilot, lambda: app.work.asking.has_focus_within)


async def test_a_question_that_is_left_before_it_is_drawn_does_not_take_the_focus_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asked_by(tmp_path, "ask-several") as (_session, app, pilot):
        first = app.work.asking.question
        waits, drawn = shown_late(app, monkeypatch, lambda question: question is not first)
        await press(pilot, "right", "ctrl+r", until=waits.is_set)
        await press(pilot, "escape", until=lambda: app.catalog.has_focus_within)
        drawn.set()
        await settle(pilot, lambda: app.work.asking.question is not first)
        assert app.catalog.has_focus_within


async def test_a_change_that_is_told_late_is_not_typing(tmp_path: Path) -> None:
    async with at_item(tmp_path, "tools", "ask-model") as (_session, app, pilot):
        await pilot.press("enter", *"hi", "ctrl+r")
        app.work.request.on_form_view_changed(FormView.Changed(app.work.request.form))
        await settle(pilot, lambda: app.work.asking.has_focus_within)


async def test_several_questions_are_gone_through_by_a_key_and_keep_what_was_written(tmp_path: Path) -> None:
    async with desk(tmp_path, "tools") as (session, app, pilot):
        first = await go(app, pilot, "tools", "ask-user")
        second = await go(app, pilot, "tools", "ask-model")
        for work in (first, second):
            work.call = work.catalog_item.send(session, {})
        await settle(pilot, lambda: len(session.inbox.open()) == 2)
        app.work.show_question(session.inbox.open()[0])
        app.work.focus_question()
        await settle(pilot, lambda: app.work.asking.has_focus_within)
        await press(pilot, shows="1 of 2")
        await press(pilot, *"zz", "ctrl+g", shows="2 of 2")
        await settle(pilot, lambda: app.work.asking.has_focus_within)
        await press(pilot, "ctrl+g", shows="1 of 2")
        await settle(pilot, lambda: "Adazz" in screen_text(app) or "zz" in screen_text(app))


@pytest.mark.parametrize("era", ["modern", "legacy"])
async def test_each_question_of_a_call_has_a_field(tmp_path: Path, era: Literal["modern", "legacy"]) -> None:
    """C-MRTR-01. In the modern era all of them are inputs of one message."""
    async with asked_by(tmp_path, "ask-several", era=era) as (session, app, pilot):
        assert "Which colour do you like?" in screen_text(app)
        await press(pilot, "right", "ctrl+r", shows="Say one word.", hides="Which colour")
        await settle(pilot, lambda: app.focused is app.work.asking.body.editor)  # type: ignore[union-attr]
        await write(app, pilot, "hello")
        await press(pilot, "ctrl+r", shows="A root is a folder")
        await press(pilot, "ctrl+r", until=lambda: app.work.result.display)
        assert [question.state for question in session.inbox.questions] == ["answered"] * 3


@pytest.mark.parametrize("era", ["modern", "legacy"])
@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_a_call_that_asks_gets_its_answer_field_focused_while_another_question_is_open(
    era: Literal["modern", "legacy"], size: tuple[int, int]
) -> None:
    async with running(demo(), size=size, era=era, until=f"─ {TOOLS} ─") as (app, pilot):
        for tool, asked in (("ask-user", "tell us about yourself"), ("ask-several", "Which colour")):
            await press(pilot, "ctrl+p", until=lambda: app.screen.is_modal)
            await write(app, pilot, tool)
            await settle(pilot, lambda tool=tool: f" {tool} " in screen_text(app))
            await pilot.press("enter")
            await settle(pilot, lambda tool=tool: not app.screen.is_modal and f"{tool} " in screen_text(app))
            form = app.screen.query_one(RequestPane)
            await settle(pilot, lambda form=form: form.has_focus_within)
            await pilot.press("ctrl+r")
            await settle(pilot, lambda asked=asked: "asks you" in screen_text(app) and asked in screen_text(app))
            pane = app.screen.query_one(QuestionPane)
            await settle(pilot, lambda pane=pane: pane.has_focus_within)
        assert len(app.session.inbox.open()) >= 2


async def test_the_questions_of_one_message_are_gone_through_by_a_key(tmp_path: Path) -> None:
    async with asked_by(tmp_path, "ask-several", era="modern") as (session, app, pilot):
        await press(pilot, "ctrl+g", until=lambda: "2 of 3" in screen_text(app) and "Say one word." in screen_text(app))
        await settle(pilot, lambda: app.focused is app.work.asking.body.editor)  # type: ignore[union-attr]
        assert "decline, end call" in {hint.title for hint in app.work.asking.hints()}, "nothing else can be sent"
        await pilot.press("ctrl+g")
        await settle(pilot, lambda: "3 of 3" in screen_text(app) and "A root is a folder" in screen_text(app))
        assert len(session.inbox.open()) == 3


async def test_a_question_left_for_later_is_named_in_the_line_of_one_column() -> None:
    async with running(demo(), size=NARROW, until=f"─ {TOOLS} ─") as (app, pilot):
        await to_tool(app, pilot, "ask-several")
        await press(pilot, "ctrl+r", until=lambda: main_screen(app).query_one(QuestionPane).has_focus_within)
        await press(pilot, "ctrl+g", until=lambda: "esc later" in screen_text(app), what="the second")
        await press(pilot, "escape", until=lambda: "^g to question" in screen_lines(app)[-1], what="the list names it")


async def test_a_question_that_is_over_says_how_and_leads_to_the_messages_of_its_call(tmp_path: Path) -> None:
    async with asked_by(tmp_path, "ask-user") as (session, app, pilot):
        question = session.inbox.open()[0]
        await pilot.press("ctrl+d")
        app.work.show_question(question)
        await press(pilot, shows="declined")
        app.work.focus_question()
        await settle(pilot, lambda: app.work.asking.has_focus_within)
        await press(pilot, "m", until=lambda: bool(app.messages_of(ShowExchange)))
        assert app.messages_of(ShowExchange)[0].n == question.n  # type: ignore[attr-defined]
        await ask_again(app, pilot)
        question = session.inbox.open()[0]
        app.work.show_question(question)
        session.inbox.withdraw(question.id)
        await press(pilot, shows=("withdrawn by the server", "No answer was sent."))
        await pilot.press("ctrl+r", "ctrl+d")
        assert answers(session) == [{"action": "decline"}]


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_escape_goes_from_a_question_that_is_over_to_the_inbox(size: tuple[int, int]) -> None:
    async with running(demo(), size=size, until=f"─ {TOOLS} ─") as (app, pilot):
        await to_tool(app, pilot, "where-am-i")
        await press(pilot, "ctrl+r", until=lambda: main_screen(app).query_one(QuestionPane).has_focus_within)
        await press(pilot, "ctrl+d", until=lambda: app.session is not None and not app.session.inbox.open())
        await press(pilot, hides="asks you")
        await pilot.press("escape", "7", "enter")
        await settle(pilot, lambda: main_screen(app).query_one(QuestionPane).has_focus_within)
        assert "asked  declined" in screen_text(app)
        assert "which folders may the server use?" in screen_text(app), "what was asked stands there"
        assert screen_text(app).count("esc list") == 1
        assert not screen_lines(app)[-1].startswith(" m "), "the pane shows what the key does there"
        await press(pilot, "escape", until=lambda: main_screen(app).query_one(InboxPane).has_focus_within)


async def test_the_key_that_calls_goes_to_the_question_that_the_call_waits_for(tmp_path: Path) -> None:
    async with asked_by(tmp_path, "ask-user") as (session, app, pilot):
        for place in (app.catalog, app.work.request):
            place.focus_inside()
            await press(pilot, until=lambda place=place: place.has_focus_within and app.work.request.asks_for_answer)
            await call_that_asks(app, pilot)
            assert len(sent(session, "tools/call")) == 1, "not called a second time"
        app.work.request.focus_inside()
        await press(pilot, *"other")
        await press(pilot, "ctrl+r", until=lambda: len(sent(session, "tools/call")) == 2)


@pytest.mark.parametrize("slow", [False, True])
async def test_questions_lead_to_the_result(tmp_path: Path, slow: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    async with desk(tmp_path, "tools") as (_session, app, pilot):
        work = await go(app, pilot, "tools", "ask-several")
        await enter_form(app, pilot)
        if slow:
            # The question comes after the running call has the focus.
            show, app.work._look_for_questions = app.work._look_for_questions, lambda: None  # type: ignore[method-assign]
            with monkeypatch.context() as patch:
                patch.setattr(model, "question_to_show", lambda _work, _facts: None)
                await press(pilot, "ctrl+r", until=lambda: app.work.running.has_focus_within)
            app.work._look_for_questions = show  # type: ignore[method-assign]
            app.work._seen = ()
        else:
            await pilot.press("ctrl+r")
        for answer in ("right", "w", ""):
            await settle(pilot, lambda: app.work.asking.has_focus_within and app.work.asking.is_open)
            asked = app.work.asking.question
            await pilot.press(*([answer] if answer else []), "ctrl+r")
            await settle(pilot, lambda asked=asked: app.work.asking.question is not asked or not work.is_running)
        await settle(pilot, lambda: app.work.result.display and not work.is_running)
        await settle(pilot, lambda: app.work.result.has_focus_within)


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_the_first_answered_question_leads_to_the_result_as_the_second_does(size: tuple[int, int]) -> None:
    async with running(demo(), size=size, until=f"─ {TOOLS} ─") as (app, pilot):
        screen = main_screen(app)
        question, result = screen.query_one(QuestionPane), screen.query_one(ResultPane)
        await pilot.press("slash", *"ask-user", "enter")
        for _ in range(2):
            await press(pilot, "ctrl+r", until=lambda: question.has_focus_within and question.is_open, what="asked")
            # What is required stays empty: the second press sends it anyway.
            await press(pilot, "ctrl+r", "ctrl+r", until=lambda: not question.is_open and result.display)
            await becomes(app, pilot, lambda: result.has_focus_within, "in the result")
            await becomes(app, pilot, lambda: "esc list" in screen_lines(app)[-1], "the way back")


HOSTILE: list[tuple[Any, dict[str, Any]]] = [
    ("elicitation", {}),
    ("elicitation", {"message": ["no text"], "requestedSchema": "no schema"}),
    ("elicitation", {"message": "\x1b[2J\u202e" + "x" * 50_000, "requestedSchema": {"properties": 7}}),
    ("elicitation", {"mode": "url", "url": "javascript:alert(1)", "message": "click"}),
    ("elicitation", {"mode": "url", "url": {"a": 1}}),
    ("elicitation", {"mode": "url", "url": "https://" + "a" * 50_000}),
    ("elicitation", {"mode": ["x"]}),
    ("sampling", {}),
    ("sampling", {"messages": 7, "maxTokens": "many", "modelPreferences": [], "tools": {"a": 1}, "systemPrompt": 3}),
    ("sampling", {"messages": [None, {"content": [{"type": []}]}], "tools": [1, {"name": {}}], "stopSequences": "x"}),
    ("sampling", {"modelPreferences": {"hints": [3, {"name": []}], "costPriority": {}}, "temperature": [1]}),
    ("roots", {"anything": 1}),
]


@asynccontextmanager
async def question_pane() -> AsyncIterator[tuple[RecordedSession, QuestionPane, Ticking, Pilot[None]]]:
    """The pane of questions of a session without a server, beside another widget."""
    session = RecordedSession(Journal.unnamed({}), Path("none"))
    pane, app = QuestionPane(session), Ticking(Button("elsewhere"))
    app.panes = []
    async with app.run_test(size=(60, 20)) as pilot:
        await app.mount(pane)
        yield session, pane, app, pilot


async def test_questions_of_any_shape_can_be_shown_and_declined() -> None:
    async with question_pane() as (session, pane, app, pilot):
        session.commands = session  # type: ignore[assignment]  # Answers can be given, and go nowhere.
        for n, (topic, params) in enumerate(HOSTILE, 1):
            question = session.inbox.ask(n, n, topic, params, 0, 0)
            await pane.show(question)
            await press(pilot, shows="asks you", hides="declined")
            assert "\x1b" not in "".join(screen_lines(app))
            pane.focus_inside()
            await pilot.press("o")
            await pilot.pause()
            pane.action_decline()
            assert question.state == "declined", params
            await pane.show(question)
            await press(pilot, shows="declined")


async def test_the_title_of_a_question_has_as_much_of_the_servers_name_as_fits() -> None:
    async with question_pane() as (session, pane, app, pilot):
        session.commands = session  # type: ignore[assignment]  # Answers can be given, and go nowhere.
        session.server.info = {"name": "Everything Reference Server of today"}
        await pane.show(session.inbox.ask(1, 1, "elicitation", {"message": "Really?"}, 0, 0))
        for width, name in (
            (84, "Everything Reference Server of today"),
            (72, "Everything Reference Serve…"),
            (50, "Everything Refere…"),
        ):
            await pilot.resize_terminal(width, 20)
            await press(pilot, shows=f"╭─ {name} asks you ─")
            below = " ".join(screen_text(app).replace("│", " ").split("Your answer goes to")[1].split())
            assert below.startswith("Everything Reference Server of today for its request")
        await pilot.resize_terminal(46, 20)
        pane.action_accept()
        await press(pilot, shows="^r sends anyway ─")


async def test_a_recorded_question_is_shown_with_its_answer() -> None:
    async with question_pane() as (session, pane, _app, pilot):
        question = Question(1, 1, "elicitation", {"message": "Really?"}, 0, 0, session.inbox)
        question.state, question.answer = "answered", {"action": "accept", "content": {"yes": True}}
        await pane.show(question)
        await press(pilot, shows=("accepted", "Really?", '"yes": true'))
        assert [hint.verb for hint in pane.hints()] == ["ask.its-messages", "ask.later"]
