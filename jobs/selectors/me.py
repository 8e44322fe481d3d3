"""Who is signed in, and what they may do where."""

from typing import TYPE_CHECKING

from django.conf import settings

from jobs.selectors.access import projects_visible, roles_by_project
from jobs.selectors.shapes.overview import MeOut, MyProject

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def me_out(user: "User") -> MeOut:
    roles = roles_by_project(user)
    projects = [
        MyProject(slug=project.slug, title=project.title, role=roles[project.pk].value)
        for project in projects_visible(user).order_by("title", "id")
        if project.pk in roles
    ]
    words = f"{user.first_name} {user.last_name}".split() or user.get_username().replace(".", " ").replace("_", " ").split()
    initials = "".join(word[0] for word in words[:2]).upper()
    return MeOut(username=user.get_username(), initials=initials, admin=user.is_staff, projects=projects, embedded=settings.EMBEDDED)
