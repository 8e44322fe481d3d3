"""One text or one run of bytes as a record: JSON, a line of CSV, Avro, XML or a package's own, with a mark where it is none."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jobs.nodes.avro import AVRO_END, AVRO_MARK, AvroSchemas, avro_record
from jobs.nodes.base import AS_IT_CAME
from jobs.nodes.csv_options import delimiter_sign
from jobs.nodes.formats import FORMATS
from jobs.nodes.misfits import SHOWN_TEXT, misfit
from jobs.nodes.xml_roots import more_than_one_root

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import StructType

#: The field into which Spark puts a text that does not fit the others.
CORRUPT = "_corrupt_record"

#: What is wrong with a text of which Spark's parser makes a record all the same.
_READ_ALL_THE_SAME = {
    "json": "more stands behind its JSON object",
    "xml": "more stands behind its XML element",
    "csv": "a value begins with a quote that is never closed",
}


@dataclass(frozen=True)
class RecordShape:
    """How a record is written – JSON, CSV, Avro, XML or as a package does – and its columns.

    `delimiter` and `null_value` are of CSV, `avro` of Avro.
    """

    format: str
    schema: StructType
    delimiter: str = ","
    avro: AvroSchemas | None = None
    null_value: str = ""


def record_parsed(value: Column, name: str, shape: RecordShape) -> tuple[Column, Column]:
    """The record in `value` as a struct, to become the column `name`, and whether that column then holds none (null counts as none)."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import StringType, StructField, StructType

    if shape.format == "avro":
        assert shape.avro is not None
        return avro_record(value, shape.avro), ~F.col(f"{name}.{AVRO_MARK}").eqNullSafe(F.lit(AVRO_END))
    if (brought := FORMATS.get(shape.format)) is not None:
        return brought.read(value, shape.schema), F.col(name).isNull()
    text = value.cast("string")
    whole = StructType([*shape.schema.fields, StructField(CORRUPT, StringType(), True)])
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": CORRUPT}
    is_bad = F.col(name).isNull() | F.col(f"{name}.{CORRUPT}").isNotNull()
    if shape.format == "json":
        return F.from_json(text, whole, options), is_bad | _goes_on(text)
    if shape.format == "xml":
        return F.from_xml(text, whole, options), is_bad | more_than_one_root(text)
    return F.from_csv(text, whole.toDDL(), options | _csv_options(shape)), is_bad | _is_open(text, shape.delimiter)


def record_misfit(value: Column, name: str, shape: RecordShape, words: str) -> tuple[Column, str]:
    """`words` about a `value` that `record_parsed` did not find a record in, with the value; and the SQL that tells more (`misfit_told`).

    A record that is in the column `name` all the same is here for what Spark's parser passes over.
    """
    from pyspark.sql import functions as F

    text = value.cast("string") if FORMATS.is_text(shape.format) else F.hex(value.cast("binary"))
    start = F.substring(text, 1, SHOWN_TEXT)
    if shape.format in ("json", "csv"):
        reason, told = misfit(words, text, shape.schema, shape.format, _csv_options(shape))
    else:
        reason, told = F.concat(F.lit(words + AS_IT_CAME), start), ""
    if shape.format not in _READ_ALL_THE_SAME:
        return reason, told
    fits = F.col(name).isNotNull() & F.col(f"{name}.{CORRUPT}").isNull()
    return F.when(fits, F.concat(F.lit(f"{words}: {_READ_ALL_THE_SAME[shape.format]}{AS_IT_CAME}"), start)).otherwise(reason), told


def _csv_options(shape: RecordShape) -> dict[str, str]:
    return {"sep": shape.delimiter, "escape": '"', "nullValue": shape.null_value}


def _goes_on(text: Column) -> Column:
    """Whether there is more behind the JSON object that `text` begins with, which Spark's parser would leave unread.

    A text whose only } is its end needs no second look, and costs next to nothing. Another has to be the first of two elements of a
    list, before an empty object: counting them costs half of what reading them does, but knows no NaN.
    """
    from pyspark.sql import functions as F

    whole = text.cast("binary")
    before_end = whole.substr(F.lit(1), F.octet_length(whole) - 1).cast("string")
    is_plain = F.endswith(text, F.lit("}")) & ~F.contains(before_end, F.lit("}"))
    listed = F.concat(F.lit("["), text, F.lit(",{}]"))
    read = F.size(F.from_json(listed, "array<struct<`__nothing`: int>>"))
    return ~is_plain & ~F.coalesce(F.json_array_length(listed) == 2, read == 2, F.lit(False))


def _is_open(text: Column, delimiter: str) -> Column:
    """Whether the last value of a line of CSV begins with a quote that is never closed, as where a message was cut off: Spark takes all
    that follows for the value. A line with an even number of quotes needs no second look."""
    from pyspark.sql import functions as F

    sign = delimiter_sign(delimiter)
    if len(sign) != 1:
        return F.lit(False)
    rest = f"[^{re.escape(sign)}]*+"
    value = f'(?:"[^"]*+(?:""[^"]*+)*+"{rest}|(?!"){rest})'
    is_odd = (F.length(text) - F.length(F.replace(text, F.lit('"'), F.lit("")))) % 2 == 1
    is_closed = F.rlike(text, F.lit(f"(?s)^{value}(?:{re.escape(sign)}{value})*+$"))
    return F.coalesce(F.contains(text, F.lit('"')) & is_odd & ~is_closed, F.lit(False))
