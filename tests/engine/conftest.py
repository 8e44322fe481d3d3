from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.engine.graphs import Bench


@pytest.fixture
def bench(spark: SparkSession, tmp_path: Path) -> Bench:
    return Bench(spark, tmp_path)
