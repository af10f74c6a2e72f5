"""The study drill, small: kill -9 loses and doubles no line and pays nothing twice."""

from benchmarks.study import drill


def test_a_killed_study_goes_on_where_it_was() -> None:
    figures = drill(each=3, kills=2)
    assert figures["killed"] == 2
    assert figures["answers"] == 9 * 27
    assert figures["lost"] == figures["doubled"] == figures["different"] == figures["paid_twice"] == 0
    assert figures["billed_by_server"] >= figures["paid_in_journal"] > 9 * 27
