"""/api/tokens: one's own API tokens."""

from typing import Annotated

from pydantic import StringConstraints
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.api.base import ApiView, answer, answer_list, body_read, described
from jobs.models import ApiToken, TokenScope
from jobs.selectors.refusals import Forbidden
from jobs.selectors.shapes.base import Body, Shape
from jobs.selectors.shapes.token import ScopeWord, TokenMadeOut, TokenOut
from jobs.selectors.tokens import token_get, token_made_out, token_out, tokens_of
from jobs.services.access import token_create, token_revoke


class TokenBody(Body):
    """`name` says what the token is for."""

    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]
    scope: ScopeWord = "READ"


class TokenList(Shape):
    results: list[TokenOut]
    next: str | None


def _signed_in_only(request: Request) -> None:
    """A token that leaked must not be able to make itself an heir, nor take away those of others."""
    if isinstance(request.auth, ApiToken):
        raise Forbidden("an API token cannot make or revoke tokens: sign in in the browser")


class TokensView(ApiView):
    @described("One's own API tokens that work, newest first", responds=TokenList, tag="tokens")
    def get(self, request: Request) -> Response:
        return answer_list([token_out(token) for token in tokens_of(self.user())])

    @described("Make an API token; its text is in this answer only", takes=TokenBody, responds=TokenMadeOut, status=201, tag="tokens")
    def post(self, request: Request) -> Response:
        _signed_in_only(request)
        body = body_read(request, TokenBody)
        token, text = token_create(user=self.user(), name=body.name, scope=TokenScope(body.scope))
        return answer(token_made_out(token, text), status=201)


class TokenView(ApiView):
    @described("Revoke one of one's own API tokens", status=204, tag="tokens")
    def delete(self, request: Request, token_id: int) -> Response:
        _signed_in_only(request)
        token_revoke(token=token_get(user=self.user(), token_id=token_id), user=self.user())
        return Response(status=204)
