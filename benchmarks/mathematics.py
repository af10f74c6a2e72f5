"""Is the judge of mathematics right, and how long does it take? Golds against golds, and recorded answers of six LLMs.

``python -m benchmarks.mathematics DATA [--pairs 20000] [--sample FILE]`` with the folder of real data. Four tables:

1. every gold solution of MATH500, MATH train and GSM8K must be accepted; and, with the fast path off, every gold formula
   must be the same as itself,
2. the gold answer of one problem must not be accepted for another, unless the two are truly equal: all accepted are listed,
3. accuracy, answers without a final answer, and seconds, by model and set, on the recorded answers of six models,
4. answers made to take for ever: each must be decided, within a second of processor time, the gold answer's reading included.
   The clock says more on a busy machine.

``--sample`` writes a hundred of the recorded answers about which the verdict and plain text comparison disagree, to be read
by a human: what fraction of verdicts is wrong is not something a program can say.
"""

import argparse
import asyncio
import gzip
import json
import os
import random
import statistics
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from podium.errors import VerifierError
from podium.tasks.mathematics import MathVerifier
from podium.tasks.mathematics.notation import normal_form
from podium.tasks.mathematics.pool import SymbolicPool
from podium.tasks.output_prediction import OutputVerifier
from podium.tasks.quantities.numbers import read_quantity
from podium.types import Problem, Verdict

MODELS = (
    "Meta-Llama-3.1-8B-Instruct",
    "gemma-2-9b-it",
    "Qwen2-7B-Instruct",
    "Phi-3.5-mini-instruct",
    "Yi-1.5-9B-Chat",
    "gpt-3.5-turbo-0125",
)
PATHOLOGICAL = (
    (r"\sqrt{2}", r"9^{9^{9}}"),
    (r"\pi", r"9^{9^{9^{9}}}"),
    (r"\sqrt{2}", r"((9^{9999})^{9999})^{9999}"),
    (r"\sqrt{2}", r"10000!!!"),
    (r"x+1", r"(x+1)^{9999}(x-1)^{9999}(x+2)^{9999}"),
    (r"x^2-1", r"\sum_{k=1}^{10^9} x^k"),
    (r"\pi", r"\prod_{k=1}^{9999} (1+k\pi)"),
    (r"\pi", r"\int_0^1 \frac{\sin(x^{x^x})}{\log(1+x^{99})} dx"),
    (r"x", r"\frac{" * 200 + "x" + "}{2}" * 200),
    (r"\sqrt{2}", r"\sqrt{" * 300 + "2" + "}" * 300),
    (r"\sqrt{2}", "(" * 900 + "2" + ")" * 900),
    (r"\sqrt{2}", "1+" * 900 + "1"),
    (r"\sqrt{2}", r"\sqrt{2}" * 240),
    (r"x", "x^" * 900 + "x"),
    (r"x", "{x^" * 30 + "x" + "}" * 30),
    (r"\sqrt{2}", "9" * 1900),
    (r"(1,2,3)", "(" + "1," * 900 + "1)"),
    (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{pmatrix}" + r"1&2\\" * 300 + r"3&4\end{pmatrix}"),
    (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{pmatrix}9&1\\2&3\end{pmatrix}^{99999}"),
    (r"2\pi", r"\binom{9999}{4999}\pi"),
    (r"2\pi", r"\sin(\cos(\tan(\sin(\cos(10^{9999})))))"),
    (r"x", "a" * 1900),
    (r"x", r"\left(" * 400),
    (r"5050", r"\sum_{i=1}^{100} i"),
    (r"42", r"9^{9^{9}}"),
    (r"n!", "n!+" + "+".join(rf"(n+{k})!-(n+{k})(n+{k - 1})!" for k in range(2, 40))),
    (r"(0,1)", r"\cup".join(f"({k},{k + 1})" for k in range(2, 60))),
    (r"|x|", "+".join(rf"|x-{k}|" for k in range(2, 50))),
    (r"\log x", r"\log x+" + "+".join(rf"\log (x^{{{k}}})-{k}\log x" for k in range(3, 30))),
    (r"x^{999}-1", r"(x-1)(x^{998}" + "".join(f"+x^{{{k}}}" for k in range(997, 880, -1)) + ")"),
)


def _lines(path: Path) -> list[dict[str, Any]]:
    open_text = gzip.open if path.suffix == ".gz" else open
    with open_text(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def golds(data: Path) -> dict[str, list[tuple[Problem, str]]]:
    """By set, each problem with a text that answers it: its own solution, or where there is none its answer in a box."""

    def problem(question: str, target: str, source: str) -> Problem:
        return Problem(question=question, target=target, kind="mathematics", source=source)

    sets: dict[str, list[tuple[Problem, str]]] = {"math500": [], "math_train": [], "gsm8k": []}
    for row in _lines(data / "math500" / "test.jsonl"):
        sets["math500"].append((problem(row["problem"], row["answer"], "math500"), row["solution"]))
    with gzip.open(data / "math_train" / "math.json.gz", "rt", encoding="utf-8") as file:
        for row in json.load(file):
            solution = row.get("solution") or f"\\boxed{{{row['answer']}}}"
            sets["math_train"].append((problem(row["problem"], str(row["answer"]), "math_train"), solution))
    for split in ("train", "test"):
        for row in _lines(data / "gsm8k" / f"{split}.jsonl.gz"):
            target = row["answer"].rpartition("#### ")[2]
            sets["gsm8k"].append((problem(row["question"], target, "gsm8k"), row["answer"]))
    return sets


async def judged(verify: MathVerifier, asked: Sequence[tuple[Problem, str]]) -> tuple[list[Verdict | None], list[float]]:
    """Verdicts (None: VerifierError) and seconds of each, one after the other in two lanes."""
    verdicts: list[Verdict | None] = [None] * len(asked)
    seconds = [0.0] * len(asked)
    queue = iter(range(len(asked)))

    async def lane() -> None:
        for number in queue:
            start = time.perf_counter()
            try:
                verdicts[number] = await verify(*asked[number])
            except VerifierError as error:
                print("   no verdict:", asked[number][0].target[:60], "|", asked[number][1][-60:], "|", error)
            seconds[number] = time.perf_counter() - start

    await asyncio.gather(lane(), lane())
    return verdicts, seconds


def milliseconds(seconds: Iterable[float]) -> dict[str, float]:
    """Median, 95th and 99th percentile, and maximum."""
    ordered = sorted(seconds)
    return {
        "median": round(1000 * statistics.median(ordered), 3),
        "p95": round(1000 * ordered[int(0.95 * len(ordered))], 2),
        "p99": round(1000 * ordered[int(0.99 * len(ordered))], 2),
        "max": round(1000 * ordered[-1], 1),
    }


async def gold_on_gold(verify: MathVerifier, data: Path) -> dict[str, Any]:
    """Table 1."""
    figures: dict[str, Any] = {}
    pool = SymbolicPool()
    for name, asked in golds(data).items():
        verdicts, seconds = await judged(verify, asked)
        missed = [
            (problem.id, problem.target, verdict)
            for (problem, _), verdict in zip(asked, verdicts, strict=True)
            if not _right(verdict)
        ]
        formulas = sorted({p.target for p, _ in asked if read_quantity(p.target) is None})
        unread = [gold for gold in formulas if not await _same_as_itself(pool, gold)]
        print(f"{name}: {len(asked) - len(missed)} of {len(asked)} golds accepted; {milliseconds(seconds)} ms")
        for miss in missed:
            print("   not accepted:", *miss)
        print(f"   formulas read and equal to themselves without the fast path: {len(formulas) - len(unread)} of {len(formulas)}")
        for gold in unread:
            print("   decided as text only:", gold)
        figures[name] = {"golds": len(asked), "accepted": len(asked) - len(missed), "missed": [miss[0] for miss in missed]}
        figures[name] |= {"formulas": len(formulas), "formulas_read": len(formulas) - len(unread), "ms": milliseconds(seconds)}
    pool.close()
    return figures


async def _same_as_itself(pool: SymbolicPool, gold: str) -> bool:
    try:
        return (await pool.compare(gold, gold)).equal is True
    except VerifierError as error:
        print("   no comparison:", gold, error)
        return False


def _right(verdict: Verdict | None) -> bool:
    return verdict is not None and verdict.correct


async def gold_on_another(verify: MathVerifier, data: Path, pairs: int) -> dict[str, Any]:
    """Table 2."""
    draw = random.Random(20261120)
    sets = golds(data)
    total = sum(map(len, sets.values()))
    asked: list[tuple[Problem, str]] = []
    for name, of_set in sets.items():
        # MATH500 and MATH train hold the formulas; shares by size would hand half of the pairs to GSM8K's whole numbers.
        share = {"math500": 0.3, "math_train": 0.5, "gsm8k": 0.2}[name]
        wanted = len(asked) + round(pairs * share)
        while len(asked) < wanted:
            (one, _), (other, _) = draw.sample(of_set, 2)
            if normal_form(one.target) != normal_form(other.target):
                asked.append((one, f"\\boxed{{{other.target}}}"))
    verdicts, seconds = await judged(verify, asked)
    accepted = [pair for pair, verdict in zip(asked, verdicts, strict=True) if _right(verdict)]
    print(f"golds of another problem: {len(accepted)} of {len(asked)} accepted, {total} golds; {milliseconds(seconds)} ms")
    for problem, answer in accepted:
        print("   accepted:", problem.source, problem.id, problem.target, "|", answer)
    faults = sum(verdict is None for verdict in verdicts)
    return {"pairs": len(asked), "accepted": len(accepted), "no_verdict": faults, "ms": milliseconds(seconds)}


async def recorded(verify: MathVerifier, data: Path, sample: Path | None) -> dict[str, Any]:
    """Table 3."""
    questions = {row["id"]: row for row in _lines(data / "replay" / "questions.jsonl.gz")}
    literal = OutputVerifier()
    figures: dict[str, Any] = {}
    disagreements: list[dict[str, Any]] = []
    every: list[float] = []
    decided = agreed = 0
    for model in MODELS:
        outputs = _lines(data / "replay" / "outputs" / f"{model}.jsonl.gz")
        for name in ("gsm", "math-l5", "crux"):
            rows = [row for row in outputs if row["dataset"] == name]
            right = silent = faults = 0
            seconds: list[float] = []
            for row in rows:
                question = questions[row["id"]]
                target = str(question["answer"]).removeprefix("# ") if name == "gsm" else str(question["answer"])
                kind = "output-prediction" if name == "crux" else "mathematics"
                problem = Problem(question=question["question"], target=target, kind=kind, source=name)
                start = time.perf_counter()
                try:
                    verdict = await (literal if name == "crux" else verify)(problem, row["output"])
                except VerifierError as error:
                    print("   no verdict:", model, row["id"], error)
                    faults += 1
                    continue
                finally:
                    seconds.append(time.perf_counter() - start)
                right += verdict.correct
                silent += verdict.extracted is None
                if name != "crux":
                    decided += 1
                    plain = (verdict.extracted or "").strip() == target.strip()
                    agreed += plain == verdict.correct
                    if plain != verdict.correct:
                        text = row["output"][-400:]
                        disagreements.append(
                            {"model": model, "set": name, "id": row["id"], "target": target, "extracted": verdict.extracted}
                            | {"correct": verdict.correct, "why": verdict.why, "end": text}
                        )
            every += seconds if name != "crux" else []
            cell = {"answers": len(rows), "accuracy": round(100 * right / len(rows), 2), "no_answer": silent, "faults": faults}
            figures[f"{model}/{name}"] = cell | {"seconds": round(sum(seconds), 2)}
            print(f"{model:28} {name:8} {cell} {sum(seconds):.2f} s")
    print(f"all mathematics: {milliseconds(every)} ms; plain text comparison agrees in {agreed} of {decided}")
    if sample is not None:
        chosen = random.Random(7).sample(disagreements, min(100, len(disagreements)))
        sample.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in chosen), encoding="utf-8")
    return {"cells": figures, "ms": milliseconds(every), "disagreements": len(disagreements), "answers": decided}


def processor_seconds(pool: SymbolicPool) -> float:
    """What this process, the pool's processes and their forks have used so far."""
    folders = [Path(f"/proc/{number}") for number in pool.process_ids]
    forks = [Path("/proc") / each for found in folders for each in (found / "task" / found.name / "children").read_text().split()]
    ticks = 0
    for place, folder in enumerate([*folders, *forks]):
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        ticks += sum(map(int, fields[11 : 15 if place < len(folders) else 13]))  # of the forks that are over, too
    return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


async def pathological(verify: MathVerifier, pool: SymbolicPool) -> dict[str, Any]:
    """Table 4."""
    worst, used, faults, wrong = 0.0, 0.0, 0, 0
    for gold, answer in PATHOLOGICAL:
        problem = Problem(question="?", target=gold, kind="mathematics", source="made")
        start, before = time.perf_counter(), processor_seconds(pool)
        try:
            verdict = await verify(problem, f"\\boxed{{{answer}}}")
            said = verdict.why[-70:] or "right"
            wrong += verdict.correct
        except VerifierError as error:
            said, faults = f"no verdict: {error}", faults + 1
        seconds, processor = time.perf_counter() - start, processor_seconds(pool) - before
        worst, used = max(worst, seconds), max(used, processor)
        print(f"   {seconds:5.2f} s {processor:5.2f} s of processor  {gold[:20]:20} {answer[:40]:40} {said}")
    longest = {"longest_processor_seconds": round(used, 2), "longest_seconds": round(worst, 2)}
    print(f"pathological: {len(PATHOLOGICAL)}, {longest}, no verdict {faults}, accepted {wrong}")
    return {"answers": len(PATHOLOGICAL), **longest, "no_verdict": faults, "accepted": wrong}


async def main() -> None:
    """Print the tables, and as the last line all figures as one JSON object."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--pairs", type=int, default=20_000)
    parser.add_argument("--sample", type=Path)
    options = parser.parse_args()
    pool = SymbolicPool()
    async with MathVerifier(pool) as verify:
        warm = Problem(question="?", target=r"\sqrt{2}", kind="mathematics", source="made")
        await asyncio.gather(*(verify(warm, rf"\boxed{{{number}\pi}}") for number in range(8)))
        figures = {
            "gold": await gold_on_gold(verify, options.data),
            "another": await gold_on_another(verify, options.data, options.pairs),
            "recorded": await recorded(verify, options.data, options.sample),
            "pathological": await pathological(verify, pool),
        }
    pool.close()
    print(json.dumps(figures))


if __name__ == "__main__":
    asyncio.run(main())
