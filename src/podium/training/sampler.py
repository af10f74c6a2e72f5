"""Which problem, which pool, how many rounds: the tasks of an iteration.

A pure function of the recipe, the seed and what was set aside.

Nothing here keeps a random state: iteration i of seed s always draws the same, so that a run resumed after a crash goes on as if
it had not stopped.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from podium.errors import ConfigError
from podium.training.collect import Task
from podium.training.word_dropout import drop_words, mix_words
from podium.types import Card, Problem
from podium.workers.pool import Member, WorkerPool


@dataclass(frozen=True, slots=True, kw_only=True)
class Pools:
    """Which workers a question is shown with (adaptive pools, paper section 3.3).

    ``sizes`` () always shows the whole pool; otherwise each question gets a random subset of one of the sizes. ``shuffled`` puts
    the workers into random order, ``pseudonyms`` hides their names, so that only position and card are left to go by.
    """

    sizes: tuple[int, ...] = ()
    shuffled: bool = False
    pseudonyms: bool = False

    def draw(self, pool: WorkerPool, rng: random.Random) -> WorkerPool:
        """The pool of one question."""
        size = rng.choice(self.sizes) if self.sizes else len(pool)
        if size > len(pool):
            raise ConfigError(f"a pool of {len(pool)} has no subsets of {size}")
        drawn = rng.sample(range(len(pool)), size)
        members = [pool[i] for i in (drawn if self.shuffled else sorted(drawn))]
        if self.pseudonyms:
            members = [Member(worker=m.worker, card=replace(m.card, name=f"worker {i}")) for i, m in enumerate(members)]
        return WorkerPool(members)


@dataclass(slots=True)
class SetAside:
    """Problems that failed wholly, and until which iteration they rest: they cost as much as others and teach nothing.

    The only state of sampling, so it is part of every checkpoint.
    """

    iterations: int = 10
    until: dict[str, int] = field(default_factory=dict)

    def rests(self, problem: Problem, iteration: int) -> bool:
        """Whether ``problem`` is left out of ``iteration``."""
        return self.until.get(problem.id, 0) > iteration

    def strike(self, problem: Problem, iteration: int) -> None:
        """Set ``problem`` aside: no rollout of a whole group was right."""
        self.until[problem.id] = iteration + 1 + self.iterations


@dataclass(slots=True)
class KindCurriculum:
    """Which kinds of question still have something to teach: a kind is drawn the more often the less of it comes out right.

    The curriculum of the run and, like :class:`SetAside`, part of every checkpoint. ``memory`` is the weight of the past in the
    running share of right rollouts, ``floor`` what even a solved kind keeps.
    """

    memory: float = 0.95
    floor: float = 0.25
    correct: dict[str, float] = field(default_factory=dict)

    def weight(self, kind: str) -> float:
        """How often ``kind`` is drawn, relative to the others; 1 before anything is known of it."""
        return 1 + self.floor - self.correct.get(kind, 0.0)

    def entropy_weight(self, kind: str, settled_from: float) -> float:
        """How much of the entropy bonus ``kind`` still gets: all while many of its rollouts fail, none once all are right.

        It falls evenly from a share of ``settled_from`` right on; 1.0 keeps it for every kind. A kind of three steps needs its
        choices open for longer than one of one step, and what is solved is only disturbed by it.
        """
        return 1.0 if settled_from >= 1 else min(1.0, (1 - self.correct.get(kind, 0.0)) / (1 - settled_from))

    def cost_weight(self, kind: str, saving_from: float) -> float:
        """How much of its cost counts for ``kind``: nothing until a share of ``saving_from`` is right, all from halfway to 1 on.

        A group that is right throughout says "shorter is as good", also where the shorter plan fails one question in ten: there
        are nine such groups for each that says otherwise. So a kind first learns to be right, and to save when it is.
        """
        if saving_from <= 0:
            return 1.0
        return min(1.0, max(0.0, (self.correct.get(kind, 0.0) - saving_from) / ((1 - saving_from) / 2)))

    def learn(self, kind: str, share: float) -> None:
        """Take in that ``share`` of a group's rollouts were right."""
        self.correct[kind] = self.memory * self.correct.get(kind, share) + (1 - self.memory) * share


def draw_tasks(
    problems: Sequence[Problem],
    pool: WorkerPool,
    *,
    seed: int,
    iteration: int,
    problems_per_step: int,
    pools: Pools = Pools(),
    set_aside: SetAside | None = None,
    curriculum: KindCurriculum | None = None,
    max_steps: int = 5,
    recursive: float = 0.0,
    word_dropout: float = 0.0,
    word_dropout_max: float = 0.5,
    word_mixing: float = 0.0,
    budgets_usd: Sequence[float] = (),
) -> list[Task]:
    """The tasks of ``iteration``: different problems, and none a second time before every one that is awake was drawn.

    ``recursive`` is the share with a second round, ``word_dropout`` the share of which the policy sees only a part of the words
    (at most ``word_dropout_max`` of them left out), ``word_mixing`` the share of the others that is shown with words of another
    question (:func:`podium.training.word_dropout.mix_words`), and each is told one of ``budgets_usd`` where there are any.
    """
    rng = random.Random(f"tasks {seed} {iteration}")
    different = list({problem.id: problem for problem in problems}.values())
    awake = [p for p in different if set_aside is None or not set_aside.rests(p, iteration)] or different
    chosen: list[Problem] = []
    while len(chosen) < problems_per_step:
        wanted = min(problems_per_step - len(chosen), len(awake))
        chosen += rng.sample(awake, wanted) if curriculum is None else _by_curriculum(awake, wanted, curriculum, rng)
    two_rounds = round(recursive * problems_per_step)

    def seen(question: str) -> str:
        if rng.random() < word_dropout:
            return drop_words(question, rng, word_dropout_max)
        # Without mixing nothing more is drawn, so that a run of before draws the same tasks.
        return mix_words(question, rng.choice(different).question, rng) if word_mixing and rng.random() < word_mixing else ""

    return [
        Task(
            problem=problem,
            pool=pools.draw(pool, rng),
            sample=(seed, iteration, index),
            seen=seen(problem.question),
            budget_usd=rng.choice(budgets_usd) if budgets_usd else None,
            rounds=2 if index < two_rounds else 1,
            max_steps=max_steps,
        )
        for index, problem in enumerate(chosen)
    ]


def _by_curriculum(problems: Sequence[Problem], n: int, curriculum: KindCurriculum, rng: random.Random) -> list[Problem]:
    """``n`` different ones of ``problems``; a kind is drawn by its weight in ``curriculum``, while any of it is left."""
    by_kind: dict[str, list[Problem]] = {}
    for problem in problems:
        by_kind.setdefault(problem.kind, []).append(problem)
    left = {kind: len(each) for kind, each in by_kind.items()}

    def kinds(count: int) -> list[str]:
        return rng.choices(list(left), weights=[curriculum.weight(kind) for kind in left], k=count)

    chosen: dict[str, Problem] = {}
    for drawn in kinds(n):
        kind = drawn if drawn in left else kinds(1)[0]
        problem = rng.choice(by_kind[kind])
        while problem.id in chosen:
            problem = rng.choice(by_kind[kind])
        chosen[problem.id] = problem
        left[kind] -= 1
        if not left[kind]:
            del left[kind]
    return list(chosen.values())


def described(skills: Mapping[str, Mapping[str, float]], pool: WorkerPool) -> WorkerPool:
    """``pool`` with measured skills on its cards. Example: ``described({"atlas": {"compute": 0.99}}, pool)``."""
    return WorkerPool(
        [Member(worker=m.worker, card=_with_skills(m.card, skills[m.name]) if m.name in skills else m.card) for m in pool]
    )


def _with_skills(card: Card, skills: Mapping[str, float]) -> Card:
    return replace(card, skills=tuple(skills.items()))
