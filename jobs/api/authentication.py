"""API tokens: `Authorization: Bearer <token>`, and what a token may do."""

from typing import TYPE_CHECKING

from django.contrib.auth.models import AbstractBaseUser
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from jobs.models import ApiToken, TokenScope
from jobs.services.access import token_open

if TYPE_CHECKING:
    from rest_framework.views import APIView


class TokenAuthentication(BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[AbstractBaseUser, ApiToken] | None:
        scheme, _, token = get_authorization_header(request).decode("latin-1").partition(" ")
        if scheme.lower() != "bearer":
            return None
        row = token_open(token.strip())
        if row is None:
            raise AuthenticationFailed("the API token is unknown or was revoked")
        return row.user, row

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class TokenScopePermission(BasePermission):
    """A token that may only look reads; whoever signed in may do all that the roles allow."""

    message = "this API token may only read: use one that may do everything"

    def has_permission(self, request: Request, view: "APIView") -> bool:
        token = request.auth
        return not isinstance(token, ApiToken) or token.scope == TokenScope.FULL or request.method in SAFE_METHODS
