"""The prompted Conductor, tuned: measured cards, examples of found workflows, and advice that evolves.

What it begins with comes of the rollouts that were made anyway. Left out: conditions and votes, which it is not taught here.
"""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any

from podium.conditions import ALWAYS
from podium.extras import need
from podium.policies.prompted_record import PromptedExample, PromptedRecord
from podium.policies.tuned_record import LONGEST, QUESTION, TunedRecord
from podium.policies.voting import VOTE
from podium.tuning.catalogue import SOLVE
from podium.tuning.conducting import Conducted, Makes, conducted, plain, prompted_by
from podium.tuning.search import Search
from podium.tuning.steps import template_of
from podium.tuning.trials import Arm, Bench, Judged
from podium.types import Problem

PROMPTED = "prompted"
"""Its name among the arms of the sealed test."""
START = """\
Look at what each model was measured to be good at, and give a step to a model that is good at its part of the work. Prefer one \
model alone where one is nearly always right at such questions; divide the work where none is. Give the last step to a model \
that can write the whole answer out."""
"""The advice that evolution begins with."""
EXAMPLES, LONGEST_QUESTION = 6, 1_500
"""Kinds with an example, at most, and the characters of its question: the prompt is paid with every question."""
LOOKED_AT = 3
"""Problems of a kind that are tried until the found workflow has one right, which becomes the example."""
FEWEST = 3
"""Problems of a kind that a share right on a card rests on, at least."""
COMPARED, PER_COMPARISON = 40, 30
"""Problems that advice is compared on, at most; and one for so many calls, so that there can be several comparisons."""
LEAST_COMPARED = 8
CALLS_OF_AN_ARM = 4
"""Calls of a prompted Conductor on a sealed problem, as far as is known beforehand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Advised:
    """A tuned prompted Conductor, and what tuning it came to."""

    record: PromptedRecord
    reflector: str
    problems: int
    """Problems that advice was compared on."""
    start_share: float | None
    """Share right on them with the advice it began with; None: not measured."""
    share: float | None
    """With the advice that was kept: the best of ``compared``, so rather too high."""
    compared: int
    """Texts that were compared."""
    dropped: int
    """Reflections without usable advice."""
    ended: str
    """Why it ended early; "" where it did not."""


async def advised(
    bench: Bench,
    search: Search,
    found: TunedRecord,
    problems: Sequence[Problem],
    compared: Sequence[Problem],
    left: Callable[[], float],
    *,
    conductor: str,
    reflector: str,
    seed: int,
) -> Advised:
    """Tune the Conductor that worker ``conductor`` is, on ``problems`` that were searched on; ``compared`` decide.

    Raises :class:`ConfigError` where gepa is not installed.
    """
    need("gepa")
    from podium.tuning.evolving import Advising  # gepa, which only this needs

    names = tuple(name for name in bench.workers.names if name not in bench.given_up)
    kinds = {kind: search.about[kind] or kind for kind in sorted(search.by_kind)}
    examples, used = await _examples(bench, found, kinds, search.by_kind, names)
    start = PromptedRecord(
        conductor=conductor, workers=names, max_steps=LONGEST, attempts=2, advice=START, examples=examples,
        skills=_skills(search, names, bench.workers.names, kinds),
    )  # fmt: skip

    def judge(advice: str, problem: Problem) -> Coroutine[Any, Any, Conducted | None]:
        return conducted(bench, prompted_by(start.model_copy(update={"advice": advice})), problem)

    by_turns = _by_turns(compared, bench.kind_of)[: min(COMPARED, max(LEAST_COMPARED, int(left() / PER_COMPARISON)))]
    advising = Advising(bench, judge, bench.workers.named(reflector).worker, left, most=most_calls(start))
    train = [problem for problem in problems if problem.id not in used]
    came = await advising.evolve(START, train, by_turns, seed=seed)
    return Advised(
        record=start.model_copy(update={"advice": came.best}), reflector=reflector, problems=len(by_turns),
        start_share=came.start_share, share=came.best_share, compared=came.compared, dropped=came.dropped, ended=came.ended,
    )  # fmt: skip


def advised_arms(bench: Bench, found: Advised) -> dict[str, Arm]:
    """For the sealed test: the tuned Conductor, and the same worker with nothing but the language; none where it was not
    measured."""
    if found.share is None:
        return {}

    def arm(makes: Makes) -> Arm:
        async def judged(problem: Problem) -> Judged | None:
            one = await conducted(bench, makes, problem)
            return None if one is None else one.judged

        return Arm(judge=judged, calls=lambda problem: most_calls(found.record))

    return {PROMPTED: arm(prompted_by(found.record)), f"chat:{found.record.conductor}": arm(plain(found.record))}


def most_calls(record: PromptedRecord) -> int:
    """How many calls its Conductor makes for one question at most."""
    return record.attempts + record.max_steps


def _skills(
    search: Search, names: Sequence[str], all_names: Sequence[str], kinds: Mapping[str, str]
) -> dict[str, dict[str, float]]:
    """Worker -> kind -> share right alone, on problems that all workers were asked."""
    right: dict[tuple[str, str], dict[str, bool]] = {}
    for trial in search.trials:
        if len(trial.candidate) == 1 and trial.candidate[0].role == SOLVE:
            right.setdefault((trial.kind, trial.problem), {})[all_names[trial.candidate[0].worker]] = trial.outcome.right
    skills: dict[str, dict[str, float]] = {name: {} for name in names}
    for kind, told in kinds.items():
        asked = [one for (of, _), one in right.items() if of == kind and all(name in one for name in names)]
        for name in names if len(asked) >= FEWEST else ():
            skills[name][told] = round((sum(one[name] for one in asked) + 0.5) / (len(asked) + 1), 3)
    return skills


async def _examples(
    bench: Bench, found: TunedRecord, kinds: Mapping[str, str], problems: Mapping[str, Sequence[Problem]], names: Sequence[str]
) -> tuple[tuple[PromptedExample, ...], set[str]]:
    """For each kind the best workflow that the language can say, on a short problem that it has right; and these problems."""
    sayable = [
        one for one in found.workflows if all(s.worker in names and s.worker != VOTE and s.condition == ALWAYS for s in one.steps)
    ]
    examples, used = list[PromptedExample](), set[str]()
    for kind, told in list(kinds.items())[:EXAMPLES] if sayable else ():
        best = max(sayable, key=lambda one: one.kinds[kind].worth(found.price))
        template = template_of(best.steps, bench.workers.names)
        for problem in sorted(problems[kind], key=lambda p: len(p.question))[:LOOKED_AT]:
            can_pay = len(template.steps) <= bench.allowance.room
            if len(problem.question) > LONGEST_QUESTION or bench.is_exhausted or not can_pay:
                break
            [judged] = await bench.all([bench.judge(template, problem)])
            if judged is not None and judged.right:
                share = best.kinds[kind].right
                reasoning = (
                    f"A question of the kind {told}. Of what was tried on such questions this was best: {share:.0%} right."
                )
                steps = tuple(s.model_copy(update={"subtask": s.subtask.replace(QUESTION, problem.question)}) for s in best.steps)
                examples.append(PromptedExample(question=problem.question, reasoning=reasoning, steps=steps))
                used.add(problem.id)
                break
    return tuple(examples), used


def _by_turns(problems: Sequence[Problem], kind_of: Callable[[Problem], str]) -> list[Problem]:
    """``problems``, one of each kind after the other, so that any beginning holds all kinds."""
    by_kind: dict[str, list[Problem]] = {}
    for problem in problems:
        by_kind.setdefault(kind_of(problem), []).append(problem)
    return [problem for problem in chain.from_iterable(zip_longest(*by_kind.values())) if problem is not None]
