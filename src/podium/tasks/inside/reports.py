"""Warnings and log records of the program, issued again where the tests look for them.

What a warning or a record says is the program's own word, as it would be in one process.
"""

import logging
import warnings
from typing import Any


def send_warnings(port: Any) -> None:
    """In the program: every warning goes to the tests, whose filters decide."""
    warnings.simplefilter("always")

    def show(message: Any, category: Any, *where: Any) -> None:
        port.ask("warned", category, str(message)[:10_000])

    warnings.showwarning = show  # type: ignore[assignment]


class SendRecords(logging.Handler):
    """In the program: every log record goes to the tests, whose levels decide."""

    def __init__(self, port: Any) -> None:
        super().__init__()
        self._port = port
        logging.root.addHandler(self)
        logging.root.setLevel(1)

    def emit(self, record: logging.LogRecord) -> None:
        """One record."""
        self._port.ask("logged", record.name, record.levelno, record.getMessage()[:10_000])


def receive(verb: str, args: list[Any]) -> bool:
    """In the tests: issue what the program sent; False where ``verb`` is something else."""
    if verb == "warned" and len(args) == 2 and isinstance(args[0], type) and issubclass(args[0], Warning):
        warnings.warn_explicit(str(args[1]), args[0], "<answer>", 1)
        return True
    if verb == "logged" and len(args) == 3 and type(args[1]) is int:
        logger = logging.getLogger(str(args[0]))
        if logger.isEnabledFor(args[1]):
            logger.handle(logger.makeRecord(str(args[0]), args[1], "<answer>", 1, str(args[2]), (), None))
        return True
    return False
