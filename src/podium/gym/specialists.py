"""The specialists: rule-based workers with factorised skills.

Every specialist attempts everything, each part of the work at its own level. Five skills, each the probability that the
part comes out right:

- ``reading``     a story into an expression; replaced by a visible plan
- ``recall``      one fact; replaced by a visible fact
- ``arithmetic``  one expression; nothing replaces it, a calculation is done by whoever is asked last
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
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from podium.errors import ConfigError
from podium.gym.chance import Chance, Draw
from podium.gym.expressions import (
    MAX_MAGNITUDE,
    ExpressionError,
    Node,
    Program,
    Value,
    evaluate,
    format_expression,
    format_program,
    leaves,
    references,
)
from podium.gym.facts import FACTS
from podium.gym.mistakes import blunder, bug, differ, edits, misread, misremember, slip
from podium.gym.questions import LETTERS, Asked
from podium.gym.reading import Scene, most_common, scene_of
from podium.gym.world import World
from podium.types import Call, Card, Completion, Usage

CHARACTERS_PER_TOKEN = 4
NOT_GIVEN = "I was not given the question, so there is nothing I can work from."


@dataclass(frozen=True, slots=True, kw_only=True)
class Skills:
    """How often each part of the work comes out right, in 0..1. Example: ``Skills(arithmetic=0.995)``."""

    reading: float = 0.35
    recall: float = 0.3
    arithmetic: float = 0.35
    writing: float = 0.3
    review: float = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A specialist on paper. Example: ``Profile(name="atlas", trade="calculator", skills=Skills(arithmetic=0.995))``.

    ``trade`` is for tables and tests; it is not on the card, which must not tell the policy what it has to find out.
    """

    name: str
    trade: str
    skills: Skills = field(default_factory=Skills)
    prompt_usd: float = 1e-6
    """Dollars per prompt token."""
    completion_usd: float = 4e-6
    """Dollars per completion token."""
    latency_seconds: float = 0.6
    """Seconds before the first token."""
    tokens_per_second: float = 80.0


PROFILES = (
    Profile(name="atlas", trade="calculator", skills=Skills(arithmetic=0.995), latency_seconds=0.4),
    Profile(
        name="brook",
        trade="generalist",
        skills=Skills(reading=0.7, recall=0.6, arithmetic=0.75, writing=0.55, review=0.5),
        prompt_usd=3e-6,
        completion_usd=15e-6,
        latency_seconds=1.2,
        tokens_per_second=60.0,
    ),
    Profile(name="cedar", trade="scholar", skills=Skills(reading=0.4, recall=0.99, writing=0.25)),
    Profile(name="delta", trade="reviewer", skills=Skills(reading=0.4, writing=0.35, review=0.95), latency_seconds=0.9),
    Profile(name="ember", trade="reader", skills=Skills(reading=0.99, recall=0.35, arithmetic=0.4, writing=0.4, review=0.35)),
    Profile(name="fjord", trade="coder", skills=Skills(reading=0.4, arithmetic=0.4, writing=0.85, review=0.45)),
    Profile(
        name="grove",
        trade="apprentice",
        skills=Skills(reading=0.45, recall=0.4, arithmetic=0.45, writing=0.35, review=0.3),
        prompt_usd=1e-7,
        completion_usd=4e-7,
        latency_seconds=0.2,
        tokens_per_second=200.0,
    ),
)
"""The seven of the default world, in pool order."""

_NEEDED = ("generalist", "calculator", "reader", "scholar", "coder", "reviewer", "apprentice")


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
        text = _Attempt(scene, self._level, self._chance, call.sample).text()
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
    kept = {*_NEEDED[:n]}
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


class _Attempt:
    """One specialist at one call."""

    def __init__(self, scene: Scene, level: Mapping[str, float], chance: Chance, sample: tuple[int, ...]) -> None:
        self._asked = scene.asked
        self._verbs = scene.verbs
        self._notes = scene.notes
        self._level = level
        self._chance = chance
        self._sample = sample

    def text(self) -> str:
        """What the specialist says."""
        asked, verbs, notes = self._asked, self._verbs, self._notes
        if verbs == {"report"} and (notes.answers or notes.programs):
            return self._report()
        if asked is None and not notes.plans and not notes.programs:
            return NOT_GIVEN
        if verbs and verbs <= {"plan", "recall"}:
            return self._prepare()
        if asked.kind == "code" if asked else bool(notes.programs):
            return self._program_text()
        return self._solve()

    def _draw(self, skill: str, basis: str) -> Draw:
        return self._chance.draw(skill, basis, self._sample)

    def _report(self) -> str:
        program = most_common(self._notes.programs)
        answer = most_common(self._notes.answers)
        if program is not None and (answer is None or (self._asked is not None and self._asked.kind == "code")):
            return _shown(program)
        return f"Answer: {answer}"

    def _prepare(self) -> str:
        """Plan and facts only."""
        plan = self._own_plan(self._asked) if self._asked else most_common(self._notes.plans)
        lines = []
        if "plan" in self._verbs and plan is not None:
            lines.append(f"Plan: {format_expression(plan)}")
        if "recall" in self._verbs:
            needed = self._needed_facts()
            lines += [f"Fact: {ref} = {self._recalled(ref)}" for ref in needed if ref in FACTS]
            if not needed:
                lines.append("No facts are needed for this one.")
        return "\n".join(lines) or NOT_GIVEN

    def _needed_facts(self) -> tuple[str, ...]:
        visible = most_common(self._notes.plans)
        if visible is not None and (found := references(visible)):
            return found
        return self._asked.references if self._asked else ()

    def _own_plan(self, asked: Asked) -> Node:
        draw = self._draw("reading", asked.text)
        return asked.plan if draw.level < self._level["reading"] else misread(asked.plan, draw.bits)

    def _recalled(self, reference: str) -> Value:
        plan = most_common(self._notes.plans)
        occasion = self._asked.text if self._asked else format_expression(plan) if plan else ""
        draw = self._draw("recall", f"{reference}\x1f{occasion}")
        if draw.level < self._level["recall"]:
            return FACTS[reference]
        return misremember(reference, draw.bits, self._asked.options if self._asked else ())

    def _solve(self) -> str:
        """Plan, facts and result: what is visible is used, the rest is one's own."""
        asked = self._asked
        plan = most_common(self._notes.plans)
        if plan is None:
            if asked is None:
                return NOT_GIVEN
            # Nothing has to be read out of a question that only looks one fact up.
            plan = asked.plan if asked.kind == "choice" else self._own_plan(asked)
        facts: dict[str, Value] = {}
        for reference in references(plan):
            visible = most_common([value for named, value in self._notes.facts if named == reference])
            if visible is not None:
                facts[reference] = visible
            elif reference in FACTS:
                facts[reference] = self._recalled(reference)
            else:
                return f"I do not know what {reference} is, so I can not follow this plan."
        try:
            result = evaluate(plan, facts=facts)
        except ExpressionError as error:
            return f"I can not compute this plan: {error}."
        lines = []
        if plan.args:  # looking one number up takes no arithmetic
            worded = format_expression(plan)
            result = self._computed(plan, f"{worded}\x1f{facts}", result)
            lines.append(f"Plan: {worded}")
        lines += [f"Fact: {reference} = {value}" for reference, value in facts.items()]
        return "\n".join([*lines, f"Answer: {self._chosen(asked, result)}"])

    def _computed(self, plan: Node, basis: str, right: Value) -> Value:
        """The result at one's own level of arithmetic."""
        draw = self._draw("arithmetic", basis)
        if draw.level < self._level["arithmetic"]:
            return right
        if isinstance(right, int):
            return slip(right, draw.bits) if abs(right) < MAX_MAGNITUDE else 0
        others = sorted({str(leaf.value) for leaf in leaves(plan) if leaf.op == "text"} - {right})
        return others[draw.bits % len(others)] if others else right

    def _chosen(self, asked: Asked | None, result: Value) -> Value:
        """A result as an answer: the letter where there are options, a guess where it is none of them."""
        if asked is None or not asked.options:
            return result
        options = asked.options
        return LETTERS[options.index(str(result)) if str(result) in options else self._draw("guess", asked.text).bits % 4]

    def _program_text(self) -> str:
        """A program: the visible draft, reviewed, or one's own."""
        draft = most_common(self._notes.programs)
        if draft is None or self._verbs == {"write"}:
            return self._no_draft(draft)
        if self._asked is None:
            return f"I was not given the question, so I have nothing to check this against.\n{_shown(draft)}"
        return _shown(self._reviewed(draft, self._asked))

    def _no_draft(self, draft: Program | None) -> str:
        if self._asked is not None:
            return _shown(self._written(self._asked))
        return NOT_GIVEN if draft is None else _shown(draft)

    def _written(self, asked: Asked) -> Program:
        """One's own program, from the visible plan where there is one."""
        meant, skill = asked.plan, self._level["writing"]
        plan = most_common(self._notes.plans)
        if plan is not None and not references(plan):
            # Understanding and coding are two halves of the skill; the plan takes the first one off.
            meant, skill = plan, math.sqrt(skill)
        draw = self._draw("writing", f"{format_expression(meant)}\x1f{asked.text}")
        if draw.level < skill:
            body = meant
        elif self._draw("writing closely", asked.text).level < skill:
            body = bug(meant, draw.bits, asked.parameters)
        else:
            body = blunder(meant, draw.bits, asked.parameters)
        return Program(asked.function, asked.parameters, body)

    def _reviewed(self, draft: Program, asked: Asked) -> Program:
        """The draft against the question: a slip is repaired, a misunderstanding written anew, both at one's own level."""
        draw = self._draw("review", f"{format_program(draft)}\x1f{asked.text}")
        sees = draw.level < self._level["review"]
        fits = (draft.name, draft.parameters) == (asked.function, asked.parameters)
        if fits and not differ(draft.body, asked.plan, asked.parameters):
            spoilt = draw.level > 1 - (1 - self._level["review"]) / 10
            return draft._replace(body=bug(draft.body, draw.bits, asked.parameters)) if spoilt else draft
        if fits and edits(draft.body, asked.plan) == 1:
            return draft._replace(body=asked.plan) if sees else draft
        return self._written(asked)


def _shown(program: Program) -> str:
    return f"```python\n{format_program(program)}\n```"
