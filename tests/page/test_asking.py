"""The Ask page as a story: the conductor in the picture, nothing is lost, a telephone, verdicts, a conversation."""

import re
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.page.conftest import Served, Watched, at, serving, watch
from tests.page.contrast import TOO_FAINT
from tests.page.cut import Wire
from tests.page.test_pages import UNNAMED, ask

DOLLARS = re.compile(r"\$(\d+\.\d+)")


def dollars(page: Page, where: str) -> list[float]:
    """All sums of money in the element ``where``."""
    return [float(found) for found in DOLLARS.findall(page.locator(where).first.inner_text())]


def example(page: Page, served: Served) -> str:
    """A problem that the pool brings, in the field."""
    page.goto(f"{served.address}/")
    page.locator(".examples .button").first.click()
    field = page.get_by_role("textbox", name="Question")
    expect(field).to_have_value(re.compile(r"\w{3}"))
    return field.input_value()


def test_the_conductor_is_the_first_node_and_bar_and_the_parts_are_the_whole(served: Served, watched: Watched) -> None:
    page = watched.page
    (served.folder / "go_on").unlink(missing_ok=True)
    ask(page, served, "Anything?", "plans")
    plan = page.locator(".node.plan")
    expect(plan).to_contain_text("writes")
    plan.click()
    written = page.locator(".inspector pre")
    expect(written).to_contain_text("model_id")
    assert "access_list" not in written.inner_text(), "it streams"
    (served.folder / "go_on").touch()
    expect(page.locator(".status")).to_contain_text("tokens · $")
    expect(written).to_contain_text("access_list = [[], [0]]")
    expect(plan).to_contain_text("done")
    expect(plan).to_contain_text("250 tokens · $0.0200")
    planning, working = dollars(page, ".bill")
    [whole] = dollars(page, ".status")
    assert planning + working == pytest.approx(whole, abs=1e-4)
    assert planning > working
    assert page.locator(".edge.done").count() >= 2, "a line leads from the plan, too"
    page.get_by_role("link", name="A link to this run").click()
    expect(page.locator(".time-name").first).to_have_text("Conductor")
    assert page.locator(".time-name").all_inner_texts()[1:] == ["0 brook", "1 atlas"]
    expect(page.locator(".node.plan")).to_contain_text("250 tokens · $0.0200")


def test_a_run_is_found_again_after_a_reload_and_stopped_from_another_tab(served: Served, watched: Watched) -> None:
    page = watched.page
    stopped = served.folder / "stopped"
    stopped.unlink(missing_ok=True)
    ask(page, served, "Will this be lost?", "slow")
    page.wait_for_function("/\\/\\?run=run_[0-9a-f]{24}$/.test(location.href)")
    page.reload()
    expect(page.get_by_role("textbox", name="Question", exact=True)).to_have_value("Will this be lost?")
    expect(page.get_by_label("Model")).to_have_value("slow")
    expect(page.locator(".node.is-runs")).to_have_count(1)
    expect(page.get_by_role("button", name="Stop", exact=True)).to_be_enabled()
    other = page.context.new_page()
    other.goto(f"{served.address}/")
    listed = other.get_by_role("region", name="Under way")
    expect(listed).to_contain_text(re.compile(r"\d runs? under way"))
    listed.get_by_role("link", name="Will this be lost?").click()
    expect(other.locator(".node.is-runs")).to_have_count(1)
    page.goto(f"{served.address}/runs")
    listed = page.get_by_role("region", name="Under way")
    expect(listed.get_by_role("link", name="Will this be lost?")).to_be_visible()
    expect(listed.get_by_role("button", name="Stop: Will this be lost?")).to_be_visible()
    other.get_by_role("button", name="Stop", exact=True).click()
    expect(other.locator(".stopped-note:visible")).to_contain_text("Stopped")
    expect(other.locator(".failure")).to_be_hidden()
    assert stopped.exists(), "the call was stopped, too"
    page.go_back()
    expect(page.locator(".stopped-note:visible")).to_contain_text("Stopped")
    expect(page.locator(".node.is-cut")).to_contain_text("stopped")
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_enabled()
    assert (served.folder / "paid").read_text().count("Will this be lost?") == 1, "nothing is paid twice"
    other.close()


def test_a_page_that_is_closed_leaves_its_run_under_way(served: Served, browser: Browser) -> None:
    context = browser.new_context()
    context.set_default_timeout(60_000)
    page = context.new_page()
    ask(page, served, "Is anybody there?", "slow")
    expect(page.locator(".node.is-runs:not(.plan)")).to_have_count(1)
    context.close()
    context = browser.new_context()
    context.set_default_timeout(60_000)
    page = context.new_page()
    page.goto(f"{served.address}/")
    stop = page.get_by_role("button", name="Stop: Is anybody there?")
    expect(stop).to_be_visible()
    stop.click()
    expect(page.get_by_role("region", name="Under way")).to_be_hidden()
    context.close()


def test_back_shows_the_question_before(served: Served, watched: Watched) -> None:
    page = watched.page
    ask(page, served, "What is first?", "remembers")
    expect(page.locator(".answer")).to_contain_text("What is first?")
    page.get_by_role("textbox", name="Question", exact=True).fill("What is second?")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".answer")).to_contain_text("What is second?")
    page.go_back()
    expect(page.locator(".answer")).to_contain_text("What is first?")
    expect(page.get_by_role("textbox", name="Question", exact=True)).to_have_value("What is first?")
    page.go_forward()
    expect(page.locator(".answer")).to_contain_text("What is second?")
    page.goto(f"{served.address}/?run=run_{24 * '0'}")
    expect(page.get_by_text("There is no run at this address")).to_be_visible()
    expect(page.get_by_role("textbox", name="Question", exact=True)).to_have_value("")


def test_a_step_that_never_began_says_so(served: Served, watched: Watched) -> None:
    page = watched.page
    ask(page, served, "Anything?", "in turn")
    expect(page.locator(".node.is-runs:not(.plan)")).to_have_count(1)
    page.get_by_role("button", name="Stop", exact=True).click()
    never = page.locator(".node.is-never")
    expect(never).to_contain_text("not started")
    never.click()
    expect(page.locator(".inspector")).to_contain_text("It was not started: the run was over before.")
    page.reload()
    expect(page.locator(".node.is-never")).to_contain_text("not started")
    expect(page.locator(".node.is-cut")).to_contain_text("stopped")
    assert page.evaluate(TOO_FAINT) == []


def test_a_connection_that_is_cut_for_long_loses_nothing(served: Served, browser: Browser) -> None:
    """On the page that asked, on the page of a run, and on that of one which ends meanwhile."""
    go_on = served.folder / "go_on"
    go_on.unlink(missing_ok=True)
    context = browser.new_context()
    context.set_default_timeout(60_000)
    asks, shows, ends = context.new_page(), context.new_page(), context.new_page()
    question = f"Still there, {uuid4()}?"
    with Wire(served.address) as wire:
        through = served._replace(address=wire.address)
        ask(asks, through, question, "slow")
        working = ".node.is-runs:not(.plan)"
        expect(asks.locator(working)).to_have_count(1)
        asks.wait_for_function("/run=run_/.test(location.href)")
        shows.goto(f"{wire.address}/runs/{at(asks).partition('?run=')[2]}")
        expect(shows.locator(working)).to_have_count(1)
        ask(ends, through, "Anything?", "plans")
        ends.get_by_role("link", name="A link to this run").click()
        expect(ends.locator(".node.plan.is-runs")).to_have_count(1)
        shows.evaluate("window.before = true")
        for page in (asks, shows, ends):
            page.wait_for_function("window.did_handshake")  # one that was never connected can not tell that it lost its server
        wire.cut()
        for page in (asks, shows, ends):
            expect(page.locator("#popup")).to_be_visible()  # it says that it lost its server
        go_on.touch()  # this one ends while nobody hears of it
        shows.wait_for_timeout(30_000)  # by then the server has forgotten its pages
        wire.mend()
        expect(ends.locator(".answer:visible")).to_have_count(1)
        expect(ends.get_by_role("heading", name="Timeline")).to_be_visible()
        expect(asks.get_by_role("textbox", name="Question", exact=True)).to_have_value(question)
        for page in (asks, shows):
            expect(page.locator(working)).to_have_count(1)
            expect(page.locator("#popup")).to_be_hidden()
        assert shows.evaluate("window.before") is None, "the server had forgotten the page, and it was loaded anew"
        shows.get_by_role("button", name="Stop", exact=True).click()
        for page in (asks, shows):
            expect(page.locator(".stopped-note:visible")).to_contain_text("Stopped before there was an answer")
        assert (served.folder / "paid").read_text().count(question) == 1, "nothing is paid twice"
    context.close()


def test_a_server_that_is_started_again_knows_the_run_it_stopped(browser: Browser, tmp_path: Path) -> None:
    page = browser.new_page()
    page.set_default_timeout(60_000)
    with serving(tmp_path) as first:
        ask(page, first, "Who stops me?", "slow")
        expect(page.locator(".node.is-runs:not(.plan)")).to_have_count(1)
        run = at(page).partition("?")[2]
    expect(page.locator("#popup")).to_be_visible()  # the page says that it lost its server
    with serving(tmp_path, port=int(first.address.rpartition(":")[2])) as second:
        # The page that was left open finds the server again and shows what became of the run; so does a new one.
        other = browser.new_page()
        other.set_default_timeout(60_000)
        other.goto(f"{second.address}/?{run}")
        for each in (page, other):
            expect(each.get_by_role("textbox", name="Question", exact=True)).to_have_value("Who stops me?")
            expect(each.locator(".stopped-note:visible")).to_contain_text("Stopped before there was an answer")
        assert (tmp_path / "paid").read_text().count("Who stops me?") == 1, "nothing is paid twice"
        other.close()
    page.close()


def phone(browser: Browser, served: Served, scheme: str) -> tuple[Page, list[str]]:
    context = browser.new_context(viewport={"width": 390, "height": 800}, color_scheme=scheme)  # type: ignore[arg-type]
    context.set_default_timeout(60_000)
    page = context.new_page()
    return page, watch(page, served.address)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_telephone_the_view_goes_to_the_run(served: Served, browser: Browser, scheme: str) -> None:
    page, wrong = phone(browser, served, scheme)
    ask(page, served, "How many?", "vote")
    expect(page.locator(".answer:visible")).to_have_count(1)
    expect(page.get_by_role("textbox", name="Question", exact=True)).to_be_hidden()
    page.wait_for_function("Math.abs(document.querySelector('.thread').getBoundingClientRect().top) < 200")
    expect(page.locator(".band-words")).to_have_text("4 at the same time")
    band, after = page.locator(".band").bounding_box(), page.locator(".node[data-step='4']").bounding_box()
    assert band is not None
    assert after is not None
    for step in range(4):
        inside = page.locator(f".node[data-step='{step}']").bounding_box()
        assert inside is not None
        assert band["y"] <= inside["y"]
        assert inside["y"] + inside["height"] <= band["y"] + band["height"]
    assert after["y"] > band["y"] + band["height"], "what sees them stands below"
    expect(page.locator(".node[data-step='4']")).to_contain_text("Counts the answers of 4 steps")
    assert page.evaluate(TOO_FAINT) == []
    assert page.evaluate(UNNAMED) == 0
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.get_by_text("New question").click()
    expect(page.get_by_role("textbox", name="Question", exact=True)).to_be_visible()
    assert wrong == []
    page.context.close()


def test_options_that_lead_nowhere_say_why(served: Served, watched: Watched) -> None:
    page = watched.page
    page.goto(f"{served.address}/")
    page.locator("summary", has_text="Options").click()
    expect(page.get_by_label("At most, in rounds")).to_be_enabled()
    page.get_by_label("At most, in rounds").fill("3")
    page.get_by_label("Model").select_option("brook")
    expect(page.get_by_label("At most, in rounds")).to_be_disabled()
    expect(page.get_by_role("checkbox", name="atlas")).to_be_disabled()
    expect(page.get_by_text("brook is one worker alone: it asks nobody else.")).to_be_visible()
    expect(page.get_by_label("Compare with").locator("option[value=brook]")).to_be_disabled()
    page.get_by_role("textbox", name="Question", exact=True).fill("What is 17 + 25?")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator(".answer:visible")).to_have_count(1)
    page.get_by_label("Model").select_option("three")
    expect(page.get_by_role("checkbox", name="atlas")).to_be_enabled()
    expect(page.get_by_label("At most, in rounds")).to_be_enabled()


def test_an_answer_is_right_or_wrong_and_two_are_compared(served: Served, watched: Watched) -> None:
    page = watched.page
    question = example(page, served)
    page.get_by_label("Model").select_option("best")
    page.get_by_label("Compare with").select_option("talks")
    page.get_by_role("button", name="Ask", exact=True).click()
    differ = page.get_by_role("region", name="How they differ")
    expect(differ).to_contain_text(re.compile("best is right, talks is wrong|Both are wrong"))
    expect(differ).to_contain_text(re.compile(r"best took \d steps?, talks 1 step\."))
    expect(differ).to_contain_text(re.compile(r"times as long|no difference"))
    expect(differ).to_contain_text("they can not be compared")
    expect(page.locator(".panel").nth(0).locator(".verdict")).to_have_text(re.compile("^(Right|Wrong)"))
    expect(page.locator(".panel").nth(1).locator(".verdict.bad")).to_have_text(re.compile("^Wrong"))
    assert page.evaluate(TOO_FAINT) == []
    page.wait_for_function("/\\?run=run_\\w+&beside=run_\\w+$/.test(location.href)")
    page.reload()
    expect(page.locator(".panel")).to_have_count(2)
    expect(page.get_by_label("Compare with")).to_have_value("talks")
    expect(differ).to_contain_text(re.compile("is right|are wrong"))
    expect(page.get_by_role("textbox", name="Question", exact=True)).to_have_value(question)


def test_a_question_nobody_knows_the_answer_of_gets_no_verdict(served: Served, watched: Watched) -> None:
    page = watched.page
    ask(page, served, "Is this known?", "remembers", beside="talks")
    differ = page.get_by_role("region", name="How they differ")
    expect(differ).to_contain_text("Which is right is not known for this question.")
    assert page.locator(".verdict").count() == 0


def test_a_conversation_goes_on_and_is_one_story(served: Served, watched: Watched) -> None:
    page = watched.page
    ask(page, served, "My name is Ada.", "remembers")
    expect(page.locator(".answer")).to_contain_text("I was told 1 things")
    page.get_by_label("Ask further").fill("What is my name?")
    page.get_by_label("Ask further").press("Enter")
    expect(page.locator(".answer")).to_contain_text("I was told 3 things, the first was 'My name is Ada.'")
    expect(page.locator(".before")).to_contain_text("My name is Ada.")
    expect(page.locator(".asked")).to_contain_text("What is my name?")
    page.reload()
    expect(page.locator(".before")).to_contain_text("I was told 1 things")
    page.get_by_label("Ask further").fill("And now?")
    page.get_by_label("Ask further").press("Enter")
    expect(page.locator(".answer")).to_contain_text("I was told 5 things")
    expect(page.locator(".thread > .asked")).to_be_in_viewport()
    page.get_by_role("link", name="A link to this run").click()
    story = page.locator(".story")
    expect(story.locator(".turn")).to_have_count(3)
    expect(story).to_contain_text("My name is Ada.")
    expect(story.locator(".turn").nth(2)).to_contain_text("Planned 1 step: remembers; remembers answered.")
    expect(page.get_by_text(re.compile(r"^3 runs: "))).to_be_visible()
    assert page.evaluate(TOO_FAINT) == []
    page.get_by_role("link", name="Ask again, or further").click()
    expect(page.locator(".answer")).to_contain_text("I was told 5 things")
    expect(page.get_by_label("Ask further")).to_be_visible()
