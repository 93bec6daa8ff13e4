"""The facts of docs/reference/host-files.md, written from the table: `python -m tests.config.host_files_page`."""

from __future__ import annotations

from pathlib import Path

from inspector.config.host_files.table import Host, HostFact, hosts

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "host-files.md"
BEGIN = "<!-- the facts, written by `python -m tests.config.host_files_page` -->"
END = "<!-- end of the facts -->"
SYSTEMS = {"linux": "Linux", "darwin": "macOS", "win32": "Windows", "posix": "Linux, macOS"}


def table() -> str:
    """The facts by host, a row each."""
    lines: list[str] = []
    for host in hosts():
        lines += ["", f"## {host.name}", "", f"`--host {host.id}`", ""]
        lines += [f"- {line}" for line in _files(host)]
        lines += ["", "| Fact | Source |", "|---|---|", *map(_row, host.facts.values())]
    return "\n".join(lines).strip()


def _files(host: Host) -> list[str]:
    lines = []
    for file in host.rule("files"):
        path, moved = file["path"], file.get("variables", {})
        places = {"": path} if isinstance(path, str) else {f"{SYSTEMS[name]}: ": place for name, place in path.items()}
        lines += [f"{file['scope']}, {name}`{place}`" for name, place in places.items()]
        lines += [f"{file['scope']}, if it is set: `${variable}/{rest}`" for variable, rest in moved.items()]
    return lines


def _row(fact: HostFact) -> str:
    what = f"Expands: {fact.what}." if fact.rule == "expands" else fact.what
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in (what, fact.cited)) + " |"


def written(page: str) -> str:
    """The page with the facts of today."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
