"""What a start reads besides the gym's questions: of the same kinds, in other words, and nothing of what is held out."""

import re
from collections import Counter, defaultdict

import pytest

from benchmarks.reading import WORDINGS
from podium.gym import World
from podium.gym.facts import TABLES
from podium.gym.kinds import KINDS
from podium.gym.questions import find_question
from podium.gym.templates import TEMPLATES, held_out
from podium.gym.world import held_out_matter
from podium.recipes.gym_wordings import Wording, made_from, other_questions, other_wordings

_WORD = re.compile(r"\{\w+\}|[a-z']+")


def _rows(text: str, length: int) -> set[tuple[str, ...]]:
    """All runs of so many words; a slot is a word, and all slots are the same one."""
    words = ["{}" if word.startswith("{") else word for word in _WORD.findall(text.lower())]
    return {tuple(words[at : at + length]) for at in range(len(words) - length + 1)}


def test_no_wording_has_five_words_in_a_row_of_a_held_out_template_or_of_an_untrained_kind() -> None:
    kept_out: set[tuple[str, ...]] = set()
    for kind, templates in TEMPLATES.items():
        for position, template in enumerate(templates):
            if held_out(position) or kind not in KINDS:
                kept_out |= _rows(template.text, 5)
    assert len(kept_out) > 500
    assert {wording.text: found for wording in other_wordings() if (found := _rows(wording.text, 5) & kept_out)} == {}


def test_wordings_are_of_trained_kinds_and_all_different() -> None:
    assert len({wording.text for wording in other_wordings()}) == len(other_wordings()) > 150
    for wording in other_wordings():
        assert wording.kind in KINDS
        assert set(wording.tables) <= set(TABLES)
        slots = set(re.findall(r"\{(\w+)\}", wording.text))
        assert slots <= {"a", "b", "c", "d", "e", "g", "u", "name", "other", "thing"}
        assert [slot for slot in "eu" if slot in slots] == list("eu"[: len(wording.tables)])
        assert "g" not in slots or len(wording.tables) == 1


def test_kinds_and_wordings_take_turns_and_every_slot_is_filled() -> None:
    questions = other_questions(3 * len(other_wordings()), seed=1)
    kinds = Counter(question.kind for question in questions)
    assert max(kinds.values()) - min(kinds.values()) <= 1
    assert len({question.source for question in questions}) == len(other_wordings())
    assert not any("{" in question.question or question.target for question in questions)
    assert questions == other_questions(len(questions), seed=1)
    assert [q.question for q in questions] != [q.question for q in other_questions(len(questions), seed=2)]


def test_what_is_asked_about_passes_the_gyms_own_rule_and_names_differ() -> None:
    """Read back from the questions themselves: which things stand in the slots."""
    wordings, checked = other_wordings(), Counter[str]()
    for question in other_questions(30 * len(wordings), seed=4):
        wording = wordings[int(str(made_from(question)).split()[-1])]
        slots = _slots(wording, question.question)
        tables = dict(zip([slot for slot in "eu" if slot in slots], wording.tables, strict=True))
        if "g" in slots:
            tables["g"] = tables["e"]
            assert slots["e"] != slots["g"]
            checked["g"] += 1
        about = " ".join(sorted(f"{table}({slots[slot]})" for slot, table in tables.items()))
        assert not (about and held_out_matter(about)), question.question
        checked[f"{len(tables)} things"] += 1
        if {"name", "other"} <= set(slots):
            assert slots["name"] != slots["other"]
            checked["names"] += 1
    assert min(checked[each] for each in ("g", "0 things", "1 things", "2 things", "names")) > 50, checked


def _slots(wording: Wording, question: str) -> dict[str, str]:
    """What stands in each slot of a question made from ``wording``."""
    values = dict.fromkeys("abcd", r"\d+") | {"name": r"\w+", "other": r"\w+", "thing": ".+?"}
    for slot, table in zip(("e", "u" if "{u}" in wording.text else "g"), [*wording.tables, *wording.tables], strict=False):
        values[slot] = "|".join(sorted(map(re.escape, TABLES[table]), key=len, reverse=True))
    seen: set[str] = set()
    pattern = ""
    for piece in re.split(r"(\{\w+\})", wording.text):
        slot = piece[1:-1] if piece.startswith("{") else ""
        again = f"(?P={slot})" if slot in seen else f"(?P<{slot}>{values.get(slot)})"
        pattern += again if slot else re.escape(piece)
        seen.add(slot)
    found = re.fullmatch(pattern, question)
    assert found is not None, (wording.text, question)
    return found.groupdict()


def test_none_is_about_a_held_out_fact_alone_nor_a_question_that_the_gym_asks() -> None:
    seen: defaultdict[int, list[str]] = defaultdict(list)
    for question in other_questions(20 * len(other_wordings()), seed=3):
        assert find_question(question.question) is None
        seen[int(str(made_from(question)).split()[-1])].append(question.question)
    for number, texts in seen.items():
        [table, *more] = other_wordings()[number].tables or ("",)
        if table and not more and "{g}" not in other_wordings()[number].text:
            held = [thing for thing in map(str, TABLES[table]) if held_out_matter(f"{table}({thing})")]
            about = " ".join(texts)
            longer = {thing: [other for other in map(str, TABLES[table]) if thing in other != thing] for thing in held}
            assert not [thing for thing in held if not longer[thing] and re.search(rf"\b{re.escape(thing)}\b", about)]


def test_a_template_is_told_from_a_wording_and_other_questions_are_refused() -> None:
    [asked] = World().problems(kinds=("story",), n=1)
    [other] = other_questions(1, seed=0)
    assert made_from(asked) == ("story", find_question(asked.question).position)  # type: ignore[union-attr]
    assert made_from(other) == "other wording 0"
    with pytest.raises(ValueError, match="no question of the gym"):
        made_from(other.__class__(question="Why?", target="", kind="story", source="elsewhere"))


def test_what_reading_is_measured_with_is_in_none_of_what_is_read() -> None:
    unseen = other_wordings(WORDINGS)
    learned = {row for wording in other_wordings() for row in _rows(wording.text, 6)}
    assert {wording.kind for wording in unseen} >= {"story", "bundle", "versus"}
    assert len(unseen) > 100
    assert not [wording.text for wording in unseen if _rows(wording.text, 6) & learned]
    questions = other_questions(2 * len(unseen), seed=0, file=WORDINGS)
    assert not any("{" in question.question for question in questions)
