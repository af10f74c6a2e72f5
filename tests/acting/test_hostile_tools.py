"""A model that writes arguments which no request to a tool server can hold: it is told so, and nobody else is disturbed."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="mcp is not installed: pip install 'podium[mcp]'")

import podium
from podium.types import Call
from tests.acting.test_tool_loop import asks, log, model, over_http, pool_file

WRONG: Any = [
    ("files_read", '{"name": "\\ud800"}'),
    ("files_read", '{"name": "", "\\udfff": 1}'),
    *(("files_read", '{"name": ' + "[" * depth + "]" * depth + "}") for depth in (240, *range(250, 258), 400)),
]


async def test_arguments_that_can_not_be_sent_are_told_to_the_model_and_keep_the_connection(tmp_path: Path) -> None:
    script = asks(WRONG, [("add", {"a": 1, "b": 2})])
    async with (
        model(script) as (url, _),
        over_http(tmp_path) as server,
        podium.open_pool(pool_file(tmp_path, url, server=server)) as pool,
    ):
        done = await pool["it"](Call.plain("?"))
    assert [use.failed for use in done.tool_uses] == [True] * len(WRONG) + [False]
    assert "can not be sent" in done.tool_uses[0].result
    assert done.tool_uses[-1].result == "3"
    assert log(tmp_path) == ["add 1 2"]
