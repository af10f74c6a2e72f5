"""How one worker goes about one call: it does what it is told and that alone, as well as it can, with its habits.

Told to plan it plans, told to recall it recalls, told to compute it computes the visible plan from the visible facts; where
there is nothing to do that to, it says so, or recites what nobody asked for. Told to answer it does whatever it takes, on its
own level. Every part of the work draws its luck once (:mod:`podium.gym.chance`); where the luck is above the level, the part
goes wrong the way :mod:`podium.gym.mistakes` says.
"""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from podium.gym import expressions
from podium.gym.chance import Chance, Draw
from podium.gym.expressions import (
    MAX_MAGNITUDE,
    ExpressionError,
    Node,
    Program,
    Value,
    evaluate,
    format_program,
    leaves,
)
from podium.gym.facts import FACTS
from podium.gym.kinds import domain_of, home, recall_part
from podium.gym.mistakes import blunder, bug, differ, edits, misread, misremember, slip
from podium.gym.profiles import Profile
from podium.gym.questions import LETTERS, ParsedQuestion
from podium.gym.reading import Notes, most_common
from podium.gym.scene import Scene

format_expression = lru_cache(maxsize=1 << 14)(expressions.format_expression)
references = lru_cache(maxsize=1 << 14)(expressions.references)
"""As in the language, remembered: the same plan is read by many workers."""
NOT_GIVEN = "I was not given the question, so there is nothing I can work from."
_ALL_FACTS = tuple(reference for reference in FACTS if reference.startswith(("legs", "strings", "count", "atomic_number")))


class Attempt:
    """One worker at one call. Example: ``Attempt(scene, profile, chance, (), 1.0).text()``."""

    def __init__(self, scene: Scene, profile: Profile, chance: Chance, sample: tuple[int, ...], difficulty: float) -> None:
        self._scene = scene
        self._asked = scene.asked
        self._kind = scene.asked.kind if scene.asked else None
        self._profile = profile
        self._chance = chance
        self._sample = sample
        self._difficulty = difficulty
        self._used = () if scene.alone else scene.responses
        self._plan = most_common([plan for notes in self._used for plan in notes.plans])
        self._answers = [answer for notes in self._used for answer in notes.answers]
        self._programs = [program for notes in self._used for program in notes.programs]
        self._clear = 1.0

    def text(self) -> str:
        """What the worker says."""
        asked, verbs = self._asked, self._scene.verbs
        if asked is None and not self._scene.responses:
            return NOT_GIVEN
        if verbs and verbs <= {"plan", "recall"}:
            return self._prepare(verbs)
        if verbs == {"compute"}:
            return self._compute()
        if verbs == {"report"}:
            return self._report()
        if verbs == {"write"}:
            return self._write()
        if verbs == {"verify"}:
            return self._verify()
        return self._answer()

    # What spoils the work ------------------------------------------------------------------------------------------------------

    def _set(self, needed: set[int]) -> None:
        """How clear the head is, given which of the visible responses are needed: what every level is multiplied by."""
        habits, scene = self._profile.habits, self._scene
        distractions = len(scene.responses) - len(needed)
        self._clear = (1 - habits.distracted) ** distractions
        if scene.characters > 1_000:
            self._clear *= (1 - habits.rambles) ** (scene.characters / 1_000 - 1)
        if self._kind is not None and scene.kinds != {home(self._kind)}:
            elsewhere = bool(scene.kinds) and home(self._kind) not in scene.kinds
            self._clear *= (1 - habits.needs_words) ** (2 if elsewhere else 1)

    def _level(self, part: str) -> float:
        level: float = self._profile.level(self._kind, part) ** self._difficulty
        return self._clear * level

    def _draw(self, part: str, basis: str) -> Draw:
        return self._chance.draw(part, basis, self._sample)

    def _with(
        self,
        *,
        plan: Node | None = None,
        facts: Mapping[str, Value] = MappingProxyType({}),
        answer: Value | Program | None = None,
    ) -> set[int]:
        """The visible responses that hold something of what is used, and nothing that speaks against it."""
        return {
            index
            for index, notes in enumerate(self._scene.responses)
            if _holds(notes, plan, facts, answer) and not _contradicts(notes, plan, facts, answer)
        }

    # What one can be told ------------------------------------------------------------------------------------------------------

    def _prepare(self, verbs: frozenset[str]) -> str:
        lines: list[str] = []
        plan = self._plan
        if "plan" in verbs:
            self._set(set())
            asked = self._asked
            if asked is None:
                return NOT_GIVEN
            if asked.function:
                return "A program is asked for, so there is no expression to plan."
            if asked.options:
                return "The question asks for something one knows, so there is nothing to plan."
            plan = self._own_plan(asked)
            lines.append(f"Plan: {format_expression(plan)}")
        if "recall" in verbs:
            lines += self._recall(plan)
        return "\n".join(lines)

    def _recall(self, plan: Node | None) -> list[str]:
        needed = references(plan) if plan is not None else ()
        if not needed and self._asked is not None:
            needed = self._asked.references
        sort = self._scene.sort
        # Where a question needs only one sort of facts, naming the sort changes nothing but what is not of it.
        wanted = tuple(ref for ref in needed if ref in FACTS and (not sort or domain_of(ref) == sort))
        self._set(self._with(plan=self._plan) if wanted else set())
        if wanted:
            return [f"Fact: {ref} = {self._recalled(ref)}" for ref in wanted]
        bits = self._draw("recite", self._asked.text if self._asked else "").bits
        recited = (_ALL_FACTS[bits % len(_ALL_FACTS)], _ALL_FACTS[bits // 997 % len(_ALL_FACTS)])
        return [f"Fact: {ref} = {FACTS[ref]}" for ref in recited]

    def _compute(self) -> str:
        plan = self._plan
        if plan is None:
            return "There is no plan that I could compute."
        needed = references(plan)
        facts = self._visible_facts(needed)
        self._set(self._with(plan=plan, facts=facts))
        missing = [reference for reference in needed if reference not in facts]
        if missing:
            return f"I was not told what {missing[0]} is, so I can not compute this plan."
        return self._result(plan, facts)

    def _report(self) -> str:
        program, answer = most_common(self._programs), most_common(self._answers)
        self._set(self._with(answer=program if answer is None else answer))
        draw = self._draw("report", f"{self._answers}{self._programs}")
        altered = draw.level >= self._clear * (1 - self._profile.habits.alters)
        if program is not None and (not self._answers or (self._asked is not None and self._asked.function)):
            return _shown(program._replace(body=bug(program.body, draw.bits, program.parameters)) if altered else program)
        if answer is None:
            return "There is no answer that I could pass on."
        return f"Answer: {self._other(answer, draw.bits) if altered else answer}"

    def _write(self) -> str:
        if self._asked is None:
            return NOT_GIVEN
        if not self._asked.function:
            return "No program is asked for here."
        self._set(set())
        return _shown(self._written(self._asked))

    def _verify(self) -> str:
        if not self._answers and not self._programs:
            return "There is no answer here that I could check."
        if self._asked is not None and self._asked.function:
            program = most_common(self._programs)
            if program is None:
                return "There is no program here that I could check."
            self._set(self._with(answer=program))
            return _shown(self._reviewed(program, self._asked))
        text = self._answer(checking=True)
        draw = self._draw("spoil", f"{self._answers}")
        found = text.rpartition("Answer: ")
        if draw.level < self._profile.habits.spoils and found[1]:
            return f"{found[0]}{found[1]}{self._other(found[2], draw.bits)}"
        return text

    def _answer(self, *, checking: bool = False) -> str:
        """Whatever it takes: what is visible is used, the rest is one's own."""
        asked = self._asked
        if asked is not None and asked.function:
            self._set(set())
            return _shown(self._written(asked))
        plan = asked.plan if asked is not None and asked.options else self._plan
        seen = self._visible_facts(references(plan)) if plan is not None else {}
        self._set(self._with(plan=plan, facts=seen, answer=most_common(self._answers) if checking else None))
        if plan is None:
            if asked is None:
                return NOT_GIVEN
            plan = self._own_plan(asked)
        facts = self._visible_facts(references(plan))
        for reference in references(plan):
            if reference not in facts:
                if reference not in FACTS:
                    return f"I do not know what {reference} is, so I can not follow this plan."
                facts[reference] = self._recalled(reference)
        return self._result(plan, facts)

    # The parts of the work -----------------------------------------------------------------------------------------------------

    def _own_plan(self, asked: ParsedQuestion) -> Node:
        draw = self._draw("plan", asked.text)
        return asked.plan if draw.level < self._level("plan") else misread(asked.plan, draw.bits)

    def _recalled(self, reference: str) -> Value:
        asked = self._asked
        part = recall_part(asked.kind, reference) if asked else "recall"
        draw = self._draw("recall", f"{reference}\x1f{asked.text if asked else ''}")
        if draw.level < self._level(part):
            return FACTS[reference]
        return misremember(reference, draw.bits, asked.options if asked else ())

    def _visible_facts(self, needed: tuple[str, ...]) -> dict[str, Value]:
        facts: dict[str, Value] = {}
        for reference in needed:
            visible = most_common([v for notes in self._used for named, v in notes.facts if named == reference])
            if visible is not None:
                facts[reference] = visible
        return facts

    def _result(self, plan: Node, facts: dict[str, Value]) -> str:
        try:
            result = evaluate(plan, facts=facts)
        except ExpressionError as error:
            return f"I can not compute this plan: {error}."
        lines = []
        if plan.args:  # looking one thing up takes no arithmetic
            worded = format_expression(plan)
            draw = self._draw("compute", f"{worded}\x1f{facts}")
            if draw.level >= self._level("compute"):
                result = _miscomputed(plan, result, draw.bits)
            lines.append(f"Plan: {worded}")
        lines += [f"Fact: {reference} = {value}" for reference, value in facts.items()]
        return "\n".join([*lines, f"Answer: {self._formed(result)}"])

    def _formed(self, result: Value) -> Value:
        """A result as the question asks for it: the letter where there are options, a guess where it is none of them."""
        asked = self._asked
        if asked is None or not asked.options:
            return result
        options = asked.options
        return LETTERS[options.index(str(result)) if str(result) in options else self._draw("guess", asked.text).bits % 4]

    def _written(self, asked: ParsedQuestion) -> Program:
        level = self._level("write")
        draw = self._draw("write", asked.text)
        if draw.level < level:
            body = asked.plan
        elif self._draw("write closely", asked.text).level < level:
            body = bug(asked.plan, draw.bits, asked.parameters)
        else:
            body = blunder(asked.plan, draw.bits, asked.parameters)
        return Program(asked.function, asked.parameters, body)

    def _reviewed(self, draft: Program, asked: ParsedQuestion) -> Program:
        """A slip is repaired at one's level of review, a misunderstanding is written anew, and what is right may be spoilt."""
        draw = self._draw("review", f"{format_program(draft)}\x1f{asked.text}")
        fits = (draft.name, draft.parameters) == (asked.function, asked.parameters)
        if fits and not differ(draft.body, asked.plan, asked.parameters):
            # Whoever is good at it spoils less.
            spoils = self._profile.habits.spoils * 2 * (1 - self._level("review"))
            return draft._replace(body=bug(draft.body, draw.bits, asked.parameters)) if draw.level < spoils else draft
        if fits and edits(draft.body, asked.plan) == 1:
            return draft._replace(body=asked.plan) if draw.level < self._level("review") else draft
        return self._written(asked)

    def _other(self, answer: Value, bits: int) -> Value:
        """An answer that was altered."""
        text = str(answer).strip()
        if text in LETTERS:
            return LETTERS[(LETTERS.index(text) + 1 + bits % 3) % 4]
        return slip(int(text), bits) if text.lstrip("-").isdecimal() and len(text) < 16 else f"not {text}"


def _holds(notes: Notes, plan: Node | None, facts: Mapping[str, Value], answer: Value | Program | None) -> bool:
    """Whether a response has the plan, one of the facts, or the answer."""
    return (
        (plan is not None and plan in notes.plans)
        or any(named in facts for named, _ in notes.facts)
        or (answer is not None and (answer in notes.answers or answer in notes.programs))
    )


def _contradicts(notes: Notes, plan: Node | None, facts: Mapping[str, Value], answer: Value | Program | None) -> bool:
    """Whether a response has another plan, another value of a fact, or another answer."""
    return (
        (plan is not None and any(other != plan for other in notes.plans))
        or any(named in facts and value != facts[named] for named, value in notes.facts)
        or (answer is not None and any(other != answer for other in (*notes.answers, *notes.programs)))
    )


def _miscomputed(plan: Node, right: Value, bits: int) -> Value:
    if isinstance(right, int):
        return slip(right, bits) if abs(right) < MAX_MAGNITUDE else 0
    others = sorted({str(leaf.value) for leaf in leaves(plan) if leaf.op == "text"} - {right})
    return others[bits % len(others)] if others else right


def _shown(program: Program) -> str:
    return f"```python\n{format_program(program)}\n```"
