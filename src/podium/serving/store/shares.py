"""What each worker of a run used, and who wrote its workflow: so that one sees where the dollars went."""

from collections.abc import Iterable
from dataclasses import dataclass

from podium.types import Transcript, Usage
from podium.workflow.draw import plain

PLANNING = ""
"""The worker's name that stands for who wrote the workflow."""
NAME = 200
"""Characters of a worker's name that are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What one worker used over all rounds of a run. Example: ``Share(worker="atlas", usage=Usage(prompt_tokens=9))``."""

    worker: str
    """:data:`PLANNING` is who wrote the workflow."""
    usage: Usage


def shares(transcripts: Iterable[Transcript]) -> tuple[Share, ...]:
    """One share for each worker that was asked, in the order in which they were, and for the writing where it cost anything."""
    used: dict[str, Usage] = {}
    for transcript in transcripts:
        if transcript.generation.usage != Usage():
            used[PLANNING] = used.get(PLANNING, Usage()) + transcript.generation.usage
        for result in transcript.asked:
            name = kept_name(result.worker)
            used[name] = used.get(name, Usage()) + (Usage(cost_usd=None) if result.usage is None else result.usage)
    return tuple(Share(worker=worker, usage=usage) for worker, usage in used.items())


def kept_name(worker: str) -> str:
    """A worker's name as the database has it."""
    return plain(worker, NAME)
