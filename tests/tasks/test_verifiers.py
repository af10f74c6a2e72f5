import pytest

from podium.errors import ConfigError
from podium.pools.verifiers import open_verifiers
from podium.registry import registered
from podium.tasks.benchmarks.registry import all_benchmarks
from podium.tasks.countdown import CountdownVerifier
from podium.tasks.kinds import ProblemKind, instructed, problem_kind
from podium.tasks.verifiers import VerifierByKind
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
    async with open_verifiers(registered("verifiers", ProblemKind).keys() - {"programming"}) as every:
        assert (await every(problem(kind, target), right)).correct
        assert not (await every(problem(kind, target), "\\boxed{A}")).correct


async def test_a_kind_without_a_verifier_stops_before_anything_is_asked() -> None:
    with pytest.raises(ConfigError, match=r"the kind 'poetry'; there are .*countdown, .*free_form"):
        async with open_verifiers({"mathematics", "poetry"}):
            pytest.fail("opened")
    with pytest.raises(ConfigError, match="the kind 'poetry' here; there are countdown"):
        await VerifierByKind({"countdown": CountdownVerifier()})(problem("poetry", "x"), "x")


async def test_a_question_of_no_kind_is_judged_by_the_processes_of_mathematics() -> None:
    assert problem_kind("question").open is problem_kind("mathematics").open
    async with open_verifiers({"mathematics", "question"}) as both:
        assert (await both(problem("question", "42"), "\\boxed{42}")).correct


def test_every_kind_of_the_registry_has_an_instruction_and_a_verifier() -> None:
    assert all(problem_kind(one.kind).instruction for one in all_benchmarks().values())


def test_an_instruction_follows_the_question_and_makes_another_problem() -> None:
    bare = problem("multiple_choice", "B", "Which?\n\nA) one\nB) two")
    full = instructed(bare)
    assert full.question.startswith(bare.question + "\n\n")
    assert "\\boxed{}" in full.question
    assert (full.target, full.source) == (bare.target, bare.source)
    assert full.id != bare.id
    with pytest.raises(ConfigError, match="poetry"):
        instructed(problem("poetry", "x"))
