"""Words of a query, several by comma, out of those there are."""

from collections.abc import Iterable, Mapping

from jobs.dag.problems import Problem
from jobs.selectors.refusals import Invalid


def words_asked(given: Mapping[str, str], name: str, known: Iterable[str]) -> list[str]:
    """The words of `given[name]` in capitals; Invalid for one that is not `known`, since it would silently find nothing."""
    words = [word.strip().upper() for word in given.get(name, "").split(",") if word.strip()]
    choices = sorted(known)
    unknown = [word for word in words if word not in choices]
    if unknown:
        message = f'{name} "{unknown[0][:100]}" is unknown: it is one or several of {", ".join(choices)}'
        raise Invalid("the query has problems", problems=[Problem(code="query.invalid", pointer=f"/{name}", message=message)])
    return words
