"""What a validator says of one place in what it validates."""

from __future__ import annotations

from collections.abc import Sequence


class ConfigRefused(ValueError):
    """`path`: from what is validated to what is wrong, such as ("branches", 1, "name")."""

    def __init__(self, message: str, *path: str | int) -> None:
        super().__init__(message)
        self.path = path


def place_of_second(names: Sequence[str]) -> int | None:
    """Where the first of `names` stands that was there before."""
    return next((place for place, name in enumerate(names) if name in names[:place]), None)


def check_comes_out_once(fixed: Sequence[str], group_by: Sequence[str], field: str, made: Sequence[str]) -> None:
    """ConfigRefused on the second of two columns with one name: those of windows, then those grouped by, then the rows of `field`."""
    names = [name.lower() for name in (*fixed, *group_by, *made)]
    if (second := place_of_second(names)) is None:
        return
    twice = ", ".join(sorted({name for name in names if names.count(name) > 1}))
    row = second - len(fixed)
    path = ("group_by", row) if row < len(group_by) else (field, row - len(group_by), "name")
    raise ConfigRefused(f"{twice} would come out more than once: choose other names", *path)
