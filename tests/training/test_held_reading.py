"""What a question is taken for is held: which texts it is held over, and that a run keeps what it would forget."""

import random
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from podium.errors import ConfigError
from podium.gym import World
from podium.policies.local import LocalPolicy
from podium.policies.sampling import padded
from podium.training.checkpoint import RunFolder
from podium.training.exploration import Exploration
from podium.training.held_reading import first_tokens
from podium.training.learner import Learner
from podium.training.learner_config import LearnerConfig
from podium.training.monitor import Iteration
from podium.training.pretrained import Pretrained
from podium.training.recipe import fingerprint
from podium.training.rollout import RolloutGroup
from podium.training.rows import TrainingRow
from podium.training.schedule import Schedule
from podium.training.trainer import Trainer
from podium.types import Brief, Card
from tests.training.gym_runs import engine_for, gym_pool, small_config, start

CARDS = tuple(Card(name=f"worker {number}") for number in range(7))
QUESTIONS = World().problems(n=60, seed=5)


def _drawn(policy: LocalPolicy, seed: int) -> list[TrainingRow]:
    return first_tokens(QUESTIONS, CARDS, policy.prompt_ids, random.Random(seed), max_steps=5)


def test_it_is_held_over_whole_questions_and_over_some_put_together_of_two() -> None:
    shown: list[str] = []

    def prompt_ids(brief: Brief) -> Sequence[int]:
        assert brief.cards == CARDS
        assert brief.max_steps == 3
        shown.append(brief.question[-1].content)
        return (len(shown), 9)

    rows = first_tokens(QUESTIONS, CARDS, prompt_ids, random.Random(0), max_steps=3)
    assert [row.prompt_ids[0] for row in rows] == list(range(1, 33))
    assert {row.completion_ids for row in rows} == {(9,)}
    whole = [text for text in shown if text in {problem.question for problem in QUESTIONS}]
    assert 3 <= len(whole) <= 20
    assert len(set(shown)) > 25
    assert first_tokens([], CARDS, prompt_ids, random.Random(0), max_steps=3) == []


def test_what_a_policy_would_forget_of_other_questions_is_kept() -> None:
    policy = start()
    [learned] = _drawn(policy, 1)[:1]
    # Taught to begin that one prompt with the end of a text, which no start does; others follow it, unless they are held.
    forced = replace(learned, completion_ids=(policy.tokens.end,))
    tested = _drawn(policy, 2)

    def drift(held_over: Sequence[TrainingRow]) -> float:
        model = deepcopy(policy.model)
        learner = Learner(model, LearnerConfig(learning_rate=1e-3), policy.tokens.worker_ids(), steps=12)
        for _ in range(12):
            learner.step([], drafts=[forced], draft_sft_weight=1.0, held=held_over, teacher=policy.model)
        prompts, lengths = padded([list(row.prompt_ids) for row in tested])
        with torch.no_grad():
            before = policy.model.logits(policy.model.prompts(prompts, lengths).last).log_softmax(dim=-1)
            now = model.logits(model.prompts(prompts, lengths).last).log_softmax(dim=-1)
        return float((before.exp() * (before - now)).sum(dim=-1).mean())

    assert drift(_drawn(policy, 3)) < 0.5 * drift([])


async def test_a_run_holds_it_in_every_update_and_only_where_the_recipe_says_so(tmp_path: Path) -> None:
    config = small_config(iterations=2)

    async def losses(name: str, questions: Sequence[object]) -> list[float | None]:
        asked = replace(config, held_reading=lambda: list(questions))  # type: ignore[arg-type]
        seen: list[Iteration] = []

        def on_iteration(iteration: Iteration, groups: Sequence[RolloutGroup]) -> None:
            seen.append(iteration)

        folder = RunFolder(tmp_path / name, fingerprint(asked))
        await Trainer(asked, engine_for(asked), engine_for(asked), gym_pool(), folder, on_iteration=on_iteration).run()
        return [each.learning.get("held_loss") for each in seen]

    [first, second] = await losses("held", QUESTIONS)
    assert first is not None
    assert second is not None
    assert first >= 0
    assert second > 0
    assert await losses("free", []) == [None, None]


@pytest.mark.parametrize(
    "change",
    [
        {"held_reading": lambda: QUESTIONS},
        {"exploration": Exploration(draft_sft_weight=Schedule(start=1.0, hold=1.0), draft_round=2)},
    ],
)
def test_a_published_model_that_can_not_be_held_is_refused_before_anything_is_paid(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    config = replace(small_config(iterations=2), pretrained=Pretrained(model="a/model"))
    Trainer(config, engine_for(config), engine_for(config), gym_pool(), RunFolder(tmp_path / "free", fingerprint(config)))
    held = replace(config, **change)
    with pytest.raises(ConfigError, match="leave out draft_round = 2 and held_reading"):
        Trainer(held, engine_for(held), engine_for(held), gym_pool(), RunFolder(tmp_path / "held", fingerprint(held)))
