"""The tools of one MCP server: a connection that is opened with the first call, kept, and opened anew where it was lost.

The library wants a connection to be closed by the task that opened it, so one task of its own holds it. A server that is started
here ends with it. What the server says is hostile: names are fitted to what models' APIs take, and results are text only.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT, CallToolResult, TextContent
from pydantic_core import to_json

from podium.acting.mcp_config import McpWorkerConfig
from podium.errors import ConfigError, WorkerUnavailable
from podium.types import Tool

CONNECT_SECONDS = 60.0
"""To start a server, or reach it, and have its list of tools."""
MOST_PAGES = 50
"""Of a server's list of tools."""
LONGEST_NAME = 64


class McpTools:
    """Example: ``(await McpTools(table, os.environ).call("add", {"a": 1, "b": 2})) == ("3", False)``.

    Raises :class:`ConfigError`, when made, for a variable that is not set.
    """

    def __init__(self, table: McpWorkerConfig, environ: Mapping[str, str]) -> None:
        missing = [name for name in (table.token_env, *table.environment) if name is not None and name not in environ]
        if missing:
            raise ConfigError(f"the environment variable {missing[0]} is not set; set it, or take it out of the table")
        self._table = table
        self._environment = {name: environ[name] for name in table.environment}
        self._token = None if table.token_env is None else environ[table.token_env].strip()
        about = {"kind": "mcp", "server": table.server, "url": table.url, "tools": sorted(table.tools)}
        self.identity = json.dumps(about, sort_keys=True, separators=(",", ":"))
        self._where = table.server[0] if table.url is None else table.url
        self._opening = asyncio.Lock()
        self._connection: _Connection | None = None

    async def offered(self) -> tuple[Tool, ...]:
        """The tools that may be called, by the names that models' APIs take."""
        connection = await self._opened()
        return tuple(connection.tools.values())

    async def call(self, name: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        """Call the tool that is offered as ``name``."""
        try:
            to_json([[[[arguments]]]])  # some levels more, as the library's request has them
        except ValueError as error:
            # The library would take it for the end of the connection, which others use as well.
            return f"(not called: the arguments can not be sent: {_short(error)})", True
        connection = await self._opened()
        try:
            async with asyncio.timeout(self._table.tool_seconds):
                result = await connection.client.call_tool(connection.real[name], arguments)
        except TimeoutError:
            return f"(no result within {self._table.tool_seconds:g} seconds)", True
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:
                await self.aclose()
                raise WorkerUnavailable(f"the MCP server {self._where} closed the connection during a call of {name}") from error
            if error.code == REQUEST_TIMEOUT:
                return f"(no result within {self._table.tool_seconds:g} seconds)", True
            return f"(not called: {error.message})", True
        # The boundary to a foreign server: whatever the library raises over what it sent is the server's fault.
        except Exception as error:
            await self.aclose()
            raise WorkerUnavailable(
                f"the MCP server {self._where} can not be used: {type(error).__name__}: {_short(error)}"
            ) from error
        return _text(result), result.is_error

    async def _opened(self) -> "_Connection":
        async with self._opening:
            if self._connection is not None and self._connection.task.done():
                self._connection = None
            if self._connection is None:
                self._connection = await self._open()
            return self._connection

    async def _open(self) -> "_Connection":
        connection = _Connection()
        connection.task = asyncio.create_task(self._held(connection))
        ready = asyncio.create_task(connection.ready.wait())
        ended: BaseException | None = None
        try:
            await asyncio.wait({ready, connection.task}, timeout=CONNECT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ready.cancel()
            if not connection.ready.is_set():
                connection.task.cancel()
                [ended] = await asyncio.gather(connection.task, return_exceptions=True)
        if connection.ready.is_set():
            return connection
        end = asyncio.CancelledError() if ended is None else _cause(ended)
        if isinstance(end, ConfigError):
            raise end
        why = f"no answer within {CONNECT_SECONDS:g} seconds" if isinstance(end, asyncio.CancelledError) else _short(end)
        raise WorkerUnavailable(f"the MCP server {self._where} can not be used: {why}") from end

    async def _held(self, connection: "_Connection") -> None:
        """Open the connection, and keep it until it is to be closed."""
        async with self._client() as client:
            connection.client = client
            connection.tools, connection.real = _named(await _listed(client), self._table.tools)
            connection.ready.set()
            await connection.closing.wait()

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[Client]:
        table = self._table
        seconds = max(table.tool_seconds, CONNECT_SECONDS)
        if table.url is None:
            server = StdioServerParameters(command=table.server[0], args=table.server[1:], env=self._environment)
            async with Client(server, read_timeout_seconds=seconds, cache=None) as client:
                yield client
            return
        headers = {} if self._token is None else {"Authorization": f"Bearer {self._token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=httpx2.Timeout(seconds)) as http:
            transport = streamable_http_client(table.url, http_client=http)
            async with Client(transport, read_timeout_seconds=seconds, cache=None) as client:
                yield client

    async def aclose(self) -> None:
        """Close the connection, and end a server that was started here; twice is harmless, and a call opens it anew."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.closing.set()
            # It may end with what the library says of a connection that is lost already.
            await asyncio.gather(connection.task, return_exceptions=True)


class _Connection:
    """An open connection and the task that holds it."""

    client: Client
    task: asyncio.Task[None]

    def __init__(self) -> None:
        self.ready = asyncio.Event()
        self.closing = asyncio.Event()
        self.tools: dict[str, Tool] = {}
        self.real: dict[str, str] = {}
        """The name that a tool is offered by -> the server's own."""


async def _listed(client: Client) -> list[Any]:
    found: list[Any] = []
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        found += page.tools
        cursor = page.next_cursor
        if cursor is None:
            return found
    raise WorkerUnavailable(f"its list of tools has more than {MOST_PAGES} pages")


def _named(listed: list[Any], wanted: list[str]) -> tuple[dict[str, Tool], dict[str, str]]:
    """The tools that are wanted, all where none is named. Raises :class:`ConfigError` where one is missing."""
    if missing := sorted(set(wanted) - {tool.name for tool in listed}):
        there = ", ".join(sorted(tool.name for tool in listed)) or "none"
        raise ConfigError(f"tools: the MCP server has no tool {missing[0]!r}; it has {there}")
    tools: dict[str, Tool] = {}
    real: dict[str, str] = {}
    for tool in listed:
        if wanted and tool.name not in wanted:
            continue
        plain = name = re.sub(r"[^a-zA-Z0-9_-]", "_", tool.name)[:LONGEST_NAME] or "tool"
        number = 1
        while name in tools:
            number += 1
            name = f"{plain[: LONGEST_NAME - 6]}_{number}"
        tools[name] = Tool(
            name=name, description=tool.description or "", parameters=json.dumps(tool.input_schema, sort_keys=True)
        )
        real[name] = tool.name
    return tools, real


def _text(result: CallToolResult) -> str:
    """What a tool said, as text; what is no text is named."""
    parts = [part.text if isinstance(part, TextContent) else f"({part.type}: not shown)" for part in result.content]
    if not parts and result.structured_content is not None:
        return json.dumps(result.structured_content)
    return "\n".join(parts)


def _cause(error: BaseException) -> BaseException:
    """The first error in a group of errors, which the library's tasks raise."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _short(error: BaseException) -> str:
    """An error in one line."""
    error = _cause(error)
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]
