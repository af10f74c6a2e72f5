"""What a step may see: the one place where a workflow's access lists become a worker's call.

The first step gets the user's conversation and its subtask. Every later step gets its subtask and, as earlier turns of a
conversation, exactly the (subtask, response) pairs on its access list (paper section 3.1). A pair is shown the way it
happened: the turn of step 0 carries the conversation that step 0 was asked with, so whoever may see step 0 also knows
what the user asked, and whoever may not, does not.
"""

from collections.abc import Mapping

from podium.types import Call, Earlier, Question, Sampling, TokenListener, Workflow


def call_for(
    workflow: Workflow,
    index: int,
    question: Question,
    responses: Mapping[int, str],
    *,
    sampling: Sampling = Sampling(),
    depth: int = 0,
    sample: tuple[int, ...] = (),
    on_token: TokenListener | None = None,
) -> Call:
    """The call of step ``index``, given the ``responses`` (by step number) of at least the steps it may see.

    Two steps that ask the same worker the same thing are two draws: the call's ``sample`` is ``sample`` followed by the
    number of earlier steps equal to this one, so that a cache never hands out one answer for both.

    Raises KeyError where a response the step may see is missing: the caller started it too early.
    """
    step = workflow.steps[index]
    visible = tuple(
        Earlier(
            question=question if seen == 0 else (),
            subtask=workflow.steps[seen].subtask,
            response=responses[seen],
        )
        for seen in step.access
    )
    occurrence = workflow.steps[:index].count(step)
    return Call(
        question=question if index == 0 else (),
        subtask=step.subtask,
        visible=visible,
        sampling=sampling,
        depth=depth,
        sample=(*sample, occurrence),
        on_token=on_token,
    )
