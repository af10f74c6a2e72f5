r"""Is the final answer right? Numbers, names and equal spellings are judged here; formulas by worker processes.

The answer is the last ``\boxed{...}``, else what stands behind the last "answer is", "answer:" or ``####``. Most answers are
then decided at once: the same text written differently, two numbers, two names. What is left goes to ``pool.py``.

Numbers are compared exactly: 0.5 and 1/2 are one, 0.33 and 1/3 are two. Where the target is a number, the answer must be one
as well: ``\sum_{i=1}^{100} i`` is the question and not the answer where the target is 5050, and so are ``6 \cdot 7`` for 42
and ``\sqrt{144}`` for 12. One power (``2^{10}``) is a number, unless both its numbers come from the question. Units are
compared where the target has one; without a unit an answer is in the one asked for. Where the target is a plain number, a
sentence that names one number ("Sally has 9 books") is that number (``sentences.py``).

Answers are hostile: every pattern here takes time linear in the text, no number is built that the text did not spell out,
within bounds, and a formula that takes too long to evaluate is wrong. Left out: tolerance, proofs, several answers of which
one suffices.
"""

import re
from dataclasses import dataclass
from fractions import Fraction
from types import TracebackType
from typing import Self

from podium.errors import VerifierError
from podium.tasks.extraction import MAX_CANDIDATE_CHARS, last_boxed, shown
from podium.tasks.mathematics.answer import final_answer
from podium.tasks.mathematics.notation import MAX_POWER, is_name, is_unbounded, normal_form, read_numeral, read_words, split_unit
from podium.tasks.mathematics.pool import SymbolicPool
from podium.tasks.mathematics.sentences import read_stated
from podium.tasks.quantities.numbers import Quantity, read_quantity
from podium.tasks.quantities.units import read_unit, same_quantity
from podium.types import Problem, Verdict


class MathVerifier:
    """Right where the final answer is that of the target: a number, a formula, a set, a matrix, a name.

    Example::

        async with MathVerifier() as verify:
            verdict = await verify(problem, "...so \\\\boxed{x^2 - 1}.")  # right for the target "(x-1)(x+1)"

    Without a ``pool`` it makes one of ``size`` processes, which start when the first formula comes, and ends it when closed.
    May be shared by threads and event loops. Raises :class:`VerifierError` where the target is empty or can not be judged
    with, or the processes failed; never because of an answer.
    """

    def __init__(self, pool: SymbolicPool | None = None, *, size: int = 2) -> None:
        self._pool = pool or SymbolicPool(size)
        self._owns_pool = pool is None

    async def __call__(self, problem: Problem, answer: str) -> Verdict:
        """Judge ``answer`` against ``problem.target``."""
        gold = _gold(problem)
        found = final_answer(answer)
        if found is None:
            return Verdict(correct=False, extracted=None, why="no final answer; expected \\boxed{...} or 'Answer: ...'")
        decision = _decide(gold, found, problem.question)
        if isinstance(decision, _Formulas):
            comparison = await self._pool.compare(
                decision.gold, decision.answer, factor=str(decision.factor), restated=decision.restated
            )
            decision = "" if comparison.equal else comparison.why
        if decision:
            decision = f"{shown(found)} is not {shown(problem.target)}: {decision}"
        return Verdict(correct=not decision, extracted=shown(found), why=decision)

    async def aclose(self) -> None:
        """End the processes, unless the pool is somebody else's."""
        if self._owns_pool:
            self._pool.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.aclose()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Formulas:
    """What only the pool can decide."""

    gold: str
    answer: str
    factor: Fraction = Fraction(1)
    restated: bool = False


_APPROXIMATELY = re.compile(r"^\s*\$?\s*(?:\\approx|\\sim|≈|~)(?![a-zA-Z])")
_SWAPPED = re.compile(r"^([^=]*)=\s*\$?[a-zA-Z]\$?\s*$")
_NAMED = re.compile(r"\s*\$?\\?[a-zA-Z]+(?:_\{?\w{1,9}\}?)?(?:\([a-zA-Z0-9, ]*\))?\s*=[^=]*")
_PURE_POWER = re.compile(r"(-?[0-9]{1,9})\^\{?(-?[0-9]{1,5})\}?")
_OPERATOR = re.compile(r"\\[a-zA-Z]{2,}|[-+*/^!]")
_DEGREES = re.compile(r"\^ ?(?:\{ ?\\circ ?\}|\\circ(?![a-zA-Z]))|°|\\text\{ ?degrees ?\}")
_PI = re.compile(r"\\pi(?![a-zA-Z])|π")
_RADIANS = re.compile(r"\\(?:text|mathrm) ?\{ ?rad(?:ian)?s? ?\}")
_MERIDIEM = re.compile(r" [ap]m$")


def _gold(problem: Problem) -> str:
    gold = _APPROXIMATELY.sub("", last_boxed(problem.target) or problem.target).strip()
    if not normal_form(gold) or len(gold) > MAX_CANDIDATE_CHARS:
        raise VerifierError(
            f"the target {problem.target[:80]!r} of problem {problem.id} is empty or too long; give it the final answer only"
        )
    words = read_words(gold)
    return words if words is not None and words.isdigit() else gold  # "four"


def _number(gold: str) -> Quantity | None:
    """The number that ``gold`` is; None where it is none, as ``x^2 + y^2 = 1`` is not, while ``x = 5`` and ``f(2) = 5`` are."""
    return read_quantity(gold) if "=" not in gold or _NAMED.fullmatch(gold) else None


def _decide(gold: str, answer: str, question: str) -> str | _Formulas:
    """Why ``answer`` is not ``gold``, "" where it is; or what to ask the pool."""
    if len(answer) > MAX_CANDIDATE_CHARS:
        return "this is prose"
    if normal_form(answer) == normal_form(gold):
        return ""
    answer = _SWAPPED.sub(r"\1", _APPROXIMATELY.sub("", answer))
    words = read_words(answer)
    if is_name(gold):
        return _names(read_words(gold) or "", words or "")
    if words is not None and words.isdigit():
        answer = words
    if "_" in gold or "_" in answer:
        numerals = _numerals(gold, answer)
        if numerals is not None:
            return "" if numerals else "another number"
    wanted, found = _number(gold), read_quantity(answer)
    if wanted is not None and found is not None:
        return "" if same_quantity(wanted, found) else "another number"
    if wanted is not None and not (wanted.unit == "degrees" and _PI.search(answer)):
        power = _power(answer, question)
        if power is not None:
            return "" if same_quantity(wanted, Quantity(number=power)) else "another number"
        stated = read_stated(answer) if not wanted.unit and not wanted.symbol else None
        if stated is not None:
            return "" if same_quantity(wanted, stated) else "another number"
        return "not one number, with no arithmetic left to do"
    return _formulas(gold, answer, question)


def _names(wanted: str, found: str) -> str:
    if not _MERIDIEM.search(wanted):
        found = _MERIDIEM.sub("", found)
    return "" if found == wanted else "another name"


def _numerals(gold: str, answer: str) -> bool | None:
    """Whether two numerals, of which one names its base, are one number; None where there is none."""
    wanted, found = read_numeral(gold), read_numeral(answer)
    if wanted is None and found is None:
        return None
    if wanted is None:
        quantity = _number(gold)
        return quantity is not None and found is not None and quantity.number == int(*found)
    if found is None:  # without a base it is in the one asked for
        return read_numeral(f"{normal_form(answer)}_{{{wanted[1]}}}") == wanted
    return int(*wanted) == int(*found)


def _power(answer: str, question: str) -> Fraction | None:
    """The value of an answer such as 2^{10}; None where it is no power, or only one that the question names."""
    match = _PURE_POWER.fullmatch(normal_form(answer.rpartition("=")[2]))
    if match is None:
        return None
    base, exponent = int(match[1]), int(match[2])
    named = set(re.findall(r"[0-9]+", question[-MAX_CANDIDATE_CHARS * 10 :]))
    if {match[1].lstrip("-"), match[2].lstrip("-")} <= named or abs(exponent) > MAX_POWER or not base:
        return None
    # A target has at most a few hundred digits, so that a larger power is another number and need not be computed.
    return Fraction(base) ** exponent if len(match[1]) * abs(exponent) < MAX_POWER else Fraction(-1, 7)


def _formulas(gold: str, answer: str, question: str) -> str | _Formulas:
    if is_unbounded(answer):
        return "a number too large to evaluate"
    (gold_formula, wanted), (formula, found) = split_unit(gold), split_unit(answer)
    factor = Fraction(1)
    if wanted and found and wanted != found:
        one, other = read_unit(wanted), read_unit(found)
        if one is not None and other is not None and one.dimension == other.dimension:
            factor = other.scale / one.scale
        elif not same_quantity(Quantity(number=factor, unit=wanted), Quantity(number=factor, unit=found)):
            return "another unit"
    # Half a turn is 180 degrees and pi, whichever of the two was asked for.
    if _DEGREES.search(formula) and _PI.search(gold) and not _PI.search(formula) and read_quantity(formula) is not None:
        formula = rf"\frac{{{_DEGREES.sub('', formula)} \pi}}{{180}}"
    elif _DEGREES.search(gold) and _number(gold) is not None:
        gold_formula, formula = rf"\frac{{{_DEGREES.sub('', gold)} \pi}}{{180}}", _RADIANS.sub("", formula)
    spelled = normal_form(formula)
    restated = bool(_OPERATOR.search(spelled)) and spelled in normal_form(question[-MAX_CANDIDATE_CHARS * 10 :])
    return _Formulas(gold=gold_formula, answer=formula, factor=factor, restated=restated)
