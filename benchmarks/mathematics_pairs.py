r"""Is the judge of mathematics right about answers that are nearly the gold answer? Pairs made of the golds of MATH train.

``python -m benchmarks.mathematics_pairs DATA [--pairs 50000]``. For every gold that is an expression, and again with other
dice until there are enough pairs: wrong answers (its own coefficient, one variable left out or renamed, one exponent or sign
changed) and equal ones (terms and factors in another order, expanded, factored, combined by SymPy); for a number its
negative, its neighbour and its reciprocal, and fractions and decimals that are the same. Whether a wrong answer is truly
another value is found in a second way, with floats at random points. A wrong answer that is accepted, an equal one that is
not, and every VerifierError is listed. The last line is one JSON object.
"""

import argparse
import asyncio
import cmath
import gzip
import json
import random
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sympy

from podium.errors import VerifierError
from podium.tasks.mathematics import MathVerifier
from podium.tasks.mathematics.formulas import plain, read_formula
from podium.tasks.mathematics.notation import is_name, normal_form
from podium.types import Problem, Verdict

LANES = 2
MAX_OPERATIONS = 40
"""Of a gold that is expanded and factored."""
TRIGONOMETRIC = sympy.functions.elementary.trigonometric.TrigonometricFunction


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Example: ``Pair(question="Simplify ...", gold="4x^2", answer="4", right=False, made="coefficient")``."""

    question: str
    gold: str
    answer: str
    right: bool
    made: str


def pairs(golds: list[tuple[str, str]], draw: random.Random, count: int) -> list[Pair]:
    """``count`` different pairs out of (question, gold), those of one gold next to one another."""
    found: dict[tuple[str, str, str], Pair] = {}
    trees = [(question, gold, _expression(gold)) for question, gold in golds]
    made_of = [(question, gold, tree) for question, gold, tree in trees if tree is not None]
    for _ in range(40):
        for question, gold, tree in made_of:
            for answer, right, made in _variants(tree, draw):
                if right and normal_form(answer) in normal_form(question):
                    continue  # an answer that repeats the question is none
                if normal_form(answer) != normal_form(gold):
                    pair = Pair(question=question, gold=gold, answer=answer, right=right, made=made)
                    found.setdefault((question, gold, answer), pair)
            if len(found) >= count:
                return sorted(found.values(), key=lambda pair: (pair.question, pair.gold))
    return sorted(found.values(), key=lambda pair: (pair.question, pair.gold))


def _expression(gold: str) -> Any | None:
    """The tree of ``gold`` where it is an expression without functions other than roots and trigonometry."""
    # Of another base, with a unit or a percent sign, a name; the parser takes capitals for small letters.
    if re.search(r"_|%|\\text|\\mbox|[A-Z]", gold) or is_name(gold):
        return None
    try:
        tree = plain(read_formula(gold, gold=True))
        if isinstance(tree, sympy.Expr) and not tree.has(sympy.oo, sympy.zoo, sympy.nan, sympy.I):
            tree = tree.doit()
            known = all(isinstance(call, TRIGONOMETRIC) for call in tree.atoms(sympy.Function))
            return tree if known and tree.count_ops() <= MAX_OPERATIONS else None
    except Exception:  # the generator's own reading: what sympy can not take apart makes no pairs, and is judged by nothing
        return None
    return None


def _variants(tree: Any, draw: random.Random) -> Iterator[tuple[str, bool, str]]:
    """(answer, whether it is right, how it was made)."""
    if tree.is_Rational:
        yield from _numbers(tree, draw)
        return
    wrong: list[tuple[Any, str]] = []
    coefficient, rest = tree.as_coeff_Mul()
    wrong += [(coefficient, "coefficient"), (rest, "without coefficient"), (-tree, "sign")]
    for name in sorted(tree.free_symbols, key=str):
        wrong.append((tree.xreplace({name: sympy.Integer(1)}), "without its variable"))
        wrong.append((tree.xreplace({name: sympy.Symbol(draw.choice("abcuvwyz"))}), "another variable"))
    powers = sorted(tree.atoms(sympy.Pow), key=str)
    if powers:
        power = draw.choice(powers)
        wrong.append((tree.xreplace({power: power.base ** (power.exp + draw.choice((1, 2, -1)))}), "exponent"))
    terms = list(sympy.Add.make_args(tree))
    if len(terms) > 1:
        at = draw.randrange(len(terms))
        wrong.append((sympy.Add(*(-term if number == at else term for number, term in enumerate(terms))), "sign of a term"))
        wrong.append((sympy.Add(*(term for number, term in enumerate(terms) if number != at)), "without a term"))
    numbers = sorted((atom for atom in tree.atoms(sympy.Integer) if abs(atom) > 1), key=str)
    if numbers:
        number = draw.choice(numbers)
        wrong.append((tree.xreplace({number: number + draw.choice((1, -1, 2))}), "another number"))
    for other, made in wrong:
        if not other.has(sympy.zoo, sympy.nan, sympy.oo) and _differ(tree, other, draw):
            yield sympy.latex(other), False, made
    yield sympy.latex(tree), True, "as SymPy prints it"
    yield _shuffled(tree, draw), True, "reordered"
    for change in (sympy.expand, sympy.factor, sympy.together):
        yield sympy.latex(change(tree)), True, f"{change.__name__}ed"


def _numbers(number: Any, draw: random.Random) -> Iterator[tuple[str, bool, str]]:
    step = draw.choice((1, -1, 2, 10))
    for other, made in ((-number, "sign"), (number + step, "another number"), (number * 10, "another number")):
        if other != number:
            yield sympy.latex(other), False, made
    if number != 0 and 1 / number != number:
        yield sympy.latex(1 / number), False, "reciprocal"
    if abs(number) > 10**30:
        return
    times = draw.randint(2, 9)
    yield rf"\frac{{{number.p * times}}}{{{number.q * times}}}", True, "fraction"
    if 10**6 % number.q == 0 and abs(number) < 10**9:
        yield format(number.p / number.q, ".6f"), True, "decimal"


def _shuffled(tree: Any, draw: random.Random) -> str:
    """Terms, or factors, in another order, each printed by itself."""
    terms = list(sympy.Add.make_args(tree))
    if len(terms) > 1:
        draw.shuffle(terms)
        return " + ".join(rf"\left({sympy.latex(term)}\right)" for term in terms)
    factors = list(sympy.Mul.make_args(tree))
    draw.shuffle(factors)
    return r" \cdot ".join(rf"\left({sympy.latex(factor)}\right)" for factor in factors)


def _differ(one: Any, other: Any, draw: random.Random) -> bool:
    """Whether two expressions surely have other values somewhere: floats, at random points."""
    names = sorted(one.free_symbols | other.free_symbols, key=str)
    for _ in range(4):
        at = {name: draw.uniform(0.2, 2.5) for name in names}
        try:
            values = [complex(tree.subs(at)) for tree in (one, other)]
        except (TypeError, ValueError, OverflowError):
            continue
        if all(map(cmath.isfinite, values)) and abs(values[0] - values[1]) > 1e-6 * max(map(abs, values)):
            return True
    return False


async def judge(verify: MathVerifier, asked: list[Pair]) -> dict[str, Any]:
    """The figures; what is not as it should be is printed."""
    problems: Counter[str] = Counter()
    accepted: Counter[str] = Counter()
    total: Counter[str] = Counter(f"{pair.right} {pair.made}" for pair in asked)
    seconds: list[float] = []
    queue = iter(asked)

    async def lane() -> None:
        for pair in queue:
            start = time.perf_counter()
            verdict: Verdict | None = None
            problem = Problem(question=pair.question, target=pair.gold, kind="mathematics", source="made")
            try:
                verdict = await verify(problem, f"\\boxed{{{pair.answer}}}")
            except VerifierError as error:
                problems["errors"] += 1
                print("   no verdict:", pair.gold, "|", pair.answer, "|", error)
            seconds.append(time.perf_counter() - start)
            if verdict is None or verdict.correct is pair.right:
                accepted[f"{pair.right} {pair.made}"] += verdict is not None
                continue
            problems["refused" if pair.right else "accepted"] += 1
            print(
                "   refused:" if pair.right else "   ACCEPTED:",
                pair.made,
                "|",
                pair.gold,
                "|",
                pair.answer,
                "|",
                verdict.why[-80:],
            )

    await asyncio.gather(*(lane() for _ in range(LANES)))
    for made, count in sorted(total.items()):
        print(f"   {made}: {accepted[made]} of {count} judged right")
    equal = sum(pair.right for pair in asked)
    ordered = sorted(seconds)
    return {
        "pairs": len(asked),
        "equal": equal,
        "equal_accepted": round((equal - problems["refused"]) / max(equal, 1), 5),
        "wrong_accepted": problems["accepted"],
        "errors": problems["errors"],
        "median_ms": round(1000 * ordered[len(ordered) // 2], 2),
        "p99_ms": round(1000 * ordered[int(0.99 * len(ordered))], 1),
    }


async def main() -> None:
    """Make the pairs, judge them, print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--pairs", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=20261122)
    options = parser.parse_args()
    golds = read_golds(options.data)
    draw = random.Random(options.seed)
    draw.shuffle(golds)
    asked = pairs(golds, draw, options.pairs)
    print(f"{len(asked)} pairs of {len({pair.gold for pair in asked})} golds")
    async with MathVerifier(size=LANES) as verify:
        print(json.dumps(await judge(verify, asked)))


def read_golds(data: Path) -> list[tuple[str, str]]:
    """(question, gold) of MATH train."""
    with gzip.open(data / "math_train" / "math.json.gz", "rt", encoding="utf-8") as file:
        return [(row["problem"], str(row["answer"])) for row in json.load(file)]


if __name__ == "__main__":
    asyncio.run(main())
