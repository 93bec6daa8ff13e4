"""Calls without server requests (2026-07-28): their questions are sent as a result, and the client calls again."""

from __future__ import annotations

from inspector.demo.call import LEVELS, ClientRequest, TaskCall
from inspector.demo.core import HANDLERS
from inspector.demo.rpc import INVALID_PARAMS, MISSING_CAPABILITY, RpcError
from inspector.demo.tasks import MAX_LIFE, described

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from inspector.demo.call import Channel, Handler
    from inspector.demo.revisions import DemoFeatures
    from inspector.demo.server_state import DemoState
    from inspector.demo.tasks import DemoTask, Question

PREFIX = "io.modelcontextprotocol/"
IDENTITY = {"name": "inspector-demo", "title": "Demo server", "version": "1.0.0"}
ASKING = {"tools/call", "prompts/get", "resources/read"}  # the only methods that may ask
# Required keys of an answer, and their types.
_ANSWERS: dict[str, dict[str, tuple[type, ...]]] = {
    "elicitation/create": {"action": (str,)},
    "sampling/createMessage": {"role": (str,), "model": (str,), "content": (dict, list)},
    "roots/list": {"roots": (list,)},
}


class InputRequired(Exception):
    """A call needs input of its client before it can continue."""

    def __init__(self, requests: dict[str, Any], request_state: str | None) -> None:
        self.result: dict[str, Any] = {"resultType": "input_required"}
        if requests:
            self.result["inputRequests"] = requests
        if request_state is not None:
            self.result["requestState"] = request_state


class ModernCall(ClientRequest):
    """A request with its client's identity, and the client's answers in earlier rounds.

    It is served from its start in every round. The answers of earlier rounds are in its state, those of the last round
    in its parameters; so earlier questions are answered immediately, and only new ones are asked.
    """

    def __init__(
        self,
        state: DemoState,
        features: DemoFeatures,
        channel: Channel,
        message: dict[str, Any],
        describe: Callable[[], dict[str, Any]],
    ) -> None:
        super().__init__(state, features, channel, message["id"], message["params"])
        self.method: str = message["method"]
        self._describe = describe
        self._pauses = 0
        self._asked = 0
        self._answers: dict[str, Any] = {}
        self._fresh: dict[str, Any] = {}
        self._rounds = 0
        if self.method in ASKING:
            self._read_rounds()

    def _read_rounds(self) -> None:
        fresh, request_state = self.params.get("inputResponses", {}), self.params.get("requestState")
        if not isinstance(fresh, dict):
            raise RpcError(INVALID_PARAMS, "inputResponses must be an object")
        self._fresh = fresh
        if request_state is not None:
            brought = self.state.signer.read(self._identity(), request_state)
            self._answers, self._rounds = brought["answers"], brought["rounds"]

    def _identity(self) -> list[Any]:
        return [self.method, {key: self.params.get(key) for key in ("name", "arguments", "uri")}]

    def _request_state(self, rounds: int) -> str:
        return self.state.signer.sign(self._identity(), {"answers": self._answers, "rounds": rounds})

    def log(self, level: str, data: Any, logger: str = "demo") -> None:
        log_level = self.meta.get(PREFIX + "logLevel")
        if log_level is not None and LEVELS.index(level) >= LEVELS.index(log_level):
            self.notify("notifications/message", {"level": level, "logger": logger, "data": data})

    def missing(self, capability: str) -> str:
        first, _, second = ("elicitation.form" if capability == "elicitation" else capability).partition(".")
        declared = self.meta[PREFIX + "clientCapabilities"].get(first)
        there = isinstance(declared, dict)
        if there and second:  # declaring elicitation without a mode means forms
            there = isinstance(declared.get(second), dict) or (second == "form" and not declared)
        if not there:
            raise missing_capability(capability, {first: {second: {}} if second else {}})
        return ""

    def ask(self, *questions: Question) -> list[dict[str, Any]]:
        needed: dict[str, Any] = {}
        answers = []
        for method, params in questions:
            self._asked += 1
            key = f"{method.partition('/')[0]}-{self._asked}"
            if key not in self._answers and key in self._fresh:
                self._answers[key] = checked_answer(key, method, self._fresh[key])
            if key in self._answers:
                answers.append(self._answers[key])
            else:
                needed[key] = {"method": method, "params": params}
        if needed:
            # Roots alone are requested without a state: a client must support that, too.
            plain = not self._answers and not self._rounds and {question[0] for question in questions} == {"roots/list"}
            raise InputRequired(needed, None if plain else self._request_state(self._rounds))
        return answers

    def come_back(self) -> None:
        self._pauses += 1
        if self._pauses > self._rounds:
            raise InputRequired({}, self._request_state(self._pauses))

    def describe_client(self) -> dict[str, Any]:
        return self._describe()


def missing_capability(name: str, required: dict[str, Any]) -> RpcError:
    """Returns the error for a client that did not declare a required capability."""
    problem = f"The client did not declare the capability {name}, which this requires"
    return RpcError(MISSING_CAPABILITY, problem, {"requiredCapabilities": required}, status=400)


def checked_answer(key: str, method: str, answer: Any) -> dict[str, Any]:
    """Returns the answer to a question; raises RpcError if it is not valid."""
    expected = _ANSWERS[method]
    if not isinstance(answer, dict) or not all(isinstance(answer.get(member), expected[member]) for member in expected):
        raise RpcError(INVALID_PARAMS, f"inputResponses/{key} is not a valid answer to {method}")
    return answer


EXTENSION = "io.modelcontextprotocol/tasks"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
REQUIRED: dict[str, Any] = {"extensions": {EXTENSION: {}}}


def declares_tasks(call: ClientRequest) -> bool:
    """Whether the client of a request supports the extension."""
    extensions = call.meta[CAPABILITIES].get("extensions")
    return isinstance(extensions, dict) and isinstance(extensions.get(EXTENSION), dict)


def need_tasks(call: ClientRequest) -> None:
    """Raises RpcError (-32021) for a client that does not support the extension."""
    if not declares_tasks(call):
        raise missing_capability(EXTENSION, REQUIRED)


def call_tool(call: ClientRequest) -> dict[str, Any]:
    """Serves tools/call: a tool that can be a task becomes one for every client that supports tasks."""
    handler = HANDLERS["tools/call"]
    tool = call.state.tool(call.params.get("name"), call.features)
    support = tool.definition.get("execution", {}).get("taskSupport", "forbidden")
    if support == "required":
        need_tasks(call)
    if support == "forbidden" or not declares_tasks(call):
        return handler(call)
    task = call.state.tasks.add(MAX_LIFE, lambda changed: call.state.tell("task", changed.id))
    created = {"resultType": "task", **described(task, "Ms")}
    within = TaskCall(task, call)
    task.run(within, lambda: {"resultType": "complete", **handler(within)}, errors_fail=False)
    return created


def in_full(task: DemoTask) -> dict[str, Any]:
    """Returns a task with the details of its status: its result, its error or its questions."""
    details = described(task, "Ms")
    if task.status == "input_required":
        asked = {
            key: {"method": question.method, "params": question.params}
            for key, question in task.open_questions().items()
        }
        details["inputRequests"] = asked
    elif task.status == "completed":
        details["result"] = task.result
    elif task.error is not None:
        data = {} if task.error.data is None else {"data": task.error.data}
        details["error"] = {"code": task.error.code, "message": task.error.message, **data}
    return details


def _get(call: ClientRequest) -> dict[str, Any]:
    need_tasks(call)
    return in_full(call.state.tasks.get(call.text_param("taskId")))


def _update(call: ClientRequest) -> dict[str, Any]:
    need_tasks(call)
    task = call.state.tasks.get(call.text_param("taskId"))
    given = call.params.get("inputResponses")
    if not isinstance(given, dict):
        raise RpcError(INVALID_PARAMS, "inputResponses must be an object")
    # Unknown and answered questions are ignored; the others are accepted only if all of them are valid.
    taken = {
        key: checked_answer(key, asked.method, given[key])
        for key, asked in task.open_questions().items()
        if key in given
    }
    for key, answer in taken.items():
        task.answer(key, answer)
    return {}


def _cancel(call: ClientRequest) -> dict[str, Any]:
    need_tasks(call)
    call.state.tasks.get(call.text_param("taskId")).cancel()
    return {}


TASK_HANDLERS: dict[str, Handler] = {"tasks/get": _get, "tasks/update": _update, "tasks/cancel": _cancel}
