r"""Which of several answers say the same? Read and compared as a verdict reads and compares them.

Two answers agree where each would be right if the other were the gold answer. So ``2k`` is not 2000, "2:00 pm" is 14:00, and
a sum that was left to do is not its value. An answer joins others only where it agrees with all of them, and a number without
a unit joins those with a unit only where there is one such group: with "5 km" and "5 m" about, 5 is neither.
"""

from collections.abc import Callable, Sequence

from podium.errors import VerifierError
from podium.tasks.extraction import MAX_CANDIDATE_CHARS
from podium.tasks.mathematics.deciding import Formulas, decide, stated_form, tidied
from podium.tasks.mathematics.notation import is_name, normal_form, split_unit
from podium.tasks.mathematics.pool import Comparison
from podium.tasks.mathematics.reading import read_number

Compare = Callable[[Formulas], Comparison]
"""Whether two formulas are the same; what :class:`podium.tasks.mathematics.pool.SymbolicPool` finds out."""


def same_answers(answers: Sequence[str], question: str, compare: Compare) -> list[str]:
    r"""What each of ``answers`` to ``question`` says; equal texts for those that agree.

    Example: of "0.5", ``\frac{1}{2}`` and "2k" the first two are ``"1/2"``, and the third is ``"2k"``.
    """
    agrees = _Agreement(question, compare)
    forms = [answer if len(answer) > MAX_CANDIDATE_CHARS else stated_form(answer, question) for answer in answers]
    keys = [normal_form(form) or form for form in forms]
    different = dict(zip(reversed(keys), reversed(forms), strict=True))
    bare = {key: not _has_unit(form, question) for key, form in different.items()}
    groups: list[list[str]] = []
    for key in sorted(dict.fromkeys(keys), key=bare.__getitem__):
        fitting = [group for group in groups if all(agrees(different[each], different[key]) for each in group)]
        without_unit = [group for group in fitting if bare[group[0]]]
        if without_unit or len(fitting) == 1 or (fitting and not bare[key]):
            (without_unit or fitting)[0].append(key)
        else:
            groups.append([key])
    names: dict[str, str] = {}
    for group in groups:
        name = _name(different[group[0]], question)
        name = name if name and name not in names.values() else group[0]
        while name in names.values():
            name = f"{name} "  # 2k and 2000 are one number to whoever does not know the question
        names |= dict.fromkeys(group, name)
    return [names[key] for key in keys]


class _Agreement:
    """Whether two answers agree; what was found out is kept, and what took too long or could not be read is not tried again."""

    def __init__(self, question: str, compare: Compare) -> None:
        self._question = question
        self._compare = compare
        self._known: dict[tuple[str, str], bool] = {}
        self._unreadable: set[str] = set()

    def __call__(self, one: str, other: str) -> bool:
        if (one, other) not in self._known:
            self._known[one, other] = self._find_out(one, other)
        return self._known[one, other]

    def _find_out(self, one: str, other: str) -> bool:
        if not normal_form(one) or not normal_form(other) or max(len(one), len(other)) > MAX_CANDIDATE_CHARS:
            return False
        golds = [(one, other), (other, one)]
        if is_name(one) != is_name(other):  # what is one name to one reader is a sentence to another
            golds = golds[:1] if is_name(one) else golds[1:]
        decisions = [decide(tidied(gold), answer, self._question) for gold, answer in golds]
        if any(isinstance(decision, str) and decision for decision in decisions):
            return False
        return all(self._same(decision) for decision in decisions if isinstance(decision, Formulas))

    def _same(self, formulas: Formulas) -> bool:
        if formulas.gold in self._unreadable or formulas.answer in self._unreadable:
            return False
        try:
            found = self._compare(formulas)
        except VerifierError:  # it can not be compared with itself
            self._unreadable.add(formulas.gold)
            return False
        if found.why.startswith("evaluating it"):
            self._unreadable.add(formulas.answer)
        return found.equal is True


def _has_unit(form: str, question: str) -> bool:
    found = read_number(form, question)
    return bool(found.unit or found.symbol) if found is not None else split_unit(form)[1] != ""


def _name(form: str, question: str) -> str:
    found = read_number(form, question)
    return "" if found is None else f"{found.number} {found.symbol}{found.unit}".strip()
