"""Firefox ESR for a Playwright that asks more of WebDriver BiDi than it knows: run as a program in place of Firefox.

What goes between the two is handed on as it is. Only where this Firefox does not know a command that no test of ours depends on
(reading the bodies of answers, where downloads go, what a screen is like beyond its size) the answer is a success.
"""

import asyncio
import json
import re
import sys
from typing import Any

from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType, web

_LISTENS = re.compile(rb"WebDriver BiDi listening on (ws://\S+)")
MOST = 2**28
"""Bytes of one message; a picture of a page is one."""
NEEDLESS = ("network.addDataCollector", "browser.setDownloadBehavior", "emulation.")
"""What the commands begin with that may be unknown."""


async def main(firefox: str, arguments: list[str]) -> int:
    """Run ``firefox`` and stand between it and whoever speaks to it, until it ends."""
    process = await asyncio.create_subprocess_exec(firefox, *arguments, stderr=asyncio.subprocess.PIPE)
    assert process.stderr is not None
    while found := await process.stderr.readline():
        if listens := _LISTENS.search(found):
            await _stand_between(listens[1].decode())
            break
    while await process.stderr.readline():
        pass  # a full pipe would stop it
    return await process.wait()


async def _stand_between(address: str) -> None:
    async def speak(request: web.Request) -> web.WebSocketResponse:
        here = web.WebSocketResponse(max_msg_size=MOST)
        await here.prepare(request)
        needless: set[int] = set()
        async with ClientSession() as session, session.ws_connect(address + request.path, max_msg_size=MOST) as there:
            back = asyncio.create_task(_answer(there, here, needless))
            async for message in here:
                if message.type is WSMsgType.TEXT:
                    asked = json.loads(message.data)
                    if asked["method"].startswith(NEEDLESS):
                        needless.add(asked["id"])
                    await there.send_str(message.data)
            back.cancel()
        return here

    app = web.Application()
    app.router.add_get("/{path:.*}", speak)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(f"WebDriver BiDi listening on ws://127.0.0.1:{runner.addresses[0][1]}", file=sys.stderr, flush=True)


async def _answer(there: ClientWebSocketResponse, here: web.WebSocketResponse, needless: set[int]) -> None:
    async for message in there:
        if message.type is not WSMsgType.TEXT:
            continue
        said: dict[str, Any] = json.loads(message.data) if needless else {}
        if said.get("id") in needless:
            needless.discard(said["id"])
            if said.get("error") == "unknown command":
                await here.send_json({"type": "success", "id": said["id"], "result": {"collector": "none"}})
                continue
        await here.send_str(message.data)
    await here.close()


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1], sys.argv[2:])))
