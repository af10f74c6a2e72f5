"""Who spoils nothing: the workers that can be put into what is right without making it wrong.

Where a worker, or a team, is right on a problem, everything it took went well there: put a step of another worker before its
last one, and what comes out is that step's doing. So every worker is tried in a role on few problems that somebody has right,
those who spoil nothing on more (sequential halving: Z. Karnin and others, 2013). Left out: teams that look again at an answer,
since what is put before that may not matter, or speak against it.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

from podium.policies.tuned_record import LONGEST
from podium.tuning.candidates import Candidate, Part, solo
from podium.tuning.catalogue import Catalogue
from podium.tuning.measuring import Ask, Price
from podium.tuning.shown import Shown
from podium.tuning.telling import Telling
from podium.types import Problem

PROVED = (2, 2, 3)
"""Problems that somebody has right, of each round in which steps are tried."""
DOZEN, PROVED_BY_MANY = 12, (1, 1, 2, 3)
"""With more workers than that each is tried on one problem first, and who spoils it mostly goes at once."""
OWN = 3
"""Problems that one worker is asked for that it has right alone, beyond those known."""
MANY = 3
"""Of more roles than this most come to the same, which is told first."""
SPOILT, FEW_SPOILT = 8, 4
"""Answers spoilt by the first of many roles on which the others are tried, and so many at least."""
LUCKY = 0.6
"""Share of answers that were not spoiled from which who seems the best is believed, where nobody is harmless."""
GIVEN_UP = 24
"""Wrong answers in a row after which nobody is looked for."""


class Proving(Telling):
    """What is known of one kind, and who is shown to be harmless in which role."""

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
        self._words = list(words)
        self._workers = workers
        self._catalogue = catalogue
        self._doubtful = frozenset(doubtful)
        self._spent = self._doubtful
        self._shown = Shown()
        self._matter: set[str] = set()  # roles in which it was not all the same who took them

    @property
    def _are_many(self) -> bool:
        """Whether there are so many workers that most have to go early."""
        return len(self._workers()) > DOZEN

    async def _harmless(self, parts: Sequence[Part], made: Callable[[Candidate, Part], Candidate]) -> dict[str, list[Part]]:
        """Role -> who spoils nothing in it, the best first; a role that nobody spoils anything in is left out.

        A problem that nobody but its own worker has right with a role shows nothing of that role.
        """
        proofs = await self._proofs(sum(PROVED))
        if self._are_many:
            proofs = await self._checked(proofs, parts, made)
        left: dict[str, list[Part]] = {}
        for part in parts:
            left.setdefault(part.role, []).append(part)
        if len(left) > MANY:
            left = await self._with_parts(left, made, proofs)
        everyone, start = {role: list(own) for role, own in left.items()}, 0
        for size in PROVED_BY_MANY if self._are_many else PROVED:
            few = proofs[start : start + size]
            start += size
            await self._ask([(made(team, part), p) for own in left.values() for part in own for team, p in few])
            for own in left.values():
                for team, problem in few:
                    others = [part for part in own if part.worker != team[-1].worker]
                    right = {part: self._known.get((problem.id, made(team, part))) for part in others}
                    # Where all others spoil it the role may be at fault; of a single one that is never known.
                    for part, is_right in right.items() if any(right.values()) or len(right) == 1 else ():
                        if is_right is not None:
                            self._shown.note(part.role, part.worker, (problem.id, made(team, part)), right=is_right)
            for role, own in list(left.items()):
                if start == PROVED[0] and self._changes_nothing(everyone[role], made, proofs[:start]):
                    del left[role]
                    continue
                own.sort(key=lambda part: -self._shown.share(part.role, part.worker))
                kept = max((len(own) + 3) // 4 if self._are_many else (len(own) + 1) // 2, 2)
                left[role] = own[:kept] + [part for part in own[kept:] if self._is_open(part)]
        self._matter |= left.keys()
        found = {role: [part for part in own if self._is_harmless(part)] for role, own in left.items()}
        if not any(found.values()):  # bad luck is likelier than that nobody can do anything
            found = {role: [p for p in own[:2] if self._shown.share(p.role, p.worker) > LUCKY] for role, own in left.items()}
        return found

    async def _checked(
        self, proofs: Sequence[tuple[Candidate, Problem]], parts: Sequence[Part], made: Callable[[Candidate, Part], Candidate]
    ) -> list[tuple[Candidate, Problem]]:
        """Those first that stay right where who has them right takes the role as well: others may be right by luck."""
        roles = list(dict.fromkeys(part.role for part in parts))[:2]
        own = {p.id: [made(team, q) for q in parts if q.role in roles and q.worker == team[-1].worker] for team, p in proofs}
        await self._ask([(one, p) for _, p in proofs for one in own[p.id]])
        return sorted(proofs, key=lambda proof: -sum(self._known.get((proof[1].id, one), False) for one in own[proof[1].id]))

    def _is_open(self, part: Part) -> bool:
        """Whether too little is known of it to leave it out."""
        if self._are_many:
            return not self._shown.missed(part.role, part.worker)
        return self._shown.tried(part.role, part.worker) < 2

    def _is_harmless(self, part: Part) -> bool:
        tried = self._shown.tried(part.role, part.worker)
        return tried >= 2 and self._shown.missed(part.role, part.worker) <= max(tried > 3, tried // 5)

    async def _with_parts(
        self,
        roles: Mapping[str, Sequence[Part]],
        made: Callable[[Candidate, Part], Candidate],
        proofs: Sequence[tuple[Candidate, Problem]],
    ) -> dict[str, list[Part]]:
        """Of many ``roles`` the first, and its parts that are right where it is not: who spoils the whole may be good at a part.

        A part has the name of the first role and a word more ("recall places"). The other parts come to the same as the whole, or
        as each other, as far as these problems show. Where it spoils too little to tell, and of other roles, all stay.
        """
        name = next(iter(roles))
        whole, others = roles[name], [own for role, own in roles.items() if role.startswith(f"{name} ")]
        first = [p for _, p in proofs[: PROVED_BY_MANY[0] if self._are_many else PROVED[0]]]
        tried = [(part, team, p) for team, p in proofs for part in whole if part.worker != team[-1].worker]
        await self._ask([(made(team, part), p) for part, team, p in tried if p in first])
        spoilt = [(part.worker, team, p) for part, team, p in tried if self._known.get((p.id, made(team, part))) is False]
        if len(spoilt) < FEW_SPOILT:
            return {role: list(own) for role, own in roles.items()}
        seen = Counter[int]()
        turns = []
        for worker, _, _ in spoilt:
            turns.append(seen[worker])
            seen[worker] += 1
        few = [spoilt[at] for at in sorted(range(len(spoilt)), key=turns.__getitem__)[:SPOILT]]
        asked = {
            own[0].role: [(made(team, part), p) for worker, team, p in few for part in own if part.worker == worker]
            for own in others
        }
        await self._ask([one for each in asked.values() for one in each])
        found = {role: tuple(self._known.get((p.id, team)) for team, p in each) for role, each in asked.items()}
        helped = {outcomes: role for role, outcomes in reversed(found.items()) if any(outcomes)}  # of those alike the first
        same = found.keys() - set(helped.values())
        return {role: list(own) for role, own in roles.items() if role not in same}

    def _changes_nothing(
        self, parts: Sequence[Part], made: Callable[[Candidate, Part], Candidate], proofs: Sequence[tuple[Candidate, Problem]]
    ) -> bool:
        """Whether it is all the same who takes a role."""
        return all(self._known.get((p.id, made(team, part))) for team, p in proofs for part in parts)

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

        wrong, proofs = 0, found()
        by_share = sorted(self._workers(), key=lambda worker: -self._share(solo(worker, self._about)))
        for worker in by_share:
            one, solved = solo(worker, self._about), 0
            for problem in sorted(self.problems, key=lambda p: p.id in self._spent):
                if len(proofs) >= least or wrong >= GIVEN_UP or self.may_ask <= 0:
                    return proofs[:least]
                if solved < OWN and problem.id not in {p.id for _, p in proofs} and (problem.id, one) not in self._known:
                    await self._ask([(one, problem)])
                    right = self._known.get((problem.id, one), False)
                    solved, wrong = solved + right, wrong + (not right)
                    if right:
                        proofs = found()
        return proofs[:least]
