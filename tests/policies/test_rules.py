"""Rules that stop: as workflows, as policies by name, and what is learned of them."""

import asyncio
import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.conduct import Conductor
from podium.errors import ConfigError
from podium.policies.catalogue import make_policy
from podium.policies.learning import Trials, candidates, learned_order, outcome, said_the_same
from podium.policies.named import PolicyRequest
from podium.policies.router_data import RouterDataset
from podium.policies.rules import CONDITIONAL, Rule, cascade, following, measured_order, stop
from podium.policies.spec import parse_policy
from podium.policies.voting import with_vote
from podium.types import Brief, Call, Card, Completion, ask
from podium.workers.pool import Member, WorkerPool
from podium.workers.scripted import Scripted
from podium.workflow.parse import format_workflow, parse
from tests.workflows import pool_of

NAMES = ("w0", "w1", "w2", "w3")


def conducting(name: str, pool: WorkerPool) -> Conductor:
    made = make_policy(PolicyRequest(spec=parse_policy(name), workers=pool))
    return Conductor(made.policy, made.workers, max_steps=made.max_steps, syntax=made.syntax, answering=made.answering)


def asked(completion: Completion) -> list[str]:
    return [result.worker for result in completion.transcripts[0].asked if result.worker != "vote"]


@pytest.mark.parametrize(
    ("name", "said", "answer", "who"),
    [
        ("stop:2", "1 1 2 2", "1", "w0 w1"),
        ("stop:2", "1 2 2 1", "2", "w0 w1 w2"),
        ("stop:2", "1 2 3 4", "1", "w0 w1 w2 w3"),
        ("stop:3", "1 2 1 1", "1", "w0 w1 w2 w3"),
        ("stop:2:w3,w1", "1 2 2 1", "1", "w3 w1"),
        ("cascade:w3,w0,w1", "1 2 3 1", "1", "w3 w0"),
        ("cascade:w0,w1,w2", "1 2 3 4", "3", "w0 w1 w2"),
        ("cascade:w0,w1,w2,w3", "1 2 2 4", "2", "w0 w1 w2"),
        ("vote", "1 2 2 1", "1", "w0 w1 w2 w3"),
        ("vote:w1,w2,w0", "1 2 2 1", "2", "w1 w2 w0"),
        ("vote:w1,w0", "1 2 2 1", "2", "w1 w0"),
        ("stop:2+conditions=always", "1 1 2 2", "1", "w0 w1 w2 w3"),
    ],
)
async def test_who_is_asked_and_what_comes_of_it(name: str, said: str, answer: str, who: str) -> None:
    pool = pool_of(*(f"Answer: {text}" for text in said.split()))
    completion = await conducting(name, pool).ask("6 times 7?")
    assert (completion.text, sorted(asked(completion))) == (f"Answer: {answer}", sorted(who.split()))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("stop", "takes a number"),
        ("stop:x", "takes a number"),
        ("stop:1", "can not agree"),
        ("stop:5", "can not agree"),
        ("stop:3:w0,w1", "can not agree"),
        ("stop:2:w0,w0", "twice"),
        ("stop:2:nobody,w0", "no worker is named 'nobody'"),
        ("stop:2:learned", "learned from training problems"),
        ("cascade", "three workers"),
        ("cascade:w0,w1", "three workers"),
        ("repair", "needs a worker"),
    ],
)
def test_what_can_not_be_made_is_said(name: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        conducting(name, pool_of("1", "2", "3", "4"))


def test_the_order_is_the_measured_one_where_all_were_measured() -> None:
    cards = [Card(name="zeta", skills=(("x", 0.9),)), Card(name="alpha", skills=(("x", 0.5),)), Card(name="mid")]
    pool = WorkerPool([Member(worker=Scripted("1"), card=card) for card in cards])
    assert measured_order(pool) == (0, 1, 2), "as they stand, never by name"
    measured = WorkerPool([Member(worker=Scripted("1"), card=card) for card in reversed(cards[:2])])
    assert measured_order(measured) == (1, 0)


class Solver:
    """Answers, checks and mends as it is told to, and remembers what it was asked."""

    def __init__(self, *, verdict: str) -> None:
        self.verdict, self.asked = verdict, list[str]()

    async def __call__(self, call: Call) -> Completion:
        self.asked.append(call.subtask)
        checks = "Check the answer" in call.subtask
        mends = "Correct the answer" in call.subtask
        return Completion(text=f"Looked at it.\n{self.verdict}" if checks else "Answer: 42" if mends else "Answer: 41")


@pytest.mark.parametrize(
    ("verdict", "answer", "calls"),
    [
        ("CHECK: FAILED", "Answer: 42", 3),
        ("**check: failed**", "Answer: 42", 3),
        ("CHECK: PASSED", "Answer: 41", 2),
        ("Looks right to me.", "Answer: 41", 2),
        ("It says CHECK: FAILED when I quote it.", "Answer: 41", 2),
    ],
)
async def test_repair_mends_only_what_fails_its_check(verdict: str, answer: str, calls: int) -> None:
    solver = Solver(verdict=verdict)
    completion = await conducting("repair:w0", pool_of(solver)).ask("6 times 7?")
    assert (completion.text, len(solver.asked)) == (answer, calls)


def lessons(right: list[list[float]], answers: list[list[str | None]], kinds: list[str]) -> RouterDataset:
    return RouterDataset(
        questions=tuple(f"question {index}" for index in range(len(right))),
        kinds=tuple(kinds),
        right=tuple(map(tuple, right)),
        answers=tuple(map(tuple, answers)),
    )


@settings(max_examples=150, deadline=None)
@given(said=st.lists(st.sampled_from(["1", "2", "3", None]), min_size=4, max_size=4), seed=st.integers(0, 10**6))
def test_what_a_rule_would_have_done_is_what_it_does(said: list[str | None], seed: int) -> None:
    """The figures that rules are chosen by are those of the workflows that are carried out."""
    pool = pool_of(*("" if text is None else f"Answer: {text}" for text in said))
    rules = list(candidates((2, 0, 3, 1)))
    rule = random.Random(seed).choice(rules)
    right = np.array([[float(worker) for worker in range(4)]]) / 4  # who answered, as a share
    won, calls = outcome(rule, right, said_the_same([said]))
    conductor = Conductor(following(rule, 4), with_vote(pool), max_steps=5, syntax=following(rule, 4).syntax)
    completion = asyncio.run(conductor.ask("6 times 7?"))
    assert len(asked(completion)) == calls[0]
    chosen = said[int(won[0] * 4)]
    assert completion.text == ("" if chosen is None else f"Answer: {chosen}")


def test_the_rule_of_each_kind_is_found() -> None:
    """Of kind "alone" one worker knows; of kind "pair" two agree when right and differ when wrong, where the third is right."""
    rng = random.Random(0)
    right, answers, kinds = list[list[float]](), list[list[str | None]](), list[str]()
    for number in range(400):
        if number % 2:
            right.append([1.0, 0.0, 0.0])
            answers.append(["yes", "no", "no"])
        else:
            sure = rng.random() < 0.6
            right.append([float(sure), float(sure), 0.95 if not sure else 0.5])
            answers.append(["right", "right", "x"] if sure else [f"a{number}", f"b{number}", "right"])
        kinds.append("alone" if number % 2 else "pair")
    found = Trials(lessons(right, answers, kinds)).rules()
    assert found["alone"].rule == Rule(order=(0,))
    assert found["pair"].rule.named(NAMES) in ("cascade:w0,w1,w2", "cascade:w1,w0,w2")
    assert 2.0 < found["pair"].calls < 2.6
    dear = Trials(lessons(right, answers, kinds)).rules(price=0.9)
    assert {len(each.rule.order) for each in dear.values()} == {1}


def test_orders_are_learned_and_equals_keep_their_place() -> None:
    assert learned_order(lessons([[0.0, 1.0, 1.0, 0.5]], [[None] * 4], ["k"])) == (1, 2, 3, 0)
    with pytest.raises(ConfigError, match="no answers"):
        Trials(RouterDataset(questions=("q",), kinds=("k",), right=((1.0, 0.0),)))


def test_rules_that_are_tried_are_all_sound() -> None:
    for count in (1, 2, 3, 7):
        for rule in candidates(tuple(range(count))):
            assert len(set(rule.order)) == len(rule.order)
            assert rule.agree is None or 2 <= rule.agree <= len(rule.order)
    assert cascade((0, 1, 2)) in set(candidates((0, 1, 2)))
    assert stop(3, 2, (1, 0, 2)) in set(candidates((0, 1, 2)))
    assert len(list(itertools.islice(candidates(tuple(range(60))), 5000))) < 5000, "bounded for large pools"


def test_a_question_may_speak_of_conditions() -> None:
    text = "The conditions of the contract hold. " * 600
    brief = Brief(question=ask(text), cards=tuple(Card(name=f"w{index}") for index in range(4)), max_steps=5)
    workflow = stop(3, 3).workflow(brief, judge=3)
    assert parse(format_workflow(workflow, CONDITIONAL), brief, CONDITIONAL) == workflow
