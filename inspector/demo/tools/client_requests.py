"""Tools that ask the client: sampling, elicitation by form and by URL, roots, ping."""

from __future__ import annotations

from inspector.demo.content import failure, image, result, text
from inspector.demo.definitions import ToolTable
from inspector.demo.rpc import URL_ELICITATION_REQUIRED, Refused, RpcError, encode
from inspector.demo.schema import problems

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from inspector.demo.call import ClientRequest

ASKS = {"readOnlyHint": True, "openWorldHint": True}
MAX_ROUNDS = 4
box = ToolTable()


def _ask(call: ClientRequest, capability: str, method: str, params: dict[str, Any]) -> dict[str, Any] | str:
    """Returns the client's answer, or a text that says why there is none."""
    missing = call.missing(capability)
    if missing:
        return missing
    try:
        return call.ask((method, params))[0]
    except Refused as refusal:
        return f"The client refused {method}: {refusal}"


def _as_text(value: Any) -> str:
    return encode(value).decode()


@box.add(
    "ask-model",
    {
        "prompt": {"type": "string", "default": "Write a haiku about terminals.", "description": "The prompt"},
        "max_tokens": {"type": "integer", "minimum": 1, "maximum": 100_000, "default": 200},
        "temperature": {"type": "number", "minimum": 0, "maximum": 2},
        "with_picture": {"type": "boolean", "default": False, "description": "Adds a picture"},
    },
    title="Ask the client's model",
    hints=ASKS,
    patient=True,
)
def ask_model(call: ClientRequest) -> dict[str, Any]:
    """Asks the client to sample its model (sampling/createMessage)."""
    wanted = call.arguments
    messages = [{"role": "user", "content": text(wanted.get("prompt", "Write a haiku about terminals."))}]
    if wanted.get("with_picture"):
        from inspector.demo.media import picture

        messages.insert(0, {"role": "user", "content": image(picture(48, 32))})
    params: dict[str, Any] = {
        "messages": messages,
        "systemPrompt": "You answer in few words.",
        "maxTokens": int(wanted.get("max_tokens", 200)),
        "includeContext": "none",
        "stopSequences": ["THE END"],
        "modelPreferences": {
            "hints": [{"name": "claude"}, {"name": "small"}],
            "costPriority": 0.3,
            "speedPriority": 0.8,
            "intelligencePriority": 0.5,
        },
        "metadata": {"purpose": "demonstration"},
    }
    if "temperature" in wanted:
        params["temperature"] = wanted["temperature"]
    answer = _ask(call, "sampling", "sampling/createMessage", params)
    if isinstance(answer, str):
        return failure(answer)
    return result(f"{answer.get('model')} said: {_as_text(answer.get('content'))}")


_LOOK_UP = {
    "name": "look-up-weather",
    "description": "Tells the weather of a city",
    "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}


@box.add(
    "ask-model-with-tools",
    {"prompt": {"type": "string", "default": "What is the weather in Lima?"}},
    title="Ask the client's model, offering it a tool",
    hints=ASKS,
    patient=True,
)
def ask_model_with_tools(call: ClientRequest) -> dict[str, Any]:
    """Asks the client's model and offers it a tool, answering its tool uses for a few rounds (2025-11-25)."""
    prompt = call.arguments.get("prompt", "What is the weather in Lima?")
    messages: list[dict[str, Any]] = [{"role": "user", "content": text(prompt)}]
    for round_number in range(MAX_ROUNDS):
        last = round_number == MAX_ROUNDS - 1
        choice = {"mode": "none" if last else "auto"}
        params = {"messages": messages, "maxTokens": 500, "tools": [_LOOK_UP], "toolChoice": choice}
        answer = _ask(call, "sampling.tools", "sampling/createMessage", params)
        if isinstance(answer, str):
            return failure(answer)
        said = answer.get("content")
        blocks = said if isinstance(said, list) else [said]
        uses = [block for block in blocks if isinstance(block, dict) and block.get("type") == "tool_use"]
        if not uses:
            return result(f"After {round_number + 1} rounds {answer.get('model')} said: {_as_text(said)}")
        messages.append({"role": "assistant", "content": said})
        made = [{"type": "tool_result", "toolUseId": use.get("id"), "content": [text("20 °C, sunny")]} for use in uses]
        messages.append({"role": "user", "content": made})
    return failure(f"The model still wanted tools after {MAX_ROUNDS} rounds.")


def _form(extended: bool) -> dict[str, Any]:
    """A form with every primitive shape; 2025-11-25 knows more of them than 2025-06-18."""
    fields: dict[str, Any] = {
        "name": {"type": "string", "title": "Name", "description": "What we call you", "minLength": 2, "maxLength": 40},
        "email": {"type": "string", "title": "E-mail", "format": "email"},
        "homepage": {"type": "string", "title": "Homepage", "format": "uri"},
        "birthday": {"type": "string", "title": "Birthday", "format": "date"},
        "call_at": {"type": "string", "title": "When to call", "format": "date-time"},
        "age": {"type": "integer", "title": "Age", "minimum": 0, "maximum": 150},
        "height": {"type": "number", "title": "Height", "description": "Metres", "minimum": 0.3, "maximum": 2.8},
        "newsletter": {"type": "boolean", "title": "Newsletter", "default": True},
        "colour": {"type": "string", "title": "Colour", "enum": ["red", "green", "blue"]},
        "size": {"type": "string", "title": "Size", "enum": ["s", "m", "l"], "enumNames": ["Small", "Medium", "Large"]},
    }
    if extended:
        fields["name"]["default"] = "Ada"
        fields["age"]["default"] = 36
        fields["height"]["default"] = 1.65
        fields["colour"]["default"] = "green"
        fields["size"]["default"] = "m"
        titled = [{"const": "cat", "title": "A cat"}, {"const": "dog", "title": "A dog"}]
        fields["pet"] = {"type": "string", "title": "Pet", "oneOf": titled, "default": "cat"}
        fields["fruit"] = {
            "type": "array",
            "title": "Fruit",
            "minItems": 1,
            "maxItems": 2,
            "default": ["plum"],
            "items": {"type": "string", "enum": ["plum", "pear", "fig"]},
        }
        fields["days"] = {
            "type": "array",
            "title": "Days",
            "default": ["sat", "sun"],
            "items": {"anyOf": [{"const": "sat", "title": "Saturday"}, {"const": "sun", "title": "Sunday"}]},
        }
    return {"type": "object", "properties": fields, "required": ["name", "email"]}


@box.add(
    "ask-user",
    {"message": {"type": "string", "default": "Please tell us about yourself."}},
    title="Ask the user with a form",
    hints=ASKS,
    patient=True,
)
def ask_user(call: ClientRequest) -> dict[str, Any]:
    """Asks the user to fill in a form with every kind of field (elicitation/create, 2025-06-18 and later)."""
    extended = call.features.elicitation_extended
    form = _form(extended)
    params = {"message": call.arguments.get("message", "Please tell us about yourself."), "requestedSchema": form}
    if extended:
        params["mode"] = "form"
    answer = _ask(call, "elicitation", "elicitation/create", params)
    if isinstance(answer, str):
        return failure(answer)
    if answer.get("action") != "accept":
        return result(f"The user chose to {answer.get('action')}.")
    wrong = problems(answer.get("content"), form)
    if wrong:
        return failure("The answer does not fit the form:\n" + "\n".join(wrong))
    return result(f"The user accepted: {_as_text(answer['content'])}")


def _visit(call: ClientRequest) -> dict[str, Any]:
    name = f"visit-{call.world.next_visit()}"
    visit = {
        "mode": "url",
        "url": f"https://example.com/demo/connect?visit={name}",
        "message": "Open this page to connect your example account. Nothing happens there.",
    }
    return visit | {"elicitationId": name} if call.features.elicitation_ids else visit


@box.add("ask-link", title="Ask the user to open a link", hints=ASKS, patient=True)
def ask_link(call: ClientRequest) -> dict[str, Any]:
    """Asks the user to open a link (elicitation by URL, since 2025-11-25, which also says when it is done)."""
    visit = _visit(call)
    answer = _ask(call, "elicitation.url", "elicitation/create", visit)
    if isinstance(answer, str):
        return failure(answer)
    if answer.get("action") != "accept":
        return result(f"The user chose to {answer.get('action')}.")
    call.sleep(call.world.tick)
    if call.features.elicitation_ids:
        call.notify("notifications/elicitation/complete", {"elicitationId": visit["elicitationId"]})
    return result("The user agreed to open the link, and the visit is (as we pretend) complete.")


@box.add("need-link", title="Refuse until a link was opened", hints=ASKS)
def need_link(call: ClientRequest) -> dict[str, Any]:
    """Refuses with error -32042 and a link; the pretended visit is soon complete, and then it works (2025-11-25).

    In revisions without that error, it asks the user to open the link.
    """
    missing = call.missing("elicitation.url")
    if missing:
        return failure(missing)
    if not call.features.elicitation_ids:
        return ask_link(call)
    if call.world.visited:
        call.world.visited = False
        return result("The link was opened (as we pretend), so here is your answer.")
    call.world.visited = True
    visit = _visit(call)
    done = {"elicitationId": visit["elicitationId"]}
    call.later(call.world.tick, "notifications/elicitation/complete", done)
    raise RpcError(URL_ELICITATION_REQUIRED, "A link must be opened first", {"elicitations": [visit]})


@box.add("where-am-i", title="List the client's roots", hints=ASKS, patient=True)
def where_am_i(call: ClientRequest) -> dict[str, Any]:
    """Asks the client for its roots (roots/list)."""
    answer = _ask(call, "roots", "roots/list", {})
    if isinstance(answer, str):
        return failure(answer)
    roots = answer.get("roots")
    if not isinstance(roots, list):
        return failure("The client's response contains no list of roots.")
    if not roots:
        return result("The client has no roots.")
    return result("\n".join(_as_text(root) for root in roots))


@box.add(
    "ping-client",
    {"times": {"type": "integer", "minimum": 1, "maximum": 100, "default": 3}},
    title="Ping the client",
    hints=ASKS,
    patient=True,
    needs="pings",
)
def ping_client(call: ClientRequest) -> dict[str, Any]:
    """Pings the client and reports how long each response took."""
    import time

    took: list[str] = []
    for _ in range(int(call.arguments.get("times", 3))):
        start = time.perf_counter()
        answer = _ask(call, "", "ping", {})
        if isinstance(answer, str):
            return failure(answer)
        took.append(f"{(time.perf_counter() - start) * 1000:.1f} ms")
    return result(", ".join(took))
