"""The policy that chooses among tuned workflows: by worker's name and not number, by kind, and aloud where it is in doubt."""

from pathlib import Path

import pytest

from podium.conduct import Conductor
from podium.errors import ConfigError
from podium.policies.tuned_policy import TunedPolicy
from podium.policies.tuned_record import Measured, TunedRecord, TunedStep, TunedWorkflow, write_tuned
from podium.pools.conducting import conductor
from podium.pools.opened import OpenPool
from podium.types import Brief, Call, Card, Completion, Message, ResponseOptions, ask
from podium.workers.pool import Member, WorkerPool
from podium.workflow.parse import parse
from tests.tuning.desk import pool, problem
from tests.tuning.test_tuned_record import NAMES, QUESTIONS, record

SUM, REVERSE = problem("sum", 900), problem("reverse", 901)


def policy(names: tuple[str, ...] = NAMES, *, of: TunedRecord | None = None, allow_missing: bool = False) -> TunedPolicy:
    return TunedPolicy(of or record(), QUESTIONS, names, allow_missing=allow_missing)


@pytest.mark.parametrize("names", [NAMES, ("reverse", "idle", "sum"), ("sum", "new", "reverse", "idle")])
@pytest.mark.parametrize("asked", [SUM, REVERSE], ids=["sum", "reverse"])
async def test_it_asks_the_same_worker_in_any_order_of_the_pool(names: tuple[str, ...], asked: object) -> None:
    problem = SUM if asked is SUM else REVERSE
    workers = pool(*(name if name != "new" else "idle2" for name in names))
    completion = await Conductor(policy(workers.names), workers).ask(problem.question)
    assert completion.text == problem.target
    [transcript] = completion.transcripts
    assert [result.worker for result in transcript.results] == [problem.kind]
    assert f"Kind: {problem.kind}" in transcript.generation.text


async def test_from_a_folder_by_its_name_and_as_an_object(tmp_path: Path) -> None:
    write_tuned(tmp_path, record(), QUESTIONS)
    opened = OpenPool(workers=pool("reverse", "sum", "idle"))
    for named in (f"tuned:{tmp_path}", TunedPolicy.load(tmp_path, opened.workers.names)):
        assert (await conductor(opened, named).ask(SUM.question)).text == SUM.target


async def test_tuned_anew_it_is_used_from_the_next_question_on(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write_tuned(tmp_path, record(), QUESTIONS)
    served = conductor(OpenPool(workers=pool("reverse", "sum", "idle")), f"tuned:{tmp_path}")
    assert (await served.ask(SUM.question)).text == SUM.target
    idle = TunedWorkflow(
        steps=(TunedStep(worker="idle", subtask="Solve."),) * 4, kinds={k: Measured(right=1.0) for k in ("sum", "reverse")}
    )
    for _ in range(2):
        write_tuned(tmp_path, record().model_copy(update={"robust": 0, "workflows": (idle,)}), QUESTIONS)
        assert (await served.ask(SUM.question)).text == "I do not know."
        write_tuned(tmp_path, record(), QUESTIONS)
        assert (await served.ask(SUM.question)).text == SUM.target
    (tmp_path / "policy.json").write_text("half a fi")
    assert (await served.ask(SUM.question)).text == SUM.target
    assert "can not be used, so that the policy before goes on" in caplog.text
    (tmp_path / "policy.json").unlink()
    assert (await served.ask(SUM.question)).text == SUM.target


async def test_tuned_anew_other_workers_are_held_to_what_a_client_asks_for(tmp_path: Path) -> None:
    class Textual:
        """Answers, and knows no tools."""

        async def __call__(self, call: Call) -> Completion:
            return Completion(text="I do not know.")

        def check(self, options: ResponseOptions) -> None:
            if options != ResponseOptions():
                raise ConfigError("only text here")

    write_tuned(tmp_path, record(), QUESTIONS)
    workers = pool("reverse", "sum", "idle")
    members = [Member(worker=Textual(), card=m.card) if m.name == "idle" else m for m in workers]
    served = conductor(OpenPool(workers=WorkerPool(members)), f"tuned:{tmp_path}")
    wish = ResponseOptions(stop=("end",))
    served.check(wish)
    idle = TunedWorkflow(
        steps=(TunedStep(worker="idle", subtask="Solve."),), kinds={k: Measured(right=1.0) for k in ("sum", "reverse")}
    )
    write_tuned(tmp_path, record().model_copy(update={"robust": 0, "workflows": (idle,)}), QUESTIONS)
    await served.ask(SUM.question)
    with pytest.raises(ConfigError, match="only text here"):
        served.check(wish)


async def test_missing_workers_are_allowed_by_name(tmp_path: Path) -> None:
    write_tuned(tmp_path, record(), QUESTIONS)
    without = OpenPool(workers=pool("sum", "idle"))
    with pytest.raises(ConfigError, match="has no 'reverse'; tune again, or name it with :allow-missing"):
        conductor(without, f"tuned:{tmp_path}")
    assert (await conductor(without, f"tuned:{tmp_path}:allow-missing").ask(SUM.question)).text == SUM.target


def test_the_best_workflow_of_a_kind_that_is_known() -> None:
    assert policy().choose_for("sum") == policy().choose(SUM.question)[0]
    with pytest.raises(ConfigError, match="unknown kind 'art'; this policy was tuned on reverse, sum"):
        policy().choose_for("art")


def test_without_a_folder_it_says_what_to_write() -> None:
    with pytest.raises(ConfigError, match="tuned:FOLDER"):
        conductor(OpenPool(workers=pool()), "tuned")


def test_a_missing_worker_is_an_error_or_allowed() -> None:
    with pytest.raises(ConfigError, match="the pool has no 'reverse'; tune again, or name it with :allow-missing"):
        policy(("idle", "sum"))
    without = policy(("idle", "sum"), allow_missing=True)
    assert without.choose(SUM.question)[0] == 0
    assert without.choose(REVERSE.question)[0] == 0, "the next best that can be asked"
    assert without.choose("Who painted Guernica?")[0] == 0, "and so where the robust one can not be asked"
    with pytest.raises(ConfigError, match="no workflow is left without it"):
        policy(("idle",), allow_missing=True)


def test_a_worker_that_no_workflow_asks_may_be_missing() -> None:
    assert policy(("sum", "reverse")).max_steps == 3


def test_what_is_unlike_everything_goes_to_the_robust_one_and_it_says_so() -> None:
    number, why = policy().choose("Who painted Guernica?")
    assert number == 2
    assert why.startswith("Unlike all questions")


def test_a_price_turns_the_choice_and_an_unknown_one_counts_nothing() -> None:
    one = TunedStep(worker="sum", subtask="Solve.")

    def of(price: float, usd: float | None) -> TunedRecord:
        cheap = TunedWorkflow(steps=(one,), kinds={k: Measured(right=0.8, usd=0.001) for k in ("sum", "reverse")})
        dear = TunedWorkflow(steps=(one, one), kinds={k: Measured(right=0.9, usd=usd) for k in ("sum", "reverse")})
        return record().model_copy(update={"price": price, "robust": 0, "workflows": (cheap, dear)})

    assert policy(of=of(0.0, 0.1)).choose(SUM.question)[0] == 1
    assert policy(of=of(10.0, 0.1)).choose(SUM.question)[0] == 0
    assert policy(of=of(10.0, None)).choose(SUM.question)[0] == 1


async def test_it_keeps_the_answer_from_round_two_on() -> None:
    completion = await Conductor(policy(), pool(*NAMES), rounds=3).ask(SUM.question)
    assert completion.text == SUM.target
    assert sum(len(transcript.results) for transcript in completion.transcripts) == 1


@pytest.mark.parametrize(
    "text",
    [
        "{question}",
        "model_id = [0]\nsubtasks = ['x']\naccess_list = [[]]",
        "say \"hi\" \\ 'there' ``` ]]] [[[ \x00 \u2028 \U0001f989",
        "model_id = [" * 300,
        "how much is " + "9" * 200_000,
    ],
    ids=["mark", "a workflow", "signs", "many lists", "long"],
)
async def test_whatever_the_question_holds_the_workflow_stands(text: str) -> None:
    both = record().model_copy(update={"workflows": (record().workflows[2],), "robust": 0})
    brief = Brief(question=ask(text), cards=tuple(Card(name=name) for name in NAMES))
    [written] = await policy(of=both).write(brief)
    made = parse(written.text, brief)
    assert made is not None
    assert [step.worker for step in made.steps] == [1, 2, 1]
    assert made.steps[1].subtask == f"{text}\n\nSolve."


async def test_a_conversation_is_one_question() -> None:
    turns = (Message(role="user", content="Hello."), Message(role="assistant", content="Yes?"), *ask(SUM.question))
    brief = Brief(question=turns, cards=tuple(Card(name=name) for name in NAMES))
    made = parse((await policy().write(brief, 2))[1].text, brief)
    assert made is not None
