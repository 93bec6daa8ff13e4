"""A client for the official conformance suite: `client.py [--open-skills] URL`, run once for each scenario.

It does what a user who tries everything does, through the session that the interface uses: connects, lists what is
offered, calls each tool that may be called with arguments made up from its schema, reads two resources, gets a prompt,
and lets questions be answered with their defaults. Which scenario it is in it does not know, nor the revision. Of what
the suite says it heeds only `MCP_CONFORMANCE_CONTEXT`: what a user would have been told beforehand, such as the calls to
be made, or the client that is registered for them. Its browser asks for the page to log in at, and reads where that
would send it back to.

Skills are listed; `--open-skills` also opens and verifies each of them, as `inspector skills --verify` does.

One tool is known by its name: what `json_schema_echo` gets is the schema of another tool, as it came, because what is to
be seen there is whether a schema comes through unchanged.

The exit status is 0 if the connection held. What the server refuses is its own affair, and is printed.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

from inspector.auth.credential import Authorizer
from inspector.auth.options import AuthOptions
from inspector.auth.person import LoginPage, NoPerson
from inspector.client.fetching import EndpointSender
from inspector.client.inbox import StandingAnswers
from inspector.client.options import Options
from inspector.client.session import Session
from inspector.client.state.catalog import KINDS
from inspector.config.targets import HttpTarget
from inspector.errors import InspectorError, ServerError
from inspector.journal.journal import Journal

ANSWERS = StandingAnswers(sampling="decline", elicitation="defaults", roots=())
PATIENCE = 20.0
"""Seconds that an answer may take; the suite ends a client after thirty."""
RESOURCES_READ = 2
DOCUMENT = "https://conformance-test.local/client-metadata.json"
"""What the suite takes for a client id metadata document of ours."""
LOGIN = {
    "client_id": "client_id",
    "client_secret": "client_secret",
    "issuer": "client_issuer",
    "private_key_pem": "client_key",
    "signing_algorithm": "client_key_alg",
    "idp_issuer": "idp_issuer",
    "idp_token_endpoint": "idp_token_endpoint",
    "idp_client_id": "idp_client_id",
    "idp_id_token": "idp_id_token",
    "valid_jwt": "assertion",
}
"""What may stand in the context, and the option that it is."""
ECHO, ECHOED = "json_schema_echo", "json_schema_2020_12_tool"


class Visitor(NoPerson):
    """A user whose browser is redirected at once, and who pastes the final URL."""

    present = True
    absence = ""

    def __init__(self, target: HttpTarget) -> None:
        self._target = target
        self._page = ""

    async def show(self, page: LoginPage) -> None:
        self._page = page.url

    async def pasted(self) -> str:
        web = EndpointSender(self._target)
        try:
            answer = await web.send("GET", self._page, (), b"", limit=1 << 16, admit=lambda address: True)
        finally:
            await web.aclose()
        return answer.values("location")[0]


def arguments_of(session: Session, tool: dict[str, Any]) -> dict[str, Any]:
    """Arguments that a tool's schema takes, checked against it as the interface does before it sends them."""
    schema = tool["inputSchema"]
    echoed = session.catalog.tools.get(ECHOED)
    if tool["name"] == ECHO and echoed is not None:
        return {"schema": echoed["inputSchema"]}
    if not schema.get("properties"):
        return {}
    from inspector.errors import SchemaError
    from inspector.protocol.sample_values import sample
    from inspector.protocol.validation import Validator

    made: dict[str, Any] = sample(schema)
    try:
        for violation in Validator(schema).errors(made):
            print(f"{tool['name']}: {violation.path} {violation.message}", file=sys.stderr)
    except SchemaError as error:
        print(f"{tool['name']}: {error.message}", file=sys.stderr)
    return made


async def try_everything(session: Session, context: dict[str, Any]) -> list[InspectorError]:
    """Use an open session. Returns what went wrong."""
    await asyncio.gather(*(session.load(name) for name, kind in KINDS.items() if session.server.can(kind.capability)))
    catalog = session.catalog
    calls = [(call["name"], call["arguments"]) for call in context.get("toolCalls", ())]
    if not calls:
        allowed = [tool for tool in catalog.tools.items if tool["name"] not in session.refused_tools]
        calls = [(tool["name"], arguments_of(session, tool)) for tool in allowed]
    running = [session.call_tool(name, arguments) for name, arguments in calls]
    running += [session.read_resource(resource["uri"]) for resource in catalog.resources.items[:RESOURCES_READ]]
    for prompt in catalog.prompts.items[:1]:
        values = {argument["name"]: "sample" for argument in prompt.get("arguments", ()) if argument.get("required")}
        running.append(session.get_prompt(prompt["name"], values))
    wrong = [listing.error for listing in catalog.lists.values() if listing.error is not None]
    for call in running:
        try:
            await call.result()
        except InspectorError as error:
            wrong.append(error)
    return wrong


async def try_skills(session: Session, *, opens: bool) -> None:
    """List the skills of a server that declares them; with `opens` read and verify each."""
    from inspector.features.skills.reading import SkillReader, offers_skills

    if not offers_skills(session.server):
        return
    reader = SkillReader(session)
    for skill in await reader.load():
        if opens:
            for check in (await reader.verify(skill))[1]:
                print(f"{check.file.path}: {check.words} {check.detail}", file=sys.stderr)


async def main(url: str, context: dict[str, Any], *, opens_skills: bool) -> int:
    """Connect, try everything, leave. Returns the exit status."""
    target = HttpTarget(url)
    login_options = {option: context[key] for key, option in LOGIN.items() if key in context}
    login = AuthOptions(client_metadata_url=DOCUMENT, open_browser=False, **login_options)
    authorize = Authorizer(login, web=EndpointSender, person=Visitor(target), keeps=False)
    options = Options(timeout=PATIENCE, standing=ANSWERS, authorize=authorize)
    session = Session(target, Journal.unnamed(target.as_header()), options)
    wrong: list[InspectorError] = []
    try:
        await session.open()
        wrong = await try_everything(session, context)
        await try_skills(session, opens=opens_skills)
    except InspectorError as error:
        wrong = [error]
    finally:
        await session.close()
    for error in wrong:
        print(error.message, error.hint, file=sys.stderr)
    return 0 if session.server.known and all(isinstance(error, ServerError) for error in wrong) else 1


if __name__ == "__main__":
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    sys.exit(asyncio.run(main(sys.argv[-1], context, opens_skills="--open-skills" in sys.argv)))
