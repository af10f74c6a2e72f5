"""Counts paid calls of the gym as ``podium tune`` counts them, for everything that stands beside it: equal calls once.

``PaidOnce(workers, problem).right(workflow)`` works one problem. What makes a call is who is asked what, and the texts in view:
two planners who write the same plan make one call of whoever computes it. :class:`~podium.gym.gauge.Gauge`, which goes by who
wrote a text, counts up to twice as many.

``python -m benchmarks.paid_once RUN [--every 10]``: a run of ``recipes/gym.py``. After every so many iterations the calls that
its rollouts made, none of which share anything, and those that had been left with equal ones of a problem paid once. The second
is what it would have paid at least: nothing was ever trained from shared replies, and every rollout has a luck of its own.
The last line is one JSON object.
"""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from podium.access import call_for
from podium.errors import PodiumError
from podium.gym import World, specialists
from podium.gym.gauge import worded
from podium.gym.specialists import Specialist
from podium.gym.verify import judge
from podium.recipes.gym import config
from podium.training.config import TrainConfig
from podium.types import Brief, Problem, Step, Workflow, ask
from podium.workflow.parse import parse
from podium.workflow.syntax import WorkflowSyntax

FIRST_ROUND = (1,)
"""The sample of a tune's calls, so that a worker is as lucky here as there."""


class PaidOnce:
    """One problem. ``PaidOnce(workers, problem).right(workflow)``; :attr:`calls` were paid for so far."""

    def __init__(self, workers: Sequence[Specialist], problem: Problem) -> None:
        self._workers = workers
        self._problem = problem
        self._question = ask(problem.question)
        self._replies: dict[object, str] = {}
        self._right: dict[str, bool] = {}

    @property
    def calls(self) -> int:
        """How many different calls were made."""
        return len(self._replies)

    def right(self, workflow: Workflow) -> bool:
        """Whether the last reply of ``workflow`` is right; its steps may hold the mark for the question."""
        replies: dict[int, str] = {}
        for index, step in enumerate(workflow.steps):
            key = _key(workflow, index, step, replies)
            if key not in self._replies:
                call = call_for(workflow, index, self._question, replies, sample=FIRST_ROUND)
                self._replies[key] = self._workers[step.worker].complete(worded(call, self._problem.question)).text
            replies[index] = self._replies[key]
        answer = replies[len(workflow.steps) - 1]
        if answer not in self._right:
            self._right[answer] = judge(self._problem, answer).correct
        return self._right[answer]


def _key(workflow: Workflow, index: int, step: Step, replies: Mapping[int, str]) -> object:
    """What makes a call: the worker, everything it is shown, and how often it was asked just this before."""
    shown = tuple((place == 0, workflow.steps[place].subtask, replies[place]) for place in step.access)
    return step.worker, step.subtask, index == 0, shown, workflow.steps[:index].count(step)


def of_run(run: Path, recipe: TrainConfig) -> list[tuple[int, int]]:
    """After each iteration of ``run``: the calls its rollouts made so far, and the same with equal ones of a problem once."""
    workers = specialists(World())
    problems = {problem.id: problem for problem in recipe.problems()}
    brief = Brief(question=ask("?"), cards=tuple(worker.card for worker in workers), max_steps=recipe.max_steps)
    benches: dict[str, PaidOnce] = {}
    found: list[tuple[int, int]] = []
    made = once = 0
    for iteration, lines in _iterations(run / "groups.jsonl"):
        for group in lines:
            bench = benches.setdefault(group["problem"], PaidOnce(workers, problems[group["problem"]]))
            before = bench.calls
            for workflow in _workflows(group, brief, recipe.syntax):
                made += len(workflow.steps)
                bench.right(workflow)
            once += bench.calls - before
        if iteration != len(found):
            raise SystemExit(f"{run} lacks iteration {len(found)}")
        found.append((made, once))
    return found


def _iterations(file: Path) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """The groups of each iteration, in their order."""
    begun: list[dict[str, Any]] = []
    with file.open(encoding="utf-8") as lines:
        for group in map(json.loads, lines):
            if begun and begun[0]["iteration"] != group["iteration"]:
                yield begun[0]["iteration"], begun
                begun = []
            begun.append(group)
    if begun:
        yield begun[0]["iteration"], begun


def _workflows(group: Mapping[str, Any], brief: Brief, syntax: WorkflowSyntax) -> Iterator[Workflow]:
    """What its rollouts carried out; a text that is no workflow was never carried out."""
    for turns in group["rollouts"]:
        for turn in turns:
            try:
                workflow = parse(turn["text"], brief, syntax)
            except PodiumError:
                continue
            if workflow is not None:
                yield workflow


def main() -> None:
    """Count, print, and end with the JSON line."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("run", type=Path)
    arguments.add_argument("--every", type=int, default=10, metavar="N")
    options = arguments.parse_args()
    seed = json.loads((options.run / "recipe.json").read_text(encoding="utf-8"))["seed"]
    counted = of_run(options.run, config(seed))
    for number, (made, once) in enumerate(counted, 1):
        if number % options.every == 0 or number == len(counted):
            print(f"{number:5} iterations {made:9,} calls {once:9,} with equal ones once", flush=True)
    print(json.dumps({"calls": [made for made, _ in counted], "calls_once": [once for _, once in counted]}))


if __name__ == "__main__":
    main()
