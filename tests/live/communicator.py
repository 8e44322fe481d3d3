"""A browser's end of a socket, against the application itself (`channels.testing` wants daphne, which the product does not use)."""

import json
from typing import Any

from asgiref.testing import ApplicationCommunicator


class Socket(ApplicationCommunicator):
    def __init__(self, application: Any, path: str, headers: list[tuple[bytes, bytes]]) -> None:
        scope = {"type": "websocket", "path": path, "query_string": b"", "headers": headers, "subprotocols": []}
        super().__init__(application, scope)

    async def connect(self) -> bool:
        """Whether the handshake succeeded."""
        await self.send_input({"type": "websocket.connect"})
        answer = await self.receive_output(timeout=5)
        return bool(answer["type"] == "websocket.accept")

    async def told(self) -> dict[str, Any]:
        """The next message."""
        answer = await self.receive_output(timeout=5)
        assert answer["type"] == "websocket.send", answer
        found: dict[str, Any] = json.loads(answer["text"])
        return found

    async def say(self, **content: Any) -> None:
        await self.send_input({"type": "websocket.receive", **content})

    async def leave(self) -> None:
        await self.send_input({"type": "websocket.disconnect", "code": 1000})
        await self.wait(timeout=5)
