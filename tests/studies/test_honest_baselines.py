"""Baselines that are chosen on training problems: the right one is found, within its calls, and kept, saved and served."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from podium.cli.app import app
from podium.conduct import Conductor
from podium.errors import BudgetExceeded, ConfigError
from podium.policies.chosen import CHOSEN, WORDED, ChosenWorkflow, followed, variants
from podium.policies.learned import FILE, load, save
from podium.policies.router_data import RouterDataset, RouterTrainingData
from podium.policies.wordings import AGAIN, MERGES
from podium.pools.gym import gym_pool
from podium.pools.problems import load_problems
from podium.protocols import Verifier
from podium.studies.choosing import Choosing, constants, worded
from podium.studies.expected import calls_a_problem, calls_of_teaching
from podium.types import Call, Card, Problem, Step, Usage, Verdict, Workflow
from podium.workers.budget import Budget
from podium.workers.pool import Member, WorkerPool
from podium.workers.scripted import Scripted
from podium.workers.stack import Layers, stacked

PROBLEMS = [Problem(question=f"What is {n}?", target="right", kind="k", source="s") for n in range(24)]


class Exact:
    """The answer is right where it is ``right``."""

    async def __call__(self, problem: Problem, answer: str) -> Verdict:
        return Verdict(correct=answer == problem.target, extracted=answer)


EXACT: Verifier = Exact()


def pool_of(*says: Callable[[Call], str], usd: tuple[float | None, ...] = ()) -> WorkerPool:
    usages = [Usage(prompt_tokens=1, completion_tokens=1, cost_usd=each) for each in usd] or [Usage(cost_usd=0.001)] * len(says)
    return WorkerPool(
        [
            Member(worker=Scripted(say, usage=usage), card=Card(name=f"w{n}"))
            for n, (say, usage) in enumerate(zip(says, usages, strict=True))
        ]
    )


def choosing(workers: WorkerPool, calls: int = 500) -> Choosing:
    return Choosing(workers=workers, verifier=EXACT, problems=PROBLEMS, calls=calls)


def only(wording: str) -> Callable[[Call], str]:
    return lambda call: "right" if call.subtask.endswith(wording) else "wrong"


@pytest.mark.parametrize("name", WORDED)
def test_at_least_six_wordings_are_tried_and_each_is_a_workflow_of_its_own(name: str) -> None:
    found = variants(name, 1, 3)
    assert len(found) >= 6
    assert len(set(found.values())) == len(found)


@pytest.mark.parametrize("wording", MERGES)
async def test_the_wording_that_works_is_chosen_and_named(wording: str) -> None:
    chosen = await worded("mixture:learned", 1, choosing(pool_of(lambda call: "wrong", only(wording))))
    assert repr(wording) in chosen.about
    assert chosen.right == 1.0
    assert 0 < chosen.calls <= 600


async def test_the_wording_of_a_reflection() -> None:
    chosen = await worded("reflection:learned", 0, choosing(pool_of(only(AGAIN[3]))))
    assert chosen.about == repr(AGAIN[3])
    assert chosen.usd == pytest.approx(0.005)


async def test_every_answer_of_a_consensus_is_a_draw_of_its_own() -> None:
    draws: list[int] = []

    def drawn(call: Call) -> str:
        draws.append(1)
        return "right" if len(draws) % 3 else "wrong"

    chosen = await worded("consensus:learned", 0, choosing(pool_of(drawn), calls=300))
    assert chosen.right == 1.0, "two of three are right, so the vote is; one answer five times would not be"


def number_in(call: Call) -> int:
    """That of the question, wherever the step sees it; a number that divides by nothing where it does not."""
    found = re.search(r"What is (\d+)", repr(call))
    return 1 if found is None else int(found[1])


def a_chain(call: Call) -> str:
    """Right only where another worker has planned."""
    return "right" if any(each.response == "plan" for each in call.visible) else "wrong"


async def test_the_best_constant_workflow_is_found_and_a_cheap_one_costs_no_more() -> None:
    def third(call: Call) -> str:
        return "right" if number_in(call) % 3 == 0 else "wrong"

    def half(call: Call) -> str:
        return "plan" if "Write a plan" in call.subtask else "right" if number_in(call) % 2 == 0 else "wrong"

    workers = pool_of(third, a_chain, half, usd=(0.001, 0.001, 0.01))
    found = await constants(("constant", "constant:cheap"), choosing(workers, calls=600), 0.002)
    best, cheap = found["constant"], found["constant:cheap"]
    assert best.right == 1.0
    assert [step.worker for step in best.workflow.steps][-1] == 1
    assert best.usd is not None
    assert best.usd > 0.01
    assert cheap.usd is not None
    assert cheap.usd <= 0.002
    assert cheap.right < 1.0
    assert best.calls <= 700
    again = await constants(("constant",), choosing(workers, calls=600))
    assert again["constant"].workflow == best.workflow, "the same problems and answers make the same choice"


async def test_calls_that_are_left_decide_between_workflows_that_are_nearly_as_good() -> None:
    def every(divisor: int, rest: int) -> Callable[[Call], str]:
        return lambda call: "right" if number_in(call) % divisor == rest else "wrong"

    workers = pool_of(every(5, 0), every(4, 1), every(5, 2), every(2, 0), every(4, 3))
    problems = [Problem(question=f"What is {n}?", target="right", kind="k", source="s") for n in range(600)]
    found = await constants(("constant",), replace(choosing(workers, calls=3000), problems=problems))
    assert found["constant"].problems >= 60
    assert found["constant"].workflow.steps[-1].worker == 3
    assert found["constant"].calls <= 3200


async def test_a_limit_needs_prices_and_a_choice_needs_problems() -> None:
    workers = pool_of(lambda call: "right", usd=(None,))
    with pytest.raises(ConfigError, match="price is unknown"):
        await constants(("constant:cheap",), choosing(workers), None)
    with pytest.raises(ConfigError, match="no workflow is known that costs no more"):
        await constants(("constant:cheap",), choosing(workers), 0.5)
    with pytest.raises(ConfigError, match="too few"):
        await constants(("constant",), replace(choosing(workers), problems=PROBLEMS[:4]))


async def test_caps_hold_while_choosing() -> None:
    budget = Budget(usd=0.01)
    card = Card(name="w0", prompt_usd=0.0, completion_usd=0.0001)
    made = stacked(Scripted("wrong", usage=Usage(cost_usd=0.001)), card, Layers(max_tokens=10), [budget])
    by = choosing(WorkerPool([Member(worker=made, card=card)]))
    for choice in (worded("reflection:learned", 0, by), constants(("constant",), by)):
        with pytest.raises(BudgetExceeded):
            await choice
    assert (budget.paid.cost_usd or 0.0) <= 0.01


def lessons(**workflows: ChosenWorkflow) -> RouterTrainingData:
    alone = RouterDataset(questions=("q",), kinds=("k",), right=((1.0, 0.0),), answers=(("a", "b"),))
    return RouterTrainingData(
        alone=alone, sort_of=lambda text: None, workflows={n.replace("_", ":"): w for n, w in workflows.items()}
    )


def test_what_was_chosen_is_saved_and_served_for_the_same_workers_only(tmp_path: Path) -> None:
    workers = pool_of(lambda call: "a", lambda call: "b")
    steps = tuple(variants("consensus:learned", 1, 2).values())[2].steps
    chosen = ChosenWorkflow(workflow=Workflow(steps=steps), about="x", right=0.5, problems=4, usd=None, calls=9)
    save(tmp_path, "consensus:learned", workers.names, lessons(consensus_learned=chosen))
    made = load(tmp_path, workers)
    assert made.answering == (2,), "the vote has the last word"
    assert len(made.workers) == 3
    kept = json.loads((tmp_path / FILE).read_text())
    assert [step["worker"] for step in kept["workflows"]["consensus:learned"]["steps"]] == ["w1"] * 5 + [None]
    with pytest.raises(ConfigError, match="was learned with the workers"):
        load(tmp_path, pool_of(lambda call: "a"))
    for spoiled in ("w9", 7):
        kept["workflows"]["consensus:learned"]["steps"][0]["worker"] = spoiled
        (tmp_path / FILE).write_text(json.dumps(kept))
        with pytest.raises(ConfigError):
            load(tmp_path, workers)
    kept["workflows"] = {}
    (tmp_path / FILE).write_text(json.dumps(kept))
    with pytest.raises(ConfigError, match="none was"):
        load(tmp_path, workers)


async def test_a_question_with_braces_stays_itself() -> None:
    seen: list[str] = []

    def listens(call: Call) -> str:
        seen.append(call.subtask)
        return "a"

    workers = pool_of(listens, lambda call: "b")
    chosen = ChosenWorkflow(
        workflow=Workflow(steps=(Step(worker=1, subtask="Go."), Step(worker=0, subtask="{question}\n\nGo."))),
        about="", right=0.0, problems=0, usd=None, calls=0,
    )  # fmt: skip
    made = followed(chosen, workers)
    await Conductor(made.policy, made.workers, max_steps=made.max_steps).ask("{question} {0} {}?")
    assert seen == ["{question} {0} {}?\n\nGo."]


def podium(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


STUDY = """
title = "Honest"
out = "{out}"
compare = "best"
arms = ["worker:brook", "mixture:learned", "constant", "constant:cheap", "best"]
[problems]
gym = 1
seed = 3
[learning]
gym = 3
kinds = ["story", "choice", "knowledge", "code"]
splits = ["train"]
seed = 4
"""


def test_a_study_teaches_once_names_what_was_chosen_and_serves_it(tmp_path: Path) -> None:
    path, out, keep = tmp_path / "study.toml", tmp_path / "out", tmp_path / "kept"
    path.write_text(STUDY.format(out=out))
    first = podium("evaluate", str(path), "--json", "--save", str(keep))
    assert first.exit_code == 0, first.output
    chosen = (out / "chosen.jsonl").read_bytes()
    assert len(chosen.splitlines()) == 3
    assert "mixture:learned: '" in (out / "table.md").read_text()
    assert "Chosen on training problems" in (out / "report.html").read_text()
    costs = {arm["arm"]: arm["cost_usd"] for arm in json.loads(first.stdout.splitlines()[-1])["arms"]}
    assert costs["constant:cheap"] <= 1.5 * costs["best"], "chosen on other problems, so about"
    assert podium("evaluate", str(path), "--json").exit_code == 0
    assert (out / "chosen.jsonl").read_bytes() == chosen, "nothing is chosen twice"
    [question] = [problem.question for problem in load_problems("gym", limit=1)]
    served = podium("ask", question, "--policy", f"learned:{keep / 'constant'}", "--json")
    assert served.exit_code == 0, served.output
    expected = json.loads(podium("evaluate", str(path), "--estimate", "--json").stdout)
    assert expected["training_calls"] == calls_of_teaching(["mixture:learned", "constant", "constant:cheap"], 7, 12)
    assert expected["is_simulated"]


def test_arms_that_learn_without_a_study(tmp_path: Path) -> None:
    teach, ask = tmp_path / "teach.jsonl", tmp_path / "ask.jsonl"
    problems = load_problems("gym", split="train", limit=16, seed=11)
    lines = [json.dumps({"question": p.question, "target": p.target, "kind": p.kind}) for p in problems]
    teach.write_text("\n".join(lines[:12]))
    ask.write_text("\n".join(lines[12:]))
    arms = ("--arm", "constant", "--arm", "worker:brook")
    refused = podium("evaluate", "--file", str(ask), *arms)
    assert refused.exit_code == 2
    assert "--learning FILE" in refused.output
    same = podium("evaluate", "--file", str(ask), "--learning", str(ask), *arms)
    assert same.exit_code == 2
    assert "teach on others" in " ".join(same.output.split())
    out = tmp_path / "results.jsonl"
    found = podium("evaluate", "--file", str(ask), "--learning", str(teach), *arms, "--out", str(out), "--json")
    assert found.exit_code == 0, found.output
    report = json.loads(found.stdout)
    assert report["notes"][0].startswith("constant: ")
    assert report["paid_usd"] > sum(arm["cost_usd"] * arm["n"] for arm in report["arms"]), "teaching is paid, too"
    assert (tmp_path / "results.learning" / "chosen.jsonl").exists()
    capped = podium("evaluate", "--file", str(ask), "--learning", str(teach), *arms, "--max-usd", "0.002")
    assert capped.exit_code == 2
    assert "BudgetExceeded" in capped.output


def test_the_default_table_has_them_and_the_estimate_counts_their_calls() -> None:
    found = json.loads(podium("evaluate", "--gym", "8", "--estimate", "--json").stdout)
    alone = gym_pool(Budget()).workers.names
    named = json.loads(podium("evaluate", "--gym", "8", "--estimate", "--json", "--arm", "best").stdout)
    assert found["arms"] >= len(alone) + len(CHOSEN) + 2
    assert found["training_calls"] == calls_of_teaching([*CHOSEN, "router:classified"], len(alone), 60)
    assert named["training_calls"] == 0
    assert calls_a_problem(["router:classified"], 7) == 25
    assert "simulated" in podium("evaluate", "--gym", "8", "--estimate").output
