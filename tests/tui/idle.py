"""Waits for an app by its pending work, never by the clock or the load of the machine.

Importing this makes every `Pilot` wait so. Textual's own sends a message to every widget and then sleeps until the
process uses little CPU: a hundredth of a second at least, twice for each key, and on a busy machine it may see an app
that merely was not given its turn as one that is done.

It also makes apps that run without a terminal paint once when they are quiet instead of once per frame. Textual throws
the frames of such an app away, and cutting and joining their strips took a third of the time. Each widget that changed
still renders its lines, and an exception there reaches the app as it does in a frame.

The last functions do what Textual does, in fewer steps: rules of style that are set already, messages without a
handler, reactive attributes without a method that computes them.
"""

from __future__ import annotations

import asyncio
import re
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import textual.app
import textual.pilot
import textual.timer
from rich.cells import cell_len
from rich.segment import Segment
from textual._context import active_app, visible_screen_stack
from textual.app import App, ScreenStackError
from textual.cache import FIFOCache
from textual.css.model import RuleSet
from textual.css.styles import RenderStyles
from textual.css.stylesheet import Stylesheet
from textual.geometry import Region
from textual.message import Message
from textual.message_pump import MessagePump
from textual.pilot import Pilot
from textual.reactive import Reactive
from textual.screen import Screen
from textual.strip import Strip
from textual.timer import Timer

SOON = 0.06
"""Seconds: what a timer would do once within them counts as left to do now, and is done without waiting for it."""

ROUNDS = 12
"""How often an app may find something new to do soon; one that always does is never quiet."""

PATIENCE = 5.0
"""Seconds after which an app counts as quiet though it works on, as under a flood."""

NEVER = 30.0
"""Seconds after which something never becomes so."""

STAYS = 2.0
"""Seconds after which a thread is no longer waited for: it stays, as one that follows a file."""

ONE_CELL_EACH = re.compile("[ -~\u00b0-\u02ff\u2500-\u25ff]*")
"""Texts of ASCII, letters of Latin scripts and boxes: each character has one cell."""

_timers: weakref.WeakSet[Timer] = weakref.WeakSet()
_sleeping: weakref.WeakKeyDictionary[asyncio.Task[Any], asyncio.Future[None]] = weakref.WeakKeyDictionary()
_rules: dict[tuple[Any, ...], Any] = {}
_variables: dict[tuple[tuple[str, str], ...], int] = {}
_computed: dict[tuple[type, str], bool] = {}
_handled: dict[tuple[type, str], bool] = {}
_in_threads: weakref.WeakSet[asyncio.Future[Any]] = weakref.WeakSet()
_unpainted: weakref.WeakSet[Screen[Any]] = weakref.WeakSet()
_frames: weakref.WeakKeyDictionary[Screen[Any], int] = weakref.WeakKeyDictionary()
_lines: weakref.WeakKeyDictionary[Screen[Any], tuple[int, list[str]]] = weakref.WeakKeyDictionary()


async def quiet(app: App[Any], *, threads: bool = True) -> None:
    """Let the app work until nothing is ready to run, to be drawn or due soon.

    `threads` False does not wait for what its threads do.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + PATIENCE
    for _ in range(ROUNDS):
        await _work_off(loop, end)
        while threads and (busy := _threads(loop)):
            done, staying = await asyncio.wait(busy, timeout=STAYS, return_when=asyncio.FIRST_COMPLETED)
            if not done:
                _in_threads.difference_update(staying)
            await _work_off(loop, end)
        # The next frame comes before any timer: those look at what is on the screen.
        if not _draw(app) and not _bring_forward(loop):
            break
    if threads:
        _paint(app)


async def wait_until(app: App[Any], so: Callable[[], bool]) -> bool:
    """Wait until something is so and the app is quiet; False where it never is."""
    loop = asyncio.get_running_loop()
    end = loop.time() + NEVER
    while loop.time() < end:
        await quiet(app, threads=False)
        if so():
            await quiet(app)
            return True
        await asyncio.sleep(0.01)
    return False


def lines(app: App[Any]) -> list[str]:
    """Return the text of the screen, a string for each line.

    It is read again only if a frame was due since the last time. The compositor cuts and joins the strips of the
    widgets, to keep their styles. For text it is enough to write the widgets over each other, from back to front.
    """
    screen = app.screen
    frame = 0 if _is_due(screen) else _frames.get(screen, 0)
    number, cached = _lines.get(screen, (0, []))
    if not frame or frame != number:
        cached = _text_of(screen)
        _lines[screen] = frame, cached
    return cached


def _text_of(screen: Screen[Any]) -> list[str]:
    """The text of the visible widgets, and spaces for halves of wide characters."""
    compositor = screen._compositor
    width, height = compositor.size
    rows = [[" "] * width for _ in range(height)]
    for region, clip, strips in reversed(list(compositor._get_renders(compositor.size.region))):
        seen = region.intersection(clip)
        for y, strip in zip(seen.line_range, strips, strict=False):
            row = rows[y]
            if seen.x and not row[seen.x]:
                row[seen.x - 1] = " "
            if seen.right < width and not row[seen.right]:
                row[seen.right] = " "
            text = strip.text
            cells = list(text) if ONE_CELL_EACH.fullmatch(text) else _cells(text)
            row[seen.x : seen.right] = (cells + [" "] * seen.width)[: seen.width]
    return ["".join(row) for row in rows]


def _cells(text: str) -> list[str]:
    """Return a text by cells. The second cell of a wide character is empty.

    A character without width stands in the cell of the one before.
    """
    cells: list[str] = []
    for char in text:
        size = cell_len(char)
        if size or not cells:
            cells += [char] + [""] * (size - 1)
        else:
            cells[-1 if cells[-1] else -2] += char
    return cells


def _is_due(screen: Screen[Any]) -> bool:
    """Whether something waits for the next frame."""
    due = screen._layout_required or screen._scroll_required or screen._repaint_required or screen._recompose_required
    return bool(due or screen._dirty_widgets)


async def _work_off(loop: Any, end: float) -> None:
    """Until nothing is ready to run, twice in a row: in between the loop has looked at its files."""
    idle = 0
    while idle < 2 and loop.time() < end:
        await asyncio.sleep(0)
        idle = 0 if loop._ready else idle + 1


def _threads(loop: asyncio.AbstractEventLoop) -> list[asyncio.Future[Any]]:
    return [one for one in _in_threads if one.get_loop() is loop and not one.done()]


def _draw(app: App[Any]) -> bool:
    """Draw what waits for the next frame; False where nothing does."""
    try:
        screen = app.screen
    except ScreenStackError:
        return False
    if not app._running or app._exit or not (_is_due(screen) or screen._callbacks):
        return False
    screen._on_timer_update()
    return True


def _paint(app: App[Any]) -> None:
    """Render the lines that changed on the screen since it was painted last."""
    try:
        screen = app.screen
    except ScreenStackError:
        return
    if screen not in _unpainted or not app._running or app._exit:
        return
    _unpainted.discard(screen)
    compositor = screen._compositor
    changed = Region.from_union(compositor._dirty_regions) if compositor._dirty_regions else Region()
    compositor._dirty_regions.clear()
    visible_screen_stack.set(app._background_screens)
    with screen._context():
        try:
            for widget, (region, clip) in compositor.visible_widgets.items():
                seen = region.intersection(clip)
                # A screen paints nothing of its own but, below a dialog, the screens under it: that is Textual's.
                if seen and widget is not screen and seen.overlaps(changed):
                    widget.render_lines(seen.translate(-region.offset))
        except Exception as error:  # noqa: BLE001 - whatever painting raises goes to the app, as in a frame
            app._handle_exception(error)


def _bring_forward(loop: asyncio.AbstractEventLoop) -> bool:
    """Let the timers go off that do so once and soon; False where there is none."""
    has_timer = False
    for timer in list(_timers):
        asleep = _sleeping.get(timer._task) if timer._task is not None else None
        if asleep is not None and not asleep.done() and asleep.get_loop() is loop:
            asleep.set_result(None)
            has_timer = True
    return has_timer


async def _sleep(seconds: float) -> None:
    """The sleep of a timer, which `_bring_forward` may end."""
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    assert task is not None
    _sleeping[task] = asleep = loop.create_future()
    handle = loop.call_later(seconds, lambda: asleep.done() or asleep.set_result(None))
    try:
        await asleep
    finally:
        handle.cancel()


def _start(self: Timer, start: Any = Timer._start) -> None:
    if self._repeat == 0 and self._interval <= SOON:
        _timers.add(self)
    start(self)


def _run_in_executor(self: Any, *words: Any, run: Any = asyncio.BaseEventLoop.run_in_executor) -> Any:
    future = run(self, *words)
    _in_threads.add(future)
    return future


def _compositor_refresh(self: Screen[Any], refresh: Any = Screen._compositor_refresh) -> None:
    if self.app.is_headless and self is self.app.screen:
        _unpainted.add(self)
        _frames[self] = _frames.get(self, 0) + 1
        self._dirty_widgets.clear()
        self.app._update_mouse_over(self)
    else:
        refresh(self)


async def _wait_for_idle(*_: float) -> None:
    await quiet(active_app.get())


async def _wait_for_screen(self: Pilot[Any], timeout: float = 0) -> bool:
    await quiet(self.app)
    return True


def _parse_rules(self: Stylesheet, css: str, *words: Any, parse: Any = Stylesheet._parse_rules, **more: Any) -> Any:
    """Parse a style sheet once, not again in every app: a tenth of the time."""
    variables, number = getattr(self, "_numbered", (None, 0))
    if variables is not self._variables:
        number = _variables.setdefault(tuple(self._variables.items()), len(_variables))
        self._numbered = (self._variables, number)  # type: ignore[attr-defined]
    key = (number, css, words, tuple(more.items()))
    if key not in _rules:
        _rules[key] = parse(self, css, *words, **more)
    return _rules[key]


def _replace_rules(node: Any, rules: Any, animate: bool = False, replace: Any = Stylesheet.replace_rules) -> None:
    """Replace the rules of a node unless they are the same.

    A style sheet is applied to a widget several times.
    """
    if rules == node._css_styles._rules:
        node.notify_style_update()
    else:
        replace(node, rules, animate)


def _get_rule(self: RenderStyles, name: str, default: object = None) -> object:
    inline: Any = self._inline_styles._rules
    return inline[name] if name in inline else self._base_styles._rules.get(name, default)


def _get_reactive(self: Any, obj: Any, obj_type: Any, get: Any = Reactive.__get__) -> Any:
    """Return the value of a reactive attribute that is initialized and not computed, without asking three times."""
    if obj is None:
        return self
    kind = obj.__class__
    computed = _computed.get((kind, self.compute_name))
    if computed is None:
        computed = _computed[kind, self.compute_name] = hasattr(kind, self.compute_name)
    values = obj.__dict__
    return get(self, obj, obj_type) if computed or self.internal_name not in values else values[self.internal_name]


def _get_dispatch_methods(
    self: MessagePump, name: str, message: Message, get: Any = MessagePump._get_dispatch_methods
) -> Iterable[Any]:
    """Return the handlers of a message; most widgets have none for most messages."""
    key = (self.__class__, name)
    handled = _handled.get(key)
    if handled is None:
        handled = _handled[key] = any(
            f"_{name}" in kind.__dict__ or name in kind.__dict__ or kind.__dict__.get("_decorated_handlers")
            for kind in self.__class__.__mro__
        )
    return get(self, name, message) if handled else ()


def _init_strip(self: Strip, segments: Iterable[Segment], cell_length: int | None = None) -> None:
    """Make a strip without its seven caches: most strips of a test never use one of them."""
    self._segments = list(segments)
    self._cell_length = cell_length
    self._render_cache = self._link_ids = self._cell_count = None


def _strip_cache(self: Strip, name: str) -> FIFOCache[Any, Any]:
    """Make a cache of a strip when it is used first."""
    if name not in CACHES:
        raise AttributeError(name)
    cache: FIFOCache[Any, Any] = FIFOCache(4)
    setattr(self, name, cache)
    return cache


CACHES = {name for name in Strip.__slots__ if name.endswith("_cache") and name != "_render_cache"}
Strip.__init__ = _init_strip  # type: ignore[method-assign]
Strip.__getattr__ = _strip_cache  # type: ignore[attr-defined]
RuleSet.__hash__ = object.__hash__  # type: ignore[method-assign]
RenderStyles.get_rule = _get_rule  # type: ignore[method-assign]
Reactive.__get__ = _get_reactive  # type: ignore[method-assign]
MessagePump._get_dispatch_methods = _get_dispatch_methods  # type: ignore[method-assign]
Stylesheet.replace_rules = staticmethod(_replace_rules)  # type: ignore[method-assign,assignment]
Stylesheet._parse_rules = _parse_rules  # type: ignore[method-assign]
Screen._compositor_refresh = _compositor_refresh  # type: ignore[method-assign]
Timer._start = _start  # type: ignore[method-assign]
Pilot._wait_for_screen = _wait_for_screen  # type: ignore[method-assign]
asyncio.BaseEventLoop.run_in_executor = _run_in_executor  # type: ignore[method-assign]
textual.timer.sleep = _sleep  # type: ignore[attr-defined]
for _module in (textual.app, textual.pilot):
    _module.wait_for_idle = _wait_for_idle  # type: ignore[attr-defined]
