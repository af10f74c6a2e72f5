"""A record without the workers that stopped answering while it was made: nobody else would ask them, either."""

from collections.abc import Collection
from statistics import fmean

from podium.policies.tuned_record import TunedRecord
from podium.tuning.price import PREFERENCES, price_of


def without_given_up(record: TunedRecord, given_up: Collection[str]) -> TunedRecord:
    """``record`` without the workflows that ask one of ``given_up``; as it is where no other would be left."""
    kept = [one for one in record.workflows if not any(step.worker in given_up for step in one.steps)]
    if not kept or len(kept) == len(record.workflows):
        return record
    robust = max(range(len(kept)), key=lambda n: fmean(one.right for one in kept[n].kinds.values()))
    price = price_of(kept, list(kept[0].kinds), PREFERENCES[record.prefer])
    return record.model_copy(update={"workflows": tuple(kept), "robust": robust, "price": price})
