"""`sink.jdbc` on MySQL and MariaDB: rows come as INSERT statements that Spark wrote, and every batch in one transaction."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Literal

from jobs.nodes.base import ConnectionSettings, Limits, NodeError
from jobs.nodes.connections.mysql import drop_when_idle, mysql_away, mysql_close, mysql_open
from jobs.nodes.json_options import JSON_AS_WRITTEN
from jobs.nodes.node_error import SystemAway
from jobs.nodes.sinks.jdbc_dialect import ORDINAL_COLUMN, Dialect, Merge, Refused, TableName, TargetColumn
from jobs.nodes.sinks.mysql_rows import insert_files, insert_rows, row_line

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType, StructType

#: A float of this database loses digits on the way out. Years and fractions of seconds are kept by no other type than datetime(6).
_TYPES: Mapping[str, str] = {
    "boolean": "boolean",
    "tinyint": "tinyint",
    "smallint": "smallint",
    "int": "int",
    "bigint": "bigint",
    "float": "double",
    "double": "double",
    "date": "date",
    "timestamp": "datetime(6)",
    "timestamp_ntz": "datetime(6)",
    "binary": "longblob",
}
_KEY_TYPES: Mapping[str, str] = {"longtext": "varchar(255)", "longblob": "varbinary(255)"}
#: Staged as they are; all others as text, which the target's own column reads, so that a value it does not take stops there.
_STAGED: Mapping[str, str] = {
    "boolean": "tinyint",
    "tinyint": "int",
    "smallint": "int",
    "int": "int",
    "bigint": "bigint",
    "binary": "longblob",
}
_MOST_DECIMALS = 30
SESSION = (
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION', "
    "autocommit = 0"
)
#: Error numbers: a value that its column does not take; a rule of the table that a row breaks.
_VALUE_FAULTS = frozenset({1264, 1265, 1292, 1366, 1367, 1406, 1411, 1416, 1426, 1441, 1525, 1690, 1918, 3140})
_RULE_FAULTS = frozenset({1048, 1062, 1216, 1217, 1364, 1369, 1451, 1452, 1557, 1644, 3819, 4025})
_REMEDIES: Mapping[frozenset[int], str] = {
    _VALUE_FAULTS: "change the column's type, or convert the value before",
    _RULE_FAULTS: "correct the rows, or the table's rule",
    frozenset({1044, 1045, 1049, 1054, 1064, 1142, 1143, 1146, 1227}): "correct the table or the column, or the user's rights",
    frozenset({1153, 1301}): "raise the server's max_allowed_packet, or shorten the row before",
}
#: Spark's types that are staged as text, see _STAGED.
_NUMBERS_AS_TEXT = frozenset({"decimal", "float", "double"})
#: A value that is shorter than such a column is stored with zeros behind it.
_FILLED_UP = re.compile(r"binary\((\d+)\)")
_DATED = re.compile(r"(?:datetime|timestamp)(\(\d\))?")


class MysqlDialect(Dialect):
    kind: ClassVar[str] = "mysql"
    placeholder: ClassVar[str] = "%s"
    files_above: ClassVar[int | None] = 10_000
    marker_types: ClassVar[Mapping[str, str]] = {"text": "varchar(100)", "integer": "int", "bigint": "bigint", "time": "datetime"}

    def __init__(self, settings: ConnectionSettings, limits: Limits, rows_at_a_time: int = 10_000) -> None:
        super().__init__(settings, limits, rows_at_a_time)
        self._is_mariadb = True

    @property
    def table_options(self) -> str:  # type: ignore[override]
        """Texts are equal only when they are the same, blanks at the end included."""
        collation = "utf8mb4_nopad_bin" if self._is_mariadb else "utf8mb4_0900_bin"
        return f" ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {collation}"

    @contextmanager
    def transaction(self) -> Iterator[Any]:
        """What makes or changes a table ends it here and there: only `begin` does that, where each step stands for itself."""
        import pymysql

        session = mysql_open(self.settings)
        self._is_mariadb = "MariaDB" in session.get_server_info()
        try:
            drop_when_idle(session)
            with session.cursor() as cursor:
                cursor.execute(SESSION)
                cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
                cursor.execute("START TRANSACTION")
                yield cursor
            session.commit()
        except pymysql.Error as error:
            raise self.sentence(error) from error
        finally:
            mysql_close(session)

    def lock_definitions(self, cursor: Any) -> None:
        """Held until the session ends."""
        cursor.execute("SELECT GET_LOCK('pipeline_sink_marker', 30)")
        if cursor.fetchone()[0] != 1:
            raise NodeError(f'writing to "{self.settings.name}": another job makes its tables for too long; it is tried again')

    def lock_target(self, cursor: Any) -> None:
        """The marker's row is the lock."""

    def columns(self, cursor: Any, table: TableName) -> list[TargetColumn]:
        cursor.execute(
            "SELECT column_name, column_type, is_nullable = 'YES' OR column_default IS NOT NULL OR extra LIKE '%%auto_increment%%', "
            "coalesce(collation_name, '') FROM information_schema.columns "
            "WHERE table_schema = coalesce(%s, database()) AND table_name = %s ORDER BY ordinal_position",
            (table.schema or None, table.table),
        )
        return [TargetColumn(name, column_type, bool(optional), collation) for name, column_type, optional, collation in cursor.fetchall()]

    def has_unique_key(self, cursor: Any, table: TableName, keys: Sequence[str]) -> bool:
        cursor.execute(
            "SELECT index_name, column_name, sub_part FROM information_schema.statistics "
            "WHERE table_schema = coalesce(%s, database()) AND table_name = %s AND non_unique = 0",
            (table.schema or None, table.table),
        )
        indexes: dict[str, set[str | None]] = {}
        for index, column, only_its_start in cursor.fetchall():
            indexes.setdefault(index, set()).add(None if column is None or only_its_start else column.lower())
        return {key.lower() for key in keys} in indexes.values()

    def target_fault(self, cursor: Any, table: TableName) -> str:
        cursor.execute(
            "SELECT e.engine FROM information_schema.tables t JOIN information_schema.engines e ON e.engine = t.engine "
            "WHERE t.table_schema = coalesce(%s, database()) AND t.table_name = %s AND e.transactions <> 'YES'",
            (table.schema or None, table.table),
        )
        found = cursor.fetchone()
        return f"is kept by {found[0]}, which knows no transactions; ALTER TABLE it to ENGINE=InnoDB" if found else ""

    def column_type(self, spark_type: DataType, *, key: bool) -> str:
        name = spark_type.simpleString()
        found = _TYPES.get(name, "longtext")
        if name.startswith("decimal") and int(name.rstrip(")").split(",")[1]) <= _MOST_DECIMALS:
            found = name
        return _KEY_TYPES.get(found, found) if key else found

    def value_column(self, column: Column, spark_type: DataType) -> Column:
        from pyspark.sql import functions as F

        name = spark_type.simpleString()
        if name in _TYPES or name == "string" or name.startswith("decimal"):
            return column
        if name.startswith(("array", "map", "struct")):
            return F.to_json(column, JSON_AS_WRITTEN)
        return column.cast("string")

    def bound_rows(self, frame: DataFrame, schema: StructType) -> Iterable[str]:
        """All of them before the transaction begins: it must not idle while Spark computes."""
        return [line for (line,) in frame.select(row_line(frame)).collect()]

    def stage_rows(self, cursor: Any, name: str, schema: StructType, rows: Iterable[str], refused: Refused | None) -> str:
        insert_rows(cursor, f"{self._staging_create(cursor, name, schema)} VALUES ", rows, self.rows_at_a_time)
        return self.quoted(name)

    def stage_files(
        self, cursor: Any, name: str, schema: StructType, files: Iterable[BinaryIO | None], refused: Refused | None
    ) -> tuple[str, int]:
        return self.quoted(name), insert_files(cursor, f"{self._staging_create(cursor, name, schema)} VALUES ", files)

    def append_files(self, cursor: Any, table: TableName, columns: Sequence[str], files: Iterable[BinaryIO | None]) -> int:
        names = ", ".join(self.quoted(name) for name in columns)
        return insert_files(cursor, f"INSERT INTO {self.qualified(table)} ({names}) VALUES ", files)

    def line(self, frame: DataFrame) -> Column:
        return row_line(frame)

    def takes_as_sent(self, target: TargetColumn, spark_type: DataType) -> bool:
        """A literal is assigned as a staged value is; but bits of a text are those of its letters, also where it is a number's."""
        return not (_is_bits(target) and spark_type.typeName() in _NUMBERS_AS_TEXT)

    def _staging_create(self, cursor: Any, name: str, schema: StructType) -> str:
        """The beginning of the statement that fills it."""
        types = [(field.name, _STAGED.get(field.dataType.simpleString(), "longtext")) for field in schema.fields]
        columns = [f"{self.quoted(column)} {staged}" for column, staged in types]
        ordinal = f"{ORDINAL_COLUMN} bigint AUTO_INCREMENT PRIMARY KEY"
        cursor.execute(f"CREATE TEMPORARY TABLE {self.quoted(name)} ({', '.join([*columns, ordinal])}){self.table_options}")
        return f"INSERT INTO {self.quoted(name)} ({', '.join(self.quoted(column) for column, _ in types)})"

    def merge_statements(self, merge: Merge) -> list[str]:
        """ON DUPLICATE KEY would replace a row that is the same by any unique key, so rows are told apart here by `keys` alone."""
        target = self.qualified(merge.target)
        into = ", ".join(self.quoted(name) for name in [*(column.name for column in merge.columns.values()), *merge.extra])
        staged = [_as_assigned(f"s.{self.quoted(name)}", column, merge.types.get(name, "")) for name, column in merge.columns.items()]
        taken = ", ".join([*staged, *(self.literal(value) for value in merge.extra.values())])
        if not merge.keys:
            return [f"INSERT INTO {target} ({into}) SELECT {taken} FROM {merge.rows} s ORDER BY {ORDINAL_COLUMN}"]
        keys = list(merge.key_columns.items())
        same = " AND ".join(f"t.{self.quoted(key.name)} = s._key{n}" for n, (_, key) in enumerate(keys))
        latest = f"({self._latest(merge, keys)}) s"
        flag = f"coalesce(s.{self.quoted(merge.delete_flag)}, 0)" if merge.delete_flag else "0"
        delete = f"DELETE t FROM {target} t JOIN {latest} ON {same} AND {'' if merge.is_partial else 's._rank = 1 AND '}{flag}"
        settings = ", ".join(
            f"t.{self.quoted(column.name)} = {_as_assigned(f's.{self.quoted(name)}', column, merge.types.get(name, ''))}"
            for name, column in merge.changed.items()
        )
        update = f"UPDATE {target} t JOIN {latest} ON {same} AND s._rank = 1 AND NOT {flag} SET {settings}"
        living = self.living_rows(merge, ", ".join(f"_key{n}" for n in range(len(keys))), f"({self._latest(merge, keys)})")
        first, last = (
            f"INSERT INTO {target} ({into}) SELECT {taken} FROM {rows} LEFT JOIN {target} t ON {same} "
            f"WHERE {chosen} AND t.{self.quoted(keys[0][1].name)} IS NULL ORDER BY s.{ORDINAL_COLUMN}"
            for rows, chosen in (
                (f"{living} s", "s._place_of_key = 1 AND s._rows_of_key > 1"),
                (latest, f"s._rank = 1 AND NOT {flag}"),
            )
        )
        return [
            *([delete] if merge.delete_flag else []),
            *([first] if merge.is_partial else []),
            *([update] if settings else []),
            last,
        ]

    def refusal(self, error: BaseException | None) -> str:
        import pymysql

        told = isinstance(error, pymysql.Error) and len(error.args) > 1 and error.args[0] in _VALUE_FAULTS | _RULE_FAULTS
        return str(error.args[1]) if error is not None and told else ""

    def sentence(self, error: BaseException) -> NodeError:
        code, words = (error.args[0], str(error.args[1])) if len(error.args) > 1 else (0, str(error))
        remedy = next((remedy for codes, remedy in _REMEDIES.items() if code in codes), "")
        kind: Literal["user", "external"] = "user" if remedy else "external"
        told = f"{words or 'the line was lost'}; {remedy or 'it is tried again'}"
        message = f'writing to "{self.settings.name}": {told}'
        return SystemAway(message) if mysql_away(error) else NodeError(message, permanent=bool(remedy), kind=kind)

    def in_transaction(self, cursor: Any) -> bool:
        from pymysql.constants.SERVER_STATUS import SERVER_STATUS_IN_TRANS

        return bool(cursor.connection.server_status & SERVER_STATUS_IN_TRANS)

    def _latest(self, merge: Merge, keys: Sequence[tuple[str, TargetColumn]]) -> str:
        """Staged rows with their keys as the target compares them; `_rank` 1 is the last row of its key."""
        values = [_as_compared(f"r.{self.quoted(name)}", column, merge.types.get(name, "")) for name, column in keys]
        shown = ", ".join(f"{value} AS _key{n}" for n, value in enumerate(values))
        rank = f"ROW_NUMBER() OVER (PARTITION BY {', '.join(values)} ORDER BY r.{ORDINAL_COLUMN} DESC) AS _rank"
        return f"SELECT r.*, {shown}, {rank} FROM {merge.rows} r"

    def quoted(self, name: str) -> str:
        return "`" + name.replace("`", "``") + "`"


def _is_bits(column: TargetColumn) -> bool:
    return column.type.startswith("bit(")


def _as_assigned(value: str, column: TargetColumn, spark_type: str) -> str:
    """SQL of a staged `value` as `column` takes it: a number that was staged as text is one again where its letters would count."""
    return f"CAST({value} AS DECIMAL(20,0))" if _is_bits(column) and spark_type in _NUMBERS_AS_TEXT else value


def _as_compared(value: str, column: TargetColumn, spark_type: str = "") -> str:
    """SQL of a staged `value` with the type and the collation of `column`, as it would be after it was stored."""
    if column.collation:
        stored = f"TRIM(TRAILING ' ' FROM {value})" if column.type.startswith("char(") else value
        return f"CONVERT({stored} USING {column.collation.partition('_')[0]}) COLLATE {column.collation}"
    if found := _FILLED_UP.fullmatch(column.type):
        return f"RPAD(CAST({value} AS BINARY), GREATEST(LENGTH({value}), {found[1]}), x'00')"
    if _is_bits(column) and spark_type in ("binary", "string"):
        return f"CAST(CONV(HEX({value}), 16, 10) AS UNSIGNED)"
    if _is_bits(column):
        return _as_assigned(value, column, spark_type)
    if found := _DATED.fullmatch(column.type):
        return f"CAST({value} AS DATETIME{found[1] or ''})"
    if column.type == "date" or column.type.startswith(("time", "decimal")):
        return f"CAST({value} AS {column.type.partition(' ')[0]})"
    if column.type.startswith(("double", "float")):
        return f"CAST({value} AS DOUBLE)"
    if "int" in column.type:
        return f"CAST({value} AS {'UNSIGNED' if 'unsigned' in column.type else 'SIGNED'})"
    return value
