"""Questions in other words than the gym's, for a start to read: it stands in for the many texts that a pretrained model has read.

``gym_wordings.tsv`` has a wording a line: its kind, the tables of :mod:`podium.gym.facts` that its things come from, and its text
with slots. Such a question says what a kind looks like and no more: it has no answer, no worker is ever asked it, and it earns
nothing. No wording has five words in a row in common with a held-out template or an untrained kind, whatever stands in the slots.
None is about what the gym's own rule keeps out of training: a fact, or a combination of two.
"""

import random
from collections.abc import Hashable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from podium.gym.facts import TABLES
from podium.gym.templates.template import WORDS
from podium.gym.world import held_out_matter
from podium.recipes.gym_start import template_of
from podium.types import Problem

FILE = Path(__file__).with_name("gym_wordings.tsv")
_NUMBERS = (3, 99)
_SOURCE = "other wording "


class Wording(NamedTuple):
    """One line. Example: ``Wording("knowledge", ("legs",), "Boots for {a} {e}, one to a foot. How many boots?")``."""

    kind: str
    tables: tuple[str, ...]
    """Where ``{e}`` comes from, and ``{u}`` or ``{g}``; with one table ``{g}`` is another thing of the same."""
    text: str


@cache
def other_wordings(file: Path = FILE) -> tuple[Wording, ...]:
    """All of them, in the order of the file."""
    fields = [line.split("\t") for line in file.read_text(encoding="utf-8").splitlines()]
    return tuple(Wording(kind, tuple(filter(None, tables.split(","))), text) for kind, tables, text in fields)


def other_questions(n: int, seed: int, file: Path = FILE) -> list[Problem]:
    """``n`` questions without a target: the kinds take turns, and in each its wordings."""
    rng, wordings = random.Random(f"other wordings {seed}"), other_wordings(file)
    by_kind: dict[str, list[int]] = {}
    for number, wording in enumerate(wordings):
        by_kind.setdefault(wording.kind, []).append(number)
    made = []
    for turn in range(n):
        kind = list(by_kind)[turn % len(by_kind)]
        number = by_kind[kind][turn // len(by_kind) % len(by_kind[kind])]
        made.append(Problem(question=_filled(wordings[number], rng), target="", kind=kind, source=f"{_SOURCE}{number}"))
    return made


def made_from(problem: Problem) -> Hashable:
    """The wording or the template that a question was made from. Raises ValueError for other questions."""
    return problem.source if problem.source.startswith(_SOURCE) else template_of(problem)


def _filled(wording: Wording, rng: random.Random) -> str:
    """The text with a value in every slot."""
    name, other = rng.sample(WORDS["name"], 2)
    slots: dict[str, object] = {slot: rng.randint(*_NUMBERS) for slot in "abcd"}
    slots |= {"name": name, "other": other, "thing": rng.choice(WORDS["thing"])}
    tables = dict(zip(("e", "u" if "{u}" in wording.text else "g"), wording.tables, strict=False))
    if "{g}" in wording.text:
        tables.setdefault("g", tables["e"])
    while True:
        things = {slot: rng.choice(list(TABLES[table])) for slot, table in tables.items()}
        about = " ".join(sorted(f"{tables[slot]}({thing})" for slot, thing in things.items()))
        if len(set(things.values())) == len(things) and not (things and held_out_matter(about)):
            return wording.text.format_map(slots | things)
