"""The guard of private addresses for clients on aiohttp."""

from __future__ import annotations

import asyncio
import socket

from aiohttp.abc import AbstractResolver, ResolveResult

from jobs.nodes.base import Limits
from jobs.nodes.http_guard import checked_addresses


class GuardedResolver(AbstractResolver):
    """Resolves only to addresses that were checked. aiohttp does not ask it about addresses in digits: check those beforehand."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    async def resolve(self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET) -> list[ResolveResult]:
        found = await asyncio.to_thread(checked_addresses, host, port, self._limits)
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in found
        ]

    async def close(self) -> None:
        """Nothing is held."""
