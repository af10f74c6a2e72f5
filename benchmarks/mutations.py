"""Small changes to a module, each a mistake that a programmer could make. ``benchmarks/mutants.py`` asks whether tests see them.

Changes that mean nothing by construction are not made: to docstrings, annotations, decorators, imports, texts of errors and logs.
"""

import ast
import copy
import difflib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

Change = Callable[[Any], ast.AST | None]
"""Changes a node of a copy of the tree, in place or by what it returns."""

_COMPARE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
_LOGS = ("logger.", "logging.", "log.", "warnings.warn")
_SKIPPED = (ast.Import, ast.ImportFrom, ast.JoinedStr)


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """One change. ``place`` tells it apart within its module's text. Example: ``Mutant(place="3 '<' -> '<='", ...)``."""

    place: str
    function: int | None
    """The first line of the function whose body is changed. None: what runs on import."""
    tree: ast.Module
    node: ast.AST
    change: Change

    @cached_property
    def text(self) -> str:
        """The whole module after the change."""
        return ast.unparse(_changed(self.tree, self.node, self.change))

    @cached_property
    def diff(self) -> str:
        """What is different."""
        before = ast.unparse(self.tree).splitlines()
        return "\n".join(list(difflib.unified_diff(before, self.text.splitlines(), lineterm="", n=1))[2:])


def mutants(source: str) -> Iterator[Mutant]:
    """All changes to the module ``source``, in the order of its lines. Their texts are made when they are asked for."""
    tree = ast.parse(source)
    functions, statements = _functions(tree), _statements(tree)
    for number, node in enumerate(_nodes(tree)):
        for name, change in _changes(node):
            around = statements.get(node, tree)
            if ast.unparse(_changed(around, node, change)) != ast.unparse(around):
                yield Mutant(place=f"{number} {name}", function=functions.get(node), tree=tree, node=node, change=change)


def _changed(around: ast.AST, node: ast.AST, change: Change) -> ast.AST:
    """A copy of ``around`` in which ``node`` is changed."""
    copies: dict[int, Any] = {}
    changed = copy.deepcopy(around, copies)
    target = copies[id(node)]
    new = change(target)
    return ast.fix_missing_locations(changed if new is None else _Replace(target, new).visit(changed))


def _statements(tree: ast.AST) -> dict[ast.AST, ast.stmt]:
    """Node -> the smallest statement it belongs to: enough to see whether a change changes anything."""
    found: dict[ast.AST, ast.stmt] = {}
    for statement in ast.walk(tree):  # outer ones come first, inner ones overwrite them
        if isinstance(statement, ast.stmt):
            found.update(dict.fromkeys(ast.walk(statement), statement))
    return found


def _functions(tree: ast.AST) -> dict[ast.AST, int]:
    """Node -> the first line (its first decorator's, as in a code object) of the innermost function in whose body it stands."""
    found: dict[ast.AST, int] = {}
    for function in ast.walk(tree):  # outer ones come first, inner ones overwrite them
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            line = min(part.lineno for part in (function, *function.decorator_list))
            found.update((node, line) for statement in function.body for node in ast.walk(statement))
    return found


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> Any:
        """Put the new node in the place of the old one."""
        return self._new if node is self._old else self.generic_visit(node)


def _nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that may be changed, parents first."""
    for name, field in ast.iter_fields(node):
        if name in ("decorator_list", "annotation", "returns", "bases", "keywords") and isinstance(
            node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.AnnAssign | ast.arg
        ):
            continue
        for child in field if isinstance(field, list) else [field]:
            if not isinstance(child, ast.AST) or isinstance(child, _SKIPPED) or _is_idle(child):
                continue
            yield child
            if isinstance(child, ast.Raise):
                continue  # the text of an error
            yield from _nodes(child)


def _is_idle(node: ast.AST) -> bool:
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) or ast.unparse(node).startswith(_LOGS)
    if isinstance(node, ast.If):
        return ast.unparse(node.test) == "TYPE_CHECKING"
    # Names of types at the top of a module, __slots__, __all__.
    return isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id.startswith("__")


def _changes(node: Any) -> Iterator[tuple[str, Change]]:
    match node:
        case ast.Compare():
            for place in range(len(node.ops)):
                yield f"compare {place}", _compared(place)
        case ast.BoolOp():
            yield "and/or", lambda found: _put(found, "op", ast.Or() if isinstance(found.op, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.Not()):
            yield "not", lambda found: found.operand
        case ast.BinOp() | ast.AugAssign() if type(node.op) in _ARITHMETIC:
            yield "arithmetic", lambda found: _put(found, "op", _ARITHMETIC[type(found.op)]())
            if isinstance(node, ast.AugAssign):
                yield "removed", lambda found: ast.Pass()
        case ast.If() | ast.While() | ast.IfExp():
            yield "condition", lambda found: _put(found, "test", ast.UnaryOp(ast.Not(), found.test))
        case ast.comprehension() if node.ifs:
            yield "filter", lambda found: _put(found, "ifs", found.ifs[1:])
        case ast.Constant(value=bool()):
            yield "constant", lambda found: _put(found, "value", not found.value)
        case ast.Constant(value=int() | float()):
            yield "constant", lambda found: _put(found, "value", found.value + 1)
        case ast.Expr(value=ast.Call() | ast.Await()):
            yield "removed", lambda found: ast.Pass()
        case ast.Return() if node.value is not None and not (isinstance(node.value, ast.Constant) and not node.value.value):
            yield "return", lambda found: _put(found, "value", ast.Constant(None))
        case ast.Raise() if node.exc is not None:
            yield "removed", lambda found: ast.Pass()
            if isinstance(node.exc, ast.Call):
                yield "exception", lambda found: _put(found.exc, "func", ast.Name("RuntimeError", ast.Load()), keywords=[])
        case ast.ExceptHandler() if node.type is not None:
            yield "handler", lambda found: _put(found, "type", ast.Name("FloatingPointError", ast.Load()))
        case ast.Continue():
            yield "break", lambda found: ast.Break()
        case ast.Break():
            yield "continue", lambda found: ast.Continue()
        case ast.Call(func=ast.Name(id="min" | "max")):
            pass  # swapped, it means the same
        case ast.Call() if len(node.args) >= 2 and not any(isinstance(arg, ast.Starred) for arg in node.args[:2]):
            yield "swapped", lambda found: _put(found, "args", [found.args[1], found.args[0], *found.args[2:]])


def _put(node: Any, name: str, value: Any, **more: Any) -> None:
    for key, new in {name: value, **more}.items():
        setattr(node, key, new)


def _compared(place: int) -> Change:
    def change(found: Any) -> None:
        found.ops[place] = _COMPARE[type(found.ops[place])]()

    return change
