"""The curve of a soak run as an SVG: memory, and what a process holds, over the minutes."""

from __future__ import annotations

from collections.abc import Sequence

WIDTH, HEIGHT, LEFT, TOP, GAP = 760, 180, 60, 34, 66
MEMORY = (("interface_mb", "interface", "#1f77b4"), ("tap_mb", "tap", "#d95f02"))
HELD = (
    ("interface_descriptors", "descriptors", "#1f77b4"),
    ("interface_threads", "threads", "#d95f02"),
    ("interface_tasks", "tasks", "#1b9e77"),
    ("interface_children", "children", "#7570b3"),
)


def picture(samples: Sequence[dict[str, float]]) -> str:
    """Two plots, one below the other."""
    plots = [
        plot(samples, MEMORY, "Memory (RSS) in MB", TOP),
        plot(samples, HELD, "The interface: descriptors, threads, tasks, children", TOP + HEIGHT + GAP),
    ]
    height = TOP + 2 * HEIGHT + GAP + 40
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 20} {height}" '
        f'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="#fff"/>\n'
        + "\n".join(plots)
        + "\n</svg>\n"
    )


def plot(samples: Sequence[dict[str, float]], lines: Sequence[tuple[str, str, str]], title: str, top: float) -> str:
    """One plot: its title, its axes from 0, and a line for each column."""
    last = max(sample["minutes"] for sample in samples) or 1.0
    most = nice(max(sample[key] for sample in samples for key, _, _ in lines))
    parts = [f'<text x="{LEFT}" y="{top - 14}" font-weight="bold">{title}</text>']
    for step in range(5):
        y = top + HEIGHT - HEIGHT * step / 4
        parts.append(f'<path d="M{LEFT} {y:.1f}h{WIDTH}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{most * step / 4:g}</text>')
    for step in range(7):
        x = LEFT + WIDTH * step / 6
        unit = " min" if step == 6 else ""
        parts.append(
            f'<text x="{x:.1f}" y="{top + HEIGHT + 16}" text-anchor="middle">{last * step / 6:.3g}{unit}</text>'
        )
    for at, (key, name, colour) in enumerate(lines):
        points = " ".join(
            f"{LEFT + WIDTH * sample['minutes'] / last:.1f},{top + HEIGHT - HEIGHT * sample[key] / most:.1f}"
            for sample in samples
        )
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        x = LEFT + WIDTH - 100 * (len(lines) - at)
        parts.append(f'<rect x="{x}" y="{top - 24}" width="10" height="10" fill="{colour}"/>')
        parts.append(f'<text x="{x + 14}" y="{top - 15}">{name}</text>')
    return "\n".join(parts)


def nice(value: float) -> float:
    """The next round number that four steps divide well."""
    size = 1.0
    while size * 10 <= value:
        size *= 10
    return next(step * size for step in (1, 2, 4, 6, 8, 10) if step * size >= value)
