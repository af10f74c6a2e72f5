"""The folder of a tuned policy: what is written is read back, and whatever else stands there is a clear error."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.errors import CheckpointError, ConfigError
from podium.policies.tuned_policy import TunedPolicy
from podium.policies.tuned_record import (
    FORM,
    Measured,
    TunedRecord,
    TunedStep,
    TunedWorkflow,
    checked_folder,
    read_tuned,
    write_tuned,
)
from tests.tuning.desk import problems

NAMES = ("idle", "sum", "reverse")
QUESTIONS = [(one.question, one.kind) for one in problems(40)]


def record() -> TunedRecord:
    """``sum`` for sums, ``reverse`` for words, two steps for what is unlike both."""
    shares = {"sum": (0.9, 0.1), "reverse": (0.1, 0.9), "both": (0.6, 0.6)}

    def one(name: str, *steps: TunedStep) -> TunedWorkflow:
        kinds = ("sum", "reverse")
        return TunedWorkflow(
            steps=steps,
            kinds={kind: Measured(right=right, usd=0.001 * len(steps)) for kind, right in zip(kinds, shares[name], strict=True)},
        )

    return TunedRecord(
        form=FORM, workers=NAMES, prefer="balanced", price=0.0, robust=2,
        workflows=(
            one("sum", TunedStep(worker="sum", subtask="Solve.")),
            one("reverse", TunedStep(worker="reverse", subtask="Solve.")),
            one(
                "both", TunedStep(worker="sum", subtask="Solve."), TunedStep(worker="reverse", subtask="{question}\n\nSolve."),
                TunedStep(worker="sum", subtask="Compare.", access=(0, 1)),
            ),
        ),
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_tuned(tmp_path, record(), QUESTIONS)
    return tmp_path


def test_what_is_written_is_read_back(folder: Path) -> None:
    assert read_tuned(folder) == (record(), QUESTIONS)
    assert sorted(path.name for path in folder.iterdir()) == ["policy.json", "questions.jsonl"]


@given(st.lists(st.text(alphabet=st.characters(codec="utf-8")).filter(str.strip), min_size=1))
def test_any_question_is_read_back(tmp_path_factory: pytest.TempPathFactory, questions: list[str]) -> None:
    folder = tmp_path_factory.mktemp("tuned")
    asked = [(question, "sum") for question in [*questions, "a\u2028b\x85c\nd\x00e{question}"]]
    write_tuned(folder, record(), asked)
    assert read_tuned(folder)[1] == asked


@pytest.mark.parametrize("asked", [("Half \ud800?", "sum"), ("Whole?", "half \udfff")])
def test_half_a_character_is_refused_in_words(folder: Path, asked: tuple[str, str]) -> None:
    """And what stands in the folder stays."""
    with pytest.raises(ConfigError, match="half a surrogate pair, which no file can hold; write whole"):
        write_tuned(folder, record(), [*QUESTIONS, asked])
    assert read_tuned(folder) == (record(), QUESTIONS)


def test_a_crash_between_the_files_leaves_no_policy_with_questions_of_another(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(file: Path, target: Path) -> Path:
        if target.name == "policy.json":
            raise KeyboardInterrupt
        return replace(file, target)

    replace = Path.replace
    monkeypatch.setattr(Path, "replace", crash)
    with pytest.raises(KeyboardInterrupt):
        write_tuned(folder, record(), [(question, {"sum": "reverse", "reverse": "sum"}[kind]) for question, kind in QUESTIONS])
    with pytest.raises(ConfigError, match="holds no tuned policy"):
        read_tuned(folder)
    checked_folder(folder, NAMES)


def changed(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    """Spoils ``policy.json``."""

    def spoil(folder: Path) -> None:
        found = json.loads((folder / "policy.json").read_text())
        change(found)
        (folder / "policy.json").write_text(json.dumps(found))

    return spoil


def replaced_by_a_folder(folder: Path) -> None:
    (folder / "questions.jsonl").unlink()
    (folder / "questions.jsonl").mkdir()


def first(found: dict[str, Any]) -> dict[str, Any]:
    measured = found["workflows"][0]["kinds"]["sum"]
    assert isinstance(measured, dict)
    return measured


def step(found: dict[str, Any], number: int = 2) -> dict[str, Any]:
    last = found["workflows"][2]["steps"][number]
    assert isinstance(last, dict)
    return last


NUMBERS = (float("nan"), float("inf"), -float("inf"), -1.0, 1e300, "many", None, [1], True)
HOSTILE: dict[str, Callable[[Path], object]] = {
    "no questions file": lambda folder: (folder / "questions.jsonl").unlink(),
    "no questions": lambda folder: (folder / "questions.jsonl").write_text("\n\n"),
    "blank questions": lambda folder: (folder / "questions.jsonl").write_text('{"question": " ", "kind": "sum"}\n'),
    "questions of bytes": lambda folder: (folder / "questions.jsonl").write_bytes(b"\xff\xfe\x00"),
    "a torn question": lambda folder: (folder / "questions.jsonl").write_text('{"question": "6 times'),
    "a question too many": lambda folder: (folder / "questions.jsonl").write_text('{"question": "a", "kind": "sum", "more": 1}'),
    "another kind": lambda folder: (folder / "questions.jsonl").write_text('{"question": "a", "kind": "never heard of"}'),
    "half a pair": lambda folder: (folder / "questions.jsonl").write_text('{"question": "\\ud800", "kind": "sum"}'),
    "questions are a folder": replaced_by_a_folder,
    "no JSON": lambda folder: (folder / "policy.json").write_text("{"),
    "empty": lambda folder: (folder / "policy.json").write_text(""),
    "bytes": lambda folder: (folder / "policy.json").write_bytes(b"\xff\x00"),
    "a list": lambda folder: (folder / "policy.json").write_text("[]"),
    "deep": lambda folder: (folder / "policy.json").write_text("[" * 100_000),
    "wrong version": changed(lambda found: found.update(form="podium tuned policy, version 9")),
    "a field too many": changed(lambda found: found.update(more=1)),
    "no workflows": changed(lambda found: found.update(workflows=[])),
    "no workers": changed(lambda found: found.update(workers=[])),
    "no steps": changed(lambda found: found["workflows"][0].update(steps=[])),
    "a kind is missing": changed(lambda found: found["workflows"][0]["kinds"].pop("sum")),
    "unknown worker": changed(lambda found: step(found).update(worker="nobody")),
    "robust out of range": changed(lambda found: found.update(robust=3)),
    "robust negative": changed(lambda found: found.update(robust=-1)),
    "huge robust": changed(lambda found: found.update(robust=10**400)),
    "looks at itself": changed(lambda found: step(found).update(access=[2])),
    "looks ahead": changed(lambda found: step(found, 0).update(access=[1])),
    "looks before the start": changed(lambda found: step(found).update(access=[-1])),
    "looks twice": changed(lambda found: step(found).update(access=[0, 0])),
    "looks far away": changed(lambda found: step(found).update(access=[10**30])),
    "no share": changed(lambda found: first(found).pop("right")),
    **{f"share {n}": changed(lambda found, n=n: first(found).update(right=n)) for n in NUMBERS if n is not True},  # type: ignore[misc]
    **{f"dollars {n}": changed(lambda found, n=n: first(found).update(usd=n)) for n in NUMBERS[:6]},  # type: ignore[misc]
    **{f"seconds {n}": changed(lambda found, n=n: first(found).update(seconds=n)) for n in NUMBERS[:4]},  # type: ignore[misc]
    **{f"price {n}": changed(lambda found, n=n: found.update(price=n)) for n in NUMBERS[:8]},  # type: ignore[misc]
}


@pytest.mark.parametrize("spoil", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_folder_is_a_clear_error(folder: Path, spoil: Callable[[Path], object]) -> None:
    TunedPolicy.load(folder, NAMES)
    spoil(folder)
    with pytest.raises((CheckpointError, ConfigError)) as raised:
        TunedPolicy.load(folder, NAMES)
    assert len(str(raised.value)) < 400 + len(str(folder))


def test_a_folder_without_a_policy_says_how_to_make_one(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(ConfigError, match="podium tune --out"):
            read_tuned(folder)


def test_a_folder_is_made_and_used_again_by_the_same_workers_only(folder: Path, tmp_path: Path) -> None:
    checked_folder(tmp_path / "new" / "deep", NAMES)
    assert (tmp_path / "new" / "deep").is_dir()
    checked_folder(folder, NAMES[::-1])
    with pytest.raises(ConfigError, match=r"for other workers \(idle, sum, reverse\); name another folder"):
        checked_folder(folder, ("idle", "sum"))
    (folder / "policy.json").write_text("my notes")
    with pytest.raises(CheckpointError):
        checked_folder(folder, NAMES)


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("mine")
    for place in (tmp_path / "taken", tmp_path / "taken" / "below"):
        with pytest.raises(ConfigError, match="name another one"):
            checked_folder(place, NAMES)
    assert (tmp_path / "taken").read_text() == "mine"
