"""The features of both eras: lists, reads, calls, prompts and completions, each from a Call to a result."""

from __future__ import annotations

from inspector.demo.completions import complete
from inspector.demo.content import accepted, failure, fit, fit_result, form
from inspector.demo.paging import PAGE_SIZE, page_of, start_of
from inspector.demo.resources import GUARDED
from inspector.demo.rpc import INVALID_PARAMS, Refused, RpcError, ToolError
from inspector.demo.schema import problems

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from inspector.demo.call import ClientRequest, Handler


INSTRUCTIONS = """# Demo server

Every feature of the protocol can be tried here, and nothing does any harm.

- Start with the tool `echo`; `book-trip` and `order-pizza` have larger forms.
- `slow` reports progress and can be **cancelled**; `forget` never answers.
- `ask-model`, `ask-user`, `ask-link` and `where-am-i` ask *you* something back.
- `bad-structured` breaks its own output schema, `protocol-error` and `fail` fail in two different ways.
- `ask-several`, `ask-twice` and `come-back` take more than one round.
- Subscribe to `demo://clock` to see a resource change.
- `crash` really ends the server process.
"""


def _list_tools(call: ClientRequest) -> dict[str, Any]:
    start = start_of("tools", call.params.get("cursor"))
    tools = call.world.tools(call.features)
    entries = [fit(tool.definition, call.features) for tool in tools[start : start + PAGE_SIZE]]
    return page_of("tools", "tools", entries, start + PAGE_SIZE, len(tools))


def _call_tool(call: ClientRequest) -> dict[str, Any]:
    tool = call.world.tool(call.params.get("name"), call.features)
    wrong = problems(call.arguments, tool.definition["inputSchema"])
    if wrong:
        return failure(f"The arguments do not match the schema of {tool.name}:\n" + "\n".join(wrong))
    try:
        return fit_result(tool.run(call), call.features)
    except ToolError as problem:
        return failure(str(problem))


def _list_resources(call: ClientRequest) -> dict[str, Any]:
    start = start_of("resources", call.params.get("cursor"))
    resources = call.world.resources
    entries = [fit(each, call.features) for each in resources.page(start, start + PAGE_SIZE)]
    return page_of("resources", "resources", entries, start + PAGE_SIZE, len(resources))


def _list_templates(call: ClientRequest) -> dict[str, Any]:
    start = start_of("templates", call.params.get("cursor"))
    templates = call.world.resources.templates
    entries = [fit(each, call.features) for each in templates[start : start + PAGE_SIZE]]
    return page_of("templates", "resourceTemplates", entries, start + PAGE_SIZE, len(templates))


def _read_resource(call: ClientRequest) -> dict[str, Any]:
    uri = call.text_param("uri")
    contents = call.world.resources.read(uri)
    if uri.startswith(GUARDED) and not _allows(call, uri):
        raise RpcError(INVALID_PARAMS, "The user did not allow this to be read", {"uri": uri})
    return {"contents": contents}


def _allows(call: ClientRequest, uri: str) -> bool:
    if call.missing("elicitation"):
        return False
    try:
        question = form(call.features, f"Allow {uri} to be read?", sure={"type": "boolean", "title": "Yes"})
        content = accepted(call.ask(question)[0])
    except Refused:
        return False
    return content is not None and content.get("sure") is True


def _list_prompts(call: ClientRequest) -> dict[str, Any]:
    start = start_of("prompts", call.params.get("cursor"))
    prompts = call.world.prompts()
    entries = [fit(prompt.definition, call.features) for prompt in prompts[start : start + PAGE_SIZE]]
    return page_of("prompts", "prompts", entries, start + PAGE_SIZE, len(prompts))


def _get_prompt(call: ClientRequest) -> dict[str, Any]:
    return call.world.prompt(call.params.get("name")).get(call)


HANDLERS: dict[str, Handler] = {
    "tools/list": _list_tools,
    "tools/call": _call_tool,
    "resources/list": _list_resources,
    "resources/templates/list": _list_templates,
    "resources/read": _read_resource,
    "prompts/list": _list_prompts,
    "prompts/get": _get_prompt,
    "completion/complete": complete,
}


def server_info() -> dict[str, Any]:
    """Returns the server's identity, in the newest form."""
    from inspector.demo.content import base64, picture

    icon = {"src": f"data:image/png;base64,{base64(picture(48, 48))}", "mimeType": "image/png", "sizes": ["48x48"]}
    return {
        "name": "inspector-demo",
        "title": "Demo server",
        "version": "1.0.0",
        "description": "Shows every feature of the protocol",
        "websiteUrl": "https://modelcontextprotocol.io",
        "icons": [icon],
    }
