"""The gym's verifier: reads the answer that a text commits itself to and compares it with the target.

The *last* commitment counts, so that work shown before it does no harm and cannot be used to hedge: an answer line that
names two numbers or two letters commits itself to neither. Functions are run on the problem's tests by the evaluator of
the gym's own expression language; nothing is ever executed.
"""

import json
import re

from podium.errors import VerifierError
from podium.gym.expressions import MAX_MAGNITUDE, ExpressionError, Program, format_program, parse_program, run
from podium.gym.questions import LETTERS, ParsedQuestion, find_question
from podium.types import Problem, Verdict

MAX_TEXT = 20_000
"""How much of an answer is read, in characters from its end."""

_LABEL = re.compile(r"\banswer(?:\s+is\b|[\s*_]{0,4}[:=])[\s*_:]{0,4}([^\n]*)", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.,])[-−]?\$?(?:\d{1,3}(?:,\d{3})+|\d{1,15})(?:\.0{1,9})?(?![\w,]|\.\d)")
_LETTER = re.compile(r"(?<![\w'])\(?([A-D])(?![\w'])\)?")


class GymVerifier:
    """Judges an answer to a problem of :class:`podium.gym.world.World`.

    Example: ``await GymVerifier()(problem, "Plan: 6 * 3\\nAnswer: 18")``. No answer found is
    ``Verdict(correct=False, extracted=None)``. Raises :class:`VerifierError` where the problem itself is no gym problem.
    """

    async def __call__(self, problem: Problem, answer: str) -> Verdict:
        """Judge ``answer``."""
        return judge(problem, answer)


def judge(problem: Problem, answer: str) -> Verdict:
    """The verdict of :class:`GymVerifier`, for callers without an event loop."""
    text = answer[-MAX_TEXT:]
    if problem.kind == "code":
        return _judge_program(problem, text)
    committed = _commitment(text)
    extracted = None if committed is None else _extracted(problem, committed)
    if extracted is None:
        return Verdict(correct=False, extracted=None, why="no answer found; expected a last line such as 'Answer: ...'")
    correct = extracted.casefold() == problem.target.casefold()
    return Verdict(correct=correct, extracted=extracted, why="" if correct else f"{extracted} is not {problem.target}")


def _commitment(text: str) -> str | None:
    """The words after the last answer label; without one, the last line where it is short enough to be an answer."""
    labelled = _LABEL.findall(text)
    if labelled:
        return str(labelled[-1])
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines and len(lines[-1].split()) <= 3 and ":" not in lines[-1] else None


def _extracted(problem: Problem, words: str) -> str | None:
    words = words.strip().strip("*_`\"'").strip()
    parsed = find_question(problem.question)
    if parsed is not None and parsed.options:
        return _letter(parsed, words)
    return _number(words)


def _number(words: str) -> str | None:
    found = {m.replace(",", "").replace("$", "").replace("−", "-").split(".")[0] for m in _NUMBER.findall(words.split("=")[-1])}
    if len(found) != 1:
        return None
    value = int(found.pop())
    return str(value) if abs(value) <= MAX_MAGNITUDE else None


def _letter(parsed: ParsedQuestion, words: str) -> str | None:
    """The one option that the words name, by its letter, by its text, or by both; None where they name several."""
    options = [option.casefold() for option in parsed.options]
    plain = words.rstrip(".!*_` ").casefold()
    # The option itself comes first: an option may look like a letter (the symbol of carbon is C).
    if len(plain) > 1 and plain in options:
        return LETTERS[options.index(plain)]
    found = set(_LETTER.findall(words))
    both = re.fullmatch(r"\(?([A-D])\)\s*+(.+)", words.rstrip(".!*_` "))
    if both is not None and both[2].casefold() in options:
        return both[1] if both[2].casefold() == options[LETTERS.index(both[1])] else None
    return found.pop() if len(found) == 1 else None


def _judge_program(problem: Problem, text: str) -> Verdict:
    try:
        wanted = json.loads(problem.target)
        name, cases = str(wanted["name"]), [(tuple(map(int, given)), int(expected)) for given, expected in wanted["cases"]]
    except (ValueError, KeyError, TypeError) as error:
        raise VerifierError(f"the target of problem {problem.id} is not a list of tests: {error}") from error
    try:
        program = parse_program(text)
    except ExpressionError as error:
        return Verdict(correct=False, extracted=None, why=f"no program found: {error}")
    extracted = format_program(program)
    if program.name != name:
        return Verdict(correct=False, extracted=extracted, why=f"the function is called {program.name}, not {name}")
    for given, expected in cases:
        got = _outcome(program, given)
        if got != expected:
            called = f"{name}({', '.join(map(str, given))})"
            return Verdict(correct=False, extracted=extracted, why=f"{called} gives {got}, not {expected}")
    return Verdict(correct=True, extracted=extracted)


def _outcome(program: Program, given: tuple[int, ...]) -> int | str:
    try:
        return run(program, given)
    except ExpressionError as error:
        return f"an error ({error})"
