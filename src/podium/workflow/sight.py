"""Who may work on a question with pictures or files: decided for a whole workflow before anybody is asked.

A step that knows the question is shown its pictures where its worker sees. A worker that does not see may take such a step only
where a step that it has access to described them: one that knows the question too, of a worker that sees. It then reads words in
their place (:mod:`podium.workers.seeing`). Any other such step would answer about something it was never shown.
"""

from podium.types import Workflow
from podium.workers.pool import WorkerPool


def knows(workflow: Workflow, index: int) -> bool:
    """Whether step ``index`` is shown the user's conversation (:mod:`podium.access`)."""
    step = workflow.steps[index]
    return index == 0 or 0 in step.access or step.last_answer


def without_sight(workflow: Workflow, pool: WorkerPool) -> tuple[int, ...]:
    """The steps that can not be carried out for a question with pictures or files."""
    steps = workflow.steps
    describes = [pool[step.worker].card.sees and knows(workflow, index) for index, step in enumerate(steps)]
    return tuple(
        index
        for index, step in enumerate(steps)
        if knows(workflow, index) and not pool[step.worker].card.sees and not any(describes[seen] for seen in step.access)
    )
