"""Models of a file of saved calls, and their JSON Schema.

A module that imports this one loads pydantic, so it is imported only where flows are read. The models accept what the
schema accepts; what only a reader of all files can know (variables, paths, other files) is checked in `collection`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    WithJsonSchema,
    model_validator,
)
from typing_extensions import TypeAliasType

VERBS = ("call", "read", "prompt", "complete", "request", "notify", "wait", "use")
"""The keys that say what a step does; a step has exactly one of them."""
MATCHERS = tuple(
    """
    matches contains type one_of exists not min max near items min_items max_items each any schema exactly
    """.split()
)
"""The keys of an expectation about one value. An object with other keys in it is compared member by member."""
SCHEMA_ID = "https://json-schema.org/draft/2020-12/schema"
TITLE = "Saved call of Inspector"

DURATION = r"^[0-9]{1,6}(\.[0-9]{1,6})? ?(ms|s|min|h)$"
NAME = r"^[A-Za-z_][A-Za-z0-9_-]{0,99}$"
PATH = r"^(\$|/)"
ONE_VARIABLE = r"^\{\{ *[$A-Za-z_][^{}]*\}\}$"


def _whole(value: Any) -> Any:
    """JSON Schema calls 1.0 an integer, too."""
    return int(value) if type(value) is float and value.is_integer() else value


def _version(value: Any) -> Any:
    value = _whole(value)
    return value if type(value) is int else str(value)


DurationText = Annotated[str, StringConstraints(pattern=DURATION)]
Name = Annotated[str, StringConstraints(pattern=NAME)]
PathText = Annotated[str, StringConstraints(pattern=PATH)]
NonEmptyText = Annotated[str, StringConstraints(min_length=1)]
OneVariable = Annotated[str, StringConstraints(pattern=ONE_VARIABLE)]
Whole = Annotated[int, BeforeValidator(_whole)]
Number = int | float | OneVariable
FlowWeight = Annotated[int, Field(ge=1, le=1000), BeforeValidator(_whole)]
Amount = Annotated[int, Field(ge=0), BeforeValidator(_whole)] | OneVariable
JsonType = Literal[
    "string",
    "number",
    "integer",
    "boolean",
    "object",
    "array",
    "null",
    "text",
    "image",
    "audio",
    "resource",
    "resource_link",
]
"""JSON's types, and the types of content blocks."""


class _Part(BaseModel):
    """A part of a file: an unknown key is an error, and no value is converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, populate_by_name=False)


def _kind_of(value: Any) -> str:
    if isinstance(value, Matcher):
        return "<matcher>"
    if isinstance(value, dict):
        return "<matcher>" if value and all(key in _MATCHERS for key in value) else "<members>"
    return "<value>"


_MATCHERS = frozenset(MATCHERS)
_ANY_TYPE = ["string", "number", "boolean", "object", "array", "null"]

if TYPE_CHECKING:
    Expected: TypeAlias = Any
else:
    Expected = TypeAliasType(
        "Expected",
        Annotated[
            Annotated["Matcher", Tag("<matcher>")]
            | Annotated[dict[str, "Expected"], Tag("<members>")]
            | Annotated[
                Any, WithJsonSchema({"type": ["string", "number", "boolean", "null", "array"]}), Tag("<value>")
            ],
            Discriminator(_kind_of),
        ],
    )
"""What one value is expected to be: a value, the members of an object, or a `Matcher`."""


class Matcher(_Part):
    """An expectation about one value; all keys that are there must hold."""

    matches: str = Field("", description="A regular expression that is found in the text.")
    contains: Expected = Field(None, description="A text in the text, or an item of the list.")
    type: JsonType | list[JsonType] = Field("null", description="The JSON type, or the type of a content block.")
    one_of: list[Any] = Field(default_factory=list, description="The value is one of these.")
    exists: bool = Field(True, description="Whether the path finds something.")
    not_: Expected = Field(None, alias="not", description="This does not hold.")
    min: Number = Field(0, description="The number is not smaller.")
    max: Number = Field(0, description="The number is not larger.")
    near: Annotated[list[Number], Field(min_length=2, max_length=2)] = Field(
        default_factory=list,
        description="[value, tolerance]: the number differs from the value by no more than the tolerance.",
    )
    items: Amount = Field(0, description="How many items the list has.")
    min_items: Amount = Field(0, description="The list has no fewer items.")
    max_items: Amount = Field(0, description="The list has no more items.")
    each: Expected = Field(None, description="This holds for each item of the list.")
    any: Expected = Field(None, description="This holds for at least one item of the list.")
    schema_: dict[str, Any] | bool | NonEmptyText = Field(
        True, alias="schema", description="A JSON Schema, or the path of a file with one."
    )
    exactly: Any = Field(None, description="The value is equal to this; an object has no other members.")


class ExpectedError(_Part):
    """The JSON-RPC error that is wanted."""

    code: Whole | OneVariable = Field(0, description="The error code.")
    message: Expected = Field(None, description="What holds for the message.")
    data: Expected = Field(None, description="What holds for the data.")


class ExpectedToolError(_Part):
    """A tool result with `isError`."""

    text: Expected = Field(None, description="What holds for the texts of the content, joined by line feeds.")


class Counted(_Part):
    """Messages inside an exchange: how many, and what holds for one or for each of them."""

    min: Amount = Field(0, description="No fewer came.")
    max: Amount = Field(0, description="No more came.")
    any: Expected = Field(None, description="This holds for at least one.")
    each: Expected = Field(None, description="This holds for each.")


Came = bool | Whole | NonEmptyText | Counted
"""True: at least one; false: none; a number: exactly so many; a text: one that has it."""


class Expect(_Part):
    """Expectations of a step, besides the default checks."""

    result: dict[PathText, Expected] = Field(
        default_factory=dict, description="By path in the result: what holds there."
    )
    error: bool | Whole | OneVariable | ExpectedError = Field(False, description="The JSON-RPC error that is wanted.")
    tool_error: bool | ExpectedToolError = Field(False, description="The tool is expected to fail (isError).")
    within: DurationText = Field("", description="The longest time from sent to answer, such as 800 ms.")
    same_as: NonEmptyText = Field("", description="A JSON file beside the saved call that the result is compared with.")
    ignore: list[PathText] = Field(default_factory=list, description="With same_as: places that are not compared.")
    unordered: list[PathText] = Field(
        default_factory=list, description="With same_as: lists whose order means nothing."
    )
    schema_: dict[str, Any] | bool | NonEmptyText = Field(
        True, alias="schema", description="A JSON Schema that the result matches, or the path of a file with one."
    )
    findings: Literal["any"] = Field("any", description="any: findings of level MUST do not fail the step.")
    progress: Came = Field(False, description="Progress notifications inside the exchange.")
    log: Came = Field(False, description="Log messages inside the exchange.")
    notifications: Came = Field(False, description="Notifications inside the exchange.")
    asked: Came = Field(False, description="What the server asked inside the exchange.")

    model_config = ConfigDict(
        json_schema_extra={"dependentRequired": {"ignore": ["same_as"], "unordered": ["same_as"]}}
    )

    @model_validator(mode="after")
    def _needs_same_as(self) -> Expect:
        for name in ("ignore", "unordered"):
            if name in self.model_fields_set and "same_as" not in self.model_fields_set:
                raise ValueError(f"“{name}” works only with “same_as”")
        return self


class Answer(_Part):
    """Answers of the client when the server asks inside this step."""

    elicitation: Literal["defaults", "decline", "cancel"] | dict[str, Any] = Field(
        "decline", description="defaults, decline, cancel, or the content."
    )
    sampling: NonEmptyText = Field("decline", description="The text to answer with, or decline.")
    roots: list[NonEmptyText] = Field(
        default_factory=list, description="Root URIs, or folders relative to the working directory."
    )


class Repeat(_Part):
    """Send the request again until the expectation holds."""

    every: DurationText = Field(description="The pause between two tries.")
    for_: DurationText = Field(alias="for", description="When to give up.")


# Defaults are made by factories: pydantic would copy these, deeply, for each step.
_NO_ANSWER, _NO_EXPECT, _NO_REPEAT = Answer.model_construct(), Expect.model_construct(), Repeat.model_construct()


class _Step(_Part):
    name: NonEmptyText = Field("", description="The name of the step in reports.")
    skip: NonEmptyText = Field("", description="Why the step is not run.")


class _Row(_Step):
    each: Annotated[list[dict[Name, Any]], Field(min_length=1)] = Field(
        default_factory=list, description="Run the step once for each of these rows of variables."
    )


class _Sent(_Row):
    headers: dict[NonEmptyText, str] = Field(
        default_factory=dict, description="Header fields of this request (Streamable HTTP)."
    )
    meta: dict[str, Any] = Field(default_factory=dict, description="Members of _meta.")


class _Answered(_Step):
    answer: Answer = Field(default_factory=lambda: _NO_ANSWER, description="What the client answers inside this step.")
    expect: Expect = Field(default_factory=lambda: _NO_EXPECT, description="What the step expects.")
    capture: dict[Name, PathText] = Field(default_factory=dict, description="Variable: path in the result.")
    secret: list[Name] = Field(
        default_factory=list, description="Captured variables that are cut out of recordings and reports."
    )


class _Request(_Sent, _Answered):
    repeat: Repeat = Field(
        default_factory=lambda: _NO_REPEAT, description="Send the request again until the expectation holds."
    )


class CallStep(_Request):
    """`tools/call`."""

    call: NonEmptyText = Field(description="The name of the tool.")
    args: dict[str, Any] = Field(default_factory=dict, description="The arguments of the tool.")
    task: bool = Field(False, description="Call the tool as a task.")
    weight: FlowWeight = Field(1, description="How often `inspector load` makes this call, compared with the others.")


class ReadStep(_Request):
    """`resources/read`."""

    read: NonEmptyText = Field(description="The URI of the resource.")


class PromptStep(_Request):
    """`prompts/get`."""

    prompt: NonEmptyText = Field(description="The name of the prompt.")
    args: dict[str, str | int | float | bool] = Field(default_factory=dict, description="The arguments of the prompt.")


class CompleteStep(_Request):
    """`completion/complete`."""

    complete: NonEmptyText = Field(description="prompt/NAME, or the URI template of a resource.")
    argument: NonEmptyText = Field(description="The argument to complete.")
    value: str | int | float | bool = Field("", description="What is typed already.")


class RequestStep(_Request):
    """Any request."""

    request: NonEmptyText = Field(description="The method.")
    params: dict[str, Any] = Field(default_factory=dict, description="The parameters.")


class NotifyStep(_Sent):
    """Any notification."""

    notify: NonEmptyText = Field(description="The method.")
    params: dict[str, Any] = Field(default_factory=dict, description="The parameters.")


class WaitStep(_Answered):
    """A pause, or a notification of the server."""

    wait: NonEmptyText = Field(description="A time such as 2 s, or the method of a notification.")


class UseStep(_Row):
    """The steps of another flow."""

    use: NonEmptyText = Field(description="The file of the saved call, relative to this one.")
    vars: dict[Name, Any] = Field(default_factory=dict, description="Variables of that saved call.")


def _verb_of(value: Any) -> str | None:
    if isinstance(value, _Step):
        return f"<{verb_of(value)}>"
    verbs = [verb for verb in VERBS if isinstance(value, dict) and verb in value]
    return f"<{verbs[0]}>" if len(verbs) == 1 else None


Step = Annotated[
    Annotated[CallStep, Tag("<call>")]
    | Annotated[ReadStep, Tag("<read>")]
    | Annotated[PromptStep, Tag("<prompt>")]
    | Annotated[CompleteStep, Tag("<complete>")]
    | Annotated[RequestStep, Tag("<request>")]
    | Annotated[NotifyStep, Tag("<notify>")]
    | Annotated[WaitStep, Tag("<wait>")]
    | Annotated[UseStep, Tag("<use>")],
    Discriminator(_verb_of),
]
StepModel = CallStep | ReadStep | PromptStep | CompleteStep | RequestStep | NotifyStep | WaitStep | UseStep
STEPS: dict[str, type[_Part]] = {
    "call": CallStep,
    "read": ReadStep,
    "prompt": PromptStep,
    "complete": CompleteStep,
    "request": RequestStep,
    "notify": NotifyStep,
    "wait": WaitStep,
    "use": UseStep,
}


class FlowModel(_Part):
    """A file of saved calls: one flow."""

    inspector: Annotated[Literal[1], BeforeValidator(_version)] = Field(description="The version of the format.")
    name: NonEmptyText = Field("", description="The name of the saved call; else the name of the file.")
    server: NonEmptyText = Field("", description="@NAME, a URL or a command.")
    vars: dict[Name, Any] = Field(default_factory=dict, description="Variables and their defaults.")
    steps: list[Step] = Field(description="What is done, in order.")


PARTS: dict[str, type[_Part]] = {
    "expect": Expect,
    "answer": Answer,
    "repeat": Repeat,
    "error": ExpectedError,
    "tool_error": ExpectedToolError,
    "progress": Counted,
    "log": Counted,
    "notifications": Counted,
    "asked": Counted,
}
"""By key, the model of the object that it takes."""


def keys_of(model: type[BaseModel]) -> list[str]:
    """The keys that a model knows, as they are written in a file."""
    return [field.alias or name for name, field in model.model_fields.items()]


def verb_of(step: BaseModel) -> str:
    """Return the verb of a step: one of `VERBS`."""
    keys = type(step).model_fields
    return next(verb for verb in VERBS if verb in keys)


def given(part: BaseModel, name: str) -> bool:
    """Whether a key stands in the file; `name` is that of the attribute."""
    return name in part.model_fields_set


def flow_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a flow, as `inspector run --schema` prints it."""
    schema = FlowModel.model_json_schema(by_alias=True)
    schema = _tidied(schema)
    definitions = schema["$defs"]
    matchers = definitions["Matcher"]["properties"]
    definitions["Expected"] = {
        "description": "A value, the members of an object, or an object whose keys are all matchers.",
        # These allow any value. An editor offers them where nothing is typed yet, which `anyOf` alone does not do.
        "properties": {name: {"description": matchers[name]["description"], "type": _ANY_TYPE} for name in MATCHERS},
        "anyOf": [
            {"type": ["string", "number", "boolean", "null", "array"]},
            {"$ref": "#/$defs/Matcher"},
            {
                "type": "object",
                "not": {"minProperties": 1, "propertyNames": {"enum": list(MATCHERS)}},
                "additionalProperties": {"$ref": "#/$defs/Expected"},
            },
        ],
    }
    definitions["Matcher"]["minProperties"] = 1
    return {"$schema": SCHEMA_ID, **schema, "title": TITLE}


def _tidied(value: Any) -> Any:
    """The schema without what only the generator of it says: titles, defaults, and where keys may have any form."""
    if isinstance(value, list):
        return [_tidied(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {
        key: {name: _tidied(part) for name, part in item.items()}
        if key in ("properties", "$defs", "patternProperties") and isinstance(item, dict)
        else _tidied(item)
        for key, item in value.items()
        if key not in ("title", "default") or not isinstance(item, (str, int, float, bool, list, dict, type(None)))
    }
    if "patternProperties" in kept:
        kept["additionalProperties"] = False
    if kept.get("const") == 1:
        kept.pop("type", None)
    return kept
