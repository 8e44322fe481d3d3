"""API tokens: `Authorization: Bearer <token>`."""

from django.contrib.auth.models import AbstractBaseUser
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from jobs.models import ApiToken
from jobs.services.access import token_open


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
