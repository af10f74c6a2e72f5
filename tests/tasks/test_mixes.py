from functools import cache
from pathlib import Path

import pytest

from podium.errors import ConfigError
from podium.tasks.benchmarks.hygiene import overlaps
from podium.tasks.benchmarks.mixes import PAPER_960, Mix, Part, draw
from podium.tasks.benchmarks.registry import load
from podium.types import Problem

SHELVES = {
    ("sums", "train"): [f"{n} + 1?" for n in range(20)],
    ("sums", "test"): [f"{n} + 1?" for n in range(15, 25)],
    ("words", "train"): [f"Spell {n}." for n in range(10)],
}


def shelf(name: str, split: str) -> list[Problem]:
    if (name, split) not in SHELVES:
        raise ConfigError(f"no {name} {split}")
    return [Problem(question=q, target="1", kind="mathematics", source=name, split=split) for q in SHELVES[name, split]]


def test_so_many_of_each_none_held_out_the_same_for_a_seed() -> None:
    mix = Mix(
        name="m",
        parts=(Part(name="sums", split="train", count=15), Part(name="words", split="train", count=5)),
        held_out=(("sums", "test"),),
    )
    drawn = draw(mix, shelf, seed=1)
    assert [problem.source for problem in drawn.problems] == ["sums"] * 15 + ["words"] * 5
    assert overlaps(drawn.problems, shelf("sums", "test")) == []
    assert drawn.faithful
    assert drawn.lines == ("15 of 20 from sums train, 5 repeated or held out", "5 of 10 from words train")
    assert draw(mix, shelf, seed=1) == drawn
    assert draw(mix, shelf, seed=2).problems != drawn.problems


def test_too_few_are_left() -> None:
    mix = Mix(name="m", parts=(Part(name="sums", split="train", count=16),), held_out=(("sums", "test"),))
    with pytest.raises(ConfigError, match="wants 16 problems of sums train; 15 are left of 20"):
        draw(mix, shelf)


def test_one_question_in_two_parts_is_asked_once() -> None:
    mix = Mix(name="m", parts=(Part(name="sums", split="train", count=15), Part(name="sums", split="test", count=4)))
    drawn = draw(mix, shelf)
    assert overlaps(drawn.problems[:15], drawn.problems[15:]) == []


def test_a_substitute_is_used_only_if_allowed_and_is_named() -> None:
    mix = Mix(
        name="m",
        parts=(Part(name="poems", split="train", count=3, instead=(("songs", "train"), ("words", "train"))),),
        held_out=(("riddles", "test"),),
    )
    with pytest.raises(ConfigError, match="poems train is not at hand; allow substitutes to take songs"):
        draw(mix, shelf)
    drawn = draw(mix, shelf, substitutes=True)
    assert not drawn.faithful
    assert "3 of 10 from words train; a substitute for poems train" in drawn.lines[0]
    assert drawn.lines[1] == "not compared with riddles test: not at hand"
    with pytest.raises(ConfigError, match="nor a substitute"):
        draw(
            Mix(name="m", parts=(Part(name="poems", split="train", count=3, instead=(("songs", "train"),)),)),
            shelf,
            substitutes=True,
        )


def test_the_papers_recipe_with_what_is_at_hand(data: Path) -> None:
    @cache
    def local(name: str, split: str) -> list[Problem]:
        return load(name, split=split, data_dir=data)

    with pytest.raises(ConfigError, match="rlpr train is not at hand"):
        draw(PAPER_960, local)
    drawn = draw(PAPER_960, local, substitutes=True)
    assert len({problem.id for problem in drawn.problems}) == 960
    assert not drawn.faithful
    assert [line.split(";")[0] for line in drawn.lines[:4]] == [
        "240 of 7470 from math train, 5 repeated or held out",
        "240 of 1529 from mmlu val, 28 repeated or held out",
        "240 of 747 from theoremqa test",
        "240 of 1889 from leetcode train",
    ]
    assert overlaps(drawn.problems, local("mmlu", "test")) == []
