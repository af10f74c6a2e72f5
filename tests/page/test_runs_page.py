"""Runs of certain days, looked for in the browser."""

from datetime import UTC, datetime, timedelta

from playwright.sync_api import expect

from tests.page.conftest import Served, Watched
from tests.page.test_pages import ask


def test_runs_are_found_by_day(served: Served, watched: Watched) -> None:
    page = watched.page
    ask(page, served, "How much is 5 times 19 on this day?", "brook")
    expect(page.locator(".answer:visible")).to_have_count(1)
    page.get_by_role("link", name="Runs").click()
    rows, told = page.locator("tbody tr"), page.locator("p[aria-live]")
    page.get_by_label("Search").fill("5 times 19")
    page.get_by_label("Search").press("Enter")
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
    expect(told).to_have_text("1 run")
    expect(rows).to_have_count(1)
    start.fill(str(after))
    expect(told).to_have_text(f"Nothing lies between: from {after} is after until {day}.")
    expect(rows).to_have_count(0)
    end.fill("")
    expect(told).to_have_text("No run fits.")
    start.fill("")
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
