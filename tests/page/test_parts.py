"""The small parts of a page, in a browser: the form of options, coloured code, and the order in which a server hears things."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.page.conftest import serving, watch
from tests.page.contrast import TOO_FAINT
from tests.page.test_pages import UNNAMED


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("parts"), program="tests.page.small_page") as running:
        yield running.address


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 390, "height": 800})
    opened = context.new_page()
    wrong = watch(opened, address)
    opened.goto(address)
    yield opened
    context.close()
    assert wrong == []


def test_options_are_chosen_by_keyboard(page: Page) -> None:
    summary = page.locator(".request-options summary")
    expect(summary).to_have_text("Options")
    assert not page.get_by_label("atlas").is_visible()
    summary.press("Enter")
    expect(page.get_by_label("brook")).to_be_checked()
    page.get_by_label("brook").press("Space")
    expect(summary).to_have_text("Options: 6 of 7 workers")
    page.get_by_role("button", name="Tick no worker").press("Enter")
    expect(page.locator(".mistake")).to_have_text("No worker is left: tick at least one.")
    page.get_by_label("cedar").press("Space")
    page.get_by_label("<img").press("Space")
    page.get_by_label("At most, in dollars").fill("0.05")
    page.get_by_label("At most, in rounds").fill("2")
    expect(summary).to_have_text("Options: 2 of 7 workers; at most $0.05, 2 rounds")
    page.get_by_role("button", name="Read").click()
    told = page.locator("#told")
    expect(told).to_contain_text("workers=('cedar', '<img src=x onerror=window.hit=1>')")
    expect(told).to_contain_text("rounds=2, budget_usd=0.05, session_usd=None, budget_seconds=None")
    page.get_by_label("At most, in seconds").fill("soon")
    expect(summary).to_have_text("Options: something is wrong here")
    page.get_by_role("button", name="Read").click()
    expect(told).to_have_text('ConfigError: The most seconds: "soon" is not a number. Write it like 30.')
    page.get_by_label("At most, in seconds").fill("")
    page.get_by_role("button", name="Tick all workers").click()
    expect(page.get_by_label("delta")).to_be_checked()
    expect(summary).to_have_text("Options: at most $0.05, 2 rounds")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_options_and_code_can_be_read(page: Page, width: int, scheme: str) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.reload()  # colours that are just changing are nobody's choice
    page.locator(".request-options summary").click()
    page.get_by_label("At most, in dollars").fill("nan")
    expect(page.locator(".mistake")).to_contain_text("is not a number")
    expect(page.locator(".rich .hl-key").first).to_be_visible()
    assert page.locator(".rich pre").count() == 4
    assert len({page.locator(f".hl-{name}").first.evaluate("each => getComputedStyle(each).color") for name in NAMES}) == 5
    assert page.evaluate(TOO_FAINT) == []
    assert page.evaluate(UNNAMED) == 0
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


NAMES = ("key", "text", "number", "name", "note")

SLOW_SOCKET = """(() => {
    // The socket is ready when the test says so; of NiceGUI's timers that wait for it, the later ones look first.
    let ready = false, timers = 0;
    Object.defineProperty(window, 'did_handshake', {get: () => ready && !!window.released, set: value => { ready = value; }});
    const later = window.setTimeout;
    window.setTimeout = (act, after, ...more) => later(act, after === 10 ? Math.max(10, 3000 - 500 * timers++) : after, ...more);
})()"""


def test_a_visitor_who_is_faster_than_the_socket_is_heard_in_order(browser: Browser, address: str) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script(SLOW_SOCKET)
    page.goto(address)
    page.get_by_label("Model").select_option("b")
    page.get_by_label("Question").fill("what?")
    page.get_by_label("Question").press("Enter")
    page.evaluate("window.released = true")
    expect(page.locator("#order")).to_have_text("b what?", timeout=20_000)
    context.close()
