"""Columns of made-up values that look real: names, addresses, numbers. A value follows from a row's number and the seed alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from jobs.nodes import base
from jobs.nodes.form import ColumnName

if TYPE_CHECKING:
    import pyarrow as pa
    from faker import Faker

FakeKind = Literal[
    "name",
    "first_name",
    "last_name",
    "email",
    "phone_number",
    "company",
    "job",
    "street_address",
    "city",
    "postcode",
    "country",
    "country_code",
    "latitude",
    "longitude",
    "ipv4",
    "url",
    "user_agent",
    "uuid",
    "iban",
    "currency_code",
    "price",
    "color_name",
    "word",
    "sentence",
    "date",
    "boolean",
]
FakeLocale = Literal["en_US", "en_GB", "de_DE", "fr_FR", "es_ES", "it_IT", "ja_JP", "zh_CN", "pt_BR"]

#: Kinds that are no text, by their Spark type.
_TYPES: Mapping[str, str] = {
    "latitude": "double",
    "longitude": "double",
    "price": "decimal(10,2)",
    "date": "date",
    "boolean": "boolean",
}
#: How a kind is made where the library has no provider of that name, or one whose values would follow from today's date.
_MAKERS: Mapping[str, Callable[[Faker], Any]] = {
    "latitude": lambda fake: float(fake.latitude()),
    "longitude": lambda fake: float(fake.longitude()),
    "price": lambda fake: fake.pydecimal(right_digits=2, min_value=1, max_value=9_999),
    "date": lambda fake: fake.date_between(date(1970, 1, 1), date(2024, 12, 31)),
    "uuid": lambda fake: str(fake.uuid4()),
}


class FakeField(base.Config):
    """One column of made-up values."""

    name: ColumnName = Field(description="The column's name.", examples=["customer"])
    kind: FakeKind = Field(description="What its values look like.", examples=["name", "city"])


def fake_ddl(fields: Sequence[FakeField]) -> str:
    """The columns of `fields` as Spark writes them, each after a comma; "" of none."""
    return "".join(f", `{field.name.replace('`', '``')}` {_TYPES.get(field.kind, 'string')}" for field in fields)


class FakeRows:
    """Makes the columns of `fields`. About ten thousand values a second: it is made for looking real, not for speed."""

    def __init__(self, fields: Sequence[FakeField], locale: FakeLocale) -> None:
        from faker import Faker

        self._fake = Faker(locale, use_weighting=False)
        self._makers = [_MAKERS.get(field.kind) or _provided(field.kind) for field in fields]
        self._kinds = [field.kind for field in fields]

    def columns(self, seeds: Sequence[int]) -> list[pa.Array]:
        """One array per field, with a value for each of `seeds`: the same for the same seed and fields."""
        import pyarrow as pa

        rows = [self._row(seed) for seed in seeds]
        return [pa.array([row[index] for row in rows], _arrow_type(kind)) for index, kind in enumerate(self._kinds)]

    def _row(self, seed: int) -> list[Any]:
        self._fake.seed_instance(seed)
        return [make(self._fake) for make in self._makers]


def _provided(kind: str) -> Callable[[Faker], Any]:
    return lambda fake: getattr(fake, kind)()


def _arrow_type(kind: str) -> pa.DataType:
    import pyarrow as pa

    types = {"double": pa.float64(), "decimal(10,2)": pa.decimal128(10, 2), "date": pa.date32(), "boolean": pa.bool_()}
    return types.get(_TYPES.get(kind, ""), pa.string())
