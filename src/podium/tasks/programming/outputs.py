"""Is this the expected output? Token by token, on the host, where the program can not reach.

White space between tokens does not count. A token counts as equal if it is spelled the same, or, only where the expected
token has a decimal point, if it is a number within 1e-6 of it, absolute or relative.
"""

import re

TOLERANCE = 1e-6
_POINT = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_SHOWN = 60


def is_close(expected: float, actual: float) -> bool:
    """Within 1e-6, absolute or relative to ``expected``; infinities and nan only equal themselves.

    Example: ``is_close(0.333333, 1 / 3)`` and ``is_close(3e9, 3e9 + 1)``, but not ``is_close(0.33, 1 / 3)``.
    """
    if expected == actual or (expected != expected and actual != actual):
        return True
    return abs(expected - actual) <= TOLERANCE * max(1.0, abs(expected)) < float("inf")


def output_mismatch(expected: str, stdout: bytes) -> str | None:
    """The first difference in words, or None where ``stdout`` is as ``expected``.

    Examples: ``output_mismatch("1 2.50\\n", b"1\\n2.5")`` is None; ``output_mismatch("4", b"4.0")`` is a difference.
    """
    wanted, found = expected.split(), stdout.decode("utf-8", "replace").split()
    for number, (want, have) in enumerate(zip(wanted, found, strict=False), start=1):
        if want != have and not _same_number(want, have):
            return f"token {number} is {_short(have)}, not {_short(want)}"
    if len(wanted) != len(found):
        return f"{len(found)} tokens instead of {len(wanted)}"
    return None


def _same_number(want: str, have: str) -> bool:
    return bool(_POINT.fullmatch(want) and _NUMBER.fullmatch(have)) and is_close(float(want), float(have))


def _short(token: str) -> str:
    return repr(token if len(token) <= _SHOWN else token[:_SHOWN] + "...")
