"""Who is tried in which place: workers of some rollouts are drawn by what is known of them, not by the policy.

A plan of four steps pays only once four workers are right together. A policy that chooses each of them at random gets there in
one rollout of hundreds, and settles on whoever is above average everywhere before it has found the others. How often rollouts
were right by who took which place of which plan says more than the policy takes from it in one update. So in a share of every
group's rollouts each place is filled by Thompson sampling (W. R. Thompson, 1933; D. Russo and others, arXiv 1707.02038): for
every worker a share right is drawn from the beta distribution of that place, and whoever has the highest is taken. All else is
the policy's.
These rollouts are compared with the others of their group and learned from like them.

A plan is known by the first line of its text, as for forced prefixes.
"""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from podium.training.collect import Writer
from podium.training.rollout import RolloutGroup
from podium.training.rows import worker_positions
from podium.types import Brief, Generation

NOT_SAMPLED = math.nan
"""Stands for the log-probability of a token that the policy did not draw."""
_LEAST = 0.5
"""Rollouts below which a place is forgotten."""
_UNKNOWN = 0.3
"""Share right that is expected of a plan nobody has tried."""
_PRIOR = 2.0
"""Rollouts that what is expected of a plan counts for."""


class Tokens(Writer, Protocol):
    """What is needed of an engine to write another worker id into a text."""

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """The text of each token."""
        ...

    def worker_tokens(self) -> Sequence[int]:
        """The token of each worker id, as far as it has one of its own."""
        ...


@dataclass(slots=True)
class PlaceRecord:
    """How often rollouts came out right: by plan, and by plan, place and worker. What is long ago counts less.

    Example: ``PlaceRecord().drawn("Story: plan, compute.", 0, ["atlas", "cedar"], random.Random(0))``.
    """

    memory: float = 0.97
    """What an iteration leaves of the counts before it: teammates change, and with them what a worker's place is worth."""
    places: dict[str, list[dict[str, list[float]]]] = field(default_factory=dict)
    """Plan -> place -> worker -> right ones and wrong ones."""

    def learn(self, groups: Sequence[RolloutGroup]) -> None:
        """Take in an iteration's first rounds. What the world spoilt and what was no workflow says nothing of workers."""
        self._forget()
        for group in groups:
            names = [card.name for card in group.brief.cards]
            for turn in (rollout.turns[0] for rollout in group.rollouts):
                workflow = turn.transcript.workflow
                if turn.reward is None or workflow is None:
                    continue
                places = self.places.setdefault(plan_of(group.forced_prefix or turn.generation.text), [])
                places += [{} for _ in range(len(workflow.steps) - len(places))]
                for place, step in zip(places, workflow.steps, strict=False):
                    place.setdefault(names[step.worker], [0.0, 0.0])[0 if turn.correct else 1] += 1

    def drawn(self, plan: str, place: int, names: Sequence[str], rng: random.Random) -> int:
        """The position in ``names`` of who is to take this place of ``plan``."""
        places = self.places.get(plan, [])
        expected = _share(places[0]) if places else _UNKNOWN
        known: Mapping[str, Sequence[float]] = places[place] if place < len(places) else {}

        def share(name: str) -> float:
            right, wrong = known.get(name, (0.0, 0.0))
            return rng.betavariate(_PRIOR * expected + 0.1 + right, _PRIOR * (1 - expected) + 0.1 + wrong)

        shares = [share(name) for name in names]
        return max(range(len(names)), key=shares.__getitem__)

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        return dict(self.places)

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what :meth:`state` returned."""
        self.places = {
            str(plan): [{str(name): [float(r), float(w)] for name, (r, w) in place.items()} for place in places]
            for plan, places in state.items()
        }

    def _forget(self) -> None:
        for plan, places in list(self.places.items()):
            for place in places:
                for name, counts in list(place.items()):
                    place[name] = [self.memory * count for count in counts]
                    if sum(place[name]) < _LEAST:
                        del place[name]
            if not any(places):
                del self.places[plan]


@dataclass(frozen=True, slots=True)
class WorkerDraws:
    """A writer of which some completions get other workers. Example: ``WorkerDraws(engine, record, 0.25, rng)``.

    ``share`` of the completions of a brief do; ``record`` says who.
    """

    engine: Tokens
    record: PlaceRecord
    share: float
    rng: random.Random

    def prompt_ids(self, brief: Brief, forced_prefix: str = "") -> Sequence[int]:
        """As the engine's."""
        return self.engine.prompt_ids(brief, forced_prefix)

    def write_many(self, briefs: Sequence[Brief], n: int, forced_prefixes: Sequence[str] = ()) -> list[list[Generation]]:
        """As the engine's; the first ``share`` of each brief's with the workers that were drawn."""
        prefixes = forced_prefixes or [""] * len(briefs)
        changed = int(self.share * n)
        return [
            [self._with_drawn(one, brief, prefix) for one in row[:changed]] + row[changed:]
            for row, brief, prefix in zip(self.engine.write_many(briefs, n, prefixes), briefs, prefixes, strict=True)
        ]

    def _with_drawn(self, written: Generation, brief: Brief, prefix: str) -> Generation:
        """``written`` with other worker ids, where it has some and there is a token for every worker."""
        tokens, names = self.engine.worker_tokens(), [card.name for card in brief.cards]
        pieces = self.engine.pieces(written.token_ids)
        places = worker_positions(pieces)
        if len(names) > len(tokens) or prefix + "".join(pieces) != written.text or any(
            pieces[at].isdecimal() and pieces[at + 1 : at + 2] and pieces[at + 1].isdecimal() for at in places
        ):  # fmt: skip
            return written
        ids, logprobs, plan = list(written.token_ids), list(written.logprobs), plan_of(written.text)
        for place, at in enumerate(places):
            ids[at] = tokens[self.record.drawn(plan, place, names, self.rng)]
            if ids[at] != written.token_ids[at]:
                logprobs[at] = NOT_SAMPLED
        return replace(written, token_ids=tuple(ids), logprobs=tuple(logprobs), text=prefix + "".join(self.engine.pieces(ids)))


def plan_of(text: str) -> str:
    """The first line, which names the plan."""
    return text.partition("\n")[0]


def _share(place: Mapping[str, Sequence[float]]) -> float:
    """Of the rollouts that had this place, how many were right."""
    right, wrong = (sum(counts[index] for counts in place.values()) for index in (0, 1))
    return right / (right + wrong) if right + wrong else _UNKNOWN
