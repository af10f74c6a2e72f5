import asyncio
import gzip
import json
import random
import signal
import time
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.mathematics_pairs import Pair, pairs, read_golds
from podium.errors import VerifierError
from podium.tasks.datasets import load_replay_problems
from podium.tasks.mathematics import MathVerifier, final_answer
from podium.tasks.mathematics.pool import SymbolicPool
from podium.tasks.quantities.numbers import read_quantity
from podium.types import Problem

PAIRS: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("golden_mathematics.toml").read_text("utf-8"))["pairs"]


def problem(target: str, question: str = "?") -> Problem:
    return Problem(question=question, target=target, kind="mathematics", source="test")


@pytest.fixture(scope="module")
def pool() -> Iterator[SymbolicPool]:
    shared = SymbolicPool()
    yield shared
    shared.close()


def reply(pair: dict[str, Any]) -> str:
    return str(pair["text"]) if "text" in pair else f"\\boxed{{{pair['answer']}}}"


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair['gold']} | {pair.get('answer', pair.get('text'))}"[:70])
async def test_golden_table(pool: SymbolicPool, pair: dict[str, Any]) -> None:
    verdict = await MathVerifier(pool)(problem(pair["gold"], pair.get("question", "?")), reply(pair))
    assert verdict.correct is (pair["right"] if "miss" not in pair else not pair["right"]), verdict
    assert verdict.correct or verdict.why


def test_the_golden_table_is_large_and_its_misses_are_few() -> None:
    missed = [pair for pair in PAIRS if "miss" in pair]
    assert len(PAIRS) >= 350
    assert len(missed) <= 3
    assert len({(pair["gold"], reply(pair), pair.get("question")) for pair in PAIRS}) == len(PAIRS)


@pytest.mark.parametrize("target", ["", " ", "$ $", "x" * 3000])
async def test_a_target_that_is_no_answer_is_no_verdict(target: str) -> None:
    with pytest.raises(VerifierError, match="give it the final answer only"):
        await MathVerifier()(problem(target), "Answer: 5")


async def test_a_verifier_ends_its_own_pool_and_leaves_that_of_others(pool: SymbolicPool) -> None:
    async with MathVerifier(pool) as verify:
        assert (await verify(problem("x/2"), r"\boxed{0.5x}")).correct
    assert (await pool.compare("x", "x+0")).equal
    async with MathVerifier(size=1) as own:
        assert (await own(problem("x/2"), r"\boxed{0.5x}")).correct
    with pytest.raises(VerifierError, match="closed"):
        await own(problem("x/2"), r"\boxed{0.5x}")
    assert (await own(problem("5"), "Answer: 5")).correct, "numbers need no process"


def test_from_threads_with_loops_of_their_own(pool: SymbolicPool) -> None:
    verify = MathVerifier(pool)

    def ask(number: int) -> bool:
        return asyncio.run(verify(problem("x^2-1"), rf"\boxed{{(x-1)(x+{number})}}")).correct

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(ask, range(4))) == [False, True, False, False]


async def test_the_alarm_of_the_caller_is_left_alone(pool: SymbolicPool) -> None:
    signal.alarm(50)
    try:
        await MathVerifier(pool)(problem("x/2"), r"\boxed{\frac{3x}{6}}")
        assert signal.alarm(0) > 0
    finally:
        signal.alarm(0)


@given(st.text(alphabet="0123456789x+-*/^_{}()[]\\\\ ,=.$%!fracsqtpi", max_size=60))
def test_an_answer_is_right_where_it_is_the_target(text: str) -> None:
    answer = f"\\boxed{{{text}}}"
    if final_answer(answer) != text.strip():
        return  # braces that do not match, or a phrase
    try:
        verdict = asyncio.run(MathVerifier()(problem(text), answer))
    except VerifierError as error:
        assert "give it the final answer only" in str(error)  # noqa: PT017 - only of what is nothing but decoration
    else:
        assert verdict.correct


GOLDEN = [
    # text, what is read out of it, the number that is
    (r"so \boxed{42}", "42", 42),
    (r"\boxed{41} no, \boxed{42}", "42", 42),
    (r"\boxed{42} and then \boxed{4", "42", 42),
    (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}", Fraction(1, 2)),
    (r"\boxed{\dfrac{-3}{4}}", r"\dfrac{-3}{4}", Fraction(-3, 4)),
    (r"\boxed{-\frac12}", r"-\frac12", Fraction(-1, 2)),
    (r"\boxed{2\frac{1}{2}}", r"2\frac{1}{2}", Fraction(5, 2)),
    (r"\boxed {1{,}234}", "1{,}234", 1234),
    (r"\boxed{1,\!234,\!567}", r"1,\!234,\!567", 1234567),
    (r"\boxed{1\,234}", r"1\,234", 1234),
    (r"\boxed{\$18.50}", r"\$18.50", Fraction(37, 2)),
    (r"\boxed{50\%}", r"50\%", 50),
    (r"\boxed{42\text{ eggs}}", r"42\text{ eggs}", 42),
    (r"\boxed{42\ \mathrm{cm}^2}", r"42\ \mathrm{cm}^2", 42),
    (r"\boxed{x = 5}", "x = 5", 5),
    (r"\boxed{3 \times 10^{4}}", r"3 \times 10^{4}", 30000),
    (r"\boxed{\boxed{7}}", "7", 7),
    (r"\boxed{90^\circ}", r"90^\circ", 90),
    (r"The answer is 5. Or \boxed{6}.", "6", 6),
    (r"The answer is 8. \boxed{}", "8", 8),
    ("The answer is 42.", "42", 42),
    ("The answer is 41. No, wait. The answer is 42. It took 7 steps.", "42", 42),
    ("**Answer:** 42", "42", 42),
    ("**Final Answer**: $1,234.00", "1,234.00", 1234),
    ("Answer:\n\n42\n", "42", 42),
    (r"The final answer is: \(42\)", r"42\)", 42),
    ("The answer is $$\n42\n$$", "42", 42),
    ("the ANSWER IS −7 °C", "−7 °C", -7),
    ("Answer: 3 + 4 = 7 eggs", "3 + 4 = 7 eggs", 7),
    ("Answer: 42, as you can see.", "42", 42),
    ("Answer: 3.0", "3.0", 3),
    ("Answer: .5", ".5", Fraction(1, 2)),
    ("Answer: 33 1/3", "33 1/3", Fraction(100, 3)),
    ("Answer: 7 / 2", "7 / 2", Fraction(7, 2)),
    ("Answer: -$1,234.50", "-$1,234.50", Fraction(-2469, 2)),
    ("Answer: $-5", "-5", -5),
    ("Answer: €18", "€18", 18),
    ("Answer: 1 234 567", "1 234 567", 1234567),
    ("Answer: $5 million", "5 million", 5_000_000),
    ("Answer: 5k", "5k", 5000),
    ("Answer: 6.02e23", "6.02e23", Fraction(602 * 10**21)),
    ("Answer: 60 miles/hour", "60 miles/hour", 60),
    ("Answer: 12 square feet", "12 square feet", 12),
    ("Answer: (42)", "(42)", 42),
    ("Answer: `42`", "42", 42),
    ("6 * 7 = 42\n#### 42", "42", 42),
    ("To get the answer: add.\n#### -1,000", "-1,000", -1000),
    ("First 41.\n42", "42", 42),
    ("First 41.\n**$42.00**\n", "**$42.00**", 42),
    ('{"reasoning": "the answer is 5.\\n so", \n "answer": "$42"\n}\n```', "$42", 42),
    ('{"reasoning": "said "hi"",\n "answer": 42\n}', "42", 42),
    ('{"reasoning": "it\'s",\n "answer": 42}', "42", 42),
    ('... \\n\\nAnswer: \\"answer\\": \\"220\\""\n}\n```', "220", 220),
    ("<think>The answer is 41.</think>\nThe answer is 42.", "42", 42),
]

NO_NUMBER = [
    # text, what is read out of it
    ("It is 41 or 42.", None),
    ("First 41, then 42", None),
    ("So there are 42 eggs", None),
    ("42 eggs", None),
    ("", None),
    ("<think>The answer is 42. But", None),
    ("<think>...</think>", None),
    ("the answer", None),
    (r"\boxed{5 or 6}", "5 or 6"),
    (r"\boxed{1, 2}", "1, 2"),
    (r"\boxed{1,2}", "1,2"),
    (r"\boxed{x=5, y=6}", "x=5, y=6"),
    (r"\boxed{5x}", "5x"),
    (r"\boxed{2^{10}}", "2^{10}"),
    (r"\boxed{2**3}", "2**3"),
    (r"\boxed{6*7}", "6*7"),
    (r"\boxed{5\pi}", r"5\pi"),
    (r"\boxed{\sqrt{2}}", r"\sqrt{2}"),
    (r"\boxed{x \ge 5}", r"x \ge 5"),
    (r"\boxed{x >= 5}", "x >= 5"),
    (r"\boxed{\frac{1}{0}}", r"\frac{1}{0}"),
    (r"\boxed{1e999999999}", "1e999999999"),
    (r"\boxed{9^{9^{9}}}", "9^{9^{9}}"),
    (r"\boxed{\sum_{i=1}^{100} i}", r"\sum_{i=1}^{100} i"),
    ("Answer: about 5", "about 5"),
    ("Answer: not 5", "not 5"),
    ("Answer: 5 to 6", "5 to 6"),
    ("Answer: 5 squared", "5 squared"),
    ("Answer: 2 thirds", "2 thirds"),
    ("Answer: 5 and a half", "5 and a half"),
    ("Answer: 2:30 pm", "2:30 pm"),
    ("Answer: 1.234.567", "1.234.567"),
    ("Answer: 0,500", "0,500"),
    ("Answer: --5", "--5"),
    ("Answer: 86 glasses and 42 plates", "86 glasses and 42 plates"),
    ("Answer: cannot be determined without the 10-year-old tree", "cannot be determined without the 10-year-old tree"),
    ("Answer: ٤٢", "٤٢"),
    ('{"answer": "___"}', None),
]


@pytest.mark.parametrize(("text", "extracted", "number"), GOLDEN)
async def test_what_is_read_out_of_an_answer(text: str, extracted: str, number: Fraction | int) -> None:
    assert final_answer(text) == extracted
    quantity = read_quantity(extracted)
    assert quantity is not None
    assert quantity.number == number
    verify = MathVerifier()
    assert (await verify(problem(str(number)), text)).correct
    wrong = await verify(problem(str(number + 1)), text)
    assert not wrong.correct
    assert wrong.extracted == extracted


@pytest.mark.parametrize(("text", "extracted"), NO_NUMBER)
async def test_what_is_no_number_is_wrong_and_never_guessed(text: str, extracted: str | None) -> None:
    for target in ("42", "41", "5", "6", "1", "2", "10"):
        verdict = await MathVerifier()(problem(target), text)
        assert not verdict.correct
        assert verdict.extracted == extracted
        assert verdict.why


@pytest.mark.parametrize(
    ("target", "answer", "correct"),
    [
        ("42", "42 km", True),
        ("5 km", "5 km", True),
        ("5 km", "5", True),
        ("5 km", "5 m", False),
        ("5 km", "6 km", False),
        ("1,450,000", "1450000", True),
        ("0.5", r"\frac{1}{2}", True),
        ("0.33", "1/3", False),
        ("50", "50%", True),
        ("0.5", "50%", True),
        ("5", "5 million", False),
    ],
)
async def test_targets_and_units(target: str, answer: str, correct: bool) -> None:
    assert (await MathVerifier()(problem(target), f"Answer: {answer}")).correct is correct


@given(st.text(max_size=300), st.sampled_from(["", "Answer: ", "\\boxed{", "#### "]))
def test_any_text_is_judged_without_an_error(text: str, before: str) -> None:
    extracted = final_answer(before + text)
    if extracted is not None:
        assert extracted
        read_quantity(extracted)


HOSTILE = [
    "\\boxed{" * 30_000,
    "\\boxed{" * 15_000 + "}" * 15_000,
    "\\boxed{" + "1" * 200_000 + "}",
    "\\boxed{1" + ",000" * 50_000 + "}",
    "Answer: " + "1" * 200_000,
    "Answer: " + "1 " * 1_000,
    "Answer: " + "1 234 " * 300,
    "Answer: " + "a = " * 480,
    "Answer: " + "*" * 1_900,
    "Answer: " + "5 " + "\\text{" * 300,
    "Answer: 5" + " eggs" * 390,
    "Answer: 5" + "-a" * 900,
    "answer " * 30_000,
    "answer" + " " * 190_000,
    "answer:" + "\n" * 190_000,
    "answer" + "\"'*_`)" * 30_000,
    "####" * 50_000,
    "\n" * 200_000 + "x",
    "<think>" * 30_000,
    "\\" * 200_000,
    '\\"' * 100_000,
    "Answer: 1e999999",
    "Answer: 10^" + "9" * 100,
    "Answer: 1 x 10^{-999999}",
    "\\frac{" * 30_000,
    "5" * 10_000_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
async def test_hostile_texts_cost_little_and_are_wrong(text: str) -> None:
    start = time.process_time()
    verdict = await MathVerifier()(problem("42"), text)
    assert time.process_time() - start < 0.5
    assert not verdict.correct
    assert len(verdict.extracted or "") <= 200


async def test_only_the_end_of_an_endless_answer_is_read() -> None:
    assert (await MathVerifier()(problem("42"), "blah " * 200_000 + "Answer: 42")).correct


async def test_what_stands_before_the_end_of_an_endless_answer_is_not() -> None:
    verdict = await MathVerifier()(problem("42"), "Answer: 42\n" + "blah " * 200_000)
    assert verdict.extracted is None


def gold_solutions(data: Path, draw: random.Random) -> list[tuple[Problem, str]]:
    with gzip.open(data / "gsm8k" / "test.jsonl.gz", "rt", encoding="utf-8") as file:
        gsm8k = [json.loads(line)["answer"] for line in file]
    with (data / "math500" / "test.jsonl").open(encoding="utf-8") as file:
        math500 = [json.loads(line) for line in file]
    solutions = [(problem(solution.rpartition("#### ")[2]), solution) for solution in gsm8k]
    solutions += [(problem(row["answer"]), row["solution"]) for row in math500]
    return draw.sample(solutions, len(solutions))


async def test_every_gold_solution_is_right(data: Path, pool: SymbolicPool) -> None:
    for asked, solution in gold_solutions(data, random.Random(0)):
        verdict = await MathVerifier(pool)(asked, solution)
        assert verdict.correct, (asked.target, verdict)


async def test_the_gold_answer_of_another_problem_is_wrong_unless_it_is_the_same_number(data: Path, pool: SymbolicPool) -> None:
    golds = [asked.target for asked, _ in gold_solutions(data, random.Random(1))]
    accepted = []
    for one, other in pairwise(golds[:300]):
        if (await MathVerifier(pool)(problem(one), f"\\boxed{{{other}}}")).correct:
            accepted.append((read_quantity(one), read_quantity(other)))
    assert all(one is not None and other is not None and one.number == other.number for one, other in accepted), accepted


# Accuracy in percent, and how often at most no number was found, as measured 2026-11 with this verifier. The published
# ZeroEval figures are near (82-84, 87, 80, 87, 77, 75): another verifier, so a wide band. gpt-3.5-turbo differs most, because
# it writes "$18" and "5 miles" more often than others.
RECORDED = {
    "Meta-Llama-3.1-8B-Instruct": (83.9, 10),
    "gemma-2-9b-it": (87.3, 20),
    "Qwen2-7B-Instruct": (80.0, 10),
    "Phi-3.5-mini-instruct": (85.1, 35),
    "Yi-1.5-9B-Chat": (78.7, 50),
    "gpt-3.5-turbo-0125": (80.1, 20),
}


@pytest.mark.parametrize("model", RECORDED)
async def test_recorded_models_are_about_as_good_as_published(data: Path, model: str) -> None:
    with gzip.open(data / "replay" / "questions.jsonl.gz", "rt", encoding="utf-8") as file:
        ids = [row["id"] for row in map(json.loads, file) if row["dataset"] == "gsm"]
    with gzip.open(data / "replay" / "outputs" / f"{model}.jsonl.gz", "rt", encoding="utf-8") as file:
        outputs = {row["id"]: row["output"] for row in map(json.loads, file) if row["dataset"] == "gsm"}
    problems = dict(zip(ids, load_replay_problems(data / "replay", "gsm"), strict=True))
    assert problems.keys() == outputs.keys()
    verdicts = [await MathVerifier()(problems[name], outputs[name]) for name in ids]
    accuracy, unread = RECORDED[model]
    assert 100 * sum(verdict.correct for verdict in verdicts) / 1319 == pytest.approx(accuracy, abs=0.5)
    assert sum(v.extracted is None or read_quantity(v.extracted) is None for v in verdicts) <= unread


GOLDS = [
    ("Simplify the product.", "4x^2"),
    ("Find the sum.", r"\frac{37}{4}m - 2k"),
    ("How long is the side?", r"\frac{2\sqrt{3}}{5}"),
    ("Which polynomial is it?", "x^3 - 2x^2y + 7"),
    ("What is the area?", r"\frac{x^2+1}{x-3}"),
    ("How many ways?", "84"),
    ("What share?", r"\frac{7}{20}"),
]


async def test_answers_that_are_nearly_the_gold_answer(pool: SymbolicPool) -> None:
    await judge_pairs(pool, pairs(GOLDS, random.Random(3), 120))


async def test_answers_that_are_nearly_the_gold_answer_of_real_problems(data: Path, pool: SymbolicPool) -> None:
    golds = [(question, gold) for question, gold in read_golds(data) if read_quantity(gold) is None]
    await judge_pairs(pool, pairs(random.Random(5).sample(golds, 25), random.Random(5), 150))


async def judge_pairs(pool: SymbolicPool, asked: list[Pair]) -> None:
    assert {pair.right for pair in asked} == {True, False}
    refused = 0
    for pair in asked:
        verdict = await MathVerifier(pool)(problem(pair.gold, pair.question), f"\\boxed{{{pair.answer}}}")
        assert pair.right or not verdict.correct, pair
        refused += pair.right and not verdict.correct
    assert refused <= 0.01 * len(asked)
