"""Plausible mistakes: how a specialist without a skill goes wrong.

Each kind of mistake has many outcomes, so that two weak workers seldom agree on one wrong answer (a majority among them
must not look like knowledge). All are pure functions of the right thing and of 64 random ``bits``.
"""

from collections.abc import Iterator
from itertools import pairwise

from podium.gym.expressions import COMPARISONS, ExpressionError, Node, Value, evaluate, leaves, number
from podium.gym.facts import FACTS, TABLES

_POINTS = ((0, 0, 0), (1, 2, 3), (7, 3, 5), (-4, 6, 2), (12, 12, 1), (5, -9, 8), (20, 1, -7), (-13, -2, 4), (3, 17, 10))
"""Where two programs are compared. Not the tests of any problem: those are kept from the workers."""

_SWAPS = {"+": "-*", "-": "+*", "*": "+-", "//": "*%", "%": "*/", "max": ("min",), "min": ("max",)}


def differ(left: Node, right: Node, parameters: tuple[str, ...] = ()) -> bool:
    """Whether two expressions have different values: with the true facts, at every one of a few fixed points."""
    points = _POINTS if parameters else ((),)
    return any(_value(left, parameters, point) != _value(right, parameters, point) for point in points)


def edits(left: Node, right: Node) -> int:
    """In how many nodes two trees of one shape differ; 99 where their shapes differ."""
    if len(left.args) != len(right.args):
        return 99
    here = int(left.op != right.op or left.value != right.value)
    return min(99, here + sum(edits(a, b) for a, b in zip(left.args, right.args, strict=True)))


def misread(plan: Node, bits: int) -> Node:
    """Another plan with another value: a swapped operation, a changed, swapped or dropped number, another entity."""
    for choice in _numbers(bits, 12):
        wrong = _edited(plan, choice, shape=True)
        if differ(plan, wrong):
            return wrong
    return Node("+", (plan, number(1 + bits % 9)))


def bug(body: Node, bits: int, parameters: tuple[str, ...]) -> Node:
    """A program one node away from the right one, and wrong."""
    for choice in _numbers(bits, 24):
        wrong = _edited(body, choice, shape=False)
        if edits(body, wrong) == 1 and differ(body, wrong, parameters):
            return wrong
    return blunder(body, bits, parameters)


def blunder(body: Node, bits: int, parameters: tuple[str, ...]) -> Node:
    """A program that misses the specification: wrong, and more than one node away from the right one."""
    wrong = body
    for choice in _numbers(bits, 24):
        wrong = _edited(wrong, choice, shape=True)
        if edits(body, wrong) > 1 and differ(body, wrong, parameters):
            return wrong
    return Node("neg", (Node("abs", (Node("+", (body, number(1 + bits % 9))),)),))


def slip(value: int, bits: int) -> int:
    """A wrong result of a calculation: one digit off, two digits swapped, a lost or added carry, a place too many."""
    sort, bits = bits % 5, bits // 5
    digits = str(abs(value))
    sign = -1 if value < 0 else 1
    if sort == 0:
        return value + (1, -1, 2, -2, 3, -3)[bits % 6]
    if sort == 1:
        return value + (10, -10, 20, 9, -9, 11)[bits % 6]
    if sort == 2 and len(digits) > 2:
        return value + (100, -100, 90, 110, -90)[bits % 5]
    swapped = [digits[:i] + b + a + digits[i + 2 :] for i, (a, b) in enumerate(pairwise(digits)) if a != b]
    if sort == 3 and swapped:
        return sign * int(swapped[bits % len(swapped)])
    at, change = bits % len(digits), 1 + bits // 16 % 9
    return sign * int(digits[:at] + str((int(digits[at]) + change) % 10) + digits[at + 1 :])


def misremember(reference: str, bits: int, options: tuple[str, ...] = ()) -> Value:
    """A wrong value for a fact: one of the other ``options`` where there are any, else another of its table or one near."""
    right = FACTS[reference]
    others: list[Value] = [option for option in options if option != str(right)]
    if not others:
        others = sorted({v for v in TABLES[reference.split("(")[0]].values() if v != right}, key=str)
    if isinstance(right, int) and (not options) and bits % 3:
        return max(1, right + (1, 2, 3, 4, 6)[bits // 3 % 5] * (-1 if bits // 16 % 2 and right > 6 else 1))
    return others[bits // 64 % len(others)]


def _value(node: Node, parameters: tuple[str, ...], point: tuple[int, ...]) -> Value | None:
    try:
        return evaluate(node, dict(zip(parameters, point, strict=False)), FACTS)
    except ExpressionError:
        return None


def _numbers(bits: int, count: int) -> Iterator[int]:
    """``count`` further random numbers from ``bits`` (a 64-bit linear congruence, upper half)."""
    for _ in range(count):
        bits = (bits * 6364136223846793005 + 1442695040888963407) % 2**64
        yield bits >> 24


def _edited(tree: Node, choice: int, *, shape: bool) -> Node:
    """``tree`` with one node changed; ``shape`` allows changes that drop or exchange whole parts."""
    nodes = list(_nodes(tree))
    at, choice = choice % len(nodes), choice // len(nodes)
    options = list(_changes(nodes[at], leaves(tree), shape=shape))
    return _replaced(tree, at, options[choice % len(options)])[0] if options else tree


def _nodes(tree: Node) -> Iterator[Node]:
    yield tree
    for arg in tree.args:
        yield from _nodes(arg)


def _replaced(tree: Node, at: int, new: Node) -> tuple[Node, int]:
    """``tree`` with its node number ``at`` (in reading order) exchanged, and how far ``at`` is still to go."""
    if at == 0:
        return new, -1
    at -= 1
    args = []
    for arg in tree.args:
        kept, at = _replaced(arg, at, new) if at >= 0 else (arg, at)
        args.append(kept)
    return tree._replace(args=tuple(args)), at


def _changes(node: Node, around: tuple[Node, ...], *, shape: bool) -> Iterator[Node]:
    op, args, value = node
    if op == "number" and isinstance(value, int):
        yield from (number(abs(value + step)) for step in (1, -1, 10, -10, 2))
        yield number(int(str(value)[::-1]))
        yield from (leaf for leaf in around if leaf.op == "number" and leaf.value != value)
    elif op == "name":
        yield from (leaf for leaf in around if leaf.op == "name" and leaf.value != value)
    elif op == "text":
        yield from (leaf for leaf in around if leaf.op == "text" and leaf.value != value)
    elif op == "fact":
        table, entity = str(value)[:-1].split("(")
        if table in TABLES:
            yield from (Node("fact", (), f"{table}({other})") for other in TABLES[table] if other != entity)
    elif op in COMPARISONS:
        yield from (node._replace(op=other) for other in COMPARISONS if other != op)
    elif op == "neg":
        yield args[0]
    for other in _SWAPS.get(op, ()):
        yield node._replace(op="//" if other == "/" else other)
    if shape and len(args) > 1:
        yield from args
        yield node._replace(args=(*args[:-2], args[-1], args[-2]))
