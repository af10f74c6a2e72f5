"""Forty texts made to break out, said by workers and shown by the page in a real browser: none of them runs."""

import pytest
from playwright.sync_api import expect

from tests.page.conftest import Served, Watched
from tests.page.hostile import HIT, PAYLOADS
from tests.page.test_pages import ask

FOREIGN = ".content :is(img, script, iframe, object, embed, form, style, link, meta, base, .rich a, .rich input, .rich svg)"
"""Nothing of this is on a page unless a payload put it there."""
HANDLERS = """[...document.querySelectorAll('*')].some(
    element => [...element.attributes].some(each => /^on/i.test(each.name) || /^\\s*javascript:/i.test(each.value)))"""


def test_there_are_forty() -> None:
    assert len(set(PAYLOADS)) == 40


@pytest.mark.parametrize("start", range(0, 40, 10))
def test_nothing_a_worker_says_runs(served: Served, watched: Watched, start: int) -> None:
    page = watched.page
    for number in range(start, start + 10):
        ask(page, served, f"Payload {number}", "evil")
        expect(page.locator(".answer-heading")).to_be_visible()
        page.locator(".node:not(.plan)").nth(1).click()
        expect(page.locator(".inspector h3")).to_be_visible()
        page.evaluate("document.querySelectorAll('details').forEach(folded => folded.open = true)")
        more = page.locator(".long .button:visible")
        while more.count():
            # In one go: the page may draw itself anew between looking for a button and pressing it.
            page.evaluate("document.querySelectorAll('.long .button').forEach(each => each.checkVisibility() && each.click())")
            page.wait_for_timeout(30)
        for clickable in page.locator(".rich .link").all()[:2]:
            clickable.click()
        page.wait_for_timeout(60)
        told = f"payload {number}: {PAYLOADS[number][:60]!r}"
        assert page.evaluate("window.hit") is None, told
        assert page.locator(FOREIGN).count() == 0, told
        assert not page.evaluate(HANDLERS), told
        assert page.url.startswith(f"{served.address}/?run=run_"), told
        assert watched.wrong == [], told
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), told
    page.get_by_role("link", name="A link to this run").click()
    expect(page.get_by_role("heading", name="Timeline")).to_be_visible()
    assert page.evaluate("window.hit") is None
    assert page.locator(FOREIGN).count() == 0


def test_the_probe_would_notice(served: Served, watched: Watched) -> None:
    """Without our escaping and without DOMPurify the page's own policy still keeps a handler from running."""
    page = watched.page
    page.goto(f"{served.address}/pool")
    page.evaluate(f"""() => {{ const box = document.createElement('div'); document.querySelector('.content').append(box);
        box.innerHTML = '<img src=x onerror="{HIT}">'; }}""")
    page.wait_for_timeout(300)
    assert page.locator(FOREIGN).count() == 1
    assert page.evaluate(HANDLERS)
    assert page.evaluate("window.hit") is None
    assert any("Content Security Policy" in message for message in watched.wrong)
    watched.wrong.clear()


def test_formulas_are_laid_out(served: Served, watched: Watched) -> None:
    page = watched.page
    ask(page, served, "Payload 16", "evil")
    expect(page.locator(".rich math")).to_have_count(1)
    expect(page.locator(".rich mtext")).to_contain_text("<img/src=")
