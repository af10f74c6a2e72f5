"""The expression language against Python itself, and against hostile text."""

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from podium.gym.expressions import (
    CALLS,
    COMPARISONS,
    ExpressionError,
    Node,
    Program,
    evaluate,
    format_expression,
    format_program,
    parse,
    parse_program,
    references,
    run,
)

NAMES = {"a": 7, "b": -3, "c": 12}


def _trees() -> st.SearchStrategy[Node]:
    leaves = st.one_of(
        st.integers(0, 999).map(lambda n: Node("number", (), n)),
        st.sampled_from(sorted(NAMES)).map(lambda name: Node("name", (), name)),
    )

    def grow(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
        binary = st.sampled_from(("+", "-", "*", "//", "%", *COMPARISONS))
        return st.one_of(
            st.builds(lambda op, a, b: Node(op, (a, b)), binary, inner, inner),
            st.builds(lambda a: Node("neg", (a,)), inner),
            st.builds(lambda c, a, b: Node("if", (c, a, b)), inner, inner, inner),
            st.builds(lambda a: Node("abs", (a,)), inner),
            st.builds(
                lambda op, args: Node(op, tuple(args)), st.sampled_from(CALLS[:2]), st.lists(inner, min_size=2, max_size=3)
            ),
        )

    return st.recursive(leaves, grow, max_leaves=12)


@settings(max_examples=400, deadline=None)
@example(parse("(a < b) < c"))
@example(parse("a - (b - c)"))
@example(parse("-(a + b) * (c if a else b)"))
@given(_trees())
def test_formatting_is_the_inverse_of_parsing(tree: Node) -> None:
    assert parse(format_expression(tree)) == tree


@given(_trees())
def test_values_are_those_of_python(tree: Node) -> None:
    text = format_expression(tree)
    try:
        expected = int(eval(text, {}, dict(NAMES)))  # noqa: S307 (our own tree, and Python is the oracle)
    except ZeroDivisionError:
        with pytest.raises(ExpressionError):
            evaluate(tree, NAMES)
        return
    if abs(expected) < 10**6:  # below every bound
        assert evaluate(tree, NAMES) == expected


@given(st.text(max_size=300))
def test_any_text_is_an_expression_or_an_expression_error(text: str) -> None:
    for read in (parse, parse_program):
        try:
            read(text)
        except ExpressionError:
            continue


@pytest.mark.parametrize(
    "text",
    [
        "(" * 10_000,
        "-" * 1_900 + "1",
        "(" * 900 + "1" + ")" * 900,
        "1 if 1 else " * 150 + "1",
        "9" * 5_000,
        "*".join(["999999999999999"] * 90),
        "max(" + "1," * 900 + "1)",
        "def f(): return " + "(" * 5_000,
        "def f(" + "a," * 5_000 + "): return 1",
        "def f()" + " " * 50_000,
        "__import__('os')",
        "a.b",
        "lambda: 1",
        "1 ** 9 ** 9 ** 9",
        "x := 1",
        "[1]",
        "1_000",
        "٣",
    ],
)
def test_hostile_text_is_refused_at_once(text: str) -> None:
    started = time.perf_counter()
    with pytest.raises(ExpressionError):
        evaluate(parse_program(text).body if text.startswith("def") else parse(text))
    assert time.perf_counter() - started < 5


def test_results_are_bounded_on_the_way() -> None:
    assert evaluate(parse("999999999 * 999999")) == 999999999 * 999999
    with pytest.raises(ExpressionError, match="too large"):
        evaluate(parse("999999999 * 999999999 * 0"))


def test_facts_words_and_typography() -> None:
    tree = parse('"iron" if atomic_number(iron) > atomic_number(tin) else "tin"')
    assert references(tree) == ("atomic_number(iron)", "atomic_number(tin)")
    assert evaluate(tree, facts={"atomic_number(iron)": 26, "atomic_number(tin)": 50}) == "tin"
    assert evaluate(parse("3 × 4 − 2")) == 10
    with pytest.raises(ExpressionError):
        evaluate(parse('"iron" + 1'))
    with pytest.raises(ExpressionError, match="unknown fact"):
        evaluate(parse("legs(dragons) * 2"), facts={})


def test_a_program_is_the_last_one_on_one_or_two_lines() -> None:
    program = parse_program("First def f(a): return 1\n```python\ndef g(a: int, b) -> int:\n    return a - b  # done\n```")
    assert program == Program("g", ("a", "b"), parse("a - b"))
    assert run(program, (5, 3)) == 2
    assert parse_program(format_program(program)) == program
    with pytest.raises(ExpressionError, match="takes 2 arguments"):
        run(program, (1,))
