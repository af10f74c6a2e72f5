"""A wire between a browser and a server that can be cut: what runs over it breaks, and nobody gets through until it is mended.

A browser that is told to be offline keeps the sockets that it has; a wire that is cut does not.
"""

import contextlib
import socket
import threading
from types import TracebackType
from typing import Self


class Wire:
    """Listens on a port of its own and passes on. Example: ``with Wire(served.address) as wire: page.goto(wire.address)``."""

    def __init__(self, address: str) -> None:
        self._port = int(address.rpartition(":")[2])
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self._is_cut = False
        self._ends: set[socket.socket] = set()

    def cut(self) -> None:
        """Break what is connected."""
        self._is_cut = True
        for end in list(self._ends):
            _close(end)

    def mend(self) -> None:
        """Let through again."""
        self._is_cut = False

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._listening.close()
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listening.accept()
            except OSError:
                return  # closed
            far = socket.create_connection(("127.0.0.1", self._port))
            self._ends |= {near, far}
            if self._is_cut:  # looked at last: a cut from now on closes these two as well
                _close(near)
                _close(far)
                self._ends -= {near, far}
                continue
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self._pass, args=(one, other), daemon=True).start()

    def _pass(self, one: socket.socket, other: socket.socket) -> None:
        try:
            while some := one.recv(65536):
                other.sendall(some)
        except OSError:
            pass  # cut, or left
        finally:
            for end in (one, other):
                _close(end)
                self._ends.discard(end)


def _close(end: socket.socket) -> None:
    with contextlib.suppress(OSError):  # nobody is at the other end any more
        end.shutdown(socket.SHUT_RDWR)
    end.close()
