"""Rows -> tensors, in micro-batches of similar length so that little is computed on padding.

Shapes: Q distinct prompts, B rows, T completion tokens.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from podium.training.rows import TrainingRow


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """Rows side by side; everything (B, T) is padded on the right and ``mask`` says what is real and learned.

    ``owner`` (B,) is each row's prompt in :class:`Prompts`, ``advantage`` (B,), ``choice`` (B, T) marks worker ids, ``workers``
    (B,) counts what could be chosen, ``weight`` (B,) is what a row counts for (1 / rows of the whole batch).
    """

    tokens: Tensor
    mask: Tensor
    owner: Tensor
    logprobs: Tensor
    advantage: Tensor
    choice: Tensor
    workers: Tensor
    weight: Tensor
    topic: Tensor
    """(B, T), what the choice at this position is about; -1 where nothing is said."""


def distinct_prompts(rows: Sequence[TrainingRow]) -> tuple[list[tuple[int, ...]], list[int]]:
    """Each prompt once, in order of appearance, and for every row the index of its own."""
    index: dict[tuple[int, ...], int] = {}
    owners = [index.setdefault(row.prompt_ids, len(index)) for row in rows]
    return list(index), owners


def of_like_prompts(rows: Sequence[TrainingRow]) -> Iterator[list[TrainingRow]]:
    """All rows, those together whose prompts are at most twice as long as the shortest: the rest would be padding."""
    left = sorted(rows, key=lambda row: len(row.prompt_ids))
    while left:
        most = 2 * len(left[0].prompt_ids)
        alike = [row for row in left if len(row.prompt_ids) <= most]
        yield alike
        left = left[len(alike) :]


def micro_batches(
    rows: Sequence[TrainingRow], owners: Sequence[int], *, tokens: int, of: int | None = None
) -> Iterator[MicroBatch]:
    """All rows, longest last, at most ``tokens`` padded completion tokens at a time; a part of ``of`` rows (None: all)."""
    order = sorted(range(len(rows)), key=lambda i: (len(rows[i].completion_ids), i))
    start = 0
    while start < len(order):
        stop = start + 1
        while stop < len(order) and (stop + 1 - start) * len(rows[order[stop]].completion_ids) <= tokens:
            stop += 1
        chosen = order[start:stop]
        yield _tensors([rows[i] for i in chosen], [owners[i] for i in chosen], 1 / (of or len(rows)))
        start = stop


def _tensors(rows: Sequence[TrainingRow], owners: Sequence[int], weight: float) -> MicroBatch:
    width = max(len(row.completion_ids) for row in rows)
    tokens = torch.zeros(len(rows), width, dtype=torch.long)
    mask = torch.zeros(len(rows), width, dtype=torch.bool)
    logprobs = torch.zeros(len(rows), width)
    choice = torch.zeros(len(rows), width, dtype=torch.bool)
    topic = torch.full((len(rows), width), -1)
    for index, row in enumerate(rows):
        length = len(row.completion_ids)
        tokens[index, :length] = torch.tensor(row.completion_ids)
        mask[index, :length] = True
        mask[index, list(row.unlearned)] = False
        logprobs[index, :length] = torch.tensor(row.logprobs)
        choice[index, list(row.choices)] = True
        if row.topics:
            topic[index, list(row.choices)] = torch.tensor(row.topics)
    return MicroBatch(
        tokens=tokens,
        mask=mask,
        owner=torch.tensor(owners),
        logprobs=logprobs,
        advantage=torch.tensor([row.advantage for row in rows]),
        choice=choice,
        workers=torch.tensor([row.workers for row in rows]),
        weight=torch.full((len(rows),), weight),
        topic=topic,
    )
