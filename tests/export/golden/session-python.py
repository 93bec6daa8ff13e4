# Does again what was done in a recorded session. Written by inspector VERSION.
# The recording: 6b0f9a0e-0000-4000-8000-000000000001
import asyncio
import os

import inspector

TARGET = ["npx", "-y", "some-server"]
SAMPLING = [
    None,
]
OPTIONS = {"env": {"TOKEN": os.environ["TOKEN"]}, "era": "legacy", "sampling": lambda asked: SAMPLING.pop(0) if SAMPLING else None}


async def show(what):
    try:
        print(await what)
    except inspector.InspectorError as error:
        print(error)


async def part_1(session):
    # 6: tools/list, done in 12 ms
    await show(session.tools())
    # 9: tools/call echo, error in 7.2 ms
    await show(session.call_tool("echo", {"message": "hi `there`"}))
    # 18: tools/call echo, pending: not asked again, it got no answer


async def main():
    async with inspector.open(TARGET, **OPTIONS) as session:
        await part_1(session)


if __name__ == "__main__":
    asyncio.run(main())
