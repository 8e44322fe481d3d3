"""How Spark writes texts of rows so that nothing in them is lost."""

#: Times to the microsecond: by itself Spark cuts them to milliseconds. Offsets have seconds where they need them, as Shanghai's in 1900.
TIMES_AS_WRITTEN = {
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
#: Of JSON: a column without a value is there no less.
JSON_AS_WRITTEN = {"ignoreNullFields": "false", **TIMES_AS_WRITTEN}
