"""What a budget says was paid: under it, and before it."""

import pytest

from podium.errors import BudgetExceeded, ConfigError
from podium.types import Usage
from podium.workers.budget import Budget


def test_what_was_charged_from_before_was_not_paid_here() -> None:
    budget = Budget()
    budget.charge(Usage(prompt_tokens=100, cost_usd=1.0))
    for _ in range(10):
        budget.settle(budget.reserve(0.2, 50), Usage(prompt_tokens=7, completion_tokens=3, cost_usd=0.1))
    assert budget.paid == Usage(prompt_tokens=70, completion_tokens=30, cost_usd=1.0), "ten dimes, to the digit"
    assert budget.spent == Usage(prompt_tokens=170, completion_tokens=30, cost_usd=2.0)


def test_one_price_that_nobody_knows_makes_the_sum_unknown() -> None:
    budget = Budget(tokens=1000)
    budget.settle(budget.reserve(0.2, 50), Usage(completion_tokens=3, cost_usd=0.1))
    budget.settle(budget.reserve(None, 50), Usage(completion_tokens=3, cost_usd=None))
    assert budget.paid == budget.spent == Usage(completion_tokens=6, cost_usd=None)


def test_tokens_that_an_earlier_run_may_have_used_are_off_the_cap() -> None:
    budget = Budget(tokens=100)
    budget.charge(Usage(completion_tokens=10), uncertain_tokens=30)
    budget.charge(Usage(completion_tokens=10), uncertain_tokens=20)
    assert budget.uncertain_tokens == 50
    with pytest.raises(ConfigError, match="in tokens, and nobody knows how many"):
        budget.charge(Usage(completion_tokens=10), uncertain_tokens=None)
    assert budget.spent.completion_tokens == 20
    with pytest.raises(BudgetExceeded, match="20 spent, 0 reserved for calls under way, 50 uncertain"):
        budget.reserve(None, 31)
    budget.reserve(None, 30)
