"""What a journal says about money: one row per run and worker."""

import sqlite3
from dataclasses import dataclass

from podium.types import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerRow:
    """The calls of one worker in one run.

    Every call a provider may have billed is in ``calls`` or in ``unsettled``; ``replays`` and ``failures`` cost nothing.
    Example: ``LedgerRow(run="r1", worker="openai:gpt-5-mini", calls=40, cost_usd=0.02, known_usd=0.02, replays=3)``.
    """

    run: str
    """The run in which the calls were paid (for ``replays``: answered)."""
    worker: str
    """The worker's identity in the journal's keys."""
    calls: int = 0
    """Paid calls whose reply is on disk."""
    replays: int = 0
    """Calls answered from disk, or by an equal call under way, for nothing."""
    unsettled: int = 0
    """Calls that may have been paid and whose reply never came: killed, cancelled, timed out, cut."""
    failures: int = 0
    """Calls the provider turned away, surely unpaid."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = 0.0
    """Cost of ``calls``; None where the cost of one is unknown."""
    known_usd: float = 0.0
    """The known part of ``cost_usd``."""
    uncertain_usd: float | None = 0.0
    """Upper bound of what ``unsettled`` cost, and ``calls`` whose cost is unknown; None where the bound of one is unknown."""
    uncertain_tokens: int | None = 0
    """Upper bound of the tokens of ``unsettled``, and of ``calls`` whose provider did not say; None where one is unknown."""

    @property
    def usage(self) -> Usage:
        """Tokens and dollars of ``calls``, e.g. to charge a budget with what a killed run had spent.

        Calls of unknown cost are in ``uncertain_usd`` at their bounds, as a budget books them; without a bound, the cost is None.
        """
        return Usage(
            prompt_tokens=self.prompt_tokens,
            completion_tokens=self.completion_tokens,
            cost_usd=self.cost_usd if self.uncertain_usd is None else self.known_usd,
        )


# The columns are fields of LedgerRow. TOTAL, unlike SUM, of nothing is 0.0; a missing cost or bound is counted, so that an
# unknown never looks like 0.
LEDGER = """
    SELECT run, worker, SUM(calls) AS calls, SUM(replays) AS replays, SUM(unsettled) AS unsettled, SUM(failures) AS failures,
        SUM(prompt_tokens) AS prompt_tokens, SUM(completion_tokens) AS completion_tokens,
        iif(SUM(unpriced), NULL, TOTAL(cost_usd)) AS cost_usd, TOTAL(cost_usd) AS known_usd,
        iif(SUM(unbounded), NULL, TOTAL(uncertain_usd)) AS uncertain_usd,
        iif(SUM(untold), NULL, SUM(uncertain_tokens)) AS uncertain_tokens
    FROM (
        SELECT run, worker, 1 AS calls, 0 AS replays, 0 AS unsettled, 0 AS failures, prompt_tokens, completion_tokens,
            cost_usd, cost_usd IS NULL AS unpriced, iif(cost_usd IS NULL, bound_usd, 0) AS uncertain_usd,
            cost_usd IS NULL AND bound_usd IS NULL AS unbounded,
            iif(cost_usd IS NULL AND prompt_tokens + completion_tokens = 0, bound_tokens, 0) AS uncertain_tokens,
            cost_usd IS NULL AND prompt_tokens + completion_tokens = 0 AND bound_tokens IS NULL AS untold
        FROM calls WHERE completion IS NOT NULL
        UNION ALL
        SELECT run, worker, 0, 0, 1, 0, 0, 0, 0, 0, bound_usd, bound_usd IS NULL, bound_tokens, bound_tokens IS NULL
        FROM calls WHERE completion IS NULL AND NOT lives(owner)
        UNION ALL
        SELECT run, worker, 0, replays, unsettled, failures, 0, 0, 0, 0, uncertain_usd, unbounded,
            uncertain_tokens, unsettled - token_bounded
        FROM counts
    )
    GROUP BY run, worker ORDER BY run, worker"""


def read_ledger(database: sqlite3.Connection) -> list[LedgerRow]:
    """The rows of all runs, sorted by run and worker; the SQL function ``lives(owner)`` has to be defined.

    A claim of a dead owner counts as unsettled, also before somebody takes it over.
    """
    found = database.execute(LEDGER)
    names = [column for column, *_ in found.description]
    return [LedgerRow(**dict(zip(names, row, strict=True))) for row in found]
