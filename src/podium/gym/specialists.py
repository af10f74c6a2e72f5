"""The specialists: rule-based workers with factorised skills.

Every specialist attempts everything, each part of the work at its own level (:mod:`podium.gym.profiles` says who is good
at what, :mod:`podium.gym.attempt` how the work is done). Five skills, each the probability that the part comes out right:

- ``reading``     a story into an expression; replaced by a visible plan
- ``recall``      one fact; replaced by a visible fact
- ``arithmetic``  one expression; nothing replaces it, a calculation is done by the worker that is asked last
- ``writing``     a program from its specification; with a visible plan only half of the work is left (probability the
  square root of the skill). A failed program is off by one node with probability ``writing``, else wholly wrong.
- ``review``      repair of a visible program that is one node off; a worse one has to be written anew, at one's own level
  of writing. A right program is spoilt with a tenth of the probability of overlooking a fault.

So reviewing mends programs and nothing else: asked to verify a number, a specialist works it out again from the visible
plan and facts with its own arithmetic. What a subtask asks for decides what is written (:mod:`podium.gym.subtasks`): a
plan call leaves only a plan. What a specialist can not see it can not use, and without question, plan or draft it says so.

Chance is a hash (:mod:`podium.gym.chance`): the same call always gets the same completion, and specialists err
independently of one another.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from podium.errors import ConfigError
from podium.gym.attempt import Attempt
from podium.gym.chance import Chance
from podium.gym.profiles import NEEDED, PROFILES, Profile, Skills
from podium.gym.reading import scene_of
from podium.gym.world import World
from podium.types import Call, Card, Completion, Usage

CHARACTERS_PER_TOKEN = 4


class Specialist:
    """One rule-based worker. Example: ``await Specialist(PROFILES[0], world)(Call.plain("..."))``.

    ``noise`` is the share of draws that another ``call.sample`` redraws (:mod:`podium.gym.chance`). ``seconds`` of a
    completion comes from the profile; ``sleep_scale`` times that is really slept. Tokens are counted as characters / 4;
    ``call.sampling.max_tokens`` cuts the text there (``finish_reason`` ``length``).
    """

    def __init__(self, profile: Profile, world: World, *, noise: float = 0.5, sleep_scale: float = 0.0) -> None:
        self.profile = profile
        self.card = Card(
            name=profile.name,
            about="a worker of the gym",
            prompt_usd=profile.prompt_usd,
            completion_usd=profile.completion_usd,
        )
        self._level = {
            skill: getattr(profile.skills, skill) ** world.difficulty
            for skill in ("reading", "recall", "arithmetic", "writing", "review")
        }
        self._chance = Chance(seed=world.seed, name=profile.name, noise=noise)
        self._sleep_scale = sleep_scale

    @property
    def name(self) -> str:
        """The name on the card."""
        return self.profile.name

    async def __call__(self, call: Call) -> Completion:
        """Carry out the call."""
        completion = self.complete(call)
        if self._sleep_scale:
            await asyncio.sleep(completion.seconds * self._sleep_scale)
        if call.on_token is not None:
            for line in completion.text.splitlines(keepends=True):
                call.on_token(line)
        return completion

    def complete(self, call: Call) -> Completion:
        """The completion at once, for callers without an event loop; nothing is slept or streamed."""
        scene = scene_of(call)
        text = Attempt(scene, self._level, self._chance, call.sample).text()
        finish_reason = "stop"
        limit = call.sampling.max_tokens
        if limit is not None and _tokens(len(text)) > limit:
            text, finish_reason = text[: max(0, limit) * CHARACTERS_PER_TOKEN], "length"
        prompt, completion = _tokens(scene.characters), _tokens(len(text))
        profile = self.profile
        return Completion(
            text=text,
            finish_reason=finish_reason,
            usage=Usage(
                prompt_tokens=prompt,
                completion_tokens=completion,
                cost_usd=prompt * profile.prompt_usd + completion * profile.completion_usd,
            ),
            seconds=profile.latency_seconds + completion / profile.tokens_per_second,
            price_source="gym",
        )


def specialists(
    world: World,
    n: int = len(PROFILES),
    *,
    skills: Mapping[str, Mapping[str, float]] | None = None,
    noise: float = 0.5,
    sleep_scale: float = 0.0,
) -> list[Specialist]:
    """``n`` specialists of ``world`` in pool order.

    Fewer than seven keeps the most needed trades (generalist first, apprentice last); more adds further apprentices.
    ``skills`` overrides by name, e.g. ``{"atlas": {"reading": 0.9}}``. Raises :class:`ConfigError` for ``n`` below 1, an
    unknown name or skill, and a skill or noise outside 0..1.
    """
    if n < 1:
        raise ConfigError(f"the gym needs at least one worker, not {n}")
    if not 0 <= noise <= 1:
        raise ConfigError(f"noise is a share in 0..1, not {noise}")
    kept = {*NEEDED[:n]}
    profiles = [profile for profile in PROFILES if profile.trade in kept]
    apprentice = PROFILES[-1]
    profiles += [replace(apprentice, name=f"grove-{i}") for i in range(2, n - len(PROFILES) + 2)]
    return [Specialist(p, world, noise=noise, sleep_scale=sleep_scale) for p in _overridden(profiles, skills or {})]


def _overridden(profiles: Sequence[Profile], skills: Mapping[str, Mapping[str, float]]) -> list[Profile]:
    names = [profile.name for profile in profiles]
    for name, levels in skills.items():
        if name not in names:
            raise ConfigError(f"no specialist is named {name!r}; there are {', '.join(names)}")
        for skill, level in levels.items():
            if skill not in Skills.__slots__:
                raise ConfigError(f"no skill is called {skill!r}; there are {', '.join(Skills.__slots__)}")
            if not 0 <= level <= 1:
                raise ConfigError(f"{skill} of {name} is a probability in 0..1, not {level}")
    return [replace(p, skills=replace(p.skills, **skills.get(p.name, {}))) for p in profiles]


def _tokens(characters: int) -> int:
    return -(-characters // CHARACTERS_PER_TOKEN)
