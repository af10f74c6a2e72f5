"""What a question is taken for is held: which texts it is held over, and that a run keeps what it would forget."""

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
from podium.training.held_reading import HeldReading
from podium.training.learner import Learner
from podium.training.learner_config import LearnerConfig
from podium.training.monitor import Iteration
from podium.training.pretrained import Pretrained
from podium.training.recipe import fingerprint
from podium.training.rollout import RolloutGroup
from podium.training.rows import TrainingRow
from podium.training.sampler import Pools
from podium.training.schedule import Schedule
from podium.training.trainer import Trainer
from podium.types import Brief
from tests.training.gym_runs import engine_for, gym_pool, small_config, start

QUESTIONS = World().problems(n=60, seed=5)


def _drawn(policy: LocalPolicy, iteration: int) -> list[TrainingRow]:
    return HeldReading(small_config(), gym_pool(), QUESTIONS).rows(policy.prompt_ids, iteration=iteration)


def test_it_is_held_over_whole_questions_and_over_some_put_together_of_two() -> None:
    shown: list[str] = []

    def prompt_ids(brief: Brief) -> Sequence[int]:
        assert brief.cards == gym_pool().cards
        assert brief.max_steps == 3
        assert brief.budget_usd is None
        shown.append(brief.question[-1].content)
        return (len(shown), 9)

    config = replace(small_config(), max_steps=3)
    rows = HeldReading(config, gym_pool(), QUESTIONS).rows(prompt_ids, iteration=0)
    assert [row.prompt_ids[0] for row in rows] == list(range(1, 33))
    assert {row.completion_ids for row in rows} == {(9,)}
    whole = [text for text in shown if text in {problem.question for problem in QUESTIONS}]
    assert 3 <= len(whole) <= 20
    assert len(set(shown)) > 25
    assert HeldReading(config, gym_pool(), []).rows(prompt_ids, iteration=0) == []


def test_held_questions_are_shown_with_the_pools_and_budgets_of_the_run() -> None:
    briefs: list[Brief] = []

    def prompt_ids(brief: Brief) -> Sequence[int]:
        briefs.append(brief)
        return (1,)

    pools = Pools(sizes=(2, 3), shuffled=True, pseudonyms=True)
    config = replace(small_config(), pools=pools, budgets_usd=(0.25, 0.5))
    for iteration in range(4):
        HeldReading(config, gym_pool(), QUESTIONS).rows(prompt_ids, iteration=iteration)
    assert {len(brief.cards) for brief in briefs} == {2, 3}
    assert {brief.cards[0].name for brief in briefs} == {"worker 0"}
    assert len({brief.cards[0].prompt_usd for brief in briefs}) > 1
    assert {brief.budget_usd for brief in briefs} == {0.25, 0.5}


def test_every_iteration_and_every_run_holds_other_questions_and_a_run_that_goes_on_the_same() -> None:
    policy = start()

    def held(seed: int, iteration: int) -> list[TrainingRow]:
        return HeldReading(small_config(seed=seed), gym_pool(), QUESTIONS).rows(policy.prompt_ids, iteration=iteration)

    assert held(0, 0) == held(0, 0)
    for other in (held(0, 1), held(1, 0)):
        assert len({row.prompt_ids for row in held(0, 0)} & {row.prompt_ids for row in other}) < 16


def test_a_mixture_that_is_too_long_gives_way_to_one_of_its_questions() -> None:
    one, other = (replace(QUESTIONS[0], question=text) for text in ("anticonstitutionally a " * 9, "a anticonstitutionally " * 9))
    longest = max(len(one.question), len(other.question))

    def prompt_ids(brief: Brief) -> Sequence[int]:
        if len(brief.question[-1].content) > longest:
            raise ConfigError("too long")
        return (1,)

    held = HeldReading.of(replace(small_config(), held_reading=lambda: [one, other]), gym_pool(), prompt_ids)
    assert len([row for iteration in range(20) for row in held.rows(prompt_ids, iteration=iteration)]) == 20 * 32


def test_the_weight_of_holding_is_that_of_one_token() -> None:
    """Beside a mean over rows stands the mean divergence, and its gradient, once and not a tenth or tenfold."""
    policy, rows = start(), _drawn(start(), 1)
    model = deepcopy(policy.model)
    with torch.no_grad():
        model.model.norm.weight.mul_(1.5)
    alone = deepcopy(model)
    prompts, lengths = padded([list(row.prompt_ids) for row in rows])
    with torch.no_grad():
        before = policy.model.logits(policy.model.prompts(prompts, lengths).last).log_softmax(dim=-1)
    now = alone.logits(alone.prompts(prompts, lengths).last).log_softmax(dim=-1)
    expected = (before.exp() * (before - now)).sum(dim=-1).mean()
    expected.backward()  # type: ignore[no-untyped-call]
    norm = torch.stack([each.grad.norm() for each in alone.parameters() if each.grad is not None]).norm()
    report = Learner(model, LearnerConfig(), policy.tokens.worker_ids(), steps=1).step([], held=rows, teacher=policy.model)
    assert report["held_loss"] == pytest.approx(float(expected.detach()), rel=1e-3)
    assert report["gradient_norm"] == pytest.approx(float(norm), rel=1e-3)
    assert report["gradient_norm"] > 1e-3


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


@pytest.mark.parametrize(
    ("held", "told"),
    [
        ([replace(QUESTIONS[0], question="ants " * 3000)], "'ants ants .* room for .* leave it out"),
        (["How many legs?"], "held_reading has to make a list of podium.Problem"),
        (None, "held_reading has to make a list of podium.Problem"),
    ],
)
def test_held_questions_that_can_not_be_read_are_refused_before_anything_is_paid(tmp_path: Path, held: Any, told: str) -> None:
    config = small_config(iterations=2)
    folder = RunFolder(tmp_path, fingerprint(config))
    broken = replace(config, held_reading=lambda: held)
    with pytest.raises(ConfigError, match=told):
        Trainer(broken, engine_for(broken), engine_for(broken), gym_pool(), folder)


def test_a_run_of_second_rounds_holds_whole_texts_and_says_so(tmp_path: Path) -> None:
    exploration = Exploration(draft_sft_weight=Schedule(start=1.0, hold=1.0), draft_round=2)
    config = replace(small_config(iterations=2), exploration=exploration, held_reading=lambda: QUESTIONS)
    folder = RunFolder(tmp_path, fingerprint(config))
    with pytest.raises(ConfigError, match="held as a whole, what they read included: leave out held_reading"):
        Trainer(config, engine_for(config), engine_for(config), gym_pool(), folder)
