"""The workers of a world, ready to be called: rule-based, with a level for each part of each kind of question, and with habits.

None is handed an answer: everything is read from the text of the call (:mod:`podium.gym.scene`), done part by part
(:mod:`podium.gym.attempt`) and written down as text. Chance is a hash, so the same call always gets the same
completion.
"""

import asyncio

from podium.errors import ConfigError
from podium.gym.attempt import Attempt
from podium.gym.chance import Chance
from podium.gym.profiles import Profile
from podium.gym.scene import Scene, scene_of
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
        habits = profile.habits
        self._difficulty = world.difficulty
        self._chance = Chance(seed=world.seed, name=profile.name, noise=noise, family=habits.family, shared=habits.shared)
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
        text = self.response(scene, call.sample)
        finish_reason = "stop"
        limit = call.sampling.max_tokens
        if limit is not None and _tokens(len(text)) > limit:
            text, finish_reason = text[: max(0, limit) * CHARACTERS_PER_TOKEN], "length"
        completion = _tokens(len(text))
        return Completion(
            text=text,
            finish_reason=finish_reason,
            usage=Usage(
                prompt_tokens=_tokens(scene.characters),
                completion_tokens=completion,
                cost_usd=self.cost_usd(scene.characters, len(text)),
            ),
            seconds=self.profile.latency_seconds + completion / self.profile.tokens_per_second,
            price_source="gym",
        )

    def response(self, scene: Scene, sample: tuple[int, ...]) -> str:
        """What is written in a situation that has been read already."""
        return Attempt(scene, self.profile, self._chance, sample, self._difficulty).text()

    def cost_usd(self, shown: int, written: int) -> float:
        """Dollars for so many characters."""
        return _tokens(shown) * self.profile.prompt_usd + _tokens(written) * self.profile.completion_usd


def specialists(world: World, *, noise: float = 0.5, sleep_scale: float = 0.0) -> list[Specialist]:
    """The workers of ``world`` in pool order. Raises :class:`ConfigError` for a noise outside 0..1."""
    if not 0 <= noise <= 1:
        raise ConfigError(f"noise is a share in 0..1, not {noise}")
    return [Specialist(profile, world, noise=noise, sleep_scale=sleep_scale) for profile in world.profiles]


def _tokens(characters: int) -> int:
    return -(-characters // CHARACTERS_PER_TOKEN)
