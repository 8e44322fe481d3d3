"""API tokens: `Authorization: Bearer <token>`."""

import hashlib

from django.contrib.auth.models import AbstractBaseUser
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from jobs.models import ApiToken


class TokenAuthentication(BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[AbstractBaseUser, ApiToken] | None:
        scheme, _, token = get_authorization_header(request).decode("latin-1").partition(" ")
        if scheme.lower() != "bearer":
            return None
        row = (
            ApiToken.objects.select_related("user")
            .filter(digest=hashlib.sha256(token.strip().encode()).hexdigest(), revoke_time=None)
            .first()
        )
        if row is None or not row.user.is_active:
            raise AuthenticationFailed("the API token is unknown or was revoked")
        ApiToken.objects.filter(pk=row.pk).update(last_used_time=timezone.now())
        return row.user, row

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"
