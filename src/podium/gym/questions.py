"""From text to what is asked: finds a question of the gym inside any text and reads its slots.

This is what a specialist with perfect reading would understand; how often one understands it is its skill
(:mod:`podium.gym.specialists`). The text may hold other sentences around the question, and its spaces and line breaks may
have changed; the words may not. Texts are hostile input: patterns are linear and their repetitions bounded.
"""

import re
from functools import cache, lru_cache
from typing import NamedTuple

from podium.gym.expressions import Node, Value, number, parse, references
from podium.gym.facts import TABLES
from podium.gym.templates import TEMPLATES
from podium.gym.templates.template import VARIABLES, WORDS, Template

MAX_TEXT = 50_000
"""How much of a text is searched, in characters from its end."""
LETTERS = "ABCD"

_SLOT = re.compile(r"\{(\w+)\}")


class ParsedQuestion(NamedTuple):
    """A question, understood.

    Example: "... What is the sum?" with ``kind="word"`` and the tree of ``3 + 4`` as ``plan``.
    """

    kind: str
    position: int
    """Which template of its kind."""
    text: str
    """The question's own words, with single spaces; equal for equal questions, whatever stands around them."""
    plan: Node
    references: tuple[str, ...]
    """The facts the plan needs."""
    options: tuple[str, ...]
    """The four options of a multiple-choice question, in the order of their letters; else ()."""
    function: str
    """The name of the function to write; else empty."""
    parameters: tuple[str, ...]
    """Its parameters; else ()."""


class _Pattern(NamedTuple):
    kind: str
    position: int
    regex: re.Pattern[str]
    plan: Node
    entities: dict[str, str]
    """Slot of an entity -> its table."""
    parameters: tuple[str, ...]
    choice: bool


def slots_of(template: Template) -> tuple[str, ...]:
    """The slots in a template's text, each once, in order."""
    return tuple(dict.fromkeys(_SLOT.findall(template.text)))


def kind_of(text: str) -> str | None:
    """The kind of the question in ``text``, or None. Example: ``kind_of("What is the capital of Peru? A) ...")``."""
    parsed = find_question(text)
    return parsed.kind if parsed else None


def find_question(text: str) -> ParsedQuestion | None:
    """The last question of the gym in ``text``, or None; remembers short texts it has read."""
    return _cached(text) if len(text) < 4_000 else search_question(text[-MAX_TEXT:])


def without_question(text: str, parsed: ParsedQuestion | None) -> str:
    """``text`` with single spaces and without the words of the question."""
    plain = " ".join(text.split())
    return plain.replace(parsed.text, " ").strip() if parsed else plain


def search_question(text: str) -> ParsedQuestion | None:
    """:func:`find_question` without a memory and without a bound, for texts of our own."""
    words = text.split()
    plain = " ".join(words)
    best: tuple[int, int] | None = None
    found: ParsedQuestion | None = None
    seen: set[tuple[str, int]] = set()
    for anchor in zip(words, words[1:], words[2:], strict=False):
        for place in _anchors().get(anchor, ()):
            if place in seen:
                continue
            seen.add(place)
            pattern = _compiled(*place)
            for match in pattern.regex.finditer(plain):
                if best is None or (match.end(), -match.start()) > best:
                    best = (match.end(), -match.start())
                    found = _understood(pattern, match)
    return found


@lru_cache(maxsize=1 << 15)
def _cached(text: str) -> ParsedQuestion | None:
    return search_question(text)


def _understood(pattern: _Pattern, match: re.Match[str]) -> ParsedQuestion:
    slots = match.groupdict()
    plan = _filled(pattern.plan, pattern, slots)
    return ParsedQuestion(
        kind=pattern.kind,
        position=pattern.position,
        text=match[0],
        plan=plan,
        references=references(plan),
        options=tuple(slots[letter] for letter in LETTERS) if pattern.choice else (),
        function=slots.get("f", ""),
        parameters=tuple(slots[p] for p in pattern.parameters),
    )


def _filled(plan: Node, pattern: _Pattern, slots: dict[str, str]) -> Node:
    """A template's plan with its slots' words in their places."""
    if plan.args:
        return plan._replace(args=tuple(_filled(arg, pattern, slots) for arg in plan.args))
    slot = str(plan.value)
    if plan.op == "fact":
        table, inner = slot[:-1].split("(")
        return Node("fact", (), f"{table}({slots[inner]})")
    if plan.op != "name":
        return plan
    if slot in pattern.parameters:
        return Node("name", (), slots[slot])
    return Node("text", (), slots[slot]) if slot in pattern.entities else number(int(slots[slot]))


def _one_of(words: "list[str] | tuple[str, ...]") -> str:
    # Longest first, so that "North America" is not read as "North"; a word must end where the pattern says so.
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


@cache
def _compiled(kind: str, position: int) -> _Pattern:
    """The pattern of one template. Compiling all of them takes a while, so it waits until a text may hold the question."""
    template = TEMPLATES[kind][position]
    entities = {slot: filling for slot, filling in template.slots.items() if isinstance(filling, str) and filling in TABLES}
    choice = all(f"{{{letter}}}" in template.text for letter in LETTERS)
    options: list[Value] = list(TABLES[entities["e"]].values()) if choice else []
    seen: set[str] = set()

    def group(match: re.Match[str]) -> str:
        slot = match[1]
        if slot in seen:
            return f"(?P={slot})"
        seen.add(slot)
        if slot in entities:
            inner = _one_of(list(TABLES[entities[slot]]))
        elif slot in template.slots:
            inner = r"\d{1,9}"
        elif choice and slot in LETTERS:
            inner = r"\d{1,9}" if isinstance(options[0], int) else _one_of([str(option) for option in options])
        elif slot in VARIABLES:
            inner = r"[a-z]"
        else:
            inner = _one_of(WORDS[slot])
        return rf"(?P<{slot}>{inner})"

    escaped = re.escape(" ".join(template.text.split())).replace(r"\{", "{").replace(r"\}", "}").replace(r"\ ", " ")
    pattern = _SLOT.sub(group, escaped)
    parameters = tuple(v for v in VARIABLES if v in seen) if "f" in seen else ()
    regex = re.compile(rf"(?<!\w){pattern}(?!\w)", re.ASCII)
    return _Pattern(kind, position, regex, parse(template.plan), entities, parameters, choice)


@cache
def _anchors() -> dict[tuple[str, str, str], list[tuple[str, int]]]:
    """Three neighbouring words -> the templates (kind, position) known by them: always in it, and rare among all templates."""
    texts = [(kind, i, t, t.text.split()) for kind, ts in TEMPLATES.items() for i, t in enumerate(ts)]
    # The outermost words may touch quotes or brackets of the surrounding text, so they are no anchors.
    triples = [[a for a in zip(w[1:-1], w[2:-1], w[3:-1], strict=False) if "{" not in "".join(a)] for *_, w in texts]
    counts: dict[tuple[str, str, str], int] = {}
    for row in triples:
        for triple in row:
            counts[triple] = counts.get(triple, 0) + 1
    anchors: dict[tuple[str, str, str], list[tuple[str, int]]] = {}
    for (kind, i, template, _), row in zip(texts, triples, strict=True):
        if not row:
            raise ValueError(f"template {i} of {kind} needs three neighbouring words without a slot: {template.text}")
        anchors.setdefault(min(row, key=lambda triple: counts[triple]), []).append((kind, i))
    return anchors
