"""CPU time of the virtual list at a million rows.

It measures the first frame, a row, a page, and 100,000 rows appended while following:

    python benchmarks/bench_list.py [ROWS]

The timer of the screen quantises wall time under Pilot, so this measures the CPU time of the process.
"""

from __future__ import annotations

import asyncio
import sys
import time

from textual.app import App, ComposeResult

from inspector.tui.theme_switch import ThemeSwitch
from inspector.tui.widgets import paint
from inspector.tui.widgets.virtual_list import DrawnRow, VirtualList


class Rows:
    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def render(self, index: int, width: int, selected: bool, focused: bool) -> DrawnRow:
        left = paint.segments([(f"{index:>9,}", "faint"), "  ", ("→", "sent"), "  tools/call ", ("echo", "bright")])
        return paint.spread(left, paint.segments([("12 ms", "muted"), "  ", ("184 B", "muted")]), width)


class Bench(App[None]):
    def __init__(self, count: int) -> None:
        super().__init__()
        self.rows = Rows(count)
        self.view = VirtualList(self.rows, follow=True)

    def compose(self) -> ComposeResult:
        yield self.view

    def on_mount(self) -> None:
        ThemeSwitch(self, None, print).use()


async def main(count: int) -> None:
    app = Bench(count)
    started = time.process_time()
    async with app.run_test(size=(160, 45)) as pilot:
        print(f"start and first frame   {(time.process_time() - started) * 1e3:8.1f} ms CPU")
        for name, key, times in (("one row", "up", 50), ("one page", "pageup", 50)):
            before = time.process_time()
            for _ in range(times):
                await pilot.press(key)
            print(f"{name:<23} {(time.process_time() - before) * 1e3 / times:8.2f} ms CPU")
        await pilot.press("end")
        before = time.process_time()
        for _ in range(10):
            first = app.rows.count
            app.rows.count += 100_000
            app.view.source_changed(first)
            await pilot.pause()
        print(f"100,000 rows appended   {(time.process_time() - before) * 1e2:8.2f} ms CPU")


asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000))
