"""The gym's recipe with one thing changed at a time: the counterpart of the paper's ablations (its tables 9 to 11 and figure 7).

    podium train recipes/gym_ablations.py:no_subtasks
    podium train recipes/gym_ablations.py:all_or_nothing    access to everything or nothing instead of by position
    podium train recipes/gym_ablations.py:one_worker        the whole pool replaced by the best single worker
    podium train recipes/gym_ablations.py:sure_start        a start that has only seen whole questions
    podium train recipes/gym_ablations.py:forgetful_start   a start that does not say what a step is about
    podium train recipes/gym_ablations.py:large             0.9 M parameters
    podium train recipes/gym_ablations.py:cost_100          a reward that counts dollars; also cost_0, _30, _300, _1000

Each takes as long as the recipe itself. ``podium evaluate recipes/gym_ablations.toml`` compares them.
"""

from dataclasses import replace
from functools import partial

from podium.recipes import gym
from podium.training.config import TrainConfig
from podium.workers.pool import Member, WorkerPool
from podium.workflow.syntax import WorkflowSyntax

BEST = "ember"
"""The best single worker of the gym."""


def no_subtasks(seed: int = 0) -> TrainConfig:
    """Workers and access only; every worker is told to solve the question (paper, Table 10)."""
    return replace(gym.config(seed), name="gym-no-subtasks", syntax=WorkflowSyntax(access="positions", subtasks=False))


def all_or_nothing(seed: int = 0) -> TrainConfig:
    """A step sees everything before it or nothing (paper, Table 11)."""
    return replace(gym.config(seed), name="gym-all-or-nothing", syntax=WorkflowSyntax(access="binary"))


def one_worker(seed: int = 0) -> TrainConfig:
    """Seven times the same worker: what subtasks and access bring without any choice of workers (paper, section 5.3)."""
    return replace(gym.config(seed), name="gym-one-worker", pool=seven_of_one)


def seven_of_one() -> WorkerPool:
    """The best single worker under seven names."""
    [best] = [worker for worker in gym.WORKERS if worker.name == BEST]
    return WorkerPool([Member(worker=best, card=replace(best.card, name=worker.name)) for worker in gym.WORKERS])


def sure_start(seed: int = 0) -> TrainConfig:
    """Nothing is ever left out of a question, in imitation and after: in the place of few-shot variants (paper, Table 9)."""
    usual = gym.config(seed)
    return replace(
        usual, name="gym-sure-start", word_dropout=0.0, warm_start=replace(gym.warm_start(seed), word_dropout=0.0, mixed=0.0)
    )


def forgetful_start(seed: int = 0) -> TrainConfig:
    """The start is not asked what a step is about (:mod:`podium.training.imitation`)."""
    return replace(gym.config(seed), name="gym-forgetful-start", warm_start=replace(gym.warm_start(seed), topics=()))


def large(seed: int = 0) -> TrainConfig:
    """0.9 M parameters instead of 0.16 M, at half the learning rate (paper, Figure 7: 3B against 7B)."""
    usual = gym.config(seed)
    learner = replace(usual.learner, learning_rate=1e-3)
    return replace(usual, name="gym-large", learner=learner, warm_start=replace(gym.warm_start(seed), size={}))


def _counting_dollars(seed: int = 0, *, per_usd: int) -> TrainConfig:
    """Steps count nothing, and a right answer loses a thousandth of ``per_usd`` per tenth of a cent."""
    return replace(gym.config(seed), name=f"gym-cost-{per_usd}", per_usd=float(per_usd), per_step=0.0, saving_from=0.0)


cost_0, cost_30, cost_100, cost_300, cost_1000 = (partial(_counting_dollars, per_usd=each) for each in (0, 30, 100, 300, 1000))
