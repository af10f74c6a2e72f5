"""The first use: what the pool can do, one's own models, what one thinks of an answer, a step that waits for a person."""

import re

from playwright.sync_api import Browser, expect

from podium.page.shown import LONG
from tests.page.conftest import Served, Watched
from tests.page.contrast import TOO_FAINT
from tests.page.hostile import HIT
from tests.page.test_asking import example, phone
from tests.page.test_pages import UNNAMED, ask

EVIL = f'<img src=x onerror="{HIT}">'


def test_a_new_visitor_is_told_what_the_pool_can_do(served: Served, watched: Watched) -> None:
    page = watched.page
    page.goto(f"{served.address}/")
    about = page.get_by_role("region", name="About this pool")
    expect(about).to_contain_text(re.compile(r"7 simulated workers.*problems of \d+ kinds"))
    page.get_by_role("textbox", name="Question", exact=True).fill("Nobody can answer this.")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.get_by_text("This pool does not know such questions.")).to_be_visible()
    assert page.locator(".panel").count() == 0
    assert page.locator(".failure:visible").count() == 0
    assert "run=" not in page.url, "nothing was asked"
    example(page, served)
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator(".answer:visible")).to_have_count(1)
    expect(page.get_by_text("This pool does not know such questions.")).to_be_hidden()
    about.get_by_role("link", name="Bring your own models").click()
    expect(page.get_by_role("heading", name="Your own models")).to_be_visible()


def test_ones_own_models_are_checked_asked_and_written(served: Served, watched: Watched) -> None:
    page = watched.page
    page.goto(f"{served.address}/models")
    told = page.locator("main > p[role=status]")
    page.get_by_role("button", name="Check", exact=True).click()
    expect(told).to_have_text("Name at least one model.")
    model, address = page.get_by_label("Model", exact=True), page.get_by_label("Address, if another")
    model.fill("sk-proj-a1B2a1B2a1B2a1B2a1B2")
    page.get_by_role("button", name="Check", exact=True).click()
    expect(told).to_contain_text("looks like a key")
    model.fill("remembers")
    address.fill(f"{served.address}/v1")
    page.get_by_label("Ask them something").fill("What is it that I ask?")
    page.get_by_role("button", name="Another model").click()
    model.nth(1).fill("nobody-here")
    address.nth(1).fill(f"{served.address}/v1")
    page.get_by_role("button", name="Check and ask").click()
    expect(told).to_have_text("1 of 2 gave no answer.")
    expect(page.locator(".card-line").nth(0)).to_contain_text("What is it that I ask?")
    expect(page.locator(".card-line").nth(1).locator(".bad")).to_contain_text("nobody-here")
    page.get_by_role("textbox", name="File").fill("../mine.toml")
    page.get_by_role("button", name="Write the file").click()
    expect(told).to_contain_text("ends in .toml")
    page.get_by_role("textbox", name="File").fill("mine.toml")
    page.get_by_role("button", name="Write the file").click()
    expect(told).to_contain_text("podium serve --pool mine.toml")
    assert 'model = "openai:remembers"' in (served.folder / "mine.toml").read_text()
    page.get_by_role("button", name="Write the file").click()
    expect(told).to_contain_text("There is a file mine.toml already")
    assert not (served.folder.parent / "mine.toml").exists()
    assert page.evaluate(TOO_FAINT) == []
    assert page.evaluate(UNNAMED) == 0


def test_what_one_thinks_of_an_answer_is_kept(served: Served, watched: Watched) -> None:
    page = watched.page
    ask(page, served, f"What is {EVIL}?", "remembers")
    page.get_by_role("button", name="The answer is bad").click()
    expect(page.get_by_role("button", name="The answer is bad")).to_have_attribute("aria-pressed", "true")
    page.get_by_text("Write the right answer").click()
    page.get_by_role("textbox", name="Right answer").fill(EVIL)
    page.get_by_role("button", name="Keep it").click()
    expect(page.get_by_text("Kept. podium runs problems")).to_be_visible()
    page.get_by_role("link", name="A link to this run").click()
    expect(page.get_by_role("button", name="The answer is bad")).to_have_attribute("aria-pressed", "true")
    page.get_by_text("Write the right answer").click()
    expect(page.get_by_role("textbox", name="Right answer")).to_have_value(EVIL)
    other = page.context.new_page()
    other.goto(page.url)
    page.get_by_role("textbox", name="Right answer").fill("17")
    page.get_by_role("button", name="Keep it").click()
    expect(page.get_by_text("Kept. podium runs problems")).to_be_visible()
    other.get_by_role("button", name="The answer is good").click()
    expect(other.get_by_text("Kept. podium runs problems")).to_be_visible()
    other.reload()
    other.get_by_text("Write the right answer").click()
    expect(other.get_by_role("textbox", name="Right answer")).to_have_value("17")  # what another tab wrote is not undone
    other.get_by_role("textbox", name="Right answer").fill(" ")
    other.get_by_role("button", name="The answer is good").click()
    expect(other.get_by_text("Taken back.")).to_be_visible()
    other.close()
    page.get_by_role("button", name="The answer is good").click()
    expect(page.get_by_role("button", name="The answer is bad")).to_have_attribute("aria-pressed", "false")
    page.reload()
    expect(page.get_by_role("button", name="The answer is good")).to_have_attribute("aria-pressed", "true")
    assert page.evaluate("window.hit") is None


def test_a_step_waits_for_a_person_on_the_page(served: Served, watched: Watched, browser: Browser) -> None:
    page = watched.page
    ask(page, served, f"Shall we? {EVIL}", "editor")
    waits = page.get_by_role("region", name="Steps that wait for a person")
    expect(waits).to_contain_text("A step waits for you: editor")
    expect(waits).to_contain_text("Shall we?")
    waits.get_by_role("button", name="Answer").click()
    expect(page.get_by_text("an answer has 1 to")).to_be_visible()
    other, wrong = phone(browser, served, "dark")
    other.goto(f"{served.address}/")
    there = other.get_by_role("region", name="Steps that wait for a person")
    there.get_by_label("Your answer to editor").fill(f"Yes. {EVIL}")
    other.wait_for_timeout(2_500)
    expect(there.get_by_label("Your answer to editor")).to_have_value(f"Yes. {EVIL}")
    assert other.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert other.evaluate(TOO_FAINT) == []
    there.get_by_role("button", name="Answer").click()
    expect(other.get_by_text("Answered; the step goes on.")).to_be_visible()
    expect(there).to_be_hidden()
    other.context.close()
    assert wrong == []
    expect(page.locator(".answer")).to_contain_text("Yes.")
    expect(waits).to_be_hidden()
    assert page.evaluate("window.hit") is None


def test_tools_are_shown_and_who_is_waited_for(served: Served, watched: Watched) -> None:
    page = watched.page
    ask(page, served, "Find it.", "searches")
    node = page.locator(".node:not(.plan)")
    expect(node).to_contain_text("asks the client")
    expect(page.get_by_text("It asks the client to call deploy <img")).to_be_visible()
    node.click()
    expect(page.locator(".inspector")).to_contain_text("called search <img")
    expect(page.locator(".inspector")).to_contain_text("asks the client to call deploy <img")
    page.get_by_label("Ask further").fill("And now?")
    page.get_by_label("Ask further").press("Enter")
    expect(page.locator(".asked")).to_contain_text("And now?")
    expect(node).to_contain_text("asks the client")
    page.get_by_role("link", name="A link to this run").click()
    story = page.locator(".story")
    expect(story.locator(".turn")).to_have_count(2)
    expect(story).to_contain_text("searches asks the client.")
    expect(story).to_contain_text("searches called search <img")
    expect(page.get_by_text("90 % of what was read came from a cache").first).to_be_visible()
    page.evaluate("document.querySelectorAll('details').forEach(folded => folded.open = true)")
    assert page.evaluate("window.hit") is None
    assert page.evaluate(TOO_FAINT) == []
    assert page.get_by_text("Was this right?").count() == 0
    run = page.url.rsplit("/", 1)[1].partition("?")[0]
    for status, count in (("asks", 1), ("answered", 0)):
        page.goto(f"{served.address}/runs?status={status}&worker=searches")
        expect(page.locator("[aria-live].sums")).not_to_be_empty()
        expect(page.locator(f"tr:has(a[href$='{run}'])", has_text="asks the client")).to_have_count(count)


def test_hostile_words_in_every_new_place(served: Served, watched: Watched) -> None:
    page = watched.page
    long = "{{hit}} " + EVIL + "\u202e" + "<script>window.hit=1</script>" + "x" * 300
    ask(page, served, long, "slow")
    other = page.context.new_page()
    other.goto(f"{served.address}/")
    listed = other.get_by_role("region", name="Under way")
    expect(listed).to_contain_text("<img src=x")
    listed.get_by_role("button").click()
    expect(listed).to_be_hidden()
    other.close()
    expect(page.locator(".asked")).to_contain_text("<script>")
    ask(page, served, long, "remembers")
    expect(page.locator(".answer")).to_contain_text("I was told")
    page.get_by_label("Ask further").fill(long)
    page.get_by_label("Ask further").press("Enter")
    expect(page.locator(".before")).to_contain_text("<script>")
    expect(page.locator(".answer")).to_contain_text("I was told 3 things")  # before that, the link is still the first run's
    page.get_by_role("link", name="A link to this run").click()
    expect(page.locator(".story")).to_contain_text("<img src=x")
    page.goto(f"{served.address}/?run={'x' * 5000}&beside=%3Cscript%3Ewindow.hit=1%3C/script%3E")
    expect(page.get_by_text("There is no run at this address")).to_be_visible()
    assert page.evaluate("window.hit") is None
    assert len(long) < LONG
