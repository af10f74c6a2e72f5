"""PerfGain, CostSave and ParetoDist, on points whose figures can be had by hand; and the picture of the frontier."""

import pytest

from podium.charts import Dot, frontier, unbeaten
from podium.errors import ConfigError
from podium.evaluation.routing import PricedArm, frontier_of, routing_metrics


def arm(right: float, usd: float, name: str = "x") -> PricedArm:
    return PricedArm(name=name, group="ours", right=right, usd=usd)


MODELS = [arm(0.5, 0.1, "small"), arm(0.8, 1.0, "big")]


def test_what_the_best_setting_gains_and_the_cheapest_good_one_saves() -> None:
    ours = [arm(0.84, 1.5), arm(0.8, 0.6), arm(0.7, 0.2)]
    found = routing_metrics(ours, MODELS, ours)
    assert found.perf_gain == pytest.approx(0.05)
    assert found.cost_save == pytest.approx(0.4)


def test_nothing_is_saved_where_no_setting_is_as_good() -> None:
    found = routing_metrics([arm(0.79, 0.1)], MODELS, [])
    assert found.cost_save is None
    assert found.perf_gain < 0


def test_dearer_is_a_negative_saving() -> None:
    assert routing_metrics([arm(0.9, 2.0)], MODELS, []).cost_save == pytest.approx(-1.0)


def test_the_distance_is_0_on_the_frontier_and_in_units_of_what_is_compared() -> None:
    best = [arm(1.0, 1.0), arm(0.0, 0.0)]
    assert routing_metrics(best, MODELS, best).pareto_dist == 0.0
    # Accuracy runs from 0 to 1 and dollars from 0 to 2, so that one dollar is a half.
    far = routing_metrics([arm(1.0, 2.0)], MODELS, [*best, arm(1.0, 2.0)])
    assert far.pareto_dist == pytest.approx(0.5)


def test_the_frontier_has_no_point_that_another_one_beats() -> None:
    points = [arm(0.5, 0.1), arm(0.4, 0.2), arm(0.7, 0.2), arm(0.7, 0.3)]
    assert [(one.right, one.usd) for one in frontier_of(points)] == [(0.5, 0.1), (0.7, 0.2)]


@pytest.mark.parametrize(
    ("settings", "models"), [([], MODELS), (MODELS, []), (MODELS, [arm(0.0, 1.0)]), (MODELS, [arm(0.5, 0.0)])]
)
def test_without_anything_to_compare_with_it_is_refused(settings: list[PricedArm], models: list[PricedArm]) -> None:
    with pytest.raises(ConfigError, match="PerfGain"):
        routing_metrics(settings, models, [])


def test_the_picture_names_what_is_shown_and_escapes_it() -> None:
    dots = [Dot(name="<b>", x=0.0, y=0.5, group="a & b", shown=True), Dot(name="far", x=2.0, y=0.9, group="c")]
    picture = frontier(dots, x_label="calls", y_label="right")
    assert "&lt;b&gt;" in picture
    assert "<b>" not in picture
    assert "far: 90.0 % at 2" in picture
    assert [dot.name for dot in unbeaten(dots)] == ["<b>", "far"]
    assert frontier([], x_label="x", y_label="y") == ""


def test_one_point_is_a_picture_too() -> None:
    assert frontier([Dot(name="only", x=0.0, y=1.0, group="g")], x_label="x", y_label="y").startswith("<svg")
