"""Countdown: reach a target number with given numbers, each used at most once, by + - * / (a generated set, no download).

An answer is an expression and is checked exactly, with fractions: it must use given numbers only, none more often than it is
given, and equal the target. Many expressions are right, so there is no gold to compare with; the solver finds one where one
exists. Generated problems are solvable because they are made from a solution, and the same seed gives the same problems
for ever: choices come from a hash, not from a library's generator.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

from podium.errors import ConfigError, VerifierError
from podium.tasks.extraction import anchored, last_boxed, without_thinking
from podium.tasks.quantities.arithmetic import Node, parse
from podium.types import Problem, Verdict

KIND = "countdown"
MAX_GENERATED = 1_000_000
MAX_SOLVED_NUMBERS = 6
"""The solver tries every expression; seven numbers would take minutes."""
_TOTAL = re.compile(r"[0-9]+")


def generate(count: int, *, seed: int, split: str, numbers: int = 4, largest: int = 100) -> list[Problem]:
    """``count`` different solvable problems with ``numbers`` numbers from 1 to ``largest``.

    The target is a whole number from 1 to 10 * ``largest`` that an expression over all numbers reaches. Example:
    ``generate(2, seed=0, split="train")``. Raises :class:`ConfigError` where these can not be had.
    """
    if not 2 <= numbers <= MAX_SOLVED_NUMBERS or not 10 <= largest <= 1_000 or not 0 <= count <= MAX_GENERATED:
        raise ConfigError(
            f"countdown is made of 2 to {MAX_SOLVED_NUMBERS} numbers up to at least 10 and at most 1000, "
            f"at most {MAX_GENERATED} problems at a time"
        )
    problems: dict[str, Problem] = {}
    attempt = 0
    while len(problems) < count:
        if attempt > 1_000 + 20 * count:
            raise ConfigError(f"there are not {count} different countdown problems with {numbers} numbers up to {largest}")
        dice = _Dice(f"{seed}/{split}/{numbers}/{largest}/{attempt}")
        attempt += 1
        given = sorted(dice.roll(largest) + 1 for _ in range(numbers))
        target = _reach(given, dice)
        if target is not None and target <= 10 * largest and target not in given:
            problem = _problem(given, target, split)
            problems.setdefault(problem.id, problem)
    return list(problems.values())


def solve(numbers: list[int], target: int) -> str | None:
    """An expression over some of ``numbers`` that equals ``target``; None where there is none. Exact and complete.

    Example: ``solve([1, 3, 4, 6], 24)`` is ``"(6 / (1 - (3 / 4)))"``. Raises :class:`ConfigError` for more numbers than
    can be tried.
    """
    if len(numbers) > MAX_SOLVED_NUMBERS:
        raise ConfigError(f"the solver tries at most {MAX_SOLVED_NUMBERS} numbers, not {len(numbers)}")
    return _search([(Fraction(number), str(number)) for number in numbers], Fraction(target), set())


def read_target(problem: Problem) -> tuple[list[int], int]:
    """The numbers and the number to reach. Raises :class:`VerifierError` where the target is not in our form."""
    try:
        row = json.loads(problem.target)
        numbers, target = row["numbers"], row["target"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise VerifierError(f'the target of {problem.id} is not {{"numbers": [...], "target": n}}: {error!r}') from error
    if not isinstance(numbers, list) or not all(type(number) is int for number in [*numbers, target]):
        raise VerifierError(f'the target of {problem.id} is not {{"numbers": [...], "target": n}} with whole numbers')
    return numbers, target


class CountdownVerifier:
    """Right where the final expression uses the given numbers and reaches the target.

    Example: ``await CountdownVerifier()(problem, "\\\\boxed{(8 - 2) \\\\times 4}")``. "= 24" behind the expression is
    dropped, and "24 =" in front of it. Raises :class:`VerifierError` where the problem's target is not in our form.
    """

    async def __call__(self, problem: Problem, answer: str) -> Verdict:
        """Judge ``answer`` against ``problem.target``."""
        numbers, target = read_target(problem)
        text = without_thinking(answer)
        found = "" if text is None else last_boxed(text) or anchored(text)
        if not found:
            return Verdict(correct=False, extracted=None, why="no final expression; expected \\boxed{...} or 'Answer: ...'")
        left, equals, right = (part.strip() for part in found.partition("="))
        # "24 = 6 * 4" states the expression on the other side.
        expression = right if equals and _TOTAL.fullmatch(left) else left
        why = _fault(expression, numbers, target)
        return Verdict(correct=not why, extracted=expression[:200], why=why)


def _fault(expression: str, numbers: list[int], target: int) -> str:
    """What is wrong with ``expression``; "" where nothing is."""
    tree = parse(expression)
    if tree is None:
        return f"{expression[:80]!r} is no arithmetic"
    used: Counter[Fraction] = Counter()
    try:
        reached = _exact(tree, used)
    except _OutsideTheGameError as error:
        return str(error)
    extra = used - Counter(Fraction(number) for number in numbers)
    if extra:
        return f"{min(extra)} is used more often than it is given"
    return "" if reached == target else f"the expression is {str(reached)[:40]}, not {target}"


class _OutsideTheGameError(Exception):
    """The expression has more in it than the four operations on numbers. Never leaves this file."""


def _exact(tree: Node, used: "Counter[Fraction]") -> Fraction:
    if tree.op == "number":
        used[tree.number] += 1
        return tree.number
    if tree.op not in {"+", "-", "*", "/"}:
        raise _OutsideTheGameError(f"{tree.op} is not one of + - * /")
    left, right = (_exact(arg, used) for arg in tree.args)
    if tree.op == "/":
        if right == 0:
            raise _OutsideTheGameError("something is divided by 0")
        return left / right
    return left + right if tree.op == "+" else left - right if tree.op == "-" else left * right


class _Dice:
    """Numbers from a hash of a text: the same on every machine and version."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._rolls = 0

    def roll(self, sides: int) -> int:
        """A number from 0 to ``sides`` - 1."""
        self._rolls += 1
        digest = hashlib.sha256(f"{self._text}/{self._rolls}".encode()).digest()
        return int.from_bytes(digest[:8], "big") % sides


def _reach(given: list[int], dice: _Dice) -> int | None:
    """A number that a random expression over all of ``given`` reaches without leaving the whole numbers above 0."""
    left = list(given)
    while len(left) > 1:
        one, other = left.pop(dice.roll(len(left))), left.pop(dice.roll(len(left)))
        big, small = max(one, other), min(one, other)
        made = (big + small, big - small, big * small, big // small if small and big % small == 0 else 0)[dice.roll(4)]
        if made < 1:
            return None
        left.append(made)
    return left[0]


def _problem(numbers: list[int], target: int, split: str) -> Problem:
    listed = ", ".join(map(str, numbers))
    question = (
        f"Make {target} from the numbers {listed}. Use +, -, *, / and parentheses; each number may be used at most once "
        "and none has to be used."
    )
    content = json.dumps({"numbers": numbers, "target": target})
    return Problem(question=question, target=content, kind=KIND, source="countdown", split=split)


def _search(items: list[tuple[Fraction, str]], target: Fraction, seen: set[tuple[Fraction, ...]]) -> str | None:
    state = tuple(sorted(value for value, _ in items))
    if state in seen:
        return None
    seen.add(state)
    for value, text in items:
        if value == target:
            return text
    for i, j in combinations(range(len(items)), 2):
        rest = [item for k, item in enumerate(items) if k not in (i, j)]
        for made in _joined(items[i], items[j]):
            if (found := _search([*rest, made], target, seen)) is not None:
                return found
    return None


def _joined(one: tuple[Fraction, str], other: tuple[Fraction, str]) -> Iterator[tuple[Fraction, str]]:
    (a, left), (b, right) = one, other
    yield a + b, f"({left} + {right})"
    yield a * b, f"({left} * {right})"
    yield a - b, f"({left} - {right})"
    yield b - a, f"({right} - {left})"
    if b:
        yield a / b, f"({left} / {right})"
    if a:
        yield b / a, f"({right} / {left})"
