"""Which runs the list shows, as it stands in the address: so that Back, a reload and a link that is sent on show the same."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, cast, get_args
from urllib.parse import urlencode

from podium.page.period import period
from podium.serving.store.run_filter import RunFilter, Status
from podium.serving.store.runs import By, Sort

PAGE = 30
"""Runs of one page."""
_MOST = 300
"""Characters of a value that are looked at."""
_LAST_PAGE = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsQuery:
    """What a visitor looks for. Example: ``RunsQuery(text="sky", sort="cost").query == "?text=sky&sort=cost"``."""

    text: str = ""
    model: str = ""
    policy: str = ""
    worker: str = ""
    status: str = ""
    of: str = ""
    """The id of a key."""
    since: str = ""
    """A day, as 2026-05-03; so is ``until``, which is the last one that belongs to it."""
    until: str = ""
    sort: Sort = "created"
    up: bool = False
    """Whether the oldest, or the smallest, come first."""
    page: int = 1
    by: By = "day"
    """What the dollars are shown for."""

    @staticmethod
    def read(parameters: Mapping[str, str]) -> "RunsQuery":
        """From an address; what makes no sense there is left out."""
        written = ("text", "model", "policy", "worker", "of", "since", "until")
        chosen: dict[str, Any] = {name: parameters.get(name, "")[:_MOST] for name in written}
        chosen["up"] = parameters.get("up") == "True"
        number = parameters.get("page", "")
        for name, known in (("status", get_args(Status)), ("sort", get_args(Sort)), ("by", get_args(By))):
            if parameters.get(name) in known:
                chosen[name] = parameters[name]
        if number.isascii() and number.isdigit() and 1 <= int(number[:9]) <= _LAST_PAGE:
            chosen["page"] = int(number[:9])
        return RunsQuery(**chosen)

    @property
    def query(self) -> str:
        """The part of the address that says so; "" for the usual list."""
        said = {each.name: getattr(self, each.name) for each in fields(self)}
        different = {each.name: said[each.name] for each in fields(self) if said[each.name] != each.default}
        return f"?{urlencode(different)}" if different else ""

    def wanted(self) -> RunFilter:
        """As the store is asked. Raises :class:`ConfigError`, in words for the visitor, for days that are none."""
        since, until = period(self.since, self.until)
        return RunFilter(
            text=self.text.strip(),
            model=self.model,
            policy=self.policy,
            worker=self.worker,
            of=self.of,
            status=cast(Status, self.status),
            since=since,
            until=until,
        )
