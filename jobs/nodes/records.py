"""One text or one run of bytes as a record: JSON, a line of CSV, Avro, XML or a package's own, with a mark where it is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jobs.nodes.avro import AVRO_END, AVRO_MARK, AvroSchemas, avro_record
from jobs.nodes.base import AS_IT_CAME
from jobs.nodes.csv_lines import OPEN, csv_is_no_line, csv_is_open, csv_line, csv_line_options
from jobs.nodes.formats import FORMATS
from jobs.nodes.json_records import GOES_ON, json_goes_on, json_record
from jobs.nodes.misfits import misfit
from jobs.nodes.xml_roots import more_than_one_root

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession
    from pyspark.sql.types import StructType

#: The field into which Spark puts a text that does not fit the others.
CORRUPT = "_corrupt_record"

#: What is wrong with a text of which Spark's parser makes a record all the same.
_READ_ALL_THE_SAME = {
    "json": "more stands behind its JSON object",
    "xml": "more stands behind its XML element",
    "csv": "more lines stand behind the first",
}


@dataclass(frozen=True)
class RecordShape:
    """How a record is written – JSON, CSV, Avro, XML or as a package does – and its columns.

    `delimiter` and `null_value` are of CSV, `avro` of Avro. `plainly`: it is read by PySpark alone, as a script has to.
    """

    format: str
    schema: StructType
    delimiter: str = ","
    avro: AvroSchemas | None = None
    null_value: str = ""
    plainly: bool = False


def record_parsed(spark: SparkSession, value: Column, name: str, shape: RecordShape) -> tuple[Column, Column]:
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
    if shape.format == "json" and not shape.plainly:
        return json_record(spark, text, shape.schema, CORRUPT), is_bad
    if shape.format == "json":
        return F.from_json(text, whole, options), is_bad | json_goes_on(text)
    if shape.format == "xml":
        return F.from_xml(text, whole, options), is_bad | more_than_one_root(text)
    return F.from_csv(csv_line(text), whole.toDDL(), options | _csv_options(shape)), is_bad | csv_is_no_line(text, shape.delimiter)


def record_misfit(value: Column, name: str, shape: RecordShape, words: str) -> tuple[Column, str]:
    """`words` about a `value` that `record_parsed` did not find a record in, with the value; and the SQL that tells more (`misfit_told`).

    A record that is in the column `name` all the same is here for what Spark's parser passes over.
    """
    from pyspark.sql import functions as F

    text = value.cast("string") if FORMATS.is_text(shape.format) else F.hex(value.cast("binary"))
    if shape.format in ("json", "csv"):
        reason, told = misfit(words, text, shape.schema, shape.format, _csv_options(shape))
    else:
        reason, told = F.concat(F.lit(words + AS_IT_CAME), text), ""
    if shape.format not in _READ_ALL_THE_SAME:
        return reason, told
    is_read = F.col(name).isNotNull() & (F.coalesce(F.col(f"{name}.{CORRUPT}"), F.lit(GOES_ON)) == GOES_ON)
    is_read &= F.rlike(text, F.lit(r"\S"))  # nothing stands behind a text of none
    what = F.lit(f"{words}: {_READ_ALL_THE_SAME[shape.format]}{AS_IT_CAME}")
    if shape.format == "csv":
        what = F.when(csv_is_open(text), F.lit(f"{words}: {OPEN}{AS_IT_CAME}")).otherwise(what)
    return F.when(is_read, F.concat(what, text)).otherwise(reason), told


def _csv_options(shape: RecordShape) -> dict[str, str]:
    return csv_line_options(shape.delimiter, shape.null_value)
