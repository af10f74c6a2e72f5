"""A training run as it happens: curves so far, who is asked how often, what is left, what was spent.

On a terminal one view is redrawn; elsewhere a line is printed per iteration. What a model wrote is shown as plain text only.
"""

import time
from collections import Counter
from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from podium.cli.live import LiveView
from podium.training.config import TrainConfig
from podium.training.monitor import Iteration
from podium.training.rollout import RolloutGroup
from podium.workflow.draw import plain

BLOCKS = "▁▂▃▄▅▆▇█"
WIDTH = 30
"""Characters of a curve."""


class TrainingView(LiveView):
    """Follows a run of ``config``.

    Example::

        with TrainingView(console, config) as view:
            view.show(iteration, groups)
    """

    def __init__(self, console: Console, config: TrainConfig) -> None:
        super().__init__(console, per_second=4)
        self._config = config
        self._started = time.monotonic()
        self._seen: list[Iteration] = []
        self._mix: Counter[str] = Counter()
        self._example = Text()
        self._waits = "collecting the first rollouts ..."

    def show_warm_start(self, step: int, loss: float) -> None:
        """Take in a step of the warm start, with its loss in nats per token."""
        start = self._config.warm_start
        if start is not None and step % 10 == 0:
            total = start.steps + (0 if start.cards is None else start.cards.lessons)
            self._waits = f"learning to write workflows: {step} of {total}, {loss:.3f} nats per token"

    def show(self, seen: Iteration, groups: Sequence[RolloutGroup]) -> None:
        """Take in one iteration."""
        self._seen.append(seen)
        self._mix = Counter(
            result.worker for g in groups for rollout in g.rollouts for turn in rollout.turns for result in turn.transcript.asked
        )
        self._example = _example(groups) or self._example
        number = seen.iteration + 1
        if not self.is_live and (number <= 10 or number % 5 == 0 or number == self._config.iterations):
            self._console.print(self._line(seen))

    def __rich__(self) -> RenderableType:
        if not self._seen:
            return Text(self._waits)
        last = self._seen[-1]
        curves = Table.grid(padding=(0, 1))
        for name, values, shown in (
            ("correct", [i.correct for i in self._seen], f"{last.correct:.0%}"),
            ("valid", [i.valid for i in self._seen], f"{last.valid:.0%}"),
            ("correct given valid", [i.correct_given_valid for i in self._seen], f"{last.correct_given_valid:.0%}"),
            ("worker entropy", [i.worker_entropy_bits / 3 for i in self._seen], f"{last.worker_entropy_bits:.2f} bits"),
            ("steps", [i.steps / self._config.max_steps for i in self._seen], f"{last.steps:.2f}"),
        ):
            curves.add_row(Text(name), Text(curve(values), style="cyan"), Text(shown, style="bold"))
        kinds = Table("kind", "right", "steps", box=None, padding=(0, 2, 0, 0))
        for kind, share in last.correct_by_kind.items():
            kinds.add_row(Text(plain(kind, 20)), f"{share:.0%}", f"{last.steps_by_kind.get(kind, 0):.1f}")
        total = self._mix.total() or 1
        mix = "  ".join(f"{plain(name, 16)} {count / total:.0%}" for name, count in self._mix.most_common(8))
        return Group(self._line(last), curves, kinds, Text(f"asked: {mix}"), self._example)

    def _line(self, seen: Iteration) -> Text:
        cost = (
            "cost unknown" if any(i.cost_usd is None for i in self._seen) else f"${sum(i.cost_usd or 0 for i in self._seen):.4f}"
        )
        return Text(
            f"iteration {seen.iteration + 1} of {self._config.iterations}  right {seen.correct:.0%}  valid {seen.valid:.0%}  "
            f"entropy {seen.worker_entropy_bits:.2f} bits  steps {seen.steps:.2f}  flat {seen.flat_groups:.0%}  "
            f"forced prefixes {seen.forced_prefixes:.0%}  void {seen.void:.0%}  {cost}  {self._left(seen)}"
        )

    def _left(self, seen: Iteration) -> str:
        made = len(self._seen)
        seconds = (time.monotonic() - self._started) / made * (self._config.iterations - seen.iteration - 1)
        return f"{seconds / 60:.0f} min left" if seconds >= 90 else f"{seconds:.0f} s left"


def curve(values: Sequence[float], width: int = WIDTH) -> str:
    """Values in 0..1 as block characters, at most ``width`` of them, each a mean. Example: ``curve([0, 0.5, 1]) == "▁▅█"``."""
    count = min(width, len(values))
    means = []
    for i in range(count):
        part = values[i * len(values) // count : (i + 1) * len(values) // count]
        means.append(sum(part) / len(part))
    return "".join(BLOCKS[min(len(BLOCKS) - 1, max(0, int(mean * len(BLOCKS))))] for mean in means)


def _example(groups: Sequence[RolloutGroup]) -> Text | None:
    """A rollout of the most steps among the right ones: who did what."""
    best: tuple[int, str] | None = None
    for group in groups:
        for rollout in group.rollouts:
            turn = rollout.turns[-1]
            workflow = turn.transcript.workflow
            if workflow is None or turn.verdict is None or not turn.verdict.correct:
                continue
            if best is None or len(workflow.steps) > best[0]:
                names = [card.name for card in group.brief.cards]
                steps = " > ".join(f"{plain(names[s.worker], 16)}: {plain(s.subtask, 40)}" for s in workflow.steps)
                best = (len(workflow.steps), f"{plain(group.problem.kind, 16)}  {steps}")
    return None if best is None else Text(f"right: {best[1]}", style="green")
