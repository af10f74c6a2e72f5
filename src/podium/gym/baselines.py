"""The usual baselines over a pool of the gym, each with its best wording, worker and judge, chosen on training problems.

A baseline's wording decides: the same mixture had 59.0 and 79.3 % in an earlier world by one sentence. So each is tried with
at least six, the same for all of them.
"""

from collections.abc import Iterator, Mapping

from podium.gym.search import ASKED, Target
from podium.types import Step, Workflow

ANSWERS = (
    "Answer the question.",
    "Solve the problem.",
    "Answer the question. Show your work, then give the final answer.",
    "Think it through step by step and answer.",
    "Work out the solution and reply with it.",
    "Write a plan, recall the facts, and compute the answer.",
)
"""Ways to ask for an answer."""
AGAIN = (
    "Check the answer so far for mistakes, correct it where it is wrong, and give the final answer.",
    "Check what was done so far and correct it.",
    "Verify the answer.",
    "Review the work and fix any mistakes.",
    "Answer the question.",
    "Reconsider the answer and improve it.",
)
"""Ways to have an answer looked at again."""
MERGES = (
    "Check these answers against each other, correct what is wrong in them, and give the final answer.",
    "Give the answer that most of them agree on.",
    "Give the final answer.",
    "Check these answers and correct them.",
    "Answer the question.",
    "Pick the best answer.",
    "Compute the result of the plan.",
)
"""Ways to make one answer of many."""
_FEW = 5
"""Variants that are compared once more, on more problems."""


def best_baselines(target: Target, choice: Target, workers: int) -> dict[str, Workflow]:
    """Name -> the best of its variants: the few best on ``target``, and of those the best on ``choice``."""
    variants = {
        "reflection": _reflections(workers),
        "consensus": _consensus(workers),
        "mixture": _mixtures(workers),
        "debate": _debates(workers),
    }
    found = {}
    for name, each in variants.items():
        few = sorted(each, key=target.score, reverse=True)[:_FEW]
        found[name] = max(few, key=choice.score)
    return found


def _reflections(workers: int) -> Iterator[Workflow]:
    """A worker answers, then looks at it four more times."""
    for worker in range(workers):
        for answer in ANSWERS[:2]:
            for again in AGAIN:
                steps = [Step(worker=worker, subtask=answer)]
                steps += [Step(worker=worker, subtask=again, access=tuple(range(i))) for i in range(1, 5)]
                yield Workflow(steps=tuple(steps))


def _consensus(workers: int) -> Iterator[Workflow]:
    """Five answers of one worker, and a judge."""
    for worker in range(workers):
        for judge in range(workers):
            for merge in MERGES:
                yield _layer([worker] * 5, judge, ANSWERS[0], merge)


def _mixtures(workers: int) -> Iterator[Workflow]:
    """An answer of everybody, and one who makes one of them."""
    for judge in range(workers):
        for answer in ANSWERS:
            for merge in MERGES:
                yield _layer(list(range(workers)), judge, answer, merge)


def _debates(workers: int) -> Iterator[Workflow]:
    """Two workers answer, each sees the other's answer and answers again, the second one has the last word."""
    for one in range(workers):
        for other in range(workers):
            for again in AGAIN:
                steps = [Step(worker=w, subtask=ASKED + ANSWERS[0]) for w in (one, other)]
                steps += [Step(worker=w, subtask=ASKED + again, access=(0, 1)) for w in (one, other)]
                yield Workflow(steps=tuple(steps))


def _layer(layer: list[int], judge: int, answer: str, merge: str) -> Workflow:
    steps = [Step(worker=worker, subtask=ASKED + answer) for worker in layer]
    return Workflow(steps=(*steps, Step(worker=judge, subtask=ASKED + merge, access=tuple(range(len(layer))))))


def routed(accuracies: Mapping[str, Mapping[str, float]]) -> dict[str, str]:
    """Kind -> the name of whatever has the best accuracy on it. Example: ``routed({"a": {"story": 0.4}}) == {"story": "a"}``."""
    kinds = next(iter(accuracies.values()))
    return {kind: max(accuracies, key=lambda name: accuracies[name][kind]) for kind in kinds}
