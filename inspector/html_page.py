"""The start of every web page that Inspector writes: nothing but its own style and script can load or run.

The content security policy names both by their hashes, and forbids everything else: other scripts and styles, images,
connections, frames, forms. A script may not create markup from text (Trusted Types).
"""

from __future__ import annotations

import base64
import hashlib
from html import escape


def page_head(title: str, style: str, script: str = "") -> str:
    """Return a page up to its body, which may have `script` in one element. `title` is plain, safe text."""
    scripts = _hash(script) if script else "'none'"
    policy = (
        f"default-src 'none'; script-src {scripts}; style-src {_hash(style)}; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{escape(title)}</title>
<style>{style}</style>
</head>
"""


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
