"""The main stories told again in Firefox: asking, what is not lost, runs, a run's page, models, play, tuning."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.page.conftest import Served, firefox, with_training
from tests.page.test_accessibility import (
    kept,
    test_the_list_is_gone_through_by_keyboard,
    test_the_trace_of_a_run,
)
from tests.page.test_asking import (
    test_a_conversation_goes_on_and_is_one_story,
    test_a_run_is_found_again_after_a_reload_and_stopped_from_another_tab,
    test_back_shows_the_question_before,
)
from tests.page.test_first_use import test_ones_own_models_are_checked_asked_and_written
from tests.page.test_hostile import test_formulas_are_laid_out
from tests.page.test_learning_pages import learned, test_a_tuned_policy_is_read
from tests.page.test_pages import (
    test_a_question_becomes_a_workflow_and_an_answer,
    test_light_or_dark_is_remembered,
    test_play_the_conductor,
)
from tests.page.test_runs_page import test_the_address_says_what_is_shown_and_back_shows_it_again

__all__ = [
    "kept",
    "learned",
    "test_a_conversation_goes_on_and_is_one_story",
    "test_a_question_becomes_a_workflow_and_an_answer",
    "test_a_run_is_found_again_after_a_reload_and_stopped_from_another_tab",
    "test_a_tuned_policy_is_read",
    "test_back_shows_the_question_before",
    "test_formulas_are_laid_out",
    "test_light_or_dark_is_remembered",
    "test_ones_own_models_are_checked_asked_and_written",
    "test_play_the_conductor",
    "test_the_address_says_what_is_shown_and_back_shows_it_again",
    "test_the_list_is_gone_through_by_keyboard",
    "test_the_trace_of_a_run",
]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server of its own: what a story leaves behind (a file, a run) would be in the way of the same story told twice."""
    with with_training(tmp_path_factory.mktemp("firefox-page")) as running:
        yield running


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Firefox, where the stories take Chromium otherwise."""
    with sync_playwright() as playwright, firefox(playwright, tmp_path_factory.mktemp("firefox")) as launched:
        yield launched
