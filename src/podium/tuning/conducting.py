"""The prompted Conductor on the bench: what it writes for a problem, carried out and judged, its own calls counted too."""

from collections.abc import Callable
from dataclasses import dataclass

from podium.conduct import Conductor
from podium.errors import Blame, PodiumError
from podium.policies.chat import ChatPolicy
from podium.policies.named import PolicySetup
from podium.policies.prompted import prompted_setup
from podium.policies.prompted_record import PromptedRecord
from podium.protocols import Worker
from podium.tuning.trials import Bench, Judged
from podium.types import Call, Completion, Problem, Transcript, Usage
from podium.workers.pool import Member, WorkerPool

Makes = Callable[[WorkerPool], PolicySetup]
"""A pool -> who conducts it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conducted:
    """How a Conductor did on one problem."""

    problem: Problem
    judged: Judged
    transcripts: tuple[Transcript, ...]
    failure: str = ""
    """Why what it wrote gave no answer; "" where there is one."""


def prompted_by(record: PromptedRecord) -> Makes:
    """The Conductor of ``record``."""
    return lambda workers: prompted_setup(record, workers)


def plain(record: PromptedRecord) -> Makes:
    """The same worker over the same workers with nothing but the language: the policy ``chat:NAME``."""

    def make(workers: WorkerPool) -> PolicySetup:
        policy = ChatPolicy(workers.named(record.conductor).worker, attempts=record.attempts)
        return PolicySetup(policy=policy, workers=workers.restricted(record.workers), max_steps=record.max_steps)

    return make


async def conducted(bench: Bench, makes: Makes, problem: Problem) -> Conducted | None:
    """A Conductor on ``problem``; None where the world failed. Raises what is the user's to mend."""
    asked: list[str] = []

    def heard(member: Member) -> Worker:
        async def worker(call: Call) -> Completion:
            asked.append(member.name)
            return await member.worker(call)

        return worker

    made = makes(bench.workers.wrapped(heard))
    conductor = Conductor(made.policy, made.workers, max_steps=made.max_steps, syntax=made.syntax)
    failure, right = "", False
    try:
        completion = await conductor.ask(problem.question)
    except PodiumError as error:
        if error.blame is Blame.USER:
            raise
        if error.blame is Blame.WORLD:
            return None
        failure, transcripts = str(error), error.transcripts
    else:
        verdict = await bench.is_right(problem, completion.text)
        if verdict is None:
            return None
        right, transcripts = verdict, completion.transcripts
    usage = Usage.total(transcript.usage for transcript in transcripts)
    seconds = sum(transcript.critical_seconds for transcript in transcripts)
    judged = Judged(right=right, usd=usage.cost_usd, seconds=seconds, steps=len(asked))
    return Conducted(problem=problem, judged=judged, transcripts=transcripts, failure=failure)
