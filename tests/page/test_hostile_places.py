"""The forty texts in every place but a live run: kept runs, tunes, studies, training, a job; forms, and what people answer."""

import fcntl
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.page.conftest import Served, serving, watch
from tests.page.hostile import PAYLOADS
from tests.page.hostile_places import ALL, FOLDER, run_id, write
from tests.page.test_hostile import FOREIGN, HANDLERS
from tests.page.test_pages import ask

OPEN = "document.querySelectorAll('details').forEach(folded => folded.open = true)"

MORE = """[...document.querySelectorAll('.long .button')].filter(each => !each.hidden).map(each => each.click()).length"""


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("places")
    write(folder)
    with (folder / "training" / ".learning" / "lock").open("a+") as lock, serving(folder) as running:
        fcntl.flock(lock, fcntl.LOCK_EX)  # as the process of a tune holds it that is under way
        yield running


@pytest.fixture
def page(browser: Browser, places: Served) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 390, "height": 900})  # where a word too long is noticed first
    context.set_default_timeout(60_000)
    opened = context.new_page()
    wrong = watch(opened, places.address)
    yield opened
    context.close()
    assert wrong == [], "a console error, a dialog, or a request that left the site"


def harmless(page: Page, told: str) -> None:
    """Open what is folded, and see that nothing ran and nothing came in."""
    page.evaluate(OPEN)
    if page.evaluate(MORE):
        page.wait_for_timeout(400)
    assert page.evaluate("window.hit") is None, told
    assert page.locator(FOREIGN).count() == 0, told
    assert not page.evaluate(HANDLERS), told
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), f"{told}: wider than the screen"


@pytest.mark.parametrize("start", range(0, 40, 10))
def test_a_kept_run_with_its_tree_its_tools_and_its_conversation(places: Served, page: Page, start: int) -> None:
    for number in range(start, start + 10):
        told = f"payload {number}: {PAYLOADS[number][:60]!r}"
        page.goto(f"{places.address}/runs/{run_id(number)}")
        expect(page.get_by_role("heading", name="Trace")).to_be_visible()
        expect(page.locator(".turn-run")).to_have_count(2)  # what was said before and after
        harmless(page, told)
        for part in page.locator(".trace-tree [data-node]").all()[:9]:
            part.click()
        for node in page.locator(".node").all()[:4]:
            node.click()
            expect(page.locator(".inspector h3")).to_be_visible()
            harmless(page, told)


def test_two_runs_compared_and_the_page_that_goes_on_with_one(places: Served, page: Page) -> None:
    for number in range(0, 40, 2):
        told = f"payload {number}: {PAYLOADS[number][:60]!r}"
        page.goto(f"{places.address}/compare?a={run_id(number)}&b={run_id(number + 1)}")
        expect(page.locator(".difference li").first).to_be_visible()
        harmless(page, told)
        page.goto(f"{places.address}/?run={run_id(number)}&beside={run_id(number + 1)}")
        expect(page.locator(".panel")).to_have_count(2)
        harmless(page, told)


@pytest.mark.parametrize("by", ["day", "worker", "policy", "model", "key"])
def test_the_list_and_the_sums(places: Served, page: Page, by: str) -> None:
    for number in (1, 2):
        page.goto(f"{places.address}/runs?by={by}&page={number}")
        expect(page.locator(".runs tbody tr").first).to_be_visible()
        harmless(page, f"{by}, page {number}")


@pytest.mark.parametrize("path", ["training", "tuning", "studies"])
def test_learning_and_a_job_that_somebody_else_wrote_down(places: Served, page: Page, path: str) -> None:
    page.goto(f"{places.address}/{path}")
    if path != "training":
        expect(page.get_by_role("region", name="Under way")).to_contain_text("is under way")
    harmless(page, path)
    page.locator("table").get_by_role("link").first.click()
    page.wait_for_function("location.search.includes('run=')")
    expect(page.locator("h2").first).to_be_visible()
    page.wait_for_timeout(1_500)  # a run of training is read a little at a time
    harmless(page, path)


def test_a_person_is_asked_and_answers(places: Served, page: Page) -> None:
    ask(page, places, ALL, "editor")
    waits = page.get_by_role("region", name="Steps that wait for a person")
    expect(waits).to_contain_text("A step waits for you: editor")
    harmless(page, "a question for a person")
    waits.get_by_label("Your answer to editor").fill(ALL)
    waits.get_by_role("button", name="Answer").click()
    expect(page.locator(".answer:visible")).to_have_count(1)
    harmless(page, "a person's answer")


def test_the_form_for_models_of_ones_own(places: Served, page: Page) -> None:
    page.goto(f"{places.address}/models")
    labels = ("Model", "Variable that holds the key", "Address, if another", "$ per million read", "File")
    told = page.locator("main > p[role=status]")
    for number in range(0, 32, 3):
        for label in labels:
            page.get_by_label(label, exact=True).fill(PAYLOADS[number].replace("\n", " ")[:280])
        page.get_by_role("button", name="Check", exact=True).click()
        expect(told).not_to_have_text("")
        harmless(page, f"payload {number}")
    for label in labels:
        page.get_by_label(label, exact=True).fill("")
    page.get_by_label("Model", exact=True).fill("evil")
    page.get_by_label("Address, if another").fill(f"{places.address}/v1")
    for number in range(0, 32, 3):
        page.get_by_label("Ask them something").fill(f"Payload {number}")
        page.get_by_role("button", name="Check and ask").click()
        page.wait_for_timeout(500)
        expect(page.get_by_role("button", name="Check and ask")).to_be_enabled()
        expect(told).to_have_text("All of them answered.")
        harmless(page, f"payload {number}")
    page.get_by_label("Model", exact=True).fill(FOLDER)
    page.get_by_role("button", name="Check and ask").click()
    expect(told).to_contain_text("the model's name is what the provider calls it")
    harmless(page, "a model's name")
