"""Plans that a model of the pool proposes: good ones win, hostile and useless ones are dropped and counted."""

from pathlib import Path
from typing import Any

import pytest

import podium
from podium.errors import BudgetExceeded, ConfigError, WorkerUnavailable
from podium.tuning.result import Tuned
from podium.tuning.run import tune_pool
from podium.types import Call
from podium.workers.pool import WorkerPool
from tests.tuning.desk import boss, exact, kind_of, member, office, pool, problems


def proposal(workers: list[int], subtasks: list[str], access: str) -> str:
    return f"model_id = {workers}\nsubtasks = {subtasks}\naccess_list = {access}"


def secretive(call: Call) -> str:
    """Answers only who asks with the word of the day, which no role of the catalogue has."""
    told = [*call.question, *(message for step in call.visible for message in step.question)]
    text = " ".join(message.content for message in told)
    if "swordfish" not in call.subtask or "How much is" not in text:
        return "I do not know."
    words = text.split("How much is ")[1].split()
    return str(int(words[0]) + int(words[2]))


async def tuned(workers: WorkerPool, out: Path, **more: Any) -> Tuned:
    arguments: dict[str, Any] = {"kind_of": kind_of, "max_calls": 300, "proposers": ("boss",), "gate": False} | more
    return await tune_pool(workers, problems(80, ("sum",)), exact, out, **arguments)


async def test_a_plan_that_only_the_proposal_has_is_found(tmp_path: Path) -> None:
    workers = WorkerPool([*pool("idle"), member("secretive", secretive), member("boss", boss(proposal=SWORDFISH))])
    found = await tuned(workers, tmp_path / "with")
    assert found.tested[0].share == 1.0
    assert found.proposals is not None
    assert (found.proposals.by, found.proposals.asked, found.proposals.tried, found.proposals.dropped) == ("boss", 2, 2, 0)
    assert "boss was asked for plans 2 times: 2 were tried, 0 dropped." in (tmp_path / "with" / "report.md").read_text()
    async with podium.open_pool([*workers]) as opened:
        answer = await podium.conductor(opened, f"tuned:{tmp_path / 'with'}").ask("How much is 17 plus 4 in all?")
    assert answer.text == "21"
    without = await tuned(workers, tmp_path / "without", proposers=())
    assert without.tested[0].share == 0.0
    assert without.proposals is None


SWORDFISH = proposal([0, 1], ["Think.", "Say swordfish, and add the numbers."], "[[], [0]]")


@pytest.mark.parametrize(
    "text",
    [
        "I would rather not.",
        "",
        proposal([9], ["Solve it."], "[[]]"),
        proposal([0, 1], ["Solve it.", "Look ahead."], "[[1], []]"),
        proposal([0], [""], "[[]]"),
        proposal([0], ["x" * 1001], "[[]]"),
        proposal([0] * 6, ["Again."] * 6, "[[], [], [], [], [], []]"),
        "model_id = []\nsubtasks = []\naccess_list = []",
        "model_id = [0]\nsubtasks = ['\\ud800']\naccess_list = [[]]",
        "model_id = [" * 50_000,
    ],
)
async def test_what_can_not_be_used_is_dropped(tmp_path: Path, text: str) -> None:
    found = await tuned(office(boss(proposal=text)), tmp_path)
    assert found.proposals is not None
    assert (found.proposals.tried, found.proposals.dropped) == (0, 2)
    assert found.tested[0].share == 1.0


async def test_a_plan_for_one_question_only_is_dropped(tmp_path: Path) -> None:
    def repeating(call: Call) -> str:
        if not call.question or "Below are tasks of one kind" not in call.question[-1].content:
            return boss()(call)
        shown = call.question[-1].content.split("TASK 2\n")[1].split("\n")[0]
        return proposal([0], [f"Tell me: {shown}"], "[[]]")

    found = await tuned(office(repeating), tmp_path)
    assert found.proposals is not None
    assert (found.proposals.tried, found.proposals.dropped) == (0, 2)


async def test_hostile_words_stay_words(tmp_path: Path) -> None:
    """What a model writes ends up in the report and in the policy."""
    words = "{question} <script>alert(1)</script> | `x` swordfish \x1b[31m \u202e"
    text = proposal([1], [words], "[[]]")
    workers = WorkerPool([*pool("idle"), member("secretive", secretive), member("boss", boss(proposal=text))])
    found = await tuned(workers, tmp_path)
    assert found.tested[0].share == 1.0
    report = (tmp_path / "report.md").read_text()
    assert "&lt;script>alert(1)" in report
    assert not {"\x1b", "\u202e"} & {*report}
    async with podium.open_pool([*workers]) as opened:
        assert (await podium.conductor(opened, f"tuned:{tmp_path}").ask("How much is 17 plus 4 in all?")).text == "21"


async def test_faults_are_no_proposals_and_stop_nothing(tmp_path: Path) -> None:
    def closed(call: Call) -> str:
        if call.question and call.question[0].role == "system":
            raise WorkerUnavailable("503 closed for today")
        return "I do not know."

    found = await tuned(office(closed), tmp_path)
    assert found.proposals is not None
    assert (found.proposals.asked, found.proposals.dropped, found.proposals.failed) == (2, 0, 2)
    assert found.tested[0].share == 1.0


@pytest.mark.parametrize("error", [ConfigError("a wrong key"), ZeroDivisionError("a bug")])
async def test_what_is_the_users_and_bugs_are_raised(tmp_path: Path, error: Exception) -> None:
    def raising(call: Call) -> str:
        if call.question and call.question[0].role == "system":
            raise error
        return "I do not know."

    with pytest.raises(type(error)):
        await tuned(office(raising), tmp_path)


async def test_a_cap_that_is_hit_while_it_proposes_ends_the_search(tmp_path: Path) -> None:
    def capped(call: Call) -> str:
        if call.question and call.question[0].role == "system":
            raise BudgetExceeded("the cap of $1 was reached")
        return "I do not know."

    found = await tuned(office(capped), tmp_path)
    assert found.tested == ()
    assert (tmp_path / "policy.json").exists()


async def test_the_one_who_is_right_most_often_proposes(tmp_path: Path) -> None:
    found = await tuned(office(boss()), tmp_path, proposers=("idle", "sum", "reverse"))
    assert found.proposals is not None
    assert found.proposals.by == "sum"


async def test_proposals_take_a_tenth_of_the_calls_at_most(tmp_path: Path) -> None:
    texts = iter([proposal([0] * 5, [f"Step {n} of {m}." for n in range(5)], "[[], [0], [0], [0], [0]]") for m in range(100)])
    asked: list[int] = []

    def many(call: Call) -> str:
        asked.append(len(asked))
        if call.question and call.question[0].role == "system":
            return next(texts)
        return "I do not know."

    given = problems(240, tuple(f"sum{n}" for n in range(12)))
    found = await tune_pool(office(many), given, exact, tmp_path, kind_of=kind_of, max_calls=400, proposers=("boss",), gate=False)
    assert found.proposals is not None
    assert found.proposals.asked <= 4
    assert found.calls <= 400
