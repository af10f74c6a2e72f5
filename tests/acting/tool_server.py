"""A real MCP server for the tests: ``python tool_server.py LOG`` over its pipes, ``server_of(log)`` behind a port."""

import os
import sys
from pathlib import Path
from typing import Any

import anyio
from mcp.server import MCPServer


def server_of(log: Path) -> MCPServer[Any]:
    """Its tools; every call is a line in ``log``."""
    server: MCPServer[Any] = MCPServer(name="tools", version="1")

    def note(text: str) -> None:
        with log.open("a") as file:
            file.write(text + "\n")

    @server.tool()
    def add(a: int, b: int) -> str:
        """Adds two numbers."""
        note(f"add {a} {b}")
        return str(a + b)

    @server.tool(name="files.read")
    def read(name: str) -> str:
        """Has a name that models' APIs do not take."""
        note(f"read {name}")
        return f"the file {name}"

    @server.tool()
    def fails() -> str:
        """Raises."""
        note("fails")
        raise ValueError("the disk is on fire")

    @server.tool()
    def long(size: int) -> str:
        """Returns much."""
        return "x" * size

    @server.tool()
    async def slow() -> str:
        """Takes its time."""
        note("slow")
        await anyio.sleep(20)
        return "late"

    @server.tool()
    def variables() -> str:
        """The names and values that it was started with."""
        return repr(sorted(os.environ.items()))

    @server.tool()
    def dies() -> str:
        """Ends the server."""
        note("dies")
        os._exit(1)

    return server


if __name__ == "__main__":
    server_of(Path(sys.argv[1])).run()
