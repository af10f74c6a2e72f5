"""Rules for every kind from recorded answers: what is chosen, what it is expected to take, and bounds that are kept."""

import numpy as np
import pytest
from numpy.typing import NDArray

from podium.errors import ConfigError
from podium.policies.learning import outcome, said_the_same
from podium.policies.router_data import RouterDataset
from podium.policies.rules import Rule, cascade, stop
from podium.tuning.rules import CALL, WEIGHT, Array, Caps, RuleBook, all_rules, asked_of, orders_of, prior_strength

RNG = np.random.default_rng(0)
SKILL = {"easy": (0.95, 0.9, 0.9, 0.85), "hard": (0.9, 0.5, 0.5, 0.4)}
STRONG = 0


def dataset(count: int = 60, seed: int = 0) -> RouterDataset:
    """Two kinds; the first worker is the best, the others are nearly as good at one kind. Wrong answers differ."""
    rng = np.random.default_rng(seed)
    kinds = ["easy", "hard"] * count
    right = [[float(rng.random() < skill) for skill in SKILL[kind]] for kind in kinds]
    answers = [["right" if good else f"wrong {worker}" for worker, good in enumerate(row)] for row in right]
    return RouterDataset(
        questions=tuple(f"question {n}" for n in range(len(kinds))), kinds=tuple(kinds), right=tuple(map(tuple, right)),
        answers=tuple(map(tuple, answers)),
    )  # fmt: skip


def test_who_is_asked_follows_the_order() -> None:
    asked = asked_of(Rule(order=(2, 0, 1), agree=2, last_decides=True), np.array([2.0, 3.0]), 4)
    assert asked.tolist() == [[True, False, True, False], [True, True, True, False]]


def test_expectations_are_those_of_the_recorded_answers() -> None:
    data = dataset()
    book = RuleBook(data, weight=0.0)
    right, same = np.array(data.right), said_the_same(data.answers)
    here = np.array(data.kinds) == "hard"
    for number in (0, 5, len(book.rules) - 1):
        won, calls = outcome(book.rules[number], right[here], same[here])
        expected = book.expected(number, "hard")
        assert expected.right == pytest.approx(won.mean())
        assert expected.calls == pytest.approx(calls.mean())
        assert expected.usd is None


def test_a_kind_of_few_questions_is_drawn_towards_all() -> None:
    data = dataset()
    alone = Rule(order=(STRONG,))
    drawn, own = RuleBook(data, weight=1e9), RuleBook(data, weight=0.0)
    number = own.rules.index(alone)
    assert own.expected(number, "hard").right != pytest.approx(own.expected(number, "").right)
    assert drawn.expected(number, "hard").right == pytest.approx(drawn.expected(number, "").right, abs=1e-6)


def drawn(kinds: int, count: int, spread: float) -> tuple[NDArray[np.float32], Array]:
    """Sixteen rules on ``count`` questions of each kind; a rule's share right varies by ``spread`` from kind to kind."""
    rng = np.random.default_rng(1)
    shares = np.clip(0.6 + spread * rng.standard_normal((16, kinds)), 0, 1)
    member = np.repeat(np.eye(kinds), count, axis=1)
    return (rng.random((16, kinds * count)) < shares @ member).astype(np.float32), member


def test_how_much_all_kinds_say_is_told_by_how_much_kinds_differ() -> None:
    """The variance of an outcome, .24, over that among kinds: with a spread of .2 that is 6 questions' worth, of .1 it is 24."""
    found = [prior_strength(*drawn(60, 50, spread)) for spread in (0.2, 0.1, 0.0)]
    assert found[0] == pytest.approx(6, rel=0.5)
    assert found[1] == pytest.approx(24, rel=0.5)
    assert found[2] > 100


@pytest.mark.parametrize("spread", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("kinds", [1, 2])
def test_of_few_kinds_nothing_firm_is_known(kinds: int, spread: float) -> None:
    """Of two kinds the prior worth two of them leaves at most one and a half times the usual strength, whatever is seen."""
    assert prior_strength(*drawn(kinds, 500, spread)) <= 1.5 * WEIGHT + 1e-6


def test_rules_that_never_differ_need_no_prior() -> None:
    assert prior_strength(np.ones((4, 10), dtype=np.float32), np.ones((1, 10))) == 0.0


def test_where_kinds_are_in_doubt_bounds_are_reckoned_under_doubt() -> None:
    data = dataset()
    sure, unsure = (RuleBook(data, doubt=np.array([[chance, 1 - chance], [1 - chance, chance]])) for chance in (1.0, 0.5))
    assert sure.in_doubt(sure.charges())[0].calls == pytest.approx(sure.over_all(sure.best(sure.charges())).calls)
    [rule] = unsure.in_doubt(unsure.charges())[1]
    assert rule == unsure.best(unsure.charges())[""], "half and half: one rule for everything"
    assert unsure.in_doubt(unsure.charges(Caps(calls=1)))[0].calls == pytest.approx(1)


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5])
def test_a_worker_is_asked_as_sparingly_as_told(share: float) -> None:
    book = RuleBook(dataset())
    free, bound = (book.over_all(book.best(book.charges(caps))) for caps in (Caps(), Caps(shares={STRONG: share})))
    assert free.asks[STRONG] > 0.5
    assert bound.asks[STRONG] <= share
    assert bound.right <= free.right


def test_both_bounds_hold_together() -> None:
    book = RuleBook(dataset())
    found = book.over_all(book.best(book.charges(Caps(calls=1.6, shares={STRONG: 0.3}))))
    assert found.calls <= 1.6
    assert found.asks[STRONG] <= 0.3


def test_bounds_that_do_not_bind_change_nothing() -> None:
    book = RuleBook(dataset())
    assert book.charges(Caps(calls=9.0, shares={STRONG: 1.0})).tolist() == [CALL] * 4


def test_a_bound_on_calls_that_can_not_be_kept_ends_with_one_call() -> None:
    book = RuleBook(dataset())
    assert book.over_all(book.best(book.charges(Caps(calls=0.5)))).calls == 1


def test_dollars_are_weighed_where_they_are_known() -> None:
    data = dataset()
    usd = [[1.0, 0.01, 0.01, 0.01] for _ in data.questions]
    book = RuleBook(data, usd)
    price = book.price(book.charges(), 0.03)
    assert price > 0
    free, cheap = book.over_all(book.best(book.charges())), book.over_all(book.best(book.charges(), price))
    assert free.usd is not None
    assert cheap.usd is not None
    assert cheap.usd < free.usd
    assert cheap.right >= free.right - 0.03
    assert book.price(book.charges(), 0.0) == 0.0


def test_unknown_dollars_are_never_nothing() -> None:
    book = RuleBook(dataset())
    assert not book.knows_dollars
    with pytest.raises(ConfigError, match="not known"):
        book.best(book.charges(), 1.0)


def test_answers_that_were_given_again_count_as_much_as_the_first() -> None:
    first, second = dataset(seed=0), dataset(seed=1)
    both, one, other = RuleBook(first, again=[second], weight=0.0), RuleBook(first, weight=0.0), RuleBook(second, weight=0.0)
    for rule in (Rule(order=(1,)), stop(4, 2, (1, 2, 0))):
        alone = [book.expected(book.rules.index(rule), "hard") for book in (both, one, other)]
        assert alone[0].right == pytest.approx((alone[1].right + alone[2].right) / 2)
        assert alone[0].asks == pytest.approx([(a + b) / 2 for a, b in zip(alone[1].asks, alone[2].asks, strict=True)])
    assert both.questions.tolist() == one.questions.tolist()


def test_only_answers_to_the_same_questions_are_taken_together() -> None:
    with pytest.raises(ConfigError, match="to the same questions"):
        RuleBook(dataset(count=60), again=[dataset(count=50)])


def test_rules_need_answers() -> None:
    with pytest.raises(ConfigError, match="there are no answers"):
        RuleBook(RouterDataset(questions=("a",), kinds=("k",), right=((1.0, 0.0),)))


def test_rules_of_four_are_tried() -> None:
    rules = all_rules(range(5))
    assert cascade((0, 1, 2, 3)) in rules
    assert stop(5, 2, (0, 1, 2)) in rules
    assert len(set(rules)) == len(rules)


def test_each_kind_can_stop_in_an_order_of_its_own() -> None:
    kinds = ("easy",) * 40 + ("hard",) * 40
    right = [(1.0, 1.0, 0.0, 0.0) if kind == "easy" else (0.0, 0.0, 1.0, 1.0) for kind in kinds]
    answers = [tuple("right" if good else f"wrong {worker}" for worker, good in enumerate(row)) for row in right]
    data = RouterDataset(
        questions=tuple(f"q{n}" for n in range(80)), kinds=kinds, right=tuple(right), answers=tuple(answers)
    )  # fmt: skip
    assert orders_of(data, 30.0) == [(0, 1, 2, 3), (2, 3, 0, 1)]
    assert stop(4, 2, (2, 3, 0, 1)) in RuleBook(data).rules


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_pools_of_few_workers(workers: int) -> None:
    data = dataset()
    few = RouterDataset(
        questions=data.questions, kinds=data.kinds, right=tuple(row[:workers] for row in data.right),
        answers=tuple(row[:workers] for row in data.answers),
    )  # fmt: skip
    book = RuleBook(few)
    assert 0.5 < book.over_all(book.best(book.charges())).right <= 1
