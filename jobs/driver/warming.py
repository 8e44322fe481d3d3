"""A first tiny run in a new driver, so that the first click of a person does not wait for code to be loaded and compiled."""

import logging
import time
import uuid
from pathlib import Path

from pyspark.sql import SparkSession

from jobs.dag.document import parse_document
from jobs.engine.compiler import plan_compile
from jobs.engine.events import EngineEvent
from jobs.engine.plan import Locations, Settings
from jobs.engine.runner import Run
from jobs.engine.validation import analyse
from jobs.nodes.base import Limits

logger = logging.getLogger(__name__)

_PATIENCE_SECONDS = 120.0
_DOCUMENT = {
    "schema_version": 1,
    "name": "warming",
    "type": "BATCH_ROLLER",
    "nodes": {
        "rows": {"type": "source.generator", "type_version": 1, "name": "Rows", "config": {"total_rows": 20, "rows_per_batch": 10}},
        "some": {"type": "flow.filter_rows", "type_version": 1, "name": "Some", "config": {"condition": "id >= 5"}},
        "out": {"type": "sink.print", "type_version": 1, "name": "Out", "config": {}},
    },
    "edges": {"e1": {"from": ["rows", "out"], "to": ["some", "in"]}, "e2": {"from": ["some", "out"], "to": ["out", "in"]}},
}


def driver_warm(spark: SparkSession, folder: Path, *, run: bool) -> None:
    """Analyse, and with `run` also run, a job of twenty rows below `folder`. What goes wrong is logged and harms nothing."""
    begun = time.monotonic()
    try:
        document, _ = parse_document(_DOCUMENT)
        assert document is not None
        limits = Limits(data_dir=folder)
        if not run:
            analyse(spark, document, connections={}, limits=limits, parameters={})
        else:
            line = str(uuid.uuid4())
            plan = plan_compile(
                document,
                job_uid=line,
                generation=line,
                attempt=1,
                fresh=True,
                parameters={},
                settings=Settings(),
                connections={},
                locations=Locations(live=folder / "warming" / "live", work=folder / "warming" / "work"),
                limits=limits,
            )
            warming = Run(spark, plan, _unheard, log=logging.Logger("warming", logging.CRITICAL))
            warming.start()
            if warming.wait(_PATIENCE_SECONDS) is None:
                warming.interrupt()
    except Exception as error:
        logger.warning("the driver could not warm up: %s", error)
    logger.info("warm after %.1f s", time.monotonic() - begun)


def _unheard(event: EngineEvent) -> None:
    """Nobody asked for this run."""
