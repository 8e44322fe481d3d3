"""A person's function called for each batch of rows, as Arrow or as pandas has them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import pyarrow as pa

from jobs.nodes.base import NodeError
from jobs.nodes.user_python.code import FUNCTION
from jobs.nodes.user_python.columns import UNFIT, misfit, shown, type_words
from jobs.nodes.user_python.exact import exact_check
from jobs.nodes.user_python.loaded import Code

#: A pyarrow RecordBatch or Table, of which mypy knows nothing.
_Given: TypeAlias = Any
_KINDS = (pa.RecordBatch, pa.Table)
_END = object()


@dataclass(frozen=True)
class BatchByBatch:
    """`names`: of the columns that come, which Spark numbers. What does not fit `schema`, that of the rows that go on, ends the job
    with the column's name."""

    code: Code
    schema: pa.Schema
    shape: Literal["arrow", "pandas"]
    names: tuple[str, ...]

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batches of `schema`: no row is refused by itself here."""
        function = self.code.load()
        for batch in batches:
            for made in self._made(function, batch.rename_columns(list(self.names))):
                fitted = self._fitted(made)
                yield from fitted.to_batches() if isinstance(fitted, pa.Table) else (fitted,)

    def _made(self, function: Callable[[Any], Any], batch: pa.RecordBatch) -> Iterator[_Given]:
        with self.code.told():
            made = function(_as_pandas(batch) if self.shape == "pandas" else batch)
        if made is None:
            return
        several = made if isinstance(made, Iterator) else iter(made if isinstance(made, list | tuple) else (made,))
        while True:
            with self.code.told():
                one = next(several, _END)
            if one is _END:
                return
            if one is not None:  # left out
                yield self._arrow(one)

    def _arrow(self, made: Any) -> _Given:
        if self.shape == "arrow":
            if isinstance(made, _KINDS):
                return made
            raise _refused(f"{FUNCTION} returned {type(made).__name__}: return a pyarrow RecordBatch or Table, or yield several")
        import pandas

        if not isinstance(made, pandas.DataFrame):
            raise _refused(f"{FUNCTION} returned {type(made).__name__}: return a pandas DataFrame, or yield several")
        self._check_names([str(name) for name in made.columns])
        columns = [_of_series(made[name], self.schema.field(name)) for name in self.schema.names]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def _fitted(self, made: _Given) -> _Given:
        """The same object where nothing has to be done: the usual case costs a comparison."""
        if made.schema.equals(self.schema):
            return made
        self._check_names(made.schema.names)
        columns = [_cast(made.column(column.name), column) for column in self.schema]
        return type(made).from_arrays(columns, schema=self.schema)

    def _check_names(self, names: list[str]) -> None:
        wanted = self.schema.names
        if missing := [name for name in wanted if name not in names]:
            raise _refused(f"what {FUNCTION} returned lacks the column {', '.join(missing)}; it has {', '.join(names)}")
        if extra := [name for name in names if name not in wanted]:
            raise _refused(f"the columns do not list {', '.join(extra)}, which {FUNCTION} returned: add it there, or leave it out")
        if len(names) != len(wanted):
            raise _refused(f"{FUNCTION} returned a column twice: {', '.join(sorted({name for name in names if names.count(name) > 1}))}")


def _as_pandas(batch: pa.RecordBatch) -> Any:
    """Whole numbers stay whole numbers where some are missing: as floats, large ones would change."""
    import pandas

    whole = {
        pa.int8(): pandas.Int8Dtype(),
        pa.int16(): pandas.Int16Dtype(),
        pa.int32(): pandas.Int32Dtype(),
        pa.int64(): pandas.Int64Dtype(),
    }
    with_gaps = {column.type for column in batch.columns if column.null_count}
    return batch.to_pandas(date_as_object=True, types_mapper=lambda kind: whole.get(kind) if kind in with_gaps else None)


def _of_series(series: Any, column: pa.Field) -> pa.Array:
    try:
        if series.dtype == object:
            exact_check(series[series.notna()].tolist(), column.type)
        return pa.Array.from_pandas(series, type=column.type)
    except UNFIT as error:
        raise _misfit(column, series, error) from None


def _cast(given: Any, column: pa.Field) -> Any:
    try:
        return given.cast(column.type)
    except (pa.ArrowException, ValueError) as error:
        raise _misfit(column, (), error) from None


def _misfit(column: pa.Field, values: Iterable[Any], error: Exception) -> NodeError:
    """The first value that does not fit, else what Arrow says."""
    alone = pa.schema([column])
    found = next((value for value in values if misfit({column.name: value}, alone)), None)
    told = f"{shown(found)} is no {type_words(column.type)}" if found is not None else str(error).partition("\n")[0]
    return _refused(f"the column {column.name}, as {FUNCTION} returned it, does not fit {type_words(column.type)}: {told}")


def _refused(message: str) -> NodeError:
    return NodeError(f"its Python failed: {message}", permanent=True, kind="user", field="code")
