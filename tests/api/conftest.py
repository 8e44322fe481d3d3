"""Users of two projects, and clients signed in as them."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client

from jobs.models import Project, ProjectMember, Role
from tests.api.rows import member


@pytest.fixture(autouse=True)
def _empty_cache(redis_server: str) -> None:
    cache.clear()


@pytest.fixture
def home(db: None) -> Project:
    return Project.objects.get_or_create(slug="default", defaults={"title": "Default"})[0]


@pytest.fixture
def elsewhere(db: None) -> Project:
    return Project.objects.create(slug="elsewhere", title="Elsewhere")


@pytest.fixture
def editor(home: Project) -> User:
    return member(home, "erin", Role.EDITOR)


@pytest.fixture
def stranger(elsewhere: Project) -> User:
    """An admin of another project."""
    user = member(elsewhere, "sam", Role.ADMIN)
    assert not ProjectMember.objects.filter(user=user, project__slug="default").exists()
    return user


@pytest.fixture
def client_of() -> Callable[[User], Client]:
    def signed_in(user: User) -> Client:
        client = Client(headers={"accept": "application/json"})
        client.force_login(user)
        return client

    return signed_in


@pytest.fixture
def browser(editor: User, client_of: Callable[[User], Client]) -> Client:
    """Signed in as an editor of the default project."""
    return client_of(editor)
