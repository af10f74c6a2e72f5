"""Every page by axe-core's rules, in light and dark, at two widths: nothing serious or critical. And the keyboard."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.page.conftest import Served, Watched, at, watch
from tests.page.test_pages import ask

GRAVE = ("serious", "critical")


def faults(page: Page) -> list[str]:
    """What axe-core finds wrong with the page as it stands, one line each."""
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    said = []
    for each in found:
        if each["impact"] in GRAVE:
            first = each["nodes"][0]
            said.append(f"{page.url} {each['id']}: {first['html'][:160]} {first.get('failureSummary', '')}")
    return said


@pytest.fixture(scope="module")
def kept(served: Served, browser: Browser) -> list[str]:
    """The addresses of two kept runs, one of them failed."""
    page = browser.new_page()
    addresses = []
    for model in ("three", "broken"):
        ask(page, served, "How much is 6 times 7, for all eyes and ears?", model)
        # By its address: on a busy machine the form for feedback may come between the button going down and up.
        page.goto(f"{served.address}{page.get_by_role('link', name='A link to this run').get_attribute('href')}")
        expect(page.get_by_role("heading", name="Timeline")).to_be_visible()
        addresses.append(page.url)
    page.close()
    return addresses


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_can_be_used_by_everybody(served: Served, browser: Browser, kept: list[str], width: int, scheme: str) -> None:
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    wrong = watch(page, served.address)
    ids = [each.rsplit("/", 1)[1] for each in kept]
    two = f"/compare?a={ids[0]}&b={ids[1]}"
    found = []
    for path in ("/", "/play", "/runs", "/runs?by=worker", "/training", "/training?run=other/seed-0", "/pool", two, *kept):
        page.goto(path if path.startswith("http") else served.address + path)
        expect(page.locator("h1")).to_be_visible()
        expect(page.locator(".charts svg")).to_have_count(6 if "run=" in path else 0)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), f"{path} is wider than the screen"
        found += faults(page)
    context.close()
    assert found == []
    assert wrong == []


def test_a_wrong_address_shows_the_frame_of_the_page(served: Served, browser: Browser) -> None:
    page = browser.new_page()
    answer = page.goto(f"{served.address}/no/such%3Cscript%3E/page")
    assert answer is not None
    assert answer.status == 404
    expect(page.get_by_role("heading", name="There is nothing at this address")).to_be_visible()
    assert faults(page) == []
    page.get_by_role("link", name="Pool").click()
    expect(page.get_by_role("heading", name="Pool")).to_be_visible()
    page.close()


def test_the_rules_would_notice(served: Served, browser: Browser) -> None:
    page = browser.new_page()
    page.goto(f"{served.address}/pool")
    page.evaluate("document.querySelector('main').append(document.createElement('button'))")
    assert any("button-name" in each for each in faults(page))
    page.close()


def test_the_list_is_gone_through_by_keyboard(served: Served, watched: Watched, kept: list[str]) -> None:
    page = watched.page
    page.goto(f"{served.address}/runs?text=for+all+eyes+and+ears")
    expect(page.locator("p.sums")).to_contain_text("2 runs")
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator(".whole").nth(1)).to_be_focused()
    page.keyboard.press("k")
    expect(page.locator(".whole").nth(0)).to_be_focused()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Search")).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type("jk/")
    expect(page.get_by_role("searchbox", name="Search")).to_have_value("jk/")
    page.keyboard.press("Enter")
    expect(page.locator("p.sums")).to_have_text("No run fits.")
    page.keyboard.press("Escape")
    expect(page.get_by_role("searchbox", name="Search")).not_to_be_focused()
    page.go_back()
    page.goto(f"{served.address}/runs?text=for+all+eyes+and+ears")
    expect(page.locator("p.sums")).to_contain_text("2 runs")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Trace")).to_be_visible()


def test_the_trace_of_a_run(served: Served, watched: Watched, kept: list[str]) -> None:
    page = watched.page
    page.goto(kept[0])
    tree, detail = page.locator(".trace-tree"), page.locator(".trace-detail")
    expect(tree.locator("[data-node]")).to_have_count(6)
    tree.get_by_role("button", name="step 3").click()
    expect(detail.get_by_role("heading")).to_contain_text("step 3")
    said = detail.locator("details", has=page.locator("summary", has_text="Said"))
    asked = detail.locator("details", has=page.locator("summary", has_text="Asked"))
    asked.locator("summary").click()
    said.locator("summary").click()
    # What was unfolded and folded stays so when another part is looked at, and the address says which it is.
    tree.get_by_role("button", name="step 0").click()
    expect(detail.get_by_role("heading")).to_contain_text("step 0")
    expect(asked.locator("pre")).to_be_visible()
    expect(said.locator("pre")).to_be_hidden()
    expect(tree.locator("[aria-pressed=true]")).to_contain_text("step 0")
    assert at(page).endswith("?at=1.0")
    page.reload()
    expect(detail.get_by_role("heading")).to_contain_text("step 0")
    page.goto(f"{kept[0]}?at=9.9.9")
    expect(detail.get_by_role("heading")).to_have_text("Round 1")


def test_a_run_is_asked_again_and_taken_along(served: Served, watched: Watched, kept: list[str]) -> None:
    page = watched.page
    page.goto(kept[0])
    with page.expect_download() as download:
        page.get_by_role("link", name="JSON").click()
    assert '"question":"How much is 6 times 7, for all eyes and ears?"' in download.value.path().read_text()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy the question").click()
    page.wait_for_function("navigator.clipboard.readText().then(text => text.includes('for all eyes and ears'))")
    page.get_by_role("link", name="Ask again, or further").click()
    expect(page.locator(".panel .answer-heading")).to_be_visible()
    answer = page.request.get(f"{served.address}/runs/run_{24 * '0'}/json")
    assert answer.status == 404
