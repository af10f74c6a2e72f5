"""An effort that a client names, on its way to each provider's own field; and one tool call at a time."""

from dataclasses import replace
from typing import Any

import pytest

from podium.types import Call, Effort, ResponseOptions, Sampling, Tool
from tests.workers.test_chat import reply, says, serve, worker_at


def wanting(effort: Effort, **more: Any) -> Call:
    return replace(Call.plain("6 times 7?"), response_options=ResponseOptions(effort=effort, **more))


@pytest.mark.parametrize(
    ("model", "effort", "expected"),
    [
        ("openai:gpt-5-mini", "high", {"reasoning_effort": "high"}),
        ("openai:gpt-5-mini", "none", {"reasoning_effort": "minimal"}),
        ("openai:some-new-model", "max", {"reasoning_effort": "max"}),
        ("vllm:Qwen/Qwen3-8B", "low", {"reasoning_effort": "low"}),
        ("vllm:Qwen/Qwen3-8B", "none", {"reasoning_effort": "none"}),
        ("openrouter:anthropic/claude-sonnet-4.5", "xhigh", {"reasoning": {"effort": "xhigh"}}),
    ],
)
@pytest.mark.parametrize("own", [Sampling(), Sampling(thinking_tokens=4000), Sampling(thinking_tokens=0)])
async def test_it_replaces_the_workers_own_budget(model: str, effort: Effort, own: Sampling, expected: dict[str, Any]) -> None:
    async with serve(says(reply())) as server, worker_at(server, model, sampling=own) as worker:
        await worker(wanting(effort))
    assert expected.items() <= server.bodies[0].items()
    assert "thinking_tokens" not in str(server.bodies[0])


async def test_temperature_stays_where_nobody_thinks_and_goes_where_somebody_does() -> None:
    own = Sampling(temperature=0.2, max_tokens=77)
    async with serve(says(reply())) as server, worker_at(server, "openai:gpt-5.1", sampling=own) as worker:
        await worker(wanting("none"))
        await worker(wanting("high"))
    first, second = server.bodies
    assert (first["temperature"], "temperature" in second) == (0.2, False)


@pytest.mark.parametrize(
    ("model", "effort", "max_tokens", "thinking", "config"),
    [
        ("claude-haiku-4-5", "low", 8000, {"type": "enabled", "budget_tokens": 2048}, None),
        ("claude-haiku-4-5", "high", 8000, None, None),  # the budget would leave nothing for the answer
        ("claude-haiku-4-5", "none", 8000, None, None),
        ("claude-opus-4-6", "high", 8000, {"type": "adaptive"}, {"effort": "high"}),
    ],
)
async def test_anthropic_gets_a_budget_or_an_effort(
    model: str, effort: Effort, max_tokens: int, thinking: Any, config: Any
) -> None:
    pytest.importorskip("anthropic", reason="anthropic is not installed")
    answer = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [{"type": "text", "text": "42"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    own = Sampling(max_tokens=max_tokens)
    async with serve(says(answer)) as server, worker_at(server, f"anthropic:{model}", sampling=own) as worker:
        await worker(wanting(effort))
    [body] = server.bodies
    if thinking is None:
        assert body.get("thinking", {"type": "disabled"})["type"] == "disabled"
    else:
        assert thinking.items() <= body["thinking"].items()
    assert (body.get("output_config") or None) == config


async def test_one_tool_call_at_a_time() -> None:
    async with serve(says(reply())) as server, worker_at(server, "openai:m") as worker:
        await worker(wanting("low", tools=(Tool(name="now"),), one_tool_call=True))
        await worker(wanting("low", tools=(Tool(name="now"),)))
        await worker(wanting("low", one_tool_call=True))
    assert [body.get("parallel_tool_calls") for body in server.bodies] == [False, None, None]
