"""``podium reproduce --list``: tables and figures of the paper, and the commands that make our counterparts.

What is substituted is said in every line: the gym's generated problems and rule-based workers stand in for benchmarks and paid
APIs, so figures are compared in kind (who is ahead, what falls apart when a part is taken away) and not in size.
"""

import json
import sys
from dataclasses import asdict, dataclass

from rich.table import Table
from rich.text import Text

from podium.cli.screen import Screen
from podium.workers.prices import price_of

PAPER_POOL = (("google", "gemini-2.5-pro"), ("anthropic", "claude-sonnet-4-0"), ("openai", "gpt-5"))
"""The closed models of the paper's pool; the open ones cost little beside them."""
TOKENS = 1820
"""Worker tokens per question of the paper's Conductor (its table of costs)."""
COMPLETION_SHARE = 0.7
"""Of these, what was written and not read: an assumption, said with the estimate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterpart:
    """One table or figure. Example: ``COUNTERPARTS[0].commands``."""

    paper: str
    commands: tuple[str, ...]
    same: str
    substituted: str
    live: str
    """The command for a pool of one's own; "" where there is nothing to pay for."""
    questions: int = 0
    """How often a question would be conducted live, training included."""

    @property
    def live_usd(self) -> float | None:
        """Dollars for the workers of the live command at today's list prices, about; None where a price is unknown."""
        each = usd_per_question()
        return None if each is None else each * self.questions


COUNTERPARTS = (
    Counterpart(
        paper="Tables 6 and 7: the Conductor, every worker alone, 5x context, reflection, consensus, mixture, routers",
        commands=("podium evaluate recipes/gym_table.toml",),
        same="arms, metering, paired problems; cost with the Conductor's own tokens",
        substituted="gym problems and specialists; routers without pretrained encoders (their docstrings say what is kept)",
        live="podium evaluate STUDY.toml with pool, set and preset = 'constrained'",
        questions=4 * 500 * 30,
    ),
    Counterpart(
        paper="unconstrained results and out-of-distribution tasks",
        commands=("podium evaluate recipes/gym_table.toml",),
        same="kinds of question never trained on (conversion, comparison)",
        substituted="two untrained kinds of the gym for AIME25, GPQA and BigCodeBench",
        live="the same study with preset = 'unconstrained' and set = 'aime25', 'bigcodebench', ...",
        questions=376 * 16,
    ),
    Counterpart(
        paper="training curves, steps per task, worker mix over training",
        commands=("podium train recipes/gym.py --seeds 5", "podium evaluate recipes/gym_check.toml"),
        same="rewards, GRPO, 200 iterations x 256 rollouts",
        substituted="a policy of 0.9 M parameters for Qwen2.5-7B; 16 x 16 instead of 4 x 64",
        live="podium train recipes/paper.py --estimate",
        questions=51_200,
    ),
    Counterpart(
        paper="Tables 9 to 11: few-shot examples, no subtasks, fine-grained access, one worker only",
        commands=(
            "podium train recipes/gym_ablations.py:sure_start",
            "podium train recipes/gym_ablations.py:no_subtasks",
            "podium train recipes/gym_ablations.py:positions",
            "podium train recipes/gym_ablations.py:one_worker",
            "podium evaluate recipes/gym_ablations.toml",
        ),
        same="one part changed, trained anew with the same budget",
        substituted="variants of the warm start for few-shot examples, which a policy trained from nothing does not read",
        live="a recipe with WorkflowSyntax(subtasks=False), WorkflowSyntax(access='positions') or few_shot='none'",
        questions=5 * 51_200,
    ),
    Counterpart(
        paper="what the choice of workers, the subtasks and the access are worth (no counterpart in the paper)",
        commands=("podium evaluate recipes/gym_mechanism.toml",),
        same="",
        substituted="the shipped Conductor's workflows with one part replaced",
        live="podium evaluate STUDY.toml with arms such as trained:FOLDER+workers=NAME",
        questions=4 * 500 * 6,
    ),
    Counterpart(
        paper="recursion and its cost",
        commands=("podium train recipes/gym.py:recursive", "podium evaluate recipes/gym_depth.toml"),
        same="half of the batch with a second round, discount 0.25, normalised over rounds; depth capped at inference",
        substituted="64 questions x 4, hindsight texts for second rounds (docs/log.md)",
        live="podium ask ... --rounds 2",
        questions=20 * 256 * 2,
    ),
    Counterpart(
        paper="adaptive pools",
        commands=("podium train recipes/gym.py:adaptive", "podium evaluate recipes/gym_check.toml"),
        same="random subsets, shuffled, a worker never seen in training",
        substituted="workers known by measured skills instead of by what a pretrained model knows of them",
        live="a recipe with Pools(sizes=(2, 3, 4), shuffled=True)",
        questions=51_200,
    ),
    Counterpart(
        paper="Figure 7: two sizes of Conductor",
        commands=("podium train recipes/gym_ablations.py:small", "podium evaluate recipes/gym_ablations.toml"),
        same="same data, same budget",
        substituted="0.9 M against 0.2 M parameters for 7B against 3B",
        live="podium train recipes/paper.py with Qwen2.5-3B in its place",
        questions=51_200,
    ),
)


def usd_per_question() -> float | None:
    """Dollars for the worker tokens of one question in the paper's pool, at today's list prices; None where one is unknown."""
    prices = [price_of(provider, model) for provider, model in PAPER_POOL]
    known = [price for price in prices if price is not None]
    if len(known) < len(prices):
        return None
    each = [(1 - COMPLETION_SHARE) * price.prompt_usd + COMPLETION_SHARE * price.completion_usd for price in known]
    return TOKENS * sum(each) / len(each)


def list_counterparts(*, as_json: bool) -> None:
    """Print :data:`COUNTERPARTS`."""
    if as_json:
        found = [{**asdict(each), "live_usd": each.live_usd} for each in COUNTERPARTS]
        sys.stdout.write(json.dumps({"usd_per_question": usd_per_question(), "counterparts": found}) + "\n")
        return
    screen = Screen()
    table = Table("of the paper", "ours, without a key", "the same", "substituted", "live, about", show_lines=True)
    for each in COUNTERPARTS:
        usd = "unknown" if each.live_usd is None else f"${each.live_usd:,.0f}"
        table.add_row(
            *(Text(cell) for cell in (each.paper, "\n".join(each.commands), each.same, each.substituted, f"{each.live}\n{usd}"))
        )
    screen.print(table)
    price = usd_per_question()
    cents = "unknown" if price is None else f"{100 * price:.2f} cents"
    names = ", ".join(model for _, model in PAPER_POOL)
    screen.print(
        Text(
            f"Live dollars: workers only, {TOKENS:,} tokens a question as in the paper, {COMPLETION_SHARE:.0%} written, at the "
            f"mean list price of {names}: {cents} a question. Without a key everything above costs nothing."
        ),
        soft_wrap=True,
    )
