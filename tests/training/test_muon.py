"""Muon: steps that turn every direction of a matrix equally far."""

import torch
from torch import nn

from podium.policies.qwen2 import Qwen2, Qwen2Config
from podium.training.learner import Learner
from podium.training.learner_config import LearnerConfig
from podium.training.muon import Muon, orthogonal
from podium.training.rows import TrainingRow

ROW = TrainingRow(prompt_ids=(1, 2, 3), completion_ids=(4, 5), logprobs=(0.0, 0.0), advantage=0.0)


def test_a_step_keeps_directions_and_makes_them_about_equally_long() -> None:
    generator = torch.Generator().manual_seed(0)
    for rows, columns in ((8, 8), (8, 24), (24, 8)):
        some = torch.randn(3, rows, columns, generator=generator)
        turned = orthogonal(some)
        left, _, right = torch.linalg.svd(some, full_matrices=False)
        lengths = left.mT @ turned @ right.mT
        assert (lengths - torch.diag_embed(lengths.diagonal(dim1=1, dim2=2))).abs().max() < 1e-3, "the same directions"
        assert lengths.diagonal(dim1=1, dim2=2).min() > 0.4
        assert lengths.diagonal(dim1=1, dim2=2).max() < 1.3


def test_how_steep_it_is_does_not_matter_and_matrices_do_not_disturb_each_other() -> None:
    def moved(*slopes: float) -> list[torch.Tensor]:
        matrices = [nn.Parameter(torch.zeros(4, 4)) for _ in slopes]
        for number, (matrix, slope) in enumerate(zip(matrices, slopes, strict=True)):
            matrix.grad = slope * torch.randn(4, 4, generator=torch.Generator().manual_seed(number))
        Muon(matrices, lr=0.1).step()
        return [matrix.detach() for matrix in matrices]

    one, other = moved(1.0, 1.0)
    steep, _ = moved(100.0, 1.0)
    [alone] = moved(1.0)
    torch.testing.assert_close(one, steep, atol=1e-4, rtol=1e-3)
    torch.testing.assert_close(one, alone)
    assert not torch.equal(one, other)


def test_a_learner_that_turns_matrices_goes_on_as_if_nothing_had_happened() -> None:
    def begun() -> tuple[Qwen2, Learner]:
        model = Qwen2(Qwen2Config(vocab_size=16, hidden_size=8, intermediate_size=8, num_hidden_layers=1))
        return model, Learner(model, LearnerConfig(matrix_rate=0.02), [], steps=6)

    straight, learner = begun()
    losses = [learner.imitate([ROW]) for _ in range(6)]
    assert losses[-1] < losses[0]
    model, first = begun()
    for _ in range(3):
        first.imitate([ROW])
    again, second = begun()
    again.load_state_dict(model.state_dict())
    second.restore(first.state())
    for _ in range(3):
        second.imitate([ROW])
    for one, other in zip(straight.parameters(), again.parameters(), strict=True):
        torch.testing.assert_close(one, other)
