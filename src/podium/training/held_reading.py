"""What a question is taken for is held where the run began: reward teaches plans and workers, and reading it makes worse.

The start has read questions in many words, most of them put together of two. A run sees those of its own templates alone, so what
else the start can read is forgotten while plans are learned (docs/log.md, "Reading is held"). Therefore every update draws the
policy to the start's distribution of a text's first token, which names the kind, over other questions. They are never answered.
(Li and Hoiem 2016, arXiv 1606.09282, "Learning without Forgetting".)
"""

import random
from collections.abc import Callable, Sequence

from podium.training.rows import TrainingRow
from podium.training.word_dropout import mix_words
from podium.types import Brief, Card, Problem, ask

_EACH = 32
"""Questions per iteration."""
_MIXED = 0.75
"""Share of them that are put together of two, as in the start."""


def first_tokens(
    questions: Sequence[Problem],
    cards: Sequence[Card],
    prompt_ids: Callable[[Brief], Sequence[int]],
    rng: random.Random,
    *,
    max_steps: int,
) -> list[TrainingRow]:
    """Rows of one token over which the policy is to be held, for ``questions`` drawn by ``rng``; none where there are none.

    Which token it is does not matter: held is the whole distribution at the end of the prompt.
    """
    rows = []
    for _ in range(_EACH if questions else 0):
        one, other = rng.choices(questions, k=2)
        shown = mix_words(one.question, other.question, rng) if rng.random() < _MIXED else one.question
        prompt = tuple(prompt_ids(Brief(question=ask(shown), cards=tuple(cards), max_steps=max_steps)))
        rows.append(TrainingRow(prompt_ids=prompt, completion_ids=prompt[-1:], logprobs=(0.0,), advantage=0.0))
    return rows
