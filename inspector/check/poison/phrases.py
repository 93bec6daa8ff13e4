"""Finds what one sentence tells a model to do, by `phrases.toml` and by marks that are not words (`patterns.toml`).

The words were chosen by the public taxonomies named in `families` and tried on definitions of real servers. They are
English. Loud words alone (IMPORTANT, MUST, ALWAYS) mean nothing: half of all servers use them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from typing import NamedTuple

from inspector.check.poison.families import PoisonLevel
from inspector.check.poison.word_patterns import Sentence, alternatives, listed


class Phrase(NamedTuple):
    """Words of one sentence that give an order to a model."""

    family: str
    text: str
    level: PoisonLevel | None = None
    """The level, where it is not that of the family."""


def _re(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


WELL_KNOWN = listed("products")
"""Names of products with a well-known server."""
_PRIVATE_FILES = frozenset(listed("private_files"))
_UNMISTAKABLE_FILES = frozenset(name for name in _PRIVATE_FILES if not name.isalpha())
"""Those that are a file without a path too: a shadow is also what a card has."""
_PUBLIC_ENDS = frozenset(("dist", "example", "sample", "template"))
"""What comes after `.env.` in the file that a repository shows."""
_PRIVATE_ENDS = tuple(name[1:] for name in _PRIVATE_FILES if name[0] == "*")
_NOT_A_TOOL = frozenset(listed("not_a_tool"))
_TOOL_VERBS = frozenset(listed("tool_verbs"))
_OF_TOOLS = _TOOL_VERBS.union(WELL_KNOWN)
_PARTS = re.compile(r"[A-Z]?[a-z0-9]++|[A-Z]++")
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9]*+(?:_[A-Za-z0-9]++)++|[a-z]{2}[a-z0-9]*+(?:[A-Z][a-z0-9]++)++")
_WITH_HYPHENS = re.compile(r"[A-Za-z][A-Za-z0-9]*+(?:[_-][A-Za-z0-9]++)++")
_ENVIRONMENT_NAME = re.compile(r"[A-Z][A-Z0-9]*+(?:_[A-Z0-9]++)*_(?:KEY|TOKEN|SECRET|PASSWORD)")
_QUOTES = frozenset("`'\"“”‘’")
_ALWAYS_READ = ("secretfile", "override", "secrecy", "exfil", "fetch", "image", "chain")
_CALLED = frozenset(("tool", "function", "tools", "functions"))
_OF_VARIABLES = frozenset(("environment", "env", "variable", "variables"))

_VOICE = re.compile(alternatives("voice"))
_SPEAKER = re.compile(alternatives("speaker"))
_PIPED = _re(alternatives("piped"))
_SHOWN = _re(r"!?\[[^\[\]\n]{0,120}+\]\($|<(?:img|a)\b[^<>\n]{0,80}(?:src|href)\s?=\s?[\"']?$")
"""What stands before the address of a picture or link, in Markdown and HTML."""
_GAPS = re.compile(r"[{<\[]([^{}<>\[\]\n]{1,80}+)[}>\]]|\b([A-Z]{3,}(?:_[A-Z]++)*+)\b")
_ADDRESS = re.compile(r"(?:[^\s<>{}\[\]()\"'`]++|[{<\[]{1,3}+[^{}<>\[\]\n]{1,80}+[}>\]]{1,3}+|[{$](?=[{<]))*+")
_PUBLIC = re.compile(r"user(?:_?name)?|.*(?:id|ids|uuid|number|slug|index|hash|count)", re.IGNORECASE)
"""Gaps of addresses that everyone may see."""
_OF_HELP = _re(r"docs|doc\.|help|support|developer|guide|readme|wiki/")
_KNOWN = _re("|".join(listed("known_by_model")))


def _kind_of_url(text: str, start: int) -> Iterator[str]:
    """Yield the groups of a URL that has a gap for what a model knows."""
    address = _ADDRESS.match(text, start)
    url = address[0] if address else ""
    path = url[len("https://") :].partition("/")[1:]
    if any(
        _KNOWN.search(gap) and not _PUBLIC.fullmatch(gap)
        for gap in (match[1] or match[2] for match in _GAPS.finditer("".join(path)))
    ):
        yield "FILLED_LINK" if _SHOWN.search(text, max(0, start - 210), start) else "FILLED_URL"
    if url.rstrip(".,:;")[-1:] in ("=", "#"):
        yield "OPEN_URL"


def read(text: str, own: Set[str] = frozenset()) -> Sentence:
    """A sentence with what its names stand for. `own`: the names of this server's tools, parameters and values."""
    sentence = Sentence(text)
    after_call = {end for _, end in sentence.spans_of("CALL*")}
    for at, word in enumerate(sentence.words[1:], 1):
        written = text[word.start : word.end]
        if not written[0].isalnum() and len(written) == 1:
            continue
        parts = re.split(r"[/\\]", word.text)
        is_file = False
        files = _PRIVATE_FILES if len(parts) > 1 else _UNMISTAKABLE_FILES
        if word.text.endswith(_PRIVATE_ENDS) or any(
            part in files or (part[:5] == ".env." and part[5:] not in _PUBLIC_ENDS) for part in parts
        ):
            sentence.add("FILE", at)
            is_file = True
        if _ENVIRONMENT_NAME.fullmatch(written):
            sentence.add("ENVIRONMENT_NAME", at)
            continue
        if word.text.startswith("http"):
            for group in _kind_of_url(text, word.start):
                sentence.add(group, at)
            if _OF_HELP.search(word.text):
                sentence.add("DOCUMENTATION", at)
            continue
        quoted = text[word.start - 1 : word.start] in _QUOTES and text[word.end : word.end + 1] in _QUOTES
        if quoted and not is_file:
            sentence.add("ARGUMENT", at)
        is_own = _same(written) in own or _is_own_path(written, own)
        if word.text in WELL_KNOWN and not is_own:
            sentence.add("PRODUCT", at)
        next_text = sentence.words[at + 1].text if at + 1 < len(sentence.words) else ""
        before = sentence.words[at - 1].text
        named = before in _CALLED or next_text in _CALLED
        used = quoted or named or at in after_call
        if written.isupper() and next_text in _OF_VARIABLES:
            continue
        if word.text not in _NOT_A_TOOL and any(_is_name(part, used) for part in written.split(".")):
            sentence.add("TOOL", at)
            # GITHUB_REPO is a setting, GITHUB_CREATE_REPO a tool.
            marks = _TOOL_VERBS if written.isupper() else _OF_TOOLS
            if not is_own and (named or marks & {part.lower() for part in _PARTS.findall(written)}):
                sentence.add("FOREIGN", at)
        elif is_own and (used or (before == "the" and at - 1 in after_call)):
            sentence.add("TOOL", at)
    return sentence


def _is_own_path(written: str, own: Set[str]) -> bool:
    """Whether a path ends in a name of this server, and does not begin with a product."""
    first, *parts = written.split(".")
    return bool(parts) and _same(parts[-1]) in own and first.lower() not in WELL_KNOWN


def _is_name(word: str, used: bool) -> bool:
    """Whether a word looks like a name in code; with hyphens only where it is `used` as one."""
    return _IDENTIFIER.fullmatch(word) is not None or (used and _WITH_HYPHENS.fullmatch(word) is not None)


def depends_on_names(sentence: Sentence) -> bool:
    """Whether the names of a server may decide what `phrases` finds in a sentence."""
    return any(group in sentence.places for group in ("CALL*", "FOREIGN", "PRODUCT", "ARGUMENT"))


def phrases(sentence: Sentence, *, data: bool = False, is_parameter: bool = False) -> Iterator[Phrase]:
    """Yield what one sentence tells a model to do, at most once for each family.

    `data`: the sentence stands in a result or an error. `is_parameter`: it describes a parameter, or is its default.
    """
    text = sentence.text
    piped = _PIPED.search(text)
    if piped is not None and not sentence.is_denied(sum(word.start < piped.start() for word in sentence.words)):
        yield Phrase("fetch", piped[0], "security")
    marks = {"override": _VOICE, "voice": _SPEAKER}
    for family in (*_ALWAYS_READ, *(("voice", "repair") if data else ("shadow",))):
        span = sentence.find(family) or (sentence.find(f"{family} parameter") if is_parameter else None)
        if span is not None:
            yield Phrase("fetch" if family == "repair" else family, _cut(text, *span))
        elif family in marks and (match := marks[family].search(text)):
            yield Phrase(family, match[0].strip())


def ordered_tools(text: str, own: Set[str]) -> Iterator[str]:
    """Yield the names in a sentence that orders how tools are used, without the server's own.

    Only the tools of other servers tell which of these are names of tools.
    """
    sentence = read(text, own)
    if not {"ALWAYS", "OBLIGED"} & sentence.places.keys():
        return
    used = {at for at, _ in sentence.spans_of("TOOL")}
    used |= {at for at, end in sentence.spans_of("ARGUMENT") if _is_about_use(sentence, at - 1, end)}
    for at in sorted(used):
        word = sentence.words[at]
        name = text[word.start : word.end]
        if _same(name) not in own and not sentence.is_denied(at):
            yield name


def _is_about_use(sentence: Sentence, before: int, after: int) -> bool:
    """Whether the words beside a quoted name say that it is used."""
    ends = {end for group in ("CALL*", "ALWAYS", "tool", "function") for _, end in sentence.places.get(group, ())}
    starts = {start for group in ("OBLIGED", "tool", "function") for start, _ in sentence.places.get(group, ())}
    return before + 1 in ends or after in starts


def own_names(names: Set[str]) -> frozenset[str]:
    """The names of a server in the form in which `read` compares them."""
    return frozenset(_same(name) for name in names)


def _same(name: str) -> str:
    return re.sub(r"[-_.]", "", name.strip("`'\"“”‘’")).lower()


def _cut(sentence: str, start: int, end: int) -> str:
    """The words from `start` to `end` with some before and after them, 200 characters at most."""
    return " ".join(sentence[max(0, start - 40) : min(len(sentence), end + 60)].split())[:200]
