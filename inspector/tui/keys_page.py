"""The table of keys in docs/reference/keys.md, generated from the table of verbs."""

from __future__ import annotations

from inspector.tui.keymap import Keymap, label

BEGIN = "<!-- keys: made by `python -m inspector.tui.keys_page`, tested to be current -->"
END = "<!-- end of keys -->"


def markdown() -> str:
    """Return the default keys of every verb as Markdown tables, one for each place where they work."""
    parts = []
    for group, key_rows in Keymap().table().items():
        rows = [
            f"| {_keys(row.keys)} | {row.verbs[0].description} | {' '.join(f'`{verb.id}`' for verb in row.verbs)} |"
            for row in key_rows
        ]
        parts.append("\n".join([f"### {group}", "", "| Key | Does | Id |", "|---|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


def _keys(keys: list[str]) -> str:
    """Keys as inline code; a verb without a key is in the palette."""
    return " ".join(_code(label(key)) for key in keys) or "palette"


def _code(text: str) -> str:
    """Inline code; a backquote or a bar is escaped."""
    text = text.replace("|", "\\|")
    return f"`` {text} ``" if "`" in text else f"`{text}`"


if __name__ == "__main__":
    print(markdown(), end="")
