import pytest

from podium.errors import ConfigError
from podium.tasks.benchmarks.registry import BENCHMARKS
from podium.tasks.instructions import INSTRUCTIONS, instructed
from podium.tasks.mathematics import MathVerifier
from podium.tasks.verifiers import verifiers
from podium.types import Problem


def problem(kind: str, target: str, question: str = "?") -> Problem:
    return Problem(question=question, target=target, kind=kind, source="test")


@pytest.mark.parametrize(
    ("kind", "target", "right"),
    [
        ("mathematics", "42", "\\boxed{42}"),
        ("multiple_choice", "B", "\\boxed{B}"),
        ("free_form", "5 km", "\\boxed{5000 m}"),
        ("countdown", '{"numbers": [6, 7], "target": 42}', "\\boxed{6 * 7}"),
        ("output-prediction", "[1, 2]", "Answer: [1, 2]"),
    ],
)
async def test_each_kind_goes_to_its_own(kind: str, target: str, right: str) -> None:
    every = verifiers(mathematics=MathVerifier())
    assert (await every(problem(kind, target), right)).correct
    assert not (await every(problem(kind, target), "\\boxed{A}")).correct


async def test_a_kind_without_a_verifier_stops_before_anything_is_asked() -> None:
    every = verifiers()
    with pytest.raises(ConfigError, match="sandbox"):
        every.check([problem("free_form", "5"), problem("programming", "{}")])
    with pytest.raises(ConfigError, match="MathVerifier"):
        await every(problem("mathematics", "42"), "\\boxed{42}")
    with pytest.raises(ConfigError, match="known kinds are countdown, free_form"):
        every.of("poetry")
    every.check([problem("free_form", "5")])


async def test_more_kinds_join_and_the_old_one_stays_as_it_was() -> None:
    few = verifiers()
    more = few.also({"word": MathVerifier()})
    assert (await more(problem("word", "42"), "\\boxed{42}")).correct
    assert (await more(problem("free_form", "5 km"), "\\boxed{5000 m}")).correct
    with pytest.raises(ConfigError, match="the kind 'word'"):
        few.of("word")


def test_every_kind_of_the_registry_has_an_instruction_and_a_verifier() -> None:
    kinds = {one.kind for one in BENCHMARKS.values()}
    assert kinds <= set(INSTRUCTIONS)
    every = verifiers(mathematics=MathVerifier(), programming=MathVerifier())
    assert all(every.of(kind) for kind in kinds)


def test_an_instruction_follows_the_question_and_makes_another_problem() -> None:
    bare = problem("multiple_choice", "B", "Which?\n\nA) one\nB) two")
    full = instructed(bare)
    assert full.question.startswith(bare.question + "\n\n")
    assert "\\boxed{}" in full.question
    assert (full.target, full.source) == (bare.target, bare.source)
    assert full.id != bare.id
    with pytest.raises(ConfigError, match="poetry"):
        instructed(problem("poetry", "x"))
