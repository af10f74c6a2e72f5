"""The law of the quota: whatever happens in whatever order, no more is given away than there is, and the books are exact."""

import asyncio
from dataclasses import dataclass
from itertools import count

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from podium.errors import QuotaExceeded
from podium.serving.store.booking import Spent
from podium.serving.store.database import Database
from podium.serving.store.keys import Keys
from podium.serving.store.quotas import Lease, Quotas
from tests.serving.conftest import ManualClock

QUOTA = 1000
"""In thousandths of a dollar, like every amount here."""


@dataclass
class Open:
    """What the model knows of a lease."""

    lease: Lease
    replica: int
    cap: int
    used: int = 0
    in_flight: int = 0
    reaped: bool = False
    beaten: float = 0.0


ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("admit"), st.integers(0, 1), st.integers(0, 600)),
        st.tuples(st.just("progress"), st.integers(0, 20), st.tuples(st.floats(0, 1), st.floats(0, 1))),
        st.tuples(st.just("settle"), st.integers(0, 20), st.tuples(st.floats(0, 1), st.floats(0, 1))),
        st.tuples(st.just("beat"), st.integers(0, 1), st.none()),
        st.tuples(st.just("wait"), st.integers(1, 40), st.none()),
        st.tuples(st.just("reap"), st.integers(0, 1), st.none()),
        st.tuples(st.just("silence"), st.integers(0, 1), st.none()),
    ),
    max_size=40,
)


class World:
    """The books of two replicas, and beside them what they should say."""

    def __init__(self, database: Database, number: int) -> None:
        self.clock = ManualClock()
        self.database = database
        self.name = f"web {number}"
        self.quotas = [Quotas(database, "a", now=self.clock), Quotas(database, "b", now=self.clock)]
        self.open: list[Open] = []
        self.spent = self.uncertain = 0

    async def play(self, actions: list[tuple[str, int, object]]) -> None:
        self.key, _ = await Keys(self.database).create(self.name, monthly_usd=QUOTA / 1000)
        for name, number, more in actions:
            await getattr(self, name)(number, more)
            await self.check()

    async def admit(self, replica: int, cap: int) -> None:
        left = QUOTA - self.spent - self.uncertain - sum(run.cap for run in self.open if not run.reaped)
        try:
            lease = await self.quotas[replica].admit(self.key, cap / 1000, 0)
        except QuotaExceeded:
            assert cap > left
        else:
            assert cap <= left
            self.open.append(Open(lease=lease, replica=replica, cap=cap, beaten=self.clock().timestamp()))

    def _amounts(self, run: Open, parts: tuple[float, float]) -> tuple[int, int]:
        """A run that keeps its cap, and stops when it hears that it was reaped: it uses what it said was in flight at most."""
        limit = run.used + run.in_flight if run.reaped else run.cap
        used = run.used + int(parts[0] * (limit - run.used))
        return used, int(parts[1] * (limit - used))

    async def progress(self, number: int, parts: tuple[float, float]) -> None:
        if not self.open:
            return
        run = self.open[number % len(self.open)]
        used, in_flight = self._amounts(run, parts)
        assert await self.quotas[run.replica].progress(run.lease, used / 1000, in_flight / 1000) is not run.reaped
        if run.reaped:
            self.spent += used - run.used
            self.uncertain += in_flight - run.in_flight
        run.used, run.in_flight = used, in_flight

    async def settle(self, number: int, parts: tuple[float, float]) -> None:
        if not self.open:
            return
        run = self.open.pop(number % len(self.open))
        used, uncertain = self._amounts(run, parts)
        for _ in range(2):
            await self.quotas[run.replica].settle(run.lease, used / 1000, uncertain / 1000, 0)
        self.spent += used - (run.used if run.reaped else 0)
        self.uncertain += uncertain - (run.in_flight if run.reaped else 0)

    async def beat(self, replica: int, _more: None) -> None:
        await self.quotas[replica].beat()
        for run in self.open:
            if run.replica == replica and not run.reaped:
                run.beaten = self.clock().timestamp()

    async def wait(self, seconds: int, _more: None) -> None:
        self.clock.forward(seconds)

    async def reap(self, replica: int, _more: None) -> None:
        silent = [run for run in self.open if not run.reaped and run.beaten < self.clock().timestamp() - 30.0]
        # Leases that earlier examples left open are reaped as well.
        assert await self.quotas[replica].reap(30.0) >= len(silent)
        for run in silent:
            run.reaped = True
            self.spent += run.used
            self.uncertain += run.in_flight

    async def silence(self, replica: int, _more: None) -> None:
        """Nobody beats for long enough, and the leases that are open are reaped."""
        self.clock.forward(31)
        await self.reap(replica, None)

    async def check(self) -> None:
        found = (await self.quotas[0].spent()).get(self.key.id, Spent())
        held = sum(run.cap for run in self.open if not run.reaped)
        assert found == Spent(spent_usd=self.spent / 1000, uncertain_usd=self.uncertain / 1000, open_usd=held / 1000)
        assert self.spent + self.uncertain + held <= QUOTA
        assert min(self.spent, self.uncertain, held) >= 0


def test_no_order_of_events_gives_away_more_than_there_is(url: str) -> None:
    database, numbers = Database(url), count()
    asyncio.run(database.migrate())

    @settings(max_examples=100, suppress_health_check=list(HealthCheck))
    @given(ACTIONS)
    def law(actions: list[tuple[str, int, object]]) -> None:
        asyncio.run(World(database, next(numbers)).play(actions))

    try:
        law()
    finally:
        asyncio.run(database.close())
