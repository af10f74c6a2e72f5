"""The client's tools as one flat list of functions, and the way back: whose call it was when a worker calls one.

Chat models know functions that take JSON and nothing else. A tool in a namespace becomes a function whose name begins with the
namespace's; a tool that takes a text becomes one with the single argument ``input``.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from podium.body import is_broken
from podium.errors import ConfigError
from podium.serving.responses_requests import (
    AnyTool,
    ResponsesAllowed,
    ResponsesChoice,
    ResponsesCustomTool,
    ResponsesHostedTool,
    ResponsesNamespace,
    ResponsesTool,
)
from podium.types import Tool, ToolCall

_LONGEST = 64
_INPUT = {
    "type": "object",
    "properties": {"input": {"type": "string", "description": "The whole input of the tool, as it is."}},
    "required": ["input"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A tool as its client calls it."""

    name: str
    namespace: str | None = None
    takes_text: bool = False


@dataclass(slots=True)
class Toolbox:
    """What a client offers. Example: ``box.add(request.tools); box.tools; box.named["crm__find"].namespace  # "crm"``."""

    tools: list[Tool] = field(default_factory=list)
    named: dict[str, Named] = field(default_factory=dict)
    """By the name that the worker is told."""
    ignored: list[str] = field(default_factory=list)
    """What was left out."""

    def add(self, tools: Sequence[AnyTool]) -> None:
        """Take more tools. Raises :class:`ConfigError` where two have one name."""
        for tool in tools:
            if isinstance(tool, ResponsesHostedTool):
                self.ignored.append(f"tools.{tool.type}")
            elif isinstance(tool, ResponsesNamespace):
                for own in tool.tools:
                    self._own(own, tool.name, tool.description)
            else:
                self._own(tool, None, None)

    def only(self, allowed: ResponsesAllowed) -> None:
        """Keep the tools that may be called. Raises :class:`ConfigError` where one is not there."""
        kept = {flat_name(one.name, one.namespace) for one in allowed.tools if isinstance(one, ResponsesChoice)}
        self.ignored += [f"tool_choice.{one.type}" for one in allowed.tools if isinstance(one, ResponsesHostedTool)]
        self.tools = kept_only(self.tools, kept)

    def _own(self, tool: ResponsesTool | ResponsesCustomTool, namespace: str | None, about: str | None) -> None:
        name = flat_name(tool.name, namespace)
        if name in self.named:
            raise ConfigError("two tools have the same name")
        described = "\n\n".join(part for part in (about, tool.description) if part)
        if isinstance(tool, ResponsesCustomTool):
            grammar = (
                None if tool.format is None or tool.format.get("type") == "text" else json.dumps(tool.format, sort_keys=True)
            )
            if grammar is not None:
                # A chat model can be told of a grammar, not held to it.
                described = f"{described}\n\nThe input has this form: {grammar}".strip()
                self.ignored.append(f"tools.{tool.name}.format")
            made = Tool(name=name, description=described, parameters=json.dumps(_INPUT, sort_keys=True))
        else:
            made = tool_of(name, described, tool.parameters, tool.strict)
        self.tools.append(made)
        self.named[name] = Named(name=tool.name, namespace=namespace, takes_text=isinstance(tool, ResponsesCustomTool))


def tool_of(name: str, description: str | None, parameters: Mapping[str, object] | None, strict: bool | None) -> Tool:
    """A function of the client's."""
    schema = parameters or {"type": "object", "properties": {}}
    return Tool(name=name, description=description or "", parameters=schema_text(schema), strict=strict)


def schema_text(schema: Mapping[str, object]) -> str:
    """A JSON schema as text. Raises :class:`ConfigError` where it holds what JSON can not."""
    try:
        text = json.dumps(schema, sort_keys=True, allow_nan=False, ensure_ascii=False)
    except ValueError as error:
        raise ConfigError(f"a JSON schema can not be written as JSON: {error}") from error
    if is_broken(text):
        raise ConfigError("a JSON schema holds half of a surrogate pair; send whole characters")
    return text


def kept_only(tools: Sequence[Tool], names: set[str]) -> list[Tool]:
    """Those of ``tools`` that are called ``names``. Raises :class:`ConfigError` where one is not there."""
    if missing := sorted(names - {tool.name for tool in tools}):
        raise ConfigError(f"tool_choice: there is no tool {missing[0]!r} in this request")
    return [tool for tool in tools if tool.name in names]


def flat_name(name: str, namespace: str | None) -> str:
    """The name that the worker is told. Example: ``flat_name("find", "crm")  # "crm__find"``."""
    if namespace is None:
        return name
    return short_name(f"{namespace}{name}" if namespace.endswith("__") else f"{namespace}__{name}")


def short_name(whole: str) -> str:
    """``whole``, or where that is longer than workers take, its beginning and a hash of all of it."""
    if len(whole) <= _LONGEST:
        return whole
    return f"{whole[: _LONGEST - 9]}_{hashlib.sha256(whole.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def text_of(call: ToolCall) -> str:
    """The input of a tool that takes a text; what a worker wrote instead of the JSON it was asked for is that text itself."""
    try:
        given = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return call.arguments
    return given["input"] if isinstance(given, dict) and isinstance(given.get("input"), str) else call.arguments
