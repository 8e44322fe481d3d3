"""Spark Python data sources: the part of a source that runs beside Spark. Imported inside verbs only: they need pyspark."""
