"""Words of a query out of those there are: one, several by comma, or yes and no."""

from collections.abc import Iterable, Mapping

from jobs.dag.pointers import pointer_of
from jobs.dag.problems import Problem
from jobs.selectors.refusals import Invalid

_YES, _NO = ("true", "1", "yes"), ("false", "0", "no")


def words_asked(given: Mapping[str, str], name: str, known: Iterable[str]) -> list[str]:
    """The words of `given[name]` as they are `known`; Invalid for one that is not, since it would silently find nothing."""
    words = [word.strip() for word in given.get(name, "").split(",") if word.strip()]
    choices = {word.upper(): word for word in sorted(known)}
    unknown = [word for word in words if word.upper() not in choices]
    if unknown:
        raise query_refused({name: f'{name} "{unknown[0][:100]}" is unknown: it is one or several of {", ".join(choices.values())}'})
    return [choices[word.upper()] for word in words]


def truth_asked(given: Mapping[str, str], name: str) -> bool | None:
    """None where `given` has no `name`, or an empty one; Invalid for a word that is neither yes nor no."""
    word = given.get(name, "").strip().lower()
    if word not in ("", *_YES, *_NO):
        raise query_refused({name: f"{name} must be true or false"})
    return word in _YES if word else None


def text_asked(given: Mapping[str, str], name: str, *, most: int = 200) -> str:
    """A text of the query; "" if it was not given. One that is longer than `most` characters is refused, not cut."""
    text = given.get(name, "")
    if len(text) <= most:
        return text
    raise query_refused({name: f"{name} has {len(text):,} characters; at most {most:,} are kept"})


def query_refused(told: Mapping[str, str], *, code: str = "query.invalid") -> Invalid:
    """`told`: name of a parameter → what is wrong with it."""
    problems = [Problem(code=code, pointer=pointer_of([name]), message=message) for name, message in told.items()]
    return Invalid("the query has problems", problems=problems)
