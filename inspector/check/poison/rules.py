"""The rules of the judge about poisoned text: in definitions, and in results and errors."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Set
from typing import Any

from inspector.check.judge.clean_texts import CleanTexts, digest_of
from inspector.check.judge.rules import RuleVerdict, short
from inspector.check.judge.state import WaitingDefinition
from inspector.check.judge.text_rules import without_odd_values
from inspector.check.poison.families import FAMILIES
from inspector.check.poison.judge import PoisonedText, TextPlace, is_innocent, judge_text
from inspector.check.poison.names import imitated, wants_context
from inspector.check.poison.phrases import own_names
from inspector.check.poison.prepared_text import same_but_numbers
from inspector.protocol.jsonrpc import excerpt

IDS = {
    "hidden": "TOOL-24",
    "shadow": "WORD-01",
    "secretfile": "WORD-02",
    "override": "WORD-03",
    "secrecy": "WORD-04",
    "exfil": "WORD-05",
    "fetch": "WORD-06",
    "image": "WORD-07",
    "chain": "WORD-08",
    "param": "WORD-09",
    "samename": "WORD-12",
    "typosquat": "WORD-13",
}
"""The check of each family."""
AT_LEVEL = {
    ("hidden", "lint"): "WORD-14",
    ("param", "lint"): "WORD-15",
    ("fetch", "security"): "WORD-16",
}
"""The check of a family where a finding has another level than the family."""
IN_RESULT, IN_ERROR = "WORD-10", "WORD-11"
"""The checks of milder orders in data, which others may have written."""
MAX_TEXTS = 2_000
MAX_FINDINGS = 50
"""In one message."""
MAX_NAMES = 20_000
BY_NAMES = frozenset((IDS["shadow"], IDS["chain"]))
"""The checks that depend on the names of the server: they wait until its tools are listed."""
MAX_WAITING = 2_000
"""Definitions of one connection that wait for the names; further ones are judged at once."""
_IN_DATA = frozenset(IDS[family] for family in ("secretfile", "secrecy", "exfil", "image"))
"""The checks of severe orders, in definitions and in data alike."""
_WANTED = frozenset(("default", "description"))
_innocent = CleanTexts()
"""Definitions without a finding whatever the names of the server are."""


def taxonomy_codes(check: str) -> tuple[str, ...]:
    """The codes of public taxonomies for a check, as tags; empty for a check that is not about poisoned text."""
    families = {id: family for family, id in IDS.items()} | {id: family for (family, _), id in AT_LEVEL.items()}
    family = families.get(check, "voice" if check in (IN_RESULT, IN_ERROR) else "")
    return FAMILIES[family].codes if family else ()


def names_in(entries: list[Any]) -> frozenset[str]:
    """The names of a server in its list: of items, their properties and arguments, and the values of enums."""
    found: set[str] = set()
    todo: list[Any] = list(entries)
    while todo and len(found) < MAX_NAMES:
        value = todo.pop()
        if type(value) is dict:
            name, enum, properties = value.get("name"), value.get("enum"), value.get("properties")
            found.update(each for each in (name, *(enum if type(enum) is list else ())) if type(each) is str)
            found.update(properties if type(properties) is dict else ())
            todo += (below for below in value.values() if isinstance(below, (dict, list)))
        elif type(value) is list:
            todo += value
    return own_names(found)


def server_name_rules(name: Any) -> Iterator[RuleVerdict]:
    """Of the name that a server gives itself."""
    known = imitated(name) if type(name) is str else ""
    if known:
        yield IDS["typosquat"], "should", f"The server's name {short(name)} looks like {known}, and is another."


def words_of_server(info: Any) -> frozenset[str]:
    """The words of a server's own name and title, in the form of `own_names`."""
    names = [info.get(key) for key in ("name", "title")] if type(info) is dict else []
    words = (word for name in names if type(name) is str for word in re.split(r"[^\w]+|_", name[:200]))
    return own_names({word for word in words if len(word) > 2} - {"mcp", "server"})


def page_rules(
    kind: str, entries: list[Any], digest: bytes, own: Set[str], waiting: list[WaitingDefinition]
) -> Iterator[RuleVerdict]:
    """Of the entries of a list, each a `kind`. `digest` is that of the page; empty if it has none.

    What depends on the names of the server goes to `waiting`.
    """
    if digest in _innocent:
        return
    innocent = bool(digest)
    for entry in entries:
        if type(entry) is dict:
            whose = f"{kind} {short(entry.get('name'))}"
            innocent = (yield from first_rules(whose, entry, own, waiting)) and innocent
    if innocent:
        _innocent.add(digest)


def first_rules(
    whose: str, definition: Any, own: Set[str], waiting: list[WaitingDefinition]
) -> Generator[RuleVerdict, None, bool]:
    """Of a definition before all names of the server are known. Returns whether it is innocent, whatever they are."""
    found: list[RuleVerdict] = []
    verdicts = definition_rules(whose, definition, own)
    while True:
        try:
            found.append(next(verdicts))
        except StopIteration as end:
            if end.value:
                return True
            break
    if len(waiting) < MAX_WAITING:
        waiting.append(WaitingDefinition(whose, definition))
        found = [verdict for verdict in found if verdict[0] not in BY_NAMES]
    yield from found
    return False


def last_rules(waited: WaitingDefinition, own: Set[str]) -> Iterator[RuleVerdict]:
    """Of a waiting definition, when the names of the server are known."""
    return (verdict for verdict in definition_rules(*waited, own) if verdict[0] in BY_NAMES)


def definition_rules(whose: str, definition: Any, own: Set[str]) -> Generator[RuleVerdict, None, bool]:
    """Of a tool, prompt, resource or template, or of the server's instructions. `own`: the names of this server.

    Returns whether it is innocent, whatever the names are.
    """
    key = _key_of(definition)
    if key in _innocent:
        return True
    left = MAX_FINDINGS
    innocent = True
    for path, text, is_parameter in texts_of(definition):
        shown = without_odd_values(text)
        for found in judge_text(shown, own=own, wanted=is_parameter):
            id = AT_LEVEL.get((found.family, found.level), IDS[found.family])
            yield id, "should", _sentence(whose, path, found)
            left -= 1
            if not left:
                return False
        innocent = innocent and is_innocent(shown, wanted=is_parameter)
    for verdict in _parameter_rules(whose, definition) if type(definition) is dict else ():
        innocent = False
        yield verdict
    if innocent and key:
        _innocent.add(key)
    return innocent


def _key_of(definition: Any) -> bytes:
    try:
        return digest_of(same_but_numbers(repr(definition)))
    except RecursionError:
        return b""  # No digest is empty.


def _parameter_rules(whose: str, tool: dict[str, Any]) -> Iterator[RuleVerdict]:
    schema = tool.get("inputSchema")
    about = " ".join(str(tool.get(key) or "") for key in ("title", "description"))
    todo = [schema]
    left = MAX_TEXTS
    while todo and left:
        value = todo.pop()
        left -= 1
        if type(value) is dict:
            properties, required = value.get("properties"), value.get("required")
            for name in properties if type(properties) is dict else ():
                if wants_context(name, str(tool.get("name")), about):
                    effect = FAMILIES["param"].effect
                    needed = type(required) is list and name in required
                    id = AT_LEVEL["param", "lint"] if needed else IDS["param"]
                    what = "required parameter" if needed else "parameter"
                    yield id, "should", f"{whose}: the {what} {short(name)} makes a model {effect}."
            todo += (below for below in value.values() if isinstance(below, (dict, list)))
        elif type(value) is list:
            todo += value


def data_rules(whose: str, data: Any, place: TextPlace, own: Set[str], given: Any = None) -> Iterator[RuleVerdict]:
    """Of what a result or an error holds. What repeats `given`, the arguments of the call, is not the server's."""
    arguments = [text for _, text, _ in texts_of(given)]
    left = MAX_FINDINGS
    for path, text, _ in texts_of(data):
        for found in judge_text(text, place, own=own, hidden=False):
            if any(found.words in argument or _is_most_of(argument, found.words) for argument in arguments):
                continue
            milder = IN_ERROR if place == "error" else IN_RESULT
            id = AT_LEVEL.get((found.family, found.level)) or IDS.get(found.family, milder)
            if found.level == "info":
                id = milder
            elif found.inside and id not in _IN_DATA:
                id = IDS["hidden"]
            yield id, "should", _sentence(whose, path, found)
            left -= 1
            if not left:
                return


def _is_most_of(argument: str, words: str) -> bool:
    return len(argument) * 2 > len(words) and argument in words


def _sentence(whose: str, path: str, found: PoisonedText) -> str:
    place = f"{whose}: {path}" if path else whose
    if found.family == "hidden":
        return f"{place} contains {found.words}."
    encoded = f" (in {found.inside})" if found.inside else ""
    return f"{place} tells a model to {FAMILIES[found.family].effect}{encoded}: {excerpt(found.words, 220)}."


def texts_of(value: Any) -> Iterator[tuple[str, str, bool]]:
    """Yield (path, text, whether it describes a parameter) for the texts of a value; keys of objects are texts too."""
    todo: list[tuple[str, Any, bool]] = [("", value, False)]
    left = MAX_TEXTS
    while todo and left:
        path, item, inside = todo.pop()
        if type(item) is str:
            left -= 1
            yield path, item, inside and path.rpartition(".")[2] in _WANTED
        elif type(item) is dict:
            for key, below in item.items():
                if not key.isascii():
                    yield f"the name in {path or 'it'}", key, False
                todo.append((f"{path}.{key}" if path else key, below, inside or key == "properties"))
        elif type(item) is list:
            todo += ((f"{path}[{n}]", below, inside) for n, below in enumerate(item))
