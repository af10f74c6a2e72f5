"""The problems: enough templates, splits that share nothing, and questions that can be read back from any text."""

import json

import pytest

from podium.errors import ConfigError
from podium.gym import KINDS, UNTRAINED_KINDS, World, draw_world, kind_of
from podium.gym.drawing import draw_profiles
from podium.gym.facts import FACTS
from podium.gym.kinds import PARTS
from podium.gym.questions import find_question
from podium.gym.templates import TEMPLATES, held_out
from podium.gym.world import SPLITS, Split
from podium.types import Problem

ALL = KINDS + UNTRAINED_KINDS


def _problems(split: Split, n: int = 300, seed: int = 0) -> dict[str, list[Problem]]:
    return {kind: World().problems(kinds=(kind,), split=split, n=n, seed=seed) for kind in ALL}


def test_enough_templates_a_kind_a_third_held_out() -> None:
    for kind in ALL:
        count = len(TEMPLATES[kind])
        assert count >= (30 if kind in KINDS else 12)
        assert sum(map(held_out, range(count))) == count // 3
        assert len({template.text for template in TEMPLATES[kind]}) == count


def test_splits_share_no_question_and_templates_only_where_they_should() -> None:
    texts: dict[str, set[str]] = {}
    positions: dict[str, set[tuple[str, int]]] = {}
    for split in SPLITS:
        problems = [problem for row in _problems(split).values() for problem in row]
        texts[split] = {problem.question for problem in problems}
        assert len(texts[split]) == len(problems), "a question occurs twice"
        asked = [find_question(problem.question) for problem in problems]
        positions[split] = {(a.kind, a.position) for a in asked if a is not None}
        assert {problem.split for problem in problems} == {split}
    assert not texts["train"] & texts["held_out_numbers"]
    assert not (texts["train"] | texts["held_out_numbers"]) & texts["held_out_templates"]
    # Of a template whose facts were all drawn for training nothing is left to be held out.
    assert positions["held_out_numbers"] <= positions["train"]
    assert len(positions["held_out_numbers"]) >= 0.9 * len(positions["train"])
    assert not positions["train"] & positions["held_out_templates"]
    assert len(positions["train"] | positions["held_out_templates"]) == sum(len(TEMPLATES[kind]) for kind in ALL)


def test_other_seeds_never_cross_the_splits() -> None:
    train = {p.question for seed in range(3) for row in _problems("train", 150, seed).values() for p in row}
    held = {p.question for seed in range(3, 6) for row in _problems("held_out_numbers", 150, seed).values() for p in row}
    assert not train & held


def test_problems_are_reproducible_and_depend_on_the_seeds() -> None:
    first = World(seed=1).problems(n=40, seed=2)
    assert first == World(seed=1).problems(n=40, seed=2)
    assert first[:20] == World(seed=1).problems(n=20, seed=2), "more problems must not change the first ones"
    assert first != World(seed=1).problems(n=40, seed=3)
    assert first != World(seed=2).problems(n=40, seed=2)
    assert [problem.kind for problem in first[:12]] == [*KINDS, *KINDS]


def _about(problem: Problem) -> object:
    """What a question is about: its facts, and without any its text."""
    asked = find_question(problem.question)
    assert asked is not None
    return asked.references or problem.question


@pytest.mark.parametrize("kind", ALL)
def test_nothing_that_is_held_out_was_seen_in_training(kind: str) -> None:
    train = {_about(p) for p in World().problems(kinds=(kind,), n=400, seed=1)}
    for split in SPLITS[1:]:
        held_out = World().problems(kinds=(kind,), split=split, n=150, seed=2)
        assert not train & {_about(p) for p in held_out}, "no fact, no combination and no numbers again"
        assert all(find_question(p.question).kind == kind for p in held_out)  # type: ignore[union-attr]


def test_worlds_are_drawn_with_other_workers_and_habits() -> None:
    worlds = [draw_world(seed) for seed in range(12)]
    assert {len(world.profiles) for world in worlds} >= {5, 7, 11}
    assert len({str(world.profiles) for world in worlds}) == 12
    assert draw_world(3).profiles == draw_world(3).profiles
    for world in worlds:
        fair = max(min(level for (kind, _), level in p.levels.items() if kind in KINDS) for p in world.profiles)
        assert 0.7 <= fair <= 0.76, "one is fair at everything"
        for kind in KINDS:
            best = [max((p.levels[kind, part], p.name) for p in world.profiles)[1] for part in PARTS[kind]]
            assert len(set(best)) >= min(len(best), len(world.profiles) - 1), "nobody is best at two parts of one kind"
    with pytest.raises(ConfigError, match="3 to 31 workers"):
        draw_profiles(0, 2)


@pytest.mark.parametrize("split", SPLITS)
def test_two_thousand_different_problems_of_every_kind(split: Split) -> None:
    for kind in ALL:
        assert len(World().problems(kinds=(kind,), split=split, n=2_000)) == 2_000


def test_what_can_not_be_asked_for_says_so() -> None:
    with pytest.raises(ConfigError, match="unknown kind 'poetry'"):
        World().problems(kinds=("poetry",), n=1)
    with pytest.raises(ConfigError, match="there is no split 'test'; the gym has train"):
        World().problems(split="test", n=1)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="difficulty"):
        World(difficulty=-1)
    with pytest.raises(ConfigError, match="difficulty"):
        World(difficulty=float("nan"))


def test_a_question_is_found_in_longer_text_however_it_is_wrapped() -> None:
    for kind in ALL:
        for problem in World().problems(kinds=(kind,), n=60):
            asked = find_question(problem.question)
            assert asked is not None
            wrapped = problem.question.replace(" ", "\n ", 5)
            for text in (
                f"Please solve this:\n\n{wrapped}\n\nShow your work.",
                f'Question: "{problem.question}" Answer it.',
                f"({problem.question})",
            ):
                assert find_question(text) == asked, text
                assert kind_of(text) == kind
            assert find_question(problem.question.replace(" ", " very ", 3)) != asked
    assert kind_of("What is the meaning of life?") is None


def test_of_two_questions_the_last_is_meant() -> None:
    first, second = World().problems(kinds=("story", "knowledge"), n=2)
    assert find_question(f"{first.question}\n\n{second.question}") == find_question(second.question)
    assert find_question(f"{second.question}\n\n{first.question}") == find_question(first.question)


def test_targets_have_the_form_of_their_kind() -> None:
    for kind, problems in _problems("train", 120).items():
        for problem in problems:
            if kind == "choice":
                assert problem.target in "ABCD"
            elif kind == "code":
                tests = json.loads(problem.target)
                assert len(tests["cases"]) == 8
                assert tests["name"] in problem.question
            else:
                assert problem.target.isdigit() or problem.target in problem.question


def test_some_facts() -> None:
    known = {"legs(spiders)": 8, "capital(Australia)": "Canberra", "days_in(February)": 28, "symbol(gold)": "Au"}
    assert known.items() <= FACTS.items()
