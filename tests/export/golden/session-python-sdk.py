# Does again what was done in a recorded session. Written by inspector VERSION; needs mcp>=2.
# The recording: 6b0f9a0e-0000-4000-8000-000000000001
import asyncio
import os

from mcp import StdioServerParameters
from mcp import Client, MCPError, types

SERVER = StdioServerParameters(command="npx", args=["-y", "some-server"], env={"TOKEN": os.environ["TOKEN"]})
SAMPLING = [
    None,
]
ELICITATION = []
ROOTS = []


async def show(what):
    try:
        print(await what)
    except (MCPError, ValueError, RuntimeError) as error:
        print(type(error).__name__, error)


async def request(client, method, params=None):
    made = types.Request[dict | None, str](method=method, params=params)
    return await client.session.send_request(made, types.Result)


def refused(message):
    return types.ErrorData(code=types.INVALID_REQUEST, message=message)


async def sampling(context, params):
    answer = SAMPLING.pop(0) if SAMPLING else None
    if answer is None:
        return refused("the recorded client gave no such answer")
    kind = types.CreateMessageResultWithTools if isinstance(answer["content"], list) else types.CreateMessageResult
    return kind.model_validate(answer)


async def elicitation(context, params):
    answer = ELICITATION.pop(0) if ELICITATION else None
    return refused("the recorded client refused") if answer is None else types.ElicitResult.model_validate(answer)


async def roots(context):
    return types.ListRootsResult.model_validate({"roots": ROOTS})


async def part_1(client):
    # 6: tools/list, done in 12 ms
    await show(client.list_tools())
    # 9: tools/call echo, error in 7.2 ms
    await show(client.call_tool("echo", {"message": "hi `there`"}))
    # 18: tools/call echo, pending: not asked again, it got no answer


async def main():
    async with Client(SERVER, mode="legacy", sampling_callback=sampling) as client:
        await part_1(client)


if __name__ == "__main__":
    asyncio.run(main())
