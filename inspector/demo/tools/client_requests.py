"""Tools that ask the client: sampling, elicitation by form and by URL, roots, ping; in one round or several."""

from __future__ import annotations

from inspector.demo.content import accepted, failure, form, image, result, text
from inspector.demo.definitions import document, tool
from inspector.demo.rpc import URL_ELICITATION_REQUIRED, Refused, RpcError, ToolError, encode
from inspector.demo.schema import problems

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from inspector.demo.call import ClientRequest


MAX_ROUNDS = 4


def _need(call: ClientRequest, *capabilities: str) -> None:
    """Raises ToolError if the client lacks one of these."""
    for capability in capabilities:
        missing = call.missing(capability)
        if missing:
            raise ToolError(missing)


def _ask(call: ClientRequest, capability: str, method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Returns the client's answer; raises ToolError if there is none."""
    _need(call, capability)
    try:
        return call.ask((method, params))[0]
    except Refused as refusal:
        raise ToolError(f"The client refused {method}: {refusal}") from None


def _as_text(value: Any) -> str:
    return encode(value).decode()


@tool("ask-model", slow=True)
def _ask_model(call: ClientRequest) -> dict[str, Any]:
    arguments = call.arguments
    messages = [{"role": "user", "content": text(arguments.get("prompt", "Write a haiku about terminals."))}]
    if arguments.get("with_picture"):
        from inspector.demo.content import picture

        messages.insert(0, {"role": "user", "content": image(picture(48, 32))})
    params = {"messages": messages, "maxTokens": int(arguments.get("max_tokens", 200)), **document()["sampling"]}
    if "temperature" in arguments:
        params["temperature"] = arguments["temperature"]
    answer = _ask(call, "sampling", "sampling/createMessage", params)
    return result(f"{answer.get('model')} said: {_as_text(answer.get('content'))}")


@tool("ask-model-with-tools", slow=True)
def _ask_model_with_tools(call: ClientRequest) -> dict[str, Any]:
    prompt = call.arguments.get("prompt", "What is the weather in Lima?")
    messages: list[dict[str, Any]] = [{"role": "user", "content": text(prompt)}]
    for round_number in range(MAX_ROUNDS):
        last = round_number == MAX_ROUNDS - 1
        choice = {"mode": "none" if last else "auto"}
        params = {"messages": messages, "maxTokens": 500, "tools": [document()["sampledTool"]], "toolChoice": choice}
        answer = _ask(call, "sampling.tools", "sampling/createMessage", params)
        content = answer.get("content")
        blocks = content if isinstance(content, list) else [content]
        uses = [block for block in blocks if isinstance(block, dict) and block.get("type") == "tool_use"]
        if not uses:
            return result(f"After {round_number + 1} rounds {answer.get('model')} said: {_as_text(content)}")
        messages.append({"role": "assistant", "content": content})
        made = [{"type": "tool_result", "toolUseId": use.get("id"), "content": [text("20 °C, sunny")]} for use in uses]
        messages.append({"role": "user", "content": made})
    return failure(f"The model still wanted tools after {MAX_ROUNDS} rounds.")


@tool("ask-user", slow=True)
def _ask_user(call: ClientRequest) -> dict[str, Any]:
    extended = call.features.elicitation_extended
    schema = document()["forms"]["2025-11-25" if extended else "2025-06-18"]
    params = {"message": call.arguments.get("message", "Please tell us about yourself."), "requestedSchema": schema}
    if extended:
        params["mode"] = "form"
    answer = _ask(call, "elicitation", "elicitation/create", params)
    if answer.get("action") != "accept":
        return result(f"The user chose to {answer.get('action')}.")
    wrong = problems(answer.get("content"), schema)
    if wrong:
        return failure("The answer does not fit the form:\n" + "\n".join(wrong))
    return result(f"The user accepted: {_as_text(answer['content'])}")


def _visit(call: ClientRequest) -> dict[str, Any]:
    name = f"visit-{call.state.next_visit()}"
    visit = {
        "mode": "url",
        "url": f"https://example.com/demo/connect?visit={name}",
        "message": "Open this page to connect your example account. Nothing happens there.",
    }
    return visit | {"elicitationId": name} if call.features.elicitation_ids else visit


@tool("ask-link", slow=True)
def _ask_link(call: ClientRequest) -> dict[str, Any]:
    visit = _visit(call)
    answer = _ask(call, "elicitation.url", "elicitation/create", visit)
    if answer.get("action") != "accept":
        return result(f"The user chose to {answer.get('action')}.")
    call.sleep(call.state.tick)
    if call.features.elicitation_ids:
        call.notify("notifications/elicitation/complete", {"elicitationId": visit["elicitationId"]})
    return result("The user agreed to open the link, and the visit is (as we pretend) complete.")


@tool("need-link")
def _need_link(call: ClientRequest) -> dict[str, Any]:
    _need(call, "elicitation.url")
    if not call.features.elicitation_ids:
        return _ask_link(call)
    if call.state.visited:
        call.state.visited = False
        return result("The link was opened (as we pretend), so here is your answer.")
    call.state.visited = True
    visit = _visit(call)
    done = {"elicitationId": visit["elicitationId"]}
    call.later(call.state.tick, "notifications/elicitation/complete", done)
    raise RpcError(URL_ELICITATION_REQUIRED, "A link must be opened first", {"elicitations": [visit]})


@tool("where-am-i", slow=True)
def _where_am_i(call: ClientRequest) -> dict[str, Any]:
    answer = _ask(call, "roots", "roots/list", {})
    roots = answer.get("roots")
    if not isinstance(roots, list):
        return failure("The client's response contains no list of roots.")
    if not roots:
        return result("The client has no roots.")
    return result("\n".join(_as_text(root) for root in roots))


@tool("ping-client", slow=True, needs="pings")
def _ping_client(call: ClientRequest) -> dict[str, Any]:
    import time

    took: list[str] = []
    for _ in range(int(call.arguments.get("times", 3))):
        start = time.perf_counter()
        _ask(call, "", "ping", {})
        took.append(f"{(time.perf_counter() - start) * 1000:.1f} ms")
    return result(", ".join(took))


def _chosen(answer: dict[str, Any], field: str) -> str | None:
    """Returns the value of a form's field; None if the form was not accepted, or the field is empty."""
    chosen = (accepted(answer) or {}).get(field)
    return chosen if isinstance(chosen, str) and chosen else None


@tool("ask-several", slow=True)
def _ask_several(call: ClientRequest) -> dict[str, Any]:
    _need(call, "elicitation", "sampling", "roots")
    say = {"messages": [{"role": "user", "content": text("Say one word.")}], "maxTokens": 20}
    colours = {"type": "string", "enum": ["red", "green", "blue"]}
    colour = form(call.features, "Which colour do you like?", colour=colours)
    try:
        answers = call.ask(colour, ("sampling/createMessage", say), ("roots/list", {}))
    except Refused as refusal:
        return failure(f"The client refused one of three questions: {refusal}")
    return result(*(encode(answer).decode() for answer in answers))


@tool("ask-twice", slow=True)
def _ask_twice(call: ClientRequest) -> dict[str, Any]:
    _need(call, "elicitation")
    try:
        names = {"Europe": ["Bergen", "Lisbon"], "Asia": ["Kyoto", "Hanoi"]}
        region = {"type": "string", "title": "Continent", "enum": list(names)}
        continent = _chosen(call.ask(form(call.features, "Where do you want to go?", continent=region))[0], "continent")
        if continent is None:
            return result("Then you stay at home.")
        towns = {"type": "string", "title": "Town", "enum": names.get(continent, ["Nowhere"])}
        town = _chosen(call.ask(form(call.features, f"Where in {continent}?", town=towns))[0], "town")
    except Refused as refusal:
        return failure(f"The client refused a question: {refusal}")
    return result(f"You only get as far as {continent}." if town is None else f"Have a good time in {town}!")


@tool("come-back")
def _come_back(call: ClientRequest) -> dict[str, Any]:
    times = int(call.arguments.get("times", 2))
    for _ in range(times):
        call.come_back()
    return result(f"Done after at most {times} further calls.")
