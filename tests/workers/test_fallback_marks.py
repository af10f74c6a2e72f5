"""A fallback that stays to the end of a tool loop, for clients that move their marks for a cache along."""

from podium.errors import WorkerUnavailable
from podium.types import CachePoint, Call, Completion, Message, ResponseOptions, Tool, ToolCall, Usage
from podium.workers.fallback import Fallback

OPTIONS = ResponseOptions(tools=(Tool(name="look"),))
ASKED = ToolCall(id="c", name="look", arguments="{}")


async def test_a_mark_that_moves_on_is_the_same_loop() -> None:
    asked: list[str] = []

    async def first(call: Call) -> Completion:
        asked.append("first")
        raise WorkerUnavailable("it is away")

    async def second(call: Call) -> Completion:
        asked.append("second")
        return Completion(text="", usage=Usage(), tool_calls=(ASKED,))

    worker = Fallback(first, second, stays=True)
    mark = (CachePoint(at=1),)
    rounds = (
        (Message(role="user", content="?", cache_points=mark),),
        (
            Message(role="user", content="?"),
            Message(role="assistant", content="", tool_calls=(ASKED,)),
            Message(role="tool", content="1", tool_call_id="c", cache_points=mark),
        ),
    )
    for question in rounds:
        await worker(Call(question=question, response_options=OPTIONS))
    assert asked == ["first", "second", "second"]
