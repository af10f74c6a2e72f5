"""Two servers over one PostgreSQL: the quota is one, and a server that dies takes nothing with it."""

import psycopg
import pytest

from benchmarks.replicas import drill


@pytest.fixture
def empty(postgresql_server: str) -> str:
    with psycopg.connect(host=postgresql_server, user="podium", dbname="postgres", autocommit=True) as connection:
        connection.execute("CREATE DATABASE replicas")
    return f"postgresql://podium@/replicas?host={postgresql_server}"


def test_one_of_two_servers_dies_under_load(empty: str) -> None:
    figures = drill(empty, clients=12, requests=10)
    assert figures["over_quota_usd"] == 0
    assert figures["lost_runs"] == 0
    assert figures["open_usd"] == 0
    assert figures["refused"] > 0
    assert 0 <= figures["drift_calls"] <= figures["in_flight"]
    assert figures["uncertain_usd"] <= figures["in_flight"] * 0.0001, "no more than what those calls could have cost"
