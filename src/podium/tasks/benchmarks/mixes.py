"""Training sets by recipe: so many problems of each of some sets, none of them in the test sets.

A recipe names, for each part, what to take instead where a set is not at hand. A substitute is only used if the caller
allows it, and the result says so line by line: a number taken on a substitute is not the paper's number.

Which problems are chosen depends on the seed and on each problem alone (a hash of both), so that a set that gains a
problem changes at most one choice.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from podium.errors import ConfigError
from podium.tasks.benchmarks.hygiene import fingerprint
from podium.types import Problem

Loader = Callable[[str, str], list[Problem]]
"""(set, split) -> problems; raises :class:`ConfigError` where they are not at hand. ``functools.partial`` of ``load``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Example: ``Part(name="math", split="train", count=240)``."""

    name: str
    split: str
    count: int
    instead: tuple[tuple[str, str], ...] = ()
    """(set, split) to take where this one is not at hand, best first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """A recipe. Example: ``Mix(name="small", parts=(Part(name="gsm8k", split="train", count=50),))``."""

    name: str
    parts: tuple[Part, ...]
    held_out: tuple[tuple[str, str], ...] = ()
    """(set, split) of which no question may be in the mix; one that is not at hand is named in the result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MixtureSample:
    """What a recipe gave. Example: ``draw(PAPER_960, loader, seed=0).lines`` is to be printed next to every result."""

    problems: tuple[Problem, ...]
    lines: tuple[str, ...]
    """One sentence per part, substitutes and dropped questions named."""
    faithful: bool
    """Whether no substitute was used and every held-out set was there to compare with."""


PAPER_960 = Mix(
    name="paper-960",
    parts=(
        Part(name="math", split="train", count=240),
        Part(name="mmlu", split="val", count=240),
        Part(name="rlpr", split="train", count=240, instead=(("theoremqa", "test"), ("scibench", "test"))),
        Part(name="livecodebench", split="v1", count=240, instead=(("leetcode", "train"), ("mbpp", "train"))),
    ),
    held_out=(
        ("math500", "test"),
        ("mmlu", "test"),
        ("livecodebench", "v6"),
        ("aime25", "test"),
        ("gpqa-diamond", "test"),
        ("bigcodebench-hard", "test"),
    ),
)
"""The training set of the paper (section 4.1): 960 problems of MATH, MMLU, RLPR and LiveCodeBench V1.

Ours, because the paper does not say: 240 of each, drawn at random and not "for difficulty", MMLU from its validation split.
"""


def draw(mix: Mix, loader: Loader, *, seed: int = 0, substitutes: bool = False) -> MixtureSample:
    """The problems of ``mix``, part after part.

    Example: ``draw(PAPER_960, lambda name, split: load(name, split=split, data_dir="data"), substitutes=True)``.

    Raises :class:`ConfigError` where a part is not at hand (and ``substitutes`` does not help), or has too few problems
    once those of the held-out sets are taken away.
    """
    found = [_find(part, loader, substitutes) for part in mix.parts]
    held_out: list[Problem] = []
    absent = []
    for name, split in mix.held_out:
        try:
            held_out += loader(name, split)
        except ConfigError:
            absent.append(f"{name} {split}")
    taken = {fingerprint(problem) for problem in held_out}
    chosen: list[Problem] = []
    lines: list[str] = []
    faithful = not absent
    for part, (name, split, problems, reason) in zip(mix.parts, found, strict=True):
        fresh: dict[str, Problem] = {}
        for problem in problems:
            if (asked := fingerprint(problem)) not in taken:
                fresh.setdefault(asked, problem)
        if len(fresh) < part.count:
            raise ConfigError(
                f"{mix.name} wants {part.count} problems of {name} {split}; {len(fresh)} are left of {len(problems)}"
            )
        picked = sorted(fresh.items(), key=lambda item: hashlib.sha256(f"{seed}/{item[1].id}".encode()).digest())[: part.count]
        taken.update(asked for asked, _ in picked)
        chosen += [problem for _, problem in picked]
        dropped = len(problems) - len(fresh)
        line = f"{part.count} of {len(problems)} from {name} {split}"
        line += f", {dropped} repeated or held out" if dropped else ""
        if reason:
            faithful = False
            line += f"; a substitute for {part.name} {part.split}, which is not at hand ({reason})"
        lines.append(line)
    if absent:
        lines.append(f"not compared with {', '.join(absent)}: not at hand")
    return MixtureSample(problems=tuple(chosen), lines=tuple(lines), faithful=faithful)


def _find(part: Part, loader: Loader, substitutes: bool) -> tuple[str, str, list[Problem], str]:
    """Set, split, problems, and why it is not the set that the recipe names ("" where it is)."""
    try:
        return part.name, part.split, loader(part.name, part.split), ""
    except ConfigError as error:
        if not substitutes or not part.instead:
            hint = f"; allow substitutes to take {part.instead[0][0]} instead" if part.instead else ""
            raise ConfigError(f"{part.name} {part.split} is not at hand{hint}: {error}") from error
        reason = str(error)
    for name, split in part.instead:
        try:
            return name, split, loader(name, split), reason
        except ConfigError as error:
            reason = f"{reason}; {error}"
    raise ConfigError(f"neither {part.name} {part.split} nor a substitute is at hand: {reason}")
