"""Gold against gold, and gold against another problem's gold, on the real benchmarks.

    python -m benchmarks.tasks ../shared/data

For every set at hand: how many gold answers its verifier accepts, and all that it does not. For free answers also: how
many answers of other problems of the set it accepts, over random pairs; those are listed and split into pairs whose two
gold answers say the same (a right answer by luck) and pairs that do not (a fault). The last line is one JSON object.
"""

import asyncio
import json
import random
import sys
import time
from collections import Counter
from pathlib import Path

from podium.errors import ConfigError, VerifierError
from podium.pools.verifiers import open_verifiers
from podium.tasks.benchmarks.benchmark import Solved
from podium.tasks.benchmarks.hygiene import overlaps
from podium.tasks.benchmarks.registry import all_benchmarks, load_solved
from podium.tasks.free_form import normalised
from podium.tasks.quantities.measures import read_measure
from podium.tasks.verifiers import VerifierByKind

GOLD = (("theoremqa", "all"), ("scibench", "test"), ("mmlu", "test"), ("mmlu", "val"), ("cruxeval", "test"))
SHUFFLES = (0, 1, 2)
PAIRS = 100_000
APART = (
    (("math", "train"), ("math500", "test")),
    (("gsm8k", "train"), ("gsm8k", "test")),
    (("mmlu", "val"), ("mmlu", "test")),
    (("mmlu", "dev"), ("mmlu", "test")),
    (("leetcode", "train"), ("leetcode", "test")),
    (("mbpp", "train"), ("mbpp", "test")),
)


async def gold_against_gold(judge: VerifierByKind, solved: list[Solved]) -> tuple[list[str], list[str]]:
    """(rejected, broken): what is not accepted, a line each."""
    rejected, broken = [], []
    for one in solved:
        try:
            verdict = await judge(one.problem, one.gold)
        except VerifierError as error:
            broken.append(f"{one.problem.source} {one.problem.id}: {one.gold}: {error}")
            continue
        if not verdict.correct:
            rejected.append(f"{one.problem.source} {one.problem.id}: {one.gold}: {verdict.why}")
    return rejected, broken


def same_gold(one: Solved, other: Solved) -> bool:
    """Whether two gold answers are the same text, or the same number, where one may lack the unit."""
    if normalised(one.problem.target) == normalised(other.problem.target):
        return True
    first, second = read_measure(one.problem.target), read_measure(other.problem.target)
    if first is None or second is None or first.value != second.value:
        return False
    return first.unit == second.unit or not first.unit or not second.unit


async def crossed(judge: VerifierByKind, solved: list[Solved]) -> tuple[int, int, Counter[str]]:
    """(pairs, accepted because equal, what was accepted though not equal) over random pairs."""
    dice = random.Random(0)
    equal, strange, pairs = 0, Counter[str](), 0
    while pairs < PAIRS:
        one, other = dice.choice(solved), dice.choice(solved)
        if one is other or one.problem.kind != other.problem.kind:
            continue
        pairs += 1
        if (await judge(one.problem, other.gold)).correct:
            if same_gold(one, other):
                equal += 1
            else:
                strange[f"{one.problem.target}  accepts  {other.problem.target}"] += 1
    return pairs, equal, strange


async def main(folder: Path) -> None:
    """Measure everything that is in ``folder``."""
    kinds = {all_benchmarks()[name].kind for name, _ in GOLD} | {"free_form"}
    async with open_verifiers(kinds - {"mathematics", "programming"}) as judge:
        await measure(folder, judge)


async def measure(folder: Path, judge: VerifierByKind) -> None:
    """Print the figures of ``judge`` on every set in ``folder``."""
    figures: dict[str, object] = {}
    for name, split in GOLD:
        for seed in SHUFFLES if all_benchmarks()[name].shuffled else (0,):
            start = time.perf_counter()
            solved = load_solved(name, split=split, data_dir=folder, seed=seed)
            loaded = time.perf_counter()
            rejected, broken = await gold_against_gold(judge, solved)
            taken = time.perf_counter() - loaded
            share = 1 - (len(rejected) + len(broken)) / len(solved)
            ids = len({one.problem.id for one in solved})
            print(
                f"{name} {split} seed {seed}: {len(solved)} problems ({ids} different), gold accepted {share:.2%}, "
                f"load {loaded - start:.2f} s, verify {1e6 * taken / len(solved):.0f} us each"
            )
            for line in [*rejected, *broken]:
                print(f"    not accepted: {line[:200]}")
            figures[f"{name}/{split}/{seed}"] = {"problems": len(solved), "different": ids, "accepted": round(share, 5)}
            if all_benchmarks()[name].shuffled:
                letters = Counter(one.gold for one in solved)
                kept = sum("#shuffle=kept" in one.problem.source for one in solved)
                print(f"    gold letters {dict(sorted(letters.items()))}, order kept for {kept}")
    for name, split in (("theoremqa", "all"), ("scibench", "test")):
        solved = [one for one in load_solved(name, split=split, data_dir=folder) if one.problem.kind == "free_form"]
        pairs, equal, strange = await crossed(judge, solved)
        wrong = sum(strange.values())
        print(f"{name} {split}: {pairs} random pairs, {equal / pairs:.3%} equal gold, {wrong / pairs:.3%} accepted and not equal")
        for text, count in strange.most_common():
            print(f"    {count:4} x {text[:160]}")
        figures[f"{name}/{split}/crossed"] = {"pairs": pairs, "equal": equal / pairs, "accepted_not_equal": wrong / pairs}
    for train, test in APART:
        try:
            sides = [[one.problem for one in load_solved(name, split=split, data_dir=folder)] for name, split in (train, test)]
        except ConfigError as error:
            print(f"{train} {test}: {error}")
            continue
        shared = overlaps(*sides)
        print(f"{' '.join(train)} and {' '.join(test)}: {len(sides[0])} and {len(sides[1])} problems, {len(shared)} in both")
        figures["/".join((*train, *test))] = len(shared)
    print(json.dumps(figures))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data")))
