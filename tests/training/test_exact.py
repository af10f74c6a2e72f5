"""The fast engine against slow and obvious ones: the loss with two loops, the shared prefix row by row."""

import math
from copy import deepcopy

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.policies.qwen2 import Qwen2, Qwen2Config
from podium.policies.sampling import padded
from podium.training.batch import MicroBatch, distinct_prompts, micro_batches, of_like_prompts
from podium.training.grpo import choice_entropy, surrogate
from podium.training.learner import Learner, backward
from podium.training.learner_config import LearnerConfig
from podium.training.rows import TrainingRow

TINY = Qwen2Config(
    vocab_size=40, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2
)
TOKEN = st.integers(0, 39)


@st.composite
def row(draw: st.DrawFn) -> TrainingRow:
    completion = tuple(draw(st.lists(TOKEN, min_size=1, max_size=6)))
    logprobs = tuple(draw(st.lists(st.floats(-4, -0.01), min_size=len(completion), max_size=len(completion))))
    prompt = draw(st.sampled_from([(1,), (1, 2, 3), (4, 5)]))
    choices = tuple(sorted(draw(st.sets(st.integers(0, len(completion) - 1)))))
    return TrainingRow(
        prompt_ids=prompt,
        completion_ids=completion,
        logprobs=logprobs,
        advantage=draw(st.floats(-2, 2)),
        choices=choices,
        workers=draw(st.integers(1, 5)),
    )


ROWS = st.lists(row(), min_size=1, max_size=6)


@given(rows=ROWS, clip=st.floats(0.05, 0.5), seed=st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_surrogate_equals_two_loops(rows: list[TrainingRow], clip: float, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    fast, slow = 0.0, 0.0
    for batch in micro_batches(rows, distinct_prompts(rows)[1], tokens=9):
        logprobs = -3 * torch.rand(batch.tokens.shape, generator=generator)
        fast += float(surrogate(logprobs, batch, clip=clip))
        slow += _slow_surrogate(logprobs, batch, clip)
    assert fast == pytest.approx(slow, abs=1e-5)


def _slow_surrogate(logprobs: torch.Tensor, batch: MicroBatch, clip: float) -> float:
    total = 0.0
    for b in range(len(batch.advantage)):
        gains = []
        for t in range(batch.tokens.shape[1]):
            if bool(batch.mask[b, t]):
                ratio = math.exp(float(logprobs[b, t] - batch.logprobs[b, t]))
                advantage = float(batch.advantage[b])
                gains.append(min(ratio * advantage, max(1 - clip, min(1 + clip, ratio)) * advantage))
        total -= sum(gains) / len(gains) * float(batch.weight[b])
    return total


@given(rows=ROWS, seed=st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_choice_entropy_equals_two_loops(rows: list[TrainingRow], seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    digits = torch.tensor([3, 9, 11, 20, 33])
    fast, slow = 0.0, 0.0
    for batch in micro_batches(rows, distinct_prompts(rows)[1], tokens=9):
        logits = torch.randn(*batch.tokens.shape, 40, generator=generator)
        fast += float(choice_entropy(logits, batch, digits))
        for b in range(len(batch.advantage)):
            for t in range(batch.tokens.shape[1]):
                if bool(batch.choice[b, t]):
                    p = logits[b, t, digits[: int(batch.workers[b])]].softmax(0)
                    entropy = -float((p * p.log()).sum())
                    slow += entropy * float(batch.weight[b]) / int(batch.mask[b].sum())
    assert fast == pytest.approx(slow, abs=1e-5)


@pytest.mark.parametrize("micro_tokens", [1, 7, 1000])
def test_shared_prefix_equals_row_by_row(micro_tokens: int) -> None:
    """Every parameter's gradient, with each prompt read once, is that of reading prompt and completion anew for every row."""
    model = Qwen2(TINY, seed=3)
    for parameter in model.parameters():
        parameter.data.mul_(5)  # away from the flat start, so that every path carries gradient
    rows = [
        TrainingRow(prompt_ids=p, completion_ids=c, logprobs=(-1.0,) * len(c), advantage=a)
        for p, c, a in [((1, 2, 3), (4, 5, 6, 7), 1.0), ((1, 2, 3), (8,), -0.5), ((9,), (10, 11), 2.0), ((1, 2, 3), (4, 5), 0.3)]
        # Prompts of 1, 2 and 3 tokens: those that differ much in length are read apart.
    ]

    def loss(states: torch.Tensor, batch: MicroBatch) -> torch.Tensor:
        logprobs = model.logits(states).log_softmax(-1).gather(2, batch.tokens[..., None])[..., 0]
        return surrogate(logprobs, batch, clip=0.2)

    backward(model, rows, loss, micro_tokens)
    fast = {name: parameter.grad.clone() for name, parameter in model.named_parameters() if parameter.grad is not None}
    model.zero_grad()
    total = torch.zeros(())
    for one in rows:
        prefix = model.prompts(*padded([one.prompt_ids + one.completion_ids[:-1]]))
        assert prefix.last.shape == (1, 32)
        total = total + _plain_loss(model, one) / len(rows)
    total.backward()  # type: ignore[no-untyped-call]
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None
        assert (fast[name] - parameter.grad).norm() <= 1e-4 * parameter.grad.norm(), name


def _plain_loss(model: Qwen2, row: TrainingRow) -> torch.Tensor:
    """The surrogate of one row from one plain causal pass over prompt and completion."""
    empty = model.prompts(torch.tensor([[row.prompt_ids[0]]]), torch.tensor([1]))
    rest = torch.tensor([row.prompt_ids[1:] + row.completion_ids])
    hidden = model.completions(rest, torch.tensor([0]), empty)
    states = torch.cat((empty.last[:, None], hidden), dim=1)[:, len(row.prompt_ids) - 1 : -1]
    logprobs = model.logits(states).log_softmax(-1)[0].gather(1, torch.tensor(row.completion_ids)[:, None])[:, 0]
    ratio = (logprobs - torch.tensor(row.logprobs)).exp()
    return -torch.minimum(ratio * row.advantage, ratio.clamp(0.8, 1.2) * row.advantage).mean()


def test_prompts_that_differ_much_in_length_are_read_apart() -> None:
    rows = [
        TrainingRow(prompt_ids=(1,) * length, completion_ids=(2,), logprobs=(0.0,), advantage=0.0) for length in (9, 2, 4, 20, 3)
    ]
    assert [[len(row.prompt_ids) for row in alike] for alike in of_like_prompts(rows)] == [[2, 3, 4], [9], [20]]


def test_tokens_that_are_only_read_are_not_imitated() -> None:
    model = Qwen2(TINY, seed=1, scaled_start=True)
    with torch.no_grad():
        hidden = model.completions(torch.tensor([[7]]), torch.tensor([0]), model.prompts(*padded([(1,)])))
        expected = -float(model.logits(hidden).log_softmax(-1)[0, 0, 8])
    row = TrainingRow(prompt_ids=(1,), completion_ids=(7, 8), logprobs=(0.0, 0.0), advantage=0.0, unlearned=(0,))
    loss = Learner(model, LearnerConfig(), range(5), steps=10).imitate([row])
    assert loss == pytest.approx(expected, abs=1e-5), "the mean over the one token that is learned"


def test_a_scaled_start_tells_tokens_apart_where_the_usual_one_hardly_does() -> None:
    spread = {}
    for scaled in (False, True):
        with torch.no_grad():
            prefix = Qwen2(TINY, seed=0, scaled_start=scaled).prompts(*padded([(token,) for token in range(1, 9)]))
        spread[scaled] = float(prefix.last.std(dim=0).mean())
    assert spread[True] > 3 * spread[False]


def test_held_at_a_teacher_like_itself_there_is_nothing_to_learn() -> None:
    """Prompts of unlike length are read apart, by both models the same ones."""
    rows = [
        TrainingRow(prompt_ids=tuple(range(1, 1 + length)), completion_ids=(7, 8), logprobs=(0.0,) * 2, advantage=0.0)
        for length in (9, 2, 4)
    ]
    model = Qwen2(TINY, seed=1, scaled_start=True)
    report = Learner(model, LearnerConfig(learning_rate=0.1), range(5), steps=2).step([], held=rows, teacher=deepcopy(model))
    assert report["held_loss"] == pytest.approx(0.0, abs=1e-6)
    assert report["gradient_norm"] == pytest.approx(0.0, abs=1e-4)


def test_a_step_makes_what_was_good_likelier() -> None:
    model = Qwen2(TINY, seed=1)
    learner = Learner(model, LearnerConfig(learning_rate=1e-2, warmup_ratio=0.0), range(5), steps=10)
    good, bad = (7, 8), (9, 10)

    def likelihood(ids: tuple[int, ...]) -> float:
        with torch.no_grad():
            prefix = model.prompts(*padded([(1, 2)]))
            states = torch.cat((prefix.last[:, None], model.completions(torch.tensor([ids[:1]]), torch.tensor([0]), prefix)), 1)
            return float(model.logits(states).log_softmax(-1)[0].gather(1, torch.tensor(ids)[:, None]).sum())

    before = likelihood(good), likelihood(bad)
    uniform = (-math.log(40),) * 2
    learner.step(
        [
            TrainingRow(prompt_ids=(1, 2), completion_ids=good, logprobs=uniform, advantage=1.0),
            TrainingRow(prompt_ids=(1, 2), completion_ids=bad, logprobs=uniform, advantage=-1.0),
        ]
    )
    assert likelihood(good) > before[0]
    assert likelihood(bad) < before[1]


def test_the_learning_rate_rises_falls_and_is_never_zero_at_first() -> None:
    config = LearnerConfig(learning_rate=1.0, warmup_ratio=0.1)
    rates = [config.rate(taken, 100) for taken in range(100)]
    assert rates[0] == pytest.approx(0.1)
    assert max(rates) == rates[9] == pytest.approx(1.0)
    assert rates[-1] < 0.01
    assert rates[9:] == sorted(rates[9:], reverse=True)
