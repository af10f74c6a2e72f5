"""Where matrices have a rate of their own, a learner has two optimisers and goes on with both."""

import torch

from podium.policies.qwen2 import Qwen2, Qwen2Config
from podium.training.learner import Learner
from podium.training.learner_config import LearnerConfig
from podium.training.rows import TrainingRow

ROW = TrainingRow(prompt_ids=(1, 2, 3), completion_ids=(4, 5), logprobs=(0.0, 0.0), advantage=0.0)


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
