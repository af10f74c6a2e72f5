"""What a run would take, before anything is paid: calls, tokens, dollars, hours, with every assumption said.

Expected values assume that plans stay as long as the start policy writes them; the upper end assumes the longest plan allowed in
every rollout. A worker whose price is unknown makes the dollars unknown, never smaller.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from podium.conditions import ALWAYS
from podium.training.config import TrainConfig
from podium.training.memory import GIB, Memory, memory
from podium.training.pretrained import Pretrained
from podium.training.warm_start import WarmStart
from podium.types import Brief, Card, Problem, ask
from podium.workflow.forecast import CARRIED_OUT, CHARACTERS_PER_TOKEN, REPLY_TOKENS
from podium.workflow.parse import parse

SUBTASK_TOKENS = 15
GYM_TOKENS = 60
"""Tokens the gym's specialists write a call, about."""
STEPS_OF_A_PRETRAINED_MODEL = 3.0
"""Where plans of the paper's Conductor settle (its section 4.1); used where no start is made that could be counted."""
COUNTED = 200
"""Texts of the start whose steps are counted."""
SECONDS_PER_ROLLOUT = 0.012
"""Sampling and learning per rollout and round for the 0.9 M policy on one core (measured: 3 s for 256)."""
WARM_START_SECONDS_PER_STEP = 0.3
"""The same machine."""
GPU_GIB = 79.0
"""What CUDA reports of a GPU that is sold as one of 80 GB."""
LONGEST_TOKENS = 8192
"""Prompt and completion of a row, where the options name no limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What ``podium train --estimate`` says. Example: ``estimate(config, cards).rollouts == 51_200`` for the gym's recipe."""

    rollouts: int
    calls: int
    """Expected calls of workers."""
    calls_at_most: int
    tokens: int
    """Expected tokens of workers, prompt and completion."""
    cost_usd: float | None
    """Expected dollars; None where a price is unknown."""
    cost_usd_at_most: float | None
    hours: float | None
    """Of this machine, without waiting for workers; None where a pretrained model learns, because that depends on the GPUs."""
    assumptions: tuple[str, ...]
    is_simulated: bool = False
    """Whether all workers are the gym's, whose dollars nobody pays."""
    memory: Memory | None = None
    """What a GPU has to hold; None where no pretrained model learns, or its sizes are not known."""

    def as_text(self) -> str:
        """For people."""
        dollars = (
            "unknown (a worker has no price)"
            if self.cost_usd is None or self.cost_usd_at_most is None
            else f"{self.cost_usd:,.2f} expected, {self.cost_usd_at_most:,.2f} at most"
        )
        lines = [
            f"rollouts  {self.rollouts:,}",
            f"calls     {self.calls:,} expected, {self.calls_at_most:,} at most",
            f"tokens    {self.tokens:,} expected",
            f"dollars   {dollars}{' (simulated: nobody is paid)' if self.is_simulated else ''}",
            f"hours     {'depends on the GPUs' if self.hours is None else f'{self.hours:.2f}, without waiting for workers'}",
            "assumed:",
            *(f"  - {assumption}" for assumption in self.assumptions),
        ]
        return "\n".join(lines if self.memory is None else [*lines, *_table(self.memory)])


def estimate(config: TrainConfig, cards: Sequence[Card]) -> Estimate:
    """What the run of ``config`` over the workers with these ``cards`` would take; nothing is called."""
    problems = list(config.problems())
    rollouts = config.iterations * config.problems_per_step * config.group_size
    rounds = 1 + config.recursive
    conditional = config.syntax.conditions
    steps = STEPS_OF_A_PRETRAINED_MODEL if config.warm_start is None else _imitated_steps(config.warm_start, config, problems)
    steps = min(steps, config.max_steps)
    written = GYM_TOKENS if all(problem.source == "gym" for problem in problems) else REPLY_TOKENS
    question = fmean(len(problem.question) for problem in problems) / CHARACTERS_PER_TOKEN
    calls, calls_at_most = round(rollouts * rounds * steps), round(rollouts * rounds * config.max_steps)

    def prompt(length: float) -> float:
        """Mean prompt tokens of a step in a plan of ``length`` steps that all see everything before them."""
        return question + SUBTASK_TOKENS + (length - 1) / 2 * (SUBTASK_TOKENS + written)

    def dollars(number: int, length: float) -> float | None:
        prices = [
            prompt(length) * card.prompt_usd + written * card.completion_usd
            for card in cards
            if card.prompt_usd is not None and card.completion_usd is not None
        ]
        return number * fmean(prices) if len(prices) == len(cards) else None

    start = None if config.start is not None else config.warm_start
    warm = 0 if start is None else start.steps + (0 if start.cards is None else start.cards.lessons)
    seconds = rollouts * rounds * SECONDS_PER_ROLLOUT + warm * WARM_START_SECONDS_PER_STEP
    return Estimate(
        rollouts=rollouts,
        calls=calls,
        calls_at_most=calls_at_most,
        tokens=round(calls * (prompt(steps) + written)),
        cost_usd=dollars(calls, steps),
        cost_usd_at_most=dollars(calls_at_most, config.max_steps),
        hours=None if config.pretrained is not None else seconds / 3600,
        assumptions=(
            f"{steps:.2f} steps a workflow, workers asked equally often, each step sees all before it",
            *([f"a step with a condition is carried out {CARRIED_OUT:.0%} of the time; at most, always"] if conditional else []),
            f"a worker writes {written} tokens a call; dollars grow in proportion",
            f"{CHARACTERS_PER_TOKEN} characters a token, {SUBTASK_TOKENS} tokens a subtask",
            "the 0.9 M policy on one core; a larger policy takes longer in proportion to its size",
        ),
        memory=None if config.pretrained is None else memory_of(config.pretrained),
    )


def _imitated_steps(start: WarmStart, config: TrainConfig, problems: Sequence[Problem]) -> float:
    """Mean steps that are carried out of the workflows that the start imitates."""
    rng = random.Random(0)
    cards = tuple(Card(name=f"worker {index}") for index in range(start.workers[0]))
    found: list[float] = []
    for problem in rng.choices(problems, k=COUNTED):
        brief = Brief(question=ask(problem.question), cards=cards, max_steps=config.max_steps)
        workflow = parse(start.write(problem, brief, rng, config.syntax).text, brief, config.syntax)
        steps = () if workflow is None else workflow.steps
        found.append(sum(1.0 if step.condition == ALWAYS else CARRIED_OUT for step in steps))
    return fmean(found)


def memory_of(model: Pretrained, gpu_gib: float = GPU_GIB) -> Memory | None:
    """What each GPU holds when ``model`` learns as its options say; None where its sizes are not known."""
    if model.shape is None:
        return None
    options, uses_vllm = model.options, model.options.get("use_vllm", False)
    beside = uses_vllm and options.get("vllm_mode", "colocate") == "colocate"
    return memory(
        model.shape,
        gpus=model.gpus,
        gpu=round(gpu_gib * GIB),
        rows=options.get("per_device_train_batch_size", 4),
        tokens=options.get("vllm_max_model_length") or LONGEST_TOKENS,
        sharded=bool(options.get("fsdp")),
        adapter=0 if model.adapter is None else model.shape.adapter_parameters(model.adapter["r"]),
        share=options.get("vllm_gpu_memory_utilization", 0.3) if beside else 0.0,
        parallel=options.get("vllm_tensor_parallel_size", 1),
        sleeps=options.get("vllm_enable_sleep_mode", False),
        sampled_at_once=0 if uses_vllm else model.sampled_at_once,
    )


def _table(needed: Memory) -> list[str]:
    head = f"memory of a GPU of {needed.gpu / GIB:.0f} GiB, by arithmetic:"
    width = max(len(name) for name, _, _ in needed.rows())
    rows = [("GiB", "learning", "sampling"), *needed.rows()]
    verdict = (
        "it fits" if needed.fits else "it does NOT fit: more GPUs, an adapter, fewer rows at once, or vLLM asleep while it learns"
    )
    return [head, *(f"  {name:{width}}  {learning:>8}  {sampling:>8}" for name, learning, sampling in rows), f"  {verdict}"]
