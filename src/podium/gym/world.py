"""The world: its workers, and seeded problems of every kind in three splits that share no text.

``train`` and ``held_out_numbers`` use the same two thirds of the templates. Which side a question is on is a hash of what it
is about: of the facts it needs, where it needs any, else of its text. So a held-out multiple-choice question asks for a fact
that no training question asks for, and held-out stories combine things that were never together. ``held_out_templates`` uses
the other third of the templates, and of those only such other facts and combinations.
"""

import json
import random
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Literal, get_args

from podium.errors import ConfigError
from podium.gym.drawing import draw_profiles
from podium.gym.expressions import ExpressionError, Program, Value, evaluate, parse, run
from podium.gym.facts import FACTS, TABLES
from podium.gym.kinds import KINDS
from podium.gym.profiles import Profile
from podium.gym.questions import LETTERS, ParsedQuestion, search_question, slots_of
from podium.gym.templates import TEMPLATES, held_out
from podium.gym.templates.template import PARAMETERS, WORDS, Template
from podium.types import Problem

Split = Literal["train", "held_out_numbers", "held_out_templates"]
SPLITS: tuple[Split, ...] = get_args(Split)

TESTS = 8
"""Tests per function problem."""
WORKERS = 7
"""How many workers the usual world has."""
DRAWN_FAIR = (0.7, 0.76)
"""How well the fair worker of a drawn world does every part. The weaker he is, the more constant workflows hold one kind whole
instead of asking him often, and the more a router has to choose from (docs/log.md)."""
_TRIES = 400
"""Failed fillings in a row after which a template counts as used up."""
_HELD_OUT = 4
"""One in so many facts, combinations and texts is held out."""


def split_named(name: str) -> Split:
    """The split called ``name``. Raises :class:`ConfigError`."""
    for split in SPLITS:
        if split == name:
            return split
    raise ConfigError(f"there is no split {name!r}; the gym has {', '.join(SPLITS)}")


class World:
    """A gym world. Example: ``World().problems(kinds=("story",), split="train", n=100)``.

    ``difficulty`` is the power to which every level in this world is raised: 0 makes everyone perfect, 1 is the usual world, 2 a
    much harder one. ``seed`` selects the problems and decides who errs where. ``profiles`` are its workers.

    Raises :class:`ConfigError` for a negative difficulty.
    """

    def __init__(self, *, difficulty: float = 1.0, seed: int = 0, profiles: Sequence[Profile] = ()) -> None:
        if not difficulty >= 0:
            raise ConfigError(f"a difficulty is 0 or more, not {difficulty}")
        self.difficulty = difficulty
        self.seed = seed
        self.profiles = tuple(profiles) or PROFILES

    def problems(self, *, kinds: Sequence[str] = KINDS, split: Split = "train", n: int, seed: int = 0) -> list[Problem]:
        """``n`` different problems, the ``kinds`` taking turns; the same arguments always give the same list.

        Raises :class:`ConfigError` for an unknown kind or split, and where a kind has fewer different problems.
        """
        unknown = [kind for kind in kinds if kind not in TEMPLATES]
        if unknown or not kinds:
            raise ConfigError(f"unknown kind {unknown[0]!r}; the gym has {', '.join(TEMPLATES)}" if unknown else "name a kind")
        split = split_named(split)
        streams = {kind: self._stream(kind, split, seed) for kind in dict.fromkeys(kinds)}
        problems = []
        for i in range(n):
            problem = next(streams[kinds[i % len(kinds)]], None)
            if problem is None:
                raise ConfigError(f"there are not {n} different problems of {kinds} in {split}; ask for fewer")
            problems.append(problem)
        return problems

    def _stream(self, kind: str, split: Split, seed: int) -> Iterator[Problem]:
        """Different problems of one kind, the templates taking turns, until all are used up."""
        rng = random.Random(f"{self.seed}/{seed}/{kind}/{split}")
        positions = [i for i in range(len(TEMPLATES[kind])) if held_out(i) == (split == "held_out_templates")]
        rng.shuffle(positions)
        seen: set[str] = set()
        while positions:
            for position in list(positions):
                for _ in range(_TRIES):
                    made = _problem(kind, position, split, rng)
                    if made is not None and made.question not in seen:
                        seen.add(made.question)
                        yield made
                        break
                else:
                    positions.remove(position)


def draw_world(seed: int, *, difficulty: float = 1.0) -> World:
    """Another world of the same nature: 5 to 12 workers, their levels, habits and prices drawn from ``seed``."""
    workers = random.Random(f"world {seed}").randint(5, 12)
    return World(difficulty=difficulty, seed=seed, profiles=draw_profiles(seed, workers, DRAWN_FAIR))


def _problem(kind: str, position: int, split: Split, rng: random.Random) -> Problem | None:
    """One problem, or None where the random filling gives no good question or one of another split."""
    template = TEMPLATES[kind][position]
    slots = _filled(template, rng)
    if len({slots[s] for s in slots if slots[s] in WORDS["name"]}) < ("name" in slots) + ("other" in slots):
        return None
    tables = {s: f for s, f in template.slots.items() if isinstance(f, str) and f in TABLES}
    if len({slots[slot] for slot in tables}) < len(tables):
        return None
    if "{A}" in template.text:
        slots |= _options_for(FACTS[f"{tables['e']}({slots['e']})"], tables["e"], rng)
    text = template.text.format_map(slots)
    about = " ".join(sorted(f"{table}({slots[slot]})" for slot, table in tables.items())) or text
    if held_out_matter(about) != (split != "train") and (tables or split != "held_out_templates"):
        return None
    asked = search_question(text)
    if asked is None or asked.kind != kind or asked.text != text:
        raise ValueError(f"a template of {kind} can not be read back: {text}")
    target = _target_of(asked, rng)
    return None if target is None else Problem(question=text, target=target, kind=kind, source="gym", split=split)


def held_out_matter(about: str) -> bool:
    """Whether questions about this are kept out of training: ``about`` are the facts that one needs, in order, or its text.

    Example: ``held_out_matter("legs(ants) pieces_in(dozen)")``.
    """
    return blake2b(about.encode(), digest_size=2).digest()[0] % _HELD_OUT == 0


def _filled(template: Template, rng: random.Random) -> dict[str, Value]:
    """A value for every slot. Slots are drawn in order; worked-out numbers may use those before them."""
    slots: dict[str, Value] = {}
    later: list[tuple[str, str]] = []
    for slot, filling in template.slots.items():
        if not isinstance(filling, str):
            slots[slot] = rng.randint(*filling)
        elif filling.startswith("="):
            later.append((slot, filling[1:]))
        else:
            slots[slot] = rng.choice(list(TABLES[filling]))
    for slot, formula in later:
        slots[slot] = evaluate(parse(formula), slots)
    parameters = dict(zip("xyz", rng.choice(PARAMETERS), strict=True))
    for slot in slots_of(template):
        if slot in parameters and slot not in slots:
            slots[slot] = parameters[slot]
        elif slot in WORDS and slot not in slots:
            slots[slot] = rng.choice(WORDS[slot])
    return slots


def _options_for(right: Value, table: str, rng: random.Random) -> dict[str, Value]:
    others = sorted({value for value in TABLES[table].values() if value != right}, key=str)
    options = [right, *rng.sample(others, 3)]
    rng.shuffle(options)
    return dict(zip(LETTERS, options, strict=True))


def _target_of(parsed: ParsedQuestion, rng: random.Random) -> str | None:
    """What counts as the right answer to ``asked``; None for a useless question."""
    if parsed.function:
        return _tests(Program(parsed.function, parsed.parameters, parsed.plan), rng)
    value = evaluate(parsed.plan, facts=FACTS)
    if parsed.options:
        return LETTERS[parsed.options.index(str(value))]
    # A result of 0 or below would make a story absurd, one of many digits tests nothing more.
    return str(value) if isinstance(value, str) or 0 < value < 10**8 else None


def _tests(program: Program, rng: random.Random) -> str | None:
    cases: list[tuple[list[int], int]] = []
    for i in range(TESTS):
        arguments = [rng.randint(*((0, 6) if i < 2 else (-15, 40))) for _ in program.parameters]
        try:
            cases.append((arguments, run(program, tuple(arguments))))
        except ExpressionError:
            return None
    return json.dumps({"name": program.name, "cases": cases}, separators=(",", ":"))


PROFILES = draw_profiles(0, WORKERS)
"""The workers of the usual world."""
