"""A training run as it happens: curves so far, who is asked how often, what is left, what was spent.

On a terminal one view is redrawn; elsewhere a line is printed per iteration. What a model wrote is shown as plain text only.
"""

from collections import Counter
from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from podium.charts import curve
from podium.cli.live import LiveView
from podium.training.config import TrainConfig
from podium.training.monitor import Iteration
from podium.training.rollout import RolloutGroup, best_right
from podium.workflow.draw import plain


class TrainingView(LiveView):
    """Follows a run of ``config``.

    Example::

        with TrainingView(console, config) as view:
            view.show(iteration, groups)
    """

    def __init__(self, console: Console, config: TrainConfig) -> None:
        super().__init__(console, per_second=4)
        self._config = config
        self._seen: list[Iteration] = []
        self._mix: Counter[str] = Counter()
        self._example = ""
        self._waits = "first the start policy, then the first rollouts ..."

    def show_warm_start(self, step: int, loss: float) -> None:
        """Take in a step of the warm start, with its loss in nats per token."""
        start = self._config.warm_start
        if start is not None and step % 10 == 0:
            total = start.steps + (0 if start.cards is None else start.cards.lessons)
            self._waits = f"learning to write workflows: {step} of {total}, {loss:.3f} nats per token"
            if not self.is_live and step % 100 == 0:
                self._console.print(self._waits)

    def show(self, seen: Iteration, groups: Sequence[RolloutGroup]) -> None:
        """Take in one iteration."""
        self._seen.append(seen)
        self._mix = Counter(
            result.worker for g in groups for rollout in g.rollouts for turn in rollout.turns for result in turn.transcript.asked
        )
        self._example = best_right(groups) or self._example
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
        return Group(self._line(last), curves, kinds, Text(f"asked: {mix}"), Text(self._example, style="green"))

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
        # By what iterations take: what the start took comes only once.
        each = sum(sum(i.seconds.values()) for i in self._seen) / len(self._seen)
        seconds = each * (self._config.iterations - seen.iteration - 1)
        return f"{seconds / 60:.0f} min left" if seconds >= 90 else f"{seconds:.0f} s left"
