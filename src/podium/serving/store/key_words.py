"""A key in words: what it may do, how much, and what it has used."""

from dataclasses import asdict

from podium.serving.store.booking import Spent
from podium.serving.store.keys import Key


def terms(key: Key) -> str:
    """What a key may do, and how much."""
    month = "no limit" if key.monthly_usd is None else f"${key.monthly_usd:.2f}"
    content = "kept" if key.store_content else "not kept"
    per = f"per month {month}{per_session(key)}; per minute {per_minute(key)}{at_once(key)}"
    return f"scopes {' '.join(sorted(key.scopes))}; {per}; content {content}"


def month_line(used: Spent, limit: float | None) -> str:
    """What was used of a month."""
    of = "" if limit is None else f" of ${limit:.2f}"
    uncertain = f" (${used.uncertain_usd:.4f} of it uncertain)" if used.uncertain_usd else ""
    unpriced = f" + {used.unpriced} runs of unknown price" if used.unpriced else ""
    freed = f", ${used.freed_usd:.4f} freed by corrections" if used.freed_usd else ""
    return f"${used.spent_usd + used.uncertain_usd:.4f}{of}{uncertain}{unpriced}{freed}, ${used.open_usd:.4f} set aside"


def per_minute(key: Key) -> str:
    """What it may ask a minute."""
    limits = ((key.requests_per_minute, "requests"), (key.tokens_per_minute, "tokens"))
    return ", ".join(f"{limit} {what}" for limit, what in limits if limit is not None) or "no limit"


def per_session(key: Key) -> str:
    """What a session of it may cost."""
    return "" if key.session_usd is None else f"; per session ${key.session_usd:.2f}"


def at_once(key: Key) -> str:
    """How many runs of it may be under way."""
    return "" if key.concurrency is None else f"; at once {key.concurrency} runs"


def fields(key: Key) -> dict[str, object]:
    """A key as JSON takes it."""
    moments = {"created": key.created.isoformat(), "revoked": None if key.revoked is None else key.revoked.isoformat()}
    columns = {name: value for name, value in asdict(key).items() if name != "root"}
    return columns | {"scopes": sorted(key.scopes)} | moments
