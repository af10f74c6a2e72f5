"""THE order in which a worker is wrapped. From the inside out:

- *metered*, so that a reply from disk costs nothing and only calls under way hold reservations;
- *journaled*, inside the limits, so that a call waiting in line is not claimed yet; *hedged* around two of these where wanted, so
  that each attempt has its own line in the ledger;
- *limited*; outside of it the journal's reader, so that a reply from disk does not wait in line;
- *retried*, outside of these, so that every attempt has its own line in the ledger and a waiting retry holds no place;
- what a kind of worker puts *around* its calls, where one answer takes several of them: each has all of the above;
- *fallback*, outside the journal, so that every reply stands under the worker that gave it.

The workers of a pool file, those of a training run and those of a test are all wrapped here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from podium.protocols import Worker
from podium.types import Card
from podium.workers.budget import Budget
from podium.workers.fallback import Fallback
from podium.workers.hedged import Hedged
from podium.workers.journal import Journal
from podium.workers.limited import Limit, Limited
from podium.workers.metered import Metered
from podium.workers.prices import MostUsd
from podium.workers.retried import Retried


@dataclass(frozen=True, slots=True, kw_only=True)
class Layers:
    """What stands around one worker; the defaults leave the meter and the journal. Example: ``Layers(max_tokens=4096)``."""

    max_tokens: int
    """Longest reply, for the bound on what a call can cost; 0 for what uses no tokens at all."""
    most_usd: MostUsd | None = None
    """The most a call can cost, where that is not the card's price times its tokens: tiers of price."""
    limit: Limit | None = None
    hedge_after_seconds: float | None = None
    retries: int = 0
    around: Callable[[Worker], Worker] | None = None
    fallback: Worker | None = None
    fallback_stays: bool = False
    """Whether the fallback goes on to the end of a tool loop that it has taken over."""


def stacked(
    worker: Worker, card: Card, layers: Layers, budgets: Sequence[Budget], journal: Journal | None = None, *, identity: str = ""
) -> Worker:
    """``worker`` with its layers. With a ``journal`` its replies are kept under ``identity``, which tells what answered.

    Raises :class:`ConfigError` where a budget needs a price that the card does not know.
    """
    metered = Metered(worker, card, layers.max_tokens, budgets, layers.most_usd)
    wrapped: Worker = metered if journal is None else journal.worker(metered, identity)
    if layers.hedge_after_seconds is not None:
        second = metered if journal is None else journal.worker(metered, identity, hedge=True)
        wrapped = Hedged(wrapped, second, after_seconds=layers.hedge_after_seconds)
    if layers.limit is not None:
        wrapped = Limited(wrapped, layers.limit, max_tokens=layers.max_tokens)
        if journal is not None:
            wrapped = journal.reader(wrapped, identity)
    if layers.retries:
        wrapped = Retried(wrapped, attempts=layers.retries + 1)
    if layers.around is not None:
        wrapped = layers.around(wrapped)
    return wrapped if layers.fallback is None else Fallback(wrapped, layers.fallback, stays=layers.fallback_stays)
