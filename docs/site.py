"""Hooks of the site (`make docs`): links that leave docs/ become text, and no page may load from another host."""

import re
from pathlib import Path

DOCS = Path(__file__).parent.resolve()


def on_page_markdown(markdown: str, page, **_: object) -> str:
    """Keep the text of links to files outside docs/: the site does not have these files."""
    folder = (DOCS / page.file.src_uri).parent

    def text(match: re.Match[str]) -> str:
        leads_out = not (folder / match[2]).resolve().is_relative_to(DOCS)
        return match[1] if leads_out else match[0]

    return re.sub(r"\[([^\]]+)\]\(([^)\s#:]+)(?:#[^)]*)?\)", text, markdown)


def on_post_page(output: str, page, **_: object) -> str:
    """Raise if the page loads a script, a style or a picture from another host."""
    match = re.search(r"<(?:script|img|iframe)[^>]+src=.?https?:[^>]*>|<link[^>]+rel=.?stylesheet[^>]+https?:", output)
    if match:
        raise ValueError(f"{page.file.src_uri} loads from another host: {match[0]}")
    return output
