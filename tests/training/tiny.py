"""A policy small enough to be taught in seconds, a corner of the gym, and what a step collects there."""

import random
from collections.abc import Sequence
from dataclasses import replace

from podium.errors import WorkerUnavailable
from podium.gym import GymVerifier, World, specialists
from podium.policies.local import Dialect, LocalPolicy
from podium.policies.qwen2 import Qwen2, Qwen2Config
from podium.policies.tokens import Tokens
from podium.protocols import Worker
from podium.training.advantage import group_normalised
from podium.training.collect import Collector, Task, Writer
from podium.training.learner import Learner
from podium.training.learner_config import LearnerConfig
from podium.training.rollout import Rollout, RolloutGroup
from podium.training.rows import TrainingRow
from podium.types import Call, Completion, Step, Workflow
from podium.workers.pool import Member, WorkerPool
from podium.workflow.parse import format_workflow
from podium.workflow.syntax import WorkflowSyntax

LANGUAGE = WorkflowSyntax(subtasks=False)
WORLD = World()
PROBLEMS = WORLD.problems(kinds=("story",), n=8)
COLLECTOR = Collector(verifier=GymVerifier(), syntax=LANGUAGE)
OPENING = "model_id = ["
DRAFT = "model_id = [2, 0]\naccess_list = [[], [0]]"
ROLLOUT = 3
"""Where a call's sample says which rollout of the group it belongs to."""


def pool(spoilt: Sequence[int] = ()) -> WorkerPool:
    """Three specialists; whatever is asked of them in one of the ``spoilt`` rollouts of a group is never answered."""
    return WorkerPool([Member(worker=_failing(worker, set(spoilt)), card=worker.card) for worker in specialists(WORLD)[:3]])


def _failing(worker: Worker, spoilt: set[int]) -> Worker:
    async def asked(call: Call) -> Completion:
        if call.sample[ROLLOUT] in spoilt:
            raise WorkerUnavailable("503 from the gym")
        return await worker(call)

    return asked


def tasks(iteration: int, *, questions: int = 4, spoilt: Sequence[int] = (), opened: int = 0) -> list[Task]:
    """The tasks of an iteration, ``opened`` of them with a forced prefix."""
    return [
        Task(
            problem=problem,
            pool=pool(spoilt),
            sample=(0, iteration, i),
            forced_prefix=OPENING if i < opened else "",
            draft=DRAFT if i < opened else "",
        )
        for i, problem in enumerate(PROBLEMS[:questions])
    ]


def taught(*, steps: int, seed: int = 0) -> LocalPolicy:
    """A policy that writes one- and two-step workflows for :data:`PROBLEMS` and knows nothing of the workers."""
    rng = random.Random(seed)
    texts = [_text(rng) for _ in range(64)]
    tokens = Tokens.trained([problem.question for problem in PROBLEMS] + texts, vocab_size=340)
    size = Qwen2Config(
        vocab_size=len(tokens), hidden_size=48, intermediate_size=96, num_hidden_layers=2, max_position_embeddings=512
    )
    policy = LocalPolicy(Qwen2(size, seed=seed), tokens, Dialect(syntax=LANGUAGE, max_tokens=40), temperature=1.0)
    learner = Learner(policy.model, LearnerConfig(learning_rate=1e-2), tokens.worker_ids(), steps=steps)
    prompts = [tuple(policy.prompt_ids(task.brief)) for task in tasks(0, questions=len(PROBLEMS))]
    for _ in range(steps):
        completions = [(*tokens.encode(_text(rng)), tokens.end) for _ in range(16)]
        chosen = rng.sample(prompts, 2)
        learner.imitate(
            [
                TrainingRow(prompt_ids=chosen[i % 2], completion_ids=ids, logprobs=(0.0,) * len(ids), advantage=0.0)
                for i, ids in enumerate(completions)
            ]
        )
    return policy


def _text(rng: random.Random) -> str:
    steps = [Step(worker=rng.randrange(3), subtask="", access=())]
    if rng.random() < 0.5:
        steps.append(Step(worker=rng.randrange(3), subtask="", access=(0,)))
    return format_workflow(Workflow(steps=tuple(steps)), LANGUAGE)


async def collected(writer: Writer, drawn: Sequence[Task], n: int) -> list[RolloutGroup]:
    """The groups of ``drawn``, with advantages."""
    groups = await COLLECTOR.collect(writer, drawn, n)
    return [_compared(group) for group in groups]


def _compared(group: RolloutGroup) -> RolloutGroup:
    advantages = group_normalised([rollout.turns[0].reward for rollout in group.rollouts])
    turns = [replace(r.turns[0], advantage=a) for r, a in zip(group.rollouts, advantages, strict=True)]
    return replace(group, rollouts=tuple(Rollout(turns=(turn,)) for turn in turns))
