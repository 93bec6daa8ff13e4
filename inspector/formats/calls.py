"""A flow of saved calls: `inspector run` makes the recorded calls again and checks each answer.

The flow has the client's requests in their order, and its answers to the server's questions. A value that an answer
made up and a later request used becomes a variable. Answers, ids and times of the server are not in the flow: a step
expects success, or the kind of error that was recorded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import IO, Any

from inspector.addresses import shown_url
from inspector.calls.templates import literal
from inspector.calls.writing import flow_text, request_step, server_text, step_text
from inspector.calls.yaml_text import MAX_SIZE
from inspector.compare.json_places import ROOT, ValuePath
from inspector.errors import ConfigError, UsageError
from inspector.formats.python_script import ExportStep, steps
from inspector.formats.quoting import REDACTED
from inspector.formats.selection import Selection, facts_of, message_of, target_of
from inspector.hints import Hint, Parameter
from inspector.journal.format import Dir
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import Shape
from inspector.protocol.views import View
from inspector.text import quantity, safe

_COMMENT = "Made from a recording. Add what each step should find under `expect`."
_OUTPUT_SCHEMA = "TOOL-09"
"""The rule that a structured result fits the outputSchema of its tool."""
_ORDER = tuple(
    """
    call read prompt complete request notify skip args params argument value task answer capture secret expect
    """.split()
)
"""The keys of a step as they are written."""
_OWN_NOTIFICATIONS = frozenset(
    (
        "notifications/initialized",
        "notifications/cancelled",
        "notifications/progress",
        "notifications/roots/list_changed",
    )
)
"""Notifications that a client sends by itself."""
_NOTIFICATIONS = Query(dir=Dir.SEND, shape=Shape.NOTIFICATION)
_DISCOVERY = Query(method="server/discover", dir=Dir.SEND, shape=Shape.REQUEST)
"""A session that began with it and is of the legacy era has found out that the server knows no other."""
_LISTS = frozenset(("tools/list", "resources/list", "resources/templates/list", "prompts/list"))
"""Requests of a client that shows what a server has. The runner makes them itself where it needs to."""
_VALUES = 20_000
"""Values of one answer that are looked at."""
_MAX_DEPTH = 30
"""Steps of a path in a `capture`."""
_MIN_LENGTH, _MIN_SENTENCE = 3, 20
"""Characters of a text that an answer made up, with a digit or named like an id; and of any other."""
_MAX_LENGTH = 10_000
"""Characters of a value that is looked for in later requests."""
_SMALLEST_NUMBER = 1000
"""Smaller integers are equal by chance too often, unless both places are named like an id."""
_WORD = re.compile(r"[A-Za-z0-9_-]{6,}")
"""A part of a text, such as the id in a URI."""
_ID = re.compile(r"(?:(?:^|[_-])(?:id|uuid|key|token|cursor|handle|ref)|(?<=[a-z0-9])(?:Id|ID|Uuid|Key|Token|Ref))s?$")
"""How the name of a member ends whose value a server makes up."""


def write(journal: Journal, out: IO[str], numbers: Iterable[int] | None) -> list[str]:
    """Write the flow to `out`. Raises `UsageError` where it would be larger than a flow may be."""
    maker = _FlowBuilder(journal, Selection(journal, numbers))
    made = maker.steps()
    server = safe(View(facts_of(journal).server).text("name"), 80)
    text = flow_text(
        f"Recorded calls of {server}" if server else "Recorded calls",
        _server(journal),
        made,
        comment="\n".join([_COMMENT, *_era(journal)]),
    )
    if len(text.encode()) > MAX_SIZE:
        raise UsageError(
            f"The saved call of {len(made):,} steps would be larger than 1 MiB.",
            hint=Hint("Choose a part with ", Parameter.FILTER, " or ", Parameter.EVENTS, "."),
        )
    out.write(text)
    return maker.notes() + _era(journal)


def _era(journal: Journal) -> list[str]:
    """Return a sentence about the era of the recording, where a server that speaks both would choose the other."""
    facts = facts_of(journal)
    if facts.era != "legacy" or _DISCOVERY.first(journal.index):
        return []
    return [
        f"Recorded with {safe(facts.revision, 20)}. If the server speaks 2026-07-28, too, run it with --era legacy."
    ]


def _server(journal: Journal) -> str | None:
    header = target_of(journal)
    argv = [argument for argument in header.array("argv") if isinstance(argument, str)]
    server = server_text(name=header.text("name"), command=argv, url=header.text("url"))
    return server if server and _is_writable(server) and not REDACTED.search(server) else None


def _is_writable(value: Any) -> bool:
    """Whether YAML has a text for a value: it has none for `NaN` and for half a surrogate pair."""
    try:
        step_text({"value": value})
    except ConfigError:
        return False
    return True


class _FlowBuilder:
    """The steps of a flow, and what could not become one."""

    def __init__(self, journal: Journal, chosen: Selection) -> None:
        self._journal = journal
        self._chosen = chosen
        self._values = _Values()
        self._asking: dict[tuple[str, str], dict[str, Any]] = {}
        """By method and name, the step that the server answered with questions (2026-07-28)."""
        self._made = self._omitted = self._mixed = 0

    def steps(self) -> list[dict[str, Any]]:
        """Return the steps in the order of the requests, each a plain object as a flow has it."""
        made: list[dict[str, Any]] = []
        notifications = _NOTIFICATIONS.numbers(self._journal.index)
        notifications.reverse()
        for step in steps(self._journal, self._chosen):
            while notifications and notifications[-1] < step.n:
                made += self._notification(notifications.pop())
            if step.round:
                self._go_on(step)
            elif step.method in _LISTS or step.method == "ping":
                # The runner asks for lists where it needs them.
                self._values.knows(self._message(step.n, answer=True).get("result"))
            elif step.why_not or not step.method or not _is_writable(step.params):
                self._omitted += 1
            else:
                made.append(self._step(step))
        for n in reversed(notifications):
            made += self._notification(n)
        self._made = len(made)
        return [{key: step[key] for key in _ORDER if key in step} for step in made]

    def notes(self) -> list[str]:
        """Return sentences about requests and values that are not in the flow."""
        notes = []
        if not self._made:
            notes.append("The recording has no request that a saved call can repeat.")
        if self._omitted:
            notes.append(
                f"{quantity(self._omitted, 'request')} without an answer, or that cannot be repeated: omitted."
            )
        if self._mixed:
            notes.append(
                f"{quantity(self._mixed, 'question')} of the server got another answer than an earlier one of the "
                "same step: `answer` has the first."
            )
        server = _server(self._journal)
        if self._values.secrets:
            names = ", ".join(self._values.secrets)
            notes.append(
                f"Secrets are not in the recording. Set these variables with --set or an environment: {names}."
                + (f" A run sends them to {shown_url(server, 300)}" if server else "")
            )
        header = target_of(self._journal)
        env = [safe(name, 60) for name in header.array("env") if isinstance(name, str)]
        if env and not header.text("name"):
            notes.append(f"The server was started with {', '.join(env)}. Pass these with --env, or name it @NAME.")
        if server and not header.text("name") and not header.text("url"):
            notes.append(f"A run starts the recorded command: {safe(server, 300)}")
        if server is None:
            notes.append("The recording does not name its server. Name it: inspector run FILE -- SERVER.")
        return notes

    def _notification(self, n: int) -> Iterator[dict[str, Any]]:
        message = self._message(n)
        method, params = message.get("method"), message.get("params")
        if n not in self._chosen or not isinstance(method, str) or not method or method in _OWN_NOTIFICATIONS:
            return
        if _is_writable((method, params)):
            yield {"notify": literal(method)} | (
                {"params": self._values.written(params)} if type(params) is dict else {}
            )

    def _step(self, step: ExportStep) -> dict[str, Any]:
        made = request_step(literal(step.method), self._values.written(step.params or {}))
        self._values.knows(step.params)
        answers = _Answers({}, self._values.written)
        for n in self._chosen.inside(step.n):
            if self._journal.index.shape(n) is Shape.REQUEST:
                if View(self._message(n).get("params")).text("mode") == "url":
                    made["skip"] = "The server asked the user to open a URL."
                answers.add_message(self._journal.index.method(n), self._message(n, answer=True))
        self._finish(made, step, answers)
        return made

    def _go_on(self, step: ExportStep) -> None:
        """Put the answers of a further round to the step that it belongs to."""
        made = self._asking.get((step.method, _name(step)))
        if made is None:
            return
        answers = _Answers(made.pop("answer", {}), self._values.written)
        given = (step.params or {}).get("inputResponses")
        for answer in given.values() if type(given) is dict else ():
            answers.add(answer)
        made.pop("expect", None)
        self._finish(made, step, answers)

    def _finish(self, made: dict[str, Any], step: ExportStep, answers: _Answers) -> None:
        """Add to a step what the client answered, and what is expected of the answer."""
        if answers.by_kind:
            made["answer"] = answers.by_kind
        self._mixed += answers.mixed
        answer = self._message(step.n, answer=True)
        result = answer.get("result")
        if type(result) is dict and result.get("resultType") == "input_required":
            self._asking[(step.method, _name(step))] = made
            return
        failure = _failure(answer)
        rules = self._broken_rules(step.n)
        if _OUTPUT_SCHEMA in rules:
            made["skip"] = "The recorded result does not fit the tool's outputSchema."
            rules.remove(_OUTPUT_SCHEMA)
        expect = failure | ({"findings": "any"} if rules else {})
        if expect:
            made["expect"] = expect
        if not failure:
            self._values.made(made, result)

    def _broken_rules(self, n: int) -> set[str]:
        findings = self._journal.findings
        events = (n, self._chosen.answer(n), *self._chosen.inside(n))
        return {finding.rule for event in events if event for finding in findings.of(event) if finding.level == "must"}

    def _message(self, n: int, *, answer: bool = False) -> Mapping[str, Any]:
        """Return the message of an event, or the answer to it; empty where there is none."""
        return message_of(self._journal, self._chosen.answer(n) if answer else n).members


def _name(step: ExportStep) -> str:
    params = step.params or {}
    name = params.get("name", params.get("uri"))
    return name if isinstance(name, str) else ""


def _failure(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the expectation for an answer that is a failure; empty for any other."""
    error, result = answer.get("error"), answer.get("result")
    if error is not None:
        code = error.get("code") if type(error) is dict else None
        return {"error": code if type(code) is int else True}
    return {"tool_error": True} if type(result) is dict and result.get("isError") is True else {}


class _Answers:
    """The answers of the client inside one step, as `answer` has them: one of each kind."""

    def __init__(self, by_kind: dict[str, Any], written: Callable[[Any], Any]) -> None:
        """`by_kind` has the answers that are written already; `written` writes one that the client sent."""
        self.by_kind = by_kind
        self._written = written
        self.mixed = 0
        """Answers that differ from the first of their kind."""

    def add_message(self, method: str, message: Mapping[str, Any]) -> None:
        """Add the response to a request of the server."""
        if "result" in message:
            self.add(message["result"])
        elif "error" in message and method == "sampling/createMessage":
            self._keep("sampling", "decline")
        elif "error" in message and method == "elicitation/create":
            self._keep("elicitation", "decline")

    def add(self, answer: Any) -> None:
        """Add one answer; its members tell its kind."""
        if type(answer) is not dict:
            return
        if type(answer.get("roots")) is list:
            uris = [root.get("uri") for root in answer["roots"] if type(root) is dict]
            # A flow takes any other text for a folder.
            self._keep("roots", [uri for uri in uris if isinstance(uri, str) and uri.startswith("file://")])
        elif isinstance(answer.get("action"), str):
            content = answer.get("content")
            accepted = content if type(content) is dict else {}
            refused = "cancel" if answer["action"] == "cancel" else "decline"
            self._keep("elicitation", accepted if answer["action"] == "accept" else refused)
        elif "role" in answer and "content" in answer:
            blocks = answer["content"] if type(answer["content"]) is list else [answer["content"]]
            texts = [View(block).text("text") for block in blocks]
            self._keep("sampling", "\n".join(filter(None, texts)) or "decline")

    def _keep(self, kind: str, answer: Any) -> None:
        if _is_writable(answer):
            answer = self._written(answer)
            self.mixed += self.by_kind.setdefault(kind, answer) != answer


class _Values:
    """Values that an answer made up and a later request uses, and secrets: both are variables in a flow."""

    def __init__(self) -> None:
        self.secrets: list[str] = []
        """Names of variables that the user has to set."""
        self._names: dict[str, str] = {}
        """By the mark of a secret in the recording, its variable."""
        self._known: set[str | int] = set()
        """Values that the client or a list had before an answer did."""
        self._origins: dict[str | int, tuple[dict[str, Any], ValuePath]] = {}
        """By value, the step whose answer made it up, and where it stands in the result."""
        self._captured: dict[str | int, str] = {}
        self._taken: set[str] = set()

    def knows(self, value: Any) -> None:
        """Remember the values of a request or a list: no later answer has made them up."""
        for _, leaf in _leaves(value):
            self._known.add(leaf)
            if isinstance(leaf, str):
                self._known.update(_WORD.findall(leaf))

    def made(self, step: dict[str, Any], result: Any) -> None:
        """Remember the values of an answer that were not there before."""
        for path, value in _leaves(result):
            if value not in self._known and value not in self._origins and _is_made_up(path, value):
                self._origins[value] = (step, path)

    def written(self, value: Any, key: str = "") -> Any:
        """Return a value of a request as a flow has it; `key` is the name under which it stands."""
        if isinstance(value, str):
            return self._text(value, key)
        if type(value) is int:
            return self._number(value, key)
        if type(value) is list:
            return [self.written(item, key) for item in value]
        if type(value) is dict:
            return {name: self.written(item, name) for name, item in value.items()}
        return value

    def _number(self, value: int, key: str) -> int | str:
        origin = self._origins.get(value)
        if origin is None or not (abs(value) >= _SMALLEST_NUMBER or (_ID.search(key) and _ID.search(_key(origin[1])))):
            return value
        return f"{{{{{self._capture(value, key)}}}}}"

    def _text(self, text: str, key: str) -> str:
        if text in self._origins and not REDACTED.fullmatch(text):
            return f"{{{{{self._capture(text, key)}}}}}"
        written, at = "", 0
        for mark in REDACTED.finditer(text):
            written += self._words(text[at : mark.start()]) + f"{{{{{self._secret(mark[0], key)}}}}}"
            at = mark.end()
        return written + self._words(text[at:])

    def _words(self, text: str) -> str:
        def word(match: re.Match[str]) -> str:
            is_made_up = match[0] in self._origins and any(map(str.isdigit, match[0]))
            return f"{{{{{self._capture(match[0], '')}}}}}" if is_made_up else match[0]

        return _WORD.sub(word, text.replace("{{", "{{{{"))

    def _capture(self, value: str | int, key: str) -> str:
        """Return the variable of a value that an answer made up; its step captures it from now on."""
        if value not in self._captured:
            step, path = self._origins[value]
            self._captured[value] = name = self._named(key if _ID.search(key) else _key(path), step)
            step.setdefault("capture", {})[name] = literal(str(path))
        return self._captured[value]

    def _secret(self, mark: str, key: str) -> str:
        if mark in self._origins:
            name = self._capture(mark, key)
            step = self._origins[mark][0]
            step.setdefault("secret", [])
            step["secret"] += [name] if name not in step["secret"] else []
            return name
        if mark not in self._names:
            self._names[mark] = name = self._named(key or "secret", {})
            self.secrets.append(name)
        return self._names[mark]

    def _named(self, wish: str, step: dict[str, Any]) -> str:
        """Return a free name: that of the member, after that of the step if it is `id` or the like."""
        if wish.lower() in _GENERIC:
            wish = f"{next(iter(step.values()), 'value')}_{wish}"
        name = re.sub(r"[^A-Za-z0-9_]+", "_", wish).strip("_")[:60] or "value"
        name = f"v_{name}" if name[0].isdigit() else name
        number = 2
        free = name
        while free in self._taken:
            free = f"{name}_{number}"
            number += 1
        self._taken.add(free)
        return free


_GENERIC = frozenset(("", "id", "text", "value", "uri", "result", "key", "ref"))
"""Names of members that say nothing without what they belong to."""


def _is_made_up(path: ValuePath, value: str | int) -> bool:
    """Whether a server may have made up a value: an id, and not a word that is equal by chance."""
    named = _ID.search(_key(path)) is not None
    if isinstance(value, int):
        return named or abs(value) >= _SMALLEST_NUMBER
    if REDACTED.fullmatch(value):
        return True
    return len(value) >= _MIN_SENTENCE or (len(value) >= _MIN_LENGTH and (named or any(map(str.isdigit, value))))


def _key(path: ValuePath) -> str:
    """Return the name of the member that a place is in."""
    return next((step for step in reversed(path.steps()) if isinstance(step, str)), "")


def _leaves(value: Any) -> Iterator[tuple[ValuePath, str | int]]:
    """Yield the texts and integers of a value with their places, those of `structuredContent` first."""
    stack = [(ROOT, value, 0)]
    seen = 0
    while stack and seen < _VALUES:
        path, part, depth = stack.pop()
        seen += 1
        if type(part) is dict and depth < _MAX_DEPTH:
            inner = sorted(part.items(), key=lambda item: item[0] != "structuredContent")
            stack += [(path / key, item, depth + 1) for key, item in reversed(inner)]
        elif type(part) is list and depth < _MAX_DEPTH:
            stack += [(path / at, item, depth + 1) for at, item in reversed(list(enumerate(part)))]
        elif (isinstance(part, str) and 0 < len(part) <= _MAX_LENGTH) or type(part) is int:
            yield path, part
