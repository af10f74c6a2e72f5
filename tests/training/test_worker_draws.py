"""Workers of some rollouts are drawn by what is known of them: who is found, what of a text changes, what is learned from it."""

import json
import math
import random
from collections import Counter
from dataclasses import replace

import pytest
import torch

from podium.training.batch import micro_batches
from podium.training.grpo import surrogate
from podium.training.rollout import Rollout, RolloutGroup, Turn
from podium.training.rows import TrainingRow
from podium.training.worker_draws import PlaceRecord, WorkerDraws, plan_of
from podium.types import Brief, Card, Generation, Problem, Step, Transcript, Verdict, Workflow, ask
from podium.workflow.parse import parse
from podium.workflow.syntax import WorkflowSyntax
from tests.training.gym_runs import WORLD, engine_for, gym_pool, small_config

NAMES = tuple(f"w{number}" for number in range(8))
PLAN = "Units: plan, recall, compute."
CARDS = tuple(Card(name=name) for name in NAMES)


def group(team: tuple[int, ...], right: bool | None, *, plan: str = PLAN, forced: bool = False) -> RolloutGroup:
    """One rollout of ``team``; None was spoilt by the world."""
    steps = tuple(Step(worker=worker, subtask="Do it.", access=()) for worker in team)
    turn = Turn(
        prompt_ids=(),
        generation=(written := Generation(text=f"{plan}\nmodel_id = []")),
        transcript=Transcript(question=ask("?"), generation=written, workflow=Workflow(steps=steps) if team else None),
        verdict=None if right is None else Verdict(correct=right, extracted=None),
        reward=None if right is None else float(right),
    )
    brief = Brief(question=ask("?"), cards=CARDS, max_steps=5)
    problem = Problem(question="?", target="", kind="units", source="test")
    return RolloutGroup(
        problem=problem, brief=brief, forced_prefix=f"{plan}\n" if forced else "", rollouts=(Rollout(turns=(turn,)),)
    )


def test_a_team_is_found_that_is_right_only_together() -> None:
    """Three places, eight workers: .9 for the right one, .6 for the last everywhere, .3 for anybody else."""
    best = (2, 5, 0)
    record, rng = PlaceRecord(), random.Random(3)

    def drawn() -> tuple[int, ...]:
        return tuple(record.drawn(PLAN, place, NAMES, rng) for place in range(3))

    for _ in range(60):
        tried = [drawn() for _ in range(8)]
        record.learn([
            group(team, all(rng.random() < (0.9 if w == b else 0.6 if w == 7 else 0.3) for w, b in zip(team, best, strict=True)))
            for team in tried
        ])  # fmt: skip
    assert Counter(drawn() for _ in range(50)).most_common(1)[0][0] == best


def test_a_place_of_another_plan_and_what_is_long_ago_say_nothing() -> None:
    record = PlaceRecord()
    record.learn([group((1, 1, 1), True)] * 40)
    drawn = Counter(record.drawn("Story: answer.", 0, NAMES, random.Random(n)) for n in range(400))
    assert set(drawn) == set(range(8))
    assert max(drawn.values()) < 100
    for _ in range(200):
        record.learn([])
    assert not record.places


def test_what_the_world_spoilt_and_what_was_no_workflow_is_not_counted() -> None:
    record = PlaceRecord()
    record.learn([group((1, 2), None), group((), False)])
    assert not record.places
    record.learn([group((1, 2), True, forced=True), group((1, 3), False)])
    assert record.places == {PLAN: [{"w1": [1.0, 1.0]}, {"w2": [1.0, 0.0], "w3": [0.0, 1.0]}]}


def test_a_checkpoint_keeps_it_to_the_last_digit() -> None:
    record = PlaceRecord()
    for number in range(30):
        record.learn([group((number % 8, 3), number % 3 == 0)])
    again = PlaceRecord()
    again.restore(json.loads(json.dumps(record.state())))
    assert again == record
    with pytest.raises((TypeError, ValueError)):
        again.restore({"plan": [{"w0": ["many"]}]})


def briefs(count: int = 3) -> list[Brief]:
    cards = tuple(gym_pool().cards)
    asked = WORLD.problems(kinds=("choice",), n=count, seed=5)
    return [Brief(question=ask(each.question), cards=cards, max_steps=5, sample=(n,)) for n, each in enumerate(asked)]


def test_only_worker_ids_change_and_what_the_policy_did_not_draw_is_marked() -> None:
    engine = engine_for(small_config())
    record = PlaceRecord()
    writer = WorkerDraws(engine, record, 0.5, random.Random(0))
    engine.seed(4)
    plain = engine.write_many(briefs(), 8)
    engine.seed(4)
    drawn = writer.write_many(briefs(), 8)
    syntax = WorkflowSyntax(access="binary")
    changed = 0
    for brief, before, after in zip(briefs(), plain, drawn, strict=True):
        assert [b.text == a.text for b, a in zip(before[4:], after[4:], strict=True)] == [True] * 4
        for own, other in zip(before[:4], after[:4], strict=True):
            differs = [index for index, pair in enumerate(zip(own.token_ids, other.token_ids, strict=True)) if len({*pair}) > 1]
            assert [index for index, value in enumerate(other.logprobs) if math.isnan(value)] == differs
            assert all(own.logprobs[n] == other.logprobs[n] for n in range(len(own.logprobs)) if n not in differs)
            assert "".join(engine.pieces(other.token_ids)) == other.text
            changed += bool(differs)
            one, two = parse(own.text, brief, syntax), parse(other.text, brief, syntax)
            assert one is not None
            assert two is not None
            assert [replace(step, worker=0) for step in one.steps] == [replace(step, worker=0) for step in two.steps]
    assert changed > 6


def test_whoever_is_known_to_be_right_is_drawn_also_after_a_forced_prefix() -> None:
    engine = engine_for(small_config())
    [asked] = briefs(1)
    prefix = f"{plan_of(engine.write_many([asked], 1)[0][0].text)}\n"
    names = [card.name for card in asked.cards]
    record = PlaceRecord(places={plan_of(prefix): [{names[2]: [500.0, 0.0], names[1]: [0.0, 500.0]} for _ in range(5)]})
    writer = WorkerDraws(engine, record, 1.0, random.Random(0))
    for one in writer.write_many([asked], 6, [prefix])[0]:
        workflow = parse(one.text, asked, WorkflowSyntax(access="binary"))
        assert workflow is not None
        assert {step.worker for step in workflow.steps} == {2}
        assert one.text.startswith(prefix)
    assert writer.prompt_ids(asked, prefix) == engine.prompt_ids(asked, prefix)


def test_a_pool_with_more_workers_than_ids_stays_as_it_was_written() -> None:
    engine = engine_for(small_config())
    few = engine.worker_tokens()
    crowd = tuple(Card(name=f"w{number}") for number in range(len(few) + 1))
    asked = replace(briefs(1)[0], cards=crowd)
    engine.seed(1)
    before = [one.text for one in engine.write_many([asked], 4)[0]]
    engine.seed(1)
    assert [one.text for one in WorkerDraws(engine, PlaceRecord(), 1.0, random.Random(0)).write_many([asked], 4)[0]] == before


def test_a_token_that_was_not_sampled_is_learned_as_if_it_had_been_just_now() -> None:
    now = torch.tensor([[-0.5, -4.0, -0.1]], requires_grad=True)

    def gradient(logprobs: tuple[float, ...], advantage: float) -> list[float]:
        row = TrainingRow(prompt_ids=(1,), completion_ids=(2, 3, 4), logprobs=logprobs, advantage=advantage)
        [batch] = micro_batches([row], [0], tokens=100)
        [moved] = torch.autograd.grad(surrogate(now, batch, clip=0.2), now)
        return [float(value) for value in moved[0]]

    for advantage in (1.5, -0.5):
        assert gradient((-0.5, math.nan, -0.1), advantage) == pytest.approx([-advantage / 3] * 3)
        assert gradient((-0.5, -4.0, -0.1), advantage) == pytest.approx([-advantage / 3] * 3)
