"""What a step may see: the one place where a workflow's access lists become a worker's call.

The first step gets the user's conversation and its subtask. Every later step gets its subtask and, as earlier turns of a
conversation, exactly the (subtask, response) pairs on its access list (paper section 3.1). A pair is shown the way it
happened: the turn of step 0 carries the conversation that step 0 was asked with, so whoever may see step 0 also knows
what the user asked, and whoever may not, does not. From round 2 on a step with access to everything also sees the final
answer of the round before, as the reply to the user's conversation.

A skipped step (:mod:`podium.conditions`) is shown as its own subtask with the response that it passes on, not at all beside the
step whose response that is. A failed step has nothing to show; only a step that stands in for it runs all the same.
"""

from collections.abc import Collection, Mapping

from podium.types import Call, Question, Sampling, Step, TokenListener, VisibleStep, Workflow


def call_for(
    workflow: Workflow,
    index: int,
    question: Question,
    responses: Mapping[int, str],
    *,
    hidden: Collection[int] = (),
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

    ``hidden`` are steps it may see that have nothing to show: one that failed, one that was skipped and passes on what is shown
    already. Where step 0 failed, the conversation that it was asked with stands in the call itself.

    Raises KeyError where another response the step may see is missing: the caller started it too early.
    """
    step = workflow.steps[index]
    visible: list[VisibleStep] = []
    if step.last_answer and last_answer is not None:
        visible.append(VisibleStep(question=question, subtask="", response=last_answer))
    knows = index == 0 or 0 in step.access
    for seen in step.access:
        if seen in hidden:
            continue
        asked = question if seen == 0 and not visible else ()
        visible.append(VisibleStep(question=asked, subtask=workflow.steps[seen].subtask, response=responses[seen]))
    return Call(
        question=question if knows and not any(earlier.question for earlier in visible) else (),
        subtask=step.subtask,
        visible=tuple(visible),
        sampling=sampling,
        depth=depth,
        sample=(*sample, _draws(workflow.steps, index)),
        on_token=on_token,
    )


def _draws(steps: tuple[Step, ...], index: int) -> int:
    """How many steps before ``index`` ask the same worker the same; when they are carried out is no part of it."""
    step, draws = steps[index], 0
    for earlier in steps[:index]:
        if earlier.worker == step.worker and earlier.subtask == step.subtask:
            draws += earlier.access == step.access and earlier.last_answer == step.last_answer
    return draws
