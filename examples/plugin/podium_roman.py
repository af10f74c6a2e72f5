"""Roman numerals: what a package outside of Podium can add. `pyproject.toml` beside this file names the records."""

import random
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from podium import Brief, Call, Completion, FunctionPolicy, Problem, Step, Usage, Verdict, Worker, Workflow
from podium.errors import ConfigError, WorkerRefused
from podium.policies.named import NamedPolicy, PolicyRequest, PolicySetup
from podium.serving.store.kinds import StoreKind
from podium.tasks.benchmarks.benchmark import Benchmark, Solved
from podium.tasks.kinds import ProblemKind, always
from podium.workers.connections import Connections
from podium.workers.kinds import WorkerKind
from podium.workers.table import Positive, WorkerConfig

SIGNS = {
    1000: "M",
    900: "CM",
    500: "D",
    400: "CD",
    100: "C",
    90: "XC",
    50: "L",
    40: "XL",
    10: "X",
    9: "IX",
    5: "V",
    4: "IV",
    1: "I",
}


def roman(number: int) -> str:
    """`roman(1994)` is MCMXCIV."""
    text = ""
    for value, sign in SIGNS.items():
        text += sign * (number // value)
        number %= value
    return text


class RomanConfig(WorkerConfig):
    """Its table in the pool file: the keys of every worker, and `largest`."""

    largest: Positive = 3999


class RomanWorker:
    """Writes the first number that it reads as a Roman numeral. Knows none above `largest`."""

    def __init__(self, largest: int) -> None:
        self._largest = largest

    async def __call__(self, call: Call) -> Completion:
        asked = " ".join(message.content for message in call.question or ())
        found = re.search(r"\d+", f"{asked} {call.subtask}")
        if found is None:
            raise WorkerRefused("there is no number to write")
        number = int(found[0])
        text = roman(number) if number <= self._largest else "I do not know."
        return Completion(text=text, usage=Usage(prompt_tokens=len(asked) // 4, completion_tokens=len(text)))


def make_worker(table: RomanConfig, environ: Mapping[str, str], connections: Connections) -> Worker:
    return RomanWorker(table.largest)


def relay(brief: Brief) -> Workflow:
    """Every worker in turn; each sees what those before it said."""
    return Workflow(
        steps=tuple(Step(worker=i, subtask=brief.question[-1].content, access=tuple(range(i))) for i in range(len(brief.cards)))
    )


def make_policy(asked: PolicyRequest) -> PolicySetup:
    return PolicySetup(policy=FunctionPolicy(relay), workers=asked.workers, max_steps=len(asked.workers))


async def verify(problem: Problem, answer: str) -> Verdict:
    numerals = re.findall(r"\b[MDCLXVI]+\b", answer) or [""]
    return Verdict(correct=numerals[-1] == problem.target, extracted=numerals[-1] or None, why=f"expected {problem.target}")


def problems(split: str, seed: int) -> Iterator[Solved]:
    for number in random.Random(f"{split} {seed}").sample(range(1, 4000), 100):
        question = f"Write {number} as a Roman numeral."
        problem = Problem(question=question, target=roman(number), kind="roman-numeral", source="roman-numerals", split=split)
        yield Solved(problem=problem, gold=problem.target)


def read_secret(url: str) -> str:
    """The database's URL, password included, as a secret manager leaves it in a file."""
    try:
        return Path(url.removeprefix("secret://")).read_text().strip()
    except OSError as error:
        raise ConfigError(f"{url}: {error.strerror}; write the database's URL into that file") from error


WORKER = WorkerKind(about="writes Roman numerals", config=RomanConfig, make=make_worker)
POLICY = NamedPolicy(form="relay", about="every worker in turn, each sees those before it", make=make_policy, is_baseline=True)
KIND = ProblemKind(open=always(lambda: verify), instruction="End with the numeral.")
BENCHMARK = Benchmark(
    name="roman-numerals",
    kind="roman-numeral",
    about="numbers below 4000 as Roman numerals; generated",
    licence="generated",
    url="https://en.wikipedia.org/wiki/Roman_numerals",
    splits={"test": 100},
    generate=problems,
)
STORE = StoreKind(form="secret://FILE", about="the URL in a file", find=read_secret)
