"""Steps with a condition the second time: replayed from a journal, gone on with after a fault, and in later rounds."""

from pathlib import Path

import pytest

from podium.conduct import Conductor
from podium.errors import PodiumError, WorkerUnavailable
from podium.pools.open import open_pool
from podium.types import Brief, Call, Card, Completion, Generation, Step, Usage, Workflow
from podium.workers.budget import Budget
from podium.workers.pool import Member
from podium.workflow.parse import format_workflow
from podium.workflow.syntax import WorkflowSyntax
from tests.workflows import pool_of

LANGUAGE = WorkflowSyntax(conditions=True)
CASCADE = Workflow(
    steps=(
        Step(worker=0, subtask="Solve."),
        Step(worker=1, subtask="Solve, too.", access=(0,)),
        Step(worker=2, subtask="Decide.", access=(0, 1), condition="unless 2 agree"),
    )
)
AGAIN = Workflow(steps=(Step(worker=0, subtask="Anew.", last_answer=True), *CASCADE.steps[1:]))


class Writes:
    """Writes one workflow a round."""

    def __init__(self, *workflows: Workflow) -> None:
        self.workflows, self.briefs = workflows, list[Brief]()

    async def write(self, brief: Brief, n: int = 1) -> list[Generation]:
        self.briefs.append(brief)
        number = len(brief.previous_rounds) + 1
        return [Generation(text=format_workflow(self.workflows[number - 1], LANGUAGE, round_number=number))] * n


class Says:
    """Says one text a call, the last one for ever; an error is raised. A call costs a dollar."""

    def __init__(self, *texts: str | PodiumError) -> None:
        self.texts, self.calls = list(texts), list[Call]()

    async def __call__(self, call: Call) -> Completion:
        said = self.texts[min(len(self.calls), len(self.texts) - 1)]
        self.calls.append(call)
        if isinstance(said, PodiumError):
            raise said
        return Completion(text=said, usage=Usage(prompt_tokens=1, completion_tokens=1, cost_usd=1.0))


async def _ask(workers: list[Says], journal: Path, question: str) -> tuple[Completion | None, float | None]:
    """The answer, None where a worker failed, and what was paid now."""
    members = [Member(worker=worker, card=Card(name=f"w{index}")) for index, worker in enumerate(workers)]
    budget = Budget()
    async with open_pool(members, journal=journal, budget=budget, run="r") as pool:
        try:
            answer = await Conductor(Writes(CASCADE), pool.workers, syntax=LANGUAGE).ask(question)
        except WorkerUnavailable:
            answer = None
        return answer, budget.paid.cost_usd


async def test_a_skipped_step_is_skipped_again_and_nothing_is_paid_twice(tmp_path: Path) -> None:
    workers = [Says("Answer: 42"), Says("42"), Says("never")]
    first, paid = await _ask(workers, tmp_path / "calls.db", "6 times 7?")
    second, paid_then = await _ask(workers, tmp_path / "calls.db", "6 times 7?")
    assert first is not None
    assert second is not None
    assert (paid, paid_then) == (2.0, 0.0)
    assert [len(worker.calls) for worker in workers] == [1, 1, 0]
    for before, after in zip(first.transcripts[0].results, second.transcripts[0].results, strict=True):
        assert (before.skipped, before.completion and before.completion.text) == (
            after.skipped,
            after.completion and after.completion.text,
        )


async def test_after_a_fault_only_what_is_missing_is_paid(tmp_path: Path) -> None:
    """The fault of the dear one is void; the two that differ are not asked, nor paid, a second time."""
    workers = [Says("Answer: 41"), Says("Answer: 42"), Says(WorkerUnavailable("busy"), "Answer: 43")]
    assert (await _ask(workers, tmp_path / "calls.db", "6 times 7?")) == (None, 2.0)
    answer, paid = await _ask(workers, tmp_path / "calls.db", "6 times 7?")
    assert answer is not None
    assert (answer.text, paid) == ("Answer: 43", 1.0)
    assert [len(worker.calls) for worker in workers] == [1, 1, 2]


async def test_a_fault_of_a_cheap_one_does_not_send_for_the_dear_one(tmp_path: Path) -> None:
    workers = [Says("Answer: 42"), Says(WorkerUnavailable("busy"), "42"), Says("never")]
    assert (await _ask(workers, tmp_path / "calls.db", "6 times 7?"))[0] is None
    answer, paid = await _ask(workers, tmp_path / "calls.db", "6 times 7?")
    assert answer is not None
    assert (answer.text, paid) == ("Answer: 42", 1.0)
    assert workers[2].calls == []


@pytest.mark.parametrize(("second", "asked"), [("Answer: 2", 2), ("Answer: 1", 1)])
async def test_the_answer_of_the_round_before_is_no_voice_in_the_next(second: str, asked: int) -> None:
    """Round 1 ends with 3. In round 2 one says 3 again and sees it: that is one voice, whoever said it before."""
    workers = [Says("Answer: 1", "Answer: 3"), Says("Answer: 2", second), Says("Answer: 3", "Answer: 4")]
    if asked == 1:
        workers[0] = Says("Answer: 1", "Answer: 1")
    policy = Writes(CASCADE, AGAIN)
    completion = await Conductor(policy, pool_of(*workers), rounds=2, syntax=LANGUAGE).ask("6 times 7?")
    assert len(completion.transcripts) == 2
    assert len(workers[2].calls) == asked
    assert completion.text == ("Answer: 4" if asked == 2 else "Answer: 1")


async def test_a_round_that_a_fault_ended_gives_the_reason_for_the_next_and_its_skips_stand() -> None:
    workers = [Says("Answer: 1"), Says(WorkerUnavailable("busy"), "Answer: 1"), Says("never")]
    policy = Writes(CASCADE, CASCADE)
    completion = await Conductor(policy, pool_of(*workers), rounds=3, syntax=LANGUAGE, again="if failed").ask("6 times 7?")
    assert [transcript.failure is None for transcript in completion.transcripts] == [False, True]
    assert completion.transcripts[1].results[2].skipped is not None
    assert completion.text == "Answer: 1"
    assert workers[2].calls == []


async def test_where_two_agree_by_a_skip_no_second_round_is_asked_for() -> None:
    policy = Writes(CASCADE)
    says = [Says("Answer: 1"), Says("Answer: 1"), Says("never")]
    completion = await Conductor(policy, pool_of(*says), rounds=3, syntax=LANGUAGE, again="unless 2 agree").ask("6 times 7?")
    assert (len(completion.transcripts), len(policy.briefs)) == (1, 1)
