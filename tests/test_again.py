"""Rounds under a condition: a second one is asked for, and paid for, only where the first gives a reason."""

from pathlib import Path

import pytest

from podium.conduct import Conductor
from podium.errors import BudgetExceeded, ConfigError, PodiumError, WorkerUnavailable
from podium.pools.conducting import conductor
from podium.pools.open import open_pool
from podium.pools.opened import OpenPool
from podium.types import Brief, Call, Completion, Generation, Step, Usage, Workflow
from podium.workers.vote import MajorityVote
from podium.workflow.parse import format_workflow
from tests.workflows import pool_of

TWO = Workflow(
    steps=(
        Step(worker=0, subtask="Solve."),
        Step(worker=1, subtask="Solve."),
        Step(worker=2, subtask="Merge.", access=(0, 1)),
    )
)


class Writes:
    """Writes the same workflow whenever it is asked, and counts."""

    def __init__(self, workflow: Workflow = TWO) -> None:
        self.workflow, self.briefs = workflow, list[Brief]()

    async def write(self, brief: Brief, n: int = 1) -> list[Generation]:
        self.briefs.append(brief)
        return [Generation(text=format_workflow(self.workflow))] * n


class Says:
    """What it says the first time, and what from then on; an error is raised."""

    def __init__(self, *texts: str | PodiumError | Completion) -> None:
        self.texts, self.calls = list(texts), 0

    async def __call__(self, call: Call) -> Completion:
        said = self.texts[min(self.calls, len(self.texts) - 1)]
        self.calls += 1
        if isinstance(said, PodiumError):
            raise said
        return said if isinstance(said, Completion) else Completion(text=said, usage=Usage(prompt_tokens=1, completion_tokens=1))


@pytest.mark.parametrize(
    ("said", "again", "rounds"),
    [
        (("Answer: 1", "Answer: 1", "Answer: 1"), "unless 2 agree", 1),
        (("Answer: 1", "Answer: 2", "Answer: 3"), "unless 2 agree", 3),
        (("Answer: 1", "Answer: 2", "Answer: 3"), "if failed", 1),
        (("Answer: 1", "Answer: 1", "Answer: 1"), "always", 3),
    ],
)
async def test_a_round_follows_where_the_one_before_gives_a_reason(said: tuple[str, ...], again: str, rounds: int) -> None:
    policy = Writes()
    completion = await Conductor(policy, pool_of(*map(Says, said)), rounds=3, again=again).ask("6 times 7?")
    assert (len(completion.transcripts), len(policy.briefs)) == (rounds, rounds)


async def test_a_vote_is_no_voice_of_its_own() -> None:
    vote = MajorityVote(lambda question, responses: list(responses))
    pool = pool_of(Says("Answer: 1"), Says("Answer: 2"), vote)
    assert len((await Conductor(Writes(), pool, rounds=2, again="unless 2 agree").ask("q")).transcripts) == 2


async def test_a_fault_is_a_reason_for_one_condition_and_no_disagreement_for_the_other() -> None:
    def pool() -> object:
        return pool_of(Says(WorkerUnavailable("busy"), "Answer: 1"), Says("Answer: 1"), Says("Answer: 1"))

    policy = Writes()
    completion = await Conductor(policy, pool(), rounds=3, again="if failed").ask("q")  # type: ignore[arg-type]
    assert (completion.text, [t.failure is None for t in completion.transcripts]) == ("Answer: 1", [False, True])
    assert policy.briefs[1].previous_rounds[0].answer is None
    for other in ("unless 2 agree", "always"):
        with pytest.raises(WorkerUnavailable):
            await Conductor(Writes(), pool(), rounds=3, again=other).ask("q")  # type: ignore[arg-type]


async def test_what_the_user_has_to_mend_ends_the_run() -> None:
    policy = Writes()
    with pytest.raises(BudgetExceeded):
        await Conductor(
            policy, pool_of(Says(BudgetExceeded("none left")), Says("1"), Says("1")), rounds=3, again="if failed"
        ).ask("q")
    assert len(policy.briefs) == 1


async def test_a_failing_check_is_a_reason() -> None:
    checks = Says(Completion(text="wrong", check_passed=False), Completion(text="right", check_passed=True))
    completion = await Conductor(Writes(), pool_of(Says("1"), checks, Says("1")), rounds=3, again="if failed").ask("q")
    assert len(completion.transcripts) == 2


@pytest.mark.parametrize(
    ("said", "again", "rounds"),
    [
        (("Answer: 1", "Answer: 2", "Look again.\nCHECK: FAILED"), "if failed", 2),
        (("Answer: 1", "Answer: 2", "CHECK: PASSED"), "if failed", 1),
        (("Answer: 1\nCHECK: FAILED", "Answer: 2", "Answer: 3"), "if failed", 1),
        (("Answer: 1", "CHECK: FAILED", "CHECK: FAILED"), "unless 2 agree", 2),
        (("Answer: 1", "Answer: 2", "CHECK: PASSED"), "unless 2 agree", 1),
    ],
)
async def test_a_last_line_reports_a_check_also_where_no_step_has_a_condition(
    said: tuple[str, ...], again: str, rounds: int
) -> None:
    chain = Workflow(steps=(*TWO.steps[:1], Step(worker=1, subtask="Check.", access=(0,)), *TWO.steps[2:]))
    completion = await Conductor(Writes(chain), pool_of(*map(Says, said)), rounds=2, again=again).ask("6 times 7?")
    assert len(completion.transcripts) == rounds


def test_what_is_no_condition_is_said() -> None:
    with pytest.raises(ConfigError, match="again: 'sometimes' is no condition"):
        conductor(OpenPool(workers=pool_of("1")), "vote", rounds=2, again="sometimes")


async def test_the_pool_file_says_when_and_whether_the_prompted_policy_may_write_conditions(tmp_path: Path) -> None:
    worker = '[[worker]]\nname = "a"\nmodel = "openai:a"\nbase_url = "http://127.0.0.1:9/v1"\n'
    path = tmp_path / "pool.toml"
    path.write_text(f'{worker}[conductor]\nworker = "a"\nconditions = true\nagain = "If  failed"\n')
    async with open_pool(path) as pool:
        made = conductor(pool, "chat", rounds=2)
        assert str(made._again) == "if failed"
        assert made._syntax.conditions
    path.write_text(f'{worker}[conductor]\nworker = "a"\nagain = "sometimes"\n')
    with pytest.raises(ConfigError, match="again"):
        async with open_pool(path):
            pass
