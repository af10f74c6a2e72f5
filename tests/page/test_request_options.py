"""What a visitor writes into the form of options, and between which days runs are looked for; without a browser."""

from datetime import UTC, datetime

import pytest

from podium.errors import ConfigError
from podium.page.period import period
from podium.page.request_options import in_words, options_from
from podium.request_options import RequestOptions

NAMES = ("a", "b", "c")
ALL = (True, True, True)


def test_nothing_written_is_nothing_chosen() -> None:
    assert options_from(NAMES, ALL, usd="", seconds=" ", rounds="") == RequestOptions()
    assert options_from((), (), usd="", seconds="", rounds="") == RequestOptions()
    assert in_words(RequestOptions(), 3) == "Options"


def test_what_is_written_is_chosen() -> None:
    options = options_from(NAMES, (True, False, True), usd=" 0.05 ", seconds="1e1", rounds="3")
    assert options == RequestOptions(workers=("a", "c"), budget_usd=0.05, budget_seconds=10.0, rounds=3)
    assert in_words(options, 3) == "Options: 2 of 3 workers; at most $0.05, 10 s, 3 rounds"
    assert in_words(RequestOptions(rounds=1), 3) == "Options: at most 1 round"


@pytest.mark.parametrize("bad", ["x", "0,05", "$1", "nan", "inf", "-inf", "1e999", "1e7", "0", "-1", "0.0", "\x00", "9" * 5_000])
def test_limits_that_make_no_sense(bad: str) -> None:
    with pytest.raises(ConfigError, match="The most dollars: "):
        options_from(NAMES, ALL, usd=bad, seconds="", rounds="")
    with pytest.raises(ConfigError, match="The most seconds: ") as told:
        options_from(NAMES, ALL, usd="", seconds=bad, rounds="")
    assert len(str(told.value)) < 120
    with pytest.raises(ConfigError, match=r"The most rounds: .* whole number from 1 to 10"):
        options_from(NAMES, ALL, usd="", seconds="", rounds=bad)


@pytest.mark.parametrize("bad", ["1.5", "11", "1e0"])
def test_rounds_are_whole_and_few(bad: str) -> None:
    with pytest.raises(ConfigError, match="whole number from 1 to 10"):
        options_from(NAMES, ALL, usd="", seconds="", rounds=bad)


def test_somebody_must_be_left() -> None:
    with pytest.raises(ConfigError, match="No worker is left"):
        options_from(NAMES, (False, False, False), usd="", seconds="", rounds="")


def test_the_last_day_belongs_to_the_period() -> None:
    assert period("", "") == (None, None)
    assert period("2026-05-03", "2026-05-03") == (datetime(2026, 5, 3, tzinfo=UTC), datetime(2026, 5, 4, tzinfo=UTC))
    assert period("", "2026-12-31") == (None, datetime(2027, 1, 1, tzinfo=UTC))
    assert period("0001-01-01", "9999-12-31") == (datetime(1, 1, 1, tzinfo=UTC), None)


@pytest.mark.parametrize("bad", ["?", "x", "2026-02-30", "03.05.2026", "10000-01-01", "-1", "\x00", "9" * 300])
def test_days_that_no_calendar_has(bad: str) -> None:
    with pytest.raises(ConfigError, match=r"From: .* is not a day"):
        period(bad, "")
    with pytest.raises(ConfigError, match=r"Until: .* is not a day") as told:
        period("", bad)
    assert len(str(told.value)) < 130


def test_days_in_the_wrong_order() -> None:
    with pytest.raises(ConfigError, match="from 2026-05-04 is after until 2026-05-03"):
        period("2026-05-04", "2026-05-03")
