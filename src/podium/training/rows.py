"""Rollouts -> rows: what any engine needs to learn from a turn, and nothing else.

A row is one completion with its prompt, the log-probabilities it was sampled with, its advantage, and where in it a worker id
is written. The reference engine and TRL are handed the same rows.
"""

import random
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from podium.training.rollout import RolloutGroup
from podium.types import Brief
from podium.workflow.parse import ACCESS, CONDITIONS, WORKER_IDS


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRow:
    """One completion to learn from.

    Example: ``TrainingRow(prompt_ids=(1, 2), completion_ids=(7, 8), logprobs=(-0.1, -0.5), advantage=1.2, choices=(0,),
    workers=3)``.
    """

    prompt_ids: tuple[int, ...]
    completion_ids: tuple[int, ...]
    """(T,), the end token included where the policy wrote it."""
    logprobs: tuple[float, ...]
    """(T,) as sampled; NaN where the policy did not draw the token (:mod:`podium.training.worker_draws`)."""
    advantage: float
    choices: tuple[int, ...] = ()
    """Positions in the completion at which a worker id is written."""
    workers: int = 0
    """How many workers there were to choose from."""
    topics: tuple[int, ...] = ()
    """What each choice is about, for imitation (:mod:`podium.training.imitation`); else ()."""
    unlearned: tuple[int, ...] = ()
    """Positions in the completion of tokens that are read and not learned."""


def rows_of(
    groups: Iterable[RolloutGroup],
    pieces: Callable[[Sequence[int]], list[str]],
    is_open: Callable[[RolloutGroup], bool] = lambda group: True,
) -> list[TrainingRow]:
    """One row for each turn that has a reward. ``pieces`` gives the text of each token.

    Where workers are chosen is marked, for the entropy bonus, in the groups that are still ``is_open``.
    """
    rows = []
    for group in groups:
        marked = is_open(group)
        for rollout in group.rollouts:
            for turn in rollout.turns:
                if turn.reward is None:
                    continue
                rows.append(
                    TrainingRow(
                        prompt_ids=turn.prompt_ids,
                        completion_ids=turn.generation.token_ids,
                        logprobs=turn.generation.logprobs,
                        advantage=turn.advantage,
                        choices=worker_positions(pieces(turn.generation.token_ids)) if marked else (),
                        workers=len(group.brief.cards),
                    )
                )
    return rows


def draft_rows(
    drafts: Iterable[tuple[Brief, str]],
    prompt_ids: Callable[[Brief, str], Sequence[int]],
    pieces: Callable[[Sequence[int]], list[str]],
    *,
    keep_access: bool = False,
    whole: bool = False,
) -> list[TrainingRow]:
    """Drafts, each with the brief it was written for, as texts to be kept likely.

    What is learned stays free to change, and stands in ``choices``: the worker ids, and where it is decided what a step sees
    (with ``keep_access`` that is kept likely, too) and when it is carried out. With ``whole`` nothing is free.
    """
    rows = []
    for brief, text in drafts:
        prompt = tuple(prompt_ids(brief, ""))
        draft = tuple(prompt_ids(brief, text))[len(prompt) :]
        if draft:
            written = pieces(draft)
            access = set() if keep_access else _access_positions(written)
            free = () if whole else tuple(sorted({*worker_positions(written), *access, *_condition_positions(written)}))
            rows.append(
                TrainingRow(prompt_ids=prompt, completion_ids=draft, logprobs=(0.0,) * len(draft), advantage=0.0, choices=free)
            )
    return rows


def steps_of(rows: Sequence[TrainingRow], *, minibatches: int, epochs: int, seed: int) -> list[list[TrainingRow]]:
    """The rows of each optimiser step of an iteration.

    In each of ``epochs`` passes the prompts are shared out anew among ``minibatches`` steps, so that a group is never divided.
    """
    prompts = list(dict.fromkeys(row.prompt_ids for row in rows))
    minibatches = min(minibatches, len(prompts))
    order = random.Random(seed)
    shares: list[set[tuple[int, ...]]] = []
    for _ in range(epochs):
        order.shuffle(prompts)
        shares += [set(prompts[number::minibatches]) for number in range(minibatches)]
    return [[row for row in rows if row.prompt_ids in share] for share in shares]


def worker_positions(pieces: Sequence[str]) -> tuple[int, ...]:
    """The tokens that are a worker id: digits in the last list of workers of the text that ``pieces`` make up."""
    span = _last_span("".join(pieces), WORKER_IDS)
    return tuple(index for index, at in _starts(pieces) if span[0] <= at < span[1] and pieces[index].isdecimal())


def _access_positions(pieces: Sequence[str]) -> set[int]:
    """The tokens with which an item of the access list begins: [] or "all"."""
    text = "".join(pieces)
    first, last = _last_span(text, ACCESS)
    items = [match.start(1) for match in re.finditer(r"(?:^|,)\s*+(\[|\")", text[first:last])]
    return {index for index, at in _starts(pieces) if any(at <= first + item < at + len(pieces[index]) for item in items)}


def _condition_positions(pieces: Sequence[str]) -> set[int]:
    """The tokens with which a condition begins: its quote and its first letter, which may be one token or two."""
    text = "".join(pieces)
    first, last = _last_span(text, CONDITIONS)
    begins = [first + match.start() for match in re.finditer(r"\"\w", text[first:last])]
    return {index for index, at in _starts(pieces) if any(at <= b < at + len(pieces[index]) for q in begins for b in (q, q + 1))}


def _starts(pieces: Sequence[str]) -> list[tuple[int, int]]:
    """Each token's index and where in the text it begins."""
    return list(enumerate(accumulate((len(piece) for piece in pieces[:-1]), initial=0)))


def _last_span(text: str, pattern: str) -> tuple[int, int]:
    """Group 1 of the last match of ``pattern``; an empty span where there is none."""
    spans = [match.span(1) for match in re.finditer(pattern, text)]
    return spans[-1] if spans else (0, 0)
