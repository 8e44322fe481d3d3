"""Roles, API tokens and one-time sign-in links."""

import hashlib
import hmac
import secrets
from datetime import timedelta
from typing import TYPE_CHECKING

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from jobs.models import ApiToken, Project, Role, SignInLink, TokenScope
from jobs.selectors.access import projects_visible, role_covers, role_in
from jobs.selectors.refusals import Conflict, Forbidden, NotFound
from jobs.services.audit import audit_record

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

__all__ = [
    "digest_of",
    "password_change",
    "projects_visible",
    "role_check",
    "sign_in_link_create",
    "sign_in_link_open",
    "sign_in_link_use",
    "signed_in_by_password",
    "token_create",
    "token_revoke",
]

SIGN_IN_LINK_TERM = timedelta(minutes=10)
TOKENS_OF_ONE_USER = 100


def role_check(*, user: "User | AnonymousUser", project: Project | int, role: Role) -> Role:
    """The user's role when it covers `role`. NotFound where the project is not theirs at all, Forbidden where the role is too low."""
    held = role_in(user, project if isinstance(project, int) else project.pk)
    if held is None:
        raise NotFound("this does not exist, or not for you")
    if not role_covers(held, role):
        raise Forbidden(f"this needs the role {role} in the project; you are {held}: ask an administrator of the installation")
    return held


def digest_of(token: str) -> str:
    """What is kept of a token: SHA-256, hex."""
    return hashlib.sha256(token.encode()).hexdigest()


@transaction.atomic
def token_create(*, user: User, name: str = "", scope: TokenScope = TokenScope.FULL) -> tuple[ApiToken, str]:
    """A new API token and its text (43 characters of 256 random bits), which is shown this once: only its digest is kept.

    Conflict when the user has as many living tokens as one may have.
    """
    if ApiToken.objects.filter(user=user, revoke_time=None).count() >= TOKENS_OF_ONE_USER:
        raise Conflict(f"you have {TOKENS_OF_ONE_USER} API tokens, as many as one may have: revoke one that is not used any more")
    token = secrets.token_urlsafe(32)
    row = ApiToken.objects.create(user=user, name=name[:100], digest=digest_of(token), prefix=token[:8], scope=scope)
    detail = {"prefix": row.prefix, "scope": row.scope}
    audit_record(user=user, action="token created", object_type="api_token", object_id=str(row.pk), detail=detail)
    return row, token


@transaction.atomic
def token_revoke(*, token: ApiToken, user: User) -> None:
    """The token opens nothing any more."""
    if ApiToken.objects.filter(pk=token.pk, revoke_time=None).update(revoke_time=timezone.now()):
        audit_record(user=user, action="token revoked", object_type="api_token", object_id=str(token.pk), detail={"prefix": token.prefix})


def token_open(token: str) -> ApiToken | None:
    """The living token with its user, its use noted; None if it is unknown, revoked, or its user may not sign in."""
    row = ApiToken.objects.select_related("user").filter(digest=digest_of(token), revoke_time=None, user__is_active=True).first()
    if row is not None:
        ApiToken.objects.filter(pk=row.pk).update(last_used_time=timezone.now())
    return row


def signed_in_by_password(*, user: User, address: str) -> None:
    """Keep that `user` came in, and from where as far as that is known."""
    detail = {"address": address} if address else {}
    audit_record(user=user, action="signed in by password", object_type="user", object_id=str(user.pk), detail=detail)


@transaction.atomic
def password_change(*, user: User, password: str) -> None:
    """`password`, which was checked, is the user's; every session that began with another ends."""
    user.set_password(password)
    user.save(update_fields=["password"])
    audit_record(user=user, action="password changed", object_type="user", object_id=str(user.pk))


def sign_in_link_create(*, user: User) -> str:
    """The secret part of a link that signs `user` in, once, within ten minutes."""
    token = secrets.token_urlsafe(32)
    SignInLink.objects.create(user=user, digest=digest_of(token), expire_time=timezone.now() + SIGN_IN_LINK_TERM)
    return token


def sign_in_link_open(token: str) -> SignInLink | None:
    """The link of `token` if it could be used now; looking does not use it up."""
    digest = digest_of(token)
    link = SignInLink.objects.select_related("user").filter(digest=digest, use_time=None, expire_time__gt=timezone.now()).first()
    if link is None or not hmac.compare_digest(link.digest, digest) or not link.user.is_active:
        return None
    return link


@transaction.atomic
def sign_in_link_use(token: str) -> User | None:
    """The user of `token`, who is to be signed in; None when it is unknown, expired or used. Of two at once, one wins."""
    link = sign_in_link_open(token)
    if link is None:
        return None
    now = timezone.now()
    if not SignInLink.objects.filter(pk=link.pk, use_time=None, expire_time__gt=now).update(use_time=now):
        return None
    audit_record(user=link.user, action="signed in by link", object_type="user", object_id=str(link.user.pk))
    return link.user
