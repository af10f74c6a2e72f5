"""What only a mock of the tests can say of itself: that it was called, how often and with what.

Where the tests use mocks, no object or value of the program has an attribute of such a name. Else a program that should call a
mock would put something in its place that says it was called.
"""

import sys
from typing import Any

_ASSERTIONS = ("assert_called", "assert_any", "assert_has", "assert_not_called", "assert_await", "assert_not_await")
_OWN = frozenset(
    [
        "reset_mock",
        "configure_mock",
        "attach_mock",
        "mock_add_spec",
        "return_value",
        "side_effect",
        "called",
        "call_count",
        "call_args",
        "call_args_list",
        "mock_calls",
        "method_calls",
        "await_count",
        "await_args",
        "await_args_list",
    ]
)


def is_mock(value: Any) -> bool:
    """Whether it is a mock of this process."""
    mock = sys.modules.get("unittest.mock")
    return mock is not None and issubclass(type(value), mock.NonCallableMock)


def is_mocks_own(name: str) -> bool:
    """Whether an attribute of this name is a mock's and nobody else's here."""
    return name.startswith(_ASSERTIONS) or (name in _OWN and "unittest.mock" in sys.modules)
