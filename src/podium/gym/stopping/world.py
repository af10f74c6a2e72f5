"""The world for steps with a condition: whom two cheap workers can be trusted to agree with differs by the kind of question.

For each kind of number question two cheap workers are right three times in four, independently of each other, and wrong in many
different ways: where they agree they are right. The other two are weak at it, and each makes its mistakes together with one of
the good ones, so that an agreement with it says nothing. One worker is dear and nearly always right. On multiple choice one
cheap worker is enough, and others agree on wrong letters. What a right answer is worth in dollars is :data:`WORTH_USD`.

A worker that is told to answer "on your own" uses nothing of what it sees (:mod:`podium.gym.matters`).
"""

from podium.gym.kinds import PARTS, home
from podium.gym.profiles import Habits, Profile
from podium.gym.specialists import specialists
from podium.gym.world import World

KINDS = ("story", "price", "choice")
"""The kinds of question of this world."""
PAIRS = {"story": ("atlas", "brook"), "price": ("cedar", "delta")}
"""Kind -> the two cheap workers whose agreement can be trusted."""
SCHOLAR = "brook"
"""The cheap worker that knows what multiple choice asks."""
DEAR = "ember"
"""The worker that is nearly always right."""
WORTH_USD = 0.005
"""Dollars that one more right answer may cost: about six calls of the dear worker."""

_FAMILIES = {"atlas": "river", "brook": "wood", "cedar": "river", "delta": "wood", "ember": ""}
"""Who makes mistakes together."""
_SHARED = 0.9
_GOOD, _WEAK, _SURE = 0.75, 0.3, 0.985
"""How often a whole answer is right."""
_DEARER_TO_READ, _DEARER_TO_WRITE = 4.0, 36.0
"""How many times the price of the others the dear worker asks for what it reads and for what it writes, where it thinks."""


def _level(name: str, kind: str) -> float:
    if name == DEAR or (kind == "choice" and name == SCHOLAR):
        return _SURE
    return _GOOD if name in PAIRS.get(kind, ()) else _WEAK


def _profile(name: str) -> Profile:
    parts = {kind: PARTS[home(kind)] for kind in KINDS}
    reads, writes = (_DEARER_TO_READ, _DEARER_TO_WRITE) if name == DEAR else (1.0, 1.0)
    return Profile(
        name=name,
        # A whole answer takes all parts, so each has its share of the level.
        levels={(kind, part): _level(name, kind) ** (1 / len(each)) for kind, each in parts.items() for part in each},
        habits=Habits(distracted=0.002, needs_words=0.0, family=_FAMILIES[name], shared=_SHARED if _FAMILIES[name] else 0.0),
        prompt_usd=reads * 5e-7,
        completion_usd=writes * 2.5e-6,
    )


WORLD = World(seed=17, profiles=[_profile(name) for name in _FAMILIES])
"""The world; its problems are ``WORLD.problems(kinds=KINDS, ...)``."""
_NOISE = 0.2
"""Share of its luck that a worker draws anew when it is asked again. Real models asked twice are equally right in 88 to 93 % of
the questions, so hearing the same worker twice says little; at this share workers right three times in four are in 86 %."""
WORKERS = specialists(WORLD, noise=_NOISE)
"""Four cheap workers and a dear one."""
