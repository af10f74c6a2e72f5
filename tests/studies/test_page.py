"""The report: hostile text stays text, nothing leaves the file, and a browser shows it at two widths."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser

from podium.charts import Bar, Dot, forest, framed, lines, plane, shares
from podium.evaluation.compare import compare
from podium.evaluation.metrics import summarise
from podium.studies.html import Example, Page, Source, html
from tests.evaluation.results import result
from tests.page.conftest import chromium

HOSTILE = "<img src=x onerror=alert(1)> & \"'</script><script>alert(1)</script>"


def page(arm: str = "trained", question: str = "6 times 7?") -> Page:
    results = []
    for index in range(40):
        conducted = result(arm=arm, problem=str(index), correct=index % 10 > 0, kind=("word", "code")[index % 2])
        results.append(replace(conducted, rounds=1, steps=2, workers=(arm, "brook"), topologies=("chain",), verbs=("plan", arm)))
        results.append(result(arm="worker:brook", problem=str(index), correct=index % 2 == 0, kind=("word", "code")[index % 2]))
    return Page(
        title=f"A study of {arm}",
        source=Source(command=f"podium evaluate {arm}.toml", version="1", made="today", files={"lines": "results.jsonl"}),
        rows=summarise(results),
        results=results,
        comparisons=compare(results, arm, ["worker:brook"]),
        arm=arm,
        examples=[Example(arm=arm, kind="word", question=question, workflow=question, outcome="right")],
        pictures={arm: framed(340, 190, lines(arm, {arm: [0.1, None, 0.9]}, [1, 2, 3], levels={arm: 0.5}), arm)},
    )


def test_what_anybody_wrote_is_text_and_never_markup() -> None:
    text = html(page(arm=HOSTILE, question=HOSTILE))
    assert "<img" not in text
    assert "<script" not in text
    assert "&lt;img src=x onerror=alert(1)&gt;" in text


def test_every_chart_is_well_formed_whatever_the_names() -> None:
    charts = [
        plane([Dot(name=HOSTILE, x=0.001, y=0.5, group=HOSTILE, shown=True)], x_label=HOSTILE, y_label=HOSTILE),
        forest([Bar(name=HOSTILE, value=0.1, low=-0.1, high=0.3)], label=HOSTILE),
        shares({HOSTILE: {HOSTILE: 1.0}}, label=HOSTILE),
        framed(340, 190, lines(HOSTILE, {HOSTILE: [0.1]}, [1], levels={HOSTILE: 0.5}), HOSTILE),
    ]
    for chart in charts:
        texts = [element.text or "" for element in ElementTree.fromstring(chart).iter()]
        assert any("onerror" in text for text in texts)
    assert "var(--" not in charts[-1], "a picture of its own has its own colours"


def test_charts_of_nothing_are_nothing() -> None:
    assert plane([Dot(name="free", x=0.0, y=1.0, group="a")], x_label="", y_label="") == ""
    assert forest([], label="") == shares({}, label="") == ""


def test_figures_are_the_ones_that_were_given() -> None:
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html(page())))
    assert "2 arms, 40 problems. trained: 90.0 % (" in text
    assert "Best worker alone, brook: 50.0 % (" in text
    assert "podium evaluate trained.toml" in text
    assert "chain" in text


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as launched:
        yield launched


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_shows_it_without_error_or_request(browser: Browser, tmp_path: Path, width: int, scheme: str) -> None:
    path = tmp_path / "report.html"
    path.write_text(html(page(question=HOSTILE)), encoding="utf-8")
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    shown = context.new_page()
    said: list[str] = []
    asked: list[str] = []
    shown.on("console", lambda message: said.append(message.text))
    shown.on("pageerror", lambda error: said.append(str(error)))
    shown.on("dialog", lambda dialog: said.append(dialog.message))
    shown.on("request", lambda request: asked.append(request.url))
    shown.goto(path.as_uri())
    assert said == []
    assert asked == [path.as_uri()]
    assert shown.locator("svg").count() >= 4
    assert shown.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "only tables and charts scroll sideways"
    context.close()


def test_a_line_joins_the_points_of_each_group_from_left_to_right() -> None:
    dots = [Dot(name="", x=x, y=0.5, group=group) for group, x in (("a", 100.0), ("b", 10.0), ("a", 10.0), ("a", 1_000.0))]
    chart = ElementTree.fromstring(plane(dots, x_label="", y_label="", are_joined=True))
    joined = [e.attrib["points"].split() for e in chart.iter() if e.tag.endswith("polyline")]
    assert [len(points) for points in joined] == [3, 1]
    assert joined[0] == sorted(joined[0], key=lambda point: float(point.partition(",")[0]))
    assert "polyline" not in plane(dots, x_label="", y_label="")


def test_labels_of_points_that_lie_close_do_not_cover_each_other() -> None:
    crowd = [Dot(name=f"router:number {n}", x=0.001 * (1 + n / 60), y=0.4 + n / 500, group="a", shown=True) for n in range(5)]
    chart = ElementTree.fromstring(plane(crowd, x_label="", y_label=""))
    places = [
        (float(e.attrib["x"]), float(e.attrib["y"]))
        for e in chart.iter()
        if "x" in e.attrib and (e.text or "").startswith("router:")
    ]
    assert len(places) == 5
    wide = 6.6 * len("router:number 0")
    for n, (x, y) in enumerate(places):
        assert all(abs(x - other) >= wide or abs(y - base) >= 12 for other, base in places[n + 1 :])
