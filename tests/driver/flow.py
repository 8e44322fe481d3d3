"""A connection that goes silent without being closed, as when a firewall forgets it: a proxy that stops passing bytes on."""

import contextlib
import re
import socket
import threading
from types import TracebackType


class Flow:
    """A context: inside it `port` leads to `target`. `freeze` silences every open connection; later ones pass.

    `held` is set once a request came that `hold` waits for.
    """

    def __init__(self, target: int) -> None:
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self._lock = threading.Lock()
        self._open: list[socket.socket] = []
        self._silent: set[socket.socket] = set()
        self._frozen_for_good = False
        self._holding: re.Pattern[bytes] | None = None
        self.held = threading.Event()

    def __enter__(self) -> "Flow":
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._listener.close()
        with self._lock:
            for one in self._open:
                one.close()

    def freeze(self, *, for_good: bool = False) -> int:
        """How many connections were silenced; `for_good` silences those to come too."""
        with self._lock:
            self._silent |= set(self._open)
            self._frozen_for_good = for_good
            return len(self._silent)

    def hold(self, request: bytes) -> None:
        """The next request that begins with this pattern does not arrive, and all is silent from then on, until `thaw`."""
        self._holding = re.compile(request)

    def thaw(self) -> None:
        """Connections to come pass again."""
        with self._lock:
            self._frozen_for_good = False

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                try:
                    far = socket.create_connection(("127.0.0.1", self._target))
                except OSError:  # the target is away: so is this
                    near.close()
                    continue
                with self._lock:
                    self._open += [near, far]
                    if self._frozen_for_good:
                        self._silent |= {near, far}
                for source, sink in ((near, far), (far, near)):
                    threading.Thread(target=self._pass_on, args=(source, sink), daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if self._holding and self._holding.match(data):
                    self._holding = None
                    self.freeze(for_good=True)
                    self.held.set()
                if source not in self._silent:
                    sink.sendall(data)
        with contextlib.suppress(OSError):  # a target that was killed resets its side: so does this
            if source not in self._silent:
                sink.shutdown(socket.SHUT_RDWR)
