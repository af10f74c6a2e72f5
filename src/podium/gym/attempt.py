"""How one specialist goes about one call: what it uses of what it sees, what it does itself, and what it writes.

Every part of the work is one method and draws its luck once (:mod:`podium.gym.chance`); where the luck is above the skill,
the part goes wrong the way :mod:`podium.gym.mistakes` says. The meaning of the skills is in :mod:`podium.gym.specialists`.
"""

import math
from collections.abc import Mapping

from podium.gym.chance import Chance, Draw
from podium.gym.expressions import (
    MAX_MAGNITUDE,
    ExpressionError,
    Node,
    Program,
    Value,
    evaluate,
    format_expression,
    format_program,
    leaves,
    references,
)
from podium.gym.facts import FACTS
from podium.gym.mistakes import blunder, bug, differ, edits, misread, misremember, slip
from podium.gym.questions import LETTERS, ParsedQuestion
from podium.gym.reading import Scene, most_common

NOT_GIVEN = "I was not given the question, so there is nothing I can work from."


class Attempt:
    """One specialist at one call. Example: ``Attempt(scene, {"reading": 0.7, ...}, chance, ()).text()``.

    ``level`` is the probability of success by skill, the world's difficulty included.
    """

    def __init__(self, scene: Scene, level: Mapping[str, float], chance: Chance, sample: tuple[int, ...]) -> None:
        self._asked = scene.asked
        self._verbs = scene.verbs
        self._notes = scene.notes
        self._level = level
        self._chance = chance
        self._sample = sample

    def text(self) -> str:
        """What the specialist says."""
        asked, verbs, notes = self._asked, self._verbs, self._notes
        if verbs == {"report"} and (notes.answers or notes.programs):
            return self._report()
        if asked is None and not notes.plans and not notes.programs:
            return NOT_GIVEN
        if verbs and verbs <= {"plan", "recall"}:
            return self._prepare()
        if asked.kind == "code" if asked else bool(notes.programs):
            return self._program_text()
        return self._solve()

    def _draw(self, skill: str, basis: str) -> Draw:
        return self._chance.draw(skill, basis, self._sample)

    def _report(self) -> str:
        program = most_common(self._notes.programs)
        answer = most_common(self._notes.answers)
        if program is not None and (answer is None or (self._asked is not None and self._asked.kind == "code")):
            return _shown(program)
        return f"Answer: {answer}"

    def _prepare(self) -> str:
        """Plan and facts only."""
        plan = self._own_plan(self._asked) if self._asked else most_common(self._notes.plans)
        lines = []
        if "plan" in self._verbs and plan is not None:
            lines.append(f"Plan: {format_expression(plan)}")
        if "recall" in self._verbs:
            needed = self._needed_facts()
            lines += [f"Fact: {ref} = {self._recalled(ref)}" for ref in needed if ref in FACTS]
            if not needed:
                lines.append("No facts are needed for this one.")
        return "\n".join(lines) or NOT_GIVEN

    def _needed_facts(self) -> tuple[str, ...]:
        visible = most_common(self._notes.plans)
        if visible is not None and (found := references(visible)):
            return found
        return self._asked.references if self._asked else ()

    def _own_plan(self, asked: ParsedQuestion) -> Node:
        draw = self._draw("reading", asked.text)
        return asked.plan if draw.level < self._level["reading"] else misread(asked.plan, draw.bits)

    def _recalled(self, reference: str) -> Value:
        plan = most_common(self._notes.plans)
        occasion = self._asked.text if self._asked else format_expression(plan) if plan else ""
        draw = self._draw("recall", f"{reference}\x1f{occasion}")
        if draw.level < self._level["recall"]:
            return FACTS[reference]
        return misremember(reference, draw.bits, self._asked.options if self._asked else ())

    def _solve(self) -> str:
        """Plan, facts and result: what is visible is used, the rest is one's own."""
        asked = self._asked
        plan = most_common(self._notes.plans)
        if plan is None:
            if asked is None:
                return NOT_GIVEN
            # Nothing has to be read out of a question that only looks one fact up.
            plan = asked.plan if asked.kind == "choice" else self._own_plan(asked)
        facts: dict[str, Value] = {}
        for reference in references(plan):
            visible = most_common([value for named, value in self._notes.facts if named == reference])
            if visible is not None:
                facts[reference] = visible
            elif reference in FACTS:
                facts[reference] = self._recalled(reference)
            else:
                return f"I do not know what {reference} is, so I can not follow this plan."
        try:
            result = evaluate(plan, facts=facts)
        except ExpressionError as error:
            return f"I can not compute this plan: {error}."
        lines = []
        if plan.args:  # looking one number up takes no arithmetic
            worded = format_expression(plan)
            result = self._computed(plan, f"{worded}\x1f{facts}", result)
            lines.append(f"Plan: {worded}")
        lines += [f"Fact: {reference} = {value}" for reference, value in facts.items()]
        return "\n".join([*lines, f"Answer: {self._chosen(asked, result)}"])

    def _computed(self, plan: Node, basis: str, right: Value) -> Value:
        """The result at one's own level of arithmetic."""
        draw = self._draw("arithmetic", basis)
        if draw.level < self._level["arithmetic"]:
            return right
        if isinstance(right, int):
            return slip(right, draw.bits) if abs(right) < MAX_MAGNITUDE else 0
        others = sorted({str(leaf.value) for leaf in leaves(plan) if leaf.op == "text"} - {right})
        return others[draw.bits % len(others)] if others else right

    def _chosen(self, asked: ParsedQuestion | None, result: Value) -> Value:
        """A result as an answer: the letter where there are options, a guess where it is none of them."""
        if asked is None or not asked.options:
            return result
        options = asked.options
        return LETTERS[options.index(str(result)) if str(result) in options else self._draw("guess", asked.text).bits % 4]

    def _program_text(self) -> str:
        """A program: the visible draft, reviewed, or one's own."""
        draft = most_common(self._notes.programs)
        if draft is None or self._verbs == {"write"}:
            return self._no_draft(draft)
        if self._asked is None:
            return f"I was not given the question, so I have nothing to check this against.\n{_shown(draft)}"
        return _shown(self._reviewed(draft, self._asked))

    def _no_draft(self, draft: Program | None) -> str:
        if self._asked is not None:
            return _shown(self._written(self._asked))
        return NOT_GIVEN if draft is None else _shown(draft)

    def _written(self, asked: ParsedQuestion) -> Program:
        """One's own program, from the visible plan where there is one."""
        meant, skill = asked.plan, self._level["writing"]
        plan = most_common(self._notes.plans)
        if plan is not None and not references(plan):
            # Understanding and coding are two halves of the skill; the plan takes the first one off.
            meant, skill = plan, math.sqrt(skill)
        draw = self._draw("writing", f"{format_expression(meant)}\x1f{asked.text}")
        if draw.level < skill:
            body = meant
        elif self._draw("writing closely", asked.text).level < skill:
            body = bug(meant, draw.bits, asked.parameters)
        else:
            body = blunder(meant, draw.bits, asked.parameters)
        return Program(asked.function, asked.parameters, body)

    def _reviewed(self, draft: Program, asked: ParsedQuestion) -> Program:
        """The draft against the question: a slip is repaired, a misunderstanding written anew, both at one's own level."""
        draw = self._draw("review", f"{format_program(draft)}\x1f{asked.text}")
        sees = draw.level < self._level["review"]
        fits = (draft.name, draft.parameters) == (asked.function, asked.parameters)
        if fits and not differ(draft.body, asked.plan, asked.parameters):
            spoilt = draw.level > 1 - (1 - self._level["review"]) / 10
            return draft._replace(body=bug(draft.body, draw.bits, asked.parameters)) if spoilt else draft
        if fits and edits(draft.body, asked.plan) == 1:
            return draft._replace(body=asked.plan) if sees else draft
        return self._written(asked)


def _shown(program: Program) -> str:
    return f"```python\n{format_program(program)}\n```"
