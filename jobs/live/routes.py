"""Addresses of the sockets."""

from channels.generic.websocket import AsyncWebsocketConsumer
from django.urls import path, re_path

from jobs.live.consumers import ExecutionConsumer, OverviewConsumer


class UnknownConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]
    """Whatever else is asked for: refused."""

    async def connect(self) -> None:
        await self.close()


websocket_urlpatterns = [
    path("ws/overview", OverviewConsumer.as_asgi()),
    path("ws/executions/<str:execution_id>", ExecutionConsumer.as_asgi()),
    re_path(r"^.*$", UnknownConsumer.as_asgi()),
]
