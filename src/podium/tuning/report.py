"""What a run came to, for a person to read."""

import re
from dataclasses import asdict

from podium.conditions import ALWAYS
from podium.evaluation.routing import PricedArm, routing_metrics
from podium.policies.prompted_record import LONGEST_ADVICE
from podium.policies.tuned_record import QUESTION, TunedWorkflow
from podium.tuning.advising import Advised
from podium.tuning.result import Tuned
from podium.workflow.draw import plain


def markdown(tuned: Tuned) -> str:
    """``report.md``: the verdict, the sealed test, and what was chosen for every kind."""
    spent = "unknown" if tuned.usd is None else f"${tuned.usd:.4f}"
    lines = [
        "# Tuned policy",
        "",
        _cell(verdict(tuned)),
        "",
        (f"{tuned.calls} recorded answers were looked at." if tuned.is_recorded else f"{tuned.calls} calls, {spent}.")
        + f" Preference: {tuned.record.prefer}.",
        "",
        *_given_up(tuned),
        "## The sealed test",
        "",
        "Asked once, after everything was decided.",
        "",
        "| | problems | right | 95 % | $ a question | calls | tuned is better by |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in tuned.tested:
        gain = "" if one.gain is None else f"{100 * one.gain.low:+.1f} to {100 * one.gain.high:+.1f} points"
        usd = "?" if one.usd is None else f"{one.usd:.6f}"
        between = f"{100 * one.interval.low:.1f} to {100 * one.interval.high:.1f}"
        lines.append(
            f"| {_cell(one.name)} | {one.problems} | {100 * one.share:.1f} % | {between} | {usd} | {one.steps:.2f} | {gain} |"
        )
    if len({one.problems for one in tuned.tested}) > 1:
        lines += ["", "Where an arm was asked fewer problems, the difference is that on these alone."]
    lines += [
        "",
        *_metrics(tuned),
        *_advised(tuned),
        *_proposals(tuned),
        "## Accuracy and price",
        "",
        "![Accuracy against price](frontier.svg)",
        "",
    ]
    lines += ["What the workflows below come to at other prices; estimates, unlike the sealed test.", "", "## By kind", ""]
    for kind in sorted(tuned.record.workflows[0].kinds):
        ranked = sorted(tuned.record.workflows, key=lambda one: -one.kinds[kind].worth(tuned.record.price))
        lines += [f"### {_cell(kind)}", "", "| workflow | right | on selection problems | $ | seconds |", "|---|---|---|---|---|"]
        lines += [_row(one, kind) for one in ranked[:4]]
        lines.append("")
    return "\n".join(lines) + "\n"


def verdict(tuned: Tuned) -> str:
    """One sentence: what to use."""
    if (left := tuned.headroom) is not None:
        return (
            f"Nothing to conduct here: use worker {plain(tuned.best_worker, 60)}. Of {left.problems} problems that all workers "
            f"were asked, it had {left.right} right, and another was right where it was wrong in {left.others}."
        )
    if not tuned.tested:
        return "The sealed problems were not asked: nothing is known of how good this is."
    ours, alone = tuned.tested[0], plain(tuned.best_worker, 60)
    if tuned.use_worker:
        return (
            f"Nothing to conduct here, as far as {ours.problems} sealed problems show: use worker {alone}. "
            f"(Tuned {100 * ours.share:.1f} %, {alone} alone {100 * tuned.tested[1].share:.1f} %.)"
        )
    said = (
        f"Use it: {100 * ours.share:.1f} % right on {ours.problems} sealed problems, the best worker alone ({alone}) "
        f"{100 * tuned.tested[1].share:.1f} %."
    )
    constant = tuned.tested[2]
    if constant.gain is None or constant.gain.low <= 0:  # its strongest opponent
        said += f" Choosing by kind is not shown to matter: one workflow for everything has {100 * constant.share:.1f} %."
    return said


def routing_figures(tuned: Tuned) -> dict[str, float | None] | None:
    """PerfGain with its interval, CostSave and ParetoDist against the best worker, as LLMRouterBench defines them.

    Arms that were asked fewer problems are left out. None where a price is unknown, or where the best worker has nothing right or
    costs nothing.
    """
    compared = [one for one in tuned.tested if one.problems == tuned.tested[0].problems]
    arms = [PricedArm(name=one.name, group=one.name, right=one.share, usd=one.usd) for one in compared if one.usd is not None]
    if len(arms) < len(compared) or len(arms) < 2 or not arms[1].right or not arms[1].usd:
        return None
    found, gain = routing_metrics(arms[:1], arms[1:2], arms), tuned.tested[1].gain
    return {
        "perf_gain": found.perf_gain, "perf_gain_low": None if gain is None else gain.low / arms[1].right,
        "perf_gain_high": None if gain is None else gain.high / arms[1].right,
        "cost_save": found.cost_save, "pareto_dist": found.pareto_dist,
    }  # fmt: skip


def _metrics(tuned: Tuned) -> list[str]:
    found = routing_figures(tuned)
    if found is None:
        return []
    low, high, save = found["perf_gain_low"], found["perf_gain_high"], found["cost_save"]
    between = "" if low is None or high is None else f" ({100 * low:+.1f} to {100 * high:+.1f})"
    saved = "none, because it is less often right" if save is None else f"{100 * save:.1f} %"
    return [
        "Against the best worker alone, as LLMRouterBench defines them: "
        f"PerfGain {100 * (found['perf_gain'] or 0.0):+.1f} %{between}, CostSave {saved}, "
        f"distance to the frontier of these arms {found['pareto_dist']:.3f}.",
        "",
    ]


def _advised(tuned: Tuned) -> list[str]:
    if (found := tuned.advised) is None:
        return []
    name = _cell(found.record.conductor)
    if found.share is None or found.start_share is None:
        return ["## The prompted Conductor", "", f"{name} could not be tuned: {_cell(found.ended)}.", ""]
    said = (
        f"{name}, advised by {_cell(found.reflector)}: {found.compared} texts were compared on {found.problems} problems. The "
        f"first had {100 * found.start_share:.0f} % of them right, the one that was kept {100 * found.share:.0f} %; that it was "
        f"chosen by these makes it look better than it is. Replies without advice that can be used: {found.dropped}."
    )
    early = [f"It ended early: {_cell(found.ended)}.", ""] if found.ended else []
    quoted = [f"> {_cell(line, LONGEST_ADVICE)}" for line in found.record.advice.splitlines()]  # whole: people are to read it
    return ["## The prompted Conductor", "", said, "", *early, *quoted, "", "Use it: `--policy prompted:FOLDER`.", ""]


def _proposals(tuned: Tuned) -> list[str]:
    if (found := tuned.proposals) is None:
        return []
    said = f"{_cell(found.by)} was asked for plans {found.asked} times: {found.tried} were tried, {found.dropped} dropped"
    return [f"{said}, {found.failed} requests failed." if found.failed else f"{said}.", ""]


def _given_up(tuned: Tuned) -> list[str]:
    names = ", ".join(map(_cell, tuned.given_up))
    return [f"Not asked any more, because they kept failing: {names}.", ""] if names else []


def _cell(text: str, width: int = 400) -> str:
    """``text`` of anybody's in a table or a heading."""
    return re.sub(r"([\\|`\[\]])", r"\\\1", plain(text, width)).replace("<", "&lt;")


def _row(one: TunedWorkflow, kind: str) -> str:
    seen = [
        (f" (sees {', '.join(map(str, step.access))})" if step.access else "")
        + ("" if step.condition == ALWAYS else f" ({step.condition})")
        for step in one.steps
    ]
    lines = [f"{_cell(step.worker)}: {_cell(' '.join(step.subtask.replace(QUESTION, '').split()))}" for step in one.steps]
    steps = "; ".join(f"{number} {line}{sees}" for number, (line, sees) in enumerate(zip(lines, seen, strict=True)))
    measured = one.kinds[kind]
    tried = "estimated only"
    if measured.low is not None and measured.high is not None:
        tried = f"{100 * measured.low:.0f} to {100 * measured.high:.0f} % of {measured.problems}"
    usd = "?" if measured.usd is None else f"{measured.usd:.6f}"
    seconds = "" if measured.seconds is None else f"{measured.seconds:.2f}"
    return f"| {steps} | {100 * measured.right:.1f} % | {tried} | {usd} | {seconds} |"


def as_object(found: Tuned) -> dict[str, object]:
    """What was found, as JSON takes it."""
    return {
        "folder": str(found.folder),
        "calls": found.calls,
        "cost_usd": found.usd,
        "best_worker": found.best_worker,
        "use_worker": found.use_worker,
        "verdict": verdict(found),
        "proposals": None if found.proposals is None else asdict(found.proposals),
        "advised": None if found.advised is None else _advised_object(found.advised),
        "tested": [asdict(one) for one in found.tested],
        "routing": routing_figures(found),
    }


def _advised_object(found: Advised) -> dict[str, object]:
    kept = ("reflector", "problems", "start_share", "share", "compared", "dropped", "ended")
    return {"conductor": found.record.conductor, "advice": found.record.advice} | {name: getattr(found, name) for name in kept}
