"""Types as a form takes them: what passes is what Spark reads, and what does not is told from where on."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from jobs.nodes.column_types import SIMPLE_TYPES, type_checked
from jobs.nodes.columns import schema_from_ddl, type_text

NAMES = st.sampled_from(["id", "_a1", "`a b`", "`日,期`", "`x``y`", "`a>b`"])
TYPES = st.recursive(
    st.sampled_from([*SIMPLE_TYPES, "tinyint", "smallint", "decimal(18, 2)", "decimal(9,0)"]),
    lambda inner: st.one_of(
        inner.map(lambda kind: f"array<{kind}>"),
        inner.map(lambda kind: f"map<string, {kind}>"),
        st.lists(st.tuples(NAMES, inner), min_size=1, max_size=3, unique_by=lambda pair: pair[0]).map(
            lambda fields: f"struct<{', '.join(f'{name}: {kind}' for name, kind in fields)}>"
        ),
    ),
    max_leaves=6,
)


@pytest.mark.spark
@given(kind=TYPES)
def test_what_passes_is_what_spark_reads_and_writes(spark: SparkSession, kind: str) -> None:
    assert type_checked(kind) == kind
    (field,) = schema_from_ddl(f"value {kind}").fields
    assert type_checked(type_text(field.dataType))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "(its end)"),
        ("text", "text"),
        ("strings", "strings"),
        ("string; drop", "; drop"),
        ("decimal(18)", "decimal(18)"),
        ("array<>", ">"),
        ("array<string", "(its end)"),
        ("array<string>>", ">"),
        ("map<int, string>", "map<int, string>"),
        ("struct<a>", "a>"),
        ("struct<a: string, >", " >"),
        ("struct<a: string b: int>", " b: int>"),
        ("struct<`a: string>", "`a: string>"),
        ("array<" * 30 + "int" + ">" * 30, "array<array<"),
    ],
)
def test_what_is_no_type_is_told_from_where_on(text: str, told: str) -> None:
    with pytest.raises(ValueError, match="types are string, boolean") as caught:
        type_checked(text)
    assert str(caught.value).startswith(f'from "{told[:20]}')


def test_a_struct_may_have_many_fields() -> None:
    assert type_checked(f"struct<{','.join(f'c{number}:int' for number in range(1200))}>")
