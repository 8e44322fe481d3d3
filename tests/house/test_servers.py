"""The servers that tests start."""

import psycopg2
import pytest
from django.core.cache import cache


def test_the_cache_is_the_redis_of_this_run() -> None:
    cache.set("house", "warm", 5)
    assert cache.get("house") == "warm"


@pytest.mark.server
@pytest.mark.postgres
def test_postgresql_starts_signs_in_and_may_create_databases(postgres_server: str) -> None:
    connection = psycopg2.connect(postgres_server)
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT rolcreatedb FROM pg_roles WHERE rolname = current_user")
            assert cursor.fetchone() == (True,)
    finally:
        connection.close()
