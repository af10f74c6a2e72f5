"""A verdict belongs to the verifier that passed it: another one inherits none, by whatever it differs."""

import functools
import importlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import podium
from podium import registry
from podium.errors import ConfigError, MalformedWorkflow
from podium.evaluation import verifier_identity as identities
from podium.evaluation.evaluate import evaluate
from podium.evaluation.registered_identity import registered_identity
from podium.evaluation.verifier_identity import verifier_identity
from podium.pools.verifiers import open_verifiers
from podium.protocols import Verifier
from podium.tasks.countdown import CountdownVerifier
from podium.tasks.free_form import FreeFormVerifier
from podium.tasks.judge import Judge
from podium.tasks.kinds import ProblemKind, always
from podium.tasks.mathematics import MathVerifier
from podium.tasks.mathematics.pool import SymbolicPool
from podium.tasks.multiple_choice import MultipleChoiceVerifier
from podium.tasks.programming.verifier import ProgramVerifier
from podium.tasks.sandbox import Sandbox
from podium.tasks.sandbox.limits import SandboxLimits
from podium.tasks.verifiers import VerifierByKind
from podium.types import Call, Completion, Problem, Verdict
from podium.workers.scripted import Scripted

PROBLEM = Problem(question="6 times 7?", target="42", kind="riddle", source="test")


@dataclass(slots=True)
class Near:
    """A verifier with a setting."""

    tolerance: float = 0.0

    async def __call__(self, problem: Problem, answer: str) -> Verdict:
        return Verdict(correct=abs(float(answer) - float(problem.target)) <= self.tolerance, extracted=answer)


class Hidden:
    """The same, the setting out of sight, and a list of what it takes for right."""

    def __init__(self, tolerance: float, words: list[str]) -> None:
        self._tolerance, self.words = tolerance, words

    async def __call__(self, problem: Problem, answer: str) -> Verdict:
        return Verdict(correct=True, extracted=answer)


class Versioned(Near):
    version = "1"


async def plain(problem: Problem, answer: str, tolerance: float = 0.0) -> Verdict:
    return Verdict(correct=True, extracted=answer)


def closed_over(tolerance: float) -> Verifier:
    async def verify(problem: Problem, answer: str) -> Verdict:
        return Verdict(correct=tolerance > 0, extracted=answer)

    return verify


def of(verifier: object, kind: str = "riddle") -> str:
    return verifier_identity(verifier, kind)  # type: ignore[arg-type]


DIFFERENT: list[Callable[[], object]] = [
    Near,
    lambda: Near(0.1),
    lambda: Hidden(0.0, []),
    lambda: Hidden(0.1, []),
    lambda: Hidden(0.0, ["yes"]),
    Versioned,
    lambda: plain,
    lambda: functools.partial(plain, tolerance=0.1),
    lambda: functools.partial(plain, tolerance=0.2),
    lambda: closed_over(0.1),
    lambda: closed_over(0.2),
    lambda: Near(0.1).__call__,
    CountdownVerifier,
    MultipleChoiceVerifier,
    MathVerifier,
    FreeFormVerifier,
    lambda: FreeFormVerifier(Judge(Scripted("Verdict: same"), name="a")),
    lambda: FreeFormVerifier(Judge(Scripted("Verdict: same"), name="b")),
    lambda: ProgramVerifier(Sandbox()),
    lambda: ProgramVerifier(Sandbox(unsafe_local=True)),
    lambda: ProgramVerifier(Sandbox(limits=SandboxLimits(wall_seconds=3.0))),
    lambda: ProgramVerifier(Sandbox(), promised=frozenset()),
]


def test_whatever_two_verifiers_differ_by_tells_them_apart_and_nothing_else_does() -> None:
    found = [of(make()) for make in DIFFERENT]
    assert found == [of(make()) for make in DIFFERENT]
    assert len(set(found)) == len(found)
    assert of(VerifierByKind({"riddle": Near(), "other": Hidden(0, [])})) == of(Near())
    programs = ProgramVerifier(Sandbox(slots=7))
    programs._missing["numpy"] = True  # what it has found out on the way
    assert of(programs) == of(ProgramVerifier(Sandbox()))
    assert of(MathVerifier(SymbolicPool(1))) == of(MathVerifier())


def test_it_is_the_same_in_every_process() -> None:
    """Sets have another order in each one, and a cluster has many."""
    code = (
        "import sys\nfrom podium.evaluation.registered_identity import registered_identity\n"
        "from podium.evaluation.verifier_identity import verifier_identity\n"
        "async def typed_in(problem, answer):\n    return answer in {'red', 'green', 'blue', 'white', 'black', 'yellow'}\n"
        "print(verifier_identity(typed_in, 'riddle'), *map(registered_identity, ('mathematics', 'programming')))"
    )
    command = [sys.executable, "-c", code]
    seen = {subprocess.check_output(command, env={**os.environ, "PYTHONHASHSEED": seed}) for seed in "12"}
    assert len(seen) == 1


async def answers_of(verifier: Verifier, out: Path, worker: Scripted) -> list[Verdict | None]:
    return [result.verdict for result in await evaluate({"arm": worker}, [PROBLEM], verifier, out=out)]


async def test_a_changed_verifier_gives_back_no_verdict_of_the_one_before(tmp_path: Path) -> None:
    out, asked = tmp_path / "results.jsonl", list[Call]()

    def say(call: Call) -> str:
        asked.append(call)
        return "41"

    worker = Scripted(say)
    [first] = await answers_of(Near(), out, worker)
    assert await answers_of(Near(), out, worker) == [first]
    for other in (Near(1.0), Hidden(0, []), closed_over(1.0)):
        with pytest.raises(ConfigError, match=r"verdicts on problems of the kind 'riddle' by another verifier.*write to another"):
            await answers_of(other, out, worker)
    assert len(asked) == 1, "and nobody is asked before that is said"
    line = json.loads(out.read_text())
    del line["judged_by"]  # as an older Podium wrote it
    out.write_text(json.dumps(line) + "\n")
    with pytest.raises(ConfigError, match="by an unknown verifier"):
        await answers_of(Near(), out, worker)


async def test_what_nobody_judged_is_nobodys_verdict(tmp_path: Path) -> None:
    async def no_workflow(call: Call) -> Completion:
        raise MalformedWorkflow("no lists")

    for verifier in (Near(), Near(1.0)):
        [result] = await evaluate({"arm": no_workflow}, [PROBLEM], verifier, out=tmp_path / "results.jsonl")
        assert result.verdict is None


@pytest.fixture
def plug_in(tmp_path: Path) -> Iterator[Callable[[str], ModuleType]]:
    """``written(rule)``: somebody's package, imported anew; its verifier calls a helper in another file, which holds the rule."""
    sys.path.insert(0, str(tmp_path))
    folder = tmp_path / "riddles_for_podium"
    folder.mkdir()

    def written(rule: str) -> ModuleType:
        (folder / "__init__.py").write_text("")
        (folder / "rules.py").write_text(f"def right(answer):\n    return {rule}\n")
        (folder / "judge.py").write_text(
            "from podium.types import Verdict\nfrom riddles_for_podium.rules import right\n\n\nclass Riddles:\n"
            "    async def __call__(self, problem, answer):\n        return Verdict(correct=right(answer), extracted=answer)\n"
        )
        for name in [name for name in sys.modules if name.startswith("riddles_for_podium")]:
            del sys.modules[name]
        importlib.invalidate_caches()
        identities._foreign_code.cache_clear()
        shutil.rmtree(folder / "__pycache__", ignore_errors=True)
        return importlib.import_module("riddles_for_podium.judge")

    yield written
    sys.path.remove(str(tmp_path))
    for name in [name for name in sys.modules if name.startswith("riddles_for_podium")]:
        del sys.modules[name]


async def test_a_registered_plug_in_whose_code_changed(
    tmp_path: Path, plug_in: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = Problem(question="6 times 7?", target="42", kind="somebodys-riddle", source="test")
    seen = set()
    for rule, refused in (("answer == '41'", False), ("answer == '41'", False), ("answer == '42'", True)):
        monkeypatch.setitem(registry._added["verifiers"], problem.kind, ProblemKind(open=always(plug_in(rule).Riddles)))
        seen.add(registered_identity(problem.kind))
        async with open_verifiers({problem.kind}) as verifier:
            asking = evaluate({"arm": Scripted("41")}, [problem], verifier, out=tmp_path / "results.jsonl")
            if refused:
                with pytest.raises(ConfigError, match="by another verifier"):
                    await asking
            else:
                [result] = await asking
                assert result.verdict is not None
                assert result.verdict.correct
    assert len(seen) == 2


def test_a_declared_version_stands_for_the_code(plug_in: Callable[[str], ModuleType]) -> None:
    found = []
    for rule, version in (("True", "1"), ("False", "1"), ("False", "2")):
        made = plug_in(rule).Riddles
        made.version = version
        found.append(of(made()))
    assert found[0] == found[1] != found[2]


def test_podiums_own_verifiers_count_by_their_code_and_their_libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = tmp_path / "podium"
    for room in ("tasks", "gym"):
        shutil.copytree(Path(podium.__file__).parent / room, copy / room, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(identities, "podium", SimpleNamespace(__file__=str(copy / "__init__.py"), __name__="podium"))

    def now() -> str:
        identities._own_code.cache_clear()
        return of(MathVerifier())

    before = now()
    for place, changes in (("tasks/benchmarks/hub.py", False), ("tasks/extraction.py", True), ("gym/verify.py", False)):
        with (copy / place).open("a") as file:
            file.write("\n# changed\n")
        assert (now() != before) is changes, place
        before = now()
    monkeypatch.setattr(identities, "version", lambda name: "99")
    assert now() != before
    identities._own_code.cache_clear()
