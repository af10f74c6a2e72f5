"""Tuned policies and studies, looked at in the browser; what lies in the folders is anybody's text."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from podium.page.learned_folders import LearnedFolders, choices, frontier
from podium.policies.tuned_record import FORM, Measured, TunedRecord, TunedStep, TunedWorkflow, write_tuned
from tests.page.conftest import Served, Watched
from tests.page.hostile import HIT
from tests.page.test_accessibility import faults

EVIL = f'<img src=x onerror="{HIT}">'


def workflow(worker: str, right: float, usd: float | None, subtask: str = "{question}") -> TunedWorkflow:
    measured = Measured(right=right, low=max(0.0, right - 0.1), high=1.0, problems=40, usd=usd)
    return TunedWorkflow(
        steps=(TunedStep(worker=worker, subtask=subtask),), kinds={"sums": measured, EVIL: Measured(right=right)}
    )


def record(price: float) -> TunedRecord:
    workflows = (workflow("dear", 0.9, 0.01, EVIL), workflow("cheap", 0.85, 0.001), workflow("bad", 0.2, 0.005))
    return TunedRecord(form=FORM, workers=("dear", "cheap", "bad"), prefer="balanced", price=price, robust=0, workflows=workflows)


def write_learned(folder: Path) -> None:
    """A tuned policy and a study below ``folder``."""
    write_tuned(folder / "mine" / "tuned", record(20.0), [("1 + 1?", "sums"), ("?", EVIL)])
    (folder / "mine" / "tuned" / "report.md").write_text(f"# Tuned policy\n\nUse it: {EVIL}\n\n## By kind\n\nmore\n")
    study = folder / "mine" / "study"
    study.mkdir(parents=True)
    (study / "table.json").write_text(json.dumps({"arms": [], "comparisons": []}))
    (study / "table.md").write_text(f"# Which is better {EVIL}\n\n| arm | accuracy |\n|---|---|\n| ours | 93 % |\n")
    (study / "report.html").write_text(f"<!doctype html><title>r</title><h1>The report</h1><script>{HIT}</script>{EVIL}")


def test_what_is_chosen_is_worth_most() -> None:
    assert [each.ranked[0][0].steps[0].worker for each in choices(record(0.0))] == ["dear", "dear"]
    by_kind = {choice.kind: [each.steps[0].worker for each, _ in choice.ranked] for choice in choices(record(20.0))}
    assert by_kind == {"sums": ["cheap", "dear", "bad"], EVIL: ["dear", "cheap", "bad"]}
    asked_sparingly = workflow("dear", 0.9, 0.01).model_copy(update={"kinds": {"sums": Measured(right=0.9, charge=0.3)}})
    sparing = TunedRecord(**{**record(0.0).__dict__, "workflows": (asked_sparingly, _sums(workflow("cheap", 0.85, 0.001)))})
    assert [each.steps[0].worker for each, _ in choices(sparing)[0].ranked] == ["cheap", "dear"], "as the policy chooses"
    priced = TunedRecord(**{**record(0.0).__dict__, "workflows": tuple(_sums(each) for each in record(0.0).workflows)})
    assert [best for _, _, best in frontier(priced)] == [True, True, False]
    assert frontier(record(0.0)) == [], "an unknown price is no 0"


def _sums(each: TunedWorkflow) -> TunedWorkflow:
    return TunedWorkflow(steps=each.steps, kinds={"sums": each.kinds["sums"]})


def test_folders_that_hold_nothing_of_the_kind(tmp_path: Path) -> None:
    folders = LearnedFolders(tmp_path)
    (tmp_path / "policy.json").write_text("{")
    assert folders.tuned() == []
    (tmp_path / "questions.jsonl").write_text("")
    assert [name for name, _ in folders.tuned()] == ["."]
    assert "no tuned policy of this version" in str(folders.policy("."))
    assert folders.text("nowhere", "table.md") == ""
    assert LearnedFolders(tmp_path / "nowhere").studies() == []


@pytest.fixture(scope="module")
def learned(served: Served) -> Served:
    write_learned(served.folder / "training")
    return served


def test_a_tuned_policy_is_read(learned: Served, watched: Watched) -> None:
    page = watched.page
    page.goto(f"{learned.address}/training")
    page.get_by_role("link", name="Tuning").click()
    page.get_by_role("link", name="mine/tuned").click()
    expect(page.locator(".rich")).to_contain_text("Use it: <img")
    expect(page.get_by_text("3 workflows stand to be chosen from, over 3 workers")).to_be_visible()
    expect(page.get_by_role("heading", name="Questions of kind sums")).to_be_visible()
    expect(page.get_by_text("The next one is right in 5.0 points more, and costs $0.009000 more.")).to_be_visible()
    assert page.evaluate("window.hit") is None
    page.goto(f"{learned.address}/tuning?run=../../etc")
    expect(page.get_by_role("link", name="mine/tuned")).to_be_visible()


def test_a_study_and_its_report_are_opened(learned: Served, watched: Watched) -> None:
    page = watched.page
    page.goto(f"{learned.address}/studies")
    page.get_by_role("link", name="mine/study").click()
    expect(page.get_by_role("cell", name="93 %")).to_be_visible()
    assert page.evaluate("window.hit") is None
    page.get_by_role("link", name="The whole report").click()
    expect(page.get_by_role("heading", name="The report")).to_be_visible()
    assert page.evaluate("window.hit") is None, "a report runs nothing, whatever stands in it"
    assert page.evaluate("window.origin") == "null", "and belongs to no site"
    refused = [each for each in watched.wrong if "Content Security Policy" in each or "sandboxed" in each]
    assert refused
    watched.wrong[:] = [each for each in watched.wrong if each not in refused]
    assert page.request.get(f"{learned.address}/studies/report?run=../training").status == 404


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_learning_can_be_looked_at_by_everybody(learned: Served, browser: Browser, width: int, scheme: str) -> None:
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    for path in ("/tuning", "/tuning?run=mine/tuned", "/studies", "/studies?run=mine/study"):
        page.goto(learned.address + path)
        expect(page.locator("h1")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), f"{path} is wider than the screen"
        assert faults(page) == []
    context.close()
