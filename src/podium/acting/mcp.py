"""``kind = "mcp"``: a chat worker that calls the tools of an MCP server by itself, in a bounded loop, for its own step.

The operator's file names the server and may name the tools; a client chooses neither. The loop is in ``tool_loop.py``, the
connection in ``mcp_tools.py``, which needs the library of the extra ``mcp``.
"""

from collections.abc import Mapping

from podium.acting.mcp_config import McpWorkerConfig
from podium.acting.tool_loop import ToolLoop, Tools
from podium.errors import ConfigError
from podium.extras import need
from podium.protocols import Worker
from podium.registry import register
from podium.types import Call, Completion, ResponseOptions
from podium.workers.chat import ChatWorker
from podium.workers.chat_config import build_chat_worker
from podium.workers.connections import Connections
from podium.workers.kinds import StackTool, WorkerKind


class McpWorker:
    """The model behind the loop, and what puts the loop around it."""

    def __init__(self, table: McpWorkerConfig, chat: ChatWorker, tools: Tools) -> None:
        if table.loop_usd is not None and chat.price is None:
            raise ConfigError("loop_usd can not be kept: the model's price is unknown; set it in its table")
        self._table = table
        self._chat = chat
        self._tools = tools
        self.price, self.most_usd, self.identity = chat.price, chat.most_usd, chat.identity

    async def __call__(self, call: Call) -> Completion:
        """One request to the model."""
        return await self._chat(call)

    def check(self, response_options: ResponseOptions) -> None:
        """Raises :class:`ConfigError` for tools of the client's, and for what the model's API can not do."""
        if response_options.tools:
            raise ConfigError(f"worker {self._table.name!r} calls tools of its own and none of the client's; name a chat worker")
        self._chat.check(response_options)

    def around(self, worker: Worker, stack_tool: StackTool) -> Worker:
        """The loop around ``worker``, which is this one with its layers."""
        return ToolLoop(self._table, worker, self._tools, stack_tool)


def _make(table: McpWorkerConfig, environ: Mapping[str, str], connections: Connections) -> McpWorker:
    need("mcp")
    from podium.acting.mcp_tools import McpTools

    tools = McpTools(table, environ)
    connections.close_too(tools.aclose)
    return McpWorker(table, build_chat_worker(table, environ, connections), tools)


def _abilities(table: McpWorkerConfig) -> tuple[str, ...]:
    which = ", ".join(table.tools) if table.tools else "those of an MCP server"
    return (f"calls tools by itself: {which}",)


register("workers", "mcp")(
    WorkerKind(
        about="a chat model that calls the tools of an MCP server by itself",
        config=McpWorkerConfig,
        make=_make,
        keeps_time=True,
        abilities=_abilities,
    )
)
