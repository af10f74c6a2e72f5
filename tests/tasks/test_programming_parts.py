"""What the programming verifiers are made of, without a sandbox: targets, code extraction, comparison, asserts."""

import ast
import contextlib
import json
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.errors import VerifierError
from podium.tasks.inside.plain import MAX_DEPTH, Opaque, decode, encode
from podium.tasks.programming.assertions import called_names, read_assertions
from podium.tasks.programming.code import MAX_BLOCKS, extract_code, with_prelude
from podium.tasks.programming.expressions import NotReadHere
from podium.tasks.programming.outputs import is_close, output_mismatch
from podium.tasks.programming.target import (
    LEETCODE_PRELUDE,
    AssertTests,
    CallCase,
    CallTests,
    ProgramTests,
    StdinCase,
    StdinTests,
    UnittestTests,
    given_code,
)
from podium.tasks.programming.values import MAX_CHOSEN, MAX_HASHED, UnreadableValue, decoded, read_value, same_value, shown

ADD = "def add(a, b):\n    return a + b"

# Targets


@pytest.mark.parametrize(
    ("tests", "target"),
    [
        (StdinTests(cases=(StdinCase(stdin="1\n", stdout="2"),)), {"style": "stdin", "tests": [{"stdin": "1\n", "stdout": "2"}]}),
        (
            CallTests(entry="f", cases=(CallCase(args=(1, [2]), kwargs=(("k", None),), expected={"a": 1.5}),), seconds=2.0),
            {
                "style": "call",
                "entry": "f",
                "tests": [{"args": [1, [2]], "kwargs": {"k": None}, "expected": {"a": 1.5}}],
                "seconds": 2.0,
            },
        ),
        (
            AssertTests(asserts=("assert f(1) == 2",), setup="x = 1", prelude="import os"),
            {"style": "asserts", "entry": "", "tests": ["assert f(1) == 2"], "setup": "x = 1", "prelude": "import os"},
        ),
        (UnittestTests(code=("import unittest",)), {"style": "unittest", "tests": ["import unittest"]}),
    ],
)
def test_targets_have_the_documented_form_and_come_back(tests: ProgramTests, target: dict[str, Any]) -> None:
    assert json.loads(tests.to_json()) == target
    assert ProgramTests.from_json(tests.to_json()) == tests


@pytest.mark.parametrize(
    "target",
    [
        "",
        "7",
        "{",
        "[" * 100_000,
        '{"style": "prose", "tests": []}',
        '{"style": "stdin", "tests": []}',
        '{"style": "stdin", "tests": [{"stdin": "1"}]}',
        '{"style": "stdin", "tests": [{"stdin": 1, "stdout": "1"}]}',
        '{"style": "stdin", "tests": [{"stdin": "1", "stdout": "1"}], "seconds": 0}',
        '{"style": "stdin", "tests": [{"stdin": "1", "stdout": "1"}], "seconds": true}',
        '{"style": "stdin", "tests": [{"stdin": "1", "stdout": "1"}], "entry": "f"}',
        '{"style": "call", "tests": [{"args": [], "expected": 1}]}',
        '{"style": "call", "entry": "f", "tests": [{"args": {}, "expected": 1}]}',
        '{"style": "asserts", "tests": [1]}',
        '{"style": "asserts", "tests": [" "]}',
        '{"style": "unittest", "tests": "import unittest"}',
        '{"style": "unittest", "tests": ["x"], "prelude": 1}',
    ],
)
def test_a_target_that_is_none_is_nobodys_wrong_answer(target: str) -> None:
    with pytest.raises(VerifierError):
        ProgramTests.from_json(target)


def test_a_prompt_gives_its_imports_and_other_functions() -> None:
    prompt = 'import math\n\ndef half(x):\n    return x / 2\n\ndef area(r):\n    """Area."""\n'
    assert given_code(prompt, "area") == "import math\ndef half(x):\n    return x / 2"
    with pytest.raises(VerifierError):
        given_code("def area(r:", "area")


def test_the_leetcode_prelude_keeps_the_builtin_pow() -> None:
    names: dict[str, Any] = {}
    exec(LEETCODE_PRELUDE, names)  # noqa: S102
    assert names["pow"](2, 10, 1000) == 24
    assert names["inf"] == float("inf")
    assert {"List", "Counter", "heappush", "bisect_left", "gcd", "lru_cache", "accumulate"} <= names.keys()


# Which program does an answer propose?


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (f"```python\n{ADD}\n```", ADD),
        (f"```py\n{ADD}\n```\nAs asked.", ADD),
        (f"```\n{ADD}\n```", ADD),
        (f"~~~~Python 3\n{ADD}\n~~~~", ADD),
        (f"```python\nprint(1)\n```\nBetter:\n```python\n{ADD}\n```", ADD),
        (f"```python\n{ADD}\n```\n```python\ndef broken(:\n```", ADD),
        (f"```python\n{ADD}\n```\nOutput:\n```\n7\n```", ADD),
        (f'```python\n{ADD}\n```\n```json\n{{"a": 1}}\n```', ADD),
        (f"```python\n{ADD}\n```\n```bash\nexport_path = 1\n```", ADD),
        (f"```python\r\n{ADD}\r\n```\r\n".replace("\n", "\r\n").replace("\r\r", "\r"), ADD),
        ("1. So:\n   ```python\n   x = 1\n   if x:\n       print(x)\n   ```", "x = 1\nif x:\n    print(x)"),
        (f"```python\n{ADD}", ADD),
        (f"<think>```python\nx = 1\n```</think>```python\n{ADD}\n```", ADD),
        (f"```cpp\n{ADD}\n```", ADD),
        (f"````python\ns = '''\n```\n'''\n{ADD}\n````", f"s = '''\n```\n'''\n{ADD}"),
        (ADD, ADD),
        ("I can not do that.", None),
        ("Yes", None),
        ("", None),
        ("```python\ndef broken(:\n```", None),
        ("```\n7\n```", None),
        ("```c\nint main() { return 0; }\n```", None),
        (f"<think>```python\n{ADD}\n```", None),
        ("```python\nprint('\x00')\n```", None),
        ("```python\n" + "(" * 50_000 + "\n```", None),
        ("```python\n" + "-" * 100_000 + "1\n```", None),
    ],
)
def test_the_last_block_that_is_a_program(answer: str, code: str | None) -> None:
    assert extract_code(answer) == code


def test_the_last_block_that_defines_what_is_tested() -> None:
    answer = f"```python\n{ADD}\n```\nFor example:\n```python\nprint(add(1, 2))\n```"
    assert extract_code(answer, frozenset({"add"})) == ADD
    assert extract_code(answer) == "print(add(1, 2))"
    assert extract_code(answer, frozenset({"other"})) == "print(add(1, 2))"


def test_many_blocks_cost_little() -> None:
    assert extract_code(f"```python\n{ADD}\n```\n" + "```\nx = (\n```\n" * MAX_BLOCKS) is None
    assert extract_code(f"```python\n{ADD}\n```\n" + "```\nx = (\n```\n" * (MAX_BLOCKS - 1)) == ADD


@given(st.text(alphabet="`~ \n\r\tpython#x=1(:<think>/", max_size=300))
def test_any_text_holds_a_program_or_none(text: str) -> None:
    code = extract_code(text)
    assert code is None or ast.parse(code).body


@pytest.mark.parametrize(
    "code",
    [
        "from __future__ import annotations\nx = math.pi",
        '"""Doc."""\nfrom __future__ import annotations\nx = math.pi',
        "x = math.pi",
        "# \x0c page two\nfrom __future__ import annotations\nx = math.pi",
        "# one\rfrom __future__ import annotations\rx = math.pi",
    ],
)
def test_a_prelude_stands_where_python_wants_it(code: str) -> None:
    names: dict[str, Any] = {}
    exec(with_prelude("import math", code), names)  # noqa: S102
    assert names["x"] > 3


# Is it the expected output?


@pytest.mark.parametrize(
    ("expected", "stdout", "same"),
    [
        ("1 2\n3\n", b"1\n2 3", True),
        ("0.5", b"0.50", True),
        ("0.333333", b"0.33333333333", True),
        ("0.333333", b"0.33333", False),
        ("2.0", b"2", True),
        ("2", b"2.0", False),
        ("2000000000.0", b"2000000001", True),
        ("3", b"3.0000001", False),
        ("1e-7", b"2e-7", False),
        ("1.0", b"nan", False),
        ("1.0", b"1_0", False),
        ("1.0", b"inf", False),
        ("1.0e400", b"1.0e400", True),
        ("1.2.3", b"1.2.30", False),
        ("YES", b"yes", False),
        ("", b" \n", True),
        ("", b"1", False),
        ("1", b"", False),
        ("1 2", b"1 2 3", False),
        ("\u00fc", "\u00fc".encode(), True),
        ("a", b"\xff", False),
    ],
)
def test_outputs_are_compared_token_by_token(expected: str, stdout: bytes, same: bool) -> None:
    assert (output_mismatch(expected, stdout) is None) is same


@given(st.lists(st.text(alphabet="ab1.-e", min_size=1, max_size=6)))
def test_an_output_is_itself_however_it_is_spaced(tokens: list[str]) -> None:
    assert output_mismatch("\n".join(tokens), "  ".join(tokens).encode()) is None
    assert output_mismatch(" ".join([*tokens, "z"]), " ".join(tokens).encode()) is not None


@given(st.floats(min_value=-1e300, max_value=1e300))
def test_tolerance_is_a_millionth(number: float) -> None:
    size = max(1.0, abs(number))
    assert is_close(number, number + 0.9e-6 * size)
    assert not is_close(number, number + 1.2e-6 * size)


# Values

PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=-(2**200), max_value=2**200)
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary(max_size=8)
    | st.complex_numbers(allow_nan=False)
    | st.fractions()
    | st.decimals(allow_nan=False, min_value=-1000, max_value=1000),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.frozensets(st.integers() | st.text(), max_size=4)
        | st.sets(st.integers() | st.tuples(st.integers(), st.text()), max_size=4)
        | st.dictionaries(st.integers() | st.text() | st.none(), inner, max_size=4)
    ),
)


@given(PLAIN)
def test_plain_data_comes_back_as_it_was(value: Any) -> None:
    back = read_value(json.dumps(encode(value)))
    assert back == value
    assert type(back) is type(value)
    assert same_value(value, back, as_json=False)


@given(st.recursive(st.none() | st.integers() | st.text(max_size=3), lambda inner: st.lists(inner, max_size=4), max_leaves=20))
def test_forged_data_is_a_value_or_unreadable(data: Any) -> None:
    with contextlib.suppress(UnreadableValue):
        decoded(data)


class EqualsAll(int):
    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 7

    def __int__(self) -> int:
        return 7


class Swindler:
    __class__ = int  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


def test_objects_that_equal_everything_are_only_what_they_hold() -> None:
    assert encode(EqualsAll(3)) == 3
    assert type(encode(EqualsAll(3))) is int
    assert isinstance(decode(encode(Swindler())), Opaque)
    for expected in (7, 3.5, "x", [1], None, True, {"a": 1}):
        assert not same_value(expected, decode(encode(Swindler())), as_json=True)


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "NaN1",
        "[" * 100_000,
        "9" * 10_000,
        json.dumps(["F", "1/0"]),
        json.dumps(["F", "1e999999999"]),
        json.dumps(["D", "1e999999999"]),
        json.dumps(["D", "1e"]),
        json.dumps(["f", "x"]),
        json.dumps(["s", [["l", []]]]),
        json.dumps(["d", [[1]]]),
        json.dumps(["b", "zz"]),
        json.dumps(["s", list(range(MAX_HASHED + 1))]),
        json.dumps(["o", "t", "s", True, [["s", list(range(MAX_HASHED + 1))]]]),
        json.dumps(encode({number * (2**61 - 1) for number in range(MAX_CHOSEN + 2)})),
    ],
)
def test_hostile_values_are_refused(text: str) -> None:
    with pytest.raises(UnreadableValue):
        read_value(text)


def test_what_is_too_deep_or_endless_is_cut() -> None:
    assert decode(encode(deep(MAX_DEPTH))) == deep(MAX_DEPTH)
    assert not same_value(deep(MAX_DEPTH + 5), decode(encode(deep(MAX_DEPTH + 5))), as_json=True)
    loop: list[Any] = []
    loop.append(loop)
    json.dumps(encode(loop))
    endless = decode(encode(iter(lambda: 0, 1)))
    assert isinstance(endless, Opaque)
    assert endless.parts is None
    assert list(decode(encode(x for x in (1, 2)))) == [1, 2]


@pytest.mark.parametrize(
    ("expected", "actual", "as_json", "as_python"),
    [
        ([1, [2, 3]], (1, (2, 3)), True, False),
        ([1, 2], [1, 2], True, True),
        ([1, 2], [2, 1], False, False),
        ({"1": 2}, {1: 2}, True, False),
        ({"true": 1}, {True: 1}, True, False),
        (0.5, 0.5000001, True, True),
        (0.5, 0.501, False, False),
        (3, 3.0, True, True),
        (3, 3.0000001, False, False),
        (0.5, Fraction(1, 2), True, True),
        (0.5, Decimal("0.5"), True, True),
        (1.0, 10**400, False, False),
        (1.0, Decimal("sNaN"), False, False),
        (1, Decimal("sNaN"), False, False),
        ([1], [Decimal("sNaN")], False, False),
        (float("inf"), float("inf"), True, True),
        (1.0, True, True, True),
        ("1", 1, False, False),
        (None, False, False, False),
        ([0.1, {"a": (1.0,)}], [0.1000000001, {"a": (1,)}], True, True),
    ],
)
def test_values_are_compared_as_json_or_as_python(expected: Any, actual: Any, as_json: bool, as_python: bool) -> None:
    assert same_value(expected, actual, as_json=True) is as_json
    assert same_value(expected, actual, as_json=False) is as_python


def test_any_value_can_be_shown_briefly() -> None:
    for value in (10**10_000, "x" * 10**6, deep(50), list(range(10**5)), {i: deep(9) for i in range(99)}):
        assert len(shown(value)) <= 210


# Asserts, with a program that is a Python function of the test


async def mismatch(text: str, results: dict[str, Any], **fields: Any) -> str | None:
    """Of the first assert that does not hold; calls are looked up as ``name(args)``."""

    async def call(entry: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        shown_args = [repr(arg) for arg in args] + [f"{key}={value!r}" for key, value in kwargs.items()]
        return results[f"{entry}({', '.join(shown_args)})"]

    assertions = read_assertions(AssertTests(asserts=(text,), **fields))
    assert assertions is not None, "not read on the host"
    for assertion in assertions:
        why = await assertion.mismatch(call)
        if why:
            return why
    return None


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        ("assert f([1, 2], k=-3) == (1, 2)", {"f([1, 2], k=-3)": (1, 2)}, {"f([1, 2], k=-3)": [1, 2]}),
        ("assert f(1) == 2, 'message'", {"f(1)": 2}, {"f(1)": 3}),
        ("assert 2 == f(1)", {"f(1)": 2}, {"f(1)": 3}),
        ("assert f(3*19) == 1.0/3", {"f(57)": 0.33333334}, {"f(57)": 0.3333}),
        ("assert f('a' + 'b') is True", {"f('ab')": True}, {"f('ab')": 1}),
        ("assert f(1) is None", {"f(1)": None}, {"f(1)": 0}),
        ("assert f(1)", {"f(1)": [0]}, {"f(1)": []}),
        ("assert not f(1)", {"f(1)": ""}, {"f(1)": "x"}),
        ("assert f(1) != 3", {"f(1)": 4}, {"f(1)": 3}),
        ("assert abs(f(1) - 0.33) < 1e-6", {"f(1)": 0.3300000001}, {"f(1)": None}),
        ("assert math.isclose(f(1), 0.33, rel_tol=0.01)", {"f(1)": 0.3301}, {"f(1)": 0.4}),
        ("assert set(f(1)) == set([1, 2])", {"f(1)": [2, 1, 1]}, {"f(1)": [1]}),
        ("assert sorted(f(1)) == [1, 2]", {"f(1)": (2, 1)}, {"f(1)": 5}),
        ("assert tuple(f(1)) == tuple(f(2))", {"f(1)": [1], "f(2)": (1,)}, {"f(1)": [1], "f(2)": [2]}),
        ("assert len(f(1)) == 2 and f(1)[0] > 0", {"f(1)": [1, 2]}, {"f(1)": [0, 2]}),
        ("assert f(1) in [1, 2] or f(2) == 5", {"f(1)": 9, "f(2)": 5}, {"f(1)": 9, "f(2)": 6}),
        ("assert 0 < f(1) <= 2", {"f(1)": 2}, {"f(1)": 0}),
        ("assert f(f(1)) == 3", {"f(1)": 2, "f(2)": 3}, {"f(1)": 2, "f(2)": 4}),
        ("assert round(f(1), 2) == 0.33 and round(f(1)) == 0", {"f(1)": 0.331}, {"f(1)": 0.341}),
        ("assert sum(f(1)) == 6 and sum(f(1), 1) == 7", {"f(1)": [1, 2, 3]}, {"f(1)": [1, 2]}),
        ("assert dict(f(1)) == {'a': 1} and dict(a=1) == dict(f(1))", {"f(1)": [("a", 1)]}, {"f(1)": [("a", 2)]}),
        ("assert f(1) ** 2 == f(2)", {"f(1)": Fraction(3, 2), "f(2)": Fraction(9, 4)}, {"f(1)": Fraction(3, 2), "f(2)": 2}),
        ("assert f(float('inf')) == {'a': {1}}", {"f(inf)": {"a": {1}}}, {"f(inf)": {"a": {2}}}),
        ("assert sum(1, 2) == 3", {"sum(1, 2)": 3}, {"sum(1, 2)": 4}),
        (
            "def check(candidate):\n    assert candidate(1) == 2\ncheck(Solution().g)",
            {"Solution().g(1)": 2},
            {"Solution().g(1)": 1},
        ),
    ],
)
async def test_asserts_are_judged_on_the_host(text: str, right: dict[str, Any], wrong: dict[str, Any]) -> None:
    assert await mismatch(text, right) is None
    assert await mismatch(text, wrong) is not None


async def test_an_object_of_the_program_equals_nothing() -> None:
    liar = Opaque("Any", "<Any>", True, None)
    for text in ("assert f(1) == 2", "assert f(1) is True", "assert set(f(1)) == {1}", "assert abs(f(1) - 1) < 2"):
        assert await mismatch(text, {"f(1)": liar})
    assert await mismatch("assert list(f(1)) == [1]", {"f(1)": Opaque("map", "<map>", True, [1])}) is None


@pytest.mark.parametrize(
    "text",
    [
        "for i in range(3):\n    assert f(i) == i",
        "x = f(1)\nassert x == 1",
        "import os\nassert f(os.sep) == 1",
        "assert f(lambda: 1) == 2",
        "assert f(*[1]) == 2",
        "assert eval('f(1)') == f(2)",
        "assert f(1).__class__ == int",
        "assert f'{f(1)}' == '1'",
        "assert (x := f(1)) == 1",
        "assert f(1 << 1000000) == 1",
        "f(1)",
        "def check(a, b):\n    assert a(1) == b",
        "assert (",
    ],
)
def test_what_is_more_than_asserts_is_not_read(text: str) -> None:
    assert read_assertions(AssertTests(asserts=(text,))) is None


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("assert f(1) * 10 ** 9 == 1", "x"),
        ("assert 2 ** f(1) == 1", 10**9),
        ("assert f(1) * f(1) == 1", 2**90_000),
        ("assert set(f(1)) == {1}", list(range(MAX_HASHED + 1))),
        ("assert f(1) % 3 == 1", "%999999999d"),
        ("assert dict(f(1)) == {1: 1}", [(n, 1) for n in range(MAX_HASHED + 1)]),
        ("assert f(1) ** 10 ** 9 == 1", Fraction(3, 2)),
        ("assert 3 ** f(1) == 1", Fraction(10**9)),
        ("assert round(5, f(1)) == 0", -(10**9)),
        ("assert sum(f(1), []) == []", [[1]] * 10),
        ("assert sum(f(1)) == 1", [Fraction(1, 3)] * 10),
        ("assert f(1) // f(1) == 1", 2**90_000),
        ("assert f(1) % 7 == 1", 2**200_000),
        ("assert set(f(1)) == {1}", [number * (2**61 - 1) for number in range(MAX_CHOSEN + 2)]),
    ],
    ids=[
        "long text",
        "power",
        "product",
        "set",
        "format",
        "dictionary",
        "fraction",
        "to a fraction",
        "rounding",
        "lists",
        "fractions",
        "division",
        "remainder",
        "keys that collide",
    ],
)
async def test_a_hostile_result_can_not_make_the_host_work(text: str, result: Any) -> None:
    with pytest.raises(NotReadHere):
        await mismatch(text, {"f(1)": result})


def test_the_functions_under_test_are_found_without_looking_at_the_answer() -> None:
    assert called_names(AssertTests(asserts=("assert set(f(1)) == set(g(2))",))) == {"f", "g"}
    assert called_names(AssertTests(asserts=("assert sum(10, 15) == 6",))) == {"sum"}
    assert called_names(AssertTests(asserts=("def check(candidate):\n    assert candidate(1)",), entry="Solution().f")) == {
        "Solution"
    }
    prelude = "def poly(x): return x"
    assert called_names(AssertTests(asserts=("assert poly(zero(1)) == 0",), prelude=prelude)) == {"zero"}
