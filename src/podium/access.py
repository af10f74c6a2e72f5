"""What a step may see: the one place where a workflow's access lists become a worker's call.

The first step gets the user's conversation and its subtask. Every later step gets its subtask and, as earlier turns of a
conversation, exactly the (subtask, response) pairs on its access list (paper section 3.1). A pair is shown the way it
happened: the turn of step 0 carries the conversation that step 0 was asked with, so whoever may see step 0 also knows
what the user asked, and whoever may not, does not. From round 2 on a step with access to everything also sees the final
answer of the round before, as the reply to the user's conversation.
"""

from collections.abc import Mapping

from podium.types import Call, Question, Sampling, TokenListener, VisibleStep, Workflow


def call_for(
    workflow: Workflow,
    index: int,
    question: Question,
    responses: Mapping[int, str],
    *,
    last_answer: str | None = None,
    sampling: Sampling = Sampling(),
    depth: int = 0,
    sample: tuple[int, ...] = (),
    on_token: TokenListener | None = None,
) -> Call:
    """The call of step ``index``, given the ``responses`` (by step number) of at least the steps it may see.

    The conversation with the user appears once: with the first thing shown that it belongs to. Two steps that ask the
    same worker the same thing are two draws: the call's ``sample`` is ``sample`` followed by the number of earlier steps
    equal to this one, so that a cache never hands out one answer for both.

    Raises KeyError where a response the step may see is missing: the caller started it too early.
    """
    step = workflow.steps[index]
    visible: list[VisibleStep] = []
    if step.last_answer and last_answer is not None:
        visible.append(VisibleStep(question=question, subtask="", response=last_answer))
    for seen in step.access:
        asked = question if seen == 0 and not visible else ()
        visible.append(VisibleStep(question=asked, subtask=workflow.steps[seen].subtask, response=responses[seen]))
    return Call(
        question=question if index == 0 and not visible else (),
        subtask=step.subtask,
        visible=tuple(visible),
        sampling=sampling,
        depth=depth,
        sample=(*sample, workflow.steps[:index].count(step)),
        on_token=on_token,
    )
