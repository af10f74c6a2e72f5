"""Tuning on recorded answers of real models: ``python -m benchmarks.tuning_recorded --graded FOLDER --replay FOLDER``.

``--graded``: a folder with graded answers. Ten times up to 25 questions of each kind are learned from, and half of each kind is
tested; every question's outcome follows from the recorded answers. Settings were chosen on the shuffles 100 to 109, the
figures are those of 0 to 9 (``--first``).

- ``graded_best``: the model that was best in learning; ``graded_constant``: the best rule for everything; ``graded_by_kind``: the
  best model of each kind; ``graded_oracle``: some model is right.
- ``graded_tuned``, ``graded_calls``, ``graded_strong_share``: a rule for each kind, with bounds on calls and on how often the
  strongest model is asked (``--strong``, else the best in learning). ``graded_cheap``, ``graded_cheap_strong_share``: with
  a lower bound; ``graded_free``: without one. Where a model has several answers to a question (``graded_times``), all are learned
  from, and the first is tested. ``graded_once``: as ``graded_tuned``, learned from the first answers only.
- ``graded_few``: without bounds, learned from at most 80 recorded answers of each kind (``graded_few_answers``): the first ones,
  of everybody to a few questions and of the five best to more.
- ``graded_avengers``, ``graded_frugal``: two arms after the literature, of the first the better setting;
  ``graded_over_avengers_low``, ``graded_over_frugal_low``: the lower end of the paired 95 % interval of what ``graded_tuned`` has
  over them, over questions.

``--replay``: a folder with whole outputs, halved ten times. ``replay_tuned`` and ``replay_calls`` with a bound on calls.

``graded_mixed_worst``, ``replay_mixed_worst``: the worst difference to the best model in pools of one model and three that are
much weaker.

Dollars are those of a price list, a token being four characters. Hidden thinking is in no recording, so models that think are
dearer than it says. ``--out FOLDER`` keeps the pictures of the frontier, what was judged and what was read. A recorded answer
does not change with what a step is told or shown: nothing here says what instructions are worth, or seeing others.
"""

import argparse
import asyncio
import hashlib
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.charts import Dot, alone, frontier
from podium.evaluation.compare import paired_interval
from podium.evaluation.evaluate import evaluate
from podium.evaluation.routing import PricedArm, routing_metrics
from podium.policies.clusters import clustered
from podium.policies.frugal import Scorer, cascaded
from podium.policies.learning import learned_order, outcome, said_the_same
from podium.policies.router_data import RouterDataset
from podium.policies.rules import Rule
from podium.pools.graded import graded_rows, samples_in
from podium.pools.problems import ProblemSource
from podium.pools.recorded import recorded_pool
from podium.pools.verifiers import open_verifiers
from podium.tasks.agreement import votes
from podium.tuning.few import KEPT, first_of_each, shared_looks
from podium.tuning.recorded import TIMES, lessons
from podium.tuning.rules import Caps, RuleBook, asked_of
from podium.types import Problem
from podium.workers.price_list import PRICE_LIST, price_of
from podium.workers.recorded import RecordedAnswer, lines_of

SHUFFLES = 10
LEARN = 25
"""Questions of a kind that are learned from, at most."""
LOOKED_AT = 80
"""Recorded answers of a kind, where few are looked at."""
CALLS, STRONG, CHEAP = 2.5, 0.37, 0.12
"""What ``graded_tuned`` may take, and the share of the questions that ``graded_cheap`` may ask the strongest model."""
REPLAY_CALLS = 3.2
FRONTIER = (0.0, 0.03, 0.06, 0.12, 0.2, 0.3, 0.45, 0.6)
VENDORS = ("openai", "anthropic", "google", "meta-llama", "mistralai", "deepseek", "qwen", "microsoft", "01-ai")
MUCH_WEAKER = 0.1

Array = NDArray[np.float64]
Outcome = tuple[Array, NDArray[np.bool_]]
"""Per question, whether it was right; and per question and model, whether it was asked."""


class Recorded:
    """Questions with everybody's answers, read once: who is right where, and who says the same."""

    def __init__(
        self,
        names: Sequence[str],
        questions: Sequence[str],
        kinds: Sequence[str],
        right: Array,
        answers: Sequence[Sequence[str | None]],
        usd: Array | None = None,
        again: Sequence[tuple[Array, Sequence[Sequence[str | None]]]] = (),
    ) -> None:
        self.names, self.questions, self.kinds = tuple(names), tuple(questions), np.array(kinds)
        self.right, self.answers, self.usd = right, answers, usd
        self.again = tuple(again)
        """``right`` and ``answers`` of each further time that the questions were answered."""
        self.same = said_the_same(answers)

    def without(self, models: Sequence[int]) -> "Recorded":
        """The same of only these ``models``."""
        few = list(models)

        def of(answers: Sequence[Sequence[str | None]]) -> list[list[str | None]]:
            return [[row[model] for model in few] for row in answers]

        usd = None if self.usd is None else self.usd[:, few]
        names, again = [self.names[m] for m in few], [(right[:, few], of(answers)) for right, answers in self.again]
        return Recorded(names, self.questions, self.kinds.tolist(), self.right[:, few], of(self.answers), usd, again)

    def halves(self, seed: int, most: int | None) -> tuple[list[int], list[int]]:
        """Up to ``most`` questions of each kind from one half, and all of the other."""
        rng, learn, test = random.Random(seed), list[int](), list[int]()
        by_kind: dict[str, list[int]] = {}
        for index, kind in enumerate(self.kinds.tolist()):
            by_kind.setdefault(kind, []).append(index)
        for own in by_kind.values():
            rng.shuffle(own)
            learn += own[: len(own) // 2][:most]
            test += own[len(own) // 2 :]
        return learn, test

    def lessons(self, rows: Sequence[int], time: int = 0) -> RouterDataset:
        """What those questions teach by what was answered the first ``time``, or a further one."""
        right, answers = ((self.right, self.answers), *self.again)[time]
        return RouterDataset(
            questions=tuple(self.questions[row] for row in rows),
            kinds=tuple(self.kinds[row] for row in rows),
            right=tuple(tuple(right[row]) for row in rows),
            answers=tuple(tuple(answers[row]) for row in rows),
        )

    def book(self, rows: Sequence[int], *, once: bool = False) -> RuleBook:
        """Every rule on those questions, by everything that was answered or by the first answers only."""
        again = [] if once else [self.lessons(rows, time) for time in range(1, len(self.again) + 1)]
        return RuleBook(self.lessons(rows), None if self.usd is None else self.usd[rows].tolist(), again=again)

    def by_few(self, learn: Sequence[int], test: Sequence[int]) -> tuple[Outcome, float]:
        """The choice without bounds by ``LOOKED_AT`` answers of each kind, on ``test``; and how many there were of a kind."""
        everybody, further = shared_looks(LOOKED_AT, len(self.names))
        first, more = (first_of_each(learn, self.kinds.__getitem__, count) for count in (everybody, further))
        kept = sorted(learned_order(self.lessons(first))[: KEPT if further > everybody else None])
        few = self.without(kept)
        book = few.book(more, once=True)
        won, own = few.ruled(book, book.best(book.charges()), test)
        asked = np.zeros((len(test), len(self.names)), dtype=bool)
        asked[:, kept] = own
        looks = len(first) * len(self.names) + (len(more) - len(first)) * len(kept)
        return (won, asked), looks / len({*self.kinds[more]})

    def ruled(self, book: RuleBook, chosen: Mapping[str, int], rows: Sequence[int]) -> Outcome:
        """Each question under its kind's rule."""
        return self._grouped(rows, self.kinds[list(rows)], lambda kind: book.rules[chosen.get(kind, chosen[""])])

    def routed(self, choose: Callable[[str], Any], rows: Sequence[int]) -> Outcome:
        """Each question under the rule that ``choose`` gives for its text."""
        rules = [choose(self.questions[row]) for row in rows]
        names = np.array([repr(rule) for rule in rules])
        by_name = dict(zip(names, rules, strict=True))
        return self._grouped(rows, names, by_name.__getitem__)

    def _grouped(self, rows: Sequence[int], groups: Any, rule_of: Callable[[Any], Any]) -> Outcome:
        won, asked = np.zeros(len(rows)), np.zeros((len(rows), len(self.names)), dtype=bool)
        for group in dict.fromkeys(groups.tolist()):
            here = np.flatnonzero(groups == group)
            own = np.array(rows)[here]
            rule = rule_of(group)
            won[here], calls = outcome(rule, self.right[own], self.same[own])
            asked[here] = asked_of(rule, calls, len(self.names))
        return won, asked


def graded_recordings(folder: Path, out: Path | None = None) -> Recorded:
    """A graded folder, with dollars where all its models are in the price list; what was read of the answers is kept in ``out``.

    Raises :class:`ConfigError`.
    """
    times = [graded_rows(folder, sample) for sample in range(min(TIMES, samples_in(folder)))]
    rows = times[0]
    files = sorted((folder / "outputs").glob("*.jsonl.gz"))
    names = [file.name.removesuffix(".jsonl.gz") for file in files]
    _say(f"reading what {len(names)} models say to {len(rows)} questions")
    (right, answers), *again = [
        (np.array([row.right for row in time], dtype=float), _read([(row.question, row.said) for row in time], out))
        for time in times
    ]
    questions, kinds = [row.question for row in rows], [row.dataset for row in rows]
    return Recorded(names, questions, kinds, right, answers, _dollars(rows, files), again)


def _read(rows: Sequence[tuple[str, tuple[str, ...]]], out: Path | None) -> list[list[str | None]]:
    """What each answer says. Comparing formulas takes minutes, so it is kept from run to run, by question and answers."""
    keys = [hashlib.sha256(json.dumps(row).encode()).hexdigest() for row in rows]
    file = None if out is None else out / "read.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines() if file is not None and file.exists() else []
    known = {one["key"]: one["answers"] for one in map(json.loads, lines)}
    fresh = [(key, row) for key, row in zip(keys, rows, strict=True) if key not in known]
    for start in range(0, len(fresh), 500):
        found = {key: votes(said, question=question) for key, (question, said) in fresh[start : start + 500]}
        known |= found
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("a", encoding="utf-8") as kept:
                kept.writelines(json.dumps({"key": key, "answers": answers}) + "\n" for key, answers in found.items())
        _say(f"{len(known)} of {len(rows)} questions read")
    return [known[key] for key in keys]


def _dollars(rows: Sequence[Any], files: Sequence[Path]) -> Array | None:
    """(questions, models) What each first answer costs by the price list; None where it does not know a model."""
    columns = []
    for file in files:
        name = file.name.removesuffix(".jsonl.gz")
        price = next((found for vendor in VENDORS if (found := price_of("openrouter", f"{vendor}/{name}"))), None)
        if price is None:
            _say(f"{PRICE_LIST} knows no price of {name}, so there are no dollars")
            return None
        written = {line.place: line.samples[0].characters for line in lines_of(file, RecordedAnswer) if line.samples}
        tokens = [(len(row.question) / 4, written.get(row.place)) for row in rows]
        if any(characters is None for _, characters in tokens):
            _say(f"{file} does not say how long the replies are, so there are no dollars")
            return None
        columns.append([price.prompt_usd * asked + price.completion_usd * (said or 0) / 4 for asked, said in tokens])
    return np.array(columns).T


def graded(folder: Path, strong: str | None, first: int, out: Path | None) -> dict[str, Any]:
    """The figures of ``--graded``."""
    data = graded_recordings(folder, out)
    figures: dict[str, list[float]] = {}
    pairs: dict[str, dict[int, list[float]]] = {}
    dots: dict[str, list[tuple[float, float, float | None]]] = {}
    seconds = time.process_time()

    def note(name: str, found: Outcome, rows: Sequence[int]) -> Array:
        won, asked = found
        figures.setdefault(f"graded_{name}", []).append(float(won.mean()))
        figures.setdefault(f"graded_{name}_calls", []).append(float(asked.sum(axis=1).mean()))
        figures.setdefault(f"graded_{name}_strong_share", []).append(float(asked[:, best].mean()))
        usd = None if data.usd is None else float((data.usd[rows] * asked).sum(axis=1).mean())
        if usd is not None:
            figures.setdefault(f"graded_{name}_usd", []).append(usd)
        dots.setdefault(name, []).append((float(won.mean()), float(asked.sum(axis=1).mean()), usd))
        return won

    for seed in range(first, first + SHUFFLES):
        learn, test = data.halves(seed, LEARN)
        taught, book = data.lessons(learn), data.book(learn)
        best = data.names.index(strong) if strong else learned_order(taught)[0]
        singles = {number: rule.order[0] for number, rule in enumerate(book.rules) if len(rule.order) == 1}

        def everywhere(number: int, book: RuleBook = book) -> dict[str, int]:
            return dict.fromkeys(book.kinds, number)

        alone_best = next(number for number, model in singles.items() if model == learned_order(taught)[0])
        theirs = {"best": note("best", data.ruled(book, everywhere(alone_best), test), test)}
        constant = max(range(len(book.rules)), key=lambda number: book.expected(number, "").right)
        theirs["constant"] = note("constant", data.ruled(book, everywhere(constant), test), test)
        by_kind = {kind: max(singles, key=lambda number: book.expected(number, kind).right) for kind in book.kinds}
        theirs["by_kind"] = note("by_kind", data.ruled(book, by_kind, test), test)
        tuned = book.best(book.charges(Caps(calls=CALLS, shares={best: STRONG})))
        ours = note("tuned", data.ruled(book, tuned, test), test)
        once = data.book(learn, once=True)
        note("once", data.ruled(once, once.best(once.charges(Caps(calls=CALLS, shares={best: STRONG}))), test), test)
        note("cheap", data.ruled(book, book.best(book.charges(Caps(shares={best: CHEAP}))), test), test)
        theirs["free"] = note("free", data.ruled(book, book.best(book.charges()), test), test)
        few, looks = data.by_few(learn, test)
        figures.setdefault("graded_few_answers", []).append(looks)
        note("few", few, test)
        choose = cache(clustered(taught, min(3, len(data.names))))
        for name, members in (("avengers_1", 1), ("avengers_3", 3)):
            theirs[name] = note(name, data.routed(_first(choose, members), test), test)
        scorer = Scorer(taught)
        row = scorer.best_row()
        scores = np.column_stack(
            [
                scorer.scores(model, [data.questions[r] for r in test], [data.answers[r][model] for r in test])
                for model in range(len(data.names))
            ]
        )
        won, calls = cascaded(row, scores, data.right[test])
        asked = np.zeros((len(test), len(data.names)), dtype=bool)
        asked[:, list(row.workers)] = calls[:, None] > np.arange(len(row.workers))
        theirs["frugal"] = note("frugal", (won, asked), test)
        for share in FRONTIER:
            note(f"at_{share:g}", data.ruled(book, book.best(book.charges(Caps(shares={best: share}))), test), test)
        for number, model in singles.items():
            note(f"model_{data.names[model]}", data.ruled(book, everywhere(number), test), test)
        figures.setdefault("graded_oracle", []).append(float(data.right[test].max(axis=1).mean()))
        for name, other in theirs.items():
            for index, gain in zip(test, ours - other, strict=True):
                pairs.setdefault(name, {}).setdefault(index, []).append(float(gain))
        latest = {name.removeprefix("graded_"): values[-1] for name, values in figures.items()}
        _say(f"shuffle {seed}: " + ", ".join(f"{name} {latest[name]:.4f}" for name in TOLD))
    found: dict[str, Any] = {key: fmean(values) for key, values in figures.items()}
    for name, gains in pairs.items():
        interval = paired_interval([fmean(each) for each in gains.values()])
        found |= {f"graded_over_{name}_low": interval.low, f"graded_over_{name}_high": interval.high}
    avengers = max((name for name in pairs if name.startswith("avengers")), key=lambda name: found[f"graded_{name}"])
    found |= {"graded_avengers": found[f"graded_{avengers}"], "graded_over_avengers_low": found[f"graded_over_{avengers}_low"]}
    found |= {"graded_calls": found["graded_tuned_calls"], "graded_strong_share": found["graded_tuned_strong_share"]}
    found |= {
        "graded_questions": len(data.questions),
        "graded_times": 1 + len(data.again),
        "graded_worst_tuned": min(figures["graded_tuned"]),
    }
    found |= _mixed(data, first, LEARN, "graded") | {"graded_cpu_seconds": time.process_time() - seconds}
    return found | _frontier(dots, out)


def _frontier(dots: Mapping[str, list[tuple[float, float, float | None]]], out: Path | None) -> dict[str, Any]:
    """The routing metrics of what was tuned, and the pictures."""
    means = {name: (fmean(d[0] for d in each), fmean(d[1] for d in each)) for name, each in dots.items()}
    dollars = {name: [d[2] for d in each if d[2] is not None] for name, each in dots.items()}
    found: dict[str, Any] = {"price_list": PRICE_LIST}
    priced = all(len(dollars[name]) == len(dots[name]) for name in dots)
    groups = {"at_": "tuned", "model_": "one model"}

    def group(name: str) -> str:
        return next((text for start, text in groups.items() if name.startswith(start)), "tuned" if name in OURS else "others")

    for unit in ("calls", *(("usd",) if priced else ())):
        x = {name: means[name][1] if unit == "calls" else fmean(dollars[name]) for name in dots}
        arms = [PricedArm(name=name, group=group(name), right=means[name][0], usd=x[name]) for name in dots]
        if unit == "usd":
            alone_arms = [arm for arm in arms if arm.group == "one model"]
            for name in ("tuned", "others"):
                metrics = routing_metrics([arm for arm in arms if arm.group == name], alone_arms, arms)
                found |= {f"{name}_perf_gain": metrics.perf_gain, f"{name}_cost_save": metrics.cost_save}
                found |= {f"{name}_pareto_dist": metrics.pareto_dist}
        if out is not None:
            points = [
                Dot(name=arm.name.removeprefix("model_"), x=arm.usd, y=arm.right, group=arm.group, shown=arm.name in SHOWN)
                for arm in arms
                if arm.right > 0.5
            ]
            label = "calls a question" if unit == "calls" else f"dollars a question, {PRICE_LIST}, without hidden thinking"
            out.mkdir(parents=True, exist_ok=True)
            (out / f"frontier_{unit}.svg").write_text(alone(frontier(points, x_label=label, y_label="right")), encoding="utf-8")
    return found


OURS = ("tuned", "once", "cheap", "free", "few")
TOLD = (*OURS, "best", "avengers_1", "avengers_3", "frugal", "tuned_calls", "tuned_strong_share", "cheap_strong_share")
SHOWN = (*OURS, "best", "constant", "by_kind", "avengers_1", "frugal")


def _first(choose: Callable[[str], Rule], members: int) -> Callable[[str], Rule]:
    """The same with the first ``members`` of each rule only."""
    return lambda question: Rule(order=choose(question).order[:members])


def _mixed(data: Recorded, first: int, most: int | None, name: str) -> dict[str, Any]:
    """The worst difference to the best model, in pools of one and three that are much weaker."""
    shares = data.right.mean(axis=0)
    order = np.argsort(-shares).tolist()
    worst: list[float] = []
    for place, model in enumerate(order):
        weaker = [other for other in order[place + 1 :] if shares[other] < shares[model] - MUCH_WEAKER]
        if len(weaker) < 3:
            continue
        for others in (weaker[:3], weaker[-3:]):
            few = data.without(sorted((model, *others)))
            gains = []
            for seed in range(first, first + 3):
                learn, test = few.halves(seed, most)
                book = few.book(learn)
                won, _ = few.ruled(book, book.best(book.charges()), test)
                gains.append(float(won.mean() - few.right[test, few.names.index(data.names[model])].mean()))
            worst.append(fmean(gains))
    return {f"{name}_mixed_pools": len(worst), f"{name}_mixed_worst": min(worst, default=None)}


async def replay_recordings(folder: Path, out: Path) -> Recorded:
    """A folder with whole outputs, judged by our verifiers; what was judged is kept in ``out``. Raises :class:`ConfigError`."""
    pool = recorded_pool(folder)
    names = pool.workers.names
    workers = {member.name: member.worker for member in pool.workers}
    problems = [
        problem
        for problem in ProblemSource(replay=folder).problems()
        if all(member.worker.answers(problem.question) for member in pool.workers)  # type: ignore[attr-defined]
    ]
    _say(f"judging what {len(names)} models say to {len(problems)} questions")

    def kind_of(problem: Problem) -> str:
        return problem.source

    async with open_verifiers({problem.kind for problem in problems}) as verifier:
        results = await evaluate(workers, problems, verifier, out=out / "judged.jsonl")
    data, _ = lessons(results, problems, names, kind_of)
    return Recorded(names, data.questions, data.kinds, np.array(data.right), data.answers)


def replay(data: Recorded, first: int) -> dict[str, Any]:
    """The figures of ``--replay``."""
    figures: dict[str, list[float]] = {}
    gains: dict[int, list[float]] = {}
    for seed in range(first, first + SHUFFLES):
        learn, test = data.halves(seed, None)
        book = data.book(learn)
        best = learned_order(data.lessons(learn))[0]
        won, asked = data.ruled(book, book.best(book.charges(Caps(calls=REPLAY_CALLS))), test)
        free, free_asked = data.ruled(book, book.best(book.charges()), test)
        vote, _ = outcome(Rule(order=tuple(range(len(data.names)))), data.right[test], data.same[test])
        rows = {"tuned": won, "free": free, "best": data.right[test, best], "vote": vote, "oracle": data.right[test].max(axis=1)}
        for name, values in rows.items():
            figures.setdefault(f"replay_{name}", []).append(float(values.mean()))
        figures.setdefault("replay_calls", []).append(float(asked.sum(axis=1).mean()))
        figures.setdefault("replay_free_calls", []).append(float(free_asked.sum(axis=1).mean()))
        for index, gain in zip(test, won - rows["best"], strict=True):
            gains.setdefault(index, []).append(float(gain))
    interval = paired_interval([fmean(each) for each in gains.values()])
    found: dict[str, Any] = {key: fmean(values) for key, values in figures.items()}
    found |= {"replay_questions": len(data.questions), "replay_over_best_low": interval.low}
    return found | {"replay_over_best_high": interval.high} | _mixed(data, first, None, "replay")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    """Measure what is asked for, and print one JSON object."""
    parser = argparse.ArgumentParser(description="Tuning on recorded answers of real models.")
    parser.add_argument("--graded", type=Path, help="folder with graded answers")
    parser.add_argument("--replay", type=Path, help="folder with whole outputs")
    parser.add_argument("--strong", help="the model that is to be asked sparingly; else the best in learning")
    parser.add_argument("--first", type=int, default=0, help="the first of the ten shuffles")
    parser.add_argument("--out", type=Path, help="folder for the pictures and for what was judged")
    flags = parser.parse_args()
    if flags.replay is None and flags.graded is None:
        parser.error("name --replay, --graded, or both")
    found: dict[str, Any] = {}
    if flags.graded is not None:
        found |= graded(flags.graded, flags.strong, flags.first, flags.out)
    if flags.replay is not None:
        with tempfile.TemporaryDirectory() as folder:
            found |= replay(asyncio.run(replay_recordings(flags.replay, flags.out or Path(folder))), flags.first)
    print(json.dumps({key: round(value, 6) if isinstance(value, float) else value for key, value in found.items()}))


if __name__ == "__main__":
    main()
