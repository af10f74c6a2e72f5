"""The items of a response: the steps before the answer as reasoning, the answer as a message, calls of the client's tools."""

from collections.abc import Sequence
from typing import Any

from podium.serving.service import ActiveRequest
from podium.serving.toolbox import Named, text_of
from podium.types import Completion


def message_item(active: ActiveRequest, text: str, status: str = "completed") -> dict[str, Any]:
    """The answer."""
    content = [text_part(text)] if status == "completed" else []
    return {"id": f"msg_{_run(active)}", "type": "message", "role": "assistant", "status": status, "content": content}


def text_part(text: str) -> dict[str, Any]:
    """A message's text."""
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def reasoning_item(active: ActiveRequest, number: int, summary: Sequence[str]) -> dict[str, Any]:
    """What happened before (0), and beside (1), the answer."""
    return {"id": f"rs_{number}_{_run(active)}", "type": "reasoning", "summary": [summary_part(text) for text in summary]}


def summary_part(text: str) -> dict[str, Any]:
    """One thing that happened."""
    return {"type": "summary_text", "text": text}


def call_items(active: ActiveRequest, completion: Completion) -> list[dict[str, Any]]:
    """What the client's tools are to do, by the names the client gave them."""
    items = []
    for index, call in enumerate(completion.tool_calls):
        named = active.parsed.tools.get(call.name, Named(name=call.name))
        item = {"call_id": call.id, "name": named.name, "status": "completed"}
        if named.namespace is not None:
            item["namespace"] = named.namespace
        if named.takes_text:
            items.append({"id": f"ctc_{index}_{_run(active)}", "type": "custom_tool_call", **item, "input": text_of(call)})
        else:
            items.append({"id": f"fc_{index}_{_run(active)}", "type": "function_call", **item, "arguments": call.arguments})
    return items


def _run(active: ActiveRequest) -> str:
    return active.run.removeprefix("run_")
