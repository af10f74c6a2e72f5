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
        self._parsed = scene.parsed
        self._verbs = scene.verbs
        self._notes = scene.notes
        self._level = level
        self._chance = chance
        self._sample = sample

    def text(self) -> str:
        """What the specialist says."""
        parsed, verbs, notes = self._parsed, self._verbs, self._notes
        if verbs == {"report"} and (notes.answers or notes.programs):
            return self._report()
        if parsed is None and not notes.plans and not notes.programs:
            return NOT_GIVEN
        if verbs and verbs <= {"plan", "recall"}:
            return self._prepare()
        if parsed.kind == "code" if parsed else bool(notes.programs):
            return self._program_text()
        return self._solve()

    def _draw(self, skill: str, basis: str) -> Draw:
        return self._chance.draw(skill, basis, self._sample)

    def _report(self) -> str:
        program = most_common(self._notes.programs)
        answer = most_common(self._notes.answers)
        if program is not None and (answer is None or (self._parsed is not None and self._parsed.kind == "code")):
            return _shown(program)
        return f"Answer: {answer}"

    def _prepare(self) -> str:
        """Plan and facts only."""
        plan = self._own_plan(self._parsed) if self._parsed else most_common(self._notes.plans)
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
        return self._parsed.references if self._parsed else ()

    def _own_plan(self, parsed: ParsedQuestion) -> Node:
        draw = self._draw("reading", parsed.text)
        return parsed.plan if draw.level < self._level["reading"] else misread(parsed.plan, draw.bits)

    def _recalled(self, reference: str) -> Value:
        plan = most_common(self._notes.plans)
        occasion = self._parsed.text if self._parsed else format_expression(plan) if plan else ""
        draw = self._draw("recall", f"{reference}\x1f{occasion}")
        if draw.level < self._level["recall"]:
            return FACTS[reference]
        return misremember(reference, draw.bits, self._parsed.options if self._parsed else ())

    def _solve(self) -> str:
        """Plan, facts and result: what is visible is used, the rest is one's own."""
        parsed = self._parsed
        plan = most_common(self._notes.plans)
        if plan is None:
            if parsed is None:
                return NOT_GIVEN
            # Nothing has to be read out of a question that only looks one fact up.
            plan = parsed.plan if parsed.kind == "choice" else self._own_plan(parsed)
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
        return "\n".join([*lines, f"Answer: {self._chosen(parsed, result)}"])

    def _computed(self, plan: Node, basis: str, right: Value) -> Value:
        """The result at one's own level of arithmetic."""
        draw = self._draw("arithmetic", basis)
        if draw.level < self._level["arithmetic"]:
            return right
        if isinstance(right, int):
            return slip(right, draw.bits) if abs(right) < MAX_MAGNITUDE else 0
        others = sorted({str(leaf.value) for leaf in leaves(plan) if leaf.op == "text"} - {right})
        return others[draw.bits % len(others)] if others else right

    def _chosen(self, parsed: ParsedQuestion | None, result: Value) -> Value:
        """A result as an answer: the letter where there are options, a guess where it is none of them."""
        if parsed is None or not parsed.options:
            return result
        options = parsed.options
        return LETTERS[options.index(str(result)) if str(result) in options else self._draw("guess", parsed.text).bits % 4]

    def _program_text(self) -> str:
        """A program: the visible draft, reviewed, or one's own."""
        draft = most_common(self._notes.programs)
        if draft is None or self._verbs == {"write"}:
            return self._no_draft(draft)
        if self._parsed is None:
            return f"I was not given the question, so I have nothing to check this against.\n{_shown(draft)}"
        return _shown(self._reviewed(draft, self._parsed))

    def _no_draft(self, draft: Program | None) -> str:
        if self._parsed is not None:
            return _shown(self._written(self._parsed))
        return NOT_GIVEN if draft is None else _shown(draft)

    def _written(self, parsed: ParsedQuestion) -> Program:
        """One's own program, from the visible plan where there is one."""
        meant, skill = parsed.plan, self._level["writing"]
        plan = most_common(self._notes.plans)
        if plan is not None and not references(plan):
            # Understanding and coding are two halves of the skill; the plan takes the first one off.
            meant, skill = plan, math.sqrt(skill)
        draw = self._draw("writing", f"{format_expression(meant)}\x1f{parsed.text}")
        if draw.level < skill:
            body = meant
        elif self._draw("writing closely", parsed.text).level < skill:
            body = bug(meant, draw.bits, parsed.parameters)
        else:
            body = blunder(meant, draw.bits, parsed.parameters)
        return Program(parsed.function, parsed.parameters, body)

    def _reviewed(self, draft: Program, parsed: ParsedQuestion) -> Program:
        """The draft against the question: a slip is repaired, a misunderstanding written anew, both at one's own level."""
        draw = self._draw("review", f"{format_program(draft)}\x1f{parsed.text}")
        sees = draw.level < self._level["review"]
        fits = (draft.name, draft.parameters) == (parsed.function, parsed.parameters)
        if fits and not differ(draft.body, parsed.plan, parsed.parameters):
            spoilt = draw.level > 1 - (1 - self._level["review"]) / 10
            return draft._replace(body=bug(draft.body, draw.bits, parsed.parameters)) if spoilt else draft
        if fits and edits(draft.body, parsed.plan) == 1:
            return draft._replace(body=parsed.plan) if sees else draft
        return self._written(parsed)


def _shown(program: Program) -> str:
    return f"```python\n{format_program(program)}\n```"
