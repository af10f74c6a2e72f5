"""Which steps of a running workflow are skipped, what they pass on, and which are needed no more.

Decided from the results alone and in the order of the steps: "unless 2 agree" is settled by the shortest beginning of what a
step sees in which two agree, whoever finishes first. So a workflow says the same however long its workers take, and what comes
later can be left out.

An answer counts once: a skipped step passes on somebody else's, so it adds no voice to an agreement. A failing check is no
answer, and a failure is none either: no fault is taken for a disagreement.
"""

import asyncio
from collections.abc import Mapping, Sequence
from functools import cached_property
from statistics import fmean

from podium.conditions import ALWAYS, Skipped
from podium.errors import Blame, ContextOverflow, UpstreamFailed
from podium.tasks.agreement import Reading, TakesTime
from podium.types import Completion, Failure, Question, StepResult, Workflow
from podium.workers.pool import WorkerPool

_WEIGHT = {Blame.USER: 0, Blame.POLICY: 1, Blame.WORLD: 2}
"""Which of several failures decides; among equals the earliest step's."""


class Deciding:
    """Decides over the ``results`` of one run, which fill while it looks; ``pool`` has the workers that may be passed on.

    ``reading`` is of the same question, for whoever runs many workflows on it and remembers what was read.
    """

    def __init__(
        self,
        workflow: Workflow,
        question: Question,
        results: Mapping[int, StepResult],
        pool: WorkerPool | None = None,
        *,
        reading: Reading | None = None,
    ) -> None:
        self._steps = workflow.steps
        self._pool = pool
        self._question = question
        self._results = results
        self._given = reading
        self._known: dict[tuple[int, ...], tuple[int, ...]] = {}

    @cached_property
    def _reading(self) -> Reading:
        return self._given or Reading(asked_in(self._question))

    async def agreement_soon(self, seen: Sequence[int], count: int) -> Skipped | None:
        """As :meth:`agreement`; formulas that another process has to compare are waited for in a thread."""
        try:
            return self.agreement(seen, count, at_once=True)
        except TakesTime:
            return await asyncio.to_thread(self.agreement, seen, count)

    def agreement(self, seen: Sequence[int], count: int, *, at_once: bool = False) -> Skipped | None:
        """What a step that sees ``seen`` passes on because ``count`` of them agree; None where they do not.

        Raises :class:`TakesTime` where it has to be found out ``at_once`` and takes another process.
        """
        voices: dict[int, int] = {}
        for index in seen:
            if self._answers(index):
                voices.setdefault(self._origin(index), index)
        agreeing = self._agreeing(tuple(voices), count, at_once)
        if not agreeing:
            return None
        best = self._best(agreeing)
        return Skipped(passes_on=voices[best], because=tuple(sorted(voices[origin] for origin in agreeing)))

    def all_well(self, seen: Sequence[int]) -> Skipped | None:
        """What a step that sees ``seen`` passes on because none of them failed or reported a failing check; else None."""
        if any(self.failed(index) or self._completion(index).check_passed is False for index in seen):
            return None
        newest = list(reversed(seen))
        good = (index for index in newest if self._reading.votes([self._completion(index).text]) != [None])
        return Skipped(passes_on=next(good, newest[0]), because=tuple(seen))

    def failed(self, index: int) -> bool:
        """Whether step ``index`` is over without a response; one that was not needed any more did not fail."""
        result = self._results[index]
        return result.failure is not None and result.was_needed

    def caught(self, index: int) -> bool:
        """Whether a step "if failed" may stand in for the failed step ``index``.

        For a fault of the world, and for a call that was too large for its worker. What the user has to mend (a budget, a key)
        ends the run, and a step that can not be done whatever the world does is a lesson for the policy.
        """
        cause = self.root_cause(index)
        return cause.blame is Blame.WORLD or cause.kind == ContextOverflow.__name__

    def hidden(self, seen: Sequence[int]) -> frozenset[int]:
        """Of ``seen``, the steps that have nothing to show: they failed, or pass on what is shown already."""
        shown, hidden = {index for index in seen if index in self._results and self._results[index].skipped is None}, set[int]()
        for index in seen:
            if self.failed(index):
                hidden.add(index)
            elif self._results[index].skipped is not None:
                origin = self._origin(index)
                if origin in shown:
                    hidden.add(index)
                shown.add(origin)
        return frozenset(hidden)

    def not_needed(self) -> list[int]:
        """The unfinished steps that only finished steps would have seen. A step that nobody sees is carried out all the same."""
        seen_by: dict[int, list[int]] = {}
        for index, step in enumerate(self._steps):
            for seen in step.access:
                seen_by.setdefault(seen, []).append(index)
        found: list[int] = []
        for index in range(len(self._steps) - 2, -1, -1):
            over = index not in self._results and all(by in self._results or by in found for by in seen_by.get(index, [index]))
            if over and index in seen_by:
                found.append(index)
        return found

    def cause(self, index: int) -> Failure | None:
        """Why step ``index`` has no response; None where it has one."""
        return None if self._results[index].failure is None else self.root_cause(index)

    def root_cause(self, index: int) -> Failure:
        """The failure that left step ``index`` without an answer: follows "upstream failed" back to where it began.

        Of several, one of the user's ends the run; else one of the policy's counts: it fails whatever the world does.
        """
        found: list[Failure] = []
        behind, seen = [index], {index}
        for each in behind:
            failure = self._results[each].failure
            if failure is None:
                continue
            if failure.kind != UpstreamFailed.__name__:
                found.append(failure)
                continue
            upstream = [before for before in self._steps[each].access if before not in seen and self.failed(before)]
            seen.update(upstream)
            behind += upstream
        return min(found, key=lambda failure: _WEIGHT[failure.blame])

    def _completion(self, index: int) -> Completion:
        completion = self._results[index].completion
        if completion is None:
            raise RuntimeError(f"step {index} gave no response")
        return completion

    def _answers(self, index: int) -> bool:
        result = self._results.get(index)
        return result is not None and result.completion is not None and result.completion.check_passed is not False

    def _origin(self, index: int) -> int:
        """The step whose worker said what ``index`` says."""
        skipped = self._results[index].skipped
        return index if skipped is None else self._origin(skipped.passes_on)

    def _agreeing(self, origins: tuple[int, ...], count: int, at_once: bool) -> tuple[int, ...]:
        """Those of ``origins`` that agree; read once, because the steps of a chain look at the same beginning."""
        key = (count, *origins)
        if key not in self._known:
            texts = [self._completion(origin).text for origin in origins]
            self._known[key] = tuple(origins[place] for place in self._reading.agreed(texts, count, at_once=at_once))
        return self._known[key]

    def _best(self, agreeing: Sequence[int]) -> int:
        """Who of those that agree is passed on: who is right most often where that was measured of all, else the pool's first."""
        skills = {origin: () if self._pool is None else self._pool[self._steps[origin].worker].card.skills for origin in agreeing}
        measured = all(skills.values())
        rates = {origin: fmean(rate for _, rate in each) if measured else 0.0 for origin, each in skills.items()}
        return min(agreeing, key=lambda origin: (-rates[origin], self._steps[origin].worker, origin))


def asked_in(question: Question) -> str:
    """What the user asks, of a whole conversation: the words that answers are read by."""
    return next((message.content for message in reversed(question) if message.role == "user"), "")


def hard(workflow: Workflow) -> frozenset[int]:
    """The steps whose failure leaves the run without an answer, whatever else happens: no condition stands between."""
    found = {len(workflow.steps) - 1}
    for index in range(len(workflow.steps) - 1, -1, -1):
        if index in found and workflow.steps[index].condition == ALWAYS:
            found.update(workflow.steps[index].access)
    return frozenset(found)


def needed(workflow: Workflow) -> frozenset[int]:
    """The last step and every step that it sees, or that one of those sees."""
    found = {len(workflow.steps) - 1}
    for index in range(len(workflow.steps) - 1, -1, -1):
        if index in found:
            found.update(workflow.steps[index].access)
    return frozenset(found)
