"""Runs of certain days, looked for in the browser."""

from datetime import UTC, date, datetime, timedelta
from urllib.parse import parse_qsl
from uuid import uuid4

import pytest
from playwright.sync_api import expect

from podium.page.runs_query import RunsQuery
from podium.page.spending import spent_by_day, spent_on
from podium.serving.store.runs import Sums
from tests.page.conftest import Served, Watched, at
from tests.page.test_pages import ask


def test_runs_are_found_by_day(served: Served, watched: Watched) -> None:
    page = watched.page
    ask(page, served, "How much is 5 times 19 on this day?", "brook")
    expect(page.locator(".answer:visible")).to_have_count(1)
    page.get_by_role("link", name="Runs").click()
    rows, told = page.locator("tbody tr"), page.locator("p[aria-live]")
    page.get_by_role("searchbox", name="Search").fill("5 times 19")
    page.get_by_role("searchbox", name="Search").press("Enter")
    expect(rows).to_have_count(1)
    day = datetime.strptime(page.locator("tbody a").inner_text(), "%Y-%m-%d %H:%M").replace(tzinfo=UTC).date()
    before, after = day - timedelta(days=1), day + timedelta(days=1)
    start, end = page.get_by_label("From"), page.get_by_label("Until")
    end.fill(str(before))
    expect(told).to_have_text("No run fits.")
    expect(rows).to_have_count(0)
    end.fill(str(day))
    expect(rows).to_have_count(1)
    start.fill(str(day))
    expect(told).to_contain_text("1 run · ")
    expect(rows).to_have_count(1)
    start.fill(str(after))
    expect(told).to_have_text(f"Nothing lies between: from {after} is after until {day}.")
    expect(rows).to_have_count(0)
    end.fill("")
    expect(told).to_have_text("No run fits.")
    end.fill("0001-01-01")
    start.fill("")
    expect(told).to_have_text("No run fits.")
    end.fill("")
    expect(rows).to_have_count(1)


def test_a_day_that_no_calendar_has(served: Served, watched: Watched) -> None:
    page = watched.page
    page.goto(f"{served.address}/runs")
    page.get_by_label("From").click(position={"x": 15, "y": 20})
    page.keyboard.type("02312026")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.locator("p[aria-live]")).to_have_text(
        "From: what stands there is not a day. Write year, month and day, like 2026-05-03."
    )


def test_the_address_says_what_is_shown_and_back_shows_it_again(served: Served, watched: Watched) -> None:
    page = watched.page
    mark = uuid4().hex[:8]  # another browser may have asked this server before
    for number in (3, 1, 2):
        ask(page, served, f"Is {number} in the address of this list {mark}?", "brook" if number < 3 else "three")
        expect(page.get_by_role("link", name="A link to this run")).to_be_visible()
    page.goto(f"{served.address}/runs")
    rows, told = page.locator("tbody tr"), page.locator("p[aria-live]")
    page.get_by_role("searchbox", name="Search").fill(f"the address of this LIST {mark}")
    page.get_by_role("searchbox", name="Search").press("Enter")
    expect(told).to_contain_text("3 runs · ")
    page.get_by_role("combobox", name="Worker", exact=True).select_option("brook")
    page.get_by_role("combobox", name="Model", exact=True).select_option("brook")
    expect(told).to_contain_text("2 runs · ")
    page.get_by_role("link", name="Cost").click()
    expect(page.locator("th[aria-sort=descending]")).to_contain_text("Cost")
    page.get_by_role("link", name="Cost").click()
    expect(page.locator("th[aria-sort=ascending]")).to_contain_text("Cost")
    expect(page.get_by_role("searchbox", name="Search")).to_have_value(f"the address of this LIST {mark}")
    expect(page.get_by_role("combobox", name="Model", exact=True)).to_have_value("brook")
    before = rows.locator(".wide").all_inner_texts()
    assert len(before) == 2
    # The whole row leads to the run, not only its time: the link lies over the cell, so the click is at the cell's place.
    rows.nth(1).locator(".wide").click(force=True)
    expect(page.get_by_role("heading", name="Timeline")).to_be_visible()
    page.go_back()
    expect(told).to_contain_text("2 runs · ")
    assert rows.locator(".wide").all_inner_texts() == before
    page.reload()
    expect(told).to_contain_text("2 runs · ")
    page.goto(f"{served.address}/runs?text=no+such+words&page=7&sort=%3Cscript%3E&status=odd&since=2026-99-99")
    expect(told).to_have_text('From: "2026-99-99" is not a day. Write year, month and day, like 2026-05-03.')


def test_where_the_dollars_went(served: Served, watched: Watched) -> None:
    page = watched.page
    ask(page, served, "What did these dollars buy?", "three")
    expect(page.get_by_role("link", name="A link to this run")).to_be_visible()
    page.goto(f"{served.address}/runs?text=these+dollars")
    page.get_by_text("Where the dollars went").click()
    expect(page.locator("svg[role=img]")).to_be_visible()
    page.get_by_role("combobox", name="Dollars by").select_option("worker")
    expect(page.locator(".shares")).to_contain_text("brook")
    shares = [float(each.split("$")[1].split(" ")[0]) for each in page.locator(".shares li").all_inner_texts()]
    total = page.locator("p.sums").inner_text().split("$")[1].split(" ")[0]
    assert f"{sum(shares):.6f}" == total
    assert "by=worker" in at(page)
    page.reload()
    expect(page.locator(".shares")).to_contain_text("brook")


def test_two_runs_are_compared(served: Served, watched: Watched) -> None:
    page = watched.page
    for model in ("brook", "three"):
        ask(page, served, "Which of these two is cheaper?", model)
        expect(page.locator(".answer:visible")).to_have_count(1)  # it is over, and kept
    page.goto(f"{served.address}/runs?text=these+two+is+cheaper")
    compare = page.get_by_role("link", name="Compare the two that are ticked")
    page.locator("tbody .tick").nth(0).check()
    expect(compare).to_be_hidden()
    page.locator("tbody .tick").nth(1).check()
    compare.click()
    expect(page.get_by_role("heading", name="Two runs")).to_be_visible()
    expect(page.locator(".panel")).to_have_count(2)
    expect(page.locator(".difference")).to_contain_text("Cost: $")
    page.goto(f"{served.address}/compare?a=run_{24 * '0'}&b=%3Cscript%3E")
    expect(page.get_by_text("There is no such run")).to_have_count(2)


def test_days_at_the_ends_of_the_calendar() -> None:
    for first, last in ((date.min, date.min), (date.max, date.min), (date.min, date.max), (date(2026, 5, 3), date(2026, 5, 2))):
        assert "<svg" in spent_by_day({}, first, last)
    sums = Sums(runs=1, usd=0.0, unpriced=1, tokens=0, seconds=1.0)
    assert "on some days a price is unknown" in spent_by_day({"2026-05-03": sums}, date(2026, 5, 2), date(2026, 5, 3))
    assert "price unknown" in spent_on({"<b>": sums}, {})
    assert "<b>" not in spent_on({"<b>": sums}, {})


@pytest.mark.parametrize(
    "address", ["page=0", "page=x", "page=%00", "page=99999999999", "sort=id;--", "by=", "up=yes", "status=true"]
)
def test_what_makes_no_sense_in_an_address_is_left_out(address: str) -> None:
    name, value = address.split("=")
    assert RunsQuery.read({name: value}).query == ""


def test_the_address_is_read_as_it_was_written() -> None:
    query = RunsQuery(text="a&b=ü%", model="x", status="failed", sort="cost", up=True, page=7, by="worker", since="2026-05-03")
    assert RunsQuery.read(dict(parse_qsl(query.query.removeprefix("?")))) == query
