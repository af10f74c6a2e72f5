"""What subtasks ask for, in the words policies use."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.gym.subtasks import VERBS, verbs_in
from podium.gym.wordings import PLAIN


@pytest.mark.parametrize(
    ("verbs", "subtask"),
    [
        ("plan", "Work out a plan as one expression, do not compute it yet."),
        ("plan", "Write a plan for this problem. Don't solve it."),
        ("plan", "Plan how to solve the problem."),
        ("plan", "Translate the word problem into an arithmetic expression."),
        ("plan", "Read the question and set up the equation."),
        ("plan", "Plan the calculation as one expression."),
        ("plan", "Break it down into an expression before solving."),
        ("plan", "Outline the approach."),
        ("plan", "Provide a step-by-step plan to solve the question."),
        ("recall", "Look up the facts needed"),
        ("recall", "Recall the facts needed to answer the question."),
        ("recall", "List the relevant facts."),
        ("recall", "Write down the facts you need."),
        ("recall", "State any knowledge required for this question."),
        ("recall", "Recall the facts that the question leaves out. Do not compute."),
        ("plan recall", "Write a plan and recall the facts."),
        ("compute", "Compute the result from the plan."),
        ("compute", "Evaluate the expression exactly."),
        ("compute", "Use the plan to compute the answer."),
        ("compute", "Carry out the plan."),
        ("compute", "Calculate the value."),
        ("compute", "Follow the plan and do the arithmetic."),
        ("compute", "Compute the result using the facts."),
        ("compute recall", "Recall the facts and compute the result."),
        ("write", "Write the function."),
        ("write", "Write a Python function for the task."),
        ("write", "Implement it."),
        ("write", "Write a draft of the code."),
        ("write", "Draft a program that solves the task."),
        ("write", "Code the solution in Python."),
        ("verify", "Review the code and fix any mistakes."),
        ("verify", "Double-check the previous answer and give the final answer"),
        ("verify", "Check the draft against the question."),
        ("verify", "Verify the answer."),
        ("verify", "Review the program and return the final answer."),
        ("verify", "Check the plan and the facts."),
        ("verify", "Check the arithmetic of the previous step."),
        ("verify", "Look for errors in the code above."),
        ("verify", "Reflect on your answer and correct it."),
        ("answer", "Solve the problem."),
        ("answer", "Answer the question."),
        ("answer", "Solve the question step by step."),
        ("answer", "Your job is to solve the problem."),
        ("report", "Give the final answer."),
        ("report", "State the final answer."),
        ("report", "Pick the most common answer."),
        ("report", "Synthesize the responses into one final answer."),
        ("", ""),
        ("", "Hello"),
    ],
)
def test_wordings(verbs: str, subtask: str) -> None:
    assert verbs_in(subtask) == frozenset(verbs.split())
    assert verbs_in(subtask.upper()) == frozenset(verbs.split())


def test_the_wordings_of_the_search_mean_their_verbs() -> None:
    assert {verb: verbs_in(text) for verb, text in PLAIN.items()} == {verb: {verb} for verb in PLAIN}


@given(st.text(max_size=200))
def test_any_text_gives_verbs(text: str) -> None:
    assert verbs_in(text) <= set(VERBS)


@pytest.mark.parametrize(
    "word", ["the ", "make the ", "use the the ", "check and verify and ", "plan, plan and ", "do not ", " "]
)
def test_hostile_wordings_take_no_time(word: str) -> None:
    text = (word * 4_000)[:4_000]
    started = time.perf_counter()
    verbs_in(text)
    assert time.perf_counter() - started < 20.0, "quadratic at worst: some tenths of a second on an idle machine"
