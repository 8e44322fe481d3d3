#!/bin/sh
# What Spark starts as its Python: the one that PIPELINE_WEB_PYTHON names. One that reads a stream, or plans what a source of ours reads, is
# forked from a process that has imported all it needs: half a second to a second of work less for each.
if [ -n "$PIPELINE_WEB_READERS" ]; then
    case "$2 $3" in
        "pyspark.sql.streaming.python_streaming_source_runner "* | "pyspark.daemon pyspark.sql.worker."*)
            exec "$PIPELINE_WEB_PYTHON" -I -S "${0%/*}/reader_launcher.py" "$@" ;;
    esac
fi
exec "${PIPELINE_WEB_PYTHON:-python3}" "$@"
