"""A query holds only what its operation can be asked, and of each what it takes."""

from collections.abc import Mapping, Sequence

from rest_framework.request import Request

from jobs.dag.unknown_fields import unknown_name_words
from jobs.selectors.query_words import query_refused

#: A list that always is one page may be asked for pages, too.
_OF_PAGES = frozenset({"cursor", "page_size"})


def query_check(request: Request, known: Mapping[str, Sequence[str]]) -> None:
    """Invalid where it asks for anything that is not `known`: a misspelt filter would list all, a misspelt key take off all.

    `known`: name → the values that there are; none where others are taken.
    """
    unknown = [name for name in request.query_params if name not in known and name not in _OF_PAGES]
    if unknown:
        told = {name: unknown_name_words("parameter", name, list(known)) for name in unknown[:50]}
        raise query_refused(told, code="query.unknown")
    wrong = {name: values for name, values in known.items() if values and request.query_params.get(name, "") not in ("", *values)}
    if wrong:
        raise query_refused({name: f"{name} must be one of {', '.join(values)}" for name, values in wrong.items()})
