"""What the start policy is taught: sensible plans, and nothing about who is good at what."""

import random
import re
from collections import Counter
from dataclasses import replace

import pytest
import torch

from podium.errors import ConfigError
from podium.gym import World
from podium.gym.subtasks import verbs_in
from podium.policies.local import LocalPolicy
from podium.policies.sampling import padded
from podium.recipes.gym_start import BY_SKILL, NAMES, PLANS, TOPICS, imaginary_skills, lesson, uninformed, wordings
from podium.training.imitation import warm_started
from podium.training.learner import Learner
from podium.training.rows import TrainingRow
from podium.training.warm_start import Cards, brief_for
from podium.types import Brief, Card, ask
from podium.workflow.parse import parse
from podium.workflow.short_prompt import shown_rates
from podium.workflow.syntax import WorkflowSyntax
from tests.training.gym_runs import WARM_START

CARDS_READ = Cards(lessons=1, imagine=imaginary_skills, lesson=lesson)
CARDS = tuple(Card(name=f"worker {i}") for i in range(7))


@pytest.mark.parametrize("access", ["binary", "positions"])
def test_what_is_imitated_is_valid_and_says_what_its_steps_are_about(access: str) -> None:
    syntax, rng = WorkflowSyntax(access=access), random.Random(0)  # type: ignore[arg-type]
    brief = Brief(question=ask("q"), cards=CARDS)
    known = set(wordings())
    for _ in range(400):
        kind = rng.choice(list(PLANS))
        written = uninformed(kind, brief, rng, syntax)
        workflow = parse(written.text, brief, syntax)
        assert workflow is not None
        told = [TOPICS[topic] for topic in written.topics]
        assert [topic[0] for topic in told] == [f"{kind}, {part}" for _, part in told]
        assert all((kind, part, step.subtask) in known for (_, part), step in zip(told, workflow.steps, strict=True))


def test_workers_are_drawn_evenly_whatever_the_step_is_about() -> None:
    rng, syntax, brief = random.Random(1), WorkflowSyntax(access="binary"), Brief(question=ask("q"), cards=CARDS)
    chosen: dict[tuple[str, str], Counter[int]] = {}
    for _ in range(20_000):
        kind = rng.choice(list(PLANS))
        workflow = parse(uninformed(kind, brief, rng, syntax).text, brief, syntax)
        assert workflow is not None
        for step in workflow.steps:
            chosen.setdefault((kind, next(iter(verbs_in(step.subtask)))), Counter())[step.worker] += 1
    for counts in chosen.values():
        expected = counts.total() / 7
        # Chi-square with 6 degrees of freedom: 30 is passed by chance once in 25,000 times.
        assert sum((counts[worker] - expected) ** 2 / expected for worker in range(7)) < 30


def test_questions_lose_words_but_never_all_of_them() -> None:
    rng, [problem] = random.Random(2), World().problems(kinds=("story",), n=1)
    config = WARM_START
    seen = [brief_for(problem, config, rng).question[-1].content for _ in range(300)]
    words = problem.question.split()
    assert problem.question in seen
    assert min(len(text.split()) for text in seen) >= len(words) // 4
    assert all(len(text.split()) >= 1 for text in seen)


def test_sharpening_makes_slips_rarer_and_changes_no_preference() -> None:
    config = replace(WARM_START, steps=3, sharpened=1.0)
    plain = warm_started(config, WorkflowSyntax(access="binary"))
    sharp = warm_started(replace(config, sharpened=2.0), WorkflowSyntax(access="binary"))
    brief = Brief(question=ask("q"), cards=CARDS[:4])
    prompt = [plain.prompt_ids(brief)]

    def logits(policy: LocalPolicy) -> torch.Tensor:
        return policy.model.logits(policy.model.prompts(*padded(prompt)).last).detach()

    torch.testing.assert_close(logits(sharp), 2 * logits(plain), atol=1e-4, rtol=0)


def test_lessons_name_the_most_skilled_of_imaginary_workers() -> None:
    rng, [problem] = random.Random(3), World().problems(n=1)
    config = replace(WARM_START, cards=CARDS_READ, workers=(2, 3))
    shown: set[int] = set()
    for _ in range(200):
        brief = brief_for(problem, config, rng)
        asked, answer = lesson(brief, rng)
        found = re.findall(r"(\w+ \w+) (\d)", answer)
        shown.add(len(found))
        assert dict(found) == {part: rates[0] for part, rates in shown_rates(asked.cards).items()}
        for part, worker in found:
            levels = [dict(card.skills)[part] for card in brief.cards]
            assert levels[int(worker)] == max(levels)
            assert len(set(levels)) == len(levels), "who is best can be told"
    assert min(shown) == 2
    assert max(shown) == len(TOPICS)


def test_of_a_lesson_answers_are_learned_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = _imitated(monkeypatch)
    config = replace(WARM_START, steps=0, cards=CARDS_READ, workers=(3,), vocab_size=1024)
    policy = warm_started(config, WorkflowSyntax(access="binary", cards=True))
    assert seen
    for row in seen:
        pieces = [policy.tokens.decode([token]) for token in row.completion_ids]
        learned = [piece for at, piece in enumerate(pieces) if at not in row.unlearned]
        assert learned == re.findall(r"\d", policy.tokens.decode(row.completion_ids))


def test_by_skill_means_the_highest_number_and_is_written_four_times_in_five() -> None:
    rng, [problem] = random.Random(4), World().problems(kinds=("knowledge",), n=1)
    syntax, config = WorkflowSyntax(access="binary", cards=True), replace(WARM_START, cards=CARDS_READ, workers=(3,))
    by_skill = 0
    for _ in range(400):
        brief = brief_for(problem, config, rng, syntax)
        written = uninformed("knowledge", brief, rng, syntax)
        workflow = parse(written.text, brief, syntax)
        assert workflow is not None
        if written.text.startswith(f"{NAMES['knowledge']}{BY_SKILL}: "):
            by_skill += 1
            line = written.text.partition("\n")[0]
            assert line.count(",") == 3, "the list of workers is equally far behind, whatever the plan"
            assert [int(worker) for worker in re.findall(r" (\d)", line)] == [step.worker for step in workflow.steps]
            for (_, part), step in zip((TOPICS[topic] for topic in written.topics), workflow.steps, strict=True):
                levels = [dict(card.skills)[f"knowledge {part}"] for card in brief.cards]
                assert levels[step.worker] == max(levels)
                assert f"knowledge {part} {step.worker}" in line
    assert 280 < by_skill < 360


def test_a_second_round_keeps_or_plans_anew_whatever_the_answer_was() -> None:
    rng, [problem] = random.Random(5), World().problems(kinds=("story",), n=1)
    syntax = WorkflowSyntax(access="binary")
    config = replace(WARM_START, workers=(7,), carried_out=lambda problem, workflow: "Answer: 1", again=1.0)
    kept = 0
    for _ in range(300):
        brief = brief_for(problem, config, rng, syntax)
        assert brief.previous_rounds[0].answer == "Answer: 1"
        kept += parse(uninformed("story", brief, rng, syntax).text, brief, syntax) is None
    assert 110 < kept < 190


def test_more_questions_are_read_than_texts_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = _imitated(monkeypatch)
    config = replace(WARM_START, steps=2, problems_per_step=1, texts=2, reading=5)
    policy = warm_started(config, WorkflowSyntax(access="binary"))
    read = [row for row in seen if row.completion_ids[-1] != policy.tokens.end]
    assert (len(seen), len(read)) == (2 * (2 + 5), 2 * 5)
    for row in read:
        line = policy.tokens.decode(row.completion_ids)
        assert line == f"{line.strip()}\n", "the first line, open: the text goes on"
    assert len({row.prompt_ids for row in read}) > 5, "of other questions"


def test_other_questions_are_read_beside_the_recipes_own_and_never_written_for(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = _imitated(monkeypatch)
    other = [replace(problem, question=f"zyzzyva {problem.question}") for problem in WARM_START.problems()]
    config = replace(WARM_START, steps=4, problems_per_step=3, texts=1, reading=20, word_dropout=0.0)
    policy = warm_started(replace(config, also_read=lambda: other), WorkflowSyntax(access="binary"))
    asked = [(policy.tokens.decode(row.prompt_ids), row.completion_ids[-1] == policy.tokens.end) for row in seen]
    of_others = [whole for prompt, whole in asked if "zyzzyva" in prompt]
    assert 20 < len(of_others) < 60, "half of what is read"
    assert not any(of_others)
    word = " zyzzyva"
    without = warm_started(replace(config, steps=1), WorkflowSyntax(access="binary"))
    assert len(policy.tokens.encode(word)) < len(without.tokens.encode(word)), "its words are in the vocabulary"
    with pytest.raises(ConfigError, match="read nowhere"):
        warm_started(replace(config, also_read=lambda: other, reading=0), WorkflowSyntax(access="binary"))


def test_more_openings_are_imitated_than_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = _imitated(monkeypatch)
    config = replace(WARM_START, steps=1, problems_per_step=2, texts=1, openings=3)
    policy = warm_started(config, WorkflowSyntax(access="binary"))
    whole = [row for row in seen if row.completion_ids[-1] == policy.tokens.end]
    assert (len(seen), len(whole)) == (2 * (1 + 3), 2)
    assert len({row.prompt_ids for row in seen}) == 2, "of the same questions"
    for row in seen:
        if row not in whole:
            assert re.fullmatch(r"[^\n]+\nmodel_id = \[[\d, ]+\]\n", policy.tokens.decode(row.completion_ids))


def _imitated(monkeypatch: pytest.MonkeyPatch) -> list[TrainingRow]:
    """What is imitated from now on; nothing is learned of it."""
    seen: list[TrainingRow] = []

    def imitate(learner: Learner, rows: list[TrainingRow], topics: torch.Tensor | None = None) -> float:
        seen.extend(rows)
        return 0.0

    monkeypatch.setattr(Learner, "imitate", imitate)
    return seen
