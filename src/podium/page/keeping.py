"""A run of the page as the store keeps it."""

import secrets
from datetime import UTC, datetime, timedelta

from podium.events import Answered
from podium.page.following import run_seconds
from podium.serving.store.runs import Run


def record(model: str, question: str, answered: Answered, *, with_content: bool) -> Run:
    """The run that ended in ``answered`` just now; without content only its figures."""
    results = [result for transcript in answered.transcripts for result in transcript.results]
    return Run(
        id=f"run_{secrets.token_hex(12)}",
        model=model,
        created=datetime.now(UTC) - timedelta(seconds=answered.seconds),
        seconds=run_seconds(answered),
        usage=answered.usage,
        failure="" if answered.failure is None else answered.failure.kind,
        steps=len(results),
        workers=tuple(dict.fromkeys(result.worker for result in results)),
        question=question if with_content else None,
        answer=answered.answer if with_content else None,
        transcripts=answered.transcripts if with_content else (),
    )
