#!/bin/sh
# What Spark starts as its Python: the one that PIPELINE_WEB_PYTHON names. One that reads a stream is forked from a process that has imported
# all it needs: a second of work less for each start of such a stream.
if [ "$2" = pyspark.sql.streaming.python_streaming_source_runner ] && [ -n "$PIPELINE_WEB_READERS" ]; then
    exec "$PIPELINE_WEB_PYTHON" -I -S "${0%/*}/reader_launcher.py" "$@"
fi
exec "${PIPELINE_WEB_PYTHON:-python3}" "$@"
