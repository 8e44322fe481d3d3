"""The script as a file: what it is and needs, its session, then the sections of the job."""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

import pyspark

from jobs.dag.document import DagDocument
from jobs.engine.plan import Plan
from jobs.engine.script.recording import Recording
from jobs.engine.script.values import place_named, secrets_from_environment
from jobs.engine.session import DELTA_CONF, READING_CONF, execution_conf

_INDENT = "    "
#: Where one goes on for ever, the end of any is the end of all; what a query failed of ends the script.
_AWAITED = """if "--until-drained" in sys.argv:
    for query in queries:
        query.awaitTermination()
else:
    spark.streams.awaitAnyTermination()"""
_SCALA = "2.13"
#: Names the folder in which the script keeps its positions, and the pages of APIs that it may have to read again.
_KEPT = "CHECKPOINTS"
#: What stands in a script that needs a package of Spark's, and the package.
_PACKAGES = (
    ('format("kafka")', f"org.apache.spark:spark-sql-kafka-0-10_{_SCALA}:{pyspark.__version__}"),
    ('format("avro")', f"org.apache.spark:spark-avro_{_SCALA}:{pyspark.__version__}"),
    ('format("delta")', "io.delta:delta-spark_4.2_2.13:4.4.0"),
    ("import functions as avro", f"org.apache.spark:spark-avro_{_SCALA}:{pyspark.__version__}"),
)
#: Above what a script takes along.
_TAKEN = """# From here to the session stands what the nodes of the job take along: how Pipeline Web calls, fits and sends, and, as the
# last, what a person wrote in them. The job itself begins below."""
#: Module → the package that brings it, and that PySpark does not.
_LIBRARIES = {"pyarrow": "pyarrow", "pandas": "pandas", "httpx": "httpx", "paho": "paho-mqtt", "pika": "pika", "happybase": "happybase"}
_LIBRARIES |= {"psycopg2": "psycopg2-binary", "pymysql": "pymysql"}
#: What stands in a script for which PySpark itself needs packages, and these.
_NEEDED = (
    ("mapInArrow", ("pandas", "pyarrow")),
    ("transformWithState", ("pandas", "pyarrow", "grpcio", "googleapis-common-protos", "protobuf")),
)
#: What a MERGE finds its table by.
_DELTA_CATALOG = {"spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog"}


@dataclass(frozen=True)
class Section:
    """Lines with a title; as the body of a function over the rows of a batch where `function` names one."""

    title: str
    lines: list[str]
    function: str = ""

    @property
    def is_function(self) -> bool:
        return bool(self.function)

    def commented(self) -> list[str]:
        title = [f"# {' '.join(self.title.split())}"] if self.title else []
        if not self.function:
            return [*title, *self.lines]
        return [*title, f"def {self.function}(rows, batch_id):", _indented(self.lines or ["pass"])]


def _before(section: Section) -> str:
    """Two empty lines around a function, one between others."""
    return "\n\n\n" if section.is_function else "\n\n"


def _indented(lines: Iterable[str]) -> str:
    """Texts of several lines, which begin and end within quotes, stay as they are."""
    return "\n".join(textwrap.indent(line, _INDENT) if '"""' not in line else _INDENT + line for line in lines)


def script_text(document: DagDocument, plan: Plan, sections: list[Section], recording: Recording) -> str:
    body = "".join(_before(section) + "\n".join(section.commented()) for section in sections)
    body, variables = secrets_from_environment(place_named(body, str(plan.locations.live.parent), _KEPT))
    streaming = plan.job_type == "STREAMING"
    keeps = streaming or _KEPT in body
    taken = "\n\n\n".join(recording.taken.texts())
    lines = {"from pyspark.sql import SparkSession", *recording.imports, *recording.taken.imports}
    lines |= {"from __future__ import annotations"} if taken else set()
    lines |= {"from pyspark.sql import functions as F"} if re.search(r"\bF\.", body) else set()
    lines |= {"import os"} if variables or keeps else set()
    lines |= {"import sys"} if streaming else set()
    taken = taken and f"\n{_TAKEN}\n\n\n{taken}\n"
    parts = [_head(document, plan, body, sorted(lines), variables), *_imports(lines), taken, _session(plan, body)]
    if keeps:
        parts.append(f'{_KEPT} = os.environ.get("{_KEPT}", "checkpoints/{plan.job_name}")')
    if streaming:
        parts.append(_streaming(plan))
    parts.append(body.strip("\n"))
    if streaming:
        parts.append(_AWAITED)
    return "\n\n".join(part for part in parts if part) + "\n"


def _imports(lines: Iterable[str]) -> list[str]:
    """What changes Python itself, Python's own, then others."""
    in_order = sorted(lines, key=lambda line: (line.startswith("from "), _module(line), line))
    first = [line for line in in_order if _module(line) == "__future__"]
    own = [line for line in in_order if line not in first and _module(line).partition(".")[0] in sys.stdlib_module_names]
    others = [line for line in in_order if line not in (*first, *own)]
    return ["\n".join(_merged(lines)) for lines in (first, own, others)]


def _merged(lines: list[str]) -> Iterator[str]:
    """One line for all that comes from one module."""
    for _, of_module in groupby(lines, key=lambda line: (_module(line), line.startswith("from "))):
        first, *more = of_module
        yield ", ".join([first, *(line.split(" import ", 1)[1] for line in more)])


def _module(line: str) -> str:
    return line.split()[1]


def _head(document: DagDocument, plan: Plan, body: str, imports: list[str], variables: list[str]) -> str:
    packages = sorted({package for mark, package in _PACKAGES if mark in body or any(mark in line for line in imports)})
    told = [f"{document.title or document.name}", ""]
    if document.description:
        told += [*textwrap.wrap(" ".join(document.description.split()), 100), ""]
    rejected = "ends it" if plan.settings.rejected_rows == "fail" else "is left out"
    told += ["A plain PySpark script of this job: it reads, does and writes what a run does."]
    told += [f"A rejected row that no errors port takes {rejected}.", ""]
    given = f" --packages {','.join(packages)}" if packages else ""
    told.append(f"    spark-submit{given} {document.name}-job.py" + (" [--until-drained]" if document.type == "STREAMING" else ""))
    if variables:
        told += ["", f"It takes secrets from the environment: {', '.join(variables)}."]
    if any(line.startswith("from jobs.") for line in imports):
        told += ["", "Some of its sources are readers of Pipeline Web, whose folder must be on PYTHONPATH."]
    libraries = {library for line in imports if (library := _LIBRARIES.get(_module(line).partition(".")[0]))}
    libraries |= {library for mark, needed in _NEEDED for library in needed if mark in body}
    if libraries:
        told += ["", f"It needs these Python packages, in the Python that PYSPARK_PYTHON names, too: {', '.join(sorted(libraries))}."]
    text = "\n".join(told).replace("\\", "\\\\").replace('"""', "'''")
    return f'"""{text}\n"""'


def _session(plan: Plan, body: str) -> str:
    conf = {**READING_CONF, **({**DELTA_CONF, **_DELTA_CATALOG} if 'format("delta")' in body else {}), **execution_conf(plan.settings)}
    if plan.job_type != "STREAMING":
        conf = {key: value for key, value in conf.items() if ".streaming." not in key}
    lines = [f'    .config("{key}", "{value}")' for key, value in conf.items()]
    return "\n".join(["spark = (", f'    SparkSession.builder.appName("{plan.job_name}")', *lines, "    .getOrCreate()", ")"])


def _streaming(plan: Plan) -> str:
    interval = f"{max(0, round(plan.settings.trigger_interval * 1000))} milliseconds"
    return (
        "#: Goes on for ever, or until it has read all that is there.\n"
        f'TRIGGER = {{"availableNow": True}} if "--until-drained" in sys.argv else {{"processingTime": "{interval}"}}'
    )
