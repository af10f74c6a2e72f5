"""``podium evaluate recipes/gym_check.toml``: how trained gym Conductors stand against the known optimum, over seeds.

Every arm answers the same held-out problems: other numbers and other templates. The trained policy writes greedily; the start and
the trained policy are compared by what they write at temperature 1.
"""

import json
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from podium.conduct import Conductor
from podium.errors import ConfigError
from podium.evaluation.evaluate import Result, evaluate
from podium.evaluation.metrics import summarise
from podium.gym import KINDS, UNTRAINED_KINDS, GymVerifier
from podium.policies.local import LocalPolicy
from podium.pools.conducting import conductor
from podium.pools.gym import gym_pool
from podium.pools.opened import OpenPool
from podium.pools.problems import ProblemSource
from podium.recipes.gym_adaptive import check_adaptive
from podium.recipes.gym_recursive import check_recursive
from podium.training.monitor import entropy_bits
from podium.workers.budget import Budget
from podium.workers.toml_file import read_toml

NAMED = ("run", "best_worker", "held_out_worker")
"""Figures that are names."""
_KEYS = {"runs", "per_kind", "splits", "seed", "adaptive", "recursive"}
REACHED = 0.95
"""Share of the optimum's accuracy at which a seed counts as having learned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GymCheck:
    """What is checked, as read from the TOML file."""

    runs: Path
    source: ProblemSource
    adaptive: Path | None
    """Folder of runs with changing pools; None or empty: not checked."""
    recursive: Path | None
    """Folder of runs with second rounds, likewise."""


def read_check(path: Path) -> GymCheck:
    """The check described in ``path``. Raises :class:`ConfigError` where it can not be used."""
    try:
        table = read_toml(path, "gym check")
        found = GymCheck(
            runs=Path(str(table["runs"])),
            source=ProblemSource(gym=table["per_kind"], splits=table["splits"], seed=table["seed"]),
            adaptive=Path(str(table["adaptive"])) if "adaptive" in table else None,
            recursive=Path(str(table["recursive"])) if "recursive" in table else None,
        )
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise ConfigError(f"{path} describes no gym check: {first['msg']}; see recipes/gym_check.toml") from None
    except KeyError as error:
        raise ConfigError(f"{path} describes no gym check: {error} is missing; see recipes/gym_check.toml") from error
    if unknown := set(table) - _KEYS:
        raise ConfigError(f"{path}: unknown key {sorted(unknown)[0]!r}")
    return found


async def check_gym(path: Path, *, runs: Path | None = None) -> dict[str, Any]:
    """The figures of every run that the check at ``path`` names; ``runs``: of those in this folder, or of this run, instead.

    Raises :class:`ConfigError` where no policy was trained.
    """
    check = read_check(path)
    folders = _trained(runs or check.runs)
    if not folders:
        raise ConfigError(
            f"no trained policy under {runs or check.runs}; train some first: podium train recipes/gym.py --seeds 5"
        )
    problems = check.source.problems()
    pool = gym_pool(Budget())
    arms = {f"worker {member.name}": member.worker for member in pool.workers} | {"optimum": conductor(pool, "best")}
    arms |= {name: conductor(pool, name) for name in ("found:constant", "found:cheap")}
    known = await evaluate(arms, problems, GymVerifier())
    seeds = []
    for folder in folders:
        trained = {
            "greedy": _conductor(folder / "policy", pool, 0.0),
            "sampled": _conductor(folder / "policy", pool, 1.0),
            "start": _conductor(folder / "start", pool, 1.0),
        }
        found = await evaluate(trained, problems, GymVerifier())
        seeds.append({"run": str(folder), **figures([*known, *found]), **_training(folder)})
    report: dict[str, Any] = {
        "medians": _medians(seeds),
        "seeds_reached": sum(s["of_optimum"] >= REACHED for s in seeds),
        "seeds": seeds,
    }
    of_training = [problem for problem in problems if problem.kind in KINDS]
    for name, each in (
        ("adaptive", [await check_adaptive(folder, of_training, seed=check.source.seed) for folder in _trained(check.adaptive)]),
        ("recursive", [await check_recursive(folder, problems, pool) for folder in _trained(check.recursive)]),
    ):
        if each:
            report[name] = {"medians": _medians(each), "seeds": each}
    return report


def figures(results: Sequence[Result]) -> dict[str, Any]:
    """The figures of one trained policy from the results of all arms; shares in 0..1, points as differences of shares."""
    accuracy = {(row.arm, row.kind): row.accuracy or 0.0 for row in summarise(results)}
    workers = sorted({result.arm for result in results if result.arm.startswith("worker ")})
    best = max(workers, key=lambda arm: _mean(accuracy, arm, KINDS))
    greedy = [result for result in results if result.arm == "greedy" and result.kind in KINDS]
    return {
        "of_optimum": _mean(accuracy, "greedy", KINDS) / _mean(accuracy, "optimum", KINDS),
        "accuracy": {kind: accuracy["greedy", kind] for kind in (*KINDS, *UNTRAINED_KINDS)},
        "optimum": {kind: accuracy["optimum", kind] for kind in (*KINDS, *UNTRAINED_KINDS)},
        "best_worker": best.removeprefix("worker "),
        "over_best_worker": _mean(accuracy, "greedy", KINDS) - _mean(accuracy, best, KINDS),
        "over_constant": _mean(accuracy, "greedy", KINDS) - _mean(accuracy, "found:constant", KINDS),
        "over_cheap_constant": _mean(accuracy, "greedy", KINDS) - _mean(accuracy, "found:cheap", KINDS),
        "untrained_over_constant": _mean(accuracy, "greedy", UNTRAINED_KINDS)
        - _mean(accuracy, "found:constant", UNTRAINED_KINDS),
        "start_valid": _valid(results, "start"),
        "start_correct_given_valid": _given_valid(results, "start"),
        "trained_correct_given_valid": _given_valid(results, "sampled"),
        "correct_given_valid_rise": _given_valid(results, "sampled") - _given_valid(results, "start"),
        "worker_entropy_bits": entropy_bits(Counter(worker for result in greedy for worker in result.workers)),
        "steps": {
            kind: statistics.fmean(r.steps for r in results if r.arm == "greedy" and r.kind == kind)
            for kind in (*KINDS, *UNTRAINED_KINDS)
        },
    }


def _trained(runs: Path | None) -> list[Path]:
    """The runs in a folder that have a trained policy, or the folder itself where it is such a run."""
    if runs is None:
        return []
    return sorted(file.parent.parent for file in (*runs.glob("policy/podium.json"), *runs.glob("*/policy/podium.json")))


def _conductor(folder: Path, pool: OpenPool, temperature: float) -> Conductor:
    policy = LocalPolicy.load(folder, temperature=temperature, seed=0)
    return Conductor(policy, pool.workers, syntax=policy.dialect.syntax)


def _mean(accuracy: Mapping[tuple[str, str | None], float], arm: str, kinds: Sequence[str]) -> float:
    return statistics.fmean(accuracy[arm, kind] for kind in kinds)


def _valid(results: Sequence[Result], arm: str) -> float:
    return statistics.fmean(not result.is_policy_failure for result in results if result.arm == arm and result.kind in KINDS)


def _given_valid(results: Sequence[Result], arm: str) -> float:
    verdicts = [r.verdict.correct for r in results if r.arm == arm and r.kind in KINDS and r.verdict is not None]
    return statistics.fmean(verdicts) if verdicts else 0.0


def _training(folder: Path) -> dict[str, Any]:
    """What the run itself wrote down: rollouts and minutes of collecting and learning."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    return {
        "rollouts": sum(line["rollouts"] for line in lines),
        "minutes": sum(sum(line["seconds"].values()) for line in lines) / 60,
    }


def _medians(seeds: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    def median(values: list[Any]) -> Any:
        if isinstance(values[0], dict):
            return {key: median([value[key] for value in values]) for key in values[0]}
        return statistics.median(values)

    return {key: median([seed[key] for seed in seeds]) for key in seeds[0] if key not in NAMED}
