"""The pages in a real browser: what a visitor does, and that nothing leaves the site or fails on the way."""

import json
import re

import pytest
from playwright.sync_api import Browser, Page, expect

from podium.page.shown import LONG
from tests.page.conftest import Served, Watched, watch
from tests.page.contrast import TOO_FAINT
from tests.page.training_run import KIND, add_iteration, write_run

UNNAMED = """[...document.querySelectorAll('button, a, input, select, textarea')].filter(
    element => element.checkVisibility() && element.getClientRects().length
        && !(element.innerText || element.ariaLabel || element.labels?.length)).length"""


def ask(page: Page, served: Served, question: str, model: str, beside: str = "") -> None:
    page.goto(f"{served.address}/")
    page.get_by_label("Model").select_option(model)
    if beside:
        page.get_by_label("Compare with").select_option(beside)
    field = page.get_by_label("Question")
    field.fill(question)
    field.press("Enter")


def test_a_question_becomes_a_workflow_and_an_answer(served: Served, watched: Watched) -> None:
    page = watched.page
    page.goto(f"{served.address}/")
    page.locator(".examples .button").first.click()
    expect(page.get_by_label("Question")).to_have_value(re.compile(r"\w{3}"))
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator(".answer")).to_contain_text("Answer:")
    expect(page.locator(".status")).to_contain_text("tokens · $0.")
    nodes = page.locator(".node.is-done")
    assert nodes.count() >= 2
    assert page.locator(".edge.done").count() >= 1
    last = nodes.last
    last.focus()
    last.press("Enter")
    expect(page.locator(".inspector")).to_contain_text("Saw: step 0")
    quoted = page.locator(".inspector .quoted")
    for folded in quoted.all():
        folded.locator("summary").click()
    expect(quoted.nth(0).locator("pre")).to_have_text(page.get_by_role("textbox", name="Question").input_value())
    assert "Plan:" in quoted.nth(1).locator("pre").inner_text()
    assert "Answer:" in page.locator(".inspector pre").last.inner_text()
    expect(last).to_have_attribute("aria-pressed", "true")

    count = nodes.count()
    page.reload()  # now it is over from the beginning, and its picture is one element, however many steps it has
    expect(nodes).to_have_count(count)
    expect(page.locator(".node[id]")).to_have_count(0)
    last.press("Enter")
    expect(page.locator(".inspector")).to_contain_text("Saw: step 0")
    page.locator(".node.plan").click()
    expect(page.locator(".inspector")).to_contain_text("The conductor")
    expect(page.locator(".node[aria-pressed=true]")).to_have_class(re.compile("plan"))


def test_two_models_stand_side_by_side(served: Served, watched: Watched) -> None:
    ask(watched.page, served, "What is 17 + 25?", "three", beside="brook")
    expect(watched.page.locator(".panel")).to_have_count(2)
    expect(watched.page.locator(".panel").nth(0).locator(".node:not(.plan)")).to_have_count(4)
    expect(watched.page.locator(".panel").nth(1).locator(".node:not(.plan)")).to_have_count(1)


def test_going_back_leaves_no_field_that_only_looks_chosen(served: Served, watched: Watched) -> None:
    page = watched.page
    page.goto(f"{served.address}/")
    page.get_by_label("Model").select_option("talks")
    page.get_by_label("Question").fill("Anything?")
    page.locator("summary", has_text="Options").click()
    page.get_by_role("checkbox", name="atlas").uncheck()
    page.get_by_role("link", name="Pool").click()
    expect(page.get_by_role("heading", name="Pool")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="Ask")).to_be_visible()
    expect(page.get_by_label("Question")).to_have_value("")
    expect(page.get_by_label("Model")).to_have_value("best")
    assert page.locator("input.tick:not(:checked)").count() == 0


def test_two_clicks_ask_once(served: Served, watched: Watched) -> None:
    page = watched.page
    page.goto(f"{served.address}/runs")
    page.get_by_role("combobox", name="Model", exact=True).select_option("by hand")
    expect(page.locator("p.sums")).to_contain_text("run")
    page.wait_for_timeout(300)
    before = page.locator("tbody tr").count()
    page.goto(f"{served.address}/pool")
    page.get_by_role("button", name="Check now").dblclick()
    expect(page.locator(".cards p.good, .cards p.unsure")).to_have_count(7)
    page.goto(f"{served.address}/play")
    page.get_by_label("Your workflow").fill('model_id = [1]\nsubtasks = ["Answer the question."]\naccess_list = [[]]')
    page.get_by_role("button", name="Run both").dblclick()
    expect(page.locator(".score")).to_contain_text("After 1 problem")
    expect(page.get_by_role("button", name="Run both")).to_be_enabled()
    page.goto(f"{served.address}/runs")
    page.get_by_role("combobox", name="Model", exact=True).select_option("by hand")
    expect(page.locator("tbody tr")).to_have_count(before + 1)
    assert "canceled timer" not in served.log.read_text()


def test_a_stopped_run_is_found_again_and_says_how_long_it_took(served: Served, watched: Watched) -> None:
    page = watched.page
    ask(page, served, "Anything?", "slow")
    expect(page.locator(".node.is-runs")).to_have_count(1)
    page.wait_for_timeout(1_200)
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("link", name="A link to this run").click()
    expect(page.locator(".stopped-note")).to_contain_text("Stopped before there was an answer")
    expect(page.locator(".stopped-note")).to_contain_text("under way cost is not known")
    expect(page.get_by_text(re.compile(r"[1-9][\d.]* s, from \d"))).to_be_visible()


def test_a_baseline_stands_beside_a_model(served: Served, watched: Watched) -> None:
    ask(watched.page, served, "What is 17 + 25?", "brook", beside="all")
    expect(watched.page.locator(".panel").nth(1).locator(".node:not(.plan)")).to_have_count(4)
    expect(watched.page.get_by_role("button", name="Ask", exact=True)).to_be_enabled()
    watched.page.get_by_role("link", name="Runs").click()
    expect(watched.page.locator("tbody tr").filter(has=watched.page.get_by_role("cell", name="all", exact=True))).to_have_count(1)


def test_options_go_with_the_question(served: Served, watched: Watched) -> None:
    page = watched.page
    page.goto(f"{served.address}/")
    page.get_by_label("Model").select_option("three")
    page.get_by_label("Compare with").select_option("brook")
    page.locator("summary", has_text="Options").click()
    page.get_by_label("At most, in dollars").fill("a little")
    page.get_by_label("Question").fill("What is 17 + 25?")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator(".mistake")).to_contain_text('"a little" is not a number')
    assert page.locator(".panel").count() == 0
    page.get_by_label("At most, in dollars").fill("0.05")
    page.get_by_label("At most, in rounds").fill("2")
    page.get_by_role("checkbox", name="atlas").uncheck()
    expect(page.locator("summary", has_text="Options")).to_have_text("Options: 6 of 7 workers; at most $0.05, 2 rounds")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator(".answer:visible")).to_have_count(2)
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_enabled()
    chosen = [json.loads(line) for line in (served.folder / "chosen.jsonl").read_text().splitlines()]
    others = ["brook", "cedar", "delta", "ember", "fjord", "grove"]
    assert sorted(chosen[-2:]) == [["brook", [], 0.05, None], ["three", others, 0.05, 2]]


def test_a_step_is_followed_while_it_talks(served: Served, watched: Watched) -> None:
    page = watched.page
    ask(page, served, "Anything?", "talks")
    page.locator(".node.is-runs:not(.plan)").click()
    expect(page.locator(".inspector pre").last).to_contain_text("word 3")
    expect(page.locator(".node.is-runs")).to_have_count(1)
    expect(page.locator(".answer")).to_contain_text("word 29")
    expect(page.locator(".inspector pre").last).to_contain_text("word 29")
    expect(page.locator(".inspector")).to_contain_text("price unknown")


def test_stop_cancels_the_call(served: Served, watched: Watched) -> None:
    page = watched.page
    ask(page, served, "Anything?", "slow")
    expect(page.locator(".node.is-runs")).to_have_count(1)
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".stopped-note:visible")).to_contain_text("Stopped before there was an answer")
    expect(page.get_by_role("heading", name="Answer")).to_be_hidden()
    expect(page.locator(".node.is-cut")).to_have_count(1)
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_enabled()
    assert (served.folder / "stopped").exists()


def test_a_worker_that_fails_is_shown_as_failed(served: Served, watched: Watched) -> None:
    ask(watched.page, served, "Anything?", "broken")
    expect(watched.page.locator(".failure")).to_contain_text("WorkerUnavailable: 503 <img")
    expect(watched.page.locator(".node.is-failed")).to_have_count(1)
    assert watched.page.evaluate(TOO_FAINT) == []


def test_ten_megabytes_do_not_kill_the_page(served: Served, watched: Watched) -> None:
    page = watched.page
    ask(page, served, "Anything?", "huge")
    page.get_by_text("The answer as it was written").click()
    more = page.locator(".foot .long .button").first
    expect(more).to_contain_text(f"{LONG:,} of 10,000,000")
    more.click()
    expect(more).to_be_hidden()
    assert len(page.locator(".foot pre").first.inner_text()) == LONG
    kept = page.get_by_role("link", name="A link to this run").get_attribute("href")
    sent = page.request.get(f"{served.address}{kept}").body()
    assert len(sent) < 300_000, "what is not unfolded is not sent"
    page.get_by_role("link", name="Pool").click()
    expect(page.get_by_role("heading", name="Pool")).to_be_visible()


def test_play_the_conductor(served: Served, watched: Watched) -> None:
    page = watched.page
    page.goto(f"{served.address}/play")
    lists, both = page.get_by_label("Your workflow"), page.get_by_role("button", name="Run both")
    expect(lists).to_have_value("")
    expect(page.locator(".check")).to_contain_text("Write the three lists")
    expect(both).to_be_disabled()
    expect(page.get_by_role("heading", name="Problem 1 of 10")).to_be_visible()
    lists.fill('model_id = [9]\nsubtasks = ["x"]\naccess_list = [[]]')
    expect(page.locator(".check")).to_contain_text("there is no worker 9")
    expect(both).to_be_disabled()
    lists.fill('model_id = [1]\nsubtasks = ["Answer the question."]\naccess_list = [[]]')
    expect(page.locator(".check")).to_have_text("1 step: brook")
    lists.press("Control+Enter")
    expect(page.locator(".verdict").nth(0)).to_have_text(re.compile("Right|Wrong"))
    expect(page.locator(".verdict").nth(1)).to_have_text(re.compile("Right|Wrong"))
    expect(page.locator(".score")).to_contain_text("After 1 problem of 10: you ")
    expect(page.locator(".panel").nth(0).locator(".node:not(.plan)")).to_have_count(1)
    expect(page.locator(".best .verdict")).to_have_text(re.compile("Right|Wrong"))  # the best known is not always right
    expect(both).to_be_enabled()
    both.click()
    expect(page.locator(".score")).to_contain_text("After 1 problem of 10: ")
    expect(page.locator(".score")).to_contain_text("This problem counted the first time.")
    before = page.locator(".problem").inner_text()
    page.get_by_role("button", name="Next problem").click()
    expect(page.locator(".problem")).not_to_have_text(before)
    expect(lists).to_have_value("")
    for number in range(2, 11):
        expect(page.get_by_role("heading", name=f"Problem {number} of 10")).to_be_visible()
        page.get_by_role("button", name="Next problem" if number < 10 else "Ten others").click()
    expect(page.get_by_role("heading", name="Problem 1 of 10")).to_be_visible()
    expect(page.locator(".score")).to_have_text("Nothing played yet of 10 problems.")


def test_runs_are_found_again_and_shared(served: Served, watched: Watched) -> None:
    page = watched.page
    ask(page, served, "How much is 3 times 14 in this test?", "brook")
    expect(page.locator(".answer:visible")).to_have_count(1)
    page.get_by_role("link", name="A link to this run").click()
    expect(page.get_by_role("heading", name="Timeline")).to_be_visible()
    address = page.url
    assert re.search(r"/runs/run_[0-9a-f]{24}$", address)
    page.locator(".node:not(.plan)").click()
    expect(page.locator(".inspector")).to_contain_text("Step 0: brook")
    assert page.locator(".time-name").all_inner_texts() == ["Conductor", "0 brook"]
    page.get_by_role("link", name="Runs").click()
    page.get_by_role("searchbox", name="Search").fill("3 TIMES 14")
    page.get_by_role("searchbox", name="Search").press("Enter")
    expect(page.locator("tbody tr")).to_have_count(1)
    assert page.locator("tbody a").get_attribute("href") == address.removeprefix(served.address)
    page.get_by_role("combobox", name="Outcome").select_option("failed")
    expect(page.locator("tbody tr")).to_have_count(0)
    expect(page.get_by_text("No run fits.")).to_be_visible()
    page.goto(f"{served.address}/runs/run_{24 * '0'}")
    expect(page.get_by_text("There is no run at this address")).to_be_visible()


def test_a_training_run_is_followed_while_it_grows(served: Served, watched: Watched) -> None:
    page = watched.page
    page.goto(f"{served.address}/training")
    page.get_by_role("link", name="small/seed-0").click()
    expect(page.locator(".status")).to_contain_text("4 iterations, 50 % correct")
    expect(page.locator(".charts svg")).to_have_count(6)
    expect(page.locator(".charts")).to_contain_text(KIND[:19])
    expect(page.locator(".chart polygon")).to_have_count(2)
    expect(page.get_by_text("Iteration 1, word")).to_be_visible()
    add_iteration(served.folder / "training" / "small" / "seed-0", 4)
    expect(page.locator(".status")).to_contain_text("5 iterations, 60 % correct")
    page.get_by_label("Beside it").select_option("other/seed-0")
    expect(page.locator(".panel")).to_have_count(2)
    expect(page.locator(".status").nth(1)).to_contain_text("3 iterations")
    assert page.evaluate("window.hit") is None
    page.goto(f"{served.address}/training?run=../../etc&beside=%3Cscript%3E")
    expect(page.get_by_role("link", name="small/seed-0")).to_be_visible()


def test_a_run_without_verdicts_says_so_and_guesses_none(served: Served, watched: Watched) -> None:
    old = served.folder / "training" / "old" / "seed-0"
    write_run(old, iterations=1)
    text = (old / "groups.jsonl").read_text()
    (old / "groups.jsonl").write_text(text.replace('"correct": true, ', ""))
    watched.page.goto(f"{served.address}/training?run=old/seed-0&beside=other/seed-0")
    expect(watched.page.get_by_text("kept no verdicts")).to_have_count(1)
    expect(watched.page.get_by_role("heading", name=re.compile("^Iteration 1, word"))).to_have_text(
        [re.compile("atlas$")] * 2 + [re.compile(", right$")]
    )


def test_the_pool_answers_on_request(served: Served, watched: Watched) -> None:
    watched.page.goto(f"{served.address}/pool")
    watched.page.get_by_role("button", name="Check now").click()
    expect(watched.page.locator(".cards p.good, .cards p.unsure")).to_have_count(7)
    for wrong in watched.page.locator(".cards p", has_text="(wrong)").all():
        expect(wrong).to_have_class("unsure")  # it answers, and is not green
    assert watched.page.locator(".cards p.good", has_text="(wrong)").count() == 0
    watched.page.reload()
    expect(watched.page.get_by_text(re.compile(r"median [\d.]+ s, \d+ calls?"))).to_have_count(7)
    watched.page.get_by_role("link", name="Runs").click()
    expect(watched.page.locator("tbody")).to_contain_text("atlas")  # a check is a run like any other


def test_light_or_dark_is_remembered(served: Served, watched: Watched) -> None:
    page = watched.page
    page.goto(f"{served.address}/pool")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="Change between light and dark").click()
    dark = page.evaluate(ground)
    assert light != dark
    page.goto(f"{served.address}/runs")
    assert page.evaluate(ground) == dark


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_fits_its_screen(served: Served, browser: Browser, width: int, scheme: str) -> None:
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    wrong = watch(page, served.address)
    for path in ("/", "/play", "/runs", "/training", "/training?run=other/seed-0", "/pool"):
        page.goto(served.address + path)
        expect(page.locator("h1")).to_be_visible()
        expect(page.locator(".way[aria-current=page]")).to_have_count(1)
        expect(page.locator(".charts svg")).to_have_count(6 if "run=" in path else 0)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), f"{path} is wider than the screen"
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip", "the keyboard starts at the way past the navigation"
        assert page.evaluate(UNNAMED) == 0
        assert page.evaluate(TOO_FAINT) == []
    context.close()
    assert wrong == []
