"""What a study learned, kept in a folder and conducted from it: readable, for its own workers only, and safe to open."""

import json
from pathlib import Path

import pytest

from podium.conduct import Conductor
from podium.errors import ConfigError
from podium.policies.learned import FILE, ROUTERS, is_learned, make_learned, save
from podium.policies.router_data import RouterDataset, RouterTrainingData
from podium.pools.conducting import conductor
from podium.pools.models import PODIUM, PoolCatalog
from podium.pools.opened import OpenPool
from podium.request_options import RequestOptions
from podium.types import Call
from podium.workers.pool import WorkerPool
from tests.workflows import pool_of

SUMS = tuple(f"What is {number} plus {number + 3}?" for number in range(20))
CAPITALS = tuple(
    f"Which city is the capital of {land}?" for land in ["Peru", "Kenya", "Japan", "Chile", "Norway", "Egypt", "Nepal", "Cuba"]
)
KINDS = ("sum",) * len(SUMS) + ("capital",) * len(CAPITALS)
ROWS = ((1.0, 0.0, 1.0),) * len(SUMS) + ((0.0, 1.0, 0.0),) * len(CAPITALS)
ALONE = RouterDataset(questions=SUMS + CAPITALS, kinds=KINDS, right=ROWS, answers=(("1", "2", "1"),) * len(KINDS))
CATALOGUE = RouterDataset(questions=ALONE.questions, kinds=KINDS, right=tuple((*row, 0.0, 0.0, 0.0) for row in ROWS))
LESSONS = RouterTrainingData(alone=ALONE, sort_of=dict(zip(ALONE.questions, KINDS, strict=True)).get, catalogue=CATALOGUE)
LEARNED = [*(f"router:{name}" for name in ROUTERS), "router:rule:0.1", "stop:2:learned", "vote:learned"]


def pool() -> WorkerPool:
    return pool_of("Answer: sum", "Answer: city", "Answer: sum")


def opened() -> OpenPool:
    return OpenPool(workers=pool())


@pytest.mark.parametrize("name", LEARNED)
async def test_what_is_saved_does_what_was_learned(name: str, tmp_path: Path) -> None:
    assert is_learned(name)
    made = make_learned(name, pool(), LESSONS)
    fresh = Conductor(made.policy, made.workers, max_steps=made.max_steps, syntax=made.syntax)
    save(tmp_path / "kept", name, pool().names, LESSONS)
    served = conductor(opened(), f"learned:{tmp_path / 'kept'}")
    for question in (SUMS[3], CAPITALS[2], "What is 71 plus 16?", "Which city is the capital of Ghana?"):
        known = question in ALONE.questions
        one, other = await fresh.ask(question), await served.ask(question)
        if known or ("rule" not in name and name != "router:kind"):
            assert one.transcripts[0].workflow == other.transcripts[0].workflow
        if "rule" in name or name == "router:kind":
            assert other.text == ("Answer: city" if "city" in question else "Answer: sum"), "also of a kind nobody names"


def test_rules_can_be_read_and_changed_by_hand(tmp_path: Path) -> None:
    save(tmp_path, "router:rule", pool().names, LESSONS)
    text = (tmp_path / FILE).read_text()
    file = json.loads(text)
    assert file["rules"]["capital"] == {"order": ["w1"], "agree": None, "last_decides": False}
    file["rules"]["capital"] = {"order": ["w2", "w0", "w1"], "agree": 2, "last_decides": True}
    (tmp_path / FILE).write_text(json.dumps(file))
    conductor(opened(), f"learned:{tmp_path}")


HOSTILE = {
    "no JSON": ("{", "not what podium evaluate --save writes"),
    "deep": ("[" * 200_000, "not what podium evaluate --save writes"),
    "another version": ({"version": 2}, "version"),
    "more than there is": ({"code": "import os"}, "code"),
    "other workers": ({"workers": ["w0", "w2", "w1"]}, "in this order"),
    "nothing learned": ({"arm": "solo:w0"}, "nothing that is learned"),
    "no such router": ({"arm": "router:oracle"}, "no router"),
    "an unknown worker": ({"rules": {"": {"order": ["x"], "agree": None, "last_decides": False}}}, "no worker is named"),
    "a worker twice": ({"rules": {"": {"order": ["w0", "w0"], "agree": 2, "last_decides": False}}}, "twice"),
    "too many to agree": ({"rules": {"": {"order": ["w0", "w1"], "agree": 9, "last_decides": False}}}, "can not agree"),
    "no rule for the rest": ({"rules": {"sum": {"order": ["w0"], "agree": None, "last_decides": False}}}, "no known kind"),
    "no rule at all": ({"rules": {}}, "no known kind"),
    "rules of a router": (
        {"arm": "router:nearest", "rules": {"": {"order": ["w0"], "agree": None, "last_decides": False}}},
        "follows none",
    ),
    "three to agree or the last": ({"rules": {"": {"order": ["w0", "w1", "w2"], "agree": 3, "last_decides": True}}}, "agree 2"),
    "none to agree or the last": ({"rules": {"": {"order": ["w0", "w1", "w2"], "agree": None, "last_decides": True}}}, "agree 2"),
    "alone to agree": ({"rules": {"": {"order": ["w0"], "agree": 5, "last_decides": False}}}, "can not agree"),
    "no words": ({"lessons": {"questions": [""], "kinds": ["k"], "right": [[1.0, 0.0, 0.0]], "answers": []}}, "words"),
    "more than all right": (
        {"lessons": {"questions": ["q"], "kinds": ["k"], "right": [[2.0, 0.0, 0.0]], "answers": []}},
        "a share",
    ),
    "two workers of three": (
        {"lessons": {"questions": ["q"], "kinds": ["k"], "right": [[1.0, 0.0]], "answers": []}},
        "3 workers",
    ),
    "fewer kinds": ({"lessons": {"questions": ["q"], "kinds": [], "right": [[1.0, 0.0, 0.0]], "answers": []}}, "its kind"),
}


@pytest.mark.parametrize(("change", "reason"), HOSTILE.values(), ids=HOSTILE.keys())
def test_a_folder_that_was_tampered_with_is_refused(change: str | dict[str, object], reason: str, tmp_path: Path) -> None:
    save(tmp_path, "router:rule", pool().names, LESSONS)
    whole = json.loads((tmp_path / FILE).read_text())
    (tmp_path / FILE).write_text(change if isinstance(change, str) else json.dumps(whole | change))
    with pytest.raises(ConfigError, match=reason):
        conductor(opened(), f"learned:{tmp_path}")


def test_a_client_can_not_name_a_folder_of_the_server(tmp_path: Path) -> None:
    save(tmp_path, "router:rule", pool().names, LESSONS)
    served = PoolCatalog(opened(), f"learned:{tmp_path}")
    served.conductor(PODIUM)
    with pytest.raises(ConfigError, match="there is no trained Conductor"):
        served.conductor(PODIUM, RequestOptions(policy=f"learned:{tmp_path}"))
    with pytest.raises(ConfigError, match="by their numbers"):
        served.conductor(PODIUM, RequestOptions(exclude_workers=("w0",)))


async def test_the_rule_of_a_kind_costs_what_it_says(tmp_path: Path) -> None:
    save(tmp_path, "stop:2:learned", pool().names, LESSONS)
    completion = await conductor(opened(), f"learned:{tmp_path}")(Call.plain(SUMS[0]))
    assert [result.worker for result in completion.transcripts[0].asked] == ["w0", "w2", "vote"]
    with pytest.raises(ConfigError, match="podium evaluate --save"):
        conductor(opened(), "learned")
    with pytest.raises(ConfigError, match="can not read"):
        conductor(opened(), "learned:/nowhere")
