"""The oracle over single workers, from what they answered: no way of choosing among them is better."""

from collections.abc import Collection, Iterable
from dataclasses import replace

from podium.evaluation.evaluate import Result


def oracle(results: Iterable[Result], arms: Collection[str], name: str = "oracle") -> list[Result]:
    """For every problem and repeat the cheapest right answer among ``arms``, else the cheapest answer, as results of ``name``.

    It beats the best worker even where all workers are copies of one noisy model; :mod:`podium.evaluation.headroom` says how
    much of its lead is luck. Example: ``oracle(results, ["worker:atlas", "worker:brook"])``.
    """
    found: dict[tuple[str, int], Result] = {}
    for result in results:
        if result.arm in arms and not result.is_world_fault:
            key = (result.problem, result.repeat)
            if key not in found or _rank(result) < _rank(found[key]):
                found[key] = result
    return [replace(result, arm=name) for result in found.values()]


def _rank(result: Result) -> tuple[bool, float]:
    cost = None if result.usage is None else result.usage.cost_usd
    return (not result.is_correct, float("inf") if cost is None else cost)
