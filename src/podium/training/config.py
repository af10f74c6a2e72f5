"""What a run is: every choice of a recipe in one value. A recipe is a function that returns one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from podium.errors import ConfigError
from podium.protocols import Verifier
from podium.training.exploration import Exploration
from podium.training.learner_config import LearnerConfig
from podium.training.pretrained import Pretrained
from podium.training.questions import questions_of
from podium.training.sampler import Pools
from podium.training.warm_start import WarmStart
from podium.types import Problem
from podium.workers.pool import WorkerPool
from podium.workflow.syntax import WorkflowSyntax


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainConfig:
    """A run of GRPO. Example: ``recipes/gym.py``.

    Per iteration ``problems_per_step`` problems are drawn and each is answered ``group_size`` times; one optimiser step is taken
    on all of them (the paper: 4 x 64, section 4.1).
    """

    name: str
    problems: Callable[[], Sequence[Problem]]
    """Made when the run starts; the same list every time."""
    pool: Callable[[], WorkerPool] | Path
    """The workers, or the pool file that names them."""
    verifier: Verifier | None = None
    """Judges the answers; None: the verifier of each problem's kind."""
    warm_start: WarmStart | None = None
    """How the start policy is made."""
    start: Path | None = None
    """Folder of a policy to go on from, instead of a warm start."""
    pretrained: Pretrained | None = None
    """A published model to go on from, instead of both; it learns with TRL."""
    syntax: WorkflowSyntax = WorkflowSyntax()
    seed: int = 0
    iterations: int = 200
    problems_per_step: int = 16
    group_size: int = 16
    max_steps: int = 5
    advantage: str = "group_normalised"
    """A name of :data:`podium.training.advantage.ADVANTAGES`. With ``pass_at_4`` costs count among right answers only."""
    reinforced: bool = True
    """Whether what was better than the rest of its group is made likelier. False: only drafts are learned from, such as the texts
    that hindsight calls for (:attr:`podium.training.exploration.Exploration.draft_round`)."""
    learner: LearnerConfig = field(default_factory=LearnerConfig)
    exploration: Exploration = field(default_factory=Exploration)
    pools: Pools = field(default_factory=Pools)
    recursive: float = 0.0
    """Share of the questions that get a second round (paper section 3.3: one half)."""
    discount: float = 0.25
    """What a second round counts for in the joint statistics (paper section 3.3)."""
    curriculum: bool = False
    """Draw kinds of question the more often the less of them comes out right
    (:class:`podium.training.sampler.KindCurriculum`)."""
    word_dropout: float = 0.0
    """Share of the questions of which the policy sees only a part of the words (:mod:`podium.training.word_dropout`)."""
    word_dropout_max: float = 0.5
    """Largest share of its words that is left out."""
    word_mixing: float = 0.0
    """Share of the other questions that are shown with words of another one. They are read as the one or as the other, and only
    the answer tells which was right: for a run that teaches second rounds."""
    held_reading: Callable[[], Sequence[Problem]] = list
    """Questions in other words, of which the policy is held to say what the start takes them for
    (:mod:`podium.training.held_reading`)."""
    cooldown_iterations: int = 10
    """How long a problem rests after a whole group failed."""
    per_usd: float = 0.0
    """What a dollar of worker cost takes off the reward of a right answer; every worker must have a price then."""
    per_step: float = 0.0
    """What a step takes off it, so that what one step can do is not done in three."""
    saving_from: float = 0.0
    """From which share of right rollouts on a kind of question both count
    (:meth:`podium.training.sampler.KindCurriculum.cost_weight`)."""
    drafts: Path | None = None
    """Folder of the untrained policy that forced prefixes and drafts come from; None: the start."""
    budgets_usd: tuple[float, ...] = ()
    """Budgets, one of which each prompt names; a right answer beyond its budget earns no more than a wrong one."""
    max_void: float = 0.5
    """The run stops where the world spoils more than this share of an iteration: that is an outage, not training."""
    concurrency: int = 256
    notes: dict[str, str] = field(default_factory=dict)
    """Free text for people who read the run's folder."""

    @property
    def in_words(self) -> str:
        """What the run does, in a sentence for whoever waits for it."""
        learns = "a published model" if self.pretrained is not None else "a small model"
        begins = "" if self.warm_start is None or self.start else f"first {self.warm_start.steps:,} steps of imitation, then "
        rollouts = self.iterations * self.problems_per_step * self.group_size
        return (
            f"{learns} learns; {begins}{self.iterations:,} iterations of {self.problems_per_step} problems, "
            f"each answered {self.group_size} times ({rollouts:,} rollouts)"
        )


def check_exploration(config: TrainConfig) -> None:
    """Raises :class:`ConfigError`, before anything is paid, where a part of the recipe would do nothing."""
    exploration = config.exploration
    if config.pools.pseudonyms and exploration.drawn_workers.start > 0:
        raise ConfigError(
            "workers can not be drawn by what is known of them where every question gives them other names: leave out "
            "drawn_workers or pseudonyms"
        )
    held_reading = questions_of("held_reading", config.held_reading)
    if config.pretrained is not None and (exploration.draft_round == 2 or held_reading):
        raise ConfigError(
            "a published model is not held where it began, for there is no second copy of it: leave out draft_round = 2 and "
            "held_reading"
        )
    if exploration.draft_round == 2 and held_reading:
        raise ConfigError(
            "with draft_round = 2 first rounds are held as a whole, what they read included: leave out held_reading"
        )
    if exploration.draft_round == 2 and exploration.drawn_workers.start > 0:
        raise ConfigError(
            "with draft_round = 2 first rounds are written as the run began, and nobody is drawn in them: leave out drawn_workers"
        )
    if not config.reinforced and exploration.draft_sft_weight.start <= 0:
        raise ConfigError("a run that is not reinforced learns from drafts alone: give it a draft_sft_weight")
