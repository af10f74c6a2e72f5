"""The pool as tools of the Model Context Protocol: a real client over the pipes of a real process."""

import json
import sys
from pathlib import Path

import pytest

mcp = pytest.importorskip("mcp", reason="mcp is not installed: pip install 'podium[mcp]'")

from mcp.client.stdio import stdio_client  # noqa: E402

from podium.gym.world import World  # noqa: E402


async def test_a_client_asks_and_looks_at_the_run(tmp_path: Path) -> None:
    [problem] = World().problems(split="held_out_numbers", n=1, kinds=("story",))
    command = ["-m", "podium", "mcp", "--policy", "best", "--db", f"sqlite:///{tmp_path / 'runs.db'}"]
    parameters = mcp.StdioServerParameters(command=sys.executable, args=command)
    async with stdio_client(parameters) as (reading, writing), mcp.ClientSession(reading, writing) as session:
        await session.initialize()
        assert {tool.name for tool in (await session.list_tools()).tools} == {"ask", "list_workers", "get_run"}
        workers = json.loads((await session.call_tool("list_workers", {})).content[0].text)
        assert workers["models"][0] == "podium"
        assert len(workers["workers"]) == 7
        answer = (await session.call_tool("ask", {"question": problem.question})).content[0].text
        assert f"Answer: {problem.target}" in answer
        run = answer.rpartition("(")[2].partition(",")[0]
        story = json.loads((await session.call_tool("get_run", {"run": run})).content[0].text)
        assert story["question"] == problem.question
        assert len(story["transcripts"][0]["results"]) == 2
        wrong = [("get_run", {"run": "run_x"}), ("ask", {"question": "?", "model": "gpt-5"}), ("ask", {"question": "Hi"})]
        for tool, arguments in wrong:
            refused = await session.call_tool(tool, arguments)
            assert refused.is_error
