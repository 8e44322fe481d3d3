"""What every door has in common: reading a body, describing an operation, answering with a shape or a page of shapes."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import translation
from django.utils.cache import patch_vary_headers
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import BaseModel, ValidationError
from rest_framework.exceptions import ParseError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from jobs.api.errors import ConflictOut, ErrorOut
from jobs.api.pagination import CreateTimeCursorPagination
from jobs.api.query_check import query_check
from jobs.dag.pointers import pointer_of
from jobs.dag.problems import Problem
from jobs.dag.shape import value_words
from jobs.dag.unknown_fields import unknown_words
from jobs.nodes.form import field_words
from jobs.nodes.pattern_words import pattern_words
from jobs.selectors.query_words import query_refused
from jobs.selectors.refusals import Invalid, NotFound

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from pydantic_core import ErrorDetails

BodyT = TypeVar("BodyT", bound=BaseModel)
RowT = TypeVar("RowT", bound=Model)
ViewT = TypeVar("ViewT", bound=Callable[..., HttpResponseBase])

#: For responses and requests that are any JSON object, such as a document.
ANY_OBJECT = OpenApiTypes.OBJECT


class ApiView(APIView):
    """A view of the API; signed-in users only unless it says otherwise."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Words come in the language that the request asks for, where there are some in it."""
        with translation.override(translation.get_language_from_request(request)):
            response: HttpResponseBase = super().dispatch(request, *args, **kwargs)
        patch_vary_headers(response, ("Accept-Language",))
        return response

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """No database keeps NUL in a text: such an address or query names nothing."""
        super().initial(request, *args, **kwargs)
        if "\x00" in request.path or any("\x00" in value for values in request.query_params.lists() for value in values[1]):
            raise NotFound("there is nothing at this address")
        method = getattr(self, str(request.method).lower(), None)
        if isinstance(known := getattr(method, "query_known", None), dict):
            query_check(request, known)

    def user(self) -> "User":
        """Who asks; signed in, as the permissions saw to."""
        return cast("User", self.request.user)


def described(
    summary: str,
    *,
    responds: Any = None,
    takes: Any = None,
    status: int = 200,
    query: Sequence[OpenApiParameter] = (),
    tag: str | None = None,
) -> Callable[[ViewT], ViewT]:
    """The operation's place in the OpenAPI schema, with the errors any operation may answer; a query asks nothing else than `query`."""
    errors = {400: ErrorOut, 401: ErrorOut, 403: ErrorOut, 404: ErrorOut, 409: ConflictOut, 422: ErrorOut}
    schema = extend_schema(
        summary=summary,
        request=takes,
        responses={status: responds, **errors},
        parameters=list(query),
        tags=[tag] if tag else None,
    )

    def noted(method: ViewT) -> ViewT:
        described_method: ViewT = schema(method)
        vars(described_method)["query_known"] = {one.name: one.enum or () for one in query if one.location == OpenApiParameter.QUERY}
        return described_method

    return noted


def asked(name: str, help_text: str, kind: Any = str, *, choices: Sequence[str] | None = None) -> OpenApiParameter:
    """One optional query parameter."""
    return OpenApiParameter(name, kind, description=help_text, enum=choices)


PAGED = (asked("cursor", "Where the next page begins: part of `next`."), asked("page_size", "At most 200.", int))


def body_read(request: Request, model: type[BodyT]) -> BodyT:
    """The request's JSON as `model`; Invalid with one Problem per fault. An empty body counts as `{}`."""
    data = json_object(request)
    try:
        return model.model_validate(data)
    except ValidationError as error:
        problems = [_body_problem(model, data, fault) for fault in error.errors(include_url=False)[:50]]
        raise Invalid("the request has problems", code="body.invalid", problems=problems) from None


def _place(data: Any, loc: Sequence[str | int]) -> list[str | int]:
    """`loc` without what pydantic adds to it below a value, or before the number of an item: the names of a union's ways."""
    place: list[str | int] = []
    for part in loc:
        if place and not isinstance(data, dict | list):
            break
        if isinstance(data, list) and isinstance(part, str):
            continue
        place.append(part)
        data = data.get(part) if isinstance(data, dict) else data[part] if isinstance(part, int) and part < len(data) else None
    return place


def _body_problem(model: type[BaseModel], data: Any, fault: "ErrorDetails") -> Problem:
    place = _place(data, fault["loc"])
    return Problem(code=f"body.{fault['type']}", pointer=pointer_of(place), message=_fault_words(model, place, fault))


def _fault_words(model: type[BaseModel], place: Sequence[str | int], fault: "ErrorDetails") -> str:
    if fault["type"] == "extra_forbidden":
        return unknown_words("field", model, fault["loc"])
    field = "/".join(str(part) for part in place[-2 if place and isinstance(place[-1], int) else -1 :]) or "body"
    if fault["type"] == "string_pattern_mismatch":
        return pattern_words(model, fault["loc"], field_words(field))
    return value_words(field, fault) or fault["msg"]


def json_object(request: Request) -> dict[str, Any]:
    """The request's JSON object as it was sent."""
    data: Any = request.data
    if not isinstance(data, dict):
        raise ParseError("the body must be a JSON object")
    return dict(data)


def answer(shape: BaseModel, *, status: int = 200) -> Response:
    return Response(shape.model_dump(mode="json", by_alias=True), status=status)


def answer_list(shapes: Sequence[BaseModel], following: str | None = None) -> Response:
    return Response({"results": [shape.model_dump(mode="json", by_alias=True) for shape in shapes], "next": following})


def answer_page(
    view: APIView,
    request: Request,
    rows: QuerySet[RowT],
    shapes_of: Callable[[Sequence[RowT]], Sequence[BaseModel]],
    ordering: tuple[str, ...] | None = None,
    *,
    largest: int | None = None,
) -> Response:
    """One page of `rows` by cursor: over (create_time, id), newest first, unless another `ordering` is given.

    With `largest` a page holds so many rows, unless fewer are asked for.
    """
    paginator = CreateTimeCursorPagination()
    if largest is not None:
        paginator.page_size = paginator.max_page_size = largest
    if ordering is not None:
        paginator.ordering = ordering
    page = paginator.paginate_queryset(rows, request, view=view)
    return answer_list(shapes_of(cast(Sequence[RowT], page)), paginator.get_next_link())


def number_asked(request: Request, name: str, default: int, *, least: int, most: int) -> int:
    """A whole number of the query, kept within [least, most]."""
    text = request.query_params.get(name)
    if text in (None, ""):
        return default
    try:
        return max(least, min(most, int(str(text))))
    except ValueError:
        raise query_refused({name: f"{name} must be a whole number"}) from None
