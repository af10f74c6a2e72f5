"""A worker sees what its call holds: everything, once, and nothing else."""

import random
from collections.abc import Iterator

from hypothesis import given, settings
from hypothesis import strategies as st

from podium.access import call_for
from podium.types import Call, Message, Question, Role, Step, VisibleStep, Workflow, ask
from podium.workers.render import TASK_PREFIX, render


def test_a_plain_call_renders_to_the_users_messages_and_nothing_else() -> None:
    question = (
        Message(role="system", content="Be brief."),
        Message(role="user", content=" 6 times 7? \n"),
        Message(role="user", content="In words."),
    )
    assert render(Call.plain(question)) == question


def test_golden_first_step() -> None:
    assert render(Call(question=ask("6 times 7?"), subtask="Plan.")) == (
        Message(role="user", content="6 times 7?\n\nYour task: Plan."),
    )


def test_golden_later_step_without_a_question() -> None:
    assert render(Call(subtask="Solve.")) == (Message(role="user", content="Your task: Solve."),)


def test_golden_judge_of_two() -> None:
    history = (
        Message(role="system", content="Be brief."),
        Message(role="user", content="Hello"),
        Message(role="assistant", content="Hi"),
        Message(role="user", content="6 times 7?"),
    )
    call = Call(
        subtask="Judge.",
        visible=(
            VisibleStep(question=history, subtask="Solve.", response="42"),
            VisibleStep(subtask="Solve it differently.", response="forty-two"),
        ),
    )
    assert [(message.role, message.content) for message in render(call)] == [
        ("system", "Be brief."),
        ("user", "Hello"),
        ("assistant", "Hi"),
        ("user", "6 times 7?\n\nYour task: Solve."),
        ("assistant", "42"),
        ("user", "Your task: Solve it differently."),
        ("assistant", "forty-two"),
        ("user", "Your task: Judge."),
    ]


def test_a_conversation_that_ends_with_the_assistant_keeps_its_last_turn() -> None:
    question = (*ask("6 times 7?"), Message(role="assistant", content="It is"))
    assert render(Call(question=question, subtask="Go on.")) == (*question, Message(role="user", content="Your task: Go on."))


def _marks() -> Iterator[str]:
    number = 0
    while True:
        number += 1
        yield f"<{number}>"


@st.composite
def workflows(draw: st.DrawFn) -> tuple[Workflow, Question, dict[int, str]]:
    """A workflow whose every text is a mark that occurs nowhere else."""
    marks = _marks()
    count = draw(st.integers(1, 6))
    steps = tuple(
        Step(
            worker=draw(st.integers(0, 2)),
            subtask=next(marks),
            access=tuple(sorted(draw(st.sets(st.integers(0, index - 1))))) if index else (),
        )
        for index in range(count)
    )
    roles: tuple[Role, ...] = ("system", "user", "assistant")
    before = draw(st.lists(st.sampled_from(roles), max_size=3))
    question = tuple(Message(role=role, content=next(marks)) for role in [*before, roles[1]])
    return Workflow(steps=steps), question, {index: next(marks) for index in range(count)}


@given(workflows())
@settings(max_examples=300, deadline=None)
def test_everything_visible_appears_once_and_nothing_else(case: tuple[Workflow, Question, dict[int, str]]) -> None:
    workflow, question, responses = case
    for index, step in enumerate(workflow.steps):
        messages = render(call_for(workflow, index, question, responses))
        shown = [workflow.steps[seen].subtask for seen in step.access] + [step.subtask]
        shown += [responses[seen] for seen in step.access]
        if index == 0 or 0 in step.access:
            shown += [message.content for message in question]
        text = "\n".join(message.content for message in messages)
        for mark in shown:
            assert text.count(mark) == 1
            text = text.replace(mark, "")
        # What is left is the form itself: no mark of anything that this step may not see.
        assert set(text.replace(TASK_PREFIX, "").split()) == set()
        assert messages[-1].role == "user"


@given(workflows(), st.integers())
@settings(deadline=None)
def test_rendering_depends_on_the_call_alone(case: tuple[Workflow, Question, dict[int, str]], seed: int) -> None:
    workflow, question, responses = case
    last = len(workflow.steps) - 1
    once = render(call_for(workflow, last, question, responses))
    order = list(responses)
    random.Random(seed).shuffle(order)
    again = call_for(workflow, last, question, {index: responses[index] for index in order}, on_token=print, depth=3, sample=(7,))
    assert render(again) == once
