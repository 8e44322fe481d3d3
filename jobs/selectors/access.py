"""Which projects a user sees, and with which role."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet

from jobs.models import Project, ProjectMember, Role

if TYPE_CHECKING:
    from django.contrib.auth.models import User


_ORDER = (Role.VIEWER, Role.OPERATOR, Role.EDITOR, Role.ADMIN)


def role_covers(role: str | None, needed: str) -> bool:
    """Whether `role` allows what needs `needed`: each role may do all that the lower ones may."""
    return role is not None and _ORDER.index(Role(role)) >= _ORDER.index(Role(needed))


def projects_visible(user: "User | AnonymousUser") -> QuerySet[Project]:
    """The projects `user` is a member of; every project for a superuser; none for the signed out or deactivated."""
    if not user.is_authenticated or not user.is_active:
        return Project.objects.none()
    if user.is_superuser:
        return Project.objects.all()
    return Project.objects.filter(members__user=user)


def role_in(user: "User | AnonymousUser", project_id: int) -> Role | None:
    """The role of `user` in one project; None: the project does not exist for them."""
    if not user.is_authenticated or not user.is_active:
        return None
    if user.is_superuser:
        return Role.ADMIN
    role = ProjectMember.objects.filter(user=user, project_id=project_id).values_list("role", flat=True).first()
    return Role(role) if role else None


def roles_by_project(user: "User") -> Mapping[int, Role]:
    """Project id → role, for every project that `user` sees; one query."""
    if user.is_superuser:
        return dict.fromkeys(Project.objects.values_list("id", flat=True), Role.ADMIN)
    return {project_id: Role(role) for project_id, role in ProjectMember.objects.filter(user=user).values_list("project_id", "role")}
