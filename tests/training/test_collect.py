"""Tasks -> groups: what is written is carried out and judged, and nothing the world did is ever scored."""

import json
from collections.abc import Sequence

import pytest

from podium.errors import Blame, BudgetExceeded, VerifierError, WorkerUnavailable
from podium.gym import GymVerifier
from podium.training.collect import Collector, Task
from podium.training.rollout import RolloutGroup
from podium.training.rows import draft_rows, rows_of, worker_positions
from podium.types import Brief, Call, Card, Completion, Generation, Problem, Usage, Verdict
from podium.workers.budget import Budget
from podium.workers.metered import Metered
from podium.workers.pool import Member, WorkerPool
from podium.workers.scripted import Scripted
from podium.workflow.syntax import WorkflowSyntax

PROBLEM = Problem(question="What is 6 times 7? Answer with a number.", target="42", kind="word", source="test")
ONE = 'model_id = [0]\nsubtasks = ["Answer."]\naccess_list = [[]]'
KEEP = "model_id = []\nsubtasks = []\naccess_list = []"


class Writes:
    """Writes the given texts, one after the other, and remembers what it was shown."""

    def __init__(self, *texts: str) -> None:
        self._texts = texts
        self.seen: list[Brief] = []

    def write_many(self, briefs: Sequence[Brief], n: int, forced_prefixes: Sequence[str] = ()) -> list[list[Generation]]:
        self.seen += briefs
        second = bool(briefs[0].previous_rounds)
        texts = self._texts[-1:] * n if second else [self._texts[g % len(self._texts)] for g in range(n)]
        return [[Generation(text=text, token_ids=(1, 2), logprobs=(-0.1, -0.2)) for text in texts] for _ in briefs]

    def prompt_ids(self, brief: Brief, forced_prefix: str = "") -> Sequence[int]:
        return [len(brief.previous_rounds), *range(len(forced_prefix))]


class Fails:
    def __init__(self, error: Exception) -> None:
        self._error = error

    async def __call__(self, call: Call) -> Completion:
        raise self._error


class Breaks:
    async def __call__(self, problem: Problem, answer: str) -> Verdict:
        raise VerifierError("the grader is gone")


def pool(*workers: object) -> WorkerPool:
    return WorkerPool([Member(worker=w, card=Card(name=f"w{i}")) for i, w in enumerate(workers)])  # type: ignore[arg-type]


def task(workers: WorkerPool, **more: object) -> Task:
    return Task(problem=PROBLEM, pool=workers, sample=(7,), **more)  # type: ignore[arg-type]


async def test_right_wrong_and_no_workflow() -> None:
    right, wrong = 'model_id = [0]\nsubtasks = ["A"]\naccess_list = [[]]', 'model_id = [1]\nsubtasks = ["A"]\naccess_list = [[]]'
    workers = pool(Scripted("Answer: 42"), Scripted("Answer: 41"))
    collector = Collector(verifier=GymVerifier(), syntax=WorkflowSyntax())
    [group] = await collector.collect(Writes(right, wrong, "no lists"), [task(workers)], 3)
    assert [r.turns[0].reward for r in group.rollouts] == [1.0, 0.5, 0.0]
    failed = group.rollouts[2].turns[0].failure
    assert failed is not None
    assert failed.blame is Blame.POLICY


@pytest.mark.parametrize("where", ["worker", "verifier"])
async def test_a_fault_of_the_world_is_void(where: str) -> None:
    worker = Fails(WorkerUnavailable("429")) if where == "worker" else Scripted("Answer: 42")
    verifier = Breaks() if where == "verifier" else GymVerifier()
    [group] = await Collector(verifier=verifier, syntax=WorkflowSyntax()).collect(Writes(ONE), [task(pool(worker))], 4)
    turns = [rollout.turns[0] for rollout in group.rollouts]
    assert [turn.reward for turn in turns] == [None] * 4
    assert all(turn.failure is not None and turn.failure.blame is Blame.WORLD for turn in turns)
    assert rows_of([group], lambda ids: ["x"] * len(ids)) == []


async def test_where_workers_are_chosen_is_marked_in_open_groups_only() -> None:
    [group] = await Collector(verifier=GymVerifier(), syntax=WorkflowSyntax()).collect(
        Writes(ONE), [task(pool(Scripted("Answer: 42")))], 2
    )
    pieces = ["model_id = [", "0"]
    assert {row.choices for row in rows_of([group], lambda ids: pieces)} == {(1,)}
    assert {row.choices for row in rows_of([group], lambda ids: pieces, lambda group: False)} == {()}


async def test_a_cap_stops_everything() -> None:
    card = Card(name="w0", prompt_usd=1.0, completion_usd=1.0)
    worker = Metered(Scripted("Answer: 42"), card, 100, [Budget(usd=0.01)])
    with pytest.raises(BudgetExceeded):
        await Collector(verifier=GymVerifier(), syntax=WorkflowSyntax()).collect(Writes(ONE), [task(pool(worker))], 2)


async def test_two_rollouts_that_write_the_same_are_two_draws() -> None:
    calls: list[Call] = []

    class Listens:
        async def __call__(self, call: Call) -> Completion:
            calls.append(call)
            return Completion(text="Answer: 42", usage=Usage())

    await Collector(verifier=GymVerifier(), syntax=WorkflowSyntax()).collect(Writes(ONE), [task(pool(Listens()))], 5)
    assert len({call.sample for call in calls}) == 5


async def test_a_second_round_sees_the_first_and_may_keep_its_answer() -> None:
    writer = Writes(ONE, KEEP)
    workers = pool(Scripted("Answer: 42"))
    [group] = await Collector(verifier=GymVerifier(), syntax=WorkflowSyntax()).collect(writer, [task(workers, rounds=2)], 1)
    first, second = group.rollouts[0].turns
    assert (first.reward, second.reward) == (1.0, 1.0)
    assert second.transcript.workflow is None
    assert writer.seen[-1].previous_rounds == (first.transcript,)
    assert second.prompt_ids != first.prompt_ids


async def test_a_first_round_without_an_answer_has_no_second() -> None:
    writer = Writes("no lists at all", ONE)
    collector = Collector(verifier=GymVerifier(), syntax=WorkflowSyntax())
    [group] = await collector.collect(writer, [task(pool(Scripted("Answer: 42")), rounds=2)], 2)
    assert sorted(len(rollout.turns) for rollout in group.rollouts) == [1, 2]
    assert [rollout.turns[0].reward for rollout in group.rollouts if len(rollout.turns) == 1] == [0.0]


async def test_dollars_come_off_a_right_answer_only() -> None:
    class Costs:
        async def __call__(self, call: Call) -> Completion:
            text = "Answer: 42" if call.subtask == "right" else "Answer: 1"
            return Completion(text=text, usage=Usage(prompt_tokens=1, completion_tokens=1, cost_usd=0.001))

    texts = [ONE.replace("Answer.", word) for word in ("right", "wrong")]
    collector = Collector(verifier=GymVerifier(), syntax=WorkflowSyntax(), per_usd=100)
    [group] = await collector.collect(Writes(*texts), [task(pool(Costs()))], 2)
    assert [r.turns[0].reward for r in group.rollouts] == pytest.approx([0.9, 0.5])


class Bills:
    """Says 42 where it is asked for what is right, and takes the dollars that the subtask names; None where it names none."""

    async def __call__(self, call: Call) -> Completion:
        outcome, _, dollars = call.subtask.partition(" for ")
        cost = float(dollars) if dollars else None
        text = "Answer: 42" if outcome == "right" else "Answer: 1"
        return Completion(text=text, usage=Usage(prompt_tokens=1, completion_tokens=1, cost_usd=cost))


def plan(*subtasks: str) -> str:
    """A workflow of worker 0 alone, which carries out the subtasks one after the other."""
    access = ["all" if index else [] for index in range(len(subtasks))]
    return f"model_id = {json.dumps([0] * len(subtasks))}\nsubtasks = {json.dumps(subtasks)}\naccess_list = {json.dumps(access)}"


@pytest.mark.parametrize(("per_usd", "budget_usd", "void"), [(100.0, None, True), (0.0, 0.01, True), (0.0, None, False)])
async def test_an_unknown_price_is_void_for_right_and_wrong_alike(per_usd: float, budget_usd: float | None, void: bool) -> None:
    """A worker that is right in nine of ten and says no price must not look worse than one that is never right."""
    texts = [*[plan("right")] * 9, plan("wrong"), *[plan("wrong for 0.001")] * 3, "no lists"]
    collector = Collector(verifier=GymVerifier(), syntax=WorkflowSyntax(), per_usd=per_usd)
    [group] = await collector.collect(Writes(*texts), [task(pool(Bills()), budget_usd=budget_usd)], len(texts))
    turns = [rollout.turns[0] for rollout in group.rollouts]
    assert [turn.correct for turn in turns] == [True] * 9 + [False] * 5
    assert [turn.reward for turn in turns] == ([None] * 10 if void else [1.0] * 9 + [0.5]) + [0.5] * 3 + [0.0]


async def test_where_saving_does_not_count_yet_a_price_need_not_be_known() -> None:
    collector = Collector(verifier=GymVerifier(), syntax=WorkflowSyntax(), per_usd=100)
    [group] = await collector.collect(Writes(plan("right")), [task(pool(Bills()), cost_weight=0.0)], 1)
    assert group.rollouts[0].turns[0].reward == 1.0


@pytest.mark.parametrize(
    ("second", "total_usd", "steps"),
    [(plan("right for 0.003"), 0.005, 2), (plan("wrong for 1", "right for 0.001"), 1.003, 3), (KEEP, 0.002, 1)],
)
async def test_an_answer_of_two_rounds_is_charged_for_both(second: str, total_usd: float, steps: int) -> None:
    def rewards(group: RolloutGroup) -> list[float | None]:
        return [turn.reward for turn in group.rollouts[0].turns]

    writer = Writes(plan("right for 0.002"), second)
    collector = Collector(verifier=GymVerifier(), syntax=WorkflowSyntax(), per_usd=10, per_step=0.01)
    [group] = await collector.collect(writer, [task(pool(Bills()), rounds=2)], 1)
    assert rewards(group) == pytest.approx([1 - 0.02 - 0.01, 1 - 10 * total_usd - 0.01 * steps])
    thrifty = Collector(verifier=GymVerifier(), syntax=WorkflowSyntax())
    [group] = await thrifty.collect(writer, [task(pool(Bills()), rounds=2, budget_usd=total_usd)], 1)
    assert rewards(group) == [1.0, 1.0]
    [group] = await thrifty.collect(writer, [task(pool(Bills()), rounds=2, budget_usd=total_usd - 1e-6)], 1)
    assert rewards(group)[1] == 0.5
    assert [turn.succeeded for turn in group.rollouts[0].turns] == [total_usd > 0.002, False]
    assert all(turn.correct for turn in group.rollouts[0].turns)


async def test_steps_come_off_a_right_answer() -> None:
    two = 'model_id = [0, 0]\nsubtasks = ["Plan.", "Answer."]\naccess_list = [[], ["all"]]'
    collector = Collector(verifier=GymVerifier(), syntax=WorkflowSyntax(), per_step=0.01)
    [group] = await collector.collect(Writes(ONE, two), [task(pool(Scripted("Answer: 42")))], 2)
    assert [r.turns[0].reward for r in group.rollouts] == pytest.approx([0.99, 0.98])
    [group] = await collector.collect(Writes(ONE, two), [task(pool(Scripted("Answer: 42")), cost_weight=0.5)], 2)
    assert [r.turns[0].reward for r in group.rollouts] == pytest.approx([0.995, 0.99])


async def test_an_answer_beyond_the_budget_in_the_prompt_earns_no_more_than_a_wrong_one() -> None:
    class Costs:
        async def __call__(self, call: Call) -> Completion:
            return Completion(text="Answer: 42", usage=Usage(prompt_tokens=1, completion_tokens=1, cost_usd=0.01))

    earned = []
    for budget in (0.02, 0.005, None):
        collector = Collector(verifier=GymVerifier(), syntax=WorkflowSyntax())
        [group] = await collector.collect(Writes(ONE), [task(pool(Costs()), budget_usd=budget)], 1)
        assert group.brief.budget_usd == budget
        earned.append(group.rollouts[0].turns[0].reward)
    assert earned == [1.0, 0.5, 1.0]


async def test_an_opening_is_part_of_the_prompt_and_is_kept_likely() -> None:
    [group] = await Collector(verifier=GymVerifier(), syntax=WorkflowSyntax()).collect(
        Writes(ONE), [task(pool(Scripted("Answer: 42")), forced_prefix="abc\n", draft=f"abc\n{ONE}")], 2
    )
    # A character is a token here; the choice of workers and of what a step sees stays free to change.
    text = f"abc\n{ONE}"
    [draft] = draft_rows([(group.brief, group.draft)], Writes(ONE).prompt_ids, lambda ids: [text[i] for i in ids])
    assert draft.completion_ids == tuple(range(len(text)))
    assert group.rollouts[0].turns[0].prompt_ids == (*draft.prompt_ids, *draft.completion_ids[:4])
    assert draft.choices == (text.index("0"), text.rindex("[]"))
    pieces = lambda ids: [text[i] for i in ids]  # noqa: E731
    [kept] = draft_rows([(group.brief, group.draft)], Writes(ONE).prompt_ids, pieces, keep_access=True)
    assert kept.choices == (text.index("0"),), "what a step sees is kept likely, too"
    [whole] = draft_rows([(group.brief, group.draft)], Writes(ONE).prompt_ids, pieces, whole=True)
    assert whole.choices == (), "and here who works, too"


@pytest.mark.parametrize(
    ("pieces", "found"),
    [
        (["model_id", " = [", "2", ",", " ", "0", "]"], (2, 5)),
        (["Use 3.\n", "model_id", ": [", "1", ']\nsubtasks = ["Add ', "4", '"]'], (3,)),
        (['"model_id"', ": [", "1", "]"], (2,)),
        (["model_id = [", "1", "] or model_id = [", "2", "]"], (3,)),
        (["subtasks = [", "1", "]\naccess_list = [[", "0", "]]"], ()),
        (["no lists"], ()),
    ],
)
def test_where_a_worker_is_chosen(pieces: list[str], found: tuple[int, ...]) -> None:
    assert worker_positions(pieces) == found


@pytest.mark.parametrize(("second", "steps"), [("Answer: 42", 2), ("Answer: 41", 3)])
async def test_a_skipped_step_costs_no_dollars_and_no_step(second: str, steps: int) -> None:
    syntax = WorkflowSyntax(conditions=True)
    three = (
        'model_id = [0, 1, 2]\nsubtasks = ["a", "b", "c"]\naccess_list = [[], [], "all"]\n'
        'conditions = ["always", "always", "unless 2 agree"]'
    )

    def says(text: str) -> Scripted:
        return Scripted(text, usage=Usage(prompt_tokens=1, completion_tokens=1, cost_usd=0.001))

    members = [Member(worker=says(text), card=Card(name=f"w{i}")) for i, text in enumerate(("Answer: 42", second, "Answer: 42"))]
    collector = Collector(verifier=GymVerifier(), syntax=syntax, per_usd=10, per_step=0.01)
    [group] = await collector.collect(Writes(three), [task(WorkerPool(members))], 1)
    [turn] = group.rollouts[0].turns
    assert turn.correct
    assert turn.reward == pytest.approx(1 - 0.02 * steps)
    assert len(turn.transcript.asked) == steps
