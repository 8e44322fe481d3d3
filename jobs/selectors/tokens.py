"""A user's own API tokens."""

from typing import TYPE_CHECKING, cast

from django.db.models import QuerySet

from jobs.models import ApiToken
from jobs.selectors.refusals import NotFound
from jobs.selectors.shapes.token import ScopeWord, TokenMadeOut, TokenOut

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def tokens_of(user: "User") -> QuerySet[ApiToken]:
    """The user's living tokens, newest first."""
    return ApiToken.objects.filter(user=user, revoke_time=None).order_by("-create_time", "-id")


def token_get(*, user: "User", token_id: int) -> ApiToken:
    """One living token of the user; NotFound for anybody else's."""
    token = tokens_of(user).filter(pk=token_id).first()
    if token is None:
        raise NotFound("you have no such API token")
    return token


def token_out(token: ApiToken) -> TokenOut:
    return TokenOut(
        id=token.pk,
        name=token.name,
        prefix=token.prefix,
        scope=cast(ScopeWord, str(token.scope)),
        create_time=token.create_time,
        last_used_time=token.last_used_time,
    )


def token_made_out(token: ApiToken, text: str) -> TokenMadeOut:
    """The token with its text, which is known at its making only."""
    return TokenMadeOut(**token_out(token).model_dump(), token=text)
