"""The features of both eras: lists, reads, calls, prompts and completions, each from a Call to a result."""

from __future__ import annotations

from inspector.demo.completions import complete
from inspector.demo.content import accepted, base64, failure, fit, fit_result, form, picture
from inspector.demo.definitions import document
from inspector.demo.paging import PAGE_SIZE, page_of, start_of
from inspector.demo.resources import GUARDED
from inspector.demo.rpc import INVALID_PARAMS, Refused, RpcError, ToolError
from inspector.demo.schema import problems

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from inspector.demo.call import ClientRequest, Handler

    Page = tuple[list[dict[str, Any]], int]
    Entries = Callable[[ClientRequest, int, int], Page]


def _lister(kind: str, key: str, entries: Entries) -> Handler:
    """The handler of a list method. `entries` returns those from one number to another, and how many there are."""

    def serve(call: ClientRequest) -> dict[str, Any]:
        start = start_of(kind, call.params.get("cursor"))
        page, total = entries(call, start, start + PAGE_SIZE)
        return page_of(kind, key, [fit(entry, call.features) for entry in page], start + PAGE_SIZE, total)

    return serve


def _tools(call: ClientRequest, start: int, stop: int) -> Page:
    tools = call.state.tools(call.features)
    return [tool.definition for tool in tools[start:stop]], len(tools)


def _resources(call: ClientRequest, start: int, stop: int) -> Page:
    return call.state.resources.page(start, stop), len(call.state.resources)


def _templates(call: ClientRequest, start: int, stop: int) -> Page:
    templates = call.state.resources.templates
    return templates[start:stop], len(templates)


def _prompts(call: ClientRequest, start: int, stop: int) -> Page:
    prompts = call.state.prompts()
    return [prompt.definition for prompt in prompts[start:stop]], len(prompts)


def _call_tool(call: ClientRequest) -> dict[str, Any]:
    tool = call.state.tool(call.params.get("name"), call.features)
    wrong = problems(call.arguments, tool.definition["inputSchema"])
    if wrong:
        return failure(f"The arguments do not match the schema of {tool.name}:\n" + "\n".join(wrong))
    try:
        return fit_result(tool.run(call), call.features)
    except ToolError as problem:
        return failure(str(problem))


def _read_resource(call: ClientRequest) -> dict[str, Any]:
    uri = call.text_param("uri")
    contents = call.state.resources.read(uri)
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


def _get_prompt(call: ClientRequest) -> dict[str, Any]:
    return call.state.prompt(call.params.get("name")).get(call)


HANDLERS: dict[str, Handler] = {
    "tools/list": _lister("tools", "tools", _tools),
    "tools/call": _call_tool,
    "resources/list": _lister("resources", "resources", _resources),
    "resources/templates/list": _lister("templates", "resourceTemplates", _templates),
    "resources/read": _read_resource,
    "prompts/list": _lister("prompts", "prompts", _prompts),
    "prompts/get": _get_prompt,
    "completion/complete": complete,
}


def instructions() -> str:
    """Returns what a client may tell its model about the server."""
    return "\n".join(document()["instructions"])


def server_info() -> dict[str, Any]:
    """Returns the server's identity, in the newest form."""
    icon = {"src": f"data:image/png;base64,{base64(picture(48, 48))}", "mimeType": "image/png", "sizes": ["48x48"]}
    return {**document()["serverInfo"], "icons": [icon]}
