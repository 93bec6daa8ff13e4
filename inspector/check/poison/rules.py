"""The rules of the judge about poisoned text: in definitions, and in results and errors."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping, Set
from typing import Any

from inspector.check.judge.clean_texts import CleanTexts, digest_of
from inspector.check.judge.rules import PAUSE, RuleVerdict, short
from inspector.check.judge.state import WaitingDefinition
from inspector.check.judge.text_rules import without_odd_values
from inspector.check.poison.families import FAMILIES
from inspector.check.poison.judge import MAX_READ, PoisonedText, Reading, TextPlace, is_innocent, read_text
from inspector.check.poison.names import imitated, wants_context
from inspector.check.poison.phrases import own_names
from inspector.check.poison.prepared_text import MAX_LENGTH, same_but_numbers
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
MAX_VALUES = 2_000
"""Values of a tool's schema whose names of parameters are read."""
MAX_FINDINGS = 50
"""In one message."""
MAX_NAMES = 20_000
BY_NAMES = frozenset((IDS["shadow"], IDS["chain"]))
"""The checks that depend on the names of the server: they wait until its tools are listed."""
MAX_WAITING = 2_000
"""Definitions of one connection that wait for the names; further ones are judged at once."""
_OF_DEFINITIONS = ("hidden", "shadow", "secretfile", "override", "secrecy", "exfil", "fetch", "image", "chain")
_IN_DATA = frozenset(IDS[family] for family in ("secretfile", "secrecy", "exfil", "image"))
"""The checks of severe orders, in definitions and in data alike."""
_READ_FOR: Mapping[TextPlace, tuple[str, ...]] = {
    "definition": tuple(sorted({IDS[family] for family in _OF_DEFINITIONS} | {"WORD-14", "WORD-16"})),
    "result": tuple(sorted(_IN_DATA | {IN_RESULT, "WORD-16"})),
    "error": (IN_ERROR,),
}
"""By place, the checks for which texts are read."""
_WANTED = frozenset(("default", "description"))
_innocent = CleanTexts()
"""Definitions without a finding whatever the names of the server are."""


def taxonomy_codes(check: str) -> tuple[str, ...]:
    """The codes of public taxonomies for a check, as tags; empty for a check that is not about poisoned text."""
    families = {id: family for family, id in IDS.items()} | {id: family for (family, _), id in AT_LEVEL.items()}
    family = families.get(check, "voice" if check in (IN_RESULT, IN_ERROR) else "")
    return tuple(FAMILIES[family].codes) if family else ()


def names_in(entries: list[Any]) -> frozenset[str]:
    """The names of a server in its list: of items, their properties and arguments, and the values of enums."""
    names: set[str] = set()
    todo: list[Any] = list(entries)
    while todo and len(names) < MAX_NAMES:
        value = todo.pop()
        if type(value) is dict:
            name, enum, properties = value.get("name"), value.get("enum"), value.get("properties")
            names.update(text for text in (name, *(enum if type(enum) is list else ())) if type(text) is str)
            names.update(properties if type(properties) is dict else ())
            todo += (below for below in value.values() if isinstance(below, (dict, list)))
        elif type(value) is list:
            todo += value
    return own_names(names)


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
    reading = Reading()
    for entry in entries:
        if type(entry) is dict:
            whose = f"{kind} {short(entry.get('name'))}"
            innocent = (yield from _first_rules(whose, entry, own, waiting, reading)) and innocent
    yield from _unread(reading, "definition")
    if innocent:
        _innocent.add(digest)


def opening_rules(instructions: Any, own: Set[str], waiting: list[WaitingDefinition]) -> Iterator[RuleVerdict]:
    """Of the instructions of a server."""
    reading = Reading()
    yield from _first_rules("the server", {"instructions": instructions}, own, waiting, reading)
    yield from _unread(reading, "definition")


def _first_rules(
    whose: str, definition: Any, own: Set[str], waiting: list[WaitingDefinition], reading: Reading
) -> Generator[RuleVerdict, None, bool]:
    """Of a definition before all names of the server are known. Returns whether it is innocent, whatever they are."""
    findings: list[RuleVerdict] = []
    verdicts = definition_rules(whose, definition, own, reading)
    while True:
        try:
            verdict = next(verdicts)
        except StopIteration as end:
            if end.value:
                return True
            break
        if verdict is PAUSE:
            yield PAUSE
        else:
            findings.append(verdict)
    if len(waiting) < MAX_WAITING:
        waiting.append(WaitingDefinition(whose, definition))
        findings = [verdict for verdict in findings if verdict[0] not in BY_NAMES]
    yield from findings
    return False


def last_rules(waited: WaitingDefinition, own: Set[str], reading: Reading) -> Iterator[RuleVerdict]:
    """Of a waiting definition, when the names of the server are known. `reading`: of its message, from the start."""
    verdicts = definition_rules(*waited, own, reading)
    return (verdict for verdict in verdicts if verdict is PAUSE or verdict[0] in BY_NAMES)


def _unread(reading: Reading, place: TextPlace) -> Iterator[RuleVerdict]:
    """Tell each check that reads the texts of a message that a part of them was not read."""
    limits = f"{MAX_READ:,} of a message are read, {MAX_LENGTH:,} of one text"
    for id in _READ_FOR[place] if reading.unread else ():
        yield id, "note", f"{reading.unread:,} characters of the message were not read: {limits}."


def definition_rules(
    whose: str, definition: Any, own: Set[str], reading: Reading
) -> Generator[RuleVerdict, None, bool]:
    """Of a tool, prompt, resource or template, or of the server's instructions. `own`: the names of this server.

    Returns whether it is innocent, whatever the names are.
    """
    key = _key_of(definition)
    if key in _innocent:
        return True
    left = MAX_FINDINGS
    unread = reading.unread
    innocent = True
    for path, text, is_parameter in texts_of(definition):
        prepared = without_odd_values(reading.cut(text))
        for poisoned in read_text(prepared, "definition", reading, own=own, is_parameter=is_parameter):
            if poisoned is None:
                yield PAUSE
                continue
            id = AT_LEVEL.get((poisoned.family, poisoned.level), IDS[poisoned.family])
            yield id, "should", _sentence(whose, path, poisoned)
            left -= 1
            if not left:
                return False
        innocent = innocent and reading.unread == unread and is_innocent(prepared, is_parameter=is_parameter)
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
    left = MAX_VALUES
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
    reading = Reading()
    for path, text, _ in texts_of(data):
        for poisoned in read_text(reading.cut(text), place, reading, own=own, hidden=False):
            if poisoned is None:
                yield PAUSE
                continue
            if any(poisoned.words in argument or _is_most_of(argument, poisoned.words) for argument in arguments):
                continue
            milder = IN_ERROR if place == "error" else IN_RESULT
            id = AT_LEVEL.get((poisoned.family, poisoned.level)) or IDS.get(poisoned.family, milder)
            if poisoned.level == "info":
                id = milder
            elif poisoned.inside and id not in _IN_DATA:
                id = IDS["hidden"]
            yield id, "should", _sentence(whose, path, poisoned)
            left -= 1
            if not left:
                return
    yield from _unread(reading, place)


def _is_most_of(argument: str, words: str) -> bool:
    return len(argument) * 2 > len(words) and argument in words


def _sentence(whose: str, path: str, poisoned: PoisonedText) -> str:
    place = f"{whose}: {path}" if path else whose
    if poisoned.family == "hidden":
        return f"{place} contains {poisoned.words}."
    encoded = f" (in {poisoned.inside})" if poisoned.inside else ""
    return f"{place} tells a model to {FAMILIES[poisoned.family].effect}{encoded}: {excerpt(poisoned.words, 220)}."


def texts_of(value: Any) -> Iterator[tuple[str, str, bool]]:
    """Yield (path, text, whether it describes a parameter) for the texts of a value; keys of objects are texts too."""
    todo: list[tuple[str, Any, bool]] = [("", value, False)]
    while todo:
        path, item, inside = todo.pop()
        if type(item) is str:
            yield path, item, inside and path.rpartition(".")[2] in _WANTED
        elif type(item) is dict:
            for key, below in item.items():
                if not key.isascii():
                    yield f"the name in {path or 'it'}", key, False
                todo.append((f"{path}.{key}" if path else key, below, inside or key == "properties"))
        elif type(item) is list:
            todo += ((f"{path}[{n}]", below, inside) for n, below in enumerate(item))
