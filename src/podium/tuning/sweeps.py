"""Who does which part of the work best, found one part at a time, where a right answer shows it.

Where a worker, or a team, is right on a problem, everything it took went well there: put a step of another worker before its
last one, and what comes out is that step's doing. So every worker is tried in every role that prepares, on few problems that
somebody has right, those who spoil nothing on more (sequential halving: Z. Karnin and others, 2013). Who takes the last step is
found alike. As in LLMSelector (arXiv 2502.14815) the calls grow with the sum of the places, not with the product. Teams of those
found are raced on problems in the order they come, never on chosen ones.
"""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import combinations, product, zip_longest

from podium.policies.tuned_record import LONGEST
from podium.tuning.candidates import Candidate, Part, beside, solo, team_of, without
from podium.tuning.catalogue import SOLVE, Catalogue
from podium.tuning.measuring import AGAIN, ENOUGH, Ask, Price
from podium.tuning.shown import Prepared, Shown
from podium.tuning.telling import SOUND, TRIED, WRONG, Telling
from podium.types import Problem

PROVED = (2, 2, 3)
"""Problems that somebody has right, of each round in which steps are tried."""
FIRST_WRONG = 2
"""Problems that a team has wrong, on which it is mended first."""
OWN = 3
"""Problems that one worker is asked for that it has right alone, beyond those known."""
COMPARED = 2
"""Of the workers who are right most often alone, so many are measured."""
REVIEWED = 3
"""Single workers that are reviewed at most."""
MUCH = 3
"""So many of these right show more than ten problems that nobody chose."""
MANY, SCREENED = 3, 4
"""Of more roles than this, so many workers are tried first."""
SAME = 0.95
"""Share of equal outcomes from which a role comes to the same as the one that its name begins with."""
GIVEN_UP = 24
"""Wrong answers in a row after which nobody is looked for."""
CROSSED, LIKELY = 3, 6
"""Workers of each place that are crossed, and of the teams that come out those that are raced."""
RACE = 60
"""Calls that are kept for racing and measuring what comes out of crossing."""
LOOKED_AT = 2
"""Teams that are measured on more problems at a time."""
NEARLY = 0.15
"""A longer team that is less right by this much only is mended first: it has more places to gain in."""


class Sweeps(Telling):
    """The sweeps of one kind."""

    def __init__(
        self,
        problems: Sequence[Problem],
        workers: Callable[[], Sequence[int]],
        about: str,
        ask: Ask,
        price: Price,
        known: dict[tuple[str, Candidate], bool],
        ranked: Sequence[int],
        catalogue: Catalogue,
        doubtful: Collection[str] = (),
        words: Sequence[Sequence[str]] = (),
    ) -> None:
        """``doubtful``: problems, by id, that may be of another kind; nobody is tried on them before others. ``words``: what the
        task may be about, one list to be tried after the other."""
        super().__init__(problems, about, ask, price, known, ranked)
        self._words = [one for one in words if one]
        self._workers = workers
        self._catalogue = catalogue
        self._doubtful = frozenset(doubtful)
        self._good_enough = AGAIN  # share right from which what is there is better mended
        self._good: dict[str, list[int]] = {}
        self._is_wide = False
        self._spent = self._doubtful
        self._begun = 0
        self._shown = Shown()
        self._mended: set[Candidate] = set()  # teams in which nobody gains in another place
        self._matter: set[str] = set()  # roles in which it was not all the same who took them

    async def begin_again(self) -> None:
        """Forget who was found good, and go by other problems first, each time by others."""
        self._good, self._is_wide, self._good_enough = {}, False, ENOUGH
        self._mended = set()
        self._shown.begin_again()
        half = len(self.problems) // 2
        parts = (self.problems[:half], self.problems[half:], self.problems[::2])
        self._spent = self._doubtful | {problem.id for problem in parts[self._begun % len(parts)]}
        self._begun += 1

    async def alone(self) -> None:
        """Measure the best single workers."""
        best = sorted(self._workers(), key=lambda worker: (-self._share(solo(worker, self._about)), self._ranked.index(worker)))
        for worker in dict.fromkeys((*best[:COMPARED], self._ranked[0])):
            await self.measure(solo(worker, self._about))

    async def prepare(self, roles: Sequence[str]) -> None:
        """Find who spoils nothing in each of ``roles``, put before the last step of whoever is right."""
        if self.share >= self._good_enough:
            return  # what is there already is better mended
        parts = [Part(role=role, worker=worker, about=self._about) for role in roles for worker in self._workers()]
        found = await self._harmless(parts, lambda team, part: beside(team, part.role, part.worker))
        self._good |= {role: [part.worker for part in each] for role, each in found.items()}

    async def _harmless(self, parts: Sequence[Part], made: Callable[[Candidate, Part], Candidate]) -> dict[str, list[Part]]:
        """Role -> who spoils nothing in it, the best first; a role that nobody spoils anything in is left out.

        A problem that nobody but its own worker has right with a role shows nothing of that role.
        """
        proofs = await self._proofs(sum(PROVED))
        left: dict[str, list[Part]] = {}
        for part in parts:
            left.setdefault(part.role, []).append(part)
        everyone = {role: list(own) for role, own in left.items()}
        hits, tries, start = Counter[Part](), Counter[Part](), 0
        waiting: dict[str, list[Part]] = {}
        for size in PROVED:
            few = proofs[start : start + size]
            start += size
            if size == PROVED[0] and start == size and len(left) > MANY:
                # Of many roles those that come to the same as another one are told by a few workers.
                waiting = {role: own[SCREENED:] for role, own in left.items()}
                left = {role: own[:SCREENED] for role, own in left.items()}
            await self._ask([(made(team, part), p) for own in left.values() for part in own for team, p in few])
            for own in left.values():
                for team, problem in few:
                    others = [part for part in own if part.worker != team[-1].worker]
                    right = {part: self._known.get((problem.id, made(team, part))) for part in others}
                    for part in others if any(right.values()) else ():
                        tries[part] += right[part] is not None
                        hits[part] += bool(right[part])
            for role, own in list(left.items()):
                if start == PROVED[0] and self._changes_nothing(own, made, few):
                    del left[role]
                    continue
                if more := waiting.get(role, []) if start == PROVED[0] else []:
                    await self._ask([(made(team, part), p) for part in more for team, p in few])
                    for team, problem in few:
                        for part in (part for part in more if part.worker != team[-1].worker):
                            right_ = self._known.get((problem.id, made(team, part)))
                            tries[part] += right_ is not None
                            hits[part] += bool(right_)
                    own += more
                own.sort(key=lambda part: -(hits[part] + 1) / (tries[part] + 2))
                kept = max((len(own) + 1) // 2, 2)
                left[role] = own[:kept] + [part for part in own[kept:] if tries[part] < 2]
        for own in everyone.values():
            for part in own:
                self._shown.note(part.role, part.worker, tried=tries[part], missed=tries[part] - hits[part])
        self._matter |= left.keys()
        return {role: [p for p in own if tries[p] >= 2 and tries[p] - hits[p] <= (tries[p] > 3)] for role, own in left.items()}

    def _changes_nothing(
        self, parts: Sequence[Part], made: Callable[[Candidate, Part], Candidate], proofs: Sequence[tuple[Candidate, Problem]]
    ) -> bool:
        """Whether it is all the same who takes a role, or the role comes to the same as another one that was tried."""

        def outcomes(role: str) -> list[bool | None]:
            return [self._known.get((p.id, made(team, replace(part, role=role)))) for team, p in proofs for part in parts]

        role, plain, found = parts[0].role, parts[0].role.split()[0], outcomes(parts[0].role)
        same = [one == other for one, other in zip(found, outcomes(plain), strict=True)]
        return all(found) or (role != plain and sum(same) >= SAME * len(same))

    async def join(self) -> None:
        """Put teams together of those who prepare well, find who ends them best, and race them."""
        steps = [(role, own[0]) for role, own in self._good.items() if own]
        if not steps or self.share >= self._good_enough:
            return
        is_complete = all(self._good.values())
        lasts = ((await self._lasts(tuple(steps)))[:2] if is_complete else []) or self._usual()
        ways = [tuple(steps), *((one,) for one in steps)] if is_complete and len(steps) > 1 else [tuple(steps)]
        await self.race([team_of(each, last) for each in ways for last in lasts])

    async def widen(self, roles: Sequence[str]) -> None:
        """Put one or two steps more of ``roles`` into the best team, by those who spoil nothing there, and race the teams."""
        teams = [one for one in self.measured if 1 < len(one) < LONGEST]
        if not teams or self.share >= self._good_enough:
            return
        best = max(self.measured[one] for one in teams)
        team = max((one for one in teams if self.measured[one] > best - NEARLY), key=lambda one: (len(one), self.measured[one]))
        await self.prepare(roles)
        self._is_wide = True
        found = [(role, self._good[role][0]) for role in roles if self._good.get(role)]
        found.sort(key=self._shown.doubt)
        there = {(part.role, part.worker) for part in team}
        wider = [beside(team, *one) for one in found if one not in there]
        if len(team) < LONGEST - 1:
            wider += [beside(beside(team, *one), *other) for one, other in combinations(found[:3], 2) if not {one, other} & there]
        # What was asked for as a whole before is not needed any more where its parts are asked for.
        plain = {role.split()[0] for role, _ in found if " " in role}
        wider += [without(one, at) for one in wider for at, part in enumerate(one) if at and part.role in plain]
        await self.race(wider)

    async def cross(self) -> None:
        """Put the best for the first role, and for two in which it matters most who takes them, together in all ways; race the
        teams that are right where the best one is wrong. What begins alike is paid for once: a team more costs a last step."""
        if self.share >= self._good_enough or not (workers := self._workers()):
            return
        first, more = self._catalogue.prepared
        matter = sorted(self._matter & {*more} - {*first}, key=lambda role: (-self._shown.spread(role, workers), role))[:2]
        roles = [*first[:1], *(first[1:2] if len(matter) < 2 else ()), *matter]

        def crossed(count: int) -> list[Candidate]:
            *steps, lasts = [[(role, one) for one in self._shown.ranked(role, workers)[:count]] for role in (*roles, SOLVE)]
            ends = [Part(role=SOLVE, worker=worker, about=self._about) for _, worker in lasts]
            return [team_of(before, last) for before in product(*steps) for last in ends]

        wrong = [p for p in self.problems if self._known.get((p.id, self.best)) is not True][:2]
        for count in range(CROSSED, 1, -1):
            teams = crossed(count)
            if not wrong or self.may_ask >= self._price([(team, wrong[0]) for team in teams]) + RACE:
                break
        else:
            return  # what is found has to be raced, too
        right = Counter[Candidate]()
        for problem in wrong:
            wanted = [(team, problem) for team in teams]
            if self.may_ask >= self._price(wanted) + RACE:
                await self._ask(wanted)
            right.update(team for team in teams if self._known.get((problem.id, team)))
            teams = [team for team in teams if right[team]] or teams
        await self.race(sorted((team for team in teams if right[team]), key=lambda team: -right[team])[:LIKELY])

    def _usual(self) -> list[Part]:
        """The two who are right most often alone."""
        first = sorted(self._workers(), key=lambda worker: -self._share(solo(worker, self._about)))[:2]
        return [Part(role=SOLVE, worker=worker, about=self._about) for worker in first]

    async def _lasts(self, steps: tuple[Prepared, ...]) -> list[Part]:
        """Who spoils nothing as the last step behind ``steps``, the best first."""
        solving = [Part(role=SOLVE, worker=worker, about=self._about) for worker in self._workers()]
        found = await self._harmless(solving, lambda team, last: team_of(steps, last))
        return [part for each in zip_longest(*found.values()) for part in each if part is not None]

    async def review(self) -> None:
        """Put a step that looks again behind the best team where it is wrong, and behind single workers nearly as good."""
        if not self.measured:
            return
        ranked = sorted(self.measured, key=lambda one: (-self.measured[one], len(one)))
        near = [one for one in ranked[:REVIEWED] if self.measured[one] > self.measured[ranked[0]] - NEARLY and len(one) == 1]
        for team in near if len(ranked[0]) == 1 else ranked[:1]:
            if len(team) < LONGEST and (team == ranked[0] or not self.is_done):
                last = Part(role="review", worker=0, access=tuple(range(len(team))), about=self._about)
                await self._best_where_wrong(team, [(*team, replace(last, worker=worker)) for worker in self._workers()])

    async def mend(self) -> None:
        """Put others into single places of the best team, where it is wrong; who gains most there stays."""
        if not self.measured:
            return
        await self.look_twice()
        await self.tell()
        if self.is_done:
            return
        if self._good and not all(self._good.values()) and not self._is_wide:
            return  # a part of the work is missing, which nobody's work in the other places makes good
        team = self._to_mend()
        if team is None:
            return
        others = [
            (*team[:at], replace(team[at], worker=worker), *team[at + 1 :])
            for at in range(len(team))
            for worker in self._workers()
            if worker != team[at].worker and self._shown.may_be_good(team[at].role, worker)
        ]
        # What a step does too much may be in the way, and so may be a part where the whole is needed.
        others += [without(team, at) for at in range(1, len(team) - 1)]
        plain = [(at, part.role.split()[0]) for at, part in enumerate(team) if " " in part.role]
        others += [
            (*team[:at], replace(team[at], role=role), *team[at + 1 :]) for at, role in plain if role in self._catalogue.roles
        ]
        if len(team) < LONGEST:
            there = {part.role for part in team}
            others += [beside(team, role, worker) for role, own in self._good.items() if role not in there for worker in own[:2]]
        if not await self._best_where_wrong(team, others):
            self._mended.add(team)

    def _to_mend(self) -> Candidate | None:
        """The longest of the best teams, since it has more places to gain in; where these were mended in vain, and none is good,
        the best of the others."""
        best = self.share
        teams = [team for team in self.measured if len(team) > 1 and team not in self._mended]
        if near := [team for team in teams if self.measured[team] > best - NEARLY]:
            return max(near, key=lambda one: (len(one), self.measured[one]))
        return max(teams, key=lambda one: (self.measured[one], len(one)), default=None) if best < AGAIN else None

    async def look_twice(self) -> None:
        """Measure the teams that may be the best on as many problems more: ten may be bad luck, and what is sought then in vain
        costs more."""
        least = max(SOUND, self.share - NEARLY)
        likely = [one for one, share in self.measured.items() if least <= share < AGAIN and one not in self._twice]
        for one in sorted(likely, key=lambda one: (-self.measured[one], len(one)))[:LOOKED_AT]:
            await self.measure_more(one)

    async def _best_where_wrong(self, team: Candidate, others: Sequence[Candidate]) -> bool:
        """Measure the two of ``others`` that are right most often where ``team`` is wrong; where none of those that were not
        measured yet is right, on other problems that it has wrong, so that what is done twice is not done in vain. Whether one was measured."""
        others = [other for other in dict.fromkeys(others) if other not in self.measured]
        wrong = self._wrong(team)
        likely: list[Candidate] = []

        def gained(other: Candidate, count: int) -> int:
            return sum(self._known.get((problem.id, other), False) for problem in wrong[:count])

        most = len(wrong) if self.measured[team] >= SOUND else FIRST_WRONG
        for start in range(0, most, FIRST_WRONG):
            end = start + FIRST_WRONG
            await self._ask([(other, problem) for other in others for problem in wrong[start:end]])
            by_gain = {other: gained(other, end) for other in others}
            if likely := sorted((other for other in others if by_gain[other]), key=by_gain.__getitem__, reverse=True)[:TRIED]:
                break
        await self._ask([(other, problem) for other in likely for problem in wrong[:WRONG]])
        for other in sorted(likely, key=lambda other: -gained(other, WRONG))[:2]:
            await self.measure(other)
            if SOUND <= self.measured.get(other, 0.0) < AGAIN and gained(other, WRONG) >= MUCH:
                await self.measure_more(other)  # ten problems may be bad luck
        return bool(likely)

    def _looks_again(self, team: Candidate) -> bool:
        """Whether it has an answer before its last step, so that what is put before that may not matter, or contradict it."""
        return any(part.role in self._catalogue.answering for part in team[:-1])

    async def _proofs(self, least: int) -> list[tuple[Candidate, Problem]]:
        """Teams, each with a problem that it has right; single workers are asked alone until there are ``least``."""
        teams = [solo(worker, self._about) for worker in self._ranked]
        teams += [one for one in self.measured if 1 < len(one) < LONGEST and not self._looks_again(one)]

        def found() -> list[tuple[Candidate, Problem]]:
            """As many workers as there are by turns, since nobody's work is tried on what is his own."""
            right = {p.id: [team for team in teams if self._known.get((p.id, team))] for p in self.problems}
            used, made = Counter[int](), []
            for problem in sorted(self.problems, key=lambda p: (p.id in self._spent, len(right[p.id]))):
                if right[problem.id]:
                    team = min(right[problem.id], key=lambda one: (used[one[-1].worker], -len(one)))
                    used[team[-1].worker] += 1
                    made.append((team, problem))
            by_turns = Counter[int]()
            order = {}
            for team, problem in made:
                order[problem.id] = by_turns[team[-1].worker]
                by_turns[team[-1].worker] += 1
            return sorted(made, key=lambda one: (one[1].id in self._spent, order[one[1].id]))

        wrong = 0
        by_share = sorted(self._workers(), key=lambda worker: -self._share(solo(worker, self._about)))
        for worker in by_share:
            one, solved = solo(worker, self._about), 0
            for problem in sorted(self.problems, key=lambda p: p.id in self._spent):
                if len(proofs := found()) >= least or wrong >= GIVEN_UP or self.may_ask <= 0:
                    return proofs[:least]
                if solved < OWN and problem.id not in {p.id for _, p in proofs} and (problem.id, one) not in self._known:
                    await self._ask([(one, problem)])
                    right = self._known.get((problem.id, one), False)
                    solved, wrong = solved + right, wrong + (not right)
        return found()[:least]
