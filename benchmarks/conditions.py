"""Stopping on recorded outputs of real models: ``python -m benchmarks.conditions --replay FOLDER --graded FOLDER``.

``--replay``: a folder with whole outputs. Orders and rules are learned on one half of the questions, as their ids fall, and
every arm is carried out on the other by the study that ``podium evaluate`` runs (kept in ``--out``, where a rerun goes on).
``replay_best``: the best model; ``replay_vote``: all, in the order of the pool; ``replay_vote_learned``: ties by learned
accuracy; ``replay_stop2``, ``replay_stop2_calls``: ``stop:2:learned``; ``replay_rule``, ``replay_rule_calls``: the rule of each
benchmark. Counting votes is no call.

``--graded``: a folder with graded answers. Ten times the questions of each task are halved; rules are learned from each half
and counted on the other, so that every question counts alike. Every question's outcome follows from the recorded answers
(:func:`podium.policies.learning.outcome`); ``graded_executed`` is the share of outcomes that are the same where workflows are
really carried out, on a sample. ``graded_best``: the model that was best in learning; ``graded_cascade``, ``graded_calls``: the
rule per kind, with the paired interval of its gain over the best model, 95 %, over questions; ``graded_one_call``,
``graded_one_call_calls``: the same where a call is dear; ``graded_vote``: all models; ``graded_oracle``: some model is right.

A recorded answer does not change with what a step is told or shown: nothing here says what instructions are worth, or seeing
others.
"""

import argparse
import asyncio
import json
import random
import tempfile
from collections import Counter
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.conduct import Conductor
from podium.evaluation.compare import paired_interval
from podium.policies.learning import LearnedRule, Trials, learned_order, outcome, said_the_same
from podium.policies.router_data import RouterDataset
from podium.policies.rules import Rule, following
from podium.policies.voting import with_vote
from podium.pools.graded import graded_problems, graded_rows
from podium.pools.problems import ProblemSource
from podium.pools.recorded import recorded_pool
from podium.studies.run import run_study
from podium.studies.spec import Study
from podium.tasks.agreement import votes
from podium.tasks.graded import GradedVerifier

SHUFFLES = range(10)
EXECUTED = 300
DEAR = 0.03
"""What a call costs in shares of right answers where one a question is all that is wanted."""

Array = NDArray[np.float64]


async def replay(folder: Path, out: Path) -> dict[str, Any]:
    """The figures of ``--replay``."""
    arms = {
        "replay_vote": "vote",
        "replay_vote_learned": "vote:learned",
        "replay_stop2": "stop:2:learned",
        "replay_rule": "router:rule",
    }
    study = Study(
        title="Stopping on recorded outputs",
        arms=("worker:*", *arms.values()),
        compare="router:rule",
        problems=ProblemSource(replay=folder, half="second"),
        learning=ProblemSource(replay=folder, half="first"),
        out=out,
    )
    report = await run_study(study)
    rows = {row.arm: row for row in report.rows if row.kind is None}
    found: dict[str, Any] = {"replay_questions": rows["vote"].n}
    found["replay_best"] = max(row.accuracy or 0.0 for arm, row in rows.items() if arm.startswith("worker:"))
    for key, arm in arms.items():
        results = [result for result in report.results if result.arm == arm]
        found[key] = rows[arm].accuracy
        found[f"{key}_calls"] = fmean(sum(worker != "vote" for worker in result.workers) for result in results)
    return found


class Graded:
    """A graded folder, read once: who is right where, and who says the same."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.rows = folder, graded_rows(folder)
        self.right = np.array([row.right for row in self.rows], dtype=float)
        self.answers = [votes(row.said, question=row.question) for row in self.rows]
        self.same = said_the_same(self.answers)

    def halves(self, seed: int) -> tuple[list[int], list[int]]:
        """Half of each task's questions, and the others."""
        rng, learn, test = random.Random(seed), list[int](), list[int]()
        tasks: dict[str, list[int]] = {}
        for index, row in enumerate(self.rows):
            tasks.setdefault(row.dataset, []).append(index)
        for of_task in tasks.values():
            rng.shuffle(of_task)
            learn += of_task[: len(of_task) // 2]
            test += of_task[len(of_task) // 2 :]
        return learn, test

    def lessons(self, learn: list[int]) -> RouterDataset:
        """What those questions teach."""
        return RouterDataset(
            questions=tuple(self.rows[index].question for index in learn),
            kinds=tuple(self.rows[index].dataset for index in learn),
            right=tuple(tuple(self.right[index]) for index in learn),
            answers=tuple(tuple(self.answers[index]) for index in learn),
        )

    def ruled(self, rules: dict[str, LearnedRule], test: list[int]) -> tuple[Array, Array]:
        """Right or wrong, and calls, of each question of ``test`` under its kind's rule."""
        won, calls = np.zeros(len(test)), np.zeros(len(test))
        kinds = np.array([self.rows[index].dataset for index in test])
        for kind in dict.fromkeys(kinds):
            here = kinds == kind
            rows = np.array(test)[here]
            won[here], calls[here] = outcome(rules.get(kind, rules[""]).rule, self.right[rows], self.same[rows])
        return won, calls


def graded(folder: Path) -> dict[str, Any]:
    """The figures of ``--graded``."""
    data = Graded(folder)
    everybody = Rule(order=tuple(range(data.right.shape[1])))
    rows: dict[str, list[float]] = {}
    gains: dict[int, list[float]] = {}
    for seed in SHUFFLES:
        halves = data.halves(seed)
        for learn, test in (halves, halves[::-1]):
            lessons = data.lessons(learn)
            best = data.right[test, learned_order(lessons)[0]]
            trials = Trials(lessons)
            rules = trials.rules()
            won, calls = data.ruled(rules, test)
            one, one_calls = data.ruled(trials.rules(price=DEAR), test)
            vote = outcome(everybody, data.right[test], data.same[test])[0]
            for index, gain in zip(test, won - best, strict=True):
                gains.setdefault(index, []).append(float(gain))
            figures = {"graded_best": best, "graded_cascade": won, "graded_calls": calls, "graded_one_call": one}
            figures |= {"graded_one_call_calls": one_calls, "graded_vote": vote, "graded_oracle": data.right[test].max(axis=1)}
            for key, values in figures.items():
                rows.setdefault(key, []).append(float(values.mean()))
    same = asyncio.run(executed(data, rules, test, won))
    interval = paired_interval([fmean(each) for each in gains.values()])
    found = {key: fmean(values) for key, values in rows.items()}
    found |= {"graded_gain": found["graded_cascade"] - found["graded_best"], "graded_gain_low": interval.low}
    return {"graded_questions": len(data.rows), **found, "graded_gain_high": interval.high, "graded_executed": same}


async def executed(data: Graded, rules: dict[str, LearnedRule], test: list[int], won: Array) -> float:
    """The share of a sample of ``test`` at which the rules, carried out, are right where ``won`` says so.

    Only questions that are asked once: a recorded answer is found by the question.
    """
    pool = recorded_pool(data.folder).workers
    workers, verifier, same = with_vote(pool), GradedVerifier(), 0
    problems = {problem.question: problem for problem in graded_problems(data.folder)}
    often = Counter(row.question for row in data.rows)
    once = [place for place, index in enumerate(test) if often[data.rows[index].question] == 1]
    chosen = random.Random(0).sample(once, min(EXECUTED, len(once)))
    for place in chosen:
        problem = problems[data.rows[test[place]].question]
        policy = following(rules.get(problem.source, rules[""]).rule, len(pool))
        conductor = Conductor(policy, workers, max_steps=len(workers), syntax=policy.syntax)
        verdict = await verifier(problem, (await conductor.ask(problem.question)).text)
        same += verdict.correct == bool(won[place])
    return same / len(chosen)


def main() -> None:
    """Measure what is asked for, and print one JSON object."""
    parser = argparse.ArgumentParser(description="Stopping on recorded outputs of real models.")
    parser.add_argument("--replay", type=Path, help="folder with whole outputs")
    parser.add_argument("--graded", type=Path, help="folder with graded answers")
    parser.add_argument("--out", type=Path, help="folder of the study of --replay; without it, a temporary one")
    flags = parser.parse_args()
    if flags.replay is None and flags.graded is None:
        parser.error("name --replay, --graded, or both")
    found: dict[str, Any] = {}
    if flags.replay is not None:
        with tempfile.TemporaryDirectory() as folder:
            found |= asyncio.run(replay(flags.replay, flags.out or Path(folder)))
    if flags.graded is not None:
        found |= graded(flags.graded)
    print(json.dumps({key: round(value, 4) if isinstance(value, float) else value for key, value in found.items()}))


if __name__ == "__main__":
    main()
