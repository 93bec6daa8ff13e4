"""The official JSON Schemas of the protocol's revisions, and the definition for each message.

The files in `schemas/` are the specification's own `schema.json`, one per revision, without white space. The schemas
themselves assign definitions to methods: requests and notifications by `ClientRequest`, `ServerRequest` and similar
unions, a result by the name of its request, an error by the code that its definition requires. Definitions are compiled
when they are first needed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal

from inspector.errors import SchemaError
from inspector.protocol.jsonrpc import Shape, shape_of
from inspector.protocol.revisions import REVISIONS, features
from inspector.protocol.schema_limits import ReferenceTargets
from inspector.protocol.schema_violations import value_text
from inspector.protocol.validation import ERROR_LIMIT, Validator, Violation

Direction = Literal["send", "recv"]
"""From the client to the server, or from the server to the client: the values in a recording."""

_SENDER: dict[str, str] = {"send": "Client", "recv": "Server"}
_OTHER: dict[str, Direction] = {"send": "recv", "recv": "send"}
_WHO = {"send": "client", "recv": "server"}


class Catalogue:
    """The definitions of one revision. Made by `for_revision`."""

    _made: ClassVar[dict[str, Catalogue]] = {}

    def __init__(self, revision: str) -> None:
        from importlib.resources import files

        self.revision = revision
        self.schema: dict[str, Any] = json.loads(
            (files("inspector.protocol") / "schemas" / f"{revision}.json").read_text(encoding="utf-8")
        )
        self._key = "$defs" if "$defs" in self.schema else "definitions"
        self.definitions: Mapping[str, Any] = self.schema[self._key]
        _correct(self.definitions)
        self._references = ReferenceTargets(self.schema)
        self._validators: dict[str, Validator] = {}
        self._methods: dict[tuple[str, str], dict[str, str]] = {}
        self._errors: dict[int, str] | None = None

    @classmethod
    def for_revision(cls, revision: str) -> Catalogue:
        """Return the catalogue of a revision. Raises `SchemaError` for an unknown revision."""
        catalogue = cls._made.get(revision)
        if catalogue is None:
            if revision not in REVISIONS:
                raise SchemaError(
                    f"Unknown protocol revision {value_text(revision)}",
                    hint=f"Use one of: {', '.join(REVISIONS)}.",
                )
            catalogue = cls._made[revision] = cls(revision)
        return catalogue

    def methods(self, kind: Literal["Request", "Notification"], direction: Direction) -> Mapping[str, str]:
        """Return the methods that one side may send, each with the name of its definition."""
        known = self._methods.get((kind, direction))
        if known is None:
            known = self._methods[kind, direction] = dict(self._read_methods(_SENDER[direction] + kind))
        return known

    def _read_methods(self, union: str) -> Iterator[tuple[str, str]]:
        definition = self.definitions.get(union, {})
        method = _method_of(definition)
        if method is not None:  # a union of one is the definition itself
            yield method, union
        for part in definition.get("anyOf", ()):
            name = part["$ref"].rpartition("/")[2]
            method = _method_of(self.definitions[name])
            if method is not None:
                yield method, name

    def result_of(self, method: str, direction: Direction) -> str | None:
        """Return the definition of the result for `method`; `direction` is that of the answer.

        It is None for a method that this revision does not have.
        """
        request = self.methods("Request", _OTHER[direction]).get(method)
        if request is None:
            return None
        name = request.removesuffix("Request") + "Result"
        return name if name in self.definitions else "EmptyResult"

    def error_of(self, code: Any) -> str:
        """Return the definition of an error response with this code: its own if there is one."""
        if self._errors is None:
            self._errors = dict(self._read_errors())
        general = "JSONRPCErrorResponse" if "JSONRPCErrorResponse" in self.definitions else "JSONRPCError"
        return self._errors.get(code, general) if isinstance(code, int) else general

    def _read_errors(self) -> Iterator[tuple[int, str]]:
        for name, definition in self.definitions.items():
            error = definition.get("properties", {}).get("error", {})
            for part in error.get("allOf", ()):
                code = part.get("properties", {}).get("code", {}).get("const")
                if isinstance(code, int):
                    yield code, name

    def validator(self, definition: str) -> Validator:
        """Return the validator of one definition."""
        validator = self._validators.get(definition)
        if validator is None:
            if definition not in self.definitions:
                raise SchemaError(f"The schema of {self.revision} has no definition {value_text(definition)}")
            pointer = f"/{self._key}/{definition}"
            validator = self._validators[definition] = Validator(
                self.schema, pointer=pointer, trusted=True, references=self._references
            )
        return validator

    def check(self, definition: str, value: Any, prefix: str = "", limit: int = ERROR_LIMIT) -> list[Violation]:
        """Return the violations of a definition by `value`; `prefix` is the pointer of the value in its message."""
        errors = self.validator(definition).errors(value, limit)
        return [violation._replace(path=prefix + violation.path, definition=definition) for violation in errors]

    def validate(
        self, message: Any, direction: Direction, answered_method: str | None = None, limit: int = ERROR_LIMIT
    ) -> list[Violation]:
        """Return the violations in a message; see `validate_message`."""
        violations: dict[tuple[str, str], Violation] = {}
        for violation in self._violations(message, direction, answered_method, limit):
            violations.setdefault((violation.path, violation.message), violation)
            if len(violations) >= limit:
                break
        return list(violations.values())

    def _violations(
        self, message: Any, direction: Direction, answered_method: str | None, limit: int
    ) -> Iterator[Violation]:
        shape = shape_of(message)
        if shape is Shape.BATCH:
            yield from self._of_batch(message, direction, limit)
        elif shape is Shape.NONE:
            yield Violation("", f"{value_text(message)} is not a JSON-RPC message", "type", definition="JSONRPCMessage")
        elif "method" in message:
            yield from self._of_call(message, direction, limit)
        elif shape is Shape.RESULT:
            name = "JSONRPCResultResponse" if "JSONRPCResultResponse" in self.definitions else "JSONRPCResponse"
            yield from self.check(name, message, limit=limit)
            result = self._result(message["result"], direction, answered_method)
            if result is not None:
                yield from self.check(result, message["result"], "/result", limit)
        else:
            if "result" in message:
                name = "JSONRPCMessage"
                yield Violation("", "has a result and an error, but a response has only one", "oneOf", definition=name)
            error = message["error"]
            yield from self.check(self.error_of(error.get("code") if isinstance(error, dict) else None), message)

    def _of_batch(self, messages: list[Any], direction: Direction, limit: int) -> Iterator[Violation]:
        if not features(self.revision).batches:
            reason = f"is a batch, which {self.revision} does not have"
            yield Violation("", reason, "type", definition="JSONRPCMessage")
        for index, message in enumerate(messages):
            if isinstance(message, list):
                reason = "an array in a batch is not a JSON-RPC message"
                yield Violation(f"/{index}", reason, "type", definition="JSONRPCMessage")
                continue
            for violation in self._violations(message, direction, None, limit):
                yield violation._replace(path=f"/{index}{violation.path}")

    def _of_call(self, message: dict[str, Any], direction: Direction, limit: int) -> Iterator[Violation]:
        kind: Literal["Request", "Notification"] = "Request" if "id" in message else "Notification"
        yield from self.check(f"JSONRPC{kind}", message, limit=limit)
        method = message["method"]
        definition = self.methods(kind, direction).get(method)
        if definition is not None:
            yield from self.check(definition, message, limit=limit)
        elif _is_official(method):
            reason = f"{method} is not a {kind.lower()} that a {_WHO[direction]} may send in {self.revision}"
            yield Violation("/method", reason, "method", "", _SENDER[direction] + kind)

    def _result(self, result: Any, direction: Direction, answered_method: str | None) -> str | None:
        """Return the definition for a result, by the method it answers and by its `resultType`."""
        if answered_method is None:
            return None
        name = self.result_of(answered_method, direction)
        if not isinstance(result, dict) or name is None:
            return name
        if result.get("resultType") == "input_required" and self._may_ask(name):
            return "InputRequiredResult"
        if "CreateTaskResult" in self.definitions and isinstance(result.get("task"), dict) and "content" not in result:
            return "CreateTaskResult" if self._may_be_task(answered_method, direction) else name
        return name

    def _may_ask(self, result: str) -> bool:
        response = self.definitions.get(f"{result}Response", {}).get("properties", {}).get("result", {})
        return any(part.get("$ref", "").endswith("/InputRequiredResult") for part in response.get("anyOf", ()))

    def _may_be_task(self, method: str, direction: Direction) -> bool:
        request = self.methods("Request", _OTHER[direction]).get(method, "")
        params = self.definitions.get(f"{request}Params", {})
        names = [part["$ref"].rpartition("/")[2] for part in params.get("anyOf", ())]
        forms = [params, *(self.definitions[name] for name in names)]
        return any("task" in form.get("properties", {}) for form in forms)


def validate_message(
    message: Any,
    *,
    revision: str,
    direction: Direction,
    answered_method: str | None = None,
    limit: int = ERROR_LIMIT,
) -> list[Violation]:
    """Return the violations of a revision's official schema in a parsed message (BASE-01 to BASE-05, BASE-14).

    `direction` is `send` for client to server and `recv` for the other way. A result can be checked against its
    definition only if `answered_method` names its request. Methods and members that are not in the specification are
    allowed. Raises `SchemaError` for an unknown revision.
    """
    return Catalogue.for_revision(revision).validate(message, direction, answered_method, limit)


def _method_of(definition: Mapping[str, Any]) -> str | None:
    method = definition.get("properties", {}).get("method", {}).get("const")
    return method if isinstance(method, str) else None


def _is_official(method: str) -> bool:
    """Whether any revision has the method, for either side: custom methods are allowed."""
    return any(
        method in Catalogue.for_revision(revision).methods(kind, direction)
        for revision in REVISIONS
        for kind in ("Request", "Notification")
        for direction in ("send", "recv")
    )


def _correct(definitions: Mapping[str, Any]) -> None:
    """Fix an error of the published files: the specification's source has number where they have integer.

    `ElicitResult.content` is `string | number | boolean | string[]` and `JSONValue` any JSON there; the files would
    refuse 1.5 in an answer to a question for a number, and null in a `JSONValue`.
    """
    content = (
        definitions.get("ElicitResult", {}).get("properties", {}).get("content", {}).get("additionalProperties", {})
    )
    for slip in (content, *content.get("anyOf", ())):
        if slip.get("type") == ["string", "integer", "boolean"]:
            slip["type"] = ["string", "number", "boolean"]
    for slip in definitions.get("JSONValue", {}).get("anyOf", ()):
        if slip.get("type") == ["string", "integer", "boolean"]:
            slip["type"] = ["string", "number", "boolean", "null"]
