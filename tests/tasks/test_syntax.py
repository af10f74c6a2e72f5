"""Texts read as Python syntax: what is none, and many threads at once."""

import gc
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from podium.tasks.syntax import parse_expression, parse_module


@pytest.mark.parametrize("text", ["def", "a b", "x = '", "(" * 500, "\0", "-" * 100_000 + "1", "\ud800"])
def test_what_is_no_python_is_none(text: str) -> None:
    assert parse_module(text) is None
    assert parse_expression(text) is None


def test_a_statement_is_no_expression() -> None:
    assert parse_module("x = 1") is not None
    assert parse_expression("x = 1") is None


def read_below(frames: int, text: str) -> object:
    """``text``, read under so many more calls: threads that stand equally deep would not disturb one another."""
    return read_below(frames - 1, text) if frames else parse_expression(text)


def test_threads_that_read_at_once_do_not_end_in_a_system_error() -> None:
    # Every collection of garbage lets another thread run, in the middle of a tree as well.
    def pause(phase: str, info: dict[str, int]) -> None:
        time.sleep(0.001)

    before = gc.get_threshold()
    gc.callbacks.append(pause)
    gc.set_threshold(5)
    try:
        with ThreadPoolExecutor(6) as threads:
            depths = range(40)
            trees = list(
                threads.map(lambda at: read_below(at % 4 * 30, "[" * (at % 3 * 30 + 3) + "]" * (at % 3 * 30 + 3)), depths)
            )
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(pause)
    assert all(tree is not None for tree in trees)
