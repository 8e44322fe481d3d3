"""The demo API: paged and by cursor, behind its token, quick."""

import time
from collections.abc import Callable

import pytest
from django.conf import settings
from django.test import Client

from jobs.services.flights import FlightRows

ADDRESS = "/demo/api/flights"
TOTAL = 336_776


def get(path: str = ADDRESS, *, token: str | None = None, **parameters):
    header = {"Authorization": f"Bearer {settings.DEMO_API_TOKEN if token is None else token}"}
    return Client().get(path, parameters, headers=header)


def test_a_page_tells_where_it_stands():
    page = get(page=2, page_size=50).json()
    assert (page["total"], page["page"], page["pages"], len(page["results"])) == (TOTAL, 2, 6736, 50)


def test_a_flight_has_numbers_texts_and_nulls():
    first = get(page_size=1).json()["results"][0]
    assert first["carrier"] == "UA"
    assert first["dep_time"] == 517
    assert first["time_hour"] == "2013-01-01T10:00:00Z"
    last = get(page=TOTAL, page_size=1).json()["results"][0]
    assert (last["month"], last["day"], last["dep_time"], last["tailnum"]) == (12, 31, None, None)


def test_a_page_behind_the_last_is_empty():
    assert get(page=338, page_size=1000).json()["results"] == []
    assert len(get(page=337, page_size=1000).json()["results"]) == 776


def test_it_is_only_read():
    header = {"Authorization": f"Bearer {settings.DEMO_API_TOKEN}"}
    assert Client(enforce_csrf_checks=True).post(ADDRESS, {}, headers=header).status_code == 405


@pytest.mark.slow
def test_cursors_lead_through_every_flight_once():
    keys: set[tuple] = set()
    seen, cursor = 0, ""
    while cursor is not None:
        part = get(cursor=cursor, limit=5000).json()
        seen += len(part["results"])
        keys.update((row["time_hour"], row["carrier"], row["flight"], row["origin"]) for row in part["results"])
        cursor = part["next_cursor"]
    assert seen == len(keys) == TOTAL


@pytest.mark.parametrize(
    "parameters",
    [
        {"page": "0"},
        {"page": "-1"},
        {"page": "two"},
        {"page": "٣"},
        {"page_size": "5001"},
        {"page_size": "9" * 400},
        {"limit": "0"},
        {"cursor": "x"},
        {"cursor": "1e3"},
        {"cursor": "9" * 400},
    ],
)
def test_a_wrong_parameter_is_told_in_the_shape_of_every_error(parameters):
    response = get(**parameters)
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "invalid"


@pytest.mark.parametrize("token", ["", "wrong", "é"])
def test_without_its_token_it_answers_401(token):
    response = get(token=token)
    assert response.status_code == 401
    assert response["WWW-Authenticate"] == "Bearer"
    assert response.json()["error"]["code"] == "unauthorized"
    assert Client().get(ADDRESS).status_code == 401


def test_without_a_token_set_nothing_opens_it(settings):
    settings.DEMO_API_TOKEN = ""
    assert get(token="").status_code == 401


def test_the_base_address_answers_to_its_token():
    assert get("/demo/api").json() == {"flights": "http://testserver/demo/api/flights"}
    assert Client().get("/demo/api").status_code == 401


def test_it_can_only_be_read():
    assert Client().post(ADDRESS).status_code == 405


def least_work(*acts: Callable[[], object]) -> list[float]:
    """Seconds of each, the best of twenty, by the thread's own time. They take turns: what slows the machine for a while slows all."""
    times: list[list[float]] = [[] for _ in acts]
    for _ in range(20):
        for taken, act in zip(times, acts, strict=True):
            begun = time.thread_time()
            act()
            taken.append(time.thread_time() - begun)
    return [min(taken) for taken in times]


def test_a_page_costs_the_same_wherever_it_stands(monkeypatch):
    client = Client(headers={"Authorization": f"Bearer {settings.DEMO_API_TOKEN}"})
    first, last = ({"page": page, "page_size": 500} for page in (1, 673))
    of_the_first, of_the_last = least_work(lambda: client.get(ADDRESS, first), lambda: client.get(ADDRESS, last))
    assert of_the_last < 2 * of_the_first
    parsed: list[str] = []
    parse = FlightRows._row

    def counted(rows, line):
        parsed.append(line)
        return parse(rows, line)

    monkeypatch.setattr(FlightRows, "_row", counted)
    assert len(client.get(ADDRESS, last).json()["results"]) == len(parsed) == 500
