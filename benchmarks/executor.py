"""Execution against LangGraph and against the critical path: ``python -m benchmarks.executor``.

``overhead_ratio``: LangGraph's time per step over ours, on the same chain, tree and five-step mixed workflow with workers that
answer at once; the smallest of the three ratios. Both run the same async worker function; LangGraph's graph is compiled once,
outside the timing, and its state carries the responses by step number, which is what our executor keeps.
``critical_path_ratio``: wall time of 256 concurrent workflows with sleeping workers over the longest critical path among them.
``conditional_critical_path_ratio``: the same with workflows of conditional steps, half of which are skipped; the
longest path is that of the steps carried out.
``serial_speedup``: the mixed workflow step by step over the same in parallel.
"""

import asyncio
import json
import operator
import statistics
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph

from podium.access import call_for
from podium.types import Call, Card, Completion, Generation, Step, Workflow
from podium.workers.pool import Member, WorkerPool
from podium.workflow.execute import Execution

QUESTION = Call.plain("What is 6 times 7?")


def steps(*access: tuple[int, ...]) -> Workflow:
    """A workflow with these access lists, worker i for step i."""
    return Workflow(steps=tuple(Step(worker=i, subtask=f"Step {i}.", access=seen) for i, seen in enumerate(access)))


SHAPES = {
    "chain": steps((), (0,), (1,), (2,), (3,)),
    "tree": steps((), (), (), (), (0, 1), (2, 3), (4, 5)),
    "mixed": steps((), (), (0, 1), (0,), (2, 3)),
}


class Worker:
    """Sleeps ``seconds`` (0: does not yield) and answers."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds

    async def __call__(self, call: Call) -> Completion:
        """Answer."""
        if self.seconds:
            await asyncio.sleep(self.seconds)
        return Completion(text="ok")


def pool_of(workers: list[Worker]) -> WorkerPool:
    """A pool of these workers."""
    return WorkerPool([Member(worker=worker, card=Card(name=f"w{i}")) for i, worker in enumerate(workers)])


def ours(workflow: Workflow, workers: list[Worker]) -> Callable[[], Coroutine[Any, Any, str]]:
    """One run with Podium."""
    pool = pool_of(workers)

    async def run() -> str:
        transcript = await Execution(workflow, pool, QUESTION, Generation(text="")).run()
        assert transcript.answer is not None
        return transcript.answer

    return run


class State(TypedDict):
    """LangGraph's state: responses by step number."""

    responses: Annotated[dict[int, str], operator.or_]


def langgraphs(workflow: Workflow, workers: list[Worker]) -> Callable[[], Coroutine[Any, Any, str]]:
    """The same run with LangGraph: a node per step, a (joining) edge per access list, the same calls to the same workers."""
    graph: Any = StateGraph(State)

    def node(index: int) -> Callable[[State], Coroutine[Any, Any, State]]:
        async def run(state: State) -> State:
            call = call_for(workflow, index, QUESTION.question, state["responses"])
            return {"responses": {index: (await workers[index](call)).text}}

        return run

    for index, step in enumerate(workflow.steps):
        graph.add_node(f"s{index}", node(index))
        if step.access:
            graph.add_edge([f"s{seen}" for seen in step.access], f"s{index}")
        else:
            graph.add_edge(START, f"s{index}")
    graph.add_edge(f"s{len(workflow.steps) - 1}", END)
    compiled = graph.compile()

    async def run() -> str:
        state = await compiled.ainvoke({"responses": {}})
        return str(state["responses"][len(workflow.steps) - 1])

    return run


async def seconds_per_step(run: Callable[[], Coroutine[Any, Any, str]], workflow: Workflow, repeats: int) -> float:
    """CPU-bound wall seconds per step of ``repeats`` runs one after the other."""
    await run()
    started = time.perf_counter()
    for _ in range(repeats):
        assert await run() == "ok"
    return (time.perf_counter() - started) / repeats / len(workflow.steps)


async def overhead() -> dict[str, tuple[float, float]]:
    """(ours, LangGraph's) microseconds per step for each shape: medians of 7 alternating measurements."""
    figures = {}
    for name, workflow in SHAPES.items():
        workers = [Worker() for _ in workflow.steps]
        pairs = [
            (
                await seconds_per_step(ours(workflow, workers), workflow, 400),
                await seconds_per_step(langgraphs(workflow, workers), workflow, 60),
            )
            for _ in range(7)
        ]
        figures[name] = (statistics.median(p[0] for p in pairs) * 1e6, statistics.median(p[1] for p in pairs) * 1e6)
    return figures


def critical_path(workflow: Workflow, workers: list[Worker]) -> float:
    """Seconds of the slowest chain of access."""
    done: list[float] = []
    for index, step in enumerate(workflow.steps):
        done.append(workers[index].seconds + max((done[seen] for seen in step.access), default=0.0))
    return max(done)


async def concurrent(count: int = 256) -> float:
    """Wall time over critical path for ``count`` workflows at once, their workers sleeping 0.3 to 0.9 s; median of 3."""
    ratios = []
    for _ in range(3):
        runs, longest = [], 0.0
        for number in range(count):
            workflow = list(SHAPES.values())[number % 3]
            workers = [Worker(0.3 + 0.1 * ((number + index) % 7)) for index in range(len(workflow.steps))]
            longest = max(longest, critical_path(workflow, workers))
            runs.append(ours(workflow, workers))
        started = time.perf_counter()
        await asyncio.gather(*(run() for run in runs))
        ratios.append((time.perf_counter() - started) / longest)
    return statistics.median(ratios)


STOPPING = Workflow(
    steps=(
        *(Step(worker=i, subtask=f"Step {i}.") for i in range(2)),
        *(Step(worker=i, subtask=f"Step {i}.", access=tuple(range(i)), condition="unless 2 agree") for i in range(2, 5)),
    )
)
"""Two answer side by side; three more follow, each only where no two agree."""


class Answering(Worker):
    """Sleeps and says what it is told to say."""

    def __init__(self, seconds: float, text: str) -> None:
        super().__init__(seconds)
        self.text = text

    async def __call__(self, call: Call) -> Completion:
        """Answer."""
        return replace(await super().__call__(call), text=self.text)


async def conditional(count: int = 256) -> float:
    """As :func:`concurrent`, with :data:`STOPPING`: the first two agree, or the third agrees with the first, or nobody does."""
    said = (("1", "1", "-", "-", "-"), ("1", "2", "1", "-", "-"), ("1", "2", "3", "4", "5"))
    carried_out = (2, 3, 5)
    ratios = []
    for _ in range(3):
        runs, longest = [], 0.0
        for number in range(count):
            texts = [f"Answer: {text}" for text in said[number % 3]]
            seconds = [0.3 + 0.1 * ((number + index) % 7) for index in range(len(STOPPING.steps))]
            workers: list[Worker] = [Answering(*each) for each in zip(seconds, texts, strict=True)]
            longest = max(longest, max(seconds[:2]) + sum(seconds[2 : carried_out[number % 3]]))
            runs.append(ours(STOPPING, workers))
        started = time.perf_counter()
        await asyncio.gather(*(run() for run in runs))
        ratios.append((time.perf_counter() - started) / longest)
    return statistics.median(ratios)


async def speedup() -> float:
    """Serial over parallel wall time of the mixed workflow, workers sleeping 50 ms; median of 5."""
    workflow = SHAPES["mixed"]
    workers = [Worker(0.05) for _ in workflow.steps]
    ratios = []
    for _ in range(5):
        started = time.perf_counter()
        responses: dict[int, str] = {}
        for index in range(len(workflow.steps)):
            responses[index] = (await workers[index](call_for(workflow, index, QUESTION.question, responses))).text
        serial = time.perf_counter() - started
        started = time.perf_counter()
        await ours(workflow, workers)()
        ratios.append(serial / (time.perf_counter() - started))
    return statistics.median(ratios)


async def measure() -> dict[str, float]:
    """All figures; prints a table on the way."""
    figures = await overhead()
    for name, (mine, theirs) in figures.items():
        print(f"{name:6}  {mine:8.1f} us per step   LangGraph {theirs:8.1f} us   ratio {theirs / mine:5.1f}")
    result = {
        "overhead_ratio": round(min(theirs / mine for mine, theirs in figures.values()), 1),
        "critical_path_ratio": round(await concurrent(), 4),
        "conditional_critical_path_ratio": round(await conditional(), 4),
        "serial_speedup": round(await speedup(), 3),
    }
    print(f"256 workflows at once take {result['critical_path_ratio']} of their longest critical path")
    print(f"and with conditions, {result['conditional_critical_path_ratio']}")
    print(f"the mixed workflow in parallel is {result['serial_speedup']} times as fast as step by step")
    return result


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measure())))
