"""The table of a chat worker that calls the tools of an MCP server by itself."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from podium.workers.chat_config import ChatWorkerConfig
from podium.workers.providers import checked_url
from podium.workers.table import Dollars, Positive, Seconds, VariableName, checked


class McpWorkerConfig(ChatWorkerConfig):
    """Example: ``McpWorkerConfig(name="finder", kind="mcp", model="openai:gpt-5-mini", server=["files-server", "/srv/docs"])``.

    Everything that a chat worker's table may say, and the server whose tools it calls.
    """

    server: list[str] = Field(default_factory=list)
    """The server's program and its arguments, started here and spoken to over its standard input and output; no shell."""
    url: Annotated[str, checked(checked_url)] | None = None
    """Instead: the address of a server that is spoken to over HTTP."""
    environment: list[VariableName] = Field(default_factory=list)
    """Names of variables that ``server`` is given besides HOME, LOGNAME, PATH, SHELL, TERM and USER."""
    token_env: VariableName | None = None
    """Name of the variable with the token that ``url`` is sent (``Authorization: Bearer``)."""
    tools: list[str] = Field(default_factory=list)
    """The tools it may call; without it, all that the server has."""
    rounds: Positive = 8
    """How often it may ask for tools; then it has to answer."""
    calls: Positive = 32
    """Tool calls in all, for one answer."""
    tool_seconds: Seconds = 60.0
    """For one call of a tool."""
    loop_seconds: Seconds = 600.0
    """For the whole answer, tools and waiting included."""
    loop_usd: Dollars | None = None
    """The most that one answer may cost."""
    result_kib: Positive = 64
    """Of a tool's result; what is longer is cut, and the model is told so."""

    @model_validator(mode="after")
    def _one_server(self) -> Self:
        if bool(self.server) == (self.url is not None):
            raise ValueError("name the server's program (server = [...]) or its address (url = ...), one of them")
        if self.url is not None and self.environment:
            raise ValueError("environment is for a server that is started here")
        if self.url is None and self.token_env is not None:
            raise ValueError("token_env is for a server that is spoken to over HTTP")
        if any("\0" in word for word in self.server) or (self.server and not self.server[0]):
            raise ValueError("server: its words hold no NUL, and the first one names a program")
        return self
