"""Second rounds: taught by what became of the first, which is held in place meanwhile."""

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
import torch

from podium.errors import ConfigError
from podium.gym import GymVerifier
from podium.training.checkpoint import RunFolder
from podium.training.collect import Collector, Task
from podium.training.exploration import Exploration
from podium.training.hindsight import AsItBegan, first_rounds, hindsight
from podium.training.monitor import Iteration
from podium.training.recipe import fingerprint
from podium.training.rollout import RolloutGroup
from podium.training.sampler import draw_tasks
from podium.training.schedule import Schedule
from podium.training.trainer import Trainer
from podium.training.word_dropout import mix_words
from podium.types import Brief, Card, Generation, Problem, ask
from podium.workers.pool import Member, WorkerPool
from podium.workers.scripted import Scripted
from podium.workflow.parse import parse
from podium.workflow.syntax import WorkflowSyntax
from tests.training.gym_runs import engine_for, gym_pool, small_config, start

PROBLEM = Problem(question="What is 6 times 7? Answer with a number.", target="42", kind="word", source="test")
ONE = 'model_id = [0]\nsubtasks = ["Answer."]\naccess_list = [[]]'
OTHER = 'Again.\nmodel_id = [0]\nsubtasks = ["Multiply."]\naccess_list = [[]]'
SYNTAX = WorkflowSyntax()


class Writes:
    """Writes one text for everything, and remembers what it was shown."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.seen: list[Brief] = []

    def write_many(self, briefs: Sequence[Brief], n: int, forced_prefixes: Sequence[str] = ()) -> list[list[Generation]]:
        self.seen += briefs
        return [[Generation(text=self._text, token_ids=(1, 2), logprobs=(-0.1, -0.2))] * n for _ in briefs]

    def prompt_ids(self, brief: Brief, forced_prefix: str = "") -> Sequence[int]:
        return [len(brief.previous_rounds), *range(len(forced_prefix))]


def task(answer: str, *, rounds: int = 2) -> Task:
    pool = WorkerPool([Member(worker=Scripted(answer), card=Card(name="w0"))])
    return Task(problem=PROBLEM, pool=pool, sample=(0, 0), rounds=rounds, seen="times")


async def test_what_was_right_is_kept_and_what_was_wrong_planned_anew() -> None:
    collector = Collector(verifier=GymVerifier(), syntax=SYNTAX)
    tasks = [task(f"Answer: {answer}") for answer in ("42", "41", "42", "42")]
    groups = await collector.collect(Writes(ONE), tasks, 3)
    writer = Writes(OTHER)
    found = hindsight(groups, writer, SYNTAX)
    kept, anew = found[:6], found[6:]
    assert len(anew) == 3, "twice as many of nine right ones as of three wrong ones"
    assert all(parse(text, brief, SYNTAX) is None for brief, text in kept)
    assert [text for _, text in anew] == [OTHER, "Again.\n", "Again.\n"], "of most the first line alone"
    assert {brief.question for brief, _ in found} == {ask("times")}
    assert {(brief.question, brief.previous_rounds) for brief in writer.seen} == {(ask(PROBLEM.question), ())}, "it sees it all"
    assert {brief.previous_rounds[0].answer for brief, _ in kept} == {"Answer: 42"}
    assert {brief.previous_rounds[0].answer for brief, _ in anew} == {"Answer: 41"}
    assert hindsight(groups[:1], Writes(OTHER), SYNTAX) == [], "nothing was wrong"
    once = await collector.collect(Writes(ONE), [task("Answer: 41", rounds=1), task("Answer: 42", rounds=1)], 1)
    assert len(hindsight(once, writer, SYNTAX)) == 2, "no second round is needed to know what it should have been"


@pytest.mark.parametrize("text", [ONE, "no workflow"])
async def test_the_plan_that_failed_is_not_taught_again(text: str) -> None:
    collector = Collector(verifier=GymVerifier(), syntax=SYNTAX)
    groups = await collector.collect(Writes(ONE), [task("Answer: 41"), task("Answer: 42")], 1)
    assert hindsight(groups, Writes(text), SYNTAX) == []


async def test_first_rounds_are_those_of_the_start() -> None:
    before, now = Writes(ONE), Writes(OTHER)
    groups = await Collector(verifier=GymVerifier(), syntax=SYNTAX).collect(AsItBegan(before, now), [task("Answer: 41")], 2)
    assert [[turn.generation.text for turn in rollout.turns] for rollout in groups[0].rollouts] == [[ONE, OTHER]] * 2
    texts = [text for _, text in first_rounds(groups * 4)]
    assert texts == [ONE, *["model_id = [0]\n"] * 3] * 2, "of most texts the first line alone"
    assert [len(brief.previous_rounds) for brief in (*before.seen, *now.seen)] == [0, 1, 1]


def test_a_mixed_question_has_words_of_both_in_their_places() -> None:
    one, two = "a b c d e f g h", "1 2 3 4 5 6"
    mixed = [mix_words(one, two, random.Random(seed), longest=2).split() for seed in range(300)]
    places = {word: at for text in (one, two) for at, word in enumerate(text.split())}
    assert all(places[before] < places[after] for words in mixed for before, after in pairwise(words))
    assert one.split() in mixed
    assert two.split() in mixed
    assert sum(any(map(str.isdecimal, words)) and any(map(str.isalpha, words)) for words in mixed) > 150
    assert all(mixed), "something is always left"


def test_questions_are_mixed_where_the_recipe_says_so() -> None:
    problems = [replace(PROBLEM, question=f"q{number} " * 12) for number in range(40)]
    tasks = draw_tasks(problems, task("").pool, seed=0, iteration=0, problems_per_step=40, word_mixing=0.5)
    assert 10 <= sum(bool(each.seen) for each in tasks) <= 30
    assert any(len(set(each.seen.split())) == 2 for each in tasks)


async def test_a_run_that_is_not_reinforced_learns_from_hindsight_and_first_rounds_alone(tmp_path: Path) -> None:
    config = replace(
        small_config(iterations=2),
        group_size=1,
        problems_per_step=12,
        recursive=1.0,
        reinforced=False,
        word_mixing=0.8,
        exploration=Exploration(draft_sft_weight=Schedule(start=1.0, hold=1.0), draft_round=2),
    )
    engine, seen, folder = engine_for(config), list[Iteration](), RunFolder(tmp_path / "run", fingerprint(config))

    def on_iteration(iteration: Iteration, groups: Sequence[RolloutGroup]) -> None:
        seen.append(iteration)

    await Trainer(config, engine, engine_for(config), gym_pool(), folder, on_iteration=on_iteration).run()
    assert [each.learning["loss"] for each in seen] == [0.0, 0.0], "no reward is learned from"
    assert seen[0].learning["held_loss"] < 1e-6 < seen[1].learning["held_loss"], "held where it began"
    before, after = start().model.state_dict(), engine.policy.model.state_dict()
    assert any(not torch.equal(before[key], after[key]) for key in before)


@pytest.mark.parametrize(
    ("reinforced", "exploration", "said"),
    [
        (False, Exploration(), "give it a draft_sft_weight"),
        (True, Exploration(drawn_workers=Schedule(start=0.5), draft_round=2), "leave out drawn_workers"),
    ],
)
def test_what_would_do_nothing_is_refused_before_anything_is_paid(
    tmp_path: Path, reinforced: bool, exploration: Exploration, said: str
) -> None:
    config = replace(small_config(iterations=2), reinforced=reinforced, exploration=exploration)
    folder = RunFolder(tmp_path, fingerprint(config))
    with pytest.raises(ConfigError, match=said):
        Trainer(config, engine_for(config), engine_for(config), gym_pool(), folder)
